"""Section "Introduction": prove Table 1 and the facts of every built-in loss on the shipped code, and the objective F."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import sympy

from reference import LOSSES, Loss, Predictor, Problem

from ..ledger import Entry, Job
from .branches import with_symbolic_math
from .formulas import Reading, borders, labels
from .proof import jobs_of, proof
from .prover import Equation, opaque, to_z3, violation, z3
from .symbols import b, g, lam, p, y

FOR_ALL_REALS = "for all real p, q, y, on the shipped code"

q, alpha, slope_1, slope_2 = sympy.symbols("q alpha p_1 p_2", real=True)
CLAIM = "value and subderivative are Table 1's, the subgradient inequality holds, the loss is convex in p"
FACTS = "its facts hold: kink or curvature, and convex conjugate"


def claims(loss: Loss) -> dict[str, z3.BoolRef]:
    """State what Table 1 says of a loss; where it has exponentials, the last two by derivatives."""
    read = Reading(loss)
    at_p, slope = read.shipped(loss.value, p, y), read.shipped(loss.derivative, p, y)
    stated = {
        "the value is Table 1's": at_p == read.formula(read.value),
        "the subderivative is Table 1's, ties included": slope == read.formula(read.derivative),
    }
    if read.exponential:
        stated["the subderivative is the derivative"] = read.shipped(loss.value, p, y, change=derivative) == slope
        stated["convex in p: ℓ'' >= 0"] = read.shipped(loss.derivative, p, y, change=derivative) >= 0
    else:
        at_q, between = read.shipped(loss.value, q, y), read.shipped(loss.value, alpha * p + (1 - alpha) * q, y)
        P, Q, ALPHA = map(to_z3, (p, q, alpha))
        stated["subgradient inequality ℓ(q) >= ℓ(p) + ℓ'(p)(q − p)"] = at_q >= at_p + slope * (Q - P)
        chord = ALPHA * at_p + (1 - ALPHA) * at_q
        stated["convex in p"] = z3.Implies(z3.And(ALPHA >= 0, ALPHA <= 1), between <= chord)
    return {claim: z3.Implies(read.known, formula) for claim, formula in stated.items()}


def derivative(expression: sympy.Expr) -> sympy.Expr:
    return sympy.diff(expression, p)


def facts(loss: Loss) -> dict[str, z3.BoolRef]:
    """State the facts that a loss has as fields, for the labels in its domain."""
    stated: dict[str, list[z3.BoolRef]] = {}
    for label in labels(loss):
        read = Reading(loss, label)
        for claim, formula in (*_shape(loss, read, label), *_conjugate(loss, read, label)):
            stated.setdefault(claim, []).append(z3.Implies(read.known, formula))
    return {claim: z3.And(formulas) for claim, formulas in stated.items()}


def _shape(loss: Loss, read: Reading, label) -> Iterator[tuple[str, z3.BoolRef]]:
    """Return a kink with straight sides, or a derivative without a jump and its own derivative."""
    P, Q = to_z3(p), to_z3(q)
    value, slope = read.shipped(loss.value, p, label), read.shipped(loss.derivative, p, label)
    if loss.kink is not None:
        kink = sympy.sympify(loss.kink(label))
        at, left, right = read.formula(kink), *(read.shipped(loss.derivative, kink + side, label) for side in (-1, 1))
        sides = z3.And(z3.Implies(at >= P, value == left * (P - at)), z3.Implies(at <= P, value == right * (P - at)))
        yield "linear on each side of the kink, 0 there, and the derivative jumps", z3.And(sides, left < right)
        if loss.name in TIES:
            yield "at the kink ℓ' is what Table 1 prints", read.shipped(loss.derivative, kink, label) == TIES[loss.name](label)
        return
    if not read.exponential:
        jump = read.shipped(loss.derivative, q, label) - slope
        yield "no kink: ℓ' is Lipschitz", z3.Implies(P <= Q, jump <= STEEP * (Q - P))
    if loss.curvature is not None:
        inside = z3.And([read.formula(sympy.Ne(each, 0)) for each in borders(read.derivative)])
        curvature = read.shipped(loss.curvature, read.derivative)
        yield (
            "the curvature is the derivative of ℓ'",
            z3.Implies(inside, curvature == read.formula(derivative(read.derivative))),
        )


TIES: dict[str, Callable] = {"absolute": lambda y: -1, "hinge": lambda y: -y}
"""ℓ' at the kink, where Table 1 has p <= y and py <= 1."""

STEEP = 1000
"""Lipschitz constant above that of any ℓ' here; a jump has none."""


def _conjugate(loss: Loss, read: Reading, label) -> Iterator[tuple[str, z3.BoolRef]]:
    """Fenchel and Young: ℓ(q) + ℓ*(g) >= g q for every slope g between two of the loss, with equality at g = ℓ'(q)."""
    if loss.conjugate is None:
        return
    at_slope = read.shipped(loss.conjugate, read.derivative, label)
    yield "ℓ(p) + ℓ*(ℓ'(p)) = ℓ'(p) p", at_slope == read.formula(read.derivative * p - read.value)
    if not read.exponential:
        slope = to_z3(g)
        low, high = (read.shipped(loss.derivative, each, label) for each in (slope_1, slope_2))
        above = read.shipped(loss.conjugate, g, label) + read.shipped(loss.value, q, label) >= slope * to_z3(q)
        yield "ℓ(q) + ℓ*(g) >= g q", z3.Implies(z3.And(low <= slope, slope <= high), above)


def mutants(loss: Loss) -> Iterator[Loss]:
    """Make the derivative or the value wrong, each time in another way."""
    value, slope = with_symbolic_math(loss.value), with_symbolic_math(loss.derivative)
    for wrong in (
        lambda p, y: -slope(p, y),
        lambda p, y: 2 * slope(p, y),
        lambda p, y: slope(p, y) + 1,
        lambda p, y: slope(p + 1, y),
        lambda p, y: slope(p, y + 1),
        lambda p, y: 0 * p,
        lambda p, y: p,
    ):
        yield replace(loss, derivative=wrong)
    for wrong in (lambda p, y: -value(p, y), lambda p, y: value(p, y) + p, lambda p, y: value(p + 1, y), lambda p, y: 0 * p):
        yield replace(loss, value=wrong)
    yield replace(loss, value=lambda p, y: -value(p, y), derivative=lambda p, y: -slope(p, y))  # concave


def mutants_of_facts(loss: Loss) -> Iterator[Loss]:
    """Make a fact wrong, each time in another way."""
    if (kink := loss.kink) is not None:
        yield replace(loss, kink=lambda y: kink(y) + 1)
        yield replace(loss, kink=None, curvature=lambda g: 0 * g)
        slope = with_symbolic_math(loss.derivative)
        yield replace(  # the other side of the kink
            loss, derivative=lambda p, y: slope(kink(y) - 1, y) + slope(kink(y) + 1, y) - slope(2 * kink(y) - p, y)
        )
    if (curvature := loss.curvature) is not None:
        curvature = with_symbolic_math(curvature)
        yield replace(loss, curvature=lambda g: 2 * curvature(g))
        yield replace(loss, curvature=lambda g: curvature(g) + 1)
        yield replace(loss, kink=lambda y: y)
    if loss.kink is None and not Reading(loss).exponential:
        slope = loss.derivative
        yield replace(loss, derivative=lambda p, y: slope(p, y) + (1 if p > y else 0))
    if (conjugate := loss.conjugate) is not None:
        conjugate = with_symbolic_math(conjugate)
        yield replace(loss, conjugate=lambda g, y: conjugate(g, y) + 1)
        yield replace(loss, conjugate=lambda g, y: conjugate(g, y) - 1)
        yield replace(loss, conjugate=lambda g, y: 2 * conjugate(g, y))


def judge(name: str, claim: str, state: Callable, mutants: Callable) -> Iterator[Entry]:
    """Prove what is stated of a loss, and refute it of every mutant; each statement must fail for at least one of them."""
    loss = LOSSES[name]
    wrong = {stated: violation(formula) for stated, formula in state(loss).items()}
    failures = [f"{stated}: {numbers}" for stated, numbers in wrong.items() if numbers is not None]
    broken = [{stated for stated, formula in state(mutant).items() if violation(formula)} for mutant in mutants(loss)]
    failures += [f"no mutant breaks the claim: {stated}" for stated in wrong if not any(stated in each for each in broken)]
    refuted = sum(bool(each) for each in broken)
    figure = "; ".join(failures) or f"{len(wrong)} claims proved by z3, {refuted} of {len(broken)} mutants refuted"
    holds = not failures and refuted == len(broken)
    yield Entry("tab:losses", claim, "proved", FOR_ALL_REALS, figure, holds, loss=name, mutants=len(broken), refuted=refuted)


def _generic(m: int, n: int) -> tuple[Problem, np.ndarray, np.ndarray, Predictor]:
    """Return a problem of symbols with an opaque loss, its entries, its labels, and any predictor."""
    x = np.array([[sympy.Symbol(f"x{i}{j}", real=True) for j in range(n)] for i in range(m)], dtype=object)
    labels = np.array([sympy.Symbol(f"y{i}", real=True) for i in range(m)], dtype=object)
    weights = np.array([sympy.Symbol(f"w{j}", real=True) for j in range(n)], dtype=object)
    return Problem(x, labels, Loss("any", opaque("ell"), opaque("dell")), lam), x, labels, Predictor(weights, b)


@proof("eqn:objective", "the shipped F is λ/2 (‖w‖² + b²) + (1/m) Σ ℓ(w · x_i + b, y_i)", "on the shipped code, m = 3, n = 2")
def objective():
    """All entries, labels, weights and the loss are unknowns; centred, w · (x_i − x̄) + b, with b = b' + w · x̄ regularised."""
    problem, x, labels, predictor = _generic(3, 2)
    ell, (w0, w1) = problem.loss.value, predictor.w
    losses = [ell(x[i] @ predictor.w + b, labels[i]) for i in range(3)]
    yield Equation("F", problem.objective(predictor), lam / 2 * (w0**2 + w1**2 + b**2) + sum(losses) / 3)
    explicit = b + w0 * (x[0, 0] + x[1, 0] + x[2, 0]) / 3 + w1 * (x[0, 1] + x[1, 1] + x[2, 1]) / 3
    centred = lam / 2 * (w0**2 + w1**2 + explicit**2) + sum(losses) / 3
    yield Equation("the centred F", problem.objective(predictor, centred=True), centred)


@proof("eqn:gradient", "the shipped subgradient is λ[w, b] + (1/m) Σ ℓ'(p_i, y_i)[x_i, 1]", "on the shipped code, m = 3, n = 2")
def gradient():
    """Yield last what makes it a subgradient: F(w', b') − F(w, b) − ∇F · Δ − λ/2 ‖Δ‖² is the mean of the losses' own
    ℓ(p') − ℓ(p) − ℓ'(p)(p' − p), which Table 1 proves to be >= 0.
    """
    problem, x, labels, predictor = _generic(3, 2)
    ell, slope, (w0, w1) = problem.loss.value, problem.loss.derivative, predictor.w
    dw, db = problem.subgradient(predictor)
    p = [x[i] @ predictor.w + b for i in range(3)]
    g = [slope(p[i], labels[i]) for i in range(3)]
    for j in range(2):
        yield Equation(f"∂w_{j}", dw[j], lam * predictor.w[j] + sum(g[i] * x[i, j] for i in range(3)) / 3)
    yield Equation("∂b", db, lam * b + sum(g) / 3)
    d0, d1, e = sympy.symbols("d0 d1 e", real=True)
    moved = Predictor(np.array([w0 + d0, w1 + d1], dtype=object), b + e)
    q = [x[i] @ moved.w + moved.b for i in range(3)]
    rest = problem.objective(moved) - problem.objective(predictor) - dw[0] * d0 - dw[1] * d1 - db * e
    yield Equation(
        "the subgradient inequality of F is the mean of those of the losses",
        rest - lam / 2 * (d0**2 + d1**2 + e**2),
        sum(ell(q[i], labels[i]) - ell(p[i], labels[i]) - g[i] * (x[i, 0] * d0 + x[i, 1] * d1 + e) for i in range(3)) / 3,
    )


PROOFS = (objective, gradient)


def jobs() -> list[Job]:
    rows = [(CLAIM, claims, mutants), (FACTS, facts, mutants_of_facts)]
    return [
        *jobs_of(*PROOFS),
        *(Job(("tab:losses",), f"Table 1: {name}", partial(judge, name, *row)) for name in LOSSES for row in rows),
    ]
