"""Average what runs keep at one step: every part but h and Σω, which are equal, is linear in the loss derivatives."""

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from reference.arithmetic import shown

from .saving import loss_identity, made_of

EQUAL = ("h", "total")
"""Sums over the steps alone, which no row enters."""

CURES = dict.fromkeys(
    ("arithmetic", "algorithm", "t0", "lam", "loss", "averaging weights"), "Average states of one training only"
) | {
    "t": "Let each take as many steps",
    "columns": "Give all problems the columns of the widest",
    "centre": "Begin all with one centre, that find_centre of efficient.runs.centring makes of all rows",
    "pivot": "Begin all with one centre, that find_centre of efficient.runs.centring makes of all rows",
}
"""Name of each thing that states must have in common, and what to do where they do not."""


def mean_of(kept: Iterable[dict[str, Any]], weights: Sequence) -> dict[str, Any]:
    """Average the parts of runs by name, arrays and numbers in any arithmetic, with weights, added up in this order.

    Paper: none; Lemma 1 (lem:v) and eqs. 12 to 19 are linear in these parts.
    Cost: O(n) for each run.
    """
    sums: dict[str, Any] = {}
    for weight, parts in zip(weights, kept, strict=True):
        for name, part in parts.items():
            if name in EQUAL:
                sums[name] = part
            else:
                sums[name] = sums[name] + weight * part if name in sums else weight * part
    return {name: each if name in EQUAL else each / sum(weights) for name, each in sums.items()}


def check_alike(kind: type, states: Sequence) -> None:
    """Raise TypeError or ValueError unless these are runs of one kind, whose mean is again such a run."""
    if not states:
        raise ValueError(f"states must be one {kind.__name__} or more; got none")
    for number, state in enumerate(states):
        if not isinstance(state, kind):
            raise TypeError(f"states must each be of the kind {kind.__name__}; got {type(state).__name__} as number {number}")
    wanted = _identity(states[0])
    for number, state in enumerate(states):
        for name, found in _identity(state).items():
            if not np.array_equal(found, wanted[name]):
                what = "another" if np.ndim(found) else f"{shown(found)[:60]} after {shown(wanted[name])[:60]}"
                raise ValueError(f"states must have the same {name}; got {what} as number {number}. {CURES[name]}")


def check_shares(weights: Iterable | None, count: int, number: Callable) -> list:
    """Convert the weights of so many states to the arithmetic of these, or raise ValueError."""
    given: list[Any] = [1] * count if weights is None else list(weights)
    if len(given) != count or not all(
        isinstance(each, (int, float, Fraction, np.integer)) and 0 < each < math.inf for each in given
    ):
        raise ValueError(f"weights must be a finite number > 0 for each of {count} states; got {shown(given)[:60]}")
    return [number(each) for each in given]


def _identity(state) -> dict[str, Any]:
    """Name what states must have in common."""
    problem, empty = state.problem, np.zeros(0)
    return {
        "arithmetic": getattr(problem.number, "__name__", problem.number),
        "algorithm": state.algorithm,
        "t": state.t,
        "t0": np.atleast_1d(state.t0),
        "lam": np.array([each.lam for each in state.problems]),
        "loss": repr(loss_identity(problem.loss)),
        "averaging weights": repr(made_of(state.averaging_weights)),
        "columns": len(state.v),
        "centre": getattr(state, "xbar", empty),
        "pivot": empty if state.pivot is None else state.pivot,
    }
