"""Where caches bend the line: the time of a stored entry against n."""

import numpy as np

from ..bench.caches import BYTES_A_COLUMN, cache_sizes
from .look import ALGORITHM_COLOURS, labelled, new_axes, plain_numbers

BEND_SHOWN = {
    ("plain", "evenly"): ("#D55E00", "s-", "a plain compiled loop, columns drawn evenly"),
    ("plain", "as in text"): ("#D55E00", "s--", "a plain compiled loop, columns as in text"),
    ("asgd", "evenly"): (ALGORITHM_COLOURS["asgd"], "o-", "asgd, columns drawn evenly"),
    ("asgd", "as in text"): (ALGORITHM_COLOURS["asgd"], "o--", "asgd, columns as in text"),
}
"""What the picture of the caches shows: colour, marker and line, label."""


def caches(timings, ax=None):
    """Nanoseconds for a stored entry against n, with bands between the quartiles, and where the state outgrows a cache.

    Parameters
    ----------
    timings : iterable of dict
        From `proofs.bench.caches.bend`.
    ax : matplotlib Axes, optional
    """
    timings = list(timings)
    ax = new_axes() if ax is None else ax
    for (contestant, drawn), (colour, style, label) in BEND_SHOWN.items():
        here = [each for each in timings if (each["contestant"], each["drawn"]) == (contestant, drawn)]
        n = np.array([each["n"] for each in here])
        low, middle, high = (
            np.array([each["ns_per_entry"][name] for each in here]) for name in ("lower_quartile", "median", "upper_quartile")
        )
        ax.loglog(n, middle, style, markersize=6, color=colour, linewidth=2.5, label=label)
        ax.fill_between(n, low, high, color=colour, alpha=0.2, linewidth=0)
    plain_numbers(ax.yaxis)
    labelled(ax, "columns $n$", "ns for a stored entry", loc="upper left")
    low, high = ax.get_xlim()
    for name, size in cache_sizes().items():
        if low < size / BYTES_A_COLUMN < high:
            ax.axvline(size / BYTES_A_COLUMN, color="grey", linewidth=1)
            ax.annotate(
                f"{name} full", (size / BYTES_A_COLUMN, 0), (4, 6), xycoords=("data", "axes fraction"),
                textcoords="offset points", fontsize=12, color="dimgrey",
            )  # fmt: skip
    return ax
