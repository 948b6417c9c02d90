"""Cut long work into blocks of about a tenth of a second, so that it can show its progress and be stopped between two."""

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from reference.rows import Rows

SECONDS = 0.1
"""Duration that a block aims at."""

HELD = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Signals that may raise KeyboardInterrupt."""

ENTRIES = 300_000
"""Stored entries, about, that the first block of a long run visits."""


def first_block(X: Rows) -> int:
    """Choose how many rows to visit before reading the clock: one in exact arithmetic, else those of some 300 000 entries."""
    return 1 if X.exact else max(1, ENTRIES * X.m // (len(X.data) + 1))


def blocks_of_rows(X: Rows) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of consecutive blocks of all rows."""
    return blocks(0, X.m, first_block(X))


def blocks(first: int, total: int, size: int, every: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of consecutive blocks from `first` up to `total`, sized by the time that the last one took.

    The first block has the given size. With `every`, each multiple of it is the end of a block.
    """
    start = first
    while start < total:
        stop = min(total, start + size)
        if every is not None:
            stop = min(stop, start - start % every + every)
        began = time.perf_counter()
        yield start, stop
        took = time.perf_counter() - began
        if stop - start == size or took > SECONDS:  # a shorter block that was quick says little
            growth = SECONDS / took if 8 * took > SECONDS else 8
            size = max(1, int((stop - start) * growth))
        start = stop


@contextmanager
def held_interrupts():
    """Defer Ctrl-C, and other signals that are answered, until the caller polls: `with held_interrupts() as let_through`.

    A compiled loop cannot be interrupted, and between its return and the moment when its results are stored nothing may
    interrupt either. Only the main thread is ever interrupted, so elsewhere there is nothing to do.
    """
    held: list[Any] = []
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: handler for number in HELD if callable(handler := signal.getsignal(number))}

    def let_through():
        if held:
            number, frame = held.pop()
            held.clear()
            before[number](number, frame)

    for number in before:
        signal.signal(number, lambda *arguments: held.append(arguments))
    try:
        yield let_through
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    let_through()


def progress_bar(first: int, total: int, wanted: bool | None):
    """Give tqdm's bar over the steps, after half a second; by default on a terminal and in a notebook only."""
    if wanted is None:
        wanted = sys.stderr.isatty() or "ipykernel" in sys.modules
    if not wanted:
        return nullcontext()
    from tqdm.auto import tqdm

    if sys.platform == "emscripten":
        tqdm.monitor_interval = 0  # a browser has no threads
    return tqdm(initial=first, total=total, unit=" steps", unit_scale=True, delay=0.5)
