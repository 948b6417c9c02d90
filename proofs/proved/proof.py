"""Proof: what is claimed, from what, and the steps whose residuals must be 0; and how one is checked and shown."""

import inspect
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import NamedTuple

from ..ledger import Entry, Job
from .prover import Equation, Undecided, counterexample, is_identity, mutants, residual

FOR_ALL = "for all t and n"
ON_CODE = "for all t, on the shipped code, for rows of one to nine entries"
UNROLLED = "unrolled on the shipped code"


class Proof(NamedTuple):
    """Claim under a label of the paper, and its steps. The docstring of `steps` says what is assumed."""

    label: str
    claim: str
    evidence: str
    steps: Callable[[], Iterable[Equation]]
    algorithm: str = ""

    def check(self) -> Iterator[Entry]:
        """Decide every step by both provers, and every mutant of every step by the first; equal equations once."""
        steps = list(self.steps())
        failures, tried, survivors = [], 0, []
        for step in {(step.sides, step.mutate): step for step in steps}.values():
            remains = residual(step)
            try:
                numbers = counterexample(step)
            except Undecided:
                numbers = "undecided"
            if remains != 0:
                failures.append(f"{step.claim}: {remains} remains; z3: {numbers or 'finds no counterexample'}")
            elif numbers is not None or not is_identity(step):
                failures.append(f"{step.claim}: z3 or the value at a point disagrees: {numbers}")
            for mutant in mutants(step) if step.mutate else ():
                tried += 1
                if is_identity(mutant):
                    survivors.append(f"{mutant.claim}, {mutant.left} = {mutant.right}")
        figure = f"{len(steps)} steps, sympy and z3 agree, {tried - len(survivors)} of {tried} mutants refuted"
        if failures or survivors:
            figure = "; ".join(failures + [f"mutant not refuted: {claim}" for claim in survivors])
        yield Entry(
            self.label,
            self.claim,
            "proved",
            self.evidence,
            figure,
            bool(steps) and not failures and not survivors and (tried > 0 or not any(step.mutate for step in steps)),
            algorithm=self.algorithm,
            mutants=tried,
            refuted=tried - len(survivors),
        )


def proof(label: str, claim: str, evidence: str = FOR_ALL):
    """Make a Proof of a function that yields its steps."""
    return lambda steps: Proof(label, claim, evidence, steps)


def jobs_of(*proofs: Proof) -> list[Job]:
    return [Job((each.label,), f"proof: {each.claim}", each.check) for each in proofs]


def show(module: ModuleType) -> int:
    """Print the PROOFS of a module in full, each step with what remains of it, then its other entries; return a status."""
    proofs = getattr(module, "PROOFS", ())
    entries = []
    if proofs:
        print("tau is t − 1 and lambda is λ; v, a, u, c, h, z, s are the values before step t; x, g are of step t.\n")
    for each in proofs:
        print(f"{each.label}: {each.claim}")
        assumed = inspect.getdoc(getattr(each.steps, "func", each.steps))  # of the function, where arguments are bound to it
        print(f"    {assumed or ''}".replace("\n", "\n    "))
        for step in each.steps():
            print(f"  {step.claim}\n      {step.left} = {step.right}\n      remains: {residual(step)}")
        entries += each.check()
        print(f"  {entries[-1].figure}: {entries[-1].verdict}\n")
    for job in module.jobs()[len(proofs) :]:
        for entry in job.run():
            print(f"{entry.label}: {entry.claim}\n{entry.line()}")
            entries.append(entry)
    return int(not all(entry.as_expected for entry in entries))
