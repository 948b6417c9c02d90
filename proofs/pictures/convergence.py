"""How fast which average comes near the minimum."""

import numpy as np

from efficient import State
from reference import Predictor, Problem, draw_indices, minimise
from reference.averaging import polynomial
from reference.datasets import load_tweets, with_sign_labels

from ..measured.averaging import (
    KINDS,
    LONG,
    Setting,
    data_of,
    expected_gain,
    gain,
    shares_of_gradients,
    suboptimality,
    without_the_first,
)
from .look import ALGORITHM_COLOURS, colours_of_averages, labelled, new_axes, plain_numbers


def guarantee(ax=None, passes: int = 20, seeds: int = 10):
    """E F − F* of three averages against T, with their proved bounds: 4196 tweets, hinge, λ = 0.01.

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
    ax = new_axes() if ax is None else ax
    _, uniform, weighted, _ = colours_of_averages("asgd")
    for place, (name, bound, colour) in enumerate(zip(names, bounds, ("black", uniform, weighted), strict=True)):
        measured, dash = excess[:, place], (4 * place, (4, 8)) if place < 2 else "--"
        ax.loglog(T, bound, linestyle=dash, color=colour, linewidth=2)
        ax.loglog(T, measured.mean(axis=0), color=colour, linewidth=(6, 2, 2.5)[place], label=name)  # the first two coincide
        ax.fill_between(T, measured.min(axis=0), measured.max(axis=0), color=colour, alpha=0.2, linewidth=0)
    ax.plot([], [], "--", color="grey", linewidth=2, label="proved bounds")
    return labelled(ax, "steps $T$", r"$\mathrm{E}\,F - F^\star$")


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
    ax = new_axes() if ax is None else ax
    shares, passes = suboptimality(setting, seeds), np.array(setting.passes)
    colours = colours_of_averages(setting.algorithm)
    for place, (kind, marker, colour) in enumerate(zip(KINDS, "os^v", colours, strict=True)):
        low, middle, high = np.quantile(shares[:, :, place], (0.25, 0.5, 0.75), axis=0)
        ax.loglog(passes, middle, marker=marker, markersize=7, color=colour, linewidth=2.5, label=kind)
        ax.fill_between(passes, low, high, color=colour, alpha=0.2, linewidth=0)
    end = np.median(shares[:, -1].min(axis=-1))
    late = passes[passes >= min(1, passes[-1] / 10)]
    ax.loglog(late, 0.5 * end * passes[-1] / late, ":", color="black", linewidth=1.5, label="slope of $1/T$")
    ax.axhline(1, color="grey", linewidth=1)
    ax.annotate("no training", (passes[-1], 1), (0, 3), textcoords="offset points", ha="right", fontsize=12, color="dimgrey")
    offset = r"$t_0 = R^2/\lambda$" if setting.safe else "$t_0 = 0$"
    ax.set_title(f"{setting.data}, {setting.loss} loss, λ = {setting.lam:g}, {setting.algorithm}, {offset}", fontsize=14)
    return labelled(ax, "passes $T/m$", r"$(F - F^\star)\,/\,(F(0) - F^\star)$")


def memory(ax=None, steps: int = 1000):
    """What share each step's gradient has in the last iterate and in three averages, as a multiple of 1/T, measured.

    In brackets the mean square, by which the noise of T independent gradients is larger than in the last iterate.
    """
    ax = new_axes() if ax is None else ax
    share = np.arange(1, steps + 1) / steps
    for kind, counts, colour in zip(KINDS, shares_of_gradients(steps), colours_of_averages("asgd"), strict=True):
        ax.semilogx(share, counts, color=colour, linewidth=3, label=f"{kind} ({np.mean(counts**2):.2f})")
    ax.set_ylim(0, None)
    return labelled(ax, "when the gradient was taken, $i/T$", "its share, times $T$")


def remembered(setting: Setting, dropped: tuple[int, ...], seeds: int = 10, ax=None):
    """How far the uniform average is from the minimum if its first iterates are left out, beside the last iterate."""
    ax = new_axes() if ax is None else ax
    T = int(setting.passes[-1] * len(data_of(setting.data).y))
    low, middle, high = np.quantile(without_the_first(setting, dropped, seeds), (0.25, 0.5, 0.75), axis=0)
    last_colour, colour, *_ = colours_of_averages(setting.algorithm)
    share = np.array(dropped) / T
    ax.semilogy(share, middle, "s-", markersize=7, color=colour, linewidth=2.5, label="uniform average of the rest")
    ax.fill_between(share, low, high, color=colour, alpha=0.2, linewidth=0)
    last = np.median(suboptimality(setting, seeds)[:, -1, 0])
    ax.axhline(last, color=last_colour, linewidth=2.5, label="last iterate")
    ax.set_title(f"{setting.data}, {setting.loss} loss, λ = {setting.lam:g}, $T$ = {T}", fontsize=14)
    plain_numbers(ax.yaxis)
    return labelled(ax, "share of the iterates left out", r"$(F - F^\star)\,/\,(F(0) - F^\star)$")


def gains(ratios: tuple[float, ...] = (0.1, 0.3, 1, 3, 10, 30), ax=None, **options):
    """What averaging gains where the loss curves more than the regulariser, and loses where it curves less."""
    ax = new_axes() if ax is None else ax
    ax.loglog(ratios, gain(ratios, **options), "s", color=ALGORITHM_COLOURS["asgd"], markersize=10, label="measured")
    fine = np.geomspace(min(ratios), max(ratios), 100)
    ax.loglog(fine, expected_gain(fine), "--", color="black", linewidth=2, label=r"$2/(1 + h/\lambda)$")
    ax.axhline(1, color="grey", linewidth=1)
    ax.annotate("averaging loses", (ratios[0], 1), (0, 5), textcoords="offset points", fontsize=12, color="dimgrey")
    ax.annotate("averaging gains", (ratios[0], 1), (0, -16), textcoords="offset points", fontsize=12, color="dimgrey")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda number, _: f"{number:g}")
    return labelled(
        ax,
        r"curvature of the loss over that of the regulariser, $h/\lambda$",
        "excess of the average / of the last",
    )
