"""Enter what Rocq's kernel says of each claim into the ledger."""

from collections.abc import Iterator
from functools import partial

from ..ledger import Entry, Job
from .prover import Check, claims, coqc, proving, version


def entries(check: Check, theory: str) -> Iterator[Entry]:
    """Check the claims that a theory proves; an entry for each label of each claim."""
    for verdict in check.verdicts(theory):
        for label in verdict.claim.labels:
            yield Entry(
                label,
                verdict.claim.words,
                "kernel",
                f"Rocq {version()}, {verdict.claim.place}",
                verdict.figure,
                verdict.proved,
            )


def jobs() -> list[Job]:
    """List a job for each theory that proves claims; none where Rocq is missing."""
    if coqc() is None:
        return []
    check = Check()
    return [
        Job(
            tuple(dict.fromkeys(label for claim in claims() if claim.theory == theory for label in claim.labels)),
            f"Rocq: {theory}.v",
            partial(entries, check, theory),
        )
        for theory in proving()
    ]
