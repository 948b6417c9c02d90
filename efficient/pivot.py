"""Columns whose mean is large, translated to near their mean before the loops begin, so that float64 keeps its digits.

Algorithm 3 computes r = aθ − z, which cancels where ‖x̄‖ is large: about eps·‖x̄‖²/spread² is lost. But csgd and casgd are
invariant to translation, so they may as well run on the rows x − pivot: the same iterates, whose b is that of the pivoted
rows. In the columns where mean² > 4·variance the pivot is the mean; elsewhere it is 0, and nothing is stored that was not.

By Cauchy and Schwarz mean²/variance <= density/(1 − density), where the density is the share of non-zero entries. So a
pivoted column has a density above 4/5, and storing its zeros costs less than a quarter of what it has stored; and no column
that stays has a mean that is large for its spread. Columns of text stay.
"""

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from reference.rows import Rows

BLOCK = 1 << 20
"""How many stored entries are looked at together, at least: more than n, so that n numbers a block are O(n + mk) in all."""


def find_pivot(X: Rows) -> np.ndarray | None:
    """The mean of each column where mean² > 4·variance, and 0 elsewhere; None if there is no such column.

    Two passes: the second corrects the mean, and no variance is a difference of large numbers. Every row counts once,
    whatever its weight: a pivot need not be x̄, only near it, and so the bound on the density holds.

    Parameters
    ----------
    X : Rows in float64 or float32

    Returns
    -------
    ndarray of shape (n,), or None

    Paper: none; Section "Centering and Translation Invariance" is why any pivot will do.
    Cost: O(n + mk), and O(n) memory; it reads no value of a column whose density is at most 4/5.
    """
    stored = np.zeros(X.n, dtype=np.int64)
    for columns, _ in _blocks(X):
        stored += np.bincount(columns, minlength=X.n)
    dense = 5 * stored > 4 * X.m  # no other column can have mean² > 4·variance
    if not dense.any():
        return None
    with np.errstate(over="ignore", invalid="ignore"):  # a mean² that overflows is not "> 4·variance": no pivot
        mean, first, second = np.zeros((3, X.n))
        for columns, values in _blocks(X, dense):
            mean += np.bincount(columns, values, X.n)
        mean /= X.m
        for columns, values in _blocks(X, dense):
            off = values - mean[columns]
            first += np.bincount(columns, off, X.n)
            second += np.bincount(columns, off * off, X.n)
        first = (first - (X.m - stored) * mean) / X.m  # the zeros that are not stored are off by −mean
        second = (second + (X.m - stored) * mean * mean) / X.m
        mean += first
        pivot = np.where(dense & (mean * mean > 4 * (second - first * first)), mean, 0.0)
    return pivot if pivot.any() else None


def pivoted(X: Rows, pivot: np.ndarray) -> Rows:
    """The rows x − pivot: in the columns where the pivot is not 0 every row stores an entry, unless it is exactly 0.

    x − pivot is exact where the two are within a factor of 2 of each other (Sterbenz), and rounded by eps of it elsewhere.

    Cost: O(n + mk) time, and a copy of the rows.
    """
    columns = np.flatnonzero(pivot)
    starts = np.arange(X.m + 1) * len(columns)
    everywhere = sp.csr_array((np.tile(pivot[columns], X.m), np.tile(columns, X.m), starts), shape=(X.m, X.n))
    moved = sp.csr_array((X.data, X.indices, X.indptr), shape=(X.m, X.n)) - everywhere
    return Rows(moved.data, moved.indices, moved.indptr, X.n)


def _blocks(X: Rows, kept: np.ndarray | None = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The columns and the values of the stored entries, of all columns or of those kept, a block at a time."""
    size = max(BLOCK, X.n)
    for first in range(0, len(X.data), size):
        columns, values = X.indices[first : first + size], X.data[first : first + size]
        if kept is not None:
            here = np.flatnonzero(kept[columns])
            columns, values = columns[here], values[here]
        yield columns, values
