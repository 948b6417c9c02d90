"""Where the line bends: a stored entry costs the same number of operations whatever n is, but not the same time.

The state of Algorithm 2 is two numbers a column. Once it outgrows a cache, a visit waits for the next one.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from efficient.runs.algorithms import ALGORITHMS
from reference import Problem, draw_indices
from reference.datasets import make_generic, make_text

from .contestants import compiled_textbook, loop, textbook
from .measure import quartiles
from .sets import LAM, LOSS

ROWS, ENTRIES = 20_000, 50
"""m and k, the same for every n."""

COLUMNS = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000)

DRAWS = {"evenly": make_generic, "as in text": make_text}
"""How the columns of the rows are drawn: all equally likely, or by Zipf's law, so that most visits go to a few of them."""

BYTES_A_COLUMN = 8 * len(ALGORITHMS["asgd"].vectors)


def bend(columns=COLUMNS, repeats: int = 5, rows: int = ROWS) -> Iterator[dict[str, Any]]:
    """Nanoseconds for each stored entry against n: of the loop of Algorithm 2 and of a plain compiled one, in quartiles.

    Rows are visited in order, so that what differs is where the state lies. The two take turns.
    """
    for drawn, make in DRAWS.items():
        for n in columns:
            X, y, _ = make(rows, n, ENTRIES, seed=0)
            problem = Problem(X / np.sqrt(ENTRIES), y, LOSS, LAM)
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


def cache_sizes() -> dict[str, int]:
    """The bytes of this machine's caches for data, by name, as far as the system tells."""
    sizes = {}
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = ((folder / name).read_text("utf8").strip() for name in ("level", "type", "size"))
        if kind != "Instruction" and size.endswith("K"):
            sizes[f"L{level}"] = 1024 * int(size[:-1])
    return sizes
