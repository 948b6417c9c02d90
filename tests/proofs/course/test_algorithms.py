import numpy as np
import pytest

from proofs.course import Wrong, touches_few


def touching(step):
    """Count a loop that does `step(v, columns, values)` in every step."""

    def algorithm(X, y, derivative, lam, indices, zeros):
        v = zeros(X.shape[1])
        for i in indices:
            stored = slice(X.indptr[i], X.indptr[i + 1])
            step(v, X.indices[stored], X.data[stored])

    touches_few(algorithm)


@pytest.mark.parametrize(
    "step",
    [
        lambda v, columns, values: np.add.at(v, columns, values),
        lambda v, columns, values: np.dot(v[columns], values),
        lambda v, columns, values: v[columns].dot(values),
        lambda v, columns, values: sum(v[j] * value for j, value in zip(columns, values, strict=True)),
    ],
)
def test_touches_few_sparse_step_passes(step):
    touching(step)


@pytest.mark.parametrize(
    "step",
    [
        lambda v, columns, values: v + 1,
        lambda v, columns, values: v.__imul__(0.5),
        lambda v, columns, values: v @ np.ones(len(v)),
        lambda v, columns, values: np.dot(v, v),
        lambda v, columns, values: v.dot(v),
        lambda v, columns, values: v.copy(),
        lambda v, columns, values: v[:] + 1,
        lambda v, columns, values: np.concatenate([v, [1.0]]),
        lambda v, columns, values: list(v),
        lambda v, columns, values: (2 * v)[columns],
    ],
)
def test_touches_few_dense_step_raises(step):
    with pytest.raises(Wrong, match=r"a step touches [1-6] entries for each of the n columns"):
        touching(step)
