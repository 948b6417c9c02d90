"""Read svmlight / libsvm text by scikit-learn's reader, and name the line of whatever is wrong in it."""

import bz2
import gzip
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np

from .datasets import Dataset, csr

LONGEST = 250_000_000
"""Bytes of a line from which on it is refused, so that a line without an end is not read into the memory."""

DECOMPRESSORS = {".gz": gzip.open, ".bz2": bz2.open}

CAUSES = {
    "too large": "a column is beyond 2147483647",
    "unpack": "every entry after the label must be column:value",
    "Invalid index 0": "there is a column 0: the columns are not numbered from 1 on, as is usual, but zero-based",
    "sorted and unique": "the columns must increase",
    "invalid literal for int": "a column must be a whole number; got ",
}
"""Words of the reader's errors, in Python's terms, and what they mean in those of the format."""


def load_svmlight(path, n_features: int | None = None, zero_based: bool = False, progress: bool | None = None) -> Dataset:
    """Read a file in the svmlight / libsvm format: a line an example, `label column:value column:value …`.

    Blank lines, comments (from # on) and a query number (`qid:7` after the label) are passed over. The columns of a line must
    increase. Labels and values are finite numbers: those that float64 cannot hold, like 1e999, are refused.

    Parameters
    ----------
    path : str or path-like, or a binary file that is open for reading
        The file of this name is compressed if it ends in .gz or .bz2.
    n_features : int, optional
        n; by default the greatest column that occurs. Give it where two files must have the same width.
    zero_based : bool
        True if the first column is called 0. The format says 1; nothing is guessed from the file.
    progress : bool, optional
        Show a progress bar after half a second; by default on a terminal only.

    Returns
    -------
    Dataset
        Without a vocabulary.

    Raises
    ------
    ValueError
        The file is not in the format, is empty, or does not fit the other arguments; names the file and the line.
    TypeError
        `zero_based` is not a bool, or `n_features` not an integer.
    OSError
        The file cannot be read.

    Cost: O(n + mk). Needs scikit-learn.
    """
    from sklearn.datasets import load_svmlight_file
    from tqdm import tqdm

    if not isinstance(zero_based, bool):
        raise TypeError(f"zero_based must be True or False, the number of the first column; got {zero_based!r}")
    if n_features is not None and (isinstance(n_features, bool) or not isinstance(n_features, (int, np.integer))):
        raise TypeError(f"n_features must be a number of columns; got {n_features!r}")
    with ExitStack() as stack:
        if hasattr(path, "readline"):
            name, lines = repr(getattr(path, "name", "the file")), _Lines(path)
        else:
            name, file = repr(os.fsdecode(path)), stack.enter_context(open(path, "rb"))
            hidden = None if progress is None else not progress  # None: hidden unless on a terminal
            size = os.fstat(file.fileno()).st_size
            bar = stack.enter_context(tqdm(total=size, unit="B", unit_scale=True, delay=0.5, disable=hidden))
            reader: Any = DECOMPRESSORS.get(os.path.splitext(os.fsdecode(path))[1], lambda file: file)
            lines = _Lines(reader(file), lambda: bar.update(file.tell() - bar.n))
        try:
            X, y = load_svmlight_file(lines, zero_based=zero_based)
        except (ValueError, OverflowError, EOFError, zlib.error, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:  # the system's; the others are a decompressor's
                raise
            raise ValueError(f"{name}, line {lines.number}: {_cause(str(error))}") from error
    if not len(y):
        raise ValueError(f"{name} holds no example")
    wide = np.inf if n_features is None else n_features
    for cause, rows in (
        ("the label {} is not a finite number", np.flatnonzero(~np.isfinite(y))),
        ("a value is not a finite number", _rows_of(X, ~np.isfinite(X.data))),
        (f"a column is beyond n_features = {n_features}", _rows_of(X, X.indices >= wide)),
    ):
        if len(rows):
            raise ValueError(f"{name}, line {lines.of_example(int(rows[0]))}: {cause.format(y[rows[0]])}")
    return Dataset(csr(X.data, X.indices, X.indptr, X.shape[1] if n_features is None else n_features), y)


class _Lines:
    """Lines of a file, counted for scikit-learn's reader, which does not say where it fails."""

    def __init__(self, file, report: Callable[[], Any] = lambda: None):
        self.readline, self.read = file.readline, file.read  # the reader asks for `read` and takes lines
        self.report = report
        self.number = 0
        self.empty: list[int] = []

    def __iter__(self) -> Iterator[bytes]:
        while True:
            self.number += 1
            line = self.readline(LONGEST)
            if not line:
                return
            if len(line) == LONGEST:
                raise ValueError(f"it has more than {LONGEST} bytes")
            content = line.partition(b"#")[0].strip()
            if not content:
                self.empty.append(self.number)
            elif b"_" in content:  # which Python allows in its numbers, and the format does not
                raise ValueError("unexpected '_' in a number")
            if not self.number % 100:
                self.report()
            yield line

    def of_example(self, row: int) -> int:
        """Return the number of the line that holds an example."""
        number = row + 1
        for empty in self.empty:
            number += empty <= number
        return number


def _cause(message: str) -> str:
    """Say what is wrong with a line in the terms of the format."""
    complaint, _, token = message.partition(": b")
    for words, cause in CAUSES.items():
        if words in complaint:
            return cause + token if cause.endswith("got ") else cause
    return message if len(message) <= 200 else message[:200] + " …"


def _rows_of(X, entries: np.ndarray) -> np.ndarray:
    """Find the rows that hold these stored entries, given as a mask."""
    return np.searchsorted(X.indptr, np.flatnonzero(entries), side="right") - 1
