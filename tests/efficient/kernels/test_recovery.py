"""Recoveries compiled column by column: the bits of the whole vectors, overflow seen wherever it is, any state."""

import numpy as np
import pytest

from efficient.kernels.recovery import COLUMNS, recover_into
from efficient.runs.algorithms import ALGORITHMS

RECOVERIES = {
    f"{name}: {kind}": (getattr(algorithm, kind), len(algorithm.vectors))
    for name, algorithm in ALGORITHMS.items()
    for kind in ("last", "average")
    if getattr(algorithm, kind) is not None
}


def state(recovery, vectors, n):
    """Make the parts of a state of large and small numbers: v and u side by side, as in a run."""
    rng = np.random.default_rng(0)
    room = rng.standard_normal((n, vectors)) * 10.0 ** rng.integers(-300, 300, (n, 1))
    of = {"v": room[:, 0], "u": room[:, -1], "xbar": rng.standard_normal(n)}
    return [of[name] if name in of else rng.standard_normal() for name in recovery.parts]


@pytest.mark.parametrize("name", RECOVERIES)
@pytest.mark.parametrize("n", [2, 3 * COLUMNS + 5])
def test_weights_by_column_are_those_of_the_vectors_to_the_bit(name, n):
    recovery, vectors = RECOVERIES[name]
    parts, (compiled, plain) = state(recovery, vectors, n), np.empty((2, n))
    wanted, b = recovery.recover(0.3, 7.5, *parts)
    for w, many in ((compiled, True), (plain, False)):
        assert recover_into(w, recovery.recover, 0.3, 7.5, parts, many) == (b, True)
        assert w.tobytes() == wanted.tobytes()
    assert compiled.any()


@pytest.mark.parametrize("many", [True, False])
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, COLUMNS, -1])
def test_a_weight_that_is_not_finite_is_seen_wherever_it_is(many, wrong, place):
    recovery, vectors = RECOVERIES["casgd: average"]
    parts = state(recovery, vectors, 2 * COLUMNS)
    parts[0][place] = wrong
    with np.errstate(invalid="ignore"):
        assert not recover_into(np.empty(2 * COLUMNS), recovery.recover, 0.3, 7.5, parts, many)[1]


def test_no_columns_have_a_bias():
    for recovery, vectors in RECOVERIES.values():
        parts = state(recovery, vectors, 0)
        assert recover_into(np.empty(0), recovery.recover, 0.3, 7.5, parts) == (recovery.recover(0.3, 7.5, *parts)[1], True)
