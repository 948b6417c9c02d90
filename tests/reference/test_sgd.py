"""Exact arithmetic of runs, objectives and gradients: no float gets in, and gradients are unbiased."""

from fractions import Fraction

import numpy as np
import pytest

import efficient
import reference
from reference import LOSSES, Problem
from tests.helpers import DATA, exact


def test_stochastic_gradient_is_unbiased():
    problem = exact("generic", "squared", Fraction(1, 3))
    predictor = efficient.asgd(problem, [0, 3, 5])
    for centred in (False, True):
        gradients = [problem.stochastic_gradient(predictor, i, centred) for i in range(problem.m)]
        w, b = problem.subgradient(predictor, centred)
        np.testing.assert_array_equal(sum(g for g, _ in gradients) / Fraction(problem.m), w)
        assert sum(g for _, g in gradients) / Fraction(problem.m) == b


def test_fractions_of_numpy_integers_do_not_wrap_around():
    rows = [[Fraction(np.int64(3), np.int64(7)), Fraction(np.int64(-5), np.int64(11))]] * 2
    plain = [[Fraction(3, 7), Fraction(-5, 11)]] * 2
    indices = [0, 1] * 20
    found, wanted = (
        efficient.casgd(Problem(X, [1, 2], "squared", lam), indices)
        for X, lam in ((rows, Fraction(np.int64(1), np.int64(3))), (plain, Fraction(1, 3)))
    )
    np.testing.assert_array_equal(found.w, wanted.w)
    assert found.b == wanted.b


@pytest.mark.parametrize("side", [reference, efficient])
def test_exact_run_lets_no_float_in(side):
    X, y, _ = DATA["generic"]
    pinball = reference.Loss("pinball", lambda p, y: 0.3 * abs(p - y), lambda p, y: -0.3 if p <= y else 0.3)
    problem = Problem(X, y, pinball, Fraction(1, 2))
    with pytest.raises(TypeError, match=r"derivative of the loss 'pinball' .* float -?0\.3"):
        side.asgd(problem, [0, 1])
    with pytest.raises(TypeError, match=r"value of the loss 'pinball'"):
        problem.objective(reference.Predictor(np.full(6, Fraction(1), dtype=object), Fraction(0)))


@pytest.mark.parametrize("loss", LOSSES)
def test_objective_and_gradients_are_exact(loss):
    problem = exact("generic", loss)
    predictor = efficient.casgd(problem, [0, 3, 5])
    for centred in (False, True):
        w, b = problem.subgradient(predictor, centred)
        assert {type(value) for value in (problem.objective(predictor, centred), b, *w)} == {Fraction}


def test_stochastic_gradient_of_a_row_that_is_not_there_is_refused():
    problem = exact()
    for i in (-1, 8):
        with pytest.raises(ValueError, match=r"must be in 0\.\.7"):
            problem.stochastic_gradient(efficient.sgd(problem, [0]), i)
