"""Algorithm 2: averaged stochastic gradient descent for sparse data, O(n + Tk).

Beside the gradient sum [v, a] the loop keeps the harmonic gradient sum u, the sum c of a_j / j and the harmonic number h.
The mean of the iterates is then w̄_t = −(h v − u)/(λt) and b̄_t = −c/(λt).
"""

from .sparse import add, add_both, dot


def steps(X, y, lam, dloss, indices, t, v, u, a, c, h):
    """Go on from step t with the drawn examples, in the arithmetic of the numbers that it is handed.

    Parameters
    ----------
    X, y, lam, dloss, indices, t, v, a : as in Algorithm 1
    u : the harmonic gradient sum, eq. 9 (eqn:buDef, whose terms carry the index i throughout, E3); updated in place
    c : the sum of a_j / j, eq. 6 (eqn:avgBias)
    h : the harmonic number h_t

    Returns
    -------
    t, a, c, h : as above, after the last step
    p, g : the prediction and the loss derivative of the last step; if p overflowed, the run ended there, that step undone

    Paper: Section "Averaged Stochastic Gradient Descent", Algorithm 2 (alg:asgd).
    Cost: Σ_t k_{π_t} entries read by the dot products, and twice as many read and written by the updates (E7).
    """
    first = 0
    if t == 0:
        t, i, first = t + 1, indices[0], 1
        p = 0
        g = dloss(p, y[i])
        add(v, g, X, i)
        a = g
        c = a
        h = 1  # the first harmonic number
    for i in indices[first:]:
        t = t + 1
        d = dot(v, X, i)  # O(k)
        p = -(d + a) / (lam * (t - 1))  # = w_{t−1} · x + b_{t−1}
        if p - p != 0:
            break
        g = dloss(p, y[i])
        add_both(v, g, u, h * g, X, i)  # O(k); u takes h_{t−1}
        a = a + g
        c = c + a / t
        h = h + 1 / t
    return t, a, c, h, p, g


def average(lam, t, v, u, c, h):
    """w̄_t = −(h v − u)/(λt) and b̄_t = −c/(λt).

    Paper: eq. 10 (eqn:owDef) and eq. 7 (eqn:obDef).
    Cost: O(n).
    """
    w = h * v
    w -= u
    w /= -lam * t
    return w, c / (-lam * t)
