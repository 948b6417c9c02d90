"""Run K models in one pass over the rows: one class against the rest for several classes, or several values of λ."""

import itertools
import math
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple, Self

import numpy as np

from reference import Predictor, Problem
from reference.arithmetic import Overflow, check_finite, check_t0, shown, unsignalled
from reference.averaging import AveragingWeights
from reference.rows import Rows, sealed

from ..kernels import batch as many
from ..kernels.prefetch import LINE
from ..kernels.recovery import COLUMNS, recover_into
from ..kernels.simd import WIDTH
from .algorithms import Recovery
from .centring import Centre
from .run import Run, without_rows
from .saving import loss_identity
from .state import State


def start(
    problems: Iterable[Problem],
    algorithm: str = "asgd",
    *,
    t0=0,
    averaging_weights: AveragingWeights | None = None,
    centre: Centre | None = None,
) -> "State | States":
    """Start a run of each problem: of one by the paper's own loop, a `State`; of several in one pass, `States`.

    Parameters and errors are those of `States`. Each predictor is the same to the bit, however many problems there are.
    """
    problems = _alike(problems)
    if len(problems) > 1:
        return States(problems, algorithm, t0=t0, averaging_weights=averaging_weights, centre=centre)
    return State(problems[0], algorithm, t0=_one_each(t0, problems)[0], averaging_weights=averaging_weights, centre=centre)


def resume(path, problems: Iterable[Problem], averaging_weights: AveragingWeights | None = None) -> "State | States":
    """Load a run that `start` began and `save` wrote; parameters and errors as `State.load`."""
    problems = _alike(problems)
    return (
        States.load(path, problems, averaging_weights)
        if len(problems) > 1
        else State.load(path, problems[0], averaging_weights)
    )


class Share(NamedTuple):
    """Models that one thread trains: which they are, v and u of shape (n, 2, models), and their labels."""

    models: slice
    room: np.ndarray
    y: np.ndarray


class States(Run[list[Predictor]]):
    """Resumable run of K models, each equal to the bit to a `State` of its own: `States(problems).run(indices).average()`.

    A visit of a stored entry brings all models forward, which is faster than K passes over the rows. `run(indices, jobs=2)`
    gives half of the models to each of two threads, and changes no bit.

    t, xbar, theta and pivot are as in a `State`. p, g, a, c, h, total and, for the centred algorithms, z, r and s have one
    number for each model; v and u have the shape (n, K), and are copies once several threads were at work.

    Parameters
    ----------
    problems : K Problems
        They share the rows, in memory, and the examples' weights and the loss; y and λ may differ. `Problem.variant` makes
        such problems.
    algorithm : {"sgd", "asgd", "csgd", "casgd"}
    t0 : number >= 0, or one for each model
        The steps have the size 1/(λ(t + t0)). The paper has t0 = 0; `safe_t0` is what the squared loss needs.
    averaging_weights : function of step numbers, optional
        Averaging weights: ω_t of each iterate in the means; the paper has ω = 1.
    centre : Centre, optional
        As in a `State`.

    Raises
    ------
    TypeError, ValueError
        No problems, or some that differ in more than y and λ; an unknown algorithm; a user's own loss that numba cannot
        compile.

    Paper: Algorithms 1 to 3.
    Cost: 16nK bytes, whatever the algorithm, and mK labels, in a byte each where they are -1 and +1; the centred algorithms
        read every row once.
    """

    @unsignalled
    def __init__(
        self,
        problems: Iterable[Problem],
        algorithm: str = "asgd",
        *,
        t0=0,
        averaging_weights: AveragingWeights | None = None,
        centre: Centre | None = None,
    ):
        first, *_ = self.problems = problems = _alike(problems)
        offsets = _one_each(t0, problems)
        super().__init__(first, algorithm, averaging_weights, centre)
        n, models = self.problem.n, len(problems)
        self.t0, self._lam = self._zeros(models), self._zeros(models)
        self.t0[:], self._lam[:] = offsets, [problem.lam for problem in problems]
        self.t0 = sealed(self.t0)
        self._shares = [Share(slice(models), self._aligned(n, 2, models), _labels(problems))]
        self._numbers = {name: self._zeros(models) for name in many.NUMBERS}
        for name in ("p", "g", *self._parts.scalars):
            setattr(self, name, self._numbers[name])

    @property
    def _source(self):
        return many.steps

    def _aligned(self, *shape: int) -> np.ndarray:
        """Allocate zeros from the start of a cache line on: a column is spread over few lines, which no other thread has."""
        size = math.prod(shape)
        room = self._zeros(size + LINE // 8)
        start = -room.ctypes.data % LINE // 8
        return room[start : start + size].reshape(shape)

    def _spread(self, jobs: int) -> None:
        fours = -(-len(self.problems) // WIDTH)  # four models take as long as one
        jobs = min(jobs, fours)
        if jobs == len(self._shares):
            return
        v, u, shares = self._sums(0), self._sums(1), []
        ends = [min(WIDTH * (fours * job // jobs), len(self.problems)) for job in range(jobs + 1)]
        for first, last in itertools.pairwise(ends):
            models = slice(first, last)
            room = self._aligned(len(v), 2, last - first)
            if self.t:
                room[:, 0], room[:, 1] = v[:, models], u[:, models]
            shares.append(Share(models, room, _labels(self.problems[models])))
        self._shares = shares

    def _labelled(self, problems: tuple[Problem, ...]) -> list[Share]:
        """Give the labels of these problems to the threads."""
        return [share._replace(y=_labels(problems[share.models])) for share in self._shares]

    def _sums(self, of: int) -> np.ndarray:
        """Put v (0) or u (1) of all models side by side."""
        each = [share.room[:, of] for share in self._shares]
        return each[0] if len(each) == 1 else np.concatenate(each, axis=1)

    @property
    def v(self) -> np.ndarray:
        """Gradient sums."""
        return self._sums(0)

    @property
    def u(self) -> np.ndarray:
        """Harmonic gradient sums, which asgd and casgd keep."""
        if not self._parts.averaging:
            raise AttributeError(f"{self.algorithm} keeps no u")
        return self._sums(1)

    def _advance(self, indices: np.ndarray, omega: np.ndarray):
        problem, number = self.problem, self.problem.number
        if self._parts.centred:
            mean = self.xbar, self.theta, self._projections
        else:  # x̄ = 0: every row has the projection 0
            mean = sealed(self._zeros(0)), number(1), np.broadcast_to(np.array(number(0)), problem.m)

        def of_share(share: Share) -> tuple[int, np.ndarray]:
            models, room, y = share
            numbers = self._aligned(len(self._numbers) + 2, room.shape[2])  # in cache lines that no other thread writes to
            numbers[:-2] = [each[models] for each in self._numbers.values()]
            t = self._steps(
                *(self._X, y, problem.sample_weight, self._lam[models], self._dloss, indices, self.t0[models], omega),
                *(*mean, number(self.t), room, *numbers),
            )
            return int(t), numbers

        with ThreadPoolExecutor(len(self._shares)) if len(self._shares) > 1 else nullcontext() as pool:
            ends = list(pool.map(of_share, self._shares) if pool else map(of_share, self._shares))
        t = min(end for end, _ in ends)
        for share, (end, numbers) in zip(self._shares, ends, strict=True):
            for each, found in zip(self._numbers.values(), numbers, strict=False):  # the last two are room for the loop
                each[share.models] = found
            if end > t:  # a model of another thread overflowed, and these are steps ahead: it alone is named
                self.p[share.models] = number(0)
        return t

    def _check_finite(self) -> None:
        for k, p in enumerate(self.p):
            with self._named(k):
                check_finite(self.t, p)

    @contextmanager
    def _named(self, k: int) -> Iterator[None]:
        """Name the model in the message of an overflow."""
        try:
            yield
        except Overflow as error:
            raise Overflow(f"model {k}, with lam={shown(self._lam[k])}: {error.what}", *error.cures) from None

    def follow(self, problems: Iterable[Problem]) -> Self:
        """Take the next steps on other rows, as many problems with the same λ each; as `State.follow`, but no wider.

        Raises
        ------
        TypeError, ValueError
            Problems that do not fit those before, or each other.

        Cost: O(mK); O(n + mk) more with a pivot.
        """
        first, *_ = problems = _alike(problems)
        with self._alone():
            self._check_all_follow(problems)
            self._use(first, problems=problems, _shares=self._labelled(problems))
        return self

    def _check_all_follow(self, problems: tuple[Problem, ...]) -> None:
        first, *_ = problems
        columns = len(self._shares[0].room)
        if len(problems) != len(self.problems) or first.n > columns:
            raise ValueError(
                f"problems must be {len(self.problems)}, with {columns} columns at most, as before; "
                f"got {len(problems)} with {first.n}"
            )
        for before, problem in zip(self.problems, problems, strict=True):
            self._check_follows(before, problem)

    def forget_rows(self) -> Self:
        """Let go of the rows and labels, as `State.forget_rows`."""
        with self._alone():
            empty = without_rows(self.problem)
            problems = tuple(empty.variant(lam=problem.lam) for problem in self.problems)
            self._use(empty, problems=problems, _shares=self._labelled(problems))
        return self

    def _recovered(self, recovery: Recovery) -> list[Predictor]:
        self._check_begun()
        t, models = self.problem.number(self.t), range(len(self.problems))
        vectors = [room[:, :, k] for _, room, _ in self._shares for k in range(room.shape[2])]
        n = len(vectors[0])  # rows that followed may be narrower
        weights = [np.empty(n, dtype=vectors[0].dtype) for _ in models]
        found: list[Any] = [None for _ in models]
        for start in range(0, max(1, n), COLUMNS):  # so that the columns of all models stay in a cache
            columns = slice(start, start + COLUMNS)
            for k in models:
                of_model = {name: numbers[k] for name, numbers in self._numbers.items()}
                of_model |= {"v": vectors[k][columns, 0], "u": vectors[k][columns, 1]}
                if self._parts.centred:
                    of_model["xbar"] = self.xbar[columns]
                parts = [of_model[name] for name in recovery.parts]
                with np.errstate(over="ignore", invalid="ignore"):
                    b, finite = recover_into(weights[k][columns], recovery.recover, self._lam[k], t + self.t0[k], parts)
                found[k] = b, finite and (found[k] is None or found[k][1])
        predictors = []
        for k in models:
            with self._named(k):
                predictors.append(self._predictor(weights[k], *found[k]))
        return predictors

    def _kept(self) -> dict[str, Any]:
        return {"v": self._sums(0), "u": self._sums(1), **self._numbers}

    def _restore(self, saved: dict[str, Any]) -> None:
        n, models = self.problem.n, len(self.problems)
        if not self._parts.centred:  # narrower rows may have followed
            n = max(n, len(saved["v"]))
        self._shares = [Share(slice(models), self._aligned(n, 2, models), _labels(self.problems))]
        super()._restore(saved)


def _alike(problems) -> tuple[Problem, ...]:
    """Validate that the problems can be trained on together."""
    cure = "Make them by problem.variant(y=…, lam=…)"
    if isinstance(problems, Problem) or not isinstance(problems, Iterable):
        raise TypeError(f"problems must be a sequence of Problems; got {problems!r}")
    problems = tuple(problems)
    if not problems:
        raise ValueError("problems must hold at least one Problem; got none")
    first, *_ = problems
    for k, problem in enumerate(problems):
        if not isinstance(problem, Problem):
            raise TypeError(f"problems must be Problems; got a {type(problem).__name__} as number {k}")
        if problem.number is not first.number:
            raise ValueError(f"problems must be in one arithmetic; got lam={shown(problem.lam)} as number {k}. {cure}")
        if problem.n != first.n or _memory(problem.X) != _memory(first.X):
            raise ValueError(f"problems must share their rows in memory; got others as number {k}. {cure}")
        if problem.sample_weight is not first.sample_weight and not np.array_equal(problem.sample_weight, first.sample_weight):
            raise ValueError(f"problems must share the sample weights; got others as number {k}. {cure}")
        if loss_identity(problem.loss) != loss_identity(first.loss):
            raise ValueError(f"problems must have one loss, {first.loss.name}; got {problem.loss.name} as number {k}. {cure}")
    return problems


def _memory(X: Rows) -> list[dict[str, Any]]:
    """Tell where in memory the three arrays of the rows are."""
    return [array.__array_interface__ for array in (X.data, X.indices, X.indptr)]


def _one_each(t0, problems: tuple[Problem, ...]) -> list:
    """Validate t0, and give one for each problem."""
    each = [t0] * len(problems) if isinstance(t0, str) or np.ndim(t0) == 0 else list(t0)
    if len(each) != len(problems):
        raise ValueError(f"t0 must be one number, or one for each of the {len(problems)} problems; got {len(each)}")
    return [check_t0(value, problem.number) for value, problem in zip(each, problems, strict=True)]


def _labels(problems: tuple[Problem, ...]) -> np.ndarray:
    """Stack the labels, one row an example: a view where all problems have the same ones, bytes where they are -1 and +1."""
    first, *_ = problems
    if all(problem.y is first.y for problem in problems):
        return np.broadcast_to(first.y[:, np.newaxis], (first.m, len(problems)))
    signs = first.number is np.float64 and first.loss.binary
    return np.stack([problem.y for problem in problems], axis=1, dtype=np.int8 if signs else first.y.dtype, casting="unsafe")
