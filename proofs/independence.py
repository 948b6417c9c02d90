"""An independent oracle: scikit-learn's averaged SGD, told to take steps 1/(λt) on rows [x, 1], gives the same [w̄, b̄].

Its code shares nothing with ours. It decays the weights multiplicatively and rounds in another order, hence the bound: on
a well-conditioned run (λ as in the table of cases) the two agree to (T + k) · eps of the largest prediction.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
import scipy.sparse as sp

import efficient
from reference import Problem, draw_indices

from .cases import Case
from .identical import EPS
from .ledger import Entry, Job

SCIKIT_LEARN_LOSS = {"hinge": "hinge", "log": "log_loss", "squared": "squared_error", "absolute": "epsilon_insensitive"}


def jobs(cases: list[Case]) -> Iterator[Job]:
    for case in cases:
        for loss, lam in case.lam.items():
            yield Job(("alg:asgd",), f"scikit-learn: {case.name}, {loss}", partial(compare, case, loss, lam))


def averaged_sgd(X, y, loss: str, lam: float) -> tuple[np.ndarray, float]:
    """[w̄, b̄] after one pass over the rows in order, by scikit-learn; the bias is the weight of a column of ones."""
    from sklearn.linear_model import SGDClassifier, SGDRegressor

    kind = SGDClassifier if loss in ("hinge", "log") else SGDRegressor
    learner = kind(
        loss=SCIKIT_LEARN_LOSS[loss],
        epsilon=0.0,
        alpha=lam,
        learning_rate="invscaling",
        eta0=1 / lam,
        power_t=1,
        average=True,
        fit_intercept=False,
        shuffle=False,
        max_iter=1,
        tol=None,
    )
    ones = sp.csr_array(np.ones((X.shape[0], 1)))
    augmented = sp.csr_matrix(sp.hstack([X, ones], format="csr"))
    augmented.indices, augmented.indptr = augmented.indices.astype(np.int32), augmented.indptr.astype(np.int32)
    learner.fit(augmented, y)
    coefficients = learner.coef_.ravel()
    return coefficients[:-1], coefficients[-1]


def compare(case: Case, loss: str, lam: float) -> Iterator[Entry]:
    """Our asgd and scikit-learn's on the same m draws."""
    problem = Problem(case.X, case.y, loss, lam)
    indices = draw_indices(problem.m, problem.m, rng=0)
    state = efficient.State(problem, "asgd")
    scale = max(1.0, *(abs(state.run([i]).p) for i in indices))
    ours = state.average()
    w, b = averaged_sgd(case.X[indices], case.y[indices], loss, lam)
    value = float(max(abs(ours.w - w).max(initial=0), abs(ours.b - b)) / scale)
    bound = (len(indices) + int(np.diff(problem.X.indptr).max())) * EPS
    yield Entry(
        "alg:asgd",
        "scikit-learn's averaged SGD on rows [x, 1] gives the same [w̄, b̄]",
        f"measured in float64, T = {len(indices)}, λ = {lam:g}",
        f"largest difference {value:.1e} of the largest prediction, bound (T + k)·eps = {bound:.1e}",
        value <= bound,
        case.name,
        "asgd",
        loss,
        value,
        bound,
    )
