"""Balls: numbers known up to a rigorous radius around a midpoint, the fifth arithmetic of the algorithms.

With λ a `Ball` the loops run on balls, as they run on fractions, and the balls that come out contain the exact result. An
operation rounds to the bits of the `precision` in force, and its radius grows by what that loses. A comparison that the radii
leave open raises `Undecided`; so does a derivative that jumps within the ball of a prediction. `climb` then runs all again at
the next precision.
"""

import copy
import math
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

import numpy as np

from .arithmetic import fraction
from .losses import Loss
from .missing import Missing
from .problem import Problem
from .rows import Rows

try:
    from flint import arb, ctx, fmpq
except ImportError:
    arb = ctx = fmpq = Missing("python-flint", "balls", "certify")  # type: ignore

LADDER = (53, 128, 512, 2048, 8192)
"""Precisions to try, in bits, one after the other: that of float64 first."""

LOST = 0.01
"""Radius of a prediction, relative to max(1, |p|), at which a run gives up: no digit would be left in the end."""

Result = TypeVar("Result")


class Undecided(ArithmeticError):
    """Raised where balls do not decide what an exact number would: a higher precision may."""


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Let balls be rounded to so many bits; all that is computed from them later needs this as well."""
    with ctx.workprec(bits):
        yield


def climb(run: Callable[[], Result], wanted: Callable[[Result], bool], ladder=LADDER) -> tuple[Result, int]:
    """Run at one precision after the other, until all is decided and the result is as wanted; return it with the bits.

    Raises
    ------
    Undecided
        Not even at the last precision; says at which step of the run, if one was not decided.
    """
    left = Undecided("the radius is too large")
    for bits in ladder:
        with precision(bits):
            try:
                result = run()
            except Undecided as undecided:
                left = undecided
                continue
            if wanted(result):
                return result, bits
            left = Undecided("the radius is too large")
    raise Undecided(f"{left}, even in balls of {ladder[-1]} bits") from None


class Ball:
    """Real number within `radius` of `midpoint`, with the operations that the algorithms need.

    Every float64 and every int converts exactly; a Fraction is enclosed. A ball does not convert to a float by itself, so that
    a function of `math` for floats refuses one.
    """

    __slots__ = ("x",)
    x: Any
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value):
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"a ball must have a finite midpoint; got {value}")
        self.x = value if type(value) is arb else value.x if type(value) is Ball else _enclosed(value)

    def __repr__(self) -> str:
        return f"Ball({self.x.str(20)})"

    @property
    def midpoint(self) -> float:
        """Float64 nearest to the midpoint."""
        return float(self.x.mid())

    @property
    def radius(self) -> float:
        """Radius, rounded up."""
        return _up(self.x.rad())

    @property
    def size(self) -> float:
        """Largest absolute value of a number in the ball, rounded up."""
        return _up(self.x.abs_upper())

    def distance(self, number) -> float:
        """Bound the distance of a number from every one in the ball, rounded up: infinite for NaN and ±infinity."""
        return _up((self.x - Ball(number).x).abs_upper()) if math.isfinite(number) else math.inf

    def contains(self, number) -> bool:
        """Tell if the ball contains a real number; nothing is rounded, as arb's own `contains` would a fraction."""
        return bool(abs(_ratio(number) - self.x.mid().fmpq()) <= self.x.rad().fmpq())

    def __add__(self, other):
        if type(other) is Ball:  # written out, as in the product: runs take millions of these
            result = _new(Ball)
            result.x = self.x + other.x
            return result
        return NotImplemented if type(other) is np.ndarray else _made(self.x + _inside(other))

    def __mul__(self, other):
        if type(other) is Ball:
            result = _new(Ball)
            result.x = self.x * other.x
            return result
        return NotImplemented if type(other) is np.ndarray else _made(self.x * _inside(other))

    def __truediv__(self, other):
        return NotImplemented if type(other) is np.ndarray else _made(self.x / _inside(other))

    def __sub__(self, other):
        if self is other:  # p − p, by which the loops ask for an overflow
            if not self.x.is_finite():
                raise Undecided("a radius is infinite")
            return 0
        return NotImplemented if type(other) is np.ndarray else _made(self.x - _inside(other))

    def __rsub__(self, other):
        return _made(_inside(other) - self.x)

    def __rtruediv__(self, other):
        return _made(_inside(other) / self.x)

    __radd__ = __add__
    __rmul__ = __mul__

    def __pow__(self, degree):
        return _made(self.x ** _inside(degree))

    def __neg__(self):
        return _made(-self.x)

    def __abs__(self):
        return _made(abs(self.x))

    def __eq__(self, other):
        return not self != other

    def __ne__(self, other):
        """Count what may differ as different: an update by a ball around 0 is made, not passed over."""
        return not self.x == _inside(other)

    def __lt__(self, other):
        return self._decided(other, self.x < (y := _inside(other)), self.x >= y)

    def __le__(self, other):
        return self._decided(other, self.x <= (y := _inside(other)), self.x > y)

    def __gt__(self, other):
        return not self <= other

    def __ge__(self, other):
        return not self < other

    def _decided(self, other, yes: bool, no: bool) -> bool:
        if not (yes or no):
            raise Undecided(f"{self!r} and {other!r} are not told apart")
        return bool(yes)

    def __bool__(self) -> bool:
        return self != 0

    def __int__(self) -> int:
        whole = self.x.unique_fmpz()
        if whole is None:
            raise Undecided(f"{self!r} is not a whole number")
        return int(whole)


_new = object.__new__


def _made(x) -> Ball:
    ball = _new(Ball)
    ball.x = x
    return ball


def _inside(value):
    kind = type(value)
    return value.x if kind is Ball else value if kind is int or kind is float else _enclosed(value)


def _enclosed(value) -> arb:
    return arb(value) if type(value) in (int, float) else arb(_ratio(value))


def _ratio(value) -> fmpq:
    exact = fraction(value)
    return fmpq(exact.numerator, exact.denominator)


def _up(x) -> float:
    """Float64 that is at least x, an exact number >= 0."""
    return math.nextafter(float(x), math.inf) if x != 0 else 0.0


def ball(value) -> Ball:
    """Convert a real number to a ball: a point, unless it has more bits than the precision in force."""
    return value if type(value) is Ball else Ball(value)


class _BallMath:
    """Functions of `math` for balls, so that a loss is one source for floats and balls."""

    def __getattr__(self, name: str):
        def function(x, *others):
            return _made(getattr(_inside(x) if type(x) is Ball else arb(x), name)(*map(_inside, others)))

        return function


@cache
def _on_balls(function: Callable) -> Callable:
    """Give a function of arithmetic, comparisons and `math` with the functions for balls in place of `math`."""
    source: Any = getattr(function, "py_func", function)
    if not isinstance(source, types.FunctionType) or "math" not in source.__globals__:
        return source
    names = {**source.__globals__, "math": _BallMath()}
    return types.FunctionType(source.__code__, names, source.__name__, source.__defaults__, source.__closure__)


def on_balls(problem: Problem) -> Problem:
    """Make the problem of the same rows, labels, weights and λ on balls, from one in float64; no digit is lost.

    Cost: O(n + mk).
    """
    other = copy.copy(problem)
    vars(other).pop("xbar", None)
    other.number, other.lam, other.loss = ball, Ball(problem.lam), in_balls(problem.loss)
    other.X = rows_on_balls(problem.X)
    other.y, other.sample_weight = _array(problem.y), _array(problem.sample_weight)
    return other


def rows_on_balls(X: Rows) -> Rows:
    """Make the same rows on balls, from float64 ones."""
    return X._replace(data=_array(X.data))


def _array(values: np.ndarray) -> np.ndarray:
    balls = np.empty(len(values), dtype=object)
    balls[:] = [_made(arb(value)) for value in values.tolist()]
    return balls


def in_balls(loss: Loss) -> Loss:
    """Make a loss whose derivative takes balls, from the source of the float64 one.

    ℓ is convex, so ℓ' does not decrease: of a ball, it is between what it is at the two ends, which are points. If the loss
    has a kink, ℓ' at the two ends must be the same.
    """
    derivative = _on_balls(loss.derivative)

    def of_ends(p, y):
        p = ball(p)
        if not p.x.is_finite() or p.x.rad() > LOST * max(1, abs(p.midpoint)):
            raise Undecided(f"the prediction {p!r} has lost its digits")
        if p.x.is_exact():
            return derivative(p, y)
        low, high = (derivative(_made(end), y) for end in (p.x.lower(), p.x.upper()))
        if loss.kink is None:
            return _made(arb(_inside(low)).union(arb(_inside(high))))
        if low != high:
            raise Undecided(f"the prediction {p!r} may be on either side of the kink for y = {ball(y).midpoint:g}")
        return low

    return replace(loss, derivative=of_ends, value=_on_balls(loss.value), exact=None)
