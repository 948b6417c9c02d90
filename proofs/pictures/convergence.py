"""How fast which average comes near the minimum."""

import numpy as np

from efficient import State
from reference import Predictor, Problem, draw_indices, minimise
from reference.averages import polynomial
from reference.datasets import load_tweets, with_sign_labels

from ..averages import KINDS, LONG, Setting, suboptimality
from .look import COLOURS, labelled, new_axes


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
    ax = new_axes() if ax is None else ax
    for place, (name, bound, colour) in enumerate(zip(names, bounds, COLOURS, strict=True)):
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
    shares = suboptimality(setting, seeds)
    for place, (kind, marker) in enumerate(zip(KINDS, "os^v", strict=True)):
        low, middle, high = np.quantile(shares[:, :, place], (0.25, 0.5, 0.75), axis=0)
        colour = ("#000000", *COLOURS)[place]
        ax.loglog(setting.passes, middle, marker=marker, markersize=7, color=colour, linewidth=2.5, label=kind)
        ax.fill_between(setting.passes, low, high, color=colour, alpha=0.2, linewidth=0)
    offset = r"$t_0 = R^2/\lambda$" if setting.safe else "$t_0 = 0$"
    ax.set_title(f"{setting.data}, {setting.loss} loss, λ = {setting.lam:g}, {setting.algorithm}, {offset}", fontsize=14)
    return labelled(ax, "passes $T/m$", r"$(F - F^\star)\,/\,(F(0) - F^\star)$")
