"""What `train` and `sweep` have in common: the drawn examples, and a line about the rows."""

import argparse
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from reference import draw_indices


def epochs_of(m: int, options: argparse.Namespace) -> Iterator[np.ndarray]:
    """The drawn examples, an epoch of m steps at a time: together those of draw_indices(m, epochs * m, seed, order)."""
    rng = np.random.default_rng(options.seed)
    for _ in range(options.epochs):
        yield draw_indices(m, m, rng, options.order)


def row_summary(X: sp.csr_array, classes: np.ndarray | None) -> str:
    m, n = X.shape
    kinds = "numbers to predict" if classes is None else f"{len(classes)} classes"
    return f"{m} rows, {n} columns, {X.nnz / m:.1f} entries a row, {kinds}"
