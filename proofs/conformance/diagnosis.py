"""Diagnose a wrong implementation: the known faults that, alone or up to three together, give all of its results.

Faults explain a run only if the plain program with them gives every result of the run to rounding, the right ones too. The
rounding allowed is bounded by following the faulty program's own sums. Where its derivative depends on rounding, the result
is left open. How several faults are searched for stands in `search.py`.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from statistics import median
from typing import NamedTuple

import numpy as np

from .agreement import Evidence, Faults, compare, right_of, runs
from .answers import Answer, Reply, Trouble
from .cases import Case, Checkpoint
from .plain import FAULTS, derivative, sentence
from .search import NAMES, Search, Tally
from .verdicts import Result

ASKED_AGAIN = 5
"""How many of the failed cases are put a second time, the longest: in one, other draws may happen to give the same."""

LONG = (
    *(f"columns in {bits} bits" for bits in (8, 15, 16)),
    *(f"nothing learnt after step {t}" for t in (100, 127, 128, 255, 256, 1000)),
)
"""Faults that only long or wide cases show."""

LONGEST = 10_000
"""Most steps of a case that the plain program is tried on."""

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


def diagnose(
    results: Sequence[Result], exact: bool, ask_again: Callable[[Case], Sequence[Reply]], progress: bool | None = None
) -> list[Finding]:
    """Explain the failures among the results, apart from the expected ones; empty if there are none.

    Parameters
    ----------
    results : the results of a run
    exact : bool
        Whether they are exact.
    ask_again : callable
        Puts a case to the implementation a second time.
    progress : bool, optional
        Show on standard error how many explanations were tried; by default only at a terminal.
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
    if absent := _absent(evidence, exact):
        return absent
    tally = Tally(progress)
    try:
        return _searched(evidence, judged, exact, tally)
    except KeyboardInterrupt:
        return [Finding(f"the search for the fault was interrupted; {_first(failed)}" if failed else "interrupted")]
    finally:
        tally.close()


def _searched(evidence: Sequence[Evidence], judged: Sequence[Result], exact: bool, tally: Tally) -> list[Finding]:
    """Search for the faults: single ones of the whole run and of its parts, then several of the run and of each algorithm."""
    search = Search(evidence, exact, tally)
    tried: dict[str, dict[str, list[Faults]]] = {}
    for part, name_of in PARTS.items():
        groups: dict[str, list[str]] = {}
        for file in search.wrong():
            groups.setdefault(name_of(search.files[file][0].case), [])
        for file in search.files:
            if (name := name_of(search.files[file][0].case)) in groups:
                groups[name].append(file)
        found: dict[str, list[Faults]] = {name: [] for name in groups}
        with tally.share(0.5):
            found |= {name: search.single(files) for name, files in groups.items()}
        tried[part] = found
        if all(found.values()):
            return _sentences(found)
        if part == "run" and not exact and (finding := precision(evidence)):
            return [finding]
    with tally.share(0.5):
        if together := search.several([*search.files]):
            return _sentences({"": together})
    explained = {name: faults for name, faults in tried["algorithm"].items() if faults}
    left = [name for name in tried["algorithm"] if name not in explained]
    algorithms = {case.algorithm for case, _, _ in evidence}
    for place, name in enumerate(left):
        with tally.share(1 / (len(left) - place)):
            files = [file for file in search.files if file.startswith(f"{name} with ")]
            if len(algorithms) > 1 and (faults := search.several(files)):
                explained[name] = faults
    if len(explained) == len(tried["algorithm"]):
        return _sentences(explained)
    unknown = [result for result in judged if result.verdict == "failed" and result.case.algorithm not in explained]
    hints = [*_first_steps(search.evidence(search.files)), *_nearest(search, tally)]
    return [*_sentences(explained), _unknown(unknown, judged, tally, hints)]


def _absent(evidence: Sequence[Evidence], exact: bool) -> list[Finding]:
    """Find the declared deviations without which the program gives all results."""
    found = []
    for name in sorted(evidence[0].case.known):
        without = (each._replace(case=replace(each.case, known=each.case.known - {name})) for each in evidence)
        compared = [compare(frozenset(), each, exact) for each in without]
        if not any(each.other for each in compared) and any(each.explained for each in compared):
            found.append(
                Finding(f"the declared deviation [{name}] is not there: without it declared, all results are explained")
            )
    return found


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
        found, given, (_, tolerance) = np.array([*reply.w, reply.b]), np.array([*run.w, run.b]), right_of(point)
        if not (abs(found - given) <= np.maximum(tolerance, 1e-9 * abs(given).max())).all():
            return False
    return True


def _evidence(result: Result) -> Evidence:
    divides = {place for place, reply in enumerate(result.replies) if isinstance(reply, Trouble) and reply.divides}
    return Evidence(result.case, result.replies, frozenset(result.wrong) | divides)


def precision(evidence: Sequence[Evidence]) -> Finding | None:
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
    late = [place in each.wrong for each in evidence for place, point in enumerate(each.case.checkpoints) if _is_late(point)]
    seldom = sum(late) < len(late) / 4  # where there was a division by three, single precision shows in most results
    if seldom and all({"LargeShift", "TinyLambda"} & {*case.flags} for case, _, _ in wrong):
        return Finding(
            f"cancellation: digits are lost in {len(errors)} results, where a column is far from 0 or λ is tiny, and nowhere "
            "else: large sums are subtracted from one another, not of lower precision; a running mean or a shift loses fewer"
        )
    if seldom and usual > 2.0**-28:
        return None
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


def _is_late(checkpoint: Checkpoint) -> bool:
    return checkpoint.held and checkpoint.t >= 3


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


def _nearest(search: Search, tally: Tally) -> list[str]:
    """Name the single fault that gives all results but a few, a tenth of the wrong ones, if there is one."""
    evidence = search.evidence(search.files)
    wrong = len({each.case.id for each in evidence if each.wrong})
    best: tuple[str, list[str]] | None = None
    with tally.more(1 / 6):
        for name in NAMES:
            most = len(best[1]) - 1 if best else wrong // 10
            missed: dict[str, None] = {}
            for each in evidence:
                if search.differs(frozenset({name}), each):
                    missed[each.case.id] = None
                    if len(missed) > most:
                        break
            else:
                best = name, [*missed]
    if best is None:
        return []
    name, missed_cases = best
    ids = {each.case.id for each in evidence if each.wrong}
    explained = wrong - len(ids & {*missed_cases})
    return [f"nearest: {sentence(name)} [{name}], explains {explained} of {wrong}; not {', '.join(missed_cases[:4])}"]


def _first_steps(evidence: Sequence[Evidence]) -> list[str]:
    """Fit η0 and k to the first steps, if these are the paper's but for their size, and not 1/λ."""
    sizes: dict[float, float] = {}
    for each in evidence:
        for point, reply in zip(each.case.checkpoints, each.replies, strict=True):
            if point.t == 1 and point.held and isinstance(reply, Answer) and each.case.p and not each.case.known:
                found, right = np.array([*reply.w, reply.b]), right_of(point)[0]
                if abs(right).max() > 0:
                    ratio = float(found @ right / (right @ right))
                    if not (ratio > 0 and np.allclose(found, ratio * right, rtol=1e-9, atol=1e-9 * abs(right).max())):
                        return []
                    if not np.isclose(sizes.setdefault(each.case.lam, ratio / each.case.lam), ratio / each.case.lam, rtol=1e-9):
                        return []
    if len(sizes) < 3:
        return []
    lam, size = np.array([*sizes]), 1 / np.array([*sizes.values()])
    slope = (size[lam.argmax()] - size[lam.argmin()]) / (lam.max() - lam.min())
    start = float(size[lam.argmin()] - slope * lam.min())
    if start <= 1e-6 or not np.allclose(size, start + slope * lam, rtol=1e-9):
        return []
    name = f"step eta0={1 / start:.9g} k={round(float(slope) - 1, 6) + 0:.6g} a=1"
    return [f'its first steps are not 1/λ; if they are meant, try --known "{name}" (README, "What may be meant")']


def _unknown(failed: Sequence[Result], judged: Sequence[Result], tally: Tally, hints: Sequence[str] = ()) -> Finding:
    hit = {flag for result in failed for flag in result.case.flags}
    spared = {flag for result in judged for flag in result.case.flags} - hit
    text = "no known fault explains it"
    if failed:
        text += f"; {_first(failed)}"
        text += f"; it is right in all cases flagged {', '.join(sorted(spared))}" if spared else ""
    if len({result.case.algorithm for result in judged}) > 1:
        text += "; a run of one algorithm alone may say more"
    return Finding("\n".join([f"{text}; {tally}", *hints]))


def _first(failed: Sequence[Result]) -> str:
    """Describe the departure at the lowest step."""
    departures = [(result.departure, result.case.id) for result in failed if result.departure]
    departure, name = min(departures, key=lambda each: each[0].t)
    return f"it first departs in {name}, {departure}"
