"""A run can be told what to centre at; then other rows may follow, its rows may be forgotten, and weighted rows have one mean.

Everything is compared to the bit with a run that knew all rows from the start.
"""

import copy
import pickle

import numpy as np
import pytest

from efficient import State, States
from efficient.runs.centring import Centre, find_centre
from reference import Predictor, Problem, draw_indices, safe_t0
from reference.averaging import polynomial
from reference.datasets import make_shifted, make_text
from reference.rows import as_rows

ALGORITHMS = ("sgd", "asgd", "csgd", "casgd")
TEXT = make_text(60, 300, 10, seed=1)
FAR = make_shifted(60, 6, 4, seed=2, offset=np.array([1e6, 0, 3, -1e4, 0, 0]))  # three columns get a pivot
DATA = [TEXT, FAR]
NAMES = ["text", "far from the origin"]
LABELS = [np.where(np.random.default_rng(seed).random(60) < 0.5, 1.0, -1.0) for seed in range(3)]


def problem(data, rows=slice(None), loss="log", lam=0.1):
    return Problem(data.X[rows], data.y[rows], loss, lam)


def many(data, rows=slice(None)):
    first = problem(data, rows)
    return [first.variant(y=labels[rows]) for labels in LABELS]


def predictors(state):
    found = [state.last(), *([state.average()] if state.algorithm.endswith("asgd") else [])]
    return [one for each in found for one in (each if isinstance(each, list) else [each])]


def same(first, second) -> bool:
    pairs = zip(predictors(first), predictors(second), strict=True)
    return all(np.array_equal(one.w, other.w) and one.b == other.b for one, other in pairs)


@pytest.mark.parametrize("offset", [0, 3, 1e3, 1e8])
def test_the_centre_of_counted_rows_is_that_of_repeated_rows(offset):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        counts, offsets = rng.integers(0, 9, size=70), offset * rng.normal(size=5)
        X = make_shifted(70, 5, 3, seed, offset=offsets).X
        repeated = X[np.repeat(np.arange(70), counts)]
        found, wanted = find_centre(as_rows(X), counts.astype(float)), find_centre(as_rows(repeated))
        state = State(Problem(repeated, np.ones(counts.sum()), "squared", 1.0), "casgd")
        assert (found.pivot is None) == (wanted.pivot is None) == (state.pivot is None)
        if found.pivot is not None:
            np.testing.assert_array_equal(found.pivot, wanted.pivot)
            np.testing.assert_array_equal(found.pivot, state.pivot)
        np.testing.assert_array_equal(found.xbar, wanted.xbar)
        np.testing.assert_array_equal(found.xbar, state.xbar)
        assert not np.array_equal(found.xbar, find_centre(as_rows(X)).xbar)
    assert (found.pivot is None) == (offset == 0)


@pytest.mark.parametrize("counts", [[2] * 70, [1, 3] * 35, [1, 1, 7, 1, 1] * 14], ids=str)
def test_so_it_is_where_every_row_occurs(counts):
    X = make_shifted(70, 5, 3, seed=0, offset=[1e3, 0, 3.3, 0, 1e6]).X
    found, wanted = find_centre(as_rows(X), np.array(counts, float)), find_centre(as_rows(X[np.repeat(np.arange(70), counts)]))
    np.testing.assert_array_equal(found.pivot, wanted.pivot)
    np.testing.assert_array_equal(found.xbar, wanted.xbar)


def test_the_centre_of_weighted_rows_is_their_mean():
    weight = np.random.default_rng(0).random(60)
    for scale in (1, 1e300, 1e-300):
        centre = find_centre(as_rows(FAR.X), scale * weight)
        near = FAR.X.toarray() - centre.pivot  # exact, as the two are close to each other or the pivot is 0
        np.testing.assert_allclose(centre.xbar, np.average(near, axis=0, weights=weight), rtol=1e-13, atol=1e-16)
    assert abs(np.average(FAR.X.toarray() - find_centre(as_rows(FAR.X)).pivot, axis=0, weights=weight)).max() > 1e-3


def test_the_safe_t0_of_counted_rows_is_that_of_repeated_rows():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        counts = rng.integers(0, 5, size=50)
        X = make_shifted(50, 5, 3, seed, offset=[1e6, 0, 2, 0, 0]).X
        X.data[rng.integers(len(X.data), size=40)] = 0
        X.eliminate_zeros()  # about 4/5 of a column are stored, where the way of computing changes
        for centred in (False, True):
            again = Problem(X[np.repeat(np.arange(50), counts)], np.ones(counts.sum()), "squared", 0.1)
            found = safe_t0(Problem(X, np.ones(50), "squared", 0.1), centred, counts.astype(float))
            assert found == safe_t0(again, centred)
            if centred:
                assert found != safe_t0(Problem(X, np.ones(50), "squared", 0.1), centred)


@pytest.mark.parametrize("data", DATA, ids=NAMES)
@pytest.mark.parametrize("algorithm", ["csgd", "casgd"])
def test_a_centre_that_is_the_mean_changes_no_bit(algorithm, data):
    indices = draw_indices(60, 200, rng=3)
    for make, of in ((State, problem(data)), (States, many(data))):
        found = make(of, algorithm, centre=find_centre(as_rows(data.X))).run(indices)
        assert same(found, make(of, algorithm).run(indices))
        elsewhere = find_centre(as_rows(data.X[:20]))
        assert not same(found, make(of, algorithm, centre=elsewhere).run(indices))


@pytest.mark.parametrize("data", DATA, ids=NAMES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_rows_that_follow_and_rows_that_are_forgotten(algorithm, data):
    options = {"t0": 2.0, "centre": find_centre(as_rows(data.X[:20])) if algorithm.startswith("c") else None}
    if algorithm.endswith("asgd"):
        options["weights"] = polynomial(1, 2.0)
    orders = [draw_indices(20, 70, rng=0), draw_indices(40, 90, rng=1)]
    for make, of in ((State, problem), (States, many)):
        whole = make(of(data), algorithm, **options).run(np.r_[orders[0], 20 + orders[1]])
        first, rest = of(data, slice(0, 20)), of(data, slice(20, 60))
        parts = make(first, algorithm, **options).run(orders[0]).follow(rest).run(orders[1])
        assert same(parts, whole)
        forgetful = make(first, algorithm, **options).run(orders[0]).forget_rows()
        for copied in (pickle.loads(pickle.dumps(forgetful)), copy.deepcopy(forgetful), forgetful):
            assert same(copied, make(first, algorithm, **options).run(orders[0]))
            assert same(copied.follow(rest).run(orders[1]).forget_rows(), whole)
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
    assert same(pickle.loads(full).run([1, 2, 3]), state.run([1, 2, 3]))
    assert len(pickle.dumps(state.forget_rows())) < 10_000


@pytest.mark.parametrize("data", DATA, ids=NAMES)
def test_a_file_keeps_the_centre(data, tmp_path):
    indices = draw_indices(40, 100, rng=0)
    for make, of in ((State, problem), (States, many)):
        centre, rest = find_centre(as_rows(data.X[:20])), of(data, slice(20, 60))
        state = make(of(data, slice(0, 20)), "casgd", centre=centre).run(np.arange(20)).follow(rest).run(indices)
        state.save(tmp_path / "state.npz")
        again = make.load(tmp_path / "state.npz", rest)
        assert same(again, state) and same(again.run(indices), state.run(indices))
        assert same(again.follow(of(data)).run([59]), state.follow(of(data)).run([59]))


def test_what_does_not_fit_is_refused():
    centre, one = find_centre(as_rows(TEXT.X)), problem(TEXT)
    with pytest.raises(ValueError, match=r"casgd must have a centre to follow other rows.*find_centre"):
        State(one, "casgd").follow(one)
    with pytest.raises(ValueError, match="300 columns of the centre; got 6"):
        State(one, "casgd", centre=centre).follow(problem(FAR))
    with pytest.raises(ValueError, match="6 columns of the centre; got 300"):
        State(problem(FAR), "casgd", centre=find_centre(as_rows(FAR.X))).follow(one)
    with pytest.raises(ValueError, match="same loss and lam"):
        State(one, "casgd", centre=centre).follow(problem(TEXT, lam=0.2))
    with pytest.raises(TypeError, match=r"centre must be a Centre.*find_centre"):
        State(one, "casgd", centre=np.zeros(300))
    with pytest.raises(ValueError, match="centre must be None for asgd"):
        State(one, "asgd", centre=centre)
    for wrong in (Centre(None, np.zeros(3)), Centre(None, np.zeros(301)), Centre(np.zeros(3), np.zeros(300))):
        with pytest.raises(ValueError, match="300 columns of the problem"):
            States(many(TEXT), "casgd", centre=wrong)
    states = States(many(TEXT), "asgd")
    for wrong in (many(TEXT)[:2], [problem(TEXT, lam=0.2)] * 3):
        with pytest.raises(ValueError, match=r"problems must be 3|same loss and lam"):
            states.follow(wrong)
    with pytest.raises(ValueError, match="problems must be 3, with 6 columns at most"):
        States(many(FAR), "asgd").follow(many(TEXT))


def test_far_from_the_origin_a_follower_keeps_its_digits():
    rng = np.random.default_rng(0)
    near, y = rng.integers(-8, 9, size=(60, 3)) / 8.0, LABELS[0]
    offset = np.array([2.0**33, -(2.0**30), 0])  # near + offset is exact

    def trained(rows):
        first, rest = (Problem(rows[part], y[part], "log", 0.1) for part in (slice(0, 20), slice(20, 60)))
        state = State(first, "casgd", centre=find_centre(first.X)).run(np.arange(20)).follow(rest).run(np.arange(40))
        return state.average()

    found, wanted = trained(near + offset).predict(near + offset), trained(near).predict(near)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
    w = trained(near + offset)
    assert abs(Predictor(w.w, w.b).predict(near + offset) - wanted).max() > 1e-8  # b' alone does not hold them
