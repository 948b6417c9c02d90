"""Convert text to an .npz that is mapped into memory, for a command or for a training out of core."""

import argparse
import hashlib
import os
import sys

from ..reading import mapped
from ..reading.examples import STANDARD_INPUT, as_text


def convert(options: argparse.Namespace) -> None:
    """Write the .npz of a text."""
    source = sys.stdin.buffer if options.examples == STANDARD_INPUT else options.examples
    rows, columns, entries = as_text(mapped.convert, source, options.output, options.zero_based)
    print(f"wrote {options.output}: {rows} rows, {columns} columns, {entries} entries")


def converted(path: str, folder: str, zero_based: bool) -> str:
    """Convert a text in a folder unless that was done before, for the file as it is; return the path of the .npz."""
    found = os.stat(path)
    version = repr((os.path.realpath(path), found.st_size, found.st_mtime_ns, zero_based))
    stem = os.path.join(folder, f"{os.path.basename(path)}-{hashlib.sha256(version.encode()).hexdigest()[:16]}")
    os.makedirs(folder, exist_ok=True)
    if not os.path.exists(f"{stem}.npz"):
        as_text(mapped.convert, path, f"{stem}.npz", zero_based)
    return f"{stem}.npz"
