"""The drawn examples π_1, …, π_T. They are always an argument of an algorithm: nothing else here is random."""

import operator

import numpy as np

from .rows import as_array

ORDERS = ("iid", "permuted", "cyclic")


def draw_indices(m: int, steps: int, rng=0, order: str = "iid") -> np.ndarray:
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
    if order == "cyclic":
        return np.arange(steps, dtype=np.int64) % m
    if isinstance(rng, (bool, np.bool_)) or rng is None:
        raise TypeError(f"rng must be a seed or a numpy generator, so that a run can be repeated; got {rng!r}")
    try:
        rng = np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise type(error)(f"rng must be a seed or a numpy generator; got {rng!r}: {error}") from None
    if order == "iid":
        return rng.integers(m, size=steps)
    epochs = np.tile(np.arange(m, dtype=np.int64), (-(-steps // m), 1))
    return rng.permuted(epochs, axis=1).ravel()[:steps]


def check_indices(indices, m: int) -> np.ndarray:
    """The indices as an int64 array, refused unless they are one or more row numbers in 0..m-1."""
    pi = as_array(indices, "indices")
    if pi.ndim != 1 or pi.size == 0:
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
