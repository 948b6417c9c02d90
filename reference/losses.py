"""Table 1 of the paper: four convex losses, each with the subderivative that the paper picks at a kink.

A loss is two functions of two scalars, the prediction p and the label y. They use only arithmetic, comparisons
and `math`, so that one source serves floats (compiled or not), fractions and symbols. A user's own loss has the
same shape: `Loss("huber", value, derivative)`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

GRID_BITS = 128
"""Exact runs round the log-loss and its derivative to multiples of 2^-128, since neither is rational."""


@dataclass(frozen=True)
class Loss:
    """A convex loss ℓ(p, y): the penalty for predicting p when the label is y.

    Parameters
    ----------
    name : str
    value : callable (p, y) -> ℓ(p, y)
    derivative : callable (p, y) -> ℓ'(p, y), one subderivative with respect to p
        Both take scalars. For float runs numba compiles the derivative, so keep to arithmetic, comparisons and `math`.
    binary : bool
        Whether labels must be -1 or +1. The formulas hold for every real y (E6); reading the prediction as a
        classification needs the two signs, and 0/1 labels would silently switch half of the data off.
    exact : Loss, optional
        The loss to use in exact arithmetic, where `value` and `derivative` would leave it.

    Paper: Section 1, Table 1 (tab:losses).
    Cost: O(1).
    """

    name: str
    value: Callable[[Any, Any], Any]
    derivative: Callable[[Any, Any], Any]
    binary: bool = False
    exact: "Loss | None" = None


def absolute(p, y):
    return abs(p - y)


def absolute_derivative(p, y):
    return -1 if p <= y else 1


def squared(p, y):
    return (p - y) * (p - y) / 2


def squared_derivative(p, y):
    return p - y


def hinge(p, y):
    return max(0, 1 - p * y)


def hinge_derivative(p, y):
    return -y if p * y <= 1 else 0


def log(p, y):
    # log(1 + exp(-py)), with the exponential of a number that is never positive: no overflow, no lost digits
    near = math.log1p(math.exp(-abs(p * y)))
    return near if p * y >= 0 else near - p * y


def log_derivative(p, y):
    # -y / (1 + exp(py)), likewise
    e = math.exp(-abs(p * y))
    return -y * (e if p * y >= 0 else 1) / (1 + e)


@cache
def _mp():
    import mpmath

    return mpmath.MPContext()  # a context of our own: mpmath's global precision is nobody's business


def _on_grid(formula, p, y):
    """Round formula(py) to the nearest multiple of 2^-GRID_BITS; a function of the exact margin py and y alone."""
    mp, margin = _mp(), Fraction(p) * Fraction(y)
    mp.prec = 2 * GRID_BITS + int(abs(margin)).bit_length()
    value = formula(mp, mp.mpf(margin.numerator) / margin.denominator)
    return Fraction(int(mp.nint(value * 2**GRID_BITS)), 2**GRID_BITS)


def log_on_grid(p, y):
    return _on_grid(lambda mp, s: mp.log1p(mp.exp(-s)), p, y)


def log_derivative_on_grid(p, y):
    return -Fraction(y) * _on_grid(lambda mp, s: 1 / (1 + mp.exp(s)), p, y)


ABSOLUTE = Loss("absolute", absolute, absolute_derivative)
SQUARED = Loss("squared", squared, squared_derivative)
HINGE = Loss("hinge", hinge, hinge_derivative, binary=True)
LOG = Loss("log", log, log_derivative, binary=True, exact=Loss("log", log_on_grid, log_derivative_on_grid, binary=True))

LOSSES = {loss.name: loss for loss in (ABSOLUTE, SQUARED, HINGE, LOG)}


def in_exact(loss: Loss) -> Loss:
    """The loss to use in exact arithmetic: its `exact` twin, or itself as long as it returns no float."""
    if loss.exact is not None:
        return loss.exact
    if loss in LOSSES.values():
        return loss

    name = loss.name

    def guarded(function, what):
        def exactly(p, y):
            result = function(p, y)
            if isinstance(result, float):
                raise TypeError(
                    f"the {what} of the loss {name!r} returned the float {result!r} in exact arithmetic: "
                    "use integers and fractions only, or give Loss(exact=…) a twin that does"
                )
            return result

        return exactly

    return replace(loss, value=guarded(loss.value, "value"), derivative=guarded(loss.derivative, "derivative"))


def get_loss(loss: "str | Loss") -> Loss:
    """One of the four losses of Table 1 by its name, or the user's own `Loss` as it is."""
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, str) and loss in LOSSES:
        return LOSSES[loss]
    raise ValueError(f"loss must be one of {', '.join(map(repr, LOSSES))}, or a Loss; got {loss!r}")
