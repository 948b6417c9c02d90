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


def find_pivot(X: Rows, weight: np.ndarray | None = None) -> np.ndarray | None:
    """The mean of each column where mean² > 4·variance, and 0 elsewhere; None if there is no such column.

    Two passes: the second corrects the mean, and no variance is a difference of large numbers. Mean, variance and density
    are weighted as x̄ is; with equal weights the bound on what is stored holds as said above.

    Parameters
    ----------
    X : Rows in float64 or float32
    weight : ndarray of shape (m,), optional
        The weights of the examples; equal ones by default.

    Returns
    -------
    ndarray of shape (n,), or None

    Paper: none; Section "Centering and Translation Invariance" is why any pivot will do.
    Cost: O(n + mk), and O(n) memory where the weights are equal; it reads no value of a column whose density is at most 4/5.
    """
    if weight is None or weight.strides == (0,):  # a view of a single number: no copy for each entry
        shares, total = None, float(X.m)
    else:
        shares, total = np.repeat(weight, np.diff(X.indptr)), weight.sum()
    stored = np.zeros(X.n)
    for columns, _, share in _blocks(X, shares):
        stored += np.bincount(columns, share, X.n)
    dense = 5 * stored > 4 * total  # no other column can have mean² > 4·variance
    if not dense.any():
        return None
    with np.errstate(over="ignore", invalid="ignore"):  # a mean² that overflows is not "> 4·variance": no pivot
        mean, first, second = np.zeros((3, X.n))
        for columns, values, share in _blocks(X, shares, dense):
            mean += np.bincount(columns, values * share, X.n)
        mean /= total
        for columns, values, share in _blocks(X, shares, dense):
            off = values - mean[columns]
            first += np.bincount(columns, share * off, X.n)
            second += np.bincount(columns, share * off * off, X.n)
        first = (first - (total - stored) * mean) / total  # the zeros that are not stored are off by −mean
        second = (second + (total - stored) * mean * mean) / total
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


def _blocks(X: Rows, shares: np.ndarray | None, kept: np.ndarray | None = None) -> Iterator[tuple[np.ndarray, ...]]:
    """Columns, values and weights of the stored entries, of all columns or of those kept, a block at a time."""
    size = max(BLOCK, X.n)
    for first in range(0, len(X.data), size):
        block = slice(first, first + size)
        columns, values = X.indices[block], X.data[block]
        share = np.ones(len(columns)) if shares is None else shares[block]
        if kept is not None:
            here = np.flatnonzero(kept[columns])
            columns, values, share = columns[here], values[here], share[here]
        yield columns, values, share
