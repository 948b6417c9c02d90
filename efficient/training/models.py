"""What the estimators and the command line have in common: models side by side on the same rows, and what they are worth."""

from collections.abc import Sequence

import numpy as np

from reference import Loss, Predictor, Problem, safe_t0
from reference.averaging import Weights, polynomial

from ..kernels.compiled import compiled_derivative, compiled_loop
from ..runs.algorithms import ALGORITHMS
from ..runs.batch import start
from ..runs.centring import Centre
from ..runs.run import Run
from .classes import targets

AVERAGES = ("weighted", "uniform")
"""How an average weighs the iterate of step t: by t, or all alike as in the paper."""


def state_problems(X, y: np.ndarray, classes: np.ndarray | None, loss: str | Loss, lams: Sequence[float]) -> list[Problem]:
    """The problem of each model: for every λ one, or one for each of more than two classes. They share the rows."""
    first, *others = targets(y, classes)
    problem = Problem(X, first, loss, lams[0])
    by_label = [problem, *(problem.variant(y=each) for each in others)]
    return [problem.variant(lam=lam) for lam in lams for problem in by_label]


def is_centred(algorithm: str) -> bool:
    return ALGORITHMS[algorithm].centred


def begin(
    problems: list[Problem],
    algorithm: str,
    average: str | None,
    t0: float | str,
    drawn: np.ndarray | None = None,
    centre: Centre | None = None,
) -> Run:
    """The models before their first step.

    Parameters
    ----------
    problems : list of Problem
    algorithm : {"sgd", "asgd", "csgd", "casgd"}
    average : {"weighted", "uniform"}, or None
        How asgd and casgd weigh the iterates; sgd and csgd have no average.
    t0 : number >= 0, or "auto"
        The steps are 1/(λ(t + t0)); "auto" is what the squared loss needs, and 0 for the others, whose derivative is bounded.
    drawn : ndarray of shape (m,), optional
        The weights that `draw_indices` is given, if any.
    centre : Centre, optional
        As in `State`.
    """
    t0s = _step_offsets(problems, algorithm, t0, drawn)
    return start(problems, algorithm, t0=t0s, weights=averaging(algorithm, average), centre=centre)


def _step_offsets(problems: list[Problem], algorithm: str, t0: float | str, drawn: np.ndarray | None) -> list[float]:
    """t0 of each problem."""
    if not isinstance(t0, str):
        return [t0] * len(problems)
    if not needs_t0(problems[0].loss):
        return [0.0] * len(problems)
    by_lam = {problem.lam: float(safe_t0(problem, is_centred(algorithm), drawn)) for problem in problems}
    return [by_lam[problem.lam] for problem in problems]


def needs_t0(loss: Loss) -> bool:
    """Whether steps of 1/(λt) are too long for this loss at first: of those in Table 1, for the squared one."""
    return loss.name == "squared"


def averaging(algorithm: str, average: str | None) -> Weights | None:
    """ω: how the iterates are weighed in the mean; None for all alike, and for the algorithms that have no mean."""
    return polynomial(1) if average == "weighted" and ALGORITHMS[algorithm].average is not None else None


def scores(predictors: list[Predictor], X) -> np.ndarray:
    """The prediction of each predictor for each row, of shape (m, K); raises FloatingPointError if one of them overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        predictions = np.column_stack([predictor.predict(X) for predictor in predictors])
    if not np.isfinite(predictions).all():
        i = int(np.flatnonzero(~np.isfinite(predictions).all(axis=1))[0])
        raise FloatingPointError(f"the score of row {i} (counted from 0) overflows float64: its values are too large")
    return predictions


def objective(
    problems: Sequence[Problem],
    predictors: Sequence[Predictor],
    predictions: np.ndarray,
    centre: np.ndarray | None,
    drawn: np.ndarray | None = None,
) -> float:
    """F of eq. 1, its mean over the models, whose predictions on the training rows are known; centred if there is a centre.

    The predictions are of shape (m, K). With `drawn`, the losses are weighted as the rows are drawn.

    Cost: O(K(n + m)).
    """
    each = []
    for problem, predictor, of_model in zip(problems, predictors, predictions.T, strict=True):
        at = predictor.implicit() if centre is None else predictor.explicit(centre)
        loss = mean_loss(problem.loss, of_model, problem.y, drawn)
        each.append(float(problem.lam / 2 * (at.w @ at.w + at.b * at.b) + loss))  # eq. 1 (eqn:objective)
    return float(np.mean(each))


def mean_loss(loss: Loss, predictions: np.ndarray, y: np.ndarray, drawn: np.ndarray | None = None) -> float:
    """(1/m) Σ_i ℓ(p_i, y_i), or the mean with the weights of the rows, O(m)."""
    value = compiled_derivative(loss.value)  # which compiles any function of a prediction and a label
    share = np.ones(len(y)) if drawn is None else drawn / drawn.max()
    return float(compiled_loop(_mean)(value, np.ascontiguousarray(predictions), y, share))


def _mean(value, p, y, share):
    total, shares = 0.0, 0.0
    for i in range(len(y)):
        total += share[i] * value(p[i], y[i])
        shares += share[i]
    return total / shares
