"""Labels of any kind, and the -1 and +1 that the losses want: a model for two classes, or one for each of more."""

from collections.abc import Sequence

import numpy as np


def targets(y: np.ndarray, classes: np.ndarray | None) -> list[np.ndarray]:
    """What each model is trained on: the labels themselves; -1 and +1 for two classes; this class or not, for each of more."""
    if classes is None:
        return [y]
    with_model = classes[-count_models(classes) :]  # of two the second, of more all
    return [np.where(y == each, 1.0, -1.0) for each in with_model]


def decide(scores: np.ndarray, classes: np.ndarray | None) -> np.ndarray:
    """The label for each row of scores, of shape (m, K), in the words of the classes."""
    if classes is None:
        return scores.ravel()
    if count_models(classes) == 1:
        return classes[(scores.ravel() > 0).astype(int)]
    return classes[scores.argmax(axis=1)]


def count_models(classes: Sequence | np.ndarray | None) -> int:
    """K: one model, or one for each of more than two classes."""
    return 1 if classes is None or len(classes) == 2 else len(classes)
