"""Table 1 of the paper: four convex losses, each with the subderivative that the paper picks at a kink, and their facts.

A loss is two functions of two scalars, the prediction p and the label y. They use only arithmetic, comparisons and `math`, so
that one source serves floats (compiled or not), fractions and symbols. A user's own loss has the same shape:
`Loss("huber", value, derivative)`. All else that the project needs to know of a loss is a field of `Loss`, never its name.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import Any

GRID_BITS = 128
"""Exact runs round the log-loss and its derivative to multiples of 2^-128, since neither is rational."""


@dataclass(frozen=True)
class Loss:
    """Convex loss ℓ(p, y): the penalty for predicting p when the label is y.

    Parameters
    ----------
    name : str
    value : callable (p, y) -> ℓ(p, y)
    derivative : callable (p, y) -> ℓ'(p, y), one subderivative with respect to p
        Both take scalars. For float runs numba compiles the derivative, so keep to arithmetic, comparisons and `math`.
    binary : bool
        True if labels must be -1 or +1. The formulas hold for every real y (E6); reading the prediction as a
        classification needs the two signs, and 0/1 labels would silently switch half of the data off.
    slope_bound : number, optional
        L with |ℓ'(p, y)| <= L for all p and all labels in the domain. A loss without a bound needs a t0: steps of 1/(λt) may
        overshoot at first.
    kink : callable y -> p, optional
        The prediction at which the derivative jumps, if there is one. The loss is then linear on each side of it, and 0 there.
    curvature : callable g -> ℓ'', optional
        The second derivative where ℓ' = g, for a loss without a kink.
    conjugate : callable (g, y) -> ℓ*(g, y), optional
        The convex conjugate sup_p (g p − ℓ(p, y)) at 0 and at every slope g that the loss has or tends to; rational if ℓ is.
    probability : callable p -> P(y = +1), optional
        For an array of predictions, if the loss is the logarithm of a likelihood.
    formula : (str, str), optional
        ℓ and ℓ' in p and y as Table 1 prints them, in sympy's syntax: `value` and `derivative` are compared with it.
    scikit_learn : dict
        The parameters of scikit-learn's SGD estimators for this loss; empty if they lack it.
    exact : Loss, optional
        The loss to use in exact arithmetic, where `value` and `derivative` would leave it.

    Paper: Section 1, Table 1 (tab:losses).
    Cost: O(1).
    """

    name: str
    value: Callable[[Any, Any], Any]
    derivative: Callable[[Any, Any], Any]
    binary: bool = False
    slope_bound: Any = None
    kink: Callable[[Any], Any] | None = None
    curvature: Callable[[Any], Any] | None = None
    conjugate: Callable[[Any, Any], Any] | None = None
    probability: Callable[[Any], Any] | None = None
    formula: tuple[str, str] | None = None
    scikit_learn: dict[str, Any] = field(default_factory=dict, compare=False)
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


def log_on_grid(p, y):
    return _on_grid(lambda mp, s: mp.log1p(mp.exp(-s)), p, y)


def log_derivative_on_grid(p, y):
    return -Fraction(y) * _on_grid(lambda mp, s: 1 / (1 + mp.exp(s)), p, y)


def _on_grid(formula, p, y):
    """Round formula(py) to the nearest multiple of 2^-GRID_BITS; a function of the exact margin py and y alone."""
    mp, margin = _own_mpmath(), Fraction(p) * Fraction(y)
    mp.prec = 2 * GRID_BITS + int(abs(margin)).bit_length()
    value = formula(mp, mp.mpf(margin.numerator) / margin.denominator)
    return Fraction(int(mp.nint(value * 2**GRID_BITS)), 2**GRID_BITS)


@cache
def _own_mpmath():
    """Make one context, so that mpmath's global precision is left alone."""
    try:
        import mpmath
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "the log loss in exact arithmetic needs mpmath: pip install -e '.[proofs]' in a clone"
        ) from error
    return mpmath.MPContext()


def _label_itself(y):
    return y


def _conjugate_of_kink_at_label(g, y):
    return g * y


def _squared_curvature(g):
    return 1 + 0 * g


def _squared_conjugate(g, y):
    return g * y + g * g / 2


def _log_curvature(g):
    return abs(g) * (1 - abs(g))


def _log_conjugate(g, y):
    other = -g * y  # P(the label is −y), whose negative entropy this is
    return sum(share * math.log(share) for share in (other, 1 - other) if share)


def _logistic(p):
    import numpy as np

    e = np.exp(-abs(p))
    return np.where(p >= 0, 1, e) / (1 + e)


_ABSOLUTE = Loss(
    "absolute",
    absolute,
    absolute_derivative,
    slope_bound=1,
    kink=_label_itself,
    conjugate=_conjugate_of_kink_at_label,
    formula=("Abs(p - y)", "Piecewise((-1, p <= y), (1, True))"),
    scikit_learn={"loss": "epsilon_insensitive", "epsilon": 0.0},
)

_SQUARED = Loss(
    "squared",
    squared,
    squared_derivative,
    curvature=_squared_curvature,
    conjugate=_squared_conjugate,
    formula=("(p - y)**2/2", "p - y"),
    scikit_learn={"loss": "squared_error"},
)

_HINGE = Loss(
    "hinge",
    hinge,
    hinge_derivative,
    binary=True,
    slope_bound=1,
    kink=_label_itself,  # 1/y = y for y = ±1
    conjugate=_conjugate_of_kink_at_label,
    formula=("Max(1 - p*y, 0)", "Piecewise((-y, p*y <= 1), (0, True))"),
    scikit_learn={"loss": "hinge"},
)

_LOG = Loss(
    "log",
    log,
    log_derivative,
    binary=True,
    slope_bound=1,
    curvature=_log_curvature,
    conjugate=_log_conjugate,
    probability=_logistic,
    formula=("log(1 + exp(-p*y))", "-y/(1 + exp(p*y))"),
    scikit_learn={"loss": "log_loss"},
)

LOSSES = {
    loss.name: loss
    for loss in (
        _ABSOLUTE,
        _SQUARED,
        _HINGE,
        replace(_LOG, exact=replace(_LOG, value=log_on_grid, derivative=log_derivative_on_grid)),
    )
}
"""Losses of Table 1 by name, in its order; a loss that is added here is proved, compared, counted, drawn and offered."""

NAMES_ELSEWHERE = {"logistic": "log", "absolute_error": "absolute", "mae": "absolute", "mse": "squared"}
"""Names that other programs than scikit-learn have for these losses, or scikit-learn for its other estimators."""


def in_exact(loss: Loss) -> Loss:
    """Choose the loss for exact arithmetic: its `exact` form, or itself, guarded against floats unless it is built in.

    The guard raises TypeError when a value or derivative is a float.
    """
    if loss.exact is not None:
        return loss.exact
    if any((loss.value, loss.derivative) == (known.value, known.derivative) for known in LOSSES.values()):
        return loss
    return replace(
        loss,
        value=_guarded(loss.value, f"value of the loss {loss.name!r}"),
        derivative=_guarded(loss.derivative, f"derivative of the loss {loss.name!r}"),
    )


def _guarded(function, name: str):
    def exactly(p, y):
        result = function(p, y)
        if isinstance(result, float):
            raise TypeError(
                f"{name} must be an integer or a fraction in exact arithmetic; got the float {result!r}. "
                "Give Loss(exact=…) a form that returns no float"
            )
        return result

    return exactly


def get_loss(loss: "str | Loss") -> Loss:
    """Return one of the losses of Table 1 by its name, or the user's own `Loss` as it is."""
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, str) and loss in LOSSES:
        return LOSSES[loss]
    raise ValueError(f"loss must be one of {', '.join(map(repr, LOSSES))}, or a Loss; got {loss!r}{hint(loss)}")


def hint(loss) -> str:
    """Say how a loss is called here that has this name in scikit-learn or elsewhere; otherwise nothing."""
    names = {other.scikit_learn["loss"]: name for name, other in LOSSES.items() if other.scikit_learn} | NAMES_ELSEWHERE
    return f". It is called {names[loss]!r} here" if isinstance(loss, str) and loss in names else ""
