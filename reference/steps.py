"""How large the first steps may be: the offset t0 of the step size 1/(λ(t + t0)) that keeps the squared loss in hand."""

import numpy as np

from .problem import Problem


def safe_t0(problem: Problem, centred: bool = False):
    """R²/λ with R² = max_i s_i ‖[x_i, 1]‖², or ‖[x_i − x̄, 1]‖² if centred: no step on the squared loss overshoots.

    A step of size η on example i multiplies the distance of its prediction from the label's pull by 1 − η(λ + s_i‖[x_i, 1]‖²)
    in the direction of [x_i, 1]. With t0 = R²/λ the steps are 1/(λt + R²), so that this factor never leaves [0, 1]; from
    t0 = (R²/λ − 1)/2 on it never leaves [−1, 1], and every step is non-expansive. Losses with a bounded derivative need no t0.

    Parameters
    ----------
    problem : Problem
    centred : bool
        For csgd and casgd.

    Returns
    -------
    number, in the problem's arithmetic

    Paper: none; its t0 is 0.
    Cost: O(n + mk).
    """
    X, weight = problem.X, problem.weight
    squares = X.data.astype(np.float64) ** 2 if X.data.dtype != object else X.data**2
    norms = X._replace(data=squares).dot(np.full(X.n, problem.number(1), dtype=problem.y.dtype)) + 1
    if centred:
        xbar = problem.xbar
        norms = norms - 2 * X.dot(xbar) + (xbar * xbar).sum()
    return (weight * norms).max() / problem.lam
