"""Interleaved timing: check the contestants first, then time them round after round, so that all share good and bad times.

And what a run takes beside its time: the memory of its state, and the wait of a fresh Python for the first result.
"""

import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import efficient
from efficient.runs.algorithms import ALGORITHMS
from reference import Predictor, Problem, draw_indices

CLOCK = "thread_time" if time.get_clock_info("thread_time").resolution < 1e-6 else "perf_counter"
"""Processor time of this thread, which others on a busy machine cannot stretch by taking the processor; or else wall time."""

now = getattr(time, CLOCK)

SHORT = 0.1
"""A run that takes fewer seconds is done twice, and the second counts: it finds in the caches what its like leaves there."""


class NotAvailable(Exception):
    """Contestant cannot run here; the message says why."""


class Run(NamedTuple):
    """Seconds of a run, its answers, and the seconds of what surrounds it, by name."""

    seconds: float
    answers: list[Predictor]
    parts: dict[str, float]


class Contestant(NamedTuple):
    """Something to be timed.

    `extent` is the number of steps and of stored entries visited in them. `check` compares the answers of a run with the right
    ones and returns the largest relative difference. If that exceeds `bound`, the contestant is not timed. The floor has
    nothing to check.
    """

    name: str
    run: Callable[[], Run]
    extent: tuple[int, int]
    check: Callable[[list[Predictor]], float] | None
    bound: float = 0.0


def quiet(name: str) -> None:
    """Report nothing of the piece of work that begins."""


def difference(found: Predictor, right: Predictor) -> float:
    """Return the largest difference of two predictors, relative to the largest number in the right one."""
    scale = max(np.abs(right.w).max(initial=0), abs(right.b), np.finfo(float).tiny)
    return float(max(np.abs(found.w - right.w).max(initial=0), abs(found.b - right.b)) / scale)


def largest_difference(found: list[Predictor], right: list[Predictor]) -> float:
    """Return the largest `difference` of the pairs."""
    return max(difference(*pair) for pair in zip(found, right, strict=True))


@contextmanager
def clock(parts: dict[str, float], name: str):
    """Enter the seconds that the body takes under this name."""
    began = now()
    yield
    parts[name] = now() - began


def race(contestants: list[Contestant], rounds: int, tell: Callable[[str], Any] = quiet) -> list[dict[str, Any]]:
    """Time the contestants, and return a record of each.

    Everyone runs once before the clock counts, to be compiled and checked. Every round begins with another contestant, and a
    short run is done twice, so that none profits from what another one left in the caches. A contestant whose answer differs
    from the one that was checked is disqualified.

    Returns
    -------
    list of dict
        `status` is "timed", "refused" or "not available", and `why` says why. `seconds` are those of all rounds, and so are
        the `parts` around them. `ns_per_entry` are the quartiles of the nanoseconds for each stored entry visited.
    """
    records, checked = [], []
    for contestant in contestants:
        tell(contestant.name)
        record, fingerprint = _admitted(contestant)
        records.append(record)
        checked.append(fingerprint)
    places = list(range(len(contestants)))
    for number in range(rounds):
        first = number % max(1, len(places))
        for place in places[first:] + places[:first]:
            contestant, entry = contestants[place], records[place]
            tell(contestant.name)
            if entry["status"] != "timed":
                continue
            run = contestant.run()
            if run.seconds < SHORT:
                run = contestant.run()
            if _fingerprint(run.answers) != checked[place]:
                entry.update(status="refused", why="its answer changes from run to run", seconds=[])
                continue
            entry["seconds"].append(run.seconds)
            for name, seconds in run.parts.items():
                entry["parts"].setdefault(name, []).append(seconds)
    for entry in records:
        if entry["seconds"]:
            entry["ns_per_entry"] = quartiles(np.array(entry["seconds"]) / entry["entries"] * 1e9)
    return records


def _admitted(contestant: Contestant) -> tuple[dict[str, Any], Any]:
    """Run and check a contestant: its record, and the fingerprint of its answers."""
    steps, entries = contestant.extent
    entry: dict[str, Any] = {"contestant": contestant.name, "status": "timed", "why": "", "steps": steps, "entries": entries}
    entry |= {"difference": None, "bound": contestant.bound, "seconds": [], "ns_per_entry": None, "parts": {}}
    try:
        answers = contestant.run().answers
        if contestant.check is not None:
            entry["difference"] = found = contestant.check(answers)
            if not found <= contestant.bound:
                why = f"its answer is off by {found:.1e}, more than {contestant.bound:.0e}"
                entry.update(status="refused", why=why)
        return entry, _fingerprint(answers)
    except (NotAvailable, FloatingPointError, MemoryError) as error:
        entry.update(status="not available", why=str(error) or type(error).__name__)
        return entry, None


def _fingerprint(answers: list[Predictor]) -> list[tuple[float, float]]:
    """Return a few numbers that tell answers apart, so that not all of them need be kept."""
    return [(float(answer.w.sum()), float(answer.b)) for answer in answers]


def quartiles(numbers) -> dict[str, float]:
    """Return the least number, the quartiles and the median, by name."""
    names = ("least", "lower_quartile", "median", "upper_quartile")
    return dict(zip(names, np.quantile(numbers, (0, 0.25, 0.5, 0.75)).tolist(), strict=True))


def memory(problem: Problem) -> Iterator[dict[str, Any]]:
    """Hold the peak of what a call allocates against its vectors of 8n bytes and the returned weights, and 100 kB for the rest.

    Where n is large the centred algorithms have a projection for each row as well, 8m bytes for which nothing is allowed here:
    they are gone before the weights are made.
    """
    indices = draw_indices(problem.m, problem.m, order="cyclic")
    for algorithm, parts in ALGORITHMS.items():
        train = getattr(efficient, algorithm)
        train(problem, indices)  # compile first
        tracemalloc.start()
        try:
            train(problem, indices)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        state, weights = 8 * problem.n * (len(parts.vectors) + parts.centred), 8 * problem.n  # x̄ is a vector, too
        found = {"algorithm": algorithm, "n": problem.n, "m": problem.m, "peak": peak, "state": state, "weights": weights}
        yield found | {"met": peak <= state + weights + 100_000}


FIRST_CALL = """
from time import perf_counter as now
began = now()
import efficient
imported = now()
import numpy as np
from reference import Problem
problem = Problem(np.eye(2), [1.0, -1.0], "log", 0.1)
made = now()
efficient.{algorithm}(problem, [0, 1])
print(imported - began, now() - made)
"""


def first_calls(times: int, algorithms: Sequence[str]) -> dict[str, dict[str, float]]:
    """Take the wall time to import `efficient` and of the first, compiling, call: medians over fresh processes."""
    found = {}
    for algorithm in algorithms:
        command = [sys.executable, "-c", FIRST_CALL.format(algorithm=algorithm)]
        options: dict[str, Any] = {"capture_output": True, "text": True, "check": True}
        beside = Path(efficient.__file__).parent.parent
        printed = [subprocess.run(command, cwd=beside, **options).stdout for _ in range(times)]
        seconds = np.median([[float(word) for word in line.split()] for line in printed], axis=0)
        found[algorithm] = dict(zip(("import", "first_call"), seconds.tolist(), strict=True))
    return found
