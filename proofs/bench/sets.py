"""The rows that the contestants run on: synthetic texts of four sizes, or a file of the user's."""

from typing import NamedTuple

import scipy.sparse as sp

from reference import Problem
from reference.datasets import Dataset, make_text
from reference.svmlight import load_svmlight

LOSS, LAM = "log", 1e-3
"""On the synthetic sets. At λ <= 1e-4 the rounding of any two correct programs parts by more than can be checked."""


class Text(NamedTuple):
    """The sizes of a synthetic text: m rows of about k entries in n columns."""

    m: int
    n: int
    k: int

    def make(self) -> Dataset:
        return make_text(*self, seed=0)


SETS = {
    "S": Text(20_000, 10_000, 75),
    "M": Text(200_000, 50_000, 75),
    "L": Text(200_000, 2_000_000, 100),
    "XL": Text(200_000, 20_000_000, 100),
}
"""The state of S fits the second cache of most processors, that of M the third, those of L and XL none."""

QUICK_SETS = {"S": SETS["S"], "M/20": SETS["M"]._replace(m=10_000)}


def text_problem(sizes: Text) -> Problem:
    data = sizes.make()
    return Problem(data.X, data.y, LOSS, LAM)


def user_problem(path: str, loss: str, lam: float) -> Problem:
    """The rows of an svmlight file. Raises ValueError, TypeError or OSError as `load_svmlight` and `Problem` do."""
    data = load_svmlight(path)
    problem = Problem(data.X, data.y, loss, lam)
    if problem.m < 2 or not len(problem.X.data):
        raise ValueError(f"there must be two rows and an entry at least to be timed; got {problem.m} rows")
    return problem


def matrix(problem: Problem) -> sp.csr_array:
    """The rows of a problem as a scipy container, in the same memory."""
    return sp.csr_array((problem.X.data, problem.X.indices, problem.X.indptr), shape=(problem.m, problem.n))
