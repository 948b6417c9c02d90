"""Measure the way to the optimum: after many passes the averaged predictor is close to the certified minimum of F."""

from collections.abc import Iterator
from functools import partial

import numpy as np

import efficient
from efficient.runs.algorithms import ALGORITHMS
from reference import Predictor, Problem, draw_indices, minimise

from ..data import Case
from ..ledger import Entry, Job

PASSES = 100


def jobs(cases: list[Case]) -> Iterator[Job]:
    for case in cases:
        for loss, lam in case.lam.items():
            for name in (name for name in ALGORITHMS if ALGORITHMS[name].averaging):
                yield Job(("eqn:objective",), f"optimum: {case.name}, {loss}", partial(approach, case, loss, lam, name))


def approach(case: Case, loss: str, lam: float, name: str) -> Iterator[Entry]:
    """Measure F − F* of the mean of T = 100 m iterates, as a share of F(0) − F*."""
    problem = Problem(case.X, case.y, loss, lam)
    centred = ALGORITHMS[name].centred
    minimum = minimise(problem, centred)
    indices = draw_indices(problem.m, PASSES * problem.m, rng=0)
    mean = getattr(efficient, name)(problem, indices)
    start = problem.objective(Predictor(np.zeros(problem.n), 0.0), centred)
    lowest = minimum.value - minimum.gap
    value = float((problem.objective(mean, centred) - lowest) / (start - lowest))
    yield Entry(
        "eqn:objective",
        f"the averaged predictor approaches the minimum of {'the centred ' if centred else ''}F",
        "measured",
        f"float64, T = {len(indices)}, λ = {lam:g}",
        f"F − F* is {value:.2%} of F(0) − F*, F* = {minimum.value:.6f} within {minimum.gap:.0e}",
        value < 0.01,
        case.name,
        name,
        loss,
        value,
        0.01,
    )
