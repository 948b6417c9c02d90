"""Tests of averaging schemes: whether one is the mean that it declares, and how near it comes to the minimum."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from math import isfinite
from typing import Any

import numpy as np

from efficient import State
from reference import Predictor, Problem, draw_indices, minimise
from reference.arithmetic import fraction
from reference.datasets import load_tweets, with_sign_labels

from ..conformance.bounds import bounds
from ..conformance.cases import Case, load
from ..conformance.inputs import Run
from .algorithms import length
from .formulas import numbers, shown
from .marking import Wrong


def _uniform(run: Run, omega: list[Fraction]):
    return _mean(run, [Fraction(1)] * len(omega))


def _last(run: Run, omega: list[Fraction]):
    return _iterates(run)[len(omega)]


def _late(run: Run, omega: list[Fraction]):
    return sum(weight * iterate for weight, iterate in zip(omega, _iterates(run), strict=False)) / sum(omega)


def _over_T(run: Run, omega: list[Fraction]):
    return _mean(run, omega) * sum(omega) / len(omega)


def _undivided(run: Run, omega: list[Fraction]):
    return _mean(run, omega) * sum(omega)


def _last_bias(run: Run, omega: list[Fraction]):
    return np.append(_mean(run, omega)[:-1], _last(run, omega)[-1])


WRONG_MEANS = {
    "the uniform mean is returned, but another one is declared": _uniform,
    "the last predictor is returned for the mean": _last,
    "the predictor before step t has the weight of step t": _late,
    "the weighted sum is divided by T, not by the sum of the weights": _over_T,
    "the weighted sum is not divided by the sum of the weights": _undivided,
    "the weights w are averaged as declared and the bias is not: it is the last one": _last_bias,
}
"""What else somebody may return for the declared mean."""


def is_weighted_mean(train: Callable, omega: Callable[[int, int], Any], loss: str | Iterable[str]) -> None:
    """Hold an averaging scheme to what it declares: the mean of the iterates of SGD with the weights omega(t, T), t = 1, …, T.

    The right mean is that of the exact iterates of the cases of the conformance kit; an answer may be off by what rounding can
    do to it in float64, see `proofs.conformance.bounds`.

    Raises
    ------
    Wrong
        omega is no scheme, or none but the paper's mean or the last iterate; or `train` returns something else, and what, if
        that is known.
    """
    cases = sorted(load("asgd", loss), key=length)
    longest = _weights(omega, max(len(case.indices) for case in cases))
    if len(set(longest)) == 1:
        raise Wrong("omega is the same for every step: that is the paper's mean; declare another one")
    if not any(longest[:-1]):
        raise Wrong("omega is 0 for every step but the last: that is the last iterate; declare a mean")
    asked, wrong, suspects = 0, [], dict(WRONG_MEANS)
    for case in cases:
        run = _run(case)
        for T in (point.t for point in case.checkpoints if point.held):
            weights = _weights(omega, T)
            (allowed,) = bounds(run, True, [T], weights)["checkpoints"]
            tolerance = np.array([*[allowed["w"]] * case.n, allowed["b"]])
            indices = np.array(case.indices[:T])
            answer = train(case.matrix(), np.array(case.y), case.loss, case.lam, indices, True, False)
            found, right = numbers(answer), _mean(run, weights).astype(float)
            if found is None or found.shape != right.shape:
                raise Wrong(f"must return (w, b) with {case.n} weights; returned {shown(answer)}")
            asked += 1
            if not (abs(found - right) <= tolerance).all():
                wrong.append(f"{case.id} with T = {T}: [w, b] is {shown(found)}, must be {shown(right)}")
            for sentence, other in list(suspects.items()):
                given = other(run, weights).astype(float)
                growth = max(1, max(abs(given)) / max(abs(right))) if any(right) else 1
                if not (abs(found - given) <= growth * tolerance).all():
                    del suspects[sentence]
    if wrong:
        raise Wrong("\n".join([*suspects, f"{len(wrong)} of {asked} means are wrong, such as {wrong[0]}"]))


def _weights(omega: Callable[[int, int], Any], T: int) -> list[Fraction]:
    weights = [omega(t, T) for t in range(1, T + 1)]
    for t, weight in enumerate(weights, start=1):
        number = isinstance(weight, (int, float, Fraction, np.integer, np.floating)) and not isinstance(weight, bool)
        if not (number and isfinite(weight) and weight >= 0):
            raise Wrong(f"omega({t}, {T}) must be a finite number >= 0; it is {weight!r}")
    if not any(weights):
        raise Wrong(f"omega(t, {T}) is 0 for every step t: there is nothing to average")
    return [fraction(weight) for weight in weights]


@cache
def _run(case: Case) -> Run:
    return Run(case.n, case.rows, case.y, case.loss, case.lam, case.indices, case.centred)


@cache
def _iterates(run: Run) -> list[Any]:
    """[w_t, b_t] for t = 0, 1, …, exact."""
    start = np.full(run.n + 1, Fraction(0))
    return [start, *(np.append(step.predictor.w, step.predictor.b) for step in run.steps)]


def _mean(run: Run, omega: list[Fraction]):
    return sum(weight * iterate for weight, iterate in zip(omega, _iterates(run)[1:], strict=False)) / sum(omega)


PASSES = (0.1, 0.3, 1, 3)
"""After how many passes over the rows a scheme is measured."""


def excess(train: Callable, seeds: int = 10) -> dict[str, np.ndarray]:
    """F − F* of the last iterate, the paper's mean and a scheme, on the same draws: 300 tweets, hinge loss, λ = 0.01.

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
            w, b = train(X.copy(), y.copy(), "hinge", 0.01, indices[:T].copy(), True, False)
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
