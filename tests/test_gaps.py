"""What mutation testing found untested: facts that no other test would miss."""

import dataclasses
import math
import re
from contextlib import nullcontext
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
import sympy

import efficient.state
import reference
from efficient import State
from efficient.sparse import add, add_both, dot
from reference import LOSSES, Predictor, Problem, draw_indices, safe_t0
from reference.arithmetic import fraction
from reference.averages import evaluate, polynomial, suffix
from reference.losses import GRID_BITS


def test_losses_problems_solutions_are_not_changed_by_accident():
    problem = Problem([[1, 0], [0, 2]], [1, -1], "hinge", 0.5)
    predictor = reference.sgd(problem, [0, 1])
    minimum = reference.minimise(problem)
    for thing, name in ((problem.loss, "name"), (predictor, "b"), (minimum, "value")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(thing, name, 0)


def test_predictors_are_compared_by_identity():
    first, second = (reference.sgd(Problem([[1, 0]], [1], "hinge", Fraction(1, 2)), [0]) for _ in range(2))
    np.testing.assert_array_equal(first.w, second.w)
    assert first == first and first != second and len({first, second}) == 2


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


@pytest.mark.parametrize("y", [Fraction(1, 2), Fraction(-3)])
def test_the_formulas_of_the_binary_losses_hold_for_every_real_label(y):
    # E6; refusing other labels than -1 and +1 is up to `Problem`
    hinge, log = LOSSES["hinge"], LOSSES["log"]
    for p in (Fraction(-2), Fraction(0), Fraction(1), Fraction(4)):
        margin = p * y
        assert hinge.value(p, y) == max(0, 1 - margin)
        assert hinge.derivative(p, y) == (-y if margin <= 1 else 0)
        assert log.value(float(p), float(y)) == pytest.approx(math.log(1 + math.exp(-margin)), rel=1e-14)
        assert log.derivative(float(p), float(y)) == pytest.approx(-y / (1 + math.exp(margin)), rel=1e-14)
        assert log.exact.value(p, y) == pytest.approx(math.log(1 + math.exp(-margin)), rel=1e-14)
        assert log.exact.derivative(p, y) == pytest.approx(-y / (1 + math.exp(margin)), rel=1e-14)


def test_the_log_loss_of_a_large_margin_keeps_all_its_digits():
    margin = 2**300 + Fraction(1, 3)  # log(1 + exp(margin)) is the margin itself, far beyond the grid
    on_grid = Fraction(round(margin * 2**GRID_BITS), 2**GRID_BITS)
    assert LOSSES["log"].exact.value(-margin, 1) == on_grid


def test_the_exact_twin_of_the_log_loss_takes_the_same_labels():
    with pytest.raises(ValueError, match="labels -1 and"):
        Problem([[1], [2]], [0, 1], LOSSES["log"].exact, Fraction(1, 2))


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


@pytest.mark.parametrize("full", [0, 1, 3])
def test_safe_t0_of_columns_full_and_sparse_is_that_of_exact_arithmetic(full):
    X, weight = np.zeros((20, 5)), np.arange(1.0, 21) % 7
    X[:, :full] = np.arange(20 * full).reshape(20, full) % 11 - 3.0
    X[np.arange(20) % 3 == 1, full:] = 2.5
    X[19] = 4
    for centred in (False, True):
        found, wanted = (safe_t0(Problem(X, np.ones(20), "squared", lam, weight), centred) for lam in (0.5, Fraction(1, 2)))
        assert found == pytest.approx(float(wanted), rel=1e-14)
        assert isinstance(wanted, Fraction) and isinstance(found, float)


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


def test_safe_t0_of_float32_rows_is_computed_in_float64():
    X = sp.csr_array(np.array([[1e25, 0.1], [2e25, 0]], dtype=np.float32))
    narrow, wide = (Problem(rows, [1, 1], "squared", 0.5) for rows in (X, X.astype(np.float64)))
    assert safe_t0(narrow) == safe_t0(wide)
    assert safe_t0(narrow, centred=True) == safe_t0(wide, centred=True)


def test_a_variant_shares_the_rows_and_validates_the_rest():
    problem = Problem([[1, 0], [0, 2]], [1, -1], "hinge", 0.5, weight=[1, 3])
    other = problem.variant([-1, 1], 2)
    assert other.X is problem.X and other.weight is problem.weight and other.loss is problem.loss
    assert (other.lam, other.y.tolist()) == (2, [-1, 1])
    assert (problem.lam, problem.y.tolist()) == (0.5, [1, -1])
    assert problem.variant(lam=2).y is problem.y and problem.variant([-1, 1]).lam == 0.5
    with pytest.raises(ValueError, match="labels -1 and"):
        problem.variant([0, 1])
    with pytest.raises(ValueError, match="lam, the regularisation"):
        problem.variant(lam=0)
    with pytest.raises(TypeError, match="lam must be of the type that chose the arithmetic"):
        problem.variant(lam=Fraction(1, 2))


@pytest.mark.parametrize("number", [float, Fraction])
def test_the_objective_and_its_subgradient_by_hand(number):
    # (1/m) Σ s_i ℓ_i with m = 2, s = (1, 3); squared loss; w = (1, −1), b = 2, so that p = (3, 0), p − y = (2, 1)
    problem = Problem([[1, 0], [0, 2]], [1, -1], "squared", number(3), weight=[1, 3])
    predictor = Predictor(np.array([number(1), number(-1)]), number(2))
    assert problem.objective(predictor) == 3 * (2 + 4) / 2 + (4 + 3 * 1) / 4
    w, b = problem.subgradient(predictor)
    assert [*w, b] == [3 + 2 / 2, -3 + 3 * 2 / 2, 6 + (2 + 3) / 2]
    # centred at x̄ = (1/4, 3/2): b = 2 + w · x̄ = 3/4, the rows are (3/4, −3/2) and (−1/4, 1/2), and p is the same
    assert problem.objective(predictor, centred=True) == 3 * (2 + 9 / 16) / 2 + 7 / 4
    w, b = problem.subgradient(predictor, centred=True)
    assert [*w, b] == [3 + (2 * 0.75 - 3 * 0.25) / 2, -3 + (-2 * 1.5 + 3 * 0.5) / 2, 9 / 4 + 5 / 2]
    for i, (w, b) in enumerate([([3 + 2, -3], 6 + 2), ([3, -3 + 3 * 2], 6 + 3)]):
        found = problem.stochastic_gradient(predictor, i)
        assert ([*found[0]], found[1]) == (w, b)
    found = problem.stochastic_gradient(predictor, 1, centred=True)
    assert ([*found[0]], found[1]) == ([3 - 3 * 0.25, -3 + 3 * 0.5], 9 / 4 + 3)
    with pytest.raises(ValueError, match="predictor must have 2 weights"):
        problem.objective(Predictor(np.ones(3), 0.0))


def test_weights_of_the_iterates_by_hand():
    t = np.array([1.0, 2.0, 3.0])
    assert polynomial(2)(t).tolist() == [1, 4, 9]
    assert polynomial(2, t0=3)(t).tolist() == [16, 25, 36]
    assert polynomial(3, Fraction(1, 2))(Fraction(2)) == Fraction(125, 8)
    assert suffix(2)(t).tolist() == [0, 0, 1]
    found = [suffix(2)(step) for step in (Fraction(2), Fraction(3))]
    assert found == [0, 1] and {type(each) for each in found} == {int}


@pytest.mark.parametrize("number", [np.float64, fraction])
def test_without_weights_there_is_a_single_one_in_memory(number):
    ones = evaluate(None, 5, 1000, number)
    assert ones.shape == (1000,) and ones.strides == (0,) and ones[0] == 1
    assert evaluate(lambda t: t, 5, 3, number).tolist() == [5, 6, 7]
    assert evaluate(lambda t: 2, 5, 3, number).tolist() == [2, 2, 2]


@pytest.mark.parametrize(("number", "wrong"), [(fraction, Fraction(-1, 2)), (np.float64, -0.5), (np.float64, np.ones(4))])
def test_weights_slightly_negative_or_too_many_are_refused(number, wrong):
    with pytest.raises(ValueError, match=r"weights must .*>= 0"):
        evaluate(lambda t: wrong, 5, 3, number)


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
        monkeypatch.setattr(efficient.state, "LARGE", large)
        assert len(projections("casgd", 1)) == made


@pytest.mark.parametrize("lam", [1.0, Fraction(1)])  # exact runs begin with blocks of one step
def test_a_state_asks_for_its_callback_at_multiples_and_at_the_end(lam):
    problem = Problem([[1, 0], [0, 2]], [1, 2], "squared", lam)
    seen = []
    State(problem, "sgd").run([0] * 3).run([0, 1] * 4, callback=lambda t, state: seen.append((t, state.t)), every=4)
    assert seen == [(4, 4), (8, 8), (11, 11)]
    with pytest.raises(ValueError, match="every must be a number of steps >= 1"):
        State(problem, "sgd").run([0], every=2)
    State(problem, "sgd").run([0, 0], callback=lambda t, state: seen.append(t), every=1)
    assert seen[3:] == [1, 2]


def test_exact_runs_begin_with_one_step_and_show_their_progress(monkeypatch):
    updates = []

    class Bar:
        def update(self, steps):
            updates.append(steps)

    monkeypatch.setattr(efficient.state, "progress_bar", lambda first, total, wanted: nullcontext(Bar()))
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
    state.follow(problem(6)).run([0])
    assert (len(state._room), len(state.v)) == (6, 6)
    state.follow(problem(2)).run([1])
    assert (len(state._room), len(state.v)) == (6, 6)
    state.follow(problem(20))
    assert (len(state._room), len(state.v)) == (20, 20)
    with pytest.raises(AttributeError, match="sgd keeps no u"):
        State(problem(3), "sgd").u  # noqa: B018


@pytest.mark.parametrize("wrong", ["1", b"1", 1j, None])
def test_only_real_numbers_are_fractions(wrong):
    with pytest.raises(TypeError, match="is not a real number"):
        fraction(wrong)


def test_symbols_as_lam_and_t0():
    lam = sympy.Symbol("lambda", positive=True)
    problem = Problem([[1], [2]], [1, 2], "squared", lam)
    with pytest.raises(TypeError, match="a sympy Float is not exact: use a Rational"):
        Problem([[1]], [1], "squared", sympy.Float(0.5))
    for wrong in (sympy.Integer(-1), sympy.oo, sympy.Symbol("n", negative=True)):
        with pytest.raises(ValueError, match="t0, the offset"):
            State(problem, "sgd", t0=wrong)
    t0 = sympy.Symbol("t0", positive=True)
    assert State(problem, "sgd", t0=t0).run([0]).last().w[0] == 1 / (lam * (1 + t0))


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


def test_the_default_seed_is_0():
    np.testing.assert_array_equal(draw_indices(50, 20), draw_indices(50, 20, rng=0))
