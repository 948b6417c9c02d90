"""Rows in parts: how near E epochs on P parts come, an epoch in two processes, and what is computed for more than one machine.

At equal accuracy P parts take P times the epochs, each of a P-th of the steps: the steps cost what they cost one machine. So
parts pay where one machine would read its rows from the disk while theirs fit into the memory, as long as sending the states,
8n(2K + 1) bytes to each part and from it in each of P times as many epochs, takes less than that saves.
"""

import logging
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from statistics import median
from typing import Any

import dask
import numpy as np
from dask.delayed import delayed
from distributed import Client, LocalCluster, wait

from efficient.distributed import CASGDClassifier
from efficient.distributed.mixing import Plan, mixed, prepare
from efficient.distributed.parts import Part
from efficient.training.settings import Settings
from reference import Predictor, Problem, minimise
from reference.datasets import Dataset, load_spam, make_text

from .measure import quiet

PARTS, EPOCHS = (1, 2, 4, 8, 16), 32
SIZE, QUICK_SIZE = (100_000, 200_000, 50), (2_000, 1_000, 20)
"""m, n and k of the text on which an epoch is timed."""

LAM = 1e-4
BANDWIDTHS = (1, 10, 100)
"""Gbit/s of the network that are computed with."""

FROM_DISK, IN_MEMORY = 20e-9, 7e-9
"""Seconds of a stored entry, out of core and in memory, that are computed with."""

BEYOND = ((10**7, 10**6, 8), (10**8, 10**7, 4), (10**8, 10**7, 16), (10**9, 10**8, 4), (10**9, 10**8, 16), (10**9, 10**8, 64))
"""m, n and P that are computed, with 100 entries a row and one model."""


def cut(data: Dataset, parts: int) -> list[Part]:
    """Cut rows in a random order into parts of about equal numbers of rows."""
    order = np.random.default_rng(0).permutation(len(data.y))
    ends = np.linspace(0, len(order), parts + 1).astype(int)
    return [Part(data.X[order[low:high]], data.y[order[low:high]]) for low, high in pairwise(ends)]


def gaps(data: Dataset, epochs: int, tell: Callable[[str], object] = quiet) -> Iterator[dict[str, Any]]:
    """Yield, for each number of parts, (F − F*)/F* after the epochs on them, and after a P-th of them alone."""
    problem = Problem(data.X, data.y, "log", LAM)
    least = minimise(problem, True).value

    def gap(parts: int, count: int) -> float:
        found = cut(data, parts)
        model = CASGDClassifier("log", alpha=LAM, n_epochs=count, random_state=0)
        model.fit([part.X for part in found], [part.y for part in found])
        return float(problem.objective(Predictor(model.coef_[0], model.intercept_[0]), True) / least - 1)

    with dask.config.set(scheduler="synchronous"):
        for parts in PARTS:
            tell(f"{epochs} epochs on {parts} parts")
            yield {"parts": parts, "gap": gap(parts, epochs), "alone": gap(1, max(1, epochs // parts))}


def epoch_seconds(m: int, n: int, k: int, tell: Callable[[str], object] = quiet) -> dict[str, float]:
    """Time an epoch in one process, and on two parts in two processes, with all of Dask; medians of five, wall time."""
    data, taken = make_text(m, n, k, seed=0), {}
    options = {"threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1", "silence_logs": logging.CRITICAL}
    for parts in (1, 2):
        tell(f"epochs in {parts} processes")
        with LocalCluster(n_workers=parts, **options) as cluster, Client(cluster) as client:
            found = [delayed(held) for held in client.scatter(cut(data, parts))]
            plan = Plan(Settings("hinge", LAM, t0=0.0), n, np.array([-1.0, 1.0]), None, "permuted", 0, -(-m // parts))
            ends = [time.perf_counter()]
            for mean in mixed(found, [1] * parts, prepare(found, plan), 7 * plan.steps):
                wait(mean)
                ends.append(time.perf_counter())
        taken[f"{parts}"] = median(after - before for before, after in pairwise(ends[2:]))
    return taken


def sent(n: int, parts: int, models: int = 1) -> int:
    """Count the bytes that an epoch sends, all states down and up: z is in a state, so its weights are 2K + 1 vectors."""
    return 2 * parts * 8 * n * (2 * models + 1)


def alone(m: int, k: int = 100) -> float:
    """Compute the seconds of an epoch of one machine out of core."""
    return m * k * FROM_DISK


def together(m: int, n: int, parts: int, bandwidth: float, k: int = 100) -> float:
    """Compute the seconds of the P epochs on P parts that are worth it, through the one network card of who averages."""
    return m * k * IN_MEMORY + parts * sent(n, parts) * 8e-9 / bandwidth


def measure(quick: bool, tell: Callable[[str], object] = quiet) -> dict[str, Any]:
    """Measure the gaps and the epochs, and compute what is beyond this machine."""
    data = make_text(1_000, 300, 20, seed=0) if quick else load_spam(tfidf=True)
    return {
        "gaps": list(gaps(data, 16 if quick else EPOCHS, tell)),
        "epochs": epoch_seconds(*(QUICK_SIZE if quick else SIZE), tell),
        "beyond": [
            (m, n, parts, sent(n, parts), alone(m), *(together(m, n, parts, b) for b in BANDWIDTHS)) for m, n, parts in BEYOND
        ],
    }


def lines(results: dict[str, Any]) -> Iterator[str]:
    """Yield the lines to print."""
    yield "Rows in P parts: (F − F*)/F* after E epochs on them, and after E/P epochs alone"
    yield from (f"  P = {each['parts']:2}  {each['gap']:9.2g}  {each['alone']:9.2g}" for each in results["gaps"])
    one, two = results["epochs"].values()
    yield f"Measured: milliseconds of an epoch in one process {1e3 * one:.0f}, on two parts in two processes {1e3 * two:.0f}"
    yield "Computed: seconds of an epoch out of core on one machine, and of as good P epochs on P parts in memory"
    yield f"  {'rows':>5} {'columns':>7} {'P':>3} {'GB sent':>8} {'alone':>7}" + "".join(f" {b:>5} Gbit/s" for b in BANDWIDTHS)
    for m, n, parts, size, *seconds in results["beyond"]:
        first, *others = (f"{each:,.0f}" for each in seconds)
        yield f"  {m:.0e} {n:7.0e} {parts:3} {size / 1e9:8.3g} {first:>7}" + "".join(f" {each:>12}" for each in others)
