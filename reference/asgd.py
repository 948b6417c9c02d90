"""Average the iterates of stochastic gradient descent by definition, eq. 5."""

from collections.abc import Iterator

import numpy as np

from .arithmetic import check_finite
from .averaging import AveragingWeights, check_weights, evaluate
from .problem import Predictor, Problem
from .sgd import Iterate, iterates


def asgd(problem: Problem, indices, *, t0=0, averaging_weights: AveragingWeights | None = None) -> Predictor:
    """Average the iterates uniformly: w̄_T = (1/T) Σ_t w_t and b̄_T = (1/T) Σ_t b_t, for t = 1, …, T.

    With `averaging_weights` the average is Σ_t ω_t w_t / Σ_t ω_t; with t0 the steps are 1/(λ(t + t0)). The paper has neither.

    Paper: Section "Averaged Stochastic Gradient Descent", eq. 5 (eqn:naiveAverage). (w_0, b_0) is not in the mean.
    Cost: O(Tn).
    """
    return average(problem, iterates(problem, indices, t0=t0), averaging_weights)  # eq. 5 (eqn:naiveAverage)


def average(problem: Problem, steps: Iterator[Iterate], averaging_weights: AveragingWeights | None = None) -> Predictor:
    """Average the predictors after every step, the one after step t with the weight ω_t."""
    check_weights(averaging_weights)
    w_sum, b_sum, total = problem.X.zeros(), problem.number(0), problem.number(0)
    with np.errstate(over="ignore", invalid="ignore"):
        for step in steps:
            (omega,) = evaluate(averaging_weights, step.t, 1, problem.number)
            w_sum = w_sum + omega * step.predictor.w
            b_sum = b_sum + omega * step.predictor.b
            total = total + omega
        check_finite(step.t, (0 * w_sum).sum(), b_sum)  # 0 times infinity is NaN
    if total == 0:
        raise ValueError("averaging_weights must not all be 0 up to the last step: there is nothing to average")
    return Predictor(w_sum / total, b_sum / total)
