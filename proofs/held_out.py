"""How the estimators predict what they were not trained on, beside scikit-learn's: `python -m proofs.held_out`, minutes.

Spam is classified, tweets are rated by regression. Each fifth is held out once, and what is told is the mean over the five;
rows that repeat each other are on one side together. Words are weighed by tf-idf that was fitted on the other four fifths, and
whatever is tuned is tuned on them, by cross-validation. The estimators' defaults of alpha, n_epochs and average are from the
first of the two tables. These are measurements and no proofs.
"""

import warnings
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from tqdm import tqdm

from reference.datasets import load_spam, load_tweets

FIFTHS = 5


class Split(NamedTuple):
    """Counts of words and labels to train on, those held out, and which training rows repeat each other (equal numbers)."""

    X: sp.csr_array
    y: np.ndarray
    X_held_out: sp.csr_array
    y_held_out: np.ndarray
    repeats: np.ndarray


def repeats(X: sp.csr_array) -> np.ndarray:
    """A number for each row, the same for two rows just if they hold the same entries."""
    numbers: dict[tuple[bytes, bytes], int] = {}
    rows = zip(X.indptr, X.indptr[1:], strict=False)
    return np.array([numbers.setdefault((X.indices[a:b].tobytes(), X.data[a:b].tobytes()), len(numbers)) for a, b in rows])


@cache
def splits(name: str) -> tuple[Split, ...]:
    """The five ways to hold a fifth of "spam" or "tweets" out."""
    from sklearn.model_selection import GroupKFold

    X, y, _ = {"spam": load_spam, "tweets": load_tweets}[name]()
    groups = repeats(X)
    folds = GroupKFold(FIFTHS, shuffle=True, random_state=0).split(X, y, groups)
    return tuple(Split(X[train], y[train], X[test], y[test], groups[train]) for train, test in folds)


def score(estimator, split: Split) -> float:
    """The share of held-out mails classified rightly, or R² of the held-out ratings."""
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.pipeline import make_pipeline

    return make_pipeline(TfidfTransformer(), estimator).fit(split.X, split.y).score(split.X_held_out, split.y_held_out)


def tuned_score(estimator, grid: dict[str, list], split: Split) -> tuple[float, dict[str, Any]]:
    """The score with the parameters of the grid that do best in cross-validation on the training rows; and which these are."""
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.model_selection import GridSearchCV, GroupKFold
    from sklearn.pipeline import make_pipeline

    name = type(estimator).__name__.lower()
    grid = {f"{name}__{parameter}": values for parameter, values in grid.items()}
    search = GridSearchCV(make_pipeline(TfidfTransformer(), estimator), grid, cv=GroupKFold(FIFTHS))
    search.fit(split.X, split.y, groups=split.repeats)
    best = {parameter.removeprefix(f"{name}__"): value for parameter, value in search.best_params_.items()}
    return search.score(split.X_held_out, split.y_held_out), best


def defaults() -> Iterator[str]:
    """What alpha, n_epochs and average do, on both sets: (spam classified rightly, R² of tweets)."""
    from efficient import CASGDClassifier, CASGDRegressor

    choices = list(product(("weighted", "uniform"), (5, 10, 20, 50)))
    yield "| alpha | " + " | ".join(f"{average}, {epochs} epochs" for average, epochs in choices) + " |"
    yield "|---" * (len(choices) + 1) + "|"
    for alpha in (1e-3, 3e-4, 1e-4, 3e-5, 1e-5):
        cells = []
        for average, epochs in tqdm(choices, desc=f"alpha = {alpha:g}", disable=None, leave=False):
            options: dict[str, Any] = {"alpha": alpha, "average": average, "n_epochs": epochs, "random_state": 0}
            accuracy = np.mean([score(CASGDClassifier(**options), split) for split in splits("spam")])
            r2 = np.mean([score(CASGDRegressor(**options), split) for split in splits("tweets")])
            cells.append(f"{100 * accuracy:.2f} %, {r2:.3f}")
        yield f"| {alpha:g} | " + " | ".join(cells) + " |"


def beside_others() -> Iterator[str]:
    """The estimators and scikit-learn's, by default and tuned; a default is a mean over three seeds, too."""
    from sklearn.linear_model import SGDClassifier, SGDRegressor

    from efficient import CASGDClassifier, CASGDRegressor

    alphas = [3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6]
    contestants: list[tuple[str, Any, dict[str, list]]] = [
        ("spam", CASGDClassifier(random_state=0), {"alpha": alphas}),
        ("spam", CASGDClassifier("log", random_state=0), {"alpha": alphas}),
        ("spam", SGDClassifier(random_state=0), {"alpha": alphas, "average": [False, True]}),
        ("spam", SGDClassifier("log_loss", random_state=0), {"alpha": alphas, "average": [False, True]}),
        ("tweets", CASGDRegressor(random_state=0), {"alpha": alphas}),
        ("tweets", CASGDRegressor("absolute", random_state=0), {"alpha": alphas}),
        ("tweets", SGDRegressor(random_state=0), {"alpha": alphas, "eta0": [0.01, 0.1, 1], "average": [False, True]}),
    ]
    yield "| data | estimator | default | tuned | tuned to |"
    yield "|---|---|---|---|---|"
    for data, estimator, grid in tqdm(contestants, disable=None, leave=False):
        seeded = [type(estimator)(loss=estimator.loss, random_state=seed) for seed in range(3)]
        default = np.mean([[score(each, split) for each in seeded] for split in splits(data)])
        scores, best = zip(*(tuned_score(estimator, grid, split) for split in splits(data)), strict=True)
        chosen = "; ".join(
            f"{parameter} {', '.join(f'{value:g}' for value in sorted({one[parameter] for one in best}))}" for parameter in grid
        )
        show = "{:.2%}" if data == "spam" else "R² {:.3f}"
        name = f"{type(estimator).__name__}({estimator.loss!r})"
        yield f"| {data} | {name} | {show.format(default)} | {show.format(np.mean(scores))} | {chosen} |"


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scikit-learn's own, that a grid point has not converged
        for table in (defaults, beside_others):
            print(table.__doc__, end="\n\n")
            for line in table():
                print(line, flush=True)
            print()
