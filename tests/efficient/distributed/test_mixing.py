"""Train on parts: equal to the definition in fractions, and the same bits on any workers."""

from fractions import Fraction
from itertools import pairwise

import dask
import numpy as np
import pytest
from dask.delayed import delayed

from efficient import State
from efficient.distributed.mixing import Plan, mixed, prepare
from efficient.distributed.parts import Part
from efficient.training.settings import Settings
from reference import Problem, draw_indices
from reference.averaging import polynomial
from reference.datasets import make_generic
from reference.losses import get_loss
from tests.helpers import AVERAGING, CENTRED

CUTS = (0, 2, 7, 12)
"""Parts of 2, 5 and 5 rows."""

LAM, T0, SEED, EPOCHS = Fraction(1, 4), 2, 7, 3


def parts_of(data):
    return [Part(data.X[low:high], data.y[low:high]) for low, high in pairwise(CUTS)]


def plan_of(data, loss, algorithm, average="weighted", **options):
    given = {"order": "permuted", "seed": SEED, "steps": 4} | options
    return Plan(Settings(loss, LAM, algorithm, average, T0), data.X.shape[1], None, None, **given)


def trained(data, plan, epochs=EPOCHS, shares=(2, 5, 5)):
    with dask.config.set(scheduler="synchronous"):
        parts = [delayed(part, traverse=False) for part in parts_of(data)]
        *_, run = mixed(parts, shares, prepare(parts, plan), epochs * plan.steps)
        return run.compute()


def by_definition(data, loss, centred, average, steps=4, shares=(2, 5, 5)):
    """Dense iterates of every part by eq. 3, averaged after each epoch by hand: the last one, and the mean of the means."""
    derivative, total = get_loss(loss).derivative, sum(shares)
    parts = [(np.vectorize(Fraction, otypes=[object])(part.X.toarray()), part.y) for part in parts_of(data)]
    everything = np.concatenate([X for X, _ in parts])
    centre = sum(everything) / len(everything) if centred else 0 * everything[0]
    w, b, t, sum_w, sum_b, weight = 0 * centre, Fraction(0), 0, 0 * centre, Fraction(0), 0
    for epoch in range(EPOCHS):
        ends, paths = [], []
        for number, (X, y) in enumerate(parts):
            at_w, at_b, path = w, b, []
            for step, i in enumerate(draw_indices(len(y), steps, np.random.default_rng([SEED, number, epoch]), "permuted"), 1):
                x, now = X[i] - centre, t + step + T0
                g = derivative(at_w @ x + at_b, Fraction(y[i]))
                at_w, at_b = (
                    (1 - Fraction(1, now)) * at_w - g / (LAM * now) * x,
                    (1 - Fraction(1, now)) * at_b - g / (LAM * now),
                )
                path.append((at_w, at_b))
            ends.append(path[-1])
            paths.append(path)
        for step in range(steps):
            omega = t + step + 1 if average == "weighted" else 1
            weight += omega
            sum_w = sum_w + omega * sum(k * path[step][0] for k, path in zip(shares, paths, strict=True)) / total
            sum_b = sum_b + omega * sum(k * path[step][1] for k, path in zip(shares, paths, strict=True)) / total
        w, b = (sum(k * end[part] for k, end in zip(shares, ends, strict=True)) / total for part in (0, 1))
        t += steps
    return (w, b - w @ centre), (sum_w / weight, (sum_b - sum_w @ centre) / weight)


@pytest.mark.parametrize("loss", ["hinge", "squared"])
@pytest.mark.parametrize("algorithm", ["sgd", "asgd", "csgd", "casgd"])
def test_training_on_parts_is_the_definition_in_fractions(algorithm, loss):
    data, average = make_generic(12, 5, 3, seed=4, binary=loss == "hinge"), "weighted" if algorithm == "asgd" else "uniform"
    plan = plan_of(data, loss, algorithm, average)
    run = trained(data, plan)
    last, mean = by_definition(data, loss, algorithm in CENTRED, average)
    found = run.last()
    assert (found.w == last[0]).all() and found.b == last[1]
    if algorithm in AVERAGING:
        found = run.average()
        assert (found.w == mean[0]).all() and found.b == mean[1]
    # what counts the parts alike is another training
    alike = trained(data, plan, shares=(1, 1, 1))
    assert not (alike.last().w == last[0]).all()


def test_one_part_is_the_run_of_one_machine():
    data = make_generic(12, 5, 3, seed=4)
    plan = plan_of(data, "hinge", "casgd", steps=12)._replace(settings=Settings("hinge", 0.25, t0=0.0))
    with dask.config.set(scheduler="synchronous"):
        parts = [delayed(Part(data.X, data.y), traverse=False)]
        plan = prepare(parts, plan)
        *_, mean = mixed(parts, [12], plan, 24)
        run = mean.compute()
    alone = State(Problem(data.X, data.y, "hinge", 0.25), "casgd", averaging_weights=polynomial(1))
    for epoch in range(2):
        alone.run(draw_indices(12, 12, np.random.default_rng([SEED, 0, epoch]), "permuted"))
    assert (run.average().w == alone.average().w).all()
    assert run.average().b == alone.average().b
