"""Compare with an independent oracle: scikit-learn's averaged SGD, told to take steps 1/(λt) on rows [x, 1].

Its code shares nothing with ours. It decays the weights multiplicatively and rounds in another order, hence the bound: on
a well-conditioned run (λ as in the table of cases) the two agree to (T + k) · eps of the largest prediction.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

import efficient
from reference import LOSSES, Problem, draw_indices

from .. import peer
from ..data import Case
from ..ledger import Entry, Job

EPS = float(np.finfo(np.float64).eps)


def jobs(cases: list[Case]) -> Iterator[Job]:
    for case in cases:
        for loss, lam in case.lam.items():
            if not LOSSES[loss].scikit_learn:
                continue
            yield Job(("alg:asgd",), f"scikit-learn: {case.name}, {loss}", partial(compare, case, loss, lam))


def compare(case: Case, loss: str, lam: float) -> Iterator[Entry]:
    """Compare our asgd with scikit-learn's averaged SGD on the same m draws."""
    problem = Problem(case.X, case.y, loss, lam)
    indices = draw_indices(problem.m, problem.m, rng=0)
    state = efficient.State(problem, "asgd")
    scale = max(1.0, *(abs(state.run([i]).p) for i in indices))
    ours = state.average()
    fitted = peer.one_pass(peer.learner(loss, lam), peer.with_ones(case.X[indices]), case.y[indices])
    (theirs,) = peer.predictors(fitted)
    value = float(max(abs(ours.w - theirs.w).max(initial=0), abs(ours.b - theirs.b)) / scale)
    bound = (len(indices) + int(np.diff(problem.X.indptr).max())) * EPS
    yield Entry(
        "alg:asgd",
        "scikit-learn's averaged SGD on rows [x, 1] gives the same [w̄, b̄]",
        "float",
        f"float64, T = {len(indices)}, λ = {lam:g}",
        f"largest difference {value:.1e} of the largest prediction, bound (T + k)·eps = {bound:.1e}",
        value <= bound,
        case.name,
        "asgd",
        loss,
        value,
        bound,
    )
