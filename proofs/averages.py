"""What averaging buys, measured: F − F* of the last iterate and of three averages, on the real sets, over ten seeds.

With steps of 1/(λt) the first iterates are far off, and the uniform average remembers them: it starts worse than the last
iterate and overtakes it late or not at all. Averages that forget the beginning, and steps that start smaller, do better. F*
is the certified minimum; nothing is claimed here that these numbers do not show.
"""

from collections.abc import Iterator
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from efficient import State
from reference import Predictor, Problem, draw_indices, minimise, safe_t0
from reference.averages import polynomial, suffix
from reference.datasets import load_spam, load_tweets

from .ledger import Entry, Job

KINDS = ("last", "uniform", "t-weighted", "suffix")
"""The last iterate; the paper's mean; weight ω_t = t + t0; the uniform mean of the second half."""


class Setting(NamedTuple):
    """A data set, a loss, λ, an algorithm that averages, whether t0 is the safe one, and the passes to look after."""

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


@cache
def _data(name: str):
    return {"spam": load_spam, "tweets": load_tweets}[name](tfidf=True)


LONG = SETTINGS[0]._replace(passes=(0.1, 0.3, 1, 3, 10, 30, 100, 300))
"""For a picture: far enough to see how late the uniform average overtakes the last iterate."""


def suboptimality(setting: Setting, seeds: int = 10) -> np.ndarray:
    """(F − F*)/(F(0) − F*) for every seed, number of passes and kind, in this order of axes; F* from the certified minimum."""
    X, y, _ = _data(setting.data)
    problem, centred = Problem(X, y, setting.loss, setting.lam), setting.algorithm == "casgd"
    minimum = minimise(problem, centred)
    lowest = minimum.value - minimum.gap
    start = problem.objective(Predictor(np.zeros(problem.n), 0.0), centred) - lowest
    t0 = safe_t0(problem, centred) if setting.safe else 0
    stops = [max(1, int(share * problem.m)) for share in setting.passes]
    shares = np.empty((seeds, len(stops), len(KINDS)))
    for seed in range(seeds):
        indices = draw_indices(problem.m, stops[-1], rng=seed)
        uniform, weighted = (State(problem, setting.algorithm, t0=t0, weights=each) for each in (None, polynomial(1, t0)))
        for place, (begin, stop) in enumerate(zip([0, *stops], stops, strict=False)):
            uniform.run(indices[begin:stop])
            weighted.run(indices[begin:stop])
            late = State(problem, setting.algorithm, t0=t0, weights=suffix(stop // 2)).run(indices[:stop])
            predictors = (uniform.last(), uniform.average(), weighted.average(), late.average())
            shares[seed, place] = [(problem.objective(each, centred) - lowest) / start for each in predictors]
    return shares


def compare(setting: Setting) -> Iterator[Entry]:
    """With t0 = 0 the uniform average starts worse than the last iterate, and worse than no training at all; with the safe
    t0 it does not start so badly. The averages that forget the beginning end up closer to the minimum than it.
    """
    shares = suboptimality(setting)
    medians = np.median(shares, axis=0)
    where: dict[str, Any] = {"data": setting.data, "algorithm": setting.algorithm, "loss": setting.loss}
    evidence = f"measured, λ = {setting.lam:g}, {'t0 = R²/λ' if setting.safe else 't0 = 0'}, {len(shares)} seeds, F* certified"
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
            evidence,
            f"{table}; median below the last iterate's: {below}",
            all(early),
            **where,
        )
    yield Entry(
        "eqn:naiveAverage",
        "the uniform average is closer to the minimum than the zero predictor from early on, in the median",
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
        evidence,
        f"(F − F*)/(F(0) − F*) after {setting.passes[-1]:g} passes: {forgetting:.1e} against {uniform:.1e}",
        forgetting < uniform,
        **where,
        value=forgetting,
        bound=uniform,
    )


def jobs() -> list[Job]:
    return [Job(("eqn:naiveAverage",), f"averages: {each.data}, {each.loss}", partial(compare, each)) for each in SETTINGS]
