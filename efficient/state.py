"""A run of one of the four algorithms that can be continued, looked at, saved and loaded at any step."""

import os
import zlib
from functools import cache
from types import CodeType
from typing import Any, NamedTuple

import numba
import numpy as np

from reference import Predictor, Problem
from reference.arithmetic import check_finite, check_t0
from reference.averages import Weights, check_weights, evaluate
from reference.files import write_whole
from reference.rows import Rows
from reference.sampling import check_indices

from . import asgd, casgd, csgd, sgd
from .pivot import find_pivot, pivoted


class Recovery(NamedTuple):
    """How to make a predictor from a state: recover(lam, t, …) of the named parts of the state."""

    recover: Any
    parts: tuple[str, ...]


class Algorithm(NamedTuple):
    """What a State needs to know of an algorithm: its loop, what that carries from step to step, and the recoveries."""

    steps: Any
    vectors: tuple[str, ...]
    scalars: tuple[str, ...]
    last: Recovery
    average: Recovery | None = None
    centre: Any = None

    @property
    def centred(self) -> bool:
        return self.centre is not None


_LAST = Recovery(sgd.last, ("v", "a"))
_CENTRED_LAST = Recovery(csgd.last, ("v", "a", "r", "xbar"))

ALGORITHMS = {
    "sgd": Algorithm(sgd.steps, ("v",), ("a",), _LAST),
    "asgd": Algorithm(
        asgd.steps,
        ("v", "u"),
        ("a", "c", "h", "total"),
        _LAST,
        Recovery(asgd.average, ("v", "u", "c", "h", "total")),
    ),
    "csgd": Algorithm(csgd.steps, ("v",), ("a", "z", "r"), _CENTRED_LAST, centre=casgd.centre),
    "casgd": Algorithm(
        casgd.steps,
        ("v", "u"),
        ("a", "c", "h", "total", "z", "r", "s"),
        _CENTRED_LAST,
        Recovery(casgd.average, ("v", "u", "c", "h", "total", "s", "xbar")),
        centre=casgd.centre,
    ),
}


class State:
    """A resumable run: `State(problem, "asgd").run(indices).average()`.

    The state is what the paper's pseudocode keeps, under its own names: t, v, u, a, c, h, and for the centred algorithms
    xbar, theta, z, r, s; also p and g, the last step's prediction and loss derivative. Running in pieces gives, to the
    bit, what one run gives.

    Where a column has a mean that is large for its spread, a centred run in float64 is one on the rows x − pivot, translated
    once and kept: `pivot` is then a vector, and v, u, xbar, theta, z, r and s are those of these rows. See `efficient.pivot`.

    Parameters
    ----------
    problem : Problem
        Its arithmetic is the state's: float64 through compiled loops, otherwise the same loops as plain Python.
    algorithm : {"sgd", "asgd", "csgd", "casgd"}
    t0 : number >= 0
        The steps have the size 1/(λ(t + t0)). The paper has t0 = 0; `safe_t0` is what the squared loss needs.
    weights : function of step numbers, optional
        The weight ω_t of each iterate in the mean, such as `polynomial(1)` or `suffix(1000)`; the paper has ω = 1.

    Raises
    ------
    ValueError
        An unknown algorithm.
    TypeError
        numba cannot compile the derivative of the user's own loss.

    Paper: Algorithms 1 to 3.
    Cost: O(n) memory (one vector for sgd, two for csgd and asgd, three for casgd); the centred ones read every row once.
    """

    v: np.ndarray
    u: np.ndarray
    a: Any
    c: Any
    h: Any
    total: Any
    z: Any
    r: Any
    s: Any
    xbar: np.ndarray
    theta: Any
    find_pivot = staticmethod(find_pivot)  # a subclass that returns None here trains as printed, to show what that loses

    def __init__(self, problem: Problem, algorithm: str = "asgd", *, t0=0, weights: Weights | None = None):
        if algorithm not in ALGORITHMS:
            raise ValueError(f"algorithm must be one of {', '.join(map(repr, ALGORITHMS))}; got {algorithm!r}")
        self.problem = problem
        self.algorithm = algorithm
        self._parts = parts = ALGORITHMS[algorithm]
        exact = problem.number is not np.float64
        self._steps = parts.steps if exact else _compiled(parts.steps)
        self._dloss = problem.loss.derivative if exact else _compiled_derivative(problem.loss.derivative)
        self.pivot = None if exact or not parts.centred else self.find_pivot(problem.X, problem.weight)
        X = problem.X if self.pivot is None else pivoted(problem.X, self.pivot)
        self._X = X if exact else _unsigned(X)
        self.t0 = check_t0(t0, problem.number)
        if weights is not None and parts.average is None:
            raise ValueError(f"weights are those of an average, and {algorithm} keeps none")
        self.weights = check_weights(weights)
        self.t = 0
        self._running = False
        self._room: dict[str, np.ndarray] = {}  # what the vectors of a stream may grow into
        self.p = self.g = problem.number(0)
        for name in parts.scalars:
            setattr(self, name, problem.number(0))
        for name in parts.vectors:
            setattr(self, name, self._zeros(problem.n))
        if parts.centred:
            self.xbar = self._zeros(problem.n)
            centre = parts.centre if exact else _compiled(parts.centre)
            self.theta = centre(self._X, problem.weight, self.xbar)
            if not exact:
                check_finite(0, self.theta)

    def _zeros(self, n: int) -> np.ndarray:
        if self.problem.number is np.float64:
            return np.zeros(n)
        return np.full(n, self.problem.number(0), dtype=object)

    def run(self, indices) -> "State":
        """Take a step for each of the drawn examples, and return this state.

        Parameters
        ----------
        indices : sequence of row numbers in 0..m-1, the next part of the paper's π

        Raises
        ------
        TypeError, ValueError
            Unusable indices; no step was taken.
        FloatingPointError
            The iterates overflowed; names the step by which they had.
        RuntimeError
            Another thread is running this state, or a run of it was cut off.

        Cost: O(k) a step.
        """
        indices = check_indices(indices, self.problem.m)
        self._check_whole()
        problem, parts = self.problem, self._parts
        averaging = (evaluate(self.weights, self.t + 1, len(indices), problem.number),) if parts.average else ()
        mean = (self.xbar, self.theta) if parts.centred else ()
        vectors = [getattr(self, name) for name in parts.vectors]
        scalars = [getattr(self, name) for name in parts.scalars]
        self._running = True
        with np.errstate(over="ignore", invalid="ignore"):
            t, *scalars, self.p, self.g = self._steps(
                *(self._X, problem.y, problem.weight, problem.lam, self._dloss, indices),
                *(self.t0, *averaging, *mean, problem.number(self.t), *vectors, *scalars),
            )
        self._running = False
        self.t = int(t)
        for name, value in zip(parts.scalars, scalars, strict=True):
            setattr(self, name, value)
        self._check_whole()
        return self

    def follow(self, problem: Problem) -> "State":
        """Go on with the rows of another problem, wider ones if need be: a stream whose dimension is not known beforehand.

        New columns start at 0, as they would have if they had been known from the start; the result is the same to the bit.

        Parameters
        ----------
        problem : Problem
            Other rows and labels, with the same loss and λ. The indices of the next `run` are row numbers in it.

        Raises
        ------
        ValueError
            Another loss, λ or arithmetic; or a centred algorithm, whose x̄ is the mean of one set of rows.

        Cost: O(1), or O(n) where the columns outgrow the room, which is doubled then.
        """
        if self._parts.centred:
            raise ValueError(f"{self.algorithm} cannot go on with other rows: their mean is another")
        if (problem.number, problem.lam, _code(problem)) != (self.problem.number, self.problem.lam, _code(self.problem)):
            raise ValueError("problem must have the same loss and lam, in the same arithmetic, as the one before")
        self.problem = problem
        self._X = problem.X if problem.number is not np.float64 else _unsigned(problem.X)
        for name in self._parts.vectors:
            vector = getattr(self, name)
            width, room = max(len(vector), problem.n), self._room.get(name)
            if room is None or vector.base is not room or width > len(room):
                self._room[name] = room = self._zeros(max(width, 2 * len(vector)))
                room[: len(vector)] = vector
            setattr(self, name, room[:width])
        return self

    def last(self) -> Predictor:
        """The last iterate, (w_t, b_t), or (w_t, b'_t) of a centred run, for raw rows.

        Paper: Lemma 1 (lem:v); eq. 12 (eqn:wCenter) and eq. 14 (eqn:bTagCenter).
        Cost: O(n).
        """
        return self._predictor(self._parts.last)

    def average(self) -> Predictor:
        """The mean of the iterates 1, …, t: (w̄_t, b̄_t), or (w̄_t, b̄'_t) of a centred run, for raw rows.

        Raises ValueError for sgd and csgd, which keep no average.

        Paper: eqs. 7 and 10 (eqn:obDef, eqn:owDef); eqs. 18 and 19 (obCenterDef, eqn:owCenterDef).
        Cost: O(n).
        """
        if self._parts.average is None:
            averaging = "casgd" if self._parts.centred else "asgd"
            raise ValueError(f"{self.algorithm} keeps no average; a State of {averaging!r} keeps both")
        if self.t and self.total == 0:
            raise ValueError("weights must not all be 0 up to this step: there is nothing to average")
        return self._predictor(self._parts.average)

    def _predictor(self, recovery: Recovery) -> Predictor:
        if self.t == 0:
            raise ValueError("no step was taken yet: run(indices) comes before last() and average() (E11)")
        self._check_whole()
        with np.errstate(over="ignore", invalid="ignore"):
            parts = (getattr(self, name) for name in recovery.parts)
            w, b = recovery.recover(self.problem.lam, self.problem.number(self.t) + self.t0, *parts)
            around = None if self.pivot is None else Predictor(w, b, self.pivot)
            if around is not None:  # b was the bias of the pivoted rows
                b = around.implicit().b
        if self.problem.number is np.float64:
            check_finite(self.t, b, w.min(initial=0), w.max(initial=0))
        return Predictor(w, b, pivoted=around)

    def _check_whole(self) -> None:
        if self._running:
            raise RuntimeError(
                "this state is in the middle of a run, in another thread or one that was cut off by an interrupt or an error: "
                "begin a new State, or load a saved one"
            )
        check_finite(self.t, self.p)

    def save(self, path) -> None:
        """Write the state to a file, whole or not at all: to a temporary file beside it first, then renamed.

        The problem itself is not written, only a checksum of it. Raises TypeError unless it is in float64.
        """
        self._check_whole()
        names = ("algorithm", "t0", "t", "p", "g", *self._parts.scalars, *self._parts.vectors)
        values = {name: getattr(self, name) for name in names}
        checksum = _checksum(self.problem)
        write_whole(path, lambda file: np.savez(file, problem=checksum, weighted=self.weights is not None, **values))

    @classmethod
    def load(cls, path, problem: Problem, weights: Weights | None = None) -> "State":
        """Read a state written by `save`, to go on with the same problem, and the same weights of the average if it had any.

        Raises
        ------
        ValueError
            The file is not a saved state, or is one of another problem.
        """
        checksum = _checksum(problem)
        with open(path, "rb") as handle:
            try:
                with np.load(handle, allow_pickle=False) as file:
                    saved = {name: file[name] for name in file.files}
                same, weighted = int(saved["problem"]) == checksum, bool(saved["weighted"])
                state = cls(problem, str(saved["algorithm"]), t0=saved["t0"][()], weights=weights if weighted else None)
                state.t = int(saved["t"])
                for name in ("p", "g", *state._parts.scalars):
                    setattr(state, name, np.float64(saved[name][()]))
                for name in state._parts.vectors:
                    width = saved[state._parts.vectors[0]].size
                    fits = width == problem.n or (width > problem.n and not state._parts.centred)  # a stream may be wider
                    if same and not (saved[name].shape == (width,) and fits):
                        raise ValueError(f"{name} has the shape {saved[name].shape}")
                    setattr(state, name, np.array(saved[name], dtype=np.float64))
            except Exception as error:  # whatever a damaged archive makes its reader raise
                raise ValueError(f"{os.fspath(path)!r} is not a saved state: {error}") from None
        if weighted != (weights is not None):
            raise ValueError(f"weights must be given just if they were when {os.fspath(path)!r} was saved; got {weights!r}")
        if not same:
            raise ValueError(f"{os.fspath(path)!r} was saved for another problem: X, y, loss and lam must be the same")
        return state


@cache
def _compiled(function):
    """The same source compiled by numba for float64; division follows IEEE 754 and results do not depend on the CPU."""
    return numba.njit(function, error_model="numpy", nogil=True)


@cache
def _compiled_derivative(derivative):
    """The loss derivative, compiled; a TypeError that shows why if numba cannot."""
    try:
        compiled = _compiled(getattr(derivative, "py_func", derivative))
        float(compiled(np.float64(0), np.float64(1)))
    except (numba.core.errors.NumbaError, TypeError) as error:
        raise TypeError(
            f"the loss's derivative must be scalar arithmetic, comparisons and `math`, which numba can compile: {error}"
        ) from None
    return compiled


def _unsigned(X: Rows) -> Rows:
    """The same memory with column numbers read as unsigned: numba then need not test each for being negative.

    `Problem` has checked that they are in range.
    """
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]  # as plain Python, float32 values times a Python float would round to float32
        X = X._replace(data=X.data.astype(np.float64, copy=False))
    return X._replace(indices=X.indices.view(f"u{X.indices.dtype.itemsize}"))


def _code(problem: Problem) -> tuple:
    """What tells a loss from another one of the same name: what its derivative is made of."""
    return problem.loss.name, _made_of(problem.loss.derivative)


def _made_of(thing) -> Any:
    if isinstance(thing, CodeType):
        return thing.co_code, thing.co_names, tuple(map(_made_of, thing.co_consts))
    if hasattr(thing, "__code__"):
        cells = [cell.cell_contents for cell in thing.__closure__ or ()]
        return _made_of(thing.__code__), repr(thing.__defaults__), tuple(map(_made_of, cells))
    return repr(thing)


def _checksum(problem: Problem) -> int:
    """A checksum of everything a run depends on, however the rows are stored."""
    if problem.number is not np.float64:
        raise TypeError("only float64 states can be saved and loaded; keep an exact state in memory")
    total = zlib.crc32(repr((problem.n, _code(problem), float(problem.lam))).encode())
    for array, dtype in (
        (problem.X.data, np.float64),
        (problem.X.indices, np.int64),
        (problem.X.indptr, np.int64),
        (problem.y, np.float64),
        (problem.weight, np.float64),
    ):
        for start in range(0, len(array), 1 << 20):
            total = zlib.crc32(np.ascontiguousarray(array[start : start + (1 << 20)], dtype=dtype).data, total)
    return total
