"""What mutation testing found untested in the estimators and in what they train by: facts that no other test would miss."""

import io
import itertools
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from efficient import CASGDClassifier, CASGDRegressor, State
from efficient.estimators import fitting
from efficient.estimators.fitting import LinearEstimator
from efficient.runs.run import Run
from efficient.training.classes import count_models, decide, targets
from efficient.training.models import averaging, mean_loss, needs_t0, objective, scores, state_problems
from reference import LOSSES, Loss, Predictor, Problem, draw_indices

X = np.array([[1.0, 0, 2], [0, 1, 0], [3, 0, 0], [0, 2, 1], [1, 1, 0], [0, 0, 1]])
Y = np.array([1, -1, 1, -1, -1, 1])
NUMBERS = np.array([2.0, -1, 3, 0.5, 0, -2])
THREE = np.array(["a", "b", "c", "a", "b", "c"])


def classifier(**parameters):
    return CASGDClassifier("log", **{"alpha": 0.1, "random_state": 0, "n_epochs": 2, **parameters})


def regressor(**parameters):
    return CASGDRegressor("absolute", **{"alpha": 0.1, "random_state": 0, "n_epochs": 2, **parameters})


def said_by(refused, error=ValueError):
    with pytest.raises(error) as caught:
        refused()
    return str(caught.value)


# parameters


def test_the_defaults():
    common = {
        "alpha": 1e-4,
        "algorithm": "casgd",
        "average": "weighted",
        "t0": "auto",
        "n_epochs": 50,
        "n_steps": None,
        "sampling": "iid",
        "random_state": None,
        "verbose": False,
        "callback": None,
        "warm_start": False,
    }
    assert CASGDClassifier().get_params() == {"loss": "hinge", "class_weight": None, **common}
    assert CASGDRegressor().get_params() == {"loss": "squared", **common}
    assert all(type(CASGDRegressor().get_params()[name]) is bool for name in ("verbose", "warm_start"))


@pytest.mark.parametrize(
    ("name", "wrong", "words"),
    [
        ("alpha", "1", "alpha must be a finite number > 0; got '1'"),
        ("algorithm", "x", "algorithm must be 'sgd', 'asgd', 'csgd' or 'casgd'; got 'x'"),
        ("average", "x", "average must be 'weighted' or 'uniform'; got 'x'"),
        ("t0", "x", "t0 must be 'auto' or a finite number >= 0; got 'x'"),
        ("t0", -1, "t0 must be 'auto' or a finite number >= 0; got -1"),
        ("n_epochs", 0, "n_epochs must be an integer >= 1; got 0"),
        ("n_steps", 0, "n_steps must be None or an integer >= 1; got 0"),
        ("sampling", "x", "sampling must be 'iid', 'permuted' or 'cyclic'; got 'x'"),
        ("callback", 1, "callback must be None or a function of t and the estimator; got 1"),
        ("loss", "x", "loss must be 'hinge' or 'log', or a Loss; got 'x'"),
        ("verbose", 0.5, "verbose must be a boolean or an integer; got 0.5"),
        ("warm_start", 1, "warm_start must be a boolean; got 1"),
        ("class_weight", "a", "class_weight must be None, 'balanced' or a dict {label: weight}; got 'a'"),
        ("class_weight", 1, "class_weight must be None, 'balanced' or a dict {label: weight}; got 1"),
    ],
)
def test_a_wrong_parameter_is_answered_by_what_is_right(name, wrong, words):
    assert said_by(lambda: CASGDClassifier(**{name: wrong}).fit(X, Y)) == words


def test_numpys_numbers_and_booleans_will_do():
    parameters = {"alpha": np.float32(0.5), "t0": np.int64(1), "n_steps": np.int32(1), "verbose": np.bool_(False)}
    fitted = classifier(**parameters, n_epochs=np.uint8(1), warm_start=np.bool_(False)).fit(X, Y)
    assert fitted.t_ == 1
    for name, wrong in (("alpha", np.bool_(True)), ("t0", np.bool_(True)), ("n_steps", False)):
        assert f"{name} must be" in said_by(lambda name=name, wrong=wrong: classifier(**{name: wrong}).fit(X, Y))


@pytest.mark.parametrize("state", [True, np.bool_(True), -1, "0"])
def test_a_random_state_that_is_none(state):
    words = "random_state must be None, an integer >= 0 or a numpy generator; got "
    assert said_by(lambda: classifier(random_state=state).fit(X, Y)).startswith(words + repr(state))


@pytest.mark.parametrize(
    "weights",
    [{"a": "heavy"}, {"a": {}}, {"a": 10**400}, {"a": [1, 2]}],
)
def test_class_weights_that_are_no_numbers(weights):
    words = "class_weight must hold a number for each class: "
    assert said_by(lambda: classifier(class_weight=weights).fit(X, THREE)).startswith(words)


def test_class_weights_and_sample_weights_may_not_overflow_together():
    words = "sample_weight times class_weight must hold finite real numbers; got inf"
    weighted = classifier(class_weight={1: 1e308, -1: 1})
    assert said_by(lambda: weighted.fit(X, Y, sample_weight=np.full(6, 1e308))) == words


def test_rows_are_drawn_all_alike_unless_there_are_weights():
    classes = np.array([-1, 1])
    assert classifier()._drawn(Y, classes, None) is None
    assert classifier(class_weight={1: 2})._drawn(Y, classes, None).tolist() == [2, 1, 2, 1, 1, 2]


# how long, and in which portions


def watch_portions(monkeypatch):
    """How many examples are drawn at once; one step only is taken on them."""
    portions = []

    def take(self, states, indices):
        portions.append(len(indices))
        states.run(indices[:1], progress=False)

    monkeypatch.setattr(LinearEstimator, "_take", take)
    return portions


def test_whole_epochs_of_at_most_a_million_examples_are_drawn_at_once(monkeypatch):
    portions = watch_portions(monkeypatch)
    regressor(algorithm="sgd", n_epochs=1_000_001).fit(X[:1], NUMBERS[:1])
    assert portions == [1_000_000, 1]
    portions.clear()
    regressor(algorithm="sgd", n_epochs=166_668).fit(X, NUMBERS)
    assert portions == [6 * 166_666, 12]


@pytest.mark.parametrize(("at_once", "portions"), [(4, [6, 6, 1]), (6, [6, 6, 1]), (11, [6, 6, 1]), (12, [12, 1])])
def test_an_epoch_is_never_cut(monkeypatch, at_once, portions):
    monkeypatch.setattr(fitting, "DRAWN_AT_ONCE", at_once)
    seen = watch_portions(monkeypatch)
    regressor(algorithm="sgd", n_steps=13).fit(X, NUMBERS)
    assert seen == portions


def test_two_thousand_million_rows_are_an_epoch_and_more_are_a_misunderstanding():
    weight = np.array([2.0**31 - 1, 1])
    fitted = regressor(algorithm="sgd", n_steps=3).fit(X[:2], NUMBERS[:2], sample_weight=weight)
    assert (fitted.t_, fitted.n_iter_) == (3, 1)
    more = said_by(lambda: regressor(n_steps=3).fit(X[:2], NUMBERS[:2], sample_weight=weight + 1))
    assert more == (
        "sample_weight holds whole numbers, which say how often each row occurs: 2e+09 in all, a step for each. "
        "If only their proportions are meant, divide them by their mean"
    )


def test_an_epoch_of_broken_weights_is_a_step_for_each_row_that_can_be_drawn():
    fitted = classifier(n_epochs=3).fit(X, Y, sample_weight=[0.5, 0.1, 0.7, 0.2, 0, 0])
    assert (fitted.t_, fitted.n_iter_) == (12, 3)


@pytest.mark.parametrize("sampling", ["permuted", "cyclic"])
def test_broken_weights_are_for_draws_with_replacement(sampling):
    weighted = classifier(sampling=sampling)
    assert said_by(lambda: weighted.fit(X, Y, sample_weight=[0.5, 1, 1, 1, 1, 1])) == (
        "sampling must be 'iid' where sample_weight or class_weight are not whole numbers, which say how often a row occurs; "
        f"got {sampling!r}"
    )


def test_the_first_broken_weight_of_a_stream_is_shown():
    weight = [1, 0.25, 2, 0.5, 0.75, 1]
    assert said_by(lambda: classifier().partial_fit(X, Y, [-1, 1], weight)) == (
        "sample_weight and class_weight must be whole numbers in partial_fit, which takes the rows in order, each as often as "
        "its weight says; got 0.25"
    )


def test_a_stream_counts_one_epoch_a_call_and_keeps_the_number_of_columns():
    stream = classifier().partial_fit(X, Y, classes=[-1, 1])
    assert (stream.t_, stream.n_iter_, stream.n_features_in_) == (6, 1, 3)
    assert (stream.partial_fit(X, Y).n_iter_, stream.t_) == (1, 12)
    assert "X has 2 features, but CASGDClassifier is expecting 3" in said_by(lambda: stream.partial_fit(X[:, :2], Y))
    assert "X has 2 features, but CASGDClassifier is expecting 3" in said_by(lambda: stream.predict(X[:, :2]))


def test_the_method_of_the_class_is_the_method_of_its_objects():
    stream = CASGDClassifier.partial_fit(classifier(), X, Y, [-1, 1])
    assert stream.t_ == 6
    assert CASGDClassifier.partial_fit.__doc__.startswith("Go on with these rows")
    assert stream.partial_fit.__self__ is stream


# looking on


def test_a_callback_is_called_after_each_epoch_without_being_verbose(capsys):
    seen = []
    fitted = classifier(n_steps=15, callback=lambda t, now: seen.append((t, now.t_, now.n_iter_)))
    fitted.fit(X, Y)
    assert seen == [(6, 6, 1), (12, 12, 2), (15, 15, 3)]
    assert capsys.readouterr().out == ""
    seen.clear()
    fitted.set_params(n_steps=7, warm_start=True).fit(X, Y)
    assert seen == [(21, 21, 1), (22, 22, 2)]


def test_each_epoch_is_told_at_once_with_its_seconds(monkeypatch):
    raw, seen = io.BytesIO(), []
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="utf8"))
    monkeypatch.setattr(fitting, "time", SimpleNamespace(perf_counter=itertools.count(100, 3).__next__))
    classifier(verbose=1, callback=lambda *_: seen.append(raw.getvalue().decode())).fit(X, Y)
    assert [text.count("\n") for text in seen] == [1, 2]  # to a pipe too, not when its buffer is full
    for epoch, line in enumerate(seen[-1].splitlines(), start=1):
        assert re.fullmatch(rf"epoch {epoch}: t = {6 * epoch}, objective \d\.\d+, 3\.00 s", line)


@pytest.mark.parametrize("offset", [0, 1e3])  # of one column: that of the others is not moved
@pytest.mark.parametrize("algorithm", ["sgd", "casgd"])
def test_the_objective_is_told_around_the_mean_for_centred_algorithms(capsys, algorithm, offset):
    rows = X + np.array([offset, 0, 0])
    classifier(algorithm=algorithm, average="uniform", verbose=True, n_epochs=1).fit(rows, Y)
    problem = Problem(rows, Y, "log", 0.1)
    state = State(problem, algorithm).run(draw_indices(6, 6, rng=0))
    predictor = state.average() if algorithm == "casgd" else state.last()
    F = problem.objective(predictor, centred=algorithm == "casgd")
    assert f"objective {F:.6g}, " in capsys.readouterr().out
    assert (predictor.pivoted is None) == (offset == 0 or algorithm == "sgd")


def test_only_proportions_of_weights_count_in_the_objective_too(capsys):
    for scale in (1, 2.0**-700):
        classifier(verbose=True, n_epochs=1).fit(X, Y, sample_weight=scale * np.array([0.5, 1.5, 1, 1, 0.5, 1]))
    one, other = (line.split(",")[1] for line in capsys.readouterr().out.splitlines())
    assert one == other


def test_no_bar_of_the_library_is_shown(monkeypatch):
    wanted = []
    run = Run.run

    def running(self, indices, **options):
        wanted.append(options)
        return run(self, indices, **options)

    monkeypatch.setattr(Run, "run", running)
    classifier().fit(X, Y)
    assert wanted == [{"progress": False}]


# interrupted


def interrupting(after):
    """A _take that stops after so many steps in all, as Ctrl-C does between two blocks."""

    def take(self, states, indices):
        first = states.t
        states.run(indices[: max(1, after - first)], progress=False)
        if states.t >= after:
            raise KeyboardInterrupt

    return take


@pytest.mark.parametrize(("steps", "epochs"), [(1, 1), (6, 1), (7, 2), (11, 2)])
def test_what_is_interrupted_keeps_the_steps_taken_and_goes_on(monkeypatch, steps, epochs):
    fitted = classifier(warm_start=True)
    with monkeypatch.context() as patch:
        patch.setattr(LinearEstimator, "_take", interrupting(steps))
        with pytest.raises(KeyboardInterrupt):
            fitted.fit(X, Y)
    assert (fitted.t_, fitted.n_iter_) == (steps, epochs)
    whole = classifier(n_steps=steps).fit(X, Y)
    np.testing.assert_array_equal(fitted.coef_, whole.coef_)
    fitted.fit(X, Y)
    assert fitted.t_ == steps + 12
    with monkeypatch.context() as patch:
        patch.setattr(LinearEstimator, "_take", interrupting(steps + 20))
        with pytest.raises(KeyboardInterrupt):
            fitted.fit(X, Y)
    assert (fitted.t_, fitted.n_iter_) == (steps + 20, 2)


def test_what_is_interrupted_before_the_first_step_is_not_fitted(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    fitted = classifier(warm_start=True)
    with monkeypatch.context() as patch:
        patch.setattr(fitting, "draw_indices", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fitted.fit(X, Y)
    with pytest.raises(NotFittedError):
        fitted.predict(X)
    assert fitted.fit(X, Y).t_ == 12


# going on


@pytest.mark.parametrize(
    ("name", "before", "now"),
    [
        ("alpha", 0.1, 1),
        ("alpha", 0.1, 0.01),
        ("algorithm", "casgd", "asgd"),
        ("algorithm", "asgd", "casgd"),
        ("average", "uniform", "weighted"),
        ("average", "weighted", "uniform"),
        ("t0", 2, 1),
        ("t0", 1, 2),
        ("loss", "log", "hinge"),
        ("loss", "hinge", "log"),
    ],
)
def test_what_a_training_began_with_stays(name, before, now):
    warm = classifier(warm_start=True).set_params(**{name: before}).fit(X, Y).set_params(**{name: now})
    assert said_by(lambda: warm.fit(X, Y)) == (
        f"{name} was {before!r} when this training began, and is {now!r} now: set it back, or begin anew by fit with "
        "warm_start=False"
    )


def test_other_classes_are_refused_and_shown():
    warm = classifier(warm_start=True).fit(X, THREE)
    words = "y must have the same classes as before, ['a', 'b', 'c'], to go on; got ['a', 'b']"
    assert said_by(lambda: warm.fit(X[:2], THREE[:2])) == words
    assert said_by(lambda: classifier().partial_fit(X, THREE, ["c", "x", "y"])) == (
        "y has the label 'a', which is none of the classes ['c', 'x', 'y']"
    )
    words = "classes must be passed on the first call to partial_fit: all labels that will come"
    assert said_by(lambda: classifier().partial_fit(X, Y)) == words


@pytest.mark.parametrize("algorithm", ["casgd", "csgd"])
def test_a_mean_too_far_from_the_origin_is_refused_in_words(algorithm):
    words = "the squared length of the mean of X overflows float64: scale X down"
    rows = 1e200 * np.array([[1.0, 1], [1, -1], [-1, 1]])
    assert said_by(lambda: regressor(algorithm=algorithm).fit(rows, [1, 2, 3]), FloatingPointError) == words


def test_what_helps_against_an_overflow():
    for loss, t0, cures in (
        ("squared", 0, "t0='auto', a larger alpha, smaller numbers in X and y, a loss with a bounded derivative "),
        ("absolute", 0, "t0='auto', a larger alpha, smaller numbers in X and y"),
        ("absolute", "auto", "a larger alpha, smaller numbers in X and y"),
    ):
        short = CASGDRegressor(loss, alpha=5e-324, t0=t0, random_state=0)
        words = said_by(lambda short=short: short.fit(X, NUMBERS), FloatingPointError)
        assert re.match(r"the iterates overflowed float64 by step [12]: steps of 1/\(alpha\*\(t \+ t0\)\) are too long ", words)
        assert f" for these rows at first; got alpha=5e-324, t0={t0!r}. What helps: {cures}" in words
        assert words.endswith("(hinge, log, absolute)") == (loss == "squared")


# predictions


def test_weights_and_biases_that_do_not_fit_each_other_are_refused():
    for offset in (0, 1e6):
        fitted = classifier().fit(X + offset, THREE)
        assert (fitted._around is None) == (offset == 0)
        fitted.intercept_ = fitted.intercept_[:2]
        assert "zip" in said_by(lambda fitted=fitted: fitted.predict(X))
    fitted.coef_ = fitted.coef_[:2]
    assert "zip" in said_by(lambda: fitted.predict(X))


def test_shapes():
    for y, K in ((Y, 1), (THREE, 3)):
        fitted = classifier().fit(X, y)
        assert (fitted.coef_.shape, fitted.intercept_.shape) == ((K, 3), (K,))
        assert fitted.decision_function(X).shape == ((6,) if K == 1 else (6, 3))
        assert fitted.predict_proba(X).shape == fitted.predict_log_proba(X).shape == (6, max(2, K))
    fitted = regressor().fit(X, NUMBERS)
    assert (fitted.coef_.shape, fitted.intercept_.shape, fitted.predict(X).shape) == ((3,), (1,), (6,))
    np.testing.assert_array_equal(fitted.predict(np.zeros((1, 3))), fitted.intercept_)


def test_probabilities_are_those_of_the_log_loss():
    for loss, name in itertools.product(("hinge", "squared"), ("predict_proba", "predict_log_proba")):
        with pytest.raises(AttributeError) as caught:
            getattr(CASGDClassifier(LOSSES[loss]), name)
        assert f"probabilities are those of the log loss; this is the {loss} loss" in str(caught.value.__cause__)


def test_sparse_rows_are_welcome_to_scikit_learn():
    for estimator in (CASGDClassifier(), CASGDRegressor()):
        assert get_tags(estimator).input_tags.sparse is True
        assert clone(estimator).get_params() == estimator.get_params()


def test_a_score_of_zero_is_for_the_first_class_as_only_positive_ones_are_for_the_second():
    classes = np.array(["no", "yes"])
    assert list(decide(np.array([[0.0], [5e-324], [-1]]), classes)) == ["no", "yes", "no"]
    assert list(decide(np.array([[1.0, 2, 2], [3, 2, 1]]), np.array([7, 8, 9]))) == [8, 7]
    np.testing.assert_array_equal(decide(np.array([[1.5], [-2]]), None), [1.5, -2])


def test_what_each_model_is_trained_on():
    assert targets(NUMBERS, None)[0] is NUMBERS
    (signs,) = targets(np.array([3, 5, 3]), np.array([3, 5]))
    assert (signs.tolist(), signs.dtype) == ([-1, 1, -1], np.float64)
    several = targets(np.array([3, 5, 4]), np.array([3, 4, 5]))
    assert [each.tolist() for each in several] == [[1, -1, -1], [-1, -1, 1], [-1, 1, -1]]
    assert [count_models(classes) for classes in (None, [1, 2], [1, 2, 3], np.arange(7))] == [1, 1, 3, 7]


# what is shared with the command line


def test_problems_share_their_rows_and_go_by_lam_first():
    problems = state_problems(X, np.array([0, 1, 2, 0, 1, 2]), np.arange(3), "hinge", [0.5, 2.0])
    assert [problem.lam for problem in problems] == [0.5, 0.5, 0.5, 2, 2, 2]
    assert [int(problem.y.argmax()) for problem in problems] == [0, 1, 2] * 2
    assert all(problem.X is problems[0].X for problem in problems)


def test_only_the_squared_loss_needs_shorter_steps():
    assert [name for name, loss in LOSSES.items() if needs_t0(loss)] == ["squared"]
    for name in ("a loss", "tukey"):
        assert not needs_t0(Loss(name, LOSSES["squared"].value, LOSSES["squared"].derivative))
        own = CASGDRegressor(Loss(name, LOSSES["absolute"].value, LOSSES["absolute"].derivative), random_state=0, n_epochs=1)
        assert own.fit(X, NUMBERS)._states.t0 == [0]


def test_how_iterates_are_weighed():
    weights = [averaging(algorithm, "weighted") for algorithm in ("asgd", "casgd")]
    assert [[weight(t) for t in range(1, 5)] for weight in weights] == [[1, 2, 3, 4]] * 2
    assert [averaging("asgd", "uniform"), averaging("csgd", None), averaging("sgd", "weighted")] == [None] * 3


def test_the_first_row_whose_score_overflows_is_named():
    huge, ok = [1e308, 1e308, 0], [1, 1, 1]
    words = "the score of row 2 (counted from 0) overflows float64: its values are too large"
    predictors = [Predictor(np.array([0.0, 0, 1]), 0.0), Predictor(np.ones(3), 0.0)]
    assert said_by(lambda: scores(predictors, np.array([ok, ok, huge, ok, huge], dtype=float)), FloatingPointError) == words
    np.testing.assert_array_equal(scores(predictors, np.array([ok], dtype=float)), [[1, 3]])


def test_the_objective_and_the_mean_loss_by_hand():
    problem = Problem([[1.0], [2.0]], [1, 3], "squared", 0.5)
    predictor = Predictor(np.array([2.0]), 3.0)
    losses = (5 - 1) ** 2 / 2, (7 - 3) ** 2 / 2
    predictions = scores([predictor], np.array([[1.0], [2.0]]))
    assert objective([problem], [predictor], predictions, None) == 0.25 * (4 + 9) + sum(losses) / 2
    assert objective([problem], [predictor], predictions, np.array([1.5])) == 0.25 * (4 + 36) + sum(losses) / 2
    drawn = np.array([1.0, 4.0])
    assert mean_loss(problem.loss, np.array([5.0, 9.0]), problem.y, drawn) == (8 + 4 * 18) / 5
    assert objective([problem], [predictor], predictions + np.array([[0], [2]]), None, drawn) == 0.25 * 13 + (8 + 4 * 18) / 5
    assert mean_loss(problem.loss, np.array([5.0, 9.0]), problem.y, 2.0**-700 * drawn) == (8 + 4 * 18) / 5
    other = Problem([[1.0], [2.0]], [5, 7], "squared", 0.5)
    both = np.hstack([predictions, predictions])
    assert objective([problem, other], [predictor, predictor], both, None) == 0.25 * (4 + 9) + (sum(losses) / 2 + 0) / 2
    assert "zip" in said_by(lambda: objective([problem, other], [predictor], both, None))
