"""The drawn indices: i.i.d. with replacement by default, permuted or cyclic epochs on request; the same seed, the same bits."""

import numpy as np
import pytest

from reference import draw_indices


def test_independent_draws_are_not_shuffles():
    counts = np.bincount(draw_indices(4, 4000, rng=0), minlength=4)
    assert counts.sum() == 4000 and len(set(counts)) > 1
    assert abs(counts - 1000).max() < 5 * np.sqrt(4000 * 3 / 16)  # five standard deviations


@pytest.mark.parametrize("steps", [1, 6, 7, 20, 21])
def test_permuted_epochs_visit_every_example_once(steps):
    indices = draw_indices(7, steps, rng=3, order="permuted")
    assert len(indices) == steps
    epochs = [indices[first : first + 7] for first in range(0, steps, 7)]
    assert all(len(set(epoch)) == len(epoch) for epoch in epochs)
    assert all(set(epoch) == set(range(7)) for epoch in epochs if len(epoch) == 7)
    assert steps < 14 or not (epochs[0] == epochs[1]).all()


def test_cyclic_order():
    assert list(draw_indices(3, 7, order="cyclic")) == [0, 1, 2, 0, 1, 2, 0]


@pytest.mark.parametrize("order", ["iid", "permuted"])
def test_seeds(order):
    first, again, other = (draw_indices(50, 200, seed, order) for seed in (7, 7, 8))
    assert (first == again).all() and not (first == other).all()
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    generator = np.random.default_rng(7)
    assert (draw_indices(50, 200, generator, order) == first).all()
    assert not (draw_indices(50, 200, generator, order) == first).all()  # it was advanced
    assert len(draw_indices(50, 200, np.random.RandomState(7), order)) == 200
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002
