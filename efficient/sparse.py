"""The paper's sparse vector operations: each touches the k stored entries of one row, never all n.

Written once, as plain Python on whatever arrays it is handed. `register_jitable` leaves a function as it is for Python
(fractions, symbols, counting arrays) and lets the compiled loops inline it (float64).
"""

from numba.extending import register_jitable


@register_jitable
def row(X, i):
    """The stored entries of x_i: their columns and their values."""
    stored = slice(X.indptr[i], X.indptr[i + 1])
    return X.indices[stored], X.data[stored]


@register_jitable
def dot(v, X, i):
    """v · x_i.

    Four partial sums, in this fixed order: the processor need not wait for one addition before it begins the next.

    Paper: Section "Sparse Vector Operations".
    Cost: k_i entries of v read.
    """
    columns, values = row(X, i)
    k = len(columns)
    d0 = d1 = d2 = d3 = 0
    fours = k - k % 4
    for e in range(0, fours, 4):
        d0 = d0 + values[e] * v[columns[e]]
        d1 = d1 + values[e + 1] * v[columns[e + 1]]
        d2 = d2 + values[e + 2] * v[columns[e + 2]]
        d3 = d3 + values[e + 3] * v[columns[e + 3]]
    for e in range(fours, k):
        d0 = d0 + values[e] * v[columns[e]]
    return (d0 + d1) + (d2 + d3)


@register_jitable
def add(v, g, X, i):
    """v ← v + g x_i.

    Paper: Section "Sparse Vector Operations".
    Cost: k_i entries of v read and written; none where g = 0.
    """
    if g != 0:
        columns, values = row(X, i)
        for e in range(len(columns)):
            j = columns[e]
            v[j] = v[j] + g * values[e]


@register_jitable
def add_both(v, g, u, hg, X, i):
    """v ← v + g x_i and u ← u + h g x_i, in one visit of the row.

    Paper: Section "Sparse Vector Operations".
    Cost: k_i entries of v and of u read and written; none where g = 0.
    """
    if g != 0:
        columns, values = row(X, i)
        for e in range(len(columns)):
            j = columns[e]
            v[j] = v[j] + g * values[e]
            u[j] = u[j] + hg * values[e]
