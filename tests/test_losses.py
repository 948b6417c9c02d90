"""Table 1 (tab:losses): values, subderivatives, the paper's choice at a kink, and floats where they break.

Every check is a function of a loss, so that the last section can show that it rejects wrong ones.
"""

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product

import mpmath
import numpy as np
import pytest
import sympy

import reference
from reference import LOSSES, Loss, Problem
from reference.losses import GRID_BITS, get_loss

ABSOLUTE, SQUARED, HINGE, LOG = (LOSSES[name] for name in ("absolute", "squared", "hinge", "log"))
PIECEWISE = [ABSOLUTE, SQUARED, HINGE]
"""The losses that stay within the rationals."""

GRID = sorted({Fraction(i, j) for i in range(-6, 7) for j in (1, 2, 3)})
"""Small rationals; with labels from LABELS they hit every kink and both its sides."""

LABELS = {loss.name: [Fraction(-1), Fraction(1)] if loss.binary else GRID for loss in LOSSES.values()}

DEFINITIONS = {  # Table 1: value, subderivative
    "absolute": (lambda p, y: max(p - y, y - p), lambda p, y: -1 if p <= y else 1),
    "squared": (lambda p, y: (p - y) ** 2 / 2, lambda p, y: p - y),
    "hinge": (lambda p, y: max(0, 1 - p * y), lambda p, y: -y if p * y <= 1 else 0),
}

P, Y = sympy.symbols("p y", real=True)
FORMULAS = {
    "absolute": sympy.Abs(P - Y),
    "squared": (P - Y) ** 2 / 2,
    "hinge": sympy.Max(0, 1 - P * Y),
    "log": sympy.log(1 + sympy.exp(-P * Y)),
}

MP = mpmath.MPContext()
MP.prec = 400

MARGINS = np.concatenate(
    [
        [0.0, 5e-324, 1e-300, 1e-17, 1e-8, 1.0],
        np.nextafter(1.0, [0.0, 2.0]),
        np.linspace(36, 38, 21),  # 1 + exp(-s) rounds to 1
        np.linspace(708, 746, 77),  # exp(s) overflows, exp(-s) becomes subnormal, then 0
        [1e3],
        np.random.default_rng(0).uniform(0, 1e3, 100),
        np.exp(np.random.default_rng(1).uniform(-40, 7, 100)),
    ]
)


# the checks


def check_table(loss):
    """Value and derivative are those of Table 1, exactly."""
    value, derivative = DEFINITIONS[loss.name]
    for p, y in product(GRID, LABELS[loss.name]):
        assert loss.value(p, y) == value(p, y), (p, y)
        assert loss.derivative(p, y) == derivative(p, y), (p, y)


def check_subgradient(loss, rounding=0):
    """ℓ(q) ≥ ℓ(p) + ℓ'(p)(q − p) for all p and q: convexity, and a valid subderivative at every kink."""
    for p, q, y in product(GRID, GRID, LABELS[loss.name]):
        slack = rounding * (2 + abs(q - p))
        assert loss.value(q, y) + slack >= loss.value(p, y) + loss.derivative(p, y) * (q - p), (p, q, y)


def check_ties(loss):
    """At its kink the loss takes the derivative from the left of the table's "≤"."""
    for y in LABELS[loss.name]:
        kink, derivative = (1 / y, -y) if loss.name == "hinge" else (y, -1)
        assert loss.derivative(kink, y) == derivative
        assert loss.derivative(float(kink), float(y)) == float(derivative)


def check_derivative_of_value(loss):
    """The value is the formula of Table 1, and the derivative its derivative according to sympy, off the kinks."""
    formula = FORMULAS[loss.name]
    slope = sympy.diff(formula, P)
    kink = {"hinge": lambda p, y: p * y == 1, "absolute": lambda p, y: p == y}.get(loss.name, lambda p, y: False)
    for p, y in product(GRID[::3], LABELS[loss.name][::3] if loss.name != "log" else LABELS["log"]):
        if kink(p, y):
            continue
        at = {P: sympy.Rational(p), Y: sympy.Rational(y)}
        for ours, exact in ((loss.value(p, y), formula.subs(at)), (loss.derivative(p, y), slope.subs(at))):
            error = abs(sympy.N(sympy.sympify(ours) - exact, 60, maxn=1000))
            assert error <= sympy.Rational(1, 2**GRID_BITS) if loss.name == "log" else ours == exact, (p, y)


def ulps(ours, exact):
    """The error in units of the last place; below the normal floats a unit is the smallest subnormal."""
    return float(abs(MP.mpf(float(ours)) - exact) / MP.mpf(np.spacing(abs(float(exact)))))


@cache
def log_oracle(margin):
    """The log-loss and minus its derivative at y = 1, for a margin that is a float or a Fraction."""
    s = MP.mpf(Fraction(margin).numerator) / Fraction(margin).denominator
    return MP.log1p(MP.exp(-s)), 1 / (1 + MP.exp(s))


def check_log_floats(loss):
    """Within 4 units in the last place of mpmath wherever floats break, with no warning and no overflow."""
    worst = []
    with np.errstate(all="raise", under="ignore"):
        for s, y in product(np.concatenate([-MARGINS, MARGINS]), (-1.0, 1.0)):
            value, slope = log_oracle(float(s))
            for number in (float, np.float64):
                p, label = number(s * y), number(y)
                worst.append((ulps(loss.value(p, label), value), "value", s, y))
                worst.append((ulps(loss.derivative(p, label), -int(y) * slope), "derivative", s, y))
    worst.sort(reverse=True)
    assert worst[0][0] <= 4, worst[:5]


def check_log_grid(exact):
    """The exact log-loss: rational results, the nearest multiples of 2^-128, always the same."""
    margins = [
        Fraction(sign * a, b) for sign in (-1, 1) for a, b in ((1, 3), (1, 1), (37, 1), (1, 2**200), (10**6, 7), (1001, 1))
    ]
    half = MP.mpf(2) ** -(GRID_BITS + 1) * (1 + MP.mpf(2) ** -50)
    for s, y in product([Fraction(0), *margins], (Fraction(-1), Fraction(1))):
        value, slope = log_oracle(s)
        for function, oracle in ((exact.value, value), (exact.derivative, -int(y) * slope)):
            ours = function(s * y, y)
            assert isinstance(ours, Fraction) and (ours * 2**GRID_BITS).denominator == 1, (s, y)
            assert abs(MP.mpf(ours.numerator) / ours.denominator - oracle) <= half, (s, y)
            assert function(s * y, y) == ours


# the four losses


@pytest.mark.parametrize("loss", PIECEWISE, ids=lambda loss: loss.name)
def test_table(loss):
    check_table(loss)


@pytest.mark.parametrize("loss", PIECEWISE, ids=lambda loss: loss.name)
def test_subgradient_inequality(loss):
    check_subgradient(loss)


def test_subgradient_inequality_of_the_log_loss():
    check_subgradient(LOG.exact, rounding=Fraction(1, 2**GRID_BITS))


@pytest.mark.parametrize("loss", [ABSOLUTE, HINGE], ids=lambda loss: loss.name)
def test_ties(loss):
    check_ties(loss)


@pytest.mark.parametrize("loss", [*PIECEWISE, LOG.exact], ids=lambda loss: loss.name)
def test_derivative_of_value(loss):
    check_derivative_of_value(loss)


def test_log_floats():
    check_log_floats(LOG)


def test_log_grid():
    check_log_grid(LOG.exact)


def test_log_at_named_points():
    with np.errstate(all="raise", under="ignore"):
        assert LOG.value(0.0, 1) == math.log(2) and LOG.derivative(0.0, 1) == -0.5
        assert math.isclose(LOG.value(40.0, 1), 4.248354255291589e-18, rel_tol=1e-12)
        assert LOG.value(-1000.0, 1) == 1000 and LOG.value(1000.0, 1) == 0
        assert LOG.derivative(-1000.0, 1) == -1 and LOG.derivative(1000.0, -1) == 1 and LOG.derivative(1000.0, 1) == 0


def test_global_precision_is_left_alone():
    before = mpmath.mp.prec
    first = LOG.exact.value(Fraction(1, 3), 1)
    with mpmath.workprec(20):
        assert LOG.exact.value(Fraction(1, 3), 1) == first
        LOG.exact.derivative(Fraction(10**9), 1)
        assert mpmath.mp.prec == 20
    assert mpmath.mp.prec == before


def test_labels():
    assert {name for name, loss in LOSSES.items() if loss.binary} == {"hinge", "log"}
    for loss in LOSSES.values():
        Problem([[1.0], [2.0]], [1, -1], loss, 1.0)
        if loss.binary:
            with pytest.raises(ValueError, match=r"y must hold the labels -1 and \+1 .*0\.5"):
                Problem([[1.0], [2.0]], [1, 0.5], loss, 1.0)
        else:
            Problem([[1.0], [2.0]], [0.5, 17], loss, 1.0)


def test_get_loss():
    for name, loss in LOSSES.items():
        assert get_loss(name) is loss and get_loss(loss) is loss
    for wrong in ("Hinge", "", None, 1, ["hinge"]):
        with pytest.raises(ValueError, match="'absolute', 'squared', 'hinge', 'log'"):
            get_loss(wrong)


def huber(delta):
    """Squared up to an error of delta, then linear."""

    def value(p, y):
        error = abs(p - y)
        return error * error / 2 if error <= delta else delta * (error - delta / 2)

    return Loss("huber", value, lambda p, y: max(-delta, min(delta, p - y)))


@pytest.mark.parametrize("number", [float, Fraction])
def test_a_loss_of_the_users_own(number):
    X, y, indices, lam = [[1, 0, 2], [0, 3, 0], [0, 0, 0], [4, 0, 1]], [1, -1, 3, -1], [0, 1, 2, 3, 0, 2], number(1) / 2

    def run(loss):
        predictor = reference.sgd(Problem(X, y, loss, lam), indices)
        return [*predictor.w, predictor.b]

    assert run(huber(number(10**9))) == run("squared")  # the linear parts are never reached
    delta = number(1) / 1024  # or nearly always: delta times the absolute loss, apart from its kink
    scaled = Loss("scaled", lambda p, y: delta * abs(p - y), lambda p, y: delta * ABSOLUTE.derivative(p, y))
    assert run(huber(delta)) == run(scaled) != run("absolute")


# every check rejects a wrong loss


def naive_log_derivative(p, y):
    return -y / (1 + math.exp(p * y))


def log_derivative_by_cancellation(p, y):
    return -y * (1 - 1 / (1 + math.exp(-p * y))) if p * y >= 0 else naive_log_derivative(p, y)


def naive_log(p, y):
    return math.log(1 + math.exp(-p * y)) if p * y >= 0 else LOG.value(p, y)


WRONG = {
    "hinge, tie broken the other way": (check_ties, replace(HINGE, derivative=lambda p, y: -y if p * y < 1 else 0)),
    "absolute, tie broken the other way": (check_ties, replace(ABSOLUTE, derivative=lambda p, y: -1 if p < y else 1)),
    "absolute, 0 at the kink": (check_table, replace(ABSOLUTE, derivative=lambda p, y: int(p > y) - int(p < y))),
    "hinge, y forgotten": (check_table, replace(HINGE, derivative=lambda p, y: -1 if p * y <= 1 else 0)),
    "hinge, kink at 0": (check_table, replace(HINGE, value=lambda p, y: max(0, -p * y))),
    "squared, no half": (check_table, replace(SQUARED, value=lambda p, y: (p - y) ** 2)),
    "absolute, too steep": (check_subgradient, replace(ABSOLUTE, derivative=lambda p, y: 2 * ABSOLUTE.derivative(p, y))),
    "absolute, steep at the kink": (
        check_subgradient,
        replace(ABSOLUTE, derivative=lambda p, y: -2 if p == y else (p > y) * 2 - 1),
    ),
    "hinge, derivative of another kink": (check_subgradient, replace(HINGE, derivative=lambda p, y: -y if p * y <= 0 else 0)),
    "squared, not convex": (check_subgradient, replace(SQUARED, value=lambda p, y: -SQUARED.value(p, y))),
    "squared, derivative doubled": (check_derivative_of_value, replace(SQUARED, derivative=lambda p, y: 2 * (p - y))),
    "hinge, sign": (check_derivative_of_value, replace(HINGE, derivative=lambda p, y: -HINGE.derivative(p, y))),
    "log, sign": (check_derivative_of_value, replace(LOG.exact, derivative=lambda p, y: -LOG.exact.derivative(p, y))),
    "log, derivative overflows": (check_log_floats, replace(LOG, derivative=naive_log_derivative)),
    "log, derivative cancels": (check_log_floats, replace(LOG, derivative=log_derivative_by_cancellation)),
    "log, value cancels": (check_log_floats, replace(LOG, value=naive_log)),
    "log, value overflows": (check_log_floats, replace(LOG, value=lambda p, y: math.log1p(math.exp(-p * y)))),
    "exact log in floats": (check_log_grid, replace(LOG.exact, value=lambda p, y: Fraction(LOG.value(p, y)))),
    "exact log, not the nearest": (
        check_log_grid,
        replace(LOG.exact, derivative=lambda p, y: LOG.exact.derivative(p, y) + Fraction(1, 2**GRID_BITS)),
    ),
}


@pytest.mark.parametrize(("check", "wrong"), WRONG.values(), ids=WRONG.keys())
def test_checks_reject_wrong_losses(check, wrong):
    with pytest.raises((AssertionError, OverflowError)):
        check(wrong)
