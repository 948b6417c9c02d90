"""Labels as they stand in a file: are they classes, and how they are shown."""

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
            f"{name!r} has one class only, {shown(classes.item())}: the {loss.name} loss tells two or more apart. "
            "Add examples of another class, or use --loss squared or absolute if the labels are numbers to predict"
        )
    whole = (classes == np.round(classes)).all()
    if len(classes) > 2 and (not whole or 2 * len(classes) > len(y)):
        raise ValueError(
            f"{name!r} has {len(classes)} different labels, {shown(classes[0])} to {shown(classes[-1])}, in {len(y)} rows: "
            "these are no classes. Use --loss squared or absolute to predict numbers"
        )
    return classes


def shown(label: float) -> str:
    """A label as one would type it: 1 and not 1.0."""
    return str(int(label)) if float(label).is_integer() and abs(label) < 10**16 else repr(float(label))
