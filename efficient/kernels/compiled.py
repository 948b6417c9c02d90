"""Compile the loops for float64, at the first call ever: the next process reads them from the disk."""

from functools import cache
from typing import Any

import numba
import numpy as np

from reference.rows import Rows, sealed

from .loop_cache import LoopCache, is_cached

INLINED: Any = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options for the functions that a loop calls: inlined. No CPython or C wrapper is generated, as that takes time."""


@cache
def compiled_loop(function):
    """Compile a loop by numba for float64; division follows IEEE 754 and results do not depend on the CPU.

    A loop allocates nothing. Reference counting is disabled: it would cost more than a prefetch.
    """
    options: dict[str, Any] = {"error_model": "numpy", "nogil": True, "_nrt": False, "no_cfunc_wrapper": True}
    loop = numba.njit(**options)(function)
    if is_cached(function) and not numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        loop._cache = LoopCache(function)
    return loop


def in_arithmetic(function, exact: bool):
    """Give the loop as it is for exact arithmetic, compiled for float64."""
    return function if exact else compiled_loop(function)


def unsigned(X: Rows) -> Rows:
    """View the column numbers as unsigned: numba then need not test each for being negative.

    `Problem` has checked that they are in range. All rows are read-only, so that one version of a loop serves them all.
    """
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]  # as plain Python, float32 values times a Python float would round to float32
        X = X._replace(data=X.data.astype(np.float64, copy=False))
    columns = X.indices.view(f"u{X.indices.dtype.itemsize}")
    return X._replace(data=sealed(X.data), indices=sealed(columns), indptr=sealed(X.indptr))
