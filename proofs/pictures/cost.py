"""Pictures of the cost: seconds, and entries touched."""

from pathlib import Path

import numpy as np

from reference import Problem, draw_indices

from ..bench.scaling import BYTES_A_COLUMN
from ..counted.arrays import count_dense, count_sparse
from .look import ALGORITHM_COLOURS, band, grid, labelled, new_axes, note, plain_numbers

SPEED_SHOWN = {
    "floor": ("floor: memory moved, nothing computed", "_", "#000000"),
    **{f"{name} loop": (f"{name}, ours", "o", colour) for name, colour in ALGORITHM_COLOURS.items()},
    "plain numba loop": ("asgd as a plain compiled loop", "s", "#E69F00"),
    "scikit-learn loop": ("averaged SGD of scikit-learn", "D", "#D55E00"),
}
"""Contestants in the picture of speeds: label, marker, colour."""


def speed(results, ax=None):
    """Draw nanoseconds for each stored entry visited, by contestant, data set and order, with bars between the quartiles.

    Parameters
    ----------
    results : dict
        From `python -m proofs.bench --json FILE`.
    ax : matplotlib Axes, optional
    """
    timed = {(entry["set"], entry["order"], entry["contestant"]): entry["ns_per_entry"] for entry in results["timings"]}
    places = list(dict.fromkeys((name, order) for name, order, _ in timed))
    ax = new_axes() if ax is None else ax
    for number, (contestant, (label, marker, colour)) in enumerate(SPEED_SHOWN.items()):
        there = [place for place, key in enumerate(places) if timed.get((*key, contestant))]
        ns = [timed[*places[place], contestant] for place in there]
        low, middle, high = (np.array([each[name] for each in ns]) for name in ("lower_quartile", "median", "upper_quartile"))
        at = np.array(there) + 0.8 * ((number + 0.5) / len(SPEED_SHOWN) - 0.5)
        look = {"markersize": 10, "markeredgewidth": 2.5} if marker == "_" else {"markersize": 7, "markeredgewidth": 0}
        ax.errorbar(at, middle, (middle - low, high - middle), fmt=marker, color=colour, elinewidth=2, label=label, **look)
    for place in range(1, len(places)):
        ax.axvline(place - 0.5, color="grey", linewidth=0.8, alpha=0.4)
    ax.set_xticks(range(len(places)), [f"{name}\n{order}" for name, order in places])
    ax.set_xlim(-0.5, len(places) - 0.5)
    ax.set_yscale("log")
    plain_numbers(ax.yaxis)
    labelled(ax, "", "ns for a stored entry", loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    ax.grid(axis="x", visible=False)
    return ax


POINT_SHOWN = {"dense definition": "by the definition", "asgd loop": "by the sparse algorithm"}
"""Contestants in the picture of the point: label."""


def point(results, ax=None):
    """Draw nanoseconds for each stored entry visited, in order, against n: averaged SGD dense and sparse.

    Parameters
    ----------
    results : dict
        From `python -m proofs.bench --json FILE`.
    ax : matplotlib Axes, optional
    """
    columns = {each["name"]: each["n"] for each in results["sets"]}
    ax = new_axes() if ax is None else ax
    for (contestant, label), colour in zip(POINT_SHOWN.items(), ("#D55E00", ALGORITHM_COLOURS["asgd"]), strict=True):
        timed = sorted(
            (columns[each["set"]], each["ns_per_entry"]["median"])
            for each in results["timings"]
            if (each["contestant"], each["order"], each["status"]) == (contestant, "sequential", "timed")
        )
        n, ns = np.transpose(timed)
        ax.loglog(n, ns, "o-", color=colour, markersize=9, linewidth=3)
        note(ax, label, (n[0], ns[0]), (0, 30), fontsize=16, color=colour)
        note(
            ax,
            f"{float(f'{ns[-1]:.2g}'):,.{0 if ns[-1] > 10 else 1}f} ns",
            (n[-1], ns[-1]),
            (-6, 12),
            fontsize=16,
            color=colour,
            ha="right",
        )
    ax.margins(y=0.2)
    return labelled(ax, "columns $n$", "nanoseconds for a stored entry")


SCALING_SHOWN = {"loop": ("o", "-", "the loop"), "call": ("^", "--", "a whole run"), "dense": ("s", ":", "the definition")}
"""Parts in the picture of scaling: marker, line, label."""


def scaling(results, axes=None):
    """Draw time against T, k and n, and under each the entries touched, counted one by one: O(n + Tk) against O(Tn).

    Against k and n both are for a step, since the dense side takes fewer of them. At the right end of each line stands the
    exponent fitted to its last decade.

    Parameters
    ----------
    results : dict
        From `python -m proofs.bench --scaling --json FILE`.
    axes : array of matplotlib Axes of shape (2, 3), optional
    """
    axes = grid(2, 3, (13, 8), sharex="col") if axes is None else axes
    for row, (curves, unit) in enumerate((("curves", "seconds"), ("counts", "entries"))):
        for ax, variable in zip(axes[row], ("T", "k", "n"), strict=True):
            ax.margins(x=0.27)  # room for the exponents
            for entry in results[curves]:
                if entry["variable"] == variable and entry["part"] in SCALING_SHOWN:
                    _curve(ax, entry, unit)
            of_step = "" if variable == "T" else " for a step"
            what = "seconds" if row == 0 else "entries touched"
            labelled(ax, f"${variable}$" if row else "", what + of_step)
            ax.get_legend().remove()
    handles = axes[0, 0].get_legend_handles_labels()
    axes[0, 0].figure.legend(*handles, fontsize=12, frameon=False, ncols=3, loc="outside upper center")
    return axes


def _curve(ax, entry, unit: str) -> None:
    marker, line, label = SCALING_SHOWN[entry["part"]]
    x, y = np.array(entry["x"]), np.array(entry[unit])
    if entry["variable"] != "T":
        y = y / np.array(entry["T"])
    colour = ALGORITHM_COLOURS[entry["algorithm"]]
    ax.loglog(x, y, line, marker=marker, markersize=5, color=colour, linewidth=2, label=f"{entry['algorithm']}: {label}")
    if entry["algorithm"] == "asgd" and (entry["part"] != "call" or entry["variable"] == "n"):  # else it is the loop's
        shown = rf"${entry['variable']}^{{{round(entry['last_exponent'], 2) + 0.0:.2f}}}$"
        note(ax, shown, (x[-1], y[-1]), (8, -4), fontsize=14, color=colour)


def step(problems: dict[str, Problem], ax=None, steps: int = 10):
    """Draw the entries that a step reads and writes, counted one by one: the dense definition hollow, the sparse loop full.

    Parameters
    ----------
    problems : dict of Problem
        By the name to show.
    ax : matplotlib Axes, optional
    steps : int
        Number of steps that are counted; shown is their mean.
    """
    ax = new_axes() if ax is None else ax
    places: dict[str, int] = {}
    for name, problem in problems.items():
        indices = draw_indices(problem.m, steps, rng=0)
        for algorithm, colour in ALGORITHM_COLOURS.items():
            dense = sum(count_dense(algorithm, problem, indices)) / steps
            sparse = sum(count_sparse(algorithm, problem, indices)[0]["loop"]) / steps
            place = places[f"{name}, {algorithm}"] = len(places)
            ax.plot([sparse, dense], [place, place], color=colour, linewidth=2)
            ax.plot(sparse, place, "o", color=colour, markersize=11)
            ax.plot(dense, place, "o", color=colour, markersize=11, markerfacecolor="white", markeredgewidth=2)
            note(ax, f"× {dense / sparse:.0f}", ((sparse * dense) ** 0.5, place), color="black")
    ax.plot([], [], "o", color="black", markersize=11, label="sparse loop")
    ax.plot([], [], "o", color="black", markersize=11, markerfacecolor="white", markeredgewidth=2, label="dense definition")
    ax.set_xscale("log")
    ax.set_yticks(list(places.values()), list(places))
    ax.set_ylim(len(places) - 0.4, -0.8)
    labelled(ax, "entries read and written by a step", "", loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    ax.grid(axis="y", visible=False)
    return ax


BEND_SHOWN = {
    ("plain", "evenly"): ("#D55E00", "s-", "a plain compiled loop, columns drawn evenly"),
    ("plain", "as in text"): ("#D55E00", "s--", "a plain compiled loop, columns as in text"),
    ("asgd", "evenly"): (ALGORITHM_COLOURS["asgd"], "o-", "asgd, columns drawn evenly"),
    ("asgd", "as in text"): (ALGORITHM_COLOURS["asgd"], "o--", "asgd, columns as in text"),
}
"""Contestants in the picture of the caches: colour, marker and line, label."""


def caches(timings, ax=None):
    """Draw nanoseconds for a stored entry against n, with bands between the quartiles, and where the state outgrows a cache.

    Parameters
    ----------
    timings : iterable of dict
        From `proofs.bench.scaling.bend`.
    ax : matplotlib Axes, optional
    """
    timings = list(timings)
    ax = new_axes() if ax is None else ax
    for (contestant, drawn), (colour, style, label) in BEND_SHOWN.items():
        here = [each for each in timings if (each["contestant"], each["drawn"]) == (contestant, drawn)]
        ns = np.array(
            [[each["ns_per_entry"][name] for each in here] for name in ("lower_quartile", "median", "upper_quartile")]
        )
        band(ax, [each["n"] for each in here], ns, style, markersize=6, color=colour, label=label)
    ax.set_xscale("log")
    ax.set_yscale("log")
    plain_numbers(ax.yaxis)
    labelled(ax, "columns $n$", "ns for a stored entry", loc="upper left", frameon=True, framealpha=1, edgecolor="white")
    low, high = ax.get_xlim()
    for name, size in cache_sizes().items():
        if low < size / BYTES_A_COLUMN < high:
            ax.axvline(size / BYTES_A_COLUMN, color="grey", linewidth=1)
            note(ax, f"{name} full", (size / BYTES_A_COLUMN, 0), (4, 6), xycoords=("data", "axes fraction"))
    return ax


def cache_sizes() -> dict[str, int]:
    """Return the bytes of this machine's caches for data, by name, as far as the system tells."""
    sizes = {}
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = ((folder / name).read_text("utf8").strip() for name in ("level", "type", "size"))
        if kind != "Instruction" and size.endswith("K"):
            sizes[f"L{level}"] = 1024 * int(size[:-1])
    return sizes
