"""The estimators keep scikit-learn's conventions, and their own promises of weights, chunks, seeds and copies, to the bit."""

import copy
import pickle
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import efficient
from efficient import CASGDClassifier, CASGDRegressor, State
from efficient.centre import find_centre
from reference import LOSSES, Loss, Predictor, Problem, minimise, safe_t0
from reference.averages import polynomial
from reference.datasets import load_spam, load_tweets, make_shifted, make_text
from reference.rows import as_rows

ALGORITHMS = ("sgd", "asgd", "csgd", "casgd")
CLASSIFIERS = [(CASGDClassifier, "hinge"), (CASGDClassifier, "log")]
REGRESSORS = [(CASGDRegressor, "squared"), (CASGDRegressor, "absolute")]

DATA = make_text(60, 300, 10, seed=1)
FAR = make_shifted(50, 6, 4, seed=2, offset=np.array([1e6, 0, 3, -1e4, 0, 0]))  # three columns get a pivot
CLASSES = np.array(["ham", "spam", "eggs"])[np.random.default_rng(0).integers(3, size=60)]


def assert_same(first, second):
    """Both predict the same, to the bit."""
    np.testing.assert_array_equal(first.coef_, second.coef_)
    np.testing.assert_array_equal(first.intercept_, second.intercept_)
    assert first.t_ == second.t_ and first.t0_ == second.t0_


def differ(first, second) -> bool:
    return not np.array_equal(first.coef_, second.coef_)


# scikit-learn's own checks

SHUFFLED = {
    f"check_sample_weight_equivalence_on_{kind}_data": "it shuffles the weighted copy, and draws go by the order of the rows"
    for kind in ("dense", "sparse")
}


@parametrize_with_checks(
    [
        CASGDClassifier(),
        CASGDClassifier("log", algorithm="asgd"),
        CASGDRegressor(),
        CASGDRegressor("absolute", algorithm="sgd"),
    ],
    expected_failed_checks=lambda estimator: SHUFFLED,
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


# weights


@pytest.mark.parametrize("data", [DATA, FAR], ids=["text", "far from the origin"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("kind", "loss"), CLASSIFIERS + REGRESSORS)
def test_whole_weights_are_repeated_rows(kind, loss, algorithm, data):
    X, y = data.X, data.y
    for seed in range(3):
        weight = np.random.default_rng(seed).integers(0, 4, size=len(y))
        for sampling in ("iid", "permuted", "cyclic"):
            options = {"algorithm": algorithm, "sampling": sampling, "n_epochs": 2, "random_state": seed}
            weighted = kind(loss, 0.01, **options).fit(X, y, sample_weight=weight)
            repeated = kind(loss, 0.01, **options).fit(*(each[np.repeat(np.arange(len(y)), weight)] for each in (X, y)))
            assert_same(weighted, repeated)
        reverse = np.argsort(-np.arange(len(y)))
        other = kind(loss, 0.01, **options).fit(X[reverse], y[reverse], sample_weight=weight[reverse])
        assert differ(weighted, other)  # another order of the rows would be noticed


@pytest.mark.parametrize(("kind", "loss"), CLASSIFIERS + REGRESSORS)
def test_weights_of_1_are_none_and_rows_of_weight_0_are_absent(kind, loss):
    X, y = DATA.X, DATA.y
    plain = kind(loss, random_state=0).fit(X, y)
    for ones in (np.ones(60), [1] * 60, np.ones(60, dtype=np.int8), pd.Series(np.ones(60)), np.full(60, True)):
        assert_same(kind(loss, random_state=0).fit(X, y, ones), plain)
    weight = np.random.default_rng(1).random(60) * (np.arange(60) % 3 > 0)
    present = weight > 0
    fractional = kind(loss, random_state=0).fit(X, y, weight)
    assert_same(fractional, kind(loss, random_state=0).fit(X[present], y[present], weight[present]))
    assert fractional.t_ == 20 * 40
    assert differ(fractional, kind(loss, random_state=0).fit(X[present], y[present]))


@pytest.mark.parametrize("algorithm", ["asgd", "casgd"])
@pytest.mark.parametrize(("kind", "loss"), CLASSIFIERS + REGRESSORS)
def test_fractional_weights_reach_the_minimum_of_the_weighted_objective(kind, loss, algorithm):
    X, y, _ = make_shifted(30, 5, 3, seed=3, binary=kind is CASGDClassifier)
    counts = np.random.default_rng(2).integers(0, 4, size=30) ** 4
    rows, centred = np.repeat(np.arange(30), counts), algorithm == "casgd"
    problem = Problem(X[rows], y[rows], loss, 0.1)
    lowest = minimise(problem, centred).value

    def excess(weight):
        found = kind(loss, 0.1, algorithm=algorithm, n_steps=400_000, random_state=0).fit(X, y, weight)
        return problem.objective(Predictor(np.ravel(found.coef_), found.intercept_[0]), centred) - lowest

    weighted, unweighted = excess(counts / 7), excess(None)
    print(f"above the minimum: {weighted:.1e}; trained without the weights: {unweighted:.1e}")
    assert -1e-6 < weighted < unweighted / 20


def test_class_weights_multiply_the_weights_of_rows():
    X, y, weight = DATA.X, np.where(DATA.y > 0, "yes", "no"), np.random.default_rng(0).integers(1, 4, size=60)
    fit = lambda class_weight, weight=None: CASGDClassifier(random_state=0, class_weight=class_weight).fit(X, y, weight)  # noqa: E731
    of_class = np.where(y == "yes", 3, 1)
    assert_same(fit({"yes": 3}), fit(None, of_class))
    assert_same(fit({"yes": 3, "no": 1}, weight), fit(None, of_class * weight))
    counts = {label: (y == label).sum() for label in ("yes", "no")}
    assert_same(fit("balanced"), fit({label: 60 / (2 * count) for label, count in counts.items()}))
    assert differ(fit({"yes": 3}), fit(None))
    for wrong in ({"maybe": 1}, "uniform", {"yes": -1}, {"yes": np.nan}):
        with pytest.raises(ValueError, match=r"class_weight|classes"):
            fit(wrong)
    with pytest.raises(ValueError, match="two classes must have a weight"):
        fit({"yes": 0})
    with pytest.raises(ValueError, match="greater than one; got 1 class"):
        fit(None, y == "yes")


def test_too_many_counted_rows_are_refused_with_the_cure():
    for weight in (np.full(60, 2e6), np.full(60, 1e15)):
        for train in (CASGDRegressor("absolute").fit, CASGDRegressor("absolute").partial_fit):
            with pytest.raises(ValueError, match=r"stand for \d+ rows.*divide"):
                train(DATA.X, DATA.y, sample_weight=weight)
    huge = CASGDRegressor(random_state=0).fit(DATA.X, DATA.y, sample_weight=np.where(DATA.y > 0, 1e308, 1e300))  # proportions
    assert np.isfinite(huge.coef_).all()


@pytest.mark.parametrize("sampling", ["permuted", "cyclic"])
def test_other_weights_have_no_order(sampling):
    with pytest.raises(ValueError, match=r"sampling must be 'iid'"):
        CASGDRegressor(sampling=sampling).fit(DATA.X, DATA.y, np.full(60, 0.5))


# chunks and going on


def chunks(*cuts):
    return zip(np.split(np.arange(60), cuts), strict=True)


@pytest.mark.parametrize("cuts", [[1], [30], [1, 2, 3, 59], list(range(1, 60))], ids=len)
@pytest.mark.parametrize("average", ["weighted", "uniform"])
@pytest.mark.parametrize("algorithm", ["sgd", "asgd"])
@pytest.mark.parametrize(("kind", "loss"), CLASSIFIERS + REGRESSORS)
def test_chunks_in_order_are_one_long_run(kind, loss, algorithm, average, cuts):
    options = {"algorithm": algorithm, "average": average, "t0": 3.0}
    classes = {"classes": [-1, 1]} if kind is CASGDClassifier else {}
    whole, pieces = (kind(loss, 0.01, **options) for _ in range(2))
    whole.set_params(sampling="cyclic", n_epochs=1).fit(DATA.X, DATA.y)
    for (chunk,) in chunks(*cuts):
        pieces.partial_fit(DATA.X[chunk], DATA.y[chunk], **classes)
    assert_same(whole, pieces)
    first, *rest = (chunk for (chunk,) in chunks(*cuts))
    swapped = kind(loss, 0.01, **options)
    for chunk in (*rest, first):
        swapped.partial_fit(DATA.X[chunk], DATA.y[chunk], **classes)
    assert differ(swapped, whole)  # another order would be noticed


@pytest.mark.parametrize("data", [DATA, FAR], ids=["text", "far from the origin"])
@pytest.mark.parametrize(("kind", "loss"), CLASSIFIERS + REGRESSORS)
def test_a_centred_stream_keeps_the_centre_of_its_first_chunk(kind, loss, data):
    first, rest = np.arange(20), np.arange(20, len(data.y))
    classes = {"classes": [-1, 1]} if kind is CASGDClassifier else {}
    pieces, two = (kind(loss, 0.1, t0=50.0) for _ in range(2))
    pieces.partial_fit(data.X[first], data.y[first], **classes)
    for row in rest:
        pieces.partial_fit(data.X[[row]], data.y[[row]])
    two.partial_fit(data.X[first], data.y[first], **classes).partial_fit(data.X[rest], data.y[rest])
    assert_same(pieces, two)
    centre = find_centre(as_rows(data.X[first]))
    problem = Problem(data.X, data.y, loss, 0.1)
    state = State(problem, "casgd", t0=50.0, weights=polynomial(1, 50.0), centre=centre).run(np.arange(len(data.y)))
    np.testing.assert_array_equal(np.ravel(pieces.coef_), state.average().w)
    assert pieces.intercept_[0] == state.average().b
    assert differ(pieces, kind(loss, 0.1, t0=50.0).partial_fit(data.X, data.y, **classes))


def test_weights_in_a_stream_say_how_many_steps_to_take():
    X, y, counts = DATA.X, DATA.y, np.random.default_rng(0).integers(0, 4, size=60)
    stream = lambda: CASGDRegressor("absolute", algorithm="asgd", random_state=0)  # noqa: E731
    rows = np.repeat(np.arange(60), counts)
    assert_same(stream().partial_fit(X, y, counts), stream().partial_fit(X[rows], y[rows]))
    weight = counts / 3
    whole, pieces = stream().partial_fit(X, y, weight), stream()
    for (chunk,) in chunks(1, 2, 30):
        pieces.partial_fit(X[chunk], y[chunk], weight[chunk])
    assert_same(whole, pieces)
    taken = [CASGDRegressor("absolute", random_state=seed).partial_fit(X, y, weight).t_ for seed in range(300)]
    assert abs(np.mean(taken) - weight.sum()) < 5 * np.sqrt(60 / 4 / 300)
    seldom = CASGDRegressor("absolute", random_state=0).partial_fit(X[:1], y[:1], [1e-9])
    assert seldom.t_ == 0 and not seldom.predict(X).any()  # (w_0, b_0) = 0
    assert CASGDRegressor("absolute").fit(X, y).partial_fit(X, y).t_ == 21 * 60


@pytest.mark.parametrize("sampling", ["iid", "permuted", "cyclic"])
@pytest.mark.parametrize(("kind", "loss"), CLASSIFIERS + REGRESSORS)
def test_a_warm_start_goes_on_to_the_bit(kind, loss, sampling):
    once = kind(loss, sampling=sampling, n_epochs=10, random_state=0).fit(DATA.X, DATA.y)
    twice = kind(loss, sampling=sampling, n_epochs=5, random_state=0, warm_start=True)
    again = twice.fit(DATA.X, DATA.y).coef_
    assert_same(pickle.loads(pickle.dumps(twice)).fit(DATA.X, DATA.y), once)
    assert_same(twice.fit(DATA.X, DATA.y), once)
    np.testing.assert_array_equal(twice.set_params(warm_start=False).fit(DATA.X, DATA.y).coef_, again)


def test_what_may_not_change_while_training_goes_on():
    changes = {"loss": "absolute", "alpha": 1e-3, "algorithm": "asgd", "average": "uniform", "t0": 1.0}
    for name, value in changes.items():
        warm = CASGDRegressor(warm_start=True, random_state=0).fit(DATA.X, DATA.y).set_params(**{name: value})
        with pytest.raises(ValueError, match=rf"{name} cannot change while training goes on.*{value!r}.*set it back"):
            warm.fit(DATA.X, DATA.y)
        warm.set_params(warm_start=False).fit(DATA.X, DATA.y)
    warm = CASGDRegressor(warm_start=True, random_state=0).fit(DATA.X, DATA.y)
    assert warm.set_params(t0=warm.t0_).partial_fit(DATA.X, DATA.y).t_ == 21 * 60  # its own t0, said in numbers
    classifier = CASGDClassifier(warm_start=True, random_state=0).fit(DATA.X, CLASSES)
    with pytest.raises(ValueError, match=r"labels among the classes.*'toast'"):
        classifier.fit(DATA.X, np.where(CLASSES == "ham", "toast", CLASSES))
    with pytest.raises(ValueError, match="300 features"):
        classifier.fit(DATA.X[:, :7], CLASSES)


def test_partial_fit_needs_all_classes_and_a_t0():
    X, y = DATA.X, DATA.y
    with pytest.raises(ValueError, match="classes must be given in the first call"):
        CASGDClassifier().partial_fit(X, y)
    with pytest.raises(ValueError, match="greater than one; got 1 class"):
        CASGDClassifier().partial_fit(X, y, classes=[1])
    with pytest.raises(ValueError, match="classes must be those of the first call"):
        CASGDClassifier().partial_fit(X, y, classes=[-1, 1]).partial_fit(X, y, classes=[-1, 1, 2])
    with pytest.raises(ValueError, match=r"among the classes.*got '1'"):
        CASGDClassifier().partial_fit(X, y.astype(int).astype(str), classes=[-1, 1])
    with pytest.raises(ValueError, match="balanced"):
        CASGDClassifier(class_weight="balanced").partial_fit(X, y, classes=[-1, 1])
    for unknown in (CASGDRegressor(), CASGDRegressor(LOSSES["squared"]), CASGDClassifier(LOSSES["squared"])):
        assert not hasattr(unknown, "partial_fit")
        for error in (ValueError, AttributeError):
            with pytest.raises(error, match=r"needs a number for t0.*give t0=R²/alpha"):
                unknown.partial_fit(X, y)
    assert hasattr(CASGDRegressor(t0=2e4), "partial_fit") and hasattr(CASGDRegressor("absolute"), "partial_fit")
    assert CASGDRegressor.partial_fit.__doc__
    assert CASGDRegressor(t0=2e4).partial_fit(X, y).t_ == 60
    with pytest.raises(ValueError, match="loss must be one of"):
        CASGDRegressor("nonsense").partial_fit(X, y)


# seeds


@pytest.mark.parametrize("sampling", ["iid", "permuted"])
def test_seeds(sampling):
    import random

    before, plain = np.random.get_state()[1].copy(), random.getstate()  # noqa: NPY002
    fit = lambda seed: CASGDRegressor(sampling=sampling, random_state=seed).fit(DATA.X, DATA.y)  # noqa: E731
    assert_same(fit(7), fit(7))
    assert_same(fit(7), fit(np.int64(7)))
    assert_same(fit(7), fit(np.random.default_rng(7)))
    assert differ(fit(7), fit(8)) and differ(fit(None), fit(None))
    for generator in (np.random.default_rng(7), np.random.RandomState(7)):
        assert differ(fit(generator), fit(generator))  # it was advanced
    estimator = CASGDRegressor(sampling=sampling, random_state=3)
    first = estimator.fit(DATA.X, DATA.y).coef_
    np.testing.assert_array_equal(estimator.fit(DATA.X, DATA.y).coef_, first)
    assert (np.random.get_state()[1] == before).all() and random.getstate() == plain  # noqa: NPY002


# copies


def huber(p, y):
    return (p - y) * (p - y) / 2 if abs(p - y) <= 1 else abs(p - y) - 0.5


def huber_derivative(p, y):
    return p - y if abs(p - y) <= 1 else (1 if p > y else -1)


HUBER = Loss("huber", huber, huber_derivative)


@pytest.mark.parametrize("copied", [lambda one: pickle.loads(pickle.dumps(one)), copy.deepcopy], ids=["pickle", "deepcopy"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    ("kind", "loss", "data", "classes"),
    [
        (CASGDClassifier, "log", (DATA.X, DATA.y), {"classes": [-1, 1]}),
        (CASGDClassifier, "hinge", (DATA.X, CLASSES), {"classes": np.unique(CLASSES)}),
        (CASGDRegressor, "absolute", FAR[:2], {}),
        (CASGDRegressor, HUBER, (DATA.X, DATA.y), {}),
    ],
    ids=["two classes", "three classes", "far", "a loss of one's own"],
)
def test_copies_in_the_middle_of_a_stream(kind, loss, data, classes, algorithm, copied):
    X, y = data
    stream = kind(loss, 0.01, algorithm=algorithm, t0=10.0).partial_fit(X[:20], y[:20], **classes)
    twin = copied(stream)
    np.testing.assert_array_equal(twin.predict(X), stream.predict(X))
    for part in (slice(20, 30), slice(30, 60)):
        assert_same(twin.partial_fit(X[part], y[part]), stream.partial_fit(X[part], y[part]))


def test_a_pickle_holds_neither_rows_nor_compiled_code():
    spam = load_spam()
    pickled = pickle.dumps(CASGDClassifier(n_epochs=1, random_state=0).fit(spam.X, spam.y))
    assert len(pickled) < 8 * 5 * spam.X.shape[1] + 10_000  # coef_, v, u, x̄ and a little; the rows would be 10 MB
    assert b"numba" not in pickled and b"Dispatcher" not in pickled


def test_a_clone_has_the_parameters_and_nothing_else():
    for fitted in (
        CASGDClassifier("log", 0.5, algorithm="asgd", n_steps=6, random_state=0, class_weight="balanced").fit(DATA.X, DATA.y),
        CASGDRegressor(HUBER, 0.5, average="uniform", t0=2.0, callback=print, n_epochs=1)
        .set_params(callback=None)
        .fit(*DATA[:2]),
    ):
        twin = clone(fitted)
        assert twin.get_params() == fitted.get_params()
        assert not any(name.endswith("_") or name.startswith("_state") for name in vars(twin))
        assert twin.set_params(**fitted.get_params()) is twin


# classes


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_many_classes_are_each_against_the_others(loss, algorithm):
    options = {"algorithm": algorithm, "random_state": 4, "n_epochs": 3}
    many = CASGDClassifier(loss, 0.01, **options).fit(DATA.X, CLASSES)
    assert list(many.classes_) == ["eggs", "ham", "spam"]
    assert many.coef_.shape == (3, 300) and many.intercept_.shape == (3,)
    for place, label in enumerate(many.classes_):
        one = CASGDClassifier(loss, 0.01, **options).fit(DATA.X, np.equal(CLASSES, label))
        np.testing.assert_array_equal(many.coef_[place], one.coef_[0])
        assert many.intercept_[place] == one.intercept_[0]
        assert differ(one, CASGDClassifier(loss, 0.01, **options).fit(DATA.X, np.not_equal(CLASSES, label)))
    scores = many.decision_function(DATA.X)
    assert scores.shape == (60, 3)
    np.testing.assert_array_equal(many.predict(DATA.X), many.classes_[scores.argmax(axis=1)])


@pytest.mark.parametrize("coding", [[-1, 1], [0, 1], [1, 2], [False, True], ["a", "b"], [b"a", b"b"], [-0.5, 3]], ids=str)
@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_any_two_labels_train_the_same(loss, coding):
    labels = np.array(coding)[(DATA.y > 0).astype(int)]
    found = CASGDClassifier(loss, random_state=0).fit(DATA.X, labels)
    assert_same(found, CASGDClassifier(loss, random_state=0).fit(DATA.X, DATA.y))
    assert found.coef_.shape == (1, 300) and found.intercept_.shape == (1,)
    assert set(found.predict(DATA.X)) <= set(coding) and found.classes_.dtype == labels.dtype
    assert differ(found, CASGDClassifier(loss, random_state=0).fit(DATA.X, -DATA.y))


def test_probabilities():
    for y in (DATA.y, CLASSES):
        found = CASGDClassifier("log", 0.01, random_state=0).fit(DATA.X, y)
        p, log_p, scores = found.predict_proba(DATA.X), found.predict_log_proba(DATA.X), found.decision_function(DATA.X)
        np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-14)
        np.testing.assert_allclose(np.log(p), log_p, rtol=1e-12)
        against = 1 / (1 + np.exp(-scores))
        if y is CLASSES:
            np.testing.assert_allclose(p, against / against.sum(axis=1, keepdims=True), rtol=1e-13)
        else:
            np.testing.assert_allclose(p[:, 1], against, rtol=1e-13)
        np.testing.assert_array_equal(found.classes_[p.argmax(axis=1)], found.predict(DATA.X))
        found.coef_ = 1e5 * found.coef_  # scores of ±1e5: no overflow, no 0/0
        log_p, p = found.predict_log_proba(DATA.X), found.predict_proba(DATA.X)
        assert np.isfinite(log_p).all() and log_p.min() < -1e4 and np.isfinite(p).all()
    for without in (CASGDClassifier("hinge"), CASGDClassifier(HUBER)):
        assert not hasattr(without, "predict_proba") and not hasattr(without, "predict_log_proba")


# what is known after training


def test_attributes():
    frame = pd.DataFrame(DATA.X[:, :4].toarray(), columns=["a", "b", "c", "d"])
    found = CASGDRegressor(random_state=0, n_epochs=3).fit(frame, DATA.y)
    assert found.coef_.shape == (4,) and found.intercept_.shape == (1,) and found.coef_.dtype == np.float64
    assert (found.t_, found.n_iter_, found.n_features_in_) == (180, 3, 4)
    assert list(found.feature_names_in_) == ["a", "b", "c", "d"]
    assert found.t0_ == safe_t0(Problem(frame, DATA.y, "squared", 1e-4), centred=True)
    with pytest.raises(ValueError, match="feature names"):
        found.predict(frame[["b", "a", "c", "d"]])
    assert CASGDRegressor(n_steps=61).fit(frame, DATA.y).n_iter_ == 2
    assert CASGDClassifier().fit(frame, DATA.y).t0_ == 0
    assert CASGDClassifier(t0=5).fit(frame, DATA.y).t0_ == 5


@pytest.mark.parametrize(("kind", "loss"), [(CASGDClassifier, "log"), (CASGDRegressor, "absolute")])
def test_far_from_the_origin_predictions_keep_their_digits(kind, loss):
    rng = np.random.default_rng(0)
    near, y = rng.integers(-8, 9, size=(200, 3)) / 8.0, rng.choice([-1.0, 1.0], size=200)
    offset = np.array([2.0**33, -(2.0**30), 0])  # near + offset is exact
    found = kind(loss, 0.1, random_state=0).fit(near + offset, y)
    wanted = kind(loss, 0.1, random_state=0).fit(near, y)
    scores = "decision_function" if kind is CASGDClassifier else "predict"
    np.testing.assert_allclose(getattr(found, scores)(near + offset), getattr(wanted, scores)(near), rtol=1e-9, atol=1e-9)
    twin = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(getattr(twin, scores)(near + offset), getattr(found, scores)(near + offset))
    before = getattr(found, scores)(near + offset)
    plain = (near + offset) @ np.ravel(found.coef_) + found.intercept_[0]
    assert abs(before - plain).max() > 1e-8  # b alone does not hold the digits
    found.intercept_ = found.intercept_ + 1e6  # what a user sets is what counts
    plain = (near + offset) @ np.atleast_2d(found.coef_).T + found.intercept_
    np.testing.assert_array_equal(getattr(found, scores)(near + offset), plain[:, 0])
    found.coef_[...] = 0
    assert (getattr(found, scores)(near + offset) == found.intercept_[0]).all()


def test_a_user_may_set_the_weights_alone():
    bare = CASGDClassifier()
    bare.coef_, bare.intercept_, bare.classes_, bare.n_features_in_ = (
        np.array([[1.0, -1]]),
        np.array([0.5]),
        np.array([3, 4]),
        2,
    )
    assert list(bare.predict([[0, 0], [0, 1]])) == [4, 3]


def test_what_overflows_is_refused_not_handed_back():
    found = CASGDClassifier("log", random_state=0).fit(DATA.X, DATA.y)
    for method in (found.predict, found.predict_proba, found.decision_function):
        with pytest.raises(ValueError, match="overflows float64"):
            method(np.full((1, 300), 1e308))
    with pytest.raises(FloatingPointError, match="overflowed float64 by step"):
        CASGDRegressor(t0=0, random_state=0).fit(DATA.X * 100, DATA.y)


# watching


def test_silence_by_default_and_a_line_an_epoch_on_request(capfd):
    CASGDClassifier(random_state=0).fit(DATA.X, CLASSES)
    CASGDRegressor("absolute").partial_fit(DATA.X, DATA.y)
    assert capfd.readouterr() == ("", "")
    found = CASGDClassifier("log", 0.01, random_state=0, n_epochs=3, verbose=1).fit(DATA.X, DATA.y)
    out, err = capfd.readouterr()
    lines = [re.fullmatch(r"t = (\d+), F = ([\d.e-]+), \d+\.\d s", line) for line in out.splitlines()]
    assert [int(line[1]) for line in lines] == [60, 120, 180] and err == ""
    value = Problem(DATA.X, DATA.y, "log", 0.01).objective(Predictor(found.coef_[0], found.intercept_[0]), True)
    assert float(lines[-1][2]) == pytest.approx(value, rel=1e-5)
    counts = np.random.default_rng(0).integers(0, 3, size=60)
    CASGDRegressor(random_state=0, n_epochs=2, verbose=1).fit(DATA.X, DATA.y, counts)
    weighted = capfd.readouterr().out
    rows = np.repeat(np.arange(60), counts)
    CASGDRegressor(random_state=0, n_epochs=2, verbose=1).fit(DATA.X[rows], DATA.y[rows])
    strip = lambda text: re.sub(r", \d+\.\d s", "", text)  # noqa: E731
    assert strip(weighted) == strip(capfd.readouterr().out) != ""


@pytest.mark.parametrize("y", [DATA.y, CLASSES], ids=["two classes", "three classes"])
def test_a_callback_after_every_epoch_changes_no_bit(y):
    seen = []
    watched = CASGDClassifier("log", random_state=0, n_epochs=4, callback=lambda t, state: seen.append((t, state.average())))
    watched.fit(DATA.X, y)
    assert_same(watched, CASGDClassifier("log", random_state=0, n_epochs=4).fit(DATA.X, y))
    assert [t for t, _ in seen] == [60, 120, 180, 240]
    last = seen[-1][1] if y is CLASSES else [seen[-1][1]]
    np.testing.assert_array_equal(watched.coef_, [predictor.w for predictor in last])

    def stop(t, state):
        raise StopIteration(t)

    with pytest.raises(StopIteration, match="60"):
        CASGDClassifier(callback=stop).fit(DATA.X, y)


# parameters


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("loss", ["squared_error", "log_loss", "", None, 3, np.nan]),
        ("alpha", [0, -1e-4, np.nan, np.inf, "0.1", None, True, [1.0]]),
        ("algorithm", ["CASGD", "", None, 3]),
        ("average", ["mean", None, True, 10]),
        ("t0", ["safe", -1, np.nan, np.inf, None, True, [1]]),
        ("n_epochs", [0, -1, 1.5, None, "3", True, np.nan]),
        ("n_steps", [0, -1, 1.5, "3", True]),
        ("sampling", ["random", None, 3]),
        ("random_state", [-1, 1.5, "seed", True, [1, 2]]),
        ("callback", [3, "print"]),
    ],
)
def test_wrong_parameters_are_refused_by_name_before_anything_happens(name, values):
    for kind in (CASGDClassifier, CASGDRegressor):
        for value in values:
            wrong = kind(**{name: value})
            with pytest.raises((TypeError, ValueError), match=rf"^{name} must be .*got {re.escape(repr(value))}$"):
                wrong.fit(DATA.X, DATA.y)
            assert not [attribute for attribute in vars(wrong) if attribute.endswith("_")]
            if name not in ("loss", "t0") or kind is CASGDClassifier:
                with pytest.raises((TypeError, ValueError), match=rf"^{name} must be"):
                    kind(**{"t0": 1.0, name: value}).partial_fit(DATA.X, DATA.y)


def test_a_loss_for_the_other_kind_of_labels():
    with pytest.raises(ValueError, match="loss must be one of 'squared', 'absolute', or a Loss; got 'hinge'"):
        CASGDRegressor("hinge").fit(DATA.X, DATA.y)
    with pytest.raises(ValueError, match="real labels; got the hinge loss"):
        CASGDRegressor(LOSSES["hinge"]).fit(DATA.X, DATA.y)
    least_squares = CASGDClassifier(LOSSES["squared"], random_state=0).fit(DATA.X, DATA.y)
    np.testing.assert_array_equal(least_squares.coef_[0], CASGDRegressor(random_state=0).fit(DATA.X, DATA.y).coef_)
    assert CASGDRegressor(HUBER, random_state=0).fit(DATA.X, DATA.y).t0_ == 0
    with pytest.raises(TypeError, match="numba can compile"):
        CASGDRegressor(Loss("bad", huber, lambda p, y: str(p))).fit(DATA.X, DATA.y)


# where people already work


def test_ten_lines_on_spam():
    X, y, _ = load_spam()
    model = make_pipeline(TfidfTransformer(), CASGDClassifier(random_state=0))
    scores = cross_val_score(model, X, y, cv=3)
    assert scores.min() > 0.95
    model.fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.97


def test_a_grid_search_in_two_processes():
    X, y, _ = load_tweets(tfidf=True)
    search = GridSearchCV(CASGDRegressor(n_epochs=5, random_state=0), {"alpha": [1e-4, 1e-2]}, n_jobs=2, cv=3).fit(X, y)
    assert search.best_params_ == {"alpha": 1e-4} and search.best_score_ > 0.5


SPAM, HAM = ["cheap pills now", "cheap cheap offer", "win an offer now"], ["meeting at noon", "lunch at noon", "meeting notes"]


@pytest.mark.parametrize("vectorizer", [TfidfVectorizer(), HashingVectorizer(), HashingVectorizer(dtype=np.float32)], ids=repr)
def test_texts(vectorizer):
    model = make_pipeline(vectorizer, CASGDClassifier("log", random_state=0)).fit(SPAM + HAM, ["spam"] * 3 + ["ham"] * 3)
    assert list(model.predict(["cheap offer", "meeting at lunch"])) == ["spam", "ham"]
    assert model.predict_proba(["cheap offer"]).shape == (1, 2)


def test_sparse_data_frames():
    frame = pd.DataFrame.sparse.from_spmatrix(DATA.X, columns=[f"word {j}" for j in range(300)])
    found = CASGDClassifier(random_state=0).fit(frame, pd.Series(DATA.y))
    assert_same(found, CASGDClassifier(random_state=0).fit(DATA.X, DATA.y))
    np.testing.assert_array_equal(found.predict(frame), found.predict(frame.astype(pd.SparseDtype(np.float64, 0.0))))
    assert found.feature_names_in_[0] == "word 0"


def test_an_import_of_efficient_does_not_import_scikit_learn():
    code = (
        "import sys, efficient; assert 'sklearn' not in sys.modules; assert 'CASGDClassifier' in dir(efficient); "
        "efficient.CASGDClassifier(); assert 'sklearn' in sys.modules; from efficient import CASGDRegressor"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="no attribute 'CASGDClassifyer'"):
        efficient.CASGDClassifyer  # noqa: B018
