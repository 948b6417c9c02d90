"""Runs in pieces, with weights and offsets, and runs that follow a stream of rows."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import efficient
import reference
from efficient import State
from efficient.runs.algorithms import ALGORITHMS
from reference import Problem, draw_indices, safe_t0
from reference.averaging import polynomial
from reference.datasets import make_generic, make_text
from tests.helpers import AVERAGING

GENERIC = make_generic(7, 5, 3, seed=1)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_pieces_give_the_bits_of_one_run(algorithm):
    X, y, _ = make_text(60, 300, 10, seed=1)
    problem, indices = Problem(X, y, "squared", 0.01), draw_indices(60, 500, rng=2)
    t0 = safe_t0(problem, ALGORITHMS[algorithm].centred)
    weights = {"weights": polynomial(2, t0)} if algorithm in AVERAGING else {}
    whole, pieces = (State(problem, algorithm, t0=t0, **weights) for _ in range(2))
    whole.run(indices)
    for piece in np.split(indices, [1, 2, 77, 400]):
        pieces.run(piece)
    recover = State.average if algorithm in AVERAGING else State.last
    np.testing.assert_array_equal(recover(whole).w, recover(pieces).w)
    assert recover(whole).b == recover(pieces).b


def test_the_pivot_is_weighted_as_the_mean_is():
    rng = np.random.default_rng(0)
    X = np.r_[rng.standard_normal((10, 2)) + 1e9, np.zeros((10, 2))]
    y, indices = rng.standard_normal(20), np.arange(200) % 10
    weighted = efficient.casgd(Problem(X, y, "squared", 1.0, np.r_[np.ones(10), np.zeros(10)]), indices)
    alone = efficient.casgd(Problem(X[:10], y[:10], "squared", 1.0), indices)
    np.testing.assert_allclose(weighted.w, alone.w, rtol=1e-9)


def huber(delta):
    def derivative(p, y):
        return max(-delta, min(delta, p - y))

    return reference.Loss("huber", lambda p, y: 0.0, derivative)


@pytest.mark.parametrize("lam", [0.5, Fraction(1, 2)])
def test_a_loss_of_the_same_name_is_another_loss(lam):
    first, second, same = (Problem(GENERIC.X, GENERIC.y, huber(delta), lam) for delta in (1, 9, 1))
    with pytest.raises(ValueError, match="must have the same loss"):
        State(first, "sgd").run([0]).follow(second)
    State(first, "sgd").run([0]).follow(same).run([0])


@pytest.mark.parametrize("algorithm", ["sgd", "asgd"])
@pytest.mark.parametrize("lam", [0.05, Fraction(1, 20)], ids=str)
def test_a_stream_of_unknown_width_gives_the_bits_of_a_known_one(algorithm, lam):
    X, y, _ = make_generic(12, 40, 4, seed=5)
    whole = Problem(X, y, "log", lam)
    chunks = [(0, 3), (3, 4), (4, 9), (9, 12)]
    state = None
    for low, high in chunks:
        part = sp.csr_array(X[low:high])
        part = part[:, : int(part.indices.max()) + 1]  # what has been seen of the columns in this chunk
        chunk = Problem(part, y[low:high], "log", lam)
        state = State(chunk, algorithm) if state is None else state.follow(chunk)
        state.run(np.arange(high - low))
    known = State(whole, algorithm).run(np.arange(12))
    width = len(state.v)
    assert width == int(X.indices.max()) + 1
    found, wanted = (each.average() if algorithm == "asgd" else each.last() for each in (state, known))
    np.testing.assert_array_equal(found.w, wanted.w[:width])
    assert not wanted.w[width:].any()
    assert (found.b, state.t) == (wanted.b, 12)


def test_what_a_stream_may_not_do():
    X, y, _ = make_generic(12, 40, 4, seed=5)
    problem = Problem(X, y, "log", 0.5)
    with pytest.raises(ValueError, match="casgd"):
        State(problem, "casgd").run([0]).follow(problem)
    for other in (Problem(X, y, "hinge", 0.5), Problem(X, y, "log", 0.25), Problem(X, y, "log", Fraction(1, 2))):
        with pytest.raises(ValueError, match="must have the same loss and lam"):
            State(problem, "asgd").run([0]).follow(other)


def test_a_long_stream_of_single_rows_grows_in_linear_time():
    state = None
    for j in range(2000):
        row = Problem(sp.csr_array(([1.0], [j], [0, 1]), shape=(1, j + 1)), [1.0 if j % 3 else -1.0], "log", 0.1)
        state = (State(row, "asgd") if state is None else state.follow(row)).run([0])
    assert state.t == len(state.v) == 2000
    assert len(state._room) < 2 * 2000 + 2
