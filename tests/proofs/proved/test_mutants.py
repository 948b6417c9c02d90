"""Mutants: which evidence refutes which mutant."""

import pytest

from efficient.runs.algorithms import ALGORITHMS
from proofs.proved import mutants, shipped
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
