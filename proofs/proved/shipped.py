"""Run the shipped loops on symbols: the invariants for all t, and whole runs of T = 1, …, 4 against the definition."""

from collections.abc import Iterator
from functools import partial

from efficient.runs.algorithms import ALGORITHMS

from ..ledger import Entry, Job
from . import mutants
from .execution import induction, unrolled
from .proof import ON_CODE, UNROLLED, Proof, jobs_of
from .prover import Equation

CLAIMS = {
    "eqn:gradSum": "the loop's v and a are the gradient sum: they grow by g [x, 1]",
    "eqn:avgBias": "the loop's c is the sum of ω_j a_j/(j + t0), and its h that of ω_j/(j + t0)",
    "eqn:buDef": "the loop's u is the harmonic gradient sum: it grows by h_{t−1} g x",
    "eqn:zDef": "the loop's z is v · x̄",
    "eqn:bTagCenter": "the loop's r is aθ − z",
    "eqn:sDef": "the loop's s is the sum of ω_j r_j/(j + t0)",
    "eqn:pCenterDef": "the loop's prediction is w_{t−1} · x + b'_{t−1}",
    "alg": "if the predictors after t − 1 steps are those of the definition, so are they after t",
    "average": "if the mean of t − 1 iterates is that of the definition, so is the mean of t",
}


def _of_label(name: str, label: str) -> list[Equation]:
    """Select the steps of an induction that belong to a claim. By induction over t on the shipped loop: a symbolic
    state after t − 1 steps that satisfies the invariants, one generic row, any ℓ'.
    """
    return [step for group, step in induction(ALGORITHMS[name]) if group == label]


def _unrolled(name: str) -> Iterator[Equation]:
    """Return the shipped loop and the shipped definition on T generic rows of two features, with an opaque ℓ'."""
    for T in (1, 2, 3, 4):
        yield from unrolled(ALGORITHMS[name], T)
    for T in (1, 2, 3) if ALGORITHMS[name].centred else ():
        for step in unrolled(ALGORITHMS[name], T, projected=True):
            yield step._replace(claim=f"projections given, {step.claim}")


def _proofs() -> Iterator[Proof]:
    for name, algorithm in ALGORITHMS.items():
        mean = "eqn:centerAvg" if algorithm.centred else "eqn:naiveAverage"
        for group in dict.fromkeys(group for group, _ in induction(algorithm)):
            label = {"alg": algorithm.label, "average": mean}.get(group, group)
            claim = CLAIMS[group]
            if group == "eqn:pCenterDef" and not algorithm.centred:
                label, claim = "lem:v", "the loop's prediction is w_{t−1} · x + b_{t−1}"
            yield Proof(label, claim, ON_CODE, partial(_of_label, name, group), name)
        yield Proof(algorithm.label, "the loop is the definition for T = 1, …, 4", UNROLLED, partial(_unrolled, name), name)


PROOFS = tuple(_proofs())


def refute(name: str) -> Iterator[Entry]:
    """Try every mutant of an algorithm, after the algorithm itself, of which all claims must hold."""
    own = mutants.failure(ALGORITHMS[name])
    verdicts = ((where, mutants.failure(wrong)) for where, wrong in mutants.of_algorithm(ALGORITHMS[name]))
    yield mutants.judged(name, "a program in which a token is exchanged, each for one other, fails the proofs", own, verdicts)


def jobs() -> list[Job]:
    return [
        *jobs_of(*PROOFS),
        *(Job((algorithm.label,), f"mutants of {name}", partial(refute, name)) for name, algorithm in ALGORITHMS.items()),
    ]
