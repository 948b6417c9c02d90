"""Epochs of a training: draw, step, report; Ctrl-C between two blocks."""

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from reference import draw_indices
from reference.arithmetic import Overflow

from ..runs.run import Run
from .metrics import shown_quality
from .settings import ORDER

DRAWN_AT_ONCE = 1_000_000
"""Most examples that are drawn at once, unless an epoch that must be drawn as a whole is longer."""


class Schedule(NamedTuple):
    """Rows to draw, and how many.

    Parameters
    ----------
    m : int
        The number of rows.
    steps : int
        T, counted from the first of the schedule.
    epoch : int
        Steps of an epoch.
    rng : numpy Generator
        As it was before the first step of the schedule.
    order : {"iid", "permuted", "blocked", "cyclic"}
    sampling_weight : ndarray of shape (m,), optional
        Sampling weights, as `draw_indices` takes them.
    done : int
        Steps of the schedule that were taken in an earlier run: they are drawn and not taken.
    """

    m: int
    steps: int
    epoch: int
    rng: np.random.Generator
    order: str = ORDER
    sampling_weight: np.ndarray | None = None
    done: int = 0

    def portions(self, by_epoch: bool) -> Iterator[tuple[int, int, np.ndarray]]:
        """Yield (start, stop, indices) of each epoch, or of several or a part of one, in order; the generator is advanced.

        Independent draws are made some at a time; in the other orders an epoch is drawn as a whole.
        """
        size = self.epoch if by_epoch else self.epoch * max(1, DRAWN_AT_ONCE // self.epoch)
        at_once = min(size, DRAWN_AT_ONCE) if self.order == "iid" else size
        for first in range(0, self.steps, size):
            last = min(first + size, self.steps)
            for start in range(first, last, at_once):
                stop = min(start + at_once, last)
                yield start, stop, draw_indices(self.m, stop - start, self.rng, self.order, self.sampling_weight)


def train(
    run: Run,
    schedule: Schedule,
    *,
    after: Callable[[int, float], object] | None = None,
    between: Callable[[int, Run], object] | None = None,
    interrupted: Callable[[], object] | None = None,
    jobs: int = 1,
) -> None:
    """Take the steps of a schedule.

    Portions, as callbacks want them, change no bit of the result.

    Parameters
    ----------
    run : Run
    schedule : Schedule
    after : callable (epoch, seconds), optional
        Called after each epoch with its number, from 1 on, and the seconds that its steps took.
    between : callable (t, run), optional
        Called after each block of about a tenth of a second.
    interrupted : callable (), optional
        Called once after Ctrl-C if a step was taken, when the run is whole, before KeyboardInterrupt is raised again.
    jobs : int
        How many threads share the models.

    Raises
    ------
    FloatingPointError
        The iterates overflowed; names the step and the cure.
    KeyboardInterrupt

    Cost: O(Kk) a step.
    """
    first, epoch = run.t, schedule.epoch
    seconds = 0.0
    try:
        for start, stop, indices in schedule.portions(by_epoch=after is not None):
            indices = indices[max(0, schedule.done - start) :]
            if len(indices):
                began = time.perf_counter()
                _take(run, indices, between, jobs)
                seconds += time.perf_counter() - began
                if after is not None and (stop % epoch == 0 or stop == schedule.steps):
                    after(-(-stop // epoch), seconds)
                    seconds = 0.0
    except KeyboardInterrupt:
        if interrupted is not None and run.t > first:
            interrupted()
        raise


def _take(run: Run, indices: np.ndarray, between: Callable[[int, Run], object] | None, jobs: int) -> None:
    """Take a step for each of the drawn examples; of an overflow, say what helps."""
    try:
        run.run(indices, callback=between, progress=False, jobs=jobs)
    except FloatingPointError:
        loss, lam, t0 = run.problem.loss, run.problem.lam, np.min(run.t0)
        raise Overflow(
            f"the iterates overflowed float64 by step {run.t}: steps of 1/(λ(t + t0)), with λ = {lam:g} and t0 = {t0:g}, are "
            "too long for these rows at first",
            *(("lam", "rows") if loss.slope_bound is not None else ("lam", "rows", "t0", "loss")),
        ) from None


class Table:
    """Print a line of values for each epoch, below a head before the first one."""

    def __init__(self, say: Callable[[str], object] | None = None):
        self.say = say or (lambda line: print(line, flush=True))
        self.headed = False

    def line(self, epoch: int, values: dict[str, float], seconds: float) -> None:
        """Print the line of an epoch."""
        if not self.headed:
            self.say("  ".join(["epoch", *(f"{name:>14}" for name in values), "seconds"]))
            self.headed = True
        cells = (f"{shown_quality(value):>{max(14, len(name))}}" for name, value in values.items())
        self.say("  ".join([f"{epoch:5}", *cells, f"{seconds:7.2f}"]))
