"""Beyond the paper: steps of 1/(λ(t + t0)) and averages with weights ω_t, by the same recurrences.

Every 1/t of the paper becomes 1/(t + t0), and in h, c and s it is multiplied by ω_t; the paper has t0 = 0 and ω = 1.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import sympy
import z3

from efficient import State
from reference import LOSSES, Problem
from reference.datasets import make_generic

from ..ledger import Entry, Job
from .proof import jobs_of, proof
from .prover import Equation, violation
from .symbols import a, b, before, c, g, gradient_step, h, lam, r, s, t, u, v, w, x, xbar

t0 = sympy.Symbol("t0", positive=True)
omega, total = sympy.symbols("omega total", real=True)
now = t + t0
"""t + t0, which stands where the paper has t."""

h_t, v_t, a_t = h + omega / now, v + g * x, a + g


@proof("lem:v", "with steps of 1/(λ(t + t0)): w_t = −v_t/(λ(t + t0)) and b_t = −a_t/(λ(t + t0))")
def offset_lemma():
    """Induction over t, as Lemma 1; w_0 = 0. For t >= 2, w_{t−1} = −v_{t−1}/(λ(t − 1 + t0)) is assumed."""
    yield Equation("t = 1: eq. 3 with 1 + t0 for t", gradient_step(0 * w, g, x, 1 + t0), -(g * x) / (lam * (1 + t0)))
    yield Equation("t", gradient_step(-v / (lam * (before + t0)), g, x, now), -v_t / (lam * now))
    yield Equation("t: the bias", gradient_step(-a / (lam * (before + t0)), g, 1, now), -a_t / (lam * now))


@proof("eqn:owDef", "with weights ω: Σ ω_j w_j = −(h v − u)/λ with h = Σ ω_j/(j + t0) and u = Σ h_{i−1} g_i x_i")
def weighted_mean():
    """Induction over t; h_0 = 0, so that ω_1 = 0 is allowed: then h_1 = 0. The mean is that sum over Σω."""
    first = omega / (1 + t0)
    yield Equation("t = 1: ω w_1", omega * gradient_step(0 * w, g, x, 1 + t0), -(first * (g * x) - 0 * g * x) / lam)
    yield Equation(
        "t: the sum grows by ω w_t",
        -(h_t * v_t - (u + h * g * x)) / lam,
        -(h * v - u) / lam + omega * (-v_t / (lam * now)),
    )
    yield Equation("the mean", (-(h * v - u) / lam) / total, -(h * v - u) / (lam * total))


@proof("eqn:obDef", "with weights ω: Σ ω_j b_j = −c/λ with c = Σ ω_j a_j/(j + t0)")
def weighted_bias():
    """Induction over t; b_t = −a_t/(λ(t + t0))."""
    yield Equation("t = 1", omega * gradient_step(0 * b, g, 1, 1 + t0), -(omega * g / (1 + t0)) / lam)
    yield Equation("t", -c / lam + omega * (-a_t / (lam * now)), -(c + omega * a_t / now) / lam)


@proof(
    "eqn:owCenterDef",
    "with weights ω, centred: Σ ω_j w_j = −(h v − u − c x̄)/λ and Σ ω_j b'_j = −s/λ with s = Σ ω_j r_j/(j + t0)",
)
def weighted_centred():
    """Induction over t; w_t = −(v_t − a_t x̄)/(λ(t + t0)), b'_t = −r_t/(λ(t + t0)). Here r is r_t."""
    yield Equation(
        "w_t", gradient_step(-(v - a * xbar) / (lam * (before + t0)), g, x - xbar, now), -(v_t - a_t * xbar) / (lam * now)
    )
    yield Equation(
        "Σ ω w",
        -(h_t * v_t - (u + h * g * x) - (c + omega * a_t / now) * xbar) / lam,
        -(h * v - u - c * xbar) / lam + omega * (-(v_t - a_t * xbar) / (lam * now)),
    )
    yield Equation("Σ ω b'", -s / lam + omega * (-r / (lam * now)), -(s + omega * r / now) / lam)


@proof("guarantee", "squared loss: a step maps w to (1 − ηλ) w − η (x · w − y) x, so that along x it scales by 1 − η(λ + ‖x‖²)")
def squared_step():
    """x is [x, 1]; α is the coefficient of w along x, w = α x + what is orthogonal to x, and q is ‖x‖². η = 1/(λ(t + t0))."""
    alpha, q, y = sympy.symbols("alpha q y", real=True)
    eta = 1 / (lam * now)
    yield Equation(
        "along x, apart from the label's pull",
        (1 - 1 / now) * alpha - (alpha * q - y) / (lam * now),
        (1 - eta * (lam + q)) * alpha + eta * y,
    )


def safe_steps() -> Iterator[Entry]:
    """z3, for every λ > 0, R² >= q >= 0 and t >= 1: the factor of a step, 1 − η(λ + q), and the two thresholds of t0."""
    lam_, q, R2, t_, t0_ = z3.Reals("lambda q R2 t t0")
    factor = 1 - (lam_ + q) / (lam_ * (t_ + t0_))
    given = [lam_ > 0, q >= 0, q <= R2, t_ >= 1, t0_ >= 0]
    step = t0_ == R2 / lam_
    claims = {  # what is claimed, and a stronger claim that must be refuted: the threshold lowered, or another step
        "t0 >= (R²/λ − 1)/2: no step on the squared loss is expansive, |1 − η(λ + q)| <= 1": (
            z3.Implies(t0_ >= (R2 / lam_ - 1) / 2, z3.And(factor <= 1, factor >= -1)),
            z3.Implies(t0_ >= z3.Q(9, 10) * (R2 / lam_ - 1) / 2, z3.And(factor <= 1, factor >= -1)),
        ),
        "t0 >= R²/λ: no step overshoots, 1 − η(λ + q) >= 0": (
            z3.Implies(t0_ >= R2 / lam_, z3.And(factor <= 1, factor >= 0)),
            z3.Implies(t0_ >= z3.Q(9, 10) * R2 / lam_, z3.And(factor <= 1, factor >= 0)),
        ),
        "t0 = R²/λ: the step is 1/(λt + R²)": (
            z3.Implies(step, lam_ * (t_ + t0_) == lam_ * t_ + R2),
            z3.Implies(step, lam_ * (t_ + t0_) == lam_ * (t_ + 1) + R2),
        ),
    }
    for claim, (true, stronger) in claims.items():
        numbers = violation(z3.Implies(z3.And(*given), true))
        refuted = violation(z3.Implies(z3.And(*given), stronger)) is not None
        figure = numbers or f"z3 proves it{', and refutes a stronger one' if refuted else ''}"
        evidence = "for all t >= 1, λ > 0 and rows"
        yield Entry(
            *("guarantee", claim, "proved", evidence, figure, numbers is None and refuted), mutants=1, refuted=int(refuted)
        )


def stream() -> Iterator[Entry]:
    """Rows that come in parts, each as wide as its own columns, against the same rows with all columns known beforehand."""
    X, y, _ = make_generic(12, 40, 4, seed=5)
    equal, parts = 0, [(0, 3), (3, 4), (4, 9), (9, 12)]
    for loss, algorithm in product(LOSSES, ("sgd", "asgd")):
        states: list[State] = []
        for low, high in parts:
            columns = int(X[low:high].indices.max()) + 1
            part = Problem(X[low:high, :columns], y[low:high], loss, Fraction(1, 20))
            states.append((states[-1].follow(part) if states else State(part, algorithm)).run(range(high - low)))
        known = State(Problem(X, y, loss, Fraction(1, 20)), algorithm).run(range(12))
        found, wanted = (each.average() if algorithm == "asgd" else each.last() for each in (states[-1], known))
        width = len(found.w)
        equal += bool((found.w == wanted.w[:width]).all() and not wanted.w[width:].any()) and found.b == wanted.b
    yield Entry(
        "alg:asgd",
        "a stream whose dimension is not known beforehand gives the predictor of the known one",
        "exact",
        "==",
        f"{equal} of {2 * len(LOSSES)} runs equal, four parts of 12 rows",
        equal == 2 * len(LOSSES),
    )


PROOFS = (offset_lemma, weighted_mean, weighted_bias, weighted_centred, squared_step)


def jobs() -> list[Job]:
    return [*jobs_of(*PROOFS), Job(("guarantee",), "safe steps", safe_steps), Job(("alg:asgd",), "streams", stream)]
