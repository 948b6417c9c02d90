"""Whatever is handed to the estimators: a model with finite predictions or an error in words, and nothing changed."""

import copy
import pickle
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

from efficient import CASGDClassifier, CASGDRegressor
from efficient.estimators import fitting

TAME = st.sampled_from([0, 0, 0, 1, -1, 2.5, -0.5, True, np.float32(0.1), 3])
WILD = st.sampled_from([0, 0, 1, -1, 1e-300, 5e-324, 1e155, 1e308, -1e308])
NUMBERS = st.sampled_from([TAME, TAME, TAME, WILD])
NOT_FINITE = [np.nan, np.inf, -np.inf, np.longdouble("1e4000"), 10**400, None, pd.NA, np.ma.masked]
NO_FLOAT = ["a", "", b"a", 1j, 10**30, Fraction(1, 3), [], [1], {}, np.datetime64("2020"), object()]
ODD = st.sampled_from(NOT_FINITE + NO_FLOAT)
TWO = [[-1, 1], [0, 1], ["a", "b"], [False, True], [1.0, 2.0], [0.5, 1.5], [None, 1]]
LABELS = st.sampled_from([*TWO, [1, 2, 3], ["x", "y", "z"], [1]])
KINDS = ["list", "array", "frame", "sparse", "sparse", "malformed", "spoiled", "spoiled", "shape", "any"]


def spoiled(draw, values):
    """In one of three, something odd put into a list, or the list made longer or shorter."""
    values = list(values)
    how = draw(st.sampled_from(["not"] * 9 + ["odd", "longer", "shorter"]))
    if how == "odd" and values:
        values[draw(st.integers(0, len(values) - 1))] = draw(ODD)
    return {"longer": values + values[:1], "shorter": values[1:]}.get(how, values)


def malformed(draw, rows):
    """A sparse matrix whose parts may not fit each other."""
    rows = rows.copy()
    part = draw(st.sampled_from(["indices", "indptr", "data"]))
    array = getattr(rows, part).copy()
    if part == "data":
        with np.errstate(over="ignore", invalid="ignore"):
            array = array.astype(draw(st.sampled_from([np.float64, np.int8, bool, np.complex128, object])))
    elif len(array):
        array[draw(st.integers(0, len(array) - 1))] = draw(st.sampled_from([-1, 0, 1, 7, 2**31 - 1, -(2**31)]))
    setattr(rows, part, array)
    return rows


KINDS = ["list", "array", "frame", "sparse", "sparse", "malformed", "spoiled", "spoiled", "shape", "any"]


@st.composite
def matrices(draw):
    """Rows in some container, often wrong ones."""
    m, n = draw(st.integers(2, 8)), draw(st.integers(1, 4))
    numbers = draw(NUMBERS)
    cells = [[draw(numbers) for _ in range(n)] for _ in range(m)]
    kind = draw(st.sampled_from(KINDS))
    if kind == "list":
        return cells
    if kind == "spoiled":
        cells[draw(st.integers(0, m - 1))] = spoiled(draw, cells[0])
        return draw(st.sampled_from([list, lambda x: np.array(x, dtype=object) if len({*map(len, x)}) == 1 else x]))(cells)
    dense = np.array(cells, dtype=np.float64)
    if kind == "array":
        with np.errstate(over="ignore"):
            return dense.astype(draw(st.sampled_from([np.float64, np.float64, object, "f4", "S8", bool])))
    if kind == "frame":
        return pd.DataFrame(dense, columns=draw(st.sampled_from([range(n), [f"c{j}" for j in range(n)], ["c"] * n])))
    if kind == "shape":
        masked = np.ma.masked_array(dense, dense > 0)
        return draw(st.sampled_from([dense[0], dense[None], dense[:0], dense[:, :0], dense[0, 0], masked]))
    if kind == "any":
        return draw(ODD | st.just("text") | st.just(3))
    rows = getattr(sp, draw(st.sampled_from(["csr", "csc", "coo", "dia", "lil"])) + "_array")(dense)
    return malformed(draw, sp.csr_array(rows)) if kind == "malformed" else rows


@st.composite
def targets(draw, numbers):
    """Labels or numbers, as many as rows more often than not."""
    choose = draw(NUMBERS) if numbers else st.sampled_from(draw(LABELS))
    values = spoiled(draw, [draw(choose) for _ in range(draw(st.integers(2, 8)))])
    kind = draw(st.sampled_from(["list", "list", "array", "object", "column", "series", "any"]))
    if kind == "any":
        return draw(ODD | st.just([[1, 2]]))
    try:
        if kind == "array":
            return np.array(values)
        if kind == "object":
            return np.array([*values, None], dtype=object)[:-1]
        if kind == "column":
            return np.array(values)[:, np.newaxis]
        if kind == "series":
            return pd.Series(values)
    except (ValueError, TypeError, OverflowError):  # numpy or pandas refuse it already
        pass
    return values


WEIGHTS = st.none() | st.lists(st.sampled_from([0, 1, 1, 2, 0.5, 1e-300, 1e300, 2.0**70, 3]), min_size=2, max_size=8)
PARAMETERS = {
    "alpha": [1e-4, 1, 1e-300, 1e300, 0, -1, np.nan, None],
    "algorithm": ["casgd", "asgd", "csgd", "sgd", "x", 3],
    "average": ["weighted", "uniform", "x"],
    "t0": ["auto", "auto", 0, 10.0, 1e308, np.inf, -1],
    "n_epochs": [1, 2, 0, 1.5],
    "n_steps": [None, 1, 7, 0, "a"],
    "sampling": ["iid", "permuted", "cyclic", None],
    "random_state": [0, None, -1, "a", np.random.RandomState(0)],  # which estimators take
    "warm_start": [False, True],
}


@st.composite
def estimators(draw):
    """Mostly usable ones."""
    numbers = draw(st.booleans())
    losses = ["squared", "absolute", "log"] if numbers else ["hinge", "log", "squared"]
    parameters = {
        "loss": draw(st.sampled_from(losses[:2] * 9 + losses)),
        "alpha": 0.01,
        "n_epochs": 2,
        "t0": draw(st.sampled_from(["auto", 1e4])),
    }
    for name in draw(st.lists(st.sampled_from(list(PARAMETERS)), max_size=3)):
        values = PARAMETERS[name]
        parameters[name] = draw(st.sampled_from(values[:2] * 3 + values))
    if not numbers:
        odd = ["balanced", {1: 2}, {1: -1}, {"a": np.nan}, "x", {1: 0.5}]
        parameters["class_weight"] = draw(st.sampled_from([None] * 15 + odd))
    return (CASGDRegressor if numbers else CASGDClassifier)(**parameters)


@st.composite
def cases(draw):
    estimator = draw(estimators())
    numbers = isinstance(estimator, CASGDRegressor)
    X = draw(matrices())
    y = draw(targets(numbers))
    if draw(st.integers(0, 4)):  # lest nearly all be of unequal lengths
        try:
            m = X.shape[0] if hasattr(X, "shape") else len(X)
            y = (list(y) * m)[:m] if isinstance(y, list) else y[[i % len(y) for i in range(m)]]
        except (TypeError, IndexError, ZeroDivisionError, KeyError, ValueError):
            pass
    weight = draw(WEIGHTS)
    if weight is not None and draw(st.integers(0, 4)) and isinstance(y, list):
        weight = (weight * 8)[: len(y)]
    return estimator, X, y, weight, draw(st.none() | matrices())


def known(make):
    """What the call gives, or None if it is refused in words."""
    try:
        return make()
    except (ValueError, TypeError, FloatingPointError) as error:
        if not str(error):
            raise AssertionError("an error without words") from error
        return None


def kept(thing):
    """What can be compared with later."""
    try:
        return pickle.dumps(thing)
    except Exception:  # some odd thing that does not pickle; pickling is not what is tested
        return repr(thing)


@pytest.fixture(scope="module")
def seen():
    """How often there was a model, and how often none: the cases must not be all alike."""
    counts = {True: 0, False: 0}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "LONGEST_EPOCH", 1000)
        yield counts
    if sum(counts.values()) >= 100:
        assert min(counts.values()) > sum(counts.values()) / 10


@settings(max_examples=4 * settings.default.max_examples, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases(), stream=st.booleans())
@example(case=(CASGDRegressor("absolute", alpha=1e-300), [[1e308], [-1e308]], [1e308, -1e308], None, None), stream=False)
@example(case=(CASGDRegressor(), [[0], [1e155]], [0, 0], None, None), stream=False)
@example(case=(CASGDRegressor("absolute"), [[0], [1]], [0, 0], [1e300, 1], None), stream=True)
@example(case=(CASGDRegressor("absolute"), [[0], [1]], [0, 0], [1e15, 1], None), stream=True)
def test_any_input_gives_finite_predictions_or_an_error_in_words(seen, case, stream):
    estimator, X, y, weight, other = case
    before = kept((X, y, weight, other))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataConversionWarning)
        warnings.simplefilter("ignore", FutureWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", UserWarning)  # scikit-learn's, of classes that look like numbers
        if stream:
            classes = {"classes": copy.copy(y)} if isinstance(estimator, CASGDClassifier) else {}
            fitted = known(lambda: estimator.partial_fit(X, y, sample_weight=weight, **classes))
        else:
            fitted = known(lambda: estimator.fit(X, y, sample_weight=weight))
        seen[fitted is not None] += 1
        if fitted is not None:
            assert np.isfinite(fitted.coef_).all() and np.isfinite(fitted.intercept_).all()
            for rows in (X, other):
                if rows is not None:
                    check_predictions(fitted, rows)
    assert kept((X, y, weight, other)) == before


def check_predictions(fitted, rows):
    predictions = known(lambda: fitted.predict(rows))
    if predictions is None:
        return
    if isinstance(fitted, CASGDRegressor):
        assert np.isfinite(predictions).all()
        return
    assert np.isin(predictions, fitted.classes_).all()
    assert np.isfinite(fitted.decision_function(rows)).all()
    if hasattr(fitted, "predict_proba"):
        assert np.isfinite(fitted.predict_log_proba(rows)).all()
        np.testing.assert_allclose(fitted.predict_proba(rows).sum(axis=1), 1, rtol=1e-9)


def test_the_check_sees_a_nan_a_change_and_an_unexpected_error(seen, monkeypatch):
    case = CASGDRegressor(n_epochs=1), [[1.0], [2.0]], [1, 2], None, None
    check = test_any_input_gives_finite_predictions_or_an_error_in_words.hypothesis.inner_test
    check(dict(seen), case, False)

    def vandal(fitted, X, y, sample_weight=None):
        X[0][0] = 5.0
        return CASGDRegressor.original(fitted, X, y)

    def nan(fitted, rows):
        return np.array([np.nan])

    def crash(fitted, rows):
        raise IndexError("beyond")

    wrongs = (("predict", nan, AssertionError), ("predict", crash, IndexError), ("fit", vandal, AssertionError))
    for name, wrong, error in wrongs:
        with monkeypatch.context() as patch:
            patch.setattr(CASGDRegressor, "original", CASGDRegressor.fit, raising=False)
            patch.setattr(CASGDRegressor, name, wrong)
            with pytest.raises(error):
                check(dict(seen), case, False)
