"""Minimum of F and its certificate: within its bound, honest, and the minimum that other methods find."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from reference import LOSSES, Loss, Predictor, Problem, casgd, draw_indices
from reference.datasets import load_spam, load_tweets
from reference.optimum import minimise

BOUND = {name: 1e-10 if loss.kink is None else 1e-6 for name, loss in LOSSES.items()}
EPS = np.finfo(np.float64).eps

every_loss = pytest.mark.parametrize("loss", LOSSES)
either_origin = pytest.mark.parametrize("centred", [False, True], ids=["raw", "centred"])


@pytest.fixture(autouse=True)
def one_thread():
    """Limit BLAS to a thread: two that wait for each other on a busy machine take twenty times as long."""
    with threadpool_limits(1):
        yield


def make(loss, m=40, n=6, lam=0.02, offset=1.0, seed=0) -> Problem:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n)) * (rng.random((m, n)) < 0.6) + offset
    y = X @ rng.normal(size=n) + rng.normal(size=m) + 0.5
    return Problem(X, np.where(y > np.median(y), 1.0, -1.0) if LOSSES[loss].binary else y, loss, lam)


def dense(problem, centred=False):
    X = np.array([problem.X.dense(i) for i in range(problem.m)])
    return X - problem.xbar if centred else X


@every_loss
@either_origin
@pytest.mark.parametrize(
    ("m", "n", "lam"), [(40, 6, 0.02), (40, 60, 1e-3), (40, 6, 100.0), (4, 3, 0.01), (1, 2, 0.1), (7, 0, 0.1)]
)
def test_minimum_has_a_tight_and_true_certificate(loss, centred, m, n, lam):
    problem = make(loss, m, n, lam)
    minimum = minimise(problem, centred)
    at_zero = problem.objective(Predictor(np.zeros(n), 0.0), centred)
    assert minimum.predictor.xbar is None
    assert minimum.value == problem.objective(minimum.predictor, centred)
    assert 0 <= minimum.gap <= BOUND[loss] * at_zero
    assert minimum.relative_gap == minimum.gap / at_zero

    rng = np.random.default_rng(1)
    for scale in 10.0 ** np.arange(-9, 2):
        for _ in range(20):
            other = Predictor(minimum.predictor.w + scale * rng.normal(size=n), minimum.predictor.b + scale * rng.normal())
            assert problem.objective(other, centred) >= minimum.value - minimum.gap - 4 * EPS * at_zero


@every_loss
@either_origin
@pytest.mark.filterwarnings("ignore:minimise stopped:RuntimeWarning")
def test_certificate_of_too_few_steps_is_loose_but_true(loss, centred, monkeypatch):
    problem = make(loss)
    tight = minimise(problem, centred)
    for steps in range(12):
        monkeypatch.setattr("reference.optimum.STEP_LIMIT", steps)
        loose = minimise(problem, centred)
        assert loose.value - loose.gap <= tight.value + 4 * EPS and loose.value >= tight.value - tight.gap
        if steps < 3:
            assert loose.relative_gap > BOUND[loss]


@either_origin
def test_squared_loss_solves_the_normal_equations_with_lam_on_the_bias_too(centred):
    problem = make("squared")
    X1 = np.column_stack([dense(problem, centred), np.ones(problem.m)])
    exact = np.linalg.solve(X1.T @ X1 / problem.m + problem.lam * np.eye(problem.n + 1), X1.T @ problem.y / problem.m)
    minimum = minimise(problem, centred)
    found = minimum.predictor.explicit(problem.xbar) if centred else minimum.predictor
    # F is strongly convex: λ/2 ‖error‖² <= gap
    assert np.linalg.norm(np.append(found.w, found.b) - exact) <= np.sqrt(2 * minimum.gap / problem.lam) + 1e-13
    value = problem.lam / 2 * exact @ exact + np.mean((X1 @ exact - problem.y) ** 2) / 2
    assert minimum.value - minimum.gap <= value + 4 * EPS and value <= minimum.value + 4 * EPS


@pytest.mark.parametrize("lam", [0.3, 40.0])  # on the kink and off it
def test_one_example_with_a_kink_has_a_closed_form(lam):
    x1, y = np.array([3.0, 1.0]), 1.0  # the row and its 1; ‖[x, 1]‖² = 10
    on_kink = lam / 20 if lam <= 10 else 1 - 5 / lam
    for loss in ("hinge", "absolute"):
        minimum = minimise(Problem([x1[:1]], [y], loss, lam))
        assert minimum.value - minimum.gap - EPS <= on_kink <= minimum.value + EPS


@pytest.mark.parametrize("loss", ["hinge", "absolute", "log"])
def test_scikit_learn_finds_no_lower_value_and_nearly_the_same(loss):
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC, LinearSVR

    problem = make(loss)
    settings = {"C": 1 / (problem.lam * problem.m), "fit_intercept": False, "tol": 1e-9, "max_iter": 10**6}
    if loss == "log":
        model = LogisticRegression(**settings)
    elif loss == "hinge":
        model = LinearSVC(loss="hinge", random_state=0, **settings)
    else:
        model = LinearSVR(epsilon=0.0, random_state=0, **settings)
    w = model.fit(np.column_stack([dense(problem), np.ones(problem.m)]), problem.y).coef_.ravel()
    theirs = problem.objective(Predictor(w[:-1], w[-1]))
    ours = minimise(problem)
    assert ours.value - ours.gap <= theirs <= ours.value + 1e-6


@every_loss
def test_centred_minimum_is_that_of_explicitly_centred_rows(loss):
    problem = make(loss)
    implicit = minimise(problem, centred=True)
    explicit = minimise(Problem(dense(problem, centred=True), problem.y, loss, problem.lam))
    assert abs(implicit.value - explicit.value) <= max(implicit.gap, explicit.gap) + 1e-13
    predictor = explicit.predictor
    assert problem.objective(Predictor(predictor.w, predictor.b, problem.xbar), centred=True) == pytest.approx(
        explicit.value, rel=1e-13
    )


@every_loss
def test_only_the_centred_minimum_is_translation_invariant(loss):
    near = make(loss, offset=0.0)
    far = Problem(dense(near) + 30.0, near.y, loss, near.lam)
    here, there = minimise(near, centred=True), minimise(far, centred=True)
    assert abs(here.value - there.value) <= max(here.gap, there.gap) + 1e-12
    distance = np.sqrt(2 * here.gap / near.lam) + np.sqrt(2 * there.gap / near.lam) + 1e-11
    assert np.linalg.norm(here.predictor.w - there.predictor.w) <= distance
    assert abs(minimise(near).value - minimise(far).value) > 1e-4


@every_loss
def test_the_bias_is_regularised_and_a_bias_that_is_not_is_above_the_minimum(loss):
    problem = Problem(sp.csr_array((40, 0)), np.r_[-np.ones(10), np.ones(30)], loss, 1.0)
    # the best b without b² in F
    free = min(np.linspace(-2, 2, 401), key=lambda b: sum(problem.loss.value(b, y) for y in problem.y))
    minimum = minimise(problem)
    assert 0.1 < minimum.predictor.b < free - 0.1
    assert problem.objective(Predictor(np.zeros(0), free)) > minimum.value + 0.02


@every_loss
@either_origin
def test_casgd_stays_above_the_minimum(loss, centred):
    problem = make(loss, lam=0.3)
    minimum = minimise(problem, centred)
    reached = problem.objective(casgd(problem, draw_indices(problem.m, 400)), centred)
    assert reached > minimum.value - minimum.gap
    if not centred:  # a negative control: it went for the other minimum
        assert reached > minimum.value + 1e-3


def test_labels_that_are_all_zero_are_predicted_for_nothing():
    for loss in ("absolute", "squared"):
        minimum = minimise(Problem([[1.0, 2.0], [3.0, 4.0]], [0.0, 0.0], loss, 0.1))
        assert (minimum.value, minimum.gap, minimum.relative_gap) == (0, 0, 0) and not minimum.predictor.w.any()


def test_units_of_the_labels_do_not_matter():
    for loss, power in (("absolute", 1), ("squared", 2)):
        problem = make(loss)
        minimum = minimise(problem)
        for unit in (2.0**30, 2.0**-30):  # powers of 2, so that not a bit differs
            # doubling y and [w, b] quadruples λ/2 ‖[w, b]‖² but only doubles the absolute loss: halve λ there
            scaled = minimise(Problem(dense(problem), problem.y * unit, loss, problem.lam / unit ** (2 - power)))
            assert (scaled.value, scaled.gap) == (minimum.value * unit**power, minimum.gap * unit**power)
            np.testing.assert_array_equal(scaled.predictor.w, minimum.predictor.w * unit)


def test_minimise_is_deterministic_and_leaves_the_problem_alone():
    X = sp.random_array((30, 8), density=0.5, rng=0, format="csr")
    y = np.sign(np.arange(30) - 14.5)
    before = X.data.copy(), y.copy()
    first, second = (minimise(Problem(X, y, "hinge", 0.01), centred=True) for _ in range(2))
    assert first.value == second.value and first.gap == second.gap
    assert (first.predictor.w == second.predictor.w).all()
    assert (X.data == before[0]).all() and (y == before[1]).all()


def test_gap_above_the_bound_warns_and_is_returned():
    problem = make("squared")
    problem = Problem(dense(problem) + 1e8, problem.y, "squared", problem.lam)  # ‖x‖² = 6e16: no ten digits in float64
    with pytest.warns(RuntimeWarning, match=r"relative duality gap of .*, above 1e-10") as caught:
        minimum = minimise(problem)
    assert [warning.filename for warning in caught] == [__file__]
    assert BOUND["squared"] < minimum.relative_gap <= 1 and minimum.gap <= minimum.value
    assert minimise(problem, centred=True).relative_gap <= BOUND["squared"]  # nothing wrong with the data once centred


@either_origin
@pytest.mark.filterwarnings("ignore:minimise stopped:RuntimeWarning")
def test_gap_of_a_smooth_loss_is_the_formula_wherever_the_search_stops(centred, monkeypatch):
    problem = make("log", lam=1.0)
    for steps in range(4):
        monkeypatch.setattr("reference.optimum.STEP_LIMIT", steps)
        minimum = minimise(problem, centred)
        w, b = problem.subgradient(minimum.predictor, centred)  # of a smooth loss all of the gap is ‖∇F‖² / (2λ)
        assert minimum.gap == pytest.approx((w @ w + b * b) / (2 * problem.lam), rel=1e-6)


def test_gap_of_a_kink_is_the_formula(monkeypatch):
    # at w = 0 the absolute loss has p − y = −y, and any g between −1 and 1 will do; here g = −y/2, as F(0) = 1
    problem = Problem([[1.0, 2.0], [3.0, 4.0], [1.0, 0.0]], [1.0, -1.0, 1.0], "absolute", 10.0)
    monkeypatch.setattr("reference.optimum.STEP_LIMIT", 0)
    with pytest.warns(RuntimeWarning, match="minimise stopped"):
        minimum = minimise(problem)
    assert minimum.value == 1 and not minimum.predictor.w.any()
    assert minimum.gap == pytest.approx(1 / 2 + ((1 / 6) ** 2 + (2 / 6) ** 2 + (1 / 6) ** 2) / 20, rel=1e-14)


@pytest.mark.parametrize("lam", [1e-5, 1e-3, 0.02])
def test_newtons_method_needs_few_steps(lam, monkeypatch):
    monkeypatch.setattr("reference.optimum.STEP_LIMIT", 18)  # with another curvature it would need 30 or more
    assert minimise(make("log", lam=lam)).relative_gap <= BOUND["log"]


def test_gap_without_a_conjugate_is_not_cut_at_the_value():
    problem = make("squared")
    below = replace(LOSSES["squared"], value=lambda p, y: (p - y) * (p - y) / 2 - 100, conjugate=None)
    ours, lower = minimise(problem), minimise(Problem(dense(problem), problem.y, below, problem.lam))
    assert lower.value == pytest.approx(ours.value - 100) and 0 <= lower.gap <= 2 * ours.gap + 1e-15


def test_problem_that_cannot_be_certified_is_refused():
    rows, y = [[1.0], [2.0]], [1, -1]
    with pytest.raises(TypeError, match=r"float64.*Fraction.*float lam"):
        minimise(Problem(rows, y, "log", Fraction(1, 10)))
    namesake = Loss("log", lambda p, y: abs(p - y), lambda p, y: 0.0)
    with pytest.raises(TypeError, match=r"kink or a curvature.*'log'"):
        minimise(Problem(rows, y, namesake, 0.1))
    with pytest.raises(FloatingPointError, match="overflows"):
        minimise(Problem(rows, [1e200, -1e200], "squared", 0.1))
    for weight in ([0.5, 0.5], [2, 2], [1, 0], [1, 3]):
        with pytest.raises(ValueError, match="weight must be 1"):
            minimise(Problem(rows, y, "log", 0.1, weight))


@pytest.mark.parametrize(("lam", "centred"), [(1e-4, False), (1e-3, True)])
@pytest.mark.parametrize(
    ("load", "loss"),
    [(load_spam, "hinge"), (load_spam, "log"), (load_spam, "squared"), (load_tweets, "absolute"), (load_tweets, "squared")],
)
def test_minimum_on_real_text_is_certified(load, loss, lam, centred):
    data = load(tfidf=True)
    problem = Problem(data.X, data.y, loss, lam)
    minimum = minimise(problem, centred)
    assert minimum.relative_gap <= BOUND[loss]
    if loss in ("squared", "log"):  # strong convexity, without our certificate: F − min F <= ‖∇F‖² / (2λ)
        w, b = problem.subgradient(minimum.predictor, centred)
        assert (w @ w + b * b) / (2 * lam) <= 1.01 * minimum.gap + 1e-16
