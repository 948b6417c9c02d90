"""Run one of the four algorithms so that it can stop, resume, be saved and be loaded at any step: the part common to any K."""

import copy
import os
import threading
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Generic, Self, TypeVar

import numpy as np

from reference import Predictor, Problem
from reference.arithmetic import Overflow, check_finite, shown, unsignalled
from reference.averaging import AveragingWeights, check_weights, evaluate
from reference.rows import Rows, check_unchanged, sealed
from reference.sampling import check_indices

from ..kernels.blocks import blocks, blocks_of_rows, first_block, held_interrupts, progress_bar
from ..kernels.compiled import in_arithmetic
from ..kernels.loss_functions import loss_function
from ..kernels.prefetch import LARGE
from .algorithms import ALGORITHMS, Mean, Recovery
from .averaged import check_alike, check_shares, mean_of
from .centring import Centre, centre_of, prepared
from .files import check_stored, reason, write_whole
from .saving import FORMAT, check_content, checksum, content_sum, loss_identity

Made = TypeVar("Made", Predictor, list[Predictor])

NOT_KEPT = ("_lock", "_changing", "_dloss", "_steps")
"""Parts that a copy or a pickle makes anew."""


class Run(Generic[Made]):
    """Resumable run of one model (`State`) or of K models (`States`): rows and their mean, blocks, validation, files.

    A subclass gives the loop as `_source`, `_advance`, which takes steps, `_check_finite`, `_recovered` and `follow`.
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
    _X: Rows
    _projections: np.ndarray
    _source: Any
    _advance: Callable[[np.ndarray, np.ndarray], Any]
    _check_finite: Callable[[], None]
    _recovered: Callable[[Recovery], Made]
    follow: Any

    def __init__(
        self,
        problem: Problem,
        algorithm: str,
        averaging_weights: AveragingWeights | None,
        centre: Centre | None,
        pivot: bool = True,
    ):
        if algorithm not in ALGORITHMS:
            raise ValueError(f"algorithm must be one of {', '.join(map(repr, ALGORITHMS))}; got {algorithm!r}")
        self.problem = problem
        self.algorithm = algorithm
        self._parts = parts = ALGORITHMS[algorithm]
        if averaging_weights is not None and not parts.averaging:
            raise ValueError(
                f"averaging_weights must be None for {algorithm}, which keeps no average; got {averaging_weights!r}"
            )
        self.averaging_weights = check_weights(averaging_weights)
        self._has_centre = _check_centre(centre, problem, algorithm) is not None
        self._may_pivot = pivot
        self.pivot: np.ndarray | None = None
        self.t = 0
        self._running = False  # True in a block, and after an error that cut one off
        self._begin()
        rows = None
        if parts.mean is not None:
            if centre is None:
                (self.pivot, self.xbar), self.theta, rows = centre_of(problem.X, problem.sample_weight, pivot=pivot)
            else:
                self.pivot, self.xbar = centre.pivot, np.array(centre.xbar, dtype=self._zeros(0).dtype)
                self.theta = in_arithmetic(parts.mean.centre, problem.X.exact)(self.xbar, problem.number(1))
            if not problem.X.exact and not np.isfinite(self.theta):
                raise Overflow("the squared length of the mean row overflows float64", "rows")
            self.xbar = sealed(self.xbar)
        self._use(problem, rows)

    @property
    def _centre(self) -> Centre | None:
        """Centre that the run was given, which rows to come cannot move."""
        return Centre(self.pivot, self.xbar) if self._has_centre else None

    def _begin(self) -> None:
        """Make what is not kept in a copy or a pickle."""
        self._lock, self._changing = threading.RLock(), False
        exact, derivative = self.problem.X.exact, self.problem.loss.derivative
        self._dloss = derivative if exact else loss_function(derivative)
        self._steps = in_arithmetic(self._source, exact)

    def __getstate__(self) -> dict[str, Any]:
        with self._alone(changing=False):
            return {name: value for name, value in vars(self).items() if name not in NOT_KEPT}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        vars(self).update(kept)
        self._begin()
        if self._parts.centred:
            self.xbar = sealed(self.xbar)

    def __copy__(self) -> Self:
        """Copy what a run changes as well: two runs on the same vectors would be neither's."""
        return copy.deepcopy(self, {id(each): each for each in (self._X, self.problem, *self.problems)})

    @contextmanager
    def _alone(self, changing: bool = True) -> Iterator[None]:
        """Refuse other threads meanwhile, and with `changing` a callback, which may look at its run but not change it.

        Threads that only look wait for each other, as where Dask sends a state that it is averaging.
        """
        alone = self._lock.acquire(blocking=False)
        while not (alone or changing or self._changing):
            alone = self._lock.acquire(timeout=0.01)
        if not alone:
            raise RuntimeError(
                "state must not be in the middle of a run, or of another call, in another thread; got two calls at once. "
                "Look at a run in its callback"
            )
        try:
            before = self._changing
            if changing and before:
                raise RuntimeError(
                    "state must not be in the middle of a run; got a callback that changes it. Return from the callback first"
                )
            self._changing = before or changing
            try:
                yield
            finally:
                self._changing = before
        finally:
            self._lock.release()

    def _prepared(self, problem: Problem) -> Rows:
        return prepared(problem.X, self.pivot if problem.m else None)

    def _use(self, problem: Problem, rows: Rows | None = None, **others) -> None:
        """Let the next steps be taken on these rows, which are `rows` after preparation. One call replaces all, or nothing."""
        rows = self._prepared(problem) if rows is None else rows
        vars(self).update(problem=problem, _X=rows, _projections=self._zeros(0), **others)

    def _zeros(self, *shape: int) -> np.ndarray:
        if not self.problem.X.exact:
            return np.zeros(shape)
        return np.full(shape, self.problem.number(0), dtype=object)

    def _project(self, mean: Mean, steps: int) -> None:
        """Compute q = x̄ · x for every row once, where so many steps would take longer without."""
        X = self._X
        if not X.exact and not len(self._projections) and (X.n >= LARGE or steps >= 2 * X.m):
            projections, project = np.empty(X.m), in_arithmetic(mean.project, X.exact)
            for start, stop in blocks_of_rows(X):
                project(X, self.xbar, start, stop, projections)
            self._projections = projections

    def run(self, indices, *, callback=None, every: int | None = None, progress: bool | None = None, jobs: int = 1) -> Self:
        """Take a step for each of the drawn examples, and return this state.

        The steps are taken in blocks of about a tenth of a second. Ctrl-C is answered after a block, and the state is whole
        then: `t` counts the steps taken, and `run(indices[done:])`, where done of these steps were taken, resumes the run.

        Parameters
        ----------
        indices : sequence of row numbers in 0..m-1, the next part of the paper's π
        callback : callable (t, state), optional
            Called after every block, for traces and plots. What it raises ends the run, and the state is whole.
        every : int >= 1, optional
            Call back whenever t is a multiple of it, and at the end, instead of after every block.
        progress : bool, optional
            Whether to show a progress bar after half a second; by default on a terminal and in a notebook only.
        jobs : int >= 1
            How many threads share K models; each trains four or more, and the bits are the same. One model has one thread.

        Raises
        ------
        TypeError, ValueError
            Unusable arguments, and no step was taken; or a callback wrote such ones into the indices.
        FloatingPointError
            The iterates overflowed; names the step by which they had.
        RuntimeError
            Another thread uses this state, it is called in a callback, or a run of it was cut off by an error.

        Cost: O(k) a step, for each model.
        """
        with self._alone():
            self._run(indices, callback, every, progress, jobs)
        return self

    def _run(self, indices, callback, every: int | None, progress: bool | None, jobs: int) -> None:
        self._check_rows()
        indices = check_indices(indices, self.problem.m)
        every = _check_callback(callback, every)
        if isinstance(jobs, bool) or not isinstance(jobs, (int, np.integer)) or jobs < 1:
            raise ValueError(f"jobs must be a number of threads, an integer >= 1; got {jobs!r}")
        self._check_whole()
        self._spread(int(jobs))
        first, last = self.t, self.t + len(indices)
        size = max(1, first_block(self._X) // len(self.problems))
        if progress is None and len(indices) <= size:
            progress = False  # one block has no progress to show, and a bar in a notebook takes longer than a hundred steps
        with progress_bar(first, last, progress) as bar, held_interrupts() as let_through:
            if self._parts.mean is not None:
                self._project(self._parts.mean, len(indices))
            for start, stop in blocks(first, last, size, every):
                block = indices[start - first : stop - first]
                self._take(block if callback is None else check_indices(block.copy(), self.problem.m))  # it may write there
                if bar is not None:
                    bar.update(stop - start)
                if callback is not None and (every is None or stop % every == 0 or stop == last):
                    callback(self.t, self)
                let_through()

    def _spread(self, jobs: int) -> None:
        """Give each of so many threads the vectors of its models, in memory of their own."""

    def _take(self, indices: np.ndarray) -> None:
        """Take a step for each of the drawn examples, in one call of the loop."""
        # length >= 2: numba compiles a separate version for the broadcast array of a single 1, which is contiguous
        steps = len(indices) if self.averaging_weights else max(2, len(indices))
        omega = evaluate(self.averaging_weights, self.t + 1, steps, self.problem.number)
        self._running = True
        with np.errstate(over="ignore", invalid="ignore"):
            self.t = int(self._advance(indices, omega))
        self._running = False
        try:
            self._check_whole()
        except FloatingPointError:
            check_unchanged(self.problem.X)
            raise

    def _check_whole(self) -> None:
        if self._running:
            raise RuntimeError(
                "state must not be in the middle of a run, in another thread or cut off by an interrupt or an error. "
                "Begin a new state, or load a saved one"
            )
        self._check_finite()

    def _check_rows(self) -> None:
        if not self.problem.m:
            raise ValueError("no rows attached (forget_rows was called); attach rows with follow(problem)")

    def _check_follows(self, before: Problem, problem: Problem) -> None:
        if self._parts.centred and self._centre is None:
            raise ValueError(
                f"{self.algorithm} must have a centre to follow other rows, whose mean is another; got none. "
                "Begin with centre=find_centre(X), of efficient.runs.centring"
            )
        now, then = ((each.number, each.lam, loss_identity(each.loss)) for each in (problem, before))
        if now != then:
            raise ValueError(
                "problem must have the same loss and lam, in the same arithmetic, as before; "
                f"got {problem.loss.name} and lam={shown(problem.lam)} after {before.loss.name} and lam={shown(before.lam)}"
            )
        if self._parts.centred and problem.n != before.n:
            raise ValueError(f"problem must have the {before.n} columns of the centre; got {problem.n}")

    @classmethod
    @unsignalled
    def mean(cls, states: Iterable[Self], weights: Iterable | None = None) -> Self:
        """Average states of one step: the last iterate of the mean is the mean of theirs, and so is its average.

        What a state keeps is linear in the loss derivatives that it met. So the mean is again a state, whose next
        prediction is the mean of theirs: runs on parts of the rows can be averaged and resumed. The mean has the rows of the
        first state; `follow` brings others.

        Parameters
        ----------
        states : one or more states of this kind, which stay as they are
            With equal algorithm, t, t0, λ, loss, averaging weights, columns and centre. They are added up in this order.
        weights : number > 0 for each state, optional
            Such as the number of rows of each part, so that all rows count alike. Equal ones by default.

        Raises
        ------
        TypeError, ValueError
            No states, or some that differ; names in what. Unusable weights.

        Paper: none; Lemma 1 (lem:v) and eqs. 12 to 19 are linear in v, u, a, c, z, r and s.
        Cost: O(n) for each state and model.
        """
        states = tuple(states)
        check_alike(cls, states)
        weights = check_shares(weights, len(states), states[0].problem.number)
        mean = copy.copy(states[0])

        def kept() -> Iterator[dict[str, Any]]:
            for state in states:  # one at a time: two threads that average the same states never wait for each other
                with state._alone(changing=False):
                    state._check_whole()
                    if state.t != mean.t:
                        raise RuntimeError("states must not be run while they are averaged; got one that another thread ran")
                    yield state._kept()

        mean._restore({"t": mean.t} | mean_of(kept(), weights))
        return mean

    def forget_rows(self) -> Self:
        """Let go of the rows and labels: what was learned is kept, takes O(n) in a pickle, and resumes with `follow`."""
        with self._alone():
            self._use(without_rows(self.problem))
        return self

    @unsignalled
    def last(self) -> Made:
        """Make the last iterate, (w_t, b_t), or (w_t, b'_t) of a centred run, for raw rows; `States` list one for each model.

        Paper: Lemma 1 (lem:v); eq. 12 (eqn:wCenter) and eq. 14 (eqn:bTagCenter).
        Cost: O(n) for each model.
        """
        with self._alone(changing=False):
            return self._recovered(self._parts.last)

    @unsignalled
    def average(self) -> Made:
        """Make the mean of the iterates 1, …, t: (w̄_t, b̄_t), or (w̄_t, b̄'_t) of a centred run, for raw rows; listed likewise.

        Raises ValueError for sgd and csgd, which keep no average.

        Paper: eqs. 7 and 10 (eqn:obDef, eqn:owDef); eqs. 18 and 19 (obCenterDef, eqn:owCenterDef).
        Cost: O(n) for each model.
        """
        if self._parts.average is None:
            averaging = " or ".join(repr(name) for name, each in ALGORITHMS.items() if each.averaging)
            raise ValueError(f"algorithm must be {averaging} for an average; got {self.algorithm!r}, which keeps none")
        with self._alone(changing=False):
            if self.t and np.all(self.total == 0):
                raise ValueError(
                    "averaging_weights must not all be 0 up to this step; got only zeros. Take more steps before average()"
                )
            return self._recovered(self._parts.average)

    @unsignalled
    def predictors(self) -> list[Predictor]:
        """Make what the algorithm returns, for each model: the mean of the iterates of asgd and casgd, else the last one."""
        made = self.average() if self._parts.averaging else self.last()
        return made if isinstance(made, list) else [made]

    def _check_begun(self) -> None:
        if self.t == 0:
            raise ValueError("no step was taken yet: call run(indices) before last() or average()")
        self._check_whole()

    def _predictor(self, w: np.ndarray, b, finite: bool) -> Predictor:
        """Make the predictor for raw rows that has these weights, if finite, and this bias for the rows x − pivot."""
        around = None if self.pivot is None else Predictor(w, b, self.pivot)
        if around is not None:
            with np.errstate(over="ignore", invalid="ignore"):
                b = around.implicit().b  # eq. 11 (eqn:explicitToImplicit), with the pivot for x̄
        if not self.problem.X.exact:
            check_finite(self.t, b, 0.0 if finite else np.nan)
        return Predictor(w, b, pivoted=around)

    @unsignalled
    def save(self, path) -> None:
        """Write the state to a file, whole or not at all, as `efficient.runs.files.write_whole` does.

        The problem itself is not written, only a checksum of it, and one of all that is written.
        Raises TypeError unless it is in float64.
        """
        write_whole(path, self.write)

    def write(self, file: BinaryIO) -> None:
        """Write the state as `save` does, to a binary file that is open for writing and can seek."""
        with self._alone(changing=False):
            self._check_whole()
            self._check_rows()
            values: dict[str, Any] = {
                "format": FORMAT,
                "problem": checksum(self.problems),
                "algorithm": self.algorithm,
                "weighted": self.averaging_weights is not None,
            }
            values |= {"may_pivot": self._may_pivot, "t0": self.t0, "t": self.t, **self._kept()}
            if self._centre is not None:
                values |= {f"centre_{name}": part for name, part in self._centre._asdict().items() if part is not None}
            np.savez(file, **values, content=content_sum(values))

    @classmethod
    def load(cls, path, problem, averaging_weights: AveragingWeights | None = None) -> Self:
        """Read a state written by `save`, to resume on the same problem, with the same averaging weights if it had any.

        Raises
        ------
        ValueError
            The file is not a saved state, or is one of another problem.
        """
        expected = checksum((problem,) if isinstance(problem, Problem) else tuple(problem))
        with open(path, "rb") as handle:
            try:
                with zipfile.ZipFile(handle) as archive:
                    check_stored(archive, os.fstat(handle.fileno()).st_size)
                handle.seek(0)
                with np.load(handle, allow_pickle=False) as file:
                    saved = {name: file[name] for name in file.files}
                number, weighted = int(saved.get("format", 1)), bool(saved["weighted"])
                if number == FORMAT:
                    check_content(saved)
                same = number == FORMAT and int(saved["problem"]) == expected
                state = cls._begun(problem, saved, averaging_weights if weighted else None) if same else None
            except Exception as error:  # whatever a damaged archive makes its reader raise
                raise ValueError(f"{os.fspath(path)!r} is not a saved state: {reason(error)}") from None
        if number != FORMAT:
            raise ValueError(
                f"{os.fspath(path)!r} must be a saved state of format {FORMAT}; got format {number}. "
                "Take the steps again, or load it with the version that wrote it"
            )
        if weighted != (averaging_weights is not None):
            raise ValueError(
                f"averaging_weights must be given just if {os.fspath(path)!r} was saved with some; got {averaging_weights!r}"
            )
        if state is None:
            raise ValueError(f"{os.fspath(path)!r} was saved for another problem: X, y, loss and lam must be the same")
        return state

    @classmethod
    def _begun(cls, problem, saved: dict[str, np.ndarray], averaging_weights: AveragingWeights | None) -> Self:
        """Begin a state, and put it where the saved one was."""
        options: dict[str, Any] = {"t0": saved["t0"][()], "averaging_weights": averaging_weights}
        if not saved["may_pivot"]:
            options["pivot"] = False
        if "centre_xbar" in saved:
            options["centre"] = Centre(saved.get("centre_pivot"), saved["centre_xbar"])
        state = cls(problem, str(saved["algorithm"]), **options)
        state._restore(saved)
        return state

    def _kept(self) -> dict[str, Any]:
        """Name what the next steps need, besides t."""
        return {name: getattr(self, name) for name in ("p", "g", *self._parts.scalars, *self._parts.vectors)}

    def _restore(self, saved: dict[str, Any]) -> None:
        self.t = int(saved["t"])
        for name, room in self._kept().items():
            value = saved[name]
            if np.shape(value) != np.shape(room):
                raise ValueError(f"{name} has the shape {np.shape(value)}")
            if np.ndim(value):
                room[:] = value
            else:
                setattr(self, name, self.problem.number(value))


def without_rows(problem: Problem) -> Problem:
    """Copy the problem with zero rows (not constructible directly)."""
    empty = copy.copy(problem)
    vars(empty).pop("xbar", None)
    X = problem.X
    empty.X = X._replace(data=X.data[:0].copy(), indices=X.indices[:0].copy(), indptr=np.zeros(1, X.indptr.dtype))
    empty.y, empty.sample_weight = problem.y[:0].copy(), problem.sample_weight[:0].copy()
    return empty


def _check_centre(centre, problem: Problem, algorithm: str) -> Centre | None:
    if centre is None:
        return None
    if not isinstance(centre, Centre):
        raise TypeError(f"centre must be a Centre, as efficient.runs.centring.find_centre gives; got {centre!r}")
    if not ALGORITHMS[algorithm].centred:
        raise ValueError(f"centre must be None for {algorithm}, which is not centred; got a Centre")
    if any(np.shape(part) != (problem.n,) for part in centre if part is not None):
        raise ValueError(f"centre must have the {problem.n} columns of the problem; got {np.shape(centre.xbar)}")
    return centre


def _check_callback(callback, every) -> int | None:
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be a function of t and the state; got {callback!r}")
    if every is None:
        return None
    if isinstance(every, bool) or not isinstance(every, (int, np.integer)):
        raise TypeError(f"every must be a number of steps, an integer >= 1; got {every!r}")
    if every < 1 or callback is None:
        raise ValueError(f"every must be a number of steps >= 1, with a callback; got {every!r}, callback={callback!r}")
    return int(every)
