"""Claim O(n + Tk) on the clock: time against T, k and n, each over three decades or more, beside the counted entries.

Counting runs the loops as plain Python on counting arrays, exact and slow, so it is done for fewer steps; the counts are
whole numbers, not estimates, and linear in T as far as they go. The dense side, O(Tn), is timed at the sizes it can bear.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import efficient
import reference
from efficient.runs.algorithms import ALGORITHMS
from reference import Problem, draw_indices
from reference.datasets import make_generic, make_text

from ..counted.arrays import count_dense, count_sparse
from .contestants import LAM, LOSS, compiled_textbook, loop, textbook
from .measure import now, quartiles, quiet

SCALED = ("asgd", "casgd")

COUNTED_STEPS = 50
"""Steps for which the entries are counted where T does not vary."""

COUNTED_COLUMNS = 100_000
"""Most columns for which the entries of centred runs are counted: x̄ is divided by m in plain Python there."""


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
        """Make the rows, of about unit length, so that ℓ' is not 0."""
        sizes = self.fixed | {self.variable: value}
        X, y, _ = make_generic(sizes["m"], sizes["n"], sizes["k"], seed=0)
        return Problem(X / np.sqrt(sizes["k"]), y, LOSS, LAM)

    def indices(self, steps: int) -> np.ndarray:
        """Draw the examples of a run."""
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
"""Exponents that the claim gives to these parts for large T, k and n. What centring does once grows with mk too."""


def scale(sweeps: tuple[Sweep, ...], repeats: int, tell: Callable[[str], Any] = quiet) -> dict[str, Any]:
    """Measure curves of seconds and of counted entries, and fit their exponents.

    Parameters
    ----------
    sweeps : tuple of Sweep
    repeats : int
        Times that each time is taken; the median is kept.
    tell : callable
        As in `contest`.
    """
    results: dict[str, Any] = {"loss": LOSS, "lam": LAM, "curves": [], "counts": []}
    results["fixed"] = {sweep.variable: sweep.fixed for sweep in sweeps}
    for sweep in sweeps:
        points: dict[tuple[str, str, str], list[tuple[int, int, float]]] = {}
        for value in sorted({*sweep.values, *sweep.dense_values}):
            tell(f"{sweep.variable} = {value:,}")
            for key, taken, figure in _figures(sweep, value, repeats):
                points.setdefault(key, []).append((value, taken, figure))
        for (unit, algorithm, part), each in sorted(points.items(), key=lambda item: PARTS.index(item[0][2])):
            x, steps, figures = map(list, zip(*each, strict=True))
            last = np.array(x) >= min(x[-1] / 10.5, *x[-2:])  # a decade, and two points at least
            curve: dict[str, Any] = {
                "variable": sweep.variable,
                "algorithm": algorithm,
                "part": part,
                "x": x,
                "T": steps,
                unit: figures,
            }
            curve["exponent"] = exponent(np.array(x), np.array(figures))
            curve["last_exponent"] = exponent(np.array(x)[last], np.array(figures)[last])
            curve["tends_to"] = TENDS_TO[sweep.variable][PARTS.index(part)]
            results["curves" if unit == "seconds" else "counts"].append(curve)
    return results


def exponent(x, y) -> float:
    """Fit a straight line to the logarithms by least squares, and return its slope."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def _figures(sweep: Sweep, value: int, repeats: int) -> Iterator[tuple[tuple[str, str, str], int, float]]:
    """Time and count at one value: ((unit, algorithm, part), steps, figure)."""
    problem, varies = sweep.problem(value), sweep.variable == "T"
    problem.xbar  # noqa: B018  # computed once, before the clock starts
    steps, dense_steps, counted_steps = (
        value if varies else each for each in (sweep.fixed.get("T", 0), sweep.dense_steps, COUNTED_STEPS)
    )
    dense = value in sweep.dense_values
    seconds: dict[tuple[str, str, int], list[float]] = {}
    for repeat in range(repeats + 1):
        for algorithm in SCALED:
            took = {}
            if value in sweep.values:
                indices = sweep.indices(steps)
                took["loop", steps] = loop(problem, algorithm, indices).seconds
                took["call", steps] = _seconds(getattr(efficient, algorithm), problem, indices)
            if dense and repeat:
                took["dense", dense_steps] = _seconds(getattr(reference, algorithm), problem, sweep.indices(dense_steps))
            for (part, taken), each in took.items():
                seconds.setdefault((algorithm, part, taken), []).extend([each] * (repeat > 0))  # the first is a warm-up
    for (algorithm, part, taken), all_of_them in seconds.items():
        yield ("seconds", algorithm, part), taken, float(np.median(all_of_them))
    if varies and not dense:
        return
    for algorithm in SCALED if problem.n <= COUNTED_COLUMNS else ("asgd",):
        found, _ = count_sparse(algorithm, problem, sweep.indices(counted_steps))
        yield ("entries", algorithm, "loop"), counted_steps, sum(found["loop"])
        yield ("entries", algorithm, "once"), counted_steps, sum(map(sum, found.values())) - sum(found["loop"])
        if dense:
            touched = sum(count_dense(algorithm, problem, sweep.indices(dense_steps)))
            yield ("entries", algorithm, "dense"), dense_steps, touched


def _seconds(train: Callable, problem: Problem, indices) -> float:
    began = now()
    train(problem, indices)
    return now() - began


DRAWS = {"evenly": make_generic, "as in text": make_text}
"""Draws of the columns of a row: all equally likely, or by Zipf's law, so that most visits go to a few of them."""

BYTES_A_COLUMN = 8 * len(ALGORITHMS["asgd"].vectors)

BEND_COLUMNS = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000)


def bend(columns=BEND_COLUMNS, repeats: int = 5, rows: int = 20_000, entries: int = 50) -> Iterator[dict[str, Any]]:
    """Time a stored entry against n: of the loop of Algorithm 2 and of a plain compiled one, nanoseconds in quartiles.

    The operations are the same whatever n is, the time is not: once the state outgrows a cache, a visit waits for the next
    one. Rows are visited in order, so that what differs is where the state is. The two are interleaved.
    """
    for drawn, make in DRAWS.items():
        for n in columns:
            X, y, _ = make(rows, n, entries, seed=0)
            problem = Problem(X / np.sqrt(entries), y, LOSS, LAM)
            indices = draw_indices(rows, rows, order="cyclic")
            contestants = {
                "asgd": partial(loop, problem, "asgd", indices),
                "plain": partial(textbook, compiled_textbook, problem, indices),
            }
            seconds: dict[str, list[float]] = {name: [] for name in contestants}
            for repeat in range(repeats + 1):
                for name, run in contestants.items():
                    seconds[name].extend([run().seconds] * (repeat > 0))  # the first is a warm-up
            for name, each in seconds.items():
                ns = quartiles(1e9 * np.array(each) / len(problem.X.data))
                yield {"contestant": name, "drawn": drawn, "n": n, "ns_per_entry": ns}
