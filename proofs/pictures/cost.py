"""What a step costs: entries touched, and seconds."""

import numpy as np

from reference import Problem, draw_indices

from ..counted.cost import count_dense, count_sparse
from .look import ALGORITHM_COLOURS, grid, labelled, new_axes, plain_numbers

SPEED_SHOWN = {
    "floor": ("floor: memory moved, nothing computed", "_", "#000000"),
    **{f"{name} loop": (f"{name}, ours", "o", colour) for name, colour in ALGORITHM_COLOURS.items()},
    "plain numba loop": ("asgd as a plain compiled loop", "s", "#E69F00"),
    "scikit-learn loop": ("averaged SGD of scikit-learn", "D", "#D55E00"),
}
"""The contestants in the picture of speeds: label, marker, colour."""


def speed(results, ax=None):
    """Nanoseconds for each stored entry visited, by contestant, data set and order: medians, and bars between the quartiles.

    Parameters
    ----------
    results : dict
        What `python -m proofs bench --json FILE` writes.
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


SCALING_SHOWN = {"loop": ("o", "-", "the loop"), "call": ("^", "--", "a whole run"), "dense": ("s", ":", "the definition")}
"""What the picture of scaling shows: marker, line, label."""


def scaling(results, axes=None):
    """Time against T, k and n, and under each the entries touched, counted one by one: O(n + Tk) against O(Tn).

    Against k and n both are for a step, since the dense side takes fewer of them. At the right end of each line stands the
    exponent fitted to its last decade.

    Parameters
    ----------
    results : dict
        What `python -m proofs bench --scaling --json FILE` writes.
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
        ax.annotate(shown, (x[-1], y[-1]), (8, -4), textcoords="offset points", fontsize=11, color=colour)


def step(problems: dict[str, Problem], ax=None, steps: int = 10):
    """Entries that a step reads and writes, counted one by one: the dense definition hollow, the sparse loop full.

    Parameters
    ----------
    problems : dict of Problem
        By the name to show.
    ax : matplotlib Axes, optional
    steps : int
        How many steps are counted; shown is their mean.
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
            ax.annotate(
                f"× {dense / sparse:.0f}", ((sparse * dense) ** 0.5, place), (0, 4), textcoords="offset points", fontsize=12
            )
    ax.plot([], [], "o", color="black", markersize=11, label="sparse loop")
    ax.plot([], [], "o", color="black", markersize=11, markerfacecolor="white", markeredgewidth=2, label="dense definition")
    ax.set_xscale("log")
    ax.set_yticks(list(places.values()), list(places))
    ax.set_ylim(len(places) - 0.4, -0.8)
    labelled(ax, "entries read and written by a step", "", loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    ax.grid(axis="y", visible=False)
    return ax
