"""Quality of predictors: objective and mean loss; error for classes; MSE and R² for numbers."""

from collections.abc import Sequence

import numpy as np

from reference import Loss, Predictor

from ..kernels.compiled import compiled_loop
from ..kernels.loss_functions import loss_function
from ..runs.algorithms import ALGORITHMS
from ..runs.run import Run
from .classes import decide, targets
from .models import scores


def evaluate(
    run: Run, X, y: np.ndarray, classes: np.ndarray | None, sampling_weight: np.ndarray | None = None
) -> dict[str, float]:
    """Evaluate the objective and the quality of a run on the rows that it is trained on, weighted as they are drawn.

    Cost: O(K(n + mk)).
    """
    predictors = run.predictors()
    predictions = scores(predictors, X)
    F = objective(run, predictors, predictions, sampling_weight)
    return {"objective": F, **quality(run.problem.loss, predictions, y, classes, sampling_weight)}


def quality(
    loss: Loss, scores: np.ndarray, y: np.ndarray, classes: np.ndarray | None, sampling_weight: np.ndarray | None = None
) -> dict[str, float]:
    """Measure scores of shape (m, K): `loss`, and `error` for classes or `MSE` and `R2` for numbers.

    `loss` is the mean loss, over the rows and, for more than two classes, over the models. `error` is the share of rows with a
    wrong label. R2 is NaN if the labels do not vary. With sampling weights all are weighted means.

    Cost: O(Km).
    """
    share = None if sampling_weight is None else sampling_weight / sampling_weight.max()
    losses = [
        mean_loss(loss, of_model, part, sampling_weight) for of_model, part in zip(scores.T, targets(y, classes), strict=True)
    ]
    values = {"loss": float(np.mean(losses))}
    if classes is not None:
        return values | {"error": float(np.average(decide(scores, classes) != y, weights=share))}
    mse = float(np.average((scores.ravel() - y) ** 2, weights=share))
    variance = float(np.average((y - np.average(y, weights=share)) ** 2, weights=share))
    return values | {"MSE": mse, "R2": 1 - mse / variance if variance else float("nan")}


def objective(
    run: Run, predictors: Sequence[Predictor], predictions: np.ndarray, sampling_weight: np.ndarray | None = None
) -> float:
    """Evaluate F of eq. 1, that of the centred rows for a centred algorithm; its mean over the models.

    Parameters
    ----------
    run : Run
    predictors : K Predictors
    predictions : ndarray of shape (m, K)
        Their predictions for the rows that the run is trained on.
    sampling_weight : ndarray of shape (m,), optional
        Sampling weights of the rows; the loss is then the mean with these weights.

    Cost: O(K(n + m)).
    """
    centre = None
    if ALGORITHMS[run.algorithm].centred:
        centre = run.xbar if run.pivot is None else run.pivot + run.xbar
    each = []
    for problem, predictor, of_model in zip(run.problems, predictors, predictions.T, strict=True):
        at = predictor.implicit() if centre is None else predictor.explicit(centre)
        loss = mean_loss(problem.loss, of_model, problem.y, sampling_weight)
        each.append(float(problem.lam / 2 * (at.w @ at.w + at.b * at.b) + loss))  # eq. 1 (eqn:objective)
    return float(np.mean(each))


def mean_loss(loss: Loss, predictions: np.ndarray, y: np.ndarray, sampling_weight: np.ndarray | None = None) -> float:
    """Average the loss over the rows, uniformly or with their sampling weights, O(m)."""
    return float(
        np.average(
            losses_of(loss, predictions, y),
            weights=None if sampling_weight is None else sampling_weight / sampling_weight.max(),
        )
    )


def losses_of(loss: Loss, predictions: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Evaluate ℓ(p_i, y_i) for each row, O(m)."""
    each = np.empty(len(y))
    value = loss_function(loss.value)  # compiles any function of a prediction and a label
    compiled_loop(_each)(value, np.ascontiguousarray(predictions), y, each)
    return each


def _each(value, p, y, losses):
    for i in range(len(y)):
        losses[i] = value(p[i], y[i])


def shown_quality(value: float) -> str:
    """Format a quality with six digits, and NaN as a dash."""
    return "-" if np.isnan(value) else f"{value:.6g}"
