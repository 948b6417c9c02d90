"""How large the first steps may be: the offset t0 of the step size 1/(λ(t + t0)) that keeps the squared loss in hand."""

import numpy as np
import scipy.sparse as sp

from .problem import Problem
from .rows import Rows
from .sampling import drawn_mean


def safe_t0(problem: Problem, centred: bool = False, drawn: np.ndarray | None = None):
    """R²/λ with R² = max_i s_i ‖[x_i, 1]‖², or ‖[x_i − x̄, 1]‖² if centred: no step on the squared loss overshoots.

    A step of size η on example i multiplies the distance of its prediction from the label's pull by 1 − η(λ + s_i‖[x_i, 1]‖²)
    in the direction of [x_i, 1]. With t0 = R²/λ the steps are 1/(λt + R²), so that this factor never leaves [0, 1]; from
    t0 = (R²/λ − 1)/2 on it never leaves [−1, 1], and every step is non-expansive. Losses with a bounded derivative need no t0.

    Parameters
    ----------
    problem : Problem
    centred : bool
        For csgd and casgd.
    drawn : ndarray of shape (m,), optional
        The weights that `draw_indices` is given, if any: examples with the weight 0 are left out, and x̄ is the mean of what
        is drawn. As there, whole ones are counted: R² is that of the rows `np.repeat(rows, drawn)`, to the bit.

    Returns
    -------
    number, in the problem's arithmetic

    Paper: none; its t0 is 0.
    Cost: O(n + mk), in room as well: only columns of which more than four fifths are stored are made dense.
    """
    X, weight = problem.X, problem.weight
    if drawn is not None:
        weight = weight * drawn.astype(bool)
    if not centred:
        return (weight * (_products(X, X.data, X.data) + 1)).max() / problem.lam
    # ‖x − x̄‖² = ‖x‖² − 2 x · x̄ + ‖x̄‖², but coordinate by coordinate in the columns that may have a large mean
    if drawn is None:
        xbar, stored, m = problem.xbar, np.bincount(X.indices, minlength=X.n), X.m
    else:
        xbar, stored, m = drawn_mean(X, drawn), np.bincount(X.indices, np.repeat(drawn, np.diff(X.indptr)), X.n), drawn.sum()
    apart = np.zeros(X.n, dtype=bool) if X.exact else stored > 0.8 * m
    rest, data = np.where(apart, 0, xbar), np.where(apart[X.indices], 0, X.data)
    norms = _products(X, data, data - 2 * rest[X.indices]) + (rest * rest).sum() + 1
    if apart.any():
        columns = np.flatnonzero(apart)
        dense = sp.csr_array((X.data, X.indices, X.indptr), shape=(X.m, X.n))[:, columns].toarray().astype(np.float64)
        norms = norms + ((dense - xbar[columns]) ** 2).sum(axis=1)
    return (weight * norms).max() / problem.lam


def _products(X: Rows, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Σ_j first_ij second_ij for every row i."""
    product = first * second if X.exact else first.astype(np.float64) * second
    return X._replace(data=product).dot(X.zeros() + 1)
