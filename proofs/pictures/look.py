"""The look that the pictures share: colour-blind safe, one colour for each algorithm, readable at slide size."""

COLOURS = ("#0072B2", "#E69F00", "#009E73")  # blue, orange, green of Okabe and Ito: told apart by the colour-blind


def new_axes():
    return grid(1, 1, (8, 5))


def grid(rows: int, columns: int, size=(13, 9), **options):
    """New axes in a grid, as `matplotlib.pyplot.subplots` makes them, of this size in inches for 80 dots each."""
    import matplotlib.pyplot as plt

    return plt.subplots(rows, columns, figsize=size, dpi=80, layout="constrained", **options)[1]


def labelled(ax, x: str, y: str, **legend):
    """The look that the pictures share, readable at slide size."""
    ax.set_xlabel(x, fontsize=14)
    ax.set_ylabel(y, fontsize=14)
    ax.tick_params(labelsize=12)
    ax.grid(alpha=0.3)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(**{"fontsize": 12, "frameon": False, **legend})
    return ax


ALGORITHM_COLOURS = {"sgd": "#56B4E9", "asgd": "#0072B2", "csgd": "#CC79A7", "casgd": "#009E73"}
"""One colour for each algorithm in all pictures, from Okabe and Ito as well."""


def colours_of_averages(algorithm: str) -> tuple[str, str, str, str]:
    """For the last iterate, the uniform average, the t-weighted one and the suffix: the first two are algorithms."""
    last = {"asgd": "sgd", "casgd": "csgd"}[algorithm]
    return ALGORITHM_COLOURS[last], ALGORITHM_COLOURS[algorithm], "#E69F00", "#D55E00"


def plain_numbers(axis) -> None:
    """1, 1.5, 2, 3, 5, 7, 10, 15 … on a logarithmic axis of a decade or two, in place of powers of 10."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5, 7)))
    axis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:g}"))
    axis.set_minor_locator(NullLocator())
