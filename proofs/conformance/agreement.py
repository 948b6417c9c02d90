"""Tell whether the plain program with some faults gives an implementation's answers: exactly, or to rounding.

The rounding allowed is bounded by following the faulty program's own sums. Where its derivative depends on rounding, the
result is left open.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from math import isfinite
from typing import NamedTuple

import numpy as np

from .answers import Answer, Reply, Trouble
from .cases import Case, Checkpoint
from .plain import EPS, PER_PREFIX, Trace, derivative, traces

Faults = frozenset[str]

ALIKE = 2.0**-10
"""Results that differ by more than this, relative to the largest number in them, do not differ by rounding."""


class Evidence(NamedTuple):
    """Replies to one case, and the places in its checkpoints that are wrong."""

    case: Case
    replies: Sequence[Reply]
    wrong: frozenset[int]


class Comparison(NamedTuple):
    """Comparison of a case: if a reply is another, how many rounding decides, if a wrong one is explained."""

    other: bool
    open: int = 0
    explained: bool = False


def compare(faults: Faults, each: Evidence, exact: bool) -> Comparison:
    """Compare the replies to a case with the faulty program's."""
    case, faults = each.case, faults | each.case.known
    left_open, explained = 0, False
    for place, (checkpoint, reply) in enumerate(zip(case.checkpoints, each.replies, strict=True)):
        wrong = place in each.wrong
        if isinstance(reply, Trouble):
            if reply.divides:
                if not _divides(faults, case, checkpoint.t):
                    return Comparison(True)
                explained = True
            continue
        if not (exact or checkpoint.held):
            continue
        runs = run_of(faults, case, exact)
        if runs is None:
            return Comparison(True)
        run = runs[place]
        agrees = (reply.w, reply.b) == (tuple(run.w), run.b) if exact else _agrees(reply, place, faults, case, wrong)
        if agrees is False:
            return Comparison(True)
        left_open += agrees is None
        explained |= wrong and agrees is True
    return Comparison(False, left_open, explained)


def _agrees(reply: Answer, place: int, faults: Faults, case: Case, wrong: bool) -> bool | None:
    """Tell whether a result is the faulty program's to rounding; None if it is not, and rounding decides the latter."""
    runs = run_of(faults, case, False)
    assert runs is not None
    run, checkpoint = runs[place], case.checkpoints[place]
    found, given = np.array([*reply.w, reply.b]), np.array([*run.w, run.b], dtype=float)
    finite = np.isfinite(given)
    if (np.isfinite(found) != finite).any():
        return False
    found, given = np.where(finite, found, 0), np.where(finite, given, 0)
    apart = abs(found - given)
    right, tolerance = right_of(checkpoint)
    # where the implementation is wrong, however little, the right results explain nothing
    is_right = wrong and finite.all() and bool((abs(given - right) <= tolerance).all())
    alike = bool((apart <= np.maximum(ALIKE * max(abs(given)), tolerance)).all())
    if alike and not is_right and (apart <= np.maximum(tolerance, 8 * (checkpoint.t + 4) * EPS * abs(given))).all():
        return True
    if not alike and not _near_kink(run, case, faults):
        return False
    bounded = run_of(faults, case, False, True)
    assert bounded is not None
    run = bounded[place]
    if _hangs_on_rounding(run, faults, case):
        return None
    if is_right or not alike:
        return False
    return bool((apart <= np.array([*[run.off[0]] * case.n, run.off[1]]) + tolerance).all())


@lru_cache(maxsize=1 << 15)
def run_of(faults: Faults, case: Case, exact: bool, bounded: bool = False) -> list[Trace] | None:
    """Run the plain program with these faults up to each checkpoint; None if it divides by zero."""
    try:
        return runs(faults, case, exact, bounded)
    except ZeroDivisionError:
        return None


@lru_cache(maxsize=1 << 10)
def _divides(faults: Faults, case: Case, t: int) -> bool:
    """Tell whether the plain program with these faults divides by zero on the way to step t."""
    try:
        runs(faults, case, True, t=t)
    except ZeroDivisionError:
        return True
    return False


def runs(faults: Faults, case: Case, exact: bool, bounded: bool = False, t: int | None = None) -> list[Trace]:
    """Run the plain program with these faults up to each checkpoint, or to step t."""
    entries = [(i, column, value) for i, row in enumerate(case.rows) for column, value in row]
    lam, shape = Fraction(case.lam) if exact else case.lam, (len(case.rows), case.n)
    times = [checkpoint.t for checkpoint in case.checkpoints] if t is None else [t]
    indices = case.indices[:t]
    return traces(entries, shape, case.y, case.loss, lam, indices, case.average, case.centred, faults, times, bounded=bounded)


@lru_cache(maxsize=1 << 12)
def right_of(checkpoint: Checkpoint) -> tuple[np.ndarray, np.ndarray]:
    """Convert the right weights and bias to floats, with their tolerances."""
    tolerance = [*[checkpoint.w_tolerance] * len(checkpoint.w), checkpoint.b_tolerance]
    return np.array([*checkpoint.w, checkpoint.b], dtype=float), np.array(tolerance, dtype=float)


def _near_kink(run: Trace, case: Case, faults: Faults) -> bool:
    """Tell whether some derivative jumps near the prediction, by a generous guess of its rounding."""
    return _any_jumps([*zip(run.p, run.y, strict=True), *run.others], case, faults)


def _any_jumps(taken: Sequence[tuple], case: Case, faults: Faults) -> bool:
    slope = derivative(case.loss, np.float64, faults)
    finite = [(p, y) for p, y in taken if isfinite(p)]
    size = 2.0**-20 * max([1.0, *(abs(p) for p, _ in finite)])
    return any(_jumps(slope, p, y, size) for p, y in finite)


def _hangs_on_rounding(run: Trace, faults: Faults, case: Case) -> bool:
    """Tell whether a faulty prediction is so near a kink that rounding decides its derivative."""
    return any(True for _ in undecided_steps(run, faults, case)) or _any_jumps(run.others, case, faults)


def undecided_steps(run: Trace, faults: Faults, case: Case) -> Iterable[int]:
    """Yield the steps of a bounded run in which rounding decides the derivative."""
    return (step for step in jumps(run, faults, case) if not _is_exact(run, faults, case, step))


def jumps(run: Trace, faults: Faults, case: Case) -> Iterable[int]:
    """Yield the steps of a bounded run whose derivative jumps within the bound of the prediction."""
    slope = derivative(case.loss, np.float64, faults)
    for step, (p, y, e) in enumerate(zip(run.p, run.y, run.e, strict=True), start=1):
        if isfinite(p) and _jumps(slope, p, y, e):
            yield step


@np.errstate(invalid="ignore", over="ignore")
def _jumps(slope: Callable, p: float, y: float, e: float) -> bool:
    """Tell whether the derivative jumps between p - e and p + e, as a faulty one may to infinity."""
    return abs(slope(p + e, y) - slope(p - e, y)) > 0.5


def _is_exact(run: Trace, faults: Faults, case: Case, step: int) -> bool:
    """Tell whether nothing was rounded up to the prediction of this step, in any order of computing: so that a tie is one."""
    divisors = (Fraction(case.lam), Fraction(len(case.rows) if case.centred else 1))
    if step == 1:
        return True
    if step > (2 if any(map(THIRDS.search, faults)) else 3) or not all(map(_is_power_of_two, divisors)):
        return False
    exact = _exact_predictions(faults, case, len(run.p) if faults & PER_PREFIX else min(3, len(run.p)))
    return exact is not None and all(map(isfinite, run.p[:step])) and [*map(Fraction, run.p[:step])] == exact[:step]


@lru_cache(maxsize=1 << 12)
def _exact_predictions(faults: Faults, case: Case, t: int) -> list[Fraction] | None:
    """Compute the predictions of the first steps exactly; None if something is divided by zero, or infinite."""
    try:
        return [Fraction(p) for p in runs(faults, case, True, t=t)[0].p]
    except (ZeroDivisionError, ValueError, OverflowError):
        return None


THIRDS = re.compile(r"t\+1|t-[12]|2t|√|step|row|mean over|stored|draws|skipped|logarithm|constant|clipped|dropped|1/C|λ")
"""Names of faults with which the third prediction may come of a division by 3; otherwise the fourth is the first that does."""


def _is_power_of_two(number: Fraction) -> bool:
    return all(part & (part - 1) == 0 for part in (number.numerator, number.denominator))


def all_act(faults: Faults, evidence: Iterable[Evidence], exact: bool) -> bool:
    """Tell whether each of these faults changes some prediction or result: one that does not explains nothing."""
    without = {name: faults - {name} for name in faults}
    for each in evidence:
        whole = run_of(faults | each.case.known, each.case, exact)
        without = {
            name: rest for name, rest in without.items() if _alike(whole, run_of(rest | each.case.known, each.case, exact))
        }
        if not without:
            return True
    return False


def _alike(runs: list[Trace] | None, others: list[Trace] | None) -> bool:
    """Tell whether two programs do the same, to the last bit."""
    if runs is None or others is None:
        return runs is others
    return all(
        repr([*one.w, one.b, *one.p]) == repr([*other.w, other.b, *other.p])  # NaN is NaN
        for one, other in zip(runs, others, strict=True)
    )
