"""Negative controls of the comparisons: known faults and wrong states are rejected, the right algorithms are accepted."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

import reference
from efficient import State
from efficient.runs.algorithms import ALGORITHMS
from proofs.compared.iterates import compare
from proofs.conformance import faults, plain
from reference import LOSSES, Problem
from reference.datasets import Dataset
from tests.helpers import DATA, draws, exact

TRIED = ("generic", "ties", "by hand", "stored twice", "stored zero")
LONG = 4000
OWN = DATA | {
    "stored zero": Dataset(sp.csr_array((np.array([0.0, 1, 2]), [0, 1, 0], [0, 2, 3]), shape=(2, 2)), np.array([1.0, -1])),
    "large": Dataset(sp.csr_array([[1000.0, 0], [1000, 1], [0, 1000]]), np.array([1.0, -1, 1])),
}
"""The shared data, a row whose first stored entry is 0, and margins beyond the range of the exponential."""


@cache
def defined(data: str, loss: str, lam, steps: int, algorithm: str):
    """Weights and bias of the dense definition."""
    X, y, _ = OWN[data]
    problem = Problem(X, y, loss, lam)
    predictor = getattr(reference, algorithm)(problem, draws(problem, steps))
    return predictor.w, predictor.b


@np.errstate(invalid="ignore")  # a fault may give NaN
def differs(train, data: str, loss: str, lam, steps: int, tolerance: float) -> bool:
    """Tell the results of `train` from the dense definition's, over the algorithms."""
    X, y, _ = OWN[data]
    indices = draws(Problem(X, y, loss, 0.5), steps)
    for name, algorithm in ALGORITHMS.items():
        w, b = defined(data, loss, lam, steps, name)
        try:
            found_w, found_b = train(X, y, loss, lam, indices, algorithm.averaging, algorithm.centred)
        except ZeroDivisionError:  # the loop as printed
            return True
        scale = max(1, abs(w).max(), abs(b))
        if not (abs(found_w - w).max() <= tolerance * scale and abs(found_b - b) <= tolerance * scale):
            return True
    return False


def rejected(train, loss: str) -> bool:
    """Run in exact arithmetic on all the data tried, then in floats."""
    tried = TRIED if LOSSES[loss].binary else (*TRIED, "numbers")
    in_fractions = (differs(train, data, loss, Fraction(1, 2), 24, 0) for data in tried)
    return any(in_fractions) or rejected_in_floats(train, loss)


def rejected_in_floats(train, loss: str) -> bool:
    """Run on large margins, at kinks, and for long."""
    tried = (("large", 6), ("ties", 24), ("by hand", 24), ("generic", LONG))
    return any(differs(train, data, loss, 0.5, steps, LONG * 2.0**-52) for data, steps in tried)


LOSSES_WITH = {fault: tuple(losses) for fault, losses in faults.WRONG_DERIVATIVES.items()} | {
    "0/1 labels": ("hinge", "log"),
    "labels swapped": ("hinge", "log"),
    "labels cut to integers": ("absolute", "squared"),
    "labels are signs": ("absolute", "squared"),
    "no shrinking without a loss": ("hinge",),
    "sums wait for a loss": ("hinge",),
}
"""Losses that a fault needs to show; for the others, three losses that are unlike each other."""


def each_with_a_loss():
    """Pair every fault with its losses; by default with one of them, each loss in its turn."""
    known = [fault for fault in faults.FAULTS if fault not in faults.SLIPS]  # slips make fractions of endless length
    for place, fault in enumerate(known):
        losses = LOSSES_WITH.get(fault, ("hinge", "log", "squared"))
        for loss in losses:
            at_night = loss != losses[place % len(losses)]
            yield pytest.param(fault, loss, marks=[pytest.mark.nightly] * at_night)


@pytest.mark.parametrize(("fault", "loss"), list(each_with_a_loss()))
def test_comparison_of_a_known_fault_rejects(fault, loss):
    assert rejected(lambda *arguments: plain.train(*arguments, fault=fault), loss)


@pytest.mark.parametrize(
    ("slip", "loss"),
    [
        pytest.param(slip, LOSSES_WITH.get(slip, ("log",))[0], marks=[pytest.mark.nightly] * (place % 4 > 0))
        for place, slip in enumerate(faults.SLIPS)
    ],
)
def test_comparison_of_a_slip_rejects_in_floats(slip, loss):
    assert rejected_in_floats(lambda *arguments: plain.train(*arguments, fault=slip), loss)


@pytest.mark.parametrize("loss", LOSSES)
def test_comparison_of_the_right_algorithms_accepts(loss):
    assert not rejected(plain.train, loss)


class Off(State):
    """Predictions off, and nothing else, as soon as there have been three steps."""

    def run(self, indices):
        super().run(indices)
        self.p = self.p + (self.t > 2)
        return self


class WrongSlope(State):
    """Derivative with another sign, kept as the last step's only."""

    def run(self, indices):
        super().run(indices)
        self.g = -self.g
        return self


class OtherSteps(State):
    """Step sizes of 1/(λ(t + 10⁻⁹))."""

    def __init__(self, problem, algorithm, **options):
        super().__init__(problem, algorithm, **options | {"t0": problem.number(Fraction(1, 10**9))})


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("state", [Off, WrongSlope, OtherSteps])
def test_compare_exact_run_of_a_wrong_state_is_not_equal(state, algorithm):
    problem = exact("generic", "squared")
    (trace,) = compare(problem, draws(problem), [algorithm], state=state).values()
    assert not trace.equal.all()
