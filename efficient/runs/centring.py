"""Find x̄ for the centred algorithms, and a pivot: large means, subtracted beforehand so that float64 keeps its digits.

Algorithm 3 computes r = aθ − z, which cancels where ‖x̄‖ is large: about eps·‖x̄‖²/spread² is lost. But csgd and casgd are
invariant to translation, so they may as well run on the rows x − pivot: the same iterates, whose b is that of the pivoted
rows. Where ‖x̄‖² > 4·(the sum of all variances), the pivot of each column with mean² > 4·variance is its mean; elsewhere it
is 0, and nothing is stored that was not.

That is mean² > 0.8·(mean of x²), a test in which nothing cancels. By Cauchy and Schwarz mean² <= density·(mean of x²), where
the density is the share of non-zero entries. So a pivoted column has a density above 4/5, and storing its zeros costs less
than a quarter of what it has stored. Text stays as it is, since rows of few common words have a mean that is small.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from reference.arithmetic import unsignalled
from reference.rows import Rows
from reference.sampling import as_counts

from .. import casgd
from ..kernels.blocks import blocks_of_rows
from ..kernels.compiled import in_arithmetic, unsigned
from ..kernels.compiler import INLINED, register_jitable
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
    They are counted, not visited so often: `plus_times` gives the bits of one addition after the other.

    Cost: O(n + mk), and O(log weight_i) for an entry with a whole weight.
    """
    if sample_weight is None or (sample_weight == 1).all():
        return centre_of(X, np.broadcast_to(np.float64(1), X.m))[0]
    counts = as_counts(sample_weight)
    return centre_of(X, sample_weight / sample_weight.max() if counts is None else counts)[0]


def centre_of(X: Rows, sample_weight: np.ndarray, pivot: bool = True) -> tuple[Centre, Any, Rows]:
    """Find x̄ and θ of the weighted rows, around a pivot if one is allowed, X is in floats and the mean is large.

    Parameters
    ----------
    X : Rows
    sample_weight : ndarray of shape (m,)
        In the arithmetic of the rows; or integers, beside rows of floats, that say how often each row occurs: all sums are
        those of the rows `np.repeat(X, weight)`, to the bit.
    pivot : bool

    Returns
    -------
    Centre, θ = 1 + ‖x̄‖², and the rows x − pivot, ready for a loop

    Paper: Algorithm 3 (alg:casgd), lines 2 and 3.
    Cost: O(n + mk), and O(log weight_i) for an entry with an integer for its weight.
    """
    origin, (xbar, theta, rows) = None, _mean(X, sample_weight)
    if pivot and not X.exact and is_far(xbar, X, sample_weight):
        origin = find_pivot(X, sample_weight)
        if origin is not None:
            xbar, theta, rows = _mean(X, sample_weight, origin)
    return Centre(origin, xbar), theta, rows


def _mean(X: Rows, sample_weight: np.ndarray, pivot: np.ndarray | None = None) -> tuple[np.ndarray, Any, Rows]:
    """Compute x̄ and θ of the rows x − pivot, or of the rows as they are; return these rows as well."""
    xbar, total, rows = row_sum(X, sample_weight, pivot)
    return xbar, in_arithmetic(casgd.centre, X.exact)(xbar, total), rows


def row_sum(X: Rows, sample_weight: np.ndarray, pivot: np.ndarray | None = None):
    """Add up weight_i (x_i − pivot) and the weights; return both, and the rows x − pivot.

    Cost: O(n + mk), and O(log weight_i) for an entry with an integer for its weight.
    """
    rows, xbar = prepared(X, pivot), X.zeros()
    if _is_counted(sample_weight):
        add_up = in_arithmetic(add_up_repeated, exact=False)
        for start, stop in blocks_of_rows(rows):
            add_up(rows, sample_weight, start, stop, xbar)
        return xbar, float(sample_weight.sum()), rows
    add_up, total = in_arithmetic(casgd.add_up, X.exact), 0 * sample_weight[0]
    for start, stop in blocks_of_rows(rows):
        total = add_up(rows, sample_weight, start, stop, xbar, total)
    return xbar, total, rows


def _is_counted(sample_weight: np.ndarray) -> bool:
    """Tell whether weights are integers, which say how often each row occurs."""
    return sample_weight.dtype.kind == "i"


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


def find_pivot(X: Rows, sample_weight: np.ndarray | None = None) -> np.ndarray | None:
    """Find the mean of each column where mean² > 4·variance, and 0 elsewhere; None if the mean as a whole is not so large.

    Mean, variance and density are weighted as x̄ is; with equal weights the bound on what is stored holds as said above.

    Parameters
    ----------
    X : Rows in float64 or float32
    sample_weight : ndarray of shape (m,), optional
        As in `centre_of`; equal weights by default.

    Returns
    -------
    ndarray of shape (n,), or None

    Paper: none; Section "Centering and Translation Invariance" is why any pivot will do.
    Cost: O(n + mk) time, one visit of each entry and a second one where there is a pivot; 16 n bytes.
    """
    sample_weight = np.broadcast_to(np.float64(1), X.m) if sample_weight is None else sample_weight
    total = sample_weight.sum()
    with np.errstate(over="ignore", invalid="ignore"):  # a mean² that overflows is not large: no pivot
        moments = _moments(X, sample_weight)
        moments /= total
        mean, square = moments
        if not mean @ mean > LARGE_MEAN * square.sum():
            return None
        pivot = np.where(mean * mean > LARGE_MEAN * square, mean, 0.0)
    missed = _moments(X, sample_weight, pivot)[0] / total  # by a long sum of large numbers
    return np.where(pivot != 0, pivot + missed, 0.0)


def _moments(X: Rows, sample_weight: np.ndarray, pivot: np.ndarray | None = None) -> np.ndarray:
    """Sum weight_i x_i and weight_i x_i² in every column, shape (2, n); of the rows x − pivot, if there is one."""
    rows, moments = prepared(X, pivot), np.zeros((X.n, 2))
    add_up = in_arithmetic(add_up_moments_repeated if _is_counted(sample_weight) else add_up_moments, exact=False)
    for start, stop in blocks_of_rows(rows):
        add_up(rows, sample_weight, start, stop, moments[:, 0], moments[:, 1])
    return moments.T


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


def add_up_repeated(X, counts, start, stop, xbar):
    """Add the rows start, …, stop − 1 to xbar, each so many times in succession, in place.

    Cost: O(k log count) a row.
    """
    columns, values = X.indices, X.data
    for i in range(start, stop):
        ahead_in_order(X, i, xbar)
        begin, end = entries(X, i)
        for e in range(begin, end):
            j = columns[e]
            xbar[j] = plus_times(xbar[j], values[e], counts[i])


def add_up_moments_repeated(X, counts, start, stop, first, second):
    """Add the first and second moments of the rows start, …, stop − 1, each so many times in succession, in place.

    Cost: O(k log count) a row.
    """
    columns, values = X.indices, X.data
    for i in range(start, stop):
        ahead_in_order(X, i, first)
        begin, end = entries(X, i)
        for e in range(begin, end):
            j, x = columns[e], 1.0 * values[e]
            first[j], second[j] = plus_times(first[j], x, counts[i]), plus_times(second[j], x * x, counts[i])


@register_jitable(**INLINED)
def plus_times(s, x, count):
    """Compute s + x + … + x in float64, rounded after each of the count additions: their bits, in few operations.

    Between two neighbouring powers of 2 all floats are multiples of one unit. There each addition is rounded to the same
    number of units, from the second one on: after a tie the sum is even, and stays so. So the rest of the way to the next
    power of 2 is one product, which is exact.

    Paper: none.
    Cost: O(log count) operations; a sum that no longer changes ends it.
    """
    while count >= 3:
        s = s + x
        second = s + x
        third = second + x
        count -= 3
        if third == second:
            return third
        step, half = third - second, math.ldexp(0.5, math.frexp(third)[1])  # half <= |third| < 2 half
        low, high = min(abs(s), abs(second), abs(third)), max(abs(s), abs(second), abs(third))
        if half < low and high <= 2 * half and (s > 0) == (third > 0):
            way = half - abs(third) + half if (step > 0) == (third > 0) else abs(third) - half
            more = min(count, int(way / abs(step)) - 2)  # the last ones may be rounded to another unit
            if more > 0:
                third = third + more * step
                count -= more
        s = third
    for _ in range(count):
        s = s + x
    return s


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
