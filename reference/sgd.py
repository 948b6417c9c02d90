"""Run stochastic gradient descent by definition: eq. 3 on dense vectors, O(n) a step."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .arithmetic import check_finite, check_t0
from .problem import Predictor, Problem
from .sampling import check_indices


class Iterate(NamedTuple):
    """Step t: the prediction p_t made before it, g_t = ℓ'(p_t, y_{π_t}) times the example's weight, the predictor after it."""

    t: int
    p: Any
    g: Any
    predictor: Predictor


def iterates(problem: Problem, indices, *, centred: bool = False, t0=0) -> Iterator[Iterate]:
    """Yield every step of stochastic gradient descent: w_t = (1 − 1/t) w_{t−1} − ℓ'(p_t, y_{π_t})/(λt) x_{π_t}.

    Parameters
    ----------
    problem : Problem
    indices : sequence of T row numbers in 0..m-1, the paper's π
    centred : bool
        Take x − x̄ for x, explicitly. The predictors yielded are in their implicit form, for raw rows (eq. 11).
    t0 : number >= 0
        Take steps of the size 1/(λ(t + t0)): t + t0 stands for t in the formula. The paper has t0 = 0; see `safe_t0`.

    Yields
    ------
    Iterate
        (t, p_t, g_t, Predictor) for t = 1, …, T. One dense predictor exists at a time, unless the caller keeps them.

    Raises
    ------
    FloatingPointError
        The prediction overflowed; names the step.

    Paper: Section "Stochastic Gradient Descent", eq. 3 (eqn:GDStep); w_0 = 0, b_0 = 0 (E11).
    Cost: O(Tn).
    """
    indices, t0 = check_indices(indices, problem.m), check_t0(t0, problem.number)
    return _iterates(problem, indices, problem.xbar if centred else None, t0)


def _iterates(problem: Problem, indices, xbar, t0) -> Iterator[Iterate]:
    lam, y, derivative = problem.lam, problem.y, problem.loss.derivative
    w, b = problem.X.zeros(), problem.number(0)
    for step, i in enumerate(indices, start=1):
        t = problem.number(step) + t0
        with np.errstate(over="ignore", invalid="ignore"):
            x = problem.X.dense(i) if xbar is None else problem.X.dense(i) - xbar
            p = w @ x + b
            g = problem.sample_weight[i] * derivative(p, y[i])
            w = (1 - 1 / t) * w - g / (lam * t) * x  # eq. 3 (eqn:GDStep)
            b = (1 - 1 / t) * b - g / (lam * t)  # eq. 3 (eqn:GDStep)
            predictor = Predictor(w, b, xbar).implicit()
            check_finite(step, p, predictor.b, (0 * w).sum())  # 0 times infinity is NaN
        yield Iterate(step, p, g, predictor)


def sgd(problem: Problem, indices, *, t0=0) -> Predictor:
    """Return the last iterate of stochastic gradient descent, (w_T, b_T).

    Paper: Section "Stochastic Gradient Descent", eq. 3 (eqn:GDStep).
    Cost: O(Tn).
    """
    return last(iterates(problem, indices, t0=t0))


def last(steps: Iterator[Iterate]) -> Predictor:
    """Return the predictor after the final step."""
    for step in steps:
        predictor = step.predictor
    return predictor
