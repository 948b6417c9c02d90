"""Four algorithms of `efficient`: values by hand and from other programs, symmetries, and the arithmetic of their sums."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import efficient
import reference
from efficient.runs.algorithms import ALGORITHMS
from reference import LOSSES, Problem
from tests.helpers import AVERAGING, DATA, UNCENTRED, draws, exact, floats, same

X4, Y4, _ = DATA["by hand"]
PI = [0, 1, 2, 3, 0, 2]

GOLDEN = {  # lam = 0.5: w_1, w_2, w_3, b
    ("sgd", "absolute"): (-0.666666666667, -1, 1, 0.666666666667),
    ("sgd", "squared"): (-1.27777777778, -3, 10.6666666667, 2.96666666667),
    ("sgd", "hinge"): (-0.666666666667, -1, 1, 0.666666666667),
    ("sgd", "log"): (-0.752066869134, -0.73105857863, 0.600117309966, 0.249390609192),
    ("asgd", "absolute"): (0.116666666667, -1.45, 1.67222222222, 0.622222222222),
    ("asgd", "squared"): (-1.66296296296, -4.35, 4.82777777778, 1.09444444444),
    ("asgd", "hinge"): (0.116666666667, -1.45, 1.67222222222, 0.622222222222),
    ("asgd", "log"): (-0.229142922399, -1.06003493901, 0.839335634947, 0.176427686275),
    ("csgd", "squared"): (-1.09945605, 0.62508996, 0.70767053, 1.70796306927999),
    ("casgd", "absolute"): (-1.07777777778, 0.733333333333, 0.955555555556, 1.03611111111),
    ("casgd", "squared"): (-0.629869634134, 1.48606184853, 1.12433292601, -0.0102081696192),
    ("casgd", "hinge"): (-1.16527777778, -0.695833333333, 0.731944444444, 2.35729166667),
    ("casgd", "log"): (-0.514407691656, -0.591595503856, 0.486594248311, 1.10055487295),
}


def run(algorithm, problem, indices=None):
    return getattr(efficient, algorithm)(problem, draws(problem, 20) if indices is None else indices)


# ---- values ----


@pytest.mark.parametrize(("algorithm", "loss"), GOLDEN)
@pytest.mark.parametrize("side", [reference, efficient])
def test_predictor_equals_the_golden_values(side, algorithm, loss):
    predictor = getattr(side, algorithm)(floats("by hand", loss), PI)
    np.testing.assert_allclose([*predictor.w, predictor.b], GOLDEN[algorithm, loss], rtol=2e-8)


@pytest.mark.parametrize("first", [1, 2])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_predictor_equals_first_steps_by_hand(algorithm, first):
    # x = (1, 0), y = +1, then x = (0, 2), y = -1; hinge, lam = 1/2; worked out with pencil and paper
    predictor = run(algorithm, Problem([[1, 0], [0, 2]], [1, -1], "hinge", Fraction(1, 2)), [0, 1][:first])
    half = Fraction(1, 2)
    w, b = {
        # uncentred: w_1 = (2, 0), b_1 = 2; p_2 = 2, so that g_2 = 1; w_2 = w_1/2 - (0, 2) = (1, -2), b_2 = 0
        ("sgd", 1): ([2, 0], 2),
        ("sgd", 2): ([1, -2], 0),
        ("asgd", 1): ([2, 0], 2),
        ("asgd", 2): ([3 * half, -1], 1),
        # centred at (1/2, 1): w_1 = (1, -2), b_1 = 2, b'_1 = 2 - 1/2 + 2 = 7/2; p_2 = -4 + 7/2 = -1/2, margin 1/2, g_2 = 1
        # w_2 = w_1/2 - (-1/2, 1) = (1, -2), b_2 = 0, b'_2 = 0 - 1/2 + 2 = 3/2
        ("csgd", 1): ([1, -2], 7 * half),
        ("csgd", 2): ([1, -2], 3 * half),
        ("casgd", 1): ([1, -2], 7 * half),
        ("casgd", 2): ([1, -2], 5 * half),
    }[algorithm, first]
    np.testing.assert_array_equal(predictor.w, w)
    assert predictor.b == b


def test_predictor_exact_predictions_and_objective_by_hand():
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


# ---- symmetries, beside those of tests/properties.py ----


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("algorithm", UNCENTRED)
def test_translation_changes_the_uncentred_ones(algorithm, loss):
    X, y, _ = DATA["generic"]
    moved = Problem(X.toarray() + 2, y, loss, Fraction(1, 2))
    assert not (run(algorithm, moved).w == run(algorithm, exact("generic", loss)).w).all()


def test_subtracting_one_mean_from_the_stored_entries_is_not_centring():
    X, y, _ = DATA["generic"]
    wrong = X.copy()
    wrong.data -= wrong.data.mean()
    assert not same(run("asgd", Problem(wrong, y, "log", Fraction(1, 2))), run("casgd", exact()))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_repeated_example_is_one_drawn_twice(algorithm):
    X, y, _ = DATA["generic"]
    twice = Problem(sp.vstack([X, X], format="csr"), np.r_[y, y], "log", Fraction(1, 2))
    indices = draws(exact(), 20)
    assert same(run(algorithm, twice, np.where(np.arange(20) % 2, indices, indices + 8)), run(algorithm, exact(), indices))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_predictor_of_the_squared_loss_is_linear_in_y(algorithm):
    X, first, _ = DATA["generic"]
    second = np.arange(8.0) - 3
    labels = first, second, 2 * first - second
    one, other, both = (run(algorithm, Problem(X, y, "squared", Fraction(1, 4))) for y in labels)
    np.testing.assert_array_equal(both.w, 2 * one.w - other.w)
    assert both.b == 2 * one.b - other.b


def test_symbols_go_through_the_same_loops():
    import sympy

    lam, x = sympy.symbols("lambda x", positive=True)
    y = sympy.Symbol("y", real=True)
    problem = Problem(np.array([[x]], dtype=object), np.array([y], dtype=object), "squared", lam)
    dense, sparse = reference.asgd(problem, [0, 0]), efficient.asgd(problem, [0, 0])
    assert sympy.expand(dense.w[0] - sparse.w[0]) == 0
    assert sympy.expand(dense.b - sparse.b) == 0
    assert dense.w[0].has(x) and dense.w[0].has(lam)


# ---- float64 ----


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_sparse_dense_and_float32_rows_train_the_same_model(algorithm):
    # these values are exact in float32
    rows = X4, X4.toarray(), sp.csr_array(X4.astype(np.float32))
    wanted, *others = (run(algorithm, Problem(X, Y4, "log", 0.5), np.arange(20_000) % 4) for X in rows)
    assert wanted.w.dtype == np.float64
    assert all(same(found, wanted) and found.w.dtype == np.float64 for found in others)


def test_the_loops_read_the_arrays_of_the_problem_without_a_copy():
    for dtype in (np.float32, np.float64):
        for index in (np.int32, np.int64):
            X = sp.csr_array(X4.astype(dtype))
            X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
            problem = Problem(X, Y4, "log", 0.5)
            state = efficient.State(problem, "asgd")
            assert np.shares_memory(state._X.data, problem.X.data)
            assert np.shares_memory(state._X.indices, problem.X.indices)


def test_mean_of_a_long_float32_column_is_summed_in_float64():
    X = sp.csr_array(np.full((1_000_000, 1), 0.1, np.float32))
    problem = Problem(X, np.ones(1_000_000), "hinge", 1.0)
    assert abs(problem.xbar[0] - 0.1) < 1e-8
    state = efficient.State(problem, "casgd")
    assert state.pivot is not None  # a constant column is moved to 0 before training
    assert abs(state.pivot[0] + state.xbar[0] - 0.1) < 1e-8


@pytest.mark.parametrize("side", [reference, efficient])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_overflow_names_the_step(side, algorithm):
    problem = Problem([[30.0] * 4, [-30.0] * 4], [1.0, 1.0], "squared", 1e-6)
    with pytest.raises(FloatingPointError, match=r"overflowed float64 by step \d+.*larger lam"):
        getattr(side, algorithm)(problem, np.arange(400) % 2)


@pytest.mark.parametrize("loss", [name for name in LOSSES if LOSSES[name].slope_bound])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_bounded_derivatives_stay_finite(algorithm, loss):
    with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
        warnings.simplefilter("error")
        for X, lam in ((np.full((1, 4), 30.0), 1e-6), (X4, 1e-9)):
            predictor = run(algorithm, Problem(X, Y4[: X.shape[0]], loss, lam), np.arange(400) % X.shape[0])
            assert np.isfinite(predictor.w).all() and np.isfinite(predictor.b)


def test_a_users_own_loss_trains_on_both_sides():
    def derivative(p, y):
        return max(-1.0, min(1.0, p - y))

    own = reference.Loss("own", lambda p, y: 0.5 * (p - y) ** 2 if abs(p - y) <= 1 else abs(p - y) - 0.5, derivative)
    problem = Problem(X4, [0.3, -2.0, 1.7, 0.0], own, 0.5)
    for algorithm in ALGORITHMS:
        found, wanted = run(algorithm, problem, PI), getattr(reference, algorithm)(problem, PI)
        np.testing.assert_allclose([*found.w, found.b], [*wanted.w, wanted.b], rtol=1e-13)


def test_a_loss_that_cannot_be_compiled_is_refused_with_the_reason():
    opaque = reference.Loss("opaque", lambda p, y: 0.0, lambda p, y: {}[p])
    with pytest.raises(TypeError, match="derivative must be scalar arithmetic"):
        efficient.sgd(Problem(X4, Y4, opaque, 0.5), PI)


@pytest.mark.parametrize("algorithm", AVERAGING)
def test_vectors_that_are_not_side_by_side_in_memory_are_refused(algorithm):
    # the compiled loops assume this stride and would write elsewhere
    state = efficient.State(Problem(X4, Y4, "log", 0.5), algorithm)
    state._room = np.asfortranarray(state._room)
    with pytest.raises(ValueError, match="side by side"):
        state.run(PI)
