"""Validation of the estimators: errors name the argument and the cure; any input gives a finite model or an error."""

import copy
import pickle
import random
import warnings
from fractions import Fraction

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError

from efficient import CASGDClassifier, CASGDRegressor
from efficient.estimators import fitting
from efficient.runs.algorithms import ALGORITHMS
from efficient.training.settings import losses
from reference import LOSSES, Loss
from reference.averaging import AVERAGES
from reference.datasets import make_generic, make_text
from reference.sampling import ORDERS

DATA = make_text(60, 300, 10, seed=1)
NUMERIC = make_generic(60, 20, 5, seed=2, binary=False)
THREE = np.random.default_rng(3).choice(["blue", "green", "red"], 60)


def logistic(**parameters):
    return CASGDClassifier("log", **{"alpha": 0.1, "random_state": 0, "n_epochs": 2, **parameters})


WRONG = {
    "alpha": (0, -1.0, np.nan, np.inf, "0.1", None, True, np.bool_(True), 10**400, [0.1]),
    "algorithm": ("ASGD", None, 1, ["sgd"]),
    "average": ("mean", None, True),
    "t0": (-1, np.nan, np.inf, "none", None, True, np.bool_(True), 10**400, [1]),
    "n_epochs": (0, 1.0, None, "3", True, np.nan),
    "n_steps": (0, 2.5, "3", True, False),
    "sampling": ("IID", None, 0),
    "random_state": (-1, 1.5, "0", True, np.bool_(True)),
    "callback": (1, "print"),
    "loss": ("absolute", "LOG", None, 1),
    "verbose": ("yes", None, 1.5),
    "warm_start": ("yes", None, 1),
    "n_jobs": (0, 2.0, "2", True, False),
    "class_weight": ("even", 1, [1, 2], {-1: "a"}, {-1: {}}, {-1: 10**400}, {-1: -1}, {-1: np.nan}, {-1: 1e308, 1: np.inf}),
}


RIGHT = {"algorithm": ALGORITHMS, "average": AVERAGES, "sampling": ORDERS, "loss": losses(binary=True)}


@pytest.mark.parametrize(("name", "wrong"), [(name, value) for name, values in WRONG.items() for value in values])
def test_wrong_parameter_is_named_before_any_step(name, wrong):
    estimator = CASGDClassifier(**{name: wrong})
    for method in (estimator.fit, estimator.partial_fit):
        with pytest.raises(ValueError, match=f"{name} must") as caught:
            method(DATA.X, DATA.y, **({} if method == estimator.fit else {"classes": [-1, 1]}))
        for right in RIGHT.get(name, ()):
            assert repr(right) in str(caught.value)
        assert name == "class_weight" or repr(wrong) in str(caught.value)
    assert not hasattr(estimator, "coef_")


def test_numbers_and_booleans_of_numpy_are_accepted():
    parameters = {"alpha": np.float32(0.5), "t0": np.int64(1), "n_steps": np.int32(1), "verbose": np.bool_(False)}
    assert logistic(**parameters, n_epochs=np.uint8(1), warm_start=np.bool_(False)).fit(DATA.X, DATA.y).t_ == 1


def log_derivative_of_text(p, y):
    return "no number"


def fit(estimator, X=DATA.X, y=DATA.y, *weight):
    return lambda: estimator.fit(X, y, *weight)


def stream(estimator, y=DATA.y, **options):
    return lambda: estimator.partial_fit(DATA.X, y, **options)


@pytest.mark.parametrize(
    ("refused", "error", "words"),
    [
        (fit(CASGDRegressor("log")), ValueError, "loss must be 'absolute'.* or a Loss"),
        (fit(CASGDRegressor(LOSSES["log"])), ValueError, "Use CASGDClassifier"),
        (fit(CASGDClassifier(), y=np.ones(60)), ValueError, "two classes or more; got one class only"),
        (fit(CASGDClassifier(), y=NUMERIC.y), ValueError, "continuous"),
        (fit(CASGDClassifier(), y=[b"a", b"b"] * 30), TypeError, "bytes"),
        (fit(CASGDClassifier(), y=np.array([1, "a"] * 30, dtype=object)), (ValueError, TypeError), "label"),
        (fit(CASGDRegressor(), y=[10**400] * 60), ValueError, "fit a float64"),
        (fit(CASGDRegressor(), [[10**400], [1]], [1, 2]), TypeError, "fit a float64"),
        (lambda: logistic().fit(DATA.X, DATA.y).predict([[10**400] * 300]), TypeError, "fit a float64"),
        (lambda: logistic().fit(DATA.X, DATA.y).predict(DATA.X[:, :9]), ValueError, "X has 9 features"),
        (fit(CASGDClassifier(), DATA.X, DATA.y, np.zeros(60)), ValueError, "sample_weight must"),
        (fit(CASGDClassifier(), DATA.X, DATA.y, np.ones(59)), ValueError, "sample_weight must"),
        (fit(CASGDClassifier(), DATA.X, DATA.y, ["a"] * 60), TypeError, "sample_weight must"),
        (fit(CASGDClassifier(), DATA.X, DATA.y, np.full(60, 1e9)), ValueError, "divide them by their mean"),
        (fit(logistic(class_weight={1: 1e308}), DATA.X, DATA.y, np.full(60, 1e308)), ValueError, "class_weight must .* inf"),
        (fit(CASGDClassifier(sampling="cyclic", class_weight="balanced"), y=THREE), ValueError, "Use fit with sampling='iid'"),
        (stream(CASGDClassifier()), ValueError, "classes must be all labels to come .*first call"),
        (stream(CASGDClassifier(), classes=[1]), ValueError, "one class only"),
        (stream(CASGDClassifier(), THREE, classes=["blue", "red"]), ValueError, "among the classes .*; got 'green'"),
        (stream(CASGDClassifier(class_weight="balanced"), classes=[-1, 1]), ValueError, "class_weight must be a dict"),
        (stream(CASGDClassifier(), classes=[-1, 1], sample_weight=np.full(60, 0.5)), ValueError, "must be integers.* got 0.5"),
        (lambda: logistic(warm_start=True).fit(DATA.X, THREE).fit(DATA.X, DATA.y), ValueError, "y must have the classes"),
        (lambda: logistic().fit(DATA.X, DATA.y).partial_fit(DATA.X, DATA.y, classes=[0, 1]), ValueError, "classes"),
        (fit(CASGDRegressor(alpha=1e-300), 1e10 * NUMERIC.X, NUMERIC.y), FloatingPointError, "t0 = R²/λ overflows"),
        (fit(CASGDRegressor(t0=0, alpha=1e-9), 1e3 * NUMERIC.X, NUMERIC.y), FloatingPointError, "t0 = 0, .*t0='auto'"),
        (
            lambda: logistic(alpha=0.01).fit(DATA.X, DATA.y).predict(1e308 * sp.csr_array(np.ones((1, 300)))),
            FloatingPointError,
            "row 0",
        ),
        (
            fit(CASGDRegressor(Loss("odd", LOSSES["squared"].value, log_derivative_of_text)), NUMERIC.X, NUMERIC.y),
            TypeError,
            "scalar arithmetic",
        ),
    ],
)
def test_error_names_the_argument_and_the_cure(refused, error, words):
    with pytest.raises(error, match=words):
        refused()


@pytest.mark.parametrize(
    ("name", "before", "now"),
    [
        ("alpha", 0.1, 1),
        ("algorithm", "casgd", "asgd"),
        ("average", "uniform", "weighted"),
        ("t0", 2, "auto"),
        ("loss", "log", "hinge"),
        ("loss", LOSSES["hinge"], LOSSES["log"]),
    ],
)
def test_parameters_of_a_resumed_training_stay(name, before, now):
    warm = logistic(warm_start=True).set_params(**{name: before}).fit(DATA.X, DATA.y).set_params(**{name: now})
    for resume in (warm.fit, warm.partial_fit):
        with pytest.raises(ValueError, match=f"^{name} must be .* as before, to resume; got .*warm_start=False"):
            resume(DATA.X, DATA.y)
    assert warm.set_params(**{name: before}).fit(DATA.X, DATA.y).t_ == 240


def test_fit_that_fails_leaves_nothing_of_an_older_one():
    fitted = CASGDRegressor(t0=0, alpha=1.0, random_state=0).fit(NUMERIC.X, NUMERIC.y)
    fitted.set_params(alpha=1e-9)
    with pytest.raises(FloatingPointError):
        fitted.fit(1e3 * NUMERIC.X, NUMERIC.y)
    with pytest.raises(NotFittedError):
        fitted.predict(NUMERIC.X)
    fitted.set_params(alpha=1.0).partial_fit(NUMERIC.X, NUMERIC.y)
    assert (fitted.t_, fitted.n_iter_) == (60, 1)


@pytest.mark.parametrize("epoch", [1, 2])
def test_interrupted_fit_keeps_its_steps_and_resumes(epoch):
    def stop(t, estimator):
        if t == 60 * epoch:
            raise KeyboardInterrupt

    fitted = logistic(warm_start=True, callback=stop)
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(DATA.X, DATA.y)
    assert (fitted.t_, fitted.n_iter_) == (60 * epoch, epoch)
    whole = logistic(n_epochs=epoch + 2).fit(DATA.X, DATA.y)
    np.testing.assert_array_equal(fitted.fit(DATA.X, DATA.y).coef_, whole.coef_)


def test_threads_of_several_classes_are_counted_as_in_scikit_learn_and_change_no_bit(monkeypatch):
    y, seen = np.random.default_rng(4).integers(10, size=60), []
    alone = logistic(n_epochs=4).fit(DATA.X, y)
    run = fitting.Run.run
    monkeypatch.setattr(
        fitting.Run, "run", lambda self, *given, jobs, **more: (seen.append(jobs), run(self, *given, jobs=jobs, **more))[1]
    )
    for jobs in (None, 1, 2, -1):
        several = logistic(n_jobs=jobs, warm_start=True).fit(DATA.X, y)
        for estimator in (several, pickle.loads(pickle.dumps(several)).set_params(n_jobs=3)):
            np.testing.assert_array_equal(estimator.fit(DATA.X, y).coef_, alone.coef_)
    with joblib.parallel_config("threading", n_jobs=2):
        logistic().fit(DATA.X, y)
    of_one = [1, 1, 3, 1, 1, 3, 2, 2, 3, joblib.cpu_count(), joblib.cpu_count(), 3, 2]
    assert seen == of_one


def test_interrupt_before_the_first_step_leaves_no_model(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    fitted = logistic(warm_start=True)
    with monkeypatch.context() as patch:
        patch.setattr("efficient.training.epochs.draw_indices", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fitted.fit(DATA.X, DATA.y)
    with pytest.raises(NotFittedError):
        fitted.predict(DATA.X)
    assert fitted.fit(DATA.X, DATA.y).t_ == 120


def test_epoch_has_a_step_for_each_row_that_can_be_drawn():
    broken, longest = np.arange(60) % 3 / 2, np.array([2.0**31 - 1, 1])
    assert logistic(n_epochs=3).fit(DATA.X, DATA.y, sample_weight=broken).t_ == 3 * 40
    fitted = CASGDRegressor("absolute", algorithm="sgd", n_steps=3).fit(NUMERIC.X[:2], NUMERIC.y[:2], sample_weight=longest)
    assert (fitted.t_, fitted.n_iter_) == (3, 1)
    fitted = CASGDRegressor("squared", n_steps=3).fit(NUMERIC.X[:2], NUMERIC.y[:2], sample_weight=longest)  # x̄ and t0 as well
    assert (fitted.t_, fitted.n_iter_) == (3, 1)
    with pytest.raises(ValueError, match=r"at most 2147483648; got 2e\+09"):
        fitted.fit(NUMERIC.X[:2], NUMERIC.y[:2], sample_weight=longest + 1)


# faults that users of other software reported, each with a small input

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


@pytest.mark.parametrize("algorithm", ["sgd", "casgd"])
@pytest.mark.parametrize("without", ["sample_weight", "class_weight"])
def test_batch_without_weight_takes_no_step_after_the_first_call(algorithm, without):
    y = np.arange(60) % 2
    rows = slice(None) if without == "sample_weight" else y == 0
    nothing = {"sample_weight": np.zeros(60)} if without == "sample_weight" else {}
    new = logistic(algorithm=algorithm, class_weight={0: 0, 1: 1} if without == "class_weight" else None)
    with pytest.raises(ValueError, match=f"{without} must.*only zeros"):
        clone(new).partial_fit(DATA.X[rows], y[rows], classes=[0, 1], **nothing)
    gapless, paused = clone(new), clone(new)
    for estimator in (gapless, paused):
        estimator.partial_fit(DATA.X, y, classes=[0, 1])
        if estimator is paused:
            assert estimator.partial_fit(DATA.X[rows], y[rows], **nothing) is paused
        estimator.partial_fit(DATA.X[::-1], y[::-1])
    assert paused.t_ == gapless.t_
    np.testing.assert_array_equal(paused.coef_, gapless.coef_)
    with pytest.raises(ValueError, match="features"):
        paused.partial_fit(DATA.X[:, 1:], y, sample_weight=np.zeros(60))
    if without == "sample_weight":
        with pytest.raises(ValueError, match="only zeros"):
            paused.fit(DATA.X, y, sample_weight=np.zeros(60))


def test_tiny_alpha_with_the_squared_loss_is_an_error_and_not_nan():
    rows = sp.csr_array(np.full((1, 4), 30.0))
    with pytest.raises(FloatingPointError, match=r"by step \d+.*t0='auto'"):
        regressor(alpha=1e-6, n_steps=400).fit(rows, [1.0])
    for cured in (regressor(alpha=1e-6, n_steps=400, t0="auto"), regressor(alpha=1e-6, n_steps=400, loss="absolute")):
        assert np.isfinite(cured.fit(rows, [1.0]).coef_).all()


# any input

TAME = st.sampled_from([0, 0, 0, 1, -1, 2.5, -0.5, True, np.float32(0.1), 3])
WILD = st.sampled_from([0, 0, 1, -1, 1e-300, 5e-324, 1e155, 1e308, -1e308])
NUMBERS = st.sampled_from([TAME, TAME, TAME, WILD])
NOT_FINITE = [np.nan, np.inf, -np.inf, np.longdouble("1e4000"), 10**400, None, pd.NA, np.ma.masked]
NO_FLOAT = ["a", "", b"a", 1j, 10**30, Fraction(1, 3), [], [1], {}, np.datetime64("2020"), object()]
ODD = st.sampled_from(NOT_FINITE + NO_FLOAT)
TWO = [[-1, 1], [0, 1], ["a", "b"], [False, True], [1.0, 2.0], [0.5, 1.5], [None, 1]]
LABELS = st.sampled_from([*TWO, [1, 2, 3], ["x", "y", "z"], [1]])


def altered(draw, values):
    """Put something odd into a list in one of three, or make the list longer or shorter."""
    values = list(values)
    how = draw(st.sampled_from(["not"] * 9 + ["odd", "longer", "shorter"]))
    if how == "odd" and values:
        values[draw(st.integers(0, len(values) - 1))] = draw(ODD)
    return {"longer": values + values[:1], "shorter": values[1:]}.get(how, values)


def malformed(draw, rows):
    """Make a sparse matrix whose parts may not fit each other."""
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


KINDS = ["list", "array", "array", "frame", "sparse", "sparse", "sparse", "malformed", "altered", "shape", "any"]


@st.composite
def matrices(draw):
    """Rows in some container, often wrong ones."""
    m, n = draw(st.integers(2, 8)), draw(st.integers(1, 4))
    numbers = draw(NUMBERS)
    cells = [[draw(numbers) for _ in range(n)] for _ in range(m)]
    kind = draw(st.sampled_from(KINDS))
    if kind == "list":
        return cells
    if kind == "altered":
        cells[draw(st.integers(0, m - 1))] = altered(draw, cells[0])
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
    values = altered(draw, [draw(choose) for _ in range(draw(st.integers(2, 8)))])
    kind = draw(st.sampled_from(["list", "list", "list", "array", "array", "object", "column", "series", "any"]))
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
    except (ValueError, TypeError, OverflowError, UserWarning):  # numpy or pandas refuse it already
        pass
    return values


WEIGHTS = (
    st.none() | st.none() | st.lists(st.sampled_from([0, 1, 1, 2, 0.5, 1e-300, 1e300, 2.0**70, 3]), min_size=2, max_size=8)
)
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
    if draw(st.integers(0, 4)):  # or nearly all would be of unequal lengths
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
    """Return what the call gives, or None if it is refused in words."""
    try:
        return make()
    except (ValueError, TypeError, FloatingPointError) as error:
        if not str(error):
            raise AssertionError("an error without words") from error
        return None


def kept(thing):
    """Make what can be compared with later."""
    try:
        return pickle.dumps(thing)
    except Exception:  # some odd thing that does not pickle; pickling is not what is tested
        return repr(thing)


def test_order_follows_from_the_weights_and_no_epoch_too_long_is_listed(monkeypatch):
    monkeypatch.setattr(fitting, "LONGEST_LIST", 1000)
    whole, broken, huge = np.full(60, 2.0), np.full(60, 0.5), np.full(60, 2.0**5)
    two = CASGDClassifier(random_state=5, n_epochs=2)
    for weight, order in ((None, "permuted"), (whole, "permuted"), (broken, "iid")):
        found = clone(two).fit(DATA.X, DATA.y, sample_weight=weight)
        wanted = clone(two).set_params(sampling=order).fit(DATA.X, DATA.y, sample_weight=weight)
        np.testing.assert_array_equal(found.coef_, wanted.coef_)
    one = CASGDClassifier(random_state=5, n_steps=100)
    drawn = clone(one).set_params(sampling="iid").fit(DATA.X, DATA.y, sample_weight=huge)
    np.testing.assert_array_equal(clone(one).fit(DATA.X, DATA.y, sample_weight=huge).coef_, drawn.coef_)
    for order in ("permuted", "blocked", "cyclic"):
        with pytest.raises(ValueError, match="add up to at most 1000; got 2e"):
            clone(one).set_params(sampling=order).fit(DATA.X, DATA.y, sample_weight=huge)


@pytest.fixture(scope="module")
def seen():
    """Count the cases with a model and without: they must not be all alike."""
    counts = {True: 0, False: 0}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "LONGEST_EPOCH", 1000)
        yield counts
    if sum(counts.values()) >= 100:
        assert min(counts.values()) > sum(counts.values()) / 10


@settings(max_examples=200 if settings.default.max_examples == 100 else 8000, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases(), stream=st.booleans())
@example(case=(CASGDRegressor("absolute", alpha=1e-300), [[1e308], [-1e308]], [1e308, -1e308], None, None), stream=False)
@example(case=(CASGDClassifier(), [[0], [0]], [np.longdouble("1e4000"), -1], None, None), stream=False)
@example(case=(CASGDRegressor(), [[0], [1e155]], [0, 0], None, None), stream=False)
@example(case=(CASGDRegressor("absolute"), [[0], [1]], [0, 0], [1e300, 1], None), stream=True)
@example(case=(CASGDRegressor("absolute"), [[0], [1]], [0, 0], [1e15, 1], None), stream=True)
def test_any_input_gives_finite_predictions_or_an_error(seen, case, stream):
    estimator, X, y, weight, other = case
    before = kept((X, y, weight, other))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataConversionWarning)
        warnings.simplefilter("ignore", FutureWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", UserWarning)  # scikit-learn's, of classes that look like numbers
        if stream:
            classes = {"classes": copy.copy(y)} if isinstance(estimator, CASGDClassifier) else {}
            there = hasattr(estimator, "partial_fit")  # not while t0 is unknown
            fitted = known(lambda: estimator.partial_fit(X, y, sample_weight=weight, **classes)) if there else None
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


def test_check_sees_a_nan_a_change_and_an_unexpected_error(seen, monkeypatch):
    case = CASGDRegressor(n_epochs=1), [[1.0], [2.0]], [1, 2], None, None
    check = test_any_input_gives_finite_predictions_or_an_error.hypothesis.inner_test
    check(dict(seen), case, False)

    def change(fitted, X, y, sample_weight=None):
        X[0][0] = 5.0
        return CASGDRegressor.original(fitted, X, y)

    def nan(fitted, rows):
        return np.array([np.nan])

    def crash(fitted, rows):
        raise IndexError("beyond")

    wrongs = (("predict", nan, AssertionError), ("predict", crash, IndexError), ("fit", change, AssertionError))
    for name, wrong, error in wrongs:
        with monkeypatch.context() as patch:
            patch.setattr(CASGDRegressor, "original", CASGDRegressor.fit, raising=False)
            patch.setattr(CASGDRegressor, name, wrong)
            with pytest.raises(error):
                check(dict(seen), case, False)
