"""Known wrong twins: implementations with a fault each, as they occur in public code, and the sentence that names it.

`train` is the paper's recurrences on dense rows, a third implementation beside `reference` and `efficient`. Without a fault
it is right; every fault changes a line of it, and several can be had at once. The uncentred algorithms are the centred ones
with x̄ = 0.
"""

import math
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from reference.arithmetic import number_type
from reference.losses import get_loss

FAULTS = {
    # the data and the order
    "repeated entries lost": "of the entries that a row stores twice for a column, only the last one counts",
    "update loses repeated entries": "of the entries that a row stores twice for a column, only the last one enters the update",
    "mean loses repeated entries": "of the entries that a row stores twice for a column, only the last one enters the mean",
    "empty rows skipped": "an example without features is skipped, but the bias must take its step",
    "0/1 labels": "the label -1 is taken as 0, so that half of the examples are ignored",
    "labels swapped": "the labels -1 and +1 are swapped",
    "indices off by one": "the indices are taken for 1-based ones",
    "cyclic order": "the drawn indices are ignored: the rows are visited in order",
    "draws sorted": "the drawn indices are visited in ascending order",
    "repeated draws skipped": "an example that is drawn again is skipped",
    # the centre
    "centring forgotten": "the rows are not centred",
    "mean of stored entries": "the mean of a column is taken over its stored entries only",
    "mean of the draws": "the mean is taken over the drawn examples, not over the training set",
    "one mean for all columns": "one mean, of all entries, stands for the mean of every column",
    "stored entries centred": "only the stored entries of a row are centred, its zeros stay zero",
    "stored entries centred by one mean": "only the stored entries are centred, and all of them by one mean",
    "theta without 1": "theta is the squared norm of the mean, without the 1",
    "theta is 1": "theta is 1, without the squared norm of the mean",
    "z not updated": "z keeps its first value",
    "prediction not centred": "the prediction lacks the term -a q, so that it is made on the raw row",
    # the loss
    "tie at the kink": "the tie at the kink goes the other way",
    "zero at the kink": "the derivative of the absolute loss is 0 at the tie, where it must be -1",
    "squared loss without the half": "the squared loss is taken without its half, so that the derivative is 2(p - y)",
    "squared hinge": "the hinge is squared",
    "perceptron": "the hinge has its kink at a margin of 0, as the perceptron's loss has, not at 1",
    "cross-entropy": "the derivative of the log-loss is the one for labels 0 and 1, sigmoid(p) - y",
    # the step
    "loop from 1": "the loop starts at t = 1, after step 1 was done, so that the first example counts twice",
    "loop as printed": "the loop starts at t = 1 as printed, after step 1 was done, and divides by 0 in its first round",
    "t restarts": "the step number starts again with every pass over the data",
    "prediction over t": "the prediction is divided by λt where it must be divided by λ(t-1)",
    "gradient at the average": "the derivative is taken at the average predictor instead of the last",
    "ascent": "the step goes up the gradient, not down",
    "step 1/(λ(t+1))": "the steps are 1/(λ(t+1))",
    "step 1/(λ√t)": "the steps are 1/(λ√t)",
    "step 1/t": "the steps are 1/t, without λ",
    "λ doubled": "the objective is read as λ‖w‖², without the half",
    "λ over m": "the losses are summed where they must be averaged, so that λ acts as λ/m",
    "shrunk after the step": "the regularisation shrinks the new gradient too: it must shrink what was there before the step",
    "only stored entries shrunk": "the regularisation shrinks the weights of the drawn row's stored entries only",
    "no shrinking without a loss": "a step whose derivative is 0 is skipped, but the regularisation must shrink there too",
    "weights not regularised": "the weights are not shrunk: they are not regularised",
    "bias not regularised": "the bias is not shrunk: it is not regularised",
    "damped bias": "the bias takes steps of a hundredth of the size, as some do for sparse rows",
    "damped a": "the gradient sum a adds a hundredth of the derivative, in the bias and in the centre",
    "no bias": "there is no bias",
    "projected": "the iterates are projected onto the ball of radius 1/√λ, as in Pegasos",
    "single precision": "the sums are kept in float32",
    # the average
    "u with h_t": "u is updated after h has grown: it must take h_{t-1}",
    "c with a/(t-1)": "c adds a/(t-1) where it must add a/t",
    "c without its first term": "c starts at 0 where it must start at a_1",
    "s without its first term": "s starts at 0 where it must start at r_1",
    "sums wait for a loss": "h, c and s are not kept up in a step whose derivative is 0",
    "w_0 in the mean": "the average starts at w_0 = 0, so that it divides by T + 1",
    "mean before the step": "the average is of the predictors before each step, w_0 to w_{T-1}",
    "moving average": "the average is an exponential moving average, with decay 0.9",
    "slow moving average": "the average is an exponential moving average, with decay 0.999",
    "swapped running mean": "the two weights of the running mean are swapped, so that the newest predictor dominates",
    "average weighted by t": "the average weighs the predictor after step t by t",
    # what is returned
    "last for average": "the last predictor is returned for the average",
    "average for last": "the average is returned for the last predictor",
    "bias not averaged": "the weights are averaged and the bias is not",
    "explicit bias": "the bias of the centred rows, b, is returned for raw rows, which need b'",
    "centred last predictor without its centre": "the last centred predictor is recovered by the uncentred formula",
    "average without its centre": "the averaged weights lack the centre's part, c x̄",
    "average centred by the last weights": "b' of the average is made with the last weights where it needs the averaged ones",
}
"""What each fault is called, and the sentence that tells its author what is wrong."""


def train(X, y, loss, lam, indices, average, centred, fault=None):
    """The predictor of the paper's recurrences with a fault (a key of FAULTS), several or none: (w, b)."""
    run = trace(X, y, loss, lam, indices, average, centred, fault)
    return run.w, run.b


class Trace(NamedTuple):
    """A predictor and how it came about: the predictions, the derivatives and the labels as they were taken, for every step."""

    w: np.ndarray
    b: Any
    p: list
    g: list
    y: list


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def trace(X, y, loss, lam, indices, average, centred, fault: str | Collection[str] | None = None, nudges=()) -> Trace:
    """What `train` does, with the way there; in float64 or exact arithmetic, as λ is.

    `nudges`, one for each step, are added to the predictions: what comes of it shows how much rounding matters.
    """
    faults = {fault} if isinstance(fault, str) else set(fault or ())
    if not faults <= FAULTS.keys():
        raise ValueError(f"fault must be a key of FAULTS or several; got {sorted(faults - FAULTS.keys())}")
    number = number_type(lam)
    lam = number(lam)
    rows, last_entries, count = _dense_rows(X, number)
    m, n = rows.shape
    dloss = derivative(loss, number, faults)

    y = [number(label) for label in y]
    if "0/1 labels" in faults and get_loss(loss).binary:
        y = [max(label, number(0)) for label in y]
    if "labels swapped" in faults and get_loss(loss).binary:
        y = [-label for label in y]
    indices = [int(i) for i in indices]
    if "indices off by one" in faults:
        indices = [(i - 1) % m for i in indices]
    if "cyclic order" in faults:
        indices = [t % m for t in range(len(indices))]
    if "draws sorted" in faults:
        indices = sorted(indices)
    if "repeated draws skipped" in faults:
        indices = list(dict.fromkeys(indices))
    if "λ doubled" in faults:
        lam = 2 * lam
    if "λ over m" in faults:
        lam = lam / m
    if "repeated entries lost" in faults:
        rows = last_entries

    centred = centred and "centring forgotten" not in faults
    xbar = np.full(n, number(0), dtype=rows.dtype)
    if centred:
        xbar = (last_entries if "mean loses repeated entries" in faults else rows).sum(axis=0) / number(m)
        if "mean of stored entries" in faults:
            xbar = rows.sum(axis=0) / np.array([number(max(1, stored)) for stored in count.sum(axis=0)], dtype=rows.dtype)
        if "mean of the draws" in faults:
            xbar = rows[indices].sum(axis=0) / number(len(indices))
        if "one mean for all columns" in faults:
            xbar = np.full(n, rows.sum() / number(max(1, m * n)), dtype=rows.dtype)
        if "stored entries centred" in faults:
            rows, xbar = rows - count * xbar, 0 * xbar
        if "stored entries centred by one mean" in faults:
            rows, xbar = rows - count * (rows.sum() / number(max(1, count.sum()))), 0 * xbar
    theta = 1 + xbar @ xbar
    if centred and "theta without 1" in faults:
        theta = xbar @ xbar
    if centred and "theta is 1" in faults:
        theta = number(1)

    steps = list(enumerate(indices, start=1))
    if faults & {"loop from 1", "loop as printed"}:
        steps.insert(0, (1, indices[0]))
    if "t restarts" in faults:
        steps = [((t - 1) % m + 1, i) for t, i in steps]
    v, u, moving_w = 0 * xbar, 0 * xbar, 0 * xbar
    # `bias` is a where it makes the bias, a itself is where it subtracts x̄ from the rows; some faults part them
    a = bias = c = h = z = r = s = moving_b = number(0)
    way = Trace(v, a, [], [], [])
    for t, i in steps:
        t = number(t)
        x, added = rows[i], last_entries[i] if "update loses repeated entries" in faults else rows[i]
        q = xbar @ x
        before = number(m) if t == 1 and "t restarts" in faults else t - 1
        p = number(0)
        if before > 0 or (h > 0 and "loop as printed" in faults):
            p = -(v @ x + r - (0 if "prediction not centred" in faults else a * q)) / (lam * before)
            if "prediction over t" in faults:
                p = p * before / t
            if "gradient at the average" in faults:
                p = -((h * v - u - c * xbar) @ x + (s if centred else c)) / (lam * before)
        if len(nudges):
            p = p + nudges[len(way.p)]
        g = dloss(p, y[i])
        if "empty rows skipped" in faults and not count[i].any():
            g = number(0)
        if "ascent" in faults:
            g = -g
        for values, value in zip((way.p, way.g, way.y), (p, g, y[i]), strict=True):
            values.append(value)

        # w_t = (1 − pace/t) w_{t−1} − push/(λt) x: the sums −λt w_t keep (t − pace)/(t − 1) of themselves, all if pace is 1
        pace = number(1)
        if "step 1/(λ(t+1))" in faults:
            pace = t / (t + 1)
        if "step 1/(λ√t)" in faults:
            pace = number(math.sqrt(t))
        if "step 1/t" in faults:
            pace = lam
        push = pace * g * (1 - 1 / t if "shrunk after the step" in faults else 1)
        keep_w = keep_b = (t - pace) / before if before > 0 else number(1)
        unshrunk = t / before if before > 0 else number(1)
        if "no shrinking without a loss" in faults and g == 0:
            keep_w = keep_b = unshrunk
        if "weights not regularised" in faults:
            keep_w = unshrunk
        if "bias not regularised" in faults:
            keep_b = unshrunk
        keep_v = keep_w
        if "only stored entries shrunk" in faults and not centred:
            keep_v = np.where(count[i] > 0, keep_w, unshrunk)
        dv, da, dbias = (keep_v - 1) * v + push * added, (keep_w - 1) * a + push, (keep_b - 1) * bias + push
        if "damped bias" in faults:
            dbias = (keep_b - 1) * bias + push / 100
        if "damped a" in faults:
            da = dbias = push / 100
        if "no bias" in faults:
            dbias = number(0)
        if "projected" in faults:
            f = _onto_ball(v + dv - (a + da) * xbar, bias + dbias, lam, t, number)
            dv, da, dbias = f * (v + dv) - v, f * (a + da) - a, f * (bias + dbias) - bias

        v, a, bias = v + dv, a + da, bias + dbias
        if not (t > 1 and "z not updated" in faults):
            z = z + dv @ xbar
        r = bias + a * (theta - 1) - z
        if "sums wait for a loss" in faults and g == 0:
            continue
        u = u + (h + 1 / t if "u with h_t" in faults else h) * dv
        h = h + 1 / t
        if not (t == 1 and "c without its first term" in faults):
            c = c + (a if centred else bias) / (t - 1 if t > 1 and "c with a/(t-1)" in faults else t)
        if not (t == 1 and "s without its first term" in faults):
            s = s + r / t
        if "single precision" in faults and number is np.float64:
            v, u = v.astype(np.float32).astype(np.float64), u.astype(np.float32).astype(np.float64)
            a, bias, c, h, z, r, s = (np.float64(np.float32(part)) for part in (a, bias, c, h, z, r, s))
        rate = number(1)
        if t > 1 and "moving average" in faults:
            rate = rate / 10
        if t > 1 and "slow moving average" in faults:
            rate = rate / 1000
        if "swapped running mean" in faults and t > 1:
            rate = (t - 1) / t
        if "average weighted by t" in faults:
            rate = 2 / (t + 1)
        moving_w = moving_w + rate * (-(v - a * xbar) / (lam * t) - moving_w)
        moving_b = moving_b + rate * (-r / (lam * t) - moving_b)

    T = number(len(indices))
    last_w, last_b = -(v - a * xbar) / (lam * t), -r / (lam * t)
    w, b = -(h * v - u - c * xbar) / (lam * T), -(s if centred else c) / (lam * T)
    if "average without its centre" in faults:
        w = -(h * v - u) / (lam * T)
    if "w_0 in the mean" in faults:
        w, b = w * T / (T + 1), b * T / (T + 1)
    if "mean before the step" in faults:
        w, b = w - last_w / T, b - last_b / T
    if faults & {"moving average", "slow moving average", "swapped running mean", "average weighted by t"}:
        w, b = moving_w, moving_b
    if "average centred by the last weights" in faults:
        b = b + (w - last_w) @ xbar
    if "bias not averaged" in faults:
        b = last_b
    if "centred last predictor without its centre" in faults and not average:
        last_w, last_b = -v / (lam * t), -a / (lam * t)
    if (average and "last for average" in faults) or (not average and "average for last" not in faults):
        w, b = last_w, last_b
    if "explicit bias" in faults:
        b = b + w @ xbar
    return way._replace(w=w, b=b)


def _onto_ball(w, b, lam, t, number):
    """The factor that brings the predictor −[w, b]/(λt) into the ball of radius 1/√λ."""
    norm = math.sqrt((w @ w + b * b) / lam) / t
    return number(1 if norm <= 1 else 1 / norm)


def _dense_rows(X, number) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rows, whose repeated entries add up; the rows if only the last of them counts; how many entries are stored where."""
    entries: Iterable[tuple]
    if sp.issparse(X):
        X = sp.csr_array(X)
        entries = zip(np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), X.indices, X.data, strict=True)
    else:
        X = np.asarray(X)
        entries = ((*place, value) for place, value in np.ndenumerate(X))
    rows = np.full(X.shape, number(0), dtype=np.float64 if number is np.float64 else object)
    last_entries, count = rows.copy(), np.zeros(X.shape, dtype=int)
    for i, j, value in entries:
        last_entries[i, j] = number(value)
        rows[i, j] = rows[i, j] + last_entries[i, j]
        count[i, j] += 1
    return rows, last_entries, count


WRONG_DERIVATIVES = {
    "tie at the kink": {
        "absolute": lambda p, y, right: 1 if p == y else right(p, y),
        "hinge": lambda p, y, right: 0 if p * y == 1 else right(p, y),
    },
    "zero at the kink": {"absolute": lambda p, y, right: 0 if p == y else right(p, y)},
    "squared loss without the half": {"squared": lambda p, y, right: 2 * right(p, y)},
    "squared hinge": {"hinge": lambda p, y, right: 2 * max(1 - p * y, 0) * right(p, y)},
    "perceptron": {"hinge": lambda p, y, right: right(p, y) if p * y <= 0 else 0},
    "cross-entropy": {"log": lambda p, y, right: right(p, -1) - y},
}
"""The faults of the loss: for each loss that has it, the wrong derivative in terms of the right one."""


def derivative(loss, number, faults: Collection[str] = ()):
    """ℓ' in the arithmetic of `number`, with those of the faults that are of this loss."""
    loss = get_loss(loss)
    if number is not np.float64:
        loss = loss.exact or loss
    right = loss.derivative
    for fault in WRONG_DERIVATIVES:
        if fault in faults and loss.name in WRONG_DERIVATIVES[fault]:
            right = _wrong(WRONG_DERIVATIVES[fault][loss.name], right)
    return right


def _wrong(formula, right):
    return lambda p, y: formula(p, y, right)
