"""In float64 the two sides agree to rounding, on generic data; the golden values and the hard inputs of other projects.

The bound is that of the ledger: each side adds T terms, and an addition rounds by at most eps of the largest partial sum,
so T · eps relative to the largest number on the way. On generic data no margin is within rounding of a kink.
"""

import warnings
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

import efficient
import reference
from proofs.compared.iterates import EPS
from proofs.conformance import ALGORITHM
from reference import LOSSES, Problem, draw_indices
from reference.datasets import make_generic, make_shifted, make_text

X4 = sp.csr_array(np.array([[1.0, 0, 2], [0, 3, 0], [0, 0, 0], [4, 0, 1]]))
Y4 = np.array([1.0, -1, 1, -1])
PI = [0, 1, 2, 3, 0, 2]

GOLDEN = {  # lam = 0.5: w_1, w_2, w_3, b
    ("sgd", "absolute"): (-0.666666666667, -1, 1, 0.666666666667),
    ("sgd", "squared"): (-1.27777777778, -3, 10.6666666667, 2.96666666667),
    ("sgd", "hinge"): (-0.666666666667, -1, 1, 0.666666666667),
    ("sgd", "log"): (-0.752066869134, -0.73105857863, 0.600117309966, 0.249390609192),
    ("asgd", "absolute"): (0.116666666667, -1.45, 1.67222222222, 0.622222222222),
    ("asgd", "squared"): (-1.66296296296, -4.35, 4.82777777778, 1.09444444444),
    ("asgd", "hinge"): (0.116666666667, -1.45, 1.67222222222, 0.622222222222),
    ("asgd", "log"): (-0.229142922399, -1.06003493901, 0.839335634947, 0.176427686275),
    ("csgd", "squared"): (-1.09945605, 0.62508996, 0.70767053, 1.70796306927999),
    ("casgd", "absolute"): (-1.07777777778, 0.733333333333, 0.955555555556, 1.03611111111),
    ("casgd", "squared"): (-0.629869634134, 1.48606184853, 1.12433292601, -0.0102081696192),
    ("casgd", "hinge"): (-1.16527777778, -0.695833333333, 0.731944444444, 2.35729166667),
    ("casgd", "log"): (-0.514407691656, -0.591595503856, 0.486594248311, 1.10055487295),
}

CASES = {  # data, lam; the squared loss only where its first steps of 1/(λt) do not overflow
    "short rows": (make_generic(50, 40, 3, seed=1), 0.5),
    "long rows": (make_generic(60, 30, 20, seed=2), 1.0),
    "dense": (make_shifted(40, 10, 5, seed=3, offset=0.5), 1.0),
    "text": (make_text(200, 1000, 20, seed=4), 0.1),
    "text, small λ": (make_text(200, 1000, 20, seed=5), 1e-3),
    "large λ": (make_generic(50, 40, 3, seed=6), 1e3),
}


@pytest.mark.parametrize(("algorithm", "loss"), GOLDEN)
@pytest.mark.parametrize("side", [reference, efficient])
def test_golden_values(side, algorithm, loss):
    predictor = getattr(side, algorithm)(Problem(X4, Y4, loss, 0.5), PI)
    np.testing.assert_allclose([*predictor.w, predictor.b], GOLDEN[algorithm, loss], rtol=2e-8)


@pytest.mark.parametrize(
    ("case", "loss"), [(case, loss) for case in CASES for loss in LOSSES if loss != "squared" or CASES[case][1] >= 0.1]
)
@pytest.mark.parametrize(("average", "centred"), ALGORITHM)
def test_sparse_agrees_with_dense(average, centred, case, loss):
    (X, y, _), lam = CASES[case]
    problem = Problem(X, y, loss, lam)
    indices = draw_indices(problem.m, 600, rng=3)
    state = efficient.State(problem, ALGORITHM[average, centred])
    scale, total_w, total_b = 0.0, 0, 0
    for step in reference.iterates(problem, indices, centred=centred):
        state.run(indices[step.t - 1 : step.t])
        scale = max(scale, abs(step.p), abs(step.predictor.b), abs(step.predictor.w).max())
        assert abs(state.p - step.p) <= 600 * EPS * scale
        total_w, total_b = total_w + step.predictor.w, total_b + step.predictor.b
    found = state.average() if average else state.last()
    w, b = (total_w / 600, total_b / 600) if average else (step.predictor.w, step.predictor.b)
    assert abs(found.w - w).max() <= 600 * EPS * scale
    assert abs(found.b - b) <= 600 * EPS * scale


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("algorithm", ALGORITHM.values())
def test_sparse_and_dense_input_train_the_same_model(algorithm, loss):
    from_sparse, from_dense = (getattr(efficient, algorithm)(Problem(X, Y4, loss, 0.5), PI) for X in (X4, X4.toarray()))
    np.testing.assert_array_equal(from_sparse.w, from_dense.w)
    assert from_sparse.b == from_dense.b


@pytest.mark.parametrize(
    ("loss", "lam"),
    [*product(("hinge", "log"), (1e-6, 1e-2, 1.0, 1e3)), *product(["squared"], (1e-2, 1.0, 1e3))],
)
@pytest.mark.parametrize("algorithm", ALGORITHM.values())
def test_a_feature_seen_only_at_the_first_step(algorithm, loss, lam):
    # the classic place where an implementation that updates lazily forgets to scale
    rng = np.random.default_rng(0)
    X = rng.random((30, 12)) * (rng.random((30, 12)) < 0.2)
    X[:, 5] = 0
    X[1:, 7], X[0, 7] = 0, 3
    y = np.where(rng.random(30) < 0.5, -1.0, 1.0)
    indices = np.r_[0, rng.integers(1, 30, 199)]
    problem = Problem(sp.csr_array(X), y, loss, lam)
    found, wanted = getattr(efficient, algorithm)(problem, indices), getattr(reference, algorithm)(problem, indices)
    scale = max(1.0, max(abs(step.predictor.w).max() for step in reference.iterates(problem, indices)))
    assert abs(found.w - wanted.w).max() <= 200 * EPS * scale * max(1, 1 / lam)
    assert found.w[5] == 0


@pytest.mark.parametrize("algorithm", ALGORITHM.values())
def test_float32_rows_keep_float64_sums(algorithm):
    X32 = sp.csr_array(X4.astype(np.float32))  # these values are exact in float32
    indices = np.arange(20_000) % 4
    single, double = (getattr(efficient, algorithm)(Problem(X, Y4, "log", 0.5), indices) for X in (X32, X4))
    np.testing.assert_array_equal(single.w, double.w)
    assert single.b == double.b
    assert single.w.dtype == np.float64


def test_rows_that_are_canonical_csr_are_used_where_they_lie():
    for dtype in (np.float32, np.float64):
        for index in (np.int32, np.int64):
            X = sp.csr_array(X4.astype(dtype))
            X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
            state = efficient.State(Problem(X, Y4, "log", 0.5), "asgd")
            assert np.shares_memory(state._X.data, X.data)
            assert np.shares_memory(state._X.indices, X.indices)


def test_the_mean_of_a_long_float32_column():
    X = sp.csr_array(np.full((1_000_000, 1), 0.1, np.float32))
    problem = Problem(X, np.ones(1_000_000), "hinge", 1.0)
    assert abs(problem.xbar[0] - 0.1) < 1e-8
    state = efficient.State(problem, "casgd")
    assert state.pivot is not None  # a constant column is moved to 0 before training
    assert abs(state.pivot[0] + state.xbar[0] - 0.1) < 1e-8


@pytest.mark.parametrize("side", [reference, efficient])
@pytest.mark.parametrize("algorithm", ALGORITHM.values())
def test_overflow_names_the_step(side, algorithm):
    problem = Problem(np.full((1, 4), 30.0), [1.0], "squared", 1e-6)
    if algorithm in ("csgd", "casgd"):  # a single row is its own mean
        problem = Problem([[30.0] * 4, [-30.0] * 4], [1.0, 1.0], "squared", 1e-6)
    with pytest.raises(FloatingPointError, match=r"overflowed float64 by step \d+.*larger lam"):
        getattr(side, algorithm)(problem, np.arange(400) % problem.m)


@pytest.mark.parametrize("loss", ["absolute", "hinge", "log"])
@pytest.mark.parametrize("algorithm", ALGORITHM.values())
def test_bounded_derivatives_stay_finite(algorithm, loss):
    with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
        warnings.simplefilter("error")
        for X, lam in ((np.full((1, 4), 30.0), 1e-6), (X4, 1e-9)):
            y = Y4[: X.shape[0]]
            predictor = getattr(efficient, algorithm)(Problem(X, y, loss, lam), np.arange(400) % len(y))
            assert np.isfinite(predictor.w).all() and np.isfinite(predictor.b)


def test_a_users_own_loss():
    def huber_derivative(p, y):
        return max(-1.0, min(1.0, p - y))

    huber = reference.Loss("huber", lambda p, y: 0.5 * (p - y) ** 2 if abs(p - y) <= 1 else abs(p - y) - 0.5, huber_derivative)
    problem = Problem(X4, [0.3, -2.0, 1.7, 0.0], huber, 0.5)
    for algorithm in ALGORITHM.values():
        found, wanted = getattr(efficient, algorithm)(problem, PI), getattr(reference, algorithm)(problem, PI)
        np.testing.assert_allclose([*found.w, found.b], [*wanted.w, wanted.b], rtol=1e-13)


def test_a_loss_that_cannot_be_compiled_is_refused_with_the_reason():
    opaque = reference.Loss("opaque", lambda p, y: 0.0, lambda p, y: {}[p])
    with pytest.raises(TypeError, match="derivative must be scalar arithmetic"):
        efficient.sgd(Problem(X4, Y4, opaque, 0.5), PI)


@pytest.mark.parametrize("algorithm", ["asgd", "casgd"])
def test_vectors_that_do_not_lie_side_by_side_are_refused(algorithm):
    # the compiled loops are told how far it is from one entry to the next; elsewhere they would write where nothing is
    state = efficient.State(Problem(X4, Y4, "log", 0.5), algorithm)
    state._room = np.asfortranarray(state._room)
    with pytest.raises(ValueError, match="side by side"):
        state.run(PI)
