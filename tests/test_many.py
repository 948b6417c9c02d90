"""Many models in one pass are, to the bit, as many runs of one; and what is not is found out."""

import copy
import inspect
import pickle
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import efficient.kernels.blocks
import reference
from efficient import State, States
from efficient.kernels import batch as many
from efficient.kernels import prefetch as hints
from efficient.runs.algorithms import ALGORITHMS
from efficient.runs.batch import resume, start
from proofs.counted import cost
from proofs.proved import batch as proved
from proofs.proved import mutants
from proofs.proved.batch import PROOFS
from reference import LOSSES, Loss, Problem, draw_indices
from reference.averaging import polynomial, suffix
from reference.datasets import make_generic, make_shifted, make_text, make_ties

DATA = make_text(60, 300, 10, seed=1)
PI = draw_indices(60, 400, rng=2)
RNG = np.random.default_rng(3)
SIGNS = RNG.choice([-1.0, 1.0], (9, 60))
LAMS = [10.0**-power for power in range(9)]
EXAMPLE_WEIGHTS = RNG.choice([0, 0.5, 1, 2.25], 60)
EXAMPLE_WEIGHTS[PI[0]] = 0  # so that the first g is −0.0


def variants(X=DATA.X, loss="log", models=7, weight=None):
    """Problems that differ in their labels and their λ."""
    labels = SIGNS if LOSSES[loss].binary else SIGNS + RNG.standard_normal(SIGNS.shape)
    first = Problem(X, labels[0][: X.shape[0]], loss, LAMS[0], weight)
    return [first.variant(y=labels[k][: first.m], lam=LAMS[k % 4]) for k in range(models)]


def bits(predictor):
    around = () if predictor.pivoted is None else bits(predictor.pivoted)
    return predictor.w.tobytes(), np.float64(predictor.b).tobytes(), *around


def assert_same_bits(states, alone):
    """The states are those of the runs of one, whatever a run of one shows of itself."""
    for k, state in enumerate(alone):
        assert states.t == state.t
        for name in ("p", "g", *state._parts.scalars):
            assert getattr(states, name)[k].tobytes() == np.float64(getattr(state, name)).tobytes(), name
        for name in state._parts.vectors:
            assert getattr(states, name)[:, k].tobytes() == getattr(state, name).tobytes(), name
        assert bits(states.last()[k]) == bits(state.last())
        if state._parts.average is not None:
            assert bits(states.average()[k]) == bits(state.average())


def both(problems, algorithm, indices=PI, t0=None, **options):
    """Many models in one pass, and each alone."""
    t0 = [0] * len(problems) if t0 is None else t0
    states = States(problems, algorithm, t0=t0, **options).run(indices)
    return states, [State(each, algorithm, t0=own, **options).run(indices) for each, own in zip(problems, t0, strict=True)]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_one_pass_gives_the_bits_of_separate_runs(algorithm, loss):
    t0 = np.where(np.arange(7) % 2, 0, 1000 * RNG.random(7)) + (500 if loss == "squared" else 0)
    assert_same_bits(*both(variants(loss=loss), algorithm, t0=t0))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_so_it_does_with_weighted_examples_and_weighted_iterates(algorithm):
    weights = {} if ALGORITHMS[algorithm].average is None else {"weights": polynomial(1)}
    assert_same_bits(*both(variants(weight=EXAMPLE_WEIGHTS), algorithm, **weights))


@pytest.mark.parametrize("models", range(1, 10))
def test_any_number_of_models(models):
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


@pytest.mark.parametrize("change", [_float32, _int64, _read_only])
def test_however_the_rows_are_stored(change):
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
@pytest.mark.parametrize("algorithm", ["asgd", "casgd"])
def test_on_odd_rows(algorithm, X):
    states, alone = both(variants(X), algorithm)
    assert (states.pivot is None) == (alone[0].pivot is None)
    assert_same_bits(states, alone)


def test_fetching_the_state_ahead_changes_no_bit(monkeypatch):
    problems = variants()
    alone = [State(each, "casgd").run(PI) for each in problems]
    monkeypatch.setattr(hints, "LARGE", 1)
    monkeypatch.setattr(many, "steps", mutants.rebind(many.steps))  # to be compiled anew
    assert_same_bits(States(problems, "casgd").run(PI), alone)


def test_labels_are_kept_in_bytes_or_not_at_all():
    signs, values = variants(models=3), variants(loss="squared", models=3)
    shared = [signs[0].variant(lam=lam) for lam in LAMS]
    assert [States(each)._y.dtype for each in (signs, values, shared)] == [np.int8, np.float64, np.float64]
    assert States(shared)._y.strides[1] == 0
    assert_same_bits(*both(shared, "asgd"))
    from_bytes = [signs[0].variant(y=each.y.astype(np.int8)) for each in signs]
    assert_same_bits(States(from_bytes).run(PI), [State(signs[0].variant(y=each.y)).run(PI) for each in signs])


def test_a_loss_sees_float64_labels_though_they_are_kept_in_bytes():
    mine = Loss(
        "mine", lambda p, y: 0, lambda p, y: (p - 3 * y) * y**-1 / 2, binary=True
    )  # of bytes, numba would make y**-1 an integer
    first = Problem(DATA.X, SIGNS[0], mine, 0.1)
    assert_same_bits(*both([first.variant(y=signs) for signs in SIGNS], "casgd"))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_compiled_loop_and_its_python_source_give_the_same_bits(algorithm):
    problems = variants()
    python = States(problems, algorithm)
    python._steps, python._dloss = many.steps, problems[0].loss.derivative
    compiled = States(problems, algorithm).run(PI)
    python.run(PI)
    for name, value in compiled._kept().items():
        assert value.tobytes() == python._kept()[name].tobytes(), name


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_exact_models_are_the_definition(algorithm, loss):
    X, y, _ = make_ties(8, 5, 3, seed=1)
    first = Problem(X, y, loss, Fraction(1, 2))
    problems = [first.variant(y=y * sign, lam=lam) for sign in (1, -1) for lam in (Fraction(1, 2), Fraction(1), Fraction(2))]
    t0 = [Fraction(k, 3) for k in range(6)]
    weights = {} if ALGORITHMS[algorithm].average is None else {"weights": polynomial(1)}
    pi = draw_indices(8, 9, rng=1)
    states = States(problems, algorithm, t0=t0, **weights)
    for done in range(1, 10):
        states.run(pi[done - 1 : done])
        found = states.average() if weights else states.last()
        for predictor, problem, own in zip(found, problems, t0, strict=True):
            wanted = getattr(reference, algorithm)(problem, pi[:done], t0=own, **weights)
            assert predictor.w.tolist() == wanted.w.tolist()
            assert predictor.b == wanted.b


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_pieces_saves_copies_and_pickles_give_the_bits_of_one_run(algorithm, tmp_path):
    problems = variants()
    t0 = np.arange(7.0)
    whole = States(problems, algorithm, t0=t0).run(PI)
    pieces = States(problems, algorithm, t0=t0)
    for piece in np.split(PI, [1, 2, 150]):
        pieces.run(piece)
    half = States(problems, algorithm, t0=t0).run(PI[:150])
    half.save(tmp_path / "states.npz")
    loaded = States.load(tmp_path / "states.npz", problems)
    for states in (
        pieces,
        loaded.run(PI[150:]),
        copy.deepcopy(half).run(PI[150:]),
        pickle.loads(pickle.dumps(half)).run(PI[150:]),
    ):
        assert states.t == whole.t
        for name, value in whole._kept().items():
            assert value.tobytes() == states._kept()[name].tobytes(), name
        assert list(map(bits, whole.last())) == list(map(bits, states.last()))
    assert [file.name for file in tmp_path.iterdir()] == ["states.npz"]


def test_callbacks_blocks_and_progress_change_no_bit(monkeypatch, capsys):
    problems, seen = variants(), []
    plain = States(problems, "casgd").run(PI)
    monkeypatch.setattr(efficient.kernels.blocks, "ENTRIES", 100)
    watched = States(problems, "casgd")
    watched.run(PI, callback=lambda t, states: seen.append((t, states.average()[6].b)), every=100, progress=True)
    assert [t for t, _ in seen] == [100, 200, 300, 400]
    assert seen[-1][1] == plain.average()[6].b
    for name, value in plain._kept().items():
        assert value.tobytes() == watched._kept()[name].tobytes(), name


def test_states_of_other_problems_are_refused(tmp_path):
    problems, path = variants(models=3), tmp_path / "states.npz"
    States(problems, "asgd").run(PI).save(path)
    others = [
        problems[:2],
        problems[::-1],
        [*problems[:2], problems[2].variant(lam=0.5)],
        [*problems[:2], problems[2].variant(y=-problems[2].y)],
        variants(DATA.X * 2, models=3),
    ]
    for other in others:
        with pytest.raises(ValueError, match="was saved for another problem"):
            States.load(path, other)
    with pytest.raises(ValueError, match="another problem"):
        State.load(path, problems[0])
    with pytest.raises(ValueError, match="weights must be given just if"):
        States.load(path, problems, polynomial(1))
    with np.load(path) as file:
        damaged = {**file, "r": np.zeros(2)}
    np.savez(path, **damaged)
    with pytest.raises(ValueError, match=r"not a saved state: r has the shape \(2,\)"):
        States.load(path, problems)
    State(problems[0], "asgd").run(PI).save(path)
    with pytest.raises(ValueError, match="not a saved state"):
        States.load(path, problems[:1])


def test_an_overflow_names_the_model_and_gives_nothing_back(tmp_path):
    first = Problem(np.full((1, 4), 30.0), [1.0], "squared", 1.0)
    problems = [first, first.variant(lam=1e-6), first]
    states = States(problems, "asgd", t0=[1e4, 0, 1e4])
    for use in (lambda: states.run(np.zeros(400, int)), lambda: states.run([0]), states.last, states.average):
        with pytest.raises(FloatingPointError, match=r"^model 1, with lam=1e-06: the iterates overflowed float64 by step"):
            use()
    with pytest.raises(FloatingPointError, match="model 1"):
        states.save(tmp_path / "states.npz")
    steps = states.t
    with pytest.raises(FloatingPointError, match=f"by step {steps}:"):
        State(problems[1], "asgd").run(np.zeros(400, int))


def test_a_predictor_that_overflows_names_its_model():
    first = Problem(np.array([[1e300]]), [1.0], "squared", 1.0)
    states = States([first.variant(y=[0]), first.variant(y=[-1e300])], "sgd").run([0])
    with pytest.raises(FloatingPointError, match=r"^model 1,"):
        states.last()


PROBLEMS = variants(models=2)


@pytest.mark.parametrize(
    ("problems", "error", "message"),
    [
        ([], ValueError, "problems must hold at least one Problem"),
        (PROBLEMS[0], TypeError, "problems must be a sequence of Problems"),
        (3, TypeError, "problems must be a sequence of Problems"),
        ([PROBLEMS[0], DATA.X], TypeError, "problems must be Problems; got .* as number 1"),
        (
            [PROBLEMS[0], Problem(DATA.X.copy(), DATA.y, "log", 0.1)],
            ValueError,
            "share their rows in memory; got others as number 1",
        ),
        ([PROBLEMS[0], Problem(DATA.X[:, :299], DATA.y, "log", 0.1)], ValueError, "share their rows in memory"),
        ([PROBLEMS[0], Problem(DATA.X, DATA.y, "hinge", 0.1)], ValueError, "one loss, log; got hinge as number 1"),
        ([PROBLEMS[0], Problem(DATA.X, DATA.y, "log", Fraction(1))], ValueError, "one arithmetic; got lam=Fraction"),
        (
            [PROBLEMS[0], Problem(DATA.X, DATA.y, "log", 0.1, EXAMPLE_WEIGHTS)],
            ValueError,
            "share the sample weights; got others",
        ),
    ],
)
def test_problems_that_cannot_be_trained_together_are_refused(problems, error, message):
    with pytest.raises(error, match=message):
        States(problems)


def test_problems_made_apart_on_the_same_memory_are_welcome():
    apart = [Problem(DATA.X, SIGNS[k], "log", LAMS[k]) for k in range(3)]
    assert_same_bits(*both(apart, "asgd"))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"algorithm": "adam"}, ValueError, "algorithm must be one of"),
        ({"t0": [1, 2, 3]}, ValueError, "t0 must be one number, or one for each of the 2 problems; got 3"),
        ({"t0": [1, -2]}, ValueError, "t0, the offset of the step size, must be a finite number >= 0; got -2"),
        ({"t0": "2"}, TypeError, "t0"),
        ({"algorithm": "sgd", "weights": polynomial(1)}, ValueError, "weights must be None for sgd"),
        ({"weights": 3}, TypeError, "weights must be a function"),
    ],
)
def test_bad_options_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        States(PROBLEMS, **options)


def test_what_is_not_there_is_not_given():
    states = States(PROBLEMS, "sgd")
    with pytest.raises(ValueError, match="no step was taken yet"):
        states.last()
    states.run(PI)
    with pytest.raises(ValueError, match="algorithm must be 'asgd' or 'casgd' for an average; got 'sgd'"):
        states.average()
    with pytest.raises(AttributeError, match="keeps no u"):
        states.u  # noqa: B018
    with pytest.raises(ValueError, match="weights must not all be 0"):
        States(PROBLEMS, "asgd", weights=suffix(1000)).run(PI).average()
    with pytest.raises(ValueError, match="indices must be in"):
        states.run([60])


def test_a_variant_shares_the_rows_and_is_checked():
    first = Problem(DATA.X, DATA.y, "log", 0.1)
    kept = first.y.copy()
    twin = first.variant(y=-DATA.y, lam=2)
    assert twin.X is first.X and twin.weight is first.weight
    assert (twin.lam, first.lam) == (2.0, 0.1)
    np.testing.assert_array_equal(twin.y, -kept)
    np.testing.assert_array_equal(first.y, kept)
    assert first.variant(lam=1).y is first.y
    for wrong, error, message in (
        ({"y": np.zeros(60)}, ValueError, "labels -1 and \\+1"),
        ({"y": DATA.y[:5]}, ValueError, "one number for each of the 60 rows"),
        ({"lam": 0}, ValueError, "lam, the regularisation"),
        ({"lam": Fraction(1, 2)}, TypeError, "arithmetic of these rows"),
    ):
        with pytest.raises(error, match=message):
            first.variant(**wrong)
    exact = Problem([[1, 2]], [1], "squared", Fraction(1))
    assert exact.variant(y=[0.5]).y.tolist() == [Fraction(1, 2)]
    with pytest.raises(TypeError, match="arithmetic of these rows"):
        exact.variant(lam=0.5)


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


def spoilt(old, new, part="steps"):
    """The loop for many models with a piece of the source exchanged in it or in one of its operations."""
    source = inspect.getsource(proved.PARTS[part])
    source = source[source.index("def ") :]
    assert source.count(old) == 1
    scope: dict = {}
    exec(source.replace(old, new), {**vars(many)}, scope)
    return proved.loop_of(**{part: scope[part]})


TWINS = {
    "λ of the first for all": ("steps", "(lam[k] * (t - 1 + t0[k]))", "(lam[0] * (t - 1 + t0[k]))"),
    "u with h_t": ("steps", "hg[k] = h[k] * g[k]", "hg[k] = (h[k] + omega[j] / (t + t0[k])) * g[k]"),
    "labels of the first for all": ("steps", "g[k] = weight[i] * dloss(p[k], y[i, k])\n            hg[k] = h", None),
    "s not kept": ("steps", "s[k] = s[k] + omega[j] * r[k] / (t + t0[k])", "pass"),
    "no four together": ("dots", "range(np.uintp(0), left_over, FOUR)", "range(np.uintp(0), np.uintp(0), FOUR)"),
    "none left over": ("add_to_all", "range(left_over, models)", "range(models, models)"),
    "u for v": ("dot_of", "read(w, columns[e + TWO], 0, k)", "read(w, columns[e + TWO], 1, k)"),
}


@pytest.mark.parametrize("twin", TWINS)
def test_a_wrong_twin_is_found_by_bits_and_by_proofs(twin, monkeypatch):
    part, old, new = TWINS[twin]
    wrong = spoilt(old, old.replace("y[i, k]", "y[i, 0]") if new is None else new, part)
    first = Problem(DATA.X[:6], DATA.y[:6], "log", Fraction(1, 3))
    problems = [first.variant(y=SIGNS[k][:6], lam=Fraction(1, k + 1)) for k in range(6)]
    pi = draw_indices(6, 8, rng=4)

    def equal():
        found = States(problems, "casgd").run(pi).average()
        wanted = [State(each, "casgd").run(pi).average() for each in problems]
        return all((one.w == two.w).all() and one.b == two.b for one, two in zip(found, wanted, strict=True))

    assert equal()
    monkeypatch.setattr(many, "steps", wrong)
    assert not equal()
    assert proved.failure(wrong) is not None


def test_different_orders_of_summation_are_different_bits():
    in_turn = spoilt("(d0 + d1) + (d2 + d3)", "((d0 + d1) + d2) + d3", "dot_of")
    problems = variants(loss="squared", models=5)
    states, alone = both(problems, "asgd", t0=[500] * 5)
    assert_same_bits(states, alone)
    wrong = States(problems, "asgd", t0=[500] * 5)
    wrong._steps, wrong._dloss = in_turn, problems[0].loss.derivative
    with pytest.raises(AssertionError):
        assert_same_bits(wrong.run(PI), alone)


@pytest.mark.parametrize("each", PROOFS, ids=lambda each: f"{each.algorithm} {each.evidence[:8]}")
def test_the_loop_for_many_models_is_the_loop_for_one(each):
    (entry,) = each.check()
    assert entry.holds, entry.figure
    assert entry.mutants > 50


def test_every_single_token_corruption_of_the_loop_is_refuted():
    (entry,) = proved.refute()
    assert entry.holds, entry.figure
    assert entry.mutants == entry.refuted > 500


@pytest.mark.parametrize("name", cost.LOOP_FOR_MANY)
def test_the_counted_cost_is_the_formula(name, monkeypatch):
    (entry,) = cost.count_for_many(name)
    assert entry.holds, entry.figure
    monkeypatch.setitem(cost.LOOP_FOR_MANY, name, ("", "", lambda s, M: (M * (s.K - s.K1 + 2 * s.K), 2 * M * s.K)))
    (entry,) = cost.count_for_many(name)
    assert not entry.holds


def test_no_model_moves_where_no_loss_pulls():
    problem = Problem(*make_generic(20, 60, 6, seed=60)[:2], "hinge", 0.1)
    found, sizes = cost.count_models("asgd", problem, np.ones((20, 4)), draw_indices(20, 40, rng=0))
    assert 0 < sizes.U < sizes.K
    assert found == cost.LOOP_FOR_MANY["asgd"][2](sizes, 4)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_start_of_one_problem_runs_the_loop_of_one(algorithm, tmp_path):
    problem = PROBLEMS[0]
    alone, among = start([problem], algorithm, t0=[100]), start(PROBLEMS, algorithm, t0=100)
    assert isinstance(alone, State) and isinstance(among, States)
    for run in (alone, among):
        assert list(run.problems) == list(PROBLEMS[: len(run.problems)])
        run.run(PI)
    (predictor,), (first, *_) = alone.predictors(), among.predictors()
    np.testing.assert_array_equal(predictor.w, first.w)
    assert predictor.b == first.b
    for run in (alone, among):
        run.save(tmp_path / "run.npz")
        loaded = resume(tmp_path / "run.npz", run.problems)
        assert type(loaded) is type(run) and loaded.t == run.t
        assert [p.b for p in loaded.predictors()] == [p.b for p in run.predictors()]


def test_a_state_follows_a_sequence_of_one_problem_only():
    state = State(PROBLEMS[0], "asgd").run(PI[:3])
    assert state.follow([PROBLEMS[0]]).run(PI[3:6]).t == 6
    for wrong in (PROBLEMS[:2], [], [1], 1):
        with pytest.raises(TypeError, match="problem must be a Problem, or a sequence of one"):
            state.follow(wrong)
