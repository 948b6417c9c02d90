"""What a translation of the rows does."""

import numpy as np

import efficient
from reference import Problem, safe_t0

from ..compared.translation import changes
from ..measured.stability import CURVES, OFFSETS, measure
from .look import ALGORITHM_COLOURS, COLOURS, labelled, new_axes


def stability(ax=None):
    """How many digits casgd has left where the mean is large: the worst relative error of its weights over the four losses.

    Each of the three ways is held against the exact run on the same floats, 20 rows of spread 1 and 40 steps; see
    `proofs.measured.stability`. An error of 1 means that no digit is left.
    """
    ax = new_axes() if ax is None else ax
    offsets, measured = np.array(OFFSETS[1:]), measure()  # 0 has no place on a logarithmic axis
    for (name, label), marker, colour in zip(CURVES.items(), "so^", (COLOURS[1], COLOURS[0], COLOURS[2]), strict=True):
        ax.loglog(offsets, measured[name][1:], marker=marker, markersize=7, color=colour, linewidth=2.5, label=label)
    for power, shown in ((2, r"$\epsilon\,\|\bar x\|^2/\mathrm{spread}^2$"), (1, r"$\epsilon\,\|\bar x\|/\mathrm{spread}$")):
        ax.loglog(offsets, np.finfo(float).eps * offsets**power, ":", color="grey", linewidth=1.5)
        at = {2: 1e5, 1: 1e8}[power]
        ax.annotate(
            shown, (at, np.finfo(float).eps * at**power), (8, -30), textcoords="offset points", fontsize=12, color="dimgrey"
        )
    ax.axhline(1, color="grey", linewidth=1)
    ax.annotate("no digit left", (1, 1), (0, 4), textcoords="offset points", fontsize=12, color="dimgrey")
    ax.set_ylim(1e-17, 1e2)
    return labelled(
        ax, "offset added to rows of spread 1", "relative error of the weights", loc="upper left", bbox_to_anchor=(0, 0.9)
    )


def fits(problem: Problem, indices, ax=None):
    """The lines that asgd and casgd fit to points with a single feature, and the points' centre of mass.

    Parameters
    ----------
    problem : Problem
        With n = 1, in float64.
    indices : sequence of T row numbers
    ax : matplotlib Axes, optional

    Raises ValueError if the problem has more features than one.
    """
    if problem.n != 1:
        raise ValueError(f"problem must have one feature, for the horizontal axis; got {problem.n}")
    ax = new_axes() if ax is None else ax
    x = np.array([problem.X.dense(i)[0] for i in range(problem.m)])
    ax.plot(x, problem.y, "o", color="grey", markersize=5, alpha=0.5, label="examples")
    ends = np.array([x.min(), x.max()])
    for name, centred, line in (("asgd", False, "-"), ("casgd", True, "--")):
        predictor = getattr(efficient, name)(problem, indices, t0=safe_t0(problem, centred))
        ax.plot(ends, predictor.predict(ends[:, None]), line, color=ALGORITHM_COLOURS[name], linewidth=3.5, label=name)
    ax.plot(x.mean(), problem.y.mean(), "X", color="black", markersize=11, label="centre of mass")
    return labelled(ax, "feature $x$", "label $y$, prediction")


def translation(ax=None, powers=range(-12, 31, 3)):
    """How much the predictions change when a power of two is added to every entry of the rows."""
    ax = new_axes() if ax is None else ax
    offsets = 2.0 ** np.array(powers)
    for (name, change), marker in zip(changes(tuple(offsets)).items(), "osD^", strict=True):
        colour = ALGORITHM_COLOURS[name]
        ax.loglog(offsets, np.maximum(change, 1e-17), marker=marker, markersize=7, color=colour, linewidth=2.5, label=name)
    ax.axhline(1, color="grey", linewidth=1)
    ax.annotate("other predictions altogether", (offsets[-1], 1), (0, -16), textcoords="offset points", ha="right", fontsize=12)
    return labelled(ax, "what is added to every entry of the rows, of spread 1", "relative change of the predictions")
