"""Add and multiply four float64 at once in the compiled loops, each as if it were alone.

That is what processors have vector units for. In compiled code `read_four` makes one value of four neighbours in memory, and
+ and · act on all four; IEEE 754 holds for each, nothing is contracted and nothing summed across, so the bits are those of
four numbers one after the other, on any processor. As plain Python the four are an array, in any arithmetic. `read_one` and
`write_one` are for those that are left over.
"""

import operator

import numpy as np

from .compiler import AbstractTemplate, cgutils, infer_global, ir, lower_builtin, models, register_model, signature, types

WIDTH = 4


def read_four(array, *place):
    """Return the four entries of an array that begin at this place and follow it along the last axis."""
    *row, first = place
    return np.array([array[(*row, first + lane)] for lane in range(WIDTH)])


def write_four(four, array, *place):
    """Write four numbers there."""
    *row, first = place
    for lane in range(WIDTH):
        array[(*row, first + lane)] = four[lane]


def read_one(array, *place):
    """Return the entry of an array at this place."""
    return array[place]


def write_one(one, array, *place):
    """Write a number there."""
    array[place] = one


class _Four(types.Type):
    """Type of four float64 in one register, or in two where a processor's are short."""


_four = _Four("four float64")


@register_model(_Four)
class _InOneRegister(models.PrimitiveModel):
    def __init__(self, manager, of_type):
        super().__init__(manager, of_type, ir.VectorType(ir.DoubleType(), WIDTH))


def _reads_and_writes(read, write, of_type) -> None:
    """Let compiled code read and write values of this type in arrays of float64."""

    def of_floats(array) -> bool:
        return isinstance(array, types.Array) and array.dtype == types.float64

    @infer_global(read)
    class _ReadTyped(AbstractTemplate):
        def generic(self, args, kws):
            return signature(of_type, *args) if of_floats(args[0]) else None

    @infer_global(write)
    class _WriteTyped(AbstractTemplate):
        def generic(self, args, kws):
            return signature(types.none, of_type, *args[1:]) if of_floats(args[1]) else None

    def pointer(context, builder, typed, array, *place):
        of_array, *of_place = typed
        view = context.make_array(of_array)(context, builder, array)
        entry = [context.cast(builder, each, kind, types.uintp) for each, kind in zip(place, of_place, strict=True)]
        first = cgutils.get_item_pointer(context, builder, of_array, view, entry, wraparound=False)
        return builder.bitcast(first, context.get_value_type(of_type).as_pointer())

    @lower_builtin(read, types.Array, types.VarArg(types.Any))
    def _read(context, builder, typed, arguments):
        return builder.load(pointer(context, builder, typed.args, *arguments), align=8)

    @lower_builtin(write, of_type, types.Array, types.VarArg(types.Any))
    def _write(context, builder, typed, arguments):
        builder.store(arguments[0], pointer(context, builder, typed.args[1:], *arguments[1:]), align=8)
        return context.get_dummy_value()


_reads_and_writes(read_four, write_four, _four)
_reads_and_writes(read_one, write_one, types.float64)


def _on_each(operation, instruction: str) -> None:
    """Let an operation act on each of the four; a single number is taken four times."""

    @infer_global(operation)
    class _Typed(AbstractTemplate):
        def generic(self, args, kws):
            numbers = (_Four, types.Float, types.Integer)
            if any(isinstance(each, _Four) for each in args) and all(isinstance(each, numbers) for each in args):
                return signature(_four, *(each if isinstance(each, _Four) else types.float64 for each in args))
            return None

    def emit(context, builder, typed, arguments):
        fours = (
            each if isinstance(of_type, _Four) else _four_times(builder, each)
            for each, of_type in zip(arguments, typed.args, strict=True)
        )
        return getattr(builder, instruction)(*fours)

    for kinds in ((_Four, _Four), (types.float64, _Four), (_Four, types.float64)):
        lower_builtin(operation, *kinds)(emit)


def _four_times(builder, number):
    four = ir.Constant(ir.VectorType(ir.DoubleType(), WIDTH), ir.Undefined)
    for lane in range(WIDTH):
        four = builder.insert_element(four, number, cgutils.int32_t(lane))
    return four


_on_each(operator.add, "fadd")
_on_each(operator.mul, "fmul")
