"""Writing a file whole or not at all."""

import errno
import os
from collections.abc import Callable
from typing import BinaryIO


def write_whole(path, write: Callable[[BinaryIO], object]) -> None:
    """Let `write` fill a temporary file beside `path`, then rename it; after a failure the old file is still there."""
    temporary = _beside(path)
    try:
        with open(temporary, "wb") as file:
            write(file)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def check_writable(path) -> None:
    """Raise the OSError that `write_whole` would raise before it has anything to write, and leave nothing behind."""
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    temporary = _beside(path)
    with open(temporary, "wb"):
        pass
    os.unlink(temporary)


def _beside(path) -> str:
    """The temporary file of this process for a file that is to be written."""
    return f"{os.fspath(path)}.{os.getpid()}.part"
