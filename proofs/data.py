"""Data that the measured and exact checks run on: the two real sets, or a file of the user's."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from efficient.reading.svmlight import load_svmlight
from reference import LOSSES
from reference.datasets import load_spam, load_tweets

DENSE_BUDGET = 30_000_000
"""Coordinates that a dense run may touch: T is cut so that T·n stays below."""

BALL_BUDGET = 20_000
"""Stored entries that a run on balls may visit, at some microseconds each: T is cut so that Tk stays below."""


@dataclass(frozen=True)
class Case:
    """Data set with the λ at which each loss that fits its labels is checked.

    `X` has generic floats, `counts` the integers behind them where there are any: ties at the kinks are common there.
    """

    name: str
    X: sp.csr_array
    y: np.ndarray
    lam: dict[str, float]
    counts: sp.csr_array | None = None

    @property
    def steps(self) -> int:
        """Choose T for a run against the dense side and the exact result: one full pass, unless that would take minutes."""
        m, n = self.X.shape
        return max(1, min(m, DENSE_BUDGET // max(n, 1), BALL_BUDGET * m // max(self.X.nnz, 1)))

    def sample(self, X: sp.csr_array, columns: int = 500, rows: int = 16) -> tuple[sp.csr_array, np.ndarray]:
        """Choose a few rows and, of the columns that they use, not too many: small enough for exact runs, always the same."""
        rng = np.random.default_rng(0)
        kept = rng.permutation(X.shape[0])[:rows]
        used = np.unique(X[kept].indices)
        if len(used) > columns:
            used = np.sort(rng.choice(used, columns, replace=False))
        return X[kept][:, used], self.y[kept]


def real_cases() -> list[Case]:
    """Load spam for all losses, since its labels −1, +1 are real numbers too, and tweets for those that take any label.

    Without a bound on its slopes a loss needs a larger λ on unit rows: for the squared loss the first steps of size 1/(λt)
    overshoot, and at λ = 0.1 that still weighs 2 % of F(0) − F* in the mean of 100 passes.
    """
    lam = {name: 0.2 if loss.slope_bound is None else 1e-2 for name, loss in LOSSES.items()}
    real = {name: value for name, value in lam.items() if not LOSSES[name].binary}
    return [
        Case(name, *load(tfidf=True)[:2], at, load().X)
        for name, load, at in (("spam", load_spam, lam), ("tweets", load_tweets, real))
    ]


def user_case(path: str, loss: str, lam: float) -> Case:
    """Read the rows of an svmlight file, for one loss and one λ."""
    data = load_svmlight(path)
    return Case(path, data.X, data.y, {loss: lam})
