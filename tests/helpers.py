"""Table of losses × algorithms × data that feeds the tests: to add one of them is to add one row here, or none.

Losses and algorithms are those of the product's own registries, so that a new one is tested at once.
"""

from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from efficient.runs.algorithms import ALGORITHMS
from proofs.data import Case
from reference import LOSSES, Predictor, Problem, draw_indices
from reference.averaging import polynomial, suffix
from reference.datasets import Dataset, load_spam, load_tweets, make_generic, make_shifted, make_text, make_ties

AVERAGING = tuple(name for name, algorithm in ALGORITHMS.items() if algorithm.averaging)
CENTRED = tuple(name for name, algorithm in ALGORITHMS.items() if algorithm.centred)
UNCENTRED = tuple(name for name in ALGORITHMS if name not in CENTRED)


def odd_steps(t):
    return t % 2


AVERAGES = {
    "uniform": None,
    "t-weighted": polynomial(1),
    "(t + 1/2)²-weighted": polynomial(2, 0.5),
    "√t-weighted": polynomial(0.5),
    "odd steps": odd_steps,
    "after 1": suffix(1),
    "after 3": suffix(3),
}
"""Averaging weights. With `suffix` all of them may be 0 up to the last step."""


def excerpt(name: str) -> Dataset:
    """Few rows and columns of a real data set, as tf-idf."""
    data = {"mails": load_spam, "tweets": load_tweets}[name](tfidf=True)
    return Dataset(*Case(name, data.X, data.y, {}).sample(data.X, columns=40, rows=8))


BY_HAND = np.array([[1.0, 0, 2], [0, 3, 0], [0, 0, 0], [4, 0, 1]])  # with an empty row
# column 1 of row 0 is stored twice, rows 0 and 2 are out of order
STORED_TWICE = sp.csr_array(
    (np.array([2.0, 1, 0.25, 3, 1, 4]), np.array([2, 1, 1, 1, 2, 0]), np.array([0, 3, 4, 6])), shape=(3, 3)
)
DATA = {
    "by hand": Dataset(sp.csr_array(BY_HAND), np.array([1.0, -1, 1, -1])),
    "stored twice": Dataset(STORED_TWICE, np.array([1.0, -1, 1])),
    "generic": make_generic(8, 6, 3, seed=1),
    "numbers": make_generic(8, 6, 3, seed=1, binary=False),
    "ties": make_ties(8, 4, 2, seed=1),
    "ties, dense": make_ties(6, 3, 3, seed=2),
    "shifted": make_shifted(8, 5, 3, seed=3, offset=4.0),  # centred runs in floats have a pivot
    "one row": make_generic(1, 4, 2, seed=3),
    "one column": make_generic(5, 1, 1, seed=4),
    "empty rows": make_generic(4, 5, 0, seed=5),
    "no column": make_generic(4, 0, 0, seed=6),
    "wide": make_text(12, 200, 10, seed=4),
    "mails": excerpt("mails"),
    "tweets": excerpt("tweets"),
}
"""Small data sets, with labels ±1 unless they are called numbers or tweets."""


def losses_for(name: str) -> tuple[str, ...]:
    """Losses whose domain has the labels of this data set."""
    return tuple(loss for loss in LOSSES if not LOSSES[loss].binary or set(DATA[name].y) <= {-1, 1})


PROBLEMS = [(data, loss) for data in DATA for loss in losses_for(data)]


def floats(data: str = "generic", loss: str = "log", lam: float = 0.5, sample_weight=None) -> Problem:
    """Problem in float64."""
    X, y, _ = DATA[data]
    return Problem(X, y, loss, lam, sample_weight)


def exact(data: str = "generic", loss: str = "log", lam: Fraction = Fraction(1, 2), sample_weight=None) -> Problem:
    """Return the same problem in exact arithmetic."""
    X, y, _ = DATA[data]
    return Problem(X, y, loss, Fraction(lam), sample_weight)


def draws(problem: Problem, steps: int = 12, seed: int = 7) -> np.ndarray:
    """Indices of a run, the same ones for the same seed."""
    return draw_indices(problem.m, steps, rng=seed)


def same(one: Predictor | None, other: Predictor | None) -> bool:
    """Equal to the bit or as fractions; None only to None."""
    if one is None or other is None:
        return one is other
    return len(one.w) == len(other.w) and bool((one.w == other.w).all()) and one.b == other.b


def bits(run) -> dict[str, np.ndarray]:
    """State of a run that the next steps depend on, by name."""
    kept = ALGORITHMS[run.algorithm]
    return {name: np.copy(getattr(run, name)) for name in ("t", "p", "g", *kept.vectors, *kept.scalars)}


def assert_same_run(found, wanted) -> None:
    """Fail unless two runs are in the same state, to the bit."""
    for name, value in bits(wanted).items():
        np.testing.assert_array_equal(bits(found)[name], value, err_msg=name)


def same_runs(one, other) -> bool:
    """Equal predictors, to the bit."""
    return all(same(*pair) for pair in zip(one.predictors(), other.predictors(), strict=True))
