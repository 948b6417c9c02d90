"""Convert svmlight text to an .npz whose arrays are mapped into memory: examples of any number, read when they are needed.

The archive has the arrays data, indices, indptr, shape and y of a CSR matrix and its labels, as `numpy.load` reads them. Its
members are stored as they are, and begin at multiples of 64 bytes, so that the system can map the file in place of reading it.
"""

import os
import struct
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from typing import BinaryIO

import numpy as np

from ..runs.files import named, write_whole
from .svmlight import read_blocks

ALIGNMENT = 64
"""Bytes, those of a cache line, at multiples of which the arrays begin."""

COPIED = 1 << 20
"""Numbers that are copied at a time."""

LOCAL_HEADER, SIZES_OF_ZIP64 = struct.Struct("<26xHH"), 20
"""Lengths of name and extra fields in the header of a member (APPNOTE.TXT, 4.3.7); bytes of the extra field zip64."""


def convert(source, path, zero_based: bool = False, progress: bool | None = None) -> tuple[int, int, int]:
    """Convert a file of svmlight text, block by block; return the numbers of rows, columns and entries.

    Parameters
    ----------
    source, zero_based, progress
        As `load_svmlight` takes them.
    path : str or path-like
        The .npz to write, whole or not at all.

    Raises ValueError and OSError as `load_svmlight`.

    Cost: O(mk) time, the memory of a block, and beside the file as much again on its disk until it is done.
    """
    with ExitStack() as stack:
        folder = os.path.dirname(os.path.abspath(path))
        with named(os.fspath(path)):
            y, starts, indices, data = (stack.enter_context(tempfile.TemporaryFile(dir=folder)) for _ in range(4))
        starts.write(bytes(8))
        rows, columns, entries = 0, 1, 0
        for block in read_blocks(source, zero_based=zero_based, progress=progress):
            parts = block._replace(ends=entries + block.ends)
            for file, part in zip((y, starts, indices, data), parts, strict=True):
                with named(os.fspath(path)):
                    file.write(part.tobytes())
            rows, entries = rows + len(block.labels), entries + len(block.values)
            columns = max(columns, int(block.columns.max(initial=0)) + 1)
        places = np.dtype(np.int32 if entries < 2**31 else np.int64)  # one type for both, as scipy has it

        def write(file: BinaryIO) -> None:
            with zipfile.ZipFile(file, "w") as archive:
                for name, values, stored, kept, length in (
                    ("data", data, np.float64, np.float64, entries),
                    ("indices", indices, np.int32, places, entries),
                    ("indptr", starts, np.int64, places, rows + 1),
                    ("y", y, np.float64, np.float64, rows),
                ):
                    _add(archive, name, np.dtype(kept), length, _numbers(values, np.dtype(stored)))
                _add(archive, "shape", np.dtype(np.int64), 2, iter([np.array([rows, columns])]))

        write_whole(path, write)
    return rows, columns, entries


def _numbers(file: BinaryIO, dtype: np.dtype) -> Iterator[np.ndarray]:
    """Yield what a temporary file holds, part by part."""
    file.seek(0)
    while found := file.read(COPIED * dtype.itemsize):
        yield np.frombuffer(found, dtype)


def _add(archive: zipfile.ZipFile, name: str, dtype: np.dtype, length: int, parts: Iterator[np.ndarray]) -> None:
    """Add an array as a member that begins, in the file, at a multiple of the alignment."""
    member = zipfile.ZipInfo(f"{name}.npy")
    assert archive.fp is not None
    before = archive.fp.tell() + LOCAL_HEADER.size + len(member.filename) + SIZES_OF_ZIP64 + 4
    padding = -before % ALIGNMENT  # the header of the array has a multiple of 64 bytes
    member.extra = struct.pack("<HH", 0xCA5D, padding) + bytes(padding)
    with archive.open(member, "w", force_zip64=True) as file:
        head = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": (length,)}
        np.lib.format.write_array_header_1_0(file, head)
        for part in parts:
            file.write(part.astype(dtype).tobytes())


def mapped_arrays(file: BinaryIO) -> dict[str, np.ndarray] | None:
    """Map the arrays of an .npz, read-only; None if one is compressed, not of one dimension, or not aligned.

    Raises whatever a damaged archive makes its readers raise.

    Cost: O(1); the system reads what is touched.
    """
    arrays, size = {}, os.fstat(file.fileno()).st_size
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
    for member in members:
        if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 1:
            return None
        file.seek(member.header_offset)
        name, extra = LOCAL_HEADER.unpack(file.read(LOCAL_HEADER.size))
        file.seek(name + extra, os.SEEK_CUR)
        start = file.tell()
        if np.lib.format.read_magic(file) != (1, 0):
            return None
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        place = file.tell()
        if dtype.hasobject or len(shape) != 1 or place % max(1, dtype.alignment):
            return None
        if place + shape[0] * dtype.itemsize != start + member.file_size or place + shape[0] * dtype.itemsize > size:
            raise ValueError(f"its member {member.filename[:80]!r} is damaged")
        of_file = np.memmap(file, dtype, "r", place, shape) if shape[0] else np.empty(0, dtype)
        arrays[member.filename.removesuffix(".npy")] = np.asarray(of_file)
    return arrays
