"""Run one model by the paper's own loop, with the state that the pseudocode keeps under its own names."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from reference import Predictor, Problem
from reference.arithmetic import check_finite, check_t0, unsignalled
from reference.averaging import AveragingWeights
from reference.sampling import check_indices

from ..kernels.recovery import recover_into
from .algorithms import Recovery
from .centring import Centre
from .certify import Certificate, certificate
from .run import Run


class State(Run[Predictor]):
    """Resumable run of one model: `State(problem, "asgd").run(indices).average()`.

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
    averaging_weights : function of step numbers, optional
        Averaging weights: ω_t of each iterate in the mean, such as `polynomial(1)` or `suffix(1000)`; the paper has ω = 1.
    centre : Centre, optional
        Origin of csgd and casgd in place of x̄, from `find_centre`; by default it is the mean of the problem's rows.
        It is kept when other rows follow.
    pivot : bool
        False runs csgd and casgd on the raw rows as printed, however large their mean, to show what that loses.

    Raises
    ------
    ValueError
        An unknown algorithm, or a centre that does not fit.
    TypeError
        numba cannot compile the derivative of the user's own loss.

    Paper: Algorithms 1 to 3.
    Cost: O(n) memory (one vector for sgd, two for csgd and asgd, three for casgd); the centred ones read every row once.
    """

    @unsignalled
    def __init__(
        self,
        problem: Problem,
        algorithm: str = "asgd",
        *,
        t0=0,
        averaging_weights: AveragingWeights | None = None,
        centre: Centre | None = None,
        pivot: bool = True,
    ):
        self.t0 = check_t0(t0, problem.number)
        super().__init__(problem, algorithm, averaging_weights, centre, pivot)
        self._room = self._zeros(1, len(self._parts.vectors))  # an array without entries does not say how far they are apart
        self._make_room(problem.n, problem.n)
        for name in ("p", "g", *self._parts.scalars):
            setattr(self, name, problem.number(0))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Give the problem as a sequence of one."""
        return (self.problem,)

    @property
    def _source(self):
        return self._parts.steps

    def _make_room(self, width: int, columns: int) -> None:
        """Let the vectors have this width, in room for so many columns; those of one column are side by side in memory."""
        old = room = self._room
        if columns > len(old):
            room = self._zeros(columns, old.shape[1])
            room[: len(old)] = old
        self._room, self._width = room, width

    @property
    def v(self) -> np.ndarray:
        """Gradient sum."""
        return self._room[: self._width, 0]

    @property
    def u(self) -> np.ndarray:
        """Harmonic gradient sum, which asgd and casgd keep."""
        if not self._parts.averaging:
            raise AttributeError(f"{self.algorithm} keeps no u")
        return self._room[: self._width, 1]

    def _advance(self, indices: np.ndarray, omega: np.ndarray):
        problem, parts = self.problem, self._parts
        averaging = (omega,) if parts.averaging else ()
        mean = (self.xbar, self.theta, self._projections) if parts.centred else ()
        vectors = [getattr(self, name) for name in parts.vectors]
        scalars = [getattr(self, name) for name in parts.scalars]
        t, *scalars, self.p, self.g = self._steps(
            *(self._X, problem.y, problem.sample_weight, problem.lam, self._dloss, indices),
            *(self.t0, *averaging, *mean, problem.number(self.t), *vectors, *scalars),
        )
        for name, value in zip(parts.scalars, scalars, strict=True):
            setattr(self, name, value)
        return t

    def _check_finite(self) -> None:
        check_finite(self.t, self.p)

    def follow(self, problem: Problem | Iterable[Problem]) -> Self:
        """Take the next steps on other rows, wider ones if need be: a stream whose dimension is not known beforehand.

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
        with self._alone():
            self._check_follows(self.problem, problem)
            rows, width = self._prepared(problem), max(self._width, problem.n)
            self._make_room(width, max(width, 2 * self._width) if width > len(self._room) else 0)
            self._use(problem, rows)
        return self

    def certify(self, indices, predictor: Predictor | None = None, rows=None, *, progress: bool | None = None) -> Certificate:
        """Certify how near float64 comes to the exact run of these indices, from step 1 on with the options of this state.

        Parameters
        ----------
        indices : sequence of T row numbers in 0..m-1
            All that were drawn: the state, however far it is, does not keep them.
        predictor : Predictor, optional
            What is certified, by default what this run gives on this machine: the mean of asgd and casgd, else the last.
        rows : array-like or scipy.sparse container of shape (l, n), optional
            Rows whose predictions are certified too.
        progress : bool, optional
            As for `run`.

        Raises
        ------
        TypeError, ValueError
            Unusable arguments.
        FloatingPointError
            The float64 run overflows.
        ImportError
            python-flint is not installed; says how to install it.
        reference.balls.Undecided
            A margin is exactly at the kink, or nearer than the highest precision tells; names the step.

        Paper: none; Algorithms 1 to 3 in exact arithmetic are what float64 is held against.
        Cost: O(n + mk + Tk) operations on balls, about a microsecond each.
        """
        self._check_rows()
        return certificate(self, check_indices(indices, self.problem.m), predictor, rows, progress=progress)

    def _recovered(self, recovery: Recovery) -> Predictor:
        self._check_begun()
        w, t = np.empty(self._width, dtype=self._room.dtype), self.problem.number(self.t) + self.t0
        with np.errstate(over="ignore", invalid="ignore"):
            found = recover_into(w, recovery.recover, self.problem.lam, t, [getattr(self, name) for name in recovery.parts])
        return self._predictor(w, *found)

    def _restore(self, saved: dict[str, Any]) -> None:
        if saved["v"].size > self.problem.n and not self._parts.centred:  # a stream may be wider
            self._make_room(saved["v"].size, saved["v"].size)
        super()._restore(saved)


def _single(problem: Problem | Iterable[Problem]) -> Problem:
    """Unpack a sequence of one problem."""
    if isinstance(problem, Problem):
        return problem
    if not isinstance(problem, Iterable) or len(problems := tuple(problem)) != 1 or not isinstance(problems[0], Problem):
        raise TypeError(f"problem must be a Problem, or a sequence of one; got {problem!r}")
    return problems[0]
