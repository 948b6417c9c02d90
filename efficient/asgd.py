"""Algorithm 2: averaged stochastic gradient descent for sparse data, O(n + Tk).

Beside the gradient sum [v, a] the loop keeps the harmonic gradient sum u, the sum c of a_j / j and the harmonic number h.
The mean of the iterates is then w̄_t = −(h v − u)/(λt) and b̄_t = −c/(λt).
"""

from .kernels.prefetch import ahead, ahead_of, side_by_side
from .kernels.sparse import add, add_both, dot


def steps(X, y, sample_weight, lam, dloss, indices, t0, omega, t, v, u, a, c, h, total):
    """Take a step for each of the drawn examples, from step t on, in the arithmetic of the given numbers.

    Parameters
    ----------
    X, y, sample_weight, lam, dloss, indices, t0, t, v, a : as in Algorithm 1
    omega : the weight ω_j of each of these iterates in the mean; the paper has ω = 1
    u : the harmonic gradient sum, eq. 9 (eqn:buDef, whose terms carry the index i throughout, E3); updated in place
    c : the sum of a_j / j, eq. 6 (eqn:avgBias); in general of ω_j a_j / (j + t0)
    h : the harmonic number h_t; in general the sum of ω_j / (j + t0)
    total : the sum of ω_j; for the paper's mean that is t

    Returns
    -------
    t, a, c, h, total : as above, after the last step
    p, g : the prediction and the loss derivative of the last step; if p overflowed, the run ended there, that step undone

    Paper: Section "Averaged Stochastic Gradient Descent", Algorithm 2 (alg:asgd).
    Cost: Σ_t k_{π_t} entries read by the dot products, and twice as many read and written by the updates (E7).
    """
    side_by_side(v, u)
    first = 0
    if t == 0:
        t, i, first = t + 1, indices[0], 1
        p = 0  # = w_0 · x + b_0
        g = sample_weight[i] * dloss(p, y[i])  # alg:sgd, line 3
        add(v, g, X, i)  # alg:sgd, line 4
        a = g  # alg:sgd, line 5
        c = omega[0] * a / (t + t0)  # alg:asgd, line 5; eq. 6 (eqn:avgBias)
        h = omega[0] / (t + t0)  # alg:asgd, line 6: the first harmonic number
        total = omega[0]
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
        add_both(v, g, u, h * g, X, i)  # alg:sgd, line 10; alg:asgd, line 9; eq. 9 (eqn:buDef), u takes h_{t−1}; O(k)
        a = a + g  # alg:sgd, line 11; eq. 4 (eqn:gradSum)
        c = c + omega[j] * a / (t + t0)  # alg:asgd, line 10; eq. 6 (eqn:avgBias)
        h = h + omega[j] / (t + t0)  # alg:asgd, line 11
        total = total + omega[j]
    return t, a, c, h, total, p, g


def average(lam, t, v, u, c, h, total):
    """Make w̄_t = −(h v − u)/(λt) and b̄_t = −c/(λt); in general the total weight Σω stands for t.

    Paper: eq. 10 (eqn:owDef) and eq. 7 (eqn:obDef).
    Cost: O(n).
    """
    w = h * v
    w -= u  # alg:asgd, line 13; eq. 10 (eqn:owDef), which is eq. 8 (eqn:sparseAverage) with u for its sum
    w /= -lam * total
    return w, c / (-lam * total)  # alg:asgd, line 14; eq. 7 (eqn:obDef)
