"""Let a program that the system stops end as after Ctrl-C: what it did is kept, and its exit status names the signal."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

STOP = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Signals by which a system stops a program: a container ends, a terminal is closed."""


class Stop:
    """Exit status of a program that is interrupted: 130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP."""

    status = 128 + signal.SIGINT

    def __call__(self, number: int, frame: Any) -> None:
        """Raise KeyboardInterrupt at the first such signal; let no other one cut off what is done about it."""
        if self.status == Stop.status:
            self.status = 128 + number
            raise KeyboardInterrupt


@contextmanager
def stop_as_ctrl_c() -> Iterator[Stop]:
    """Raise KeyboardInterrupt at SIGTERM and SIGHUP meanwhile; those that are ignored, as under nohup, stay so.

    Only the main thread of a program can do that; elsewhere nothing changes.
    """
    stop, before = Stop(), {}
    if threading.current_thread() is threading.main_thread():
        before = {number: handler for number in STOP if (handler := signal.getsignal(number)) != signal.SIG_IGN}
    for number in before:
        signal.signal(number, stop)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
