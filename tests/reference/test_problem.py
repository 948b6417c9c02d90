"""Problem: labels, loss, λ and weights validated; the objective and its subgradient by hand; predictors in all forms."""

import copy
import pickle
import tracemalloc
from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import efficient
import reference
from efficient.runs.algorithms import ALGORITHMS
from reference import LOSSES, Predictor, Problem
from reference.rows import as_rows
from tests.reference.test_rows import MALFORMED, names, read_only, short, snapshot, sparse_column

X = np.array([[1.0, 0, 2, 0], [0, 3, 0, 0], [0, 0, 0, 0], [4, 0, 1, 0]])
y = np.array([1.0, -1, 1, -1])
ARITHMETICS = pytest.mark.parametrize("lam", [0.5, Fraction(1, 2)], ids=["float", "exact"])

nan, inf = float("nan"), float("inf")


def date(unit, value):
    return np.array([value] * 4, dtype=unit)


@ARITHMETICS
@pytest.mark.parametrize(
    ("wrong", "error", "shown"),
    [
        *((y[:3], ValueError, (3,)), (np.append(y, 1), ValueError, (5,)), (y[:, None], ValueError, (4, 1))),
        *((y[None], ValueError, (1, 4)), (pd.DataFrame({"label": y}), ValueError, (4, 1)), (1.0, ValueError, ())),
        *((None, ValueError, ()), ([], ValueError, (0,)), ([1, -1, [1, 1], -1], ValueError, "")),
        *(
            (sp.csr_array(y[:, None]), ValueError, ""),
            (np.ma.masked_array(y, mask=[True, False, False, False]), ValueError, ""),
        ),
        *(([1, -1, nan, inf], ValueError, nan), ([1, -1, inf, 1], ValueError, inf), ([1, -1, -inf, 1], ValueError, -inf)),
        *((np.array([1, -1, nan, 1], dtype=object), ValueError, nan), (np.array([1, "3", 1, 1], dtype=object), TypeError, "")),
        *((["1", "-1", "1", "-1"], TypeError, ""), ([b"1", b"-1", b"1", b"-1"], TypeError, ""), (y + 1j, TypeError, "")),
        (np.array([1, 1j, 1, 1], dtype=object), TypeError, ""),
        (date("datetime64[D]", "2020-01-01"), TypeError, ""),
        (date("timedelta64[s]", 1), TypeError, ""),
        (pd.Series(["spam", "ham", "spam", "ham"]), TypeError, ""),
        (pd.Series(["spam", "ham", "spam", "ham"], dtype="category"), TypeError, ""),
    ],
    ids=short,
)
def test_problem_refuses_labels_that_are_no_numbers(wrong, error, shown, lam):
    with pytest.raises(error, match=names("y", shown)):
        Problem(X, wrong, "squared", lam)


@pytest.mark.parametrize("wrong", [None, np.longdouble("1e4000"), 10**400], ids=["None", "long double", "big int"])
def test_problem_refuses_labels_that_no_float_holds(wrong):
    if wrong == inf:
        pytest.skip("a long double is a double here")
    with pytest.raises((TypeError, ValueError), match=names("y")):
        Problem(X[:1], np.array([wrong]), "squared", 0.5)


@ARITHMETICS
@pytest.mark.parametrize("loss", [name for name, loss in LOSSES.items() if loss.binary])
@pytest.mark.parametrize(
    ("wrong", "value"),
    [([1, 0, 2, 0], 0), ([1, 2, 1, 1], 2), ([True, False, True, False], 0), ([1, -1, 0.5, 1], 0.5), ([1, -1, 1, -1.25], -1.25)],
)
def test_problem_names_the_first_label_that_is_no_sign(wrong, value, loss, lam):
    shown = str(Fraction(value) if isinstance(lam, Fraction) else float(value))
    with pytest.raises(ValueError, match=names("y", f"-1 and +1 for the {loss} loss; got {shown}")):
        Problem(X, wrong, loss, lam)
    Problem(X, wrong, "absolute", lam)


@ARITHMETICS
@pytest.mark.parametrize(
    "right",
    [
        *(y.tolist(), tuple(y.tolist())),
        *(y.astype(dtype) for dtype in ("i1", "i8", "f2", "f4", "g", ">f8", ">i2", "O")),
        np.array([Fraction(1), -1, 1.0, np.int8(-1)], dtype=object),
        *(np.repeat(y, 2)[::2], y[::-1].copy()[::-1], read_only(y), np.ma.masked_array(y)),
        *(pd.Series(y, index=[3, 2, 1, 0]), pd.Series(y).astype("Int64"), pd.Series(y).astype(sparse_column)),
    ],
    ids=short,
)
def test_problem_takes_labels_in_every_container(right, lam):
    before = snapshot(right)
    found = Problem(X, right, "log", lam).y
    assert found.tolist() == y.tolist() and {type(value) for value in found} <= {np.float64, Fraction}
    assert snapshot(right) == before


@ARITHMETICS
def test_problem_takes_boolean_labels_as_0_and_1(lam):
    assert Problem(X, y > 0, "squared", lam).y.tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize("wrong", ["logistic", "Hinge", "", None, 0, ["log"], abs], ids=repr)
def test_problem_refuses_an_unknown_loss(wrong):
    with pytest.raises(ValueError, match=names("loss", repr(wrong))):
        Problem(X, y, wrong, 0.5)


@ARITHMETICS
@pytest.mark.parametrize(
    "wrong", [[1] * 3, [1, 1, 1, -1], [nan] * 4, [inf] * 4, [0] * 4, ["1"] * 4, np.ones((4, 1)), [1j] * 4], ids=short
)
def test_problem_refuses_wrong_weights(wrong, lam):
    with pytest.raises((TypeError, ValueError), match="weight must"):
        Problem(X, y, "log", lam, wrong)


@pytest.mark.parametrize("side", [reference, efficient])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    ("rows", "lam"),
    [
        ([[1e200]], 1e-200),  # w overflows at the last step, b does not
        ([[1.5e8], [0.0]], 1e-300),  # each w is finite, their sum is not
        ([[1.7e308], [1.7e308]], 1.0),  # nor is the sum for the mean row
    ],
)
def test_algorithms_never_return_infinity(side, algorithm, rows, lam):
    try:
        predictor = getattr(side, algorithm)(Problem(rows, np.ones(len(rows)), "hinge", lam), range(len(rows)))
    except FloatingPointError:
        return
    assert np.isfinite([*predictor.w, predictor.b]).all()


def test_variant_shares_the_rows_and_validates_the_rest():
    problem = Problem([[1, 0], [0, 2]], [1, -1], "hinge", 0.5, sample_weight=[1, 3])
    other = problem.variant([-1, 1], 2)
    assert other.X is problem.X and other.sample_weight is problem.sample_weight and other.loss is problem.loss
    assert (other.lam, other.y.tolist()) == (2, [-1, 1])
    assert (problem.lam, problem.y.tolist()) == (0.5, [1, -1])
    assert problem.variant(lam=2).y is problem.y and problem.variant([-1, 1]).lam == 0.5
    for wrong, error, words in (
        ({"y": [0, 1]}, ValueError, "labels -1 and"),
        ({"lam": 0}, ValueError, "lam, the regularisation"),
        ({"lam": Fraction(1, 2)}, TypeError, "lam must be of the type that chose the arithmetic"),
    ):
        with pytest.raises(error, match=words):
            problem.variant(**wrong)


@pytest.mark.parametrize("number", [float, Fraction])
def test_objective_and_subgradients_by_hand(number):
    # (1/m) Σ s_i ℓ_i with m = 2, s = (1, 3); squared loss; w = (1, −1), b = 2, so that p = (3, 0), p − y = (2, 1)
    problem = Problem([[1, 0], [0, 2]], [1, -1], "squared", number(3), sample_weight=[1, 3])
    predictor = Predictor(np.array([number(1), number(-1)]), number(2))
    assert problem.objective(predictor) == 3 * (2 + 4) / 2 + (4 + 3 * 1) / 4
    w, b = problem.subgradient(predictor)
    assert [*w, b] == [3 + 2 / 2, -3 + 3 * 2 / 2, 6 + (2 + 3) / 2]
    # centred at x̄ = (1/4, 3/2): b = 2 + w · x̄ = 3/4, the rows are (3/4, −3/2) and (−1/4, 1/2), and p is the same
    assert problem.xbar.tolist() == [0.25, 1.5]
    assert problem.objective(predictor, centred=True) == 3 * (2 + 9 / 16) / 2 + 7 / 4
    w, b = problem.subgradient(predictor, centred=True)
    assert [*w, b] == [3 + (2 * 0.75 - 3 * 0.25) / 2, -3 + (-2 * 1.5 + 3 * 0.5) / 2, 9 / 4 + 5 / 2]
    for i, (w, b) in enumerate([([3 + 2, -3], 6 + 2), ([3, -3 + 3 * 2], 6 + 3)]):
        found = problem.stochastic_gradient(predictor, i)
        assert ([*found[0]], found[1]) == (w, b)
    found = problem.stochastic_gradient(predictor, 1, centred=True)
    assert ([*found[0]], found[1]) == ([3 - 3 * 0.25, -3 + 3 * 0.5], 9 / 4 + 3)
    for n in (1, 3):
        with pytest.raises(ValueError, match=f"predictor must have 2 weights.*got {n}"):
            problem.objective(Predictor(np.ones(n), 0.0))


def test_predict_refuses_what_training_refuses():
    predictor = reference.sgd(Problem(X, y, "squared", 0.5), [0, 1])
    for wrong in (X[:, :3], sp.csr_array((2, 5)), X[0], X[:0], X * nan, X.astype(str), X * 1j, MALFORMED["csr, column 7"]):
        with pytest.raises((TypeError, ValueError), match=names("X")):
            predictor.predict(wrong)


@pytest.mark.parametrize("number", [float, Fraction])
def test_predict_is_the_same_in_every_form(number):
    w, zeros, xbar = (np.array([number(value) for value in values]) for values in ([2, -1], [0, 0], [1, 0.5]))
    rows, wanted = [[1, 0], [0, 0], [4, 5]], [5, 3, 6]
    plain = Predictor(w, number(3))
    for form in (plain, Predictor(w, number(3), zeros), plain.explicit(xbar), plain.explicit(xbar).implicit()):
        assert form.predict(rows).tolist() == wanted
    assert plain.explicit(xbar).b == 4.5
    assert Predictor(w, number(3), pivoted=plain.explicit(xbar)).explicit(xbar).b == 4.5


def test_explicit_predictions_make_a_block_dense_at_a_time(monkeypatch):
    monkeypatch.setattr("reference.problem.BLOCK", 2000)
    X = np.random.default_rng(0).normal(size=(4000, 20))
    predictor = Predictor(np.arange(20.0), 1.0, np.ones(20))
    rows = sp.csr_array(X)
    tracemalloc.start()
    found = predictor.predict(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_allclose(found, (X - 1) @ np.arange(20) + 1, rtol=1e-12)
    assert peak < X.nbytes / 3  # 2000 entries are a fortieth, and the predictions a twentieth


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


def test_predictors_cannot_be_changed_and_are_compared_by_identity():
    first, second = (reference.sgd(Problem([[1, 0]], [1], "hinge", Fraction(1, 2)), [0]) for _ in range(2))
    np.testing.assert_array_equal(first.w, second.w)
    assert first == first and first != second and len({first, second}) == 2
    with pytest.raises(FrozenInstanceError):
        first.b = 0


def test_weights_of_columns_never_seen_are_zeros_without_a_sign():
    problem = Problem([[-1.0, 0], [0, 1]], [1, 1], "squared", 0.5)
    for train in (reference.sgd, reference.asgd):
        w = train(problem, [1]).w
        assert w.tolist() == [0, 2] and not np.signbit(w).any()


def reachable(problem):
    """All arrays of numbers that a caller can get from a problem."""
    return (*problem.X[:3], problem.y, problem.sample_weight, problem.xbar)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, np.asarray, lambda X: sp.csr_array(X.astype(np.float32))])
@ARITHMETICS
def test_problem_owns_its_arrays_whatever_is_written_into_those_given(form, lam):
    given, labels, weight = form(X), y.copy(), np.array([1.0, 2, 3, 4])
    problem, same_one = (Problem(given if k else X, labels, "hinge", lam, weight.copy()) for k in (True, False))
    wanted = [each.tolist() for each in reachable(same_one)]
    for array in [given] if isinstance(given, np.ndarray) else [given.data, given.indices, given.indptr]:
        array[:] = 77
    labels[:], weight[:] = nan, nan
    for twin in (problem, copy.copy(problem), copy.deepcopy(problem), pickle.loads(pickle.dumps(problem)), problem.variant()):
        assert [each.tolist() for each in reachable(twin)] == wanted
        for array in reachable(twin):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
            if array.dtype != object:
                with pytest.raises(ValueError, match="WRITEABLE"):
                    array.setflags(write=True)


def test_problem_copies_no_array_that_nobody_can_change(tmp_path):
    for name in ("data", "indices", "indptr"):
        np.save(tmp_path / name, getattr(sp.csr_array(X), name))
    for mode, shared in (("r", True), ("c", False), ("r+", False)):
        parts = [np.load(tmp_path / f"{name}.npy", mmap_mode=mode) for name in ("data", "indices", "indptr")]
        rows = Problem(sp.csr_array(tuple(parts), shape=X.shape), y, "hinge", 1.0).X
        assert [np.shares_memory(*pair) for pair in zip(rows, parts, strict=False)] == [shared] * 3
    marked = sp.csr_array(X)
    marked.data.flags.writeable = False  # which its owner can undo
    assert not np.shares_memory(Problem(marked, y, "hinge", 1.0).X.data, marked.data)
    first = Problem(X, y, "hinge", 1.0)
    assert np.shares_memory(Problem(first.X.csr, y, "log", 1.0).X.data, first.X.data)


def test_a_memory_map_that_was_written_to_is_named_instead_of_the_step_size(tmp_path):
    rows = sp.csr_array(X)
    np.save(tmp_path / "data.npy", rows.data)
    rows.data = np.load(tmp_path / "data.npy", mmap_mode="r")
    problem = Problem(rows, y, "hinge", 0.1)
    np.load(tmp_path / "data.npy", mmap_mode="r+")[:] = nan
    with pytest.raises(ValueError, match=r"X must not change.* got nan in its memory map"):
        efficient.asgd(problem, [0, 1, 2, 3])
