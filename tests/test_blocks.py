"""Long runs: blocks, Ctrl-C, callbacks, progress, and rows that stay on the disk. None of them changes a bit."""

import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from contextlib import nullcontext
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import efficient
import efficient.kernels.blocks
import efficient.runs.run
from efficient import State
from efficient.kernels.blocks import blocks, held_interrupts
from reference import Problem, draw_indices
from reference.datasets import make_generic, make_text

DATA = make_text(500, 2000, 20, seed=0)
PROBLEM = Problem(DATA.X, DATA.y, "log", 1e-3)
INDICES = draw_indices(500, 20_000, rng=1)


def parts(state):
    names = (*state._parts.vectors, *state._parts.scalars)
    return [np.array(getattr(state, name)) for name in ("t", "p", "g", *names)]


def assert_same_bits(state, other):
    for found, wanted in zip(parts(state), parts(other), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("every", [None, 1, 7, 100])
def test_blocks_follow_one_another_and_end_at_every_multiple(every):
    found = list(blocks(13, 313, 40, every))
    assert [start for start, _ in found] == [13, *(stop for _, stop in found[:-1])]
    assert found[-1][1] == 313
    if every is not None:
        assert {stop for _, stop in found} >= {t for t in range(14, 314) if t % every == 0}


def test_blocks_grow_to_what_a_tenth_of_a_second_allows_and_shrink_again(monkeypatch):
    now, pace = [0.0], [1e-6]
    monkeypatch.setattr(efficient.kernels.blocks.time, "perf_counter", lambda: now[0])
    sizes = []
    for start, stop in blocks(0, 1_000_000, 100):
        sizes.append(stop - start)
        now[0] += pace[0] * (stop - start)
        if len(sizes) == 6:
            pace[0] = 1e-5
    assert sizes[:4] == [100, 800, 6400, 51_200]
    assert sizes[4] == pytest.approx(100_000, abs=1)
    assert sizes[7] == pytest.approx(10_000, abs=1)


@pytest.mark.parametrize("algorithm", ["sgd", "asgd", "csgd", "casgd"])
def test_neither_blocks_nor_callbacks_nor_progress_change_a_bit(algorithm, monkeypatch, capsys):
    plain = State(PROBLEM, algorithm).run(INDICES)
    watched = State(PROBLEM, algorithm).run(INDICES, callback=lambda t, state: None, every=777, progress=True)
    assert_same_bits(watched, plain)
    monkeypatch.setattr(efficient.kernels.blocks, "ENTRIES", 100)
    monkeypatch.setattr(efficient.kernels.blocks, "SECONDS", 1e-3)
    short = State(PROBLEM, algorithm).run(INDICES[:1500])
    assert_same_bits(short.run(INDICES[1500:2000]).run(INDICES[2000:]), plain)


@pytest.mark.parametrize("algorithm", ["csgd", "casgd"])
def test_projections_computed_before_change_no_bit(algorithm):
    many = State(PROBLEM, algorithm).run(INDICES)  # more than 2m steps
    assert len(many._projections) == 500
    few = State(PROBLEM, algorithm)
    for start in range(0, len(INDICES), 500):
        few.run(INDICES[start : start + 500])
    assert len(few._projections) == 0
    assert_same_bits(many, few)


@pytest.mark.parametrize("algorithm", ["csgd", "casgd"])
def test_projections_are_gone_before_the_weights_are_made(algorithm, monkeypatch):
    monkeypatch.setattr(efficient.runs.run, "LARGE", 1)
    m = n = 50_000
    problem = Problem(sp.csr_array((np.ones(m), np.arange(m), np.arange(m + 1)), shape=(m, n)), np.ones(m), "hinge", 1.0)
    train, indices = getattr(efficient, algorithm), np.arange(100)
    train(problem, indices)
    tracemalloc.start()
    try:
        train(problem, indices)
        vectors = tracemalloc.get_traced_memory()[1] / (8 * n)
    finally:
        tracemalloc.stop()
    assert vectors < {"csgd": 3, "casgd": 4}[algorithm] + 0.3  # its state and the weights; the projections would be one more


def test_the_callback_sees_every_multiple_and_the_end():
    seen = []
    state = State(PROBLEM, "asgd").run(INDICES[:150])
    state.run(INDICES[150:1030], callback=lambda t, each: seen.append((t, each.t, each.average().b)), every=100)
    assert [t for t, _, _ in seen] == [*range(200, 1001, 100), 1030]
    assert all(t == at for t, at, _ in seen)
    assert seen[0][2] == State(PROBLEM, "asgd").run(INDICES[:200]).average().b


def test_what_a_callback_raises_ends_the_run_and_the_state_is_whole():
    def stop(t, state):
        if t >= 3000:
            raise StopIteration

    state = State(PROBLEM, "casgd")
    with pytest.raises(StopIteration):
        state.run(INDICES, callback=stop, every=1000)
    assert state.t == 3000
    assert_same_bits(state.run(INDICES[3000:]), State(PROBLEM, "casgd").run(INDICES))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"callback": 3}, TypeError, "callback must be a function"),
        ({"every": 10}, ValueError, "with a callback"),
        ({"callback": print, "every": 0}, ValueError, "every must be a number of steps >= 1"),
        ({"callback": print, "every": 2.5}, TypeError, "every must be a number of steps"),
        ({"callback": print, "every": True}, TypeError, "every must be a number of steps"),
    ],
)
def test_bad_arguments_of_a_run(arguments, error, message):
    state = State(PROBLEM, "asgd")
    with pytest.raises(error, match=message):
        state.run(INDICES, **arguments)
    assert state.t == 0


def test_a_run_of_one_block_makes_no_bar_in_a_notebook(monkeypatch):
    wanted = []
    monkeypatch.setattr(efficient.runs.run, "progress_bar", lambda first, last, bar: wanted.append(bar) or nullcontext())
    monkeypatch.setattr(efficient.runs.run, "first_block", lambda X: 100)
    state = State(PROBLEM, "asgd").run(INDICES[:100]).run(INDICES[:101]).run(INDICES[:1], progress=True)
    assert wanted == [False, None, True]
    assert state.t == 202


@pytest.mark.parametrize("algorithm", ["asgd", "casgd"])
def test_ctrl_c_in_the_middle_leaves_a_state_that_goes_on(algorithm, tmp_path):
    indices = draw_indices(500, 100_000_000, rng=2)  # minutes
    state = State(PROBLEM, algorithm).run(INDICES[:10])
    struck = []

    def strike():
        struck.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.7, strike)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        state.run(indices)
    assert time.monotonic() - struck[0] < 1
    done = state.t - 10
    assert 0 < done < len(indices)
    assert np.isfinite(state.average().w).all()
    state.save(tmp_path / "state.npz")
    assert_same_bits(State.load(tmp_path / "state.npz", PROBLEM), state)
    whole = State(PROBLEM, algorithm).run(INDICES[:10]).run(indices[: done + 1000])
    assert_same_bits(state.run(indices[done : done + 1000]), whole)


def test_ctrl_c_stops_exact_arithmetic_between_two_steps():
    problem = Problem(*make_generic(20, 10, 4, seed=0)[:2], "squared", Fraction(1, 10))
    state = State(problem, "casgd")
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        state.run(draw_indices(20, 100_000, rng=0))
    timer.join()
    taken = state.t
    assert taken > 0
    indices = draw_indices(20, 100_000, rng=0)[:taken]
    assert State(problem, "casgd").run(indices).average().b == state.average().b


def test_interrupts_are_held_back_and_let_through_once():
    order = []

    def strike_twice():
        with held_interrupts() as let_through:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
            order.append("held")
            let_through()
            order.append("too late")

    with pytest.raises(KeyboardInterrupt):
        strike_twice()
    assert order == ["held"]
    with pytest.raises(KeyboardInterrupt), held_interrupts():
        os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_leave_the_signal_alone():
    outcome = []
    thread = threading.Thread(target=lambda: outcome.append(State(PROBLEM, "asgd").run(INDICES).average().b))
    thread.start()
    thread.join()
    assert outcome == [State(PROBLEM, "asgd").run(INDICES).average().b]


def test_progress_is_shown_when_asked_for_and_not_otherwise(monkeypatch, capsys):
    monkeypatch.setattr("tqdm.auto.tqdm", __import__("tqdm").tqdm)
    exact = Problem(*make_generic(20, 10, 4, seed=0)[:2], "squared", Fraction(1, 10))
    State(exact, "asgd").run(draw_indices(20, 90, rng=0))
    assert capsys.readouterr().err == ""
    indices = draw_indices(500, 30_000_000, rng=2)
    timer = threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        State(PROBLEM, "asgd").run(indices, progress=True)
    assert "steps/s" in capsys.readouterr().err


FROM_DISK = """
import resource, sys
import numpy as np, scipy.sparse as sp
from pathlib import Path
from efficient import State
from reference import Problem
from reference.datasets import make_generic

small = make_generic(10, 10, 2, seed=0)
for array in (small.X.data, small.X.indices, small.X.indptr):
    array.flags.writeable = False  # as those from the disk will be: compiled for beforehand
for algorithm in ("asgd", "casgd"):
    State(Problem(small.X, small.y, "log", 0.1), algorithm).run([0, 1, 2] * 10).average()

folder = Path(sys.argv[1])
data, indices, indptr, y = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("data", "indices", "indptr", "y"))
X = sp.csr_array((data, indices, indptr), shape=(len(y), 5000))


def held():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


before = held()
for algorithm in ("asgd", "casgd"):
    problem = Problem(X, y, "log", 1e-4)
    state = State(problem, algorithm).run(np.arange(len(y)))
    assert np.shares_memory(problem.X.data, data)
    print(algorithm, float(state.average().b), held() - before)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is looked up as on Linux")
def test_rows_in_memory_mapped_files_are_not_loaded(tmp_path):
    X, y, _ = make_text(60_000, 5000, 60, seed=0)
    for name, array in (("data", X.data), ("indices", X.indices), ("indptr", X.indptr), ("y", y)):
        np.save(tmp_path / f"{name}.npy", array)
    done = subprocess.run([sys.executable, "-c", FROM_DISK, tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = (X.data.nbytes + X.indices.nbytes) / 1024
    for line in done.stdout.splitlines():
        algorithm, b, held = line.split()
        state = State(Problem(sp.csr_array(X), y, "log", 1e-4), algorithm).run(np.arange(60_000))
        assert float(b) == state.average().b
        assert float(held) < rows / 3, f"{algorithm} holds {held} kB; the rows are {rows:.0f}"
    assert len(done.stdout.splitlines()) == 2
