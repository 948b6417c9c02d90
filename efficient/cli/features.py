"""Transformations of rows before training and predicting, tf-idf or scaling, fitted by scikit-learn. Zeros stay zeros."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from reference.arithmetic import Overflow

TRANSFORMS = ("none", "tfidf", "scale")


class Transform(NamedTuple):
    """Transformation of rows that was fitted to the training part; to apply it takes no scikit-learn.

    "tfidf" is that of scikit-learn's TfidfTransformer, and leaves out columns that no training row has. "scale" divides each
    column by the greatest absolute value that it has in training, as MaxAbsScaler does.

    Parameters
    ----------
    name : {"none", "tfidf", "scale"}
    factor : ndarray of shape (n,), or None
        Factor of each column; None for "none".
    """

    name: str
    factor: np.ndarray | None

    def apply(self, X: sp.csr_array) -> sp.csr_array:
        """Transform rows, O(mk).

        Raises FloatingPointError if a value overflows.
        """
        if self.factor is None:
            return X
        with np.errstate(over="ignore", under="ignore"):
            data = X.data * self.factor[X.indices]
            if self.name == "tfidf":
                data = _unit_rows(data, X.indptr)
        if not np.isfinite(data).all():
            raise Overflow(f"the values overflow float64 in the transformation {self.name}", "rows")
        return sp.csr_array((data, X.indices, X.indptr), shape=X.shape)


def fit_transform_to(X: sp.csr_array, name: str) -> Transform:
    """Fit a transformation to the training rows, O(n + mk)."""
    if name == "none":
        return Transform(name, None)
    X = X.copy()
    X.eliminate_zeros()
    if name == "tfidf":
        from sklearn.feature_extraction.text import TfidfTransformer

        return Transform(name, np.where(np.bincount(X.indices, minlength=X.shape[1]), TfidfTransformer().fit(X).idf_, 0.0))
    from sklearn.preprocessing import MaxAbsScaler

    return Transform(name, 1 / MaxAbsScaler().fit(X).scale_)


def _unit_rows(data: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """Divide the entries by the length of their row, and first by the greatest: then no square overflows or vanishes."""
    lengths = np.diff(indptr)
    row = np.repeat(np.arange(len(lengths)), lengths)
    greatest = np.full(len(lengths), np.finfo(np.float64).smallest_subnormal)  # not 0, for rows of zeros
    np.maximum.at(greatest, row, np.abs(data))
    data = data / greatest[row]
    length = np.sqrt(np.bincount(row, weights=data * data))  # at least 1, but for rows of zeros
    return data / np.maximum(length, 1)[row]
