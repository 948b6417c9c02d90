"""Algorithm 1: stochastic gradient descent for sparse data, O(n + Tk).

The loop keeps the gradient sum [v, a] in place of [w, b]; by Lemma 1, w_t = −v_t/(λt) and b_t = −a_t/(λt).
"""

from .kernels.prefetch import ahead, ahead_of
from .kernels.sparse import add, dot


def steps(X, y, sample_weight, lam, dloss, indices, t0, t, v, a):
    """Take a step for each of the drawn examples, from step t on, in the arithmetic of the given numbers.

    Parameters
    ----------
    X, y, sample_weight : Rows, their labels, and the weight of each row's loss; the paper has weight 1
    lam : λ
    dloss : callable (p, y) -> ℓ'(p, y)
    indices : the drawn examples π_{t+1}, …, at least one
    t0 : the steps have the size 1/(λ(t + t0)); the paper has t0 = 0
    t : the number of steps taken before
    v, a : the gradient sum [v_t, a_t], eq. 4 (eqn:gradSum); v is updated in place

    Returns
    -------
    t, a : as above, after the last step
    p, g : the prediction and the loss derivative of the last step; if p overflowed, the run ended there, that step undone

    Paper: Section "Stochastic Gradient Descent", Algorithm 1 (alg:sgd), whose head means {(x_i, y_i)}, i = 1..m (E2).
    Cost: Σ_t k_{π_t} entries read by the dot products, and as many read and written by the updates (E7).
    """
    first = 0
    if t == 0:
        t, i, first = t + 1, indices[0], 1
        p = 0  # = w_0 · x + b_0
        g = sample_weight[i] * dloss(p, y[i])  # alg:sgd, line 3
        add(v, g, X, i)  # alg:sgd, line 4
        a = g  # alg:sgd, line 5
    for j in range(first, len(indices)):  # alg:sgd, line 6
        ahead(X, indices, j, v)
        ahead_of(y, indices, j)
        i = indices[j]
        t = t + 1
        d = dot(v, X, i)  # alg:sgd, line 7; O(k)
        p = -(d + a) / (lam * (t - 1 + t0))  # alg:sgd, line 8; Lemma 1 (lem:v): w_{t−1} · x + b_{t−1}
        g = sample_weight[i] * dloss(p, y[i])  # alg:sgd, line 9
        if p - p != 0:  # overflow: p is infinite or NaN
            break
        add(v, g, X, i)  # alg:sgd, line 10; eq. 4 (eqn:gradSum); O(k)
        a = a + g  # alg:sgd, line 11; eq. 4 (eqn:gradSum)
    return t, a, p, g


def last(lam, t, v, a):
    """Make w_t = −v/(λt) and b_t = −a/(λt); in general t + t0 stands for t.

    Paper: Lemma 1 (lem:v).
    Cost: O(n).
    """
    return v / (-lam * t), a / (-lam * t)  # alg:sgd, lines 13 and 14; Lemma 1 (lem:v)
