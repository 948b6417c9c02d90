"""Shipped data are what their README says; the makers keep their promises; files are read or refused."""

import hashlib
import re
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from reference import Problem, draw_indices, iterates
from reference.datasets import (
    FOLDER,
    load_spam,
    load_tweets,
    make_generic,
    make_shifted,
    make_text,
    make_ties,
    with_sign_labels,
)
from reference.rows import as_rows

MAKERS = [make_generic, make_ties, make_shifted, make_text]
SIZES = [(1, 4, 2), (30, 8, 3), (200, 5000, 20)]


def assert_canonical(X):
    """`as_rows` uses the matrix without a copy, as it does for canonical CSR of floats only."""
    assert type(X) is sp.csr_array and X.dtype == np.float64
    rows = as_rows(X)
    assert np.shares_memory(rows.data, X.data) and np.shares_memory(rows.indices, X.indices)


def row_norms(X):
    return np.sqrt((X * X).sum(axis=1))


def repeated_rows(X):
    """Count the rows that equal an earlier one."""
    rows = [(X.indices[a:b].tobytes(), X.data[a:b].tobytes()) for a, b in zip(X.indptr, X.indptr[1:], strict=False)]
    return len(rows) - len(set(rows))


# the makers


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("make", MAKERS)
def test_makers_are_seeded_and_canonical(make, size):
    first, again, other = make(*size, seed=3), make(*size, seed=3), make(*size, seed=4)
    for attribute in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(first.X, attribute), getattr(again.X, attribute))
    np.testing.assert_array_equal(first.y, again.y)
    if size[0] > 1:
        assert not np.array_equal(first.X.toarray(), other.X.toarray())
    assert first.X.shape == size[:2] and first.y.shape == size[:1] and first.y.dtype == np.float64
    assert first.X.indices.dtype == np.int32 and first.X.indptr.dtype == np.int32
    assert set(first.y) <= {-1.0, 1.0}
    assert_canonical(first.X)


@pytest.mark.parametrize("make", [make_generic, make_ties])
def test_rows_have_exactly_k_entries(make):
    for k in (0, 1, 7, 12):
        assert set(np.diff(make(50, 12, k, seed=0).X.indptr)) == {k}


def test_columns_are_drawn_uniformly():
    counts = np.bincount(make_generic(20_000, 8, 3, seed=0).X.indices)
    assert abs(counts - 7500).max() < 5 * np.sqrt(7500 * 5 / 8)


def test_generic_labels():
    classes, reals = make_generic(1000, 40, 5, seed=0), make_generic(1000, 40, 5, seed=0, binary=False)
    np.testing.assert_array_equal(classes.X.toarray(), reals.X.toarray())
    assert classes.y.sum() == 0 and make_generic(999, 40, 5, seed=0).y.sum() == 1
    assert len(set(reals.y)) == 1000


@pytest.mark.parametrize(("n", "columns"), [(4, 1), (9, 1), (30, 3), (39, 3)])
def test_real_labels_are_a_model_of_a_tenth_of_the_columns_and_noise_of_half_its_spread(n, columns):
    m = 4000
    X, y, _ = make_generic(m, n, n, seed=2, binary=False)
    weights = np.linalg.lstsq(X.toarray(), y, rcond=None)[0]
    noise = y - X @ weights
    model = np.where(abs(weights) > 6 * noise.std() / np.sqrt(m), weights, 0)
    assert np.count_nonzero(model) == columns
    assert noise.std() == pytest.approx(0.5 * (X @ model).std(), rel=0.05)


@pytest.mark.parametrize("loss", ["hinge", "absolute"])
def test_ties_lie_exactly_at_the_kink(loss):
    def ties(dataset):
        indices = draw_indices(20, 60)
        steps = iterates(Problem(*dataset[:2], loss, Fraction(1)), indices)
        # labels are -1 and +1, hence py = 1 is the kink of the hinge and, being p = y, of the absolute loss
        return sum(step.p * Fraction(dataset.y[i]) == 1 for step, i in zip(steps, indices, strict=True))

    assert sum(ties(make_ties(20, 5, 2, seed)) for seed in range(4)) >= 4
    assert sum(ties(make_generic(20, 5, 2, seed)) for seed in range(4)) == 0


@pytest.mark.parametrize("k", [2, 3])
def test_ties_are_signs_labelled_by_a_model_of_signs(k):
    models, found = np.array(list(product([-1, 1], repeat=4))), []
    for seed in range(3):
        X, y, _ = make_ties(60, 4, k, seed)
        assert set(X.data) == {-1.0, 1.0} and set(y) == {-1.0, 1.0}
        margins = X @ models.T
        matching = (np.where(margins >= 0, 1, -1) == y[:, np.newaxis]).all(axis=0)
        assert matching.sum() == 1 and (margins[:, matching] == 0).any() == (k == 2)
        found.append(models[matching][0])
    assert len(np.unique(found, axis=0)) > 1 and set(np.ravel(found)) == {-1, 1}


def test_shifted_is_generic_plus_a_vector():
    generic, offset = make_generic(30, 8, 3, seed=1, binary=False), np.arange(8.0)
    for shift in (0.0, 1000.0, offset):
        shifted = make_shifted(30, 8, 3, seed=1, offset=shift, binary=False)
        np.testing.assert_array_equal(shifted.X.toarray(), generic.X.toarray() + shift)
        np.testing.assert_array_equal(shifted.y, generic.y)
    by_default = make_shifted(30, 8, 3, seed=1).X.toarray()
    np.testing.assert_array_equal(by_default, make_shifted(30, 8, 3, seed=1, offset=1).X.toarray())


def test_text_looks_like_text():
    X, y, _ = make_text(3000, 20_000, 50, seed=0)
    assert X.data.min() > 0
    assert abs(X.nnz / 3000 - 50) < 1
    np.testing.assert_allclose(row_norms(X), 1, rtol=1e-14)
    assert y.sum() == 0
    counts = np.sort(np.bincount(X.indices, minlength=20_000))[::-1]
    assert counts[0] > 0.9 * 3000  # the most popular word is in nearly every row,
    assert np.median(counts) < 10  # most words are in almost none,
    slope = np.polyfit(np.log(np.arange(50, 1000)), np.log(counts[50:1000]), 1)[0]
    assert abs(slope + 1.1) < 0.1  # and between them is Zipf's law
    assert np.argmax(np.bincount(X.indices)) > 0  # popular columns do not come first


@pytest.mark.parametrize("seed", range(8))
def test_an_entry_of_text_is_a_count_times_a_rarity(seed):
    X = make_text(40, 12, 4, seed).X.toarray()
    rarity = np.log((1 + 40) / (1 + (X > 0).sum(axis=0))) + 1
    counts = X / rarity
    counts /= np.where(X > 0, counts, np.inf).min(axis=1, keepdims=True)  # in most documents a word occurs but once
    whole = (abs(counts - np.round(counts)) < 1e-12).all(axis=1)
    assert whole.sum() > 30
    lengths = np.round(counts[whole]).sum(axis=1)
    assert (lengths.max() % lengths == 0).all() and np.median(lengths) == lengths.max()  # all are equally long


def test_words_are_drawn_by_zipfs_law():
    m, n = 4000, 6
    share = np.arange(1, n + 1) ** -1.1
    share /= share.sum()
    for k in (1, 3):
        X = make_text(m, n, k, seed=0).X
        length = {1: 1, 3: 5}[k]  # words of a document, of which k different ones are expected, about
        expected = 1 - (1 - share) ** length
        assert abs(expected.sum() - k) < 0.3
        found = np.sort(np.bincount(X.indices, minlength=n))[::-1]
        assert (abs(found - m * expected) < 5 * np.sqrt(m * expected * (1 - expected))).all()


def test_labels_of_text_can_be_learned():
    """Assert that a linear model explains them much better than chance, and not perfectly."""
    X, y, _ = make_text(2000, 500, 20, seed=0)
    weights = np.linalg.lstsq(X.toarray(), y, rcond=None)[0]
    assert 0.75 < np.mean(np.sign(X @ weights) == y) < 1


@pytest.mark.parametrize("size", [(0, 4, 2), (3, 4, 5), (3, 4, -1)])
@pytest.mark.parametrize("make", MAKERS)
def test_makers_refuse_impossible_sizes(make, size):
    with pytest.raises(ValueError, match=f"k = {size[2]}"):
        make(*size, seed=0)


@pytest.mark.parametrize("k", [0, 3])
def test_text_is_sparse(k):
    with pytest.raises(ValueError, match=f"k = {k}, n = 4"):
        make_text(3, 4, k, seed=0)


# the two real sets


@pytest.mark.parametrize("name", ["spam.npz", "tweets.npz"])
def test_files_are_those_of_the_readme(name):
    printed = re.search(rf"`{re.escape(name)}` .* ([0-9a-f]{{64}}) \|", (FOLDER / "README.md").read_text())
    assert printed is not None
    assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == printed[1]


@pytest.mark.parametrize(
    ("load", "m", "n", "k", "repeated"), [(load_spam, 6046, 20539, 146.5, 422), (load_tweets, 4200, 3324, 10.5, 178)]
)
def test_real_sets(load, m, n, k, repeated):
    X, y, vocabulary = load()
    assert X.shape == (m, n) and y.shape == (m,) and vocabulary.shape == (n,)
    assert round(X.nnz / m, 1) == k
    assert y.dtype == np.float64 and vocabulary.dtype.kind == "U"
    assert list(vocabulary) == sorted(set(vocabulary))
    assert X.data.min() == 1 and np.array_equal(X.data, np.round(X.data))
    assert np.sum(np.diff(X.indptr) == 0) == 1
    assert repeated_rows(X) == repeated
    assert_canonical(X)


def test_labels_of_the_real_sets():
    spam, tweets = load_spam(), load_tweets()
    assert [np.sum(spam.y == label) for label in (1, -1)] == [1896, 4150]
    assert np.sum(spam.X.data == 127) == 770 and spam.X.data.max() == 127
    assert (tweets.y.min(), tweets.y.max()) == (-3.75, np.float32(3.55))
    assert np.sum(tweets.y == 0) == 4


@pytest.mark.parametrize("load", [load_spam, load_tweets])
def test_tfidf_rows_have_unit_length(load):
    counts, tfidf = load(), load(tfidf=True)
    np.testing.assert_array_equal(tfidf.X.indices, counts.X.indices)
    np.testing.assert_array_equal(tfidf.y, counts.y)
    stored = np.diff(tfidf.X.indptr) > 0
    np.testing.assert_allclose(row_norms(tfidf.X), stored.astype(float), rtol=1e-14)
    assert_canonical(tfidf.X)


def test_sign_labels():
    tweets = load_tweets()
    X, y, vocabulary = with_sign_labels(tweets)
    assert X.shape == (4196, 3324) and set(y) == {-1.0, 1.0}
    np.testing.assert_array_equal(vocabulary, tweets.vocabulary)
    np.testing.assert_array_equal(y, np.sign(tweets.y[tweets.y != 0]))
    np.testing.assert_array_equal(X.toarray(), tweets.X.toarray()[tweets.y != 0])
    assert_canonical(X)
