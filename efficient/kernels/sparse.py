"""Paper's sparse vector operations: each touches the k stored entries of one row, never all n.

Written once, as plain Python on whatever arrays it is handed. `register_jitable` leaves a function as it is for Python
(fractions, symbols, counting arrays) and lets the compiled loops inline it (float64). Places are unsigned numbers there
(`np.uintp`): numba then need not ask of each whether it is negative and counts from the end.
"""

import numpy as np

from .compiler import INLINED, register_jitable

ONE, TWO, THREE, FOUR = np.uintp(1), np.uintp(2), np.uintp(3), np.uintp(4)


@register_jitable(**INLINED)
def entries(X, i):
    """Where the stored entries of x_i begin and end in X.indices and X.data."""
    return np.uintp(X.indptr[i]), np.uintp(X.indptr[i + 1])


@register_jitable(**INLINED)
def dot(v, X, i):
    """Compute v · x_i.

    Four partial sums, in this fixed order: the processor need not wait for one addition before it begins the next.

    Paper: Section "Sparse Vector Operations".
    Cost: k_i entries of v read.
    """
    columns, values = X.indices, X.data
    start, stop = entries(X, i)
    rest = stop - (stop - start) % FOUR
    d0 = d1 = d2 = d3 = 0
    for e in range(start, rest, FOUR):
        d0 = d0 + values[e] * v[columns[e]]
        d1 = d1 + values[e + ONE] * v[columns[e + ONE]]
        d2 = d2 + values[e + TWO] * v[columns[e + TWO]]
        d3 = d3 + values[e + THREE] * v[columns[e + THREE]]
    for e in range(rest, stop):
        d0 = d0 + values[e] * v[columns[e]]
    return (d0 + d1) + (d2 + d3)


@register_jitable(**INLINED)
def add(v, g, X, i):
    """Update v ← v + g x_i.

    Paper: Section "Sparse Vector Operations".
    Cost: k_i entries of v read and written; none where g = 0.
    """
    if g != 0:
        columns, values = X.indices, X.data
        start, stop = entries(X, i)
        for e in range(start, stop):
            j = columns[e]
            v[j] = v[j] + g * values[e]


@register_jitable(**INLINED)
def add_both(v, g, u, hg, X, i):
    """Update v ← v + g x_i and u ← u + h g x_i, in one visit of the row.

    Paper: Section "Sparse Vector Operations".
    Cost: k_i entries of v and of u read and written; none where g = 0.
    """
    if g != 0:
        columns, values = X.indices, X.data
        start, stop = entries(X, i)
        for e in range(start, stop):
            j, x = columns[e], values[e]
            v[j], u[j] = v[j] + g * x, u[j] + hg * x
