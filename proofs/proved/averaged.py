"""Beyond the paper: states of one step, averaged by the shipped code, are a state, and recover the averaged predictors.

What a loop adds to v, u, a, c, z, r and s is linear in the derivatives that it met; h and Σω are the same in all states.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from efficient.runs.algorithms import ALGORITHMS, Algorithm
from efficient.runs.averaged import mean_of

from ..ledger import Job
from .execution import predictor, symbols, vector
from .proof import ON_CODE, Proof, jobs_of
from .prover import Equation

OF_STEPS = ("h", "total")
"""Sums that no row enters, equal after equal steps."""


def _states(algorithm: Algorithm, count: int, n: int, xbar: np.ndarray) -> list[dict]:
    """Make states after t − 1 steps that satisfy the invariants z = v · x̄ and r = a(1 + ‖x̄‖²) − z."""
    states = []
    for k in range(1, count + 1):
        state = {name: vector(symbols, f"{name}{k}_", n) for name in algorithm.vectors}
        state |= {name: symbols(name if name in OF_STEPS else f"{name}{k}") for name in algorithm.scalars}
        if algorithm.centred:
            state["z"] = state["v"] @ xbar
            state["r"] = state["a"] * (1 + xbar @ xbar) - state["z"]
        states.append(state)
    return states


def _mean(name: str) -> Iterator[Equation]:
    """Take two or three states with weights of their own, at any t and t0; the invariants of each hold."""
    algorithm, (lam, t, t0) = ALGORITHMS[name], map(symbols, ("lambda", "tau", "t0"))
    for n, count in ((1, 2), (2, 3)):
        xbar = vector(symbols, "xbar", n)
        states, shares = _states(algorithm, count, n, xbar), [symbols(f"omega{k}") for k in range(1, count + 1)]
        mean = mean_of(states, shares)
        for recovery, of in ((algorithm.last, "last"), (algorithm.average, "average")):
            if recovery is None:
                continue
            w, b = predictor(recovery, lam, t0, {"t": t} | mean, xbar)
            each = [predictor(recovery, lam, t0, {"t": t} | state, xbar) for state in states]
            for j in range(n):
                wanted = sum(share * one[j] for share, (one, _) in zip(shares, each, strict=True)) / sum(shares)
                yield Equation(f"{count} states: w_{j} of {of}", w[j], wanted)
            wanted = sum(share * one for share, (_, one) in zip(shares, each, strict=True)) / sum(shares)
            yield Equation(f"{count} states: b of {of}", b, wanted)
        if algorithm.centred:
            yield Equation(f"{count} states: z = v · x̄", mean["z"], mean["v"] @ xbar)
            yield Equation(f"{count} states: r = aθ − z", mean["r"], mean["a"] * (1 + xbar @ xbar) - mean["z"])


PROOFS = tuple(
    Proof(
        algorithm.label,
        "the weighted mean of states is a state, and recovers the weighted means of their predictors",
        ON_CODE,
        partial(_mean, name),
        name,
    )
    for name, algorithm in ALGORITHMS.items()
)


def jobs() -> list[Job]:
    return jobs_of(*PROOFS)
