"""Measure the speed of the loops on this machine, beside a lower bound from memory traffic, plain code and scikit-learn.

Ratios of times inside one run carry over to other machines, seconds do not. No claim of the paper rests on a clock; its
cost is counted, see `proofs.counted.cost`.
"""

import os
import platform
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from reference import Problem

from ..ledger import versions
from .contestants import Field, many_models, single_models, text_problem
from .measure import CLOCK, memory, quiet, race
from .scaling import QUICK_SWEEPS, scale
from .tables import judged

FORMAT = 1
"""Number of the format of the results in JSON."""

ORDERS = ("sequential", "random")

SETS = {
    "S": (20_000, 10_000, 75),
    "M": (200_000, 50_000, 75),
    "L": (200_000, 2_000_000, 100),
    "XL": (200_000, 20_000_000, 100),
}
"""Synthetic texts: m rows of about k entries in n columns, as (m, n, k).

The state of S fits the second cache of most processors, that of M the third, those of L and XL none.
"""

QUICK_SETS = {"S": SETS["S"], "M/20": (10_000, *SETS["M"][1:])}
QUICK_ROUNDS, QUICK_REPEATS = 5, 3


def new_results(kind: str) -> dict[str, Any]:
    """Make the frame of what `--json` writes: what is measured ("speed" or "scaling"), with what and where."""
    cpu = Path("/proc/cpuinfo")
    lines = cpu.read_text().splitlines() if cpu.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    processor = names[0] if names else platform.processor()
    machine = {"processor": processor, "processors": os.cpu_count(), "system": platform.platform(), "clock": CLOCK}
    return {"format": FORMAT, "paper": "arXiv:1612.09147", "kind": kind, "versions": versions(), "machine": machine}


def synthetic(sizes: Mapping[str, tuple[int, int, int]]) -> dict[str, Callable[[], Problem]]:
    """Make a function for each of these sizes that makes the problem."""
    return {name: lambda size=size: text_problem(*size) for name, size in sizes.items()}  # type: ignore[misc]


def contest(
    results: dict[str, Any], problems: Mapping[str, Callable[[], Problem]], rounds: int, tell: Callable[[str], Any] = quiet
) -> Iterator[list[dict[str, Any]]]:
    """Fill the results, and yield the timings of each data set and order as soon as they are known.

    Parameters
    ----------
    results : dict
        From `new_results`.
    problems : name -> function that makes the problem, for each data set
        Made one after the other, so that two need not be in memory at once.
    rounds : int
        Times of each contestant; a third as many, but three at least, where there are K models.
    tell : callable
        Receives the name of each piece of work before it begins.
    """
    results |= {"sets": [], "timings": [], "memory": [], "start": {}, "targets": []}
    for name, make in problems.items():
        tell(f"{name}: making the rows")
        try:
            problem = make()
        except MemoryError:
            results["sets"].append({"name": name, "why": "not enough memory"})
            continue
        extent = {"m": problem.m, "n": problem.n, "entries": len(problem.X.data)}
        results["sets"].append({"name": name, **extent, "loss": problem.loss.name, "lam": float(problem.lam), "why": ""})
        results["memory"] += [{"set": name, **entry} for entry in memory(problem)]
        for order in ORDERS:
            field, timings = Field(problem, order), []
            for contestants, times in ((single_models(field), rounds), (many_models(field), max(3, rounds // 3))):
                records = race(list(contestants), times, lambda who, place=f"{name}, {order}": tell(f"{place}: {who}"))  # type: ignore[misc]
                timings += [{"set": name, "order": order, **entry} for entry in records]
            results["timings"] += timings
            results["targets"] = list(judged(results["timings"]))
            yield timings


def quick(kind: str, tell: Callable[[str], Any] = quiet) -> dict[str, Any]:
    """Measure what `--quick` does of "speed", but for the first calls in a fresh Python, or of "scaling"; print nothing."""
    results = new_results(kind)
    if kind == "scaling":
        return results | scale(QUICK_SWEEPS, QUICK_REPEATS, tell)
    for _ in contest(results, synthetic(QUICK_SETS), QUICK_ROUNDS, tell):
        pass
    return results
