"""Known wrong twins: implementations with one fault each, as they occur in public code, and the sentence that names it.

`train` is the paper's recurrences on dense rows, a third implementation beside `reference` and `efficient`. Without a fault
it is right; every fault changes one line of it. The uncentred algorithms are the centred ones with x̄ = 0.
"""

import numpy as np
import scipy.sparse as sp

from reference.arithmetic import number_type
from reference.losses import get_loss

FAULTS = {
    "loop from 1": "the loop starts at t = 1, after step 1 was done, so that the first example counts twice",
    "u with h_t": "u is updated after h has grown: it must take h_{t-1}",
    "c with a/(t-1)": "c adds a/(t-1) where it must add a/t",
    "w_0 in the mean": "the average starts at w_0 = 0, so that it divides by T + 1",
    "theta without 1": "theta is the squared norm of the mean, without the 1",
    "z not updated": "z keeps its first value",
    "s without its first term": "s starts at 0 where it must start at r_1",
    "c without its first term": "c starts at 0 where it must start at a_1",
    "explicit bias": "the bias of the centred rows, b, is returned for raw rows, which need b'",
    "centred last predictor without its centre": "the last centred predictor is recovered by the uncentred formula",
    "tie at the kink": "the tie at the kink goes the other way",
    "bias not regularised": "the bias is not shrunk: it is not regularised",
    "damped bias": "the bias takes steps of a hundredth of the size, as some do for sparse rows",
    "repeated entries lost": "of the entries that a row stores twice for a column, only the last one counts",
    "indices off by one": "the indices are taken for 1-based ones",
    "cyclic order": "the drawn indices are ignored: the rows are visited in order",
    "mean of stored entries": "the mean of a column is taken over its stored entries only",
    "mean of the draws": "the mean is taken over the drawn examples, not over the training set",
    "stored entries centred": "only the stored entries of a row are centred, its zeros stay zero",
    "prediction not centred": "the prediction lacks the term -a q, so that it is made on the raw row",
    "gradient at the average": "the derivative is taken at the average predictor instead of the last",
    "t restarts": "the step number starts again half-way",
    "step 1/(λ(t+1))": "the steps are 1/(λ(t+1))",
    "λ doubled": "the objective is read as λ‖w‖², without the half",
    "last for average": "the last predictor is returned for the average",
    "bias not averaged": "the weights are averaged and the bias is not",
    "moving average": "the average is an exponential moving average",
    "single precision": "the sums are kept in float32",
}
"""What each fault is called, and the sentence that tells its author what is wrong."""


def train(X, y, loss, lam, indices, average, centred, fault=None):
    """The paper's recurrences, with one fault (a key of FAULTS) or none; works in float64 and in exact arithmetic."""
    number = number_type(lam)
    rows = _dense_rows(X, number, add_up=fault != "repeated entries lost")
    m = len(rows)
    indices = list(indices)
    if fault == "indices off by one":
        indices = [(i - 1) % m for i in indices]
    if fault == "cyclic order":
        indices = [t % m for t in range(len(indices))]
    if fault == "λ doubled":
        lam = 2 * lam
    y = [number(label) for label in y]
    dloss = _derivative(loss, number, other_tie=fault == "tie at the kink")

    xbar = 0 * rows[0]
    if centred:
        xbar = rows.sum(axis=0) / number(m)
        if fault == "mean of stored entries":
            xbar = rows.sum(axis=0) / np.array([number(max(1, count)) for count in (rows != 0).sum(axis=0)])
        if fault == "mean of the draws":
            xbar = rows[indices].sum(axis=0) / number(len(indices))
        if fault == "stored entries centred":
            rows, xbar = np.where(rows != 0, rows - xbar, rows), 0 * xbar
    theta = (0 if fault == "theta without 1" else 1) + xbar @ xbar

    zero = number(0)
    v, u = 0 * rows[0], 0 * rows[0]
    a = c = h = z = r = s = unshrunk = moving_b = zero
    moving_w = 0 * rows[0]
    steps = list(enumerate(indices, start=1))
    if fault == "loop from 1":
        steps.insert(0, (1, indices[0]))
    if fault == "t restarts":
        steps = [((t - 1) % (len(steps) // 2 + 1) + 1, i) for t, i in steps]
    for t, i in steps:
        t = number(t)
        x = rows[i]
        q = xbar @ x
        if t == 1:
            p = zero
        elif fault == "gradient at the average":
            p = -((h * v - u - c * xbar) @ x + s) / (lam * (t - 1))
        elif fault == "prediction not centred":
            p = -(v @ x + r) / (lam * (t - 1))
        elif fault == "step 1/(λ(t+1))":
            p = -(v @ x + r - a * q) / (lam * t)
        else:
            p = -(v @ x + r - a * q) / (lam * (t - 1))
        g = dloss(p, y[i])
        v = v + g * x
        a = a + g
        unshrunk = unshrunk + g / t
        u = u + (h + 1 / t if fault == "u with h_t" else h) * g * x
        h = h + 1 / t
        if not (t == 1 and fault == "c without its first term"):
            c = c + (a / (t - 1) if fault == "c with a/(t-1)" and t > 1 else a / t)
        if not (t > 1 and fault == "z not updated"):
            z = z + g * q
        r = a * theta - z
        if fault == "bias not regularised":
            r = t * unshrunk + a * (theta - 1) - z
        if fault == "damped bias":
            r = a / 100 + a * (theta - 1) - z
        if not (t == 1 and fault == "s without its first term"):
            s = s + r / t
        moving_w = (moving_w + -(v - a * xbar) / (lam * t)) / 2
        moving_b = (moving_b + -r / (lam * t)) / 2
        if fault == "single precision" and number is np.float64:
            v, u, a, c, h, z, r, s = (np.float32(part).astype(np.float64) for part in (v, u, a, c, h, z, r, s))

    T = number(len(steps))
    if fault == "t restarts":
        T = t
    if fault == "step 1/(λ(t+1))":
        T = T + 1
    last_w, last_b = -(v - a * xbar) / (lam * T), -r / (lam * T)
    if fault == "centred last predictor without its centre":
        last_w, last_b = -v / (lam * T), -a / (lam * T)
    if fault == "explicit bias":
        last_b = last_b + last_w @ xbar
    if not average or fault == "last for average":
        return last_w, last_b
    if fault == "moving average":
        return moving_w, moving_b
    if fault == "w_0 in the mean":
        T = T + 1
    w, b = -(h * v - u - c * xbar) / (lam * T), -s / (lam * T)
    if fault == "explicit bias":
        b = b + w @ xbar
    return w, last_b if fault == "bias not averaged" else b


def _dense_rows(X, number, add_up: bool) -> np.ndarray:
    if not sp.issparse(X):
        return np.array([[number(value) for value in row] for row in np.asarray(X)], dtype=_dtype(number)).reshape(np.shape(X))
    X = sp.csr_array(X)
    rows = np.full(X.shape, number(0), dtype=_dtype(number))
    for i in range(X.shape[0]):
        for e in range(X.indptr[i], X.indptr[i + 1]):
            j = X.indices[e]
            rows[i, j] = number(X.data[e]) + (rows[i, j] if add_up else 0)
    return rows


def _dtype(number):
    return np.float64 if number is np.float64 else object


def _derivative(loss, number, other_tie: bool):
    loss = get_loss(loss)
    if number is not np.float64:
        loss = loss.exact or loss
    if not other_tie:
        return loss.derivative
    # at the kink itself, take the element of the subdifferential that Table 1 does not
    beyond = {"absolute": lambda p, y: 1 if p == y else None, "hinge": lambda p, y: 0 if p * y == 1 else None}

    def derivative(p, y):
        at_kink = beyond[loss.name](p, y) if loss.name in beyond else None
        return loss.derivative(p, y) if at_kink is None else at_kink

    return derivative
