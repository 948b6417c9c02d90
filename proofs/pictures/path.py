"""The iterates and their average in the plane, on the contours of F."""

import numpy as np

from efficient import State
from reference import Predictor, Problem, minimise

from .look import ALGORITHM_COLOURS, labelled, new_axes

PAIRS = {"asgd": "sgd", "casgd": "csgd"}
"""The algorithm whose iterates each averages."""


def path(problem: Problem, indices, algorithm: str = "asgd", ax=None, window=None):
    """The iterates (w_t, b_t) and their average on the contours of F − F*, for a problem with a single feature.

    A centred run is drawn in the plane of the centred rows, with the bias b and not b', and so is its F.

    Parameters
    ----------
    problem : Problem
        With n = 1, in float64.
    indices : sequence of T row numbers
    algorithm : {"asgd", "casgd"}
    ax : matplotlib Axes, optional
    window : (left, right, bottom, top), optional
        What to show of the plane; by default, where the run comes after its first tenth.

    Raises ValueError if the problem has more features than one.
    """
    if problem.n != 1:
        raise ValueError(f"problem must have one feature, so that (w, b) is a point of the plane; got {problem.n}")
    ax = new_axes() if ax is None else ax
    centred = algorithm == "casgd"
    last, mean = positions(problem, indices, algorithm)
    minimum = minimise(problem, centred)
    if window is None:
        late = np.vstack([last[len(last) // 10 :], mean[len(mean) // 10 :]])
        margin = 0.15 * np.ptp(late, axis=0)
        (left, bottom), (right, top) = late.min(axis=0) - margin, late.max(axis=0) + margin
    else:
        left, right, bottom, top = window
    w, b = np.linspace(left, right, 91), np.linspace(bottom, top, 91)
    origin = problem.xbar if centred else np.zeros(1)
    height = np.array([[problem.objective(Predictor(np.array([x]), y, origin), centred) for x in w] for y in b])
    height = np.maximum(height - minimum.value, minimum.gap + 1e-12)
    levels = np.geomspace(height.max() / 300, height.max(), 9)
    lines = ax.contour(w, b, height, levels=levels, colors="grey", linewidths=1)
    ax.clabel(lines, lines.levels[2::2], fmt="%.1g", fontsize=10)
    ax.plot(*last.T, ".-", color=ALGORITHM_COLOURS[PAIRS[algorithm]], linewidth=0.8, markersize=5, label="iterates")
    ax.plot(*mean.T, "-", color=ALGORITHM_COLOURS[algorithm], linewidth=3.5, label="their average")
    ax.plot(*mean[-1], "o", color=ALGORITHM_COLOURS[algorithm], markersize=10)
    ax.plot(*point(minimum.predictor, problem, centred), "*", color="black", markersize=16, label="minimum of $F$", zorder=5)
    ax.set_xlim(left, right)
    ax.set_ylim(bottom, top)
    return labelled(ax, "weight $w$", "bias $b$", frameon=True, loc="best")


def positions(problem: Problem, indices, algorithm: str) -> tuple[np.ndarray, np.ndarray]:
    """(w_t, b_t) of the last iterate and of the average after every step, each of shape (T, 2)."""
    state, centred = State(problem, algorithm), algorithm == "casgd"
    last, mean = [], []
    for t in range(len(indices)):
        state.run(indices[t : t + 1])
        last.append(point(state.last(), problem, centred))
        mean.append(point(state.average(), problem, centred))
    return np.array(last), np.array(mean)


def point(predictor: Predictor, problem: Problem, centred: bool) -> tuple[float, float]:
    """(w, b) with the bias that is regularised."""
    at = predictor.explicit(problem.xbar) if centred else predictor
    return float(at.w[0]), float(at.b)
