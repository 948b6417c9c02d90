"""List the jobs that fill the ledger."""

from . import slips
from .compared import iterates, scikit_learn, translation
from .counted import cost
from .data import Case, real_cases
from .ledger import Job
from .measured import averaging, convergence, stability
from .proved import claims
from .rocq import claims as kernel


def plan(case: Case | None = None, quick: bool = False) -> list[Job]:
    """List every job; with a case of the user's, the equivalence and invariance checks on its rows.

    A quick run leaves out Rocq, what is measured, and the larger of the two real sets.
    """
    if case is not None:
        return [*iterates.jobs([case]), *translation.jobs([case])]
    cases = real_cases()
    if quick:
        cases = [min(cases, key=lambda each: each.X.nnz)]
    return [
        *([] if quick else kernel.jobs()),
        *claims.jobs(),
        *slips.jobs(),
        *cost.jobs(),
        *([] if quick else [*convergence.jobs(cases), *averaging.jobs(), *stability.jobs()]),
        *iterates.jobs(cases),
        *scikit_learn.jobs(cases),
        *translation.jobs(cases),
    ]
