"""Table 1 and the facts of the losses: proved of any loss with a formula, and refuted where one is wrong."""

import math
from dataclasses import replace

import pytest

from proofs.proved.formulas import Reading
from proofs.proved.losses import CLAIM, FACTS, claims, facts, judge, mutants, mutants_of_facts
from proofs.proved.prover import violation
from reference import LOSSES, Loss

HUBER = Loss(
    "huber",
    lambda p, y: (p - y) * (p - y) / 2 if abs(p - y) <= 1 else abs(p - y) - 0.5,
    lambda p, y: max(-1, min(1, p - y)),
    slope_bound=1,
    curvature=lambda g: 1 if abs(g) < 1 else 0,
    conjugate=lambda g, y: g * y + g * g / 2,
    formula=(
        "Piecewise(((p - y)**2/2, Abs(p - y) <= 1), (Abs(p - y) - Rational(1, 2), True))",
        "Min(1, Max(-1, p - y))",
    ),
)
EXPONENTIAL = Loss(
    "exponential",
    lambda p, y: math.exp(-p * y),
    lambda p, y: -y * math.exp(-p * y),
    binary=True,
    curvature=abs,
    conjugate=lambda g, y: -g * y * math.log(-g * y) + g * y,
    formula=("exp(-p*y)", "-y*exp(-p*y)"),
)


def wrong(stated):
    return {claim for claim, formula in stated.items() if violation(formula)}


@pytest.mark.parametrize("loss", [HUBER, replace(EXPONENTIAL, curvature=lambda g: abs(g))], ids=lambda loss: loss.name)
def test_judge_proves_a_loss_that_is_added_to_the_built_in_ones(loss, monkeypatch):
    monkeypatch.setitem(LOSSES, loss.name, loss)
    for row in ((CLAIM, claims, mutants), (FACTS, facts, mutants_of_facts)):
        (entry,) = judge(loss.name, *row)
        assert entry.holds and entry.refuted == entry.mutants > 5, entry.figure


@pytest.mark.parametrize(
    "loss",
    [
        replace(LOSSES["hinge"], derivative=lambda p, y: -y if p * y < 1 else 0),
        replace(LOSSES["absolute"], derivative=lambda p, y: -1 if p < y else 1),
        replace(LOSSES["squared"], value=lambda p, y: (p - y) * (p - y)),
        replace(LOSSES["log"], derivative=lambda p, y: -y / (2 + math.exp(p * y))),
    ],
    ids=lambda loss: loss.name,
)
def test_claims_see_a_tie_and_a_factor(loss):
    assert wrong(claims(loss))


@pytest.mark.parametrize(
    "loss",
    [
        replace(HUBER, curvature=lambda g: 1),
        replace(HUBER, conjugate=lambda g, y: g * y),
        replace(HUBER, kink=lambda y: y + 1),
        replace(LOSSES["log"], curvature=lambda g: abs(g)),
        replace(LOSSES["hinge"], kink=lambda y: 1),
    ],
    ids=lambda loss: loss.name,
)
def test_facts_see_a_wrong_one(loss):
    assert wrong(facts(loss))


def test_judge_reports_a_claim_that_no_mutant_breaks():
    (entry,) = judge("hinge", CLAIM, claims, lambda loss: [])
    assert not entry.holds
    assert "no mutant breaks the claim" in entry.figure


@pytest.mark.parametrize("formula", [None, ("Abs(p) + exp(-p*y)", "-y*exp(-p*y)")])
def test_reading_refuses_a_loss_that_it_cannot_read(formula):
    with pytest.raises(ValueError, match="formula"):
        Reading(replace(EXPONENTIAL, formula=formula))
