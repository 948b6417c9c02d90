"""How contestants are timed against each other: checked first, then round after round, so that all share good and bad times."""

import time
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from reference import Predictor

CLOCK = "thread_time" if time.get_clock_info("thread_time").resolution < 1e-6 else "perf_counter"
"""Processor time of this thread, which others on a busy machine cannot stretch by taking the processor; or else wall time."""

now = getattr(time, CLOCK)

SHORT = 0.1
"""A run that takes fewer seconds is done twice, and the second counts: it finds in the caches what its like leaves there."""


class NotAvailable(Exception):
    """A contestant cannot run here; says why."""


class Run(NamedTuple):
    """The seconds of a run, its answers, and the seconds of what surrounds it, by name."""

    seconds: float
    answers: list[Predictor]
    parts: dict[str, float]


class Contestant(NamedTuple):
    """Something to be timed.

    `entries` stored entries are visited in `steps` steps. `check` holds the answers of a run against the right ones and returns
    the largest relative difference, which may be `bound` at most, or else it is not timed; the floor has nothing to check.
    """

    name: str
    run: Callable[[], Run]
    steps: int
    entries: int
    check: Callable[[list[Predictor]], float] | None
    bound: float = 0.0


def difference(found: Predictor, right: Predictor) -> float:
    """The largest difference of two predictors, relative to the largest number in the right one."""
    scale = max(np.abs(right.w).max(initial=0), abs(right.b), np.finfo(float).tiny)
    return float(max(np.abs(found.w - right.w).max(initial=0), abs(found.b - right.b)) / scale)


def largest_difference(found: list[Predictor], right: list[Predictor]) -> float:
    return max(difference(*pair) for pair in zip(found, right, strict=True))


@contextmanager
def clock(parts: dict[str, float], name: str):
    """Enter the seconds that the body takes under this name."""
    began = now()
    yield
    parts[name] = now() - began


def race(contestants: list[Contestant], rounds: int, tick: Callable[[str], Any]) -> list[dict[str, Any]]:
    """Time the contestants, and return a record of each; see `record` for what is in it.

    Everyone runs once before the clock counts, to be compiled and checked. Every round begins with another contestant, and a
    short run is done twice, so that nobody profits from what another one left in the caches. An answer that differs from the
    one that was checked ends the contest for its owner.
    """
    records = {contestant.name: record(contestant) for contestant in contestants}
    checked: dict[str, Any] = {}
    for contestant in contestants:
        tick(contestant.name)
        _admit(contestant, records[contestant.name], checked)
    for number in range(rounds):
        first = number % max(1, len(contestants))
        for contestant in contestants[first:] + contestants[:first]:
            entry = records[contestant.name]
            tick(contestant.name)
            if entry["status"] != "timed":
                continue
            run = contestant.run()
            if run.seconds < SHORT:
                run = contestant.run()
            if fingerprint(run.answers) != checked[contestant.name]:
                entry.update(status="refused", why="its answer changes from run to run", seconds=[])
                continue
            entry["seconds"].append(run.seconds)
            for name, seconds in run.parts.items():
                entry["parts"].setdefault(name, []).append(seconds)
    for entry in records.values():
        if entry["seconds"]:
            entry["ns_per_entry"] = quartiles(np.array(entry["seconds"]) / entry["entries"] * 1e9)
    return list(records.values())


def record(contestant: Contestant) -> dict[str, Any]:
    """What is known of a contestant before it has run.

    `status` is "timed", "refused" or "not available", and `why` says why. `seconds` are those of all rounds, and so are the
    `parts` around them. `ns_per_entry` are the quartiles of the nanoseconds for each stored entry visited.
    """
    return {
        "contestant": contestant.name,
        "status": "timed",
        "why": "",
        "steps": contestant.steps,
        "entries": contestant.entries,
        "difference": None,
        "bound": contestant.bound,
        "seconds": [],
        "ns_per_entry": None,
        "parts": {},
    }


def _admit(contestant: Contestant, entry: dict[str, Any], checked: dict[str, Any]) -> None:
    try:
        answers = contestant.run().answers
        if contestant.check is not None:
            entry["difference"] = found = contestant.check(answers)
            if not found <= contestant.bound:
                why = f"its answer is off by {found:.1e}, more than {contestant.bound:.0e}"
                entry.update(status="refused", why=why)
        checked[contestant.name] = fingerprint(answers)
    except (NotAvailable, FloatingPointError, MemoryError) as error:
        entry.update(status="not available", why=str(error) or type(error).__name__)


def fingerprint(answers: list[Predictor]) -> list[tuple[float, float]]:
    """A few numbers that tell answers apart, so that not all of them need be kept."""
    return [(float(answer.w.sum()), float(answer.b)) for answer in answers]


def quartiles(numbers) -> dict[str, float]:
    names = ("least", "lower_quartile", "median", "upper_quartile")
    return dict(zip(names, np.quantile(numbers, (0, 0.25, 0.5, 0.75)).tolist(), strict=True))


def ratio(above: dict[str, Any], below: dict[str, Any]) -> dict[str, float]:
    """The quartiles of the ratio of two contestants' times for an entry, round by round."""
    each = [np.array(entry["seconds"]) / entry["entries"] for entry in (above, below)]
    return quartiles(each[0] / each[1])
