"""In exact arithmetic the sparse algorithms equal the dense definitions, with ==, at every prefix."""

from fractions import Fraction

import numpy as np
import pytest

import efficient
import reference
from proofs.conformance import ALGORITHM, faults, train_with
from reference import LOSSES, Problem, draw_indices
from reference.datasets import make_generic, make_ties

T = 12
DATA = {
    "generic": make_generic(8, 6, 3, seed=1),
    "ties": make_ties(8, 4, 2, seed=1),
    "ties, all stored": make_ties(6, 3, 3, seed=2),
    "one example": make_generic(1, 4, 2, seed=3),
    "one feature": make_generic(5, 1, 1, seed=4),
    "empty rows": make_generic(4, 5, 0, seed=5),
    "no feature": make_generic(4, 0, 0, seed=6),
}


@pytest.mark.parametrize("lam", [Fraction(1, 2), Fraction(1, 7), Fraction(0.001)], ids=str)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize(("average", "centred"), ALGORITHM)
def test_sparse_equals_dense_at_every_prefix(average, centred, data, loss, lam):
    X, y, _ = DATA[data]
    problem = Problem(X, y, loss, lam)
    indices = draw_indices(problem.m, T, rng=7)
    state = efficient.State(problem, ALGORITHM[average, centred])
    steps = list(reference.iterates(problem, indices, centred=centred))
    for t in range(1, T + 1):
        state.run(indices[t - 1 : t])
        assert state.t == t
        assert (state.p, state.g) == (steps[t - 1].p, steps[t - 1].g)
        found = state.average() if average else state.last()
        wanted = getattr(reference, ALGORITHM[average, centred])(problem, indices[:t])
        assert found.b == wanted.b
        np.testing.assert_array_equal(found.w, wanted.w)


def test_the_tie_heavy_problems_do_tie():
    X, y, _ = DATA["ties"]
    problem = Problem(X, y, "hinge", Fraction(1, 2))
    indices = draw_indices(8, T, rng=7)
    margins = [step.p * y[i] for step, i in zip(reference.iterates(problem, indices), indices, strict=True)]
    assert margins.count(1) >= 1


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("average", "centred"), ALGORITHM)
def test_three_implementations_agree(average, centred, loss):
    X, y, _ = DATA["generic"]
    arguments = (X, y, loss, Fraction(1, 3), [0, 1, 1, 7, 2, 0], average, centred)
    w, b = train_with(reference)(*arguments)
    for other in (train_with(efficient), faults.train):
        found_w, found_b = other(*arguments)
        assert found_b == b
        np.testing.assert_array_equal(found_w, w)


@pytest.mark.parametrize("first", [1, 2])
@pytest.mark.parametrize(("average", "centred"), ALGORITHM)
def test_first_steps_by_hand(average, centred, first):
    # x = (1, 0), y = +1, then x = (0, 2), y = -1; hinge, lam = 1/2; worked out with pencil and paper
    problem = Problem([[1, 0], [0, 2]], [1, -1], "hinge", Fraction(1, 2))
    predictor = getattr(efficient, ALGORITHM[average, centred])(problem, [0, 1][:first])
    half = Fraction(1, 2)
    by_hand = {
        # uncentred: w_1 = (2, 0), b_1 = 2; p_2 = 2, so that g_2 = 1; w_2 = w_1/2 - (0, 2) = (1, -2), b_2 = 0
        (False, False, 1): ([2, 0], 2),
        (False, False, 2): ([1, -2], 0),
        (True, False, 1): ([2, 0], 2),
        (True, False, 2): ([3 * half, -1], 1),
        # centred at (1/2, 1): w_1 = (1, -2), b_1 = 2, b'_1 = 2 - 1/2 + 2 = 7/2; p_2 = -4 + 7/2 = -1/2, margin 1/2, g_2 = 1
        # w_2 = w_1/2 - (-1/2, 1) = (1, -2), b_2 = 0, b'_2 = 0 - 1/2 + 2 = 3/2
        (False, True, 1): ([1, -2], 7 * half),
        (False, True, 2): ([1, -2], 3 * half),
        (True, True, 1): ([1, -2], 7 * half),
        (True, True, 2): ([1, -2], 5 * half),
    }
    w, b = by_hand[average, centred, first]
    np.testing.assert_array_equal(predictor.w, w)
    assert predictor.b == b


def test_exact_predictions_and_objective():
    problem = Problem([[1, 0], [0, 2]], [1, -1], "hinge", Fraction(1, 2))
    predictor = efficient.casgd(problem, [0, 1])
    np.testing.assert_array_equal(predictor.predict([[1, 0], [0, 2]]), [Fraction(7, 2), Fraction(-3, 2)])
    explicit = predictor.explicit(problem.xbar)
    assert explicit.b == 1
    np.testing.assert_array_equal(explicit.predict([[1, 0], [0, 2]]), [Fraction(7, 2), Fraction(-3, 2)])
    assert explicit.implicit().b == predictor.b
    # 1/4 (1 + 4 + b²), with b' = 5/2 or b = 1, and no loss
    assert problem.objective(predictor) == Fraction(1, 4) * (5 + Fraction(25, 4))
    assert problem.objective(predictor, centred=True) == problem.objective(explicit, centred=True) == Fraction(1, 4) * 6


def test_the_stochastic_gradient_is_unbiased():
    X, y, _ = DATA["generic"]
    problem = Problem(X, y, "squared", Fraction(1, 3))
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
def test_an_exact_run_lets_no_float_in(side):
    X, y, _ = DATA["generic"]
    pinball = reference.Loss("pinball", lambda p, y: 0.3 * abs(p - y), lambda p, y: -0.3 if p <= y else 0.3)
    problem = Problem(X, y, pinball, Fraction(1, 2))
    with pytest.raises(TypeError, match=r"derivative of the loss 'pinball' must be .*; got the float -?0\.3"):
        side.asgd(problem, [0, 1])
    with pytest.raises(TypeError, match=r"value of the loss 'pinball'"):
        problem.objective(reference.Predictor(np.full(6, Fraction(1), dtype=object), Fraction(0)))


@pytest.mark.parametrize("loss", LOSSES)
def test_objective_and_gradients_are_exact(loss):
    X, y, _ = DATA["generic"]
    problem = Problem(X, y, loss, Fraction(1, 2))
    predictor = efficient.casgd(problem, [0, 3, 5])
    for centred in (False, True):
        w, b = problem.subgradient(predictor, centred)
        assert {type(value) for value in (problem.objective(predictor, centred), b, *w)} == {Fraction}


def test_a_row_that_is_not_there():
    X, y, _ = DATA["generic"]
    problem = Problem(X, y, "log", Fraction(1, 2))
    for i in (-1, 8):
        with pytest.raises(ValueError, match=r"must lie in 0\.\.7"):
            problem.stochastic_gradient(efficient.sgd(problem, [0]), i)


def test_symbols_go_through_the_same_loops():
    import sympy

    lam, x = sympy.symbols("lambda x", positive=True)
    y = sympy.Symbol("y", real=True)
    problem = Problem(np.array([[x]], dtype=object), np.array([y], dtype=object), "squared", lam)
    dense, sparse = reference.asgd(problem, [0, 0]), efficient.asgd(problem, [0, 0])
    assert sympy.expand(dense.w[0] - sparse.w[0]) == 0
    assert sympy.expand(dense.b - sparse.b) == 0
    assert dense.w[0].has(x) and dense.w[0].has(lam)
