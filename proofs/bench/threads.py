"""Models spread over threads: one against two, by the clock."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from efficient import States
from reference import draw_indices

from .contestants import text_problem
from .measure import quartiles, quiet

CLASSES = 24
"""A thread takes four models as fast as one, so two of them can halve the time."""


def one_against_two(size: tuple[int, int, int], rounds: int, tell: Callable[[str], Any] = quiet) -> Iterator[dict[str, Any]]:
    """Yield, in order and at random, the quartiles of the seconds of one thread divided by those of two, round by round.

    Both give the same bits, or an AssertionError. Each round trains 24 classes anew by Algorithm 2, one step for each row; the
    second of two runs counts.
    """
    problem = text_problem(*size)
    classes = np.random.default_rng(0).permutation(np.arange(problem.m) % CLASSES)
    problems = [problem.variant(y=np.where(classes == each, 1.0, -1.0)) for each in range(CLASSES)]
    for order in ("cyclic", "permuted"):
        indices, ratios = draw_indices(problem.m, problem.m, order=order), []
        for number in range(rounds):
            tell(f"threads, {order}: round {number + 1}")
            seconds, bits = {}, set()
            for jobs in (1, 2, 1, 2):
                states = States(problems, "asgd")
                began = time.perf_counter()
                states.run(indices, progress=False, jobs=jobs)
                seconds[jobs] = time.perf_counter() - began
                bits.add(b"".join(each.w.tobytes() for each in states.average()))
            assert len(bits) == 1
            ratios.append(seconds[1] / seconds[2])
        yield {"order": order, "classes": CLASSES, "ratio": quartiles(ratios)}


def lines(results: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    """Yield the lines to print."""
    yield f"{CLASSES} classes, seconds of one thread divided by those of two, by the clock"
    for name, found in results.items():
        for each in found:
            low, middle, high = (each["ratio"][key] for key in ("lower_quartile", "median", "upper_quartile"))
            yield f"  {name}, {each['order']:9} {middle:5.2f}  [{low:.2f}, {high:.2f}]"
