"""Parts of the rows, by scikit-learn, for training and held-out evaluation; equal rows always go to the same part."""

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


def hold_out(X: sp.csr_array, fraction: float, seed: int) -> np.ndarray:
    """Draw a mask of about this fraction of the different rows, by scikit-learn's GroupShuffleSplit.

    Raises ValueError if either part would be empty.
    """
    from sklearn.model_selection import GroupShuffleSplit

    groups, held = groups_of_equal_rows(X), np.zeros(X.shape[0], dtype=bool)
    try:
        ((_, chosen),) = GroupShuffleSplit(1, test_size=fraction, random_state=seed).split(X, groups=groups)
    except ValueError:
        raise ValueError(
            f"the rows held out must leave others to train on; got {fraction:g} of {len(groups)} rows, "
            f"{groups.max() + 1} of them different"
        ) from None
    held[chosen] = True
    return held


def folds(X: sp.csr_array, count: int, seed: int) -> np.ndarray:
    """Draw the fold of each row, 0 to count − 1, of nearly as many different rows each, by scikit-learn's GroupKFold.

    Raises ValueError if there are fewer different rows than folds.
    """
    from sklearn.model_selection import GroupKFold

    groups, fold = groups_of_equal_rows(X), np.empty(X.shape[0], dtype=np.int64)
    if groups.max() + 1 < count:
        raise ValueError(f"the number of folds must be at most that of different rows, {groups.max() + 1}; got {count}")
    for k, (_, held) in enumerate(GroupKFold(count, shuffle=True, random_state=seed).split(X, groups=groups)):
        fold[held] = k
    return fold
