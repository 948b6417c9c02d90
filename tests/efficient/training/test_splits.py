"""Splits: equal rows stay together, as a plain draw would not keep them."""

import numpy as np
import pytest
import scipy.sparse as sp

from efficient.training.splits import folds, groups_of_equal_rows, hold_out
from reference.datasets import load_spam

X = load_spam().X
EQUAL = sp.csr_array(np.array([[1.0, 0], [2, 0], [1, 0], [0, 1], [2, 0], [1, 0], [0, 3], [4, 4]]))


def shared(groups, parts):
    """Count the groups with rows in more than one part."""
    return len(np.unique(np.stack([groups, parts]), axis=1).T) - len(np.unique(groups))


def test_groups_are_numbered_as_they_appear():
    assert groups_of_equal_rows(EQUAL).tolist() == [0, 1, 0, 2, 1, 0, 3, 4]
    with_zeros = sp.csr_array((np.array([1.0, 0, 1, -0.0, 1]), np.array([0, 1, 0, 2, 1]), np.array([0, 2, 4, 5])), shape=(3, 3))
    assert groups_of_equal_rows(with_zeros).tolist() == [0, 0, 1]
    assert with_zeros.nnz == 5
    assert len(np.unique(groups_of_equal_rows(X))) == X.shape[0] - 422


@pytest.mark.parametrize("seed", [0, 1])
def test_equal_rows_stay_together(seed):
    groups, held, fold = groups_of_equal_rows(X), hold_out(X, 0.2, seed), folds(X, 5, seed)
    assert abs(held.mean() - 0.2) < 0.01
    assert np.bincount(fold).min() > 0.18 * X.shape[0] and fold.max() == 4
    assert shared(groups, held) == shared(groups, fold) == 0
    assert shared(groups, np.random.default_rng(seed).random(X.shape[0]) < 0.2) > 50
    np.testing.assert_array_equal(hold_out(X, 0.2, seed), held)
    assert (hold_out(X, 0.2, seed + 1) != held).any() and (folds(X, 5, seed + 1) != fold).any()


def by_class(y, parts):
    """Count the rows of each class in each part."""
    return np.array([[np.sum((y == label) & (parts == part)) for part in np.unique(parts)] for label in np.unique(y)])


def test_classes_go_to_all_parts_alike_whatever_the_seed():
    rows, y = sp.csr_array(np.arange(1.0, 31)[:, np.newaxis]), np.repeat([7, 5, 6], [2, 11, 17])
    for seed in range(50):
        fold, held = folds(rows, 5, seed, y), hold_out(rows, 0.2, seed, y)
        assert np.ptp(by_class(y, fold), axis=1).max() == 1 and (np.bincount(fold) == 6).all()
        assert held.sum() == 6 and np.abs(by_class(y, held)[:, 1] - 0.2 * np.array([11, 17, 2])).max() < 1
        assert (by_class(y, hold_out(rows, 0.9, seed, y))[:, 0] == 1).all()
    careless = [by_class(y, folds(rows, 5, seed))[2].max() == 2 for seed in range(50)]
    assert 0 < sum(careless) < 50


def test_equal_rows_of_two_classes_count_for_the_rarer():
    rows, y = sp.csr_array(np.arange(24.0)[:, np.newaxis] // 2), np.tile([0, 0], 12)
    y[[1, 5]] = 1
    for seed in range(20):
        assert by_class(y, folds(rows, 2, seed, y))[1].tolist() == [1, 1]


def test_parts_that_cannot_be_made_are_refused():
    with pytest.raises(ValueError, match=r"got 0\.25 of 4 rows, 1 of them different"):
        hold_out(sp.csr_array(np.ones((4, 1))), 0.25, 0)
    with pytest.raises(ValueError, match=r"of each class; got 0\.9 of 8 rows, 5 of them"):
        hold_out(EQUAL, 0.9, 0, np.arange(8))
    assert hold_out(EQUAL, 0.01, 0).any()
    assert sorted(set(folds(EQUAL, 5, 0))) == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="different rows, 5; got 6"):
        folds(EQUAL, 6, 0)
