"""Symbolic execution of the shipped loops: the induction step at a symbolic t, the first step, and whole runs.

The induction hands a loop a symbolic state that satisfies the invariants after t − 1 steps and lets it take one step on a
row of generic entries; the invariants must hold after t. ℓ' is any number, and so are the example's weight, the offset t0 of
the step size and the weight ω of the iterate in the mean: the paper's case is weight = ω = 1 and t0 = 0.
"""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import sympy

import reference
from efficient.runs.algorithms import Algorithm, Mean
from reference import Loss, Problem
from reference.rows import Rows

from .prover import Equation

LAYOUTS = ((1, (0,)), (2, (0, 1)), (4, (1, 3)), (12, (0, 1, 3, 4, 5, 7, 8, 10, 11)))
"""(n, stored columns) of the row: with and without gaps, and long enough for the dot product to go round its four partial
sums twice and on. In the last one only the prediction and the vectors are looked at."""


class Step(NamedTuple):
    """One step of a loop on symbols: the state before and after by the paper's letters, the row, p and its derivative's p.

    g is the derivative times the example's weight; t0 and omega are as in the loop.
    """

    g: Any
    t0: Any
    omega: Any
    x: np.ndarray
    xbar: np.ndarray
    theta: Any
    before: dict[str, Any]
    after: dict[str, Any]
    p: Any
    asked: Any


Unknowns = Callable[[str], Any]
"""Maker of an unknown from a name: a symbol for a proof, or its number at one rational point, to refute quickly."""


def symbols(name: str) -> sympy.Symbol:
    positive = name.startswith(("lambda", "tau", "t0", "omega"))
    return sympy.Symbol(name, **({"positive": True} if positive else {"real": True}))


def vector(unknown: Unknowns, name: str, n: int) -> np.ndarray:
    vector = np.empty(n, dtype=object)
    vector[:] = [unknown(f"{name}{j + 1}") for j in range(n)]
    return vector


def take_step(algorithm: Algorithm, n: int, columns: tuple[int, ...], first: bool, unknown: Unknowns, slope) -> Step:
    """Run the loop for one step: step 1 from nothing, or step t from a symbolic state with z = v · x̄ and r = aθ − z.

    The row has unknowns in the stored columns and 0 in the others; `slope` is ℓ'.
    """
    lam, weight, t0, omega = (unknown(name) for name in ("lambda", "weight", "t0", "omega"))
    stored = vector(unknown, "x", len(columns))
    x = np.zeros(n, dtype=object)
    x[list(columns)] = stored
    xbar = vector(unknown, "xbar", n) if algorithm.centred else np.zeros(n, dtype=object)
    theta = 1 + xbar @ xbar
    if first:
        state: dict[str, Any] = {name: np.zeros(n, dtype=object) for name in algorithm.vectors}
        state |= dict.fromkeys(algorithm.scalars, 0 * lam)
    else:
        state = {name: vector(unknown, name, n) for name in algorithm.vectors}
        state |= {name: unknown(name) for name in algorithm.scalars}
        if algorithm.centred:
            state["z"] = state["v"] @ xbar
            state["r"] = state["a"] * theta - state["z"]
    asked = []

    def dloss(p, label):
        asked.append(p)
        return slope

    other = [unknown("other"), *stored]  # of a row before it
    rows = Rows(np.array(other, dtype=object), np.array([0, *columns]), np.array([0, 1, 1 + len(columns)]), n)
    vectors = [state[name].copy() for name in algorithm.vectors]
    scalars = [state[name] for name in algorithm.scalars]
    mean = (xbar, theta, ()) if algorithm.centred else ()
    averaging = ([omega],) if algorithm.average else ()
    taken = 0 * lam if first else unknown("tau")
    t_after, *scalars, p, g = algorithm.steps(
        *(rows, [0, unknown("y")], [0, weight], lam, dloss, [1], t0, *averaging, *mean, taken, *vectors, *scalars)
    )
    after = dict(zip((*algorithm.vectors, *algorithm.scalars), (*vectors, *scalars), strict=True))
    return Step(weight * slope, t0, omega, x, xbar, theta, {"t": taken, **state}, {"t": t_after, "g": g, **after}, p, asked[0])


def predictor(recovery, lam, t0, state: dict[str, Any], xbar: np.ndarray) -> tuple[np.ndarray, Any]:
    """Apply the shipped recovery to a state."""
    recover, parts = recovery
    return recover(lam, state["t"] + t0, *(xbar if part == "xbar" else state[part] for part in parts))


def induction(algorithm: Algorithm, unknown: Unknowns = symbols) -> Iterator[tuple[str, Equation]]:
    """(label, step) for each invariant, at step 1 and at step t from the invariants at t − 1."""
    lam, slope = unknown("lambda"), unknown("slope")
    if algorithm.mean is not None:
        yield from (("alg", step) for step in centre(algorithm.mean, unknown))
    for (n, columns), first, derivative in product(LAYOUTS, (True, False), (slope, 0 * lam)):
        step = take_step(algorithm, n, columns, first, unknown, derivative)
        g, t0, old, new = step.g, step.t0, step.before, step.after
        mutate = n <= 2 and derivative != 0  # the formulas of wider rows have more places to mutate, of the same kinds
        at = f"{'t = 1' if first else 't'}, {len(columns)} of {n} columns{', g = 0' if derivative == 0 else ''}: "
        w, b = (np.zeros(n, dtype=object), 0) if first else predictor(algorithm.last, lam, t0, old, step.xbar)
        yield "eqn:pCenterDef", Equation(at + "p", step.p, w @ step.x + b, mutate)
        for j in range(n):
            yield "eqn:gradSum", Equation(at + f"v_{j}", new["v"][j], old["v"][j] + g * step.x[j], mutate)
            if algorithm.average is not None:
                yield "eqn:buDef", Equation(at + f"u_{j}", new["u"][j], old["u"][j] + old["h"] * g * step.x[j], mutate)
        if (n, columns) != LAYOUTS[-1]:
            for label, equation in _rest_of_the_step(algorithm, step, w, b, at, unknown):
                yield label, equation._replace(mutate=mutate)


def centre(mean: Mean, unknown: Unknowns) -> Iterator[Equation]:
    """Lines 2 and 3 of Algorithm 3 on two rows with gaps: x̄ and θ; the rows are added up in two parts."""
    x, weight = vector(unknown, "x", 4), vector(unknown, "weight", 2)
    rows = Rows(x, np.array([0, 2, 1, 2]), np.array([0, 2, 4]), 4)
    xbar = np.zeros(4, dtype=object)
    theta = mean.centre(xbar, mean.add_up(rows, weight, 1, 2, xbar, mean.add_up(rows, weight, 0, 1, xbar, 0 * x[0])))
    total = weight[0] + weight[1]
    wanted = [weight[0] * x[0], weight[1] * x[2], weight[0] * x[1] + weight[1] * x[3], 0]
    for j in range(4):
        yield Equation(f"x̄_{j}", xbar[j], wanted[j] / total)
    yield Equation("θ", theta, 1 + sum(each * each for each in wanted) / total**2)


def _rest_of_the_step(algorithm: Algorithm, step: Step, w, b, at: str, unknown: Unknowns) -> Iterator[tuple[str, Equation]]:
    """List what must hold after the step besides the vectors; w and b are the predictor before it."""
    lam = unknown("lambda")
    first = step.before["t"] == 0
    g, t0, omega, old, new = step.g, step.t0, step.omega, step.before, step.after
    n = len(w)
    count = 0 * lam + 1 if first else unknown("tau") + 1
    now = count + t0
    w_now = (1 - 1 / now) * w - g / (lam * now) * (step.x - step.xbar)
    b_now = (1 - 1 / now) * (b + w @ step.xbar) - g / (lam * now) - w_now @ step.xbar
    found_w, found_b = predictor(algorithm.last, lam, t0, new, step.xbar)
    yield "alg", Equation(at + "the step number", new["t"], count)
    yield "alg", Equation(at + "g is ℓ' times the example's weight", new["g"], g)
    yield "alg", Equation(at + "ℓ' is asked at p", step.asked, w @ step.x + b)
    for j in range(n):
        yield "alg", Equation(at + f"w_{j} by eq. 3", found_w[j], w_now[j])
    yield "alg", Equation(at + "b by eq. 3, b' by eq. 11", found_b, b_now)
    yield "eqn:gradSum", Equation(at + "a", new["a"], old["a"] + g)
    if algorithm.centred:
        yield "eqn:zDef", Equation(at + "z = v · x̄", new["z"], new["v"] @ step.xbar)
        yield "eqn:bTagCenter", Equation(at + "r = aθ − z", new["r"], new["a"] * step.theta - new["v"] @ step.xbar)
    if algorithm.average is None:
        return
    yield "eqn:avgBias", Equation(at + "c", new["c"], old["c"] + omega * new["a"] / now)
    yield "eqn:avgBias", Equation(at + "h", new["h"], old["h"] + omega / now)
    if algorithm.centred:
        yield "eqn:sDef", Equation(at + "s", new["s"], old["s"] + omega * new["r"] / now)
    mean_w, mean_b = (np.zeros(n, dtype=object), 0) if first else predictor(algorithm.average, lam, t0, old, step.xbar)
    now_w, now_b = predictor(algorithm.average, lam, t0, new, step.xbar)
    yield "average", Equation(at + "the total weight", new["total"], old["total"] + omega)
    for j in range(n):
        yield "average", Equation(at + f"Σω w̄_{j}", new["total"] * now_w[j], old["total"] * mean_w[j] + omega * w_now[j])
    yield "average", Equation(at + "Σω b̄", new["total"] * now_b, old["total"] * mean_b + omega * b_now)


class Derivatives:
    """Opaque ℓ': a new unknown for every new (prediction, label), predictions compared after expansion."""

    def __init__(self, unknown: Unknowns):
        self.unknown = unknown
        self.known: dict[tuple[Any, Any], Any] = {}

    def __call__(self, p, label):
        key = sympy.expand(p) if isinstance(p, sympy.Expr) else p, label
        return self.known.setdefault(key, self.unknown(f"g{len(self.known) + 1}"))


def drawn(T: int) -> tuple[int, ...]:
    """Choose the rows of T steps, of max(T, 4): from T = 2 on neither the place of a draw, j, nor its step, t, is the row's."""
    return (0,) if T == 1 else tuple((j + 2) % max(T, 4) for j in range(T))


def unrolled(
    algorithm: Algorithm, T: int, unknown: Unknowns = symbols, n: int = 2, projected: bool = False
) -> Iterator[Equation]:
    """Return the loop and the dense definition, both as shipped, for T steps on generic rows, those of `drawn`.

    With `projected` the loop is handed q = x̄ · x of all rows. On symbols in the paper's case, weight = ω = 1 and t0 = 0; at a
    point with any numbers for them.
    """
    papers = unknown is symbols
    lam, derivative = unknown("lambda"), Derivatives(unknown)
    m, draws = max(T, 4), drawn(T)
    rows = np.array([vector(unknown, f"x{i}_", n) for i in range(m)], dtype=object)
    t0 = 0 * lam if papers else unknown("t0")
    omega, weight = (
        np.full(size, 1, dtype=object) if papers else vector(unknown, name, size)
        for name, size in (("omega", T), ("weight", m))
    )
    problem = Problem(rows, vector(unknown, "y", m), Loss("opaque", lambda p, y: 0, derivative), lam)
    problem.sample_weight = weight  # bypass the validation, which asks whether a weight is >= 0
    steps = list(reference.iterates(problem, draws, centred=algorithm.centred, t0=t0))
    xbar = np.full(n, 0 * lam, dtype=object)
    mean: tuple = ()
    if algorithm.mean is not None:
        theta = algorithm.mean.centre(xbar, algorithm.mean.add_up(problem.X, weight, 0, m, xbar, 0 * lam))
        projections = np.full(m if projected else 0, 0 * lam, dtype=object)
        algorithm.mean.project(problem.X, xbar, 0, len(projections), projections)
        mean = (xbar, theta, projections)
    averaging = (omega,) if algorithm.average else ()
    vectors = [np.full(n, 0 * lam, dtype=object) for _ in algorithm.vectors]
    scalars = [0 * lam for _ in algorithm.scalars]
    t, *scalars, p, g = algorithm.steps(
        *(problem.X, problem.y, weight, lam, derivative, draws, t0, *averaging, *mean, 0 * lam, *vectors, *scalars)
    )
    state = dict(zip(("t", *algorithm.vectors, *algorithm.scalars), (t, *vectors, *scalars), strict=True))
    mutate = T <= 2  # the formulas of longer runs have thousands of places to mutate, of the same kinds
    yield Equation(f"T = {T}: p_T", p, steps[-1].p, mutate)
    yield Equation(f"T = {T}: ℓ'(p_T)", g, steps[-1].g, mutate)
    yield from _recovered(T, algorithm.last, lam, t0, state, xbar, steps[-1].predictor.w, steps[-1].predictor.b, mutate)
    total = sum(omega)
    if algorithm.average is not None and total != 0:
        mean_w = sum(share * step.predictor.w for share, step in zip(omega, steps, strict=True)) / total
        mean_b = sum(share * step.predictor.b for share, step in zip(omega, steps, strict=True)) / total
        yield from _recovered(T, algorithm.average, lam, t0, state, xbar, mean_w, mean_b, mutate)


def _recovered(T, recovery, lam, t0, state, xbar, w, b, mutate) -> Iterator[Equation]:
    found_w, found_b = predictor(recovery, lam, t0, state, xbar)
    for j in range(len(w)):
        yield Equation(f"T = {T}: w_{j}", found_w[j], w[j], mutate)
    yield Equation(f"T = {T}: b", found_b, b, mutate)
