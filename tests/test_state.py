"""A State can be continued, looked at, saved and loaded at any step, and is none the worse for it."""

import copy
import os
import pickle
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

import efficient
import reference
from efficient import State
from proofs.conformance import ALGORITHM
from reference import Problem, draw_indices
from reference.datasets import make_text

ALL = list(ALGORITHM.values())
DATA = make_text(60, 300, 10, seed=1)
PROBLEM = Problem(DATA.X, DATA.y, "log", 0.01)
PI = draw_indices(60, 500, rng=2)


def parts(state):
    names = ("t", "p", "g", *state._parts.vectors, *state._parts.scalars)
    return {name: np.copy(getattr(state, name)) for name in names}


def assert_same_bits(first, second):
    for name, value in parts(first).items():
        np.testing.assert_array_equal(value, getattr(second, name), err_msg=name)


@pytest.mark.parametrize("algorithm", ALL)
@pytest.mark.parametrize("cuts", [[1], [499], [1, 2, 3], [100, 101, 350], list(range(1, 500))], ids=lambda cuts: str(len(cuts)))
def test_pieces_give_the_bits_of_one_run(algorithm, cuts):
    whole, pieces = State(PROBLEM, algorithm).run(PI), State(PROBLEM, algorithm)
    for piece in np.split(PI, cuts):
        pieces.run(piece)
    assert pieces.t == 500
    assert_same_bits(whole, pieces)


@pytest.mark.parametrize("algorithm", ALL)
def test_looking_changes_nothing(algorithm):
    looked, plain = State(PROBLEM, algorithm), State(PROBLEM, algorithm)
    for piece in np.split(PI, 10):
        looked.run(piece)
        plain.run(piece)
        first, again = looked.last(), looked.last()
        np.testing.assert_array_equal(first.w, again.w)
        if looked._parts.average:
            looked.average()
    assert_same_bits(looked, plain)
    before = plain.last()
    kept = before.w.copy()
    plain.run(PI[:10])
    np.testing.assert_array_equal(before.w, kept)  # a predictor does not move when the state goes on


@pytest.mark.parametrize(("average", "centred"), ALGORITHM)
def test_the_functions_are_the_state(average, centred):
    algorithm = ALGORITHM[average, centred]
    state = State(PROBLEM, algorithm).run(PI)
    wanted = state.average() if average else state.last()
    found = getattr(efficient, algorithm)(PROBLEM, PI)
    np.testing.assert_array_equal(found.w, wanted.w)
    assert found.b == wanted.b


@pytest.mark.parametrize(("last", "both"), [("sgd", "asgd"), ("csgd", "casgd")])
def test_an_averaging_state_also_has_the_last_iterate(last, both):
    wanted, found = State(PROBLEM, last).run(PI).last(), State(PROBLEM, both).run(PI).last()
    np.testing.assert_array_equal(found.w, wanted.w)
    assert found.b == wanted.b


@pytest.mark.parametrize("algorithm", ALL)
def test_save_and_load(algorithm, tmp_path):
    state = State(PROBLEM, algorithm).run(PI[:123])
    state.save(tmp_path / "state.npz")
    loaded = State.load(tmp_path / "state.npz", PROBLEM)
    assert loaded.algorithm == algorithm
    assert_same_bits(state, loaded)
    assert_same_bits(state.run(PI[123:]), loaded.run(PI[123:]))
    assert [file.name for file in tmp_path.iterdir()] == ["state.npz"]


def test_a_state_of_another_problem_is_refused(tmp_path):
    State(PROBLEM, "asgd").run(PI).save(tmp_path / "state.npz")
    for other in (
        Problem(DATA.X, DATA.y, "log", 0.02),
        Problem(DATA.X, DATA.y, "hinge", 0.01),
        Problem(DATA.X, -DATA.y, "log", 0.01),
        Problem(DATA.X * 2, DATA.y, "log", 0.01),
        Problem(DATA.X[:, :299], DATA.y, "log", 0.01),
    ):
        with pytest.raises(ValueError, match="problem"):
            State.load(tmp_path / "state.npz", other)


@pytest.mark.parametrize("content", [b"", b"not a state", b"PK\x03\x04 broken"])
def test_a_file_that_is_no_state_is_refused(content, tmp_path):
    (tmp_path / "state.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"state\.npz' is not a saved state"):
        State.load(tmp_path / "state.npz", PROBLEM)


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    state = State(PROBLEM, "asgd").run(PI)
    state.save(tmp_path / "state.npz")
    before = (tmp_path / "state.npz").read_bytes()

    def fail(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(OSError, match="disk full"):
        state.save(tmp_path / "state.npz")
    assert (tmp_path / "state.npz").read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["state.npz"]


def test_what_a_killed_save_left_behind_does_not_matter(tmp_path):
    state, path = State(PROBLEM, "asgd").run(PI), tmp_path / "state.npz"
    own, of_another = (tmp_path / f"state.npz.{number}.part" for number in (os.getpid(), os.getpid() + 1))
    for left in (own, of_another):
        left.write_bytes(bytes(1_000_000))
    state.save(path)
    assert_same_bits(State.load(path, PROBLEM), state)
    assert sorted(tmp_path.iterdir()) == sorted([path, of_another])


def test_an_archive_that_unpacks_to_more_than_the_file_takes_no_memory(tmp_path):
    path = tmp_path / "state.npz"
    State(PROBLEM, "asgd").run(PI).save(path)
    with np.load(path) as file:
        saved = dict(file)
    np.savez_compressed(path, **saved | {"v": np.zeros(3_000_000)})
    assert path.stat().st_size < 1e5
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"not a saved state: its member '.*' is not stored as it is"):
        State.load(path, PROBLEM)
    assert tracemalloc.get_traced_memory()[1] < 5e6
    tracemalloc.stop()


def test_no_predictor_before_the_first_step():
    with pytest.raises(ValueError, match="no step was taken yet"):
        State(PROBLEM, "asgd").last()


@pytest.mark.parametrize(("algorithm", "averaging"), [("sgd", "asgd"), ("csgd", "casgd")])
def test_no_average_where_none_is_kept(algorithm, averaging):
    with pytest.raises(ValueError, match=f"algorithm must be 'asgd' or 'casgd' for an average; got '{algorithm}'"):
        State(PROBLEM, algorithm).run(PI).average()


def test_unknown_algorithm():
    with pytest.raises(ValueError, match="algorithm must be one of 'sgd', 'asgd', 'csgd', 'casgd'; got 'adam'"):
        State(PROBLEM, "adam")


def test_a_refused_run_takes_no_step():
    state = State(PROBLEM, "casgd").run(PI)
    before = parts(state)
    for wrong in ([], [60], [0.5], [[0]]):
        with pytest.raises((ValueError, TypeError), match="indices"):
            state.run(wrong)
    for name, value in before.items():
        np.testing.assert_array_equal(value, getattr(state, name))


def test_an_overflowed_state_gives_nothing_back():
    state = State(Problem(np.full((1, 4), 30.0), [1.0], "squared", 1e-6), "asgd")
    for use in (lambda: state.run(np.zeros(400, int)), lambda: state.run([0]), state.last, state.average):
        with pytest.raises(FloatingPointError, match="by step"):
            use()


def test_a_run_that_was_cut_off_is_not_gone_on_with(tmp_path):
    def fails_at_last(p, y):
        if p != 0:
            raise KeyboardInterrupt
        return -y

    exact = Problem(DATA.X, DATA.y, reference.Loss("fails", lambda p, y: p, fails_at_last), Fraction(1, 2))
    state = State(exact, "asgd")
    with pytest.raises(KeyboardInterrupt):
        state.run(PI)
    for use in (lambda: state.run(PI), state.last, state.average, lambda: state.save(tmp_path / "state.npz")):
        with pytest.raises((RuntimeError, ValueError), match=r"cut off|no step was taken"):
            use()


def test_two_threads_cannot_run_one_state():
    state = State(PROBLEM, "asgd").run(PI)
    state._running = True  # as another thread would have it
    with pytest.raises(RuntimeError, match="in another thread"):
        state.run(PI)


def test_a_saved_state_does_not_mind_how_the_rows_are_stored(tmp_path):
    State(PROBLEM, "casgd").run(PI[:99]).save(tmp_path / "state.npz")
    X = DATA.X.copy()
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    loaded = State.load(tmp_path / "state.npz", Problem(X, DATA.y, "log", 0.01)).run(PI[99:])
    assert_same_bits(State(PROBLEM, "casgd").run(PI), loaded)


def test_a_saved_state_knows_another_loss_of_the_same_name(tmp_path):
    first, second = (
        Problem(DATA.X, DATA.y, reference.Loss("mine", abs, derivative), 0.01)
        for derivative in (lambda p, y: p - y, lambda p, y: 2 * (p - y))
    )
    State(first, "sgd").run(PI[:1]).save(tmp_path / "state.npz")
    with pytest.raises(ValueError, match="another problem"):
        State.load(tmp_path / "state.npz", second)


def test_a_saved_vector_of_another_length_is_refused(tmp_path):
    State(PROBLEM, "sgd").run(PI).save(tmp_path / "state.npz")
    with np.load(tmp_path / "state.npz") as file:
        parts = {**file, "v": np.zeros(1)}
    np.savez(tmp_path / "state.npz", **parts)
    with pytest.raises(ValueError, match="not a saved state: v has the shape"):
        State.load(tmp_path / "state.npz", PROBLEM)


@pytest.mark.parametrize("algorithm", ALL)
def test_pickles_and_deep_copies_go_on_alike(algorithm):
    state = State(PROBLEM, algorithm).run(PI[:99])
    for twin in (pickle.loads(pickle.dumps(state)), copy.deepcopy(state)):
        assert_same_bits(State(PROBLEM, algorithm).run(PI), twin.run(PI[99:]))


def test_read_only_rows_give_the_same_bits():
    X, y, pi = DATA.X.copy(), DATA.y.copy(), PI.copy()
    for array in (X.data, X.indices, X.indptr, y, pi):
        array.setflags(write=False)
    for algorithm in ALL:
        found = getattr(efficient, algorithm)(Problem(X, y, "log", 0.01), pi)
        np.testing.assert_array_equal(found.w, getattr(efficient, algorithm)(PROBLEM, PI).w)


@pytest.mark.parametrize("algorithm", ALL)
def test_the_compiled_loop_and_its_python_source_give_the_same_bits(algorithm):
    state = State(PROBLEM, algorithm)
    python = State(PROBLEM, algorithm)
    python._steps, python._dloss = python._parts.steps, PROBLEM.loss.derivative
    assert_same_bits(state.run(PI), python.run(PI))


def test_a_stream_can_be_saved_after_a_narrower_part(tmp_path):
    narrow = Problem(DATA.X[:, :200], DATA.y, "log", 0.01)
    state = State(PROBLEM, "asgd").run(PI[:50]).follow(narrow).run(PI[50:80])
    state.save(tmp_path / "state.npz")
    loaded = State.load(tmp_path / "state.npz", narrow)
    assert_same_bits(state.run(PI[80:]), loaded.run(PI[80:]))
    assert len(loaded.average().w) == 300
