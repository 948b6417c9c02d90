"""Labels as they stand in a file, and the -1 and +1 that the losses want."""

import numpy as np

from reference import Loss


def find_classes(y: np.ndarray, loss: Loss, name: str) -> np.ndarray | None:
    """The classes in increasing order if the loss is one of classification, or None: then the labels are numbers to predict.

    Any two numbers are two classes; the greater one is +1. More than two have to be whole numbers.

    Raises ValueError if there is one class only, or if the labels look like numbers to predict; it names the file.
    """
    if not loss.binary:
        return None
    classes = np.unique(y)
    if len(classes) == 1:
        raise ValueError(
            f"{name!r} has one class only, {shown(classes[0])}: the {loss.name} loss tells two or more apart. "
            "Add examples of another class, or use --loss squared or absolute if the labels are numbers to predict"
        )
    whole = (classes == np.round(classes)).all()
    if len(classes) > 2 and (not whole or 2 * len(classes) > len(y)):
        raise ValueError(
            f"{name!r} has {len(classes)} different labels, {shown(classes[0])} to {shown(classes[-1])}, in {len(y)} rows: "
            "these are no classes. Use --loss squared or absolute to predict numbers"
        )
    return classes


def targets(y: np.ndarray, classes: np.ndarray | None) -> list[np.ndarray]:
    """What each model is trained on: the labels themselves; -1 and +1 for two classes; this class or not, for each of more."""
    if classes is None:
        return [y]
    positive = classes[1:] if len(classes) == 2 else classes
    return [np.where(y == each, 1.0, -1.0) for each in positive]


def decide(scores: np.ndarray, classes: np.ndarray | None) -> np.ndarray:
    """The label for each row of scores, of shape (m, K), in the words of the file."""
    if classes is None:
        return scores[:, 0]
    if len(classes) == 2:
        return classes[(scores[:, 0] > 0).astype(int)]
    return classes[scores.argmax(axis=1)]


def shown(label: float) -> str:
    """A label as one would type it: 1 and not 1.0."""
    return str(int(label)) if float(label).is_integer() and abs(label) < 1e16 else repr(float(label))


def count_models(classes: np.ndarray | None) -> int:
    """K: one model, or one for each of more than two classes."""
    return 1 if classes is None or len(classes) == 2 else len(classes)
