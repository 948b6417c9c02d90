"""tf-idf and scaling: those of scikit-learn, fitted to the training rows, applied without scikit-learn."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import MaxAbsScaler

from efficient.cli.features import Transform, fit_transform_to
from reference.datasets import load_spam


def test_tfidf_on_the_words_of_the_training_is_that_of_scikit_learn():
    X, _, _ = load_spam()
    part, other = X[:500], X[500:900]
    transform = fit_transform_to(part, "tfidf")
    known = np.flatnonzero(np.bincount(part.indices, minlength=X.shape[1]))
    assert len(known) < X.shape[1]
    theirs = TfidfTransformer().fit(part[:, known])
    for rows in (part, other):
        ours = transform.apply(rows)
        np.testing.assert_allclose(ours[:, known].toarray(), theirs.transform(rows[:, known]).toarray(), atol=1e-15)
        assert abs(ours).sum() == pytest.approx(abs(ours[:, known]).sum())  # words that are unknown in training are left out


def test_scale_is_that_of_scikit_learn_to_the_bit():
    X = sp.csr_array(sp.random_array((50, 20), density=0.2, rng=np.random.default_rng(0), format="csr") - sp.eye_array(50, 20))
    transform, theirs = fit_transform_to(X[:40], "scale"), MaxAbsScaler().fit(X[:40])
    for rows in (X[:40], X[40:]):
        np.testing.assert_array_equal(transform.apply(rows).toarray(), theirs.transform(rows).toarray())
        assert transform.apply(rows).nnz == rows.nnz


def test_fit_transform_to_ignores_stored_zeros_and_leaves_the_rows_alone():
    X = sp.csr_array((np.array([3.0, 0, -4, 1, 2]), np.array([0, 1, 2, 0, 2]), np.array([0, 3, 4, 5, 5])), shape=(4, 4))
    weight = np.log(5 / 3) + 1
    transform = fit_transform_to(X, "tfidf")
    np.testing.assert_allclose(transform.factor, [weight, 0, weight, 0], rtol=1e-15)
    by_hand = [[0.6, 0, -0.8, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0] * 4]
    np.testing.assert_allclose(transform.apply(X).toarray(), by_hand, rtol=1e-15)
    assert fit_transform_to(X, "scale").factor.tolist() == [1 / 3, 1, 1 / 4, 1]
    assert fit_transform_to(X, "none").apply(X) is X
    assert X.nnz == 5


@pytest.mark.parametrize("name", ["tfidf", "scale"])
def test_apply_keeps_extreme_values_finite_or_refuses_them(name):
    X = sp.csr_array(np.array([[3e-320, 0, 4e-320], [3e300, 0, -4e300], [0, 7e200, 0], [0, 0, 5e-324], [0, 0, 0]]))
    with np.errstate(all="ignore"):
        transform = fit_transform_to(X, name)
        data = transform.apply(X)
        assert np.isfinite(data.data).all() and abs(data.data).max() <= 1 + 1e-15
        if name == "tfidf":
            lengths = np.sqrt((data.toarray() ** 2).sum(axis=1))
            np.testing.assert_allclose(lengths, [1, 1, 1, 1, 0], rtol=1e-3)  # few digits are left of the smallest
        with pytest.raises(FloatingPointError, match="transformation scale"):
            Transform("scale", np.array([1.0, 1e200])).apply(sp.csr_array([[1, 1e200]]))
