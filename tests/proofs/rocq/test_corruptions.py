"""Corruptions of one token are refused or not proved, but for equivalent ones; edits that change nothing are still proved."""

import random

import pytest

from proofs.rocq.prover import Check
from tests.proofs.rocq.corruptions import all_corruptions, outcome

THEORIES = ("Sparse", "Loops", "Centring", "Batch", "Overflow")
EQUIVALENT = {
    "efficient/asgd.py:39: c = omega[0] * a / (t + t0)  [a -> g]",
    "efficient/csgd.py:35: z = g * q  [g -> a]",
    "efficient/csgd.py:36: r = a * theta - z  [a -> g]",
    "efficient/casgd.py:77: c = omega[0] * a / (t + t0)  [a -> g]",
    "efficient/casgd.py:81: z = g * q  [g -> a]",
    "efficient/casgd.py:82: r = a * theta - z  [a -> g]",
    "efficient/kernels/batch.py:117: c[k] = omega[0] * a[k] / (t + t0[k])  [a -> g]",
    "efficient/kernels/batch.py:120: z[k] = g[k] * q  [g -> a]",
    "efficient/kernels/batch.py:121: r[k] = a[k] * theta - z[k]  [a -> g]",
}
"""Corruptions that change nothing: in the first step the sum a is its only term g. All is still proved."""
IN_CI = 10


def parts() -> list:
    found = all_corruptions()
    random.Random(0).shuffle(found)
    return [pytest.param(each, id=each.where, marks=[pytest.mark.nightly] * (k >= IN_CI)) for k, each in enumerate(found)]


@pytest.mark.usefixtures("rocq")
@pytest.mark.parametrize("corruption", parts())
def test_corruption_is_refused_or_not_proved(corruption):
    assert bool(outcome(corruption, THEORIES)) == (corruption.where not in EQUIVALENT)


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
