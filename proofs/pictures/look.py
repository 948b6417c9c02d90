"""Look that the pictures share: colour-blind safe, one colour for each algorithm, readable at slide size."""

import numpy as np

COLOURS = ("#0072B2", "#E69F00", "#009E73")  # blue, orange, green of Okabe and Ito: told apart by the colour-blind

ALGORITHM_COLOURS = {"sgd": "#56B4E9", "asgd": "#0072B2", "csgd": "#CC79A7", "casgd": "#009E73"}
"""One colour for each algorithm in all pictures, from Okabe and Ito as well."""


def new_axes():
    """Make axes of the usual size."""
    return grid(1, 1, (8, 5))


def grid(rows: int, columns: int, size=(13, 9), **options):
    """Make axes in a grid, as `matplotlib.pyplot.subplots` does, of this size in inches for 80 dots each."""
    import matplotlib.pyplot as plt

    return plt.subplots(rows, columns, figsize=size, dpi=80, **{"layout": "constrained", **options})[1]


def labelled(ax, x: str, y: str, **legend):
    """Label the axes, add a legend if anything has a label, and return them."""
    ax.set_xlabel(x, fontsize=14)
    ax.set_ylabel(y, fontsize=14)
    ax.tick_params(labelsize=12)
    ax.grid(alpha=0.3)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(**{"fontsize": 12, "frameon": False, **legend})
    return ax


def note(ax, text: str, at, offset=(0, 4), **options) -> None:
    """Write a few words at a place, moved by so many points."""
    ax.annotate(text, at, offset, textcoords="offset points", **{"fontsize": 12, "color": "dimgrey", **options})


def band(ax, x, spread, style="-", alpha=0.2, **line) -> None:
    """Draw a line through the middle numbers of a spread (low, middle, high), and a band from the low to the high ones."""
    low, middle, high = spread
    ax.plot(x, middle, style, **{"markersize": 7, "linewidth": 2.5, **line})
    ax.fill_between(x, low, high, color=line["color"], alpha=alpha, linewidth=0)


def quartiles(draws):
    """Return the quartiles and the median over the first axis, for `band`."""
    return np.quantile(draws, (0.25, 0.5, 0.75), axis=0)


def colours_of_averages(algorithm: str) -> tuple[str, str, str, str]:
    """Return colours of the last iterate and the uniform, t-weighted and suffix averages; the first two are algorithms."""
    last = {"asgd": "sgd", "casgd": "csgd"}[algorithm]
    return ALGORITHM_COLOURS[last], ALGORITHM_COLOURS[algorithm], "#E69F00", "#D55E00"


def plain_numbers(axis) -> None:
    """Show 1, 1.5, 2, 3, 5, 7, 10, 15 … on a logarithmic axis of a decade or two, in place of powers of 10."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5, 7)))
    axis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:g}"))
    axis.set_minor_locator(NullLocator())
