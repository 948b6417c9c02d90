"""Averaging weights: a weight ω_t for the iterate of each step t, as a function of an array of step numbers.

The paper's average is uniform, ω = 1. Functions, unlike arrays, set no limit to the number of steps.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

AveragingWeights = Callable[[Any], Any]
"""ω: from step numbers 1, 2, … (an array, or one exact number) to weights >= 0."""


def polynomial(degree: int, t0=0) -> AveragingWeights:
    """Make ω_t = (t + t0)^degree: later iterates count more; degree 1 with the t0 of the steps is the t-weighted average.

    Paper: none; the uniform average is degree 0.
    """
    return partial(_power, degree=degree, t0=t0)


def suffix(start: int) -> AveragingWeights:
    """Make ω_t = 1 after step `start` and 0 up to it: the uniform average of the iterates after a burn-in.

    Paper: none; the uniform average is suffix(0).
    """
    return partial(_after, start=start)


def _power(t, degree, t0):
    return (t + t0) ** degree


def _after(t, start):
    return 1 * (t > start) if isinstance(t, np.ndarray) else int(bool(t > start))


def check_weights(averaging_weights: AveragingWeights | None) -> AveragingWeights | None:
    """Validate averaging weights, a function or None; return them as they are."""
    if averaging_weights is not None and not callable(averaging_weights):
        raise TypeError(
            f"averaging_weights must be a function of the step numbers, such as polynomial(1); got {averaging_weights!r}"
        )
    return averaging_weights


def evaluate(averaging_weights: AveragingWeights | None, first: int, steps: int, number) -> np.ndarray:
    """Compute and validate ω for the steps first, …, first + steps − 1; without `averaging_weights` broadcast 1, no memory."""
    if averaging_weights is None:
        return np.broadcast_to(np.array(number(1)), steps)
    if number is not np.float64:
        omega = np.empty(steps, dtype=object)
        omega[:] = [number(averaging_weights(number(step))) for step in range(first, first + steps)]
        if any(each < 0 for each in omega):
            raise ValueError(f"averaging_weights must be >= 0; got {min(omega)}")
        return omega
    omega = np.array(averaging_weights(np.arange(first, first + steps, dtype=np.float64)), dtype=np.float64)
    if not omega.ndim:
        omega = np.full(steps, omega)
    if omega.shape != (steps,) or not (np.isfinite(omega).all() and (omega >= 0).all()):
        raise ValueError(
            f"averaging_weights must return one finite weight >= 0 for each of the {steps} step numbers; got {omega!r}"
        )
    return omega


AVERAGES: dict[str, AveragingWeights | None] = {"weighted": polynomial(1), "uniform": None}
"""Averaging weights by name, as the estimators and the command line offer them; the first is their default."""
