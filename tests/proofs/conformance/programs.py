"""Right and wrong programs for the kit, and the files of vectors."""

from functools import partial
from pathlib import Path

import reference
from proofs.conformance import ALGORITHM, check, train_with
from proofs.conformance.cases import LOSSES
from proofs.conformance.inputs import Run
from proofs.conformance.plain import train as train_with_faults

ROOT = Path(__file__).parents[3]
KIT = ROOT / "proofs" / "conformance"
README = (KIT / "README.md").read_text("utf8")
RIGHT = train_with(reference)
check_short = partial(check, long=False)
FILES = [f"{algorithm}-{loss}" for algorithm in ALGORITHM.values() for loss in LOSSES]


def with_fault(*faults):
    """Make a program with these faults."""
    return lambda *arguments: train_with_faults(*arguments, fault=faults)


def altered(change):
    """Make a right program whose (w, b) passes through a function."""
    return lambda *arguments: change(*RIGHT(*arguments))


def named(report) -> list[set[str]]:
    """Return the faults that each finding names, as alternatives, those of a pair together."""
    return [{" & ".join(sorted(faults)) for faults in finding.faults} for finding in report.diagnosis]


def run_of(case) -> Run:
    return Run(case.n, case.rows, case.y, case.loss, case.lam, case.indices, case.centred)
