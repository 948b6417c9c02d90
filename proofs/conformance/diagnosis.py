"""Diagnose a wrong implementation: the known faults that, alone or up to three together, give all of its results.

Faults explain a run only if the plain program with them gives every result of the run to rounding, the right ones too. The
rounding allowed is bounded by following the faulty program's own sums. Where its derivative depends on rounding, the result
is left open. Several faults are searched for one after another: each must give the simplest result that the others do not.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, islice
from math import inf, isfinite
from statistics import median
from typing import NamedTuple

import numpy as np

from .answers import Answer, Reply, Trouble
from .cases import Case, Checkpoint
from .faults import MEMBERS, SLIPS
from .plain import EPS, FAULTS, Trace, derivative, sentence, traces
from .verdicts import Result

Faults = frozenset[str]

ALIKE = 2.0**-10
"""Results that differ by more than this, relative to the largest number in them, do not differ by rounding."""

ASKED_AGAIN = 5
"""How many of the failed cases are put a second time, the longest: in one, other draws may happen to give the same."""

NAMES = (*(fault for fault in FAULTS if fault != "single precision" and fault not in {*SLIPS}), *MEMBERS)
"""Faults that are tried, also together; slips are tried alone. Single precision is none of them: see `precision`."""

LONG = (
    *(f"columns in {bits} bits" for bits in (8, 15, 16)),
    *(f"nothing learnt after step {t}" for t in (100, 127, 128, 255, 256, 1000)),
)
"""Faults that only long or wide cases show."""

LONGEST = 10_000
"""Most steps of a case that the plain program is tried on."""

AT_ONCE, BEAM, MOST_RUNS = 3, 8, 40_000
"""How many faults may come together, how many ways to go on are kept at each of them, and how many runs may be made."""

SAMPLE = 40
"""Number of cases by which the ways to go on are ranked."""

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
    """Replies to one case, and the places in its checkpoints that are wrong."""

    case: Case
    replies: Sequence[Reply]
    wrong: frozenset[int]


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
    silent = [result for result in judged if result.verdict == "error"]
    if silent and not any(isinstance(reply, Answer) or reply.divides for result in judged for reply in result.replies):
        return [Finding(f"it gives no answer to any question; to the first, {silent[0].case.id}, {_why(silent[0])}")]
    long = [result for result in judged if not result.case.p]  # the faults are tried on the short cases, where all is exact
    judged = [result for result in judged if result.case.p]
    if not any(result.verdict in ("failed", "error") for result in judged):
        return _long_only(long)
    failed = [result for result in judged if result.verdict == "failed"]
    evidence = [_evidence(result) for result in judged]
    if not any(each.wrong for each in evidence):
        if failed:
            return [Finding(f"w and b are right, but not p and g as returned; {_first(failed)}")]
        first = silent[0]
        text = f"right where it answers; it gives no answer in {len(silent)} cases, first to {first.case.id}: {_why(first)}"
        return [Finding(text)]
    for result in sorted(failed, key=lambda result: -len(result.case.indices))[:ASKED_AGAIN]:
        if _differs(result, ask_again(result.case), exact):
            text = f"asked again, it says something else to {result.case.id}: it draws examples or keeps state"
            return [Finding(f"{text}, or reads what was not set")]
    tried = {}
    for part, name_of in PARTS.items():
        groups = _grouped(evidence, name_of)
        tried[part] = found = {name: single_faults(group, exact) for name, group in groups.items()}
        if all(found.values()):
            return _sentences(found)
        if part == "run" and not exact and (finding := precision(evidence)):
            return [finding]
    together = Search(evidence, exact).explanations()
    if together:
        return _sentences({"": together})
    explained = {name: faults for name, faults in tried["algorithm"].items() if faults}
    for name, group in _grouped(evidence, PARTS["algorithm"]).items():
        if name not in explained and len(group) < len(evidence) and (faults := Search(group, exact).explanations()):
            explained[name] = faults
    if len(explained) == len(tried["algorithm"]):
        return _sentences(explained)
    return [*_sentences(explained), _unknown([result for result in failed if result.case.algorithm not in explained], judged)]


def _why(result: Result) -> str:
    """Say why there is no answer."""
    return next(reply.text for reply in result.replies if isinstance(reply, Trouble))


def _long_only(results: Sequence[Result]) -> list[Finding]:
    """Explain a program that is right in all short cases, by its answers to the others but the longest."""
    failed = [result for result in results if result.verdict == "failed"]
    if not failed:
        return []
    tried = [result for result in results if len(result.case.indices) <= LONGEST]
    found = [frozenset({name}) for name in LONG if all(_gives_long(name, result) for result in tried)]
    text = f"right in all short cases, wrong in long or wide ones; {_first(failed)}"
    return _sentences({"": found}) if found and tried else [Finding(text)]


def _gives_long(name: str, result: Result) -> bool:
    """Tell whether a fault gives the answers to a long or wide case, to 9 digits."""
    case = result.case
    for point, reply, run in zip(
        case.checkpoints, result.replies, runs(frozenset({name}) | case.known, case, False), strict=True
    ):
        if not isinstance(reply, Answer):
            return False
        found, given, (_, tolerance) = np.array([*reply.w, reply.b]), np.array([*run.w, run.b]), _right(point)
        if not (abs(found - given) <= np.maximum(tolerance, 1e-9 * abs(given).max())).all():
            return False
    return True


def _evidence(result: Result) -> Evidence:
    divides = {place for place, reply in enumerate(result.replies) if isinstance(reply, Trouble) and reply.divides}
    return Evidence(result.case, result.replies, frozenset(result.wrong) | divides)


def _grouped(evidence: Iterable[Evidence], name_of: Callable[[Case], str]) -> dict[str, list[Evidence]]:
    """Group the evidence; keep the groups in which something is wrong."""
    groups: dict[str, list[Evidence]] = {}
    for each in evidence:
        groups.setdefault(name_of(each.case), []).append(each)
    return {name: group for name, group in groups.items() if any(each.wrong for each in group)}


def single_faults(evidence: Sequence[Evidence], exact: bool) -> list[Faults]:
    """Find the single faults that give all of these results; if some are left to rounding, also pairs that settle these."""
    faults, left_open = explanations(evidence, [frozenset({name}) for name in (*NAMES, *SLIPS)], exact)
    if left_open:
        wider = {single | {other} for single in faults for other in NAMES if other not in single}
        settled, still_open = explanations(evidence, sorted(wider, key=sorted), exact)
        faults += [pair for pair in settled if _all_act(pair, evidence, exact)] if still_open < left_open else []
    return faults


def _all_act(faults: Faults, evidence: Iterable[Evidence], exact: bool) -> bool:
    """Tell whether each of these faults changes some prediction or result: one that does not explains nothing."""
    without = {name: faults - {name} for name in faults}
    for each in evidence:
        whole = _run(faults | each.case.known, each.case, exact)
        without = {
            name: rest for name, rest in without.items() if _alike(whole, _run(rest | each.case.known, each.case, exact))
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


def explanations(evidence: Iterable[Evidence], candidates: Iterable[Faults], exact: bool) -> tuple[list[Faults], int]:
    """Find the candidates that give all of these results but the fewest left to rounding, and the number of these."""
    # what is wrong first, and long runs without ties: there most candidates fail at once
    ordered = sorted(evidence, key=lambda each: (not each.wrong, "KinkTie" in each.case.flags, -len(each.case.indices)))
    left_open = {faults: _left_open(faults, ordered, exact) for faults in candidates}
    fewest = min((number for number in left_open.values() if number is not None), default=0)
    return [faults for faults, number in left_open.items() if number == fewest], fewest


def _left_open(faults: Faults, evidence: Iterable[Evidence], exact: bool) -> int | None:
    """Count the results that these faults leave to rounding; None if they give others, or explain nothing."""
    explained, left_open = False, 0
    for each in evidence:
        comparison = _compare(faults, each, exact)
        if comparison.other:
            return None
        explained |= comparison.explained
        left_open += comparison.open
    return left_open if explained else None


class Search:
    """Search for several faults that together give all of these results, the fewest possible."""

    def __init__(self, evidence: Sequence[Evidence], exact: bool):
        self.exact, self.runs = exact, 0
        # the simplest first, where few faults have an effect; what is wrong before what is right
        self.evidence = sorted(evidence, key=lambda each: (not each.wrong, len(each.case.indices), each.case.n, each.case.id))
        self.sample = self.evidence[:: -(-len(self.evidence) // SAMPLE)]

    def explanations(self) -> list[Faults]:
        """Find two faults or three; none if there are none, or too many ways to try."""
        ways: list[Faults] = [frozenset()]
        for size in range(1, AT_ONCE + 1):
            longer = {way | {name} for way in ways for name in self._next(way)}
            if size == 1 and not longer:
                longer, size = self._pairs(), 2
            found, _ = explanations(self.evidence, sorted(longer, key=sorted), self.exact) if size > 1 else ([], 0)
            found = [faults for faults in found if _all_act(faults, self.evidence, self.exact)]
            if found:
                return found
            ways = sorted(longer, key=lambda way: (-self._score(way), sorted(way)))[:BEAM]
            if not ways or self.runs > MOST_RUNS:
                break
        return []

    def _next(self, way: Faults) -> list[str]:
        """List the faults with which the simplest result that this way does not give is given, or one of the next simple."""
        failing = (each for each in self.evidence if _compare(way, each, self.exact).other or (each.wrong and not way))
        for each in islice(failing, 4):
            self.runs += len(NAMES)
            names = [name for name in NAMES if name not in way and self._gives(way | {name}, each)]
            if names:
                return names
        return []

    def _gives(self, faults: Faults, each: Evidence) -> bool:
        comparison = _compare(faults, each, self.exact)
        return not comparison.other and (comparison.explained or not each.wrong)

    def _pairs(self) -> set[Faults]:
        """List the pairs that give the simplest wrong result, if no single fault does."""
        simplest = next(each for each in self.evidence if each.wrong)
        self.runs += len(NAMES) ** 2 // 2
        return {frozenset(pair) for pair in combinations(NAMES, 2) if self._gives(frozenset(pair), simplest)}

    def _score(self, way: Faults) -> int:
        """Count the cases of the sample that this way gives."""
        self.runs += len(self.sample)
        return sum(not _compare(way, each, self.exact).other for each in self.sample)


class Comparison(NamedTuple):
    """Comparison of a case: if a reply is another, how many rounding decides, if a wrong one is explained."""

    other: bool
    open: int = 0
    explained: bool = False


def _compare(faults: Faults, each: Evidence, exact: bool) -> Comparison:
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
        runs = _run(faults, case, exact)
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
    runs = _run(faults, case, False)
    assert runs is not None
    run, checkpoint = runs[place], case.checkpoints[place]
    found, given = np.array([*reply.w, reply.b]), np.array([*run.w, run.b], dtype=float)
    if not np.isfinite(given).all():
        return bool((np.isfinite(found) == np.isfinite(given)).all())
    with np.errstate(invalid="ignore", over="ignore"):
        apart = abs(found - given)
    right, tolerance = _right(checkpoint)
    alike = bool((apart <= np.maximum(ALIKE * max(abs(given)), tolerance)).all())
    # where the implementation is wrong, however little, the right results explain nothing
    is_right = wrong and bool((abs(given - right) <= tolerance).all())
    if alike and not is_right and (apart <= np.maximum(tolerance, 8 * (checkpoint.t + 4) * EPS * abs(given))).all():
        return True
    if not alike and not _near_kink(run, case, faults):
        return False
    bounded = _run(faults, case, False, True)
    assert bounded is not None
    run = bounded[place]
    if _hangs_on_rounding(run, faults, case):
        return None
    if is_right or not alike:
        return False
    return bool((apart <= np.array([*[run.off[0]] * case.n, run.off[1]]) + tolerance).all())


@lru_cache(maxsize=1 << 15)
def _run(faults: Faults, case: Case, exact: bool, bounded: bool = False) -> list[Trace] | None:
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
def _right(checkpoint: Checkpoint) -> tuple[np.ndarray, np.ndarray]:
    """Convert the right weights and bias to floats, with their tolerances."""
    tolerance = [*[checkpoint.w_tolerance] * len(checkpoint.w), checkpoint.b_tolerance]
    return np.array([*checkpoint.w, checkpoint.b], dtype=float), np.array(tolerance, dtype=float)


def _near_kink(run: Trace, case: Case, faults: Faults) -> bool:
    """Tell whether some derivative jumps near the prediction, by a generous guess of its rounding."""
    slope = derivative(case.loss, np.float64, faults)
    size = 2.0**-20 * max([1.0, *(abs(p) for p in run.p if isfinite(p))])
    return any(_jumps(slope, p, y, size) for p, y in zip(run.p, run.y, strict=True) if isfinite(p))


def _hangs_on_rounding(run: Trace, faults: Faults, case: Case) -> bool:
    """Tell whether a faulty prediction is so near a kink that rounding decides its derivative."""
    return any(True for _ in undecided_steps(run, faults, case))


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
    try:
        exact = runs(faults, case, True, t=len(run.p))[0]
    except ZeroDivisionError:
        return False
    return list(map(Fraction, run.p[:step])) == [Fraction(p) for p in exact.p[:step]]


THIRDS = re.compile(r"t\+1|t-[12]|2t|√|step|row|mean over|stored|draws|skipped|logarithm|constant|clipped|dropped|1/C|λ")
"""Names of faults with which the third prediction may come of a division by 3; otherwise the fourth is the first that does."""


def _is_power_of_two(number: Fraction) -> bool:
    return all(part & (part - 1) == 0 for part in (number.numerator, number.denominator))


def precision(evidence: Iterable[Evidence]) -> Finding | None:
    """Find out whether only rounding is wrong: as much as single precision's, or less.

    Rounding in single precision is 2^29 times that in double. So no error may exceed 2^29 tolerances, as long as the derivative
    does not hang on it; and in runs as short as these the usual error is not far from 2^-24 of the result.
    """
    errors, left = [], 0
    wrong = [
        (each.case, each.case.checkpoints[place], each.replies[place]) for each in evidence for place in sorted(each.wrong)
    ]
    for case, checkpoint, reply in wrong:
        if not isinstance(reply, Answer) or not 2.0**-64 < case.lam < 2.0**64:  # far inside the range of single precision
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
            f"rounding to 2^-24 explains; {FAULTS['single precision']} [single precision]{unsure}",
            (frozenset({"single precision"}),),
        )
    if usual <= 2.0**-28:
        lost = f"rounding: half of the {len(errors)} errors are below {usual:.0e} of the result; only digits are lost"
        return Finding(lost + unsure)
    return None


def _hangs_on_single_rounding(case: Case, t: int) -> bool:
    slope = derivative(case.loss, np.float64, case.known)
    for p, i, tolerance in zip(case.p[:t], case.indices, case.p_tolerance, strict=False):
        slack = inf if tolerance is None else 2.0**29 * tolerance
        if abs(slope(float(p) + slack, case.y[i]) - slope(float(p) - slack, case.y[i])) > 0.5:
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
        Finding(said(faults), faults) if names == [""] else Finding(f"{', '.join(names)}: {said(faults)}", faults, tuple(names))
        for faults, names in groups.items()
    ]


def said(faults: Sequence[Faults]) -> str:
    """Say that a program has the first of these sets of faults, or the second, and so on."""
    each = [" and ".join(f"{sentence(fault)} [{fault}]" for fault in sorted(together)) for together in faults]
    number = {2: "two faults at once: ", 3: "three faults at once: "}
    each = [number.get(len(together), "") + text for together, text in zip(faults, each, strict=True)]
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
