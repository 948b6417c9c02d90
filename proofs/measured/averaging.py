"""Measure what averaging buys: F − F* of the last iterate and of three averages, on the real sets, over ten seeds.

With steps of 1/(λt) the first iterates are far off, and the uniform average remembers them: it starts worse than the last
iterate and overtakes it late or not at all. Averages that forget the beginning, and steps that start smaller, do better. F*
is the certified minimum; nothing is claimed here that these numbers do not show.
"""

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from efficient import State
from efficient.runs.algorithms import ALGORITHMS
from reference import Predictor, Problem, draw_indices, minimise, safe_t0
from reference.averaging import polynomial, suffix
from reference.datasets import Dataset, load_spam, load_tweets

from ..ledger import Entry, Job

KINDS = ("last", "uniform", "t-weighted", "suffix")
"""Last iterate; the paper's mean; weight ω_t = t + t0; the uniform mean of the second half."""


class Setting(NamedTuple):
    """Data set, a loss, λ, an algorithm that averages, whether t0 is the safe one, and the passes to look after."""

    data: str
    loss: str
    lam: float
    algorithm: str
    safe: bool
    passes: tuple[float, ...]


SETTINGS = (
    Setting("spam", "log", 1e-4, "asgd", False, (0.3, 1, 10)),
    Setting("spam", "log", 1e-4, "asgd", True, (0.3, 1, 10)),
    Setting("tweets", "absolute", 1e-3, "casgd", False, (0.3, 1, 10, 100)),
    Setting("tweets", "absolute", 1e-3, "casgd", True, (0.3, 1, 10, 100)),
    Setting("tweets", "squared", 1e-2, "casgd", True, (0.3, 1, 10, 100)),
)


FEW_WORDS = "spam, 30 words"
"""Mails with their 30 most common words only: few directions, in which the loss curves."""


@cache
def data_of(name: str) -> Dataset:
    """Return the rows and labels that a setting names."""
    if name == FEW_WORDS:
        X, y, _ = load_spam(tfidf=True)
        common = np.argsort(np.bincount(X.indices, minlength=X.shape[1]), kind="stable")[-30:]
        return Dataset(X[:, np.sort(common)], y)
    return {"spam": load_spam, "tweets": load_tweets}[name](tfidf=True)


LONG = SETTINGS[0]._replace(passes=(0.1, 0.3, 1, 3, 10, 30, 100, 300))
"""Setting for a picture: long enough to see how late the uniform average overtakes the last iterate."""


def weights_of(kind: str, steps: int, t0=0):
    """Return the weights ω of one of the averages among KINDS after so many steps."""
    return {"uniform": None, "t-weighted": polynomial(1, t0), "suffix": suffix(steps // 2)}[kind]


class Measured(NamedTuple):
    """Problem of a setting, the t0 of its runs, and (F − F*)/(F(0) − F*) of a predictor; F* is the certified minimum."""

    problem: Problem
    t0: Any
    share: Callable[[Predictor], float]


def measured(setting: Setting) -> Measured:
    """Make the problem of a setting and find its minimum."""
    X, y, _ = data_of(setting.data)
    problem, centred = Problem(X, y, setting.loss, setting.lam), ALGORITHMS[setting.algorithm].centred
    minimum = minimise(problem, centred)
    lowest = minimum.value - minimum.gap
    start = problem.objective(Predictor(np.zeros(problem.n), 0.0), centred) - lowest
    t0 = safe_t0(problem, centred) if setting.safe else 0
    return Measured(problem, t0, lambda predictor: (problem.objective(predictor, centred) - lowest) / start)


@cache
def suboptimality(setting: Setting, seeds: int = 10) -> np.ndarray:
    """Measure (F − F*)/(F(0) − F*) for every seed, number of passes and kind, in this order of axes."""
    problem, t0, share = measured(setting)
    stops = [max(1, int(passes * problem.m)) for passes in setting.passes]
    shares = np.empty((seeds, len(stops), len(KINDS)))
    for seed in range(seeds):
        indices = draw_indices(problem.m, stops[-1], rng=seed)
        uniform, weighted = (
            State(problem, setting.algorithm, t0=t0, averaging_weights=weights_of(kind, stops[-1], t0)) for kind in KINDS[1:3]
        )
        for place, (begin, stop) in enumerate(zip([0, *stops], stops, strict=False)):
            uniform.run(indices[begin:stop])
            weighted.run(indices[begin:stop])
            late = State(problem, setting.algorithm, t0=t0, averaging_weights=weights_of("suffix", stop)).run(indices[:stop])
            predictors = (uniform.last(), uniform.average(), weighted.average(), late.average())
            shares[seed, place] = [share(each) for each in predictors]
    shares.flags.writeable = False  # it is kept
    return shares


def shares_of_gradients(steps: int) -> np.ndarray:
    """Measure how much the gradient ℓ' x of each step counts in the last iterate and the three averages: shape (4, steps).

    In units of −1/(λT), so that in the last iterate each counts 1, as Lemma 1 has it. Measured: the rows are orthogonal, and
    λ is so large that every ℓ' of the hinge is −1, so that the weights found are these shares.
    """
    lam, order = 4.0, np.arange(steps)
    problem = Problem(sp.eye_array(steps, format="csr"), np.ones(steps), "hinge", lam)
    last = State(problem, "sgd").run(order).last()
    means = (State(problem, "asgd", averaging_weights=weights_of(kind, steps)).run(order).average() for kind in KINDS[1:])
    return lam * steps * np.array([each.w for each in (last, *means)])


@cache
def without_the_first(setting: Setting, dropped: tuple[int, ...], seeds: int = 10) -> np.ndarray:
    """Measure (F − F*)/(F(0) − F*) of the uniform average without its first iterates, after the last of the setting's passes.

    For every seed and number of iterates dropped, in this order of axes.
    """
    problem, t0, share = measured(setting)
    shares = np.empty((seeds, len(dropped)))
    for seed in range(seeds):
        indices = draw_indices(problem.m, int(setting.passes[-1] * problem.m), rng=seed)
        for place, first in enumerate(dropped):
            state = State(problem, setting.algorithm, t0=t0, averaging_weights=suffix(first))
            shares[seed, place] = share(state.run(indices).average())
    return shares


@cache
def gain(ratios: tuple[float, ...], steps: int = 1000, seeds: int = 2000) -> np.ndarray:
    """Measure E F(w̄_T) − F* as a multiple of E F(w_T) − F*, where the loss curves so many times as much as the regulariser.

    On the simplest problem there is: the squared loss and no features, so that the bias is all there is to learn. Its loss
    has the curvature 1 and the regulariser λ. The labels are ±1, as many of each, so that F − F* is (1 + λ)/2 b²; a new run
    has new draws.
    """
    y = np.tile([-1.0, 1.0], 50)
    found = []
    for ratio in ratios:
        problem = Problem(np.empty((len(y), 0)), y, "squared", 1 / ratio)
        t0 = safe_t0(problem)
        states = (State(problem, "asgd", t0=t0).run(draw_indices(len(y), steps, rng=seed)) for seed in range(seeds))
        means, lasts = np.array([(state.average().b, state.last().b) for state in states]).T
        found.append(np.mean(means**2) / np.mean(lasts**2))
    return np.array(found)


def expected_gain(ratio):
    """Compute 2/(1 + h/λ): the limit of `gain` for large T on a quadratic, h/λ being the ratio.

    With r = h/λ, the noise of the gradient of step i counts (i/T)^r/(λT) in w_T and (1 − (i/T)^r)/(rλT) in w̄_T; the integrals
    of their squares over i/T are 1/(2r + 1) and 2/((1 + r)(2r + 1)).
    """
    return 2 / (1 + np.asarray(ratio))


def noise_by_curvature(setting: Setting) -> tuple[np.ndarray, np.ndarray]:
    """Measure the curvature of the loss at the minimum in each direction, h/λ, and the share of the noise of ℓ' x there.

    Directions are the eigenvectors of the mean of ℓ'' [x, 1][x, 1]ᵀ, so that n² numbers are held; noise adds up to 1.
    """
    X, y, _ = data_of(setting.data)
    problem = Problem(X, y, setting.loss, setting.lam)
    if problem.loss.curvature is None:
        raise ValueError(f"the setting's loss must have a second derivative; got {setting.loss!r}")
    rows = np.append(X.toarray(), np.ones((len(y), 1)), axis=1)
    predictions = minimise(problem).predictor.predict(X)
    slopes = np.array([problem.loss.derivative(p, label) for p, label in zip(predictions, y, strict=True)])
    curvature, directions = np.linalg.eigh((rows.T * problem.loss.curvature(slopes)) @ rows / len(y))
    along = (rows * slopes[:, None]) @ directions
    noise = along.var(axis=0)
    return curvature / setting.lam, noise / noise.sum()


def expected_gain_of(ratios: np.ndarray, noise: np.ndarray) -> float:
    """Compute `expected_gain` where the noise is spread over directions of several curvatures."""
    last = (1 + ratios) * noise / (2 * (2 * ratios + 1))
    return float((last * expected_gain(ratios)).sum() / last.sum())


def compare(setting: Setting) -> Iterator[Entry]:
    """Compare the averages with the last iterate and with no training at all, from the first pass on to the end."""
    shares = suboptimality(setting)
    medians = np.median(shares, axis=0)
    where: dict[str, Any] = {"data": setting.data, "algorithm": setting.algorithm, "loss": setting.loss}
    evidence = f"λ = {setting.lam:g}, {'t0 = R²/λ' if setting.safe else 't0 = 0'}, {len(shares)} seeds, F* certified"
    worse = (shares[:, :, 1] > shares[:, :, 0]).sum(axis=0)
    overtaken = [passes for passes, mean, last in zip(setting.passes, medians[:, 1], medians[:, 0], strict=True) if mean < last]
    table = "; ".join(
        f"{passes:g} passes: {mean:.1e} against {last:.1e}, worse for {count}"
        for passes, (last, mean, *_), count in zip(setting.passes, medians, worse, strict=True)
    )
    if not setting.safe:
        early = [count == len(shares) for passes, count in zip(setting.passes, worse, strict=True) if passes <= 1]
        below = f"from {overtaken[0]:g} passes on" if overtaken else "at none of them"
        yield Entry(
            "eqn:naiveAverage",
            "over the first pass the uniform average is further from the minimum than the last iterate, for every seed",
            "measured",
            evidence,
            f"{table}; median below the last iterate's: {below}",
            all(early),
            **where,
        )
    yield Entry(
        "eqn:naiveAverage",
        "the uniform average is closer to the minimum than the zero predictor from early on, in the median",
        "measured",
        evidence,
        f"(F − F*)/(F(0) − F*) = {medians[0, 1]:.1e} after {setting.passes[0]:g} passes"
        + (f"; against the last iterate: {table}" if setting.safe else ""),
        bool(medians[0, 1] < 1),
        **where,
        expected=setting.safe,
    )
    forgetting, uniform = float(medians[-1, 2:].max()), float(medians[-1, 1])
    yield Entry(
        "eqn:naiveAverage",
        "in the end the t-weighted and the suffix average are closer to the minimum than the uniform one, in the median",
        "measured",
        evidence,
        f"(F − F*)/(F(0) − F*) after {setting.passes[-1]:g} passes: {forgetting:.1e} against {uniform:.1e}",
        forgetting < uniform,
        **where,
        value=forgetting,
        bound=uniform,
    )


SQUARES = {"last": 1.0, "uniform": 2.0, "t-weighted": 4 / 3}
"""Limits of the mean squares of `shares_of_gradients`: ∫ 1, ∫ (log s)² and ∫ (2 − 2s)² over 0 < s < 1."""


def why(ratios: tuple[float, ...] = (0.1, 0.3, 1, 3, 10, 30)) -> Iterator[Entry]:
    """Measure why averaging gains little on text: by Lemma 1 the last iterate is an even mean of gradients already."""
    squares = dict(zip(KINDS, (shares_of_gradients(1000) ** 2).mean(axis=1), strict=True))
    off = max(abs(squares[kind] / limit - 1) for kind, limit in SQUARES.items())
    yield Entry(
        "eqn:naiveAverage",
        "all are means of the same gradients of the loss: if these were only noise, the uniform average would have twice the "
        "variance of the last iterate, the t-weighted one 4/3 of it",
        "measured",
        "on the shipped loop, T = 1000, orthogonal rows",
        "mean squares of the shares: " + ", ".join(f"{kind} {squares[kind]:.3f}" for kind in SQUARES),
        bool(off <= 0.01),
        algorithm="asgd",
        value=float(off),
        bound=0.01,
    )
    found, wanted = gain(ratios), expected_gain(ratios)
    shown = [f"h/λ = {ratio:g}: {f:.3f} against {w:.3f}" for ratio, f, w in zip(ratios, found, wanted, strict=True)]
    off = float(abs(found / wanted - 1).max())
    yield Entry(
        "eqn:naiveAverage",
        "on a quadratic whose loss has the curvature h, the uniform average has 2/(1 + h/λ) times the last iterate's excess",
        "measured",
        "2000 seeds, T = 1000",
        "; ".join(shown),
        bool(off <= 0.2),
        algorithm="asgd",
        loss="squared",
        value=off,
        bound=0.2,
    )


def jobs() -> list[Job]:
    compared = [Job(("eqn:naiveAverage",), f"averages: {each.data}, {each.loss}", partial(compare, each)) for each in SETTINGS]
    return [*compared, Job(("eqn:naiveAverage",), "averages: why", why)]
