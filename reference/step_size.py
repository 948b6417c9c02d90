"""Bound the first steps: the offset t0 of the step size 1/(λ(t + t0)) with which no step on the squared loss overshoots."""

import numpy as np

from .arithmetic import Overflow, unsignalled
from .problem import Problem
from .rows import Rows
from .sampling import mean_row


@unsignalled
def safe_t0(problem: Problem, centred: bool = False, sampling_weight: np.ndarray | None = None, xbar: np.ndarray | None = None):
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
    xbar : ndarray of shape (n,), optional
        x̄ of all rows, where those of the problem are a part of them.

    Returns
    -------
    number, in the problem's arithmetic

    Raises
    ------
    FloatingPointError
        It overflows float64.

    Paper: none; its t0 is 0.
    Cost: O(n + mk) time: only columns of which more than four fifths are stored are made dense, a block of rows at a time.
    """
    X, weight = problem.X, problem.sample_weight
    if sampling_weight is not None:
        weight = weight * sampling_weight.astype(bool)
    norms = np.empty(X.m, dtype=X.zeros().dtype)
    if not centred:
        for where, block in X.blocks():
            norms[where] = _products(block, block.data, block.data) + 1
        return _over_lam(weight * norms, problem)
    drawn = np.ones(X.m) if sampling_weight is None else sampling_weight
    if xbar is None:
        xbar = problem.xbar if sampling_weight is None else mean_row(X, sampling_weight, drawn=True)
    around = (xbar * xbar).sum() + 1
    # ‖x − x̄‖² = ‖x‖² − 2 x · x̄ + ‖x̄‖², in which little cancels unless x̄ is longer than x − x̄
    for where, block in X.blocks():
        norms[where] = _products(block, block.data, block.data) - 2 * block.dot(xbar) + around
    if not X.exact and not (weight * norms).max() > weight.max() * (around - 1):
        _coordinate_by_coordinate(X, xbar, drawn, norms)
    return _over_lam(weight * norms, problem)


def _over_lam(norms: np.ndarray, problem: Problem):
    t0 = norms.max() / problem.lam
    if not (problem.X.exact or np.isfinite(t0)):
        raise Overflow("t0 = R²/λ overflows float64", "rows", "lam")
    return t0


def _coordinate_by_coordinate(X: Rows, xbar: np.ndarray, drawn: np.ndarray, norms: np.ndarray) -> None:
    """Compute ‖x_i − x̄‖² + 1 for every row, without cancellation in the columns that may have a large mean."""
    stored = np.zeros(X.n)
    for where, block in X.blocks():
        np.add.at(stored, block.indices, np.repeat(drawn[where], np.diff(block.indptr)))
    apart = stored > 0.8 * drawn.sum()
    rest, columns = np.where(apart, 0, xbar), np.flatnonzero(apart)
    for where, block in X.blocks():
        data = np.where(apart[block.indices], 0, block.data)
        norms[where] = _products(block, data, data - 2 * rest[block.indices]) + (rest * rest).sum() + 1
        dense = block.csr[:, columns].toarray().astype(np.float64)
        norms[where] += ((dense - xbar[columns]) ** 2).sum(axis=1)


def _products(X: Rows, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Sum first_ij second_ij over j for every row i."""
    product = first * second if X.exact else first.astype(np.float64, copy=False) * second
    stored = np.diff(X.indptr) > 0
    sums = np.zeros(X.m, dtype=product.dtype)
    sums[stored] = np.add.reduceat(product, X.indptr[:-1][stored])
    return sums
