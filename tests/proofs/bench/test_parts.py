"""Rows in parts: E epochs on P of them are worth E/P alone, and what is computed follows from bytes and seconds."""

import math
import pickle

import dask
import numpy as np
import pytest
from dask.delayed import delayed

from efficient.distributed.mixing import Plan, mixed, prepare
from efficient.training.settings import Settings
from proofs.bench.parts import FROM_DISK, IN_MEMORY, PARTS, alone, cut, gaps, sent, together
from reference.datasets import make_text


def test_gap_of_parts_is_nearer_to_a_share_of_the_epochs_than_to_twice_or_half_of_it():
    found = list(gaps(make_text(1_000, 300, 20, seed=0), 16))
    assert [each["parts"] for each in found] == list(PARTS)
    assert found[0]["gap"] == found[0]["alone"]
    of_share = [math.log(each["alone"]) for each in found]
    for place in (1, 2, 3):
        off = [abs(math.log(found[place]["gap"]) - other) for other in (of_share[place - 1], of_share[place])]
        assert off[1] < math.log(3)
        assert found[place]["gap"] > found[place - 1]["gap"]


def test_computed_seconds_are_those_of_steps_and_states():
    assert sent(10**5, 4) == 4 * 2 * 24 * 10**5
    assert alone(10**6) == pytest.approx(10**8 * FROM_DISK)
    assert together(10**6, 10**5, 4, bandwidth=10) == pytest.approx(10**8 * IN_MEMORY + 4 * sent(10**5, 4) / 1.25e9)


def test_bytes_that_an_epoch_sends_are_those_of_a_pickled_state():
    n, parts = 50_000, 2
    found = cut(make_text(40, n, 10, seed=0), parts)
    plan = Plan(Settings("hinge", 1e-3, t0=0.0), n, np.array([-1.0, 1.0]), None, "permuted", 0, 20)
    with dask.config.set(scheduler="synchronous"):
        *_, mean = mixed([delayed(part, traverse=False) for part in found], [1] * parts, prepare(found, plan), 40)
        assert 2 * parts * len(pickle.dumps(mean.compute())) == pytest.approx(sent(n, parts), rel=0.01)
