"""Make the weights from a state in one pass over its columns, and see on the way whether they are finite.

A recovery is written once, on whole vectors. On large ones every operation would be a pass over memory; compiled, the same
function takes the numbers of one column after the other, with the same bits.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from .compiled import compiled_loop
from .compiler import INLINED, njit, overload, types
from .prefetch import LARGE

COLUMNS = 4096
"""Columns that are recovered at a time where no loop is compiled: so few that they stay in a cache."""


def recover_into(w: np.ndarray, recover, lam, t, parts: Sequence[Any], many: bool | None = None) -> tuple[Any, bool]:
    """Write the weights of `recover(lam, t, *parts)` to w, and return its bias, and whether all weights are finite.

    Parameters
    ----------
    w : ndarray of shape (n,)
    recover : function
        Element by element on vectors, and independent of them in its bias.
    parts : sequence of vectors of shape (n,) and numbers
    many : bool, optional
        Whether to run the compiled loop; by default for float64 vectors that outgrow the caches.

    Cost: O(n) time; nothing of that size is allocated.
    """
    none = [part[:0] if isinstance(part, np.ndarray) else part for part in parts]
    _, b = recover(lam, t, *none)
    if len(w) >= LARGE and not w.dtype.hasobject if many is None else many:
        return b, bool(by_column(recover)(lam, t, tuple(parts), w))
    for start in range(0, len(w), COLUMNS):
        columns = slice(start, start + COLUMNS)
        w[columns], _ = recover(lam, t, *(part[columns] if isinstance(part, np.ndarray) else part for part in parts))
    return b, bool(w.dtype.hasobject or (np.isfinite(w.min(initial=0)) and np.isfinite(w.max(initial=0))))


@cache
def by_column(recover):
    """Compile a recovery as a loop over the columns of its vectors, which tells whether all weights are finite."""
    of_numbers = njit(error_model="numpy", **INLINED)(recover)

    def loop(lam, t, parts, w):
        finite = True
        for j in range(len(w)):
            w[j], _ = of_numbers(lam, t, *at(parts, j))
            finite = finite and w[j] - w[j] == 0
        return finite

    loop.__module__, loop.__qualname__ = recover.__module__, f"{recover.__qualname__}.by_column"  # its name in the cache
    return compiled_loop(loop)


def at(parts, j):
    """Take the numbers of column j from vectors; numbers stay as they are."""
    return tuple(part[j] if np.ndim(part) else part for part in parts)


@overload(at, jit_options=INLINED)
def _at(parts, j):
    if not len(parts):
        return lambda parts, j: ()
    if isinstance(parts[0], types.Array):
        return lambda parts, j: (parts[0][j], *at(parts[1:], j))
    return lambda parts, j: (parts[0], *at(parts[1:], j))
