"""Cost without a clock: run the very loops on arrays that count the entries read from them and written to them.

The counts must equal (`==`) formulas in n, T and sums of k_i, the number of stored entries of row i:
K = Σ_t k_{π_t} over the drawn rows, K₁ = k_{π_1} of the first, and U, U₁ = the same two over the draws with ℓ' ≠ 0
only. A sparse loop's formula has no n at all; the dense side's has nothing but n and T.
"""

import copy
from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

import reference
from efficient.kernels import batch as many
from efficient.kernels.sparse import add, add_both, dot
from efficient.runs.algorithms import ALGORITHMS
from reference import Problem, draw_indices
from reference.datasets import make_generic
from reference.rows import Rows

from ..ledger import Entry, Job


class Tally:
    """How many entries were read and written."""

    def __init__(self):
        self.read = self.written = 0


class CountingArray(np.ndarray):
    """A float64 array that enters into its tally every entry read or written, by an index or by a whole-array operation."""

    tally: Tally

    def __new__(cls, array, tally: Tally):
        counting: Any = np.array(array, dtype=np.float64).view(cls)
        counting.tally = tally
        return counting

    def __array_finalize__(self, parent):
        self.tally = getattr(parent, "tally", None)  # type: ignore[assignment]

    def __getitem__(self, key):
        item = super().__getitem__(key)
        if not isinstance(key, slice):  # a slice is a view and reads nothing yet
            self.tally.read += getattr(item, "size", 1)
        return item

    def __setitem__(self, key, value):
        self.tally.written += self.view(np.ndarray)[key].size
        super().__setitem__(key, value)

    def __array_function__(self, function, types, arguments, options):
        raise TypeError(f"{function.__name__} is not counted")

    def _uncounted(self, *arguments, **options):
        raise TypeError("this method is not counted")

    dot = copy = fill = tolist = flatten = ravel = astype = take = put = repeat = _uncounted

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        if method == "at":  # ufunc.at(array, places, values) touches the places only
            array, places, *values = (entry.view(np.ndarray) if isinstance(entry, CountingArray) else entry for entry in inputs)
            self.tally.read += array[places].size + sum(entry.size for entry in inputs[2:] if isinstance(entry, CountingArray))
            self.tally.written += array[places].size
            return ufunc.at(array, places, *values)
        self.tally.read += sum(entry.size for entry in inputs if isinstance(entry, CountingArray))
        plain = [entry.view(np.ndarray) if isinstance(entry, CountingArray) else entry for entry in inputs]
        if out is not None:
            kwargs["out"] = tuple(entry.view(np.ndarray) for entry in out)
        result: Any = getattr(ufunc, method)(*plain, **kwargs)
        if not isinstance(result, np.ndarray):
            return result
        self.tally.written += result.size
        if out is not None:
            return out[0]
        result = result.view(type(self))
        result.tally = self.tally
        return result


class Sizes(NamedTuple):
    """What the formulas speak of; `nnz` is the number of stored entries of the whole matrix."""

    n: int
    T: int
    nnz: int
    K: int
    K1: int
    U: int
    U1: int


def count_sparse(name: str, problem: Problem, indices, projected: bool = False) -> tuple[dict[str, tuple[int, int]], Sizes]:
    """(read, written) entries of state vectors in the loop, in the computation of x̄, in that of the projections (where the
    loop is handed those of all rows), and in the recovery of the predictor.
    """
    X, lam, algorithm = problem.X, problem.lam, ALGORITHMS[name]
    tallies = {part: Tally() for part in ("loop", "mean", "projection", "recovery")}
    vectors = {vector: CountingArray(np.zeros(problem.n), tallies["loop"]) for vector in algorithm.vectors}
    state: dict[str, Any] = {"lam": lam}
    mean: tuple = ()
    if algorithm.mean is not None:
        xbar = CountingArray(np.zeros(problem.n), tallies["mean"])
        theta = algorithm.mean.centre(xbar, algorithm.mean.add_up(X, problem.weight, 0, X.m, xbar, 0))
        projections = np.empty(X.m if projected else 0)
        if projected:
            algorithm.mean.project(X, CountingArray(xbar, tallies["projection"]), 0, X.m, projections)
        mean = (CountingArray(xbar, tallies["loop"]), theta, projections)
        state["xbar"] = CountingArray(xbar, tallies["recovery"])
    moved: list[bool] = []

    def dloss(p, y):
        g = problem.loss.derivative(p, y)
        moved.append(bool(g != 0))
        return g

    zero = np.float64(0)
    scalars = [zero] * len(algorithm.scalars)
    averaging = (np.ones(len(indices)),) if algorithm.average else ()
    t, *scalars, _, _ = algorithm.steps(
        *(X, problem.y, problem.weight, lam, dloss, indices, zero, *averaging, *mean, zero, *vectors.values(), *scalars)
    )
    state |= dict(zip(algorithm.scalars, scalars, strict=True))
    state |= {vector: CountingArray(array, tallies["recovery"]) for vector, array in vectors.items()}
    recover, parts = algorithm.average or algorithm.last
    recover(lam, t, *(state[part] for part in parts))
    k = np.diff(X.indptr)[indices]
    sizes = (problem.n, len(indices), len(X.data), k.sum(), k[0], k[moved].sum(), k[0] * moved[0])
    return {part: (tally.read, tally.written) for part, tally in tallies.items()}, Sizes(*map(int, sizes))


def count_models(name: str, problem: Problem, labels: np.ndarray, indices) -> tuple[tuple[int, int], Sizes]:
    """(read, written) entries of v, u and x̄ in the loop for many models, one for each column of the labels."""
    tally = Tally()
    models, zero = labels.shape[1], np.float64(0)
    if ALGORITHMS[name].centred:
        mean: tuple = (CountingArray(problem.xbar, tally), 1 + problem.xbar @ problem.xbar, ())
    else:
        mean = ((), np.float64(1), np.zeros(problem.m))
    moved: list[bool] = []

    def dloss(p, y):
        g = problem.loss.derivative(p, y)
        moved.append(bool(g != 0))
        return g

    room = CountingArray(np.zeros((problem.n, 2, models)), tally)
    numbers = [np.zeros(models) for _ in (*many.NUMBERS, "hg", "d")]
    many.steps(
        *(problem.X, labels, problem.weight, np.full(models, problem.lam), dloss, indices, np.zeros(models)),
        *(np.ones(len(indices)), *mean, zero, room, *numbers),
    )
    k = np.diff(problem.X.indptr)[indices]
    any_moved: np.ndarray = np.any(np.reshape(moved, (-1, models)), axis=1)
    sizes = (problem.n, len(indices), len(problem.X.data), k.sum(), k[0], k[any_moved].sum(), k[0] * any_moved[0])
    return (tally.read, tally.written), Sizes(*map(int, sizes))


class CountingRows(Rows):
    """Rows whose dense vectors count: making one writes n entries."""

    tally: Tally

    def zeros(self) -> CountingArray:
        return self._made(Rows(*self).zeros())

    def dense(self, i) -> CountingArray:
        return self._made(Rows(*self).dense(i))

    def _made(self, vector) -> CountingArray:
        self.tally.written += self.n
        return CountingArray(vector, self.tally)


def count_dense(name: str, problem: Problem, indices) -> tuple[int, int]:
    """(read, written) entries of n-vectors in a run of the dense definition, x̄ given."""
    tally = Tally()
    counting = copy.copy(problem)
    counting.X = rows = CountingRows(*problem.X)
    rows.tally = tally
    counting.xbar = CountingArray(problem.xbar, tally)
    getattr(reference, name)(counting, indices)
    return tally.read, tally.written


LOOP = {
    "sgd": ("K − K₁ + U", "U", lambda s: (s.K - s.K1 + s.U, s.U)),
    "asgd": ("K − K₁ + 2U − U₁", "2U − U₁", lambda s: (s.K - s.K1 + 2 * s.U - s.U1, 2 * s.U - s.U1)),
    "csgd": ("2K − K₁ + U", "U", lambda s: (2 * s.K - s.K1 + s.U, s.U)),
    "casgd": ("2K − K₁ + 2U − U₁", "2U − U₁", lambda s: (2 * s.K - s.K1 + 2 * s.U - s.U1, 2 * s.U - s.U1)),
}
"""Entries of v, u and x̄ read and written by a loop, whatever n is."""

LOOP_FOR_MANY = {
    "asgd": ("M(K − K₁ + 2U)", "2MU", lambda s, M: (M * (s.K - s.K1 + 2 * s.U), 2 * M * s.U)),
    "casgd": ("M(K − K₁ + 2U) + K", "2MU", lambda s, M: (M * (s.K - s.K1 + 2 * s.U) + s.K, 2 * M * s.U)),
}
"""The same for M models in one pass: x̄ is read once for all of them. Step 1 visits u as well, which it leaves 0."""

RECOVERY = {"sgd": (1, 1), "asgd": (4, 3), "csgd": (4, 3), "casgd": (7, 5)}
"""n-vectors read and written, once, to make the predictor."""

DENSE = {"sgd": (8, 5), "asgd": (11, 7), "csgd": (12, 6), "casgd": (15, 8)}
"""n-vectors read and written by the dense side in every step."""

DENSE_ONCE = {"sgd": (0, 1), "asgd": (3, 4), "csgd": (0, 1), "casgd": (3, 4)}
"""n-vectors read and written by the dense side before the first step and after the last."""


def operations() -> Iterator[Entry]:
    """Hold the sparse vector operations against k, the entries stored in the row, in a few and in very many columns."""
    reads, writes = {"dot": 1, "add": 1, "add_both": 2}, {"dot": 0, "add": 1, "add_both": 2}
    for name in reads:
        runs = equal = 0
        for n, k in product((20, 20_000), (0, 1, 4, 7, 20)):
            X = Problem(*make_generic(1, n, k, seed=k)[:2], "log", 0.1).X
            tally = Tally()
            v, u = (CountingArray(np.ones(n), tally) for _ in range(2))
            if name == "dot":
                dot(v, X, 0)
            elif name == "add":
                add(v, 2.0, X, 0)
            else:
                add_both(v, 2.0, u, 3.0, X, 0)
            runs += 1
            equal += (tally.read, tally.written) == (reads[name] * k, writes[name] * k)
        yield Entry(
            "cost",
            f"the sparse operation `{name}` reads {reads[name]}k and writes {writes[name]}k entries, whatever n is: O(k)",
            "counted on the shipped code",
            f"{equal} of {runs} runs equal",
            equal == runs,
        )


def jobs() -> Iterator[Job]:
    yield Job(("cost",), "counting: the sparse operations", operations)
    for name in ALGORITHMS:
        yield Job(("cost",), f"counting: {name}", partial(count, name))
    for name in LOOP_FOR_MANY:
        yield Job(("cost",), f"counting: {name} for many models", partial(count_for_many, name))


def count(name: str) -> Iterator[Entry]:
    """Hold the counts against the formulas for several m, n, k, T, with and without steps whose derivative is 0."""
    centred = ALGORITHMS[name].centred
    loops = recoveries = dense = projected = runs = 0
    shown = ""
    for loss in ("log", "hinge"):
        for m, n, k, T in ((20, 30, 3, 40), (20, 60, 3, 40), (20, 60, 6, 40), (40, 60, 6, 160), (40, 6000, 6, 160)):
            problem = Problem(*make_generic(m, n, k, seed=n)[:2], loss, 0.1)
            indices = draw_indices(m, T, rng=0)
            found, sizes = count_sparse(name, problem, indices)
            of_mean = (sizes.nnz + 3 * n, sizes.nnz + n) if centred else (0, 0)
            of_recovery = tuple(factor * n for factor in RECOVERY[name])
            runs += 1
            loops += found["loop"] == LOOP[name][2](sizes)
            recoveries += found["recovery"] == of_recovery and found["mean"] == of_mean
            if centred:
                found, sizes = count_sparse(name, problem, indices, projected=True)
                read, written = LOOP[name][2](sizes)
                projected += (found["loop"], found["projection"]) == ((read - sizes.K, written), (sizes.nnz, 0))
            of_dense = tuple(step * T * n + once * n for step, once in zip(DENSE[name], DENSE_ONCE[name], strict=True))
            dense += count_dense(name, problem, indices) == of_dense
            shown = (
                f"{sum(found['loop'])} entries touched in the loop against {sum(of_dense)} dense at n = {n}, T = {T}, k = {k}"
            )
    reads, writes, _ = LOOP[name]
    yield Entry(
        "cost",
        f"the loop reads {reads} and writes {writes} entries of state, whatever n is: K, K₁ are k summed over all draws, "
        "of the first one; U, U₁ likewise where ℓ' ≠ 0",
        "counted on the shipped loop",
        f"{loops} of {runs} runs equal; {shown}",
        loops == runs,
        algorithm=name,
    )
    if centred:
        yield Entry(
            "cost",
            "with the projections x̄ · x_i of all rows computed before, which reads nnz entries, the loop reads K fewer",
            "counted on the shipped loop",
            f"{projected} of {runs} runs equal",
            projected == runs,
            algorithm=name,
        )
    n_read, n_written = RECOVERY[name]
    before = ", and x̄ before it nnz + 3n and nnz + n" if centred else ""
    yield Entry(
        "cost",
        f"recovering the predictor reads {n_read}n entries and writes {n_written}n, once{before}",
        "counted on the shipped code",
        f"{recoveries} of {runs} runs equal",
        recoveries == runs,
        algorithm=name,
    )
    (step_read, step_written), (once_read, once_written) = DENSE[name], DENSE_ONCE[name]
    before_and_after = f" + {once_read}n" if once_read else ""
    yield Entry(
        "cost",
        f"the dense side reads {step_read}nT{before_and_after} entries and writes {step_written}nT + {once_written}n",
        "counted on the shipped code",
        f"{dense} of {runs} runs equal",
        dense == runs,
        algorithm=name,
    )


def count_for_many(name: str) -> Iterator[Entry]:
    """Hold the counts of the loop for many models against the formulas for several M, m, n, k, T."""
    runs = equal = 0
    for loss, models, (m, n, k, T) in product(
        ("log", "hinge"), (1, 2, 4, 7), ((20, 30, 3, 40), (20, 60, 6, 40), (20, 6000, 6, 40), (20, 60, 6, 80))
    ):
        problem = Problem(*make_generic(m, n, k, seed=n)[:2], loss, 0.1)
        signs = np.random.default_rng(models).choice([-1.0, 1.0], (m, models))
        found, sizes = count_models(name, problem, signs, draw_indices(m, T, rng=0))
        runs += 1
        equal += found == LOOP_FOR_MANY[name][2](sizes, models)
    reads, writes, _ = LOOP_FOR_MANY[name]
    yield Entry(
        "cost",
        f"for M models in one pass, the loop reads {reads} and writes {writes} entries of state, whatever n is; U is over the "
        "draws where ℓ' ≠ 0 for any of the models",
        "counted on the shipped loop",
        f"{equal} of {runs} runs equal",
        equal == runs,
        algorithm=name,
    )
