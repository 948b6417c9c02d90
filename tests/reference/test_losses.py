"""Table 1 (tab:losses): values, subderivatives, the choice at a kink, every fact of `Loss`, and floats where they break.

Every check is a function of a loss, so that the last section can show that it rejects mutants.
"""

import math
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction
from functools import cache
from itertools import product

import mpmath
import numpy as np
import pytest
import sympy

import efficient
import reference
from efficient.runs.algorithms import ALGORITHMS
from reference import LOSSES, Loss, Problem
from reference.losses import GRID_BITS, get_loss, in_exact

ABSOLUTE, SQUARED, HINGE, LOG = (LOSSES[name] for name in ("absolute", "squared", "hinge", "log"))

GRID = sorted({Fraction(i, j) for i in range(-6, 7) for j in (1, 2, 3)})
"""Small rationals; with labels among them they hit every kink and both its sides."""

DEFINITIONS = {  # Table 1: value, subderivative
    "absolute": (lambda p, y: max(p - y, y - p), lambda p, y: -1 if p <= y else 1),
    "squared": (lambda p, y: (p - y) ** 2 / 2, lambda p, y: p - y),
    "hinge": (lambda p, y: max(0, 1 - p * y), lambda p, y: -y if p * y <= 1 else 0),
}

STEP = Fraction(1, 2**20)
ROUNDING = Fraction(1, 2**GRID_BITS)

MP = mpmath.MPContext()
MP.prec = 600

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

every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=lambda loss: loss.name)


def labels(loss):
    """Labels in the domain."""
    return [Fraction(-1), Fraction(1)] if loss.binary else GRID


# the checks


def check_table(loss):
    """Value and derivative are those of Table 1, exactly and for every real label (E6), with its "≤" at the kink."""
    value, derivative = DEFINITIONS[loss.name]
    for p, y in product(GRID, GRID):
        assert loss.value(p, y) == value(p, y), (p, y)
        assert loss.derivative(p, y) == derivative(p, y), (p, y)
    for y in labels(loss) if loss.kink else ():
        kink = float(loss.kink(y))
        assert loss.derivative(kink, float(y)) == float(derivative(loss.kink(y), y))


def check_subgradient(loss):
    """ℓ(q) ≥ ℓ(p) + ℓ'(p)(q − p) for all p and q: convexity, and a valid subderivative at every kink."""
    exact = in_exact(loss)
    for y in labels(loss):
        values, slopes = ([function(p, y) for p in GRID] for function in (exact.value, exact.derivative))
        for (p, at_p, slope), (q, at_q) in product(zip(GRID, values, slopes, strict=True), zip(GRID, values, strict=True)):
            slack = 0 if loss.exact is None else ROUNDING * (2 + abs(q - p))
            assert at_q + slack >= at_p + slope * (q - p), (p, q, y)


def check_formula(loss):
    """Value and derivative are those of the printed formula for every real label; ℓ' is sympy's derivative off the kink."""
    exact, (P, Y) = in_exact(loss), sympy.symbols("p y", real=True)
    value, derivative = (sympy.sympify(text, locals={"p": P, "y": Y}) for text in loss.formula)
    slope = sympy.diff(value, P)
    for p, y in product(GRID[::3], {*GRID[::6], Fraction(1), Fraction(-1), Fraction(0)}):
        at = {P: sympy.Rational(p), Y: sympy.Rational(y)}
        pairs = [(exact.value(p, y), value), (exact.derivative(p, y), derivative)]
        if y in labels(loss) and not (loss.kink and p == loss.kink(y)):
            pairs.append((exact.derivative(p, y), slope))
        for ours, theirs in pairs:
            error = abs(sympy.N(sympy.sympify(ours) - theirs.subs(at), 60, maxn=1000))
            assert error <= (0 if loss.exact is None else ROUNDING * max(1, abs(y))), (p, y)


def check_slope_bound(loss):
    """|ℓ'| stays within the bound and comes near it; without a bound it exceeds any."""
    far = [sign * Fraction(2) ** power for sign in (-1, 1) for power in (3, 10)]
    steepest = max(abs(in_exact(loss).derivative(p, y)) for p, y in product([*GRID, *far], labels(loss)))
    if loss.slope_bound is None:
        assert steepest > 1000
    else:
        assert 0.99 * loss.slope_bound < steepest <= loss.slope_bound


def check_kink(loss):
    """Assert a jump at the kink, constant slopes on both sides, and the loss 0 there; no jump without a kink."""
    exact = in_exact(loss)
    for y in labels(loss):
        if loss.kink is None:
            assert all(exact.derivative(p + STEP, y) - exact.derivative(p - STEP, y) <= 4 * STEP for p in GRID)
        else:
            kink = loss.kink(y)
            low, high = ([exact.derivative(kink + sign * far, y) for far in (STEP, 1, 100)] for sign in (-1, 1))
            assert len(set(low)) == len(set(high)) == 1 and low[0] < high[0], y
            assert exact.value(kink, y) == 0


def check_curvature(loss):
    """Assert that the curvature is between the difference quotients of the derivative on both sides."""
    exact = in_exact(loss)
    for p, y in product(GRID, labels(loss)):
        before, here, after = (exact.derivative(p + step, y) for step in (-STEP, 0, STEP))
        left, right = sorted(((here - before) / STEP, (after - here) / STEP))
        assert left - Fraction(1, 10**6) <= loss.curvature(here) <= right + Fraction(1, 10**6), (p, y)


def check_conjugate(loss):
    """Fenchel and Young: ℓ(p) + ℓ*(g) ≥ g p, with equality where g = ℓ'(p); and −ℓ*(0) is the infimum of ℓ."""
    exact, rounding = in_exact(loss), 0 if loss.exact is None else 1e-12
    for y in labels(loss):
        for p in GRID:
            g = Fraction(exact.derivative(p, y))  # an int, where the loss is linear
            assert abs(exact.value(p, y) + loss.conjugate(g, y) - g * p) <= rounding, (p, y)
        lowest = min(exact.value(p, y) for p in [*GRID, Fraction(-1000), Fraction(1000)])
        assert abs(lowest + loss.conjugate(0, y)) <= rounding, y


def check_probability(loss):
    """ℓ(p, ±1) is minus the logarithm of the probability of the label."""
    p = np.array([-800.0, -40, -1, 0, 0.5, 40, 800])
    share = loss.probability(p)
    for each, positive in zip(p, share, strict=True):
        assert 0 <= positive <= 1
        assert math.exp(-loss.value(each, 1.0)) == pytest.approx(positive, rel=1e-12, abs=1e-300)
        assert math.exp(-loss.value(each, -1.0)) == pytest.approx(1 - positive, abs=1e-15)


def ulps(ours, exact):
    """Error in units of the last place; below the normal floats a unit is the smallest subnormal."""
    return float(abs(MP.mpf(float(ours)) - exact) / MP.mpf(np.spacing(abs(float(exact)))))


@cache
def log_oracle(margin):
    """Return the log-loss and minus its derivative at y = 1, for a margin that is a float or a Fraction."""
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
    """Assert that the exact log-loss is rational, the nearest multiple of 2^-128, and always the same, for any margin."""
    ratios = ((1, 3), (1, 1), (37, 1), (1, 2**200), (10**6, 7), (1001, 1), (3 * 2**300 + 1, 3))
    half = MP.mpf(2) ** -(GRID_BITS + 1) * (1 + MP.mpf(2) ** -50)
    for s, y in product([Fraction(0), *(Fraction(sign * a, b) for sign in (-1, 1) for a, b in ratios)], (-1, 1)):
        value, slope = log_oracle(s)
        for function, oracle in ((exact.value, value), (exact.derivative, -y * slope)):
            ours = function(s * y, Fraction(y))
            assert isinstance(ours, Fraction) and (ours * 2**GRID_BITS).denominator == 1, (s, y)
            assert abs(MP.mpf(ours.numerator) / ours.denominator - oracle) <= half, (s, y)
            assert function(s * y, Fraction(y)) == ours


FACTS = {
    "slope_bound": check_slope_bound,
    "kink": check_kink,
    "curvature": check_curvature,
    "conjugate": check_conjugate,
    "formula": check_formula,
    "probability": check_probability,
}
ALWAYS = ("slope_bound", "kink")
"""Facts that say something also where they are None."""


# the losses


@pytest.mark.parametrize("name", DEFINITIONS)
def test_loss_is_that_of_table_1(name):
    check_table(LOSSES[name])


@every_loss
def test_derivative_is_a_subgradient(loss):
    check_subgradient(loss)


@pytest.mark.parametrize("fact", FACTS)
@every_loss
def test_fact_is_true_of_value_and_derivative(loss, fact):
    if fact in ALWAYS or getattr(loss, fact) is not None:
        FACTS[fact](loss)


@every_loss
def test_loss_can_be_minimised_and_compared(loss):
    assert (loss.kink is None) != (loss.curvature is None)
    assert loss.formula and loss.conjugate


def test_log_floats_are_right_to_4_ulps():
    check_log_floats(LOG)


def test_log_grid_is_the_nearest():
    check_log_grid(LOG.exact)


def test_log_at_named_points():
    with np.errstate(all="raise", under="ignore"):
        assert LOG.value(0.0, 1) == math.log(2) and LOG.derivative(0.0, 1) == -0.5
        assert math.isclose(LOG.value(40.0, 1), 4.248354255291589e-18, rel_tol=1e-12)
        assert LOG.value(-1000.0, 1) == 1000 and LOG.value(1000.0, 1) == 0
        assert LOG.derivative(-1000.0, 1) == -1 and LOG.derivative(1000.0, -1) == 1 and LOG.derivative(1000.0, 1) == 0


def test_exact_log_leaves_the_global_precision_alone():
    before = mpmath.mp.prec
    first = LOG.exact.value(Fraction(1, 3), 1)
    with mpmath.workprec(20):
        assert LOG.exact.value(Fraction(1, 3), 1) == first
        LOG.exact.derivative(Fraction(10**9), 1)
        assert mpmath.mp.prec == 20
    assert mpmath.mp.prec == before


@every_loss
def test_labels_of_a_binary_loss_are_signs(loss):
    for each in (loss, loss.exact or loss):
        Problem([[1], [2]], [1, -1], each, Fraction(1))
        if loss.binary:
            with pytest.raises(ValueError, match=r"y must hold the labels -1 and \+1 .*1/2"):
                Problem([[1], [2]], [1, Fraction(1, 2)], each, Fraction(1))
        else:
            Problem([[1], [2]], [0.5, 17], each, Fraction(1))


def test_get_loss_knows_names_and_losses():
    for name, loss in LOSSES.items():
        assert get_loss(name) is loss and get_loss(loss) is loss
    for wrong in ("Hinge", "", None, 1, ["hinge"]):
        with pytest.raises(ValueError, match=f"one of {', '.join(map(repr, LOSSES))}"):
            get_loss(wrong)
    with pytest.raises(FrozenInstanceError):
        LOG.name = "other"


# losses of the user's own

X, Y, INDICES = [[1, 0, 2], [0, 3, 0], [0, 0, 0], [4, 0, 1]], [1, -1, 1, -1], [0, 1, 2, 3, 0, 2]


def run(loss, side, algorithm, lam):
    predictor = getattr(side, algorithm)(Problem(X, Y, loss, lam), INDICES)
    return [*predictor.w, predictor.b]


@pytest.mark.parametrize("lam", [0.5, Fraction(1, 2)], ids=["float", "exact"])
@every_loss
def test_renamed_copy_trains_to_the_same_bits(loss, lam):
    renamed = replace(loss, name="renamed")
    for side, algorithm in product((reference, efficient), ALGORITHMS):
        assert run(renamed, side, algorithm, lam) == run(loss, side, algorithm, lam)
    assert in_exact(renamed).derivative is in_exact(loss).derivative


@every_loss
def test_renamed_copy_has_the_same_minimum_to_the_bit(loss):
    for centred in (False, True):
        first, second = (
            reference.minimise(Problem(X, Y, each, 0.1), centred) for each in (loss, replace(loss, name="renamed"))
        )
        assert (first.value, first.gap, first.predictor.b) == (second.value, second.gap, second.predictor.b)
        assert (first.predictor.w == second.predictor.w).all()


def huber(delta):
    """Make the loss that is squared up to an error of delta, then linear."""

    def value(p, y):
        error = abs(p - y)
        return error * error / 2 if error <= delta else delta * (error - delta / 2)

    return Loss(
        "huber",
        value,
        lambda p, y: max(-delta, min(delta, p - y)),
        slope_bound=delta,
        curvature=lambda g: (abs(g) < delta) * 1,
        conjugate=lambda g, y: g * y + g * g / 2,
    )


@pytest.mark.parametrize("number", [float, Fraction])
def test_own_loss_trains_as_its_limits_do(number):
    lam, delta = number(1) / 2, number(1) / 1024

    def last(loss):
        return run(loss, reference, "sgd", lam)

    assert last(huber(number(10**9))) == last("squared")  # the linear parts are never reached
    # or nearly always: delta times the absolute loss, apart from its kink
    scaled = Loss("scaled", lambda p, y: delta * abs(p - y), lambda p, y: delta * ABSOLUTE.derivative(p, y))
    assert last(huber(delta)) == last(scaled) != last("absolute")


@pytest.mark.parametrize("fact", ["slope_bound", "kink", "curvature", "conjugate"])
def test_facts_of_an_own_loss_can_be_checked_too(fact):
    FACTS[fact](huber(Fraction(1)))


# every check rejects mutants


def naive_log_derivative(p, y):
    return -y / (1 + math.exp(p * y))


def log_derivative_by_cancellation(p, y):
    return -y * (1 - 1 / (1 + math.exp(-p * y))) if p * y >= 0 else naive_log_derivative(p, y)


def naive_log(p, y):
    return math.log(1 + math.exp(-p * y)) if p * y >= 0 else LOG.value(p, y)


def exact_log(**changes):
    return replace(LOG, exact=replace(LOG.exact, **changes))


MUTANTS = {
    "hinge, tie broken the other way": (check_table, replace(HINGE, derivative=lambda p, y: -y if p * y < 1 else 0)),
    "absolute, tie broken the other way": (check_table, replace(ABSOLUTE, derivative=lambda p, y: -1 if p < y else 1)),
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
    "squared, derivative doubled": (check_formula, replace(SQUARED, derivative=lambda p, y: 2 * (p - y))),
    "squared, both doubled": (check_formula, replace(SQUARED, formula=("(p - y)**2/2", "2*(p - y)"))),
    "hinge, sign": (check_formula, replace(HINGE, derivative=lambda p, y: -HINGE.derivative(p, y))),
    "hinge, printed with <": (check_formula, replace(HINGE, formula=(HINGE.formula[0], "Piecewise((-y, p*y < 1), (0, True))"))),
    "log, sign": (check_formula, exact_log(derivative=lambda p, y: -LOG.exact.derivative(p, y))),
    "absolute, bound too small": (check_slope_bound, replace(ABSOLUTE, slope_bound=0.5)),
    "log, bound too large": (check_slope_bound, replace(LOG, slope_bound=2)),
    "hinge, no bound": (check_slope_bound, replace(HINGE, slope_bound=None)),
    "squared, a bound": (check_slope_bound, replace(SQUARED, slope_bound=1)),
    "absolute, another kink": (check_kink, replace(ABSOLUTE, kink=lambda y: y + 1)),
    "hinge, no kink": (check_kink, replace(HINGE, kink=None)),
    "squared, a kink": (check_kink, replace(SQUARED, kink=lambda y: y)),
    "absolute, lifted at the kink": (check_kink, replace(ABSOLUTE, value=lambda p, y: abs(p - y) + 1)),
    "squared, curvature doubled": (check_curvature, replace(SQUARED, curvature=lambda g: 2)),
    "log, curvature without 1 − g": (check_curvature, replace(LOG, curvature=lambda g: abs(g))),
    "squared, conjugate without y": (check_conjugate, replace(SQUARED, conjugate=lambda g, y: g * g / 2)),
    "hinge, sign of the conjugate": (check_conjugate, replace(HINGE, conjugate=lambda g, y: -g * y)),
    "log, conjugate of one label": (check_conjugate, replace(LOG, conjugate=lambda g, y: LOG.conjugate(g, 1) if g < 0 else 0)),
    "squared, infimum below 0": (
        check_conjugate,
        replace(SQUARED, conjugate=lambda g, y: SQUARED.conjugate(g, y) if g else 1),
    ),
    "log, probability of the other label": (check_probability, replace(LOG, probability=lambda p: LOG.probability(-p))),
    "log, derivative overflows": (check_log_floats, replace(LOG, derivative=naive_log_derivative)),
    "log, derivative cancels": (check_log_floats, replace(LOG, derivative=log_derivative_by_cancellation)),
    "log, value cancels": (check_log_floats, replace(LOG, value=naive_log)),
    "log, value overflows": (check_log_floats, replace(LOG, value=lambda p, y: math.log1p(math.exp(-p * y)))),
    "exact log in floats": (check_log_grid, replace(LOG.exact, value=lambda p, y: Fraction(float(log_oracle(p * y)[0])))),
    "exact log, not the nearest": (
        check_log_grid,
        replace(LOG.exact, derivative=lambda p, y: LOG.exact.derivative(p, y) + Fraction(1, 2**GRID_BITS)),
    ),
}


@pytest.mark.parametrize(("check", "mutant"), MUTANTS.values(), ids=MUTANTS.keys())
def test_check_rejects_mutant(check, mutant):
    with pytest.raises((AssertionError, OverflowError)):
        check(mutant)
