"""Parts of the examples for training and for testing; rows that repeat each other always go to the same part."""

import hashlib
from itertools import pairwise

import numpy as np
import scipy.sparse as sp


def groups_of_equal_rows(X: sp.csr_array) -> np.ndarray:
    """A number for each row, equal where the rows are, from 0 on in the order of their first appearance."""
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
    """A mask of about this fraction of the rows, drawn with the seed.

    Raises ValueError if either part would be empty.
    """
    groups = groups_of_equal_rows(X)
    sizes = np.bincount(groups)
    left = max(1, round(fraction * len(groups)))
    chosen = np.zeros(len(sizes), dtype=bool)
    for group in _generator(seed).permutation(len(sizes)):
        if sizes[group] <= left:
            chosen[group] = True
            left -= sizes[group]
    held = chosen[groups]
    if not held.any() or held.all():
        raise ValueError(
            f"--hold-out {fraction:g} of {len(groups)} rows, {len(sizes)} of them different, leaves one part without any"
        )
    return held


def folds(X: sp.csr_array, count: int, seed: int) -> np.ndarray:
    """The number of each row's fold, 0 to count − 1, of nearly equal size, drawn with the seed.

    Raises ValueError if there are fewer different rows than folds.
    """
    groups = groups_of_equal_rows(X)
    sizes = np.bincount(groups)
    if len(sizes) < count:
        raise ValueError(f"--folds {count}: there are {len(sizes)} different rows only")
    fold_of_group = np.empty(len(sizes), dtype=np.int64)
    filled = np.zeros(count, dtype=np.int64)
    for group in _generator(seed).permutation(len(sizes)):
        smallest = filled.argmin()
        fold_of_group[group] = smallest
        filled[smallest] += sizes[group]
    return fold_of_group[groups]


def _generator(seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, 1])  # not the one that draws the examples
