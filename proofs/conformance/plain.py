"""Run the paper's recurrences on dense rows, right or with faults: a third implementation beside `reference` and `efficient`.

A fault changes what one stage of the program has just computed; several faults can be had at once. The uncentred algorithms
are the centred ones with x̄ = 0. The faults stand in `faults.py`.

This module, as all that runs a check, needs numpy alone: so Table 1 is written here once more, and tests compare.
"""

import decimal
import difflib
import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from fractions import Fraction
from functools import cache, partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

FAULTS: dict[str, str] = {}
"""Name of each fault, and the sentence that tells its author what is wrong; filled by `faults`."""

_PATCHES: list[tuple[str, str, Callable[[SimpleNamespace], object]]] = []
"""Fault, the stage after which it acts, and the patch. Patches of one stage act in the order of this list."""

PER_PREFIX = {"indices off by one", "cyclic order", "draws sorted", "repeated draws skipped", "mean of the draws",
              "last gradient left out", "as many steps as rows", "first draw dropped"}  # fmt: skip
"""Faults that look at all draws in advance: a run has to be made for each number of steps."""

RAW = {"last", "averaged weights", "recovery", "recovery of the last", "u", "terms", "sums", "sources"}
"""Stages after which faults may leave out the centre, and with it what cancels between v and a x̄."""

WRONG_DERIVATIVES: dict[str, dict[str, Callable]] = {}
"""Faults of the loss: for each loss that has it, the wrong derivative of p, y and the right one; filled by `faults`."""

DERIVATIVES: dict[str, Callable[[Any, Any], Any]] = {
    "absolute": lambda p, y: -1 if p <= y else 1,
    "squared": lambda p, y: p - y,
    "hinge": lambda p, y: -y if p * y <= 1 else 0 * y,
    "log": lambda p, y: _log(p, y),
}
"""Table 1 (tab:losses): the derivative that the paper takes."""

EPS = 2.0**-52


class Family(NamedTuple):
    """Fault with numbers in its name: its sentence, what it changes after which stages, and wrong derivatives by loss."""

    sentence: str
    changes: tuple[tuple[str, dict[str, Callable]], ...] = ()
    derivatives: dict[str, Callable] = {}  # noqa: RUF012

    @property
    def patches(self) -> list[tuple[str, Callable[[SimpleNamespace], object]]]:
        return [(stage, _patch(formulas)) for stage, formulas in self.changes]


FAMILIES: dict[str, Callable[..., Family]] = {}
"""Pattern of the name, and what makes the fault of the numbers in it; filled by `faults`."""


@cache
def family(name: str) -> Family:
    """Find the fault with numbers in its name.

    Raises
    ------
    ValueError
        There is none; names the nearest.
    """
    for pattern, make in FAMILIES.items():
        if found := re.fullmatch(pattern, name):
            return make(*(number and float(number) for number in found.groups()))
    if name.startswith("step eta0"):
        raise ValueError(f"a step must be 'step eta0=E k=K a=A' with K >= -1; k is 0 and a is 1 if left out; got {name!r}")
    near = difflib.get_close_matches(name, FAULTS, 3, 0.5)
    raise ValueError(
        f"fault must be one of those that the kit's README lists; got {name!r}"
        + (f". Do you mean {', '.join(map(repr, near))}?" if near else "")
    )


def sentence(name: str) -> str:
    """Say what a program with this fault does."""
    return FAULTS[name] if name in FAULTS else family(name).sentence


class Trace(NamedTuple):
    """Predictor and its history: the predictions, the derivatives and the labels as they were taken, for every step.

    `e` bounds how far float64 may be off in each prediction, `off` in each weight and in the bias, if that was asked.
    `others` are predictions that a fault takes besides, with their labels.
    """

    w: np.ndarray
    b: Any
    p: list
    g: list
    y: list
    e: list
    off: tuple[float, float]
    others: list


def train(X, y, loss, lam, indices, average, centred, fault=None):
    """Predictor of the paper's recurrences with a fault, several or none: (w, b)."""
    run = trace(X, y, loss, lam, indices, average, centred, fault)
    return run.w, run.b


def trace(X, y, loss, lam, indices, average, centred, fault: str | Collection[str] | None = None) -> Trace:
    """Run `train` and keep its history; in float64 or exact arithmetic, as λ is."""
    return traces(_entries_of(X), X.shape, y, loss, lam, indices, average, centred, fault, [len(indices)])[0]


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def traces(
    entries: Iterable[tuple],
    shape,
    y,
    loss,
    lam,
    indices,
    average,
    centred,
    fault: Collection[str] | str | None,
    times: Sequence[int],
    *,
    bounded: bool = False,
) -> list[Trace]:
    """Run `train` for several numbers of steps, in one run if the faults allow.

    Parameters
    ----------
    entries : (row, column, value) as they are stored
    shape : (m, n)
    times : ascending numbers of steps
    bounded : bool
        Bound the rounding of float64 as well.
    """
    faults = frozenset({fault} if isinstance(fault, str) else fault or ())
    patches = _patches_of(faults)
    if faults & PER_PREFIX and len(times) > 1:
        entries = list(entries)
        prefixes = (([t], indices[:t]) for t in times)
        return [
            traces(entries, shape, y, loss, lam, drawn, average, centred, faults, last, bounded=bounded)[0]
            for last, drawn in prefixes
        ]

    def patch(stage: str) -> None:
        for change in patches.get(stage, ()):
            change(s)

    number: Any = Fraction if isinstance(lam, Fraction) else np.float64
    s = SimpleNamespace(number=number, lam=number(lam), average=average, centred=centred, loss=loss)
    s.dloss, s.binary = derivative(loss, number, faults), loss in ("hinge", "log")
    s.bounded, s.projects = bounded and number is np.float64, False
    s.recovers_raw = bool(patches.keys() & RAW)
    _prepare(s, entries, shape, y, indices, patch)
    found, wanted, steps = [], list(times), len(s.steps)
    for place, (t, i) in enumerate(s.steps, start=1):
        _step(s, t, i, patch)
        while wanted and (place == wanted[0] + s.again or place == steps):
            s.T = number(wanted.pop(0))
            _recover(s, patch)
            found.append(Trace(s.w, s.b, list(s.ps), list(s.gs), list(s.ys), list(s.es), _off(s), list(s.others)))
    return found


@cache
def _patches_of(faults: frozenset[str]) -> dict[str, list]:
    """Find the patches of each stage."""
    chosen: dict[str, list] = {}
    for name, stage, change in _PATCHES:
        if name in faults:
            chosen.setdefault(stage, []).append(change)
    for name in sorted(faults - FAULTS.keys()):
        for stage, change in family(name).patches:
            chosen.setdefault(stage, []).append(change)
    return chosen


def _prepare(s, entries, shape, y, indices, patch) -> None:
    """Rows, labels, draws, x̄ and θ, and the sums before the first step."""
    number = s.number
    s.entries = list(entries)
    s.rows, s.last_entries, s.count = _dense_rows(s.entries, shape, number)
    s.m, s.n = s.rows.shape
    s.y, s.indices = [number(label) for label in np.asarray(y, dtype=object)], [int(i) for i in indices]
    patch("data")
    s.averaged = s.rows
    patch("rows")
    s.xbar = np.full(s.n, number(0), dtype=s.rows.dtype)
    if s.centred:
        s.xbar = s.averaged.sum(axis=0) / number(s.m)
        patch("mean")
    s.squared_norm = s.xbar @ s.xbar
    patch("norm")
    s.theta = 1 + s.squared_norm
    if s.centred:
        patch("theta")
    s.steps = list(enumerate(s.indices, start=1))
    s.again = s.divides_by_0 = False
    patch("loop")
    if s.again:
        s.steps.insert(0, (1, s.indices[0]))
    patch("steps")
    s.last_t = len(s.steps)
    s.v, s.u, s.moving_w = 0 * s.xbar, 0 * s.xbar, 0 * s.xbar
    # `bias` is a where it makes the bias, a itself is where it subtracts x̄ from the rows; some faults part them
    s.a = s.bias = s.c = s.h = s.z = s.r = s.s = s.moving_b = number(0)
    s.h_before = s.a_before = s.r_before = number(0)
    s.ps, s.gs, s.ys, s.es, s.others = [], [], [], [], []
    if s.bounded:
        _prepare_bounds(s)


def _step(s, t, i, patch) -> None:
    """Predict, differentiate, and bring all sums from t − 1 to t."""
    number = s.number
    s.i, s.before, s.t, s.label = i, t - 1, number(t), s.y[i]
    s.x = s.added = s.dotted = s.rows[i]
    s.q_of = s.d_of = None
    patch("step")
    s.q = s.q_of(s, s.xbar) if s.q_of else s.xbar @ s.x
    s.d, s.own, s.aq, s.p = s.d_of(s, s.v) if s.d_of else s.v @ s.dotted, s.r, s.a * s.q, number(0)
    if s.d != s.d:  # something infinite, which only stored entries meet
        stored = s.count[i] > 0
        s.d = s.v[stored] @ s.dotted[stored]
    s.pace_before = s.lam * s.before
    if s.before > 0 or (s.h > 0 and s.divides_by_0):
        patch("centred prediction")
        patch("pace before")
        s.p = -(s.d + s.own - s.aq) / s.pace_before
        patch("prediction")
    s.g = s.dloss(s.p, s.label)
    patch("derivative")
    if s.bounded:
        _bound_prediction(s)
    for values, value in zip((s.ps, s.gs, s.ys), (s.p, s.g, s.label), strict=True):
        values.append(value)

    # w_t = (1 − pace/t) w_{t−1} − push/(λt) x: the sums −λt w_t keep (t − pace)/(t − 1) of themselves, all if pace is 1
    s.pace = number(1)
    patch("pace")
    s.push = s.pace * s.g
    patch("push")
    s.push_w = s.push_b = s.push
    patch("pushes")
    s.keep_w = s.keep_b = (s.t - s.pace) / s.before if s.before > 0 else number(1)
    s.unshrunk = s.t / s.before if s.before > 0 else number(1)
    patch("keep")
    s.keep_v = s.keep_w
    patch("keep v")
    s.dv = (s.keep_v - 1) * s.v + s.push_w * s.added
    s.da, s.dbias = (s.keep_w - 1) * s.a + s.push_w, (s.keep_b - 1) * s.bias + s.push_b
    if s.bounded:
        _bound_step(s)
    patch("changes")
    s.a_before, s.r_before, s.h_before = s.a, s.r, s.h
    s.v, s.a, s.bias, s.dz = s.v + s.dv, s.a + s.da, s.bias + s.dbias, s.dv @ s.xbar
    patch("z")
    s.z_before, s.z = s.z, s.z + s.dz
    s.r = s.bias + s.a * (s.theta - 1) - s.z
    patch("r")
    s.waits = False
    patch("sums wait")
    if s.waits:
        return
    _average(s, patch)


def _average(s, patch) -> None:
    """Bring u, h, c and s, and the running averages that some take for the mean, to step t."""
    s.c_source, s.s_source, s.one = s.a if s.centred else s.bias, s.r, s.number(1)
    patch("sources")
    s.h_u, s.h_term, s.c_term, s.s_term = s.h, s.one / s.t, s.c_source / s.t, s.s_source / s.t
    patch("terms")
    s.u_term = s.h_u * s.dv
    patch("u")
    s.u, s.h = s.u + s.u_term, s.h + s.h_term
    s.c, s.s = s.c + s.c_term, s.s + s.s_term
    patch("sums")
    s.rate = s.number(1)
    patch("rate")
    s.moving_w = s.moving_w + s.rate * (-(s.v - s.a * s.xbar) / (s.lam * s.t) - s.moving_w)
    s.moving_b = s.moving_b + s.rate * (-s.r / (s.lam * s.t) - s.moving_b)


def _recover(s, patch) -> None:
    """(w, b) for raw rows, from the sums."""
    s.scale = s.lam * s.t
    s.ax, s.last_r = s.a * s.xbar, s.r
    patch("recovery of the last")
    s.last_w, s.last_b = -(s.v - s.ax) / s.scale, -s.last_r / s.scale
    s.scale, s.hv, s.cx, s.taken_u = s.lam * s.T, s.h * s.v, s.c * s.xbar, s.u
    patch("recovery")
    s.w = -(s.hv - s.taken_u - s.cx) / s.scale
    s.b = -(s.s if s.centred else s.c) / s.scale
    for stage in ("averaged weights", "average", "averaged bias", "last bias", "last"):
        patch(stage)
    s.chosen = s.average
    patch("choice")
    if not s.chosen:
        s.w, s.b = s.last_w, s.last_b
    patch("result")


# how far float64 may be off: as in bounds.py, but following the sums of the faulty program


def _prepare_bounds(s) -> None:
    """Sizes |x| + μ, and the errors and the sizes of v and of the bias sum before the first step."""
    s.mean_size = abs(s.averaged).mean(axis=0) if s.centred else 0 * s.xbar
    s.once = 10 + int(s.count.sum(axis=1).max(initial=0)) + (2 * (s.m + s.n) if s.centred else 0)
    s.error_v, s.error_b, s.size_v, s.size_b, s.error_raw = 0 * s.xbar, 0.0, 0 * s.xbar, 0.0, 0 * s.xbar
    s.most_w, s.most_b = 0.0, 0.0


def _bound_prediction(s) -> None:
    """Bound the error of p, and s.slack, that of g, as long as no kink is between the two."""
    made = (4 * float(s.t) + s.once) * EPS * (s.size_v @ (abs(s.x) + s.mean_size) + s.size_b)
    handed_on = s.error_v @ abs(s.x - s.xbar) + s.error_b
    e = (handed_on + made) / (float(s.lam) * s.before) if s.before > 0 else 0.0
    s.es.append(e)
    moved = max(abs(s.dloss(s.p + change, s.label) - s.dloss(s.p, s.label)) for change in (-e, e))
    exact = s.loss in ("absolute", "hinge") and abs(s.g) in (0, 1)
    s.slack = 0.0 if exact else 2 * moved + 4 * EPS * max(1.0, abs(s.g))


def _bound_step(s) -> None:
    """Bring the errors and the sizes to step t."""
    pace, size = abs(s.pace), abs(s.added) + s.mean_size
    s.error_v = abs(s.keep_v) * s.error_v + pace * s.slack * abs(s.added - s.xbar)
    s.error_b = abs(s.keep_b) * s.error_b + pace * s.slack
    s.error_raw = abs(s.keep_v) * s.error_raw + pace * s.slack * abs(s.added)
    s.size_v = abs(s.keep_v) * s.size_v + abs(s.push_w) * size
    s.size_b = abs(s.keep_b) * s.size_b + abs(s.push_b)
    if s.projects:  # a projection is no expansion, but spreads an error over all entries
        norm, error = math.hypot(*s.v, s.bias), math.hypot(*s.error_v, s.error_b)
        s.error_v, s.error_b = s.error_v + error * abs(s.v) / (norm or 1), s.error_b + error * abs(s.bias) / (norm or 1)
    scale, roundings = s.lam * s.t, (6 * float(s.t) + s.once) * EPS
    # a faulty recovery may leave out the centre, and with it what cancels between v and a x̄
    of_v = (s.error_raw if s.recovers_raw else s.error_v) + roundings * s.size_v
    of_b = of_v @ (abs(s.xbar) + s.mean_size) + s.error_b + roundings * s.size_b
    s.most_w, s.most_b = max(s.most_w, of_v.max(initial=0) / scale), max(s.most_b, of_b / scale)


def _off(s) -> tuple[float, float]:
    """Bound the errors of w and b: the largest of all steps, as means may take any; 1 + ln T bounds h_T."""
    if not s.bounded:
        return 0.0, 0.0
    times = 8 * (1 + math.log(len(s.ps))) if s.average else 2.0
    return times * s.most_w, times * s.most_b


def _entries_of(X) -> Iterable[tuple]:
    if hasattr(X, "indptr"):
        return zip(np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), X.indices, X.data.tolist(), strict=True)
    return ((*place, value) for place, value in np.ndenumerate(np.asarray(X, dtype=object)))


def _dense_rows(entries: Iterable[tuple], shape, number) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows whose repeated entries add up; rows of which only the last entry counts; number of entries stored where."""
    rows = np.full(shape, number(0), dtype=np.float64 if number is np.float64 else object)
    last_entries, count = rows.copy(), np.zeros(shape, dtype=int)
    for i, j, value in entries:
        last_entries[i, j] = number(value)
        rows[i, j] = rows[i, j] + last_entries[i, j]
        count[i, j] += 1
    return rows, last_entries, count


def rebuilt(s, change: Callable[[list], list]) -> np.ndarray:
    """Make the rows again after each row's list of (column, value) went through a function."""
    stored: list[list] = [[] for _ in range(s.m)]
    for i, j, value in s.entries:
        stored[i].append((int(j), value))
    changed = [(i, j, value) for i, row in enumerate(stored) for j, value in change(row)]
    rows, s.last_entries, s.count = _dense_rows(changed, s.rows.shape, s.number)
    return rows


def onto_ball(s):
    """Factor that brings the predictor −[w, b]/(λt) of after this step into the ball of radius 1/√λ."""
    w, b = s.v + s.dv - (s.a + s.da) * s.xbar, s.bias + s.dbias
    squared = (w @ w + b * b) / (s.lam * s.t * s.t)
    return s.number(1) if squared <= 1 else 1 / root(squared, s.number)


def single(name: str, s):
    """Value of a sum in single precision, unless the run is exact."""
    value = getattr(s, name)
    return value if s.number is not np.float64 else value.astype(np.float32).astype(np.float64)


def after_first(rate, s):
    """Rate of a running average from its second step on."""
    return rate(s) if s.t > 1 else s.rate


def fault(name: str, sentence: str, stage: str, **changes: Callable[[SimpleNamespace], Any]) -> None:
    """Add a known fault that changes some numbers of a stage, each by a function of them all."""
    FAULTS[name] = sentence
    also(name, stage, **changes)


def also(name: str, stage: str, **changes: Callable[[SimpleNamespace], Any]) -> None:
    """Let a fault change another stage as well."""
    _PATCHES.append((name, stage, _patch(changes)))


def _patch(changes: dict[str, Callable]) -> Callable[[SimpleNamespace], object]:
    return lambda s: vars(s).update({number: formula(s) for number, formula in changes.items()})


def derivative(loss: str, number, faults: Collection[str] = ()) -> Callable[[Any, Any], Any]:
    """ℓ' of Table 1 in the arithmetic of `number`, with those of the faults that are of this loss."""
    formula = DERIVATIVES[loss]
    if loss == "log" and number is Fraction:
        formula = _log_on_grid
    for fault, wrong in WRONG_DERIVATIVES.items():
        if fault in faults and loss in wrong:
            formula = partial(_with_right, wrong[loss], formula)
    for name in sorted(set(faults) - FAULTS.keys()):
        if loss in family(name).derivatives:
            formula = partial(_with_right, family(name).derivatives[loss], formula)
    return formula


def _with_right(formula, right, p, y):
    return formula(p, y, right)


def exponential(margin):
    """Take the exponential; one that is too large is infinite, or a large fraction."""
    return type(margin)(math.exp(float(margin)) if margin < 700 else math.inf if isinstance(margin, float) else 10**304)


def _log(p, y):
    margin = p * y
    return -y / (1 + math.exp(margin)) if margin < 700 else -y * math.exp(-margin)


def _log_on_grid(p, y):
    """Round to the nearest multiple of 2^-128, as exact runs do; a faulty margin may be NaN."""
    margin = p * y
    if margin != margin:
        return margin
    if abs(margin) > 200:  # where 1 / (1 + exp(margin)) is 1 or 0 on the grid
        return -y if margin < 0 else 0 * y
    with decimal.localcontext(DIGITS):
        value = 1 / (1 + (decimal.Decimal(margin.numerator) / margin.denominator).exp())
    return -y * Fraction(round(Fraction(value) * 2**128), 2**128)


DIGITS = decimal.Context(prec=80)
"""Digits of roots, powers and exponentials in exact runs."""


def root(x, number):
    """Take the square root; of a fraction, rounded to 80 digits."""
    return power(x, 0.5, number)


def power(x, exponent: float, number):
    """Raise x to a power; a fraction is rounded to 80 digits if the power is no integer."""
    if number is not Fraction:
        return number(float(x) ** exponent)
    if exponent == int(exponent):
        return x ** int(exponent)
    with decimal.localcontext(DIGITS):
        return Fraction((decimal.Decimal(x.numerator) / x.denominator) ** decimal.Decimal(exponent))
