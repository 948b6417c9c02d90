"""How good predictors are: the objective that training minimises, the mean loss, and error, or MSE and R²."""

import numpy as np

from reference import Loss, Predictor, Problem

from ..compiled import compiled_derivative, compiled_loop
from .labels import decide, targets


def objective(problem: Problem, predictor: Predictor, predictions: np.ndarray, centred: bool) -> float:
    """F of eq. 1 at a predictor whose predictions on the training rows are known; the centred F for csgd and casgd.

    Cost: O(n + m).
    """
    at = predictor.explicit(problem.xbar) if centred else predictor.implicit()
    return float(problem.lam / 2 * (at.w @ at.w + at.b * at.b) + mean_loss(problem.loss, predictions, problem.y))


def mean_loss(loss: Loss, predictions: np.ndarray, y: np.ndarray) -> float:
    """(1/m) Σ_i ℓ(p_i, y_i), O(m)."""
    value = compiled_derivative(loss.value)  # which compiles any function of a prediction and a label
    return float(compiled_loop(_mean)(value, np.ascontiguousarray(predictions), y))


def _mean(value, p, y):
    total = 0.0
    for i in range(len(y)):
        total += value(p[i], y[i])
    return total / len(y)


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
    mse, variance = float(np.mean((scores[:, 0] - y) ** 2)), float(np.var(y))
    return values | {"MSE": mse, "R2": 1 - mse / variance if variance > 0 else float("nan")}


def shown_quality(value: float) -> str:
    """A quality with six digits; a dash if it is not defined."""
    return "-" if np.isnan(value) else f"{value:.6g}"
