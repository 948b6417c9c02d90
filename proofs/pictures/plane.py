"""Pictures of runs on rows with a single feature: paths in the plane of weight and bias, fits, and what the sliders move."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import efficient
from efficient import State
from efficient.kernels.compiler import vectorize
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


def path(problem: Problem, indices, algorithm: str = "asgd", ax=None, window=None, t0=0, run=None):
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
    run : (last, mean, minimum), optional
        What the picture shows if it is known already: positions of both, and the minimum.

    Raises ValueError if the problem has more features than one.
    """
    _check_plane(problem)
    ax = new_axes() if ax is None else ax
    centred = algorithm == "casgd"
    last, mean, minimum = run or (*positions(problem, indices, algorithm, t0), minimise(problem, centred))
    if window is None:
        late = np.vstack([last[len(last) // 10 :], mean[len(mean) // 10 :]])
        margin = 0.15 * np.ptp(late, axis=0)
        (left, bottom), (right, top) = late.min(axis=0) - margin, late.max(axis=0) + margin
    else:
        left, right, bottom, top = window
    w, b = np.meshgrid(np.linspace(left, right, 61), np.linspace(bottom, top, 61))
    height = heights(problem, w, b, problem.xbar if centred else 0 * problem.xbar)
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
    return labelled(ax, "weight $w$", "bias $b$", frameon=True, loc="best" if run is None else "upper left")


def heights(problem: Problem, w: np.ndarray, b: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """Evaluate F at weights and biases, arrays of one shape, on rows moved by the origin."""
    x = np.array([problem.X.dense(i)[0] for i in range(problem.m)]) - origin[0]
    losses = _vectorised(problem.loss.value)(w[..., None] * x + b[..., None], np.asarray(problem.y, dtype=float))
    return problem.lam / 2 * (w * w + b * b) + losses.mean(axis=-1)


@cache
def _vectorised(value: Callable) -> Callable:
    return vectorize(nopython=True)(value)


def positions(problem: Problem, indices, algorithm: str, t0=0, times=None) -> tuple[np.ndarray, np.ndarray]:
    """Return (w_t, b_t) of the last iterate and of the average after every step, or after those named; shape (T, 2) each."""
    state, centred = State(problem, algorithm, t0=t0), algorithm == "casgd"
    last, mean = [], []
    for t in range(1, len(indices) + 1) if times is None else times:
        state.run(indices[state.t : t])
        last.append(_point(state.last(), problem, centred))
        mean.append(_point(state.average(), problem, centred))
    return np.array(last), np.array(mean)


def _point(predictor: Predictor, problem: Problem, centred: bool) -> tuple[float, float]:
    """Return (w, b) with the bias that is regularised."""
    at = predictor.explicit(problem.xbar) if centred else predictor
    return float(at.w[0]), float(at.b)


ROWS, STEPS, SHOWN = 60, 1000, 200

STYLES: dict[str, dict[str, Any]] = {
    "sgd": {"linewidth": 3, "linestyle": "--"},
    "asgd": {"linewidth": 5},
    "csgd": {"linewidth": 1.2, "linestyle": "--"},
    "casgd": {"linewidth": 2},
}
"""Thick under thin, so that lines that coincide are both seen."""


class View(NamedTuple):
    """Runs of all four algorithms on the same draws, on rows with a single feature.

    `path` holds (w, b) after each of the steps `t`, shape (len(t), 2), b being the bias that is regularised; `excess` is F − F*
    there; `margins` are the y_i p_i in the end. The others have an entry for asgd and one for casgd: the
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
    problem, t = Problem(X, y, loss, lam), np.unique(np.geomspace(1, STEPS, SHOWN).round().astype(int))
    seen = View(problem, draw_indices(ROWS, STEPS, rng=seed), {}, t, {}, {}, {}, {})
    for averaging, plain in PAIRS.items():
        centred = averaging == "casgd"
        seen.offset[averaging] = safe_t0(problem, centred) if t0 == "safe" else t0
        seen.minimum[averaging] = minimum = minimise(problem, centred)
        runs = positions(problem, seen.indices, averaging, seen.offset[averaging], t)
        origin = problem.xbar if centred else 0 * problem.xbar
        for name, points in zip((plain, averaging), runs, strict=True):
            seen.path[name] = points
            seen.excess[name] = heights(problem, points[:, 0], points[:, 1], origin) - (minimum.value - minimum.gap)
            seen.margins[name] = problem.y * Predictor(points[-1, :1], points[-1, 1], origin).predict(X)
    return seen


def explore(seen: View, axes=None):
    """Draw, above, the paths on the contours of F and of the centred F; below, F − F* against t, and the margins at the end.

    Parameters
    ----------
    seen : View
    axes : array of matplotlib Axes of shape (2, 2), optional
    """
    axes = grid(2, 2, layout=None) if axes is None else axes
    axes[0, 0].figure.subplots_adjust(left=0.07, right=0.98, bottom=0.08, top=0.95, wspace=0.18, hspace=0.28)
    for averaging, ax in zip(PAIRS, axes[0], strict=True):
        run = (seen.path[PAIRS[averaging]], seen.path[averaging], seen.minimum[averaging])
        path(seen.problem, seen.indices, averaging, ax, run=run)
        ax.set_title(f"{PAIRS[averaging]} and {averaging}", fontsize=16)
    descent, margins = axes[1]
    some = slice(None, None, -4)
    for name, excess in seen.excess.items():
        descent.loglog(seen.t[some], excess[some], color=ALGORITHM_COLOURS[name], label=name, **STYLES[name])
    middle = len(seen.t) // 2
    through = np.median([each[middle] for each in seen.excess.values()])
    descent.loglog(seen.t, through * seen.t[middle] / seen.t, ":", color="grey", linewidth=2, label="slope of $1/t$")
    descent.minorticks_off()
    labelled(descent, "step $t$", r"$F - F^\star$, centred for csgd, casgd", loc="lower left", ncols=2)
    share = (np.arange(ROWS) + 0.5) / ROWS
    for name, each in seen.margins.items():
        label = f"{name}: {np.mean(each <= 0):.0%} wrong"
        margins.step(np.sort(each), share, where="mid", color=ALGORITHM_COLOURS[name], label=label, **STYLES[name])
    margins.axvline(0, color="black", linewidth=1)
    labelled(margins, "margin $y_i\\, p_i$ after the last step", "share of the examples below", loc="lower right")
    return axes
