"""Test averaging schemes: is one the mean that it declares, and how near does it come to the minimum?"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from efficient import State
from reference import Predictor, Problem, draw_indices, minimise
from reference.arithmetic import fraction
from reference.datasets import load_tweets, with_sign_labels

from ..conformance.bounds import bounds
from ..conformance.cases import Case, load
from ..conformance.inputs import Run
from ..conformance.plain import sentence, traces
from ..conformance.search import NAMES
from .algorithms import OF_CENTRING, OF_MEANS, UNUSUAL, in_full, length, place_of_the_fault, question_of
from .formulas import numbers, shown
from .marking import Wrong

WRONG_MEANS: dict[str, Callable] = {
    "the uniform mean is returned, but another one is declared": lambda way, omega: way[1:].sum(axis=0) / len(omega),
    "the last predictor is returned for the mean": lambda way, omega: way[-1],
    "the predictor before step t has the weight of step t": lambda way, omega: omega @ way[:-1] / omega.sum(),
    "the weighted sum is divided by T, not by the sum of the weights": lambda way, omega: omega @ way[1:] / len(omega),
    "the weighted sum is not divided by the sum of the weights": lambda way, omega: omega @ way[1:],
    "the weights w are averaged as declared and the bias is not: it is the last one": lambda way, omega: np.append(
        right_mean(way, omega)[:-1], way[-1][-1]
    ),
}
"""Known wrong answers: a sentence, and the mean that it is about, of the iterates [w, b] after 0, 1, …, T steps."""


def right_mean(way: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """Average the iterates [w, b] after 1, …, T steps, rows 1 to T of `way` (T + 1, n + 1), with the weights omega (T,)."""
    return omega @ way[1:] / omega.sum()


class Asked(NamedTuple):
    """Answer to a case with T steps, the weights (T,) that were declared, and which of its numbers [w, b] are right."""

    case: Case
    T: int
    weights: np.ndarray
    found: np.ndarray
    right: np.ndarray


def is_weighted_mean(train: Callable, omega: Callable[[int, int], Any], loss: str | Iterable[str]) -> None:
    """Compare an averaging scheme with what it declares: the mean of SGD's iterates with the weights omega(t, T), t = 1, …, T.

    The right mean is that of the exact iterates of the kit's cases. An answer may differ by what rounding can do in float64,
    see `proofs.conformance.bounds`.

    Raises
    ------
    Wrong
        omega is no scheme, or is the paper's mean or the last iterate. Or `train` returns another mean; a known one is named.
    """
    train = in_full(train)
    cases = sorted(load("asgd", loss), key=length)
    _check_declared(_weights(omega, max(len(case.indices) for case in cases)))
    asked, wrong, suspects = [], [], dict(WRONG_MEANS)
    for case in cases:
        run, iterates = _exact(case)
        for T in (point.t for point in case.checkpoints if point.held):
            way, weights = iterates[: T + 1], _weights(omega, T)
            (allowed,) = bounds(run, True, [T], list(weights))["checkpoints"]
            tolerance = np.array([*[allowed["w"]] * case.n, allowed["b"]])
            indices = np.array(case.indices[:T])
            answer = train(case.matrix(), np.array(case.y), case.loss, case.lam, indices, True, False)
            found, right = numbers(answer), right_mean(way, weights).astype(float)
            if found is None or found.shape != right.shape:
                raise Wrong(f"must return (w, b) with {case.n} weights; returned {shown(answer)}")
            asked.append(Asked(case, T, weights.astype(float), found, abs(found - right) <= tolerance))
            if not asked[-1].right.all():
                means = f"    after {T} steps [w, b] is {shown(found)}, must be {shown(right)}"
                wrong.append("\n".join([*question_of(case), means]))
            for name, other in list(suspects.items()):
                given = other(way, weights).astype(float)
                growth = max(1, max(abs(given)) / max(abs(right))) if any(right) else 1
                if not (abs(found - given) <= growth * tolerance).all():
                    del suspects[name]
    if wrong:
        sentences = [*suspects] or _faults_of_the_run(asked) or place_of_the_fault([each.right for each in asked])
        number = f"  {len(wrong)} of {len(asked)} means are wrong; the shortest:"
        raise Wrong("\n".join([*(sentences or [UNUSUAL]), number, wrong[0]]))


def _faults_of_the_run(asked: list[Asked]) -> list[str]:
    """Find the known faults of SGD whose iterates, averaged as declared, give all the answers."""
    ordered = sorted(asked, key=lambda each: bool(each.right.all()))  # what is wrong first, which most faults do not give
    faults = [fault for fault in NAMES if not any(word.search(sentence(fault)) for word in (OF_CENTRING, OF_MEANS))]
    return [f"{sentence(fault)} [{fault}]" for fault in faults if all(_gives(fault, each) for each in ordered)]


def _gives(fault: str, asked: Asked) -> bool:
    case, T = asked.case, asked.T
    entries = [(i, column, value) for i, row in enumerate(case.rows) for column, value in row]
    shape, steps = (len(case.rows), case.n), list(range(1, T + 1))
    try:
        runs = traces(entries, shape, case.y, case.loss, case.lam, case.indices[:T], False, False, fault, steps)
    except ZeroDivisionError:
        return False
    way = np.array([[*run.w, run.b] for run in runs], dtype=float)
    if len(way) != T or not np.isfinite(way).all():
        return False
    given = asked.weights @ way / asked.weights.sum()
    return bool((abs(asked.found - given) <= 1e-9 * max(1, abs(way).max())).all())


def _weights(omega: Callable[[int, int], Any], T: int) -> np.ndarray:
    weights = [omega(t, T) for t in range(1, T + 1)]
    for t, weight in enumerate(weights, start=1):
        number = isinstance(weight, (int, float, Fraction, np.integer, np.floating)) and not isinstance(weight, bool)
        if not (number and isfinite(weight) and weight >= 0):
            raise Wrong(f"omega({t}, {T}) must be a finite number >= 0; got {weight!r}")
    if not any(weights):
        raise Wrong(f"omega(t, {T}) must be > 0 for some step t; got 0 for all")
    return np.array([fraction(weight) for weight in weights])


def _check_declared(weights: np.ndarray) -> None:
    shares = weights.astype(float) / float(weights.sum())
    if abs(shares - 1 / len(shares)).sum() < 0.02:
        raise Wrong("omega is the same for every step, or within 1 % of it: that is the paper's mean; declare another one")
    if shares[-1] > 0.99:
        raise Wrong("omega is 0, or below 1 % in all, for the steps but the last: that is the last iterate; declare a mean")


@cache
def _exact(case: Case) -> tuple[Run, np.ndarray]:
    """Run a case exactly: the run, and [w_t, b_t] for t = 0, 1, …, of shape (T + 1, n + 1)."""
    run = Run(case.n, case.rows, case.y, case.loss, case.lam, case.indices, case.centred)
    start = np.full(run.n + 1, Fraction(0))
    return run, np.array([start, *(np.append(step.predictor.w, step.predictor.b) for step in run.steps)])


PASSES = (0.1, 0.3, 1, 3)
"""Passes over the rows after which a scheme is measured."""


def excess(train: Callable, seeds: int = 10) -> dict[str, np.ndarray]:
    """Measure F − F* of the last iterate, the paper's mean and a scheme, on the same draws: 300 tweets, hinge loss, λ = 0.01.

    Returns
    -------
    dict of arrays of shape (seeds, len(PASSES)), under "last", "uniform" and "yours"
        F* is the certified minimum.
    """
    problem, X, y, lowest = _tweets()
    found: dict[str, list[list[float]]] = {"last": [], "uniform": [], "yours": []}
    for seed in range(seeds):
        indices = draw_indices(problem.m, int(PASSES[-1] * problem.m), rng=seed)
        predictors: dict[str, list[Predictor]] = {name: [] for name in found}
        state = State(problem, "asgd")
        for T in (int(share * problem.m) for share in PASSES):
            state.run(indices[state.t : T])
            w, b = in_full(train)(X.copy(), y.copy(), "hinge", 0.01, indices[:T].copy(), True, False)
            for name, predictor in zip(found, (state.last(), state.average(), Predictor(w, b)), strict=True):
                predictors[name].append(predictor)
        for name, each in predictors.items():
            found[name].append([problem.objective(predictor) - lowest for predictor in each])
    return {name: np.array(values) for name, values in found.items()}


@cache
def _tweets():
    tweets = with_sign_labels(load_tweets(tfidf=True))
    X = tweets.X[:300]
    X, y = X[:, np.flatnonzero(X.sum(axis=0))], tweets.y[:300]
    problem = Problem(X, y, "hinge", 0.01)
    minimum = minimise(problem)
    return problem, X, y, minimum.value - minimum.gap
