"""Files of runs: resumed to the bit on the same problem, refused on any other, whole after a failure, harmless if hostile."""

import copy
import pickle
import tracemalloc
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from efficient import State, States
from efficient.runs.algorithms import ALGORITHMS
from efficient.runs.centring import find_centre
from efficient.runs.saving import content_sum, loss_identity
from reference import LOSSES, Loss, Problem, draw_indices
from reference.averaging import polynomial
from reference.datasets import make_shifted, make_text
from tests.helpers import assert_same_run, same_runs

DATA = make_text(60, 300, 10, seed=1)
FAR = make_shifted(60, 6, 4, seed=2, offset=1e6)
PROBLEM = Problem(DATA.X, DATA.y, "log", 0.01)
PROBLEMS = [PROBLEM, PROBLEM.variant(lam=0.1), PROBLEM.variant(y=-DATA.y)]
PI = draw_indices(60, 500, rng=2)
ONE_AND_THREE = [(State, PROBLEM), (States, PROBLEMS)]


@pytest.mark.parametrize(("make", "of"), ONE_AND_THREE)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_files_pickles_and_copies_resume_to_the_bit(algorithm, make, of, tmp_path):
    whole, half = make(of, algorithm, t0=2).run(PI), make(of, algorithm, t0=2).run(PI[:123])
    half.save(tmp_path / "state.npz")
    loaded = make.load(tmp_path / "state.npz", of)
    assert [file.name for file in tmp_path.iterdir()] == ["state.npz"]
    assert loaded.algorithm == algorithm
    for resumed in (loaded, pickle.loads(pickle.dumps(half)), copy.deepcopy(half), half):
        assert_same_run(resumed.run(PI[123:]), whole)
        assert same_runs(resumed, whole)


@pytest.mark.parametrize(("pivot", "pivoted"), [(True, True), (False, False)])
def test_a_file_keeps_whether_there_is_a_pivot(pivot, pivoted, tmp_path):
    problem = Problem(FAR.X, FAR.y, "log", 0.125)
    state = State(problem, "casgd", pivot=pivot).run(PI[:13])
    state.save(tmp_path / "state.npz")
    loaded = State.load(tmp_path / "state.npz", problem)
    assert (loaded.pivot is not None) == pivoted
    assert_same_run(loaded.run(PI[13:]), state.run(PI[13:]))


@pytest.mark.parametrize("data", [DATA, FAR], ids=["text", "far"])
def test_a_file_keeps_the_centre(data, tmp_path):
    centre = find_centre(Problem(data.X[:20], data.y[:20], "log", 0.1).X)
    first, rest, everything = (
        Problem(data.X[part], data.y[part], "log", 0.1) for part in (slice(20), slice(20, 60), slice(None))
    )
    for make, of in ((State, lambda problem: problem), (States, lambda problem: [problem, problem.variant(y=-problem.y)])):
        state = make(of(first), "casgd", centre=centre).run(np.arange(20)).follow(of(rest)).run(PI % 40)
        state.save(tmp_path / "state.npz")
        again = make.load(tmp_path / "state.npz", of(rest))
        assert same_runs(again.run(PI % 40), state.run(PI % 40))
        assert same_runs(again.follow(of(everything)).run([59]), state.follow(of(everything)).run([59]))


def test_load_takes_the_averaging_weights_again(tmp_path):
    path = tmp_path / "state.npz"
    state = State(PROBLEM, "asgd", averaging_weights=polynomial(2)).run([0, 1, 1])
    state.save(path)
    assert same_runs(State.load(path, PROBLEM, polynomial(2)).run([1, 0]), state.run([1, 0]))
    with pytest.raises(ValueError, match=r"weights must be given just if .* got None"):
        State.load(path, PROBLEM)
    State(PROBLEM, "asgd").run([0]).save(path)
    with pytest.raises(ValueError, match=r"weights must be given just if .* got functools"):
        State.load(path, PROBLEM, polynomial(2))


def test_load_of_a_stream_after_a_narrower_part(tmp_path):
    narrow = Problem(DATA.X[:, :200], DATA.y, "log", 0.01)
    state = State(PROBLEM, "asgd").run(PI[:50]).follow(narrow).run(PI[50:80])
    state.save(tmp_path / "state.npz")
    loaded = State.load(tmp_path / "state.npz", narrow)
    assert_same_run(state.run(PI[80:]), loaded.run(PI[80:]))
    assert len(loaded.average().w) == 300


def test_load_ignores_how_the_rows_are_stored(tmp_path):
    State(PROBLEM, "casgd").run(PI[:99]).save(tmp_path / "state.npz")
    X = DATA.X.copy()
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    loaded = State.load(tmp_path / "state.npz", Problem(X, DATA.y, "log", 0.01)).run(PI[99:])
    assert_same_run(State(PROBLEM, "casgd").run(PI), loaded)


def test_load_refuses_another_problem_in_any_part(tmp_path):
    X, y, weight = np.array([[1.0, 2], [3, 4], [0, 5]]), np.array([1.0, -1, 1]), np.array([1.0, 2, 3])

    def problem(X=X, y=y, sample_weight=weight, loss="squared", lam=1.0):
        return Problem(X, y, loss, lam, sample_weight)

    def changed(array, place):
        array = array.copy()
        array[place] += 1
        return array

    State(problem(), "casgd").run([0, 1]).save(tmp_path / "state.npz")
    assert State.load(tmp_path / "state.npz", problem()).t == 2
    others = [{"y": changed(y, i)} for i in (0, 2)] + [{"sample_weight": changed(weight, i)} for i in (0, 2)]
    others += [{"X": changed(X, place)} for place in ((0, 0), (2, 1), (2, 0))]
    others += [{"X": X[:, :1]}, {"lam": 2.0}, {"loss": "absolute"}]
    for other in others:
        with pytest.raises(ValueError, match="was saved for another problem"):
            State.load(tmp_path / "state.npz", problem(**other))


def test_load_refuses_other_problems_of_several(tmp_path):
    States(PROBLEMS, "asgd").run(PI).save(tmp_path / "states.npz")
    for other in (
        PROBLEMS[:2],
        PROBLEMS[::-1],
        [*PROBLEMS[:2], PROBLEMS[2].variant(lam=0.5)],
        [*PROBLEMS[:2], PROBLEMS[2].variant(y=DATA.y)],
    ):
        with pytest.raises(ValueError, match="was saved for another problem"):
            States.load(tmp_path / "states.npz", other)
    with pytest.raises(ValueError, match="was saved for another problem"):
        State.load(tmp_path / "states.npz", PROBLEM)
    State(PROBLEM, "asgd").run(PI).save(tmp_path / "state.npz")
    with pytest.raises(ValueError, match="not a saved state"):
        States.load(tmp_path / "state.npz", [PROBLEM])


def test_loss_identity_is_the_function_of_a_built_in_loss_and_the_code_of_any_other():
    def scaled(by):
        return Loss("mine", abs, lambda p, y: by * (p - y))

    for loss in LOSSES.values():
        assert loss_identity(replace(loss, name="renamed")) == loss_identity(loss)
    assert len({loss_identity(loss) for loss in LOSSES.values()}) == len(LOSSES)
    assert loss_identity(scaled(1)) == loss_identity(replace(scaled(1), name="renamed")) != loss_identity(scaled(2))
    squared = Loss("squared", LOSSES["squared"].value, lambda p, y: 2 * (p - y))
    assert loss_identity(squared) != loss_identity(LOSSES["squared"])


def test_a_file_survives_a_rewritten_derivative_of_a_built_in_loss(tmp_path, monkeypatch):
    State(Problem(DATA.X, DATA.y, "hinge", 0.01), "asgd").run(PI[:9]).save(tmp_path / "state.npz")
    rewritten = replace(LOSSES["hinge"], derivative=lambda p, y: 0 if p * y > 1 else -y)
    monkeypatch.setitem(LOSSES, "hinge", rewritten)
    assert State.load(tmp_path / "state.npz", Problem(DATA.X, DATA.y, rewritten, 0.01)).t == 9


def test_exact_states_have_no_file(tmp_path):
    state = State(Problem([[1]], [1], "squared", Fraction(1)), "sgd").run([0])
    with pytest.raises(TypeError, match="must be in float64"):
        state.save(tmp_path / "state.npz")


@pytest.mark.parametrize("content", [b"", b"not a state", b"PK\x03\x04 broken"])
def test_load_of_another_file_raises(content, tmp_path):
    (tmp_path / "state.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"state\.npz' is not a saved state"):
        State.load(tmp_path / "state.npz", PROBLEM)


def forged(parts):
    """Give saved arrays the checksum of what they are now."""
    parts = {name: part for name, part in parts.items() if name != "content"}
    return parts | {"content": content_sum(parts)}


def exchange(path, **parts):
    """Write other arrays in place of saved ones, with their checksum."""
    with np.load(path) as file:
        np.savez(path, **forged(dict(file) | parts))


def altered(value):
    """Make the least change of an array."""
    changed = value.copy()
    first = changed.flat[0]
    changed.flat[0] = (
        np.nextafter(first, np.inf) if value.dtype.kind == "f" else "sgd" if value.dtype.kind == "U" else first ^ 1
    )
    return changed if (changed != value).any() else np.array("asgd")


@pytest.mark.parametrize(("make", "of"), ONE_AND_THREE)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_load_refuses_a_file_with_any_part_altered(algorithm, make, of, tmp_path):
    path = tmp_path / "state.npz"
    make(of, algorithm).run(PI).save(path)
    with np.load(path) as file:
        parts = dict(file)
    attacks = [
        (parts | {name: altered(part)}, "its content is not what was saved") for name, part in parts.items() if name != "format"
    ]
    attacks += [
        (forged(parts | {name: np.full_like(part, value)}), f"{name} holds what no run can have")
        for name, part in parts.items()
        for value in (np.nan, np.inf)
        if part.dtype.kind == "f"
    ]
    for attack, message in [*attacks, (forged(parts | {"t": -1}), "t holds what no run can have")]:
        np.savez(path, **attack)
        with pytest.raises(ValueError, match=f"not a saved state: {message}"):
            make.load(path, of)
    np.savez(path, **parts)
    assert make.load(path, of).t == 500


@pytest.mark.parametrize(("make", "of"), ONE_AND_THREE)
def test_load_of_another_format_says_so(make, of, tmp_path):
    path = tmp_path / "state.npz"
    make(of, "asgd").run([0, 1]).save(path)
    exchange(path, format=3)
    with pytest.raises(ValueError, match=r"state\.npz' must be a saved state of format 2; got format 3\. Take the steps again"):
        make.load(path, of)
    with np.load(path) as file:  # as version 0.1 wrote it
        np.savez(path, **{name: file[name] for name in file.files if name not in ("format", "content")} | {"problem": 1})
    with pytest.raises(ValueError, match="got format 1"):
        make.load(path, of)


@pytest.mark.parametrize(
    ("name", "value"), [("v", np.zeros(3)), ("v", np.zeros(1)), ("v", np.zeros((2, 1))), ("a", np.zeros(1))]
)
def test_load_of_parts_of_another_shape_raises(name, value, tmp_path):
    problem, path = Problem([[1, 0], [0, 2]], [1, 2], "squared", 1.0), tmp_path / "state.npz"
    State(problem, "casgd").run([0, 1]).save(path)
    exchange(path, **{name: value})
    with pytest.raises(ValueError, match=f"not a saved state: {name} has the shape"):
        State.load(path, problem)
    States([problem] * 2, "casgd").run([0, 1]).save(path)
    exchange(path, **{name: value[..., np.newaxis]})
    with pytest.raises(ValueError, match=f"not a saved state: {name} has the shape"):
        States.load(path, [problem] * 2)


class Touch:
    """Reduce to an action that a hostile file would have its reader do."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (self.path, "w"))


def test_load_of_a_hostile_file_executes_nothing(tmp_path):
    State(PROBLEM, "sgd").run([0]).save(tmp_path / "state.npz")
    with np.load(tmp_path / "state.npz") as file:
        parts = dict(file)
    np.savez(tmp_path / "state.npz", **parts | {"p": np.array([Touch(str(tmp_path / "touched"))], dtype=object)})
    with pytest.raises(ValueError, match="is not a saved state"):
        State.load(tmp_path / "state.npz", PROBLEM)
    assert [file.name for file in tmp_path.iterdir()] == ["state.npz"]


def test_load_of_a_compressed_archive_takes_no_memory(tmp_path):
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
