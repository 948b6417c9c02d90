"""Diagnose a wrong implementation: the known faults that, each alone or two together, give all of its results.

A fault explains a run only if the plain program with it gives every result of the run to rounding, the right ones too. The
rounding allowed is the tolerance of the right result, scaled by how much larger the numbers of the faulty program are; or the
effect of nudging its predictions by their tolerance. Where its derivative depends on rounding, the result is left open.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import inf, isfinite
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from . import faults as known_faults
from .answers import Answer, Reply, Trouble
from .cases import Case, Checkpoint
from .verdicts import Result

Faults = frozenset[str]

ALIKE = 2.0**-10
"""Results that differ by more than this, relative to the largest number in them, do not differ by rounding."""

THIRDS = {"prediction over t", "step 1/(λ(t+1))", "mean of the draws", "mean of stored entries", "repeated draws skipped"}
"""The faults with which the third prediction may come of a division by 3; otherwise the fourth is the first that does."""

ASKED_AGAIN = 5
"""How many of the failed cases are put a second time, the longest: in one, other draws may happen to give the same."""

SINGLES = tuple(frozenset({fault}) for fault in known_faults.FAULTS if fault != "single precision")
"""Each known fault alone. Single precision is none of them, as each program rounds in its own way: see `precision`."""

PARTS: dict[str, Callable[[Case], str]] = {
    "run": lambda case: "",
    "algorithm": lambda case: case.algorithm,
    "loss": lambda case: case.loss,
    "file": lambda case: f"{case.algorithm} with {case.loss}",
}
"""Parts of a run that may have a fault each, and the name of the one that a case is in."""


class Finding(NamedTuple):
    """Explanation in words.

    `faults` are those that explain the results, any one of them as well as another; none if it is something else. `where` are
    the algorithms, losses or pairs of these ("asgd with log") of whose results it is true; empty if of all.
    """

    text: str
    faults: tuple[Faults, ...] = ()
    where: tuple[str, ...] = ()


class Evidence(NamedTuple):
    """One result: the reply after t steps, and whether it is wrong."""

    case: Case
    checkpoint: Checkpoint
    reply: Reply
    wrong: bool


def diagnose(results: Sequence[Result], exact: bool, ask_again: Callable[[Case], Sequence[Reply]]) -> list[Finding]:
    """Explain the failures among the results, apart from the expected ones; empty if there are none.

    Parameters
    ----------
    results : the results of a run
    exact : bool
        Whether they are exact.
    ask_again : callable
        Puts a case to the implementation a second time.
    """
    judged = [result for result in results if result.verdict in ("passed", "undecided", "failed", "error")]
    long = [result for result in judged if not result.case.p]  # the faults are tried on the short cases, where all is exact
    judged = [result for result in judged if result.case.p]
    if not any(result.verdict in ("failed", "error") for result in judged):
        wrong = [result for result in long if result.verdict == "failed"]
        return [Finding(f"right in all short cases, wrong in long or wide ones; {_first(wrong)}")] if wrong else []
    failed = [result for result in judged if result.verdict == "failed"]
    evidence = [each for result in judged for each in _evidence(result)]
    if not any(each.wrong for each in evidence):
        return [Finding(f"w and b are right, but not p and g as returned; {_first(failed)}")] if failed else []
    for result in sorted(failed, key=lambda result: -len(result.case.indices))[:ASKED_AGAIN]:
        if _differs(result, ask_again(result.case), exact):
            return [Finding(f"asked again, it says something else to {result.case.id}: it draws examples or keeps state")]
    tried = {}
    for part, name_of in PARTS.items():
        groups = _grouped(evidence, name_of)
        tried[part] = found = {name: single_faults(group, exact) for name, group in groups.items()}
        if all(found.values()):
            return _sentences(found)
        if part == "run" and not exact and (finding := precision(evidence)):
            return [finding]
    pairs, _ = explanations(evidence, [first | second for first, second in combinations(SINGLES, 2)], exact)
    if pairs:
        return _sentences({"": pairs})
    explained = {name: faults for name, faults in tried["algorithm"].items() if faults}
    return [*_sentences(explained), _unknown([result for result in failed if result.case.algorithm not in explained], judged)]


def _evidence(result: Result) -> Iterable[Evidence]:
    for place, (checkpoint, reply) in enumerate(zip(result.case.checkpoints, result.replies, strict=True)):
        divides = isinstance(reply, Trouble) and reply.divides
        yield Evidence(result.case, checkpoint, reply, place in result.wrong or divides)


def _grouped(evidence: Iterable[Evidence], name_of: Callable[[Case], str]) -> dict[str, list[Evidence]]:
    """Group the evidence; keep the groups in which something is wrong."""
    groups: dict[str, list[Evidence]] = {}
    for each in evidence:
        groups.setdefault(name_of(each.case), []).append(each)
    return {name: group for name, group in groups.items() if any(each.wrong for each in group)}


def single_faults(evidence: Sequence[Evidence], exact: bool) -> list[Faults]:
    """Find the single faults that give all of these results; if some are left to rounding, also pairs that settle these."""
    faults, left_open = explanations(evidence, SINGLES, exact)
    if left_open:
        wider = {single | other for single in faults for other in SINGLES if other not in faults}
        settled, still_open = explanations(evidence, sorted(wider, key=sorted), exact)
        faults += settled if still_open < left_open else []
    return faults


def explanations(evidence: Iterable[Evidence], candidates: Iterable[Faults], exact: bool) -> tuple[list[Faults], int]:
    """Find the candidates that give all of these results but the fewest left to rounding, and the number of these."""
    # what is wrong first, and long runs without ties: there most candidates fail at once
    ordered = sorted(evidence, key=lambda each: (not each.wrong, "KinkTie" in each.case.flags, -each.checkpoint.t))
    left_open = {faults: _left_open(faults, ordered, exact) for faults in candidates}
    fewest = min((number for number in left_open.values() if number is not None), default=0)
    return [faults for faults, number in left_open.items() if number == fewest], fewest


def _left_open(faults: Faults, evidence: Iterable[Evidence], exact: bool) -> int | None:
    """Count the results that these faults leave to rounding; None if they give others, or explain nothing."""
    explained, left_open = False, 0
    for each in evidence:
        verdict = _compare(faults, each, exact)
        if verdict == "other":
            return None
        explained |= each.wrong and verdict == "same"
        left_open += verdict == "open"
    return left_open if explained else None


def _compare(faults: Faults, each: Evidence, exact: bool) -> str:
    """Compare with the faulty program: "same", "other", "open" if rounding decides, "none" if there is no result."""
    case, checkpoint, reply = each.case, each.checkpoint, each.reply
    if isinstance(reply, Trouble):
        if not reply.divides:
            return "none"
        return "same" if _run(faults, case, checkpoint.t, True) is None else "other"
    if not (exact or checkpoint.held):
        return "none"
    faulty = _run(faults, case, checkpoint.t, exact)
    if faulty is None:
        return "other"
    agrees = (reply.w, reply.b) == (faulty.w, faulty.b) if exact else _agrees(reply, faulty, faults, each)
    return "open" if agrees is None else "same" if agrees else "other"


def _agrees(reply: Answer, faulty: "_Known", faults: Faults, each: Evidence) -> bool | None:
    """Tell whether a result is the faulty program's to rounding; None if it is not, and rounding decides the latter."""
    case, checkpoint = each.case, each.checkpoint
    found, given = np.array([*reply.w, reply.b]), np.array([*faulty.w, faulty.b])
    if not np.isfinite(given).all():
        return bool((np.isfinite(found) == np.isfinite(given)).all())
    right, tolerance = _right(checkpoint)
    apart = abs(found - given)
    growth = _growth(faulty, case, checkpoint)
    allowed = np.maximum(growth * tolerance, 8 * (checkpoint.t + 4) * 2.0**-52 * abs(given))  # a few roundings in every step
    is_right = each.wrong and (abs(given - right) <= tolerance).all()  # where the implementation is wrong, however little
    if (apart <= allowed).all() and not is_right:
        return True
    slack = growth * max(tolerance for tolerance in case.p_tolerance[: checkpoint.t] if tolerance is not None)
    if _hangs_on_rounding(faulty, faults, case, slack):
        return None
    if is_right:
        return False
    if not (apart <= ALIKE * max(abs(given))).all():
        return False
    return bool((apart <= allowed + 4 * _spread(faulty, faults, case, slack)).all())


class _Known(NamedTuple):
    w: tuple[Any, ...]
    b: Any
    p: tuple[Any, ...]
    y: tuple[Any, ...]


@lru_cache(maxsize=1 << 13)
def _run(faults: Faults, case: Case, t: int, exact: bool, nudges: tuple[float, ...] = ()) -> _Known | None:
    """Run the plain program with these faults; None if it divides by zero."""
    lam = Fraction(case.lam) if exact else case.lam
    arguments = (case.matrix(), case.y, case.loss, lam, case.indices[:t], case.average, case.centred)
    try:
        trace = known_faults.trace(*arguments, faults, nudges)
    except ZeroDivisionError:
        return None
    return _Known(tuple(trace.w), trace.b, tuple(trace.p), tuple(trace.y))


def _growth(faulty: _Known, case: Case, checkpoint: Checkpoint) -> float:
    """Bound the growth of rounding: how many times larger the faulty numbers are than the right ones, at least 1."""
    right = max(*map(abs, map(float, case.p[: checkpoint.t])), *abs(_right(checkpoint)[0]))
    ours = max(abs(number) for number in (*faulty.p, *faulty.w, faulty.b) if isfinite(number))
    return max(1.0, float(ours) / right) if right else 1.0


@lru_cache(maxsize=1 << 12)
def _right(checkpoint: Checkpoint) -> tuple[np.ndarray, np.ndarray]:
    """Convert the right weights and bias to floats, with their tolerances."""
    tolerance = [*[checkpoint.w_tolerance] * len(checkpoint.w), checkpoint.b_tolerance]
    return np.array([*checkpoint.w, checkpoint.b], dtype=float), np.array(tolerance, dtype=float)


def _hangs_on_rounding(faulty: _Known, faults: Faults, case: Case, slack: float) -> bool:
    """Tell whether a faulty prediction is so near a kink that rounding decides its derivative."""
    derivative = known_faults.derivative(case.loss, np.float64, faults)
    for step, (p, y) in enumerate(zip(faulty.p, faulty.y, strict=True), start=1):
        at_kink = isfinite(p) and abs(derivative(p + slack, y) - derivative(p - slack, y)) > 0.5
        if at_kink and not _is_exact(faulty, faults, case, step):
            return True
    return False


def _is_exact(faulty: _Known, faults: Faults, case: Case, step: int) -> bool:
    """Tell whether nothing was rounded up to the prediction of this step, in any order of computing: so that a tie is one."""
    divisors = (Fraction(case.lam), Fraction(len(case.rows) if case.centred else 1))
    if step > (2 if faults & THIRDS else 3) or not all(map(_is_power_of_two, divisors)):
        return False
    exact = _run(faults, case, len(faulty.p), True)
    return exact is not None and exact.p[:step] == faulty.p[:step]


def _is_power_of_two(number: Fraction) -> bool:
    return all(part & (part - 1) == 0 for part in (number.numerator, number.denominator))


def _spread(faulty: _Known, faults: Faults, case: Case, slack: float) -> np.ndarray:
    """Measure how far weights and bias move if the predictions that are not 0 are nudged by this much."""
    moved = []
    for signs in ((1, 1), (-1, -1), (1, -1)):
        nudges = tuple(slack * signs[step % 2] if p else 0.0 for step, p in enumerate(faulty.p))
        other = _run(faults, case, len(faulty.p), False, nudges)
        assert other is not None
        moved.append([abs(one - two) for one, two in zip((*faulty.w, faulty.b), (*other.w, other.b), strict=True)])
    return np.max(moved, axis=0)


def precision(evidence: Iterable[Evidence]) -> Finding | None:
    """Find out whether only rounding is wrong: as much as single precision's, or less.

    Rounding in single precision is 2^29 times that in double. So no error may exceed 2^29 tolerances, as long as the derivative
    does not hang on it; and in runs as short as these the usual error is not far from 2^-24 of the result.
    """
    errors, left = [], 0
    for case, checkpoint, reply, wrong in evidence:
        if not (wrong and isinstance(reply, Answer)):
            continue
        if _hangs_on_single_rounding(case, checkpoint.t):
            left += 1
            continue
        assert checkpoint.w_tolerance is not None and checkpoint.b_tolerance is not None
        found = [*zip(reply.w, checkpoint.w, strict=True)], [(reply.b, checkpoint.b)]
        for numbers, tolerance in zip(found, (checkpoint.w_tolerance, checkpoint.b_tolerance), strict=True):
            scale = max((abs(float(right)) for _, right in numbers), default=0)
            error = max((abs(float(each) - float(right)) for each, right in numbers), default=0)
            if not error <= 2.0**29 * tolerance + 2.0**-22 * scale:
                return None
            if error > tolerance:
                errors.append(error / scale if scale else inf)
    if not errors:
        return None
    usual = median(errors)
    unsure = f"; where a kink is near, {left} more wrong results may have another reason" if left else ""
    if 2.0**-28 < usual < 2.0**-21:
        return Finding(
            f"single precision: half of the {len(errors)} errors exceed {usual:.0e} of the result, and none is larger than "
            f"rounding to 2^-24 explains; {known_faults.FAULTS['single precision']} [single precision]{unsure}",
            (frozenset({"single precision"}),),
        )
    if usual <= 2.0**-28:
        lost = f"rounding: half of the {len(errors)} errors are below {usual:.0e} of the result; only digits are lost"
        return Finding(lost + unsure)
    return None


def _hangs_on_single_rounding(case: Case, t: int) -> bool:
    derivative = known_faults.derivative(case.loss, np.float64)
    for p, i, tolerance in zip(case.p[:t], case.indices, case.p_tolerance, strict=False):
        slack = inf if tolerance is None else 2.0**29 * tolerance
        if abs(derivative(float(p) + slack, case.y[i]) - derivative(float(p) - slack, case.y[i])) > 0.5:
            return True
    return False


def _differs(result: Result, replies: Sequence[Reply], exact: bool) -> bool:
    """Tell whether a second call gives something else, by more than rounding."""
    for checkpoint, first, second in zip(result.case.checkpoints, result.replies, replies, strict=True):
        if isinstance(first, Answer) and isinstance(second, Answer):
            slack = 0 if exact else max(checkpoint.w_tolerance or 0, checkpoint.b_tolerance or 0)
            pairs = zip((*first.w, first.b), (*second.w, second.b), strict=True)
            if (exact or checkpoint.held) and any(abs(one - other) > slack for one, other in pairs):
                return True
        elif isinstance(first, Answer) or isinstance(second, Answer):
            return True
    return False


def _sentences(found: dict[str, list[Faults]]) -> list[Finding]:
    """Make a finding for each list of faults, with the groups that it is true of."""
    groups: dict[tuple[Faults, ...], list[str]] = {}
    for name, faults in found.items():
        groups.setdefault(tuple(faults), []).append(name)
    return [
        Finding(_said(faults), faults)
        if names == [""]
        else Finding(f"{', '.join(names)}: {_said(faults)}", faults, tuple(names))
        for faults, names in groups.items()
    ]


def _said(faults: Sequence[Faults]) -> str:
    each = [" and ".join(f"{known_faults.FAULTS[fault]} [{fault}]" for fault in sorted(together)) for together in faults]
    each = ["two faults at once: " * (len(together) > 1) + text for together, text in zip(faults, each, strict=True)]
    if len(faults) == 1:
        return each[0]
    return "\n".join(["one of these, which give the same results in the cases run:", *(f"  - {text}" for text in each)])


def _unknown(failed: Sequence[Result], judged: Sequence[Result]) -> Finding:
    hit = {flag for result in failed for flag in result.case.flags}
    spared = {flag for result in judged for flag in result.case.flags} - hit
    text = "no known fault explains it"
    if failed:
        text += f"; {_first(failed)}"
        text += f"; it is right in all cases flagged {', '.join(sorted(spared))}" if spared else ""
    if len({result.case.algorithm for result in judged}) > 1:
        text += "; a run of one algorithm alone may say more"
    return Finding(text)


def _first(failed: Sequence[Result]) -> str:
    """Describe the departure at the lowest step."""
    departures = [(result.departure, result.case.id) for result in failed if result.departure]
    departure, name = min(departures, key=lambda each: each[0].t)
    return f"it first departs in {name}, {departure}"
