"""Train on all parts at once: an epoch on each, the mean of their states, the next epoch from there.

What a run keeps is linear in its steps, so the mean of states after equally many steps is a state (`State.mean`). A part
counts in it as much as its rows that can be drawn, so that all rows count alike in expectation, however unequal the parts are.
Everything is added up in the order of the parts, and each draws by the seed [seed, part, epoch]: the same bits on threads,
processes and machines, however many there are and in whatever order they finish.
"""

import copy
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import dask
import numpy as np
from dask.delayed import Delayed, delayed

from reference import Loss, Problem, safe_t0
from reference.losses import get_loss
from reference.rows import lent

from ..kernels.compiled import in_arithmetic
from ..runs.algorithms import ALGORITHMS
from ..runs.batch import start
from ..runs.centring import Centre, row_sum
from ..runs.run import Run
from ..training.epochs import Schedule, train
from ..training.metrics import evaluate
from ..training.models import make_problems
from ..training.settings import Settings
from .parts import File, Look, Part, opened, widened


class Plan(NamedTuple):
    """Facts that all parts share.

    Parameters
    ----------
    settings : Settings
        With a number for t0.
    columns : int
    classes : ndarray of shape (K,), or None for numbers to predict
    of_classes : ndarray of shape (K,), optional
        Sampling weight of the rows of each class.
    order : {"iid", "permuted", "blocked", "cyclic"}
    seed : int
    steps : int
        Steps of an epoch in each part.
    centre : Centre, optional
    """

    settings: Settings
    columns: int
    classes: np.ndarray | None
    of_classes: np.ndarray | None
    order: str
    seed: int
    steps: int
    centre: Centre | None = None

    @property
    def loss(self) -> Loss:
        """Loss of the settings."""
        return get_loss(self.settings.loss)

    def problems(self, part: Part) -> list[Problem]:
        """Make the problem of each model on the rows of a part."""
        X, y = lent(widened(part.X, self.columns)), np.asarray(part.y)
        return make_problems(X, y, self.classes, self.loss, [self.settings.lam])

    def sampling_weight(self, y: np.ndarray | None) -> np.ndarray | None:
        """Weigh the rows with these labels."""
        if self.of_classes is None or self.classes is None or y is None:
            return None
        return self.of_classes[np.searchsorted(self.classes, y)]


def share_of(look: Look, plan: Plan) -> float:
    """Add up the sampling weights of a part: how much it counts."""
    weight = plan.sampling_weight(look.labels)
    return look.rows if weight is None else float(weight @ look.counts)


def steps_of(look: Look, plan: Plan) -> int:
    """Count the steps of an epoch on a part alone: the rows that can be drawn, as often as whole weights say."""
    weight = plan.sampling_weight(look.labels)
    if weight is None or plan.of_classes is None:
        return look.rows
    return int(look.counts @ (weight if (plan.of_classes % 1 == 0).all() else weight > 0))


def prepare(parts: Sequence[Delayed | File], plan: Plan) -> Plan:
    """Find x̄ and t0 where they are wanted, in a pass over the parts for each.

    Raises
    ------
    FloatingPointError
        t0, or the length of the mean row, overflows.

    Cost: O(mk) time, and a vector of n numbers from each part.
    """
    mean = ALGORITHMS[plan.settings.algorithm].mean
    if mean is not None:
        sums = dask.compute(*(delayed(_summed)(part, plan) for part in parts))
        xbar, total = sums[0]
        for more, weight in sums[1:]:
            xbar, total = xbar + more, total + weight
        in_arithmetic(mean.centre, xbar.dtype == object)(xbar, total)
        plan = plan._replace(centre=Centre(None, xbar))
    if isinstance(plan.settings.t0, str):
        t0 = 0.0
        if plan.loss.slope_bound is None:
            (common,) = dask.persist(delayed(plan, traverse=False))
            t0 = max(dask.compute(*(delayed(_safe_t0)(part, common) for part in parts)))
        plan = plan._replace(settings=plan.settings._replace(t0=t0))
    return plan


def _summed(part: Part | File, plan: Plan):
    """Add up the rows of a part and their sampling weights."""
    part = opened(part)
    problem = plan.problems(part)[0]
    weight = plan.sampling_weight(np.asarray(part.y))
    weight = problem.sample_weight if weight is None else weight
    xbar, total, _ = row_sum(problem.X, weight)
    return xbar, total


def _safe_t0(part: Part | File, plan: Plan) -> float:
    part = opened(part)
    weight, xbar = plan.sampling_weight(np.asarray(part.y)), None if plan.centre is None else plan.centre.xbar
    return float(safe_t0(plan.problems(part)[0], plan.settings.centred, weight, xbar))


def mixed(parts: Sequence[Delayed | File], shares: Sequence, plan: Plan, steps: int) -> Iterator[Delayed]:
    """Yield the mean of the runs after each epoch, without rows and where Dask has it, until so many steps were taken in each.

    Raises
    ------
    FloatingPointError
        The iterates overflowed; names the step and the cure.

    Cost: O(Kk) a step; an epoch sends 8n(2K + 1) bytes to each part and from it.
    """
    (common,) = dask.persist(delayed(plan, traverse=False))
    mean, taken, epoch = None, 0, 0
    while taken < steps:
        count = min(plan.steps, steps - taken)
        runs = [delayed(_epoch)(part, common, mean, count, epoch, number) for number, part in enumerate(parts)]
        (mean,) = dask.persist(delayed(_mean)(runs, list(shares)))  # stays where the next epoch needs it
        yield mean
        taken, epoch = taken + count, epoch + 1


def _epoch(part: Part | File, plan: Plan, mean: Run | None, steps: int, epoch: int, number: int) -> Run:
    """Take the steps of an epoch on a part, from the mean of all parts."""
    part = opened(part)
    run, weight = _attached(part, plan, mean), plan.sampling_weight(np.asarray(part.y))
    rng = np.random.default_rng([plan.seed, number, epoch])
    train(run, Schedule(run.problem.m, steps, steps, rng, plan.order, weight))
    return run.forget_rows()


def _attached(part: Part, plan: Plan, mean: Run | None) -> Run:
    """Begin a run on a part, or let a copy of the mean follow its rows: others use the same mean."""
    problems = plan.problems(part)
    if mean is not None:
        return copy.copy(mean).follow(problems)
    settings = plan.settings
    return start(problems, settings.algorithm, t0=settings.t0, averaging_weights=settings.averaging_weights, centre=plan.centre)


def _mean(runs: Sequence[Run], shares: Sequence) -> Run:
    return type(runs[0]).mean(runs, shares)


def evaluated(parts: Sequence[Delayed | File], shares: Sequence, plan: Plan, mean: Delayed) -> dict[str, float]:
    """Evaluate the mean of the runs on the rows of all parts: what is a mean over the rows, so not R²."""
    (common,) = dask.persist(delayed(plan, traverse=False))
    found = dask.compute(*(delayed(_evaluated)(part, common, mean) for part in parts))
    total = sum(shares)
    return {
        name: sum(share * each[name] for share, each in zip(shares, found, strict=True)) / total
        for name in found[0]
        if name != "R2"
    }


def _evaluated(part: Part | File, plan: Plan, mean: Run) -> dict[str, float]:
    part = opened(part)
    run, y = _attached(part, plan, mean), np.asarray(part.y)
    return evaluate(run, widened(part.X, plan.columns), y, plan.classes, plan.sampling_weight(y))
