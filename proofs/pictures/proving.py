"""How a machine checks a lemma: how the formulas grow, and which wrong programs which evidence tells from the right one."""

import sympy

from efficient.runs.algorithms import ALGORITHMS

from ..proved.corruptions import EVIDENCE
from ..proved.shipped import induction, unrolled
from .look import ALGORITHM_COLOURS, labelled, new_axes


def formula_sizes(ax=None, most_steps: int = 5):
    """How many operations the largest equation has that must hold: of runs of T steps on symbols, and of the induction.

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
    """The operations on both sides of the largest equation."""
    return max(sum(sympy.count_ops(sympy.sympify(side)) for side in (step.left, step.right)) for step in equations)


PART_COLOURS = {"the loop": "#D55E00", "what it calls": "#999999"}


def survivors(found, name: str, ax=None):
    """How many programs one token away from an algorithm each piece of evidence, by itself, does not tell from it.

    The bars are for the parts that are corrupted. At 0 every wrong program is refuted.

    Parameters
    ----------
    found : dict
        From `proofs.proved.corruptions.standing`.
    name : str
        Of the algorithm.
    ax : matplotlib Axes, optional
    """
    ax = new_axes() if ax is None else ax
    left = dict.fromkeys(EVIDENCE, 0)
    for part, colour in PART_COLOURS.items():
        counts = [sum(part_of(where) == part for where in found[evidence]) for evidence in EVIDENCE]
        bottoms = [left[evidence] for evidence in EVIDENCE]
        ax.bar(range(len(EVIDENCE)), counts, 0.6, bottom=bottoms, color=colour, edgecolor="black", linewidth=0.5, label=part)
        left = {evidence: bottom + count for evidence, bottom, count in zip(EVIDENCE, bottoms, counts, strict=True)}
    for place, total in enumerate(left.values()):
        ax.annotate(str(total), (place, total), (0, 4), textcoords="offset points", ha="center", fontsize=14)
    ax.set_xticks(range(len(EVIDENCE)), list(EVIDENCE))
    ax.margins(y=0.12)
    labelled(ax, "evidence", f"wrong programs not refuted ({name})", loc="upper right")
    ax.grid(axis="x", visible=False)
    return ax


def part_of(where: str) -> str:
    """The part of the program that a corruption is in: the loop, or the recoveries, x̄ and the vector operations."""
    return "the loop" if where.startswith("steps:") else "what it calls"
