"""Section "Introduction": Table 1, proved on the shipped losses for all real p, q and y, and the objective F."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import sympy
import z3

from reference import LOSSES, Loss, Predictor, Problem

from ..ledger import Entry, Job
from .branches import branches, with_symbolic_math
from .proof import Proof, jobs_of, proof
from .prover import Z3_EFFORT, Equation, Undecided, opaque
from .symbols import b, lam, y

FOR_ALL_REALS = "for all real p, q, y, on the shipped code"

P, Q, Y, ALPHA = z3.Reals("p q y alpha")

TABLE_1 = {
    "absolute": (lambda p, y: z3.If(p >= y, p - y, y - p), lambda p, y: z3.If(p <= y, z3.RealVal(-1), z3.RealVal(1))),
    "squared": (lambda p, y: (p - y) * (p - y) / 2, lambda p, y: p - y),
    "hinge": (lambda p, y: z3.If(1 - p * y > 0, 1 - p * y, 0), lambda p, y: z3.If(p * y <= 1, -y, z3.RealVal(0))),
}
"""Table 1 as printed, for z3; the log-loss has no formula there and is proved by its derivatives below."""


def as_formula(function, *numbers):
    """The shipped function at these z3 numbers, as nested if-then-elses over the ways through it."""
    formula = z3.RealVal(0)
    for conditions, value in branches(function, *numbers):
        here = z3.And([condition if answer else z3.Not(condition) for condition, answer in conditions])
        formula = z3.If(here, value if z3.is_expr(value) else z3.RealVal(value), formula)
    return formula


def violation(claim) -> str | None:
    """z3's counterexample to a claim; None if it has proved that there is none."""
    solver = z3.Solver()
    solver.set("rlimit", Z3_EFFORT)
    solver.add(z3.Not(claim))
    verdict = solver.check()
    if verdict == z3.unknown:
        raise Undecided(str(claim))
    return None if verdict == z3.unsat else str(solver.model())


def claims(name: str, loss: Loss) -> dict[str, z3.BoolRef]:
    """What Table 1 says of a loss without exponentials."""
    value, derivative = TABLE_1[name]
    at_p, at_q = as_formula(loss.value, P, Y), as_formula(loss.value, Q, Y)
    slope, between = as_formula(loss.derivative, P, Y), ALPHA * P + (1 - ALPHA) * Q
    chord = ALPHA * at_p + (1 - ALPHA) * at_q
    return {
        "the value is Table 1's": at_p == value(P, Y),
        "the subderivative is Table 1's, ties included": slope == derivative(P, Y),
        "subgradient inequality ℓ(q) >= ℓ(p) + ℓ'(p)(q − p)": at_q >= at_p + slope * (Q - P),
        "convex in p": z3.Implies(z3.And(ALPHA >= 0, ALPHA <= 1), as_formula(loss.value, between, Y) <= chord),
    }


def spoilt(loss: Loss) -> Iterator[Loss]:
    """The loss with a wrong derivative or value, each wrong in another way."""
    value, slope = loss.value, loss.derivative
    for wrong in (
        lambda p, y: -slope(p, y),
        lambda p, y: 2 * slope(p, y),
        lambda p, y: slope(p, y) + 1,
        lambda p, y: slope(p + 1, y),
        lambda p, y: slope(p, y + 1),
        lambda p, y: 0 * p,
        lambda p, y: p,
    ):
        yield Loss(loss.name, value, wrong)
    for wrong in (lambda p, y: -value(p, y), lambda p, y: value(p, y) + p, lambda p, y: value(p + 1, y), lambda p, y: 0 * p):
        yield Loss(loss.name, wrong, slope)
    yield Loss(loss.name, lambda p, y: -value(p, y), lambda p, y: -slope(p, y))  # concave, with its own derivative


def row(name: str) -> Iterator[Entry]:
    """A row of Table 1, and the wrong losses that it must refute, each claim at least one of them."""
    wrong = {claim: violation(formula) for claim, formula in claims(name, LOSSES[name]).items()}
    failures = [f"{claim}: {numbers}" for claim, numbers in wrong.items() if numbers is not None]
    broken = [{claim for claim, formula in claims(name, loss).items() if violation(formula)} for loss in spoilt(LOSSES[name])]
    failures += [f"no wrong loss breaks the claim: {claim}" for claim in wrong if not any(claim in each for each in broken)]
    refuted = sum(bool(each) for each in broken)
    yield Entry(
        "tab:losses",
        "value and subderivative are Table 1's, the subgradient inequality holds, the loss is convex in p",
        FOR_ALL_REALS,
        "; ".join(failures) or f"{len(wrong)} claims proved by z3, {refuted} of {len(broken)} wrong losses refuted",
        not failures and refuted == len(broken),
        loss=name,
        corruptions=len(broken),
        refuted=refuted,
    )


E = sympy.Symbol("E", positive=True)
"""exp(p y), so that d/dp E = y E."""


def _in_E(expression) -> sympy.Expr:
    p = sympy.Symbol("p", real=True)
    return sympy.expand(expression).subs({sympy.exp(p * y): E, sympy.exp(-p * y): 1 / E})


@proof("tab:losses", "log: both branches are log(1 + exp(−py)) and −y/(1 + exp(py)), its derivative; convex", FOR_ALL_REALS)
def log_loss():
    """E is exp(py). Values are compared through their exponentials; d/dp log(1 + 1/E) is taken with d/dp E = yE.

    The second derivative y² E/(1 + E)² is a square times positive numbers: convex, so the subgradient inequality holds.
    """
    p = sympy.Symbol("p", real=True)
    loss = LOSSES["log"]
    for conditions, value in branches(with_symbolic_math(loss.value), p, y):
        yield Equation(f"exp of the value where {conditions}", _in_E(sympy.exp(value)), 1 + 1 / E)
    for conditions, value in branches(with_symbolic_math(loss.derivative), p, y):
        yield Equation(f"the derivative where {conditions}", _in_E(value), -y / (1 + E))
    yield Equation("d/dp log(1 + 1/E)", sympy.diff(1 + 1 / E, E) * y * E / (1 + 1 / E), -y / (1 + E))
    yield Equation("d²/dp²", sympy.diff(-y / (1 + E), E) * y * E, y**2 * E / (1 + E) ** 2)


def _generic(m: int, n: int) -> tuple[Problem, np.ndarray, np.ndarray, Predictor]:
    """A problem of symbols with an opaque loss, its entries, its labels, and any predictor."""
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
    """The last step makes it a subgradient: F(w', b') − F(w, b) − ∇F · Δ − λ/2 ‖Δ‖² is the mean of the losses' own
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


PROOFS: tuple[Proof, ...] = (log_loss, objective, gradient)


def jobs() -> list[Job]:
    rows = [Job(("tab:losses",), f"Table 1: {name}", partial(row, name)) for name in TABLE_1]
    return [*jobs_of(*PROOFS), *rows]
