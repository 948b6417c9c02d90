"""What a translation of the rows does."""

import numpy as np

from ..stability import CURVES, OFFSETS, measure
from .look import COLOURS, labelled, new_axes


def stability(ax=None):
    """How many digits casgd has left where the mean is large: the worst relative error of its weights over the four losses.

    Each of the three ways is held against the exact run on the same floats, 20 rows of spread 1 and 40 steps; see
    `proofs.stability`. An error of 1 means that no digit is left.
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
