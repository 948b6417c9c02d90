"""Evaluate the estimators on held-out rows, beside scikit-learn's: `python -m proofs.measured`.

Accuracy on the mails and R² on the tweets, in a fifth of the rows that is held out, five times with different seeds. Rows that
repeat each other are held out together; tf-idf is fitted to the rest. An estimator is tried as it is, and tuned: the best of a
grid by cross-validation within the rest, in which repeated rows stay together too.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.model_selection import GridSearchCV, GroupKFold

from efficient.estimators.linear import CASGDClassifier, CASGDRegressor
from efficient.training.splits import hold_out
from reference.datasets import Dataset

from .held_out import Split, apart

ALPHAS = tuple(10.0**power for power in range(-7, -1))


class Contestant(NamedTuple):
    """Estimator with its own defaults, and what to tune."""

    estimator: BaseEstimator
    grid: dict[str, Sequence]


def contestants(numbers: bool) -> list[Contestant]:
    """Make scikit-learn's estimator and ours, of numbers or of classes."""
    if numbers:
        eta0 = {"eta0": (0.003, 0.01, 0.03, 0.1, 0.3)}
        return [Contestant(SGDRegressor(), {"alpha": ALPHAS, **eta0}), Contestant(CASGDRegressor(), {"alpha": ALPHAS})]
    return [Contestant(SGDClassifier(), {"alpha": ALPHAS}), Contestant(CASGDClassifier(), {"alpha": ALPHAS})]


def split(data: Dataset, seed: int) -> Split:
    """Return a fifth of the rows held out, with all that equal them, and tf-idf fitted to the others."""
    rows = apart(data, hold_out(data.X, 0.2, seed, data.y if set(data.y) == {-1, 1} else None))
    tfidf = TfidfTransformer().fit(rows.X)
    return rows._replace(X=tfidf.transform(rows.X), held_X=tfidf.transform(rows.held_X))


def quality(estimator: BaseEstimator, parts: Split, seed: int) -> float:
    """Compute accuracy or R² on the rows held out."""
    seeded: Any = clone(estimator).set_params(random_state=seed)
    return float(seeded.fit(parts.X, parts.y).score(parts.held_X, parts.held_y))


def tuned(contestant: Contestant, parts: Split, seed: int) -> BaseEstimator:
    """Return the estimator with the best of the grid, by cross-validation in the rows to train on."""
    folds = GroupKFold(5, shuffle=True, random_state=seed)
    seeded: Any = clone(contestant.estimator).set_params(random_state=seed)
    search = GridSearchCV(seeded, contestant.grid, cv=folds, refit=False).fit(parts.X, parts.y, groups=parts.groups)
    return clone(contestant.estimator).set_params(**search.best_params_)


def compare(data: Dataset, numbers: bool, seeds: Sequence[int]) -> Iterator[tuple[str, np.ndarray]]:
    """Return the qualities of every contestant, by default and tuned, one for each seed."""
    parts = [split(data, seed) for seed in seeds]
    for contestant in contestants(numbers):
        name = type(contestant.estimator).__name__
        yield f"{name}, default", np.array([quality(contestant.estimator, *each) for each in zip(parts, seeds, strict=True)])
        best = [tuned(contestant, *each) for each in zip(parts, seeds, strict=True)]
        yield f"{name}, tuned", np.array([quality(*each) for each in zip(best, parts, seeds, strict=True)])


def choices(
    data: Dataset, estimators: Sequence[BaseEstimator], seeds: Sequence[int]
) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Return the qualities for all values of four parameters, and their gains on the defaults, one for each seed."""
    parts = [split(data, seed) for seed in seeds]
    grid = list(product(ALPHAS[1:5], ("weighted", "uniform"), ("permuted", "iid"), (5, 10, 20, 30, 50)))
    for estimator in estimators:
        default = np.array([quality(estimator, *each) for each in zip(parts, seeds, strict=True)])
        for alpha, average, sampling, epochs in grid:
            chosen: Any = clone(estimator).set_params(alpha=alpha, average=average, sampling=sampling, n_epochs=epochs)
            found = np.array([quality(chosen, *each) for each in zip(parts, seeds, strict=True)])
            yield f"{chosen.loss:9}alpha={alpha:<8g}{average:10}{sampling:10}n_epochs={epochs:<3}", found, found - default
