"""Measure held-out evaluation: train on a part of the mails or tweets, test on the rest, unseen by λ and tf-idf.

Nothing is claimed here of what averaging or centring buy.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from efficient import States
from efficient.cli.features import fit_transform_to
from efficient.runs.algorithms import ALGORITHMS
from efficient.training.splits import folds, groups_of_equal_rows, hold_out
from reference import LOSSES, Predictor, Problem, draw_indices, safe_t0
from reference.averaging import polynomial
from reference.datasets import Dataset

KINDS = ("last", "uniform", "t-weighted")
"""Last iterate, the paper's mean, and the mean with the weight ω_t = t."""


class Split(NamedTuple):
    """Rows to train on with their labels and groups of equal rows, and rows that are held out."""

    X: Any
    y: np.ndarray
    groups: np.ndarray
    held_X: Any
    held_y: np.ndarray


class Parts(NamedTuple):
    """Problem on the training part, as tf-idf, and the rest: its rows, as tf-idf of the training part, and its labels."""

    problem: Problem
    X: sp.csr_array
    y: np.ndarray

    def miss(self, predictor: Predictor) -> float:
        """Evaluate on the rest: the share of wrong labels; for losses of numbers, the mean absolute error."""
        p = predictor.predict(self.X)
        if self.problem.loss.binary:
            return float(np.mean(np.where(p > 0, 1, -1) != self.y))
        return float(np.mean(np.abs(p - self.y)))


def split(data: Dataset, loss: str, lam: float, fraction: float = 0.25, seed: int = 0) -> Parts:
    """Hold a part of the examples out; rows that repeat each other go to the same part."""
    return parts(data, hold_out(data.X, fraction, seed, data.y if LOSSES[loss].binary else None), loss, lam)


def parts(data: Dataset, held: np.ndarray, loss: str, lam: float) -> Parts:
    """Return the parts that a mask of the held-out rows makes."""
    rows = apart(data, held)
    tfidf = fit_transform_to(rows.X, "tfidf")
    return Parts(Problem(tfidf.apply(rows.X), rows.y, loss, lam), tfidf.apply(rows.held_X), rows.held_y)


def apart(data: Dataset, held: np.ndarray) -> Split:
    """Return the rows and labels as they are, those apart that a mask says are held out."""
    X = data.X[~held]
    return Split(X, data.y[~held], groups_of_equal_rows(X), data.X[held], data.y[held])


def by_lambda(data: Dataset, loss: str, lams, algorithm: str, passes: int, count: int = 4, seed: int = 0) -> np.ndarray:
    """Measure the held-out error for each fold, λ and kind, in this order of axes: all λ in one pass over the rows."""
    fold = folds(data.X, count, seed, data.y if LOSSES[loss].binary else None)
    misses = []
    for number in range(count):
        rest = parts(data, fold == number, loss, lams[0])
        indices = draw_indices(rest.problem.m, passes * rest.problem.m, rng=seed)
        misses.append(_misses(rest, lams, algorithm, indices))
    return np.array(misses)


def by_draw(rest: Parts, algorithm: str, passes: int, draws: int = 8) -> np.ndarray:
    """Measure the held-out error for each seed of the draws and each kind: the same rows, another order."""
    m, lam = rest.problem.m, rest.problem.lam
    return np.array([_misses(rest, [lam], algorithm, draw_indices(m, passes * m, rng=seed))[0] for seed in range(draws)])


def _misses(rest: Parts, lams, algorithm: str, indices) -> np.ndarray:
    """Measure the held-out error for each λ and kind. Unbounded slopes take the safe t0, without which the steps overshoot."""
    problems = [rest.problem.variant(lam=lam) for lam in lams]
    safe = rest.problem.loss.slope_bound is None
    t0 = [safe_t0(problem, ALGORITHMS[algorithm].centred) if safe else 0 for problem in problems]
    uniform = States(problems, algorithm, t0=t0).run(indices, progress=False)
    predictors = [uniform.last(), uniform.average()]
    weighted = States(problems, algorithm, t0=t0, averaging_weights=polynomial(1)).run(indices, progress=False)
    predictors.append(weighted.average())
    return np.array([[rest.miss(each) for each in kinds] for kinds in zip(*predictors, strict=True)])
