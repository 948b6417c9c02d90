"""Compile the loops for float64, at the first call ever: the next process reads them from the disk."""

from functools import cache
from typing import Any

import numpy as np

from reference.rows import Rows, sealed

from .compiler import COMPILES, njit, warn_of_slowness

if COMPILES:
    from .loop_cache import LoopCache, is_cached


@cache
def compiled_loop(function):
    """Compile a loop by numba for float64; division follows IEEE 754 and results do not depend on the CPU.

    A loop allocates nothing. Reference counting is disabled: it would cost more than a prefetch.
    """
    options: dict[str, Any] = {"error_model": "numpy", "nogil": True, "_nrt": False, "no_cfunc_wrapper": True}
    warn_of_slowness()
    loop = njit(**options)(function)
    if COMPILES and is_cached(function):
        loop._cache = LoopCache(function)
    return loop


def in_arithmetic(function, exact: bool):
    """Give the loop as it is for exact arithmetic, compiled for float64."""
    return function if exact else compiled_loop(function)


def unsigned(X: Rows) -> Rows:
    """View the column numbers as unsigned: numba then need not test each for being negative.

    `Problem` has checked that they are in range. All rows are read-only, so that one version of a loop serves them all.
    """
    if not COMPILES:  # float32 values times a Python float would round to float32
        X = X._replace(data=X.data.astype(np.float64, copy=False))
    columns = X.indices.view(f"u{X.indices.dtype.itemsize}")
    return X._replace(data=sealed(X.data), indices=sealed(columns), indptr=sealed(X.indptr))
