"""Centred stochastic gradient descent for sparse data, O(n + mk + Tk): Algorithm 3 without its averages.

The paper mentions it ("a centered version of SGD") and prints no pseudocode; it is Algorithm 1 and the lines of Algorithm 3
that centre.
"""

from .kernels.prefetch import ahead, ahead_of
from .kernels.sparse import add, dot


def steps(X, y, sample_weight, lam, dloss, indices, t0, xbar, theta, projections, t, v, a, z, r):
    """Take a step for each of the drawn examples, from step t on, in the arithmetic of the given numbers.

    Parameters
    ----------
    X, y, sample_weight, lam, dloss, indices, t0, t, v, a : as in Algorithm 1, the predictions in v now being centred ones (E10)
    xbar, theta, projections, z, r : as in Algorithm 3

    Returns
    -------
    t, a, z, r : as above, after the last step
    p, g : the prediction and the loss derivative of the last step; if p overflowed, the run ended there, that step undone

    Paper: Section "Centering and Translation Invariance", eqs. 12 to 15.
    Cost: as Algorithm 1, and Σ_t k_{π_t} entries of x̄ read, or one projection a step.
    """
    first = 0
    if t == 0:
        t, i, first = t + 1, indices[0], 1
        p = 0  # = w_0 · x + b_0
        g = sample_weight[i] * dloss(p, y[i])  # alg:sgd, line 3
        add(v, g, X, i)  # alg:sgd, line 4
        a = g  # alg:sgd, line 5
        q = projections[i] if len(projections) else dot(xbar, X, i)  # alg:casgd, line 6
        z = g * q  # alg:casgd, line 7; eq. 13 (eqn:zDef)
        r = a * theta - z  # alg:casgd, line 8; eq. 14 (eqn:bTagCenter)
    for j in range(first, len(indices)):  # alg:sgd, line 6
        ahead(X, indices, j, v)
        ahead_of(y, indices, j)
        ahead_of(projections, indices, j)
        i = indices[j]
        t = t + 1
        d = dot(v, X, i)  # alg:sgd, line 7; O(k)
        q = projections[i] if len(projections) else dot(xbar, X, i)  # alg:casgd, line 12; O(1) or O(k)
        p = -(d + r - a * q) / (lam * (t - 1 + t0))  # alg:casgd, line 13; eq. 15 (eqn:pCenterDef): w_{t−1} · x + b'_{t−1}
        g = sample_weight[i] * dloss(p, y[i])  # alg:sgd, line 9
        if p - p != 0:  # overflow: p is infinite or NaN
            break
        add(v, g, X, i)  # alg:sgd, line 10; eq. 4 (eqn:gradSum); O(k)
        a = a + g  # alg:sgd, line 11; eq. 4 (eqn:gradSum)
        z = z + g * q  # alg:casgd, line 16; eq. 13 (eqn:zDef)
        r = a * theta - z  # alg:casgd, line 17; eq. 14 (eqn:bTagCenter)
    return t, a, z, r, p, g


def last(lam, t, v, a, r, xbar):
    """Make w_t = −(v − a x̄)/(λt) and b'_t = −r/(λt); in general t + t0 stands for t.

    Paper: eq. 12 (eqn:wCenter) and eq. 14 (eqn:bTagCenter), which gives b' at every step, not only at the end (E8).
    Cost: O(n).
    """
    w = a * xbar  # eq. 12 (eqn:wCenter), times −1
    w -= v
    w /= lam * t
    return w, r / (-lam * t)  # eq. 14 (eqn:bTagCenter)
