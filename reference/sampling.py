"""The drawn examples π_1, …, π_T. They are always an argument of an algorithm: nothing else here is random."""

import operator
from collections.abc import Iterator

import numpy as np

from .rows import BLOCK, Rows, as_array, holds_text

ORDERS = ("iid", "permuted", "cyclic")


def draw_indices(m: int, steps: int, rng=0, order: str = "iid", weight=None) -> np.ndarray:
    """Draw which example each step processes, as 0-based row numbers.

    Parameters
    ----------
    m : int
        The number of examples, >= 1.
    steps : int
        T, the number of steps, >= 1.
    rng : int, numpy Generator, SeedSequence, BitGenerator or RandomState
        An int gives the same indices every time; a generator is advanced.
    order : {"iid", "permuted", "cyclic"}
        "iid" draws independently and uniformly with replacement, as the paper does, and is what its expectations are
        over. "permuted" visits every example once an epoch, in a new random order; "cyclic" goes 0, 1, …, m-1 again and
        again and uses no randomness.
    weight : array-like of shape (m,), optional
        Numbers >= 0, not all 0: an example is drawn with a probability proportional to its weight. Whole numbers say how often
        each example occurs: the indices are those of the rows `np.repeat(rows, weight)`, in any order, to the bit; so weights
        of 1 are the same as none. Other weights are for "iid" only, and only their proportions count.

    Returns
    -------
    ndarray of int64, shape (steps,)

    Raises
    ------
    TypeError, ValueError
        Naming the argument, its value and what would be right.

    Paper: Section "Stochastic Gradient Descent", "a sequence of independently drawn random indices".
    Cost: O(steps).
    """
    m, steps = _positive("m", m), _positive("steps", steps)
    if order not in ORDERS:
        raise ValueError(f"order must be one of {', '.join(map(repr, ORDERS))}; got {order!r}")
    if weight is None:
        return _draw(m, steps, rng, order)
    weight = check_weight(weight, m)
    counts = as_counts(weight)
    if counts is not None:  # draw a row of np.repeat(rows, counts), and say which example it repeats
        return np.searchsorted(np.cumsum(counts), _draw(int(counts.sum()), steps, rng, order), side="right")
    if order != "iid":
        raise ValueError(f"order must be 'iid' where weights are not whole numbers, which say how often; got {order!r}")
    shares = np.cumsum(weight / weight.max())
    # random() is at most 1 − 2⁻⁵³, so that the product rounds to less than shares[-1]
    return np.searchsorted(shares, _generator(rng).random(steps) * shares[-1], side="right")


def _draw(m: int, steps: int, rng, order: str) -> np.ndarray:
    if order == "iid":
        return _generator(rng).integers(m, size=steps)
    if order == "cyclic":
        return np.arange(steps, dtype=np.int64) % m
    epochs = np.tile(np.arange(m, dtype=np.int64), (-(-steps // m), 1))
    return _generator(rng).permuted(epochs, axis=1).ravel()[:steps]


def _generator(rng) -> np.random.Generator:
    if isinstance(rng, (bool, np.bool_)) or rng is None:
        raise TypeError(f"rng must be a seed or a numpy generator, so that a run can be repeated; got {rng!r}")
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise type(error)(f"rng must be a seed or a numpy generator; got {rng!r}: {error}") from None


def check_weight(weight, m: int, name: str = "weight") -> np.ndarray:
    """The weights of the examples as float64, refused unless they are m finite numbers >= 0, not all 0."""
    values = as_array(weight, name)
    if values.shape != (m,):
        raise ValueError(f"{name} must have one number for each of the {m} examples, shape ({m},); got shape {values.shape}")
    try:
        if values.dtype.kind not in "fiubO" or holds_text(values):
            raise TypeError(f"got dtype {values.dtype}")
        with np.errstate(over="ignore"):
            values = values.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{name} must hold real numbers >= 0: {error}") from None
    if not np.isfinite(values).all() or (values < 0).any() or not values.any():
        wrong = values[~(np.isfinite(values) & (values >= 0))]
        raise ValueError(f"{name} must hold finite numbers >= 0, not all zero; got {wrong[0] if len(wrong) else 'only zeros'}")
    return values


def as_counts(weight: np.ndarray) -> np.ndarray | None:
    """The weights as integers, if all are whole numbers and so say how often each example occurs; None otherwise."""
    with np.errstate(over="ignore"):
        counted = np.array_equal(weight, np.floor(weight)) and weight.sum() < 2**62  # beyond it, int64 could not add them up
    return weight.astype(np.int64) if counted else None


def drawn_mean(X: Rows, weight: np.ndarray) -> np.ndarray:
    """x̄ of rows that are drawn with these weights; whole ones add up in the order of np.repeat(rows, weight), to the bit.

    Cost: O(n + mk), or O(n + Σ_i weight_i k_i) for whole weights.
    """
    counts = as_counts(weight)
    if counts is None:
        return X.mean(weight / weight.max())
    total = np.zeros(X.n)
    for block in repeated(X, counts):
        np.add.at(total, block.indices, block.data)
    return total / counts.sum()


def repeated(X: Rows, counts: np.ndarray) -> Iterator[Rows]:
    """The rows x_i, each counts_i times in succession, a block of about a million entries at a time."""
    ends, lengths = np.cumsum(counts), np.diff(X.indptr)
    size = max(1, BLOCK // max(1, int(lengths.max())))
    for first in range(0, int(ends[-1]), size):
        i = np.searchsorted(ends, np.arange(first, min(first + size, ends[-1])), side="right")
        indptr = np.concatenate([[0], np.cumsum(lengths[i])])
        e = np.repeat(X.indptr[i] - indptr[:-1], lengths[i]) + np.arange(indptr[-1])
        yield Rows(X.data[e], X.indices[e], indptr.astype(X.indptr.dtype), X.n)


def check_indices(indices, m: int) -> np.ndarray:
    """The indices as an int64 array, refused unless they are one or more row numbers in 0..m-1."""
    pi = as_array(indices, "indices")
    if pi.ndim != 1 or not pi.size:
        raise ValueError(f"indices must be a sequence of at least one row number; got shape {pi.shape}")
    if pi.dtype.kind not in "iu":
        raise TypeError(f"indices must be integers, 0-based row numbers; got dtype {pi.dtype}")
    low, high = int(pi.min()), int(pi.max())
    if low < 0 or high >= m:
        raise ValueError(f"indices must lie in 0..{m - 1}, for {m} examples; got {low if low < 0 else high}")
    return np.ascontiguousarray(pi, dtype=np.int64)


def _positive(name: str, value) -> int:
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        value = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer >= 1; got {value!r}") from None
    if value < 1:
        raise ValueError(f"{name} must be an integer >= 1; got {value}")
    return value
