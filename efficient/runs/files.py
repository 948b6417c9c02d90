"""Write a file whole or not at all, and read archives in no more memory than they take on the disk.

The project writes every file by `write_whole`: to a new file beside it, `NAME.RANDOM.part`, which no other process can have
made or guessed; that one is forced to the disk and then renamed. A process holds a lock on its own `.part` as long as it
writes. Where a process was killed, the next one that writes the same file finds that lock free, and removes what was left.
"""

import errno
import os
import re
import secrets
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

fcntl: Any
try:
    import fcntl
except ModuleNotFoundError:  # Windows: what a killed process left is not removed
    fcntl = None

LONGEST_NAME = 200
"""Bytes of the name of a file that are kept in that of its `.part`, which may have 255 in all."""

PART = re.compile(r"\.[0-9a-f]{16}\.part$")
"""End of the names of such files."""

NO_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM, errno.EBADF, errno.EISDIR}
"""Errors of systems that cannot force a folder to the disk."""


def write_whole(path, write: Callable[[BinaryIO], object]) -> None:
    """Let `write` fill the new file; afterwards `path` names the old file or the new one, either whole.

    A symbolic link stays, and the file that it points to is replaced. An existing file's permissions are kept.

    Raises
    ------
    OSError
        With `path` as its file name. The old file is still there, and nothing beside it.
    """
    path = os.fspath(path)
    with named(path):
        target = _target(path)
        part, file = _new_part(target)
        try:
            with file:
                write(file)
                file.flush()
                with suppress(FileNotFoundError, AttributeError):  # a new file; Windows
                    os.fchmod(file.fileno(), stat.S_IMODE(os.stat(target).st_mode))
                os.fsync(file.fileno())
                if fcntl is None:
                    file.close()  # Windows renames no open file
                os.replace(part, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(part)
            raise
        _sync_folder(os.path.dirname(target))


def check_writable(path) -> None:
    """Raise the OSError that `write_whole` would raise before it has anything to write, and leave nothing behind."""
    path = os.fspath(path)
    with named(path):
        target = _target(path)
        if os.path.isdir(target):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        part, file = _new_part(target)
        file.close()
        os.unlink(part)


@contextmanager
def named(path) -> Iterator[None]:
    """Let an OSError of the system name the file that was asked for, not its `.part`, nor none."""
    try:
        yield
    except OSError as error:
        if error.errno is None or not (error.filename is None or PART.search(os.fspath(error.filename))):
            raise
        raise OSError(error.errno, error.strerror, path) from error


def _target(path) -> str:
    """Follow symbolic links; raise OSError if the file can have no such name."""
    target = os.path.realpath(path)
    with suppress(FileNotFoundError):
        if stat.S_ISLNK(os.lstat(target).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
    return target


def _new_part(target: str) -> tuple[str, BinaryIO]:
    """Make and lock a file beside the target that did not exist before, after those of dead processes are removed."""
    stem = os.fsdecode(os.fsencode(os.path.basename(target))[:LONGEST_NAME])
    folder = os.path.dirname(target)
    _remove_left_over(folder, stem)
    while True:
        part = os.path.join(folder, f"{stem}.{secrets.token_hex(8)}.part")
        file = open(part, "x+b")  # noqa: SIM115
        if _lock(file.fileno()) is not False and os.path.exists(part):
            return part, file
        file.close()  # another process removed it before it was locked


def _remove_left_over(folder: str, stem: str) -> None:
    """Remove the `.part` files of this stem that no process has locked."""
    if fcntl is None:
        return
    with suppress(OSError), os.scandir(folder) as found:
        for entry in found:
            if PART.sub("", entry.name) == stem != entry.name and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    file = os.open(entry.path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
                    try:
                        if _lock(file):
                            os.unlink(entry.path)
                    finally:
                        os.close(file)


def _lock(file: int) -> bool | None:
    """Lock an open file: False if another process has it, None where there are no locks."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (OSError, AttributeError):
        return None
    return True


def _sync_folder(folder: str) -> None:
    """Force a rename to the disk, where the system can do that."""
    try:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno not in NO_SYNC:
            raise


MOST_SAID = 300
"""How much of a reader's words is said: some hold what was found in the file."""


def reason(error: Exception) -> str:
    """Say in a line why a reader failed; some errors hold a place beside the words, and some hold no words."""
    words = str(error.args[0] if len(error.args) > 1 and str(error) == str(error.args) else error)
    line = " ".join(words.split()) or type(error).__name__
    return line if len(line) <= MOST_SAID else line[: MOST_SAID - 3] + "..."


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
