"""Bound the first steps: the offset t0 of the step size 1/(λ(t + t0)) with which no step on the squared loss overshoots."""

import numpy as np

from .problem import Problem
from .rows import Rows
from .sampling import mean_row


def safe_t0(problem: Problem, centred: bool = False, sampling_weight: np.ndarray | None = None):
    """Compute R²/λ with R² = max_i s_i ‖[x_i, 1]‖², or ‖[x_i − x̄, 1]‖² if centred: no step on the squared loss overshoots.

    In the direction of [x_i, 1], a step of size η multiplies the distance from the minimum of the regularised loss of example
    i by 1 − η(λ + s_i‖[x_i, 1]‖²). With t0 = R²/λ the steps are 1/(λt + R²), so that this factor never leaves [0, 1]; from
    t0 = (R²/λ − 1)/2 on it never leaves [−1, 1], and every step is non-expansive. Losses with a bounded derivative need no t0.

    Parameters
    ----------
    problem : Problem
    centred : bool
        For csgd and casgd.
    sampling_weight : ndarray of shape (m,), optional
        Sampling weights, as `draw_indices` takes them: examples with the weight 0 are left out, and x̄ is the mean of the
        drawn rows. Whole weights count: R² is that of the rows `np.repeat(rows, sampling_weight)`, to the bit.

    Returns
    -------
    number, in the problem's arithmetic

    Paper: none; its t0 is 0.
    Cost: O(n + mk), in memory as well: only columns of which more than four fifths are stored are made dense.
    """
    X, weight = problem.X, problem.sample_weight
    if sampling_weight is not None:
        weight = weight * sampling_weight.astype(bool)
    if not centred:
        return (weight * (_products(X, X.data, X.data) + 1)).max() / problem.lam
    # ‖x − x̄‖² = ‖x‖² − 2 x · x̄ + ‖x̄‖², but coordinate by coordinate in the columns that may have a large mean
    if sampling_weight is None:
        xbar, stored, m = problem.xbar, np.bincount(X.indices, minlength=X.n), X.m
    else:
        xbar, m = mean_row(X, sampling_weight, drawn=True), sampling_weight.sum()
        stored = np.bincount(X.indices, np.repeat(sampling_weight, np.diff(X.indptr)), X.n)
    apart = np.zeros(X.n, dtype=bool) if X.exact else stored > 0.8 * m
    rest, data = np.where(apart, 0, xbar), np.where(apart[X.indices], 0, X.data)
    norms = _products(X, data, data - 2 * rest[X.indices]) + (rest * rest).sum() + 1
    if apart.any():
        columns = np.flatnonzero(apart)
        dense = X.csr[:, columns].toarray().astype(np.float64)
        norms = norms + ((dense - xbar[columns]) ** 2).sum(axis=1)
    return (weight * norms).max() / problem.lam


def _products(X: Rows, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Sum first_ij second_ij over j for every row i."""
    product = first * second if X.exact else first.astype(np.float64) * second
    return X._replace(data=product).dot(X.zeros() + 1)
