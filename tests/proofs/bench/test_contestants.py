"""Contestants of the bench: none is timed on a wrong result, and the floor moves what Algorithm 2 has to move."""

import inspect
from dataclasses import replace

import numpy as np
import pytest

from proofs.bench import contestants
from proofs.bench.baselines import plain_asgd, visit_all_twice, visit_twice
from proofs.bench.contestants import Field, many_models, single_models, watched
from proofs.bench.measure import Run, race
from proofs.counted.arrays import CountingArray, Tally
from reference import LOSSES, Predictor, Problem
from reference.datasets import make_text

DATA = make_text(80, 300, 12, seed=0)
PROBLEM = Problem(DATA.X, DATA.y, "log", 1e-2)


def race_on(field, *names):
    chosen = [each for make in (single_models, many_models) for each in make(field) if each.name in names]
    assert len(chosen) == len(names)
    return {entry["contestant"]: entry for entry in race(chosen, 2)}


def mutant(function, old, new):
    """Return a function with a piece of its source exchanged."""
    source = inspect.getsource(function)
    assert source.count(old) == 1
    scope = dict(function.__globals__)
    exec(source.replace(old, new), scope)
    return scope[function.__name__]


def off_by_one_bit(run):
    def wrong(*arguments, **options):
        seconds, answers, parts = run(*arguments, **options)
        w = answers[-1].w.copy()
        w[np.flatnonzero(w)[0]] *= 1 + 2**-52
        return Run(seconds, [*answers[:-1], Predictor(w, answers[-1].b)], parts)

    return wrong


@pytest.mark.parametrize(
    ("name", "place", "wrong"),
    [
        ("plain numba loop", "compiled_textbook", mutant(plain_asgd, "h += 1 / t", "h += 1 / (t + 1)")),
        ("NumPy, row by row", "numpy_asgd", mutant(contestants.numpy_asgd, "h * g * x", "g * x")),
        ("20 classes, one pass", "one_pass", off_by_one_bit(contestants.one_pass)),
        ("20 values of λ, one pass", "one_pass", off_by_one_bit(contestants.one_pass)),
        ("casgd loop, q given", "loop", off_by_one_bit(contestants.loop)),
        ("asgd call", "call", mutant(contestants.call, "problem.lam", "2 * problem.lam")),
        ("casgd loop", "loop", mutant(contestants.loop, "indices[:1]", "indices[1:2]")),
        (
            "scikit-learn fit",
            "fit",
            mutant(contestants.fit, "loss.name, lam,", "loss.name, 2 * lam,"),
        ),
    ],
)
def test_wrong_contestant_is_refused_and_not_timed(name, place, wrong, monkeypatch):
    monkeypatch.setattr(contestants, place, wrong)
    entry = race_on(Field(PROBLEM, "sequential"), name)[name]
    assert (entry["status"], entry["seconds"], entry["ns_per_entry"]) == ("refused", [], None)
    assert "its answer is off by" in entry["why"]


def test_rows_in_another_order_are_refused_for_scikit_learn():
    field = Field(PROBLEM, "random")
    assert sorted(field.indices) == list(range(80))
    assert race_on(field, "scikit-learn loop")["scikit-learn loop"]["status"] == "timed"
    other = Field(PROBLEM, "random")
    other.indices = field.indices[::-1].copy()
    assert race_on(other, "scikit-learn loop")["scikit-learn loop"]["status"] == "refused"


def test_scikit_learn_without_its_inner_function_is_not_timed(monkeypatch):
    monkeypatch.delattr("sklearn.linear_model._stochastic_gradient._plain_sgd64")
    entry = race_on(Field(PROBLEM, "random"), "scikit-learn loop")["scikit-learn loop"]
    assert (entry["status"], entry["seconds"]) == ("not available", [])
    assert "scikit-learn" in entry["why"]


def test_scikit_learn_is_left_as_it_was():
    from sklearn.linear_model import _stochastic_gradient as module

    original = module._plain_sgd64
    with watched([0.0]):
        assert module._plain_sgd64 is not original
    assert module._plain_sgd64 is original


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_labels_that_are_numbers_leave_out_the_classes(loss):
    problem = Problem(DATA.X, np.random.default_rng(0).normal(size=80), loss, 0.5)
    listed = list(many_models(Field(problem, "random")))
    names = ["20 models, floor", *(f"20 values of λ, {how}" for how in ("one pass", "20 passes", "scikit-learn"))]
    assert [each.name for each in listed] == names
    found = race_on(Field(problem, "random"), "scikit-learn loop", "asgd loop")
    assert {entry["status"] for entry in found.values()} == {"timed"}


def test_many_models_that_need_too_much_memory_are_not_tried(monkeypatch):
    monkeypatch.setattr(contestants, "MOST_BYTES", 16 * 20 * 300 - 1)
    (entry,) = race(list(many_models(Field(PROBLEM, "sequential"))), 1)
    assert (entry["contestant"], entry["status"]) == ("20 models", "not available")


def test_floor_moves_the_memory_of_algorithm_2_and_no_more():
    tally = Tally()
    state = CountingArray(np.zeros((300, 2)), tally)
    visit_twice(PROBLEM.X, np.arange(80), state, np.zeros(300))
    assert (tally.read, tally.written) == (DATA.X.nnz, 2 * DATA.X.nnz)


def test_floor_of_many_models_moves_their_memory():
    tally = Tally()
    state = CountingArray(np.zeros((300, 2, 8)), tally)
    visit_all_twice(PROBLEM.X, np.arange(80), state, np.zeros(8))
    assert (tally.read, tally.written) == (8 * DATA.X.nnz, 16 * DATA.X.nnz)


def test_loss_that_scikit_learn_lacks_leaves_it_out(monkeypatch):
    monkeypatch.setitem(LOSSES, "new", replace(LOSSES["log"], name="new", scikit_learn={}))
    found = race_on(Field(Problem(DATA.X, DATA.y, "new", 1e-2), "random"), "scikit-learn loop", "asgd loop")
    assert {name: entry["status"] for name, entry in found.items()} == {
        "scikit-learn loop": "not available",
        "asgd loop": "timed",
    }
