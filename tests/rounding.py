"""An arithmetic that bounds float64: a number is an exact result, together with how far a float64 program may be from it.

The sources that ship run on these numbers as they run on fractions. So the bounds that the search uses are derived from the
code, operation by operation; nothing in them is guessed but how well `math.exp` rounds. A sum is bounded in whatever order it
is added up, since BLAS chooses its own. As the bounds are computed in float64 themselves, every one is made a little larger.
"""

import copy
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

import reference
from efficient import State
from proofs.compared.iterates import KINK_DISTANCE
from reference import LOSSES, Loss, Predictor, Problem
from reference.arithmetic import fraction
from reference.losses import GRID_BITS
from reference.rows import Rows

UNIT = sys.float_info.epsilon / 2
"""The unit roundoff u: one operation is off by at most u times its result, or by TINY where that is subnormal."""

TINY = sys.float_info.min * sys.float_info.epsilon
"""The smallest positive float64."""

UP = 1 + 16 * UNIT
"""By how much: a bound is a few sums and products of numbers >= 0, and what underflows in them is less than 4 TINY."""

LOG_UNITS = 8
"""The log-loss's derivative −y e/(1 + e) or −y/(1 + e) is off by LOG_UNITS u: exp by 2 units in the last place, 4 u, and at
most three operations."""


def size(value: Fraction) -> float:
    """A float64 that is at least |value|."""
    try:
        return float(abs(value)) * UP + TINY if value else 0.0
    except OverflowError:
        return np.inf


class Rounded:
    """What a float64 program computes: `value` in exact arithmetic, and in floats at most `bound` away from that.

    As long as it is only added to, it is a sum of terms: `error` is what they bring along and `mass` the sum of their
    absolute values, so that n terms in any order and bracketing are off by error + (n − 1) u mass, a little more for u².
    """

    __slots__ = ("error", "mass", "terms", "value")

    def __init__(self, value, error: float = 0.0, mass: float | None = None, terms: int = 1):
        if isinstance(value, Rounded):
            value, error = value.value, value.bound
        self.value = value if type(value) is Fraction else fraction(value)
        self.error = error
        self.mass = size(self.value) + self.error if mass is None else mass
        self.terms = terms

    @property
    def bound(self) -> float:
        if self.terms == 1:
            return self.error
        rounded = (self.terms - 1) * UNIT
        return (self.error + rounded / (1 - rounded) * self.mass + TINY) * UP

    def allows(self, number) -> bool:
        """Whether a float64 program may have computed this finite number."""
        if not abs(number) < np.inf:
            return False
        return self.bound == np.inf or abs(fraction(number) - self.value) <= fraction(self.bound)

    def __neg__(self):
        return Rounded(-self.value, self.error, self.mass, self.terms)

    def __add__(self, other):
        if isinstance(other, np.ndarray):
            return NotImplemented
        other = other if isinstance(other, Rounded) else Rounded(other)
        for one, term in ((self, other), (other, self)):
            if term.mass == 0:  # adding an exact 0 rounds nothing
                return one
        mass = (self.mass + other.mass) * UP
        return Rounded(self.value + other.value, (self.error + other.error) * UP, mass, self.terms + other.terms)

    def __mul__(self, other):
        if isinstance(other, (np.ndarray, Prescribed)):
            return NotImplemented
        other = other if isinstance(other, Rounded) else Rounded(other)
        first, second = size(self.value), size(other.value)
        if 0 in (first + self.bound, second + other.bound):
            return Rounded(0)
        error = first * other.bound + second * self.bound + self.bound * other.bound
        return _once_more(self.value * other.value, error)

    def __truediv__(self, other):
        if isinstance(other, np.ndarray):
            return NotImplemented
        other = other if isinstance(other, Rounded) else Rounded(other)
        quotient = self.value / other.value
        least = max(0.0, size(other.value) * (1 - 32 * UNIT) - 2 * TINY - other.bound)  # the floats divide by no less than this
        error = self.bound + (size(quotient) * other.bound + TINY if other.bound else 0.0)
        return _once_more(quotient, error / least * UP if least else np.inf if error else 0.0)

    def __sub__(self, other):
        return NotImplemented if isinstance(other, np.ndarray) else self + -other

    def __rsub__(self, other):
        return -self + other

    def __rtruediv__(self, other):
        return Rounded(other) / self

    __radd__ = __add__
    __rmul__ = __mul__

    def __eq__(self, other):
        return self.value == (other.value if isinstance(other, Rounded) else other)

    def __lt__(self, other):
        return self.value < (other.value if isinstance(other, Rounded) else other)

    def __int__(self):
        return int(self.value)

    __hash__ = None  # type: ignore[assignment]


def _once_more(value: Fraction, error: float) -> Rounded:
    """The result of one more operation, whose operands make it wrong by `error`."""
    error = error if error < np.inf else np.inf  # infinity times 0 is NaN
    return Rounded(value, (error + UNIT * (size(value) + error) + 4 * TINY) * UP)


class Prescribed:
    """A derivative that already is multiplied by the weight of its example: what a float run took, however it came by it."""

    def __init__(self, slope):
        self.slope = slope

    def __rmul__(self, weight):
        return self.slope


class Undecided(Exception):
    """The derivative jumps within the bound of the prediction: float64 may take either side."""


Derivative = Callable[[Any, Any], Any]


def derivative(loss: str) -> Derivative:
    """ℓ'(p, y) of the paper's losses on rounded numbers; Undecided where p may be on either side of the kink."""
    exact = (LOSSES[loss].exact or LOSSES[loss]).derivative

    def rounded(p, y):
        p = Rounded(p)
        if loss == "squared":
            return p - y
        value = exact(p.value, y.value)
        if loss in KINK_DISTANCE:
            if p.bound > 0 and p.allows(y.value):  # the kink of the absolute loss is at p = y, and so is the hinge's for y = ±1
                raise Undecided(f"p is {size(p.value - y.value):.1e} from the kink, and known to {p.bound:.1e}")
            return Rounded(value)
        # 0 on the grid stands for less than half a step of it, and the loops pass a row over only where floats have 0 too
        value = value or -y.value / (2 << GRID_BITS)
        moved = p.bound / 4  # |ℓ''| <= 1/4
        return Rounded(value, (moved + LOG_UNITS * UNIT * (size(value) + moved) + 2.0**-GRID_BITS + TINY) * UP)

    return rounded


def prescribed(slopes, number=Rounded) -> Derivative:
    """The derivatives that a run took, one after the other, whatever the predictions."""
    remaining = iter(slopes)
    return lambda p, y: Prescribed(number(next(remaining)))


def numbers(values, number=Rounded) -> np.ndarray:
    """An array of these in exact or in rounded arithmetic."""
    array = np.empty(len(values), dtype=object)
    array[:] = [number(value) for value in values]
    return array


def in_arithmetic(problem: Problem, number, derivative: Derivative) -> Problem:
    """A float problem's canonical rows in the arithmetic of `number`, with another derivative."""
    twin = copy.copy(problem)
    vars(twin).pop("xbar", None)
    twin.number, twin.lam = number, number(problem.lam)
    twin.X = problem.X._replace(data=numbers(problem.X.data, number))
    twin.y, twin.weight = numbers(problem.y, number), numbers(problem.weight, number)
    twin.loss = Loss(problem.loss.name, problem.loss.value, derivative)
    return twin


def on_rounded(problem: Problem, algorithm: str, derivative: Derivative, pivot=None, **options) -> State:
    """The state of a float problem on rounded numbers: the loop that ships, run on these. With a pivot, on the rows x − pivot.

    Its predictions and predictors bound those of `State(problem, algorithm, **options)`; see `for_raw_rows`.
    """
    if options.get("weights") is not None:
        options["weights"] = in_floats(options["weights"])
    twin = in_arithmetic(problem, Rounded, derivative)
    if pivot is not None:
        moved = [twin.X.dense(i) - numbers(pivot) for i in range(twin.m)]
        everywhere = np.tile(np.arange(twin.n), twin.m)
        twin.X = Rows(numbers([x for row in moved for x in row]), everywhere, np.arange(twin.m + 1) * twin.n, twin.n)
    return State(twin, algorithm, **options)


def for_raw_rows(predictor: Predictor | None, pivot) -> Predictor | None:
    """What a State makes of a predictor for the rows x − pivot."""
    if predictor is None or pivot is None:
        return predictor
    around = Predictor(predictor.w, predictor.b, numbers(pivot))
    return Predictor(predictor.w, around.implicit().b, pivoted=around)


def in_floats(weights) -> Callable:
    """The weights ω_t that a float run takes, as functions of one exact or rounded step number."""
    return lambda t: float(np.asarray(weights(np.array([float(t.value if isinstance(t, Rounded) else t)]))).ravel()[0])


def allows(wanted: Predictor, found: Predictor) -> bool:
    """Whether a float64 program may have computed this predictor."""
    pairs = [*zip(wanted.w, found.w, strict=True), (wanted.b, found.b)]
    if (wanted.pivoted is None) != (found.pivoted is None):
        return False
    if found.pivoted is not None and wanted.pivoted is not None:
        pairs.append((wanted.pivoted.b, found.pivoted.b))
    return all(Rounded(one).allows(other) for one, other in pairs)


def recover(state: State) -> Predictor | None:
    """The mean that a state keeps, or its last iterate if it keeps none; None if the weights of the mean are all 0."""
    if state._parts.average is None:
        return state.last()
    return state.average() if state.total != 0 else None


@np.errstate(over="ignore", invalid="ignore")  # where a bound overflows it is infinite
def sparse_bound(problem: Problem, algorithm: str, indices, derivative, *, pivoting=True, **options) -> Predictor | None:
    """What `efficient` returns, on rounded numbers; None if the weights are all 0. Without pivoting, as the paper prints it."""
    pivot = State(problem, algorithm).pivot if pivoting else None
    return for_raw_rows(recover(on_rounded(problem, algorithm, derivative, pivot, **options).run(indices)), pivot)


@np.errstate(over="ignore", invalid="ignore")
def dense_bound(problem: Problem, algorithm: str, indices, derivative: Derivative, **options) -> Predictor | None:
    """What `reference` returns, on rounded numbers; None if the weights are all 0."""
    if options.get("weights") is not None:
        options["weights"] = in_floats(options["weights"])
    try:
        return getattr(reference, algorithm)(in_arithmetic(problem, Rounded, derivative), indices, **options)
    except ValueError:
        return None
