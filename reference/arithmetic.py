"""Choose the arithmetic by the type of λ: a float means float64; a Fraction, a sympy number or a `Ball` means that type.

Every entry of X and y is then converted to that arithmetic without rounding (every float64 is a Fraction).
"""

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np

unsignalled = np.errstate(all="ignore")
"""Decorator of the functions that a caller enters by: numpy neither warns nor raises, however the caller has set it.

Overflow is looked for in what they return or keep, and refused in words; underflow is the rounding that it is.
"""


CURES = {
    "lam": "a larger lam (alpha of an estimator)",
    "rows": "smaller numbers in X and y",
    "t0": "a larger t0 (safe_t0 computes one, as an estimator does for t0='auto')",
    "loss": "a loss with a slope_bound (absolute, hinge or log)",
}
"""Words for what helps against an overflow."""


class Overflow(FloatingPointError):
    """Numbers beyond float64.

    Parameters
    ----------
    what : str
        What overflowed.
    cures : names in `CURES`
    """

    def __init__(self, what: str, *cures: str):
        super().__init__(what, *cures)
        self.what, self.cures = what, cures

    def said(self, words: dict[str, str]) -> str:
        """Say what overflowed, and what helps."""
        *others, last = (words[cure] for cure in self.cures)
        return f"{self.what}. Use {', '.join(others)}{' or ' * bool(others)}{last}"

    def __str__(self) -> str:
        return self.said(CURES)


def fraction(value) -> Fraction:
    """Convert a real number to the Fraction that equals it exactly."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (str, bytes, complex)) or value is None:
        raise TypeError(f"value must be a real number; got {value!r}")
    if isinstance(value, np.longdouble):
        return Fraction(*value.as_integer_ratio())
    exact = Fraction(value)
    return Fraction(int(exact.numerator), int(exact.denominator))  # parts that are numpy integers would wrap around


def _is_symbolic(value) -> bool:
    sympy = sys.modules.get("sympy")  # a sympy number exists only where sympy was imported
    return sympy is not None and isinstance(value, sympy.Basic)


def balls_of(value) -> ModuleType | None:
    """Give the module of balls, `reference.balls`, if the value is one; a ball exists only where that was imported."""
    balls = sys.modules.get("reference.balls")
    return balls if balls is not None and isinstance(value, balls.Ball) else None


def symbol(value):
    """Convert a real number to the sympy number that equals it exactly; return a sympy expression as it is."""
    if _is_symbolic(value):
        return value
    from sympy import Rational

    return Rational(fraction(value))


def number_type(value) -> Callable[[Any], Any]:
    """Find the conversion to the arithmetic of `value`: np.float64, `fraction`, `symbol` or `ball`."""
    if _is_symbolic(value):
        return symbol
    if balls := balls_of(value):
        return balls.ball
    return fraction if isinstance(value, Fraction) else np.float64


def shown(value) -> str:
    """Format a number for an error message, a float64 as Python shows it."""
    try:
        if type(value) is np.float64:
            return repr(float(value))
        return repr(value)
    except ValueError:  # Python prints no integer of more than 4300 digits
        return f"a {type(value).__name__} too long to print"


def check_lam(lam):
    """Validate λ, a finite number > 0; return a float64 unless λ is a Fraction, a ball or a positive sympy expression."""
    wanted = f"lam, the regularisation λ, must be a finite number > 0; got {shown(lam)}"
    symbolic, exact = _is_symbolic(lam), isinstance(lam, Fraction) or balls_of(lam) is not None
    if symbolic and lam.has(sys.modules["sympy"].Float):
        raise TypeError(wanted + ". Use a Rational, since a sympy Float is not exact")
    if symbolic and not lam.is_positive:
        raise ValueError(wanted + ". Declare a symbol with positive=True")
    real = isinstance(lam, (int, float, np.integer, np.floating)) and not isinstance(lam, bool)
    if not (symbolic or exact or real):
        raise TypeError(wanted)
    try:
        lam = number_type(lam)(lam)
    except OverflowError:
        raise ValueError(wanted) from None
    if not (symbolic or (lam > 0 and (exact or math.isfinite(lam)))):
        raise ValueError(wanted)
    return lam


def check_t0(t0, number):
    """Validate the offset of the step size 1/(λ(t + t0)), a finite number >= 0; return it in the arithmetic of `number`."""
    wanted = f"t0, the offset of the step size, must be a finite number >= 0; got {shown(t0)}"
    if isinstance(t0, (bool, np.bool_, str, bytes)) or t0 is None or np.ndim(t0):
        raise TypeError(wanted)
    if _is_symbolic(t0) and (t0.is_negative or t0.is_finite is False):
        raise ValueError(wanted)
    try:
        t0 = number(t0)
    except (TypeError, ValueError, OverflowError) as error:
        raise (TypeError if isinstance(error, TypeError) else ValueError)(wanted) from None
    if (number is np.float64 and not np.isfinite(t0)) or (not _is_symbolic(t0) and t0 < 0):
        raise ValueError(wanted)
    return t0


def check_finite(step: int, *values) -> None:
    """Raise FloatingPointError after an overflow, with the step.

    If the loss has an unbounded derivative, step sizes 1/(λt) let the first iterates grow by the product of
    ‖[x, 1]‖²/(λt) − 1 before they settle. The algorithm is defined so; float64 cannot represent its numbers.
    """
    with np.errstate(invalid="ignore"):
        overflowed = any(value - value != 0 for value in values)  # for NaN and ±inf, in any arithmetic
    if overflowed:
        raise Overflow(
            f"the iterates overflowed float64 by step {step}: the step size 1/(lam*t) is too large in the first steps", *CURES
        )


def check_predictions(predictions: np.ndarray) -> np.ndarray:
    """Raise Overflow for the first prediction in float64 that is none; return them otherwise.

    Infinity is refused as NaN is: sums of large numbers of both signs may reach either, whatever the true sum is.
    """
    if predictions.dtype == np.float64 and not np.isfinite(predictions).all():
        row = np.flatnonzero(~np.isfinite(predictions))[0]
        raise Overflow(f"the prediction for row {row} (counted from 0) overflows float64", "rows")
    return predictions


def check_defined(what: str, *values) -> None:
    """Raise Overflow if numbers in float64 are NaN: large ones of both signs met."""
    if any(np.asarray(value).dtype == np.float64 and np.isnan(value).any() for value in values):
        raise Overflow(f"{what} overflows float64", "rows", "lam")
