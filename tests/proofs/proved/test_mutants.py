"""Mutants: which evidence refutes which mutant."""

import importlib
import inspect
import sys
from typing import Any

import pytest

from efficient.runs.algorithms import ALGORITHMS, Algorithm
from proofs.proved import mutants, pseudocode, shipped
from proofs.proved.mutants import EVIDENCE, of_algorithm, standing, stands


def test_stands_tells_a_mutant_from_the_program():
    assert all(stands(ALGORITHMS["casgd"], evidence) for evidence in EVIDENCE)
    wrong = dict(of_algorithm(ALGORITHMS["sgd"]))
    divides_by_t_plus_1 = wrong["steps: p = -(d + a) / (lam * (t - 1 + t0)) - -> +"]
    assert [stands(divides_by_t_plus_1, evidence) for evidence in EVIDENCE] == [True, False, False, False, False]
    assert not any(stands(None, evidence) for evidence in EVIDENCE)


def test_standing_shows_evidence_that_cannot_fail(monkeypatch):
    monkeypatch.setitem(mutants.EVIDENCE, "all together", lambda algorithm: [])
    assert len(standing("sgd")["all together"]) > 200


def test_refute_with_a_surviving_mutant_fails(monkeypatch):
    # without the points where g is 0 or 1, skipping where g = 1 goes unseen: g is a symbol, and no symbol is 1
    monkeypatch.setattr(mutants, "POINTS", mutants.POINTS[:1])
    (entry,) = shipped.refute("sgd")
    assert not entry.holds
    assert "not refuted: " in entry.figure and "if g != 0: 0 -> 1" in entry.figure


def test_refute_where_the_shipped_program_fails_is_no_evidence(monkeypatch):
    def fails(*arguments):
        raise TypeError

    monkeypatch.setattr(mutants, "induction", fails)
    (entry,) = shipped.refute("sgd")
    assert not entry.holds
    assert entry.figure == "the shipped program itself is broken"


@pytest.mark.parametrize("name", ALGORITHMS)
def test_failure_of_an_operation_that_ignores_the_columns(name):
    def dot(v, X, i):
        values = X.data[X.indptr[i] : X.indptr[i + 1]]
        return sum(values[e] * v[e] for e in range(len(values)))

    wrong = ALGORITHMS[name]._replace(steps=mutants.rebind(ALGORITHMS[name].steps, dot=dot))
    assert mutants.failure(wrong) == "refuted"


def changed(name: str, old: str, new: str) -> Algorithm:
    """Make an algorithm whose loop has another text."""
    steps = ALGORITHMS[name].steps
    source = inspect.getsource(steps)
    assert old in source
    names: dict[str, Any] = {}
    exec(source.replace(old, new), dict(steps.__globals__), names)
    return ALGORITHMS[name]._replace(steps=names["steps"])


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("sgd", "dloss(p, y[i])  # alg:sgd, line 9", "dloss(p, y[j])"),  # the place of the draw
        ("asgd", "dloss(p, y[i])  # alg:sgd, line 3", "dloss(p, y[p])"),
        ("csgd", "projections[i] if len(projections) else dot(xbar, X, i)  # alg:casgd, line 12",
         "projections[j] if len(projections) else dot(xbar, X, i)"),
        ("casgd", "if t == 0", "if a == 0"),  # the first step again wherever the derivatives add up to 0
    ],
)  # fmt: skip
def test_program_that_takes_another_row_or_branches_on_a_sum_is_refuted(name, old, new):
    assert mutants.stands(ALGORITHMS[name], "all together")
    assert not mutants.stands(changed(name, old, new), "all together")


@pytest.mark.parametrize("more", ["if t == 7000: a = 0 * a", "for d in omega: pass", "while False: pass"])
def test_branch_or_loop_that_the_pseudocode_lacks_is_found(more, tmp_path, monkeypatch):
    source = inspect.getsource(ALGORITHMS["asgd"].steps)
    source = (
        "from efficient.asgd import *\nfrom efficient.kernels.prefetch import *\nfrom efficient.kernels.sparse import *\n\n\n"
        + source
    )
    (tmp_path / "other.py").write_text(source.replace("        t = t + 1\n", f"        {more}\n        t = t + 1\n"), "utf8")
    monkeypatch.syspath_prepend(tmp_path)
    other = importlib.import_module("other").steps
    monkeypatch.delitem(sys.modules, "other")
    monkeypatch.setitem(ALGORITHMS, "asgd", ALGORITHMS["asgd"]._replace(steps=other))
    (entry,) = pseudocode.read("asgd")
    assert not entry.holds and "nothing else than" in entry.figure
