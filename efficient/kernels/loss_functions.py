"""Hand the functions of any loss to one compiled loop: the built-in ones as a number, others as a pointer.

The loop calls `dloss(p, y)` as it does in plain Python. Compiled, the call of a number is a choice among the built-in functions
in line, with the bits of a loop that has one of them only. So a loop is compiled once for all losses, and can be kept on disk.
"""

import dis
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from reference import LOSSES, losses

from .compiler import (
    COMPILES,
    INLINED,
    NativeValue,
    NumbaError,
    cfunc,
    lower_builtin,
    models,
    njit,
    register_model,
    signature,
    typeof_impl,
    types,
    unbox,
)

KINDS = ("value", "derivative")

BUILT_IN = {
    kind: [getattr(loss, kind) for loss in LOSSES.values() if getattr(loss, kind).__module__ == losses.__name__]
    for kind in KINDS
}
"""Functions that have a number, their place; those of a loss that was added to the table from elsewhere have none."""

SIGNATURE = types.float64(types.float64, types.float64)


class Numbered(int):
    """Number of a built-in function of one kind; as plain Python it is called like the function."""

    kind: str

    def __new__(cls, number: int, kind: str):
        self = super().__new__(cls, number)
        self.kind = kind
        return self

    def __call__(self, p, y):
        return BUILT_IN[self.kind][self](p, y)


class _Numbered(types.Callable):
    """Type of the numbers of one kind."""

    def __init__(self, kind: str):
        super().__init__(f"number of a built-in {kind}")
        self.kind = kind

    def get_call_type(self, context, args, kws):
        return signature(*SIGNATURE.args, SIGNATURE.return_type, recvr=self)

    def get_call_signatures(self):
        return [SIGNATURE], False

    def get_impl_key(self, sig):
        return type(self)


@register_model(_Numbered)
class _NumberedModel(models.PrimitiveModel):
    def __init__(self, manager, of_type):
        super().__init__(manager, of_type, manager[types.int64].get_value_type())


@typeof_impl.register(Numbered)
def _typeof(value, _):
    return _Numbered(value.kind)


@unbox(_Numbered)
def _unbox(_, value, context):
    number = context.pyapi.long_as_longlong(value)
    return NativeValue(number, is_error=context.pyapi.c_api_error())


@lower_builtin(_Numbered, _Numbered, *SIGNATURE.args)
def _call(context, builder, typed, arguments):
    choose = _choice(typed.args[0].kind)
    return context.compile_internal(builder, choose, signature(typed.return_type, types.int64, *typed.args[1:]), arguments)


@cache
def _choice(kind: str) -> Callable:
    """Make the function of a number, p and y that calls the built-in function of this number."""
    choose: Any = None
    for number, function in reversed(list(enumerate(BUILT_IN[kind]))):
        choose = _either(number, njit(SIGNATURE, error_model="numpy", **INLINED)(function), choose)
    return choose.py_func


def _either(number: int, function, others):
    if others is None:
        return njit(**INLINED)(lambda given, p, y: function(p, y))
    return njit(**INLINED)(lambda given, p, y: function(p, y) if given == number else others(given, p, y))


@cache
def loss_function(function: Callable):
    """Make what a compiled loop can call of a function of p and y, whatever the labels are kept in.

    A number if it is built in, otherwise a pointer to the function, compiled from two float64 to one. It is built in if it is
    that very object, whatever the name and the other fields of its loss.

    Raises a TypeError that shows why if numba cannot compile it, or if it raises: a pointer cannot pass that on.
    """
    function = getattr(function, "py_func", function)
    for kind, built_in in BUILT_IN.items():
        for number, each in enumerate(built_in):
            if each is function:
                return Numbered(number, kind)
    try:
        if not COMPILES:
            float(function(np.float64(0), np.float64(1)))  # without the compiler, a call is what shows a wrong one
            return function
        if any(step.opname == "RAISE_VARARGS" for step in dis.get_instructions(function)):
            raise TypeError("it has a raise or an assert")
        return cfunc(SIGNATURE, error_model="numpy")(function)
    except (NumbaError, TypeError) as error:
        raise TypeError(
            f"the loss's derivative must be scalar arithmetic, comparisons and `math`, which numba can compile: {error}"
        ) from None
