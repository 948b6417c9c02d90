"""Data that examples, tests and measurements share: two real sets and seeded makers.

Every function returns a `Dataset`, whose X is canonical CSR in float64: `as_rows` uses it without a copy.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

FOLDER = Path(__file__).parent / "data"

ZIPF_EXPONENT = 1.1
"""`make_text` draws the j-th most popular word with a probability proportional to j^-1.1, about as in real text."""


class Dataset(NamedTuple):
    """Labelled examples.

    Parameters
    ----------
    X : csr_array of float64, shape (m, n)
        The feature vectors, one row an example.
    y : ndarray of float64, shape (m,)
        The labels.
    vocabulary : ndarray of str, shape (n,), or None
        The word that each column counts, if the features are words.
    """

    X: sp.csr_array
    y: np.ndarray
    vocabulary: np.ndarray | None = None


def load_spam(tfidf: bool = False) -> Dataset:
    """Load 6046 mails with 20539 words, 146.5 a mail, labelled +1 for spam and -1 for the others.

    Parameters
    ----------
    tfidf : bool
        Weigh each count by the word's rarity and scale the rows to unit length, so that no two sums tie, instead of
        the raw counts. Needs scikit-learn.

    Returns
    -------
    Dataset
        One row is empty, and 422 rows repeat another one.

    Provenance: the SpamAssassin public corpus; see `reference/data/README.md`.
    Cost: O(n + mk), about a tenth of a second.
    """
    return _load("spam", tfidf)


def load_tweets(tfidf: bool = False) -> Dataset:
    """Load 4200 tweets with 3324 words, 10.5 a tweet, labelled with a mean sentiment rating from -3.75 to 3.55.

    Parameters
    ----------
    tfidf : bool
        As in `load_spam`.

    Returns
    -------
    Dataset
        One row is empty, and 178 rows repeat another one. The ratings were stored in single precision.

    Provenance: Hutto & Gilbert 2014, vaderSentiment; see `reference/data/README.md`.
    Cost: O(n + mk), about a hundredth of a second.
    """
    return _load("tweets", tfidf)


def _load(name: str, tfidf: bool) -> Dataset:
    with np.load(FOLDER / f"{name}.npz") as file:
        X = sp.csr_array((file["data"].astype(np.float64), file["indices"], file["indptr"]), shape=tuple(file["shape"]))
        y, vocabulary = file["y"].astype(np.float64), file["vocabulary"]
    if tfidf:
        from sklearn.feature_extraction.text import TfidfTransformer

        X = sp.csr_array(TfidfTransformer().fit_transform(X))
    return Dataset(X, y, vocabulary)


def with_sign_labels(dataset: Dataset) -> Dataset:
    """Make a binary problem of the same examples: the sign of each label, without examples whose label is exactly 0."""
    signed = np.flatnonzero(dataset.y)
    return Dataset(dataset.X[signed], np.sign(dataset.y[signed]), dataset.vocabulary)


def make_generic(m: int, n: int, k: int, seed: int, binary: bool = True) -> Dataset:
    """Make rows in general position: exactly k normal entries each, in columns drawn uniformly; no ties, almost surely.

    Parameters
    ----------
    m, n, k : int
        Rows, columns, and stored entries in every row; m >= 1 and 0 <= k <= n.
    seed : int
        The same seed gives the same bits.
    binary : bool
        Labels -1 and +1, about equally many; otherwise real ones. Both come from a sparse linear model with noise.

    Raises
    ------
    ValueError
        The sizes do not fit each other.

    Cost: O(n + mk²).
    """
    rng = _generator(m, n, k, seed)
    X = _equally_long_rows(_distinct_columns(rng, m, n, k), rng.standard_normal((m, k)), n)
    return Dataset(X, _labels(rng, X, binary))


def make_ties(m: int, n: int, k: int, seed: int) -> Dataset:
    """Make rows whose margins are often exactly at a kink: k entries of -1 or +1 each, labels -1 and +1.

    With a λ such as 1 or 1/2 the iterates are ratios of small integers, and a few steps in a hundred tie. Two correct
    float programs may then step to different sides of the kink; exact ones may not.

    Parameters
    ----------
    m, n, k, seed : int
        As in `make_generic`. Few columns and short rows give the most ties.

    Returns
    -------
    Dataset
        The labels are the signs of a linear model with weights -1 and +1.

    Raises
    ------
    ValueError
        The sizes do not fit each other.

    Cost: O(n + mk²).
    """
    rng = _generator(m, n, k, seed)
    X = _equally_long_rows(_distinct_columns(rng, m, n, k), rng.choice([-1.0, 1.0], size=(m, k)), n)
    return Dataset(X, np.where(X @ rng.choice([-1.0, 1.0], size=n) >= 0, 1.0, -1.0))


def make_shifted(m: int, n: int, k: int, seed: int, offset=1.0, binary: bool = True) -> Dataset:
    """Add a constant vector to every row of `make_generic`, so that all entries are stored.

    Parameters
    ----------
    m, n, k, seed, binary
        As in `make_generic`: with equal arguments the two differ by the offset alone.
    offset : float or array-like of shape (n,)
        The vector added to each row; the spread of the entries is 1.

    Raises
    ------
    ValueError
        The sizes do not fit each other.

    Cost: O(mn + mk²).
    """
    generic = make_generic(m, n, k, seed, binary)
    return Dataset(sp.csr_array(generic.X.toarray() + offset), generic.y)


def make_text(m: int, n: int, k: int, seed: int) -> Dataset:
    """Make rows that look like tf-idf weighted text of any size: few columns in nearly every row, most in almost none.

    A row is a document of words drawn by Zipf's law. An entry is the word's count times its inverse document
    frequency, log((1 + m)/(1 + df)) + 1, and rows have unit length. The popular columns are anywhere.

    Parameters
    ----------
    m, n, k : int
        Rows, columns, and the expected number of stored entries a row (words that a document repeats are stored
        once; documents are long enough to make up for it); m >= 1 and 1 <= k <= n/2.
    seed : int
        The same seed gives the same bits.

    Returns
    -------
    Dataset
        Positive entries; labels -1 and +1, about equally many, from a sparse linear model with noise.

    Raises
    ------
    ValueError
        The sizes do not fit each other.

    Cost: O(n + mk log(mk)); about 12 s and 1.2 GB for the 20 million entries of m = 200 000, n = 2 000 000, k = 100.
    """
    rng = _generator(m, n, k, seed)
    if not 1 <= k <= n / 2:
        raise ValueError(f"k, the expected entries a row, must be in 1..n/2, as texts lack most words; got k = {k}, n = {n}")
    popularity = np.arange(1, n + 1) ** -ZIPF_EXPONENT
    shares = np.cumsum(popularity)
    words = _document_length(popularity / shares[-1], k)
    column = rng.permutation(n)
    drawn = np.searchsorted(shares, rng.random(m * words) * shares[-1])  # by rank in popularity, below n as random() is below 1
    cells = np.repeat(np.arange(m, dtype=np.int64) * n, words) + column[drawn]
    del drawn
    cells, counts = np.unique(cells, return_counts=True)
    rows, indices = np.divmod(cells, n)
    del cells
    idf = np.log((1 + m) / (1 + np.bincount(indices, minlength=n))) + 1
    data = counts * idf[indices]
    data /= np.sqrt(np.bincount(rows, weights=data * data))[rows]
    X = csr(data, indices, np.searchsorted(rows, np.arange(m + 1)), n)
    return Dataset(X, _labels(rng, X, binary=True))


def _generator(m: int, n: int, k: int, seed: int) -> np.random.Generator:
    if m < 1 or not 0 <= k <= n:
        raise ValueError(f"m >= 1 rows of k entries in n columns need 0 <= k <= n; got m = {m}, n = {n}, k = {k}")
    return np.random.default_rng(seed)


def _distinct_columns(rng: np.random.Generator, m: int, n: int, k: int) -> np.ndarray:
    """Draw k distinct columns for each of m rows, sorted, all sets equally likely: Floyd's algorithm, O(mk²) for any n."""
    columns = np.empty((m, k), dtype=np.int64)
    for e, last in enumerate(range(n - k, n)):
        drawn = rng.integers(last + 1, size=m)
        taken = (columns[:, :e] == drawn[:, None]).any(axis=1)
        columns[:, e] = np.where(taken, last, drawn)
    return np.sort(columns, axis=1)


def _equally_long_rows(columns: np.ndarray, values: np.ndarray, n: int) -> sp.csr_array:
    m, k = columns.shape
    return csr(values.ravel(), columns.ravel(), k * np.arange(m + 1), n)


def csr(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, n: int) -> sp.csr_array:
    integer = sp.get_index_dtype(maxval=max(n, len(data)))  # int32 if it can count columns and entries
    return sp.csr_array((data, indices.astype(integer), indptr.astype(integer)), shape=(len(indptr) - 1, n))


def _document_length(popularity: np.ndarray, k: int) -> int:
    """Solve Σ_j 1 − (1 − popularity_j)^length = k for the number of words that have k different ones in expectation."""
    from scipy.optimize import newton

    log_absent = np.log1p(-popularity)
    # the left side is concave in the length, and at most k where that is k: secants from there on soon find the length
    return round(newton(lambda length: -np.expm1(length * log_absent).sum() - k, k))


def _labels(rng: np.random.Generator, X: sp.csr_array, binary: bool) -> np.ndarray:
    """Score rows by a linear model on a tenth of the columns, plus noise of half the spread of the scores.

    Binary labels are -1 in the lower half of the scores and +1 in the upper; the middle of an odd number is in the upper.
    """
    n = X.shape[1]
    weights = rng.standard_normal(n) * (rng.permutation(n) < max(1, n // 10))
    scores = X @ weights
    scores += rng.normal(scale=scores.std() / 2, size=len(scores))
    return np.where(scores >= np.median(scores), 1.0, -1.0) if binary else scores
