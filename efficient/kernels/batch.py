"""Restate Algorithms 2 and 3 for K models in one pass, O(nK + mk + TkK): a visit of a stored entry serves all models.

The models share the rows, the drawn examples and the weights, and differ in their labels, λ or t0. The loop is that of
`efficient.casgd` with a number for each model in place of one, written again for speed; `proofs.proved.batch` proves the two
equal. Rows that are not centred are the case x̄ = 0: there q = z = 0, θ = 1 and r = a, and the loop is that of Algorithm 2,
which also has the last iterates of Algorithm 1.
"""

import numpy as np

from .compiler import INLINED, register_jitable
from .prefetch import ahead, ahead_of
from .simd import read_four, read_one, write_four, write_one
from .sparse import FOUR, ONE, THREE, TWO, dot, entries

NUMBERS = ("a", "c", "h", "total", "z", "r", "s", "p", "g")
"""Numbers that the loop keeps of each model besides its vectors, in the order of its arguments."""


@register_jitable(**INLINED)
def dots(w, X, i, d):
    """Compute d_k ← v_k · x_i for all models k.

    Cost: k_i entries of each v read.
    """
    models = np.uintp(w.shape[2])
    left_over = models - models % FOUR
    for k in range(models):
        d[k] = 0
    for k in range(np.uintp(0), left_over, FOUR):
        dot_of(read_four, write_four, w, X, i, d, k)
    for k in range(left_over, models):
        dot_of(read_one, write_one, w, X, i, d, k)


@register_jitable(**INLINED)
def dot_of(read, write, w, X, i, d, k):
    """Do the same for the models read together at k, whose d is 0: four partial sums, in the order of `sparse.dot`."""
    columns, values = X.indices, X.data
    start, stop = entries(X, i)
    rest = stop - (stop - start) % FOUR
    d0 = d1 = d2 = d3 = read(d, k)
    for e in range(start, rest, FOUR):
        d0 = d0 + values[e] * read(w, columns[e], 0, k)
        d1 = d1 + values[e + ONE] * read(w, columns[e + ONE], 0, k)
        d2 = d2 + values[e + TWO] * read(w, columns[e + TWO], 0, k)
        d3 = d3 + values[e + THREE] * read(w, columns[e + THREE], 0, k)
    for e in range(rest, stop):
        d0 = d0 + values[e] * read(w, columns[e], 0, k)
    write((d0 + d1) + (d2 + d3), d, k)


@register_jitable(**INLINED)
def add_to_all(w, g, hg, X, i):
    """Update v_k ← v_k + g_k x_i and u_k ← u_k + h_k g_k x_i for all models k; where g_k = 0 that changes nothing.

    Cost: k_i entries of each v and of each u read and written; none where all g_k are 0.
    """
    models = np.uintp(w.shape[2])
    left_over = models - models % FOUR
    moves = False
    for k in range(models):
        moves = moves or g[k] != 0
    if moves:
        for k in range(np.uintp(0), left_over, FOUR):
            add_to(read_four, write_four, w, g, hg, X, i, k)
        for k in range(left_over, models):
            add_to(read_one, write_one, w, g, hg, X, i, k)


@register_jitable(**INLINED)
def add_to(read, write, w, g, hg, X, i, k):
    """Do the same for the models that are read together at k."""
    columns, values = X.indices, X.data
    start, stop = entries(X, i)
    to_v, to_u = read(g, k), read(hg, k)
    for e in range(start, stop):
        j, x = columns[e], values[e]
        v, u = read(w, j, 0, k), read(w, j, 1, k)
        write(v + to_v * x, w, j, 0, k)
        write(u + to_u * x, w, j, 1, k)


def steps(
    X, y, sample_weight, lam, dloss, indices, t0, omega, xbar, theta, projections, t, w, a, c, h, total, z, r, s, p, g, hg, d
):
    """Take a step for each of the drawn examples, from step t on, in the arithmetic of the given numbers.

    Parameters
    ----------
    X, weight, dloss, indices, omega, xbar, theta, projections, t : as in Algorithm 3, the same for all models
    y : the labels, of shape (m, K)
    lam, t0 : λ and t0 of each model
    w : v and u, of shape (n, 2, K), those of one column side by side in memory; updated in place, as all that follows
    a, c, h, total, z, r, s : as in Algorithm 3, of each model
    p, g : the predictions and the loss derivatives of the last step; if a p overflowed, the run ended there, that step undone
    hg, d : room for h g and v · x of each model

    Returns
    -------
    t : the number of steps taken, that in which a p overflowed included

    Paper: Section "Centering and Translation Invariance", Algorithm 3 (alg:casgd), for each model.
    Cost: K times that of Algorithm 3, but every row is read once. An update is made if any g_k is not 0; x̄ is read once for
        all models. Nothing is allocated.
    """
    models, first = range(len(lam)), 0
    if t == 0:
        t, i, first = t + 1, indices[0], 1
        q = projections[i] if len(projections) else dot(xbar, X, i)
        for k in models:
            p[k] = 0  # = w_0 · x + b_0
            g[k] = sample_weight[i] * dloss(p[k], y[i, k])
            hg[k] = 0  # = h_0 g
            a[k] = g[k]
            c[k] = omega[0] * a[k] / (t + t0[k])
            h[k] = omega[0] / (t + t0[k])  # the first harmonic number
            total[k] = omega[0]
            z[k] = g[k] * q
            r[k] = a[k] * theta - z[k]
            s[k] = omega[0] * r[k] / (t + t0[k])
        add_to_all(w, g, hg, X, i)
    for j in range(first, len(indices)):
        ahead(X, indices, j, w)
        ahead_of(y, indices, j)
        ahead_of(projections, indices, j)
        i = indices[j]
        t = t + 1
        dots(w, X, i, d)  # O(k) a model
        q = projections[i] if len(projections) else dot(xbar, X, i)  # O(1) or O(k)
        finite = True
        for k in models:
            p[k] = -(d[k] + r[k] - a[k] * q) / (lam[k] * (t - 1 + t0[k]))  # = w_{t−1} · x + b'_{t−1}
            finite = finite and p[k] - p[k] == 0
        if not finite:  # overflow: a p is infinite or NaN
            break
        for k in models:
            g[k] = sample_weight[i] * dloss(p[k], y[i, k])
            hg[k] = h[k] * g[k]  # u takes h_{t−1}
        add_to_all(w, g, hg, X, i)  # O(k) a model
        for k in models:
            a[k] = a[k] + g[k]
            c[k] = c[k] + omega[j] * a[k] / (t + t0[k])
            h[k] = h[k] + omega[j] / (t + t0[k])
            total[k] = total[k] + omega[j]
            z[k] = z[k] + g[k] * q
            r[k] = a[k] * theta - z[k]
            s[k] = s[k] + omega[j] * r[k] / (t + t0[k])
    return t
