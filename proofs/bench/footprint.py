"""What a run takes beside its time: the memory of its state, and how long a fresh Python waits for the first result."""

import subprocess
import sys
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import efficient
from efficient.runs.algorithms import ALGORITHMS
from reference import Problem, draw_indices

SMALL = 100_000
"""Bytes that a run may take for other things than vectors."""


def memory(problem: Problem) -> Iterator[dict[str, Any]]:
    """The peak of what a call allocates, the returned weights included, against its vectors of 8n bytes and the weights.

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
        yield {
            "algorithm": algorithm,
            "n": problem.n,
            "m": problem.m,
            "peak": peak,
            "state": state,
            "weights": weights,
            "met": peak <= state + weights + SMALL,
        }


SECONDS = {"import": 0.5, "first_call": 1.0}
"""How long the import and the first call may take."""

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


def start(times: int, algorithms: Sequence[str]) -> dict[str, dict[str, float]]:
    """Seconds of wall time to import `efficient` and for the first, compiling, call: medians over fresh processes."""
    found = {}
    for algorithm in algorithms:
        code = FIRST_CALL.format(algorithm=algorithm)
        seconds = [_run(code) for _ in range(times)]
        found[algorithm] = dict(zip(("import", "first_call"), np.median(seconds, axis=0).tolist(), strict=True))
    return found


def _run(code: str) -> list[float]:
    beside = Path(efficient.__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=beside)
    return [float(word) for word in done.stdout.split()]
