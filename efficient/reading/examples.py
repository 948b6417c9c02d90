"""Read labelled examples: svmlight text, compressed or not, from a file or standard input; scipy's sparse .npz."""

import os
import sys
import warnings
import zipfile
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from reference.rows import as_rows

from ..runs.files import reason
from .mapped import mapped_arrays
from .svmlight import load_svmlight

STANDARD_INPUT = "-"

_NUMBERED = "Number words as classes, such as 1 and -1; of several labels a row, train a model for each"

CSR = ("data", "indices", "indptr", "shape")
"""Arrays of a CSR matrix in an .npz."""


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
        compressed if it ends in .gz, .bz2, .xz or .zst.
    zero_based : bool
        Whether the first column of svmlight text is called 0.
    labels : str, optional
        File with the labels of an .npz: .npy, or text with one number a line.

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
        raise ValueError(f"{name!r} holds no labels. Store them in it as y, or give their file by --labels")
    return Examples(name, X, _as_labels(y, X.shape[0], labels or name))


def read_rows(path: str, zero_based: bool) -> tuple[str, sp.csr_array]:
    """Read the name and the rows of a file of examples, with or without labels; otherwise as `read_examples`."""
    return _read(path, zero_based, labelled=False)[:2]


def _read(path: str, zero_based: bool, labelled: bool = True) -> tuple[str, sp.csr_array, np.ndarray | None]:
    if path == STANDARD_INPUT:
        if sys.stdin is None:
            raise ValueError("standard input is closed")
        return "<stdin>", *as_text(load_svmlight, sys.stdin.buffer, None, zero_based, None, labelled)[:2]
    if not path.endswith(".npz"):
        return path, *as_text(load_svmlight, path, None, zero_based, None, labelled)[:2]
    with open(path, "rb") as file:
        try:
            return path, *_read_npz(file)
        except Exception as error:  # any error that a damaged archive makes its readers raise
            raise ValueError(f"{path!r} does not hold a sparse matrix: {reason(error)}") from None


def as_text(read: Callable, *arguments):
    """Read text by a function; say what helps where the columns are numbered from 0 on."""
    try:
        return read(*arguments)
    except ValueError as error:
        if "there is a column 0" not in str(error):
            raise
        raise ValueError(f"{error}. Train models for such files with --zero-based") from None


def _read_npz(file) -> tuple[sp.csr_array, np.ndarray | None]:
    arrays = mapped_arrays(file)
    if arrays is not None and set(CSR) <= set(arrays):
        return _of_arrays(arrays), arrays.get("y")
    file.seek(0)
    with zipfile.ZipFile(file) as archive:
        declared = sum(member.file_size for member in archive.infolist())
    if declared > physical_memory():
        raise ValueError(f"unpacked it would take {declared:.1e} bytes, more than this machine has")
    file.seek(0)
    with np.load(file, allow_pickle=False) as given:
        y = given["y"] if "y" in given.files else None
        if "format" not in given.files:
            return _of_arrays(given), y
    file.seek(0)
    return _canonical(sp.load_npz(file)), y


def _of_arrays(arrays) -> sp.csr_array:
    parts = (arrays["data"], arrays["indices"], arrays["indptr"])
    return _canonical(sp.csr_array(parts, shape=tuple(map(int, arrays["shape"]))))


def _canonical(X) -> sp.csr_array:
    rows = as_rows(X, name="the matrix")
    return rows._replace(data=rows.data.astype(np.float64, copy=False)).csr


def _read_labels(path: str) -> np.ndarray:
    with open(path, "rb") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an empty file has a wrong number of labels, as below
        try:
            return np.lib.format.read_array(file) if path.endswith(".npy") else np.loadtxt(file, ndmin=1, encoding="utf-8-sig")
        except Exception as error:  # any error that a damaged file makes its readers raise
            why = reason(error).partition("; use `usecols`")[0].rstrip(".")
            cure = "Write it anew" if path.endswith(".npy") and "Object" not in why else _NUMBERED
            raise ValueError(f"{path!r} holds no array of numbers, one for each row: {why}. {cure}") from None


def _as_labels(y: np.ndarray, m: int, name: str) -> np.ndarray:
    if y.shape != (m,) or y.dtype.kind not in "fiub":
        cure = f". {_NUMBERED}" if y.ndim > 1 or y.dtype.kind not in "fiub" else ""
        raise ValueError(f"{name!r} must hold {m} labels, a number for each row; got shape {y.shape}, dtype {y.dtype}{cure}")
    with np.errstate(over="ignore"):
        y = y.astype(np.float64)
    if not np.isfinite(y).all():
        i = int(np.flatnonzero(~np.isfinite(y))[0])
        raise ValueError(f"{name!r} must hold finite labels; got {y[i]} in row {i} (counted from 0)")
    return y


def check_memory(examples: Examples, models: int) -> None:
    """Refuse a training whose vectors would not fit: a single wrong column number in a file can ask for gigabytes."""
    m, n = examples.X.shape
    vectors = 4 * models + 6  # v and u of each model, its last predictor, and what goes to the file; x̄, a pivot, …
    needed, there = 8 * (n * vectors + m * models), physical_memory()
    if needed > there:
        raise ValueError(
            f"the weights of {models} model(s) must fit in {there / 1e9:.0f} GB of memory; got {n} columns in "
            f"{examples.name!r}, which need {needed / 1e9:.0f} GB. Look for a wrong column number"
        )


def physical_memory() -> float:
    """Return the bytes of memory of this machine, or infinity if it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return float("inf")
