"""On the real sets the estimators come to the minimum of the F that they say they minimise, as scikit-learn's solvers do.

Objectives are compared in units of F(0), what the zero predictor pays. After 200 epochs at λ = 1e-3 the t-weighted average is
within 1e-3 of the minimum; measured 3e-5 (log) to 8e-4 (absolute).
"""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC, LinearSVR

import efficient
from efficient import CASGDClassifier, CASGDRegressor
from reference import Predictor, Problem, draw_indices, minimise, safe_t0
from reference.datasets import load_spam, load_tweets, with_sign_labels

LAM, TOLERANCE = 1e-3, 1e-3
CASES = [("spam", "hinge"), ("spam", "log"), *(("tweets", loss) for loss in ("hinge", "log", "squared", "absolute"))]


@cache
def problem_of(name, loss):
    data = load_spam(tfidf=True) if name == "spam" else load_tweets(tfidf=True)
    if name == "tweets" and loss in ("hinge", "log"):
        data = with_sign_labels(data)
    return Problem(data.X, data.y, loss, LAM)


def rows_of(problem):
    return sp.csr_array((problem.X.data, problem.X.indices, problem.X.indptr), shape=(problem.m, problem.n))


def trained(problem, **parameters):
    estimator = CASGDClassifier if problem.loss.binary else CASGDRegressor
    fresh = estimator(problem.loss.name, **{"alpha": problem.lam, "random_state": 0, **parameters})
    return fresh.fit(rows_of(problem), problem.y)


def objective(problem, fitted, centred=False):
    """F in units of F(0)."""
    zero = problem.objective(Predictor(np.zeros(problem.n), 0.0))
    return problem.objective(Predictor(np.ravel(fitted.coef_), fitted.intercept_[0]), centred) / zero


@pytest.mark.parametrize(("name", "loss"), CASES)
@pytest.mark.parametrize("algorithm", ["asgd", "casgd"])
def test_the_certified_minimum_is_reached(algorithm, name, loss):
    problem, centred = problem_of(name, loss), algorithm == "casgd"
    zero = problem.objective(Predictor(np.zeros(problem.n), 0.0))
    minimum = minimise(problem, centred)
    least, most = (minimum.value - minimum.gap) / zero, minimum.value / zero + TOLERANCE
    assert least <= objective(problem, trained(problem, algorithm=algorithm, n_epochs=200), centred) <= most
    for wrong in ({"n_epochs": 1}, {"alpha": 2 * LAM}):  # too few steps, or those of another F
        assert objective(problem, trained(problem, algorithm=algorithm, **wrong), centred) > most


def of_scikit_learn(problem, lam):
    """The minimiser of F by a solver of another kind, on rows [x, 1]."""
    rows = sp.csr_matrix(sp.hstack([rows_of(problem), np.ones((problem.m, 1))]))
    with_c = {"fit_intercept": False, "C": 1 / (lam * problem.m), "tol": 1e-6, "max_iter": 20_000}
    solver = {
        "hinge": lambda: LinearSVC(loss="hinge", random_state=0, **with_c),
        "log": lambda: LogisticRegression(**with_c),
        "absolute": lambda: LinearSVR(epsilon=0, random_state=0, **with_c),
        "squared": lambda: Ridge(alpha=lam * problem.m, fit_intercept=False, solver="lsqr", tol=1e-8),
    }[problem.loss.name]()
    solution = solver.fit(rows, problem.y).coef_.ravel()
    solver.coef_, solver.intercept_ = solution[:-1], solution[-1:]
    return solver


@pytest.mark.parametrize(("name", "loss"), CASES)
def test_the_solvers_of_scikit_learn_find_the_same_objective(name, loss):
    problem = problem_of(name, loss)
    ours = objective(problem, trained(problem, algorithm="asgd", n_epochs=200))
    assert abs(ours - objective(problem, of_scikit_learn(problem, LAM))) < TOLERANCE
    assert abs(ours - objective(problem, of_scikit_learn(problem, 2 * LAM))) > TOLERANCE  # another scale of C or alpha


@pytest.mark.parametrize("name", ["spam", "tweets"])
@pytest.mark.parametrize("algorithm", ["sgd", "asgd", "csgd", "casgd"])
def test_the_estimators_are_the_library_to_the_bit(algorithm, name):
    loss = "hinge" if name == "spam" else "squared"
    problem = problem_of(name, loss)
    indices = draw_indices(problem.m, 2 * problem.m, rng=0)
    t0 = 0 if loss == "hinge" else safe_t0(problem, algorithm.startswith("c"))
    predictor = getattr(efficient, algorithm)(problem, indices, t0=t0)
    fitted = trained(problem, algorithm=algorithm, average="uniform", n_epochs=2)
    np.testing.assert_array_equal(np.ravel(fitted.coef_), predictor.w)
    assert fitted.intercept_ == [predictor.b]
    other = trained(problem, algorithm=algorithm, average="uniform", n_epochs=2, random_state=1)
    assert (np.ravel(other.coef_) != predictor.w).any()
