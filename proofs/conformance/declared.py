"""Take declared deviations for the definition: the cases with the answers of the plain program that has them.

The answers are exact, as the paper's are: rational, with roots, powers and exponentials rounded to 80 digits. Those to long and
wide cases are floats, so that their tolerances are twice as wide. Tolerances bound the rounding of float64 by following the
deviating program's own sums, see `plain.py`; in single precision they are 2^29 times as wide, and ties are open.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .agreement import jumps, runs, undecided_steps
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
    """Make the cases whose answers are those of the program with these deviations; without the very long ones."""
    return [_declared(case, known) for case in cases if len(case.indices) <= LONGEST] if known else list(cases)


def _declared(case: Case, known: frozenset[str]) -> Case:
    """Make one of these cases."""
    used, columns = _used_columns(case)
    faults, widened = known - {SINGLE}, (2.0**29 if SINGLE in known else 1.0) * (1 if case.p else 2)
    bounded = runs(faults, used, False, True)
    answers = runs(faults, used, True) if case.p else bounded
    last = bounded[-1]._replace(e=[widened * float(each) for each in bounded[-1].e])
    open_steps = jumps(last, faults, case) if SINGLE in known else undecided_steps(last, faults, used)
    end = min(open_steps, default=len(last.p) + 1)
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
    made = replace(case, known=faults, checkpoints=tuple(checkpoints), undecided=undecided)
    if not case.p:
        return made
    tolerances = [each if step < end and np.isfinite(each) else None for step, each in enumerate(last.e, start=1)]
    steps = answers[-1]
    return replace(
        made, p=tuple(steps.p), g=tuple(steps.g), p_tolerance=tuple(tolerances), g_tolerance=(None,) * len(tolerances)
    )


def _used_columns(case: Case) -> tuple[Case, list[int]]:
    """Restrict a wide case to the columns that it stores."""
    columns = sorted({column for row in case.rows for column, _ in row})
    if case.p:
        return case, columns
    place = {column: k for k, column in enumerate(columns)}
    rows = [[(place[column], value) for column, value in row] for row in case.rows]
    return replace(case, rows=rows, n=len(columns)), columns
