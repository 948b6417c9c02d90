"""What a run does, step by step: the dense definition and the sparse algorithm, one minus the other."""

import numpy as np

from reference import Problem, draw_indices
from reference.datasets import load_tweets, with_sign_labels

from ..compared.iterates import Trace, compare
from .look import ALGORITHM_COLOURS, grid, labelled, new_axes

LOWEST = 1e-21
"""Where the pictures put a difference of 0, which has no logarithm."""


def identical(trace: Trace, algorithm: str, ax=None):
    """How far the dense definition and the sparse algorithm are apart at every step, beside the bound of rounding.

    Points on the lower edge of the axes are differences of exactly 0.

    Parameters
    ----------
    trace : Trace
        From `proofs.compared.iterates.compare`.
    algorithm : str
        Whose colour it takes.
    ax : matplotlib Axes, optional
    """
    ax = new_axes() if ax is None else ax
    t, colour = np.arange(1, len(trace.bound) + 1), ALGORITHM_COLOURS[algorithm]
    ax.loglog(t, trace.bound, "--", color="black", linewidth=2, label=r"bound: $t+m+k$ roundings")
    ax.loglog(t, trace.rounding, "-", color="black", linewidth=1, label="one such rounding")
    points = {"color": "dimgrey", "markersize": 4, "alpha": 0.5, "linestyle": "", "marker": "."}
    for label, apart, count, style in (
        (r"prediction $p_t$", trace.prediction, 1000, points),
        (r"last $\mathbf{w}_t$", trace.last, 200, {"color": colour, "linewidth": 3}),
        (r"average $\overline{\mathbf{w}}_t$", trace.average, 200, {"color": colour, "linewidth": 2.5, "linestyle": ":"}),
    ):
        if apart is not None:
            at = np.unique(np.geomspace(1, len(t), count).astype(int)) - 1  # as many as the eye can tell apart
            ax.loglog(t[at], np.maximum(apart[at].astype(float), LOWEST), label=label, clip_on=False, **style)
    ax.set_ylim(LOWEST, None)
    ax.annotate("equal", (1, LOWEST), (0, 6), textcoords="offset points", fontsize=12, color="dimgrey")
    ax.set_title(algorithm, fontsize=16)
    return labelled(
        ax, "step $t$", "|dense − sparse|", loc="lower right", bbox_to_anchor=(1.02, 0.03), ncols=2, columnspacing=1
    )


def four_traces():
    """The four algorithms against their definitions, log loss, λ = 0.01, over a pass of the tweets."""
    tweets = with_sign_labels(load_tweets(tfidf=True))
    problem = Problem(tweets.X, tweets.y, "log", 1e-2)
    indices = draw_indices(problem.m, problem.m, rng=0)
    axes = grid(2, 2, sharex=True, sharey=True)
    traces = compare(problem, indices, ALGORITHM_COLOURS)
    for ax, (algorithm, trace) in zip(axes.flat, traces.items(), strict=True):
        identical(trace, algorithm, ax)
    return axes
