"""Validate a feature matrix and convert it to canonical compressed sparse rows; validate one number a row."""

import copy
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

FLOATS, PLACES = (np.float32, np.float64), (np.int32, np.int64)
"""Types of values and of column numbers that are used without a copy, in the byte order of the machine."""

BLOCK = 1_000_000
"""Number of entries, about, that are copied or made dense at a time."""


IN_CACHE = 1 << 16
"""Number of entries that are compared at a time, so few that they stay in a cache."""


class Rows(NamedTuple):
    """Feature vectors x_1, …, x_m as canonical compressed sparse rows (CSR): sorted columns, no column twice in a row.

    Row i stores the columns `indices[indptr[i]:indptr[i + 1]]` with the values `data[indptr[i]:indptr[i + 1]]`.
    scipy's containers refuse object dtype; this one holds fractions and symbols as well.
    """

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    n: int

    @property
    def m(self) -> int:
        return len(self.indptr) - 1

    @property
    def exact(self) -> bool:
        """True if the values are fractions or symbols, which numpy holds as objects."""
        return self.data.dtype.hasobject

    @property
    def csr(self) -> sp.csr_array:
        """Same rows as scipy's container, without a copy; floats only."""
        return sp.csr_array((self.data, self.indices, self.indptr), shape=(self.m, self.n))

    def blocks(self) -> Iterator[tuple[slice, "Rows"]]:
        """Cut the rows into blocks of about a million entries, without a copy; yield where each is, and the block."""
        size = max(1, BLOCK * self.m // (len(self.data) + 1))
        for first in range(0, self.m, size):
            starts = self.indptr[first : first + size + 1]
            stored = slice(starts[0], starts[-1])
            where = slice(first, first + len(starts) - 1)
            yield where, Rows(self.data[stored], self.indices[stored], starts - starts[0], self.n)

    def zeros(self) -> np.ndarray:
        """Make the zero vector of the rows' own arithmetic: int 0 among objects, 0.0 among floats."""
        return np.zeros(self.n, dtype=object if self.exact else np.float64)

    def dense(self, i) -> np.ndarray:
        """Make x_i a dense vector, O(n)."""
        x = self.zeros()
        stored = slice(self.indptr[i], self.indptr[i + 1])
        x[self.indices[stored]] = self.data[stored]
        return x

    def dot(self, w) -> np.ndarray:
        """Compute w · x_i for every i, O(mk)."""
        if not self.exact:
            return self.csr @ w
        products = np.empty(self.m, dtype=object)
        for i in range(self.m):
            stored = range(self.indptr[i], self.indptr[i + 1])
            products[i] = sum(w[self.indices[e]] * self.data[e] for e in stored)
        return products

    def transpose_dot(self, g) -> np.ndarray:
        """Sum g_i x_i over all i, O(n + mk)."""
        if not self.exact:
            return self.csr.T @ g
        total = self.zeros()
        for i in range(self.m):
            for e in range(self.indptr[i], self.indptr[i + 1]):
                total[self.indices[e]] += g[i] * self.data[e]
        return total


def as_rows(X, number: Any = np.float64, name: str = "X") -> Rows:
    """Validate a matrix and bring it to canonical CSR in the arithmetic of `number`, leaving the caller's object alone.

    Parameters
    ----------
    X : array-like, scipy.sparse array or matrix, or DataFrame, of shape (m, n)
        m >= 1 rows, n >= 0 columns of finite real numbers. Entries stored twice add up; stored zeros are allowed.
        float32 and float64 values that already are canonical CSR are used without a copy; all else becomes float64.

    Raises
    ------
    TypeError
        Not numbers, or complex ones.
    ValueError
        Not two-dimensional, no rows, NaN or infinity, or a malformed sparse matrix (a column index outside 0..n-1).
    """
    if hasattr(X, "sparse") and hasattr(X, "columns"):  # a DataFrame all of whose columns are sparse
        with suppress(ValueError):  # unless it has no columns, or fills them with a value other than 0
            X = X.sparse.to_coo()
    if not sp.issparse(X):
        X = as_array(X, name)
    if X.ndim != 2:
        raise ValueError(f"{name} must be two-dimensional, one row an example; got {X.ndim} dimension(s), shape {X.shape}")
    if not X.shape[0]:
        raise ValueError(f"{name} must have at least one row; got shape {X.shape}")
    if X.dtype.kind not in "fiubO":
        raise TypeError(f"{name} must hold real numbers; got dtype {X.dtype}")
    if sp.issparse(X):
        X = well_formed(X, name)
    with np.errstate(over="ignore", invalid="ignore"):  # a long double that is infinite as a float64 is refused below
        rows = _float_rows(X, name) if number is np.float64 else _exact_rows(X, number, name)
        finite = number is not np.float64 or np.isfinite(rows.data @ rows.data)  # one visit; false as well if it overflows
    if not finite and len(wrong := np.flatnonzero(~np.isfinite(rows.data))):
        e = int(wrong[0])
        i = int(np.searchsorted(rows.indptr, e, side="right")) - 1
        raise ValueError(
            f"{name} must be finite; got {rows.data[e]} in row {i}, column {rows.indices[e]}: drop or impute such entries"
        )
    return rows


def owned(X: Rows) -> Rows:
    """Copy those arrays of the rows that a caller could still change, and seal all: no later write reaches the rows.

    Read-only memory maps and other read-only buffers are used as they are, without a copy. Their files must not change.

    Cost: O(mk) time, and the memory of what is copied.
    """
    data, indices, indptr = (each if is_sealed(each) else sealed(each.copy()) for each in X[:3])
    return Rows(data, indices, indptr, X.n)


def lent(X):
    """Seal CSR rows of floats in place of copying them, for a caller who keeps writers away as long as they are used."""
    if sp.issparse(X) and _has_rows_of_floats(X):
        X = copy.copy(X)
        X.data, X.indices, X.indptr = sealed(X.data), sealed(X.indices), sealed(X.indptr)
    return X


def sealed(array: np.ndarray) -> np.ndarray:
    """Give a read-only view: one through a read-only buffer, which numpy never makes writeable again.

    numpy cannot lay a buffer of objects under an array; a view of such an array is merely marked as read-only.
    """
    if not array.dtype.hasobject:
        return array if is_sealed(array) else np.asarray(memoryview(array).toreadonly())  # type: ignore[arg-type]
    array = array.view()
    array.flags.writeable = False
    return array


def is_sealed(array) -> bool:
    """Tell whether an array is on a read-only buffer: `sealed`, bytes, or a memory map that was opened for reading."""
    while isinstance(array, np.ndarray) and not array.flags.writeable:
        array = array.base
    try:
        return not isinstance(array, np.ndarray) and array is not None and memoryview(array).readonly
    except TypeError:  # a buffer of another kind, of which nothing is known
        return False


def check_unchanged(X: Rows, name: str = "X") -> None:
    """Raise ValueError if the values, which were finite, no longer are: the file of a memory map was written to."""
    if not X.exact and len(wrong := X.data[~np.isfinite(X.data)]):
        raise ValueError(f"{name} must not change once it is validated; got {wrong[0]} in its memory map. Copy the rows first")


def as_array(values, name: str) -> np.ndarray:
    """Make an array of an array-like; refuse ragged rows and masked entries."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name} must be complete; got a masked array with {np.ma.count_masked(values)} masked entries")
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} must be an array whose rows have one length: {error}") from None


def one_each(name: str, values, m: int, number: Any = np.float64) -> np.ndarray:
    """Validate one finite number for each row; return a copy in the arithmetic of `number`."""
    values = as_array(values, name)
    if values.shape != (m,):
        raise ValueError(f"{name} must have one number for each of the {m} rows, shape ({m},); got shape {values.shape}")
    if values.dtype.kind not in "fiubO":
        raise TypeError(f"{name} must hold real numbers; got dtype {values.dtype}")
    if number is np.float64:
        numbers = _to_float64(values, name)
        if not np.isfinite(numbers).all():
            raise ValueError(f"{name} must hold finite real numbers; got {numbers[~np.isfinite(numbers)][0]}")
        return numbers
    numbers = np.empty(m, dtype=object)
    for i, value in enumerate(values):
        numbers[i] = _exactly(value, number, name, f"row {i}")
    return numbers


def _exactly(value, number, name: str, where: str):
    try:
        return number(value)
    except (TypeError, ValueError, OverflowError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name} must hold finite real numbers; got {value!r} in {where}") from None


def well_formed(X, name):
    """Check the indices of a sparse container, which scipy's C code and the loops trust; return a shallow copy."""
    try:
        X = copy.copy(X)
        if X.format in ("csr", "csc", "bsr"):
            # flags that say "sorted" or "canonical" can be stale: drop them, they are recomputed on demand
            vars(X).pop("_has_canonical_format", None)
            vars(X).pop("_has_sorted_indices", None)
            if (X.indptr[1:] < X.indptr[:-1]).any():  # compared, as their differences may overflow
                raise ValueError("index pointer values must form a non-decreasing sequence")
            as_is = _has_rows_of_floats(X) and X.indptr.dtype == X.indices.dtype in PLACES
            X.check_format(full_check=not as_is)  # in full it also makes numbers native, and the places of one type
            if as_is and _has_rising_rows(X):
                X.has_canonical_format = True
        elif X.format == "coo":
            for axis, index in enumerate(X.coords):
                if index.size and (index.min() < 0 or index.max() >= X.shape[axis]):
                    raise ValueError(f"index {index.max()} or {index.min()} outside 0..{X.shape[axis] - 1} on axis {axis}")
        elif X.format in ("lil", "dok"):
            X = X.tocsr()
            X.check_format(full_check=True)
    except (ValueError, IndexError) as error:
        raise ValueError(f"{name} is a malformed sparse matrix of shape {X.shape}: {error}") from None
    return X


def _has_rising_rows(X) -> bool:
    """Tell whether the columns of each row increase: of successive entries, so many at a time that they stay in a cache.

    Raises ValueError if a column is outside the matrix.
    """
    columns, starts, rising = X.indices, X.indptr, True
    for first in range(0, len(columns), IN_CACHE):
        part = columns[first : first + IN_CACHE + 1]
        outside = part.view(f"u{part.itemsize}")  # as such a negative number is larger than any column
        if outside.max() >= X.shape[1]:
            raise ValueError(f"column {part[outside.argmax()]} outside 0..{X.shape[1] - 1}")
        if rising:
            rises = part[1:] > part[:-1]
            ends = np.array([first, first + len(rises)], dtype=starts.dtype)  # of another type, all starts would be converted
            rises[starts[slice(*np.searchsorted(starts, ends, side="right"))] - (first + 1)] = True  # the first of a row
            rising = bool(rises.all())
    return rising


def _has_rows_of_floats(X) -> bool:
    """True if the format and the type of the values allow to use a sparse container without a copy."""
    return X.format == "csr" and X.dtype in FLOATS


def _to_float64(array: np.ndarray, name) -> np.ndarray:
    if array.dtype.hasobject and any(isinstance(value, (str, bytes)) for value in array.flat):
        raise TypeError(f"{name} must hold real numbers; got text")  # which numpy would read as the number that it spells
    try:
        with np.errstate(over="ignore"):
            return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{name} must hold real numbers that fit a float64: {error}") from None


def _float_rows(X, name) -> Rows:
    if not sp.issparse(X):
        X = sp.csr_array(_to_float64(X, name))
    elif not (_has_rows_of_floats(X) and X.has_canonical_format):
        X = X.astype(np.float64).tocsr()  # a copy, in float64 before anything is added up: int8 and bool sums would wrap
        X.sum_duplicates()
    return Rows(X.data, X.indices, X.indptr, X.shape[1])


def _exact_rows(X, number, name) -> Rows:
    if sp.issparse(X):
        X = X.tocoo()
        entries = list(zip(*X.coords, X.data, strict=True))
    else:
        entries = [(i, j, value) for (i, j), value in np.ndenumerate(X) if value != 0]
    cells: dict[tuple[int, int], Any] = {}
    for i, j, value in entries:
        value = _exactly(value, number, name, f"row {i}, column {j}")
        cell = int(i), int(j)
        cells[cell] = cells[cell] + value if cell in cells else value
    data = np.empty(len(cells), dtype=object)
    indices = np.empty(len(cells), dtype=np.int64)
    indptr = np.zeros(X.shape[0] + 1, dtype=np.int64)
    for e, (i, j) in enumerate(sorted(cells)):
        data[e], indices[e] = cells[i, j], j
        indptr[i + 1] += 1
    return Rows(data, indices, np.cumsum(indptr), X.shape[1])
