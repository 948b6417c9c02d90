"""Writing a file whole or not at all."""

import os
from collections.abc import Callable
from typing import BinaryIO


def write_whole(path, write: Callable[[BinaryIO], object]) -> None:
    """Let `write` fill a temporary file beside `path`, then rename it; after a failure the old file is still there."""
    path = os.fspath(path)
    temporary = f"{path}.{os.getpid()}.part"
    try:
        with open(temporary, "wb") as file:
            write(file)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
