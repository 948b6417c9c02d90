"""Faults that users of other software reported, each with a small input and the right result: here those of the estimators.

What concerns the algorithms alone is held elsewhere: golden values, sparse and dense rows, pending updates and float32 sums by
test_float; centring, added constants and averages by test_invariants; a large mean by test_pivot; kinks and overflows of the
losses by test_losses; the regularised bias by test_optimum; containers, index types, malformed matrices, indices out of range,
λ and what is not finite by test_bad_input.
"""

import contextlib
import copy
import io
import pickle
import random

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from efficient import CASGDClassifier, CASGDRegressor, State
from reference import LOSSES, Problem, draw_indices

DENSE = np.array([[1.0, 0, 2], [0, 3, 0], [0, 0, 0], [4, 0, 1]])
X = sp.csr_array(DENSE)
Y = np.array([1.0, -1, 1, -1])
PAPER = {"alpha": 0.5, "n_steps": 6, "average": "uniform", "t0": 0}


def classifier(algorithm="asgd", **parameters):
    return CASGDClassifier(
        **{"loss": "log", "alpha": 0.5, "n_steps": 6, "average": "uniform", "t0": 0} | parameters, algorithm=algorithm
    )


def regressor(algorithm="asgd", **parameters):
    return CASGDRegressor(
        **{"loss": "squared", "alpha": 0.5, "n_steps": 6, "average": "uniform", "t0": 0} | parameters, algorithm=algorithm
    )


def of(estimator, loss, **parameters):
    return (classifier if LOSSES[loss].binary else regressor)(estimator, loss=loss, **parameters)


def library(algorithm, rows, y, loss, indices):
    state = State(Problem(rows, y, loss, 0.5), algorithm).run(indices)
    return state.average() if algorithm in ("asgd", "casgd") else state.last()


@pytest.mark.parametrize("loss", LOSSES)
def test_sparse_and_dense_rows_train_the_same_model(loss):
    for algorithm in ("sgd", "asgd", "csgd", "casgd"):
        sparse, dense, turned = (of(algorithm, loss, random_state=0).fit(*rows) for rows in ((X, Y), (DENSE, Y), (X, -Y)))
        np.testing.assert_array_equal(sparse.coef_, dense.coef_)
        np.testing.assert_array_equal(sparse.intercept_, dense.intercept_)
        assert not np.allclose(sparse.coef_, turned.coef_)  # labels do matter


@pytest.mark.parametrize("algorithm", ["asgd", "casgd", "sgd"])
def test_what_predicts_is_the_average(algorithm):
    fitted = regressor(algorithm, sampling="cyclic").fit(X, Y)
    predictor = library(algorithm, X, Y, "squared", np.arange(6) % 4)
    np.testing.assert_array_equal(fitted.coef_, predictor.w)
    np.testing.assert_array_equal(fitted.predict(X), predictor.predict(X))
    if algorithm == "asgd":
        assert abs(fitted.coef_ - library("sgd", X, Y, "squared", np.arange(6) % 4).w).max() > 1e-3


def test_the_step_counter_goes_on_between_chunks():
    stream = regressor()
    for start, stop in ((0, 1), (1, 3), (3, 4), (0, 4)):
        stream.partial_fit(X[start:stop], Y[start:stop])
    predictor = library("asgd", X, Y, "squared", [0, 1, 2, 3, 0, 1, 2, 3])
    np.testing.assert_array_equal(stream.coef_, predictor.w)
    np.testing.assert_array_equal(stream.intercept_, [predictor.b])
    assert abs(stream.coef_ - regressor(n_steps=4, sampling="cyclic").fit(X, Y).coef_).max() > 1e-3  # which a reset would give


def test_a_second_chunk_of_three_classes_with_averaging():
    stream = classifier(loss="hinge")
    for _ in range(3):
        stream.partial_fit(X[:2], ["a", "b"], classes=["a", "b", "c"])
    assert (stream.coef_.shape, stream.intercept_.shape, list(stream.classes_)) == ((3, 3), (3,), ["a", "b", "c"])
    assert len(stream.predict(X)) == 4


def test_rows_are_drawn_with_replacement():
    seen = []

    def look(t, fitted):
        seen.append(fitted.coef_.copy())

    regressor(n_steps=4000, random_state=0, callback=look).fit(X, Y)
    counts = np.bincount(draw_indices(4, 4000, rng=0), minlength=4)
    assert len(set(counts)) > 1 and len(seen) == 1000
    predictor = library("asgd", X, Y, "squared", draw_indices(4, 4000, rng=0))
    np.testing.assert_array_equal(seen[-1], predictor.w)


def test_the_bias_is_penalised():
    y = np.array([1.0, -1, 1, 2])
    gram = np.block([[DENSE.T @ DENSE / 4, DENSE.mean(0)[:, None]], [DENSE.mean(0)[None], np.ones((1, 1))]])
    right = np.append(DENSE.T @ y / 4, y.mean())
    solution = np.linalg.solve(gram + 0.5 * np.eye(4), right)
    without = np.linalg.solve(gram + 0.5 * np.diag([1, 1, 1, 0]), right)
    fitted = regressor("sgd", n_steps=400_000, random_state=0).fit(X, y)
    found = np.append(fitted.coef_, fitted.intercept_)
    assert abs(found - solution).max() < 2e-2 < abs(found - without).max()


def of_64_bits(indptr_only):
    rows = X.copy()
    rows.indptr = rows.indptr.astype(np.int64)
    if not indptr_only:
        rows.indices = rows.indices.astype(np.int64)
    return rows


def read_only():
    rows = X.copy()
    for part in (rows.data, rows.indices, rows.indptr):
        part.setflags(write=False)
    return rows


SAME = {
    "64-bit indices": of_64_bits(False),
    "64-bit indptr": of_64_bits(True),
    "unsorted": sp.csr_array((np.array([2.0, 1, 3, 1, 4]), np.array([2, 0, 1, 2, 0]), np.array([0, 2, 3, 3, 5])), shape=(4, 3)),
    "repeated": sp.csr_array(
        (np.array([0.25, 2, 0.75, 3, 1, 4]), np.array([0, 2, 0, 1, 2, 0]), np.array([0, 3, 4, 4, 6])), shape=(4, 3)
    ),
    "read-only": read_only(),
    "float32": X.astype(np.float32),
} | {
    f"{form}_{kind}": getattr(sp, f"{form}_{kind}")(DENSE)
    for form in ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")
    for kind in ("array", "matrix")
}


@pytest.mark.parametrize("name", SAME)
def test_every_way_to_store_the_rows_gives_the_same_model(name):
    rows, labels = SAME[name], Y.copy()
    labels.setflags(write=False)
    before = pickle.dumps(rows)
    fitted, plain = (regressor("casgd", random_state=0).fit(each, labels) for each in (rows, DENSE))
    np.testing.assert_array_equal(fitted.coef_, plain.coef_)
    predictions = fitted.predict(rows)
    assert (type(predictions), predictions.shape) == (np.ndarray, (4,))
    assert (type(fitted.coef_), fitted.coef_.dtype) == (np.ndarray, np.float64)
    np.testing.assert_allclose(predictions, plain.predict(DENSE), rtol=1e-12)
    assert pickle.dumps(rows) == before


def test_read_only_memory_maps_as_joblib_hands_them_out(tmp_path):
    joblib.dump(X, tmp_path / "rows")
    mapped = joblib.load(tmp_path / "rows", mmap_mode="r")
    np.testing.assert_array_equal(regressor(random_state=0).fit(mapped, Y).coef_, regressor(random_state=0).fit(X, Y).coef_)


def test_a_column_beyond_the_matrix_and_a_wrong_width():
    wrong = sp.csr_array((np.array([1.0]), np.array([0]), np.array([0, 1])), shape=(1, 3))
    wrong.indices = np.array([7], dtype=wrong.indices.dtype)
    fitted = regressor(random_state=0).fit(X, Y)
    for attempt in (
        lambda: regressor().fit(wrong, [1.0]),
        lambda: fitted.predict(wrong),
        lambda: regressor().fit(sp.csc_array(sp.vstack([X, X])), Y),
        lambda: fitted.predict(sp.csr_array((2, 5))),
    ):
        with pytest.raises(ValueError, match=r"malformed sparse matrix|has 5 features|inconsistent numbers"):
            attempt()


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [1, 3, 0, 2]])
def test_a_positive_decision_is_for_the_second_class_whichever_comes_first(order):
    fitted = classifier(n_steps=400, sampling="cyclic").fit(X[order], np.array(["no", "yes", "no", "yes"])[order])
    assert list(fitted.classes_) == ["no", "yes"]
    decisions = fitted.decision_function(X)
    assert list(np.where(decisions > 0, "yes", "no")) == list(fitted.predict(X))
    assert decisions[1] > 0 and decisions[3] > 0


def test_every_coding_of_two_classes_is_the_same_model():
    codings = ([-1, 1], [0, 1], [1, 2], [False, True], ["a", "b"], [-0.0, 2.0])
    models = [classifier(sampling="cyclic").fit(X, np.array(each)[[1, 0, 1, 0]]).coef_ for each in codings]
    assert all(np.array_equal(models[0], model) for model in models)
    assert not np.array_equal(models[0], classifier(sampling="cyclic").fit(X, [0, 1, 0, 1]).coef_)
    with pytest.raises(ValueError, match=r"-1 and \+1"):
        Problem(X, [1.0, 0, 1, 0], "hinge", 0.5)


@pytest.mark.parametrize("labels", [[0] * 4, ["a"] * 4, [False] * 4, [7.0] * 4])
def test_one_class_only(labels):
    with pytest.raises(ValueError, match="one class only"):
        classifier().fit(X, labels)


def test_a_weight_belongs_to_its_row():
    heavy = regressor(n_steps=8, random_state=1).fit(X, Y, sample_weight=[1, 5, 1, 1])
    rows = np.repeat(np.arange(4), [1, 5, 1, 1])
    np.testing.assert_array_equal(heavy.coef_, regressor(n_steps=8, random_state=1).fit(X[rows], Y[rows]).coef_)
    none, one = regressor(n_steps=8, random_state=0).fit(X, Y), regressor(n_steps=8, random_state=0).fit(X, Y, np.ones(4))
    np.testing.assert_array_equal(none.coef_, one.coef_)


def test_seeds():
    before, before_too = np.random.get_state()[1].copy(), random.getstate()  # noqa: NPY002  # what others may use
    first, again, other = (regressor(n_steps=50, random_state=seed).fit(X, Y).coef_ for seed in (7, 7, 8))
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    for make in (np.random.default_rng, np.random.RandomState):
        source = make(7)
        fitted = regressor(n_steps=50, random_state=source).fit(X, Y)
        np.testing.assert_array_equal(fitted.coef_, regressor(n_steps=50, random_state=make(7)).fit(X, Y).coef_)
        assert not np.array_equal(fitted.fit(X, Y).coef_, first)  # a generator goes on
    unseeded = [regressor(n_steps=50).fit(X, Y).coef_ for _ in range(2)]
    assert not np.array_equal(*unseeded)
    assert np.array_equal(np.random.get_state()[1], before) and random.getstate() == before_too  # noqa: NPY002
    twice = regressor(random_state=0)
    np.testing.assert_array_equal(twice.fit(X, Y).coef_, twice.fit(X, Y).coef_)


def test_pickles_copies_and_clones_also_in_the_middle_of_a_stream():
    fitted = classifier("casgd", random_state=0).fit(X, [0, 1, 0, 1])
    for twin in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        np.testing.assert_array_equal(twin.predict(X), fitted.predict(X))
    assert clone(fitted).get_params() == fitted.get_params()
    assert not hasattr(clone(fitted), "coef_")
    stream = classifier().partial_fit(X, [0, 1, 0, 1], classes=[0, 1])
    twins = [pickle.loads(pickle.dumps(stream)), copy.deepcopy(stream)]
    before = stream.coef_.copy()
    stream.partial_fit(X, [0, 1, 0, 1])
    for twin in twins:
        np.testing.assert_array_equal(twin.coef_, before)
        np.testing.assert_array_equal(twin.partial_fit(X, [0, 1, 0, 1]).coef_, stream.coef_)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused_in_fit_and_predict(wrong):
    rows = X.copy()
    rows.data[1] = wrong
    fitted = regressor(random_state=0).fit(X, Y)
    for attempt in (
        lambda: regressor().fit(rows, Y),
        lambda: regressor().fit(rows.toarray(), Y),
        lambda: regressor().fit(X, [1.0, wrong, 1, -1]),
        lambda: fitted.predict(rows),
        lambda: fitted.partial_fit(rows, Y),
    ):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            attempt()
    np.testing.assert_array_equal(fitted.coef_, regressor(random_state=0).fit(X, Y).coef_)


def test_nothing_is_printed_unasked():
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        regressor(n_steps=100, random_state=0).fit(X, Y)
    assert (out.getvalue(), err.getvalue()) == ("", "")


@pytest.mark.parametrize("alpha", [0, 0.0, -1.0, np.nan, np.inf, "0.1", None])
def test_an_unusable_alpha_is_named(alpha):
    for estimator in (classifier(alpha=alpha), regressor(alpha=alpha)):
        with pytest.raises(ValueError, match="alpha must be a finite number > 0"):
            estimator.fit(X, Y)


def test_a_tiny_alpha_with_the_squared_loss_is_an_error_and_not_nan():
    rows = sp.csr_array(np.full((1, 4), 30.0))
    with pytest.raises(FloatingPointError, match=r"by step \d+.*t0='auto'"):
        regressor(alpha=1e-6, n_steps=400).fit(rows, [1.0])
    for cured in (regressor(alpha=1e-6, n_steps=400, t0="auto"), regressor(alpha=1e-6, n_steps=400, loss="absolute")):
        assert np.isfinite(cured.fit(rows, [1.0]).coef_).all()
