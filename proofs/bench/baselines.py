"""Lower bounds from memory traffic (the floors), and naive baselines: Algorithm 2 as one would write it at first.

A floor moves the memory that Algorithm 2 has to move, with the same hints, and computes nothing of it: it gathers the
state of a row, then writes it. Two visits, since a row's dot product must be complete before its first write. It writes in
every step; with the hinge loss a step whose ℓ' is 0 writes nothing, so that a loop may take less.
"""

import numpy as np

from efficient.kernels.prefetch import ahead
from efficient.kernels.simd import read_four, write_four
from efficient.kernels.sparse import FOUR, ONE, THREE, TWO, entries


def visit_twice(X, indices, state, v):
    """Read v, then write v and u, in the columns of every drawn row; `state` holds them side by side, v is its first column."""
    columns, values = X.indices, X.data
    total = 0.0
    for j in range(len(indices)):
        ahead(X, indices, j, v)
        start, stop = entries(X, indices[j])
        rest = stop - (stop - start) % FOUR
        d0 = d1 = d2 = d3 = 0.0
        for e in range(start, rest, FOUR):
            d0 = d0 + state[columns[e], 0]
            d1 = d1 + state[columns[e + ONE], 0]
            d2 = d2 + state[columns[e + TWO], 0]
            d3 = d3 + state[columns[e + THREE], 0]
        for e in range(rest, stop):
            d0 = d0 + state[columns[e], 0]
        total = (d0 + d1) + (d2 + d3)
        for e in range(start, stop):
            state[columns[e], 0], state[columns[e], 1] = total, values[e]
    return total


def visit_all_twice(X, indices, w, total):
    """Do the same for the models of w, of shape (n, 2, K), K being a multiple of four; `total` holds a number of each."""
    columns, models = X.indices, np.uintp(w.shape[2])
    for j in range(len(indices)):
        ahead(X, indices, j, w)
        start, stop = entries(X, indices[j])
        rest = stop - (stop - start) % FOUR
        for k in range(np.uintp(0), models, FOUR):
            d0 = d1 = d2 = d3 = read_four(total, k)
            for e in range(start, rest, FOUR):
                d0 = d0 + read_four(w, columns[e], 0, k)
                d1 = d1 + read_four(w, columns[e + ONE], 0, k)
                d2 = d2 + read_four(w, columns[e + TWO], 0, k)
                d3 = d3 + read_four(w, columns[e + THREE], 0, k)
            for e in range(rest, stop):
                d0 = d0 + read_four(w, columns[e], 0, k)
            write_four((d0 + d1) + (d2 + d3), total, k)
        for k in range(np.uintp(0), models, FOUR):
            d = read_four(total, k)
            for e in range(start, stop):
                write_four(d, w, columns[e], 0, k)
                write_four(d, w, columns[e], 1, k)


def plain_asgd(data, columns, starts, y, lam, dloss, order, v, u):
    """Run Algorithm 2 as a textbook would compile it: signed indices, one running sum, v and u apart, no hints."""
    a = c = h = 0.0
    for step in range(len(order)):
        t = step + 1
        i = order[step]
        d = 0.0
        for e in range(starts[i], starts[i + 1]):
            d += data[e] * v[columns[e]]
        p = 0.0 if t == 1 else -(d + a) / (lam * (t - 1))
        g = dloss(p, y[i])
        for e in range(starts[i], starts[i + 1]):
            v[columns[e]] += g * data[e]
            u[columns[e]] += h * g * data[e]
        a += g
        c += a / t
        h += 1 / t
    return c, h


def numpy_asgd(data, columns, starts, y, lam, dloss, order, v, u):
    """Run Algorithm 2 with one NumPy call for each operation on a row, as one would write it without a compiler."""
    a = c = h = 0.0
    for t, i in enumerate(order, start=1):
        stored = slice(starts[i], starts[i + 1])
        place, x = columns[stored], data[stored]
        p = 0.0 if t == 1 else -(np.dot(v[place], x) + a) / (lam * (t - 1))
        g = dloss(p, y[i])
        v[place] += g * x
        u[place] += h * g * x
        a += g
        c += a / t
        h += 1 / t
    return c, h
