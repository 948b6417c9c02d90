"""Comparison on any data: it holds of the shipped loops, and finds a wrong one."""

import copy

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes

from efficient.runs import run
from efficient.runs.algorithms import ALGORITHMS
from proofs.compared import iterates as identical
from proofs.compared import scikit_learn as independence
from proofs.compared import translation
from proofs.data import Case
from proofs.paper import LABELS
from reference.datasets import make_generic, make_shifted, make_ties

CASE = Case("small", *make_generic(30, 40, 4, seed=1)[:2], {"hinge": 0.1, "squared": 1.0})


def run_jobs(module, case=CASE):
    return [entry for job in module.jobs([case]) for entry in job.run()]


@pytest.mark.parametrize("module", [identical, translation, independence])
def test_jobs_hold_on_small_data(module):
    entries = run_jobs(module)
    assert entries
    assert all(entry.as_expected for entry in entries), [entry.line() for entry in entries]
    assert {entry.label for entry in entries} <= LABELS.keys()


def test_jobs_on_ties_part_at_a_kink_only():
    entries = run_jobs(identical, Case("ties", *make_ties(40, 4, 2, seed=1)[:2], {"hinge": 0.1, "absolute": 0.1}))
    assert all(entry.as_expected for entry in entries), [entry.line() for entry in entries]


@pytest.mark.parametrize(
    "data",
    [
        make_shifted(40, 6, 3, seed=1, offset=1e3),
        make_generic(1, 8, 8, seed=2),
        make_generic(3, 2000, 2000, seed=3),
        make_generic(4, 5, 0, seed=4),
        make_generic(3, 0, 0, seed=5),
    ],
    ids=["offset 1000", "one row", "wide dense rows", "empty rows", "no columns"],
)
def test_jobs_on_odd_data_hold(data):
    for module in (identical, translation):
        entries = run_jobs(module, Case("odd", data.X, data.y, {"log": 0.1}))
        assert {"csgd", "casgd"} <= {entry.algorithm for entry in entries}
        assert all(entry.as_expected for entry in entries), [entry.line() for entry in entries]


def test_jobs_on_labels_of_0_hold():
    case = Case("zeros", CASE.X, np.zeros(30), {"squared": 1.0})
    assert all(entry.as_expected for module in (identical, translation) for entry in run_jobs(module, case))


def test_sample_is_never_empty():
    for k in (3, 200, 2000):
        rows, y = Case("wide", *make_generic(5, 2000, k, seed=1)[:2], {}).sample(make_generic(5, 2000, k, seed=1).X)
        assert 0 < rows.shape[1] <= 500
        assert rows.shape[0] == len(y) == 5


def corrupted(name, old, new):
    """Return the loop of an algorithm with a piece of its source exchanged."""
    import inspect

    steps = ALGORITHMS[name].steps
    source = inspect.getsource(steps)
    assert source.count(old) == 1
    scope: dict = {}
    exec(source.replace(old, new), steps.__globals__, scope)
    return ALGORITHMS[name]._replace(steps=scope["steps"])


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("sgd", "(t - 1 + t0)", "(t + t0)"),
        ("asgd", "c = c + omega[j] * a / (t + t0)", "c = c + omega[j] * a / (t + 1)"),
        ("csgd", "- a * q", "+ a * q"),
        ("casgd", "h * g, X", "(h + 1 / t) * g, X"),
    ],
)
def test_jobs_of_a_wrong_loop_fail(name, old, new, monkeypatch):
    monkeypatch.setitem(ALGORITHMS, name, corrupted(name, old, new))
    wrong = {(entry.algorithm, entry.kind) for entry in run_jobs(identical) if not entry.as_expected}
    assert wrong == {(name, "exact"), (name, "float")}


def test_translation_of_a_wrong_centred_prediction_fails(monkeypatch):
    monkeypatch.setitem(ALGORITHMS, "casgd", corrupted("casgd", "- a * q", "+ a * q"))
    verdicts = {(entry.algorithm, entry.as_expected) for entry in run_jobs(translation)}
    assert verdicts == {("sgd", True), ("asgd", True), ("csgd", True), ("casgd", False)}


def test_scikit_learn_against_a_wrong_loop_fails(monkeypatch):
    monkeypatch.setitem(ALGORITHMS, "asgd", corrupted("asgd", "u, h * g", "u, (h + 1 / t) * g"))
    assert not any(entry.holds for entry in run_jobs(independence))


@pytest.mark.parametrize("load", [load_diabetes, load_breast_cancer])
def test_jobs_on_standardised_dense_rows_hold(load):
    X, y = load(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    entries = run_jobs(identical, Case("dense", sparse.csr_array(X), y.astype(float), {"squared": 0.01}))
    assert all(entry.as_expected for entry in entries), [entry.line() for entry in entries]


def test_run_whose_blocks_repeat_the_first_draws_is_found(monkeypatch):
    right = run.blocks
    monkeypatch.setattr(run, "blocks", lambda first, *more: ((first, first + b - a) for a, b in right(first, *more)))
    case = Case("long", *make_generic(400, 40, 4, seed=1)[:2], {"hinge": 0.1})
    entries = [entry for job in identical.jobs([case]) if job.name.startswith("same bits") for entry in job.run()]
    assert [entry.algorithm for entry in entries if not entry.holds] == list(ALGORITHMS)


def test_state_that_ignores_sample_weights_is_not_the_definition(monkeypatch):
    shipped = identical.State

    def careless(problem, *more, **options):
        problem = copy.copy(problem)
        problem.sample_weight = 0 * problem.sample_weight + 1
        return shipped(problem, *more, **options)

    monkeypatch.setitem(identical.compare.__kwdefaults__, "state", careless)
    entries = list(identical.in_fractions(CASE, "values", CASE.X, "hinge", 0.1, ["asgd"]))
    assert [entry.holds for entry in entries] == [False]
