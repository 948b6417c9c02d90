"""What mutation testing found untested in `reference`: facts that no other test would miss."""

import dataclasses
import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sympy

import reference
from efficient import State
from reference import LOSSES, Predictor, Problem, draw_indices, safe_t0
from reference.arithmetic import fraction
from reference.averaging import evaluate, polynomial, suffix
from reference.losses import GRID_BITS
from reference.rows import as_rows
from reference.sampling import repeated


def test_losses_problems_solutions_are_not_changed_by_accident():
    problem = Problem([[1, 0], [0, 2]], [1, -1], "hinge", 0.5)
    predictor = reference.sgd(problem, [0, 1])
    minimum = reference.minimise(problem)
    for thing, name in ((problem.loss, "name"), (predictor, "b"), (minimum, "value")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(thing, name, 0)


def test_predictors_are_compared_by_identity():
    first, second = (reference.sgd(Problem([[1, 0]], [1], "hinge", Fraction(1, 2)), [0]) for _ in range(2))
    np.testing.assert_array_equal(first.w, second.w)
    assert first == first and first != second and len({first, second}) == 2


@pytest.mark.parametrize("y", [Fraction(1, 2), Fraction(-3), Fraction(0)])
def test_the_formulas_of_the_binary_losses_hold_for_every_real_label(y):
    # E6; refusing other labels than -1 and +1 is up to `Problem`
    hinge, log = LOSSES["hinge"], LOSSES["log"]
    for p in (Fraction(-2), Fraction(0), Fraction(1), Fraction(4)):
        margin = p * y
        assert hinge.value(p, y) == max(0, 1 - margin)
        assert hinge.derivative(p, y) == (-y if margin <= 1 else 0)
        assert log.value(float(p), float(y)) == pytest.approx(math.log(1 + math.exp(-margin)), rel=1e-14)
        assert log.derivative(float(p), float(y)) == pytest.approx(-y / (1 + math.exp(margin)), rel=1e-14)
        assert log.exact.value(p, y) == pytest.approx(math.log(1 + math.exp(-margin)), rel=1e-14)
        assert log.exact.derivative(p, y) == pytest.approx(-y / (1 + math.exp(margin)), rel=1e-14)


def test_the_log_loss_of_a_large_margin_keeps_all_its_digits():
    margin = 2**300 + Fraction(1, 3)  # log(1 + exp(margin)) is the margin itself, far beyond the grid
    on_grid = Fraction(round(margin * 2**GRID_BITS), 2**GRID_BITS)
    assert LOSSES["log"].exact.value(-margin, 1) == on_grid


def test_mpmath_is_set_up_once():
    assert reference.losses._mp() is reference.losses._mp()  # which takes longer than a loss


def test_the_exact_twin_of_the_log_loss_takes_the_same_labels():
    with pytest.raises(ValueError, match="labels -1 and"):
        Problem([[1], [2]], [0, 1], LOSSES["log"].exact, Fraction(1, 2))


@pytest.mark.parametrize("full", [0, 1, 3])
def test_safe_t0_of_columns_full_and_sparse_is_that_of_exact_arithmetic(full):
    X, weight = np.zeros((20, 5)), np.arange(1.0, 21) % 7
    X[:, :full] = np.arange(20 * full).reshape(20, full) % 11 - 3.0
    X[np.arange(20) % 3 == 1, full:] = 2.5
    X[19] = 4
    for centred in (False, True):
        found, wanted = (safe_t0(Problem(X, np.ones(20), "squared", lam, weight), centred) for lam in (0.5, Fraction(1, 2)))
        assert found == pytest.approx(float(wanted), rel=1e-14)
        assert isinstance(wanted, Fraction) and isinstance(found, float)


@pytest.mark.parametrize("lam", [0.5, Fraction(1, 2)])
def test_safe_t0_of_examples_that_are_drawn(lam):
    X, drawn = np.array([[9.0, 9], [1, 0], [0, 3], [2, 2]]), np.array([0, 0.5, 1, 0.25])
    for weight in ([1, 1, 1, 1], [3, 5, 0, 2]):
        problem = Problem(X, np.ones(4), "squared", lam, weight)
        few = Problem(X[1:], np.ones(3), "squared", lam, weight[1:])
        assert safe_t0(problem, drawn=drawn) == safe_t0(few) < safe_t0(problem)
    xbar = drawn @ X / drawn.sum()
    wanted = 1 + max(((x - xbar) ** 2).sum() for x in X[1:])
    assert safe_t0(Problem(X, np.ones(4), "squared", 0.5), True, drawn) == pytest.approx(wanted / 0.5, rel=1e-14)


def test_safe_t0_of_sparse_rows_takes_no_more_room_than_they_do():
    problem = Problem(sp.eye_array(2000, format="csr"), np.ones(2000), "squared", 0.5)
    tracemalloc.start()
    safe_t0(problem, centred=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2000 * 2000


def test_safe_t0_of_float32_rows_is_computed_in_float64():
    X = sp.csr_array(np.array([[1e25, 0.1], [2e25, 0]], dtype=np.float32))
    narrow, wide = (Problem(rows, [1, 1], "squared", 0.5) for rows in (X, X.astype(np.float64)))
    assert safe_t0(narrow) == safe_t0(wide)
    assert safe_t0(narrow, centred=True) == safe_t0(wide, centred=True)


def test_a_variant_shares_the_rows_and_validates_the_rest():
    problem = Problem([[1, 0], [0, 2]], [1, -1], "hinge", 0.5, weight=[1, 3])
    other = problem.variant([-1, 1], 2)
    assert other.X is problem.X and other.weight is problem.weight and other.loss is problem.loss
    assert (other.lam, other.y.tolist()) == (2, [-1, 1])
    assert (problem.lam, problem.y.tolist()) == (0.5, [1, -1])
    assert problem.variant(lam=2).y is problem.y and problem.variant([-1, 1]).lam == 0.5
    with pytest.raises(ValueError, match="labels -1 and"):
        problem.variant([0, 1])
    with pytest.raises(ValueError, match="lam, the regularisation"):
        problem.variant(lam=0)
    with pytest.raises(TypeError, match="lam must be of the type that chose the arithmetic"):
        problem.variant(lam=Fraction(1, 2))


@pytest.mark.parametrize("number", [float, Fraction])
def test_the_objective_and_its_subgradient_by_hand(number):
    # (1/m) Σ s_i ℓ_i with m = 2, s = (1, 3); squared loss; w = (1, −1), b = 2, so that p = (3, 0), p − y = (2, 1)
    problem = Problem([[1, 0], [0, 2]], [1, -1], "squared", number(3), weight=[1, 3])
    predictor = Predictor(np.array([number(1), number(-1)]), number(2))
    assert problem.objective(predictor) == 3 * (2 + 4) / 2 + (4 + 3 * 1) / 4
    w, b = problem.subgradient(predictor)
    assert [*w, b] == [3 + 2 / 2, -3 + 3 * 2 / 2, 6 + (2 + 3) / 2]
    # centred at x̄ = (1/4, 3/2): b = 2 + w · x̄ = 3/4, the rows are (3/4, −3/2) and (−1/4, 1/2), and p is the same
    assert problem.objective(predictor, centred=True) == 3 * (2 + 9 / 16) / 2 + 7 / 4
    w, b = problem.subgradient(predictor, centred=True)
    assert [*w, b] == [3 + (2 * 0.75 - 3 * 0.25) / 2, -3 + (-2 * 1.5 + 3 * 0.5) / 2, 9 / 4 + 5 / 2]
    for i, (w, b) in enumerate([([3 + 2, -3], 6 + 2), ([3, -3 + 3 * 2], 6 + 3)]):
        found = problem.stochastic_gradient(predictor, i)
        assert ([*found[0]], found[1]) == (w, b)
    found = problem.stochastic_gradient(predictor, 1, centred=True)
    assert ([*found[0]], found[1]) == ([3 - 3 * 0.25, -3 + 3 * 0.5], 9 / 4 + 3)
    for n in (1, 3):
        with pytest.raises(ValueError, match=f"predictor must have 2 weights, one for each column of X; got {n}"):
            problem.objective(Predictor(np.ones(n), 0.0))


def test_the_first_label_that_is_wrong_is_named():
    with pytest.raises(ValueError, match=r"y must hold finite real numbers.*nan"):
        Problem([[1], [2], [3]], [1, np.nan, np.inf], "squared", 1.0)
    with pytest.raises(ValueError, match=r"labels -1 and \+1 for the hinge loss; got 0\.0\."):
        Problem([[1], [2], [3]], [1, 0, 2], "hinge", 1.0)


def test_a_data_frame_of_sparse_columns_is_not_made_dense():
    column = pd.arrays.SparseArray.from_spmatrix(sp.csc_array(([2.0], ([7], [0])), shape=(500_000, 1)))
    frame = pd.DataFrame(dict.fromkeys("abcdefgh", column))
    tracemalloc.start()
    rows = as_rows(frame)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert rows.indices.tolist() == list(range(8)) and rows.dense(7).tolist() == [2] * 8
    assert peak < 8 * 500_000 * 8 / 2


def test_a_series_of_two_indices_is_no_matrix():
    series = pd.Series(pd.arrays.SparseArray([1.0, 2.0]), index=pd.MultiIndex.from_tuples([(0, 0), (1, 1)]))
    with pytest.raises(ValueError, match=r"X must be two-dimensional, one row an example; got 1 dimension\(s\), shape \(2,\)"):
        as_rows(series)


@pytest.mark.parametrize("kind", [np.array, sp.csr_array, sp.csc_array])
def test_the_first_entry_that_is_not_finite_is_named(kind):
    with pytest.raises(ValueError, match="got nan in row 0, column 1: drop"):
        as_rows(kind([[1, np.nan, 0], [np.inf, 1, 2]]))


@pytest.mark.parametrize("shape", [(9, 2), (2, 9)])
def test_compressed_columns_are_checked_by_rows(shape):
    X = np.arange(1.0, 19).reshape(shape)
    for kind in (sp.csc_array, sp.bsr_array, sp.csr_array):
        np.testing.assert_array_equal([as_rows(kind(X)).dense(i) for i in range(shape[0])], X)
    for kind, outside, words in (
        (sp.csc_array, shape[0], "X is a malformed sparse matrix"),
        (sp.csr_array, shape[1], rf"column {shape[1]} outside 0\.\.{shape[1] - 1}"),
    ):
        wrong = kind(X)
        wrong.indices[-1] = outside
        with pytest.raises(ValueError, match=words):
            as_rows(wrong)


def test_rows_of_a_single_entry_are_checked_too_and_places_get_one_type():
    X = sp.csr_array((2, 3))
    X.data, X.indices, X.indptr = np.array([5.0]), np.array([3], np.int32), np.array([0, 1, 1], np.int32)
    with pytest.raises(ValueError, match=r"column 3 outside 0\.\.2"):
        as_rows(X)
    for first, second in ((np.int32, np.int64), (np.int64, np.int32)):
        X.indices, X.indptr = np.array([1], first), np.array([0, 1, 1], second)
        rows = as_rows(X)
        assert rows.indices.dtype == rows.indptr.dtype and rows.dense(0).tolist() == [0, 5, 0]


def test_coordinates_that_are_right_and_that_are_not():
    def rows(i, j):
        return as_rows(sp.coo_array(([5.0, 7.0], (i, j)), shape=(3, 4)))

    assert rows([1, 2], [2, 3]).dense(1).tolist() == [0, 0, 5, 0]  # with an empty first row and column
    for i, j, wrong in (
        ([1, 3], [0, 0], r"3 or 1 outside 0\.\.2 on axis 0"),
        ([0, 0], [-1, 3], r"3 or -1 outside 0\.\.3 on axis 1"),
    ):
        X = sp.coo_array(([5.0, 7.0], ([0, 0], [0, 1])), shape=(3, 4))
        X.coords = np.array(i), np.array(j)
        with pytest.raises(ValueError, match=wrong):
            as_rows(X)


def test_results_are_in_the_arithmetic_of_the_rows():
    for number, dtype in ((np.float64, np.float64), (fraction, object)):
        rows = as_rows([[1, 0], [2, 3]], number)
        one = np.array([number(1), number(1)])
        found = rows.dot(one), rows.transpose_dot(one), rows.mean(one), rows.dense(0)
        assert [each.tolist() for each in found] == [[1, 5], [3, 3], [1.5, 1.5], [1, 0]]
        assert [each.dtype for each in found] == [dtype] * 4


def test_explicit_predictions_make_a_block_dense_at_a_time(monkeypatch):
    monkeypatch.setattr("reference.problem.BLOCK", 2000)
    X = np.random.default_rng(0).normal(size=(4000, 20))
    rows, predictor = as_rows(X), Predictor(np.arange(20.0), 1.0, np.ones(20))
    tracemalloc.start()
    found = predictor._on(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_allclose(found, (X - 1) @ np.arange(20) + 1, rtol=1e-12)
    assert peak < X.nbytes / 3  # 2000 entries are a fortieth, and the predictions a twentieth
    assert Predictor(np.ones(3), 2.0, np.zeros(3)).predict(np.zeros((2, 3))).tolist() == [2, 2]


def test_explicit_predictions_of_long_rows_make_one_dense_at_a_time(monkeypatch):
    monkeypatch.setattr("reference.problem.BLOCK", 1)
    n, peaks = 50_000, []
    for m in (1, 8):
        rows, predictor = as_rows(np.ones((m, n))), Predictor(np.ones(n), 0.0, np.ones(n))
        tracemalloc.start()
        predictor._on(rows)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


def test_repeated_rows_are_laid_out_a_million_entries_at_a_time():
    for row, at_once in (([[5]], 1_000_000), ([[5, 0, 6, 7]], 333_333)):
        blocks = [block.m for block in repeated(as_rows(row), np.array([2_000_001]))]
        assert set(blocks[:-1]) == {at_once} and sum(blocks) == 2_000_001


@pytest.mark.parametrize("number", [float, Fraction])
def test_an_explicit_form_around_the_origin_is_the_implicit_one(number):
    w, zeros = np.array([number(2), number(-1)]), np.array([number(0), number(0)])
    assert Predictor(w, number(3), zeros).predict([[1, 0], [0, 0], [4, 5]]).tolist() == [5, 3, 6]


def test_weights_that_no_step_has_moved_are_zeros_without_a_sign():
    problem = Problem([[-1.0, 0], [0, 1]], [1, 1], "squared", 0.5)
    for train in (reference.sgd, reference.asgd):
        w = train(problem, [1]).w
        assert w.tolist() == [0, 2] and not np.signbit(w).any()


def test_weights_of_the_iterates_by_hand():
    t = np.array([1.0, 2.0, 3.0])
    assert polynomial(2)(t).tolist() == [1, 4, 9]
    assert polynomial(2, t0=3)(t).tolist() == [16, 25, 36]
    assert polynomial(3, Fraction(1, 2))(Fraction(2)) == Fraction(125, 8)
    assert suffix(2)(t).tolist() == [0, 0, 1]
    found = [suffix(2)(step) for step in (Fraction(2), Fraction(3))]
    assert found == [0, 1] and {type(each) for each in found} == {int}


@pytest.mark.parametrize("number", [np.float64, fraction])
def test_without_weights_there_is_a_single_one_in_memory(number):
    ones = evaluate(None, 5, 1000, number)
    assert ones.shape == (1000,) and ones.strides == (0,) and ones[0] == 1
    assert evaluate(lambda t: t, 5, 3, number).tolist() == [5, 6, 7]
    assert evaluate(lambda t: 2, 5, 3, number).tolist() == [2, 2, 2]


@pytest.mark.parametrize(("number", "wrong"), [(fraction, Fraction(-1, 2)), (np.float64, -0.5), (np.float64, np.ones(4))])
def test_weights_slightly_negative_or_too_many_are_refused(number, wrong):
    with pytest.raises(ValueError, match=r"weights must .*>= 0"):
        evaluate(lambda t: wrong, 5, 3, number)


@pytest.mark.parametrize("wrong", ["1", b"1", 1j, None])
def test_only_real_numbers_are_fractions(wrong):
    with pytest.raises(TypeError, match="is not a real number"):
        fraction(wrong)


def test_symbols_as_lam_and_t0():
    lam = sympy.Symbol("lambda", positive=True)
    problem = Problem([[1], [2]], [1, 2], "squared", lam)
    with pytest.raises(TypeError, match="a sympy Float is not exact: use a Rational"):
        Problem([[1]], [1], "squared", sympy.Float(0.5))
    for wrong in (sympy.Integer(-1), sympy.oo, sympy.Symbol("n", negative=True)):
        with pytest.raises(ValueError, match="t0, the offset"):
            State(problem, "sgd", t0=wrong)
    t0 = sympy.Symbol("t0", positive=True)
    assert State(problem, "sgd", t0=t0).run([0]).last().w[0] == 1 / (lam * (1 + t0))


def test_the_default_seed_is_0():
    np.testing.assert_array_equal(draw_indices(50, 20), draw_indices(50, 20, rng=0))


def test_no_weight_of_a_draw_may_be_below_0():
    with pytest.raises(ValueError, match=r"weight must hold finite numbers >= 0, not all zero; got -0\.5"):
        draw_indices(2, 5, rng=0, weight=[1, -0.5])
