"""Claim the cost without a clock: the counted entries equal formulas, `==`, in n, T and sums of k_i.

k_i is the number of stored entries of row i. K = Σ_t k_{π_t} is over the drawn rows, K₁ = k_{π_1} of the first, and U, U₁ are
the same two over the draws with ℓ' ≠ 0 only. A sparse loop's formula has no n at all; the dense side's has nothing but n and T.
"""

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from efficient.kernels.sparse import add, add_both, dot
from efficient.runs.algorithms import ALGORITHMS
from reference import LOSSES, Problem, draw_indices
from reference.datasets import make_generic

from ..ledger import Entry, Job
from .arrays import CountingArray, Tally, count_dense, count_models, count_sparse

LOOP = {
    "sgd": ("K − K₁ + U", "U", lambda s: (s.K - s.K1 + s.U, s.U)),
    "asgd": ("K − K₁ + 2U − U₁", "2U − U₁", lambda s: (s.K - s.K1 + 2 * s.U - s.U1, 2 * s.U - s.U1)),
    "csgd": ("2K − K₁ + U", "U", lambda s: (2 * s.K - s.K1 + s.U, s.U)),
    "casgd": ("2K − K₁ + 2U − U₁", "2U − U₁", lambda s: (2 * s.K - s.K1 + 2 * s.U - s.U1, 2 * s.U - s.U1)),
}
"""Entries of v, u and x̄ read and written by a loop, whatever n is."""

LOOP_FOR_MANY = {
    "asgd": ("M(K − K₁ + 2U)", "2MU", lambda s, M: (M * (s.K - s.K1 + 2 * s.U), 2 * M * s.U)),
    "casgd": ("M(K − K₁ + 2U) + K", "2MU", lambda s, M: (M * (s.K - s.K1 + 2 * s.U) + s.K, 2 * M * s.U)),
}
"""The same for M models in one pass: x̄ is read once for all of them. Step 1 visits u as well, which it leaves 0."""

RECOVERY = {"sgd": (1, 1), "asgd": (4, 3), "csgd": (4, 3), "casgd": (7, 5)}
"""n-vectors read and written, once, to make the predictor."""

DENSE = {"sgd": (8, 5), "asgd": (11, 7), "csgd": (12, 6), "casgd": (15, 8)}
"""n-vectors read and written by the dense side in every step."""

DENSE_ONCE = {"sgd": (0, 1), "asgd": (3, 4), "csgd": (0, 1), "casgd": (3, 4)}
"""n-vectors read and written by the dense side before the first step and after the last."""


OPERATIONS: dict[Any, tuple[int, int]] = {dot: (1, 0), add: (1, 1), add_both: (2, 2)}
"""Entries read and written by the sparse vector operations, as multiples of k."""


def jobs() -> Iterator[Job]:
    yield Job(("cost",), "counting: the sparse operations", operations)
    for name in ALGORITHMS:
        yield Job(("cost",), f"counting: {name}", partial(count, name))
    for name in LOOP_FOR_MANY:
        yield Job(("cost",), f"counting: {name} for many models", partial(count_for_many, name))


def counted(claim: str, evidence: str, equal: list[bool], algorithm: str = "", shown: str = "") -> Entry:
    """Entry of a claim with the runs in which it was counted to be so."""
    figure = f"{sum(equal)} of {len(equal)} runs equal{shown}"
    return Entry("cost", claim, "counted", evidence, figure, bool(equal) and all(equal), algorithm=algorithm)


def operations() -> Iterator[Entry]:
    """Hold the sparse vector operations against k, the entries stored in the row, in a few and in very many columns."""
    for operation, (reads, writes) in OPERATIONS.items():
        equal = []
        for n, k in product((20, 20_000), (0, 1, 4, 7, 20)):
            X = Problem(*make_generic(1, n, k, seed=k)[:2], "log", 0.1).X
            tally = Tally()
            v, u = (CountingArray(np.ones(n), tally) for _ in range(2))
            arguments = {"dot": (v, X, 0), "add": (v, 2.0, X, 0), "add_both": (v, 2.0, u, 3.0, X, 0)}
            operation(*arguments[operation.__name__])
            equal.append((tally.read, tally.written) == (reads * k, writes * k))
        claim = f"the sparse operation `{operation.__name__}` reads {reads}k and writes {writes}k entries, whatever n is: O(k)"
        yield counted(claim, "on the shipped code", equal)


def problems(sizes) -> Iterator[tuple[Problem, np.ndarray]]:
    """Problems of the sizes (m, n, k, T) with every loss, and T indices."""
    for loss, (m, n, k, T) in product(LOSSES, sizes):
        yield Problem(*make_generic(m, n, k, seed=n)[:2], loss, 0.1), draw_indices(m, T, rng=0)


def count(name: str) -> Iterator[Entry]:
    """Hold the counts against the formulas for several m, n, k, T, with and without steps whose derivative is 0."""
    centred = ALGORITHMS[name].centred
    reads, writes, of_loop = LOOP[name]
    (n_read, n_written), (step_read, step_written), (once_read, once_written) = RECOVERY[name], DENSE[name], DENSE_ONCE[name]
    loops, recoveries, dense, projected, shown = [], [], [], [], ""
    for problem, indices in problems(((20, 30, 3, 40), (20, 60, 3, 40), (20, 60, 6, 40), (40, 60, 6, 160), (40, 6000, 6, 160))):
        found, sizes = count_sparse(name, problem, indices)
        n, T, read, written = sizes.n, sizes.T, *of_loop(sizes)
        of_mean = (sizes.nnz + 3 * n, sizes.nnz + n) if centred else (0, 0)
        of_dense = (step_read * T * n + once_read * n, step_written * T * n + once_written * n)
        loops.append(found["loop"] == (read, written))
        recoveries.append(found["recovery"] == (n_read * n, n_written * n) and found["mean"] == of_mean)
        dense.append(count_dense(name, problem, indices) == of_dense)
        if centred:
            given, _ = count_sparse(name, problem, indices, projected=True)
            projected.append((given["loop"], given["projection"]) == ((read - sizes.K, written), (sizes.nnz, 0)))
        shown = (
            f"; {sum(found['loop'])} entries touched in the loop against {sum(of_dense)} dense "
            f"at n = {n}, T = {T}, k = {sizes.nnz // problem.m}"
        )
    claim = (
        f"the loop reads {reads} and writes {writes} entries of state, whatever n is: K, K₁ are k summed over all draws, "
        "of the first one; U, U₁ likewise where ℓ' ≠ 0"
    )
    yield counted(claim, "on the shipped loop", loops, name, shown)
    if centred:
        claim = "with the projections x̄ · x_i of all rows computed before, which reads nnz entries, the loop reads K fewer"
        yield counted(claim, "on the shipped loop", projected, name)
    before = ", and x̄ before it nnz + 3n and nnz + n" if centred else ""
    claim = f"recovering the predictor reads {n_read}n entries and writes {n_written}n, once{before}"
    yield counted(claim, "on the shipped code", recoveries, name)
    once = f" + {once_read}n" if once_read else ""
    claim = f"the dense side reads {step_read}nT{once} entries and writes {step_written}nT + {once_written}n"
    yield counted(claim, "on the shipped code", dense, name)


def count_for_many(name: str) -> Iterator[Entry]:
    """Hold the counts of the loop for many models against the formulas for several M, m, n, k, T."""
    reads, writes, of_loop = LOOP_FOR_MANY[name]
    equal = []
    for problem, indices in problems(((20, 30, 3, 40), (20, 60, 6, 40), (20, 6000, 6, 40), (20, 60, 6, 80))):
        for models in (1, 2, 4, 7):
            signs = np.random.default_rng(models).choice([-1.0, 1.0], (problem.m, models))
            found, sizes = count_models(name, problem, signs, indices)
            equal.append(found == of_loop(sizes, models))
    claim = (
        f"for M models in one pass, the loop reads {reads} and writes {writes} entries of state, whatever n is; U is over the "
        "draws where ℓ' ≠ 0 for any of the models"
    )
    yield counted(claim, "on the shipped loop", equal, name)
