"""Arithmetic of `float_run`, in Python: the shipped loops on it give the floats of the compiled ones, and bounds that hold."""

import copy
from fractions import Fraction

import numpy as np
import pytest

import efficient
from efficient.runs.algorithms import ALGORITHMS
from reference import Problem
from reference.arithmetic import fraction
from tests.helpers import draws, floats

EPS, ETA = Fraction(1, 2**53), Fraction(1, 2**1075)


def operation(method):
    """Convert the other operand; leave an array to numpy, which comes back with its entries."""
    return lambda self, other: NotImplemented if isinstance(other, np.ndarray) else method(self, bounded(other))


class Bounded:
    """Float with a bound of its distance from the exact number, by the very formulas of `bounds` in Statements.v."""

    eps = EPS

    def __init__(self, value, bound=Fraction(0)):
        self.value, self.bound = float(value), bound

    def rounded(self, value: float, bound: Fraction):
        return Bounded(value, bound + self.eps * abs(Fraction(value)) + ETA)

    @operation
    def __add__(self, other):
        return self.rounded(self.value + other.value, self.bound + other.bound)

    @operation
    def __sub__(self, other):
        return Bounded(0) if self is other else self.rounded(self.value - other.value, self.bound + other.bound)

    @operation
    def __mul__(self, other):
        a, b = abs(Fraction(self.value)), abs(Fraction(other.value))
        return self.rounded(self.value * other.value, a * other.bound + b * self.bound + self.bound * other.bound)

    @operation
    def __truediv__(self, other):
        a, b = abs(Fraction(self.value)), abs(Fraction(other.value))
        assert other.bound < b, "no bound is known"
        return self.rounded(self.value / other.value, (self.bound + a / b * other.bound) / (b - other.bound))

    __radd__ = __add__
    __rmul__ = __mul__
    __rsub__ = operation(lambda self, other: other - self)
    __rtruediv__ = operation(lambda self, other: other / self)

    def __neg__(self):
        return Bounded(-self.value, self.bound)

    @operation
    def __eq__(self, other):
        return self.bound == other.bound == 0 and self.value == other.value

    @operation
    def __lt__(self, other):
        apart, off = Fraction(other.value) - Fraction(self.value), self.bound + other.bound
        assert off == 0 or abs(apart) > off, "the kink is within the bound"
        return apart > 0

    __le__ = operation(lambda self, other: not other < self)
    __ge__ = operation(lambda self, other: not self < other)

    def __int__(self):
        return int(self.value)

    def __abs__(self):
        return Bounded(abs(self.value), self.bound)

    def holds(self, exact) -> bool:
        return abs(Fraction(self.value) - fraction(exact)) <= self.bound


def bounded(value) -> Bounded:
    return value if isinstance(value, Bounded) else Bounded(value)


def with_bounds(problem: Problem) -> Problem:
    """Make the problem on floats with bounds."""
    other = copy.copy(problem)
    vars(other).pop("xbar", None)
    other.number, other.lam = bounded, Bounded(problem.lam)
    numbers = np.frompyfunc(Bounded, 1, 1)
    other.X = problem.X._replace(data=numbers(problem.X.data))
    other.y, other.sample_weight = numbers(problem.y), numbers(problem.sample_weight)
    return other


def runs(name: str, data: str, loss: str) -> tuple[list[Bounded], list[float], list[Fraction]]:
    """Run a shipped algorithm on floats with bounds, on compiled floats and on fractions; w, then b."""
    problem = floats(data, loss, lam=0.3)
    exact = Problem(problem.X.csr, problem.y, loss, Fraction(problem.lam))
    found = [getattr(efficient, name)(each, draws(problem, 12)) for each in (with_bounds(problem), problem, exact)]
    tracked, compiled, wanted = ([*each.w, each.b] for each in found)
    return [bounded(each) for each in tracked], compiled, wanted


@pytest.mark.parametrize(
    ("data", "loss"), [("generic", "hinge"), ("numbers", "squared"), ("mails", "squared"), ("tweets", "absolute")]
)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_run_with_bounds_gives_the_floats_of_the_compiled_loop_and_bounds_that_hold(name, data, loss):
    tracked, compiled, exact = runs(name, data, loss)
    assert [each.value for each in tracked] == compiled
    assert all(each.holds(wanted) for each, wanted in zip(tracked, exact, strict=True))
    assert max(each.bound for each in tracked) < 1e-9 * max(map(abs, compiled))  # of use


@pytest.mark.parametrize("name", ALGORITHMS)
def test_bounds_that_leave_out_the_rounding_of_results_do_not_hold(name, monkeypatch):
    monkeypatch.setattr(Bounded, "eps", Fraction(0))
    tracked, _, exact = runs(name, "numbers", "squared")
    assert not all(each.holds(wanted) for each, wanted in zip(tracked, exact, strict=True))
