"""Reading labelled examples: svmlight text, as it is or compressed, from a file or standard input; scipy's sparse .npz."""

import os
import sys
import zipfile
import zlib
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from reference.rows import as_rows
from reference.svmlight import load_svmlight

STANDARD_INPUT = "-"


class Examples(NamedTuple):
    """Rows in canonical CSR and their labels as they stand in the file, with a name for messages."""

    name: str
    X: sp.csr_array
    y: np.ndarray


def read_examples(path: str, zero_based: bool, labels: str | None = None) -> Examples:
    """Read a file of labelled examples, by the ending of its name.

    Parameters
    ----------
    path : str
        `-` is svmlight text on standard input. A file that ends in .npz is what `scipy.sparse.save_npz` writes, or one with the
        arrays data, indices, indptr and shape of a CSR matrix, perhaps with the labels as y. All else is svmlight text,
        compressed if it ends in .gz or .bz2.
    zero_based : bool
        Whether the first column of svmlight text is called 0. Of no importance to .npz.
    labels : str, optional
        The file with the labels of an .npz: .npy, or text with one number a line.

    Raises
    ------
    ValueError
        Naming the file, and the line of a text.
    OSError
        A file cannot be read.

    Cost: O(mk).
    """
    name, X, y = _read(path, zero_based)
    if labels is not None:
        y = _read_labels(labels)
    if y is None:
        raise ValueError(f"{name!r} holds no labels: store them in it as y, or give their file by --labels")
    return Examples(name, X, _as_labels(y, X.shape[0], labels or name))


def read_rows(path: str, zero_based: bool) -> tuple[str, sp.csr_array]:
    """Return the name and the rows of a file of examples, whether or not it has labels; otherwise as `read_examples`."""
    return _read(path, zero_based)[:2]


def _read(path: str, zero_based: bool) -> tuple[str, sp.csr_array, np.ndarray | None]:
    if path == STANDARD_INPUT:
        if sys.stdin is None:
            raise ValueError("standard input is closed")
        return "<stdin>", *_read_text(sys.stdin.buffer, zero_based)
    if not path.endswith(".npz"):
        return path, *_read_text(path, zero_based)
    with open(path, "rb") as file:
        try:
            return path, *_read_npz(file)
        except Exception as error:  # whatever a damaged archive makes its readers raise
            raise ValueError(f"{path!r} does not hold a sparse matrix: {str(error) or type(error).__name__}") from None


def _read_text(source, zero_based: bool) -> tuple[sp.csr_array, np.ndarray]:
    try:
        return load_svmlight(source, zero_based=zero_based)[:2]
    except ValueError as error:
        if "there is a column 0" not in str(error):
            raise
        raise ValueError(f"{error}: models for such files are trained with --zero-based") from None


def _read_npz(file) -> tuple[sp.csr_array, np.ndarray | None]:
    with zipfile.ZipFile(file) as archive:
        declared = sum(member.file_size for member in archive.infolist())
    if declared > physical_memory():
        raise ValueError(f"unpacked it would take {declared:.1e} bytes, more than this machine has")
    file.seek(0)
    with np.load(file, allow_pickle=False) as arrays:
        y = arrays["y"] if "y" in arrays.files else None
        if "format" not in arrays.files:
            missing = {"data", "indices", "indptr", "shape"} - set(arrays.files)
            if missing:
                raise ValueError(f"it lacks the array {min(missing)}")
            parts = (arrays["data"], arrays["indices"], arrays["indptr"])
            return _canonical(sp.csr_array(parts, shape=tuple(map(int, arrays["shape"])))), y
    file.seek(0)
    return _canonical(sp.load_npz(file)), y


def _canonical(X) -> sp.csr_array:
    rows = as_rows(X, name="the matrix")
    data = rows.data.astype(np.float64, copy=False)
    return sp.csr_array((data, rows.indices, rows.indptr), shape=(rows.m, rows.n))


def _read_labels(path: str) -> np.ndarray:
    if not path.endswith(".npy"):
        values = []
        with open(path, encoding="utf8", errors="replace") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    values.append(float(line))
                except ValueError:
                    raise ValueError(
                        f"{path!r}, line {number}: one label a line is wanted; got {line.strip()[:80]!r}"
                    ) from None
        return np.array(values)
    with open(path, "rb") as file:
        try:
            return np.lib.format.read_array(file, allow_pickle=False)
        except (ValueError, EOFError, zlib.error, MemoryError) as error:
            raise ValueError(f"{path!r} holds no array of numbers: {str(error) or type(error).__name__}") from None


def _as_labels(y: np.ndarray, m: int, name: str) -> np.ndarray:
    if y.shape != (m,) or y.dtype.kind not in "fiub":
        raise ValueError(f"{name!r} must hold {m} labels, a number for each row; got shape {y.shape}, dtype {y.dtype}")
    with np.errstate(over="ignore"):
        y = y.astype(np.float64)
    if not np.isfinite(y).all():
        i = int(np.flatnonzero(~np.isfinite(y))[0])
        raise ValueError(f"{name!r}: the label of row {i} (counted from 0) is {y[i]}, not a finite number")
    return y


def check_memory(examples: Examples, models: int) -> None:
    """Refuse a training whose vectors would not fit: a single wrong column number in a file can ask for gigabytes."""
    m, n = examples.X.shape
    vectors = 4 * models + 6  # v and u of each model, its last predictor, and what goes to the file; x̄, a pivot, …
    needed = 8 * (n * vectors + m * models)
    if needed > physical_memory():
        raise ValueError(
            f"{examples.name!r} has {n} columns: {models} model(s) of so many weights need {needed / 1e9:.0f} GB, "
            f"and this machine has {physical_memory() / 1e9:.0f} GB. Is there a wrong column number?"
        )


def physical_memory() -> float:
    """Return the bytes of memory that this machine has, or infinity if it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return float("inf")
