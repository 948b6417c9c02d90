"""Centres and pivots: where a mean is large, centred runs keep their digits; elsewhere not a bit changes."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import efficient
from efficient import State, States
from efficient.casgd import add_up, centre
from efficient.runs import centring
from efficient.runs.algorithms import ALGORITHMS
from efficient.runs.centring import Centre, find_centre, find_pivot, is_far, pivoted, plus_times
from reference import Predictor, Problem, draw_indices
from reference.datasets import load_spam, load_tweets, make_generic, make_shifted, make_text
from reference.rows import as_rows
from tests.helpers import CENTRED, UNCENTRED, assert_same_run, same_runs

PI = draw_indices(20, 40, rng=2)
TEXT = make_text(60, 300, 10, seed=1)
FAR = make_shifted(60, 6, 4, seed=2, offset=np.array([1e6, 0, 3, -1e4, 0, 0]))  # three columns get a pivot


def shifted(offset):
    return make_shifted(20, 5, 5, seed=1, offset=offset)


def column(values):
    return as_rows(np.array(values, dtype=float)[:, None])


@pytest.mark.parametrize("algorithm", CENTRED)
def test_centre_is_computed_once_and_its_theta_is_that_of_the_state(algorithm, monkeypatch):
    made = []

    def counted(xbar, total):
        made.append(centre(xbar, total))
        return made[-1]

    monkeypatch.setattr(centring.casgd, "centre", counted)
    state = State(Problem(*shifted(1)[:2], "log", Fraction(1, 8)), algorithm)
    assert [theta is state.theta for theta in made] == [True]


@pytest.mark.parametrize("offset", [0, 3, 1e3, 1e8])
def test_find_centre_of_counted_rows_is_that_of_repeated_rows(offset):
    none = set()
    for seed in range(8):
        rng = np.random.default_rng(seed)
        counts = rng.integers(0, 9, size=70) if seed else np.full(70, 2)
        X = make_shifted(70, 5, 3, seed, offset=offset * rng.normal(size=5)).X
        repeated = X[np.repeat(np.arange(70), counts)]
        found, wanted = find_centre(as_rows(X), counts.astype(float)), find_centre(as_rows(repeated))
        state = State(Problem(repeated, np.ones(counts.sum()), "squared", 1.0), "casgd")
        assert (found.pivot is None) == (wanted.pivot is None) == (state.pivot is None)
        none.add(found.pivot is None)
        if found.pivot is not None:
            np.testing.assert_array_equal(found.pivot, wanted.pivot)
            np.testing.assert_array_equal(found.pivot, state.pivot)
        np.testing.assert_array_equal(found.xbar, wanted.xbar)
        np.testing.assert_array_equal(found.xbar, state.xbar)
    assert (none == {True}) == (offset == 0)


def additions(seed):
    """Make s, x and a count: sums near powers of 2, where additions tie or meet another unit, and any others."""
    rng = np.random.default_rng(seed)
    for _ in range(300):
        unit, sign = 2.0 ** rng.integers(-1070, 960), rng.choice([-1, 1])
        half = unit * int(rng.integers(-9, 10)) / 2
        yield sign * unit * int(2**52 + rng.integers(0, 99)), half, rng.integers(3000)
        yield sign * unit * int(2**53 - rng.integers(0, 99)), half, rng.integers(3000)
        x = rng.standard_normal() * 2.0 ** rng.integers(-30, 31)
        yield x * int(rng.integers(-2000, 2000)), x, rng.integers(3000)
        yield rng.standard_normal() * 1e6, x, rng.integers(9)
    yield from ((0.0, x, 3000) for x in (0.0, -0.0, 5e-324, 1e-310, 1e305, 1e308, -1e308))


def test_plus_times_has_the_bits_of_one_addition_after_the_other():
    one_product = 0
    for s, x, count in additions(0):
        with np.errstate(over="ignore"):
            wanted = np.add.accumulate([s, *[x] * int(count)])[-1] if count else np.float64(s)
            one_product += np.float64(s) + x * int(count) != wanted
        assert np.float64(plus_times(s, x, int(count))).tobytes() == wanted.tobytes(), (s, x, count)
    assert one_product > 300  # a wrong twin: s + count x


def test_find_centre_counts_weights_and_visits_no_row_so_often():
    weight = np.array([2.0**40, 3.0, 2**41 + 1])  # one by one that is an hour
    for offset in (0, 1e6):
        X = np.array([[0.1, offset], [0.7, 0.2 + offset], [-0.1, 0.3 + offset]])
        found, wanted = find_centre(as_rows(X), weight), np.average(X, axis=0, weights=weight)
        assert (found.pivot is None) == (offset == 0)
        np.testing.assert_allclose(found.xbar + (0 if found.pivot is None else found.pivot), wanted, rtol=1e-4)


def test_find_centre_of_weighted_rows_is_their_mean():
    weight = np.random.default_rng(0).random(60)
    for scale in (1, 1e300, 1e-300):
        found = find_centre(as_rows(FAR.X), scale * weight)
        near = FAR.X.toarray() - found.pivot  # exact, as the two are close to each other or the pivot is 0
        np.testing.assert_allclose(found.xbar, np.average(near, axis=0, weights=weight), rtol=1e-13, atol=1e-16)
    assert abs(np.average(FAR.X.toarray() - find_centre(as_rows(FAR.X)).pivot, axis=0, weights=weight)).max() > 1e-3


@pytest.mark.parametrize("data", [TEXT, FAR], ids=["text", "far"])
@pytest.mark.parametrize("algorithm", CENTRED)
def test_a_given_centre_that_is_the_mean_changes_no_bit(algorithm, data):
    indices, problem = draw_indices(60, 200, rng=3), Problem(data.X, data.y, "log", 0.1)
    for make, of in ((State, problem), (States, [problem, problem.variant(lam=1)])):
        found = make(of, algorithm, centre=find_centre(problem.X)).run(indices)
        assert_same_run(found, make(of, algorithm).run(indices))
        assert not same_runs(found, make(of, algorithm, centre=find_centre(as_rows(data.X[:20]))).run(indices))


def test_a_centre_that_does_not_fit_raises():
    problem = Problem(TEXT.X, TEXT.y, "log", 0.1)
    with pytest.raises(TypeError, match=r"centre must be a Centre.*find_centre"):
        State(problem, "casgd", centre=np.zeros(300))
    with pytest.raises(ValueError, match="centre must be None for asgd"):
        State(problem, "asgd", centre=find_centre(problem.X))
    for wrong in (Centre(None, np.zeros(3)), Centre(None, np.zeros(301)), Centre(np.zeros(3), np.zeros(300))):
        with pytest.raises(ValueError, match="300 columns of the problem"):
            States([problem], "casgd", centre=wrong)


def test_rows_that_follow_far_from_the_origin_keep_their_digits():
    rng = np.random.default_rng(0)
    near, y = rng.integers(-8, 9, size=(60, 3)) / 8.0, np.where(rng.random(60) < 0.5, 1.0, -1.0)
    offset = np.array([2.0**33, -(2.0**30), 0])  # near + offset is exact

    def trained(rows):
        first, rest = (Problem(rows[part], y[part], "log", 0.1) for part in (slice(0, 20), slice(20, 60)))
        state = State(first, "casgd", centre=find_centre(first.X)).run(np.arange(20)).follow(rest).run(np.arange(40))
        return state.average()

    found, wanted = trained(near + offset), trained(near).predict(near)
    np.testing.assert_allclose(found.predict(near + offset), wanted, rtol=1e-9, atol=1e-12)
    assert abs(Predictor(found.w, found.b).predict(near + offset) - wanted).max() > 1e-8  # b' alone does not hold them


def test_find_pivot_takes_columns_whose_squared_mean_exceeds_four_variances():
    assert find_pivot(column([1, 3])) is None  # mean² = 4 = 4·variance
    np.testing.assert_array_equal(find_pivot(column([1, 2.999])), [1.9995])
    np.testing.assert_array_equal(find_pivot(as_rows([[1, 100], [3, 101]])), [0, 100.5])
    for zeros in (1, 2, 3, 30):  # of a 0/1 column mean²/variance is exactly density/(1 − density)
        assert find_pivot(column([1.0] * 4 * zeros + [0.0] * zeros)) is None
        np.testing.assert_allclose(find_pivot(column([-1.0] * (4 * zeros + 1) + [0.0] * zeros)), -1 + zeros / (5 * zeros + 1))


@pytest.mark.parametrize("seed", range(20))
def test_find_pivot_against_its_definition(seed):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(50, 30)) + 10 ** rng.uniform(-1, 1, 30)) * (rng.random((50, 30)) < rng.uniform(0.7, 1, 30))
    X[:, 0] += 100  # so that the mean as a whole is large
    pivot = find_pivot(as_rows(sp.csr_array(X)))
    wanted = X.mean(axis=0) ** 2 > 4 * X.var(axis=0)
    assert wanted.any() and not wanted.all()
    np.testing.assert_allclose(pivot, np.where(wanted, X.mean(axis=0), 0), rtol=1e-14)
    assert ((X != 0).mean(axis=0)[wanted] > 0.8).all()
    rows, before = pivoted(as_rows(sp.csr_array(X)), pivot), np.count_nonzero(X[:, wanted])
    np.testing.assert_array_equal([rows.dense(i) for i in range(50)], X - pivot)
    assert len(rows.data) <= np.count_nonzero(X) + before / 4


def test_stored_zeros_count_as_zeros():
    stored = sp.csr_array((np.array([3.0, 0, 3, 3, 3, 3]), np.zeros(6, int), np.arange(7)), shape=(6, 1))
    np.testing.assert_array_equal(find_pivot(as_rows(stored)), [2.5])
    np.testing.assert_array_equal(find_pivot(as_rows(stored.toarray())), [2.5])
    np.testing.assert_array_equal(pivoted(as_rows(stored), np.array([2.5])).dense(1), [-2.5])


def screened(weighted, dtype):
    """Yield whether the screening test sees a mean far away, and whether there is a pivot, for means from near to far."""
    rng = np.random.default_rng(0)
    for distance in np.linspace(0, 4, 200):
        X = as_rows(sp.csr_array(rng.normal(distance, 1, (30, 4)).astype(dtype)))
        weight = rng.integers(0, 3, 30) + rng.random() if weighted else np.broadcast_to(np.float64(1), 30)
        mean = weight / weight.sum() @ sp.csr_array(X[:3]).toarray()
        yield is_far(mean, X, weight), find_pivot(X, weight) is not None


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_is_far_has_no_false_negatives_and_few_false_positives(weighted, dtype, monkeypatch):
    seen = list(screened(weighted, dtype))
    assert (False, True) not in seen and (False, False) in seen and (True, True) in seen
    if not weighted:
        assert seen.count((True, False)) < 30
    monkeypatch.setattr("efficient.runs.centring.FAR", 2.0)
    assert (False, True) in screened(weighted, dtype)


def test_is_far_of_numbers_too_large_to_square():
    single = as_rows(sp.csr_array(np.full((2, 1), 1e30, np.float32)))
    assert is_far(np.array([1e30]), single, np.ones(2)) and find_pivot(single) == np.float32(1e30)
    for large, share in ((1e200, 0.0), (1e160, 1e-310)):  # squares that overflow, and weights that leave nothing of them
        problem = Problem([[1e8], [1e8 + 1], [large]], [1, 1, 1], "hinge", 1.0, [1, 1, share])
        assert State(problem, "casgd").pivot is not None
        assert find_centre(problem.X, problem.sample_weight).pivot is not None
    for size in (1e-200, 1e200):
        assert find_pivot(column([size, 1.1 * size, 0.9 * size])) is None


def test_find_pivot_is_weighted_as_the_mean_is():
    rng = np.random.default_rng(0)
    X = np.r_[rng.standard_normal((10, 2)) + 1e9, np.zeros((10, 2))]
    y, indices = rng.standard_normal(20), np.arange(200) % 10
    weighted = efficient.casgd(Problem(X, y, "squared", 1.0, np.r_[np.ones(10), np.zeros(10)]), indices)
    alone = efficient.casgd(Problem(X[:10], y[:10], "squared", 1.0), indices)
    np.testing.assert_allclose(weighted.w, alone.w, rtol=1e-9)


def test_find_pivot_of_a_mean_small_as_a_whole_is_none():
    far, wide = 3 + np.resize([0.5, -0.5], 40), np.resize([30.0, -30.0, 0.0, 0.0], 40)
    np.testing.assert_array_equal(find_pivot(column(far)), [3.0])
    assert find_pivot(as_rows(np.stack([far, wide], axis=1))) is None
    X = make_text(2000, 500, 40, seed=0).X.copy()
    share = X.mean(axis=0) ** 2 / X.power(2).mean(axis=0)
    assert share.max() > 0.8  # the commonest words
    assert find_pivot(as_rows(X)) is None


@pytest.mark.parametrize("load", [load_spam, load_tweets])
@pytest.mark.parametrize("tfidf", [False, True])
def test_find_pivot_of_text_is_none(load, tfidf):
    assert find_pivot(as_rows(load(tfidf=tfidf).X)) is None


@pytest.mark.parametrize("rows", [np.zeros((4, 0)), np.zeros((4, 3)), np.eye(3), sp.csr_array((5, 2))])
def test_find_pivot_of_nothing_stored_is_none(rows):
    assert find_pivot(as_rows(rows)) is None


def test_find_pivot_of_many_rows_keeps_their_digits_in_little_memory(monkeypatch):
    monkeypatch.setattr("efficient.kernels.blocks.ENTRIES", 1000)
    values = 1e12 + np.random.default_rng(0).normal(size=1_000_000)
    assert abs(np.mean(values - find_pivot(column(values))[0])) <= 1e-3
    assert abs(np.mean(values[:1000] - find_pivot(column(values[:1000]))[0])) <= 1.3e-4  # the spacing of floats there
    X = as_rows(sp.csr_array(np.random.default_rng(0).normal(1, 1, (20_000, 20))))
    tracemalloc.start()
    try:
        assert find_pivot(X) is None
        assert tracemalloc.get_traced_memory()[1] <= X.data.nbytes / 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("algorithm", CENTRED)
@pytest.mark.parametrize("data", [TEXT, make_generic(60, 30, 20, seed=2)], ids=["text", "generic"])
def test_without_a_pivot_the_run_is_as_printed_to_the_bit(algorithm, data):
    problem = Problem(data.X, data.y, "log", 0.01)
    indices = draw_indices(60, 500, rng=2)
    state = State(problem, algorithm).run(indices)
    assert state.pivot is None and state.last().pivoted is None
    assert np.shares_memory(state._X.data, problem.X.data)
    assert_same_run(state, State(problem, algorithm, pivot=False).run(indices))
    # and that is the source of Algorithm 3 on the raw rows
    xbar = np.zeros(problem.n)
    theta = centre(xbar, add_up(problem.X, problem.sample_weight, 0, 60, xbar, 0))
    parts, zero = ALGORITHMS[algorithm], np.float64(0)
    vectors = [np.zeros(problem.n) for _ in parts.vectors]
    omega = [np.ones(500)] if parts.averaging else []
    scalars = [zero] * len(parts.scalars)
    done = parts.steps(
        problem.X, problem.y, problem.sample_weight, 0.01, problem.loss.derivative, indices, zero, *omega, xbar, theta, (),
        zero,
        *vectors, *scalars
    )  # fmt: skip
    for name, vector in zip(parts.vectors, vectors, strict=True):
        np.testing.assert_array_equal(getattr(state, name), vector)
    assert [getattr(state, name) for name in parts.scalars] == list(done[1:-2])


def test_only_centred_runs_in_floats_have_a_pivot():
    X, y, _ = shifted(1e6)
    for algorithm in UNCENTRED:
        assert State(Problem(X, y, "log", 0.125), algorithm).pivot is None
    for algorithm in CENTRED:
        problem = Problem(X, y, "log", 0.125)
        state = State(problem, algorithm)
        np.testing.assert_allclose(state.pivot + state.xbar, problem.xbar, rtol=1e-15)
        assert abs(state.xbar).max() < 1e-6
        assert State(problem, algorithm, pivot=False).pivot is None
        assert State(Problem(X, y, "log", Fraction(1, 8)), algorithm).pivot is None


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint16, np.float32])
def test_other_dtypes_give_the_bits_of_float64(dtype):
    X = np.random.default_rng(0).integers(95, 126, (20, 4)).astype(dtype)
    y = shifted(0)[1]
    wanted = efficient.casgd(Problem(X.astype(float), y, "log", 0.125), PI)
    for rows in (X, sp.csr_array(X)):
        found = efficient.casgd(Problem(rows, y, "log", 0.125), PI)
        assert found.pivoted is not None
        np.testing.assert_array_equal(found.w, wanted.w)
        np.testing.assert_array_equal(found.predict(rows), wanted.predict(X.astype(float)))


@pytest.mark.parametrize("constant", [1.0, 0.1, -1e12])
@pytest.mark.parametrize("algorithm", CENTRED)
def test_a_constant_column_gets_no_weight(algorithm, constant):
    X, y, _ = shifted(0)
    before = getattr(efficient, algorithm)(Problem(X, y, "log", 0.125), PI)
    wider = np.c_[X.toarray(), np.full(20, constant)]
    after = getattr(efficient, algorithm)(Problem(wider, y, "log", 0.125), PI)
    np.testing.assert_allclose(after.w, [*before.w, 0], rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(after.predict(wider), before.predict(X), rtol=1e-12)


def test_predictor_of_a_pivoted_run_has_the_bias_for_raw_rows():
    problem = Problem(*shifted(1e3)[:2], "log", 0.125)
    state = State(problem, "casgd").run(PI)
    predictor = state.average()
    assert predictor.xbar is None and predictor.implicit() is predictor
    around = predictor.pivoted
    assert around.xbar is state.pivot and around.w is predictor.w
    assert predictor.b == around.b - around.w @ around.xbar
    np.testing.assert_allclose(problem.X.dot(predictor.w) + predictor.b, predictor.predict(shifted(1e3).X), atol=1e-11)
    # from the pivot to the mean is a short way: the bias of the centred rows has all its digits
    exact = Problem(*shifted(1e3)[:2], "log", Fraction(1, 8))
    wanted = efficient.casgd(exact, PI).explicit(exact.xbar).b
    assert predictor.explicit(problem.xbar).b == pytest.approx(float(wanted), abs=1e-12)


def spam_with_times():
    """Give tf-idf mails, and the second each was sent: 1.7e9, give or take one."""
    data, rng = load_spam(tfidf=True), np.random.default_rng(0)
    times = 1.7e9 + rng.uniform(-1, 1, (len(data.y), 1))
    order = rng.permutation(len(data.y))
    return data.X, sp.csr_array(sp.hstack([data.X, times])), data.y, order[:4500], order[4500:]


def test_a_column_of_times_costs_text_no_accuracy():
    text, with_times, y, train, held_out = spam_with_times()
    indices = draw_indices(4500, 5 * 4500, rng=1)

    def accuracy(X, pivot=True):
        predictor = State(Problem(X[train], y[train], "log", 1e-3), "casgd", pivot=pivot).run(indices).average()
        return np.mean(np.sign(predictor.predict(X[held_out])) == y[held_out])

    plain = accuracy(text)
    assert plain > 0.9
    assert abs(accuracy(with_times) - plain) <= 0.005
    assert accuracy(with_times, pivot=False) < 0.75  # as good as always saying the same


def test_pivoting_and_predicting_never_make_the_matrix_dense():
    _, X, y, _, _ = spam_with_times()
    problem = Problem(X, y, "log", 1e-3)
    indices = draw_indices(problem.m, 1000, rng=0)
    predictor = State(problem, "casgd").run(indices).average()  # compiles
    stored = X.data.nbytes + X.indices.nbytes
    tracemalloc.start()
    try:
        rows = pivoted(problem.X, find_pivot(problem.X))
        assert tracemalloc.get_traced_memory()[1] <= 4 * stored
        assert len(rows.data) <= len(X.data)
        tracemalloc.reset_peak()
        State(problem, "casgd").run(indices).average()
        predictor.predict(X)
        assert tracemalloc.get_traced_memory()[1] <= 6 * stored
    finally:
        tracemalloc.stop()
    assert 6 * stored < 8 * problem.m * problem.n / 10  # a tenth of the dense matrix
