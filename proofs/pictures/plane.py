"""Pictures of runs on rows with a single feature: paths in the plane of weight and bias, fits, and what the sliders move."""

from typing import Any, NamedTuple

import numpy as np

import efficient
from efficient import State
from reference import Minimum, Predictor, Problem, draw_indices, minimise, safe_t0
from reference.datasets import make_shifted

from .look import ALGORITHM_COLOURS, grid, labelled, new_axes

PAIRS = {"asgd": "sgd", "casgd": "csgd"}
"""The algorithm whose iterates each averages."""


def _check_plane(problem: Problem) -> None:
    if problem.n != 1:
        raise ValueError(f"problem must have one feature, so that (w, b) is a point of the plane; got {problem.n}")


def fits(problem: Problem, indices, ax=None):
    """Draw the lines that asgd and casgd fit to points with a single feature, and the points' centre of mass.

    Parameters
    ----------
    problem : Problem
        With n = 1, in float64.
    indices : sequence of T row numbers
    ax : matplotlib Axes, optional

    Raises ValueError if the problem has more features than one.
    """
    _check_plane(problem)
    ax = new_axes() if ax is None else ax
    x = np.array([problem.X.dense(i)[0] for i in range(problem.m)])
    ax.plot(x, problem.y, "o", color="grey", markersize=5, alpha=0.5, label="examples")
    ends = np.array([x.min(), x.max()])
    for name, centred, line in (("asgd", False, "-"), ("casgd", True, "--")):
        predictor = getattr(efficient, name)(problem, indices, t0=safe_t0(problem, centred))
        ax.plot(ends, predictor.predict(ends[:, None]), line, color=ALGORITHM_COLOURS[name], linewidth=3.5, label=name)
    ax.plot(x.mean(), problem.y.mean(), "X", color="black", markersize=11, label="centre of mass")
    return labelled(ax, "feature $x$", "label $y$, prediction")


def path(problem: Problem, indices, algorithm: str = "asgd", ax=None, window=None, t0=0):
    """Draw the iterates (w_t, b_t) and their average on the contours of F − F*, for a problem with a single feature.

    A centred run is drawn in the plane of the centred rows, with the bias b and not b', and so is its F.

    Parameters
    ----------
    problem : Problem
        With n = 1, in float64.
    indices : sequence of T row numbers
    algorithm : {"asgd", "casgd"}
    ax : matplotlib Axes, optional
    window : (left, right, bottom, top), optional
        Part of the plane to show; by default, where the run comes after its first tenth.
    t0 : number >= 0
        The offset of the step size, as in `State`.

    Raises ValueError if the problem has more features than one.
    """
    _check_plane(problem)
    ax = new_axes() if ax is None else ax
    centred = algorithm == "casgd"
    last, mean = positions(problem, indices, algorithm, t0)
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
    ax.plot(*_point(minimum.predictor, problem, centred), "*", color="black", markersize=16, label="minimum of $F$", zorder=5)
    ax.set_xlim(left, right)
    ax.set_ylim(bottom, top)
    return labelled(ax, "weight $w$", "bias $b$", frameon=True, loc="best")


def positions(problem: Problem, indices, algorithm: str, t0=0) -> tuple[np.ndarray, np.ndarray]:
    """Return (w_t, b_t) of the last iterate and of the average after every step, each of shape (T, 2)."""
    state, centred = State(problem, algorithm, t0=t0), algorithm == "casgd"
    last, mean = [], []
    for t in range(len(indices)):
        state.run(indices[t : t + 1])
        last.append(_point(state.last(), problem, centred))
        mean.append(_point(state.average(), problem, centred))
    return np.array(last), np.array(mean)


def _point(predictor: Predictor, problem: Problem, centred: bool) -> tuple[float, float]:
    """Return (w, b) with the bias that is regularised."""
    at = predictor.explicit(problem.xbar) if centred else predictor
    return float(at.w[0]), float(at.b)


ROWS, STEPS = 60, 1000

STYLES: dict[str, dict[str, Any]] = {
    "sgd": {"linewidth": 3, "linestyle": "--"},
    "asgd": {"linewidth": 5},
    "csgd": {"linewidth": 1.2, "linestyle": "--"},
    "casgd": {"linewidth": 2},
}
"""Thick under thin, so that lines that coincide are both seen."""


class View(NamedTuple):
    """Runs of all four algorithms on the same draws, on rows with a single feature.

    `path` holds (w, b) after every step, shape (STEPS, 2), b being the bias that is regularised; `t` are the steps at which
    `excess`, F − F*, is known; `margins` are the y_i p_i in the end. The others have an entry for asgd and one for casgd: the
    offset of the step sizes, and the minimum of F or of the centred F.
    """

    problem: Problem
    indices: np.ndarray
    path: dict[str, np.ndarray]
    t: np.ndarray
    excess: dict[str, np.ndarray]
    margins: dict[str, np.ndarray]
    offset: dict[str, Any]
    minimum: dict[str, Minimum]


def view(lam: float, loss: str, translation: float = 0.0, t0=0, seed: int = 0) -> View:
    """Run the four algorithms on 60 rows of spread 1 with labels -1 and +1, which every loss takes.

    Parameters
    ----------
    lam, loss : as in `Problem`
    translation : float
        Added to every row.
    t0 : number or "safe"
        The offset of the step size; "safe" for that of `safe_t0`, each pair its own.
    seed : int
        Of the draws.

    Raises
    ------
    FloatingPointError
        The iterates overflowed.

    Cost: O(STEPS).
    """
    X, y, _ = make_shifted(ROWS, 1, 1, seed=3, offset=translation)
    problem, t = Problem(X, y, loss, lam), np.unique(np.geomspace(1, STEPS, 40).round().astype(int))
    seen = View(problem, draw_indices(ROWS, STEPS, rng=seed), {}, t, {}, {}, {}, {})
    for averaging, plain in PAIRS.items():
        centred = averaging == "casgd"
        seen.offset[averaging] = safe_t0(problem, centred) if t0 == "safe" else t0
        seen.minimum[averaging] = minimum = minimise(problem, centred)
        runs = positions(problem, seen.indices, averaging, seen.offset[averaging])
        for name, points in zip((plain, averaging), runs, strict=True):
            at = [Predictor(points[step - 1, :1], points[step - 1, 1], problem.xbar if centred else None) for step in t]
            seen.path[name] = points
            seen.excess[name] = np.array([problem.objective(each, centred) for each in at]) - (minimum.value - minimum.gap)
            seen.margins[name] = problem.y * at[-1].predict(X)
    return seen


def explore(seen: View, axes=None):
    """Draw, above, the paths on the contours of F and of the centred F; below, F − F* against t, and the margins at the end.

    Parameters
    ----------
    seen : View
    axes : array of matplotlib Axes of shape (2, 2), optional
    """
    axes = grid(2, 2) if axes is None else axes
    for averaging, ax in zip(PAIRS, axes[0], strict=True):
        path(seen.problem, seen.indices, averaging, ax, t0=seen.offset[averaging])
        ax.set_title(f"{PAIRS[averaging]} and {averaging}", fontsize=16)
    descent, margins = axes[1]
    for name, excess in seen.excess.items():
        descent.loglog(seen.t, excess, color=ALGORITHM_COLOURS[name], label=name, **STYLES[name])
    middle = len(seen.t) // 2
    through = np.median([each[middle] for each in seen.excess.values()])
    descent.loglog(seen.t, through * seen.t[middle] / seen.t, ":", color="grey", linewidth=2, label="slope of $1/t$")
    labelled(descent, "step $t$", r"$F - F^\star$, centred for csgd, casgd", loc="lower left", ncols=2)
    share = (np.arange(ROWS) + 0.5) / ROWS
    for name, each in seen.margins.items():
        label = f"{name}: {np.mean(each <= 0):.0%} wrong"
        margins.step(np.sort(each), share, where="mid", color=ALGORITHM_COLOURS[name], label=label, **STYLES[name])
    margins.axvline(0, color="black", linewidth=1)
    labelled(margins, "margin $y_i\\, p_i$ after the last step", "share of the examples below", loc="lower right")
    return axes
