"""Averaged stochastic gradient descent by definition: the mean of the iterates, eq. 5."""

from collections.abc import Iterator

import numpy as np

from .arithmetic import check_finite
from .problem import Predictor, Problem
from .sgd import Iterate, iterates


def asgd(problem: Problem, indices) -> Predictor:
    """The uniform average of the iterates: w̄_T = (1/T) Σ_t w_t and b̄_T = (1/T) Σ_t b_t, for t = 1, …, T.

    Paper: Section "Averaged Stochastic Gradient Descent", eq. 5 (eqn:naiveAverage). (w_0, b_0) is not in the mean.
    Cost: O(Tn).
    """
    return average(problem, iterates(problem, indices))


def average(problem: Problem, steps: Iterator[Iterate]) -> Predictor:
    """The mean of the predictors after every step."""
    w_sum, b_sum = 0 * problem.X.dense(0), problem.number(0)
    with np.errstate(over="ignore", invalid="ignore"):
        for step in steps:
            w_sum = w_sum + step.predictor.w
            b_sum = b_sum + step.predictor.b
        T = problem.number(step.t)
        check_finite(step.t, (0 * w_sum).sum(), b_sum)  # 0 times infinity is NaN
    return Predictor(w_sum / T, b_sum / T)
