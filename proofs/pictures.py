"""The pictures: each a function that draws on the axes `ax`, or on new ones, and returns them."""

import numpy as np

from efficient import State
from reference import Predictor, Problem, draw_indices, minimise
from reference.averages import polynomial
from reference.datasets import load_tweets, with_sign_labels

from .averages import KINDS, LONG, Setting, suboptimality
from .stability import CURVES, OFFSETS, measure

COLOURS = ("#0072B2", "#E69F00", "#009E73")  # blue, orange, green of Okabe and Ito: told apart by the colour-blind


def _axes():
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(8, 5), layout="constrained")[1]


def _labelled(ax, x: str, y: str, **legend):
    """The look that the pictures share, readable at slide size."""
    ax.set_xlabel(x, fontsize=14)
    ax.set_ylabel(y, fontsize=14)
    ax.tick_params(labelsize=12)
    ax.grid(alpha=0.3)
    ax.legend(fontsize=12, frameon=False, **legend)
    return ax


def guarantee(ax=None, passes: int = 20, seeds: int = 10):
    """E F − F* of three averages against T, with the bounds that `proofs.guarantee` proves: 4200 tweets, hinge, λ = 0.01.

    The lines are means over the seeds, the bands reach from the lowest to the highest; G² = 4 max ‖[x_i, 1]‖².
    """
    tweets = with_sign_labels(load_tweets(tfidf=True))
    problem = Problem(tweets.X, tweets.y, "hinge", 1e-2)
    minimum = minimise(problem)
    T = np.unique(np.geomspace(2, passes * problem.m, 30).astype(int))
    excess = np.array([_excess(problem, T, seed) for seed in range(seeds)]) - minimum.value
    h = np.cumsum(1 / np.arange(1, T[-1] + 2))  # h[T − 1] is h_T
    unit = 4 * (tweets.X.power(2).sum(axis=1).max() + 1) / (2 * problem.lam)
    bounds = (unit * h[T - 1] / T, unit * h[T] / T, unit * 2 * (2 * T + 1 - h[T]) / (T * (T + 1)))
    names = (r"mean of $w_0,\ldots,w_{T-1}$", r"the paper's mean, $w_1,\ldots,w_T$", r"$w_t$ weighted by $t$")
    ax = _axes() if ax is None else ax
    for place, (name, bound, colour) in enumerate(zip(names, bounds, COLOURS, strict=True)):
        measured, dash = excess[:, place], (4 * place, (4, 8)) if place < 2 else "--"
        ax.loglog(T, bound, linestyle=dash, color=colour, linewidth=2)
        ax.loglog(T, measured.mean(axis=0), color=colour, linewidth=(6, 2, 2.5)[place], label=name)  # the first two coincide
        ax.fill_between(T, measured.min(axis=0), measured.max(axis=0), color=colour, alpha=0.2, linewidth=0)
    ax.plot([], [], "--", color="grey", linewidth=2, label="proved bounds")
    return _labelled(ax, "steps $T$", r"$\mathrm{E}\,F - F^\star$")


def _excess(problem: Problem, steps, seed: int) -> list[list[float]]:
    """F of the three averages after each of these numbers of steps, from 2."""
    indices = draw_indices(problem.m, int(steps[-1]), rng=seed)
    uniform, weighted, rows = State(problem, "asgd"), State(problem, "asgd", weights=polynomial(1)), []
    for T in steps:
        before = uniform.run(indices[uniform.t : T - 1]).average() if uniform.t < T - 1 else uniform.average()
        from_0 = Predictor(before.w * (T - 1) / T, before.b * (T - 1) / T)  # w_0 = 0 takes a share of 1/T
        uniform.run(indices[T - 1 : T])
        weighted.run(indices[weighted.t : T])
        rows.append([problem.objective(each) for each in (from_0, uniform.average(), weighted.average())])
    return list(map(list, zip(*rows, strict=True)))


def averages(ax=None, setting: Setting = LONG, seeds: int = 10):
    """How far the last iterate and three averages are from the minimum after so many passes: median and quartiles of seeds."""
    ax = _axes() if ax is None else ax
    shares = suboptimality(setting, seeds)
    for place, (kind, marker) in enumerate(zip(KINDS, "os^v", strict=True)):
        low, middle, high = np.quantile(shares[:, :, place], (0.25, 0.5, 0.75), axis=0)
        colour = ("#000000", *COLOURS)[place]
        ax.loglog(setting.passes, middle, marker=marker, markersize=7, color=colour, linewidth=2.5, label=kind)
        ax.fill_between(setting.passes, low, high, color=colour, alpha=0.2, linewidth=0)
    offset = r"$t_0 = R^2/\lambda$" if setting.safe else "$t_0 = 0$"
    ax.set_title(f"{setting.data}, {setting.loss} loss, λ = {setting.lam:g}, {setting.algorithm}, {offset}", fontsize=14)
    return _labelled(ax, "passes $T/m$", r"$(F - F^\star)\,/\,(F(0) - F^\star)$")


def stability(ax=None):
    """How many digits casgd has left where the mean is large: the worst relative error of its weights over the four losses.

    Each of the three ways is held against the exact run on the same floats, 20 rows of spread 1 and 40 steps; see
    `proofs.stability`. An error of 1 means that no digit is left.
    """
    ax = _axes() if ax is None else ax
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
    return _labelled(
        ax, "offset added to rows of spread 1", "relative error of the weights", loc="upper left", bbox_to_anchor=(0, 0.9)
    )


ALGORITHM_COLOURS = {"sgd": "#56B4E9", "asgd": "#0072B2", "csgd": "#CC79A7", "casgd": "#009E73"}
"""One colour for each algorithm in the pictures of the bench, from Okabe and Ito as well."""

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
    ax = _axes() if ax is None else ax
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
    _plain_numbers(ax.yaxis)
    _labelled(ax, "", "ns for a stored entry", loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    ax.grid(axis="x", visible=False)
    return ax


def _plain_numbers(axis) -> None:
    """1, 1.5, 2, 3, 5, 7, 10, 15 … on a logarithmic axis of a decade or two, in place of powers of 10."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5, 7)))
    axis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:g}"))
    axis.set_minor_locator(NullLocator())


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
    import matplotlib.pyplot as plt

    if axes is None:
        axes = plt.subplots(2, 3, figsize=(13, 8), layout="constrained", sharex="col")[1]
    for row, (curves, unit) in enumerate((("curves", "seconds"), ("counts", "entries"))):
        for ax, variable in zip(axes[row], ("T", "k", "n"), strict=True):
            ax.margins(x=0.2)  # room for the exponents
            for entry in results[curves]:
                if entry["variable"] == variable and entry["part"] in SCALING_SHOWN:
                    _curve(ax, entry, unit)
            of_step = "" if variable == "T" else " for a step"
            what = "seconds" if row == 0 else "entries touched"
            _labelled(ax, f"${variable}$" if row else "", what + of_step)
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
        ax.annotate(shown, (x[-1], y[-1]), (4, -4), textcoords="offset points", fontsize=11, color=colour)
