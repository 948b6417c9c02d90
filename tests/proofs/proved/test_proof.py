"""Proof: a wrong or an empty one fails, and so does one with a mutant that survives."""

from proofs.proved.proof import Proof, proof
from proofs.proved.prover import Equation
from proofs.proved.sgd import step_rearranged
from proofs.proved.symbols import g, h, lam, t, u, v, x


def test_check_of_a_wrong_claim_fails_with_residual_and_counterexample():
    @proof("eqn:owDef", "with h_t in place of h_{t−1}")
    def wrong():
        """Return the commonest mistake."""
        yield Equation("the mean", -((h + 1 / t) * (v + g * x) - (u + (h + 1 / t) * g * x)) / lam, -(h * v - u) / lam)

    (entry,) = wrong.check()
    assert not entry.as_expected
    assert "remains; z3: " in entry.figure
    assert "g*tau*x" in entry.figure or "v" in entry.figure


def test_a_proof_without_steps_is_none():
    (entry,) = Proof("lem:v", "nothing", "none", list).check()
    assert not entry.holds


def test_a_mutant_that_survives_is_reported(monkeypatch):
    monkeypatch.setattr("proofs.proved.proof.is_identity", lambda equation: True)
    (entry,) = step_rearranged.check()
    assert not entry.holds
    assert "mutant not refuted" in entry.figure
