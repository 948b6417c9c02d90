"""Corruptions of one token are refused or not proved, but for equivalent ones; edits that change nothing are still proved."""

import random

import pytest

from proofs.rocq.prover import Check
from proofs.rocq.sources import KERNELS
from tests.proofs.rocq.corruptions import Corruption, all_corruptions, outcome

MANY = f"{KERNELS}/batch.py"
THEORIES = ("Sparse", "Loops", "Centring", "Batch", "Blocks")
EQUIVALENT = {
    ("efficient/asgd.py", "c = omega[0] * a / (t + t0)  [a -> g]"),
    ("efficient/csgd.py", "z = g * q  [g -> a]"),
    ("efficient/csgd.py", "r = a * theta - z  [a -> g]"),
    ("efficient/casgd.py", "c = omega[0] * a / (t + t0)  [a -> g]"),
    ("efficient/casgd.py", "z = g * q  [g -> a]"),
    ("efficient/casgd.py", "r = a * theta - z  [a -> g]"),
    (MANY, "c[k] = omega[0] * a[k] / (t + t0[k])  [a -> g]"),
    (MANY, "z[k] = g[k] * q  [g -> a]"),
    (MANY, "r[k] = a[k] * theta - z[k]  [a -> g]"),
}
"""Corruptions that change nothing before the loop: in the first step the sum a is its only term g. All is still proved."""
OFTEN = 10
"""How many are tried before a change lands, none in the loop for many models, which takes longest."""


def changes_nothing(corruption: Corruption) -> bool:
    """Tell whether a corruption is one of the equivalent ones, in the first step."""
    before_the_loop = corruption.source.partition("for j in range(first, len(indices))")[0].count("\n")
    return (corruption.file, corruption.change) in EQUIVALENT and corruption.line <= before_the_loop


def parts() -> list:
    found = all_corruptions()
    random.Random(0).shuffle(found)
    often = [each for each in found if each.file != MANY][:OFTEN]
    return [pytest.param(each, id=each.where, marks=pytest.mark.ci if each in often else pytest.mark.nightly) for each in found]


@pytest.mark.usefixtures("rocq")
@pytest.mark.parametrize("corruption", parts())
def test_corruption_is_refused_or_not_proved(corruption):
    assert bool(outcome(corruption, THEORIES)) != changes_nothing(corruption)


def test_every_equivalent_corruption_is_found_once():
    found = [(each.file, each.change) for each in all_corruptions() if changes_nothing(each)]
    assert sorted(found) == sorted(EQUIVALENT)


@pytest.mark.nightly
@pytest.mark.usefixtures("rocq")
def test_edits_that_change_nothing_are_still_proved(copy):
    copy("efficient/casgd.py", "    for j in range(len(xbar)):\n", "    for place in range(len(xbar)):\n")
    copy("efficient/casgd.py", "xbar[j] = xbar[j] / total", "xbar[place] = xbar[place] / total")
    copy("efficient/casgd.py", "theta + xbar[j] * xbar[j]", "theta + xbar[place] * xbar[place]")  # a name
    copy("efficient/sgd.py", "        a = a + g  #", "        more = g\n        a = a + more  #")  # a variable
    total, z = "        total = total + omega[j]\n", "        z = z + g * q  # alg:casgd, line 16; eq. 13 (eqn:zDef)\n"
    root = copy("efficient/casgd.py", total + z, z + total)  # an order
    check = Check(root)
    assert [verdict.failure for theory in ("Loops", "Centring") for verdict in check.verdicts(theory)] == [""] * 8
