"""Command line `casgd`: train, predict, evaluate, certify, sweep; `casgd --help` has examples."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from reference.arithmetic import Overflow

from .cli.options import parse
from .runs.signals import Stop, stop_as_ctrl_c
from .runs.terminal import print_any_letter
from .training.settings import losses_of_bounded_slope

IN_SHELL = {
    "lam": "a larger --lam",
    "rows": "smaller numbers in FILE, as --scale makes",
    "t0": "a larger --t0 (auto is right for a curvature of at most 1)",
    "loss": f"--loss {' or '.join(losses_of_bounded_slope(binary=False))}",
}
"""Words for what helps against an overflow, as `reference.arithmetic.CURES` has them for Python."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status: 0, 1 for bad data, 128 + the number of a signal. Bad usage exits with 2."""
    print_any_letter()
    try:
        with stop_as_ctrl_c() as stop:
            return _run(arguments, stop)
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                if stream is not None:
                    stream.flush()
            except OSError:  # the terminal is closed: Python would fail again when it ends
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _run(arguments: Sequence[str] | None, stop: Stop) -> int:
    try:
        options = parse(arguments)
        if getattr(options, "workers", None):
            from .distributed.command import train  # with Dask and scikit-learn

            options.run = train
        with np.errstate(all="ignore"):  # overflow is looked for, and refused in words
            options.run(options)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:  # the reader closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt as interrupt:
        return _end(stop.status, " ".join(["interrupted", *map(str, interrupt.args)]))
    except Overflow as error:
        return _end(1, error.said(IN_SHELL))
    except (ValueError, TypeError, FloatingPointError, MemoryError, ModuleNotFoundError) as error:
        return _end(1, str(error) or type(error).__name__)
    except OSError as error:
        return _end(1, f"{error.filename!r}: {error.strerror}" if error.filename else error.strerror or str(error))
    return 0


def _end(status: int, message: str) -> int:
    with suppress(OSError):  # of a terminal that is closed
        if sys.stdout is not None:
            sys.stdout.flush()
        print(f"casgd: {' '.join(message.split())}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
