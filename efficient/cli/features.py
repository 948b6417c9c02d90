"""What is done to the rows before training, and again before predicting: tf-idf or scaling. Zeros stay zeros."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

TRANSFORMS = ("none", "tfidf", "scale")


class Transform(NamedTuple):
    """A transformation of rows that was fitted to the training part.

    "tfidf" multiplies the counts by log((1 + m)/(1 + df)) + 1, where df of the m training rows have the column, and scales
    every row to unit length; columns that no training row has are left out. "scale" divides each column by the greatest
    absolute value that it has in training.

    Parameters
    ----------
    name : {"none", "tfidf", "scale"}
    factor : ndarray of shape (n,), or None
        What each column is multiplied by; None for "none".
    """

    name: str
    factor: np.ndarray | None

    def apply(self, X: sp.csr_array) -> sp.csr_array:
        """The transformed rows, O(mk).

        Raises FloatingPointError if one of them overflows.
        """
        if self.factor is None:
            return X
        with np.errstate(over="ignore", under="ignore"):
            data = X.data * self.factor[X.indices]
            if self.name == "tfidf":
                data = _unit_rows(data, X.indptr)
        if not np.isfinite(data).all():
            raise FloatingPointError(f"the values overflow float64 when they are transformed by {self.name}: scale them down")
        return sp.csr_array((data, X.indices, X.indptr), shape=X.shape)


def fit_transform_to(X: sp.csr_array, name: str) -> Transform:
    """Fit a transformation to the training rows, O(n + mk)."""
    m, n = X.shape
    if name == "none":
        return Transform(name, None)
    if name == "tfidf":
        df = np.bincount(X.indices, weights=X.data != 0, minlength=n)
        return Transform(name, np.where(df, np.log((1 + m) / (1 + df)) + 1, 0.0))
    greatest = np.zeros(n)
    np.maximum.at(greatest, X.indices, np.abs(X.data))
    with np.errstate(divide="ignore", over="ignore"):
        factor = 1 / greatest
    return Transform(name, np.where(np.isfinite(factor), factor, 1.0))


def _unit_rows(data: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """The entries divided by the length of their row; the greatest is divided out first, lest a square overflow or vanish."""
    lengths = np.diff(indptr)
    row = np.repeat(np.arange(len(lengths)), lengths)
    greatest = np.full(len(lengths), np.finfo(np.float64).smallest_subnormal)  # not 0, for rows of zeros
    np.maximum.at(greatest, row, np.abs(data))
    data = data / greatest[row]
    length = np.sqrt(np.bincount(row, weights=data * data))  # at least 1, but for rows of zeros
    return data / np.maximum(length, 1)[row]
