"""State of one model: what its parts are, the room of a stream, the same bits by every way to a predictor."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import efficient
from efficient import State
from efficient.runs.algorithms import ALGORITHMS
from reference import Problem, draw_indices
from reference.datasets import make_text
from tests.helpers import assert_same_run

DATA = make_text(60, 300, 10, seed=1)
PROBLEM = Problem(DATA.X, DATA.y, "log", 0.01)
PI = draw_indices(60, 500, rng=2)


def test_state_before_and_after_the_first_steps():
    state = State(Problem([[1, 0], [0, 2]], [1, 2], "squared", 1.0), "casgd")
    kept = [getattr(state, name) for name in ("t", "p", "g", "a", "c", "h", "total", "z", "r", "s")]
    assert kept == [0] * 10 and not state.v.any() and not state.u.any()
    state.run([1])
    assert (state.t, state.h, state.total, state.p, state.g, state.a) == (1, 1, 1, 0, -2, -2)
    state.run([0])
    assert (state.t, state.h, state.total) == (2, 1.5, 2)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_function_returns_the_predictor_of_its_state(algorithm):
    (wanted,) = State(PROBLEM, algorithm).run(PI).predictors()
    found = getattr(efficient, algorithm)(PROBLEM, PI)
    np.testing.assert_array_equal(found.w, wanted.w)
    assert found.b == wanted.b


@pytest.mark.parametrize(("last", "both"), [("sgd", "asgd"), ("csgd", "casgd")])
def test_an_averaging_state_also_has_the_last_iterate(last, both):
    wanted, found = State(PROBLEM, last).run(PI).last(), State(PROBLEM, both).run(PI).last()
    np.testing.assert_array_equal(found.w, wanted.w)
    assert found.b == wanted.b


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_compiled_loop_and_python_source_give_the_same_bits(algorithm):
    python = State(PROBLEM, algorithm)
    python._steps, python._dloss = ALGORITHMS[algorithm].steps, PROBLEM.loss.derivative
    assert_same_run(State(PROBLEM, algorithm).run(PI), python.run(PI))


def test_read_only_rows_give_the_same_bits():
    X, y, pi = DATA.X.copy(), DATA.y.copy(), PI.copy()
    for array in (X.data, X.indices, X.indptr, y, pi):
        array.setflags(write=False)
    for algorithm in ALGORITHMS:
        assert_same_run(State(Problem(X, y, "log", 0.01), algorithm).run(pi), State(PROBLEM, algorithm).run(PI))


def test_room_of_a_stream_is_at_most_twice_its_width():
    def problem(n):
        return Problem(np.ones((2, n)), [1, 2], "squared", 1.0)

    state = State(problem(3), "asgd").run([0])
    for n, room, width in ((4, 6, 4), (5, 6, 5), (6, 6, 6), (2, 6, 6), (20, 20, 20)):
        state.follow(problem(n)).run([0])
        assert (len(state._room), len(state.v), len(state.u)) == (room, width, width)


@pytest.mark.parametrize("algorithm", ["asgd", "casgd"])
def test_without_columns_v_and_u_are_as_far_apart_as_with_them(algorithm):
    state = State(Problem(np.empty((2, 0)), [1, -1], "hinge", 0.5), algorithm).run([0, 1])
    assert state.v.strides == state.u.strides == (16,)
    assert state.average().b == state.last().b + 1  # b_1 = 2, b_2 = 0


def test_forget_rows_keeps_no_row_and_no_label():
    state = State(Problem([[1, 0], [0, 2]], [1, 2], "squared", 1.0, [1, 2]), "asgd").run([0]).forget_rows()
    X = state.problem.X
    assert [X.data.tolist(), X.indices.tolist(), X.indptr.tolist(), X.n] == [[], [], [0], 2]
    assert [state.problem.y.tolist(), state.problem.sample_weight.tolist(), state.problem.m] == [[], [], 0]


@pytest.mark.parametrize("number", [float, Fraction])
def test_a_stream_of_single_rows_grows_with_its_columns(number):
    state = None
    for j in range(300):
        X = sp.csr_array(([1.0], [j], [0, 1]), shape=(1, j + 1))
        row = Problem(X, [1.0 if j % 3 else -1.0], "hinge", number(1))
        state = (State(row, "asgd") if state is None else state.follow(row)).run([0])
    assert state.t == len(state.v) == 300
    assert len(state._room) < 2 * 300 + 2
