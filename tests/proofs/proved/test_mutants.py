"""Mutants: which evidence refutes which mutant."""

from efficient.runs.algorithms import ALGORITHMS
from proofs.proved import mutants
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
