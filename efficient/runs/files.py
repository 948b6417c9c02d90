"""Write a file whole or not at all, and read archives in no more memory than they take on the disk."""

import errno
import os
import zipfile
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
    """Name the temporary file of this process for a file that is to be written."""
    return f"{os.fspath(path)}.{os.getpid()}.part"


def check_stored(archive: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    """Give the members of an archive (.npz) by name; raise ValueError unless each is stored as it is, within `size` bytes.

    A compressed member could unpack to any size. No name may occur twice.
    """
    members: dict[str, zipfile.ZipInfo] = {}
    for member in archive.infolist():
        if member.filename in members:
            raise ValueError("two members have the same name")
        if member.compress_type != zipfile.ZIP_STORED or not member.file_size == member.compress_size <= size:
            raise ValueError(f"its member {member.filename[:80]!r} is not stored as it is")
        members[member.filename] = member
    return members
