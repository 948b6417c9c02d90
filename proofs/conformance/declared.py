"""Take declared deviations for the definition: the cases with the answers of the plain program that has them.

The answers are exact, as the paper's are: rational, with roots, powers and exponentials rounded to 80 digits. Those to long and
wide cases are floats, so that their tolerances are twice as wide. Tolerances bound the rounding of float64 by following the
deviating program's own sums, see `plain.py`; in single precision they are 2^29 times as wide, and ties are open.

Cases are added in which the declared program meets its kink exactly, see `ties.py`, and the flags of ties are its own.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from . import ties
from .agreement import Trace, jumps, run_of, runs, undecided_steps
from .cases import Case, Checkpoint
from .diagnosis import LONGEST
from .plain import FAULTS, family

SINGLE = "single precision"


def check_known(names: Collection[str]) -> frozenset[str]:
    """Validate names of declared deviations: known faults, or members of families.

    Raises
    ------
    ValueError
        A name is none of them; gives the nearest ones.
    """
    for name in names:
        if name not in FAULTS:
            family(name)
    return frozenset(names)


def declare(cases: Sequence[Case], known: frozenset[str]) -> list[Case]:
    """Make the cases whose answers are those of the program with these deviations, and cases with ties of its own.

    The very long ones are left out.
    """
    if not known:
        return list(cases)
    made, last = [], {(case.algorithm, case.loss): case for case in cases}
    for case in cases:
        made += [_declared(case, known)] if len(case.indices) <= LONGEST else []
        if case is last[case.algorithm, case.loss]:
            made += _with_ties(case.loss, case.average, case.centred, known)
    return made


def notes(cases: Sequence[Case], known: frozenset[str]) -> list[str]:
    """Say what the declared cases do not hold: sides of kinks that none reaches, deviations that change no answer."""
    if not known:
        return []
    said = [f"the declared deviation [{name}] changes no answer" for name in sorted(known) if not _changes(cases, known, name)]
    files: dict[str, dict[str, bool]] = {}
    for case in cases:
        if case.loss in ("absolute", "hinge"):
            reached = files.setdefault(case.loss, {})
            reached[case.algorithm] = reached.get(case.algorithm, False) or "KinkTie" in case.flags
    for loss, reached in files.items():
        missed = [algorithm for algorithm, tie in reached.items() if not tie]
        if missed and (SINGLE in known or ties.has_kink(loss, known - {SINGLE})):
            said.append(f"under this declaration no case reaches a tie of {loss} ({', '.join(missed)}): either side passes")
    return said


def _changes(cases: Sequence[Case], known: frozenset[str], name: str) -> bool:
    """Tell whether some held answer is another without this deviation."""
    if name == SINGLE:
        return True  # it widens tolerances
    for case in cases:
        without = run_of(case.known - {name}, case, bool(case.p))
        for place, checkpoint in enumerate(case.checkpoints):
            if checkpoint.held and (without is None or not _is_within(checkpoint, without[place])):
                return True
    return False


def _is_within(checkpoint: Checkpoint, run: Trace) -> bool:
    """Tell whether a predictor is within the tolerances of a checkpoint."""
    assert checkpoint.w_tolerance is not None and checkpoint.b_tolerance is not None
    with np.errstate(invalid="ignore", over="ignore"):
        off = abs(np.array(list(run.w), dtype=float) - np.array(list(checkpoint.w), dtype=float)).max(initial=0)
        return bool(off <= checkpoint.w_tolerance and abs(float(run.b) - float(checkpoint.b)) <= checkpoint.b_tolerance)


def _with_ties(loss: str, average: bool, centred: bool, known: frozenset[str]) -> list[Case]:
    """Make the cases in which the declared program meets its kink; none in single precision, where ties are open."""
    if loss not in ("absolute", "hinge") or SINGLE in known:
        return []
    return [_declared(ties.of_algorithm(case, average), known, step) for case, step in _questions(loss, centred, known)]


_questions = cache(ties.questions)


def _declared(case: Case, known: frozenset[str], tie: int = 0) -> Case:
    """Make one of these cases, in which float64 has the margins up to the step of the tie exactly."""
    used, columns = _used_columns(case)
    faults, widened = known - {SINGLE}, (2.0**29 if SINGLE in known else 1.0) * (1 if case.p else 2)
    bounded = runs(faults, used, False, True)
    answers = runs(faults, used, True) if case.p else bounded
    last = bounded[-1]._replace(e=[widened * float(each) for each in bounded[-1].e])
    open_steps = jumps(last, faults, case) if SINGLE in known else undecided_steps(last, faults, used)
    end = min((step for step in open_steps if step > tie), default=len(last.p) + 1)
    representable = SINGLE not in known or 2.0**-64 < case.lam < 2.0**64  # far inside the range of single precision
    checkpoints = []
    for checkpoint, rounded, answer in zip(case.checkpoints, bounded, answers, strict=True):
        allowed = [widened * float(each) + 2.0**-1060 for each in rounded.off]
        held = (
            checkpoint.t < end and representable and bool(np.isfinite([*allowed, *map(float, answer.w), float(answer.b)]).all())
        )
        w: Any = tuple(answer.w)
        if not case.p:
            w = np.zeros(case.n)
            w[columns] = answer.w
        checkpoints.append(Checkpoint(checkpoint.t, w, answer.b, *(allowed if held else (None, None))))
    undecided = "" if end > len(last.p) else f"step {end}: rounding decides which derivative an implementation takes"
    flags = _flags(case, answers[-1], faults, end)
    made = replace(case, known=faults, checkpoints=tuple(checkpoints), undecided=undecided, flags=flags)
    if not case.p:
        return made
    tolerances = [each if step < end and np.isfinite(each) else None for step, each in enumerate(last.e, start=1)]
    steps = answers[-1]
    return replace(
        made, p=tuple(steps.p), g=tuple(steps.g), p_tolerance=tuple(tolerances), g_tolerance=(None,) * len(tolerances)
    )


def _flags(case: Case, answer: Trace, known: frozenset[str], end: int) -> tuple[str, ...]:
    """List the flags, of which those of ties are of the steps that the declared program takes and float64 decides."""
    flags = [flag for flag in case.flags if flag not in ("KinkTie", "NearTie")]
    if not case.p or case.loss not in ("absolute", "hinge"):
        return tuple(flags)
    steps = [(Fraction(p), Fraction(y)) for p, y in zip(answer.p[: end - 1], answer.y, strict=False)]
    if any(ties.is_kink(case.loss, known, p, y) for p, y in steps):
        flags.append("KinkTie")
    if any(not ties.is_kink(case.loss, known, *step) and ties.is_kink(case.loss, known, *step, ties.NEAR) for step in steps):
        flags.append("NearTie")
    return tuple(flags)


def _used_columns(case: Case) -> tuple[Case, list[int]]:
    """Restrict a wide case to the columns that it stores."""
    columns = sorted({column for row in case.rows for column, _ in row})
    if case.p:
        return case, columns
    place = {column: k for k, column in enumerate(columns)}
    rows = [[(place[column], value) for column, value in row] for row in case.rows]
    return replace(case, rows=rows, n=len(columns)), columns
