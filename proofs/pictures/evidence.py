"""Pictures of what is proved and compared: losses, iterates, translations, formulas and mutants."""

import numpy as np
import sympy

from efficient.runs.algorithms import ALGORITHMS
from reference import LOSSES, Problem, draw_indices
from reference.datasets import load_tweets, with_sign_labels

from ..compared.judge import Verdict, judge
from ..compared.translation import changes
from ..proved.execution import induction, unrolled
from ..proved.mutants import EVIDENCE
from .look import ALGORITHM_COLOURS, COLOURS, grid, labelled, new_axes, note

LOWEST = 1e-21
"""Place of a distance of 0, which has no logarithm."""


def losses(axes=None):
    """Draw Table 1 for the label y = +1: the losses above, below them the (sub)derivatives.

    Where a loss has a kink, any slope between the two dots is a subderivative; the full dot is the one that Table 1 picks.

    Parameters
    ----------
    axes : array of matplotlib Axes of shape (2, number of losses), optional
    """
    axes = grid(2, len(LOSSES), (13, 6), sharex=True, sharey="row") if axes is None else axes
    p = np.linspace(-2, 3, 501)
    for (name, loss), (above, below) in zip(LOSSES.items(), np.transpose(axes), strict=True):
        above.plot(p, [loss.value(each, 1.0) for each in p], color=COLOURS[0], linewidth=3)
        above.set_title(name, fontsize=16)
        kink = np.inf if loss.kink is None else float(loss.kink(1.0))
        for side in (p[p <= kink], p[p > kink]):
            below.plot(side, [loss.derivative(each, 1.0) for each in side], color=COLOURS[0], linewidth=3)
        if loss.kink is not None:
            above.plot(kink, loss.value(kink, 1.0), "o", color="black", markersize=9)
            picked, after = loss.derivative(kink, 1.0), loss.derivative(np.nextafter(kink, np.inf), 1.0)
            for slope, face in ((picked, "black"), (after, "white")):
                below.plot(kink, slope, "o", color="black", markersize=9, markerfacecolor=face)
            note(below, "Table 1", (kink, picked), (10, -5), color="black")
            below.plot([kink, kink], [picked, after], ":", color="black", linewidth=2, zorder=0)
        for ax in (above, below):
            labelled(ax, "prediction $p$" if ax is below else "", "")
            ax.axhline(0, color="grey", linewidth=0.8, zorder=0)
    axes[0][0].set_ylabel(r"loss $\ell(p, {+}1)$", fontsize=14)
    axes[1][0].set_ylabel(r"slope $\ell'(p, {+}1)$", fontsize=14)
    return axes


def identical(verdict: Verdict, algorithm: str, ax=None):
    """Draw the distances of both sides' predictions from the exact ones at every step, beside what rounding may do.

    Points on the lower edge of the axes are distances of exactly 0.

    Parameters
    ----------
    verdict : Verdict
        From `proofs.compared.judge.judge`; of a run without an overflow.
    algorithm : str
        Whose colour it takes.
    ax : matplotlib Axes, optional
    """
    assert verdict.dense is not None and verdict.sparse is not None and verdict.rounding is not None
    ax = new_axes() if ax is None else ax
    t, colour = np.arange(1, len(verdict.dense.p) + 1), ALGORITHM_COLOURS[algorithm]
    bound = np.maximum(verdict.rounding.p, LOWEST)
    ax.loglog(t, bound, "--", color="black", linewidth=2, label="one rounding of each operation")
    for label, off, look in (
        ("definition", verdict.dense.p, {"color": "dimgrey"}),
        ("sparse algorithm", verdict.sparse.p, {"color": colour}),
    ):
        at = np.unique(np.geomspace(1, len(t), 1000).astype(int)) - 1  # as many as the eye can tell apart
        points = {"linestyle": "", "marker": ".", "markersize": 4, "alpha": 0.5, "clip_on": False}
        ax.loglog(t[at], np.maximum(off[at], LOWEST), label=label, **points, **look)
    ax.set_ylim(LOWEST, max(ax.get_ylim()[1], 3 * bound.max()))  # of shared axes the highest
    note(ax, "exact", (1, LOWEST), (0, 6))
    ax.set_title(algorithm, fontsize=16)
    legend = {"loc": "lower right", "bbox_to_anchor": (1.02, 0.03), "markerscale": 3}
    return labelled(ax, "step $t$", "|float64 − exact| of $p_t$", **legend)


def four_verdicts():
    """Draw the four algorithms and their definitions against exact runs, log loss, λ = 0.01, over a pass of the tweets."""
    tweets = with_sign_labels(load_tweets(tfidf=True))
    problem = Problem(tweets.X, tweets.y, "log", 1e-2)
    indices = draw_indices(problem.m, problem.m, rng=0)
    axes = grid(2, 2, sharex=True, sharey=True)
    for ax, (algorithm, verdict) in zip(axes.flat, judge(problem, indices, ALGORITHM_COLOURS).items(), strict=True):
        identical(verdict, algorithm, ax)
    return axes


def translation(ax=None, powers=range(-12, 31, 3)):
    """Draw the change of the predictions when a power of two is added to every entry of the rows."""
    ax = new_axes() if ax is None else ax
    offsets = 2.0 ** np.array(powers)
    for (name, change), marker in zip(changes(tuple(offsets)).items(), "osD^", strict=True):
        colour = ALGORITHM_COLOURS[name]
        ax.loglog(offsets, np.maximum(change, 1e-17), marker=marker, markersize=7, color=colour, linewidth=2.5, label=name)
    ax.axhline(1, color="grey", linewidth=1)
    note(ax, "other predictions altogether", (offsets[-1], 1), (0, -16), ha="right", color="black")
    return labelled(ax, "what is added to every entry of the rows, of spread 1", "relative change of the predictions")


def formula_sizes(ax=None, most_steps: int = 5):
    """Draw the operations in the largest equation that must hold: for T steps on symbols, and for the induction.

    A run of T steps says nothing about T + 1; the induction, whose largest equation is the dashed line, is for all t.
    """
    ax = new_axes() if ax is None else ax
    T = range(1, most_steps + 1)
    for name, marker in (("asgd", "s"), ("casgd", "^")):
        algorithm, colour = ALGORITHMS[name], ALGORITHM_COLOURS[name]
        sizes = [largest(unrolled(algorithm, steps)) for steps in T]
        ax.semilogy(T, sizes, f"{marker}-", color=colour, markersize=8, linewidth=2.5, label=f"{name}, $T$ steps unrolled")
        size = largest(step for _, step in induction(algorithm))
        ax.axhline(size, linestyle="--", color=colour, linewidth=2, label=f"{name}, the induction: any $t$")
    ax.set_xticks(T)
    return labelled(ax, "steps $T$", "operations in the largest equation")


def largest(equations) -> int:
    """Count the operations on both sides of the largest equation."""
    return max(sum(sympy.count_ops(sympy.sympify(side)) for side in (step.left, step.right)) for step in equations)


def survivors(found, name: str, ax=None):
    """Draw the number of programs one token away from an algorithm that each kind of evidence alone does not refute.

    The bars are for the parts that are changed: the loop, or what it calls (the recoveries, x̄ and the vector operations).

    Parameters
    ----------
    found : dict
        From `proofs.proved.mutants.standing`.
    name : str
        Of the algorithm.
    ax : matplotlib Axes, optional
    """
    ax = new_axes() if ax is None else ax
    in_loop = np.array([sum(where.startswith("steps:") for where in found[evidence]) for evidence in EVIDENCE])
    total = np.array([len(found[evidence]) for evidence in EVIDENCE])
    look = {"edgecolor": "black", "linewidth": 0.5}
    ax.bar(range(len(EVIDENCE)), in_loop, 0.6, color="#D55E00", label="the loop", **look)
    ax.bar(range(len(EVIDENCE)), total - in_loop, 0.6, bottom=in_loop, color="#999999", label="what it calls", **look)
    for place, count in enumerate(total):
        note(ax, str(count), (place, count), ha="center", fontsize=14, color="black")
    ax.set_xticks(range(len(EVIDENCE)), list(EVIDENCE))
    ax.margins(y=0.12)
    labelled(ax, "evidence", f"wrong programs not refuted ({name})", loc="upper right")
    ax.grid(axis="x", visible=False)
    return ax
