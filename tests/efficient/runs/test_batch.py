"""K models in one pass are, to the bit, K runs of one; start and resume choose between them."""

import os
import signal
import threading
import time
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import efficient.kernels.blocks
import reference
from efficient import State, States
from efficient.kernels import batch
from efficient.runs.algorithms import ALGORITHMS
from efficient.runs.batch import resume, start
from reference import LOSSES, Loss, Problem, draw_indices
from reference.averaging import polynomial
from reference.datasets import make_generic, make_shifted, make_text, make_ties
from reference.rows import sealed
from tests.helpers import AVERAGING, same_runs

DATA = make_text(60, 300, 10, seed=1)
PI = draw_indices(60, 400, rng=2)
RNG = np.random.default_rng(3)
SIGNS = RNG.choice([-1.0, 1.0], (9, 60))
LAMS = [10.0**-power for power in range(9)]
SAMPLE_WEIGHTS = RNG.choice([0, 0.5, 1, 2.25], 60)
SAMPLE_WEIGHTS[PI[0]] = 0  # so that the first g is −0.0


def variants(X=DATA.X, loss="log", models=7, sample_weight=None):
    """Make problems that differ in their labels and their λ."""
    labels = SIGNS if LOSSES[loss].binary else SIGNS + RNG.standard_normal(SIGNS.shape)
    first = Problem(X, labels[0][: X.shape[0]], loss, LAMS[0], sample_weight)
    return [first.variant(y=labels[k][: first.m], lam=LAMS[k % 4]) for k in range(models)]


PROBLEMS = variants(models=2)
SHARED = PROBLEMS[0].X.csr


def bits(predictor):
    around = () if predictor.pivoted is None else bits(predictor.pivoted)
    return predictor.w.tobytes(), np.float64(predictor.b).tobytes(), *around


def assert_same_bits(states, alone):
    """Compare the states, and all that they recover, with the runs of one, down to the signs of zeros."""
    for k, state in enumerate(alone):
        assert states.t == state.t
        for name in ("p", "g", *ALGORITHMS[state.algorithm].scalars):
            assert getattr(states, name)[k].tobytes() == np.float64(getattr(state, name)).tobytes(), name
        for name in ALGORITHMS[state.algorithm].vectors:
            assert getattr(states, name)[:, k].tobytes() == getattr(state, name).tobytes(), name
        assert bits(states.last()[k]) == bits(state.last())
        assert bits(states.predictors()[k]) == bits(state.predictors()[0])


def both(problems, algorithm, indices=PI, t0=None, **options):
    """Run the models in one pass, and each alone."""
    t0 = [0] * len(problems) if t0 is None else t0
    states = States(problems, algorithm, t0=t0, **options).run(indices)
    return states, [State(each, algorithm, t0=own, **options).run(indices) for each, own in zip(problems, t0, strict=True)]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_one_pass_gives_the_bits_of_separate_runs(algorithm, loss):
    t0 = np.where(np.arange(7) % 2, 0, 1000 * RNG.random(7)) + (500 if LOSSES[loss].slope_bound is None else 0)
    assert_same_bits(*both(variants(loss=loss), algorithm, t0=t0))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_sample_weights_and_averaging_weights_give_the_same_bits(algorithm):
    weights = {"averaging_weights": polynomial(1)} if algorithm in AVERAGING else {}
    assert_same_bits(*both(variants(sample_weight=SAMPLE_WEIGHTS), algorithm, **weights))


@pytest.mark.parametrize("models", range(1, 10))
def test_any_number_of_models_gives_the_same_bits(models):
    assert_same_bits(*both(variants(models=models), "casgd"))


def stored(change):
    X = DATA.X.copy()
    change(X)
    return X


def _float32(X):
    X.data = X.data.astype(np.float32)


def _int64(X):
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)


def _read_only(X):
    for array in (X.data, X.indices, X.indptr):
        array.setflags(write=False)


@pytest.mark.parametrize(
    "change", [_float32, pytest.param(_int64, marks=pytest.mark.nightly), pytest.param(_read_only, marks=pytest.mark.nightly)]
)
def test_rows_of_any_storage_give_the_same_bits(change):
    problems = variants(stored(change), models=5)
    assert np.shares_memory(States(problems)._X.data, problems[0].X.data)
    assert_same_bits(*both(problems, "casgd"))


@pytest.mark.parametrize(
    "X",
    [
        make_shifted(60, 6, 3, seed=1, offset=1e6).X,
        make_generic(60, 12_000, 5, seed=2).X,  # more columns than a recovery takes at a time
        sp.csr_array((60, 5)),
        sp.csr_array((60, 0)),
    ],
    ids=["far from the origin", "wide", "empty rows", "no columns"],
)
@pytest.mark.parametrize("algorithm", AVERAGING)
def test_odd_rows_give_the_same_bits(algorithm, X):
    states, alone = both(variants(X), algorithm)
    assert (states.pivot is None) == (alone[0].pivot is None)
    assert_same_bits(states, alone)


def test_labels_are_kept_in_bytes_or_not_at_all():
    signs, values = variants(models=3), variants(loss="squared", models=3)
    shared = [signs[0].variant(lam=lam) for lam in LAMS]
    assert [States(each)._shares[0].y.dtype for each in (signs, values, shared)] == [np.int8, np.float64, np.float64]
    assert States(shared)._shares[0].y.strides[1] == 0
    assert_same_bits(*both(shared, "asgd"))


def test_a_loss_sees_float64_labels_though_they_are_kept_in_bytes():
    # of bytes, numba would make y**-1 an integer
    mine = Loss("mine", lambda p, y: 0, lambda p, y: (p - 3 * y) * y**-1 / 2, binary=True)
    first = Problem(DATA.X, SIGNS[0], mine, 0.1)
    assert_same_bits(*both([first.variant(y=signs) for signs in SIGNS], "casgd"))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_compiled_loop_and_python_source_give_the_same_bits(algorithm):
    python = States(PROBLEMS, algorithm)
    python._steps, python._dloss = batch.steps, PROBLEMS[0].loss.derivative
    compiled = States(PROBLEMS, algorithm).run(PI)
    python.run(PI)
    for name, value in compiled._kept().items():
        assert value.tobytes() == python._kept()[name].tobytes(), name


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_exact_models_are_the_definition(algorithm, loss):
    X, y, _ = make_ties(8, 5, 3, seed=1)
    first = Problem(X, y, loss, Fraction(1, 2))
    problems = [first.variant(y=y * sign, lam=lam) for sign in (1, -1) for lam in (Fraction(1, 2), Fraction(2))]
    t0 = [Fraction(k, 3) for k in range(4)]
    weights = {"averaging_weights": polynomial(1)} if algorithm in AVERAGING else {}
    pi = draw_indices(8, 9, rng=1)
    states = States(problems, algorithm, t0=t0, **weights)
    for done in range(1, 10):
        for found, problem, own in zip(states.run(pi[done - 1 : done]).predictors(), problems, t0, strict=True):
            wanted = getattr(reference, algorithm)(problem, pi[:done], t0=own, **weights)
            assert found.w.tolist() == wanted.w.tolist() and found.b == wanted.b


def test_callbacks_blocks_and_progress_change_no_bit(monkeypatch, capsys):
    seen = []
    plain = States(PROBLEMS, "casgd").run(PI)
    monkeypatch.setattr(efficient.kernels.blocks, "ENTRIES", 100)
    watched = States(PROBLEMS, "casgd")
    watched.run(PI, callback=lambda t, states: seen.append((t, states.average()[1].b)), every=100, progress=True)
    assert [t for t, _ in seen] == [100, 200, 300, 400]
    assert seen[-1][1] == plain.average()[1].b
    assert same_runs(watched, plain)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_threads_change_no_bit(algorithm, tmp_path, monkeypatch):
    problems = [each.variant(lam=lam * each.lam) for each in variants(models=7) for lam in (1, 2)]
    _, alone = both(problems, algorithm)
    monkeypatch.setattr(efficient.kernels.blocks, "ENTRIES", 1000)  # blocks of a few steps
    states, seen = States(problems, algorithm), []
    loop = states._steps
    monkeypatch.setattr(states, "_steps", lambda *given: (seen.append((len(given[3]), threading.get_ident())), loop(*given))[1])
    states.run(PI[:50]).run(PI[50:130], jobs=2).run(PI[130:250], jobs=10**6)
    assert [
        sorted({models for models, thread in seen if (thread == threading.get_ident()) is one}) for one in (True, False)
    ] == [
        [14],
        [2, 4, 6, 8],
    ]
    states.save(tmp_path / "states.npz")
    resumed = States.load(tmp_path / "states.npz", problems).run(PI[250:], jobs=2)
    assert_same_bits(resumed, alone)
    if not ALGORITHMS[algorithm].centred:
        assert_same_bits(states.follow(problems).run(PI[250:], jobs=3), alone)
    resumed._shares = resumed._shares[::-1]  # a wrong twin: the models of each thread are taken for those of another one
    with pytest.raises(AssertionError):
        assert_same_bits(resumed, alone)


def test_ctrl_c_stops_all_threads_at_one_step():
    problems = variants(models=8)
    states, indices, struck = States(problems, "casgd"), draw_indices(60, 20_000_000, rng=2), []
    timer = threading.Timer(0.7, lambda: (struck.append(time.monotonic()), os.kill(os.getpid(), signal.SIGINT)))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        states.run(indices, jobs=2)
    assert time.monotonic() - struck[0] < 1
    timer.join()
    assert 0 < states.t < len(indices)
    assert same_runs(states, States(problems, "casgd").run(indices[: states.t]))


@pytest.mark.parametrize("first", [3, 9])
def test_an_overflow_in_one_thread_names_the_model_and_step_of_one_thread(first):
    problem = Problem(np.full((1, 4), 30.0), [1.0], "squared", 1.0)
    lams = [1.0] * 12
    lams[first], lams[12 - first] = 1e-6, 1e-4  # both overflow, in two threads, the second one later
    problems, t0 = [problem.variant(lam=lam) for lam in lams], [1e4 if lam == 1 else 0 for lam in lams]
    said = []
    for jobs in (1, 2, 3):
        with pytest.raises(FloatingPointError, match=f"^model {first}, with lam=1e-06: ") as caught:
            States(problems, "asgd", t0=t0).run(np.zeros(400, int), jobs=jobs)
        said.append(str(caught.value))
    assert said == said[:1] * 3


def test_first_block_of_k_models_has_a_kth_of_the_steps(monkeypatch):
    monkeypatch.setattr(efficient.kernels.blocks, "ENTRIES", 100)
    problem, seen = Problem(np.zeros((5, 3)), np.ones(5), "squared", 1.0), []
    States([problem] * 10).run(np.zeros(60, int), callback=lambda t, _: seen.append(t))
    assert seen[0] == 50
    exact = Problem([[1]], [1], "squared", Fraction(1))
    assert States([exact] * 2).run([0, 0]).t == 2  # a block has a step at least


@pytest.mark.parametrize("models", [1, 2])
@pytest.mark.parametrize("columns", [3, 5000])  # more than are recovered at a time
def test_follow_takes_narrower_rows_and_no_wider_ones(models, columns, tmp_path):
    wide = Problem(sp.csr_array(([1.0, 2, 3], [0, 1, columns - 1], [0, 1, 2, 3])), [1, -1, 1], "hinge", 0.5)
    narrow = Problem([[1, 2], [3, 4]], [1, -1], "hinge", 0.5)
    states = States([wide] * models, "asgd").run([0, 1, 2]).follow([narrow] * models).run([1, 0])
    alone = State(wide, "asgd").run([0, 1, 2]).follow(narrow).run([1, 0])
    assert_same_bits(states, [alone] * models)
    assert len(alone.average().w) == columns
    states.save(tmp_path / "states.npz")
    states = States.load(tmp_path / "states.npz", [narrow] * models)
    assert_same_bits(states, [alone] * models)
    states, alone = states.run([0]).follow([wide] * models).run([2]), alone.run([0]).follow(wide).run([2])
    assert_same_bits(states, [alone] * models)
    wider = Problem(np.ones((1, columns + 1)), [1], "hinge", 0.5)
    for wrong in ([narrow] * (models + 1), [wider] * models):
        with pytest.raises(ValueError, match=f"problems must be {models}, with {columns} columns at most"):
            states.follow(wrong)


def test_an_overflow_names_the_model_and_gives_nothing_back(tmp_path):
    first = Problem(np.full((1, 4), 30.0), [1.0], "squared", 1.0)
    problems = [first, first.variant(lam=1e-6), first]
    states = States(problems, "asgd", t0=[1e4, 0, 1e4])
    for use in (
        lambda: states.run(np.zeros(400, int)),
        lambda: states.run([0]),
        states.last,
        states.average,
        lambda: states.save(tmp_path / "states.npz"),
    ):
        with pytest.raises(FloatingPointError, match=r"^model 1, with lam=1e-06: the iterates overflowed float64 by step"):
            use()
    with pytest.raises(FloatingPointError, match=f"by step {states.t}:"):
        State(problems[1], "asgd").run(np.zeros(400, int))


def test_a_predictor_that_overflows_names_its_model():
    first = Problem(np.array([[1e300]]), [1.0], "squared", 1.0)
    states = States([first.variant(y=[0]), first.variant(y=[-1e300])], "sgd").run([0])
    with pytest.raises(FloatingPointError, match=r"^model 1,"):
        states.last()


@pytest.mark.parametrize(
    ("problems", "error", "message"),
    [
        ([], ValueError, "problems must hold at least one Problem"),
        (PROBLEMS[0], TypeError, "problems must be a sequence of Problems"),
        (3, TypeError, "problems must be a sequence of Problems"),
        ([PROBLEMS[0], DATA.X], TypeError, "problems must be Problems; got a csr_array as number 1"),
        ([PROBLEMS[0], Problem(DATA.X.copy(), DATA.y, "log", 0.1)], ValueError, "share their rows in memory"),
        ([PROBLEMS[0], Problem(DATA.X[:, :299], DATA.y, "log", 0.1)], ValueError, "share their rows in memory"),
        ([PROBLEMS[0], Problem(SHARED, DATA.y, "hinge", 0.1)], ValueError, "one loss, log; got hinge as number 1"),
        ([PROBLEMS[0], Problem(DATA.X, DATA.y, "log", Fraction(1))], ValueError, "one arithmetic"),
        ([PROBLEMS[0], Problem(SHARED, DATA.y, "log", 0.1, SAMPLE_WEIGHTS)], ValueError, "share the sample weights"),
    ],
)
def test_problems_that_cannot_be_trained_together_raise(problems, error, message):
    for make in (States, start):
        with pytest.raises(error, match=message):
            make(problems)


def test_problems_share_all_three_arrays_of_their_rows():
    rows = sp.csr_array(np.array([[1.0, 2, 0], [0, 0, 3]]))
    rows.data, rows.indices, rows.indptr = map(sealed, (rows.data, rows.indices, rows.indptr))  # used without a copy

    def problem(n=3, indptr=rows.indptr):
        X = sp.csr_array((2, n))
        X.data, X.indices, X.indptr = rows.data, rows.indices, indptr
        return Problem(X, [1, -1], "hinge", 0.5)

    assert_same_bits(*both([problem(), problem()], "asgd", [0, 1]))
    for other in (problem(4), problem(indptr=np.array([0, 1, 3], np.int32))):
        with pytest.raises(ValueError, match="share their rows in memory"):
            States([problem(), other])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"algorithm": "adam"}, ValueError, "algorithm must be one of"),
        ({"t0": [1, 2, 3]}, ValueError, "t0 must be one number, or one for each of the 2 problems; got 3"),
        ({"t0": [1]}, ValueError, "t0 must be one number, or one for each of the 2 problems; got 1"),
        ({"t0": [1, -2]}, ValueError, "t0"),
        ({"t0": "2"}, TypeError, "t0"),
        ({"algorithm": "sgd", "averaging_weights": polynomial(1)}, ValueError, "weights must be None for sgd"),
        ({"averaging_weights": 3}, TypeError, "weights must be a function"),
    ],
)
def test_bad_options_raise(options, error, message):
    with pytest.raises(error, match=message):
        States(PROBLEMS, **options)


def test_memory_is_that_of_the_state_the_labels_and_the_predictors():
    n, models = 200_000, 8
    X, y, _ = make_generic(500, n, 20, seed=0)
    first = Problem(X, y, "log", 0.1)
    problems = [first.variant(y=y * (-1) ** k) for k in range(models)]
    pi = draw_indices(500, 1000, rng=0)
    States(problems, "asgd").run(pi)  # compiled before
    tracemalloc.start()
    states = States(problems, "asgd").run(pi)
    trained = tracemalloc.get_traced_memory()[1]
    predictors = states.average()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(predictors) == models
    assert 16 * n * models < trained < 16 * n * models + 2**17
    assert peak < (16 + 8) * n * models + 2**20


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_start_of_one_problem_runs_the_loop_of_one(algorithm, tmp_path):
    alone, among = start(PROBLEMS[:1], algorithm, t0=[100]), start(PROBLEMS, algorithm, t0=100)
    assert isinstance(alone, State) and isinstance(among, States)
    assert bits(alone.run(PI).predictors()[0]) == bits(among.run(PI).predictors()[0])
    for run in (alone, among):
        run.save(tmp_path / "run.npz")
        loaded = resume(tmp_path / "run.npz", run.problems)
        assert type(loaded) is type(run) and loaded.t == run.t
        assert same_runs(loaded, run)
