"""The estimators against others that should know: the algorithms, the certified minimum, and scikit-learn's solvers.

`python -m proofs.held_out` prints what they predict on rows held out, in full; here one fifth of each set has to do.
"""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier, SGDRegressor
from sklearn.svm import LinearSVC, LinearSVR

import efficient
from efficient import CASGDClassifier, CASGDRegressor
from proofs.held_out import score, splits
from reference import Predictor, Problem, draw_indices, minimise, safe_t0
from reference.averages import polynomial
from reference.datasets import load_spam, load_tweets

KIND = {"hinge": CASGDClassifier, "log": CASGDClassifier, "squared": CASGDRegressor, "absolute": CASGDRegressor}
LOSSES = sorted(KIND)
ALGORITHMS = ("sgd", "asgd", "csgd", "casgd")


@cache
def data(loss):
    """Spam for classification and tweets for regression."""
    return load_spam(tfidf=True) if KIND[loss] is CASGDClassifier else load_tweets(tfidf=True)


@cache
def problem(loss, lam):
    return Problem(data(loss).X, data(loss).y, loss, lam)


def predictor(estimator):
    return Predictor(np.ravel(estimator.coef_), estimator.intercept_[0])


@pytest.mark.parametrize("average", ["weighted", "uniform"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("loss", LOSSES)
def test_given_the_same_indices_they_are_the_algorithms(loss, algorithm, average):
    X, y, _ = data(loss)
    of = problem(loss, 1e-3)
    run = {"t0": safe_t0(of, algorithm.startswith("c")) if loss == "squared" else 0}
    if algorithm.endswith("asgd") and average == "weighted":
        run["weights"] = polynomial(1, run["t0"])
    options = {"algorithm": algorithm, "average": average, "n_epochs": 2, "random_state": 5}
    for sampling in ("iid", "permuted", "cyclic"):
        found = KIND[loss](loss, 1e-3, sampling=sampling, **options).fit(X, y)
        wanted = getattr(efficient, algorithm)(of, draw_indices(of.m, 2 * of.m, 5, sampling), **run)
        np.testing.assert_array_equal(np.ravel(found.coef_), wanted.w)
        assert found.intercept_[0] == wanted.b
        other = getattr(efficient, algorithm)(of, draw_indices(of.m, 2 * of.m, 6, sampling), **run)
        assert sampling == "cyclic" or not np.array_equal(other.w, wanted.w)


LAM = {"hinge": 1e-3, "log": 1e-3, "squared": 1e-3, "absolute": 3e-3}
CLOSE = 2e-3
"""How far above the minimum, in units of F(0) − min F, two hundred epochs may end."""


@cache
def trained(loss, algorithm):
    X, y, _ = data(loss)
    return KIND[loss](loss, LAM[loss], algorithm=algorithm, n_epochs=200, random_state=0).fit(X, y)


@pytest.mark.parametrize("algorithm", ["asgd", "casgd"])
@pytest.mark.parametrize("loss", LOSSES)
def test_they_reach_the_certified_minimum(loss, algorithm):
    of, centred = problem(loss, LAM[loss]), algorithm == "casgd"
    minimum = minimise(of, centred)
    height = of.objective(Predictor(np.zeros(of.n), 0.0), centred) - minimum.value
    excess = of.objective(predictor(trained(loss, algorithm)), centred) - minimum.value
    assert -minimum.gap <= excess < CLOSE * height
    print(f"{loss} {algorithm}: {excess / height:.1e} of F(0) − min F above the minimum")
    hasty = KIND[loss](loss, LAM[loss], algorithm=algorithm, n_epochs=1, random_state=0).fit(*data(loss)[:2])
    assert of.objective(predictor(hasty), centred) - minimum.value > CLOSE * height  # one epoch is not enough


def solved(loss, X, y, lam):
    """scikit-learn's minimiser of the same F on the rows [x, 1], whose last weight is the bias."""
    m = len(y)
    solver = {
        "hinge": LinearSVC(loss="hinge", C=1 / (lam * m), fit_intercept=False, tol=1e-6, max_iter=100_000),
        "log": LogisticRegression(C=1 / (lam * m), fit_intercept=False, tol=1e-8, max_iter=10_000),
        "squared": Ridge(alpha=lam * m, fit_intercept=False, solver="sparse_cg", tol=1e-10),
        "absolute": LinearSVR(epsilon=0, C=1 / (lam * m), fit_intercept=False, tol=1e-6, max_iter=100_000),
    }[loss]
    w = np.ravel(solver.fit(sp.hstack([X, np.ones((m, 1))]).tocsr(), y).coef_)
    return Predictor(w[:-1], w[-1])


@pytest.mark.parametrize("loss", LOSSES)
def test_they_agree_with_scikit_learns_solvers(loss):
    X, y, _ = data(loss)
    of = problem(loss, LAM[loss])
    theirs, at_zero = of.objective(solved(loss, X, y, LAM[loss])), of.objective(Predictor(np.zeros(of.n), 0.0))
    ours = of.objective(predictor(trained(loss, "asgd")))
    assert abs(ours - theirs) < CLOSE * (at_zero - theirs)
    other = of.objective(solved(loss, X, y, 3 * LAM[loss]))
    assert abs(ours - other) > CLOSE * (at_zero - theirs)  # another λ, such as C = 1/(3λm), would be noticed


def test_by_default_they_classify_as_well_as_sgd_classifier():
    split = splits("spam")[0]
    ours, theirs = (
        np.mean([score(kind(random_state=seed), split) for seed in range(3)]) for kind in (CASGDClassifier, SGDClassifier)
    )
    print(f"spam: {ours:.2%} against {theirs:.2%}")
    assert ours > theirs - 0.01 and theirs > 0.97
    assert score(CASGDClassifier(alpha=0.1, random_state=0), split) < theirs - 0.01  # another alpha would be noticed


def test_by_default_they_rate_at_least_as_well_as_sgd_regressor():
    ours, theirs = (score(kind(random_state=0), splits("tweets")[0]) for kind in (CASGDRegressor, SGDRegressor))
    print(f"tweets: R² {ours:.3f} against {theirs:.3f}")
    assert ours > theirs
    assert score(CASGDRegressor(alpha=0.1, random_state=0), splits("tweets")[0]) < theirs


@pytest.mark.parametrize("name", ["spam", "tweets"])
def test_no_row_is_both_trained_on_and_held_out(name):
    def different(X):
        return {(row.indices.tobytes(), row.data.tobytes()) for row in (X[i : i + 1] for i in range(X.shape[0]))}

    for split in splits(name):
        trained_on, held_out = different(split.X), different(split.X_held_out)
        assert not trained_on & held_out
        assert len(trained_on) == len(set(split.repeats)) < len(split.y)
    everything = load_spam().y if name == "spam" else load_tweets().y
    assert sorted(np.concatenate([split.y_held_out for split in splits(name)])) == sorted(everything)
