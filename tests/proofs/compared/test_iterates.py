"""Sparse equals dense at every prefix, exactly."""

from fractions import Fraction

import numpy as np
import pytest

import reference
from efficient.runs.algorithms import ALGORITHMS
from proofs.compared.iterates import compare
from reference import LOSSES
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
        assert trace.equal.tolist() == [True] * T
        assert not trace.differences.any()


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "sample weights"])
@pytest.mark.parametrize("t0", OFFSETS, ids=str)
@pytest.mark.parametrize("weights", AVERAGES)
def test_compare_exact_run_with_options_is_equal_at_every_prefix(weights, t0, weighted):
    for data, loss in (("generic", "log"), ("generic", "squared"), ("ties", "hinge")):
        weight = [Fraction(1, 2), 0, 3, 1, 2, Fraction(5, 7), 1, 2] if weighted else None
        problem = exact(data, loss, sample_weight=weight)
        for trace in compare(problem, draws(problem, T), t0=t0, averaging_weights=AVERAGES[weights]).values():
            assert trace.equal.tolist() == [True] * T


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
    problem = exact()
    (trace,) = compare(problem, draws(problem, 10), ["asgd"], every=4).values()
    assert [t for t, each in enumerate(trace.last, start=1) if each == each] == [4, 8, 10]
    assert [t for t, each in enumerate(trace.average, start=1) if each == each] == [4, 8, 10]
    assert all(each == each for each in trace.differences)


def test_compare_of_floats_is_refused_with_the_cure():
    problem = floats()
    with pytest.raises(TypeError, match="judge"):
        compare(problem, draws(problem, 10))
