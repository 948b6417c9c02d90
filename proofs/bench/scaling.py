"""The claim O(n + Tk) on the clock: time against T, k and n, each over three decades or more, beside the counted entries.

Counting runs the loops as plain Python on counting arrays, exact and slow, so it is done for fewer steps; the counts are
whole numbers, not estimates, and linear in T as far as they go. The dense side, O(Tn), is timed at the sizes it can bear.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import efficient
import reference
from reference import Problem, draw_indices
from reference.datasets import make_generic

from ..counted.cost import count_dense, count_sparse
from .contestants import loop
from .measure import now
from .sets import LAM, LOSS

ALGORITHMS = ("asgd", "casgd")

COUNTED_STEPS = 50
"""For how many steps the entries are counted where T does not vary."""

COUNTED_COLUMNS = 100_000
"""Up to how many columns the entries of centred runs are counted: x̄ is divided by m in plain Python there."""


class Sweep(NamedTuple):
    """One of T, k and n takes these values, for the sparse side and, mostly smaller ones, for the dense side.

    `fixed` are the other two and m. Where T is not what varies, the dense side takes `dense_steps`.
    """

    variable: str
    values: tuple[int, ...]
    dense_values: tuple[int, ...]
    fixed: dict[str, int]
    dense_steps: int = 0

    def problem(self, value: int) -> Problem:
        sizes = self.fixed | {self.variable: value}
        X, y, _ = make_generic(sizes["m"], sizes["n"], sizes["k"], seed=0)
        return Problem(X / np.sqrt(sizes["k"]), y, LOSS, LAM)  # rows of about unit length, whose ℓ' are not 0

    def indices(self, steps: int) -> np.ndarray:
        return draw_indices(self.fixed["m"], steps, rng=0)


def _decades(first: int, last: int, each: int = 2) -> tuple[int, ...]:
    return tuple(map(int, np.unique(np.geomspace(first, last, each * round(np.log10(last / first)) + 1).round())))


SWEEPS = (
    Sweep("T", _decades(1_000, 1_000_000), _decades(10, 10_000), {"m": 10_000, "n": 1_000, "k": 20}),
    Sweep("k", _decades(4, 4_000), _decades(4, 4_000), {"m": 200, "n": 10_000, "T": 4_000}, 100),
    Sweep("n", _decades(1_000, 10_000_000), _decades(1_000, 1_000_000), {"m": 20_000, "k": 20, "T": 20_000}, 10),
)

QUICK_SWEEPS = (
    Sweep("T", _decades(100, 100_000, 1), _decades(10, 1_000, 1), {"m": 10_000, "n": 1_000, "k": 20}),
    Sweep("k", _decades(2, 2_000, 1), _decades(2, 2_000, 1), {"m": 100, "n": 10_000, "T": 1_000}, 10),
    Sweep("n", _decades(1_000, 1_000_000, 1), _decades(1_000, 100_000, 1), {"m": 5_000, "k": 20, "T": 5_000}, 5),
)

PARTS = ("loop", "call", "once", "dense")
"""The steps; all of a run, which ends with n weights; all of it but the steps; the dense side."""

TENDS_TO = {"T": (1, 1, 0, 1), "k": (1, 1, None, 0), "n": (0, 1, 1, 1)}
"""The exponents that the claim gives to these parts for large T, k and n. What centring does once grows with mk, too."""


def scale(
    results: dict[str, Any], sweeps: tuple[Sweep, ...], repeats: int, expect: Callable[[int], Any], tick: Callable[[str], Any]
) -> None:
    """Fill the results with curves of seconds and of counted entries.

    Parameters
    ----------
    results : dict
        From `new_results`.
    sweeps : tuple of Sweep
    repeats : int
        How often each time is taken; the median is kept.
    expect, tick : callable
        As in `contest`.
    """
    results |= {"loss": LOSS, "lam": LAM, "curves": [], "counts": []}
    results["fixed"] = {sweep.variable: sweep.fixed for sweep in sweeps}
    expect(sum(len(sweep.values) + len(sweep.dense_values) for sweep in sweeps))
    for sweep in sweeps:
        timed, counted = _Curves(), _Curves()
        for value in sorted({*sweep.values, *sweep.dense_values}):
            problem = sweep.problem(value)
            if value in sweep.values:
                tick(f"{sweep.variable} = {value:,}: sparse")
                _sparse(sweep, value, problem, repeats, timed)
            if value in sweep.dense_values:
                tick(f"{sweep.variable} = {value:,}: dense")
                _dense(sweep, value, problem, repeats, timed)
            _count(sweep, value, problem, counted)
        results["curves"] += timed.finished(sweep.variable, "seconds")
        results["counts"] += counted.finished(sweep.variable, "entries")


class _Curves:
    """Figures by contestant, each with the value of what varies and the steps that it is for."""

    def __init__(self):
        self.points: dict[tuple[str, str], list[tuple[int, int, float]]] = {}

    def add(self, algorithm: str, part: str, value: int, steps: int, figure) -> None:
        self.points.setdefault((algorithm, part), []).append((value, steps, figure))

    def finished(self, variable: str, unit: str) -> Iterator[dict[str, Any]]:
        for (algorithm, part), points in sorted(self.points.items(), key=lambda item: PARTS.index(item[0][1])):
            x, steps, figures = map(list, zip(*points, strict=True))
            last = np.array(x) >= min(x[-1] / 10.5, *x[-2:])  # a decade, and two points at least
            yield {
                "variable": variable,
                "algorithm": algorithm,
                "part": part,
                "x": x,
                "T": steps,
                unit: figures,
                "exponent": _exponent(np.array(x), np.array(figures)),
                "last_exponent": _exponent(np.array(x)[last], np.array(figures)[last]),
                "tends_to": TENDS_TO[variable][PARTS.index(part)],
            }


def _exponent(x, y) -> float:
    """The slope of the straight line through the logarithms, least squares."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def _sparse(sweep: Sweep, value: int, problem: Problem, repeats: int, curves: _Curves) -> None:
    steps = value if sweep.variable == "T" else sweep.fixed["T"]
    indices = sweep.indices(steps)
    seconds: dict[tuple[str, str], list[float]] = {}
    for repeat in range(repeats + 1):
        for algorithm in ALGORITHMS:
            took = loop(problem, algorithm, indices).seconds, _seconds(getattr(efficient, algorithm), problem, indices)
            for part, each in zip(("loop", "call"), took, strict=True):
                seconds.setdefault((algorithm, part), []).extend([each] * (repeat > 0))  # the first is a warm-up
    for (algorithm, part), all_of_them in seconds.items():
        curves.add(algorithm, part, value, steps, float(np.median(all_of_them)))


def _dense(sweep: Sweep, value: int, problem: Problem, repeats: int, curves: _Curves) -> None:
    steps = value if sweep.variable == "T" else sweep.dense_steps
    for algorithm in ALGORITHMS:
        train = getattr(reference, algorithm)
        problem.xbar  # noqa: B018  # computed once, before the clock starts
        each = [_seconds(train, problem, sweep.indices(steps)) for _ in range(repeats)]
        curves.add(algorithm, "dense", value, steps, float(np.median(each)))


def _seconds(train: Callable, problem: Problem, indices) -> float:
    began = now()
    train(problem, indices)
    return now() - began


def _count(sweep: Sweep, value: int, problem: Problem, counts: _Curves) -> None:
    """Entries touched in the loop, and once a run: for x̄ and for the predictor."""
    if sweep.variable == "T" and value not in sweep.dense_values:
        return
    steps = value if sweep.variable == "T" else COUNTED_STEPS
    for algorithm in ALGORITHMS if problem.n <= COUNTED_COLUMNS else ("asgd",):
        found, _ = count_sparse(algorithm, problem, sweep.indices(steps))
        counts.add(algorithm, "loop", value, steps, sum(found["loop"]))
        counts.add(algorithm, "once", value, steps, sum(map(sum, found.values())) - sum(found["loop"]))
        if value in sweep.dense_values:
            steps_there = value if sweep.variable == "T" else sweep.dense_steps
            counts.add(algorithm, "dense", value, steps_there, sum(count_dense(algorithm, problem, sweep.indices(steps_there))))
