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
from typing import NamedTuple

import numpy as np

import reference
from efficient import State
from reference import Problem, draw_indices

from .cases import Case
from .ledger import LABEL_OF, Entry, Job

PAIRS = {False: ("sgd", "asgd"), True: ("csgd", "casgd")}
"""The algorithm that returns the last iterate and the one that returns the mean, uncentred and centred."""

KINK_DISTANCE = {"hinge": lambda p, y: abs(p * y - 1), "absolute": lambda p, y: abs(p - y)}
"""How far a prediction is from the place where the derivative jumps."""

EPS = float(np.finfo(np.float64).eps)


def jobs(cases: list[Case]) -> Iterator[Job]:
    for case in cases:
        for loss, lam in case.lam.items():
            for centred, pair in PAIRS.items():
                labels = tuple(LABEL_OF[name] for name in pair)
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

    `average` is None where the algorithm keeps no average. `rounding` is eps · (largest partial sum so far), what one rounding
    of it may be, and `bound` is (t + m + k) times that.
    """

    prediction: np.ndarray
    last: np.ndarray
    average: np.ndarray | None
    rounding: np.ndarray
    bound: np.ndarray


def trace(problem: Problem, indices, algorithm: str) -> Trace:
    """|p_t|, [w_t, b_t] and [w̄_t, b̄_t] of the dense definition minus those of the sparse algorithm, at every step.

    In exact arithmetic all differences have to be 0, in float64 below the bound. The trace ends before a step where rounding
    decides which side of a kink is taken.

    Parameters
    ----------
    problem : Problem
    indices : sequence of T row numbers in 0..m-1
    algorithm : {"sgd", "asgd", "csgd", "casgd"}

    Cost: O(Tn).
    """
    state, longest = State(problem, algorithm), int(np.diff(problem.X.indptr).max())
    averaging = algorithm in ("asgd", "casgd")
    w_sum, b_sum, scale = problem.X.zeros(), problem.number(0), 0.0
    rows = []
    for step in reference.iterates(problem, indices, centred=algorithm in PAIRS[True]):
        i = indices[step.t - 1]
        stored = slice(problem.X.indptr[i], problem.X.indptr[i + 1])
        state.run(indices[step.t - 1 : step.t])
        if problem.loss.name in KINK_DISTANCE and state.g != step.g:
            break
        scale = max(scale, float(largest_partial_sum(state, problem.X.indices[stored], problem.X.data[stored])))
        differences = [abs(state.p - step.p), difference(state.last(), step.predictor)]
        if averaging:
            w_sum, b_sum, t = w_sum + step.predictor.w, b_sum + step.predictor.b, problem.number(step.t)
            differences.append(difference(state.average(), reference.Predictor(w_sum / t, b_sum / t)))
        rows.append([*differences, EPS * scale])
    prediction, last, *average, rounding = np.array(rows).T
    rounding = rounding.astype(float)
    bound = (np.arange(1, len(rows) + 1) + problem.m + longest) * rounding
    return Trace(prediction, last, average[0] if averaging else None, rounding, bound)


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
    last, mean = PAIRS[centred]
    states = {name: State(problem, name) for name in PAIRS[centred]}
    differences, ended, scale = dict.fromkeys(states, 0.0), dict.fromkeys(states, ""), 0.0
    w_sum, b_sum = np.zeros(problem.n), 0.0
    for step in reference.iterates(problem, indices, centred=centred):
        w_sum += step.predictor.w
        b_sum += step.predictor.b
        i = indices[step.t - 1]
        stored = slice(problem.X.indptr[i], problem.X.indptr[i + 1])
        columns, values = problem.X.indices[stored], problem.X.data[stored]
        for name, state in states.items():
            if ended[name]:
                continue
            state.run(indices[step.t - 1 : step.t])
            if step.t <= 50 or step.t % 50 == 0:  # O(n) each; the first steps are the largest, and less only tightens the bound
                scale = max(scale, largest_partial_sum(state, columns, values))
            off = abs(state.p - step.p)
            if loss in KINK_DISTANCE and state.g != step.g:
                margin = KINK_DISTANCE[loss](step.p, problem.y[i])
                off = max(off, margin)
                ended[name] = f"; at step {step.t} the margin is {margin:.1e} from the kink and rounding decides"
            differences[name] = max(differences[name], off)
    T = step.t
    average = reference.Predictor(w_sum / T, b_sum / T)
    for name, found, wanted in (
        (last, states[last].last(), step.predictor),
        (mean, states[mean].last(), step.predictor),
        (mean, states[mean].average(), average),
    ):
        if not ended[name]:
            differences[name] = max(differences[name], difference(found, wanted))
    for name, off in differences.items():
        value = off / scale if off else 0.0
        bound = (T + problem.m + int(np.diff(problem.X.indptr).max())) * EPS
        yield Entry(
            LABEL_OF[name],
            "the sparse algorithm makes the dense one's predictions and predictor",
            f"measured in float64, T = {T}, λ = {lam:g}",
            f"largest difference {value:.1e} of the largest sum, bound (T + m + k)·eps = {bound:.1e}{ended[name]}",
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
    states = {name: State(problem, name) for name in PAIRS[centred]}
    equal = dict.fromkeys(states, 0)
    w_sum, b_sum = np.zeros(problem.n, dtype=object), 0
    for step in reference.iterates(problem, indices, centred=centred):
        w_sum, b_sum = w_sum + step.predictor.w, b_sum + step.predictor.b
        t = Fraction(step.t)
        for name, state in states.items():
            state.run(indices[step.t - 1 : step.t])
            found, wanted = state.last(), step.predictor
            same = state.p == step.p and state.g == step.g and found.b == wanted.b and (found.w == wanted.w).all()
            if name == PAIRS[centred][1]:
                found = state.average()
                same = same and found.b == b_sum / t and (found.w == w_sum / t).all()
            equal[name] += bool(same)
    for name, count in equal.items():
        yield Entry(
            LABEL_OF[name],
            "the sparse algorithm is the dense one, at every prefix",
            f"exact, ==, λ = {problem.lam}",
            f"{count} of {steps} prefixes equal on {problem.m} rows of {problem.n} columns",
            count == steps,
            f"{case.name} {kind}",
            name,
            loss,
        )
