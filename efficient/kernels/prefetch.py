"""Give hints to the processor and to the compiler, which compute nothing; as plain Python they do nothing.

In random order every row begins with a wait for memory, unless it is fetched in time. The compiled loops emit
LLVM's prefetch instruction, which reads no value and cannot fault; results do not depend on it.

And v and u are side by side in memory, an entry of one beside that of the other. A compiler that knows how far it is from one
entry to the next need not multiply to find it.
"""

from typing import Any

import numpy as np

from .compiler import INLINED, cgutils, intrinsic, ir, overload, register_jitable, types

LARGE = 300_000
"""Entries, about, from which the vectors outgrow the caches and are fetched ahead as well."""

ENTRIES_AHEAD = 256
"""Stored entries that rows in order are fetched ahead: the processor does so itself, but not beyond a page of 4096 bytes."""

LINE = 64
"""Bytes of a cache line."""


def side_by_side(v, u):
    """Before the first step: v and u are the two columns of one array. Compiled code raises ValueError if they are not."""


def ahead(X, indices, j, v):
    """Before step j: fetch the row of step j + 2, where the row of step j + 3 starts, and what the next row needs of v.

    v may also be the state of many models, of shape (n, 2, K).
    """


def ahead_in_order(X, i, v):
    """Before row i, when rows are visited in order: fetch entries to come, and what the next row needs of v."""


def ahead_of(per_row, indices, j):
    """Before step j: fetch what step j + 3 will need of an array with one number for each row, or one for each model."""


@overload(side_by_side, jit_options=INLINED)
def _side_by_side(v, u):
    apart = 2 * v.dtype.bitwidth // 8

    def hint(v, u):
        if v.strides[0] != apart or u.strides[0] != apart:
            raise ValueError("v and u must be side by side: the two columns of one array")

    return hint


def _emit_prefetch(_, array, place, offset):
    """Return the cache line so many bytes after the beginning of array[place]."""

    def emit(context, builder, signature, arguments):
        word, number = ir.IntType(64), ir.IntType(32)
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        stride = cgutils.unpack_tuple(builder, view.strides)[0]
        place, offset = (
            context.cast(builder, value, of_type, types.uintp)
            for value, of_type in zip(arguments[1:], signature.args[1:], strict=True)
        )
        start = builder.add(builder.ptrtoint(view.data, word), builder.mul(place, stride))
        address = builder.inttoptr(builder.add(start, offset), ir.IntType(8).as_pointer())
        of_type = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
        to_read, keep, data = number(0), number(3), number(1)
        fetch = cgutils.get_or_insert_function(builder.module, of_type, "llvm.prefetch.p0i8")
        builder.call(fetch, [address, to_read, keep, data])
        return context.get_dummy_value()

    return types.void(array, place, offset), emit


_prefetch: Any = intrinsic(_emit_prefetch)


@register_jitable(**INLINED)
def _fetch_number(array, place):
    _prefetch(array, place, 0)


@register_jitable(**INLINED)
def _fetch_lines(array, place):
    for offset in range(np.uintp(0), np.uintp(array.strides[0]), np.uintp(LINE)):
        _prefetch(array, place, offset)


def _fetch(array):
    """Fetch array[place]: all its cache lines, where it is more than a number."""
    return _fetch_number if array.ndim == 1 else _fetch_lines


@overload(ahead, jit_options=INLINED)
def _ahead(X, indices, j, v):
    columns_a_line = np.uintp(LINE // X.types[1].dtype.bitwidth * 8)
    values_a_line = np.uintp(LINE // X.types[0].dtype.bitwidth * 8)
    one, fetch = np.uintp(1), _fetch(v)

    def hints(X, indices, j, v):
        columns, values, starts = X.indices, X.data, X.indptr
        if j + 3 < len(indices):
            _prefetch(starts, indices[j + 3], 0)
            i = np.uintp(indices[j + 2])
            for e in range(np.uintp(starts[i]), np.uintp(starts[i + one]), columns_a_line):
                _prefetch(columns, e, 0)
            for e in range(np.uintp(starts[i]), np.uintp(starts[i + one]), values_a_line):
                _prefetch(values, e, 0)
            if v.size >= LARGE:
                i = np.uintp(indices[j + 1])
                for e in range(np.uintp(starts[i]), np.uintp(starts[i + one])):
                    fetch(v, columns[e])

    return hints


@overload(ahead_in_order, jit_options=INLINED)
def _ahead_in_order(X, i, v):
    columns_a_line = np.uintp(LINE // X.types[1].dtype.bitwidth * 8)
    values_a_line = np.uintp(LINE // X.types[0].dtype.bitwidth * 8)
    one, far = np.uintp(1), np.uintp(ENTRIES_AHEAD)

    def hints(X, i, v):
        columns, values, starts = X.indices, X.data, X.indptr
        begin, end = np.uintp(starts[i]) + far, np.uintp(starts[i + one]) + far  # even beyond the array a hint does no harm
        for e in range(begin, end, columns_a_line):
            _prefetch(columns, e, 0)
        for e in range(begin, end, values_a_line):
            _prefetch(values, e, 0)
        if len(v) >= LARGE and i + 2 < len(starts):
            for e in range(np.uintp(starts[i + 1]), np.uintp(starts[i + 2])):
                _prefetch(v, columns[e], 0)

    return hints


@overload(ahead_of, jit_options=INLINED)
def _ahead_of(per_row, indices, j):
    fetch = _fetch(per_row)

    def hint(per_row, indices, j):
        if j + 3 < len(indices):
            fetch(per_row, indices[j + 3])

    return hint
