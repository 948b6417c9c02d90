"""Judge float64 runs by balls: the dense definition and the sparse algorithm, each against the exact result.

A float64 run takes derivatives g_1, …, g_T. What exact arithmetic makes of these, predictions and predictors, is found by the
loop on balls; it depends on the run's own g alone, so that nothing is amplified. From that

- the definition may be off by the rounding of its own operations, a running bound computed beside it;
- the sparse algorithm loses no more digits than the definition: it may be off by `MULTIPLE` times as much, and by one rounding
  of each of its own operations, which is the radius of the same loop on balls of 53 bits;
- each g_t must be ℓ' at the run's own p_t, to `SLOPE` roundings; where ℓ' jumps that is the side of the kink.

So a fault is seen however much the problem amplifies rounding. By how much it does is the distance from the exact run, whose
derivatives are exact too, against the distance above.
"""

import copy
from collections.abc import Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

import reference
from efficient import State
from efficient.runs.algorithms import ALGORITHMS
from efficient.runs.certify import BallRun, amplifies, distances, float_weights, parted, run_on_balls
from reference import Predictor, Problem
from reference.averaging import evaluate
from reference.balls import Ball, Undecided, in_balls, on_balls, precision
from reference.rows import Rows

UNIT = 2.0**-53
"""Unit roundoff u: an operation is off by at most u times its result."""

TINY = 2.0**-1074
"""Smallest positive float64: what an operation with a subnormal result is off by, at most."""

MULTIPLE = 8
"""Multiple of the definition's relative error that the sparse algorithm may have."""

SLOPE = 8
"""Roundings of a derivative: those of the log-loss are two in the exponential, 4 u, and at most three operations more."""

LARGE = 2.0**850
"""Size of the numbers of an exact run from which on float64 may overflow."""

VISIBLE = 1e-9
"""Relative size of a fault in one weight that is seen, unless a verdict says otherwise."""

BITS = (128, 512, 2048)
"""Precisions for the exact result of given derivatives, in which nothing is undecided."""


class Side(NamedTuple):
    """Float64 run: p_t and g_t of every step, the last predictor, and the mean if there is one.

    `overflow` is the step of an overflow, and 0 if there was none; the predictors are None then.
    """

    p: np.ndarray
    g: np.ndarray
    last: Predictor | None
    average: Predictor | None
    overflow: int = 0

    @property
    def results(self) -> list[Predictor]:
        return [each for each in (self.last, self.average) if each is not None]


class Bounds(NamedTuple):
    """Bounds of rounding, given the derivatives: of p_t at every step, and of [w, b] of each predictor."""

    p: np.ndarray
    results: list[np.ndarray]


class Off(NamedTuple):
    """Distances of a side from the exact result of its own derivatives: of p_t at every step, and of [w, b]."""

    p: np.ndarray
    results: list[np.ndarray]
    scale: list[float]

    @property
    def relative(self) -> float:
        """Largest distance, relative to the largest weight or bias of its predictor."""
        return max((_share(off.max(), scale) for off, scale in zip(self.results, self.scale, strict=True)), default=0.0)


class Verdict(NamedTuple):
    """Judgement of one algorithm.

    `dense` and `sparse` are the distances of the two sides, `shrinking` and `rounding` what the rounding of their operations
    may do; None after an overflow.
    `worst` is the largest distance in units of what is allowed, of either side, and `why` says which if that is too much.
    `resolution` is the relative size of a fault in one weight that is not sure to be seen. `amplification` of the sparse side,
    `parted` (the first step, and its distance from the kink, at which a side took another side of it than the exact run),
    `undecided` and `overflow` say how the float64 runs and the exact run part.
    """

    worst: float
    why: str
    dense: Off | None = None
    sparse: Off | None = None
    shrinking: Bounds | None = None
    rounding: Bounds | None = None
    resolution: float = 0.0
    amplification: float = 1.0
    parted: Mapping[str, tuple[int, float]] = MappingProxyType({})
    undecided: str = ""
    overflow: str = ""

    @property
    def holds(self) -> bool:
        return self.worst <= 1

    @property
    def share(self) -> float:
        """Largest distance in units of what is allowed, as a finite number."""
        return min(self.worst, float(np.finfo(float).max))

    def __str__(self) -> str:
        said = [self.why, self.overflow]
        if self.dense is not None and self.sparse is not None:
            said.append(
                f"off by {self.sparse.relative:.1e} of the largest weight, the definition by {self.dense.relative:.1e}, "
                "given their derivatives"
            )
            if not self.undecided:
                said.append(f"the problem {amplifies(self.amplification)}")
            if self.resolution > VISIBLE:
                said.append(f"a fault below {self.resolution:.1e} is not seen")
        for side, (step, margin) in self.parted.items():
            said.append(f"at step {step}, {margin:.1e} from the kink, rounding takes {side} to its other side")
        if self.undecided:
            said.append(f"the exact run is not decided: {self.undecided}")
        return "; ".join(each for each in said if each)


@np.errstate(over="ignore", invalid="ignore")  # where a bound overflows it is infinite
def judge(
    problem: Problem, indices, algorithms: Iterable[str] = ALGORITHMS, *, t0=0, averaging_weights=None, state=State
) -> dict[str, Verdict]:
    """Judge the sparse algorithms and their definitions on a float64 problem, after every step and at the end.

    Parameters
    ----------
    problem : Problem in float64
    indices : sequence of T row numbers in 0..m-1
    algorithms : names in ALGORITHMS
    t0 : number >= 0
        Offset of the step size.
    averaging_weights : function of step numbers, optional
    state : callable (problem, algorithm, **options) -> State
        What is judged beside the definition.

    Cost: O(Tn) in float64, and O(T k) operations on balls four times for each algorithm.
    """
    verdicts, sides = {}, {}
    for name in algorithms:
        parts = ALGORITHMS[name]
        if parts.centred not in sides:
            sides[parts.centred] = _Judge(problem, indices, parts.centred, t0, averaging_weights)
        options = {"averaging_weights": averaging_weights} if parts.averaging else {}
        verdicts[name] = sides[parts.centred].verdict(follow(state(problem, name, t0=t0, **options), indices), parts.averaging)
    return verdicts


class _Judge:
    """Definition and balls that the algorithms share which centre the rows, or those which do not.

    The loop on balls is that of the averaging algorithm, which has the last predictor too.
    """

    def __init__(self, problem: Problem, indices, centred: bool, t0, averaging_weights):
        self.problem, self.indices = problem, indices
        names = [name for name, parts in ALGORITHMS.items() if parts.averaging and parts.centred == centred]
        weights = averaging_weights and float_weights(averaging_weights)
        self.begin = lambda problem: State(problem, names[0], t0=t0, averaging_weights=weights)
        self.dense, self.dense_bounds = define(problem, indices, centred, t0, averaging_weights)
        self.pivot = State(problem, names[0]).pivot
        self.on_balls = on_balls(problem)
        self.around_pivot = self.on_balls if self.pivot is None else moved(self.on_balls, self.pivot)
        self.runs: dict[tuple, BallRun] = {}

    def run(self, problem: Problem, slopes: np.ndarray, **options) -> BallRun:
        """Run the loop on balls with these derivatives, once for each of them."""
        key = id(problem), slopes.tobytes(), options["ladder"]
        if key not in self.runs:
            options |= {"progress": False}
            self.runs[key] = run_on_balls(self.begin, problem, self.indices, slopes.tolist(), **options)
        return self.runs[key]

    @cached_property
    def exact(self) -> BallRun | str:
        """Exact run, or why it is not decided."""
        try:
            return run_on_balls(self.begin, self.on_balls, self.indices, progress=False)
        except Undecided as undecided:
            return str(undecided)

    def verdict(self, sparse: Side, averaging: bool) -> Verdict:
        dense, bounds = self.dense, self.dense_bounds
        if dense.overflow or sparse.overflow:
            return self.overflowed(dense, sparse)
        if not averaging:
            dense, bounds = dense._replace(average=None), bounds._replace(results=bounds.results[:1])
        off_dense, off_sparse = self.off(dense), self.off(sparse)
        rounding = self.rounding(sparse)
        allowed = _with_multiple(off_dense, rounding)
        shares = {
            "a derivative of the definition is not that of its prediction": self.slope_share(dense),
            "a derivative of the sparse algorithm is not that of its prediction": self.slope_share(sparse),
            "the definition is off by more than its own rounding": _worst(off_dense, bounds),
            "the sparse algorithm loses more digits than the definition": _worst(off_sparse, allowed),
        }
        why = max(shares, key=lambda name: shares[name])
        resolution = max(
            _share(bound.max(initial=0.0), scale)
            for each in (allowed, bounds)
            for bound, scale in zip(each.results, off_sparse.scale, strict=True)
        )
        found = Verdict(shares[why], why if shares[why] > 1 else "", off_dense, off_sparse, bounds, rounding, resolution)
        if isinstance(self.exact, str):
            return found._replace(undecided=self.exact)
        with precision(self.exact.bits):
            apart = max(
                _share(_distances(result, ball).max(), _scale(ball))
                for result, ball in zip(sparse.results, _results(self.exact), strict=False)
            )
        return found._replace(
            amplification=max(1.0, apart / max(off_sparse.relative, 2 * UNIT)),
            parted={
                name: at
                for name, side in (("the definition", dense), ("the sparse algorithm", sparse))
                if (at := parted(self.problem, self.indices, self.exact, side.g.tolist()))
            },
        )

    def off(self, side: Side) -> Off:
        """Distances of a side from the exact result of its own derivatives."""
        exact = self.run(self.on_balls, side.g, ladder=BITS)
        with precision(exact.bits):
            p = np.array([ball.distance(found) for ball, found in zip(exact.p, side.p.tolist(), strict=True)])
            pairs = list(zip(side.results, _results(exact), strict=False))
            return Off(p, [_distances(found, ball) for found, ball in pairs], [_scale(ball) for _, ball in pairs])

    def rounding(self, side: Side) -> Bounds:
        """Radii of the loop on balls of 53 bits, with the derivatives that a side took: one rounding of each operation."""
        run = self.run(self.around_pivot, side.g, ladder=(53,), digits=-300)
        with precision(53):
            p = np.array([_bound(ball) for ball in run.p])
            results = []
            for each in _results(run)[: len(side.results)]:
                around = [] if self.pivot is None else [each.b]
                b = each.b if self.pivot is None else each.b - _dot(each.w, self.pivot)
                results.append(np.array([_bound(ball) for ball in (*each.w, b, *around)]))
        return Bounds(p, results)

    def slope_share(self, side: Side) -> float:
        """Largest error of a derivative, given the prediction, in units of what is allowed."""
        loss, worst = self.problem.loss, 0.0
        derivative = in_balls(loss).derivative
        with precision(128):
            for i, p, g in zip(self.indices, side.p.tolist(), side.g.tolist(), strict=True):
                exact = Ball(derivative(Ball(p), Ball(self.problem.y[i]))) * Ball(self.problem.sample_weight[i])
                allowed = UNIT * exact.size * (SLOPE if loss.kink is None else 1) + TINY
                worst = max(worst, _share(exact.distance(g), allowed))
        return worst

    def overflowed(self, dense: Side, sparse: Side) -> Verdict:
        """Accept an overflow if the exact numbers of that step are near the end of float64; of both sides, say so."""
        steps = {"the definition": dense.overflow, "the sparse algorithm": sparse.overflow}
        said = "float64 overflows: " + " and ".join(f"{name} by step {step}" for name, step in steps.items() if step)
        until = max(steps.values())
        try:
            exact = run_on_balls(self.begin, self.on_balls, self.indices[:until], digits=1, progress=False)
        except Undecided as undecided:
            return Verdict(0.0, "", overflow=said, undecided=str(undecided))
        with precision(exact.bits):
            largest = max(ball.size for ball in (*exact.p, *exact.last.w, exact.last.b))
        if largest > LARGE:
            return Verdict(0.0, "", overflow=said)
        return Verdict(np.inf, f"an overflow where no number exceeds {largest:.1e}", overflow=said)


def moved(problem: Problem, pivot: np.ndarray) -> Problem:
    """Make the problem of the rows x − pivot on balls, which rounds them as a float64 run with that pivot does."""
    X, columns, rows = problem.X, np.flatnonzero(pivot), []
    with precision(53):
        for i in range(X.m):
            stored = slice(X.indptr[i], X.indptr[i + 1])
            row = dict(zip(X.indices[stored].tolist(), X.data[stored], strict=True))
            rows.append(sorted((row | {j: row.get(j, 0) - Ball(pivot[j]) for j in columns.tolist()}).items()))
    data = np.empty(sum(map(len, rows)), dtype=object)
    data[:] = [value for row in rows for _, value in row]
    indices = np.array([j for row in rows for j, _ in row], dtype=np.int64)
    other = copy.copy(problem)
    other.X = Rows(data, indices, np.cumsum([0, *map(len, rows)]), X.n)
    return other


def _dot(w, pivot: np.ndarray):
    return sum((w[j] * Ball(pivot[j]) for j in np.flatnonzero(pivot)), Ball(0))


def _distances(found: Predictor, exact: Predictor) -> np.ndarray:
    """Bound the distances of the weights and the bias, and of the bias around a pivot, if there is one."""
    w, b = distances(found, exact)
    if found.pivoted is None or found.pivoted.xbar is None:
        return np.append(w, b)
    around = exact.b + _dot(exact.w, found.pivoted.xbar)
    return np.array([*w, b, around.distance(float(found.pivoted.b))])


def define(problem: Problem, indices, centred: bool, t0=0, averaging_weights=None) -> tuple[Side, Bounds]:
    """Run the definition in float64, with a running bound of the rounding of every operation, given the derivatives."""
    X, up = problem.X, 1 + 2.0**-20  # for terms of second order
    xbar, off_xbar = np.zeros(X.n), np.zeros(X.n)
    if centred:
        weight, stored = problem.sample_weight.astype(float), np.repeat(problem.sample_weight, np.diff(X.indptr))
        xbar = problem.xbar
        size = np.bincount(X.indices, abs(X.data) * stored, minlength=X.n) / weight.sum()
        off_xbar = (X.m + 3) * UNIT * size + TINY
    w, b, off_w, off_b = np.zeros(X.n), 0.0, np.zeros(X.n), 0.0
    total, mean, off_mean = 0.0, np.zeros(X.n + 1), np.zeros(X.n + 1)
    p: list[float] = []
    g: list[float] = []
    bounds: list[float] = []
    implicit, off_last = np.zeros(X.n + 1), np.zeros(X.n + 1)
    try:
        for step in reference.iterates(problem, indices, centred=centred, t0=t0):
            i, t = indices[step.t - 1], step.t + float(t0)
            x = abs(X.dense(i) - xbar).astype(float)
            off_x = UNIT * x + off_xbar if centred else np.zeros(X.n)
            terms = (X.n if centred else X.indptr[i + 1] - X.indptr[i]) + 2
            off_p = x @ off_w + (abs(w) + off_w) @ off_x + off_b + terms * UNIT * (abs(w) @ x + abs(b)) + terms * TINY
            shrink, moved = 1 - 1 / t, abs(step.g) / (problem.lam * t)
            w, b, before_w, before_b = step.predictor.w, step.predictor.b + step.predictor.w @ xbar, abs(w), abs(b)
            off_w = up * (shrink * off_w + moved * off_x + UNIT * (4 * shrink * before_w + 6 * moved * x + abs(w)) + 4 * TINY)
            off_b = up * (shrink * off_b + UNIT * (4 * shrink * before_b + 6 * moved + abs(b)) + 4 * TINY)
            off_implicit = off_b + abs(xbar) @ off_w + abs(w) @ off_xbar + (X.n + 2) * UNIT * (abs(w) @ abs(xbar) + abs(b))
            implicit, off_last = np.append(w, step.predictor.b), np.append(off_w, off_implicit)
            (omega,) = evaluate(averaging_weights, step.t, 1, np.float64)
            mean, total = mean + omega * implicit, total + omega
            off_mean = up * (off_mean + omega * off_last + UNIT * (2 * omega * abs(implicit) + abs(mean)) + 2 * TINY)
            p, g, bounds = [*p, float(step.p)], [*g, float(step.g)], [*bounds, up * off_p]
    except FloatingPointError:
        return Side(np.array(p), np.array(g), None, None, len(p) + 1), Bounds(np.array([]), [])
    last, average, of_results = Predictor(implicit[:-1], implicit[-1]), None, [off_last]
    if total:
        average = Predictor(mean[:-1] / total, mean[-1] / total)
        of_results.append(up * (off_mean / total + (len(p) + 2) * UNIT * abs(mean) / total) + TINY)
    finite = [np.where(each < np.inf, each, np.inf) for each in (np.array(bounds), *of_results)]  # what overflowed may be NaN
    return Side(np.array(p), np.array(g), last, average), Bounds(finite[0], finite[1:])


def follow(state: State, indices) -> Side:
    """Run the sparse algorithm in float64, one step after the other."""
    p: list[float] = []
    g: list[float] = []
    try:
        for i in indices:
            state.run([i])
            p.append(float(state.p))
            g.append(float(state.g))
        average = state.average() if ALGORITHMS[state.algorithm].averaging and state.total else None
        return Side(np.array(p), np.array(g), state.last(), average)
    except FloatingPointError:
        return Side(np.array(p), np.array(g), None, None, len(p) + 1)


def _bound(ball) -> float:
    # the floats have other midpoints than the balls, so that one of their operations may be exact where the other's is not
    return 2 * ball.radius + 2 * UNIT * abs(ball.midpoint) + 4 * TINY


def _results(run: BallRun) -> list[Predictor]:
    return [each for each in (run.last, run.average) if each is not None]


def _with_multiple(dense: Off, rounding: Bounds) -> Bounds:
    results = [MULTIPLE * off.max(initial=0.0) + bound for off, bound in zip(dense.results, rounding.results, strict=True)]
    return Bounds(MULTIPLE * np.maximum.accumulate(dense.p) + rounding.p, results)


def _worst(off: Off, allowed: Bounds) -> float:
    pairs = [(off.p, allowed.p), *zip(off.results, allowed.results, strict=True)]
    return max(float(_shares(distance, bound).max(initial=0.0)) for distance, bound in pairs)


def _shares(distance: np.ndarray, bound: np.ndarray) -> np.ndarray:
    return np.divide(distance, bound, out=np.where(distance > 0, np.inf, 0.0), where=bound > 0)


def _share(distance: float, scale: float) -> float:
    return float(distance / scale) if scale else np.inf if distance else 0.0


def _scale(predictor: Predictor) -> float:
    return max((abs(ball.midpoint) for ball in (*predictor.w, predictor.b)), default=0.0)
