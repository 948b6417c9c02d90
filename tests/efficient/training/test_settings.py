"""Settings: one table of defaults, asked by both faces; facts of losses and algorithms, never their names."""

import copy
import inspect
import re
from dataclasses import replace

import pytest

from efficient import CASGDClassifier, CASGDRegressor
from efficient.runs.algorithms import ALGORITHMS
from efficient.training.settings import DEFAULTS, DEFAULTS_FOR_NUMBERS, ELSEWHERE, EPOCHS, ORDER, Settings, losses
from reference import LOSSES, Problem
from reference.averaging import AVERAGES


def test_defaults_of_both_faces():
    common = {"alpha": 1e-4, "algorithm": "casgd", "average": "weighted", "t0": "auto", "n_epochs": 30, "sampling": "auto"}
    for estimator, loss, defaults in (
        (CASGDClassifier(), "hinge", DEFAULTS),
        (CASGDRegressor(), "squared", DEFAULTS_FOR_NUMBERS),
    ):
        found = estimator.get_params()
        assert {name: found[name] for name in common} == common
        assert found["loss"] == loss
        assert defaults == Settings(loss, *(common[name] for name in ("alpha", "algorithm", "average", "t0")))
        others = {"n_steps": None, "random_state": None, "verbose": False, "callback": None, "warm_start": False}
        assert {name: found[name] for name in others} == others
    assert (EPOCHS, ORDER) == (30, "permuted")
    with pytest.raises(TypeError, match="class_weight"):
        CASGDRegressor(class_weight="balanced")


def test_names_of_other_programs_get_a_hint():
    for estimator in (CASGDClassifier, CASGDRegressor):
        own = inspect.signature(estimator).parameters.keys()
        assert own == estimator().get_params().keys()
        for name, (ours, _) in ELSEWHERE.items():
            assert re.match(r"\w+", ours)[0] in own
            if name not in own:
                with pytest.raises(
                    TypeError, match=rf"{estimator.__name__} has no parameter '{name}'. It is {re.escape(ours)}"
                ):
                    estimator(**{name: 1})
        with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
            estimator(foo=1)

    class Mine(CASGDClassifier):
        def __init__(self, C=1.0, **others):
            super().__init__(alpha=1 / C, **others)
            self.C = C

    assert (Mine(C=4).alpha, copy.copy(Mine(C=4)).C, Mine(average="uniform").average) == (0.25, 4, "uniform")


@pytest.mark.parametrize(
    ("name", "ours"),
    [("log_loss", "log"), ("squared_error", "squared"), ("epsilon_insensitive", "absolute"), ("mse", "squared")],
)
def test_losses_of_other_programs_get_a_hint(name, ours):
    for make in (
        lambda: CASGDClassifier(name).fit([[1], [2]], [0, 1]),
        lambda: CASGDRegressor(name).fit([[1], [2]], [0, 1]),
        lambda: Problem([[1]], [1], name, 1.0),
    ):
        with pytest.raises(ValueError, match=rf"got '{name}'. It is called '{ours}' here"):
            make()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_weights_are_those_of_an_average(algorithm):
    for name, weights in AVERAGES.items():
        wanted = weights if ALGORITHMS[algorithm].averaging else None
        assert Settings(algorithm=algorithm, average=name).averaging_weights is wanted
    assert Settings(algorithm=algorithm, average=None).averaging_weights is None
    assert AVERAGES["weighted"](3) == 3


def test_losses_are_offered_by_their_labels(monkeypatch):
    assert {"hinge", "log"} <= set(losses(binary=True)) and {"absolute", "squared"} <= set(losses(binary=False))
    assert sorted(losses(binary=True) + losses(binary=False)) == sorted(LOSSES)
    monkeypatch.setitem(LOSSES, "mse", replace(LOSSES["squared"], name="mse"))
    assert "mse" in losses(binary=False) and "mse" not in losses(binary=True)
