"""Algorithm 3: centred averaged stochastic gradient descent for sparse data, O(n + mk + Tk), and its unaveraged form.

The rows are never made dense. The mean x̄ enters through two numbers a step, q = x̄ · x and the projection sum z = v · x̄.
The predictors apply to raw rows: their bias is b' = b − w · x̄.
"""

from .kernels.prefetch import ahead, ahead_in_order, ahead_of, side_by_side
from .kernels.sparse import add, add_both, dot


def add_up(X, sample_weight, start, stop, xbar, total):
    """Add the rows start, …, stop − 1 to Σ_i s_i x_i, in place, and return Σ_i s_i. The paper's weights s_i are 1.

    Paper: Algorithm 3 (alg:casgd), line 2.
    Cost: O(k) a row.
    """
    for i in range(start, stop):
        ahead_in_order(X, i, xbar)
        add(xbar, sample_weight[i], X, i)  # alg:casgd, line 2
        total = total + sample_weight[i]
    return total


def centre(xbar, total):
    """Divide the sum of the rows by their number (in general by Σ_i s_i), in place: x̄. Return θ = 1 + ‖x̄‖².

    Paper: Algorithm 3 (alg:casgd), lines 2 and 3.
    Cost: O(n).
    """
    theta = 1
    for j in range(len(xbar)):
        xbar[j] = xbar[j] / total  # alg:casgd, line 2
        theta = theta + xbar[j] * xbar[j]  # alg:casgd, line 3
    return theta


def project(X, xbar, start, stop, projections):
    """Write q = x̄ · x_i for the rows start, …, stop − 1, so that a loop of many steps need not compute it in each.

    Paper: Algorithm 3 (alg:casgd), which computes q_t in step t.
    Cost: O(k) a row.
    """
    for i in range(start, stop):
        ahead_in_order(X, i, xbar)
        projections[i] = dot(xbar, X, i)


def steps(X, y, sample_weight, lam, dloss, indices, t0, omega, xbar, theta, projections, t, v, u, a, c, h, total, z, r, s):
    """Take a step for each of the drawn examples, from step t on, in the arithmetic of the given numbers.

    Parameters
    ----------
    X, y, sample_weight, lam, dloss, indices, t0, omega, t, v, u, a, c, h, total : as in Algorithm 2, predictions centred (E10)
    xbar, theta : the mean feature vector x̄, and θ = 1 + ‖x̄‖²
    projections : q for every row of X; or nothing, and q is computed where it is needed
    z : the projection sum v · x̄, eq. 13 (eqn:zDef)
    r : aθ − z, eq. 14 (eqn:bTagCenter)
    s : the sum of r_j / j, eq. 17 (eqn:sDef); in general of ω_j r_j / (j + t0)

    Returns
    -------
    t, a, c, h, total, z, r, s : as above, after the last step
    p, g : the prediction and the loss derivative of the last step; if p overflowed, the run ended there, that step undone

    Paper: Section "Centering and Translation Invariance", Algorithm 3 (alg:casgd). Its loop is printed from t = 1, after
        step 1 was done, and would divide by 0; it begins at t = 2 (E4).
    Cost: as Algorithm 2, and Σ_t k_{π_t} entries of x̄ read, or one projection a step.
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
        q = projections[i] if len(projections) else dot(xbar, X, i)  # alg:casgd, line 6
        z = g * q  # alg:casgd, line 7; eq. 13 (eqn:zDef)
        r = a * theta - z  # alg:casgd, line 8; eq. 14 (eqn:bTagCenter)
        s = omega[0] * r / (t + t0)  # alg:casgd, line 9; eq. 17 (eqn:sDef)
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
        add_both(v, g, u, h * g, X, i)  # alg:sgd, line 10; alg:asgd, line 9; eq. 9 (eqn:buDef), u takes h_{t−1}; O(k)
        a = a + g  # alg:sgd, line 11; eq. 4 (eqn:gradSum)
        c = c + omega[j] * a / (t + t0)  # alg:asgd, line 10; eq. 6 (eqn:avgBias)
        h = h + omega[j] / (t + t0)  # alg:asgd, line 11
        total = total + omega[j]
        z = z + g * q  # alg:casgd, line 16; eq. 13 (eqn:zDef)
        r = a * theta - z  # alg:casgd, line 17; eq. 14 (eqn:bTagCenter)
        s = s + omega[j] * r / (t + t0)  # alg:casgd, line 18; eq. 17 (eqn:sDef)
    return t, a, c, h, total, z, r, s, p, g


def average(lam, t, v, u, c, h, total, s, xbar):
    """Make w̄_t = −(h v − u − c x̄)/(λt) and b̄'_t = −s/(λt); in general the total weight Σω stands for t.

    Paper: eq. 19 (eqn:owCenterDef) and eq. 18 (obCenterDef).
    Cost: O(n).
    """
    w = h * v
    w -= u
    w -= c * xbar  # alg:casgd, line 20; eq. 19 (eqn:owCenterDef)
    w /= -lam * total
    return w, s / (-lam * total)  # alg:casgd, line 21; eq. 18 (obCenterDef)
