"""Compare every step of the sparse algorithms with the dense definitions: predictions, predictors and their means.

In exact arithmetic the two are equal, `==`, after every step. In float64 both differ from the exact run by rounding, and
`judge` holds each against it.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import reference
from efficient import State, States
from efficient.kernels.prefetch import LARGE
from efficient.runs.algorithms import ALGORITHMS
from reference import Problem, draw_indices, safe_t0
from reference.averaging import evaluate, polynomial

from ..data import Case
from ..ledger import SAME, Entry, Job
from .judge import judge
from .rationals import on_rationals


def jobs(cases: list[Case]) -> Iterator[Job]:
    smallest = min(cases, key=lambda case: case.X.nnz)
    loss, lam = next(iter(smallest.lam.items()))
    yield Job(
        tuple(each.label for each in ALGORITHMS.values()),
        f"same bits: {smallest.name}",
        partial(in_blocks, smallest, loss, lam),
    )
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


class Trace(NamedTuple):
    """Dense against sparse after every step t = 1, …, T: the largest difference of each kind.

    `last` and `average` are NaN where the predictors were not compared; `average` is None where the algorithm keeps none.
    """

    prediction: np.ndarray
    last: np.ndarray
    average: np.ndarray | None

    @property
    def differences(self) -> np.ndarray:
        """Largest difference of any kind at each step."""
        compared = zip(self.prediction, self.last, self.last if self.average is None else self.average, strict=True)
        return np.array([max([p, *(each for each in predictors if each == each)]) for p, *predictors in compared])

    @property
    def equal(self) -> np.ndarray:
        """Truth of "dense and sparse are equal" at each step."""
        return np.array(self.differences == 0, dtype=bool)


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

    All differences have to be 0, those of the derivatives too.

    Parameters
    ----------
    problem : Problem in exact arithmetic
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

    Raises
    ------
    TypeError
        The problem is in float64, where the two sides round differently.

    Cost: O(Tn).
    """
    if not problem.X.exact:
        raise TypeError(f"problem must be in exact arithmetic; got lam={problem.lam!r}. Floats are for `judge`")
    traces: dict[str, Trace] = {}
    for centred in (False, True):
        states = {
            name: state(problem, name, **options_of(name, t0, averaging_weights))
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
    w_sum, b_sum, total = problem.X.zeros(), problem.number(0), problem.number(0)
    for step in reference.iterates(problem, indices, centred=centred, t0=t0):
        (omega,) = evaluate(averaging_weights, step.t, 1, problem.number)
        w_sum, b_sum = w_sum + omega * step.predictor.w, b_sum + omega * step.predictor.b
        total = total + omega
        look = step.t % every == 0 or step.t == len(indices)
        for name, of_name in states.items():
            state = of_name.run(indices[step.t - 1 : step.t])
            last: Any = np.nan
            average: Any = np.nan
            if look:
                last = difference(state.last(), step.predictor)
                if ALGORITHMS[name].averaging and total:
                    average = difference(state.average(), reference.Predictor(w_sum / total, b_sum / total))
            rows[name].append([max(abs(state.p - step.p), abs(state.g - step.g)), last, average])
    traces = {}
    for name, of_steps in rows.items():
        prediction, last, average = np.array(of_steps, dtype=object).reshape(-1, 3).T
        traces[name] = Trace(prediction, last, average if ALGORITHMS[name].averaging else None)
    return traces


def difference(found: reference.Predictor, wanted: reference.Predictor):
    """Largest difference of a weight or the bias."""
    return max(abs(found.w - wanted.w).max(initial=0), abs(found.b - wanted.b))


def in_float(case: Case, loss: str, lam: float, names: list[str]) -> Iterator[Entry]:
    """Hold both sides against the exact run over T steps on T rows: every p_t and g_t, the last and the mean predictor."""
    rows, y = case.sample(case.X, columns=case.X.shape[1], rows=case.steps)
    problem = Problem(rows, y, loss, lam)
    indices = draw_indices(problem.m, problem.m, rng=0)
    for name, verdict in judge(problem, indices, names).items():
        yield Entry(
            ALGORITHMS[name].label,
            "the sparse algorithm loses no more digits than the definition",
            "float",
            f"float64 against balls, T = {len(indices)}, {problem.n} columns, λ = {lam:g}",
            str(verdict),
            verdict.holds,
            case.name,
            name,
            loss,
            verdict.share,
            1.0,
        )


def options_of(name: str, t0, averaging_weights) -> dict[str, Any]:
    """List the options that a run of an algorithm takes."""
    return {"t0": t0} | ({"averaging_weights": averaging_weights} if ALGORITHMS[name].averaging else {})


def in_blocks(case: Case, loss: str, lam: float) -> Iterator[Entry]:
    """Hold the compiled ways to run against single steps, which are held against the definition: not a bit may differ.

    Runs in blocks, with projections known beforehand; six models at once; and more columns than fit into a processor's caches.
    """
    rows, y = case.sample(case.X, columns=case.X.shape[1], rows=min(case.steps, 1000))
    m, n = rows.shape
    wide = rows.copy()
    wide.resize(m, n + LARGE)
    narrow, wide = (Problem(each, y, loss, lam, sample_weight=1 + np.arange(m) % 3) for each in (rows, wide))
    indices = draw_indices(m, 2 * m + 1, rng=0)
    t0 = 3 + safe_t0(narrow)
    for name, algorithm in ALGORITHMS.items():
        options = options_of(name, t0, polynomial(1))
        steps, whole, large = (State(problem, name, **options) for problem in (narrow, narrow, wide))
        for i in indices:
            steps.run([i])
        whole.run(indices, callback=lambda t, state: None, every=300)
        models = States([narrow] * 6, name, **options).run(indices)
        wanted, far = _result(steps), _result(large.run(indices))
        # numpy's dot product of a pivot with more weights may add up in another order
        found = [_result(whole), *_result(models), reference.Predictor(far.w[:n], far.b if large.pivot is None else wanted.b)]
        same = [each.b == wanted.b and bool((each.w == wanted.w).all()) for each in found]
        yield Entry(
            algorithm.label,
            "runs in blocks, of six models at once, and in very many columns give the bits of single steps",
            "float",
            f"==, T = {len(indices)}, {n} and {n + LARGE} columns, λ = {lam:g}, t0 = {t0:g}, ω_t = t, unequal sample weights",
            f"{sum(same)} of {len(same)} predictors are the same",
            all(same) and not far.w[n:].any(),
            case.name,
            name,
            loss,
        )


def _result(run):
    """Recover what the algorithm returns."""
    return run.average() if ALGORITHMS[run.algorithm].averaging else run.last()


def in_fractions(case: Case, kind: str, X, loss: str, lam: float, names: list[str]) -> Iterator[Entry]:
    """Compare dense and sparse in rational arithmetic on a few rows: p_t, last and mean predictor equal at every prefix."""
    rows, y = case.sample(X)
    problem = on_rationals(Problem(rows, y, loss, Fraction(repr(lam))))
    weighted = on_rationals(Problem(rows, y, loss, Fraction(repr(lam)), sample_weight=[1 + i % 3 for i in range(len(y))]))
    steps = problem.m + problem.m // 2
    indices = draw_indices(problem.m, steps, rng=0)
    other = compare(weighted, indices, names, t0=3, averaging_weights=polynomial(1))
    runs = zip(compare(problem, indices, names).values(), other.values(), strict=True)
    for name, both in zip(names, runs, strict=True):
        equal = sum(int(trace.equal.sum()) for trace in both)
        yield Entry(
            ALGORITHMS[name].label,
            SAME,
            "exact",
            f"==, λ = {problem.lam}, of the paper's run and of one with t0 = 3, ω_t = t and unequal sample weights",
            f"{equal} of {2 * steps} prefixes equal on {problem.m} rows of {problem.n} columns",
            equal == 2 * steps,
            f"{case.name} {kind}",
            name,
            loss,
        )
