"""The losses of Table 1, their subderivatives and their kinks."""

import numpy as np

from reference import LOSSES

from ..compared.iterates import KINK_DISTANCE
from .look import COLOURS, grid, labelled

AT_KINK = 1.0
"""The kink of both the absolute and the hinge loss, for the label +1."""


def losses(axes=None):
    """Table 1 for the label y = +1: the four losses above, below them the (sub)derivatives.

    Where a loss has a kink, any slope between the two dots is a subderivative; the full dot is the one that Table 1 picks.

    Parameters
    ----------
    axes : array of matplotlib Axes of shape (2, 4), optional
    """
    axes = grid(2, 4, (13, 6), sharex=True, sharey="row") if axes is None else axes
    p = np.linspace(-2, 3, 501)
    for (name, loss), (above, below) in zip(LOSSES.items(), np.transpose(axes), strict=True):
        above.plot(p, [loss.value(each, 1.0) for each in p], color=COLOURS[0], linewidth=3)
        above.set_title(name, fontsize=16)
        if name not in KINK_DISTANCE:
            below.plot(p, [loss.derivative(each, 1.0) for each in p], color=COLOURS[0], linewidth=3)
        else:
            above.plot(AT_KINK, loss.value(AT_KINK, 1.0), "o", color="black", markersize=9)
            picked, after = loss.derivative(AT_KINK, 1.0), loss.derivative(np.nextafter(AT_KINK, 2), 1.0)
            for side, slope in ((p[p <= AT_KINK], picked), (p[p > AT_KINK], after)):
                below.plot(side, [loss.derivative(each, 1.0) for each in side], color=COLOURS[0], linewidth=3)
                below.plot(
                    AT_KINK, slope, "o", color="black", markersize=9, markerfacecolor="black" if slope == picked else "white"
                )
            below.annotate("Table 1", (AT_KINK, picked), (10, -5), textcoords="offset points", fontsize=12)
            below.plot([AT_KINK, AT_KINK], [picked, after], ":", color="black", linewidth=2, zorder=0)
        for ax in (above, below):
            labelled(ax, "prediction $p$" if ax is below else "", "")
            ax.axhline(0, color="grey", linewidth=0.8, zorder=0)
    axes[0][0].set_ylabel(r"loss $\ell(p, {+}1)$", fontsize=14)
    axes[1][0].set_ylabel(r"slope $\ell'(p, {+}1)$", fontsize=14)
    return axes
