"""Sparse equals dense at every prefix: exactly, and in float64 within the bound of rounding."""

from fractions import Fraction

import numpy as np
import pytest

import reference
from efficient.runs.algorithms import ALGORITHMS
from proofs.compared.iterates import compare
from reference import LOSSES, Problem
from reference.datasets import make_generic, make_shifted, make_text
from tests.helpers import AVERAGES, DATA, PROBLEMS, draws, exact, floats
from tests.properties import steps_are_within_rounding
from tests.strategies import Case

T = 12
OFFSETS = (0, Fraction(1, 3), 100)


@pytest.mark.parametrize("lam", [Fraction(1, 2), Fraction(0.001)], ids=str)
@pytest.mark.parametrize(("data", "loss"), PROBLEMS)
def test_compare_exact_run_is_equal_at_every_prefix(data, loss, lam):
    problem = exact(data, loss, lam)
    traces = compare(problem, draws(problem, T))
    assert traces.keys() == ALGORITHMS.keys()
    for trace in traces.values():
        assert trace.parted is None
        assert trace.within.tolist() == [True] * T
        assert not trace.bound.any() and not trace.differences.any()


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "sample weights"])
@pytest.mark.parametrize("t0", OFFSETS, ids=str)
@pytest.mark.parametrize("weights", AVERAGES)
def test_compare_exact_run_with_options_is_equal_at_every_prefix(weights, t0, weighted):
    for data, loss in (("generic", "log"), ("generic", "squared"), ("ties", "hinge")):
        weight = [Fraction(1, 2), 0, 3, 1, 2, Fraction(5, 7), 1, 2] if weighted else None
        problem = exact(data, loss, sample_weight=weight)
        for trace in compare(problem, draws(problem, T), t0=t0, averaging_weights=AVERAGES[weights]).values():
            assert trace.within.tolist() == [True] * T


LARGER = {  # data, lam; the squared loss only where its first steps of 1/(λt) do not overflow
    "short rows": (make_generic(50, 40, 3, seed=1), 0.5),
    "long rows": (make_generic(60, 30, 20, seed=2), 1.0),
    "dense rows": (make_shifted(40, 10, 5, seed=3, offset=0.5), 1.0),
    "text": (make_text(200, 1000, 20, seed=4), 0.1),
    "text, small λ": (make_text(200, 1000, 20, seed=5), 1e-3),
    "large λ": (make_generic(50, 40, 3, seed=6), 1e3),
}


@pytest.mark.parametrize("case", LARGER)
def test_compare_float_run_is_within_rounding(case):
    (X, y, _), lam = LARGER[case]
    for loss in LOSSES if lam >= 0.1 else [name for name in LOSSES if LOSSES[name].slope_bound]:
        problem = Problem(X, y, loss, lam)
        for trace in compare(problem, draws(problem, 300, seed=3), every=50).values():
            assert trace.parted is None
            assert len(trace.within) == 300 and trace.within.all()


@pytest.mark.parametrize(("data", "loss"), PROBLEMS)
def test_compare_float_run_on_small_data_is_within_rounding_or_parts_at_a_kink(data, loss):
    problem = floats(data, loss, lam=1.0)
    for trace in compare(problem, draws(problem, 40)).values():
        assert trace.within.all()
        assert len(trace.last) == (40 if trace.parted is None else trace.parted[0] - 1)


@pytest.mark.parametrize("lam", [1e-6, 1e-2, 1.0, 1e3])
def test_state_with_a_feature_of_the_first_step_only_is_within_rounding(lam):
    # the classic place where an implementation that updates lazily forgets to scale
    rng = np.random.default_rng(0)
    X = rng.random((10, 6)) * (rng.random((10, 6)) < 0.3)
    X[1:, 4], X[0, 4] = 0, 3
    rows = tuple(tuple((int(j), float(row[j])) for j in np.flatnonzero(row)) for row in X)
    y, indices = tuple(np.where(rng.random(10) < 0.5, -1, 1).tolist()), (0, *rng.integers(1, 10, 24).tolist())
    for loss in LOSSES:
        steps_are_within_rounding(Case(rows, 6, y, loss, lam, indices))


def test_ties_are_common_on_the_data_called_so():
    problem = exact("ties", "hinge")
    indices = draws(problem, T)
    margins = [step.p * DATA["ties"].y[i] for step, i in zip(reference.iterates(problem, indices), indices, strict=True)]
    assert margins.count(1) >= 1


def test_compare_looks_at_predictors_every_so_often_and_at_the_end():
    problem = floats()
    (trace,) = compare(problem, draws(problem, 10), ["asgd"], every=4).values()
    assert (np.flatnonzero(~np.isnan(trace.last)) + 1).tolist() == [4, 8, 10]
    assert (np.flatnonzero(~np.isnan(trace.average)) + 1).tolist() == [4, 8, 10]
    assert not np.isnan(trace.differences).any()
