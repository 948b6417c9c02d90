"""Faults that users of other software reported, each with a small input and the right result: those of the estimators' fit."""

import pickle
import random

import joblib
import numpy as np
import pytest
import scipy.sparse as sp

from efficient import CASGDClassifier, CASGDRegressor

DENSE = np.array([[1.0, 0, 2], [0, 3, 0], [0, 0, 0], [4, 0, 1]])
X = sp.csr_array(DENSE)
Y = np.array([1.0, -1, 1, -1])
PAPER = {"alpha": 0.5, "n_steps": 6, "average": "uniform", "t0": 0}


def classifier(algorithm="asgd", **parameters):
    return CASGDClassifier(**PAPER | {"loss": "log"} | parameters, algorithm=algorithm)


def regressor(algorithm="asgd", **parameters):
    return CASGDRegressor(**PAPER | {"loss": "squared"} | parameters, algorithm=algorithm)


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
    "dense": DENSE,
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
def test_fit_gives_the_same_model_for_every_way_to_store_the_rows(name):
    rows, labels = SAME[name], Y.copy()
    labels.setflags(write=False)
    before = pickle.dumps(rows)
    fitted, plain = (regressor("casgd", random_state=0).fit(each, labels) for each in (rows, X))
    np.testing.assert_array_equal(fitted.coef_, plain.coef_)
    predictions = fitted.predict(rows)
    assert (type(predictions), predictions.shape) == (np.ndarray, (4,))
    assert (type(fitted.coef_), fitted.coef_.dtype) == (np.ndarray, np.float64)
    np.testing.assert_allclose(predictions, plain.predict(DENSE), rtol=1e-12)
    assert pickle.dumps(rows) == before
    assert not np.allclose(fitted.coef_, regressor("casgd", random_state=0).fit(rows, -labels).coef_)  # labels do matter


def test_fit_takes_read_only_memory_maps_of_joblib(tmp_path):
    joblib.dump(X, tmp_path / "rows")
    mapped = joblib.load(tmp_path / "rows", mmap_mode="r")
    np.testing.assert_array_equal(regressor(random_state=0).fit(mapped, Y).coef_, regressor(random_state=0).fit(X, Y).coef_)


def test_fit_and_predict_refuse_a_column_beyond_the_matrix_and_a_wrong_width():
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


def test_fit_gives_the_same_model_for_every_coding_of_two_classes():
    codings = ([-1, 1], [0, 1], [1, 2], [False, True], ["a", "b"], [-0.0, 2.0])
    models = [classifier(sampling="cyclic").fit(X, np.array(each)[[1, 0, 1, 0]]).coef_ for each in codings]
    assert all(np.array_equal(models[0], model) for model in models)
    assert not np.array_equal(models[0], classifier(sampling="cyclic").fit(X, [0, 1, 0, 1]).coef_)


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [1, 3, 0, 2]])
def test_positive_decision_is_for_the_second_class_whichever_comes_first(order):
    fitted = classifier(n_steps=400, sampling="cyclic").fit(X[order], np.array(["no", "yes", "no", "yes"])[order])
    assert list(fitted.classes_) == ["no", "yes"]
    decisions = fitted.decision_function(X)
    assert list(np.where(decisions > 0, "yes", "no")) == list(fitted.predict(X))
    assert decisions[1] > 0 and decisions[3] > 0


def test_fit_draws_from_its_seed_alone():
    before, before_too = np.random.get_state()[1].copy(), random.getstate()  # noqa: NPY002  # generators of the whole process
    first, again, other = (regressor(n_steps=50, random_state=seed).fit(X, Y).coef_ for seed in (7, 7, 8))
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    for make in (np.random.default_rng, np.random.RandomState):
        fitted = regressor(n_steps=50, random_state=make(7)).fit(X, Y)
        np.testing.assert_array_equal(fitted.coef_, regressor(n_steps=50, random_state=make(7)).fit(X, Y).coef_)
        assert not np.array_equal(fitted.fit(X, Y).coef_, first)  # a generator is advanced
    assert not np.array_equal(*(regressor(n_steps=50).fit(X, Y).coef_ for _ in range(2)))
    assert np.array_equal(np.random.get_state()[1], before) and random.getstate() == before_too  # noqa: NPY002


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_refused_and_leave_the_model_alone(wrong):
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


def test_tiny_alpha_with_the_squared_loss_is_an_error_and_not_nan():
    rows = sp.csr_array(np.full((1, 4), 30.0))
    with pytest.raises(FloatingPointError, match=r"by step \d+.*t0='auto'"):
        regressor(alpha=1e-6, n_steps=400).fit(rows, [1.0])
    for cured in (regressor(alpha=1e-6, n_steps=400, t0="auto"), regressor(alpha=1e-6, n_steps=400, loss="absolute")):
        assert np.isfinite(cured.fit(rows, [1.0]).coef_).all()
