"""Find x̄ for the centred algorithms, and a pivot: large means, subtracted beforehand so that float64 keeps its digits.

Algorithm 3 computes r = aθ − z, which cancels where ‖x̄‖ is large: about eps·‖x̄‖²/spread² is lost. But csgd and casgd are
invariant to translation, so they may as well run on the rows x − pivot: the same iterates, whose b is that of the pivoted
rows. Where ‖x̄‖² > 4·(the sum of all variances), the pivot of each column with mean² > 4·variance is its mean; elsewhere it
is 0, and nothing is stored that was not.

That is mean² > 0.8·(mean of x²), a test in which nothing cancels. By Cauchy and Schwarz mean² <= density·(mean of x²), where
the density is the share of non-zero entries. So a pivoted column has a density above 4/5, and storing its zeros costs less
than a quarter of what it has stored. Text stays as it is, since rows of few common words have a mean that is small.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from reference.arithmetic import unsignalled
from reference.rows import Rows
from reference.sampling import as_counts, repeated

from .. import casgd
from ..kernels.blocks import blocks_of_rows
from ..kernels.compiled import in_arithmetic, unsigned
from ..kernels.prefetch import ahead_in_order
from ..kernels.sparse import entries

LARGE_MEAN = 0.8
"""Share of mean² in the mean of x² above which a mean is large: there mean² > 4·variance."""

FAR = 0.7
"""Share in the screening test: a little less, so that rounding does not decide."""

SCREENED = 1 << 16
"""Entries that the test adds up at a time."""


class Centre(NamedTuple):
    """Origin pivot + xbar: two vectors, since one of float64 may not hold the digits of a mean far from 0."""

    pivot: np.ndarray | None
    xbar: np.ndarray


@unsignalled
def find_centre(X: Rows, sample_weight: np.ndarray | None = None) -> Centre:
    """Find the mean of rows that are drawn with these sampling weights, as `draw_indices` does; equal ones by default.

    Whole weights say how often each row occurs: to the bit, the centre is that of a State of the rows `np.repeat(X, weight)`.

    Cost: O(n + mk), or O(n + Σ_i weight_i k_i) for whole weights.
    """
    if sample_weight is None:
        sample_weight = np.broadcast_to(np.float64(1), X.m)
    counted = as_counts(sample_weight) is not None
    return centre_of(X, sample_weight if counted else sample_weight / sample_weight.max(), counted)[0]


def centre_of(X: Rows, sample_weight: np.ndarray, counted: bool = False, pivot: bool = True) -> tuple[Centre, Rows]:
    """Find x̄ of the weighted rows, around a pivot if one is allowed, X is in floats and the mean is large.

    Parameters
    ----------
    X : Rows
    sample_weight : ndarray of shape (m,)
        In the arithmetic of the rows.
    counted : bool
        Whether the weights say how often each row occurs, so that all sums are those of the rows `np.repeat(X, weight)`, to
        the bit.
    pivot : bool

    Returns
    -------
    Centre, and the rows x − pivot, ready for a loop; of counted rows a part of them

    Paper: Algorithm 3 (alg:casgd), line 2.
    Cost: O(n + mk), or O(n + Σ_i weight_i k_i) for counted weights.
    """
    origin, (xbar, rows) = None, _mean(X, sample_weight, counted)
    if pivot and not X.exact and is_far(xbar, X, sample_weight):
        origin = find_pivot(X, sample_weight, counted)
        if origin is not None:
            xbar, rows = _mean(X, sample_weight, counted, origin)
    return Centre(origin, xbar), rows


def _mean(X: Rows, sample_weight: np.ndarray, counted: bool, pivot: np.ndarray | None = None) -> tuple[np.ndarray, Rows]:
    """Compute x̄ of the rows x − pivot, or of the rows as they are; return these rows as well, or their last part."""
    xbar, total, rows = row_sum(X, sample_weight, counted, pivot)
    in_arithmetic(casgd.centre, X.exact)(xbar, total)
    return xbar, rows


def row_sum(X: Rows, sample_weight: np.ndarray, counted: bool = False, pivot: np.ndarray | None = None):
    """Add up weight_i (x_i − pivot) and the weights; return both, and the rows x − pivot or the last part of them.

    Cost: O(n + mk).
    """
    add_up = in_arithmetic(casgd.add_up, X.exact)
    xbar, total, rows = X.zeros(), 0 * sample_weight[0], X
    for rows, share in _in_parts(X, sample_weight, counted, pivot):
        for start, stop in blocks_of_rows(rows):
            total = add_up(rows, share, start, stop, xbar, total)
    return xbar, total, rows


def is_far(mean: np.ndarray, X: Rows, sample_weight: np.ndarray) -> bool:
    """Screen for a pivot by the mean as a whole, without false negatives.

    ‖x̄‖² is small if it is at most that share of a part of the sum of all squares: the first entries tell, mostly.

    Cost: O(n) where the mean is small, O(n + mk) where it is not; nothing is allocated.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        square, share, squares = mean @ mean, FAR * (sample_weight.min() / sample_weight.sum()), 0.0
        for first in range(0, len(X.data), SCREENED):
            part = X.data[first : first + SCREENED]
            squares += np.einsum("e,e", part, part, dtype=np.float64)
            if square <= share * squares < np.inf:
                return False
    return not square <= share * squares < np.inf


def find_pivot(X: Rows, sample_weight: np.ndarray | None = None, counted: bool = False) -> np.ndarray | None:
    """Find the mean of each column where mean² > 4·variance, and 0 elsewhere; None if the mean as a whole is not so large.

    Mean, variance and density are weighted as x̄ is; with equal weights the bound on what is stored holds as said above.

    Parameters
    ----------
    X : Rows in float64 or float32
    sample_weight : ndarray of shape (m,), optional
        Equal weights by default.
    counted : bool
        As in `centre_of`.

    Returns
    -------
    ndarray of shape (n,), or None

    Paper: none; Section "Centering and Translation Invariance" is why any pivot will do.
    Cost: O(n + mk) time, one visit of each entry and a second one where there is a pivot; 16 n bytes.
    """
    sample_weight = np.broadcast_to(np.float64(1), X.m) if sample_weight is None else sample_weight
    total = sample_weight.sum()
    with np.errstate(over="ignore", invalid="ignore"):  # a mean² that overflows is not large: no pivot
        moments = _moments(X, sample_weight, counted)
        moments /= total
        mean, square = moments
        if not mean @ mean > LARGE_MEAN * square.sum():
            return None
        pivot = np.where(mean * mean > LARGE_MEAN * square, mean, 0.0)
    missed = _moments(X, sample_weight, counted, pivot)[0] / total  # by a long sum of large numbers
    return np.where(pivot != 0, pivot + missed, 0.0)


def _moments(X: Rows, sample_weight: np.ndarray, counted: bool, pivot: np.ndarray | None = None) -> np.ndarray:
    """Sum weight_i x_i and weight_i x_i² in every column, shape (2, n); of the rows x − pivot, if there is one."""
    moments, add_up = np.zeros((X.n, 2)), in_arithmetic(add_up_moments, exact=False)
    for rows, share in _in_parts(X, sample_weight, counted, pivot):
        for start, stop in blocks_of_rows(rows):
            add_up(rows, share, start, stop, moments[:, 0], moments[:, 1])
    return moments.T


def _in_parts(X: Rows, sample_weight: np.ndarray, counted: bool, pivot: np.ndarray | None) -> Iterator[tuple[Rows, np.ndarray]]:
    """Yield the rows x − pivot, ready for a loop, and their weights; counted rows so often in succession with the weight 1."""
    parts: Iterator[tuple[Rows, np.ndarray]] = iter([(X, sample_weight)])
    if counted and (sample_weight != 1).any():
        parts = ((part, np.broadcast_to(np.float64(1), part.m)) for part in repeated(X, sample_weight.astype(np.int64)))
    for rows, share in parts:
        yield prepared(rows, pivot), share


def prepared(X: Rows, pivot: np.ndarray | None) -> Rows:
    """Make the rows x − pivot, or X itself without a pivot, ready for a loop."""
    if pivot is not None:
        X = pivoted(X, pivot)
    return X if X.exact else unsigned(X)


def add_up_moments(X, sample_weight, start, stop, first, second):
    """Add the weighted first and second moments of the rows start, …, stop − 1, in place.

    Cost: O(k) a row.
    """
    columns, values = X.indices, X.data
    for i in range(start, stop):
        ahead_in_order(X, i, first)
        share = sample_weight[i]
        begin, end = entries(X, i)
        for e in range(begin, end):
            j, x = columns[e], values[e]
            first[j], second[j] = first[j] + share * x, second[j] + share * x * x


def pivoted(X: Rows, pivot: np.ndarray) -> Rows:
    """Make the rows x − pivot: in columns with a pivot every row stores an entry, unless it is exactly 0.

    x − pivot is exact where the two are within a factor of 2 of each other (Sterbenz), and rounded by eps of it elsewhere.

    Cost: O(n + mk) time, and a copy of the rows.
    """
    columns = np.flatnonzero(pivot)
    # the type of X's places, if that has room, as the loops need not be compiled anew for it
    places = np.promote_types(X.indptr.dtype, np.min_scalar_type(len(X.data) + X.m * len(columns)))
    columns, starts = columns.astype(places), np.arange(X.m + 1, dtype=places) * len(columns)
    everywhere = sp.csr_array((np.tile(pivot[columns], X.m), np.tile(columns, X.m), starts), shape=(X.m, X.n))
    moved = X.csr - everywhere
    return Rows(moved.data, moved.indices, moved.indptr, X.n)
