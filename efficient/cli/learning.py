"""What `train` and `sweep` have in common: models side by side on the same rows, for several classes or values of λ."""

import argparse
from collections.abc import Iterator, Sequence

import numpy as np
import scipy.sparse as sp

from reference import Predictor, Problem, draw_indices, safe_t0
from reference.averages import Weights, polynomial

from ..state import ALGORITHMS
from ..states import States
from .labels import targets


def state_problems(
    X: sp.csr_array, y: np.ndarray, classes: np.ndarray | None, loss: str, lams: Sequence[float]
) -> list[Problem]:
    """The problem of each model: for every λ one, or one for each of more than two classes. They share the rows."""
    labels = targets(y, classes)
    first = Problem(X, labels[0], loss, lams[0])
    by_label = [first, *(first.variant(y=each) for each in labels[1:])]
    return [problem.variant(lam=lam) for lam in lams for problem in by_label]


def is_centred(algorithm: str) -> bool:
    return ALGORITHMS[algorithm].centred


def step_offsets(problems: list[Problem], options: argparse.Namespace) -> list[float]:
    """t0 of each problem: as asked for, or what the squared loss needs and 0 for the others, whose derivative is bounded."""
    if options.t0 != "auto":
        return [options.t0] * len(problems)
    if options.loss != "squared":
        return [0.0] * len(problems)
    by_lam = {problem.lam: float(safe_t0(problem, is_centred(options.algorithm))) for problem in problems}
    return [by_lam[problem.lam] for problem in problems]


def averaging(options: argparse.Namespace) -> Weights | None:
    """ω: how the iterates are weighed in the mean; None for all alike, and for the algorithms that take none."""
    return polynomial(1) if options.average == "weighted" else None


def begin(problems: list[Problem], options: argparse.Namespace) -> States:
    return States(problems, options.algorithm, t0=step_offsets(problems, options), weights=averaging(options))


def predictors_of(states: States, options: argparse.Namespace) -> list[Predictor]:
    """What the algorithm is to return: the mean of the iterates for asgd and casgd, the last one for sgd and csgd."""
    return states.last() if ALGORITHMS[options.algorithm].average is None else states.average()


def epochs_of(m: int, options: argparse.Namespace) -> Iterator[np.ndarray]:
    """The drawn examples, an epoch of m steps at a time: together those of draw_indices(m, epochs * m, seed, order)."""
    rng = np.random.default_rng(options.seed)
    for _ in range(options.epochs):
        yield draw_indices(m, m, rng, options.order)


def row_summary(X: sp.csr_array, classes: np.ndarray | None) -> str:
    m, n = X.shape
    kinds = "numbers to predict" if classes is None else f"{len(classes)} classes"
    return f"{m} rows, {n} columns, {X.nnz / m:.1f} entries a row, {kinds}"
