"""Identical iterates: the dense definitions and the sparse algorithms make the same predictions and predictors, step by step.

In exact arithmetic they are equal, `==`, after every step. In float64 they differ by rounding: the sums over steps have T
terms, those over a row k and that of x̄ has m, and an addition rounds by at most eps times the largest partial sum. So the
differences are held against (T + m + k) · eps · (largest partial sum on the way); for the centred algorithms those partial
sums include aθ and z, which is what a large mean costs. Where the derivative jumps, rounding may put the two sides on
different sides of the kink; such a step must be one whose margin is within rounding of the kink, and the comparison ends
there.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import reference
from efficient import State
from efficient.runs.algorithms import ALGORITHMS
from reference import Problem, draw_indices

from ..data import Case
from ..ledger import Entry, Job

PAIRS = {False: ("sgd", "asgd"), True: ("csgd", "casgd")}
"""The algorithm that returns the last iterate and the one that returns the mean, uncentred and centred."""

KINK_DISTANCE = {"hinge": lambda p, y: abs(p * y - 1), "absolute": lambda p, y: abs(p - y)}
"""How far a prediction is from the place where the derivative jumps."""

EPS = float(np.finfo(np.float64).eps)


def jobs(cases: list[Case]) -> Iterator[Job]:
    for case in cases:
        for loss, lam in case.lam.items():
            for centred, pair in PAIRS.items():
                labels = tuple(ALGORITHMS[name].label for name in pair)
                yield Job(labels, f"float64 iterates: {case.name}, {loss}", partial(in_float, case, loss, lam, centred))
                for kind, X in (("counts", case.counts), ("values", case.X)):
                    if X is not None:
                        run = partial(in_fractions, case, kind, X, loss, lam, centred)
                        yield Job(labels, f"exact iterates: {case.name} {kind}, {loss}", run)


def largest_partial_sum(state: State, columns, values) -> float:
    """The largest of the sums that the last step's prediction and predictor are made of, as multiples of 1/(λt)."""
    v, a = abs(state.v).max(initial=0), abs(state.a)
    if state.pivot is not None:
        values = values - state.pivot[columns]
    sums = [v, a, abs(state.v[columns]) @ abs(values)]
    if state.algorithm in PAIRS[True]:
        sums += [
            a * state.theta,
            abs(state.z),
            a * abs(state.xbar).max(initial=0),
            a * (abs(state.xbar[columns]) @ abs(values)),
        ]
    pivot = np.zeros_like(state.v) if state.pivot is None else abs(state.pivot)
    if state.pivot is not None:  # moving b' back adds up w · pivot
        sums += [a * pivot.max(), abs(state.v) @ pivot, a * (pivot[columns] @ abs(values))]
    if state.algorithm in ("asgd", "casgd"):
        sums += [state.h * v, abs(state.u).max(initial=0), abs(state.c)]
    if state.algorithm == "casgd":
        sums += [abs(state.c) * abs(state.xbar).max(initial=0), abs(state.s), state.h * (abs(state.v) @ pivot)]
    return max(sums) / (state.problem.lam * state.t)


class Trace(NamedTuple):
    """Dense against sparse after every step t = 1, …, T: the largest difference of each kind, and the bound of rounding.

    `last` and `average` are NaN where the predictors were not compared; `average` is None where the algorithm keeps none.
    `rounding` is eps · (largest partial sum so far), what one rounding of it may be, and `bound` is (t + m + k) times that; in
    exact arithmetic both are 0. `parted` is the step at which rounding put the two sides on different sides of a kink, with
    the distance of the prediction from it; the trace ends before that step.
    """

    prediction: np.ndarray
    last: np.ndarray
    average: np.ndarray | None
    rounding: np.ndarray
    bound: np.ndarray
    parted: tuple[int, float] | None


def compare(problem: Problem, indices, algorithms, every: int = 1) -> dict[str, Trace]:
    """|p_t|, [w_t, b_t] and [w̄_t, b̄_t] of the dense definition minus those of the sparse algorithms, at every step.

    In exact arithmetic all differences have to be 0, in float64 below the bound.

    Parameters
    ----------
    problem : Problem
    indices : sequence of T row numbers in 0..m-1
    algorithms : names out of {"sgd", "asgd", "csgd", "casgd"}
    every : int
        Compare the predictors, which takes O(n), at the multiples of this step number and at the last step.

    Cost: O(Tn).
    """
    traces: dict[str, Trace] = {}
    for centred, pair in PAIRS.items():
        states = {name: State(problem, name) for name in algorithms if name in pair}
        if states:
            traces |= _compare(problem, indices, states, centred, every)
    return {name: traces[name] for name in algorithms}


def _compare(problem: Problem, indices, states: dict[str, State], centred: bool, every: int) -> dict[str, Trace]:
    rows: dict[str, list] = {name: [] for name in states}
    scale, parted = dict.fromkeys(states, 0.0), dict[str, tuple[int, float]]()
    w_sum, b_sum = problem.X.zeros(), problem.number(0)
    for step in reference.iterates(problem, indices, centred=centred):
        i, t = indices[step.t - 1], problem.number(step.t)
        stored = slice(problem.X.indptr[i], problem.X.indptr[i + 1])
        w_sum, b_sum = w_sum + step.predictor.w, b_sum + step.predictor.b
        look = step.t % every == 0 or step.t == len(indices)
        for name in states.keys() - parted.keys():
            state = states[name].run(indices[step.t - 1 : step.t])
            if problem.loss.name in KINK_DISTANCE and state.g != step.g:
                parted[name] = step.t, float(KINK_DISTANCE[problem.loss.name](step.p, problem.y[i]))
                continue
            if not problem.X.exact:
                scale[name] = max(scale[name], largest_partial_sum(state, problem.X.indices[stored], problem.X.data[stored]))
            last: Any = np.nan
            average: Any = np.nan
            if look:
                last = difference(state.last(), step.predictor)
                if name == PAIRS[centred][1]:
                    average = difference(state.average(), reference.Predictor(w_sum / t, b_sum / t))
            rows[name].append([abs(state.p - step.p), last, average, EPS * scale[name]])
    longest = int(np.diff(problem.X.indptr).max())
    traces = {}
    for name, of_steps in rows.items():
        prediction, last, average, rounding = np.array(of_steps, dtype=object).reshape(-1, 4).T
        if not problem.X.exact:
            prediction, last, average = (each.astype(float) for each in (prediction, last, average))
        rounding = rounding.astype(float)
        bound = (np.arange(1, len(rounding) + 1) + problem.m + longest) * rounding
        traces[name] = Trace(
            prediction, last, average if name == PAIRS[centred][1] else None, rounding, bound, parted.get(name)
        )
    return traces


def difference(found: reference.Predictor, wanted: reference.Predictor):
    """The largest difference of a weight or the bias; around the pivot, where b' alone cannot hold the digits of both."""
    if found.pivoted is not None:
        found = found.pivoted
        wanted = wanted.explicit(found.xbar)
    return max(abs(found.w - wanted.w).max(initial=0), abs(found.b - wanted.b))


def in_float(case: Case, loss: str, lam: float, centred: bool) -> Iterator[Entry]:
    """Dense against sparse over T steps: every p_t, the last and the mean predictor."""
    problem = Problem(case.X, case.y, loss, lam)
    indices = draw_indices(problem.m, case.steps, rng=0)
    for name, trace in compare(problem, indices, PAIRS[centred], every=len(indices)).items():
        off = [*trace.prediction, *trace.last[-1:], *([] if trace.average is None else trace.average[-1:])]
        bound, ended = (len(indices) + problem.m + int(np.diff(problem.X.indptr).max())) * EPS, ""
        if trace.parted is not None:
            step, margin = trace.parted
            off.append(margin)
            ended = f"; at step {step} the margin is {margin:.1e} from the kink and rounding decides"
        largest, scale = float(np.nanmax(off)), trace.rounding[-1] / EPS if len(trace.rounding) else 0.0
        value = largest / scale if largest else 0.0
        yield Entry(
            ALGORITHMS[name].label,
            "the sparse algorithm makes the dense one's predictions and predictor",
            f"measured in float64, T = {len(indices)}, λ = {lam:g}",
            f"largest difference {value:.1e} of the largest sum, bound (T + m + k)·eps = {bound:.1e}{ended}",
            bool(value <= bound),
            case.name,
            name,
            loss,
            float(value),
            bound,
        )


def in_fractions(case: Case, kind: str, X, loss: str, lam: float, centred: bool) -> Iterator[Entry]:
    """Dense against sparse in rational arithmetic on a few rows: p_t, last and mean predictor equal at every prefix."""
    rows, y = case.sample(X)
    problem = Problem(rows, y, loss, Fraction(repr(lam)))
    steps = problem.m + problem.m // 2
    indices = draw_indices(problem.m, steps, rng=0)
    for name, trace in compare(problem, indices, PAIRS[centred]).items():
        kinds = [trace.prediction, trace.last, *([] if trace.average is None else [trace.average])]
        equal = sum(all(apart == 0 for apart in at_step) for at_step in zip(*kinds, strict=True))
        yield Entry(
            ALGORITHMS[name].label,
            "the sparse algorithm is the dense one, at every prefix",
            f"exact, ==, λ = {problem.lam}",
            f"{equal} of {steps} prefixes equal on {problem.m} rows of {problem.n} columns",
            equal == steps,
            f"{case.name} {kind}",
            name,
            loss,
        )
