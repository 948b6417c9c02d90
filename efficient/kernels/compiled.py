"""Compile the loops for float64, at the first call; the result is kept in memory only, never on disk."""

from functools import cache
from typing import Any

import numba
import numpy as np

from reference.rows import Rows

INLINED: Any = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options for the functions that a loop calls: inlined. No CPython or C wrapper is generated, as that takes time."""


@cache
def compiled_loop(function):
    """Compile a loop by numba for float64; division follows IEEE 754 and results do not depend on the CPU.

    A loop allocates nothing. Reference counting is disabled: it would cost more than a prefetch.
    """
    options: dict[str, Any] = {"error_model": "numpy", "nogil": True, "_nrt": False, "no_cfunc_wrapper": True}
    return numba.njit(**options)(function)


def in_arithmetic(function, exact: bool):
    """Give the loop as it is for exact arithmetic, compiled for float64."""
    return function if exact else compiled_loop(function)


@cache
def compiled_derivative(derivative):
    """Compile a loss derivative from two float64 to one, whatever the labels are kept in.

    Raises a TypeError that shows why if numba cannot.
    """
    try:
        function = getattr(derivative, "py_func", derivative)
        fast = numba.njit("float64(float64, float64)", error_model="numpy")(function)
        float(fast(np.float64(0), np.float64(1)))  # without the compiler, a call is what shows a wrong one
    except (numba.core.errors.NumbaError, TypeError) as error:
        raise TypeError(
            f"the loss's derivative must be scalar arithmetic, comparisons and `math`, which numba can compile: {error}"
        ) from None
    return fast


def unsigned(X: Rows) -> Rows:
    """View the column numbers as unsigned: numba then need not test each for being negative.

    `Problem` has checked that they are in range.
    """
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]  # as plain Python, float32 values times a Python float would round to float32
        X = X._replace(data=X.data.astype(np.float64, copy=False))
    return X._replace(indices=X.indices.view(f"u{X.indices.dtype.itemsize}"))
