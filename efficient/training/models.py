"""Models side by side on the same rows: their problems, their run, their scores."""

from collections.abc import Sequence

import numpy as np

from reference import Loss, Predictor, Problem, safe_t0
from reference.arithmetic import Overflow

from ..runs.batch import start
from ..runs.centring import Centre, find_centre
from ..runs.run import Run
from .classes import targets
from .settings import Settings


def make_problems(X, y: np.ndarray, classes: np.ndarray | None, loss: str | Loss, lams: Sequence[float]) -> list[Problem]:
    """Make the problem of each model: one for every λ, or one for every λ and each of more than two classes.

    They share the rows.
    """
    first, *others = targets(y, classes)
    problem = Problem(X, first, loss, lams[0])
    by_label = [problem, *(problem.variant(y=each) for each in others)]
    return [problem.variant(lam=lam) for lam in lams for problem in by_label]


def begin(problems: list[Problem], settings: Settings, sampling_weight: np.ndarray | None = None) -> Run:
    """Start the run of all models, with the paper's own loop if there is one.

    Parameters
    ----------
    problems : list of Problem
        Their own loss and λ are taken, not those of the settings.
    settings : Settings
    sampling_weight : ndarray of shape (m,), optional
        Sampling weights of the rows, as `draw_indices` takes them; x̄ and t0 are those of the rows so drawn.

    Raises
    ------
    FloatingPointError
        The length of the mean row, or t0, overflows.

    Cost: O(nK), and O(n + mk) for x̄.
    """
    centre = find_centre(problems[0].X, sampling_weight) if settings.centred else None
    t0 = _step_offsets(problems, settings, sampling_weight, centre)
    return start(problems, settings.algorithm, t0=t0, averaging_weights=settings.averaging_weights, centre=centre)


def _step_offsets(
    problems: list[Problem], settings: Settings, sampling_weight: np.ndarray | None, centre: Centre | None
) -> list[float]:
    """Find t0 of each problem."""
    if not isinstance(settings.t0, str):
        return [settings.t0] * len(problems)
    if problems[0].loss.slope_bound is not None:
        return [0.0] * len(problems)
    mean = None if centre is None else centre.xbar if centre.pivot is None else centre.pivot + centre.xbar
    reach = float(safe_t0(problems[0].variant(lam=1.0), settings.centred, sampling_weight, mean))  # R²
    with np.errstate(over="ignore"):
        offsets = [reach / problem.lam for problem in problems]
    if not np.isfinite(offsets).all():
        raise Overflow("t0 = R²/λ overflows float64", "rows", "lam")
    return offsets


def scores(predictors: list[Predictor], X) -> np.ndarray:
    """Predict with each predictor for each row, shape (m, K).

    Raises FloatingPointError if a prediction overflows.
    """
    return np.column_stack([predictor.predict(X) for predictor in predictors])
