"""Metrics, by hand and by scikit-learn; the objective is that of the definition."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, mean_squared_error, r2_score

from efficient.training.metrics import evaluate, losses_of, mean_loss, objective, quality, shown_quality
from efficient.training.models import begin, make_problems, scores
from efficient.training.settings import Settings
from reference import LOSSES, Problem, draw_indices
from reference.datasets import make_shifted
from tests.helpers import ALGORITHMS


@pytest.mark.parametrize("drawn", [None, np.array([1.0, 3, 0, 2.5])])
def test_quality_is_that_of_scikit_learn(drawn):
    rng = np.random.default_rng(0)
    y, p = rng.standard_normal(4), rng.standard_normal((4, 1))
    found = quality(LOSSES["squared"], p, y, None, drawn)
    assert found["MSE"] == pytest.approx(mean_squared_error(y, p, sample_weight=drawn))
    assert found["R2"] == pytest.approx(r2_score(y, p, sample_weight=drawn))
    assert found["loss"] == pytest.approx(found["MSE"] / 2)
    three = np.array([1.0, 3, 2, 1])
    several = rng.standard_normal((4, 3))
    found = quality(LOSSES["hinge"], several, three, np.array([1.0, 2, 3]), drawn)
    assert found["error"] == pytest.approx(1 - accuracy_score(three, 1 + several.argmax(axis=1), sample_weight=drawn))


def test_quality_by_hand():
    squared, hinge = LOSSES["squared"], LOSSES["hinge"]
    level = quality(squared, np.array([[1.0], [2]]), np.array([2.0, 2]), None)
    assert (level["MSE"], np.isnan(level["R2"])) == (0.5, True)
    assert quality(hinge, np.array([[0.5], [3.0]]), np.array([4.0, 9]), np.array([4.0, 9])) == {"loss": 0.75, "error": 0.5}
    several = np.array([[1.0, -1, -1], [0, 0.5, -2]])
    found = quality(hinge, several, np.array([1.0, 3]), np.array([1.0, 2, 3]))
    assert found == pytest.approx({"loss": (0 + 1 + 0 + 1.5 + 0 + 3) / 6, "error": 0.5})
    assert [shown_quality(value) for value in (float("nan"), 1 / 3, 0.0)] == ["-", "0.333333", "0"]


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_losses_are_those_of_the_definition(loss):
    p, y = np.linspace(-3, 3, 13), np.where(np.arange(13) % 2, 1.0, -1.0)
    each = losses_of(loss, p, y)
    assert each == pytest.approx([float(loss.value(*pair)) for pair in zip(p, y, strict=True)], rel=1e-15)
    assert mean_loss(loss, p, y) == pytest.approx(each.mean())
    drawn = 2.0**-700 * np.arange(13)
    assert mean_loss(loss, p, y, drawn) == pytest.approx(each @ np.arange(13) / 78)


@pytest.mark.parametrize("offset", [0.0, 1e6])  # far from the origin there is a pivot
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_objective_is_that_of_the_definition(algorithm, offset):
    X, y, _ = make_shifted(40, 6, 3, seed=3, offset=offset)
    classes = np.array([-1.0, 1])
    (problem,) = problems = make_problems(X, y, classes, "log", [0.1])
    run = begin(problems, Settings("log", 0.1, algorithm, "uniform")).run(draw_indices(40, 80))
    F = problem.objective(run.predictors()[0], ALGORITHMS[algorithm].centred)
    assert evaluate(run, X, y, classes)["objective"] == pytest.approx(F, rel=1e-9)
    weight = np.arange(1.0, 41)
    predictors = run.predictors()
    F = Problem(X, y, "log", 0.1, weight / weight.mean()).objective(predictors[0])
    if not ALGORITHMS[algorithm].centred:  # whose mean is that of the rows as they are drawn
        assert objective(run, predictors, scores(predictors, X), weight) == pytest.approx(F, rel=1e-9)


def test_objective_is_the_mean_over_the_models():
    X, y, _ = make_shifted(40, 6, 3, seed=3, offset=0.0)
    problems = make_problems(X, y, None, "squared", [0.5, 2.0])
    run = begin(problems, Settings("squared", algorithm="asgd")).run(draw_indices(40, 80))
    F = [problem.objective(predictor) for problem, predictor in zip(problems, run.predictors(), strict=True)]
    assert objective(run, run.predictors(), scores(run.predictors(), X)) == pytest.approx(np.mean(F), rel=1e-12)
