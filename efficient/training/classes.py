"""Labels of any kind, and the -1 and +1 that the losses want: one model for two classes, or one for each of more."""

from collections.abc import Sequence

import numpy as np

from reference import Loss

from .settings import losses

FEW = 10
"""Different whole numbers that are classes even if hardly any repeats; of more, half of the rows must repeat one."""


def targets(y: np.ndarray, classes: np.ndarray | None) -> list[np.ndarray]:
    """Make the labels of each model: those of the rows; -1 and +1 for two classes; this class or not, for each of more."""
    if classes is None:
        return [y]
    with_model = classes[-count_models(classes) :]  # of two the second, of more all
    return [np.where(y == each, 1.0, -1.0) for each in with_model]


def decide(scores: np.ndarray, classes: np.ndarray | None) -> np.ndarray:
    """Choose the class for each row of scores, of shape (m, K); without classes the score itself."""
    if classes is None:
        return scores.ravel()
    if count_models(classes) == 1:
        return classes[(scores.ravel() > 0).astype(int)]
    return classes[scores.argmax(axis=1)]


def count_models(classes: Sequence | np.ndarray | None) -> int:
    """Count K: one model, or one for each of more than two classes."""
    return 1 if classes is None or len(classes) == 2 else len(classes)


def find_classes(y: np.ndarray, loss: Loss, name: str) -> np.ndarray | None:
    """Find the classes among numeric labels, in increasing order, if the loss wants classes; None for numbers to predict.

    Any two numbers are two classes; the greater one is +1. More than two have to be whole numbers.

    Raises ValueError, with the name of the data, if there is one class only, or if the labels look like numbers to predict.
    """
    if not loss.binary:
        return None
    classes = np.unique(y)
    cure = f"Use a loss for numbers to predict: {', '.join(losses(binary=False))}"
    if len(classes) == 1:
        one = f"{name!r} has one class only, {shown(classes[0])}; the {loss.name} loss needs two or more"
        raise ValueError(f"{one}. Add examples of another class. {cure}")
    if len(classes) > 2 and (len(classes) > max(FEW, len(y) // 2) or (classes != np.round(classes)).any()):
        span = f"{shown(classes[0])} to {shown(classes[-1])}"
        raise ValueError(f"{name!r} has {len(classes)} different labels, {span}, in {len(y)} rows: not classes. {cure}")
    return classes


def shown(label: float) -> str:
    """Format a label as one would type it: 1 and not 1.0."""
    return str(int(label)) if float(label).is_integer() and abs(label) < 10**16 else repr(float(label))
