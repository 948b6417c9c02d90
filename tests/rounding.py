"""Arithmetic that bounds float64: a number is an exact result, together with how far a float64 program may be from it.

The shipped sources run on these numbers as they run on fractions. So the bounds are derived from the code, operation by
operation; nothing in them is guessed but how well `math.exp` rounds. A sum is bounded in whatever order it is added up, since
BLAS chooses its own. As the bounds are computed in float64 themselves, every one is made a little larger.
"""

import copy
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

import reference
from efficient import State
from efficient.runs.algorithms import ALGORITHMS
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
"""Bound, in u, of the error of a derivative. That of the log-loss, −y e/(1 + e) or −y/(1 + e), has the largest: exp is off by
2 units in the last place, 4 u, and there are at most three operations more."""


def size(value: Fraction) -> float:
    """Float64 that is at least |value|."""
    try:
        return float(abs(value)) * UP + TINY if value else 0.0
    except OverflowError:
        return np.inf


class Rounded:
    """Result of a float64 program: `value` in exact arithmetic, and in floats at most `bound` away from that.

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
        """Tell if a float64 program may have computed this finite number."""
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
    """Result of one more operation, whose operands make it wrong by `error`."""
    error = error if error < np.inf else np.inf  # infinity times 0 is NaN
    return Rounded(value, (error + UNIT * (size(value) + error) + 4 * TINY) * UP)


class Prescribed:
    """Derivative that a float run took, already multiplied by the weight of its example."""

    def __init__(self, slope):
        self.slope = slope

    def __rmul__(self, weight):
        return self.slope


class Undecided(Exception):
    """Raised where the derivative jumps within the bound of the prediction: float64 may take either side."""


Derivative = Callable[[Any, Any], Any]


def derivative(name: str) -> Derivative:
    """ℓ'(p, y) of a built-in loss on rounded numbers; Undecided where p may be on either side of the kink."""
    loss = LOSSES[name].exact or LOSSES[name]
    # largest |ℓ''|: a float64 derivative moves by no more than this times what p does
    steepest = max(float(loss.curvature(Fraction(k, 8))) for k in range(-8, 9)) if loss.curvature else 0.0

    def rounded(p, y):
        p = Rounded(p)
        value = loss.derivative(p.value, y.value)
        if loss.kink is not None:
            if p.bound > 0 and p.allows(kink := loss.kink(y.value)):
                raise Undecided(f"p is {size(p.value - kink):.1e} from the kink, and known to {p.bound:.1e}")
            return Rounded(value)
        grid = 0.0
        if LOSSES[name].exact is not None:
            # 0 on the grid stands for less than half a step of it, and the loops pass a row over only where floats have 0 too
            value, grid = value or -y.value / (2 << GRID_BITS), 2.0**-GRID_BITS
        moved = p.bound * steepest
        return Rounded(value, (moved + LOG_UNITS * UNIT * (size(value) + moved) + grid + TINY) * UP)

    return rounded


def prescribed(slopes, number=Rounded) -> Derivative:
    """Derivatives that a run took, one after the other, whatever the predictions."""
    remaining = iter(slopes)
    return lambda p, y: Prescribed(number(next(remaining)))


def numbers(values, number=Rounded) -> np.ndarray:
    """Array of these in exact or in rounded arithmetic."""
    array = np.empty(len(values), dtype=object)
    array[:] = [number(value) for value in values]
    return array


def in_arithmetic(problem: Problem, number, derivative: Derivative) -> Problem:
    """Canonical rows of a float problem in the arithmetic of `number`, with another derivative."""
    other = copy.copy(problem)
    vars(other).pop("xbar", None)
    other.number, other.lam = number, number(problem.lam)
    other.X = problem.X._replace(data=numbers(problem.X.data, number))
    other.y, other.sample_weight = numbers(problem.y, number), numbers(problem.sample_weight, number)
    other.loss = Loss(problem.loss.name, problem.loss.value, derivative)
    return other


def on_rounded(problem: Problem, algorithm: str, derivative: Derivative, pivot=None, **options) -> State:
    """State of a float problem on rounded numbers: the shipped loop, run on these. With a pivot, on the rows x − pivot.

    Its predictions and predictors bound those of `State(problem, algorithm, **options)`; see `for_raw_rows`.
    """
    if options.get("averaging_weights") is not None:
        options["averaging_weights"] = in_floats(options["averaging_weights"])
    other = in_arithmetic(problem, Rounded, derivative)
    if pivot is not None:
        moved = [other.X.dense(i) - numbers(pivot) for i in range(other.m)]
        everywhere = np.tile(np.arange(other.n), other.m)
        other.X = Rows(numbers([x for row in moved for x in row]), everywhere, np.arange(other.m + 1) * other.n, other.n)
    return State(other, algorithm, **options)


def for_raw_rows(predictor: Predictor | None, pivot) -> Predictor | None:
    """Predictor for raw rows that a State makes of one for the rows x − pivot."""
    if predictor is None or pivot is None:
        return predictor
    around = Predictor(predictor.w, predictor.b, numbers(pivot))
    return Predictor(predictor.w, around.implicit().b, pivoted=around)


def in_floats(weights) -> Callable:
    """Averaging weights ω_t of a float run, as functions of one exact or rounded step number."""
    return lambda t: float(np.asarray(weights(np.array([float(t.value if isinstance(t, Rounded) else t)]))).ravel()[0])


def allows(wanted: Predictor, found: Predictor) -> bool:
    """Tell if a float64 program may have computed this predictor."""
    pairs = [*zip(wanted.w, found.w, strict=True), (wanted.b, found.b)]
    if (wanted.pivoted is None) != (found.pivoted is None):
        return False
    if found.pivoted is not None and wanted.pivoted is not None:
        pairs.append((wanted.pivoted.b, found.pivoted.b))
    return all(Rounded(one).allows(other) for one, other in pairs)


def recover(state: State) -> Predictor | None:
    """Mean that a state keeps, or its last iterate if it keeps none; None if the averaging weights are all 0."""
    if not ALGORITHMS[state.algorithm].averaging:
        return state.last()
    return state.average() if state.total != 0 else None


@np.errstate(over="ignore", invalid="ignore")  # where a bound overflows it is infinite
def sparse_bound(problem: Problem, algorithm: str, indices, derivative, *, pivoting=True, **options) -> Predictor | None:
    """Result of `efficient` on rounded numbers; None if the weights are all 0. Without pivoting, as the paper prints it."""
    pivot = State(problem, algorithm).pivot if pivoting else None
    return for_raw_rows(recover(on_rounded(problem, algorithm, derivative, pivot, **options).run(indices)), pivot)


@np.errstate(over="ignore", invalid="ignore")
def dense_bound(problem: Problem, algorithm: str, indices, derivative: Derivative, **options) -> Predictor | None:
    """Result of `reference` on rounded numbers; None if the weights are all 0."""
    if options.get("averaging_weights") is not None:
        options["averaging_weights"] = in_floats(options["averaging_weights"])
    try:
        return getattr(reference, algorithm)(in_arithmetic(problem, Rounded, derivative), indices, **options)
    except ValueError:
        return None
