"""Count entries: run the shipped loops on arrays that count what is read from them and written to them."""

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import reference
from efficient.kernels import batch
from efficient.runs.algorithms import ALGORITHMS
from reference import Problem
from reference.rows import Rows


class Tally:
    """Numbers of entries read and written."""

    def __init__(self):
        self.read = self.written = 0


class CountingArray(np.ndarray):
    """Float64 array that enters into its tally every entry read or written, by an index or by a whole-array operation."""

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


class Sizes(NamedTuple):
    """Quantities of the formulas, see `proofs.counted.cost`; `nnz` is the number of stored entries of the whole matrix."""

    n: int
    T: int
    nnz: int
    K: int
    K1: int
    U: int
    U1: int


def remembering(problem: Problem) -> tuple[Callable, list[bool]]:
    """Derivative of the problem's loss, and a list to which it adds at each call whether it was not 0."""
    moved: list[bool] = []

    def dloss(p, y):
        g = problem.loss.derivative(p, y)
        moved.append(bool(g != 0))
        return g

    return dloss, moved


def count_sparse(name: str, problem: Problem, indices, projected: bool = False) -> tuple[dict[str, tuple[int, int]], Sizes]:
    """Count (read, written) entries of state vectors in the loop, in x̄, in the projections and in the recovery.

    `projected`: the projections of all rows are computed before, and the loop is handed them.
    """
    X, lam, algorithm = problem.X, problem.lam, ALGORITHMS[name]
    tallies = {part: Tally() for part in ("loop", "mean", "projection", "recovery")}
    vectors = {vector: CountingArray(np.zeros(problem.n), tallies["loop"]) for vector in algorithm.vectors}
    state: dict[str, Any] = {"lam": lam}
    mean: tuple = ()
    if algorithm.mean is not None:
        xbar = CountingArray(np.zeros(problem.n), tallies["mean"])
        theta = algorithm.mean.centre(xbar, algorithm.mean.add_up(X, problem.sample_weight, 0, X.m, xbar, 0))
        projections = np.empty(X.m if projected else 0)
        if projected:
            algorithm.mean.project(X, CountingArray(xbar, tallies["projection"]), 0, X.m, projections)
        mean = (CountingArray(xbar, tallies["loop"]), theta, projections)
        state["xbar"] = CountingArray(xbar, tallies["recovery"])
    dloss, moved = remembering(problem)
    zero = np.float64(0)
    scalars = [zero] * len(algorithm.scalars)
    averaging = (np.ones(len(indices)),) if algorithm.average else ()
    t, *scalars, _, _ = algorithm.steps(
        *(X, problem.y, problem.sample_weight, lam, dloss, indices, zero, *averaging, *mean, zero, *vectors.values(), *scalars)
    )
    state |= dict(zip(algorithm.scalars, scalars, strict=True))
    state |= {vector: CountingArray(array, tallies["recovery"]) for vector, array in vectors.items()}
    recover, parts = algorithm.average or algorithm.last
    recover(lam, t, *(state[part] for part in parts))
    k = np.diff(X.indptr)[indices]
    sizes = (problem.n, len(indices), len(X.data), k.sum(), k[0], k[moved].sum(), k[0] * moved[0])
    return {part: (tally.read, tally.written) for part, tally in tallies.items()}, Sizes(*map(int, sizes))


def count_models(name: str, problem: Problem, labels: np.ndarray, indices) -> tuple[tuple[int, int], Sizes]:
    """Count (read, written) entries of v, u and x̄ in the loop for many models, one for each column of the labels."""
    tally = Tally()
    models, zero = labels.shape[1], np.float64(0)
    if ALGORITHMS[name].centred:
        mean: tuple = (CountingArray(problem.xbar, tally), 1 + problem.xbar @ problem.xbar, ())
    else:
        mean = ((), np.float64(1), np.zeros(problem.m))
    dloss, moved = remembering(problem)
    room = CountingArray(np.zeros((problem.n, 2, models)), tally)
    numbers = [np.zeros(models) for _ in (*batch.NUMBERS, "hg", "d")]
    batch.steps(
        *(problem.X, labels, problem.sample_weight, np.full(models, problem.lam), dloss, indices, np.zeros(models)),
        *(np.ones(len(indices)), *mean, zero, room, *numbers),
    )
    k = np.diff(problem.X.indptr)[indices]
    any_moved: np.ndarray = np.any(np.reshape(moved, (-1, models)), axis=1)
    sizes = (problem.n, len(indices), len(problem.X.data), k.sum(), k[0], k[any_moved].sum(), k[0] * any_moved[0])
    return (tally.read, tally.written), Sizes(*map(int, sizes))


def count_dense(name: str, problem: Problem, indices) -> tuple[int, int]:
    """Count (read, written) entries of n-vectors in a run of the dense definition, x̄ given."""
    tally = Tally()
    counting = copy.copy(problem)
    counting.X = rows = CountingRows(*problem.X)
    rows.tally = tally
    counting.xbar = CountingArray(problem.xbar, tally)
    getattr(reference, name)(counting, indices)
    return tally.read, tally.written
