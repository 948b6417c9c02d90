"""The origin of the centred algorithms: the mean of the rows, by how often each is drawn."""

from typing import NamedTuple

import numpy as np

from reference.rows import Rows
from reference.sampling import as_counts

from .. import casgd
from ..kernels.blocks import blocks_of_rows
from ..kernels.compiled import compiled_loop, unsigned
from .centring import find_pivot, in_parts, is_far, pivoted


class Centre(NamedTuple):
    """pivot + xbar: two vectors, since one of float64 may not hold the digits of a mean far from 0."""

    pivot: np.ndarray | None
    xbar: np.ndarray


def find_centre(X: Rows, weight: np.ndarray | None = None) -> Centre:
    """The mean of rows that are drawn with these weights, as `draw_indices` does; of all equally, without.

    Whole weights say how often each row occurs: to the bit, it is what a State finds for the rows `np.repeat(X, weight)`.

    Cost: O(n + mk), or O(n + Σ_i weight_i k_i) for whole weights.
    """
    if weight is None:
        weight = np.broadcast_to(np.float64(1), X.m)
    counted = as_counts(weight) is not None
    if not counted:
        weight = weight / weight.max()
    pivot, xbar = None, _mean(X, weight, counted)
    if is_far(xbar, X, weight):
        pivot = find_pivot(X, weight, counted)
        xbar = _mean(X, weight, counted, pivot)
    return Centre(pivot, xbar)


def _mean(X: Rows, weight: np.ndarray, counted: bool, pivot: np.ndarray | None = None) -> np.ndarray:
    """x̄ of the rows x − pivot, or of the rows as they are."""
    xbar, total = np.zeros(X.n), np.float64(0)
    for rows, share in in_parts(X, weight, counted):
        moved = unsigned(rows if pivot is None else pivoted(rows, pivot))
        for start, stop in blocks_of_rows(moved):
            total = compiled_loop(casgd.add_up)(moved, share, start, stop, xbar, total)
    compiled_loop(casgd.centre)(xbar, total)
    return xbar
