"""Runs of one model and of K: pieces, blocks, callbacks, interrupts, rows that follow or are forgotten. No bit changes."""

import copy
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from contextlib import nullcontext, suppress
from fractions import Fraction

import numba
import numpy as np
import pytest
import scipy.sparse as sp

import efficient.kernels.blocks
import efficient.runs.batch
import efficient.runs.run
import reference
from efficient import State, States
from efficient.runs.algorithms import ALGORITHMS
from efficient.runs.centring import find_centre
from reference import Problem, draw_indices
from reference.averaging import polynomial, suffix
from reference.datasets import make_generic, make_shifted, make_text
from reference.rows import as_rows
from tests.helpers import AVERAGING, CENTRED, UNCENTRED, assert_same_run, same_runs

TEXT = make_text(500, 2000, 20, seed=0)
PROBLEM = Problem(TEXT.X, TEXT.y, "log", 1e-3)
PI = draw_indices(500, 20_000, rng=1)
FAR = make_shifted(60, 6, 4, seed=2, offset=np.array([1e6, 0, 3, -1e4, 0, 0]))  # three columns get a pivot
DATA = {"text": make_text(60, 300, 10, seed=1), "far": FAR}
LABELS = [np.where(np.random.default_rng(seed).random(60) < 0.5, 1.0, -1.0) for seed in range(3)]


def one(data, rows=slice(None), lam=0.1):
    return Problem(data.X[rows], data.y[rows], "log", lam)


def three(data, rows=slice(None), lam=0.1):
    first = one(data, rows, lam)
    return [first.variant(y=labels[rows]) for labels in LABELS]


ONE_AND_THREE = [(State, one), (States, three)]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_pieces_blocks_callbacks_and_looks_change_no_bit(algorithm, monkeypatch, capsys):
    whole = State(PROBLEM, algorithm).run(PI)
    assert_same_run(
        State(PROBLEM, algorithm).run(PI, callback=lambda t, state: state.predictors(), every=777, progress=True), whole
    )
    monkeypatch.setattr(efficient.kernels.blocks, "ENTRIES", 100)
    monkeypatch.setattr(efficient.kernels.blocks, "SECONDS", 1e-3)
    pieces = State(PROBLEM, algorithm)
    for piece in np.split(PI, [1, 2, 3, 100, 1500, 2000]):
        first, again = pieces.run(piece).last(), pieces.last()
        np.testing.assert_array_equal(first.w, again.w)
    assert_same_run(pieces, whole)
    kept = whole.last()
    before = kept.w.copy()
    whole.run(PI[:10])
    np.testing.assert_array_equal(kept.w, before)  # a predictor does not move with its state


def test_callback_is_called_at_every_multiple_and_at_the_end():
    seen = []
    state = State(PROBLEM, "asgd").run(PI[:150])
    state.run(PI[150:1030], callback=lambda t, each: seen.append((t, each.t, each.average().b)), every=100)
    assert [t for t, _, _ in seen] == [*range(200, 1001, 100), 1030]
    assert all(t == at for t, at, _ in seen)
    assert seen[0][2] == State(PROBLEM, "asgd").run(PI[:200]).average().b


def test_callback_of_an_exact_run_is_called_after_each_block(monkeypatch):
    updates, seen = [], []

    class Bar:
        def update(self, steps):
            updates.append(steps)

    monkeypatch.setattr(efficient.runs.run, "progress_bar", lambda first, total, wanted: nullcontext(Bar()))
    state = State(Problem([[1, 0], [0, 2]], [1, 2], "squared", Fraction(1)), "sgd").run([0] * 5)
    state.run([0, 1] * 10, callback=lambda t, state: seen.append(t))
    assert seen[0] == 6 and seen[-1] == 25 and seen == sorted(set(seen))
    assert sum(updates) == 25


def test_an_error_of_a_callback_ends_the_run_with_a_whole_state():
    def stop(t, state):
        if t >= 3000:
            raise StopIteration

    state = State(PROBLEM, "casgd")
    with pytest.raises(StopIteration):
        state.run(PI, callback=stop, every=1000)
    assert state.t == 3000
    assert_same_run(state.run(PI[3000:]), State(PROBLEM, "casgd").run(PI))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"callback": 3}, TypeError, "callback must be"),
        ({"every": 10}, ValueError, "every must be"),
        ({"callback": print, "every": 0}, ValueError, "every must be"),
        ({"callback": print, "every": 2.5}, TypeError, "every must be"),
        ({"callback": print, "every": True}, TypeError, "every must be"),
        ({"jobs": 0}, ValueError, "jobs must be"),
        ({"jobs": 2.0}, ValueError, "jobs must be"),
        ({"jobs": True}, ValueError, "jobs must be"),
        ({"indices": []}, ValueError, "indices must"),
        ({"indices": [500]}, ValueError, "indices must"),
        ({"indices": [0.5]}, TypeError, "indices must"),
        ({"indices": [[0]]}, ValueError, "indices must"),
    ],
)
def test_run_with_bad_arguments_takes_no_step(arguments, error, message):
    state, untouched = (State(PROBLEM, "casgd").run(PI[:9]) for _ in range(2))
    with pytest.raises(error, match=message):
        state.run(**{"indices": PI[:9], **arguments})
    assert_same_run(state, untouched)


def test_progress_bar_of_a_short_run_is_shown_only_if_asked_for(monkeypatch):
    wanted = []
    monkeypatch.setattr(efficient.runs.run, "progress_bar", lambda first, last, bar: wanted.append(bar) or nullcontext())
    monkeypatch.setattr(efficient.runs.run, "first_block", lambda X: 100)
    State(PROBLEM, "asgd").run(PI[:100]).run(PI[:101]).run(PI[:1], progress=True).run(PI[:101], progress=False)
    assert wanted == [False, None, True, False]


@pytest.mark.parametrize("algorithm", AVERAGING)
def test_ctrl_c_leaves_a_state_that_resumes_to_the_bit(algorithm, capsys, monkeypatch):
    monkeypatch.setattr("tqdm.auto.tqdm", __import__("tqdm").tqdm)
    indices = draw_indices(500, 30_000_000, rng=2)  # a minute
    state = State(PROBLEM, algorithm).run(PI[:10])
    struck = []

    def strike():
        struck.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(1.2, strike).start()
    with pytest.raises(KeyboardInterrupt):
        state.run(indices, progress=True)
    assert time.monotonic() - struck[0] < 1
    assert "steps/s" in capsys.readouterr().err
    done = state.t - 10
    assert 0 < done < len(indices)
    whole = State(PROBLEM, algorithm).run(PI[:10]).run(indices[: done + 1000])
    assert_same_run(state.run(indices[done : done + 1000]), whole)


def test_ctrl_c_stops_exact_arithmetic_between_two_steps():
    problem = Problem(*make_generic(20, 10, 4, seed=0)[:2], "squared", Fraction(1, 10))
    state, indices = State(problem, "casgd"), draw_indices(20, 100_000, rng=0)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        state.run(indices)
    timer.join()
    assert state.t > 0
    assert State(problem, "casgd").run(indices[: state.t]).average().b == state.average().b


def test_a_run_cut_off_within_a_step_is_refused_afterwards(tmp_path):
    def fails_at_last(p, y):
        if p != 0:
            raise KeyboardInterrupt
        return -y

    exact = Problem(TEXT.X, TEXT.y, reference.Loss("fails", lambda p, y: p, fails_at_last), Fraction(1, 2))
    state = State(exact, "asgd").run(PI[:1])
    with pytest.raises(KeyboardInterrupt):
        state.run(PI)
    for use in (lambda: state.run(PI), state.last, state.average, lambda: state.save(tmp_path / "state.npz")):
        with pytest.raises(RuntimeError, match="in the middle of a run, in another thread or cut off"):
            use()


def test_a_run_in_another_thread_gives_the_same_bits():
    outcome = []
    thread = threading.Thread(target=lambda: outcome.append(State(PROBLEM, "asgd").run(PI)))
    thread.start()
    thread.join()
    assert_same_run(outcome[0], State(PROBLEM, "asgd").run(PI))


@pytest.mark.parametrize("kind", [State, States])
def test_two_threads_on_one_state_are_never_both_right(kind):
    """Of two runs, looks or changes at the same time one is refused; no step is lost, and none is taken twice."""
    problem, rounds = Problem([[1.0, 2.0], [0.5, -1.0]], [1, -1], "squared", 0.5), 200
    indices = np.arange(300) % 2
    wanted = [kind([problem] * 3 if kind is States else problem).run(np.tile(indices, times)) for times in (1, 2)]
    ends: list = []
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(rounds):
            state = kind([problem] * 3 if kind is States else problem)
            barrier, outcomes = threading.Barrier(2), []

            def run(state=state, barrier=barrier, outcomes=outcomes):
                barrier.wait()
                with suppress(RuntimeError):
                    outcomes.append(state.run(indices).t)

            threads = [threading.Thread(target=run) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            ends.append(len(outcomes))
            assert_same_run(state, wanted[len(outcomes) - 1])
    finally:
        sys.setswitchinterval(before)
    assert set(ends) <= {1, 2} and 1 in ends  # some did meet


@pytest.mark.parametrize(("kind", "make"), ONE_AND_THREE)
def test_a_callback_may_look_at_its_run_but_not_change_it(kind, make):
    smaller, refused = make(DATA["text"], slice(2)), []

    def change(t, state):
        state.predictors(), copy.copy(state), pickle.dumps(state)
        for use in (lambda: state.follow(smaller), lambda: state.run([0]), state.forget_rows):
            with pytest.raises(RuntimeError, match="callback that changes it"):
                use()
            refused.append(t)

    indices = np.arange(300) % 60
    state = kind(make(DATA["text"])).run(indices, callback=change, every=100)
    assert refused == [100] * 3 + [200] * 3 + [300] * 3
    assert_same_run(state, kind(make(DATA["text"])).run(indices))
    state.follow(smaller)


def test_indices_that_a_callback_overwrites_are_refused_before_the_next_step():
    indices, state = np.arange(300) % 60, State(one(DATA["text"]))

    def overwrite(t, state):
        indices[:] = 10**12

    with pytest.raises(ValueError, match=r"indices must be in 0\.\.59.*got 1000000000000"):
        state.run(indices, callback=overwrite, every=100)
    assert_same_run(state, State(one(DATA["text"])).run(np.arange(100) % 60))


@pytest.mark.parametrize(("kind", "make"), ONE_AND_THREE)
def test_rows_that_cannot_be_prepared_leave_the_state_on_those_before(kind, make, monkeypatch):
    """Out of memory, or Ctrl-C, anywhere in `follow`: the next steps read no row that is not there."""
    state, wanted = (kind(make(DATA["text"])).run(PI[:50] % 60) for _ in range(2))
    other = make(make_text(5, 900, 10, seed=2)) if kind is State else make(DATA["text"], slice(5))
    for part in (efficient.runs.run, "prepared"), (State, "_zeros") if kind is State else (efficient.runs.batch, "_labels"):
        with monkeypatch.context() as patched:
            patched.setattr(*part, lambda *args: (_ for _ in ()).throw(MemoryError))
            with pytest.raises(MemoryError):
                state.follow(other)
    assert_same_run(state.run(PI % 60), wanted.run(PI % 60))


@pytest.mark.parametrize("labels", [1e200, -1e200])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_an_overflow_names_its_step_and_gives_no_predictor(algorithm, labels):
    problem = Problem([[30.0] * 4, [-30.0] * 4], [labels, labels], "squared", 1e-6)
    indices = np.arange(400) % 2
    state = State(problem, algorithm)
    with pytest.raises(FloatingPointError) as overflow:
        state.run(indices)
    step = int(re.search(r"by step (\d+)", str(overflow.value)).group(1))
    assert 1 < step < 400
    assert State(problem, algorithm).run(indices[: step - 1]).t == step - 1
    for use in (lambda: state.run([0]), state.last, state.predictors):
        with pytest.raises(FloatingPointError, match="by step"):
            use()


def test_a_predictor_that_overflows_is_not_returned():
    for algorithm in ("sgd", "asgd"):
        state = State(Problem([[100.0]], [1], "absolute", 1e-308), algorithm).run([0])
        with pytest.raises(FloatingPointError, match="by step 1"):
            state.predictors()
    assert State(Problem([[100]], [1], "absolute", Fraction(1, 10**400)), "sgd").run([0]).last().b == 10**400


@pytest.mark.parametrize("side", [reference, efficient])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_weights_whose_sum_overflows_are_returned(algorithm, side):
    problem = Problem([[1.0] * 4, [-1.0] * 4], [1, 1], "absolute", 1e-308)
    predictor = getattr(side, algorithm)(problem, [0])
    np.testing.assert_allclose([*predictor.w, predictor.b], 1e308, rtol=1e-15)


def test_a_mean_too_large_to_square_overflows_before_the_first_step():
    with pytest.raises(FloatingPointError, match="squared length of the mean row"), np.errstate(over="ignore"):
        State(Problem([[1e200], [1e200]], [1, 2], "squared", 1.0), "casgd")
    State(Problem([[10**200], [10**200]], [1, 2], "squared", Fraction(1)), "casgd")  # exact numbers are never too large


@pytest.mark.parametrize("lam", [0.5, Fraction(1, 2)])
@pytest.mark.parametrize("side", [reference, efficient])
@pytest.mark.parametrize("algorithm", AVERAGING)
def test_average_with_zero_weights_only_raises(algorithm, side, lam):
    problem = Problem([[1, 0], [0, 2]], [1, -1], "hinge", lam)
    with pytest.raises(ValueError, match="weights must not all be 0"):
        getattr(side, algorithm)(problem, [0, 1, 1], averaging_weights=suffix(3))


@pytest.mark.parametrize(("make", "of"), ONE_AND_THREE)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_predictor_of_no_step_or_of_no_average_raises(algorithm, make, of):
    run = make(of(TEXT, slice(0, 60)), algorithm)
    with pytest.raises(ValueError, match=r"call run\(indices\) before last"):
        run.last()
    run.run([0])
    if algorithm not in AVERAGING:
        with pytest.raises(ValueError, match="algorithm must be 'asgd' or 'casgd' for an average"):
            run.average()
        with pytest.raises(AttributeError, match="keeps no u"):
            run.u  # noqa: B018


def test_unknown_algorithm_raises():
    with pytest.raises(ValueError, match="algorithm must be one of 'sgd', 'asgd', 'csgd', 'casgd'; got 'adam'"):
        State(PROBLEM, "adam")


@pytest.mark.parametrize("lam", [1.0, Fraction(1)])
def test_bad_t0_raises(lam):
    problem = Problem([[1], [2]], [1, 2], "squared", lam)
    for wrong, error in ((1j, TypeError), ("1", TypeError), (float("nan"), ValueError), (-1, ValueError)):
        with pytest.raises(error, match="t0"):
            State(problem, "sgd", t0=wrong)


@pytest.mark.parametrize("passes", [1, 2])  # with two, the centred algorithms project all rows beforehand
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_steps_in_one_call_of_the_loop_are_those_of_exact_arithmetic(algorithm, passes):
    # exact runs call the loop anew for every step
    X = np.array([[1.0, 0, 2, 0], [0, 3, 0, 0.5], [0, 0, 0, 0], [4, 0, 1, 2]])
    options = {"t0": 2} | ({"averaging_weights": polynomial(2)} if algorithm in AVERAGING else {})
    found, wanted = (
        getattr(side, algorithm)(Problem(X, [1.0, -2, 3, 0.5], "squared", lam), [3, 1, 0, 2, 3, 1] * passes, **options)
        for side, lam in ((efficient, 2.0), (reference, Fraction(2)))
    )
    np.testing.assert_allclose([*found.w, found.b], [float(number) for number in (*wanted.w, wanted.b)], rtol=1e-12)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize("make", [State, lambda problem, algorithm: States([problem] * 2, algorithm)])
@pytest.mark.parametrize("algorithm", AVERAGING)
def test_a_run_of_one_step_compiles_no_other_version(make, algorithm):
    state = make(Problem([[1.0, 0], [0, 2]], [1, 2], "squared", 1.0), algorithm).run([0, 1, 1])
    compiled = len(state._steps.signatures)
    assert len(state.run([1])._steps.signatures) == compiled


@pytest.mark.parametrize("algorithm", CENTRED)
def test_projections_are_made_once_where_they_pay_and_change_no_bit(algorithm, monkeypatch):
    many, few = State(PROBLEM, algorithm).run(PI[:1000]), State(PROBLEM, algorithm)
    for start in (0, 500):
        few.run(PI[start : start + 500])
    assert (len(many._projections), len(few._projections)) == (500, 0)  # from 2m steps on
    assert_same_run(many, few)
    kept = many._projections
    assert many.run(PI[:1000])._projections is kept
    for large, made in ((2000, 500), (2001, 0)):
        monkeypatch.setattr(efficient.runs.run, "LARGE", large)
        assert len(State(PROBLEM, algorithm).run([0])._projections) == made


@pytest.mark.parametrize("algorithm", CENTRED)
def test_memory_of_a_call_is_the_state_and_the_predictor(algorithm, monkeypatch):
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
    assert vectors < {"csgd": 3, "casgd": 4}[algorithm] + 0.3  # the projections would be one more


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_rows_that_follow_and_rows_that_are_forgotten_change_no_bit(algorithm, data):
    data = DATA[data]
    options = {"t0": 2.0, "centre": find_centre(as_rows(data.X[:20])) if algorithm in CENTRED else None}
    if algorithm in AVERAGING:
        options["averaging_weights"] = polynomial(1, 2.0)
    orders = [draw_indices(20, 70, rng=0), draw_indices(40, 90, rng=1)]
    for make, of in ONE_AND_THREE:
        whole = make(of(data), algorithm, **options).run(np.r_[orders[0], 20 + orders[1]])
        first, rest = of(data, slice(0, 20)), of(data, slice(20, 60))
        assert same_runs(make(first, algorithm, **options).run(orders[0]).follow(rest).run(orders[1]), whole)
        part = make(first, algorithm, **options).run(orders[0])
        forgetful = make(first, algorithm, **options).run(orders[0]).forget_rows()
        for copied in (pickle.loads(pickle.dumps(forgetful)), copy.deepcopy(forgetful), forgetful):
            assert same_runs(copied, part)
            assert same_runs(copied.follow(rest).run(orders[1]).forget_rows(), whole)
        for refused in (lambda: forgetful.run([0]), lambda: forgetful.save("nowhere")):  # noqa: B023
            with pytest.raises(ValueError, match="no rows attached"):
                refused()


@pytest.mark.parametrize("make", [State, States])
def test_a_pickle_holds_no_compiled_code_and_without_rows_no_rows(make):
    data = make_text(3000, 50, 20, seed=0)
    of = Problem(data.X, data.y, "log", 0.1)
    state = make(of if make is State else [of, of], "casgd", centre=find_centre(of.X)).run(np.arange(3000))
    full = pickle.dumps(state)
    assert len(full) > 500_000 and b"numba" not in full
    assert same_runs(pickle.loads(full).run([1, 2, 3]), state.run([1, 2, 3]))
    assert len(pickle.dumps(state.forget_rows())) < 10_000
    assert (state.problem.m, state.problem.n) == (0, 50)


@pytest.mark.parametrize("algorithm", UNCENTRED)
@pytest.mark.parametrize("lam", [0.05, Fraction(1, 20)], ids=str)
def test_a_stream_of_unknown_width_gives_the_bits_of_a_known_one(algorithm, lam):
    X, y, _ = make_generic(12, 40, 4, seed=5)
    state = None
    for low, high in [(0, 3), (3, 4), (4, 9), (9, 12)]:
        part = sp.csr_array(X[low:high])
        part = part[:, : int(part.indices.max()) + 1]  # the columns seen in this chunk
        chunk = Problem(part, y[low:high], "log", lam)
        state = State(chunk, algorithm) if state is None else state.follow(chunk)
        state.run(np.arange(high - low))
    width = len(state.v)
    assert width == int(X.indices.max()) + 1
    (found,), (wanted,) = state.predictors(), State(Problem(X, y, "log", lam), algorithm).run(np.arange(12)).predictors()
    np.testing.assert_array_equal(found.w, wanted.w[:width])
    assert not wanted.w[width:].any()
    assert (found.b, state.t) == (wanted.b, 12)


def test_follow_refuses_what_does_not_fit():
    text, centre = one(DATA["text"]), find_centre(as_rows(DATA["text"].X))
    with pytest.raises(ValueError, match=r"casgd must have a centre to follow other rows.*find_centre"):
        State(text, "casgd").follow(text)
    with pytest.raises(ValueError, match="300 columns of the centre; got 6"):
        State(text, "casgd", centre=centre).follow(one(FAR))
    for other in (
        one(DATA["text"], lam=0.2),
        one(DATA["text"], lam=Fraction(1, 10)),
        Problem(text.X.dot(np.eye(300)), text.y, "hinge", 0.1),
    ):
        with pytest.raises(ValueError, match="must have the same loss and lam"):
            State(text, "asgd").follow(other)
    states = States(three(DATA["text"]), "asgd")
    for wrong in (three(DATA["text"])[:2], three(DATA["text"], lam=0.2)):
        with pytest.raises(ValueError, match=r"problems must be 3|same loss and lam"):
            states.follow(wrong)
    for wrong in (three(DATA["text"])[:2], [], [1], 1):
        with pytest.raises(TypeError, match="problem must be a Problem, or a sequence of one"):
            State(text, "asgd").follow(wrong)


FROM_DISK = """
import sys
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
