"""Keep compiled loops on the disk, so that the next process need not compile them again.

numba's own `cache=True` looks at the file of a loop alone, and would run an old loop after a change of what it calls. Here
the folder is named after all sources that a loop can be made of. What it holds are pickles, which execute code when they are
read: it is used only if it belongs to the user and is closed to all others. Where that cannot be had, loops are compiled in
memory, as without a cache.
"""

import hashlib
import os
import pickle
import platform
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

import llvmlite
import numba
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

import reference

PACKAGES = (Path(reference.__file__).parent, Path(__file__).parents[1])
"""Folders with all sources that a cached loop is made of."""

OF_NO_MATTER = {"NUMBA_NUM_THREADS", "NUMBA_THREADING_LAYER", "NUMBA_CACHE_DIR"}
"""Settings of numba that change no compiled loop; joblib sets the first for its workers."""

KEPT = 8
"""Versions of the sources whose loops are kept; those used longest ago are removed."""


def _version() -> str | None:
    """Hash all that compiled code depends on, besides the processor; None if sources are missing, as in a zip archive."""
    digest = hashlib.sha256(repr((platform.python_version(), numba.__version__, llvmlite.__version__)).encode())
    settings = {name for name in os.environ if name.startswith("NUMBA_")} - OF_NO_MATTER
    digest.update(repr([(name, os.environ[name]) for name in sorted(settings)]).encode())
    sources = sorted(source for package in PACKAGES for source in package.rglob("*.py"))
    if Path(__file__) not in sources:
        return None
    for source in sources:
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()[:32]


VERSION = _version()
"""Version at the import: modules that are edited later run as they were imported."""


@cache
def folder() -> Path | None:
    """Make the folder of this version, below the user's folder for caches; None if none is safe to use."""
    root = Path(AppDirs(appname="casgd", appauthor=False).user_cache_dir)
    if VERSION is None:
        return None
    with suppress(OSError):
        root.parent.mkdir(parents=True, exist_ok=True)
        for part in (root, root / VERSION):
            with suppress(FileExistsError):
                part.mkdir(mode=0o700)
            if not _is_private(part):
                return None
        os.utime(root / VERSION)
        tempfile.TemporaryFile(dir=root / VERSION).close()
        with suppress(OSError):  # another process removes the same ones
            _remove_old(root)
        return root / VERSION
    return None


def _is_private(path: Path) -> bool:
    """Tell whether a path is a folder, not a link, of this user and closed to all others."""
    found = os.lstat(path)
    mine = not hasattr(os, "geteuid") or (found.st_uid == os.geteuid() and found.st_mode & 0o077 == 0)
    return mine and path.is_dir() and not path.is_symlink()


def _remove_old(root: Path) -> None:
    """Remove all versions but the `KEPT` that were used last."""
    for old in sorted(root.iterdir(), key=os.path.getmtime, reverse=True)[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)


class LoopCache(NullCache):
    """Compiled versions of one function, a file for each signature and processor, in the interface of numba's caches.

    numba's own class keeps an index of its files, which names the wrong file after two processes wrote at the same time.
    """

    def __init__(self, function):
        self.function = function

    def load_overload(self, sig, target_context):
        """Read the version for this signature; None if there is none, or none that can be read."""
        rtsys.initialize(target_context)  # maps the symbols of arrays; all else of `refresh` is for compiling
        with suppress(Exception):  # whatever a damaged file makes its reader raise
            found = CompileResult._rebuild(target_context, *pickle.loads(self._file(sig, target_context).read_bytes()))
            if found.signature.args == tuple(sig):
                return found
        return None

    def save_overload(self, sig, data):
        """Write a compiled version, whole or not at all, unless the sources were edited since they were imported."""
        if data.library.has_dynamic_globals or _version() != VERSION:
            return
        with suppress(Exception):  # no folder, no room: the loop is in memory
            file = self._file(sig, data.target_context)
            with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as part:
                part.write(dumps(data._reduce()))
            os.replace(part.name, file)

    def _file(self, sig, target_context) -> Path:
        place = folder()
        if place is None:
            raise FileNotFoundError
        name = f"{self.function.__module__}.{self.function.__qualname__}"
        of = repr((name, tuple(sig), target_context.codegen().magic_tuple()))
        return place / f"{name}-{hashlib.sha256(of.encode()).hexdigest()[:16]}"


def is_cached(function) -> bool:
    """Tell whether the sources of a function are among those that the cache is named after."""
    return any(package in Path(function.__code__.co_filename).parents for package in PACKAGES)
