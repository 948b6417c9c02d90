"""What mutation testing found untested in `efficient`: facts that no other test would miss."""

import re
import signal
import sys
import threading
from contextlib import nullcontext
from fractions import Fraction

import numba
import numpy as np
import pytest
import scipy.sparse as sp

import efficient.kernels.blocks
import efficient.runs.run
import reference
from efficient import State, States
from efficient.kernels.blocks import blocks, blocks_of_rows, first_block, held_interrupts, progress_bar
from efficient.kernels.compiled import compiled_derivative, compiled_loop
from efficient.kernels.simd import read_four, write_four
from efficient.kernels.sparse import add, add_both, dot
from reference import LOSSES, Problem
from reference.averaging import polynomial, suffix
from reference.rows import as_rows

needs_compiler = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")


@pytest.mark.parametrize("labels", [1e200, -1e200])
@pytest.mark.parametrize("algorithm", ["sgd", "asgd", "csgd", "casgd"])
def test_an_overflow_ends_the_run_where_it_happens(algorithm, labels):
    problem = Problem([[30.0] * 4, [-30.0] * 4], [labels, labels], "squared", 1e-6)
    indices = np.arange(400) % 2
    with pytest.raises(FloatingPointError) as overflow:
        State(problem, algorithm).run(indices)
    step = int(re.search(r"by step (\d+)", str(overflow.value)).group(1))
    assert 1 < step < 400
    assert State(problem, algorithm).run(indices[: step - 1]).t == step - 1


@pytest.mark.parametrize("side", [reference, efficient])
@pytest.mark.parametrize("algorithm", ["sgd", "asgd", "csgd", "casgd"])
def test_weights_whose_sum_would_overflow_are_handed_back(algorithm, side):
    problem = Problem([[1.0] * 4, [-1.0] * 4], [1, 1], "absolute", 1e-308)
    predictor = getattr(side, algorithm)(problem, [0])
    np.testing.assert_allclose([*predictor.w, predictor.b], 1e308, rtol=1e-15)


@pytest.mark.parametrize("lam", [0.5, Fraction(1, 2)])
@pytest.mark.parametrize("side", [reference, efficient])
@pytest.mark.parametrize("algorithm", ["asgd", "casgd"])
def test_an_average_of_nothing_is_refused(algorithm, side, lam):
    problem = Problem([[1, 0], [0, 2]], [1, -1], "hinge", lam)
    with pytest.raises(ValueError, match="weights must not all be 0"):
        getattr(side, algorithm)(problem, [0, 1, 1], weights=suffix(3))


@pytest.mark.parametrize("k", range(10))
def test_vector_operations_reach_every_entry_of_a_row_of_any_length(k):
    numbers = [Fraction(2 * j + 1, j + 3) for j in range(k)]
    X = Problem([[0] * (k + 2), [0, *numbers, 0]], [1, 1], "squared", Fraction(1, 2)).X
    v, u = (np.array([Fraction(p**j) for j in range(k + 2)], dtype=object) for p in (2, 3))
    assert dot(v, X, 1) == sum(number * 2 ** (j + 1) for j, number in enumerate(numbers))
    assert dot(v, X, 0) == 0
    add(v, Fraction(5), X, 1)
    assert list(v) == [1, *(2 ** (j + 1) + 5 * number for j, number in enumerate(numbers)), 2 ** (k + 1)]
    add_both(v, Fraction(-5), u, Fraction(7), X, 1)
    assert list(v) == [2**j for j in range(k + 2)]
    assert list(u) == [1, *(3 ** (j + 1) + 7 * number for j, number in enumerate(numbers)), 3 ** (k + 1)]


@pytest.mark.parametrize("passes", [1, 2])  # with two, the centred algorithms project all rows beforehand
@pytest.mark.parametrize("algorithm", ["sgd", "asgd", "csgd", "casgd"])
def test_many_steps_in_one_call_of_the_loop_are_those_of_exact_arithmetic(algorithm, passes):
    # exact runs call the loop anew for every step
    X = np.array([[1.0, 0, 2, 0], [0, 3, 0, 0.5], [0, 0, 0, 0], [4, 0, 1, 2]])
    options = {"t0": 2} | ({"weights": polynomial(2)} if "a" in algorithm else {})
    found, wanted = (
        getattr(side, algorithm)(Problem(X, [1.0, -2, 3, 0.5], "squared", lam), [3, 1, 0, 2, 3, 1] * passes, **options)
        for side, lam in ((efficient, 2.0), (reference, Fraction(2)))
    )
    np.testing.assert_allclose([*found.w, found.b], [float(number) for number in (*wanted.w, wanted.b)], rtol=1e-12)


def test_a_pivot_is_where_the_mean_is_large_and_the_algorithm_is_centred():
    far, near = (Problem(np.array([[1.0, 0], [2, 1], [4, 0]]) + offset, [1, 2, 3], "squared", 1.0) for offset in (1e6, 0))
    for algorithm in ("sgd", "asgd"):
        assert State(far, algorithm).pivot is None
    for algorithm in ("csgd", "casgd"):
        state = State(far, algorithm).run([0, 1, 2, 0])
        np.testing.assert_allclose(state.pivot + state.xbar, far.xbar, rtol=1e-15)
        assert abs(state.xbar).max() < 1e-6
        np.testing.assert_allclose(state.last().w, State(near, algorithm).run([0, 1, 2, 0]).last().w, rtol=1e-9)
    exact = Problem(far.X.dot(np.eye(2)), [1, 2, 3], "squared", Fraction(1))
    assert State(exact, "casgd").pivot is None


def test_a_mean_too_large_to_square_is_an_overflow_before_the_first_step():
    with pytest.raises(FloatingPointError, match="by step 0"), np.errstate(over="ignore"):
        State(Problem([[1e200], [1e200]], [1, 2], "squared", 1.0), "casgd")
    State(Problem([[10**200], [10**200]], [1, 2], "squared", Fraction(1)), "casgd")  # exact numbers are never too large


def test_the_state_before_the_first_step_is_all_zero():
    state = State(Problem([[1, 0], [0, 2]], [1, 2], "squared", 1.0), "casgd")
    kept = [getattr(state, name) for name in ("t", "p", "g", "a", "c", "h", "total", "z", "r", "s")]
    assert kept == [0] * 10 and not state.v.any() and not state.u.any()
    state.run([1])
    assert (state.t, state.h, state.total, state.p, state.g, state.a) == (1, 1, 1, 0, -2, -2)
    state.run([0])
    assert (state.t, state.h, state.total) == (2, 1.5, 2)


def test_projections_are_made_once_where_they_pay(monkeypatch):
    problem = Problem([[1, 0], [0, 2], [3, 0]], [1, 2, 3], "squared", 1.0)

    def projections(algorithm, steps):
        return State(problem, algorithm).run([0] * steps)._projections

    assert [len(projections("casgd", steps)) for steps in (5, 6, 7)] == [0, 3, 3]
    assert len(projections("asgd", 6)) == 0
    np.testing.assert_array_equal(projections("csgd", 6), problem.X.dot(problem.xbar))
    state = State(problem, "casgd").run([0] * 6)
    kept = state._projections
    assert state.run([0] * 6)._projections is kept
    for large, made in ((1, 3), (2, 3), (3, 0)):
        monkeypatch.setattr(efficient.runs.run, "LARGE", large)
        assert len(projections("casgd", 1)) == made


@needs_compiler
@pytest.mark.parametrize("make", [State, lambda problem, algorithm: States([problem] * 2, algorithm)])
@pytest.mark.parametrize("algorithm", ["asgd", "casgd"])
def test_a_run_of_one_step_compiles_nothing_anew(make, algorithm):
    state = make(Problem([[1.0, 0], [0, 2]], [1, 2], "squared", 1.0), algorithm).run([0, 1, 1])
    compiled = len(state._steps.signatures)
    assert len(state.run([1])._steps.signatures) == compiled


@pytest.mark.parametrize("lam", [1.0, Fraction(1)])  # exact runs begin with blocks of one step
def test_a_state_asks_for_its_callback_at_multiples_and_at_the_end(lam):
    problem = Problem([[1, 0], [0, 2]], [1, 2], "squared", lam)
    seen = []
    State(problem, "sgd").run([0] * 3).run([0, 1] * 4, callback=lambda t, state: seen.append((t, state.t)), every=5)
    assert seen == [(5, 5), (10, 10), (11, 11)]  # and not after the first step, which is a block where blocks begin with one
    with pytest.raises(ValueError, match="every must be a number of steps >= 1"):
        State(problem, "sgd").run([0], every=2)
    State(problem, "sgd").run([0, 0], callback=lambda t, state: seen.append(t), every=1)
    assert seen[3:] == [1, 2]


def test_exact_runs_begin_with_one_step_and_show_their_progress(monkeypatch):
    updates = []

    class Bar:
        def update(self, steps):
            updates.append(steps)

    monkeypatch.setattr(efficient.runs.run, "progress_bar", lambda first, total, wanted: nullcontext(Bar()))
    seen = []
    state = State(Problem([[1, 0], [0, 2]], [1, 2], "squared", Fraction(1)), "sgd").run([0] * 5)
    state.run([0, 1] * 10, callback=lambda t, state: seen.append(t))
    assert seen[0] == 6 and seen[-1] == 25 and seen == sorted(set(seen))
    assert sum(updates) == 25


def test_a_stream_has_the_room_that_it_needs_and_no_more_than_twice_that():
    def problem(n):
        return Problem(np.ones((2, n)), [1, 2], "squared", 1.0)

    state = State(problem(3), "asgd").run([0])
    assert len(state._room) == 3
    state.follow(problem(4)).run([0])
    assert (len(state._room), len(state.v), len(state.u)) == (6, 4, 4)
    for n in (5, 6):
        state.follow(problem(n)).run([0])
        assert (len(state._room), len(state.v)) == (6, n)
    state.follow(problem(2)).run([1])
    assert (len(state._room), len(state.v)) == (6, 6)
    state.follow(problem(20))
    assert (len(state._room), len(state.v)) == (20, 20)
    with pytest.raises(AttributeError, match="sgd keeps no u"):
        State(problem(3), "sgd").u  # noqa: B018


@pytest.mark.parametrize("lam", [1.0, Fraction(1)])
def test_what_is_wrong_with_t0(lam):
    problem = Problem([[1], [2]], [1, 2], "squared", lam)
    for wrong, error in ((1j, TypeError), ("1", TypeError), (float("nan"), ValueError), (-1, ValueError)):
        with pytest.raises(error, match="t0, the offset"):
            State(problem, "sgd", t0=wrong)


class Touch:
    """What a hostile file would have its reader do."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (self.path, "w"))


def test_loading_a_hostile_state_executes_nothing(tmp_path):
    problem = Problem([[1, 0], [0, 2]], [1, 2], "squared", 1.0)
    State(problem, "sgd").run([0]).save(tmp_path / "state.npz")
    with np.load(tmp_path / "state.npz") as file:
        saved = dict(file)
    np.savez(tmp_path / "state.npz", **saved | {"p": np.array([Touch(str(tmp_path / "touched"))], dtype=object)})
    with pytest.raises(ValueError, match="is not a saved state"):
        State.load(tmp_path / "state.npz", problem)
    assert [file.name for file in tmp_path.iterdir()] == ["state.npz"]


def test_weights_of_the_iterates_are_given_again_when_a_state_is_loaded(tmp_path):
    problem, path = Problem([[1, 0], [0, 2]], [1, 2], "squared", 1.0), tmp_path / "state.npz"
    state = State(problem, "asgd", weights=polynomial(2)).run([0, 1, 1])
    state.save(path)
    loaded = State.load(path, problem, polynomial(2))
    assert loaded.run([1, 0]).average().w.tolist() == state.run([1, 0]).average().w.tolist()
    with pytest.raises(ValueError, match=r"weights must be given just if .* got None"):
        State.load(path, problem)
    State(problem, "asgd").run([0]).save(path)
    with pytest.raises(ValueError, match=r"weights must be given just if .* got functools"):
        State.load(path, problem, polynomial(2))


def test_a_saved_state_notices_a_change_of_any_part_of_its_problem(tmp_path):
    X, y, weight = np.array([[1.0, 2], [3, 4], [0, 5]]), np.array([1.0, -1, 1]), np.array([1.0, 2, 3])

    def load(X=X, y=y, weight=weight):
        return State.load(tmp_path / "state.npz", Problem(X, y, "squared", 1.0, weight))

    def changed(array, place):
        array = array.copy()
        array[place] += 1
        return array

    State(Problem(X, y, "squared", 1.0, weight), "casgd").run([0, 1]).save(tmp_path / "state.npz")
    assert load().t == 2
    others = [{"y": changed(y, i)} for i in (0, 2)] + [{"weight": changed(weight, i)} for i in (0, 2)]
    others += [{"X": changed(X, place)} for place in ((0, 0), (2, 1), (2, 0))]
    for other in others:
        with pytest.raises(ValueError, match="was saved for another problem"):
            load(**other)


def test_saved_states_notice_a_change_of_any_of_their_problems(tmp_path):
    first = Problem([[1, 0], [0, 2]], [1, -1], "hinge", 0.5)
    problems = [first, first.variant(lam=2), first.variant([-1, 1])]
    States(problems, "asgd").run([0, 1]).save(tmp_path / "states.npz")
    assert States.load(tmp_path / "states.npz", problems).t == 2
    for k, other in ((1, first.variant(lam=3)), (2, first), (1, first.variant([-1, -1], 2))):
        with pytest.raises(ValueError, match="was saved for another problem"):
            States.load(tmp_path / "states.npz", [*problems[:k], other, *problems[k + 1 :]])


@pytest.mark.parametrize("algorithm", ["asgd", "casgd"])
def test_many_steps_in_one_call_of_the_loop_for_many_models_are_those_of_one(algorithm):
    X = np.array([[1.0, 0, 2, 0], [0, 3, 0, 0.5], [0, 0, 0, 0], [4, 0, 1, 2]])
    first = Problem(X, [1.0, -2, 3, 0.5], "squared", 2.0)
    problems, options = [first.variant(lam=lam) for lam in (1, 2, 3, 4, 5)], {"t0": 2, "weights": polynomial(2)}
    found = States(problems, algorithm, **options).run([3, 1, 0, 2, 3, 1]).average()
    wanted = [State(problem, algorithm, **options).run([3, 1, 0, 2, 3, 1]).average() for problem in problems]
    assert [(each.w.tolist(), each.b) for each in found] == [(each.w.tolist(), each.b) for each in wanted]


@pytest.mark.parametrize("models", [1, 2])
@pytest.mark.parametrize("columns", [3, 5000])  # more than are recovered at a time
def test_states_go_on_with_narrower_rows_and_no_other_number_of_models(models, columns, tmp_path):
    wide = Problem(sp.csr_array(([1.0, 2, 3], [0, 1, columns - 1], [0, 1, 2, 3])), [1, -1, 1], "hinge", 0.5)
    narrow = Problem([[1, 2], [3, 4]], [1, -1], "hinge", 0.5)
    states = States([wide] * models, "asgd").run([0, 1, 2]).follow([narrow] * models).run([1, 0])
    alone = State(wide, "asgd").run([0, 1, 2]).follow(narrow).run([1, 0])

    def same():
        wanted = alone.average()
        return [(each.w.tolist(), each.b) for each in states.average()] == [(wanted.w.tolist(), wanted.b)] * models

    assert same() and len(alone.average().w) == columns
    states.save(tmp_path / "states.npz")
    states = States.load(tmp_path / "states.npz", [narrow] * models)
    assert same()
    states, alone = states.run([0]).follow([wide] * models).run([2]), alone.run([0]).follow(wide).run([2])
    assert same()
    wider = Problem(np.ones((1, columns + 1)), [1], "hinge", 0.5)
    for wrong in ([narrow] * (models + 1), [wider] * models):
        with pytest.raises(ValueError, match=f"problems must be {models}, with {columns} columns at most"):
            states.follow(wrong)


def test_models_have_one_loss_and_as_many_offsets_as_there_are():
    hinge = Problem([[1, 0], [0, 2]], [1, -1], "hinge", 0.5)
    log = Problem(hinge.X.dot(np.eye(2)), [1, -1], "log", 0.5)
    log.X = hinge.X
    for one, other in ((hinge, log), (log, hinge)):
        with pytest.raises(ValueError, match=f"one loss, {one.loss.name}; got {other.loss.name} as number 1"):
            States([one, other])
    for t0 in ([1], [1, 2, 3]):
        with pytest.raises(ValueError, match=f"one for each of the 2 problems; got {len(t0)}"):
            States([hinge, hinge], t0=t0)


def test_models_share_the_width_and_all_three_arrays_of_their_rows():
    stored = sp.csr_array(np.array([[1.0, 2, 0], [0, 0, 3]]))

    def problem(n=3, indptr=stored.indptr):
        X = sp.csr_array((2, n))
        X.data, X.indices, X.indptr = stored.data, stored.indices, indptr
        return Problem(X, [1, -1], "hinge", 0.5)

    assert States([problem(), problem()]).problem.n == 3
    for one, other in ((3, 4), (4, 3)):
        with pytest.raises(ValueError, match="share their rows in memory; got others as number 1"):
            States([problem(one), problem(other)])
    with pytest.raises(ValueError, match="share their rows in memory; got others as number 1"):
        States([problem(), problem(indptr=np.array([0, 1, 3], np.int32))])


@pytest.mark.parametrize(("algorithm", "n"), [("asgd", 1), ("casgd", 1), ("casgd", 3)])
def test_saved_states_of_another_width_are_refused(algorithm, n, tmp_path):
    problems, path = [Problem([[1, 0], [0, 2]], [1, 2], "squared", 1.0)] * 2, tmp_path / "states.npz"
    States(problems, algorithm).run([0, 1]).save(path)
    with np.load(path) as file:
        saved = dict(file)
    np.savez(path, **saved | {"v": np.zeros((n, 2)), "u": np.zeros((n, 2))})
    with pytest.raises(ValueError, match=rf"is not a saved state: v has the shape \({n}, 2\)"):
        States.load(path, problems)


def test_rows_that_are_forgotten_are_gone():
    state = State(Problem([[1, 0], [0, 2]], [1, 2], "squared", 1.0, [1, 2]), "asgd").run([0]).forget_rows()
    X = state.problem.X
    assert [X.data.tolist(), X.indices.tolist(), X.indptr.tolist(), X.n] == [[], [], [0], 2]
    assert [state.problem.y.tolist(), state.problem.weight.tolist(), state.problem.m] == [[], [], 0]


@pytest.mark.parametrize(
    ("name", "value"), [("v", np.zeros(3)), ("v", np.zeros(1)), ("v", np.zeros((2, 1))), ("a", np.zeros(1))]
)
def test_saved_parts_of_another_shape_are_refused(name, value, tmp_path):
    problem, path = Problem([[1, 0], [0, 2]], [1, 2], "squared", 1.0), tmp_path / "state.npz"
    State(problem, "casgd").run([0, 1]).save(path)
    with np.load(path) as file:
        saved = dict(file)
    np.savez(path, **saved | {name: value})
    with pytest.raises(ValueError, match=re.escape(f"is not a saved state: {name} has the shape {value.shape}")):
        State.load(path, problem)


def test_a_predictor_that_overflows_is_not_handed_back():
    for algorithm in ("sgd", "asgd"):
        state = State(Problem([[100.0]], [1], "absolute", 1e-308), algorithm).run([0])
        with pytest.raises(FloatingPointError, match="by step 1"):
            state.last()
    with pytest.raises(FloatingPointError, match="by step 1"):
        state.average()
    assert State(Problem([[100]], [1], "absolute", Fraction(1, 10**400)), "sgd").run([0]).last().b == 10**400


def test_a_predictor_keeps_the_form_around_its_pivot():
    far = Problem(np.array([[1.0, 0], [2, 1], [4, 0]]) + 1e6, [1, 2, 3], "squared", 1.0)
    state = State(far, "casgd").run([0, 1, 2, 0])
    for predictor in (state.last(), state.average()):
        assert predictor.pivoted.xbar is state.pivot and predictor.pivoted.w is predictor.w
        assert predictor.b == predictor.pivoted.b - predictor.w @ state.pivot
    assert State(far, "asgd").run([0]).last().pivoted is None


@pytest.mark.parametrize(
    "derivative", [lambda p: p, lambda p, y: None, lambda p, y: 1j * p], ids=["one argument", "none", "complex"]
)
def test_a_wrong_derivative_is_refused_before_a_step_with_the_compiler_or_without(derivative):
    with pytest.raises(TypeError, match="numba can compile"):
        compiled_derivative(derivative)


def add_slowly(sums, rounds):
    for _ in range(rounds):
        for j in range(len(sums)):
            sums[j] = sums[j] + 1


@needs_compiler
def test_other_threads_go_on_while_a_loop_runs():
    add, sums, seen = compiled_loop(add_slowly), np.zeros(1000), []
    add(sums, 1)
    thread = threading.Thread(target=add, args=(sums, 1_000_000))
    thread.start()
    while thread.is_alive():
        seen.append(sums[0])
    assert any(1 < each < 1_000_001 for each in seen)


@needs_compiler
def test_a_loop_counts_no_references_and_makes_no_doors_for_its_parts():
    problem = Problem([[1.0, 0], [0, 2]], [1, 2], "squared", 1.0)
    state = State(problem).run([0, 1])
    for code in state._steps.inspect_llvm().values():
        assert "NRT_incref" not in code and "NRT_decref" not in code
        defined = [line for line in code.splitlines() if line.startswith("define")]
        assert sum("cpython" in line for line in defined) == 1 and not any("@cfunc." in line for line in defined)


@needs_compiler
@pytest.mark.parametrize("of_type", [np.float32, np.int64])
def test_four_numbers_are_read_and_written_as_float64_only(of_type):
    def copy_four(array):
        write_four(read_four(array, 0), array, 0)

    numba.njit(copy_four)(np.zeros(4))
    with pytest.raises(numba.TypingError):
        numba.njit(copy_four)(np.zeros(4, of_type))


def test_a_loop_and_a_derivative_are_compiled_once():
    derivative = LOSSES["log"].derivative
    assert compiled_loop(dot) is compiled_loop(dot)
    assert compiled_derivative(derivative) is compiled_derivative(derivative)


def test_many_models_begin_with_blocks_that_many_times_smaller(monkeypatch):
    monkeypatch.setattr(efficient.kernels.blocks, "ENTRIES", 100)
    problem, seen = Problem(np.zeros((5, 3)), np.ones(5), "squared", 1.0), []
    States([problem] * 10).run(np.zeros(60, int), callback=lambda t, _: seen.append(t))
    assert seen[0] == 50
    exact = Problem([[1]], [1], "squared", Fraction(1))
    assert States([exact] * 2).run([0, 0]).t == 2  # a block has a step at least


@pytest.mark.parametrize("models", range(1, 10))
def test_many_models_lie_from_the_beginning_of_a_cache_line_on(models):
    problem = Problem([[1.0, 2, 3]], [1], "squared", 1.0)
    kept = [States([problem] * models) for _ in range(20)]  # kept, so that no two lie in the same place
    assert {states.v.ctypes.data % 64 for states in kept} == {0}


def test_the_first_block_visits_some_300_000_entries():
    def first(X, lam=1.0):
        return first_block(Problem(X, np.ones(X.shape[0]), "squared", lam).X)

    assert first(np.ones((4, 2)), Fraction(1)) == 1
    assert first(np.zeros((5, 3))) == 5 * 300_000  # a row without an entry counts for little
    for k in (1, 3):
        X = sp.csr_array(np.ones((1000, k)))
        assert abs(first(X) * k - 300_000) <= k + 300
    assert first(sp.csr_array(np.ones((2, 600_000)))) == 1
    assert list(blocks_of_rows(as_rows(np.ones((7, 2))))) == [(0, 7)]


def clock(monkeypatch, *seconds):
    """Let blocks take these times in turn, and be meant to take 1/8."""
    monkeypatch.setattr(efficient.kernels.blocks, "SECONDS", 1 / 8)
    now, times = [0.0], iter([each for took in seconds for each in (0.0, took)])

    def tick():
        now[0] += next(times)
        return now[0]

    monkeypatch.setattr(efficient.kernels.blocks.time, "perf_counter", tick)


@pytest.mark.parametrize(
    ("seconds", "sizes"),
    [
        ([0, 0, 0], [10, 80, 640]),  # by a clock that stands still, and never by more than 8
        ([1 / 8, 1 / 8, 1 / 8], [10, 10, 10]),
        ([1 / 16, 1 / 4, 1 / 8], [10, 20, 10]),
        ([128, 1 / 64, 1], [10, 1, 8]),  # never less than one
        ([1 / 32, 1 / 8, 1 / 8], [10, 40, 40]),
        ([1 / 60, 1 / 8, 1 / 8], [10, 75, 75]),
        ([1 / 68, 1 / 8, 1 / 8], [10, 80, 80]),
    ],
)
def test_blocks_are_as_long_as_the_last_one_lets_expect(seconds, sizes, monkeypatch):
    clock(monkeypatch, *seconds)
    found = [stop - start for _, (start, stop) in zip(range(3), blocks(5, 10_000, 10), strict=False)]
    assert found == sizes


@pytest.mark.parametrize(
    ("seconds", "wanted"),
    [
        ([1 / 1024, 1 / 8, 1 / 8], [(95, 100), (100, 110), (110, 120)]),
        ([1 / 8, 1 / 8, 1 / 8], [(95, 100), (100, 110), (110, 120)]),
        ([1 / 4, 1 / 8, 1 / 8], [(95, 100), (100, 102), (102, 104)]),
    ],
)
def test_a_block_cut_short_says_little_unless_it_was_slow(seconds, wanted, monkeypatch):
    clock(monkeypatch, *seconds)
    assert [block for _, block in zip(range(3), blocks(95, 10_000, 10, every=100), strict=False)] == wanted


def test_the_last_block_ends_where_the_work_does(monkeypatch):
    clock(monkeypatch, 1 / 8, 1 / 8)
    assert list(blocks(0, 13, 10)) == [(0, 10), (10, 13)]


@pytest.fixture
def handled():
    """Leave SIGINT as it was."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("handled")
def test_interrupts_are_held_back_in_the_main_thread_only():
    seen = []

    def look():
        with held_interrupts() as let_through:
            seen.append(signal.getsignal(signal.SIGINT))
            let_through()

    ours = signal.default_int_handler
    signal.signal(signal.SIGINT, ours)
    look()
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen[0] is not ours and seen[1] is ours and signal.getsignal(signal.SIGINT) is ours
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # somebody does not want to be interrupted at all
    look()
    assert seen[2] is signal.SIG_IGN and signal.getsignal(signal.SIGINT) is signal.SIG_IGN


@pytest.mark.usefixtures("handled")
def test_who_handled_interrupts_before_gets_what_was_held_back():
    got = []
    signal.signal(signal.SIGINT, lambda number, frame: got.append((number, frame is not None)))
    with held_interrupts() as let_through:
        signal.raise_signal(signal.SIGINT)
        assert got == []
        let_through()
        assert got == [(signal.SIGINT, True)]
        let_through()
    assert got == [(signal.SIGINT, True)]
    with held_interrupts():
        signal.raise_signal(signal.SIGINT)
    assert got == [(signal.SIGINT, True)] * 2


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("notebook", [True, False])
def test_a_bar_is_shown_where_somebody_looks(terminal, notebook, monkeypatch):
    monkeypatch.setattr("tqdm.auto.tqdm", lambda **options: nullcontext(options))
    monkeypatch.setattr(efficient.kernels.blocks.sys.stderr, "isatty", lambda: terminal)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    if notebook:
        monkeypatch.setitem(sys.modules, "ipykernel", sys)
    for wanted, shown in ((None, terminal or notebook), (True, True), (False, False)):
        with progress_bar(3, 10, wanted) as bar:
            assert (bar is not None) == shown
            if shown:
                assert bar == {"initial": 3, "total": 10, "unit": " steps", "unit_scale": True, "delay": 0.5}


def test_a_run_of_one_block_shows_no_bar_unless_asked(monkeypatch):
    problem, wanted = Problem([[1.0, 2.0], [3.0, 4.0]], [1, -1], "hinge", 0.5), []

    def bar(first, total, progress):
        wanted.append(progress)
        return nullcontext()

    monkeypatch.setattr(efficient.runs.run, "progress_bar", bar)
    monkeypatch.setattr(efficient.runs.run, "first_block", lambda X: 3)
    for steps, asked in ((2, None), (3, None), (4, None), (2, True), (4, False)):
        State(problem, "asgd").run(np.zeros(steps, dtype=int), progress=asked)
    assert wanted == [False, False, None, True, False]


@pytest.mark.parametrize("algorithm", ["asgd", "casgd"])
def test_without_columns_v_and_u_lie_as_far_apart_as_with_them(algorithm):
    state = State(Problem(np.empty((2, 0)), [1, -1], "hinge", 0.5), algorithm).run([0, 1])
    assert state.v.strides == state.u.strides == (16,)
    assert state.average().b == state.last().b + 1  # b_1 = 2, b_2 = 0


def test_the_estimators_come_when_they_are_asked_for():
    from efficient.estimators.linear import CASGDClassifier

    assert efficient.CASGDClassifier is CASGDClassifier
    with pytest.raises(AttributeError, match="no attribute 'CASGDTransformer'"):
        efficient.CASGDTransformer  # noqa: B018
