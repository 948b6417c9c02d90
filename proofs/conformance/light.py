"""Do the little that a check needs beyond numpy, so that the kit also runs where this project is not installed."""

import io
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


def print_any_letter() -> None:
    """Write "?" for the letters that standard output or standard error lack, where printing would end in an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def check_writable(path: str) -> None:
    """Raise the OSError that writing the file would raise, and leave nothing behind."""
    if os.path.isdir(path):
        raise IsADirectoryError(21, "Is a directory", path)
    with tempfile.NamedTemporaryFile(dir=os.path.dirname(os.path.abspath(path))):
        pass


def write_whole(path: str, text: str) -> None:
    """Write a file whole or not at all."""
    path = os.path.realpath(path)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as folder:  # of a name that no one can have guessed
        part = os.path.join(folder, "part")
        with open(part, "x", encoding="utf8", errors="replace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)


@contextmanager
def progress(total: int, shown: bool | None) -> Iterator:
    """Show how many of the cases are done, on standard error, by default at a terminal; yields what counts one more."""
    done = 0
    visible = sys.stderr.isatty() if shown is None else shown

    def count() -> None:
        nonlocal done
        done += 1
        if visible:
            sys.stderr.write(f"\r{done} of {total} cases" + "\n" * (done == total))
            sys.stderr.flush()

    yield count
