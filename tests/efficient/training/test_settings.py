"""Settings: one table of defaults, asked by both faces; facts of losses and algorithms, never their names."""

from dataclasses import replace

import pytest

from efficient import CASGDClassifier, CASGDRegressor
from efficient.runs.algorithms import ALGORITHMS
from efficient.training.settings import DEFAULTS, DEFAULTS_FOR_NUMBERS, EPOCHS, ORDER, Settings, losses
from reference import LOSSES
from reference.averaging import AVERAGES


def test_defaults_of_both_faces():
    common = {"alpha": 1e-4, "algorithm": "casgd", "average": "weighted", "t0": "auto", "n_epochs": 50, "sampling": "iid"}
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
    assert (EPOCHS, ORDER) == (50, "iid")
    with pytest.raises(TypeError, match="class_weight"):
        CASGDRegressor(class_weight="balanced")


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
