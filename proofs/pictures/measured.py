"""Pictures of what is measured: convergence of the averages, digits lost far from the origin, held-out evaluation."""

import numpy as np

from efficient import State
from efficient.runs.algorithms import ALGORITHMS
from reference import Predictor, Problem, draw_indices, minimise
from reference.averaging import polynomial
from reference.datasets import load_tweets, make_shifted, with_sign_labels

from ..measured import averaging, held_out
from ..measured.averaging import LONG, Setting
from ..measured.stability import CURVES, OFFSETS, measure
from .look import ALGORITHM_COLOURS, COLOURS, band, colours_of_averages, labelled, new_axes, note, plain_numbers, quartiles

LAST, UNIFORM, WEIGHTED, _ = colours_of_averages("asgd")

UNIT = 2.0**-53
"""Unit roundoff of float64, which has no more digits than this leaves."""

SHARE = r"$(F - F^\star)\,/\,(F(0) - F^\star)$"


def guarantee(ax=None, passes: int = 20, seeds: int = 10):
    """Draw E F − F* of three averages against T, with their proved bounds: 4196 tweets, hinge loss, λ = 0.01.

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
    for place, (name, bound, colour) in enumerate(zip(names, bounds, ("black", UNIFORM, WEIGHTED), strict=True)):
        measured, dash = excess[:, place], (4 * place, (4, 8)) if place < 2 else "--"
        ax.loglog(T, bound, linestyle=dash, color=colour, linewidth=2)
        width = (6, 2, 2.5)[place]  # the first two coincide
        spread = measured.min(axis=0), measured.mean(axis=0), measured.max(axis=0)
        band(ax, T, spread, color=colour, linewidth=width, label=name)
    ax.plot([], [], "--", color="grey", linewidth=2, label="proved bounds")
    return labelled(ax, "steps $T$", r"$\mathrm{E}\,F - F^\star$")


def _excess(problem: Problem, steps, seed: int) -> list[list[float]]:
    """Return F of the three averages after each of these numbers of steps, from 2."""
    indices = draw_indices(problem.m, int(steps[-1]), rng=seed)
    uniform, weighted, rows = State(problem, "asgd"), State(problem, "asgd", averaging_weights=polynomial(1)), []
    for T in steps:
        before = uniform.run(indices[uniform.t : T - 1]).average() if uniform.t < T - 1 else uniform.average()
        from_0 = Predictor(before.w * (T - 1) / T, before.b * (T - 1) / T)  # w_0 = 0 takes a share of 1/T
        uniform.run(indices[T - 1 : T])
        weighted.run(indices[weighted.t : T])
        rows.append([problem.objective(each) for each in (from_0, uniform.average(), weighted.average())])
    return list(map(list, zip(*rows, strict=True)))


NAMES = {"suffix": "second half"}
"""Words for those of `averaging.KINDS` that do not explain themselves."""


def averages(ax=None, setting: Setting = LONG, seeds: int = 10):
    """Draw the distance of the last iterate and of three averages from the minimum after so many passes.

    As a share of the distance of the zero predictor; medians and quartiles of the seeds.
    """
    ax = new_axes() if ax is None else ax
    shares, passes = averaging.suboptimality(setting, seeds), np.array(setting.passes)
    colours = colours_of_averages(setting.algorithm)
    for place, (kind, marker, colour) in enumerate(zip(averaging.KINDS, "os^v", colours, strict=True)):
        band(ax, passes, quartiles(shares[:, :, place]), f"{marker}-", color=colour, label=NAMES.get(kind, kind))
    end = np.median(shares[:, -1].min(axis=-1))
    late = passes[passes >= min(1, passes[-1] / 10)]
    ax.loglog(late, 0.5 * end * passes[-1] / late, ":", color="black", linewidth=1.5, label="slope of $1/T$")
    ax.axhline(1, color="grey", linewidth=1)
    note(ax, "no training", (passes[-1], 1), (0, 3), ha="right")
    offset = r"$t_0 = R^2/\lambda$" if setting.safe else "$t_0 = 0$"
    ax.set_title(f"{setting.data}, {setting.loss} loss, λ = {setting.lam:g}, {offset}", fontsize=14)
    return labelled(ax, "passes $T/m$", SHARE)


def memory(ax=None, steps: int = 1000):
    """Draw the share of each step's gradient in the last iterate and in three averages, as a multiple of 1/T, measured.

    With the mean square of the shares, by which the noise of T independent gradients is larger than in the last iterate.
    """
    ax = new_axes() if ax is None else ax
    when, shares = np.arange(1, steps + 1) / steps, averaging.shares_of_gradients(steps)
    for kind, counts, colour in zip(averaging.KINDS, shares, colours_of_averages("asgd"), strict=True):
        ax.semilogx(when, counts, color=colour, linewidth=3, label=f"{NAMES.get(kind, kind)}, {np.mean(counts**2):.2f}")
    ax.set_ylim(0, None)
    legend = {"title": "average, and its variance\nover that of the last", "title_fontsize": 12}
    return labelled(ax, "when the gradient was taken, $i/T$", "weight of the gradient, times $T$", **legend)


def remembered(setting: Setting, dropped: tuple[int, ...], seeds: int = 10, ax=None):
    """Draw the distance of the uniform average from the minimum if its first iterates are left out, beside the last iterate."""
    ax = new_axes() if ax is None else ax
    T = int(setting.passes[-1] * len(averaging.data_of(setting.data).y))
    shares = quartiles(averaging.without_the_first(setting, dropped, seeds))
    last_colour, colour, *_ = colours_of_averages(setting.algorithm)
    band(ax, np.array(dropped) / T, shares, "s-", color=colour, label="uniform average of the rest")
    last = np.median(averaging.suboptimality(setting, seeds)[:, -1, 0])
    ax.axhline(last, color=last_colour, linewidth=2.5, label="last iterate")
    ax.set_title(f"{setting.data}, {setting.loss} loss, λ = {setting.lam:g}, $T$ = {T}", fontsize=14)
    ax.set_yscale("log")
    plain_numbers(ax.yaxis)
    return labelled(ax, "share of the iterates left out", SHARE)


def gains(ratios: tuple[float, ...] = (0.1, 0.3, 1, 3, 10, 30), ax=None, **options):
    """Draw what averaging gains where the loss curves more than the regulariser, and loses where it curves less."""
    ax = new_axes() if ax is None else ax
    ax.loglog(ratios, averaging.gain(ratios, **options), "s", color=UNIFORM, markersize=10, label="measured")
    fine = np.geomspace(min(ratios), max(ratios), 100)
    ax.loglog(fine, averaging.expected_gain(fine), "--", color="black", linewidth=2, label=r"$2/(1 + \kappa/\lambda)$")
    ax.axhline(1, color="grey", linewidth=1)
    note(ax, "averaging loses", (ratios[0], 1), (0, 5))
    note(ax, "averaging gains", (ratios[0], 1), (0, -16))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda number, _: f"{number:g}")
    x = r"curvature of the loss over that of the regulariser, $\kappa/\lambda$"
    return labelled(ax, x, "excess of the average / of the last")


def stability(ax=None):
    """Draw the digits that casgd loses where the mean is large: the worst relative error of its weights over the losses.

    Each of the three ways is held against the exact run on the same floats, 20 rows of spread 1 and 40 steps; see
    `proofs.measured.stability`. An error of 1 means that no digit is left.
    """
    ax = new_axes() if ax is None else ax
    eps, offsets, measured = np.finfo(float).eps, np.array(OFFSETS[1:]), measure()  # 0 has no place on a logarithmic axis
    for (name, label), marker, colour in zip(CURVES.items(), "so^", (COLOURS[1], COLOURS[0], COLOURS[2]), strict=True):
        ax.loglog(offsets, measured[name][1:], marker=marker, markersize=7, color=colour, linewidth=2.5, label=label)
    for power, at, shown in (
        (2, 1e5, r"$\epsilon\,\|\bar x\|^2/\mathrm{spread}^2$"),
        (1, 1e8, r"$\epsilon\,\|\bar x\|/\mathrm{spread}$"),
    ):
        ax.loglog(offsets, eps * offsets**power, ":", color="grey", linewidth=1.5)
        note(ax, shown, (at, eps * at**power), (8, -30))
    ax.axhline(1, color="grey", linewidth=1)
    note(ax, "no digit left", (1, 1))
    ax.set_ylim(1e-17, 1e2)
    legend = {"loc": "upper left", "bbox_to_anchor": (0, 0.9)}
    return labelled(ax, "offset added to rows of spread 1", "relative error of the weights", **legend)


KIND_SHOWN = {
    "last": (LAST, "o-", "the last iterate: sgd"),
    "uniform": (UNIFORM, "s-", "the uniform average: asgd"),
    "t-weighted": (WEIGHTED, "^-", "the average weighted by $t$"),
}
"""Colour, marker and line, label."""

MISSED = {True: "held-out error in %", False: "held-out mean |p − y|"}
"""Unit of an error, where the labels are signs and where they are numbers."""


def sweep(lams, misses, ax=None, binary: bool = True):
    """Draw the error on the rows held out against λ: the median of the folds, and bands from the best to the worst.

    Parameters
    ----------
    lams : sequence of λ
    misses : ndarray
        From `proofs.measured.held_out.by_lambda`.
    ax : matplotlib Axes, optional
    binary : bool
        Whether an error is a wrong sign, drawn in percent.
    """
    ax = new_axes() if ax is None else ax
    for place, kind in enumerate(held_out.KINDS):
        colour, style, label = KIND_SHOWN[kind]
        each = misses[:, :, place] * (100 if binary else 1)
        spread = each.min(axis=0), np.median(each, axis=0), each.max(axis=0)
        band(ax, lams, spread, style, alpha=0.15, color=colour, label=label)
    ax.set_xscale("log")
    if binary:
        ax.set_yscale("log")
        plain_numbers(ax.yaxis)
    return labelled(ax, "regularisation λ", MISSED[binary])


def words(predictor: Predictor, vocabulary, ax=None, count: int = 12, speaks_for=("not spam", "spam")):
    """Draw the words with the largest weights on both sides, the strongest at the top.

    Parameters
    ----------
    predictor : Predictor
    vocabulary : sequence of n words
    ax : matplotlib Axes, optional
    count : int
        Number of words on each side.
    speaks_for : (str, str)
        Reading of a negative and of a positive weight.
    """
    ax = new_axes() if ax is None else ax
    order = np.argsort(predictor.w)
    for side, chosen, colour in ((0, order[:count], "#777777"), (1, order[::-1][:count], "#D55E00")):
        at = np.arange(len(chosen))[::-1]
        ax.barh(at, predictor.w[chosen], color=colour, label=f"speaks for {speaks_for[side]}")
        where = {"ha": "left" if side else "right", "va": "center", "color": "black"}
        for place, j in zip(at, chosen, strict=True):
            note(ax, vocabulary[j], (predictor.w[j], place), (5 if side else -5, 0), **where)
    ax.axvline(0, color="black", linewidth=1)
    ax.margins(x=0.25)  # room for the words
    ax.set_yticks([])
    labelled(ax, "weight $w_j$ of the word's tf-idf", "", loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    ax.grid(axis="y", visible=False)
    return ax


def misses(by_name, ax=None, binary: bool = True):
    """Draw the error on the rows held out, a dot for each draw of the examples, and a line at the median.

    Parameters
    ----------
    by_name : dict of sequences
        A name that ends in "t-weighted" has the colour of that average, one that begins with that of an algorithm has its
        colour; others are black.
    ax : matplotlib Axes, optional
    binary : bool
        As in `sweep`.
    """
    ax = new_axes() if ax is None else ax
    for place, (name, each) in enumerate(reversed(by_name.items())):
        each = np.asarray(each) * (100 if binary else 1)
        of_algorithm = ALGORITHM_COLOURS.get(name.partition(",")[0], "#000000")
        colour = WEIGHTED if name.endswith("t-weighted") else of_algorithm
        apart = place + 0.4 * ((np.arange(len(each)) + 0.5) / len(each) - 0.5)
        ax.plot(each, apart, "o", color=colour, markersize=7, alpha=0.7)
        ax.plot([np.median(each)] * 2, [place - 0.35, place + 0.35], color=colour, linewidth=3)
    ax.set_yticks(range(len(by_name)), list(reversed(by_name)))
    labelled(ax, MISSED[binary], "")
    ax.grid(axis="y", visible=False)
    return ax


def certified(ax=None, offset: float = 1e4, steps: int = 300):
    """Draw the certified digits of the weights after each step: 40 rows of spread 1 around an offset, log loss, λ = 0.1.

    A full line is what the library does, a dashed one Algorithm 3 as printed, without a pivot.
    """
    ax = new_axes() if ax is None else ax
    data = make_shifted(40, 5, 5, seed=1, offset=offset)
    problem = Problem(data.X, data.y, "log", 0.1)
    indices = draw_indices(problem.m, steps, rng=0)
    T = np.unique(np.geomspace(2, steps, 12).astype(int))
    for name, colour in ALGORITHM_COLOURS.items():
        for pivot in (True, False) if ALGORITHMS[name].centred else (True,):
            state = State(problem, name, pivot=pivot)
            digits = [-np.log10(max(state.certify(indices[:t], progress=False).relative, UNIT)) for t in T]
            dash, label = ("-", name) if pivot else ("--", f"{name}, no pivot")
            ax.semilogx(T, digits, dash, marker="o", markersize=5, color=colour, linewidth=2.5, label=label)
    ax.axhline(-np.log10(UNIT), color="grey", linewidth=1)
    ax.set_ylim(0, 17)
    return labelled(ax, "step $t$", "certified digits of the weights", loc="lower left")
