"""Read svmlight / libsvm text: ordinary lines by a compiled loop, all others by `parse_line`, which says what the format is.

An error names the file, the line and what is wrong in it.
"""

import bz2
import gzip
import lzma
import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np

from reference.datasets import Dataset, csr

from ..kernels.compiled import compiled_loop
from ..kernels.compiler import COMPILES
from .foreign import explain
from .lines import POWERS, parse_lines

LONGEST = 250_000_000
"""Bytes of a line from which on it is refused, so that a line without an end is not read into the memory."""

READ = 1 << 22
"""Most bytes that are read at a time."""

GREATEST = 2**31 - 1
"""Greatest column that a file may have."""

OPENERS: dict[str, Callable] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

UNLABELLED = re.compile(rb"^[^\S\n]*(?=[^\s:#]*:)", re.MULTILINE)
"""Beginning of a line whose first token has a colon, so that it is an entry or a query number."""


class Block(NamedTuple):
    """Examples of consecutive lines: their labels, where their entries end, and the columns, from 0 on, and values of these."""

    labels: np.ndarray
    ends: np.ndarray
    columns: np.ndarray
    values: np.ndarray


class _WrongLine(Exception):
    """Mistake in the line that begins at a place of a block of text."""

    def __init__(self, place: int, cause: str):
        self.place, self.cause = place, cause


def load_svmlight(
    path, n_features: int | None = None, zero_based: bool = False, progress: bool | None = None, labelled: bool = True
) -> Dataset:
    """Read a file in the svmlight / libsvm format: a line an example, `label column:value column:value …`.

    Blank lines, comments (from # on), a query number (`qid:7` after the label) and a byte order mark are passed over. The
    columns of a line must increase. Labels and values are finite numbers; those that float64 cannot hold, like 1e999, are
    refused.

    Parameters
    ----------
    path : str or path-like, or a binary file that is open for reading
        The file of this name is compressed if it ends in .gz, .bz2, .xz or .zst.
    n_features : int, optional
        n; by default the greatest column that occurs, at least one. Give it where two files must have the same width.
    zero_based : bool
        True if the first column is called 0. The format says 1; nothing is guessed from the file.
    progress : bool, optional
        Show a progress bar after half a second; by default on a terminal only.
    labelled : bool
        False if lines may lack the label, which is 0 then.

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
    ModuleNotFoundError
        A .zst file where Python cannot unpack it; says what to install.
    OSError
        The file cannot be read.

    Cost: O(n + mk).
    """
    blocks = list(read_blocks(path, n_features, zero_based, progress, labelled))
    y, lengths, columns, values = (
        np.concatenate(parts)
        for parts in zip(*((each.labels, np.diff(each.ends, prepend=0), *each[2:]) for each in blocks), strict=True)
    )
    del blocks
    n = int(columns.max(initial=0)) + 1 if n_features is None else int(n_features)
    return Dataset(csr(values, columns, np.concatenate([[0], np.cumsum(lengths)]), n), y)


def read_blocks(
    path, n_features: int | None = None, zero_based: bool = False, progress: bool | None = None, labelled: bool = True
) -> Iterator[Block]:
    """Read a file as `load_svmlight` does, a block of some megabytes at a time; parameters and errors as there.

    Cost: O(mk) time, and memory for a block, or for the longest line.
    """
    if not isinstance(zero_based, bool):
        raise TypeError(f"zero_based must be True or False, the number of the first column; got {zero_based!r}")
    if n_features is not None and (isinstance(n_features, bool) or not isinstance(n_features, (int, np.integer))):
        raise TypeError(f"n_features must be a number of columns; got {n_features!r}")
    number, found = 1, False  # of the next line
    with ExitStack() as stack:
        name, read = _opened(path, stack, progress)
        for text in _whole_lines(read):
            try:
                if isinstance(text, Exception):
                    raise _WrongLine(0, _shortened(str(text))) from text
                text = text if labelled else UNLABELLED.sub(b"0 ", text)
                block = _parsed(text, 0 if zero_based else 1, n_features)
            except _WrongLine as wrong:
                line = number + (text.count(b"\n", 0, wrong.place) if wrong.place else 0)
                raise ValueError(f"{name}, line {line}: {wrong.cause}") from wrong.__cause__
            number += text.count(b"\n")
            found = found or len(block.labels) > 0
            yield block
    if not found:
        raise ValueError(f"{name} holds no example")


def _opened(path, stack: ExitStack, progress: bool | None) -> tuple[str, Callable[[int], bytes]]:
    """Open a file, or take an open one; give its name for messages and the function that reads it."""
    if hasattr(path, "read"):
        return repr(getattr(path, "name", "the file")), getattr(path, "read1", path.read)
    from tqdm import tqdm

    file = stack.enter_context(open(path, "rb"))  # noqa: SIM115
    hidden = None if progress is None else not progress  # None: hidden unless on a terminal
    size = os.fstat(file.fileno()).st_size
    bar = stack.enter_context(tqdm(total=size, unit="B", unit_scale=True, delay=0.5, disable=hidden))
    unpacked = _unpacked(file, os.path.splitext(os.fsdecode(path))[1])

    def read(size: int) -> bytes:
        found = unpacked.read1(size)
        bar.update(file.tell() - bar.n)
        return found

    return repr(os.fsdecode(path)), read


def _unpacked(file, ending: str) -> Any:
    """Unpack a file by the ending of its name."""
    if ending in OPENERS:
        return OPENERS[ending](file)
    if ending != ".zst":
        return file
    try:
        try:
            from compression import zstd  # type: ignore[import-not-found]  # from Python 3.14 on
        except ModuleNotFoundError:
            from backports import zstd
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("a .zst file needs backports.zstd: pip install backports.zstd") from error
    return zstd.open(file)


def _whole_lines(read: Callable[[int], bytes]) -> Iterator[Any]:
    """Yield the text in blocks of whole lines; in place of the last one, the error of a broken archive or an endless line."""
    parts: list[bytes] = []
    length, begun = 0, False
    while True:
        try:
            found = read(READ)
        except Exception as error:
            if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno is not None):
                raise  # the system's; the others are those of whatever unpacks
            yield error
            return
        if not begun:
            found, begun = found.removeprefix(BYTE_ORDER_MARK), True
        end = found.rfind(b"\n") + 1 if found else 0
        if end or not found:
            text = b"".join([*parts, found[:end]])
            parts, length = [], 0
            if text:
                yield text
            if not found:
                return
        parts.append(found[end:])
        length += len(found) - end
        if length >= LONGEST:
            yield ValueError(f"it has more than {LONGEST} bytes")
            return


def _parsed(text: bytes, first: int, n_features: int | None) -> Block:
    """Parse whole lines. Raises _WrongLine."""
    rows, entries = text.count(b"\n") + 1, text.count(b":")  # at most
    block = Block(np.empty(rows), np.empty(rows, np.int64), np.empty(entries, np.int32), np.empty(entries))
    last = GREATEST if n_features is None else min(GREATEST, int(n_features) - 1 + first)
    as_bytes, parse = np.frombuffer(text, np.uint8), compiled_loop(parse_lines)
    place = row = e = 0
    while True:
        if COMPILES:  # as plain Python, a loop over bytes takes longer than `parse_line`
            place, row, e = map(int, parse(as_bytes, place, first, last, POWERS, *block, row, e))
        if place == len(text):
            return Block(block.labels[:row], block.ends[:row], block.columns[:e], block.values[:e])
        end = text.find(b"\n", place) + 1 or len(text)
        try:
            example = parse_line(text[place:end], first, n_features)
        except ValueError as error:
            raise _WrongLine(place, explain(text[place:end]) or _shortened(str(error))) from None
        if example is not None:
            label, of_row = example
            for column, value in of_row:
                block.columns[e], block.values[e], e = column, value, e + 1
            block.labels[row], block.ends[row], row = label, e, row + 1
        place = end


def parse_line(line: bytes, first: int, n_features: int | None) -> tuple[float, list[tuple[int, float]]] | None:
    """Parse any line: its label, and the column, from 0 on, and value of each entry; None if it is blank.

    Parameters
    ----------
    line : bytes
    first : the number of the first column, 0 or 1
    n_features : int or None

    Raises ValueError, which says what is wrong.
    """
    label, *entries = line.partition(b"#")[0].split() or [b""]
    if not label:
        return None
    if any(b"_" in token for token in (label, *entries)):  # which Python allows in its numbers, and the format does not
        raise ValueError("unexpected '_' in a number")
    given, row, previous = _number("label", label), [], -1
    if entries and entries[0].startswith(b"qid") and b":" in entries[0]:
        del entries[0]
    for token in entries:
        place, colon, value = token.partition(b":")
        if not colon:
            raise ValueError(f"every entry after the label must be column:value; got {_shown(token)}")
        try:
            column = int(place) - first
        except ValueError:
            raise ValueError(f"a column must be a whole number; got {_shown(place)}") from None
        if column < 0:
            zero_based = "there is a column 0: the columns are not numbered from 1 on, as is usual, but zero-based"
            raise ValueError(zero_based if column == -first else f"a column must not be negative; got {_shown(place)}")
        if column + first > GREATEST:
            raise ValueError(f"a column is beyond {GREATEST}")
        if column <= previous:
            raise ValueError("the columns must increase")
        if n_features is not None and column >= n_features:
            raise ValueError(f"a column is beyond n_features = {n_features}")
        row.append((column, _number("value", value)))
        previous = column
    return given, row


def _number(name: str, token: bytes) -> float:
    try:
        number = float(token)
    except ValueError:
        raise ValueError(f"the {name} {_shown(token)} is not a number") from None
    if not np.isfinite(number):
        raise ValueError(f"the {name} {number} is not a finite number")
    return number


def _shown(token: bytes) -> str:
    return repr(_shortened(token.decode("utf8", "replace")))


def _shortened(text: str) -> str:
    return text if len(text) <= 200 else text[:200] + " …"
