"""How good predictors are: the mean loss, and error, or MSE and R²."""

import numpy as np

from reference import Loss

from .classes import decide, targets
from .models import mean_loss


def quality(loss: Loss, scores: np.ndarray, y: np.ndarray, classes: np.ndarray | None) -> dict[str, float]:
    """What to print of scores of shape (m, K), by name.

    `loss` is the mean loss, over the rows and, for more than two classes, over the classes, each told apart from all others.
    `error` is the share of rows with a wrong label. For numbers there are `MSE` and `R2` in its place; R2 is NaN if the labels
    do not vary.

    Cost: O(Km).
    """
    parts = targets(y, classes)
    values = {"loss": float(np.mean([mean_loss(loss, scores[:, k], part) for k, part in enumerate(parts)]))}
    if classes is not None:
        return values | {"error": float(np.mean(decide(scores, classes) != y))}
    mse, variance = float(np.mean((scores.ravel() - y) ** 2)), float(np.var(y))
    return values | {"MSE": mse, "R2": 1 - mse / variance if variance else float("nan")}


def shown_quality(value: float) -> str:
    """A quality with six digits; a dash if it is not defined."""
    return "-" if np.isnan(value) else f"{value:.6g}"
