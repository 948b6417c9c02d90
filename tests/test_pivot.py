"""Where a mean is large the centred algorithms run on pivoted rows and keep their digits; elsewhere not a bit changes."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import efficient
from efficient import State
from efficient.casgd import add_up, centre
from efficient.runs.centring import find_centre, find_pivot, is_far, pivoted
from proofs.measured import stability
from proofs.measured.stability import BOUND, LAM, OFFSETS, errors, measure, relative
from reference import LOSSES, Predictor, Problem, draw_indices
from reference.datasets import load_spam, load_tweets, make_generic, make_shifted, make_text
from reference.rows import as_rows

PI = draw_indices(20, 40, rng=2)


def shifted(offset, **options):
    return make_shifted(20, 5, 5, seed=1, offset=offset, **options)


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("loss", LOSSES)
def test_weights_and_predictions_are_those_of_the_exact_run(loss, offset):
    measured = errors(loss, offset)
    assert measured["pivoted"] <= BOUND
    assert measured["predictions"] <= BOUND
    assert measured["b' alone"] <= BOUND + 10 * np.finfo(float).eps * offset


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("algorithm", ["csgd", "casgd"])
def test_other_signs_scales_and_weights_of_examples(algorithm, offset):
    X, y, _ = shifted(offset * np.array([1, -1, 0, 1e-3, 0.5]))
    X = X.toarray() * [1, 1, 1, 1e-3, 1]
    weight = np.random.default_rng(0).integers(0, 4, 20) / 2
    found, wanted = (getattr(efficient, algorithm)(Problem(X, y, "log", lam, weight), PI) for lam in (0.125, Fraction(1, 8)))
    assert relative(found.w, wanted.w) <= BOUND
    assert relative(found.predict(X), wanted.predict(X)) <= BOUND


def test_without_a_pivot_the_bar_is_missed():
    for loss in LOSSES:
        for offset in OFFSETS:
            if offset >= 1e6:
                assert errors(loss, offset)["printed"] > BOUND
                assert errors(loss, offset)["explicit"] > BOUND
                assert errors(loss, offset)["b' alone"] > BOUND
    curves = measure()
    assert curves["printed"][OFFSETS.index(1e8)] > 1  # no digit left


@pytest.mark.parametrize("offset", [1e6, 1e9, 1e12])
def test_switching_the_pivot_off_is_seen(offset):
    X, y, _ = shifted(offset)
    wanted = efficient.casgd(Problem(X, y, "log", Fraction(1, 8)), PI).w
    assert relative(efficient.casgd(Problem(X, y, "log", 0.125), PI).w, wanted) <= BOUND
    assert relative(State(Problem(X, y, "log", 0.125), "casgd", pivot=False).run(PI).average().w, wanted) > BOUND


def assert_same_bits(first, second):
    for name in ("t", "p", "g", *first._parts.vectors, *first._parts.scalars):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)


def column(values):
    return as_rows(np.array(values, dtype=float)[:, None])


@pytest.mark.parametrize("load", [load_spam, load_tweets])
@pytest.mark.parametrize("tfidf", [False, True])
def test_text_has_nothing_to_pivot(load, tfidf):
    assert find_pivot(as_rows(load(tfidf=tfidf).X)) is None


def test_a_column_is_pivoted_where_the_squared_mean_exceeds_four_variances():
    assert find_pivot(column([1, 3])) is None  # mean² = 4 = 4·variance
    np.testing.assert_array_equal(find_pivot(column([1, 2.999])), [1.9995])
    np.testing.assert_array_equal(find_pivot(as_rows([[1, 100], [3, 101]])), [0, 100.5])
    for zeros in (1, 2, 3, 30):  # of a 0/1 column mean²/variance is exactly density/(1 − density)
        assert find_pivot(column([1.0] * 4 * zeros + [0.0] * zeros)) is None
        np.testing.assert_allclose(find_pivot(column([-1.0] * (4 * zeros + 1) + [0.0] * zeros)), -1 + zeros / (5 * zeros + 1))


def test_zeros_that_are_stored_and_zeros_that_are_not_count_alike():
    stored = sp.csr_array((np.array([3.0, 0, 3, 3, 3, 3]), np.zeros(6, int), np.arange(7)), shape=(6, 1))
    np.testing.assert_array_equal(find_pivot(as_rows(stored)), [2.5])
    np.testing.assert_array_equal(find_pivot(as_rows(stored.toarray())), [2.5])
    np.testing.assert_array_equal(pivoted(as_rows(stored), np.array([2.5])).dense(1), [-2.5])


@pytest.mark.parametrize("seed", range(20))
def test_detection_against_its_definition(seed):
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


def looked_at(weighted, dtype):
    """Tell whether a quick look sees a mean far away, and whether there is a pivot, for means from near to far."""
    rng = np.random.default_rng(0)
    for distance in np.linspace(0, 4, 200):
        X = as_rows(sp.csr_array(rng.normal(distance, 1, (30, 4)).astype(dtype)))
        weight = rng.integers(0, 3, 30) + rng.random() if weighted else np.broadcast_to(np.float64(1), 30)
        mean = weight / weight.sum() @ sp.csr_array(X[:3]).toarray()
        yield is_far(mean, X, weight), find_pivot(X, weight) is not None


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_quick_look_misses_no_pivot_and_spares_most_of_the_search(weighted, dtype, monkeypatch):
    seen = list(looked_at(weighted, dtype))
    assert (False, True) not in seen and (False, False) in seen and (True, True) in seen
    if not weighted:
        assert seen.count((True, False)) < 30
    monkeypatch.setattr("efficient.runs.centring.FAR", 2.0)
    assert (False, True) in looked_at(weighted, dtype)


def test_a_quick_look_at_numbers_too_large_to_square():
    one = np.broadcast_to(np.float64(1), 2)
    single = as_rows(sp.csr_array(np.full((2, 1), 1e30, np.float32)))
    assert is_far(np.array([1e30]), single, one) and find_pivot(single) == np.float32(1e30)
    for large, share in ((1e200, 0.0), (1e160, 1e-310)):  # squares that overflow, and weights that leave nothing of them
        problem = Problem([[1e8], [1e8 + 1], [large]], [1, 1, 1], "hinge", 1.0, [1, 1, share])
        assert State(problem, "casgd").pivot is not None
        assert find_centre(problem.X, problem.weight).pivot is not None


def test_a_mean_that_is_small_as_a_whole_is_left_alone():
    far, wide = 3 + np.resize([0.5, -0.5], 40), np.resize([30.0, -30.0, 0.0, 0.0], 40)
    np.testing.assert_array_equal(find_pivot(column(far)), [3.0])
    assert find_pivot(as_rows(np.stack([far, wide], axis=1))) is None
    X = make_text(2000, 500, 40, seed=0).X.copy()
    share = X.mean(axis=0) ** 2 / X.power(2).mean(axis=0)
    assert share.max() > 0.8  # the commonest words
    assert find_pivot(as_rows(X)) is None


def test_the_mean_of_many_rows_far_away(monkeypatch):
    values = 1e12 + np.random.default_rng(0).normal(size=1_000_000)
    exact = float(sum(map(Fraction, values[::1000])) / 1000)
    assert abs(find_pivot(column(values[::1000]))[0] - exact) <= 1e-4  # the spacing of floats there
    monkeypatch.setattr("efficient.kernels.blocks.ENTRIES", 1000)  # the blocks do not show
    pivot = find_pivot(column(values))[0]
    assert abs(np.mean(values - pivot)) <= 1e-3


def test_the_mean_of_some_rows_far_away():
    for seed in range(5):
        values = 1e12 + np.random.default_rng(seed).normal(size=1000)
        assert abs(np.mean(values - find_pivot(column(values))[0])) <= 1.3e-4  # the spacing of floats there


def test_numbers_too_large_or_too_small_to_square_are_left_alone():
    for size in (1e-200, 1e200):
        assert find_pivot(column([size, 1.1 * size, 0.9 * size])) is None


@pytest.mark.parametrize("rows", [np.zeros((4, 0)), np.zeros((4, 3)), np.eye(3), sp.csr_array((5, 2))])
def test_nothing_stored_nothing_pivoted(rows):
    assert find_pivot(as_rows(rows)) is None


@pytest.mark.parametrize("algorithm", ["csgd", "casgd"])
@pytest.mark.parametrize("data", [make_text(60, 300, 10, seed=1), make_generic(60, 30, 20, seed=2)])
def test_where_nothing_is_pivoted_not_a_bit_changes(algorithm, data):
    problem = Problem(data.X, data.y, "log", 0.01)
    indices = draw_indices(60, 500, rng=2)
    state = State(problem, algorithm).run(indices)
    assert state.pivot is None
    assert np.shares_memory(state._X.data, data.X.data)
    assert_same_bits(state, State(problem, algorithm, pivot=False).run(indices))
    assert state.last().pivoted is None
    # and the printed run is Algorithm 3's source on the raw rows
    xbar = np.zeros(problem.n)
    theta = centre(xbar, add_up(problem.X, problem.weight, 0, 60, xbar, 0))
    parts, zero = state._parts, np.float64(0)
    vectors = [np.zeros(problem.n) for _ in parts.vectors]
    omega = [np.ones(500)] if parts.average else []
    scalars = [zero] * len(parts.scalars)
    done = parts.steps(
        problem.X, problem.y, problem.weight, 0.01, problem.loss.derivative, indices, zero, *omega, xbar, theta, (), zero,
        *vectors, *scalars
    )  # fmt: skip
    for name, vector in zip(parts.vectors, vectors, strict=True):
        np.testing.assert_array_equal(getattr(state, name), vector)
    assert [getattr(state, name) for name in parts.scalars] == list(done[1:-2])


@pytest.mark.parametrize("algorithm", ["sgd", "asgd"])
def test_the_uncentred_algorithms_see_raw_rows(algorithm):
    assert State(Problem(*shifted(1e6)[:2], "log", 0.125), algorithm).pivot is None


def test_exact_arithmetic_needs_no_pivot():
    assert State(Problem(*shifted(1e6)[:2], "log", Fraction(1, 8)), "casgd").pivot is None


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
@pytest.mark.parametrize("algorithm", ["csgd", "casgd"])
def test_a_constant_column_gets_no_weight(algorithm, constant):
    X, y, _ = shifted(0)
    before = getattr(efficient, algorithm)(Problem(X, y, "log", 0.125), PI)
    wider = np.c_[X.toarray(), np.full(20, constant)]
    after = getattr(efficient, algorithm)(Problem(wider, y, "log", 0.125), PI)
    np.testing.assert_allclose(after.w, [*before.w, 0], rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(after.predict(wider), before.predict(X), rtol=1e-12)


def test_b_is_the_bias_for_raw_rows():
    problem = Problem(*shifted(1e3)[:2], "log", 0.125)
    predictor = State(problem, "casgd").run(PI).average()
    assert predictor.xbar is None and predictor.implicit() is predictor
    around = predictor.pivoted
    assert predictor.b == around.b - around.w @ around.xbar
    np.testing.assert_allclose(problem.X.dot(predictor.w) + predictor.b, predictor.predict(shifted(1e3).X), atol=1e-11)
    # from the pivot to the mean is a short way: the bias of the centred rows has all its digits
    exact = Problem(*shifted(1e3)[:2], "log", Fraction(1, 8))
    wanted = efficient.casgd(exact, PI).explicit(exact.xbar).b
    assert predictor.explicit(problem.xbar).b == pytest.approx(float(wanted), abs=1e-12)


@pytest.mark.parametrize("number", [float, Fraction])
@pytest.mark.parametrize("block", [1, 100, 1 << 20])
def test_explicit_predictions(number, block, monkeypatch):
    monkeypatch.setattr("reference.problem.BLOCK", block)
    X, _, _ = make_generic(30, 12, 4, seed=3)
    X = sp.vstack([sp.csr_array((2, 12)), X, sp.csr_array((1, 12))], format="csr")  # empty rows at both ends
    rng = np.random.default_rng(1)
    for kept in (0, 1, 5, 12):
        w, origin = np.empty((2, 12), dtype=object if number is Fraction else float)
        w[:] = [number(value) for value in rng.normal(size=12)]
        origin[:] = [number(value) if j < kept else number(0) for j, value in enumerate(rng.normal(size=12))]
        found = Predictor(w, number(0.5), origin).predict(X)
        wanted = [sum((number(x) - o) * v for x, o, v in zip(row, origin, w, strict=True)) + number(0.5) for row in X.toarray()]
        if number is Fraction:
            assert list(found) == wanted
        else:
            np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-13)


def test_pieces_saved_and_loaded_give_the_bits_of_one_run(tmp_path):
    problem = Problem(*shifted(1e9)[:2], "log", 0.125)
    whole = State(problem, "casgd").run(PI)
    State(problem, "casgd").run(PI[:7]).run(PI[7:13]).save(tmp_path / "state.npz")
    loaded = State.load(tmp_path / "state.npz", Problem(*shifted(1e9)[:2], "log", 0.125)).run(PI[13:])
    np.testing.assert_array_equal(loaded.pivot, whole.pivot)
    assert_same_bits(whole, loaded)
    np.testing.assert_array_equal(loaded.average().predict(shifted(1e9).X), whole.average().predict(shifted(1e9).X))


def spam_with_times():
    """tf-idf mails, and the second each was sent: 1.7e9, give or take one."""
    data, rng = load_spam(tfidf=True), np.random.default_rng(0)
    times = 1.7e9 + rng.uniform(-1, 1, (len(data.y), 1))
    order = rng.permutation(len(data.y))
    return data.X, sp.csr_array(sp.hstack([data.X, times])), data.y, order[:4500], order[4500:]


def test_a_column_of_times_does_not_spoil_text():
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


def test_detection_takes_no_room_like_the_matrix(monkeypatch):
    monkeypatch.setattr("efficient.kernels.blocks.ENTRIES", 1000)
    X = as_rows(sp.csr_array(np.random.default_rng(0).normal(1, 1, (20_000, 20))))
    tracemalloc.start()
    try:
        assert find_pivot(X) is None
        assert tracemalloc.get_traced_memory()[1] <= X.data.nbytes / 20
    finally:
        tracemalloc.stop()


def test_the_ledger_entries_hold():
    labels = set()
    for job in stability.jobs():
        for entry in job.run():
            labels.add(entry.label)
            assert entry.as_expected, entry.line()
    assert labels == {"pivot"}
    assert set(LAM) == set(LOSSES)
