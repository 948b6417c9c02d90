"""Run the shipped loop for many models on symbols beside the loop for one: it is that loop, for each of its models.

So whatever is proved of the loop for one model, in `shipped`, holds of every model. The models have labels, λ, t0 and
states of their own; they share the row, its weight, x̄ and ω. The former contents of the work room must not matter, so it is
unknown as well. Two models are visited one by one; of six, four are visited together and two one by one.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from efficient.kernels import batch, simd, sparse
from efficient.runs.algorithms import ALGORITHMS
from reference.rows import Rows

from ..ledger import Entry, Job
from . import mutants
from .execution import LAYOUTS, Derivatives, Unknowns, drawn, symbols, vector
from .proof import ON_CODE, UNROLLED, Proof, jobs_of
from .prover import Equation

State = dict[str, Any]
"""v, u and the numbers of one model, by the paper's letters."""


class Draws(NamedTuple):
    """Common inputs of all models: the rows, their weights, the draws, the ω of each, and x̄, θ and the projections."""

    rows: Rows
    sample_weight: Any
    indices: Any
    omega: Any
    mean: tuple

    def run_one(self, name: str, y, lam, dloss, t0, t, before: State) -> tuple[Any, State]:
        """Let the loop of an algorithm for one model go on from a state: the number of steps, and the state after them."""
        algorithm = ALGORITHMS[name]
        vectors = [before[each].copy() for each in algorithm.vectors]
        averaging = (self.omega,) if algorithm.average else ()
        mean = self.mean if algorithm.centred else ()
        t, *numbers = algorithm.steps(
            *(self.rows, y, self.sample_weight, lam, dloss, self.indices, t0, *averaging, *mean, t, *vectors),
            *(before[each] for each in algorithm.scalars),
        )
        return t, dict(zip((*algorithm.vectors, *algorithm.scalars, "p", "g"), (*vectors, *numbers), strict=True))

    def run_many(
        self, steps: Callable, y, lam, dloss, t0, t, before: list[State], unknown: Unknowns, still: bool = False
    ) -> tuple[Any, list[State]]:
        """Return the same for the loop for many models. With `still` it fails if it writes to v and u at all."""
        room = np.empty((self.rows.n, 2, len(before)), dtype=object)
        numbers = {each: vector(unknown, f"room_{each}", len(before)) for each in (*batch.NUMBERS, "hg", "d")}
        for k, state in enumerate(before):
            room[:, 0, k], room[:, 1, k] = state["v"], state["u"]
            for each in state.keys() & numbers.keys():
                numbers[each][k] = state[each]
        room.setflags(write=not still)
        t = steps(
            *(self.rows, y, self.sample_weight, lam, dloss, self.indices, t0, self.omega),
            *(*self.mean, t, room, *numbers.values()),
        )
        return t, [
            {"v": room[:, 0, k], "u": room[:, 1, k]} | {each: of_models[k] for each, of_models in numbers.items()}
            for k in range(len(before))
        ]


def nothing(n: int, zero) -> State:
    """Return the state before step 1."""
    return {each: np.full(n, zero, dtype=object) for each in "vu"} | dict.fromkeys(batch.NUMBERS[:-2], zero)


def mean_of(centred: bool, unknown: Unknowns, n: int, m: int) -> tuple:
    """x̄, θ and no projections, unknown; of rows that are not centred the origin, 1 and the projections 0."""
    if centred:
        return vector(unknown, "xbar", n), unknown("theta"), ()
    return (), 1, [0] * m


def step(
    steps: Callable, name: str, models: int, layout, first: bool, moving: tuple[bool, ...], unknown: Unknowns
) -> Iterator[Equation]:
    """Return a step of many models, step 1 or step t from unknown states, against the step of each alone.

    `moving` says of which models ℓ' is unknown; of the others it is 0.
    """
    n, columns = layout
    zero, centred = 0 * unknown("lambda"), ALGORITHMS[name].centred
    lam, t0 = vector(unknown, "lambda", models), vector(unknown, "t0_", models)
    slopes = [unknown(f"slope{k + 1}") if moves else zero for k, moves in enumerate(moving)]
    stored = np.array([unknown("other"), *vector(unknown, "x", len(columns))], dtype=object)  # of a row before it as well
    rows = Rows(stored, np.array([0, *columns]), np.array([0, 1, 1 + len(columns)]), n)
    draws = Draws(rows, [0, unknown("weight")], [1], [unknown("omega")], mean_of(centred, unknown, n, 2))
    before = [nothing(n, zero) for _ in slopes]
    for k, state in enumerate(before if not first else ()):
        state |= {each: vector(unknown, f"{each}{k + 1}_", n) for each in "vu"}
        state |= {each: unknown(f"{each}{k + 1}") for each in batch.NUMBERS[:-2]}
        if not centred:
            state |= {"z": zero, "r": state["a"], "s": state["c"]}
    asked: list[dict[int, Any]] = [{}, {}]

    def dloss_to(notes: dict[int, Any]):
        return lambda p, label: (notes.setdefault(label, p), slopes[label])[1]

    taken = zero if first else unknown("tau")
    y = np.array([[None] * models, range(models)], dtype=object)  # a label says no more than of which model it is
    still = all(slope == 0 for slope in slopes)
    t, after = draws.run_many(steps, y, lam, dloss_to(asked[0]), t0, taken, before, unknown, still)
    for k in range(models):
        t_alone, alone = draws.run_one(name, y[:, k], lam[k], dloss_to(asked[1]), t0[k], taken, before[k])
        at = f"{'t = 1' if first else 't'}, {len(columns)} of {n} columns, {sum(moving)} of {models} with ℓ' ≠ 0: model {k}'s "
        mutate = n == 2 and all(moving)
        yield Equation(at + "step number", t, t_alone, mutate)
        yield Equation(at + "prediction given to ℓ'", asked[0][k], asked[1][k], mutate)
        yield from (each._replace(mutate=mutate) for each in same(at, after[k], alone, centred))


def overflow(steps: Callable, model: int) -> Iterator[Equation]:
    """Step 2 of two models, in which the prediction of one overflows and the run ends: nothing of the other has changed."""
    rows = Rows(np.array([1, 1], dtype=object), np.array([0, 0]), np.array([0, 1, 2]), 1)
    draws = Draws(rows, [1, 1], [0, 1], [1, 1], mean_of(False, symbols, 1, 2))
    before = [{"v": [1], "u": [1]} | dict.fromkeys(batch.NUMBERS[:-2], 1) for _ in range(2)]
    lam: list[Any] = [1, 1]
    lam[model] = 5e-324  # the smallest float: whatever is divided by it overflows
    y = np.ones((2, 2), dtype=object)
    t, after = draws.run_many(steps, y, lam, lambda p, label: 1, [0, 0], 1, before, symbols)
    at = f"model {model} overflows: "
    yield Equation(at + "the number of steps", t, 2, False)
    yield Equation(at + "is p infinite", int(after[model]["p"] == -math.inf), 1, False)
    for k, part in product((0, 1), before[0].keys()):
        found = after[k][part][0] if part in "vu" else after[k][part]
        yield Equation(f"{at}model {k}'s {part}", found, 1, False)


def same(at: str, found: State, alone: State, centred: bool) -> Iterator[Equation]:
    """Each part of a model's state that the loop for one keeps; without centring, r = a, s = c and z = 0 besides."""
    for part, wanted in alone.items():
        if part in "vu":
            yield from (Equation(f"{at}{part}_{j}", found[part][j], wanted[j]) for j in range(len(wanted)))
        else:
            yield Equation(at + part, found[part], wanted)
    if not centred:
        yield Equation(at + "r = a", found["r"], found["a"])
        yield Equation(at + "s = c", found["s"], found["c"])
        yield Equation(at + "z = 0", found["z"], 0)


def induction(steps: Callable, name: str, unknown: Unknowns = symbols) -> Iterator[Equation]:
    """Return the step, for short and long rows, few and many models, and with and without models whose ℓ' is 0."""
    short, *wider, long = LAYOUTS
    for first in (True, False):
        for moving in product((True, False), repeat=2):
            yield from step(steps, name, 2, short, first, moving, unknown)
        for layout in wider:
            yield from step(steps, name, 2, layout, first, (True, True), unknown)
        yield from step(steps, name, 6, long, first, (True,) * 6, unknown)
    for model in (0, 1):
        yield from overflow(steps, model)


def unrolled(steps: Callable, name: str, T: int, unknown: Unknowns = symbols, projected: bool = False) -> Iterator[Equation]:
    """Both loops from nothing for T steps on generic rows, those of `drawn`, with an opaque ℓ'; x̄ and θ are any.

    With `projected` they are handed q = x̄ · x of all rows.
    """
    n, m, models, zero, dloss = 2, max(T, 4), 2, 0 * unknown("lambda"), Derivatives(unknown)
    stored = vector(unknown, "x", n * m)
    rows = Rows(stored, np.tile(np.arange(n), m), n * np.arange(m + 1), n)
    mean = mean_of(ALGORITHMS[name].centred, unknown, n, m)
    if projected:
        mean = (*mean[:2], [sum(mean[0] * rows.dense(i)) for i in range(m)])
    draws = Draws(rows, vector(unknown, "weight", m), drawn(T), vector(unknown, "omega", T), mean)
    lam, t0 = vector(unknown, "lambda", models), vector(unknown, "t0_", models)
    y = np.array([[f"label {i} of model {k}" for k in range(models)] for i in range(m)], dtype=object)
    t, after = draws.run_many(steps, y, lam, dloss, t0, zero, [nothing(n, zero)] * models, unknown)
    for k in range(models):
        t_alone, alone = draws.run_one(name, y[:, k], lam[k], dloss, t0[k], zero, nothing(n, zero))
        at = f"T = {T}{', projections given' if projected else ''}: model {k}'s "
        yield Equation(at + "step number", t, t_alone, T == 1)
        yield from (each._replace(mutate=T == 1) for each in same(at, after[k], alone, ALGORITHMS[name].centred))


def claims(steps: Callable, name: str, unknown: Unknowns = symbols) -> Iterator[Equation]:
    """Everything that is proved of the loop for many models beside an algorithm for one."""
    yield from induction(steps, name, unknown)
    for T in (1, 2, 3):
        yield from unrolled(steps, name, T, unknown)
    for T in (1, 2) if ALGORITHMS[name].centred else ():
        yield from unrolled(steps, name, T, unknown, projected=True)


def _induction(name: str) -> Iterator[Equation]:
    """Any states of the models after t − 1 steps, one generic row, any ℓ'; without centring r = a, s = c and z = 0 before.
    Where no ℓ' differs from 0, v and u may not even be written to; where a prediction overflows, no model takes the step.
    """
    return induction(batch.steps, name)


def _unrolled(name: str) -> Iterator[Equation]:
    """Nothing but the loops from step 1 on, T generic rows of two features and an opaque ℓ'."""
    for T in (1, 2, 3):
        yield from unrolled(batch.steps, name, T)
    for T in (1, 2) if ALGORITHMS[name].centred else ():
        yield from unrolled(batch.steps, name, T, projected=True)


PROOFS = tuple(
    Proof(ALGORITHMS[name].label, f"the loop for many models {what}", evidence, partial(equations, name), name)
    for name in ALGORITHMS
    for what, evidence, equations in (
        ("takes the step that the loop for one takes, for each of them", ON_CODE, _induction),
        ("is the loop for one, for each of them and T = 1, 2, 3", UNROLLED, _unrolled),
    )
)


PARTS = {
    **{name: getattr(batch, name) for name in ("steps", "dots", "dot_of", "add_to_all", "add_to")},
    **{name: getattr(simd, name) for name in ("read_four", "write_four", "read_one", "write_one")},
    **{name: getattr(sparse, name) for name in ("dot", "entries")},
}
"""Functions that the loop for many models is made of, by the names under which they call each other."""


def loop_of(**exchanged: Callable) -> Callable:
    """Make the loop for many models with other functions among its parts."""
    scope = {**vars(batch), "WIDTH": simd.WIDTH}
    scope |= {name: FunctionType(each.__code__, scope, name) for name, each in {**PARTS, **exchanged}.items()}
    return scope["steps"]


def mutants_of_loop() -> Iterator[tuple[str, Callable | None]]:
    """Exchange one token in the loop for many models or in one of its parts."""
    for name, function in PARTS.items():
        for mutant in mutants.of_function(function, PARTS):
            yield f"{name}: {mutant.where}", None if mutant.function is None else loop_of(**{name: mutant.function})


def failure(steps: Callable | None) -> str | None:
    """Judge a loop for many models by all claims about the shipped one."""
    return "broken" if steps is None else mutants.verdict(partial(claims, steps, "casgd"))


def refute() -> Iterator[Entry]:
    """Try every mutant of the loop for many models, after the loop itself."""
    verdicts = ((where, failure(steps)) for where, steps in mutants_of_loop())
    claim = "a loop for many models in which a token is exchanged, each for one other, is not the loop for one"
    yield mutants.judged("casgd", claim, failure(batch.steps), verdicts)


def jobs() -> list[Job]:
    return [*jobs_of(*PROOFS), Job((ALGORITHMS["casgd"].label,), "mutants of the loop for many models", refute)]
