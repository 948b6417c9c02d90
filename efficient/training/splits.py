"""Parts of the rows for training and held-out evaluation: equal rows stay together, every class is in all parts alike."""

import hashlib
from itertools import pairwise

import numpy as np
import scipy.sparse as sp


def groups_of_equal_rows(X: sp.csr_array) -> np.ndarray:
    """Number the rows so that equal ones have the same number, from 0 on in the order of their first appearance."""
    X = X.copy()
    X.eliminate_zeros()
    indices, data = X.indices.astype(np.int64), X.data.astype(np.float64)
    numbers: dict[bytes, int] = {}
    groups = np.empty(X.shape[0], dtype=np.int64)
    for i, (start, stop) in enumerate(pairwise(X.indptr)):
        row = hashlib.blake2b(indices[start:stop].tobytes(), digest_size=16)
        row.update(data[start:stop].tobytes())
        groups[i] = numbers.setdefault(row.digest(), len(numbers))
    return groups


def hold_out(X: sp.csr_array, fraction: float, seed: int, labels: np.ndarray | None = None) -> np.ndarray:
    """Draw a mask of about this fraction of the different rows.

    Parameters
    ----------
    X : csr_array of shape (m, n)
    fraction : float > 0
    seed : int
    labels : ndarray of shape (m,), optional
        Classes of the rows. Each is held out in this proportion, but for one row at least that is left to train on.

    Raises ValueError if either part would be empty.

    Cost: O(mk + m log m).
    """
    groups, (order, classes) = _groups_by_class(X, seed, labels)
    count = len(order)
    left = np.unique(classes, return_index=True)[1]  # the first of each class
    others = np.delete(order, left)
    wanted = max(1, round(fraction * count))
    if wanted > len(others):
        raise ValueError(
            f"the rows held out must leave others to train on, of each class; got {fraction:g} of {len(groups)} rows, "
            f"{count} of them different"
        )
    evenly = np.arange(wanted) * len(others) // wanted
    return np.isin(groups, others[evenly])


def folds(X: sp.csr_array, count: int, seed: int, labels: np.ndarray | None = None) -> np.ndarray:
    """Draw the fold of each row, 0 to count − 1: as many different rows in each, of each class too, give or take one.

    Raises ValueError if there are fewer different rows than folds.

    Cost: O(mk + m log m).
    """
    groups, (order, _) = _groups_by_class(X, seed, labels)
    if len(order) < count:
        raise ValueError(f"the number of folds must be at most that of different rows, {len(order)}; got {count}")
    fold = np.empty(len(order), dtype=np.int64)
    fold[order] = np.arange(len(order)) % count
    return fold[groups]


def _groups_by_class(X: sp.csr_array, seed: int, labels: np.ndarray | None) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Group equal rows; give the groups in random order, but class by class, and the class of each in this order.

    The class of equal rows with different labels is the rarest among these.
    """
    groups = groups_of_equal_rows(X)
    _, of_row, frequency = np.unique(
        np.zeros(len(groups)) if labels is None else labels, return_inverse=True, return_counts=True
    )
    rarest_first = np.argsort(frequency[of_row], kind="stable")
    _, rarest = np.unique(groups[rarest_first], return_index=True)
    of_group = of_row[rarest_first[rarest]]
    order = np.random.default_rng(seed).permutation(len(of_group))
    order = order[np.argsort(of_group[order], kind="stable")]
    return groups, (order, of_group[order])
