"""What the sliders move: the paths in the plane of weight and bias, F − F*, and the margins."""

from typing import Any, NamedTuple

import numpy as np

from reference import Minimum, Predictor, Problem, draw_indices, minimise, safe_t0
from reference.datasets import make_shifted

from .look import ALGORITHM_COLOURS, grid, labelled
from .path import PAIRS, path, positions

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
        What is added to every row.
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
    """Above, the paths on the contours of F and of the centred F; below, F − F* against t, and the margins at the end.

    Parameters
    ----------
    seen : View
    axes : array of matplotlib Axes of shape (2, 2), optional
    """
    axes = grid(2, 2) if axes is None else axes
    for averaging, ax in zip(PAIRS, axes[0], strict=True):
        path(seen.problem, seen.indices, averaging, ax, t0=seen.offset[averaging])
        ax.set_title(f"{PAIRS[averaging]} and {averaging}", fontsize=16)
    _descent(seen, axes[1][0])
    _margins(seen, axes[1][1])
    return axes


def _descent(seen: View, ax) -> None:
    for name, excess in seen.excess.items():
        ax.loglog(seen.t, excess, color=ALGORITHM_COLOURS[name], label=name, **STYLES[name])
    middle = len(seen.t) // 2
    through = np.median([each[middle] for each in seen.excess.values()])
    ax.loglog(seen.t, through * seen.t[middle] / seen.t, ":", color="grey", linewidth=2, label="slope of $1/t$")
    labelled(ax, "step $t$", r"$F - F^\star$, centred for csgd, casgd", loc="lower left", ncols=2)


def _margins(seen: View, ax) -> None:
    share = (np.arange(ROWS) + 0.5) / ROWS
    for name, margins in seen.margins.items():
        label = f"{name}: {np.mean(margins <= 0):.0%} wrong"
        ax.step(np.sort(margins), share, where="mid", color=ALGORITHM_COLOURS[name], label=label, **STYLES[name])
    ax.axvline(0, color="black", linewidth=1)
    labelled(ax, "margin $y_i\\, p_i$ after the last step", "share of the examples below", loc="lower right")
