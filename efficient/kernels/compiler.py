"""Import numba for all that is compiled, or stand in for it where it is not installed, as in a browser.

All names of numba that the package uses come from here. The stand-ins compile nothing: decorators return what they are given,
and types may be named, called and inherited from.
"""

# a stand-in has another type than what it stands for
# mypy: disable-error-code="assignment, misc, no-redef, attr-defined"

import sys
import warnings
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

INLINED: Any = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options for the functions that a loop calls: inlined. No CPython or C wrapper is generated, as that takes time."""

try:
    import numba
    from llvmlite import ir
    from numba import cfunc, njit, types, vectorize
    from numba.core import cgutils
    from numba.core.errors import NumbaError
    from numba.core.typing import signature
    from numba.core.typing.templates import AbstractTemplate, infer_global
    from numba.extending import (
        NativeValue,
        intrinsic,
        lower_builtin,
        models,
        overload,
        register_jitable,
        register_model,
        typeof_impl,
        unbox,
    )

    INSTALLED, COMPILES = True, not numba.config.DISABLE_JIT
except ModuleNotFoundError as error:
    if str(error.name).partition(".")[0] not in ("numba", "llvmlite"):
        raise
    INSTALLED, COMPILES = False, False

    class _Named(type):
        def __getattr__(cls, name: str) -> type:
            if name.startswith("__"):
                raise AttributeError(name)
            return cls

    class _Type(metaclass=_Named):
        """Stand for a type of numba, for a signature, and for a module of types."""

        args, return_type = (), None

        def __init__(self, *_: Any) -> None:
            pass

    def _decorator(*_, **__):
        return lambda function: function

    types = models = ir = cgutils = signature = AbstractTemplate = NativeValue = _Type
    njit = cfunc = overload = register_jitable = register_model = lower_builtin = infer_global = unbox = _decorator
    typeof_impl, NumbaError = SimpleNamespace(register=_decorator), TypeError

    def intrinsic(function):
        return function

    def vectorize(**_):
        return lambda function: np.vectorize(function, otypes=[float])


@cache
def warn_of_slowness() -> None:
    """Warn, once in a process, that loops run uncompiled; in a browser there is no cure, and its pages say so."""
    if not INSTALLED and sys.platform != "emscripten":
        warnings.warn(
            "numba is not installed: the loops run as plain Python, about 300 times slower. pip install numba",
            RuntimeWarning,
            stacklevel=3,
        )
