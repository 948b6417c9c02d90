"""safe_t0: R²/λ by hand, with weights, centred, far from the origin, and in little memory; it tames the squared loss."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import efficient
import reference
from efficient.runs.algorithms import ALGORITHMS
from reference import Problem, draw_indices, safe_t0
from reference.datasets import load_tweets


def test_safe_t0_by_hand():
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


@pytest.mark.parametrize("lam", [0.5, Fraction(1, 2)])
def test_safe_t0_leaves_out_examples_that_are_never_drawn(lam):
    X, drawn = np.array([[9.0, 9], [1, 0], [0, 3], [2, 2]]), np.array([0, 0.5, 1, 0.25])
    for weight in ([1, 1, 1, 1], [3, 5, 0, 2]):
        problem = Problem(X, np.ones(4), "squared", lam, weight)
        few = Problem(X[1:], np.ones(3), "squared", lam, weight[1:])
        assert safe_t0(problem, sampling_weight=drawn) == safe_t0(few) < safe_t0(problem)
    xbar = drawn @ X / drawn.sum()
    wanted = 1 + max(((x - xbar) ** 2).sum() for x in X[1:])
    assert safe_t0(Problem(X, np.ones(4), "squared", 0.5), True, drawn) == pytest.approx(wanted / 0.5, rel=1e-14)


def test_safe_t0_of_sparse_rows_takes_no_more_memory_than_they_do():
    problem = Problem(sp.eye_array(2000, format="csr"), np.ones(2000), "squared", 0.5)
    tracemalloc.start()
    safe_t0(problem, centred=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2000 * 2000


def test_safe_t0_of_float32_rows_is_computed_in_float64():
    X = sp.csr_array(np.array([[1e25, 0.1], [2e25, 0]], dtype=np.float32))
    narrow, wide = (Problem(rows, [1, 1], "squared", 0.5) for rows in (X, X.astype(np.float64)))
    assert safe_t0(narrow) == safe_t0(wide)
    assert safe_t0(narrow, centred=True) == safe_t0(wide, centred=True)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_safe_t0_tames_the_squared_loss(algorithm):
    X, y, _ = load_tweets(tfidf=True)
    problem, indices = Problem(X, y, "squared", 1e-4), draw_indices(len(y), 20_000, rng=0)
    with pytest.raises(FloatingPointError):
        getattr(efficient, algorithm)(problem, indices)
    centred = ALGORITHMS[algorithm].centred
    predictor = getattr(efficient, algorithm)(problem, indices, t0=safe_t0(problem, centred))
    start = problem.objective(reference.Predictor(np.zeros(problem.n), 0.0), centred)
    assert problem.objective(predictor, centred) < start


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("weight", [None, np.arange(60) % 3, np.linspace(0, 1, 60)], ids=["equal", "whole", "shares"])
def test_safe_t0_of_many_blocks_has_the_bits_of_one(monkeypatch, centred, weight):
    X = np.random.default_rng(0).standard_normal((60, 5)) * (
        [1, 1, 0, 1, 1] * np.eye(5)[0] + (np.arange(300).reshape(60, 5) % 2)
    )
    problem = Problem(X, np.zeros(60), "squared", 0.1)
    whole = safe_t0(problem, centred, weight)
    vars(problem).pop("xbar", None)
    monkeypatch.setattr("reference.rows.BLOCK", 7)
    assert safe_t0(problem, centred, weight) == whole
