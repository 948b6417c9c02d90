"""Known faults, as they occur in public code: each a small patch of one plain program, with the sentence that names it.

`train` is the paper's recurrences on dense rows, a third implementation beside `reference` and `efficient`. Without a fault
it is right. A fault changes what one stage of it has just computed; several faults can be had at once. The uncentred
algorithms are the centred ones with x̄ = 0.
"""

import math
from collections.abc import Callable, Collection, Iterable
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from reference.arithmetic import number_type
from reference.losses import get_loss

FAULTS: dict[str, str] = {}
"""Name of each fault, and the sentence that tells its author what is wrong; filled below."""

_PATCHES: list[tuple[str, str, Callable[[SimpleNamespace], object]]] = []
"""Fault, the stage after which it acts, and the patch. Patches of one stage act in the order of this list."""


class Trace(NamedTuple):
    """Predictor and its history: the predictions, the derivatives and the labels as they were taken, for every step."""

    w: np.ndarray
    b: Any
    p: list
    g: list
    y: list


def train(X, y, loss, lam, indices, average, centred, fault=None):
    """Predictor of the paper's recurrences with a fault (a key of FAULTS), several or none: (w, b)."""
    run = trace(X, y, loss, lam, indices, average, centred, fault)
    return run.w, run.b


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def trace(X, y, loss, lam, indices, average, centred, fault: str | Collection[str] | None = None, nudges=()) -> Trace:
    """Run `train` and keep its history; in float64 or exact arithmetic, as λ is.

    `nudges`, one for each step, are added to the predictions: their effect shows how much rounding matters.
    """
    faults = {fault} if isinstance(fault, str) else set(fault or ())
    if not faults <= FAULTS.keys():
        raise ValueError(f"fault must be a key of FAULTS or several; got {sorted(faults - FAULTS.keys())}")

    patches: dict[str, list] = {}
    for name, stage, change in _PATCHES:
        if name in faults:
            patches.setdefault(stage, []).append(change)

    def patch(stage: str) -> None:
        for change in patches.get(stage, ()):
            change(s)

    number = number_type(lam)
    s = SimpleNamespace(number=number, lam=number(lam), average=average, centred=centred, binary=get_loss(loss).binary)
    s.dloss = derivative(loss, number, faults)
    _prepare(s, X, y, indices, patch)
    for t, i in s.steps:
        _step(s, t, i, nudges, patch)
    _recover(s, patch)
    return Trace(s.w, s.b, s.ps, s.gs, s.ys)


def _prepare(s, X, y, indices, patch) -> None:
    """Rows, labels, draws, x̄ and θ, and the sums before the first step."""
    number = s.number
    s.rows, s.last_entries, s.count = _dense_rows(X, number)
    s.m, s.n = s.rows.shape
    s.y, s.indices = [number(label) for label in y], [int(i) for i in indices]
    patch("data")
    s.averaged = s.rows
    patch("rows")
    s.xbar = np.full(s.n, number(0), dtype=s.rows.dtype)
    if s.centred:
        s.xbar = s.averaged.sum(axis=0) / number(s.m)
        patch("mean")
    s.theta = 1 + s.xbar @ s.xbar
    if s.centred:
        patch("theta")
    s.steps = list(enumerate(s.indices, start=1))
    s.again = s.divides_by_0 = False
    patch("loop")
    if s.again:
        s.steps.insert(0, (1, s.indices[0]))
    patch("steps")
    s.v, s.u, s.moving_w = 0 * s.xbar, 0 * s.xbar, 0 * s.xbar
    # `bias` is a where it makes the bias, a itself is where it subtracts x̄ from the rows; some faults part them
    s.a = s.bias = s.c = s.h = s.z = s.r = s.s = s.moving_b = number(0)
    s.ps, s.gs, s.ys = [], [], []


def _step(s, t, i, nudges, patch) -> None:
    """Predict, differentiate, and bring all sums from t − 1 to t."""
    number = s.number
    s.i, s.before, s.t = i, t - 1, number(t)
    s.x = s.added = s.rows[i]
    patch("step")
    s.q = s.xbar @ s.x
    s.aq, s.p = s.a * s.q, number(0)
    if s.before > 0 or (s.h > 0 and s.divides_by_0):
        patch("centred prediction")
        s.p = -(s.v @ s.x + s.r - s.aq) / (s.lam * s.before)
        patch("prediction")
    if len(nudges):
        s.p = s.p + nudges[len(s.ps)]
    s.g = s.dloss(s.p, s.y[i])
    patch("derivative")
    for values, value in zip((s.ps, s.gs, s.ys), (s.p, s.g, s.y[i]), strict=True):
        values.append(value)

    # w_t = (1 − pace/t) w_{t−1} − push/(λt) x: the sums −λt w_t keep (t − pace)/(t − 1) of themselves, all if pace is 1
    s.pace = number(1)
    patch("pace")
    s.push = s.pace * s.g
    patch("push")
    s.keep_w = s.keep_b = (s.t - s.pace) / s.before if s.before > 0 else number(1)
    s.unshrunk = s.t / s.before if s.before > 0 else number(1)
    patch("keep")
    s.keep_v = s.keep_w
    patch("keep v")
    s.dv = (s.keep_v - 1) * s.v + s.push * s.added
    s.da, s.dbias = (s.keep_w - 1) * s.a + s.push, (s.keep_b - 1) * s.bias + s.push
    patch("changes")
    s.v, s.a, s.bias, s.dz = s.v + s.dv, s.a + s.da, s.bias + s.dbias, s.dv @ s.xbar
    patch("z")
    s.z = s.z + s.dz
    s.r = s.bias + s.a * (s.theta - 1) - s.z
    s.waits = False
    patch("sums wait")
    if s.waits:
        return
    _average(s, patch)


def _average(s, patch) -> None:
    """Bring u, h, c and s, and the running averages that some take for the mean, to step t."""
    s.h_u, s.c_term, s.s_term = s.h, (s.a if s.centred else s.bias) / s.t, s.r / s.t
    patch("terms")
    s.u, s.h = s.u + s.h_u * s.dv, s.h + 1 / s.t
    s.c, s.s = s.c + s.c_term, s.s + s.s_term
    patch("sums")
    s.rate = s.number(1)
    patch("rate")
    s.moving_w = s.moving_w + s.rate * (-(s.v - s.a * s.xbar) / (s.lam * s.t) - s.moving_w)
    s.moving_b = s.moving_b + s.rate * (-s.r / (s.lam * s.t) - s.moving_b)


def _recover(s, patch) -> None:
    """(w, b) for raw rows, from the sums."""
    s.T = s.number(len(s.indices))
    s.last_w, s.last_b = -(s.v - s.a * s.xbar) / (s.lam * s.t), -s.r / (s.lam * s.t)
    s.w = -(s.h * s.v - s.u - s.c * s.xbar) / (s.lam * s.T)
    s.b = -(s.s if s.centred else s.c) / (s.lam * s.T)
    for stage in ("averaged weights", "average", "averaged bias", "last bias", "last"):
        patch(stage)
    s.chosen = s.average
    patch("choice")
    if not s.chosen:
        s.w, s.b = s.last_w, s.last_b
    patch("result")


def _dense_rows(X, number) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows whose repeated entries add up; rows of which only the last entry counts; number of entries stored where."""
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


def _onto_ball(s):
    """Factor that brings the predictor −[w, b]/(λt) of after this step into the ball of radius 1/√λ."""
    w, b = s.v + s.dv - (s.a + s.da) * s.xbar, s.bias + s.dbias
    norm = math.sqrt((w @ w + b * b) / s.lam) / s.t
    return s.number(1 if norm <= 1 else 1 / norm)


def _single(name: str, s):
    """Value of a sum in single precision, unless the run is exact."""
    value = getattr(s, name)
    return value if s.number is not np.float64 else value.astype(np.float32).astype(np.float64)


def _after_first(rate, s):
    """Rate of a running average from its second step on."""
    return rate(s) if s.t > 1 else s.rate


def _fault(name: str, sentence: str, stage: str, **changes: Callable[[SimpleNamespace], Any]) -> None:
    """Add a known fault that changes some numbers of a stage, each by a function of them all."""
    FAULTS[name] = sentence
    _also(name, stage, **changes)


def _also(name: str, stage: str, **changes: Callable[[SimpleNamespace], Any]) -> None:
    """Let a fault change another stage as well."""
    _PATCHES.append((name, stage, lambda s: vars(s).update({number: formula(s) for number, formula in changes.items()})))


# fmt: off
# the data and the order
_fault("repeated entries lost", "of the entries that a row stores twice for a column, only the last one counts",
       "data", rows=lambda s: s.last_entries)
_fault("update loses repeated entries",
       "of the entries that a row stores twice for a column, only the last one enters the update",
       "step", added=lambda s: s.last_entries[s.i])
_fault("mean loses repeated entries", "of the entries that a row stores twice for a column, only the last one enters the mean",
       "rows", averaged=lambda s: s.last_entries)
_fault("empty rows skipped", "an example without features is skipped, but the bias must take its step",
       "derivative", g=lambda s: s.g if s.count[s.i].any() else s.number(0))
_fault("0/1 labels", "the label -1 is taken as 0, so that half of the examples are ignored",
       "data", y=lambda s: [max(label, s.number(0)) for label in s.y] if s.binary else s.y)
_fault("labels swapped", "the labels -1 and +1 are swapped", "data", y=lambda s: [-label for label in s.y] if s.binary else s.y)
_fault("indices off by one", "the indices are taken for 1-based ones",
       "data", indices=lambda s: [(i - 1) % s.m for i in s.indices])
_fault("cyclic order", "the drawn indices are ignored: the rows are visited in order",
       "data", indices=lambda s: [t % s.m for t in range(len(s.indices))])
_fault("draws sorted", "the drawn indices are visited in ascending order", "data", indices=lambda s: sorted(s.indices))
_fault("repeated draws skipped", "an example that is drawn again is skipped",
       "data", indices=lambda s: list(dict.fromkeys(s.indices)))
# the centre
_fault("centring forgotten", "the rows are not centred", "rows", centred=lambda s: False)
_fault("mean of stored entries", "the mean of a column is taken over its stored entries only",
       "mean", xbar=lambda s: s.rows.sum(axis=0) / [s.number(max(1, stored)) for stored in s.count.sum(axis=0)])
_fault("mean of the draws", "the mean is taken over the drawn examples, not over the training set",
       "mean", xbar=lambda s: s.rows[s.indices].sum(axis=0) / s.number(len(s.indices)))
_fault("one mean for all columns", "one mean, of all entries, stands for the mean of every column",
       "mean", xbar=lambda s: np.full(s.n, s.rows.sum() / s.number(max(1, s.m * s.n)), dtype=s.rows.dtype))
_fault("stored entries centred", "only the stored entries of a row are centred, its zeros stay zero",
       "mean", rows=lambda s: s.rows - s.count * s.xbar, xbar=lambda s: 0 * s.xbar)
_fault("stored entries centred by one mean", "only the stored entries are centred, and all of them by one mean",
       "mean", rows=lambda s: s.rows - s.count * (s.rows.sum() / s.number(max(1, s.count.sum()))), xbar=lambda s: 0 * s.xbar)
_fault("theta without 1", "theta is the squared norm of the mean, without the 1", "theta", theta=lambda s: s.xbar @ s.xbar)
_fault("theta is 1", "theta is 1, without the squared norm of the mean", "theta", theta=lambda s: s.number(1))
_fault("z not updated", "z keeps its first value", "z", dz=lambda s: s.number(0) if s.t > 1 else s.dz)
_fault("prediction not centred", "the prediction lacks the term -a q, so that it is made on the raw row",
       "centred prediction", aq=lambda s: 0)

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
"""Faults of the loss: for each loss that has it, the wrong derivative in terms of the right one."""

FAULTS |= {
    "tie at the kink": "the tie at the kink goes the other way",
    "zero at the kink": "the derivative of the absolute loss is 0 at the tie, where it must be -1",
    "squared loss without the half": "the squared loss is taken without its half, so that the derivative is 2(p - y)",
    "squared hinge": "the hinge is squared",
    "perceptron": "the hinge has its kink at a margin of 0, as the perceptron's loss has, not at 1",
    "cross-entropy": "the derivative of the log-loss is the one for labels 0 and 1, sigmoid(p) - y",
}


# the step
_fault("loop from 1", "the loop starts at t = 1, after step 1 was done, so that the first example counts twice",
       "loop", again=lambda s: True)
_fault("loop as printed", "the loop starts at t = 1 as printed, after step 1 was done, and divides by 0 in its first round",
       "loop", again=lambda s: True, divides_by_0=lambda s: True)
_fault("t restarts", "the step number starts again with every pass over the data",
       "steps", steps=lambda s: [((t - 1) % s.m + 1, i) for t, i in s.steps])
_also("t restarts", "step", before=lambda s: s.number(s.m) if s.t == 1 else s.before)
_fault("prediction over t", "the prediction is divided by λt where it must be divided by λ(t-1)",
       "prediction", p=lambda s: s.p * s.before / s.t)
_fault("gradient at the average", "the derivative is taken at the average predictor instead of the last",
       "prediction", p=lambda s: -((s.h * s.v - s.u - s.c * s.xbar) @ s.x + (s.s if s.centred else s.c)) / (s.lam * s.before))
_fault("ascent", "the step goes up the gradient, not down", "derivative", g=lambda s: -s.g)
_fault("step 1/(λ(t+1))", "the steps are 1/(λ(t+1))", "pace", pace=lambda s: s.t / (s.t + 1))
_fault("step 1/(λ√t)", "the steps are 1/(λ√t)", "pace", pace=lambda s: s.number(math.sqrt(s.t)))
_fault("step 1/t", "the steps are 1/t, without λ", "pace", pace=lambda s: s.lam)
_fault("λ doubled", "the objective is read as λ‖w‖², without the half", "data", lam=lambda s: 2 * s.lam)
_fault("λ over m", "the losses are summed where they must be averaged, so that λ acts as λ/m",
       "data", lam=lambda s: s.lam / s.m)
_fault("shrunk after the step",
       "the regularisation shrinks the new gradient too: it must shrink what was there before the step",
       "push", push=lambda s: s.push * (1 - 1 / s.t))
_fault("only stored entries shrunk", "the regularisation shrinks the weights of the drawn row's stored entries only",
       "keep v", keep_v=lambda s: s.keep_v if s.centred else np.where(s.count[s.i] > 0, s.keep_w, s.unshrunk))
_fault("no shrinking without a loss", "a step whose derivative is 0 is skipped, but the regularisation must shrink there too",
       "keep", keep_w=lambda s: s.unshrunk if s.g == 0 else s.keep_w, keep_b=lambda s: s.unshrunk if s.g == 0 else s.keep_b)
_fault("weights not regularised", "the weights are not shrunk: they are not regularised", "keep", keep_w=lambda s: s.unshrunk)
_fault("bias not regularised", "the bias is not shrunk: it is not regularised", "keep", keep_b=lambda s: s.unshrunk)
_fault("damped bias", "the bias takes steps of a hundredth of the size, as some do for sparse rows",
       "changes", dbias=lambda s: (s.keep_b - 1) * s.bias + s.push / 100)
_fault("damped a", "the gradient sum a adds a hundredth of the derivative, in the bias and in the centre",
       "changes", da=lambda s: s.push / 100, dbias=lambda s: s.push / 100)
_fault("no bias", "there is no bias", "changes", dbias=lambda s: s.number(0))
_fault("projected", "the iterates are projected onto the ball of radius 1/√λ, as in Pegasos",
       "changes", dv=lambda s: _onto_ball(s) * (s.v + s.dv) - s.v,
       da=lambda s: _onto_ball(s) * (s.a + s.da) - s.a,
       dbias=lambda s: _onto_ball(s) * (s.bias + s.dbias) - s.bias)
_fault("single precision", "the sums are kept in float32", "sums", **{name: partial(_single, name) for name in "vu"})
for each in ("a", "bias", "c", "h", "z", "r", "s"):
    _also("single precision", "sums", **{each: partial(_single, each)})

# the average
_fault("u with h_t", "u is updated after h has grown: it must take h_{t-1}", "terms", h_u=lambda s: s.h + 1 / s.t)
_fault("c with a/(t-1)", "c adds a/(t-1) where it must add a/t",
       "terms", c_term=lambda s: (s.a if s.centred else s.bias) / (s.t - 1 if s.t > 1 else s.t))
_fault("c without its first term", "c starts at 0 where it must start at a_1",
       "terms", c_term=lambda s: s.number(0) if s.t == 1 else s.c_term)
_fault("s without its first term", "s starts at 0 where it must start at r_1",
       "terms", s_term=lambda s: s.number(0) if s.t == 1 else s.s_term)
_fault("sums wait for a loss", "h, c and s are not kept up in a step whose derivative is 0",
       "sums wait", waits=lambda s: s.g == 0)
_fault("w_0 in the mean", "the average starts at w_0 = 0, so that it divides by T + 1",
       "average", w=lambda s: s.w * s.T / (s.T + 1), b=lambda s: s.b * s.T / (s.T + 1))
_fault("mean before the step", "the average is of the predictors before each step, w_0 to w_{T-1}",
       "average", w=lambda s: s.w - s.last_w / s.T, b=lambda s: s.b - s.last_b / s.T)
for each, sentence, rate in (
    ("moving average", "the average is an exponential moving average, with decay 0.9", lambda s: s.rate / 10),
    ("slow moving average", "the average is an exponential moving average, with decay 0.999", lambda s: s.rate / 1000),
    (
        "swapped running mean",
        "the two weights of the running mean are swapped, so that the newest predictor dominates",
        lambda s: (s.t - 1) / s.t,
    ),
    ("average weighted by t", "the average weighs the predictor after step t by t", lambda s: 2 / (s.t + 1)),
):
    _fault(each, sentence, "rate", rate=partial(_after_first, rate))
    _also(each, "average", w=lambda s: s.moving_w, b=lambda s: s.moving_b)

# the predictor returned
_fault("last for average", "the last predictor is returned for the average",
       "choice", chosen=lambda s: s.chosen and not s.average)
_fault("average for last", "the average is returned for the last predictor",
       "choice", chosen=lambda s: s.chosen or not s.average)
_fault("bias not averaged", "the weights are averaged and the bias is not", "last bias", b=lambda s: s.last_b)
_fault("explicit bias", "the bias of the centred rows, b, is returned for raw rows, which need b'",
       "result", b=lambda s: s.b + s.w @ s.xbar)
_fault("centred last predictor without its centre", "the last centred predictor is recovered by the uncentred formula",
       "last", last_w=lambda s: -s.v / (s.lam * s.t) if s.centred and not s.average else s.last_w,
       last_b=lambda s: -s.a / (s.lam * s.t) if s.centred and not s.average else s.last_b)
_fault("average without its centre", "the averaged weights lack the centre's part, c x̄",
       "averaged weights", w=lambda s: -(s.h * s.v - s.u) / (s.lam * s.T))
_fault("average centred by the last weights",
       "b' of the average is made with the last weights where it needs the averaged ones",
       "averaged bias", b=lambda s: s.b + (s.w - s.last_w) @ s.xbar)
# fmt: on


def derivative(loss, number, faults: Collection[str] = ()):
    """ℓ' in the arithmetic of `number`, with those of the faults that are of this loss."""
    loss = get_loss(loss)
    if number is not np.float64:
        loss = loss.exact or loss
    right = loss.derivative
    for fault, wrong in WRONG_DERIVATIVES.items():
        if fault in faults and loss.name in wrong:
            right = partial(_with_right, wrong[loss.name], right)
    return right


def _with_right(formula, right, p, y):
    return formula(p, y, right)
