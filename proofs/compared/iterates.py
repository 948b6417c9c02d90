"""Compare every step of the sparse algorithms with the dense definitions: predictions, predictors and their means.

In exact arithmetic the two are equal, `==`, after every step. In float64 they differ by rounding: the sums over steps have T
terms, those over a row k and that of x̄ has m, and an addition rounds by at most eps times the largest partial sum. So the
differences are held against (T + m + k) · eps · (largest partial sum on the way). For the centred algorithms the partial
sums include aθ and z, which is what a large mean costs. Where the derivative jumps, rounding may put the two sides on
different sides of the kink. Such a step must be one whose margin is within rounding of the kink, and the comparison ends
there.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import reference
from efficient import State
from efficient.runs.algorithms import ALGORITHMS
from reference import Problem, draw_indices
from reference.averaging import evaluate

from ..data import Case
from ..ledger import Entry, Job

EPS = float(np.finfo(np.float64).eps)


def jobs(cases: list[Case]) -> Iterator[Job]:
    for case in cases:
        for loss, lam in case.lam.items():
            for centred in (False, True):
                names = [name for name, algorithm in ALGORITHMS.items() if algorithm.centred == centred]
                labels = tuple(ALGORITHMS[name].label for name in names)
                yield Job(labels, f"float64 iterates: {case.name}, {loss}", partial(in_float, case, loss, lam, names))
                for kind, X in (("counts", case.counts), ("values", case.X)):
                    if X is not None:
                        run = partial(in_fractions, case, kind, X, loss, lam, names)
                        yield Job(labels, f"exact iterates: {case.name} {kind}, {loss}", run)


def largest_partial_sum(state: State, columns, values) -> float:
    """Largest of the sums that the last step's prediction and predictors are made of, as parts of these."""
    algorithm, v, a = ALGORITHMS[state.algorithm], abs(state.v).max(initial=0), abs(state.a)
    pivot = np.zeros_like(state.v) if state.pivot is None else abs(state.pivot)
    if state.pivot is not None:
        values = values - state.pivot[columns]
    sums, means = [v, a, abs(state.v[columns]) @ abs(values)], [0.0]
    if algorithm.centred:
        xbar = abs(state.xbar)
        sums += [a * state.theta, abs(state.z), a * xbar.max(initial=0), a * (xbar[columns] @ abs(values))]
        # moving b' back adds up w · pivot
        sums += [a * pivot.max(initial=0), abs(state.v) @ pivot, a * (pivot[columns] @ abs(values))]
    if algorithm.averaging:
        means += [state.h * v, abs(state.u).max(initial=0), abs(state.c)]
    if algorithm.averaging and algorithm.centred:
        means += [abs(state.c) * xbar.max(initial=0), abs(state.s), state.h * (abs(state.v) @ pivot)]
    of_mean = max(means) / state.total if algorithm.averaging and state.total else 0.0
    return max(max(sums) / (state.t + state.t0), of_mean) / state.problem.lam


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

    @property
    def differences(self) -> np.ndarray:
        """Largest difference of any kind at each step."""
        compared = zip(self.prediction, self.last, self.last if self.average is None else self.average, strict=True)
        return np.array([max([p, *(each for each in predictors if each == each)]) for p, *predictors in compared])

    @property
    def within(self) -> np.ndarray:
        """Truth of "the difference is within its bound" at each step, and at the one where the sides parted."""
        parted = [] if self.parted is None else [self.parted[1] <= self.bound[-1:].max(initial=0)]
        return np.array([*(self.differences <= self.bound), *parted], dtype=bool)


def compare(
    problem: Problem,
    indices,
    algorithms: Iterable[str] = ALGORITHMS,
    every: int = 1,
    *,
    t0=0,
    averaging_weights=None,
    state=State,
) -> dict[str, Trace]:
    """|p_t|, [w_t, b_t] and [w̄_t, b̄_t] of the dense definition minus those of the sparse algorithms, at every step.

    In exact arithmetic all differences have to be 0, those of the derivatives too; in float64 below the bound.

    Parameters
    ----------
    problem : Problem
    indices : sequence of T row numbers in 0..m-1
    algorithms : names in ALGORITHMS
    every : int
        Compare the predictors, which takes O(n), at the multiples of this step number and at the last step.
    t0 : number >= 0
        Offset of the step size.
    averaging_weights : function of step numbers, optional
        Averaging weights; means are not compared as long as all of them are 0.
    state : callable (problem, algorithm, **options) -> State
        What is compared with the definition.

    Cost: O(Tn).
    """
    traces: dict[str, Trace] = {}
    for centred in (False, True):
        states = {
            name: state(
                problem, name, t0=t0, **({"averaging_weights": averaging_weights} if ALGORITHMS[name].averaging else {})
            )
            for name in algorithms
            if ALGORITHMS[name].centred == centred
        }
        if states:
            traces |= _compare(problem, indices, states, centred, every, t0, averaging_weights)
    return {name: traces[name] for name in algorithms}


def _compare(
    problem: Problem, indices, states: dict[str, State], centred: bool, every: int, t0, averaging_weights
) -> dict[str, Trace]:
    rows: dict[str, list] = {name: [] for name in states}
    scale, parted = dict.fromkeys(states, 0.0), dict[str, tuple[int, float]]()
    w_sum, b_sum, total = problem.X.zeros(), problem.number(0), problem.number(0)
    exact, kink = problem.X.exact, problem.loss.kink
    for step in reference.iterates(problem, indices, centred=centred, t0=t0):
        i = indices[step.t - 1]
        stored = slice(problem.X.indptr[i], problem.X.indptr[i + 1])
        (omega,) = evaluate(averaging_weights, step.t, 1, problem.number)
        w_sum, b_sum = w_sum + omega * step.predictor.w, b_sum + omega * step.predictor.b
        total = total + omega
        look = step.t % every == 0 or step.t == len(indices)
        for name in states.keys() - parted.keys():
            state = states[name].run(indices[step.t - 1 : step.t])
            if not exact and kink is not None and state.g != step.g:
                parted[name] = step.t, float(abs(step.p - kink(problem.y[i])))
                continue
            if not exact:
                scale[name] = max(scale[name], largest_partial_sum(state, problem.X.indices[stored], problem.X.data[stored]))
            prediction = max(abs(state.p - step.p), abs(state.g - step.g) if exact else 0)
            last: Any = np.nan
            average: Any = np.nan
            if look:
                last = difference(state.last(), step.predictor)
                if ALGORITHMS[name].averaging and total:
                    average = difference(state.average(), reference.Predictor(w_sum / total, b_sum / total))
            rows[name].append([prediction, last, average, EPS * scale[name]])
    longest = int(np.diff(problem.X.indptr).max())
    traces = {}
    for name, of_steps in rows.items():
        prediction, last, average, rounding = np.array(of_steps, dtype=object).reshape(-1, 4).T
        if not exact:
            prediction, last, average = (each.astype(float) for each in (prediction, last, average))
        rounding = rounding.astype(float)
        bound = (np.arange(1, len(rounding) + 1) + problem.m + longest) * rounding
        averages = average if ALGORITHMS[name].averaging else None
        traces[name] = Trace(prediction, last, averages, rounding, bound, parted.get(name))
    return traces


def difference(found: reference.Predictor, wanted: reference.Predictor):
    """Largest difference of a weight or the bias; around the pivot, where b' alone cannot hold the digits of both."""
    if found.pivoted is not None:
        found = found.pivoted
        wanted = wanted.explicit(found.xbar)
    return max(abs(found.w - wanted.w).max(initial=0), abs(found.b - wanted.b))


def in_float(case: Case, loss: str, lam: float, names: list[str]) -> Iterator[Entry]:
    """Compare dense and sparse over T steps: every p_t, the last and the mean predictor."""
    problem = Problem(case.X, case.y, loss, lam)
    indices = draw_indices(problem.m, case.steps, rng=0)
    bound = (len(indices) + problem.m + int(np.diff(problem.X.indptr).max())) * EPS
    for name, trace in compare(problem, indices, names, every=len(indices)).items():
        largest, ended = trace.differences.max(initial=0.0), ""
        if trace.parted is not None:
            step, margin = trace.parted
            largest = max(largest, margin)
            ended = f"; at step {step} the margin is {margin:.1e} from the kink and rounding decides"
        scale = trace.rounding[-1] / EPS if len(trace.rounding) else 1.0
        value = float(largest / scale) if largest else 0.0
        yield Entry(
            ALGORITHMS[name].label,
            "the sparse algorithm makes the dense one's predictions and predictor",
            "float",
            f"float64, T = {len(indices)}, λ = {lam:g}",
            f"largest difference {value:.1e} of the largest sum, bound (T + m + k)·eps = {bound:.1e}{ended}",
            value <= bound,
            case.name,
            name,
            loss,
            value,
            bound,
        )


def in_fractions(case: Case, kind: str, X, loss: str, lam: float, names: list[str]) -> Iterator[Entry]:
    """Compare dense and sparse in rational arithmetic on a few rows: p_t, last and mean predictor equal at every prefix."""
    rows, y = case.sample(X)
    problem = Problem(rows, y, loss, Fraction(repr(lam)))
    steps = problem.m + problem.m // 2
    indices = draw_indices(problem.m, steps, rng=0)
    for name, trace in compare(problem, indices, names).items():
        equal = int(trace.within.sum())
        yield Entry(
            ALGORITHMS[name].label,
            "the sparse algorithm is the dense one, at every prefix",
            "exact",
            f"==, λ = {problem.lam}",
            f"{equal} of {steps} prefixes equal on {problem.m} rows of {problem.n} columns",
            equal == steps,
            f"{case.name} {kind}",
            name,
            loss,
        )
