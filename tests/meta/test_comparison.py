"""Negative controls of the comparisons: known faults and wrong states are rejected, the right algorithms are accepted."""

from fractions import Fraction
from functools import cache

import pytest

import reference
from efficient import State
from efficient.runs.algorithms import ALGORITHMS
from proofs.compared.iterates import compare
from proofs.conformance import faults, plain
from reference import LOSSES, Problem
from tests.helpers import DATA, draws, exact, floats

TRIED = ("generic", "ties", "by hand", "stored twice")
LONG = 4000


@cache
def defined(data: str, loss: str, lam, steps: int, algorithm: str):
    """Weights and bias of the dense definition."""
    X, y, _ = DATA[data]
    predictor = getattr(reference, algorithm)(Problem(X, y, loss, lam), draws(floats(data, loss), steps))
    return predictor.w, predictor.b


def differs(train, data: str, loss: str, lam, steps: int, tolerance: float) -> bool:
    """Tell the results of `train` from the dense definition's, over the algorithms."""
    X, y, _ = DATA[data]
    indices = draws(floats(data, loss), steps)
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
    """Run in exact arithmetic on all the data tried, then a long one in floats."""
    in_fractions = (differs(train, data, loss, Fraction(1, 2), 24, 0) for data in TRIED)
    return any(in_fractions) or differs(train, "generic", loss, 0.5, LONG, LONG * 2.0**-52)


LOSSES_WITH = {fault: tuple(losses) for fault, losses in faults.WRONG_DERIVATIVES.items()} | {
    "0/1 labels": ("hinge", "log"),
    "labels swapped": ("hinge", "log"),
    "no shrinking without a loss": ("hinge",),
    "sums wait for a loss": ("hinge",),
}
"""Losses that a fault needs to show; for the others, three losses that are unlike each other."""


@pytest.mark.parametrize(
    ("fault", "loss"),
    [(fault, loss) for fault in faults.FAULTS for loss in LOSSES_WITH.get(fault, ("hinge", "log", "squared"))],
)
def test_comparison_of_a_known_fault_rejects(fault, loss):
    assert rejected(lambda *arguments: plain.train(*arguments, fault=fault), loss)


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
