"""Accuracy of centred runs far from the origin: pivoted runs keep all digits, printed and explicit ones lose them."""

from fractions import Fraction

import numpy as np
import pytest

import efficient
from efficient import State
from proofs.measured import stability
from proofs.measured.stability import BOUND, LAM, OFFSETS, errors, measure, relative
from reference import LOSSES, Problem, draw_indices
from reference.datasets import make_shifted
from tests.helpers import CENTRED

PI = draw_indices(20, 40, rng=2)


def shifted(offset):
    return make_shifted(20, 5, 5, seed=1, offset=offset)


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("loss", LOSSES)
def test_errors_of_pivoted_runs_are_within_the_bound_and_of_printed_ones_are_not(loss, offset):
    measured = errors(loss, offset)
    assert measured["pivoted"] <= BOUND
    assert measured["predictions"] <= BOUND
    assert measured["b' alone"] <= BOUND + 10 * np.finfo(float).eps * offset
    if offset >= 1e6:
        assert measured["printed"] > BOUND and measured["explicit"] > BOUND and measured["b' alone"] > BOUND


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("algorithm", CENTRED)
def test_other_signs_scales_and_sample_weights_are_within_the_bound(algorithm, offset):
    X, y, _ = shifted(offset * np.array([1, -1, 0, 1e-3, 0.5]))
    X = X.toarray() * [1, 1, 1, 1e-3, 1]
    weight = np.random.default_rng(0).integers(0, 4, 20) / 2
    found, wanted = (getattr(efficient, algorithm)(Problem(X, y, "log", lam, weight), PI) for lam in (0.125, Fraction(1, 8)))
    assert relative(found.w, wanted.w) <= BOUND
    assert relative(found.predict(X), wanted.predict(X)) <= BOUND


@pytest.mark.parametrize("offset", [1e6, 1e12])
def test_without_a_pivot_the_bound_is_exceeded(offset):
    X, y, _ = shifted(offset)
    wanted = efficient.casgd(Problem(X, y, "log", Fraction(1, 8)), PI).w
    for pivot in (True, False):
        found = State(Problem(X, y, "log", 0.125), "casgd", pivot=pivot).run(PI).average().w
        assert (relative(found, wanted) <= BOUND) == pivot


def test_entries_hold_for_every_loss():
    assert measure()["printed"][OFFSETS.index(1e8)] > 1  # no digit left
    assert set(LAM) == set(LOSSES)
    for job in stability.jobs():
        for entry in job.run():
            assert entry.as_expected, entry.line()
