"""Take rows in parts, as Dask hands them out, as files, or as blocks; and look at each part once."""

import os
from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import dask
import numpy as np
import scipy.sparse as sp
from dask.delayed import Delayed, delayed

from reference.rows import as_rows

from ..reading.examples import read_examples


class Part(NamedTuple):
    """Rows and their labels."""

    X: Any
    y: Any


class File(NamedTuple):
    """Part that is a file: each task opens it, so that no worker holds another part than the one that it works on."""

    path: str
    zero_based: bool


def opened(part: Part | File) -> Part:
    """Read a part that is a file; others are at hand."""
    if isinstance(part, Part):
        return part
    _, X, y = read_examples(*part)
    return Part(X, y)


class Look(NamedTuple):
    """Size of a part, and the different labels in it with the number of rows of each; no labels where they are no classes."""

    rows: int
    columns: int
    labels: np.ndarray | None
    counts: np.ndarray


def as_parts(X, y=None, zero_based: bool = False) -> list[Delayed | File]:
    """List the parts of the rows.

    Parameters
    ----------
    X : list of paths, list of blocks, or Dask array of shape (m, n)
        Files are read anew for each epoch, svmlight text or `.npz`, by workers that must all reach them. Blocks are matrices,
        or delayed ones. A Dask array has one chunk of columns, and chunks of any sparse or dense kind.
    y : list of vectors, delayed or not, or Dask array of shape (m,), optional
        Labels of each part; None for files, which hold them.
    zero_based : bool
        Whether the first column of svmlight text is called 0.

    Raises
    ------
    TypeError, ValueError
        X and y do not fit together, or are none of these.
    """
    if isinstance(X, (list, tuple)) and X and all(isinstance(each, (str, os.PathLike)) for each in X):
        if y is not None:
            raise ValueError("y must be None for files, which hold their labels; got labels")
        return [File(os.fspath(path), zero_based) for path in X]
    blocks, labels = (_blocks(each, name) for each, name in ((X, "X"), (y, "y")))
    if len(blocks) != len(labels):
        raise ValueError(f"y must have a block for each of the {len(blocks)} blocks of X; got {len(labels)}")
    return [delayed(Part)(*pair) for pair in zip(blocks, labels, strict=True)]


def _blocks(given, name: str) -> Sequence:
    """List the blocks of a Dask array, or those of a list."""
    if isinstance(given, (list, tuple)) and given:
        return given
    if not (dask.is_dask_collection(given) and hasattr(given, "to_delayed")):
        raise TypeError(
            f"{name} must be a Dask array, a list of blocks{' or a list of files' if name == 'X' else ''}; "
            f"got {type(given).__name__}. Rows in one piece are for the estimators of efficient"
        )
    blocks = given.to_delayed()
    if blocks.ndim == 2 and blocks.shape[1] > 1:
        raise ValueError(f"{name} must have all columns in one chunk; got {blocks.shape[1]}. Use {name}.rechunk({{1: -1}})")
    return list(blocks.ravel())


def look(part: Part | File, number: int, classes: bool) -> Look:
    """Validate a part, and count.

    Raises
    ------
    TypeError, ValueError
        Rows or labels that cannot be used; names the part.
    """
    part = opened(part)
    X = part.X if not np.shape(part.X)[0] else as_rows(part.X, name=f"X in part {number}").csr
    y = np.asarray(part.y)
    if y.shape != (X.shape[0],):
        raise ValueError(f"y in part {number} must have shape ({X.shape[0]},), a label for each row; got {y.shape}")
    if classes:
        labels, counts = np.unique(y, return_counts=True)
        return Look(X.shape[0], X.shape[1], labels, counts)
    if not (y.dtype.kind in "fiub" and np.isfinite(y).all()):
        raise ValueError(f"y in part {number} must hold finite numbers; got {y.dtype} {y[:3].tolist()}…")
    return Look(X.shape[0], X.shape[1], None, np.zeros(0, dtype=np.int64))


def labels_of(looks: Sequence[Look]) -> tuple[np.ndarray, np.ndarray]:
    """Join the different labels of all parts, in increasing order, with the number of rows of each."""
    found = [(each.labels, each.counts) for each in looks if each.labels is not None]
    labels = reduce(np.union1d, (each for each, _ in found))
    counts = np.zeros(len(labels), dtype=np.int64)
    for each, of_each in found:
        counts[np.searchsorted(labels, each)] += of_each
    return labels, counts


def widened(X, columns: int):
    """Give rows that lack the last columns all of them, without a copy."""
    if np.shape(X)[1] == columns:
        return X
    rows = as_rows(X)
    return sp.csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.m, columns))
