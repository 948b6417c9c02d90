"""The whole contest: every data set, in both orders, and what a run takes beside its time."""

import os
import platform
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from reference import Problem

from ..ledger import versions
from .contestants import Field, many_models, single_models
from .footprint import memory
from .measure import CLOCK, race
from .targets import judged

ORDERS = ("sequential", "random")


def new_results(kind: str) -> dict[str, Any]:
    """The frame of what `--json` writes: what was measured, with what and where."""
    machine = {"processor": _processor(), "processors": os.cpu_count(), "system": platform.platform(), "clock": CLOCK}
    return {"paper": "arXiv:1612.09147", "kind": kind, "versions": versions(), "machine": machine}


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    lines = described.read_text().splitlines() if described.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def contest(
    results: dict[str, Any],
    problems: Mapping[str, Callable[[], Problem]],
    rounds: int,
    first_calls: Callable[[], dict[str, Any]],
    expect: Callable[[int], Any],
    tick: Callable[[str], Any],
) -> Iterator[list[dict[str, Any]]]:
    """Fill the results, and yield the timings of each data set and order as they are there.

    Parameters
    ----------
    results : dict
        From `new_results`.
    problems : name -> function that makes the problem, for each data set
        Made one after the other, so that two need not be in memory at once.
    rounds : int
        How often each contestant is timed; a third as often, but three times at least, where there are K models.
    first_calls : callable
        Measures what `footprint.start` does.
    expect, tick : callable
        Told how many pieces of work are to come, and the name of each before it begins.
    """
    results |= {"sets": [], "timings": [], "memory": [], "start": {}, "targets": []}
    for name, make in problems.items():
        expect(1)
        tick(f"{name}: making the rows")
        yield from _on_set(results, name, make, rounds, expect, tick)
    tick("first calls in a fresh Python")
    results["start"] = first_calls()


def _on_set(results, name, make, rounds, expect, tick) -> Iterator[list[dict[str, Any]]]:
    try:
        problem = make()
    except MemoryError:
        results["sets"].append({"name": name, "why": "not enough memory"})
        return
    extent = {"m": problem.m, "n": problem.n, "entries": len(problem.X.data)}
    results["sets"].append({"name": name, **extent, "loss": problem.loss.name, "lam": float(problem.lam), "why": ""})
    results["memory"] += [{"set": name, **entry} for entry in memory(problem)]
    for order in ORDERS:
        field = Field(problem, order)
        timings = []
        for contestants, times in (single_models(field), rounds), (many_models(field), max(3, rounds // 3)):
            listed = list(contestants)
            expect(len(listed) * (times + 1))
            records = race(listed, times, lambda who, place=f"{name}, {order}": tick(f"{place}: {who}"))  # type: ignore[misc]
            timings += [{"set": name, "order": order, **entry} for entry in records]
        results["timings"] += timings
        results["targets"] = list(judged(results["timings"]))
        yield timings
