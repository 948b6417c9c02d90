"""A run of one of the four algorithms that can be continued, looked at, saved and loaded at any step."""

import copy
import os
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from types import CodeType
from typing import Any, Self

import numpy as np

from reference import Predictor, Problem
from reference.arithmetic import check_finite, check_t0
from reference.averaging import Weights, check_weights, evaluate
from reference.rows import Rows
from reference.sampling import check_indices

from ..kernels.blocks import blocks, blocks_of_rows, first_block, held_interrupts, progress_bar
from ..kernels.compiled import compiled_derivative, compiled_loop, unsigned
from ..kernels.prefetch import LARGE
from .algorithms import ALGORITHMS, Mean, Recovery
from .archives import check_stored
from .centre import Centre
from .centring import find_pivot, is_far, pivoted
from .files import write_whole

COLUMNS = 4096
"""How many columns a recovery takes at a time: so few that they stay in a cache."""

SUMMED = 1_000_000
"""How many numbers a checksum takes at a time."""


class Run:
    """What a run of one model and a run of many have in common: rows and their mean, blocks, checks, files.

    It needs the loop as `_source`, `_advance`, which takes steps, and `_check_finite`; `problems` are what is trained on.
    """

    problems: Any

    t0: Any
    p: Any
    g: Any
    a: Any
    c: Any
    h: Any
    total: Any
    z: Any
    r: Any
    s: Any
    xbar: np.ndarray
    theta: Any
    # a subclass that returns None here trains as printed, to show what that loses
    find_pivot: Callable[[Rows, np.ndarray], np.ndarray | None] = staticmethod(find_pivot)

    def __init__(self, problem: Problem, algorithm: str, weights: Weights | None, centre: Centre | None):
        if algorithm not in ALGORITHMS:
            raise ValueError(f"algorithm must be one of {', '.join(map(repr, ALGORITHMS))}; got {algorithm!r}")
        self.problem = problem
        self.algorithm = algorithm
        self._parts = parts = ALGORITHMS[algorithm]
        if weights is not None and parts.average is None:
            raise ValueError(f"weights are those of an average, and {algorithm} keeps none")
        self.weights = check_weights(weights)
        exact = problem.number is not np.float64
        self._compile()
        self._centre = _check_centre(centre, problem, algorithm)
        self.pivot = None if centre is None else centre.pivot
        self._use(problem)
        self.t = 0
        self._running = False
        if parts.mean is not None:
            if centre is not None:
                self.xbar, total = self._zeros(problem.n), problem.number(1)
                self.xbar[:] = centre.xbar
            else:
                total = self._add_up(parts.mean)
                if not exact and is_far(self.xbar / total, problem.X, problem.weight):
                    self.pivot = self.find_pivot(problem.X, problem.weight)
                    self._use(problem)
                    total = self._add_up(parts.mean)
            self.theta = self._in_arithmetic(parts.mean.centre)(self.xbar, total)
            if not exact:
                check_finite(0, self.theta)

    def _add_up(self, mean: Mean):
        """Let xbar be the sum of the rows, each times its weight, and return the sum of the weights."""
        self.xbar, total, add_up = self._zeros(self.problem.n), self.problem.number(0), self._in_arithmetic(mean.add_up)
        for start, stop in blocks_of_rows(self._X):
            total = add_up(self._X, self.problem.weight, start, stop, self.xbar, total)
        return total

    @property
    def _source(self):
        raise NotImplementedError

    def _compile(self) -> None:
        derivative = self.problem.loss.derivative
        self._dloss = compiled_derivative(derivative) if self.problem.number is np.float64 else derivative
        self._steps = self._in_arithmetic(self._source)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_dloss", "_steps")}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        vars(self).update(kept)
        self._compile()

    def _use(self, problem: Problem) -> None:
        """Let the next steps be taken on these rows."""
        self.problem = problem
        X = problem.X if self.pivot is None or not problem.m else pivoted(problem.X, self.pivot)
        self._X = X if problem.number is not np.float64 else unsigned(X)
        self._projections = self._zeros(0)

    def _in_arithmetic(self, function):
        """The function as it is for exact arithmetic, compiled for float64."""
        return compiled_loop(function) if self.problem.number is np.float64 else function

    def _zeros(self, *shape: int) -> np.ndarray:
        if self.problem.number is np.float64:
            return np.zeros(shape)
        return np.full(shape, self.problem.number(0), dtype=object)

    def _project(self, mean: Mean, steps: int) -> None:
        """Compute q = x̄ · x for every row once, where so many steps would take longer without."""
        X = self._X
        if self.problem.number is np.float64 and not len(self._projections) and (X.n >= LARGE or steps >= 2 * X.m):
            projections, project = np.empty(X.m), self._in_arithmetic(mean.project)
            for start, stop in blocks_of_rows(self._X):
                project(X, self.xbar, start, stop, projections)
            self._projections = projections

    def run(self, indices, *, callback=None, every: int | None = None, progress: bool | None = None) -> Self:
        """Take a step for each of the drawn examples, and return this state.

        It works in blocks of about a tenth of a second. Ctrl-C is answered after a block, and the state is whole then: `t`
        says how far it came, and `run(indices[done:])`, where done steps of these were taken, goes on as if nothing had been.

        Parameters
        ----------
        indices : sequence of row numbers in 0..m-1, the next part of the paper's π
        callback : callable (t, state), optional
            Called after every block, for traces and plots. What it raises ends the run, and the state is whole.
        every : int >= 1, optional
            Call back whenever t is a multiple of it, and at the end, instead of after every block.
        progress : bool, optional
            Whether to show a progress bar after half a second; by default on a terminal and in a notebook only.

        Raises
        ------
        TypeError, ValueError
            Unusable arguments; no step was taken.
        FloatingPointError
            The iterates overflowed; names the step by which they had.
        RuntimeError
            Another thread is running this state, or a run of it was cut off by an error.

        Cost: O(k) a step, for each model.
        """
        self._check_rows()
        indices = check_indices(indices, self.problem.m)
        every = _check_callback(callback, every)
        self._check_whole()
        first, last = self.t, self.t + len(indices)
        size = max(1, first_block(self._X) // len(self.problems))
        if progress is None and len(indices) <= size:
            progress = False  # one block has no progress to show, and a bar in a notebook takes longer than a hundred steps
        with progress_bar(first, last, progress) as bar, held_interrupts() as let_through:
            if self._parts.mean is not None:
                self._project(self._parts.mean, len(indices))
            for start, stop in blocks(first, last, size, every):
                self._take(indices[start - first : stop - first])
                if bar is not None:
                    bar.update(stop - start)
                if callback is not None and (every is None or stop % every == 0 or stop == last):
                    callback(self.t, self)
                let_through()
        return self

    def _take(self, indices: np.ndarray) -> None:
        """Take a step for each of the drawn examples, in one go."""
        # a single 1 is an array of another kind to numba, for which it would compile the loop anew: two of them, then
        steps = len(indices) if self.weights else max(2, len(indices))
        omega = evaluate(self.weights, self.t + 1, steps, self.problem.number)
        self._running = True
        with np.errstate(over="ignore", invalid="ignore"):
            self.t = int(self._advance(indices, omega))
        self._running = False
        self._check_whole()

    def _advance(self, indices: np.ndarray, omega: np.ndarray):
        """Let the loop take these steps, keep what it returns, and return the number of steps taken so far."""
        raise NotImplementedError

    def _check_whole(self) -> None:
        if self._running:
            raise RuntimeError(
                "this state is in the middle of a run, in another thread or one that was cut off by an interrupt or an error: "
                "begin a new one, or load a saved one"
            )
        self._check_finite()

    def _check_finite(self) -> None:
        raise NotImplementedError

    def _check_rows(self) -> None:
        if not self.problem.m:
            raise ValueError("this state has forgotten its rows: follow(problem) brings others")

    def _check_follows(self, before: Problem, problem: Problem) -> None:
        if self._parts.centred and self._centre is None:
            raise ValueError(
                f"{self.algorithm} cannot go on with other rows: their mean is another. Say what to centre at from the start, "
                "by centre=find_centre(X), see efficient.runs.centre"
            )
        if (problem.number, problem.lam, loss_code(problem)) != (before.number, before.lam, loss_code(before)):
            raise ValueError("problem must have the same loss and lam, in the same arithmetic, as the one before")
        if self._parts.centred and problem.n != before.n:
            raise ValueError(f"problem must have the {before.n} columns of the centre; got {problem.n}")

    def forget_rows(self) -> Self:
        """Let go of the rows and labels: what was learned is kept, takes O(n) in a pickle, and goes on with `follow`."""
        self._use(without_rows(self.problem))
        return self

    def _averaging(self) -> Recovery:
        """How to make the mean of the iterates."""
        if self._parts.average is None:
            averaging = "casgd" if self._parts.centred else "asgd"
            raise ValueError(f"{self.algorithm} keeps no average; a {type(self).__name__} of {averaging!r} keeps both")
        if self.t and np.all(self.total == 0):
            raise ValueError("weights must not all be 0 up to this step: there is nothing to average")
        return self._parts.average

    def follow(self, problems: Any) -> Self:
        """Take the next steps on the rows of other problems, one for each model."""
        raise NotImplementedError

    def last(self) -> Any:
        """Make the last iterate of each model."""
        raise NotImplementedError

    def average(self) -> Any:
        """Make the mean of the iterates of each model."""
        raise NotImplementedError

    def predictors(self) -> list[Predictor]:
        """Make what the algorithm returns, for each model: the mean of the iterates of asgd and casgd, else the last one."""
        made = self.last() if self._parts.average is None else self.average()
        return made if isinstance(made, list) else [made]

    def _check_begun(self) -> None:
        if self.t == 0:
            raise ValueError("no step was taken yet: run(indices) comes before last() and average() (E11)")
        self._check_whole()

    def _predictor(self, w: np.ndarray, b) -> Predictor:
        """The predictor for raw rows that has these weights, and this bias for the rows x − pivot."""
        around = None if self.pivot is None else Predictor(w, b, self.pivot)
        if around is not None:
            with np.errstate(over="ignore", invalid="ignore"):
                b = around.implicit().b  # eq. 11 (eqn:explicitToImplicit), with the pivot for x̄
        if self.problem.number is np.float64:
            check_finite(self.t, b, w.min(initial=0), w.max(initial=0))
        return Predictor(w, b, pivoted=around)

    def save(self, path) -> None:
        """Write the state to a file, whole or not at all: to a temporary file beside it first, then renamed.

        The problem itself is not written, only a checksum of it. Raises TypeError unless it is in float64.
        """
        self._check_whole()
        self._check_rows()
        values: dict[str, Any] = {
            "problem": _checksum(*self.problems),
            "algorithm": self.algorithm,
            "weighted": self.weights is not None,
        }
        values |= {"t0": self.t0, "t": self.t, **self._kept()}
        if self._centre is not None:
            values |= {f"centre_{name}": part for name, part in self._centre._asdict().items() if part is not None}
        write_whole(path, lambda file: np.savez(file, **values))

    @classmethod
    def load(cls, path, problem, weights: Weights | None = None) -> Self:
        """Read a state written by `save`, to go on with the same problem, and the same weights of the average if it had any.

        Raises
        ------
        ValueError
            The file is not a saved state, or is one of another problem.
        """
        checksum = _checksum(*((problem,) if isinstance(problem, Problem) else problem))
        with open(path, "rb") as handle:
            try:
                with zipfile.ZipFile(handle) as archive:
                    check_stored(archive, os.fstat(handle.fileno()).st_size)
                handle.seek(0)
                with np.load(handle, allow_pickle=False) as file:
                    saved = {name: file[name] for name in file.files}
                same, weighted = int(saved["problem"]) == checksum, bool(saved["weighted"])
                if same:
                    begin: Any = cls  # State or States; both take t0
                    options = {"t0": saved["t0"][()], "weights": weights if weighted else None}
                    if "centre_xbar" in saved:
                        options["centre"] = Centre(saved.get("centre_pivot"), saved["centre_xbar"])
                    state = begin(problem, str(saved["algorithm"]), **options)
                    state._restore(saved)
            except Exception as error:  # whatever a damaged archive makes its reader raise
                raise ValueError(f"{os.fspath(path)!r} is not a saved state: {error}") from None
        if weighted != (weights is not None):
            raise ValueError(f"weights must be given just if they were when {os.fspath(path)!r} was saved; got {weights!r}")
        if not same:
            raise ValueError(f"{os.fspath(path)!r} was saved for another problem: X, y, loss and lam must be the same")
        return state

    def _kept(self) -> dict[str, Any]:
        """What a run goes on with, besides t."""
        return {name: getattr(self, name) for name in ("p", "g", *self._parts.scalars, *self._parts.vectors)}

    def _restore(self, saved: dict[str, np.ndarray]) -> None:
        self.t = int(saved["t"])
        for name, room in self._kept().items():
            value = saved[name]
            if value.shape != np.shape(room):
                raise ValueError(f"{name} has the shape {value.shape}")
            if value.ndim:
                room[:] = value
            else:
                setattr(self, name, np.float64(value))


class State(Run):
    """A resumable run: `State(problem, "asgd").run(indices).average()`.

    The state is what the paper's pseudocode keeps, under its own names: t, v, u, a, c, h, and for the centred algorithms
    xbar, theta, z, r, s; also p and g, the last step's prediction and loss derivative. Running in pieces gives, to the
    bit, what one run gives.

    Where a column has a mean that is large for its spread, a centred run in float64 is one on the rows x − pivot, translated
    once and kept: `pivot` is then a vector, and v, u, xbar, theta, z, r and s are those of these rows.

    Parameters
    ----------
    problem : Problem
        Its arithmetic is the state's: float64 through compiled loops, otherwise the same loops as plain Python.
    algorithm : {"sgd", "asgd", "csgd", "casgd"}
    t0 : number >= 0
        The steps have the size 1/(λ(t + t0)). The paper has t0 = 0; `safe_t0` is what the squared loss needs.
    weights : function of step numbers, optional
        The weight ω_t of each iterate in the mean, such as `polynomial(1)` or `suffix(1000)`; the paper has ω = 1.
    centre : Centre, optional
        What csgd and casgd take for x̄, from `find_centre`; by default it is the mean of the problem's rows.
        It is kept when other rows follow.

    Raises
    ------
    ValueError
        An unknown algorithm, or a centre that does not fit.
    TypeError
        numba cannot compile the derivative of the user's own loss.

    Paper: Algorithms 1 to 3.
    Cost: O(n) memory (one vector for sgd, two for csgd and asgd, three for casgd); the centred ones read every row once.
    """

    def __init__(
        self, problem: Problem, algorithm: str = "asgd", *, t0=0, weights: Weights | None = None, centre: Centre | None = None
    ):
        self.t0 = check_t0(t0, problem.number)
        super().__init__(problem, algorithm, weights, centre)
        self._room = self._zeros(1, len(self._parts.vectors))  # an array without entries does not say how far they are apart
        self._make_room(problem.n, problem.n)
        for name in ("p", "g", *self._parts.scalars):
            setattr(self, name, problem.number(0))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problem, as a sequence of one."""
        return (self.problem,)

    @property
    def _source(self):
        return self._parts.steps

    def _make_room(self, width: int, columns: int) -> None:
        """Let the vectors have this width, in room for so many columns; those of one column lie side by side in memory."""
        old, self._width = self._room, width
        if columns > len(old):
            self._room = self._zeros(columns, old.shape[1])
            self._room[: len(old)] = old

    @property
    def v(self) -> np.ndarray:
        """The gradient sum."""
        return self._room[: self._width, 0]

    @property
    def u(self) -> np.ndarray:
        """The harmonic gradient sum, which asgd and casgd keep."""
        if self._parts.average is None:
            raise AttributeError(f"{self.algorithm} keeps no u")
        return self._room[: self._width, 1]

    def _advance(self, indices: np.ndarray, omega: np.ndarray):
        problem, parts = self.problem, self._parts
        averaging = (omega,) if parts.average else ()
        mean = (self.xbar, self.theta, self._projections) if parts.centred else ()
        vectors = [getattr(self, name) for name in parts.vectors]
        scalars = [getattr(self, name) for name in parts.scalars]
        t, *scalars, self.p, self.g = self._steps(
            *(self._X, problem.y, problem.weight, problem.lam, self._dloss, indices),
            *(self.t0, *averaging, *mean, problem.number(self.t), *vectors, *scalars),
        )
        for name, value in zip(parts.scalars, scalars, strict=True):
            setattr(self, name, value)
        return t

    def _check_finite(self) -> None:
        check_finite(self.t, self.p)

    def follow(self, problem: Problem | Iterable[Problem]) -> Self:
        """Go on with the rows of another problem, wider ones if need be: a stream whose dimension is not known beforehand.

        New columns start at 0, as they would have if they had been known from the start; the result is the same to the bit.

        Parameters
        ----------
        problem : Problem, or a sequence of one
            Other rows and labels, with the same loss and λ. The indices of the next `run` are row numbers in it.

        Raises
        ------
        ValueError
            Another loss, λ or arithmetic; or a centred algorithm without a given `centre`, since x̄ is the mean of one set of
            rows, or with one but with other columns.

        Cost: O(1), or O(n) where the columns outgrow the room, which is doubled then; O(n + mk) with a pivot.
        """
        problem = _single(problem)
        self._check_follows(self.problem, problem)
        self._use(problem)
        width = max(self._width, problem.n)
        self._make_room(width, max(width, 2 * self._width) if width > len(self._room) else 0)
        return self

    def last(self) -> Predictor:
        """The last iterate, (w_t, b_t), or (w_t, b'_t) of a centred run, for raw rows.

        Paper: Lemma 1 (lem:v); eq. 12 (eqn:wCenter) and eq. 14 (eqn:bTagCenter).
        Cost: O(n).
        """
        return self._recovered(self._parts.last)

    def average(self) -> Predictor:
        """The mean of the iterates 1, …, t: (w̄_t, b̄_t), or (w̄_t, b̄'_t) of a centred run, for raw rows.

        Raises ValueError for sgd and csgd, which keep no average.

        Paper: eqs. 7 and 10 (eqn:obDef, eqn:owDef); eqs. 18 and 19 (obCenterDef, eqn:owCenterDef).
        Cost: O(n).
        """
        return self._recovered(self._averaging())

    def _recovered(self, recovery: Recovery) -> Predictor:
        self._check_begun()
        w, b, t = np.empty(self._width, dtype=self._room.dtype), None, self.problem.number(self.t) + self.t0
        kept = [getattr(self, name) for name in recovery.parts]
        for columns in parts_of(self._width):
            parts = (each[columns] if isinstance(each, np.ndarray) else each for each in kept)
            with np.errstate(over="ignore", invalid="ignore"):
                w[columns], b = recovery.recover(self.problem.lam, t, *parts)
        return self._predictor(w, b)

    def _restore(self, saved: dict[str, np.ndarray]) -> None:
        if saved["v"].size > self.problem.n and not self._parts.centred:  # a stream may be wider
            self._make_room(saved["v"].size, saved["v"].size)
        super()._restore(saved)


def _single(problem: Problem | Iterable[Problem]) -> Problem:
    """The problem, also of a sequence of one."""
    if isinstance(problem, Problem):
        return problem
    if not isinstance(problem, Iterable) or len(problems := tuple(problem)) != 1 or not isinstance(problems[0], Problem):
        raise TypeError(f"problem must be a Problem, or a sequence of one; got {problem!r}")
    return problems[0]


def parts_of(n: int) -> Iterator[slice]:
    """The n columns in parts, one of no columns if there are none: a recovery needs no other vectors than its result then."""
    for start in range(0, max(1, n), COLUMNS):
        yield slice(start, start + COLUMNS)


def _check_centre(centre, problem: Problem, algorithm: str) -> Centre | None:
    if centre is None:
        return None
    if not isinstance(centre, Centre):
        raise TypeError(f"centre must be a Centre, such as efficient.runs.centre.find_centre gives; got {centre!r}")
    if not ALGORITHMS[algorithm].centred:
        raise ValueError(f"centre is for csgd and casgd; got one for {algorithm}")
    if any(np.shape(part) != (problem.n,) for part in centre if part is not None):
        raise ValueError(f"centre must have the {problem.n} columns of the problem; got {np.shape(centre.xbar)}")
    return centre


def without_rows(problem: Problem) -> Problem:
    """The problem with no rows and labels at all, which nobody could have made."""
    empty = copy.copy(problem)
    vars(empty).pop("xbar", None)
    X = problem.X
    empty.X = X._replace(data=X.data[:0].copy(), indices=X.indices[:0].copy(), indptr=np.zeros(1, X.indptr.dtype))
    empty.y, empty.weight = problem.y[:0].copy(), problem.weight[:0].copy()
    return empty


def _check_callback(callback, every) -> int | None:
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be a function of t and the state; got {callback!r}")
    if every is None:
        return None
    if isinstance(every, bool) or not isinstance(every, (int, np.integer)):
        raise TypeError(f"every must be a number of steps, an integer >= 1; got {every!r}")
    if every < 1 or callback is None:
        raise ValueError(
            f"every must be a number of steps >= 1, and goes with a callback; got {every!r}, callback={callback!r}"
        )
    return int(every)


def loss_code(problem: Problem) -> tuple:
    """What tells a loss from another one of the same name: what its derivative is made of."""
    return problem.loss.name, _made_of(problem.loss.derivative)


def _made_of(thing) -> Any:
    if isinstance(thing, CodeType):
        return thing.co_code, thing.co_names, tuple(map(_made_of, thing.co_consts))
    if hasattr(thing, "__code__"):
        cells = [cell.cell_contents for cell in thing.__closure__ or ()]
        return _made_of(thing.__code__), repr(thing.__defaults__), tuple(map(_made_of, cells))
    return repr(thing)


def _checksum(problem: Problem, *others: Problem) -> int:
    """A checksum of everything a run depends on, however the rows are stored; of the other problems, which share the rows
    and the loss, only λ and the labels.
    """
    if problem.number is not np.float64:
        raise TypeError("only float64 states can be saved and loaded; keep an exact state in memory")
    total = zlib.crc32(repr((problem.n, loss_code(problem), float(problem.lam))).encode())
    arrays = [
        (problem.X.data, np.float64),
        (problem.X.indices, np.int64),
        (problem.X.indptr, np.int64),
        (problem.y, np.float64),
        (problem.weight, np.float64),
    ]
    for other in others:
        arrays += [(np.array([other.lam]), np.float64), (other.y, np.float64)]
    for array, dtype in arrays:
        for start in range(0, len(array), SUMMED):
            total = zlib.crc32(np.ascontiguousarray(array[start : start + SUMMED], dtype=dtype).data, total)
    return total
