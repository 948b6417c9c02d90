"""List the known faults and the declared deviations: what a reader's code does, each with its patch of the plain program."""

import math
from functools import partial

import numpy as np

from . import slips
from .plain import (
    FAMILIES,
    FAULTS,
    WRONG_DERIVATIVES,
    Family,
    after_first,
    also,
    exponential,
    family,
    fault,
    onto_ball,
    power,
    rebuilt,
    root,
    single,
)


def _shrunk_by(factor, s):
    return factor(s) * s.unshrunk if s.t > 1 else s.keep_w


def _kept_twice(s, keep):
    return keep * (1 - s.pace / s.t)


def _mean_over(divisor, s):
    return s.xbar * s.m / s.number(divisor(s))


def _scaled_by(change, s):
    return change(s, s.scale)


def _last_product(s, vector):
    stored = [j for i, j, _ in s.entries if i == s.i]
    return vector[stored[-1]] * s.number([value for i, _, value in s.entries if i == s.i][-1]) if stored else s.number(0)


def _negated_product(s, vector):
    return -(vector @ s.x)


def _doubled_product(s, vector):
    return 2 * (vector @ s.x)


def _divided_product(s, vector):
    return sum((each / x for each, x in zip(vector, s.x, strict=True) if x != 0), s.number(0))


def _taken_again(s, moved):
    """Change of the derivative if it is taken again after the weights, "w", or the bias, "b", have made the step."""
    before, after = s.lam * s.before or s.number(1), s.lam * s.t  # the sums are 0 before the first step
    if moved == "w":
        w, b = -(s.v + s.dv - (s.a + s.da) * s.xbar) / after, -s.bias / before
    else:
        w, b = -(s.v - s.a * s.xbar) / before, -(s.bias + s.dbias) / after
    p = w @ (s.x - s.xbar) + b
    s.others.append((p, s.label))
    return s.pace * (s.dloss(p, s.label) - s.g)


def _last_of_columns(s):
    last = 0 * s.xbar
    for _, j, value in s.entries:
        last[j] = s.number(value)
    return last


def _quotients(number, vector):
    return np.array([number / each for each in vector], dtype=vector.dtype)


def _clip(most, p, y, right):
    return max(-type(p)(most), min(type(p)(most), right(p, y)))


# fmt: off
# the data and the order
fault("repeated entries lost", "of the entries that a row stores twice for a column, only the last one counts",
       "data", rows=lambda s: s.last_entries)
fault("update loses repeated entries",
       "of the entries that a row stores twice for a column, only the last one enters the update",
       "step", added=lambda s: s.last_entries[s.i])
fault("mean loses repeated entries", "of the entries that a row stores twice for a column, only the last one enters the mean",
       "rows", averaged=lambda s: s.last_entries)
fault("empty rows skipped", "an example without features is skipped, but the bias must take its step",
       "derivative", g=lambda s: s.g if s.count[s.i].any() else s.number(0))
fault("0/1 labels", "the label -1 is taken as 0, so that half of the examples are ignored",
       "data", y=lambda s: [max(label, s.number(0)) for label in s.y] if s.binary else s.y)
fault("row loses repeated entries",
      "of the entries that a row stores twice for a column, only the last one enters a step; the mean adds them up",
      "step", x=lambda s: s.last_entries[s.i], added=lambda s: s.last_entries[s.i], dotted=lambda s: s.last_entries[s.i])
fault("prediction loses repeated entries",
      "of the entries that a row stores twice for a column, only the last one enters the prediction",
      "step", dotted=lambda s: s.last_entries[s.i])
fault("first of repeated entries", "of the entries that a row stores twice for a column, only the first one counts",
      "data", rows=lambda s: rebuilt(s, lambda row: list(dict(reversed(row)).items())))
fault("row ends at an unsorted column", "a row is read up to the first column that is not larger than the one before it",
      "data", rows=lambda s: rebuilt(s, _sorted_part))
fault("row ends at a stored zero", "a row is read up to the first zero that it stores",
      "data", rows=lambda s: rebuilt(s, _part_without_zero))
fault("empty row reads row 0", "an example that stores nothing is taken for the first row, with its own label",
      "step", **dict.fromkeys(("x", "added", "dotted"), lambda s: s.rows[s.i if s.count[s.i].any() else 0]))
fault("empty rows ignored", "an example without features is skipped in the sums h, c and s as well: the step is not counted",
      "derivative", g=lambda s: s.g if s.count[s.i].any() else s.number(0))
also("empty rows ignored", "sums wait", waits=lambda s: not s.count[s.i].any())
fault("first column dropped", "column 0 is dropped, as if columns were counted from 1",
      "data", rows=lambda s: s.rows * (np.arange(s.n) > 0))
fault("last column dropped", "the last column is dropped", "data", rows=lambda s: s.rows * (np.arange(s.n) < s.n - 1))
fault("rows normalised", "the rows are scaled to length 1",
      "data", rows=lambda s: np.array([row / (root(row @ row, s.number) or 1) for row in s.rows]).reshape(s.rows.shape))
fault("float32 values", "the values of the rows are read in single precision; the sums are kept in double",
      "data", rows=lambda s: rebuilt(s, lambda row: [(j, s.number(float(np.float32(float(value))))) for j, value in row]))
fault("values cut to integers", "the values of the rows are cut to integers",
      "data", rows=lambda s: rebuilt(s, lambda row: [(j, s.number(int(value))) for j, value in row]))
fault("labels cut to integers", "the labels are cut to integers",
      "data", y=lambda s: [s.number(int(label)) for label in s.y])
fault("labels are signs", "only the sign of the label is used", "data",
      y=lambda s: [s.number(np.sign(float(label))) for label in s.y])
fault("labels swapped", "the labels -1 and +1 are swapped", "data", y=lambda s: [-label for label in s.y] if s.binary else s.y)
fault("indices off by one", "the indices are taken for 1-based ones",
       "data", indices=lambda s: [(i - 1) % s.m for i in s.indices])
fault("cyclic order", "the drawn indices are ignored: the rows are visited in order",
       "data", indices=lambda s: [t % s.m for t in range(len(s.indices))])
fault("draws sorted", "the drawn indices are visited in ascending order", "data", indices=lambda s: sorted(s.indices))
fault("repeated draws skipped", "an example that is drawn again is skipped",
       "data", indices=lambda s: list(dict.fromkeys(s.indices)))
fault("label of the step", "the label is the one at the step's number, y[t - 1], not that of the drawn row",
      "step", label=lambda s: s.y[int(s.before) % s.m])
fault("row of the step", "the row is the one at the step's number, t - 1, not the drawn one, whose label is taken",
      "step", **dict.fromkeys(("x", "added", "dotted"), lambda s: s.rows[int(s.before) % s.m]))
fault("first draw dropped", "the first of the drawn examples is dropped", "data", indices=lambda s: s.indices[1:] or s.indices)
fault("as many steps as rows", "there are as many steps as rows, not as draws", "data", indices=lambda s: s.indices[: s.m])
# the centre
fault("centring forgotten", "the rows are not centred", "rows", centred=lambda s: False)
fault("mean of stored entries", "the mean of a column is taken over its stored entries only",
       "mean", xbar=lambda s: s.rows.sum(axis=0) / [s.number(max(1, int(stored))) for stored in s.count.sum(axis=0)])
fault("mean of the draws", "the mean is taken over the drawn examples, not over the training set",
       "mean", xbar=lambda s: s.rows[s.indices].sum(axis=0) / s.number(len(s.indices)))
fault("one mean for all columns", "one mean, of all entries, stands for the mean of every column",
       "mean", xbar=lambda s: np.full(s.n, s.rows.sum() / s.number(max(1, s.m * s.n)), dtype=s.rows.dtype))
fault("stored entries centred", "only the stored entries of a row are centred, its zeros stay zero",
       "mean", rows=lambda s: s.rows - s.count * s.xbar, xbar=lambda s: 0 * s.xbar)
fault("stored entries centred by one mean", "only the stored entries are centred, and all of them by one mean",
       "mean", rows=lambda s: s.rows - s.count * (s.rows.sum() / s.number(max(1, int(s.count.sum())))),
             xbar=lambda s: 0 * s.xbar)
fault("stored entries centred, bias shifted",
      "only the stored entries of a row are centred, and the bias is shifted by the mean all the same",
      "mean", rows=lambda s: s.rows - s.count * s.xbar, kept_mean=lambda s: s.xbar, xbar=lambda s: 0 * s.xbar)
also("stored entries centred, bias shifted", "result", b=lambda s: s.b - s.w @ s.kept_mean if s.centred else s.b)
fault("rows not centred, bias shifted", "the rows are not centred, and the bias is shifted by the mean all the same",
      "mean", rows=lambda s: s.rows + s.xbar)
fault("rows centred twice", "the mean row is subtracted from the rows twice, and the bias is shifted once",
      "mean", rows=lambda s: s.rows - s.xbar)
fault("mean over non-empty rows", "the mean row is taken over the rows that store something",
      "mean", xbar=lambda s: s.xbar * s.m / s.number(max(1, sum(map(bool, s.count.any(axis=1))))))
_DIVISORS = {"m - 1": lambda s: max(1, s.m - 1), "m + 1": lambda s: s.m + 1, "the number of columns": lambda s: max(1, s.n),
             "nothing": lambda s: 1}
for each, divisor in _DIVISORS.items():
    fault(f"mean over {each}", f"the sum of the rows is divided by {each} to make the mean row", "mean",
          xbar=partial(_mean_over, divisor))
fault("mean subtracted twice", "the mean row is doubled", "mean", xbar=lambda s: 2 * s.xbar)
fault("mean added", "the mean row is added to the rows where it must be subtracted", "mean", xbar=lambda s: -s.xbar)
fault("theta is the norm", "theta has the norm of the mean row where it must have its square",
      "norm", squared_norm=lambda s: root(s.squared_norm, s.number))
fault("theta subtracts", "theta is 1 minus the squared norm of the mean row, not plus", "theta", theta=lambda s: 2 - s.theta)
fault("theta without 1", "theta is the squared norm of the mean, without the 1", "theta", theta=lambda s: s.xbar @ s.xbar)
fault("theta is 1", "theta is 1, without the squared norm of the mean", "theta", theta=lambda s: s.number(1))
fault("z not updated", "z keeps its first value", "z", dz=lambda s: s.number(0) if s.t > 1 else s.dz)
fault("prediction not centred", "the prediction lacks the term -a q, so that it is made on the raw row",
       "centred prediction", aq=lambda s: 0)

WRONG_DERIVATIVES |= {
    "tie at the kink": {
        "absolute": lambda p, y, right: 1 if p == y else right(p, y),
        "hinge": lambda p, y, right: 0 if p * y == 1 else right(p, y),
    },
    "zero at the kink": {"absolute": lambda p, y, right: 0 if p == y else right(p, y)},
    "squared loss without the half": {"squared": lambda p, y, right: 2 * right(p, y)},
    "squared hinge": {"hinge": lambda p, y, right: 2 * max(1 - p * y, 0) * right(p, y)},
    "perceptron": {"hinge": lambda p, y, right: right(p, y) if p * y <= 0 else 0},
    "cross-entropy": {"log": lambda p, y, right: right(p, -1) - y},
    "squared loss halved": {"squared": lambda p, y, right: right(p, y) / 2},
    "label left out of the derivative": {
        "hinge": lambda p, y, right: -abs(right(p, y)),
        "log": lambda p, y, right: -abs(right(p, y)),
    },
    "label left out of the margin": {
        "hinge": lambda p, y, right: -y if p <= 1 else 0 * y,
        "log": lambda p, y, right: y * right(p, 1 + 0 * y),
    },
    "derivative times the squared label": {
        "absolute": lambda p, y, right: right(p, y) * y * y,
        "squared": lambda p, y, right: right(p, y) * y * y,
    },
    "log-loss of twice the margin": {"log": lambda p, y, right: 2 * right(2 * p, y)},
    "sigmoid of the wrong side": {"log": lambda p, y, right: right(p if p * y >= 0 else -p, y)},
    "sigmoid not reversed": {"log": lambda p, y, right: right(-p, y)},
    "exponential overflows": {"log": lambda p, y, right: math.nan if abs(p * y) > 709.8 and p * y > 0 else right(p, y)},
    "other exponential overflows": {"log": lambda p, y, right: math.nan if p * y < -709.8 else right(p, y)},
    "both ends overflow": {"log": lambda p, y, right: math.nan if abs(p * y) > 709.8 else right(p, y)},
    "hinge beyond the kink": {"hinge": lambda p, y, right: -y - right(p, y)},
    "side of the label reversed": {"absolute": lambda p, y, right: -right(p, y)},
    "side of the label reversed, but for the tie": {"absolute": lambda p, y, right: -1 if p >= y else 1},
    "slopes of the absolute loss doubled on one side": {"absolute": lambda p, y, right: 2 if p > y else right(p, y)},
    "residual with the other sign": {"squared": lambda p, y, right: -right(p, y)},
    "residual adds the label": {"squared": lambda p, y, right: p + y},
    "residual times the label": {"squared": lambda p, y, right: p * y},
    "log-loss climbs": {"log": lambda p, y, right: -right(p, y)},
    "log-loss not divided": {"log": lambda p, y, right: -y * (1 + exponential(p * y))},
    "log-loss with 2 + exp": {"log": lambda p, y, right: -y / (2 + exponential(p * y))},
    "log-loss with 1 - exp": {"log": lambda p, y, right: -y / (1 - exponential(p * y)) if p != 0 else -y * math.inf},
    "log-loss doubled": {"log": lambda p, y, right: 2 * right(p, y)},
    "hinge climbs": {"hinge": lambda p, y, right: -right(p, y)},
    "hinge with its kink at 2": {"hinge": lambda p, y, right: -y if p * y <= 2 else 0 * y},
    "hinge of the sum": {"hinge": lambda p, y, right: -y if p + y <= 1 else 0 * y},
    "hinge of the difference": {"hinge": lambda p, y, right: -y if p - y <= 1 else 0 * y},
    "log-loss for the hinge": {"hinge": lambda p, y, right: -y / (1 + exponential(p * y))},
    "hinge with the other side of its kink": {"hinge": lambda p, y, right: -y if p * y >= 1 else 0 * y},
}

FAULTS |= {
    "tie at the kink": "the tie at the kink goes the other way",
    "zero at the kink": "the derivative of the absolute loss is 0 at the tie, where it must be -1",
    "squared loss without the half": "the squared loss is taken without its half, so that the derivative is 2(p - y)",
    "squared hinge": "the hinge is squared",
    "perceptron": "the hinge has its kink at a margin of 0, as the perceptron's loss has, not at 1",
    "cross-entropy": "the derivative of the log-loss is the one for labels 0 and 1, sigmoid(p) - y",
    "squared loss halved": "the derivative of the squared loss is halved",
    "label left out of the derivative": "the derivative lacks the label, so that every example teaches the same direction",
    "label left out of the margin": "the margin is the prediction without the label",
    "derivative times the squared label": "the derivative is multiplied by the squared label: 1 only if labels are signs",
    "log-loss of twice the margin": "the log-loss is taken of twice the margin",
    "sigmoid of the wrong side": "the branch of the sigmoid for negative margins, to avoid an overflow, has the wrong sign",
    "sigmoid not reversed": "the sigmoid is taken of the margin where it must be taken of minus the margin",
    "exponential overflows": "the exponential of a large margin overflows, and infinity over infinity is NaN",
    "other exponential overflows": "the exponential of a very negative margin overflows, and infinity over infinity is NaN",
    "both ends overflow": "the exponential of a large margin, positive or negative, overflows to NaN",
    "hinge beyond the kink": "the hinge learns from the examples beyond its kink and skips the others",
    "slopes of the absolute loss doubled on one side": "the slope of the absolute loss is 2 above the label",
    "residual with the other sign": "the derivative of the squared loss is y - p",
    "residual adds the label": "the derivative of the squared loss is p + y",
    "residual times the label": "the derivative of the squared loss is p y",
    "log-loss climbs": "the derivative of the log-loss has the wrong sign",
    "log-loss not divided": "the derivative of the log-loss multiplies by 1 + exp(py) where it must divide",
    "log-loss with 2 + exp": "the derivative of the log-loss has 2 + exp(py) where it needs 1 + exp(py)",
    "log-loss with 1 - exp": "the derivative of the log-loss has 1 - exp(py) where it needs 1 + exp(py)",
    "log-loss doubled": "the derivative of the log-loss is doubled",
    "hinge climbs": "the derivative of the hinge has the wrong sign",
    "hinge with its kink at 2": "the hinge has its kink at a margin of 2, not at 1",
    "hinge of the sum": "the margin of the hinge is p + y where it must be p y",
    "log-loss for the hinge": "the derivative of the log-loss is taken for the hinge",
    "hinge of the difference": "the margin of the hinge is p - y where it must be p y",
    "hinge with the other side of its kink": "the hinge learns from margins of 1 and more, not of 1 and less",
    "side of the label reversed, but for the tie": "the absolute loss has -1 where p >= y, not where p <= y",
    "side of the label reversed": "the absolute loss takes the slope of the other side of the label",
}


# the step
fault("loop from 1", "the loop starts at t = 1, after step 1 was done, so that the first example counts twice",
       "loop", again=lambda s: True)
fault("loop as printed", "the loop starts at t = 1 as printed, after step 1 was done, and divides by 0 in its first round",
       "loop", again=lambda s: True, divides_by_0=lambda s: True)
fault("t restarts", "the step number starts again with every pass over the data",
       "steps", steps=lambda s: [((t - 1) % s.m + 1, i) for t, i in s.steps])
also("t restarts", "step", before=lambda s: s.number(s.m) if s.t == 1 else s.before)
fault("prediction over t", "the prediction is divided by λt where it must be divided by λ(t-1)",
       "prediction", p=lambda s: s.p * s.before / s.t)
fault("gradient at the average", "the derivative is taken at the average predictor instead of the last",
       "prediction", p=lambda s: -((s.h * s.v - s.u - s.c * s.xbar) @ s.x + (s.s if s.centred else s.c)) / (s.lam * s.before))
fault("first gradient left out", "the first step learns nothing", "derivative", g=lambda s: s.number(0) if s.t == 1 else s.g)
fault("last gradient left out", "the last step learns nothing",
      "derivative", g=lambda s: s.number(0) if s.t == s.last_t else s.g)
fault("prediction over t+1", "the prediction is divided by λ(t+1) where it must be divided by λ(t-1)",
      "pace before", pace_before=lambda s: s.lam * (s.t + 1))
fault("prediction over t-2", "the prediction is divided by λ(t-2) where it must be divided by λ(t-1)",
      "pace before", pace_before=lambda s: s.lam * (s.t - 2))
fault("prediction not divided by t", "the prediction is divided by λ alone", "pace before", pace_before=lambda s: s.lam)
fault("prediction not divided by λ", "the prediction is not divided by λ", "pace before",
      pace_before=lambda s: s.number(s.before))
fault("prediction times λ", "the prediction is multiplied by λ where it must be divided",
      "pace before", pace_before=lambda s: s.before / s.lam)
fault("prediction times t-1", "the prediction is multiplied by t-1 where it must be divided",
      "pace before", pace_before=lambda s: s.lam / s.before)
fault("weights' scale left out of the prediction",
      "the prediction takes the weights as they are stored, t-1 times too large: their lazy scale is left out",
      "centred prediction",
      d=lambda s: s.d * s.before)
fault("prediction times λ(t-1)", "the prediction is multiplied by λ(t-1) where it must be divided",
      "pace before", pace_before=lambda s: 1 / (s.lam * s.before))
fault("prediction divides a by q", "the prediction has a/q where it needs a q", "centred prediction",
      aq=lambda s: s.a / s.q if s.centred else s.aq)
fault("prediction with the other sign", "the prediction has the wrong sign", "prediction", p=lambda s: -s.p)
fault("prediction lacks the bias", "the prediction lacks the bias", "centred prediction", own=lambda s: 0 * s.own)
fault("prediction lacks the weights", "the prediction has the bias alone", "centred prediction", d=lambda s: 0 * s.d)
fault("bias subtracted in the prediction", "the bias is subtracted in the prediction", "centred prediction",
      own=lambda s: -s.own)
fault("weights subtracted in the prediction", "the weights' part of the prediction has the wrong sign",
      "centred prediction", d=lambda s: -s.d)
fault("weights twice in the prediction", "the weights count twice in the prediction", "centred prediction", d=lambda s: 2 * s.d)
fault("bias twice in the prediction", "the bias counts twice in the prediction", "centred prediction", own=lambda s: 2 * s.own)
fault("prediction with a for r", "the prediction has a where it needs r: it lacks the bias' shift by the mean",
      "centred prediction", own=lambda s: s.bias)
fault("prediction with a for r, on raw rows", "the prediction has a alone where it needs r - a q: it is made on the raw row",
      "centred prediction", own=lambda s: s.bias, aq=lambda s: 0)
fault("prediction adds a q", "the prediction adds the term a q where it must subtract it", "centred prediction",
      aq=lambda s: -s.aq)
fault("second bias",
      "the prediction has a second bias of its own, which takes steps of a hundredth, is not regularised and is not returned",
      "prediction", p=lambda s: s.p + vars(s).get("second", 0))
also("second bias", "push", second=lambda s: vars(s).get("second", 0) - s.push / (s.lam * s.t) / 100)
fault("derivative again for b", "the derivative is taken again for b, after w has changed", "changes",
      dbias=lambda s: s.dbias + _taken_again(s, "w"))
fault("derivative again for w", "the derivative is taken again for w, after b has changed", "changes",
      dv=lambda s: s.dv + _taken_again(s, "b") * s.added,
      da=lambda s: s.da + _taken_again(s, "b"))
fault("ascent", "the step goes up the gradient, not down", "derivative", g=lambda s: -s.g)
fault("step 1/(λ(t+1))", "the steps are 1/(λ(t+1))", "pace", pace=lambda s: s.t / (s.t + 1))
fault("step 1/(λ√t)", "the steps are 1/(λ√t)", "pace", pace=lambda s: root(s.t, s.number))
fault("step 1/√t", "the steps are 1/√t, without λ", "pace", pace=lambda s: s.lam * root(s.t, s.number))
fault("step 1/t", "the steps are 1/t, without λ", "pace", pace=lambda s: s.lam)
fault("λ doubled", "the objective is read as λ‖w‖², without the half", "data", lam=lambda s: 2 * s.lam)
fault("λ halved", "λ is halved", "data", lam=lambda s: s.lam / 2)
fault("λ squared", "λ is multiplied by itself", "data", lam=lambda s: s.lam * s.lam)
fault("λ is 1/C", "the parameter is read as C, so that λ acts as 1/λ", "data", lam=lambda s: 1 / s.lam)
fault("λ times m", "λ is multiplied by the number of rows", "data", lam=lambda s: s.lam * s.m)
fault("λ over m", "the losses are summed where they must be averaged, so that λ acts as λ/m",
       "data", lam=lambda s: s.lam / s.m)
fault("shrunk after the step",
       "the regularisation shrinks the new gradient too: it must shrink what was there before the step",
       "push", push=lambda s: s.push * (1 - s.pace / s.t))
fault("only stored entries shrunk", "the regularisation shrinks the weights of the drawn row's stored entries only",
       "keep v", keep_v=lambda s: s.keep_v if s.centred else np.where(s.count[s.i] > 0, s.keep_w, s.unshrunk))
fault("no shrinking without a loss", "a step whose derivative is 0 is skipped, but the regularisation must shrink there too",
       "keep", keep_w=lambda s: s.unshrunk if s.g == 0 else s.keep_w, keep_b=lambda s: s.unshrunk if s.g == 0 else s.keep_b)
fault("nothing regularised", "nothing is shrunk, as if 1 - 1/t were computed in integers or λ left out",
      "keep", keep_w=lambda s: s.unshrunk, keep_b=lambda s: s.unshrunk)
_SHRINKS = {
    "1 + 1/t": lambda s: 1 + s.pace / s.t, "1 - 1/(t+1)": lambda s: 1 - 1 / (s.t + 1),
    "1 - 2/t": lambda s: 1 - 2 * s.pace / s.t, "2 - 1/t": lambda s: 2 - s.pace / s.t,
    "1 - λ/t": lambda s: 1 - s.lam / s.t, "1 - λ": lambda s: 1 - s.lam, "1/t": lambda s: 1 / s.t,
          "1 - 1/(2t)": lambda s: 1 - s.pace / (2 * s.t),
    "0, so that all is forgotten": lambda s: s.number(0), "1 - 1/(t-1)": lambda s: 1 - 1 / (s.t - 1 if s.t > 1 else s.t),
}
for each, factor in _SHRINKS.items():
    _keep = partial(_shrunk_by, factor)
    fault(f"shrunk by {each}", f"the predictor is multiplied by {each} where it must be multiplied by 1 - 1/t",
          "keep", keep_w=_keep, keep_b=_keep)
    for part in ("weights", "bias"):
        fault(f"{part} shrunk by {each}",
              f"the {part} {'are' if part == 'weights' else 'is'} multiplied by {each}, not by 1 - 1/t",
              "keep", **{"keep_" + part[0]: _keep})
_STEPS = {
    "at t+1": ("is divided by t+1 where it must be divided by t", lambda s, g: g * s.t / (s.t + 1)),
    "at t-1": ("is divided by t-1 where it must be divided by t", lambda s, g: g * s.t / (s.t - 1) if s.t > 1 else g),
    "not divided by t": ("is not divided by t", lambda s, g: g * s.t),
    "without λ": ("is not divided by λ", lambda s, g: g * s.lam),
    "times λ": ("is multiplied by λ where it must be divided", lambda s, g: g * s.lam * s.lam),
    "times t": ("is multiplied by t where it must be divided", lambda s, g: g * s.t * s.t),
    "times λt": ("is multiplied by λt where it must be divided", lambda s, g: g * s.lam * s.lam * s.t * s.t),
    "doubled": ("is doubled", lambda s, g: 2 * g),
    "halved": ("is halved", lambda s, g: g / 2),
    "with the other sign": ("has the wrong sign", lambda s, g: -g),
    "left out": ("is left out", lambda s, g: 0 * g),
    "after the first left out": ("is left out but for the first", lambda s, g: g if s.t == 1 else 0 * g),
}
for each, (says, change) in _STEPS.items():
    for part, which in (("gradient", ("push_w", "push_b")), ("weights' gradient", ("push_w",)), ("bias' gradient",
          ("push_b",))):
        if (part, each) in (("bias' gradient", "left out"), ("gradient", "with the other sign")):
            continue  # no bias; ascent
        fault(f"{part} {each}", f"the {part} {says}",
              "pushes", **{name: lambda s, name=name, change=change: change(s, getattr(s, name)) for name in which})
fault("weights' step twice", "the weights are shrunk and make their step twice", "keep",
      keep_w=lambda s: _kept_twice(s, s.keep_w))
also("weights' step twice", "pushes", push_w=lambda s: s.push_w * (2 - s.pace / s.t))
fault("bias' step twice", "the bias is shrunk and makes its step twice", "keep", keep_b=lambda s: _kept_twice(s, s.keep_b))
also("bias' step twice", "pushes", push_b=lambda s: s.push_b * (2 - s.pace / s.t))
fault("bias not learnt by a centred program", "a, which carries the centre, is not kept up with the bias",
      "changes", da=lambda s: 0 * s.da)
fault("a not added up by a centred program", "a, the sum of g, is not added up", "changes",
      da=lambda s: 0 * s.da if s.centred else s.da, dbias=lambda s: 0 * s.dbias if s.centred else s.dbias)
fault("weights not regularised", "the weights are not shrunk: they are not regularised", "keep", keep_w=lambda s: s.unshrunk)
fault("bias not regularised", "the bias is not shrunk: it is not regularised", "keep", keep_b=lambda s: s.unshrunk)
fault("damped bias", "the bias takes steps of a hundredth of the size, as some do for sparse rows",
       "changes", dbias=lambda s: (s.keep_b - 1) * s.bias + s.push / 100)
fault("damped a", "the gradient sum a adds a hundredth of the derivative, in the bias and in the centre",
       "changes", da=lambda s: s.push / 100, dbias=lambda s: s.push / 100)
fault("no bias", "there is no bias", "changes", dbias=lambda s: s.number(0))
fault("projected", "the iterates are projected onto the ball of radius 1/√λ, as in Pegasos",
       "keep", projects=lambda s: True)
also("projected", "changes", dv=lambda s: onto_ball(s) * (s.v + s.dv) - s.v,
       da=lambda s: onto_ball(s) * (s.a + s.da) - s.a,
       dbias=lambda s: onto_ball(s) * (s.bias + s.dbias) - s.bias)
fault("single precision", "the sums are kept in float32", "sums", **{name: partial(single, name) for name in "vu"})
for each in ("a", "bias", "c", "h", "z", "r", "s"):
    also("single precision", "sums", **{each: partial(single, each)})

# the average
fault("u with h_t", "u is updated after h has grown: it must take h_{t-1}", "terms", h_u=lambda s: s.h + 1 / s.t)
fault("c with a/(t-1)", "c adds a/(t-1) where it must add a/t",
       "terms", c_term=lambda s: (s.a if s.centred else s.bias) / (s.t - 1 if s.t > 1 else s.t))
fault("c without its first term", "c starts at 0 where it must start at a_1",
       "terms", c_term=lambda s: s.number(0) if s.t == 1 else s.c_term)
fault("s without its first term", "s starts at 0 where it must start at r_1",
       "terms", s_term=lambda s: s.number(0) if s.t == 1 else s.s_term)
fault("sums wait for a loss", "h, c and s are not kept up in a step whose derivative is 0",
       "sums wait", waits=lambda s: s.g == 0)
fault("w_0 in the mean", "the average starts at w_0 = 0, so that it divides by T + 1",
       "average", w=lambda s: s.w * s.T / (s.T + 1), b=lambda s: s.b * s.T / (s.T + 1))
fault("w_0 in the weights' mean", "the average of the weights, not of the bias, starts at w_0 = 0: it divides by T + 1",
      "average", w=lambda s: s.w * s.T / (s.T + 1))
fault("w_0 in the bias' mean", "the average of the bias, not of the weights, starts at b_0 = 0: it divides by T + 1",
      "average", b=lambda s: s.b * s.T / (s.T + 1))
fault("mean before the step", "the average is of the predictors before each step, w_0 to w_{T-1}",
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
    fault(each, sentence, "rate", rate=partial(after_first, rate))
    also(each, "average", w=lambda s: s.moving_w, b=lambda s: s.moving_b)

# the average: one term of one sum changed, by rule
_EDITS = {
    "left out": ("is left out", lambda s, term: 0 * term),
    "with the other sign": ("has the wrong sign", lambda s, term: -term),
    "doubled": ("is doubled", lambda s, term: 2 * term),
    "halved": ("is halved", lambda s, term: term / 2),
    "at t+1": ("is divided by t+1 where it must be divided by t", lambda s, term: term * s.t / (s.t + 1)),
    "at t-1": ("is divided by t-1 where it must be divided by t", lambda s, term: term * s.t / (s.t - 1) if s.t > 1 else term),
    "not divided by t": ("is not divided by t", lambda s, term: term * s.t),
    "times t": ("is multiplied by t where it must be divided", lambda s, term: term * s.t * s.t),
    "without its first term": ("starts at 0, without its first term", lambda s, term: term if s.t > 1 else 0 * term),
    "first term only": ("keeps its first term only", lambda s, term: term if s.t == 1 else 0 * term),
}
_TERMS = (
    ("z", "z, the sum of g q,", "z", "dz", ("left out", "with the other sign", "doubled", "halved", "without its first term")),
    ("h", "h, the sum of 1/t,", "terms", "h_term", tuple(_EDITS)),
    ("c", "c, the sum of a/t,", "terms", "c_term", tuple(_EDITS)),
    ("s", "s, the sum of r/t,", "terms", "s_term", tuple(_EDITS)),
    ("u", "u, the sum of h g x,", "u", "u_term", ("left out", "with the other sign", "doubled", "halved")),
)
for each, words, stage, term, edits in _TERMS:
    for edit in edits:
        if f"{each} {edit}" not in ("c without its first term", "s without its first term"):  # above
            says, change = _EDITS[edit]
            fault(f"{each} {edit}", f"{words} {says}",
                  stage, **{term: lambda s, term=term, change=change: change(s, getattr(s, term))})
fault("z divided by q", "z adds g/q where it must add g q", "z",
      dz=lambda s: s.push_w / s.q if s.centred else s.dz)
fault("u divides h by g", "u adds h x/g where it must add h g x", "u", u_term=lambda s: s.h_u / s.push_w * s.added)
fault("u divided by h", "u adds g x/h where it must add h g x", "u", u_term=lambda s: s.dv / s.h_u)
fault("v divided by the entries", "v adds g/x where it must add g x, entry by entry", "changes",
      dv=lambda s: (s.keep_v - 1) * s.v + np.array([s.push_w / each if each else 0 * each for each in s.added],
            dtype=s.v.dtype))
fault("h keeps its last term only", "h is 1/t, not the sum", "sums", h=lambda s: s.h_term)
fault("c keeps its last term only", "c is a/t, not the sum", "sums", c=lambda s: s.c_term)
fault("s keeps its last term only", "s is r/t, not the sum", "sums", s=lambda s: s.s_term)
fault("u keeps its last term only", "u is the last h g x, not the sum", "sums", u=lambda s: s.u_term)
fault("z keeps its last term only", "z is the last g q, not the sum", "r", z=lambda s: s.dz,
      r=lambda s: s.bias + s.a * (s.theta - 1) - s.dz)
fault("a keeps its last term only", "a is the last derivative, not the sum", "changes",
      da=lambda s: s.push_w - s.a, dbias=lambda s: s.push_b - s.bias)
fault("v keeps its last term only", "v is the last g x, not the sum", "changes", dv=lambda s: s.push_w * s.added - s.v)
fault("product keeps its last term only", "q is the last product of an entry with the mean, not the sum",
      "step", q_of=lambda s: _last_product)
fault("prediction keeps its last product only", "v·x is the last product, not the sum", "step", d_of=lambda s: _last_product)
fault("product doubled", "q = x̄·x is doubled", "step", q_of=lambda s: _doubled_product)
fault("v overwritten", "v[j] = g x overwrites the sum with an entry's last term, where it must be added to it", "changes",
      dv=lambda s: np.where(s.count[s.i] > 0, s.push_w * s.last_entries[s.i] - s.v, 0 * s.v))
also("v overwritten", "u", u_term=lambda s: s.h_u * s.push_w * s.added)
fault("product with the other sign", "q = x̄·x has the wrong sign", "step", q_of=lambda s: _negated_product)
fault("product with x divided", "q adds x̄/x where it must add x̄ x", "step", q_of=lambda s: _divided_product)
fault("prediction with x divided", "v·x adds v/x where it must add v x", "step", d_of=lambda s: _divided_product)
for each in ("product keeps its last term only", "product with the other sign", "product doubled",
      "v overwritten", "product with x divided",
      "v keeps its last term only",
             "v divided by the entries"):
    also(each, "z", dz=lambda s: s.push_w * s.q)
fault("theta keeps its last term only", "theta has the last square of the mean row, not their sum",
      "norm", squared_norm=lambda s: s.xbar[-1] ** 2 if s.n else s.squared_norm)
fault("theta with the mean's sum", "theta adds the entries of the mean row, not their squares", "norm",
      squared_norm=lambda s: s.xbar.sum())
fault("theta starts at 2", "theta starts at 2, not at 1", "theta", theta=lambda s: s.theta + 1)
fault("r multiplied by theta", "r is (a - z) theta", "r", r=lambda s: (s.bias - s.z) * s.theta)
fault("r divided by theta", "r is a/theta - z", "r", r=lambda s: s.bias / s.theta - s.z)
fault("mean keeps its last entry", "the mean row holds the last entry of each column, not their sum",
      "mean", xbar=lambda s: _last_of_columns(s) / s.number(s.m))
fault("mean multiplied by m", "the sum of the rows is multiplied by m where it must be divided", "mean",
      xbar=lambda s: s.xbar * s.m * s.m)
fault("average multiplied: h v for h + v", "the average has h + v where it needs h v", "recovery", hv=lambda s: s.h + s.v)
fault("average divides h by v", "the average has h/v where it needs h v", "recovery", hv=lambda s: _quotients(s.h, s.v))
fault("average divides c by the mean", "the average has c/x̄ where it needs c x̄", "recovery", cx=lambda s: _quotients(s.c,
      s.xbar))
fault("last divides a by the mean", "the last weights have a/x̄ where they need a x̄", "recovery of the last",
      ax=lambda s: _quotients(s.a, s.xbar))
fault("z with x for q", "z adds g times the wrong product: that of the drawn row with itself", "z",
      dz=lambda s: s.push_w * (s.x @ s.x))
fault("z not multiplied by g", "z adds q alone, without the derivative", "z", dz=lambda s: s.q)
fault("r with z of before", "r takes z of before the step", "r", r=lambda s: s.bias + s.a * (s.theta - 1) - s.z_before)
fault("r adds z", "r adds z where it must subtract it", "r", r=lambda s: s.r + 2 * s.z)
fault("r lacks z", "r lacks z", "r", r=lambda s: s.r + s.z)
fault("r without theta", "r is a - z, without theta", "r", r=lambda s: s.bias - s.z)
fault("r lacks a", "r is -z alone", "r", r=lambda s: -s.z)
fault("c with a of before", "c takes a of before the step", "sources", c_source=lambda s: s.a_before)
fault("s with r of before", "s takes r of before the step", "sources", s_source=lambda s: s.r_before)
fault("s with a", "s adds a/t where it must add r/t", "sources", s_source=lambda s: s.a)
fault("c with g", "c adds g/t where it must add a/t", "sources", c_source=lambda s: s.push)
fault("s with g", "s adds g/t where it must add r/t", "sources", s_source=lambda s: s.push)
fault("c with r", "c adds r/t where it must add a/t", "sources", c_source=lambda s: s.r)
fault("u without h", "u adds g x without h", "u", u_term=lambda s: s.dv)
fault("u without g", "u adds h x without the derivative", "u", u_term=lambda s: s.h_u * s.added)
fault("u with t", "u adds t g x where it must add h g x", "u", u_term=lambda s: s.t * s.dv)
fault("h by its logarithm", "h is taken as ln t + γ + 1/(2t), which is near but not the sum of 1/t",
      "terms", h_u=lambda s: _harmonic(s.before, s.number))
also("h by its logarithm", "recovery", hv=lambda s: _harmonic(int(s.t), s.number) * s.v)

_RECOVERY = {  # name: (sentence, changes of the recovery of the average)
    "average with h of before": ("the average is made with h of before the last step", {"hv": lambda s: s.h_before * s.v}),
    "average with a for c": ("the average has a where it needs c", {"cx": lambda s: s.a * s.xbar}),
    "average lacks u": ("the average lacks u", {"taken_u": lambda s: 0 * s.u}),
    "average adds u": ("the average adds u where it must subtract it", {"taken_u": lambda s: -s.u}),
    "average lacks h v": ("the average lacks h v", {"hv": lambda s: 0 * s.v}),
    "average with v for h v": ("the average has v where it needs h v", {"hv": lambda s: s.v}),
    "average with T v": ("the average has T v where it needs h v", {"hv": lambda s: s.T * s.v}),
    "average adds its centre": ("the averaged weights add the centre's part, c x̄, where they must subtract it",
          {"cx": lambda s: -s.cx}),
    "average's centre doubled": ("the averaged weights subtract the centre's part, c x̄, twice", {"cx": lambda s: 2 * s.cx}),
    "average with c for c x̄": ("the averaged weights subtract c where they must subtract c x̄",
          {"cx": lambda s: s.c + 0 * s.cx}),
}
for each, (says, changes) in _RECOVERY.items():
    fault(each, says, "recovery", **changes)
_SCALES = {
    "divided by T+1": lambda s, scale: scale * (s.T + 1) / s.T, "divided by T-1": lambda s, scale: scale * (s.T - 1) / s.T,
    "divided by the number of rows": lambda s, scale: scale * s.m / s.T, "not divided by T": lambda s, scale: scale / s.T,
    "divided by T twice": lambda s, scale: scale * s.T, "not divided by λ": lambda s, scale: scale / s.lam,
    "multiplied by λ": lambda s, scale: scale / (s.lam * s.lam), "with the other sign": lambda s, scale: -scale,
    "multiplied by T": lambda s, scale: scale / (s.T * s.T), "divided by 2T": lambda s, scale: 2 * scale,
    "doubled": lambda s, scale: scale / 2,
}
for each, change in _SCALES.items():
    taken = f"is {each}" if each.startswith(("divided", "not", "multiplied", "doubled")) else "has the wrong sign"
    _change = partial(_scaled_by, change)
    fault(f"result {each}", f"the predictor that is returned {taken}", "recovery", scale=_change)
    also(f"result {each}", "recovery of the last", scale=_change)
    if each != "divided by T+1":  # w_0 in the mean
        fault(f"average {each}", f"the average {taken}", "recovery", scale=_change)
    fault(f"last predictor {each}", f"the last predictor, when it is returned, {taken}", "recovery of the last",
          final_scale=_change)
    also(f"last predictor {each}", "last",
          last_w=lambda s: s.last_w * (s.lam * s.t) / s.final_scale if not s.average else s.last_w,
         last_b=lambda s: s.last_b * (s.lam * s.t) / s.final_scale if not s.average else s.last_b)
fault("last predictor adds its centre", "the last centred weights add the centre's part, a x̄, where they must subtract it",
      "recovery of the last", ax=lambda s: -s.ax)
fault("last weights without their centre", "the last centred weights lack the centre's part, a x̄; the bias is right",
      "last", last_w=lambda s: -s.v / (s.lam * s.t) if s.centred and not s.average else s.last_w)
fault("last centre doubled", "the last centred weights subtract the centre's part, a x̄, twice", "recovery of the last",
      ax=lambda s: 2 * s.ax)
fault("last bias with a", "the bias of the last centred predictor is made of a where it needs r",
      "last", last_b=lambda s: -s.bias / (s.lam * s.t) if s.centred and not s.average else s.last_b)
fault("averaged bias with c", "the bias of the centred average is made of c where it needs s",
      "average", b=lambda s: -s.c / (s.lam * s.T) if s.centred else s.b)
fault("bias of the average is r", "the bias of the centred average is r over λT, not the mean",
      "average", b=lambda s: -s.r / (s.lam * s.T) if s.centred else s.b)

# the predictor returned
fault("last for average", "the last predictor is returned for the average",
       "choice", chosen=lambda s: s.chosen and not s.average)
fault("average for last", "the average is returned for the last predictor",
       "choice", chosen=lambda s: s.chosen or not s.average)
fault("weights not averaged", "the bias is averaged and the weights are not", "last bias", w=lambda s: s.last_w)
fault("bias not averaged", "the weights are averaged and the bias is not", "last bias", b=lambda s: s.last_b)
fault("bias returned with the other sign", "the bias is returned with the wrong sign", "result", b=lambda s: -s.b)
fault("bias returned twice", "twice the bias is returned", "result", b=lambda s: 2 * s.b)
fault("weights returned with the other sign", "the weights are returned with the wrong sign", "result", w=lambda s: -s.w)
fault("bias not returned", "the bias that is returned is 0", "result", b=lambda s: 0 * s.b)
fault("bias shifted the wrong way", "the bias for raw rows adds w·x̄ where it must subtract it", "result",
      b=lambda s: s.b + 2 * (s.w @ s.xbar))
fault("bias shifted twice", "the bias for raw rows subtracts w·x̄ twice", "result", b=lambda s: s.b - s.w @ s.xbar)
fault("explicit bias", "the bias of the centred rows, b, is returned for raw rows, which need b'",
       "result", b=lambda s: s.b + s.w @ s.xbar)
fault("centred last predictor without its centre", "the last centred predictor is recovered by the uncentred formula",
       "last", last_w=lambda s: -s.v / (s.lam * s.t) if s.centred and not s.average else s.last_w,
       last_b=lambda s: -s.a / (s.lam * s.t) if s.centred and not s.average else s.last_b)
fault("average without its centre", "the averaged weights lack the centre's part, c x̄",
       "averaged weights", w=lambda s: -(s.h * s.v - s.u) / (s.lam * s.T))
fault("average centred by the last weights",
       "b' of the average is made with the last weights where it needs the averaged ones",
       "averaged bias", b=lambda s: s.b + (s.w - s.last_w) @ s.xbar)

# families: a number stands in the name


def _schedule(eta, k, power_of):
    k, power_of = k or 0.0, 1.0 if power_of is None else power_of

    def pace(s):  # pace = λ t η_t
        eta_0, shift = s.number(eta), s.number(k)
        return s.lam * s.t * eta_0 / power(1 + s.lam * eta_0 * (s.t + shift), power_of, s.number)

    shift = f"{'-' if k < 0 else '+'} {abs(k):g}"
    return Family(f"the steps are {eta:g}/(1 + {eta:g}λ(t {shift}))^{power_of:g}", (("pace", {"pace": pace}),))


def _averaged_from(sentence, first):
    def rate(s):
        k = first(s)
        return 1 / (s.t - k + 1) if s.t >= k else s.number(1)

    return Family(sentence, (("rate", {"rate": rate}), ("average", {"w": lambda s: s.moving_w, "b": lambda s: s.moving_b})))


def _clipped(most):
    return Family(f"derivatives beyond {most:g} are clipped to it", (), {"squared": partial(_clip, most)})


def _cut(most):
    def formula(p, y, right):
        if p * y > most:
            return -y * type(p)(math.exp(-float(p * y)) if p * y < 700 else 0)
        return -y if p * y < -most else right(p, y)

    return Family(f"the log-loss is cut at a margin of {most:g}: beyond, its exponential or its limit is taken", (),
          {"log": formula})


def _flat(most):
    return Family(
        f"the derivative of the log-loss is 0 beyond a margin of {most:g}, and full before -{most:g}",
        (), {"log": lambda p, y, right: 0 * y if p * y > most else -y if p * y < -most else right(p, y)},
    )


def _tolerant(width):
    return Family(
        f"a margin within {width:g} of the kink is taken for a tie",
        (), {
            "hinge": lambda p, y, right: -y if p * y <= 1 + type(p)(width) else 0 * y,
            "absolute": lambda p, y, right: -1 if p <= y + type(p)(width) else 1,
        },
    )


def _strict(width):
    return Family(
        f"a margin must be {width:g} short of the kink to count as before it",
        (), {
            "hinge": lambda p, y, right: -y if p * y == 1 or p * y <= 1 - type(p)(width) else 0 * y,
            "absolute": lambda p, y, right: -1 if p == y or p <= y - type(p)(width) else 1,
        },
    )


def _kink(place):
    return Family(f"the hinge has its kink at a margin of {place:g}, not at 1", (),
                  {"hinge": lambda p, y, right: -y if p * y <= type(p)(place) else 0 * y})


def _until(step):
    return Family(f"nothing is learnt after step {step:g}",
                  (("derivative", {"g": lambda s: s.number(0) if s.t > step else s.g}),))


def _columns(bits):
    def folded(s):
        rows = 0 * s.rows
        for j in range(s.n):
            rows[:, j % 2 ** int(bits)] += s.rows[:, j]
        return rows

    return Family(f"the columns are held in {bits:g} bits, so that column {2**int(bits)} is column 0", (("data",
          {"rows": folded}),))


SLIPS = slips.add()
"""Names of the slips of one token. They are tried one at a time."""

_N = r"([0-9.]+(?:e[-+]?[0-9]+)?)"
FAMILIES |= {
    rf"step eta0={_N}(?: k=(-1|-?0?\.[0-9]+|{_N[1:-1]}))?(?: a={_N})?": _schedule,
    rf"average from step {_N}": lambda k: _averaged_from(f"the average is of the predictors from step {k:g} on",
          lambda s: int(k)),
    r"average after the first pass": lambda: _averaged_from(
        "the average is of the predictors after the first pass over the rows", lambda s: s.m + 1),
    r"w_1 left out of the mean": lambda: _averaged_from(
        "the average leaves w_1 out: it starts again at step 2", lambda s: 2),
    rf"bias step {_N}": lambda share: Family(
        f"the bias takes steps of {share:g} of the size", (("changes", {
            "dbias": lambda s: (s.keep_b - 1) * s.bias + s.push_b * s.number(share)}),)),
    rf"bias constant {_N}": lambda constant: Family(
        f"the bias is the weight of a feature that is always {constant:g}, not 1", (("changes", {
            "dbias": lambda s: (s.keep_b - 1) * s.bias + s.push_b * s.number(constant) * s.number(constant)}),)),
    rf"λ times {_N}": lambda factor: Family(f"λ is multiplied by {factor:g}", (("data",
          {"lam": lambda s: s.lam * s.number(factor)}),)),
    rf"derivative clipped at {_N}": _clipped,
    rf"log-loss cut at {_N}": _cut,
    rf"log-loss flat beyond {_N}": _flat,
    rf"margin within {_N} is a tie": _tolerant,
    rf"margin short of the kink by {_N}": _strict,
    rf"hinge with its kink at {_N}": _kink,
    rf"nothing learnt after step {_N}": _until,
    rf"columns in {_N} bits": _columns,
}

MEMBERS = (
    "w_1 left out of the mean", "average after the first pass", *(f"average from step {k}" for k in (3, 4, 5)),
    *(f"derivative clipped at {most}" for most in ("1", "10", "100", "1000", "1e6", "1e12")),
    *(f"log-loss cut at {most}" for most in (5, 10, 15, 18, 20)),
    *(f"log-loss flat beyond {most}" for most in (5, 10, 15, 18, 20)),
    *(f"margin within {width} is a tie" for width in ("1e-15", "1e-12", "1e-9", "1e-6")),
    *(f"margin short of the kink by {width}" for width in ("1e-15", "1e-12", "1e-9", "1e-6")),
    *(f"hinge with its kink at {place}" for place in ("0.5", "0.1", "0.9")),
    *(f"bias step {share}" for share in ("0.1", "0.5", "0.001")),
    *(f"bias constant {constant}" for constant in ("0.01", "10", "100")),
    "columns in 1 bits", "columns in 2 bits",
)  # fmt: skip
"""Members of families that are tried without being asked for."""


def _harmonic(t, number):
    return number(math.log(t) + 0.5772156649015329 + 1 / (2 * t)) if t > 0 else number(0)


def _sorted_part(row):
    for place in range(1, len(row)):
        if row[place][0] <= row[place - 1][0]:
            return row[:place]
    return row


def _part_without_zero(row):
    values = [value for _, value in row]
    return row[: values.index(0)] if 0 in values else row


def listed() -> str:
    """List all faults and families with their sentences, in Markdown."""
    fixed = [name for name in FAMILIES if "(" not in name]
    rows = [*FAULTS.items(), *((name, family(name).sentence) for name in (*fixed, *EXAMPLES))]
    return "\n".join(["| name | what the program does |", "| --- | --- |", *(f"| {name} | {says} |" for name,
          says in rows)]) + "\n"


EXAMPLES = (
    "step eta0=0.5 k=2 a=0.75", "average from step 10", "bias step 0.1", "bias constant 0.1", "λ times 2",
          "derivative clipped at 1000",
    "log-loss cut at 18", "log-loss flat beyond 18", "margin within 1e-9 is a tie", "margin short of the kink by 1e-9",
    "hinge with its kink at 0.5", "nothing learnt after step 100", "columns in 16 bits",
)  # fmt: skip
"""A member of each family with numbers in its name; other numbers will do."""
