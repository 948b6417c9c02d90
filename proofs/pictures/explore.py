"""What the sliders move: the paths in the plane of weight and bias, F − F*, and the margins."""

import numpy as np

from reference import Predictor

from ..explored import PAIRS, View, point
from .look import ALGORITHM_COLOURS, grid, labelled

GRID = 31
"""In how many points a side of the plane the objective is evaluated."""

STYLES = {
    "sgd": {"linewidth": 3, "linestyle": "--"},
    "asgd": {"linewidth": 5},
    "csgd": {"linewidth": 1.2, "linestyle": "--"},
    "casgd": {"linewidth": 2},
}
"""Thick under thin, so that lines that coincide are both seen."""


def explore(seen: View, axes=None):
    """Above, the paths on the contours of F and of the centred F; below, F − F* against t, and the margins at the end.

    Parameters
    ----------
    seen : View
        From `proofs.explored.view`.
    axes : array of matplotlib Axes of shape (2, 2), optional
    """
    axes = grid(2, 2, (13, 9)) if axes is None else axes
    for centred, ax in zip(PAIRS, axes[0], strict=True):
        _plane(seen, centred, ax)
    _descent(seen, axes[1][0])
    _margins(seen, axes[1][1])
    return axes


def _plane(seen: View, centred: bool, ax) -> None:
    best = np.array(point(seen.problem, seen.minima[centred].predictor, centred))
    last, mean = (seen.path[name] for name in PAIRS[centred])
    shown = np.concatenate([[best, (0, 0)], last[len(last) // 20 :], mean[len(mean) // 4 :]])
    low, high = shown.min(axis=0), shown.max(axis=0)
    margin = 0.15 * (high - low) + 1e-3
    (w_low, b_low), (w_high, b_high) = low - margin, high + margin
    w, b = np.linspace(w_low, w_high, GRID), np.linspace(b_low, b_high, GRID)
    xbar = seen.problem.xbar if centred else None
    F = np.array([[seen.problem.objective(Predictor(np.array([u]), v, xbar), centred) for u in w] for v in b])
    lowest = seen.minima[centred].value
    levels = lowest + (F.max() - lowest) * np.geomspace(1e-3, 1, 10)
    ax.contour(w, b, F, levels=levels, colors="grey", linewidths=0.8, alpha=0.7)
    for name, of_name, width in ((PAIRS[centred][0], last, 0.9), (PAIRS[centred][1], mean, 3)):
        ax.plot(*of_name.T, "-", color=ALGORITHM_COLOURS[name], linewidth=width, label=name)
        ax.plot(*of_name[-1], "o", color=ALGORITHM_COLOURS[name], markersize=9, markeredgecolor="black")
    ax.plot(*best, "*", color="black", markersize=15, label="minimum")
    ax.set_xlim(w_low, w_high)
    ax.set_ylim(b_low, b_high)
    ax.set_title("centred $F$" if centred else "$F$", fontsize=16)
    labelled(ax, "weight $w$", "bias $b$ of the centred rows" if centred else "bias $b$")
    ax.legend(fontsize=12, framealpha=0.9, loc="upper right")
    ax.grid(visible=False)


def _descent(seen: View, ax) -> None:
    for name, excess in seen.excess.items():
        ax.loglog(seen.t, excess, color=ALGORITHM_COLOURS[name], label=name, **STYLES[name])
    reference_line = np.median([each[len(seen.t) // 2] for each in seen.excess.values()]) * seen.t[len(seen.t) // 2] / seen.t
    ax.loglog(seen.t, reference_line, ":", color="grey", linewidth=2, label=r"$\propto 1/t$")
    labelled(ax, "step $t$", r"$F - F^\star$, centred for csgd, casgd", loc="lower left", ncols=2)


def _margins(seen: View, ax) -> None:
    share = (np.arange(seen.problem.m) + 0.5) / seen.problem.m
    for name, margins in seen.margins.items():
        wrong = np.mean(margins <= 0)
        ax.step(
            np.sort(margins),
            share,
            where="mid",
            color=ALGORITHM_COLOURS[name],
            label=f"{name}: {wrong:.0%} wrong",
            **STYLES[name],
        )
    ax.axvline(0, color="black", linewidth=1)
    labelled(ax, "margin $y_i\\, p_i$ after the last step", "share of the examples below", loc="lower right")
