"""Offsets of the step size, weighted averages and weighted examples: the same loops, equal to the definitions, with ==."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import efficient
import reference
from efficient import State
from proofs.conformance import ALGORITHM
from reference import LOSSES, Problem, draw_indices, safe_t0
from reference.averaging import polynomial, suffix
from reference.datasets import load_tweets, make_generic, make_text, make_ties

GENERIC, TIES = make_generic(7, 5, 3, seed=1), make_ties(7, 4, 2, seed=14)
PI = draw_indices(7, 10, rng=3)
OFFSETS = [0, 1, Fraction(1, 3), Fraction(100)]
WEIGHTS = {
    "uniform": None,
    "t-weighted": polynomial(1, Fraction(1, 3)),
    "cubic": polynomial(3),
    "suffix": suffix(4),
    "odd steps": lambda t: t % 2,
}
AVERAGES = [name for (average, _), name in ALGORITHM.items() if average]
EXAMPLE_WEIGHT = [Fraction(1, 2), 0, 3, 1, 2, Fraction(5, 7), 1]


@pytest.mark.parametrize("weight", [None, EXAMPLE_WEIGHT], ids=["plain", "weighted examples"])
@pytest.mark.parametrize("t0", OFFSETS, ids=str)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("algorithm", ALGORITHM.values())
def test_last_iterates_equal_the_definition_at_every_prefix(algorithm, loss, t0, weight):
    for X, y, _ in (GENERIC, TIES):
        problem = Problem(X, y, loss, Fraction(1, 2), weight)
        state = State(problem, algorithm, t0=t0)
        for step in reference.iterates(problem, PI, centred=algorithm[0] == "c", t0=t0):
            state.run(PI[step.t - 1 : step.t])
            found = state.last()
            assert (state.p, state.g, found.b) == (step.p, step.g, step.predictor.b)
            np.testing.assert_array_equal(found.w, step.predictor.w)


@pytest.mark.parametrize("weight", [None, EXAMPLE_WEIGHT], ids=["plain", "weighted examples"])
@pytest.mark.parametrize("t0", OFFSETS, ids=str)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("algorithm", AVERAGES)
def test_averages_equal_the_definition(algorithm, weights, t0, weight):
    for loss in ("log", "squared"):
        problem = Problem(GENERIC.X, GENERIC.y, loss, Fraction(1, 2), weight)
        for T in (5, 6, 10):
            found, wanted = (
                getattr(side, algorithm)(problem, PI[:T], t0=t0, weights=WEIGHTS[weights]) for side in (efficient, reference)
            )
            np.testing.assert_array_equal(found.w, wanted.w)
            assert found.b == wanted.b


@pytest.mark.parametrize("algorithm", AVERAGES)
def test_what_the_names_mean(algorithm):
    problem = Problem(GENERIC.X, GENERIC.y, "log", Fraction(1, 2))
    each = [step.predictor for step in reference.iterates(problem, PI, centred=algorithm == "casgd")]
    late = getattr(efficient, algorithm)(problem, PI, weights=suffix(4))
    np.testing.assert_array_equal(late.w, sum(predictor.w for predictor in each[4:]) / Fraction(6))
    linear = getattr(efficient, algorithm)(problem, PI, weights=polynomial(1))
    np.testing.assert_array_equal(linear.w, sum(Fraction(t) * each[t - 1].w for t in range(1, 11)) / Fraction(55))
    uniform = getattr(efficient, algorithm)(problem, PI)
    assert not (uniform.w == late.w).all() and not (uniform.w == linear.w).all()


@pytest.mark.parametrize("algorithm", ALGORITHM.values())
def test_the_defaults_are_the_paper_to_the_bit(algorithm):
    X, y, _ = make_text(60, 300, 10, seed=1)
    problem, indices = Problem(X, y, "log", 0.01), draw_indices(60, 500, rng=2)
    weights = {"weights": lambda t: 0 * t + 1} if algorithm in AVERAGES else {}
    found = getattr(efficient, algorithm)(Problem(X, y, "log", 0.01, np.ones(60)), indices, t0=0.0, **weights)
    wanted = getattr(efficient, algorithm)(problem, indices)
    np.testing.assert_array_equal(found.w, wanted.w)
    assert found.b == wanted.b


@pytest.mark.parametrize("algorithm", ALGORITHM.values())
def test_pieces_give_the_bits_of_one_run(algorithm):
    X, y, _ = make_text(60, 300, 10, seed=1)
    problem, indices = Problem(X, y, "squared", 0.01), draw_indices(60, 500, rng=2)
    t0 = safe_t0(problem, algorithm[0] == "c")
    weights = {"weights": polynomial(2, t0)} if algorithm in AVERAGES else {}
    whole, pieces = (State(problem, algorithm, t0=t0, **weights) for _ in range(2))
    whole.run(indices)
    for piece in np.split(indices, [1, 2, 77, 400]):
        pieces.run(piece)
    recover = State.average if algorithm in AVERAGES else State.last
    np.testing.assert_array_equal(recover(whole).w, recover(pieces).w)
    assert recover(whole).b == recover(pieces).b


def test_weights_of_examples_are_in_the_objective_and_the_mean():
    X, y = np.array([[1, 0], [0, 2], [3, 1]]), [1, -1, 1]
    weight = [Fraction(2), Fraction(1, 2), 0]
    problem = Problem(X, y, "squared", Fraction(1), weight)
    predictor = reference.Predictor(np.array([Fraction(1), Fraction(-1)], dtype=object), Fraction(1))
    # predictions 2, -1, 3, losses 1/2, 0, 2; F = 1/2 (1 + 1 + 1) + (2 · 1/2 + 0 + 0)/3
    assert problem.objective(predictor) == Fraction(3, 2) + Fraction(1, 3)
    np.testing.assert_array_equal(problem.xbar, [Fraction(4, 5), Fraction(2, 5)])
    gradients = [problem.stochastic_gradient(predictor, i, centred=True) for i in range(3)]
    w, b = problem.subgradient(predictor, centred=True)
    np.testing.assert_array_equal(sum(g for g, _ in gradients) / Fraction(3), w)
    assert sum(g for _, g in gradients) / Fraction(3) == b


@pytest.mark.parametrize("algorithm", ["csgd", "casgd"])
def test_translation_invariance_does_not_mind(algorithm):
    dense = np.array([[Fraction(value) for value in row] for row in GENERIC.X.toarray()], dtype=object)
    c = np.array([Fraction(j - 2, 3) for j in range(5)], dtype=object)
    arguments = {"t0": Fraction(3)} | ({"weights": polynomial(2)} if algorithm == "casgd" else {})
    before, after = (
        getattr(efficient, algorithm)(Problem(X, GENERIC.y, "log", Fraction(1, 2), EXAMPLE_WEIGHT), PI, **arguments)
        for X in (dense, dense + c)
    )
    np.testing.assert_array_equal(after.w, before.w)
    assert after.b == before.b - before.w @ c


def test_safe_t0():
    X, y = np.array([[3, 4], [0, 0], [1, 0]]), [1, 2, 3]
    problem = Problem(X, y, "squared", Fraction(1, 2))
    assert safe_t0(problem) == (25 + 1) * 2
    x_0 = np.array([Fraction(5, 3), Fraction(8, 3)])  # (3, 4) − x̄
    assert safe_t0(problem, centred=True) == (x_0 @ x_0 + 1) * 2
    assert safe_t0(Problem(X, y, "squared", Fraction(1, 2), [1, 1, 40])) == (1 + 1) * 40 * 2


@pytest.mark.parametrize("offset", [0, 1e3, 1e6, 1e9, 1e12])
def test_safe_t0_of_centred_rows_keeps_its_digits(offset):
    X = np.random.default_rng(0).standard_normal((30, 3)) + offset
    exact = safe_t0(Problem(X, np.zeros(30), "squared", Fraction(1, 10)), centred=True)
    assert safe_t0(Problem(X, np.zeros(30), "squared", 0.1), centred=True) == pytest.approx(float(exact), rel=1e-3)


def test_the_pivot_is_weighted_as_the_mean_is():
    rng = np.random.default_rng(0)
    X = np.r_[rng.standard_normal((10, 2)) + 1e9, np.zeros((10, 2))]
    y, indices = rng.standard_normal(20), np.arange(200) % 10
    weighted = efficient.casgd(Problem(X, y, "squared", 1.0, np.r_[np.ones(10), np.zeros(10)]), indices)
    alone = efficient.casgd(Problem(X[:10], y[:10], "squared", 1.0), indices)
    np.testing.assert_allclose(weighted.w, alone.w, rtol=1e-9)


def test_symbols_and_single_numbers_as_weights():
    import sympy

    lam = sympy.Symbol("lambda", positive=True)
    problem = Problem([[1], [2]], [1, 2], "squared", lam)
    late = efficient.asgd(problem, [0, 1], weights=suffix(1))
    assert sympy.expand(late.w[0] - reference.sgd(problem, [0, 1]).w[0]) == 0
    plain = Problem(GENERIC.X, GENERIC.y, "log", 0.5)
    np.testing.assert_array_equal(efficient.asgd(plain, PI, weights=lambda t: 1).w, efficient.asgd(plain, PI).w)


@pytest.mark.parametrize("algorithm", ALGORITHM.values())
def test_safe_steps_tame_the_squared_loss(algorithm):
    X, y, _ = load_tweets(tfidf=True)
    problem, indices = Problem(X, y, "squared", 1e-4), draw_indices(len(y), 20_000, rng=0)
    with pytest.raises(FloatingPointError):
        getattr(efficient, algorithm)(problem, indices)
    centred = algorithm[0] == "c"
    predictor = getattr(efficient, algorithm)(problem, indices, t0=safe_t0(problem, centred))
    start = problem.objective(reference.Predictor(np.zeros(problem.n), 0.0), centred)
    assert problem.objective(predictor, centred) < start


@pytest.mark.parametrize("t0", [-1, float("nan"), float("inf"), "1", None, True, 1j, [3.0], [1, 2]])
@pytest.mark.parametrize("side", [reference, efficient])
def test_bad_t0(side, t0):
    with pytest.raises((TypeError, ValueError), match="t0, the offset of the step size"):
        side.asgd(Problem(GENERIC.X, GENERIC.y, "log", 0.5), PI, t0=t0)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("uniform", "function of the step numbers"),
        (lambda t: -t, "one finite weight >= 0"),
        (lambda t: t * np.nan, "one finite weight >= 0"),
        (lambda t: np.ones(3), "one finite weight >= 0"),
        (lambda t: 0 * t, "must not all be 0"),
    ],
)
def test_bad_weights(weights, message):
    problem = Problem(GENERIC.X, GENERIC.y, "log", 0.5)
    with pytest.raises((TypeError, ValueError), match=rf"(?s)weights.*{message}"):
        efficient.asgd(problem, PI, weights=weights)


def test_negative_weights_are_refused_in_exact_arithmetic_too():
    problem = Problem(GENERIC.X, GENERIC.y, "log", Fraction(1, 2))
    for side in (reference, efficient):
        with pytest.raises(ValueError, match="weights must be >= 0"):
            side.asgd(problem, PI, weights=lambda t: -t)


def test_weights_where_nothing_is_averaged():
    with pytest.raises(ValueError, match="sgd keeps none"):
        State(Problem(GENERIC.X, GENERIC.y, "log", 0.5), "sgd", weights=suffix(1))


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


@pytest.mark.parametrize(
    "weight", [[1] * 6, [1, 1, 1, 1, 1, 1, -1], [np.nan] * 7, [np.inf] * 7, [0] * 7, ["1"] * 7, np.ones((7, 1)), [1j] * 7]
)
@pytest.mark.parametrize("lam", [0.5, Fraction(1, 2)])
def test_bad_weight_of_examples(weight, lam):
    with pytest.raises((TypeError, ValueError), match="weight must"):
        Problem(GENERIC.X, GENERIC.y, "log", lam, weight)


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
    with pytest.raises(ValueError, match="casgd cannot go on with other rows: their mean is another"):
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
