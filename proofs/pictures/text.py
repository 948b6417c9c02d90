"""The real job: words, the choice of λ, and what is missed on the rows held out."""

import numpy as np

from reference import Predictor

from ..measured.held_out import KINDS
from .look import ALGORITHM_COLOURS, colours_of_averages, labelled, new_axes, plain_numbers

LAST, UNIFORM, WEIGHTED, _ = colours_of_averages("asgd")

KIND_SHOWN = {
    "last": (LAST, "o-", "the last iterate: sgd"),
    "uniform": (UNIFORM, "s-", "the uniform average: asgd"),
    "t-weighted": (WEIGHTED, "^-", "the average weighted by $t$"),
}
"""Colour, marker and line, label."""

MISSED = {True: "held-out error in %", False: "held-out mean |p − y|"}
"""What is missed, where the labels are signs and where they are numbers."""


def sweep(lams, misses, ax=None, binary: bool = True):
    """What is missed on the rows held out against λ: the median of the folds, and bands from the best to the worst.

    Parameters
    ----------
    lams : sequence of λ
    misses : ndarray
        From `proofs.measured.held_out.by_lambda`.
    ax : matplotlib Axes, optional
    binary : bool
        Whether a miss is a wrong sign, drawn in percent.
    """
    ax = new_axes() if ax is None else ax
    for place, kind in enumerate(KINDS):
        colour, style, label = KIND_SHOWN[kind]
        of_kind = misses[:, :, place] * (100 if binary else 1)
        ax.plot(lams, np.median(of_kind, axis=0), style, color=colour, markersize=7, linewidth=2.5, label=label)
        ax.fill_between(lams, of_kind.min(axis=0), of_kind.max(axis=0), color=colour, alpha=0.15, linewidth=0)
    ax.set_xscale("log")
    if binary:
        ax.set_yscale("log")
        plain_numbers(ax.yaxis)
    return labelled(ax, "regularisation λ", MISSED[binary])


def words(predictor: Predictor, vocabulary, ax=None, count: int = 12, speaks_for=("not spam", "spam")):
    """The words with the largest weights on both sides, the strongest at the top.

    Parameters
    ----------
    predictor : Predictor
    vocabulary : sequence of n words
    ax : matplotlib Axes, optional
    count : int
        How many words on each side.
    speaks_for : (str, str)
        What a negative and a positive weight speak for.
    """
    ax = new_axes() if ax is None else ax
    order = np.argsort(predictor.w)
    for side, chosen, colour in ((0, order[:count], "#777777"), (1, order[::-1][:count], "#D55E00")):
        at = np.arange(len(chosen))[::-1]
        ax.barh(at, predictor.w[chosen], color=colour, label=f"speaks for {speaks_for[side]}")
        for place, j in zip(at, chosen, strict=True):
            ax.annotate(
                vocabulary[j], (predictor.w[j], place), (5 if side else -5, 0), textcoords="offset points", fontsize=12,
                ha="left" if side else "right", va="center",
            )  # fmt: skip
    ax.axvline(0, color="black", linewidth=1)
    ax.margins(x=0.25)  # room for the words
    ax.set_yticks([])
    labelled(ax, "weight $w_j$ of the word's tf-idf", "", loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    ax.grid(axis="y", visible=False)
    return ax


def misses(by_name, ax=None, binary: bool = True):
    """What is missed on the rows held out, a dot for each draw of the examples, and a line at the median.

    Parameters
    ----------
    by_name : dict of sequences
        A name that ends in "t-weighted" has the colour of that average, one that begins with that of an algorithm has its
        colour; others are black.
    ax : matplotlib Axes, optional
    binary : bool
        As in `sweep`.
    """
    ax = new_axes() if ax is None else ax
    for place, (name, each) in enumerate(reversed(by_name.items())):
        each = np.asarray(each) * (100 if binary else 1)
        of_algorithm = ALGORITHM_COLOURS.get(name.partition(",")[0], "#000000")
        colour = WEIGHTED if name.endswith("t-weighted") else of_algorithm
        ax.plot(
            each, place + 0.4 * ((np.arange(len(each)) + 0.5) / len(each) - 0.5), "o", color=colour, markersize=7, alpha=0.7
        )
        ax.plot([np.median(each)] * 2, [place - 0.35, place + 0.35], color=colour, linewidth=3)
    ax.set_yticks(range(len(by_name)), list(reversed(by_name)))
    labelled(ax, MISSED[binary], "")
    ax.grid(axis="y", visible=False)
    return ax
