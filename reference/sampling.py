"""Draw the examples π_1, …, π_T, always an argument of an algorithm; validate weights, and take the mean that they give."""

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from .arithmetic import shown, unsignalled
from .rows import BLOCK, Rows, as_array, one_each

ORDERS = ("iid", "permuted", "blocked", "cyclic")

ROWS_OF_BLOCK, BLOCKS_AT_ONCE = 1 << 10, 64
"""Rows that stay together in the order "blocked", and how many such blocks are shuffled at once."""


@unsignalled
def draw_indices(m: int, steps: int, rng=0, order: str = "iid", sampling_weight=None) -> np.ndarray:
    """Draw the example of each step, as 0-based row numbers.

    Parameters
    ----------
    m : int
        The number of examples, >= 1.
    steps : int
        T, the number of steps, >= 1.
    rng : int, numpy Generator, SeedSequence, BitGenerator or RandomState
        An int gives the same indices every time; a generator is advanced.
    order : {"iid", "permuted", "blocked", "cyclic"}
        "iid" draws independently and uniformly with replacement, as the paper does in all its expectations. "permuted"
        visits every example once an epoch, in a new random order; "cyclic" repeats 0, 1, …, m-1 and uses no randomness.
        "blocked" is "permuted" for rows that do not fit into memory: blocks of 1024 rows come in a new random order each epoch,
        and the rows of each 64 successive blocks are shuffled, so that only so many rows are needed at a time.
    sampling_weight : array-like of shape (m,), optional
        Sampling weights >= 0, not all 0: an example is drawn with a probability proportional to its weight. Whole numbers
        count how often each example occurs: the indices are those of the rows `np.repeat(rows, sampling_weight)`, in any
        order, to the bit; so weights of 1 are the same as none. Others are for "iid" only, and only their proportions count.

    Returns
    -------
    ndarray of int64, shape (steps,)

    Raises
    ------
    TypeError, ValueError
        Names the argument, its condition and its value.

    Paper: Section "Stochastic Gradient Descent", "a sequence of independently drawn random indices".
    Cost: O(steps).
    """
    m, steps = _positive("m", m), _positive("steps", steps)
    if order not in ORDERS:
        raise ValueError(f"order must be one of {', '.join(map(repr, ORDERS))}; got {order!r}")
    if sampling_weight is None:
        return _draw(m, steps, rng, order)
    sampling_weight = check_weight(sampling_weight, m, "sampling_weight")
    counts = as_counts(sampling_weight)
    if counts is not None:  # draw a row of np.repeat(rows, counts), and find the example that it repeats
        return np.searchsorted(np.cumsum(counts), _draw(int(counts.sum()), steps, rng, order), side="right")
    if order != "iid":
        raise ValueError(f"order must be 'iid' where weights are not whole numbers; got {order!r}")
    shares = np.cumsum(sampling_weight / sampling_weight.max())
    # random() is at most 1 − 2⁻⁵³, so that the product rounds to less than shares[-1]
    return np.searchsorted(shares, _generator(rng).random(steps) * shares[-1], side="right")


def _draw(m: int, steps: int, rng, order: str) -> np.ndarray:
    if order == "iid":
        return _generator(rng).integers(m, size=steps)
    if order == "cyclic":
        return np.arange(steps, dtype=np.int64) % m
    if order == "blocked":
        rng = _generator(rng)
        return np.concatenate([_shuffled_blocks(m, rng) for _ in range(-(-steps // m))])[:steps]
    epochs = np.tile(np.arange(m, dtype=np.int64), (-(-steps // m), 1))
    return _generator(rng).permuted(epochs, axis=1).ravel()[:steps]


def _shuffled_blocks(m: int, rng: np.random.Generator) -> np.ndarray:
    """Draw an order of 0, …, m-1 in which a part of the rows is needed at a time; uniform if they are one part."""
    firsts = ROWS_OF_BLOCK * rng.permutation(-(-m // ROWS_OF_BLOCK))
    rows = (firsts[:, np.newaxis] + np.arange(ROWS_OF_BLOCK)).ravel()
    rows = rows[rows < m]
    for start in range(0, m, ROWS_OF_BLOCK * BLOCKS_AT_ONCE):
        rng.shuffle(rows[start : start + ROWS_OF_BLOCK * BLOCKS_AT_ONCE])
    return rows


def _generator(rng) -> np.random.Generator:
    if isinstance(rng, (bool, np.bool_)) or rng is None:
        raise TypeError(f"rng must be a seed or a numpy generator, so that a run can be repeated; got {rng!r}")
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise type(error)(f"rng must be a seed or a numpy generator; got {rng!r}: {error}") from None


def check_weight(weight, m: int, name: str, number: Any = np.float64, some: bool = True) -> np.ndarray:
    """Validate the weights of m examples: finite numbers >= 0, and `some` > 0; return a copy in the arithmetic of `number`."""
    values = one_each(name, weight, m, number)
    wrong = values[values < 0]
    if len(wrong) or (some and not values.any()):
        raise ValueError(f"{name} must hold finite numbers >= 0, not all zero; got {wrong[0] if len(wrong) else 'only zeros'}")
    return values


def as_counts(weight: np.ndarray) -> np.ndarray | None:
    """Convert weights to integers if all are whole, and so count how often each example occurs; return None otherwise."""
    with np.errstate(over="ignore"):
        counted = np.array_equal(weight, np.floor(weight)) and weight.sum() < 2**62  # larger sums overflow int64
    return weight.astype(np.int64) if counted else None


@unsignalled  # a mean that is not finite is refused where it is used
def mean_row(X: Rows, weight: np.ndarray, drawn: bool = False) -> np.ndarray:
    """Compute x̄ = Σ_i weight_i x_i / Σ_i weight_i, summed in float64 or exactly.

    With `drawn` these are sampling weights: whole ones add up in the order of np.repeat(rows, weight), to the bit.

    Cost: O(n + mk), or O(n + Σ_i weight_i k_i) for whole sampling weights.
    """
    counts = as_counts(weight) if drawn else None
    if counts is not None:
        total = np.zeros(X.n)
        for block in repeated(X, counts):
            np.add.at(total, block.indices, block.data)
        return total / counts.sum()
    if drawn:
        weight = weight / weight.max()
    if X.data.dtype != np.float32:  # of which scipy would make a copy in float64
        return X.transpose_dot(weight) / weight.sum()
    total = np.zeros(X.n)
    for where, block in X.blocks():
        np.add.at(total, block.indices, block.data * np.repeat(weight[where], np.diff(block.indptr)))
    return total / weight.sum()


def repeated(X: Rows, counts: np.ndarray) -> Iterator[Rows]:
    """Yield the rows x_i, each counts_i times in succession, in blocks of about a million entries."""
    ends, lengths = np.cumsum(counts), np.diff(X.indptr)
    size = max(1, BLOCK // max(1, int(lengths.max())))
    for first in range(0, int(ends[-1]), size):
        i = np.searchsorted(ends, np.arange(first, min(first + size, ends[-1])), side="right")
        indptr = np.concatenate([[0], np.cumsum(lengths[i])])
        e = np.repeat(X.indptr[i] - indptr[:-1], lengths[i]) + np.arange(indptr[-1])
        yield Rows(X.data[e], X.indices[e], indptr.astype(X.indptr.dtype), X.n)


def check_indices(indices, m: int) -> np.ndarray:
    """Validate the indices, one or more row numbers in 0..m-1; return them as an int64 array."""
    pi = as_array(indices, "indices")
    if pi.ndim != 1 or not pi.size:
        raise ValueError(f"indices must be a sequence of at least one row number; got shape {pi.shape}")
    if pi.dtype.kind not in "iu":
        raise TypeError(f"indices must be integers, 0-based row numbers; got dtype {pi.dtype}")
    low, high = int(pi.min()), int(pi.max())
    if low < 0 or high >= m:
        raise ValueError(f"indices must be in 0..{m - 1}, for {m} examples; got {low if low < 0 else high}")
    return np.ascontiguousarray(pi, dtype=np.int64)


def _positive(name: str, value) -> int:
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        value = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer >= 1; got {value!r}") from None
    if value < 1:
        raise ValueError(f"{name} must be an integer >= 1; got {shown(value)}")
    if value >= 2**63:
        raise ValueError(f"{name} must be an integer < 2**63, which an index can count; got {shown(value)}")
    return value
