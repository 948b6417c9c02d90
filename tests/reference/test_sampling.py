"""Drawn indices and sampling weights: the same seed, the same bits; whole weights are repeated rows to the bit."""

import tracemalloc
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest

import efficient
import reference
from efficient.runs.algorithms import ALGORITHMS
from reference import Problem, draw_indices, sampling
from reference.arithmetic import fraction
from reference.datasets import make_text
from reference.rows import as_rows
from reference.sampling import check_indices, mean_row, repeated
from tests.reference.test_rows import names, read_only, short


def test_iid_draws_are_not_shuffles():
    counts = np.bincount(draw_indices(4, 4000, rng=0), minlength=4)
    assert counts.sum() == 4000 and len(set(counts)) > 1
    assert abs(counts - 1000).max() < 5 * np.sqrt(4000 * 3 / 16)  # five standard deviations


@pytest.mark.parametrize("steps", [1, 6, 7, 20, 21])
@pytest.mark.parametrize("order", ["permuted", "blocked"])
def test_permuted_and_blocked_epochs_visit_every_example_once(steps, order, monkeypatch):
    monkeypatch.setattr(sampling, "ROWS_OF_BLOCK", 2)
    monkeypatch.setattr(sampling, "BLOCKS_AT_ONCE", 2)
    indices = draw_indices(7, steps, rng=3, order=order)
    assert len(indices) == steps
    epochs = [indices[first : first + 7] for first in range(0, steps, 7)]
    assert all(len(set(epoch)) == len(epoch) for epoch in epochs)
    assert all(set(epoch) == set(range(7)) for epoch in epochs if len(epoch) == 7)
    assert steps < 14 or not (epochs[0] == epochs[1]).all()


def test_blocked_epoch_needs_few_rows_at_a_time_in_random_order():
    m, part = 1_000_000, sampling.ROWS_OF_BLOCK * sampling.BLOCKS_AT_ONCE
    first, second = draw_indices(m, 2 * m, order="blocked").reshape(2, m)
    for start in range(0, m, part):
        rows = first[start : start + part]
        assert len(np.unique(rows // sampling.ROWS_OF_BLOCK)) <= sampling.BLOCKS_AT_ONCE + 1  # two are cut where m ends
        ranks = np.argsort(np.argsort(rows))
        assert abs(np.corrcoef(ranks, np.arange(len(rows)))[0, 1]) < 5 / np.sqrt(len(rows))  # five standard deviations
    blocks = first // sampling.ROWS_OF_BLOCK
    assert len({tuple(np.unique(blocks[start : start + part])) for start in (0, part)}) == 2
    assert not (first == second).all()
    np.testing.assert_array_equal(np.sort(second), np.arange(m))


def test_cyclic_draws_repeat_the_rows_in_order():
    assert list(draw_indices(3, 7, order="cyclic")) == [0, 1, 2, 0, 1, 2, 0]


@pytest.mark.parametrize("order", ["iid", "permuted", "blocked"])
def test_same_seed_draws_the_same_bits(order):
    first, again, other = (draw_indices(50, 200, seed, order) for seed in (7, 7, 8))
    assert (first == again).all() and not (first == other).all()
    assert (draw_indices(50, 200, order=order) == draw_indices(50, 200, 0, order)).all()
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    generator = np.random.default_rng(7)
    assert (draw_indices(50, 200, generator, order) == first).all()
    assert not (draw_indices(50, 200, generator, order) == first).all()  # it was advanced
    assert len(draw_indices(50, 200, np.random.RandomState(7), order)) == 200
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002


WEIGHTS = [[1, 1, 1, 1], [3, 0, 1, 2], [0, 0, 5, 0], [7, 1, 0, 0], [2.0, 0.0, 3.0, 1.0], [True, False, True, True]]


@pytest.mark.parametrize("weight", WEIGHTS, ids=str)
@pytest.mark.parametrize("order", sampling.ORDERS)
def test_whole_weights_draw_as_from_repeated_rows(weight, order):
    rows = np.repeat(np.arange(4), np.array(weight, dtype=int))
    for seed in range(5):
        found = draw_indices(4, 300, seed, order, weight)
        np.testing.assert_array_equal(found, rows[draw_indices(len(rows), 300, seed, order)])
        assert found.dtype == np.int64
        if set(weight) == {1}:
            np.testing.assert_array_equal(found, draw_indices(4, 300, seed, order))


def test_whole_weights_searched_from_the_wrong_side_differ():
    weight = np.array([3, 0, 1, 2])
    found, drawn = draw_indices(4, 300, 0, sampling_weight=weight), draw_indices(6, 300, 0)
    assert not (np.searchsorted(np.cumsum(weight), drawn, side="left") == found).all()


@pytest.mark.parametrize(
    "weight",
    [[0.5, 0.25, 0, 2.25], [1e-300, 3e-300, 2e-300, 0], [1e308, 1e308, 0, 5e307], [2.0**61, 2.0**62, 2.0**60, 0], [0.1] * 4],
    ids=str,
)
def test_other_weights_draw_in_proportion(weight):
    steps, share = 20_000, np.array(weight) / max(weight)
    share /= share.sum()

    def deviations(weight):
        counts = np.bincount(draw_indices(4, steps, 1, sampling_weight=weight), minlength=4)
        return abs(counts - steps * share) / np.sqrt(steps * np.maximum(share * (1 - share), 1 / steps))

    assert (deviations(weight) < 5).all()
    assert np.bincount(draw_indices(4, steps, 1, sampling_weight=weight), minlength=4)[share == 0].sum() == 0
    assert (deviations(np.sqrt(weight)) > 5).any() or len(set(weight)) == 1  # other weights would be noticed
    assert len(draw_indices(4, 3, 1, sampling_weight=[0, 0, 5e-324, 0])) == 3


@pytest.mark.parametrize("weight", [None, [3, 0, 1, 2], [0.5, 0.25, 0, 2.25]], ids=str)
@pytest.mark.parametrize("rng", [lambda: 5, lambda: np.random.RandomState(5), lambda: np.random.Generator(np.random.Philox(5))])
def test_draws_in_pieces_are_those_of_one_draw(weight, rng):
    whole, generator = draw_indices(4, 1000, rng(), sampling_weight=weight), np.random.default_rng(rng())
    pieces = [draw_indices(4, steps, generator, sampling_weight=weight) for steps in (1, 2, 3, 494, 500)]
    np.testing.assert_array_equal(np.concatenate(pieces), whole)


@pytest.mark.parametrize("order", ["permuted", "blocked", "cyclic"])
def test_order_of_weights_that_are_not_whole_is_refused(order):
    with pytest.raises(ValueError, match=r"order.*'iid'.*whole numbers"):
        draw_indices(4, 10, 0, order, sampling_weight=[0.5, 1, 1, 1])


def test_whole_weights_count_as_long_as_int64_can():
    for few, many in ((2**60, 2**61), (2**59, 2**60)):
        assert draw_indices(3, 4, order="cyclic", sampling_weight=[0, few, many]).tolist() == [1, 1, 1, 1]
    for too_many in (2**61, 2**62):
        with pytest.raises(ValueError, match="whole numbers"):
            draw_indices(3, 4, order="cyclic", sampling_weight=[0, 2**61, too_many])


def test_few_steps_of_a_long_epoch_take_the_memory_of_one_epoch():
    tracemalloc.start()
    indices = draw_indices(100_000, 3, order="permuted")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(set(indices)) == 3 and peak < 2_500_000  # of int64, once in order and once permuted


@pytest.mark.parametrize(
    ("argument", "wrong"),
    [
        *product(["m", "steps"], [0, -1, 2.0, True, "3", None, np.nan, [1]]),
        *product(["order"], ["IID", "random", None, 1]),
        *product(["rng"], [None, True, "seed", -1, 0.5]),
    ],
    ids=repr,
)
def test_draw_indices_refuses_wrong_arguments(argument, wrong):
    with pytest.raises((TypeError, ValueError), match=names(argument, repr(wrong))):
        draw_indices(**({"m": 4, "steps": 6} | {argument: wrong}))


@pytest.mark.parametrize(
    ("wrong", "error", "shown"),
    [
        *(([], ValueError, (0,)), (np.zeros((2, 2), int), ValueError, (2, 2)), (0, ValueError, ()), (None, ValueError, ())),
        *(([[0], [1, 2]], ValueError, ""), ([-1], ValueError, "0..6, for 7 examples; got -1"), ([0, -5, 9], ValueError, -5)),
        *(([0, 7], ValueError, 7), (np.array([2**64 - 1], dtype=np.uint64), ValueError, 2**64 - 1)),
        *(([0.0, 1.0], TypeError, "float64"), ([0, np.nan], TypeError, "float64"), ([True, False], TypeError, "bool")),
        *((["0", "1"], TypeError, "<U1"), ([0, None], TypeError, "object"), ([1j], TypeError, "complex128")),
    ],
    ids=short,
)
def test_check_indices_refuses_what_is_no_row(wrong, error, shown):
    with pytest.raises(error, match=names("indices", shown)):
        check_indices(wrong, 7)


@pytest.mark.parametrize(
    "right",
    [
        *((3, 0, 2), range(4), [np.int64(1), np.int64(0)], [6], pd.Series([3, 0, 2], index=[3, 0, 2])),
        *(np.array([3, 0, 2], dtype) for dtype in ("i1", "u1", "u8", "i4", ">i4")),
        *(read_only([3, 0, 2]), np.repeat([3, 0, 2], 2)[::2]),
    ],
    ids=short,
)
def test_check_indices_takes_every_container(right):
    found = check_indices(right, 7)
    assert found.tolist() == [int(i) for i in right] and found.dtype == np.int64 and found.flags.c_contiguous


@pytest.mark.parametrize("lam", [0.5, Fraction(1, 2)], ids=["float", "exact"])
@pytest.mark.parametrize("side", [reference, efficient])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_algorithms_refuse_wrong_indices_before_any_step(algorithm, side, lam):
    with pytest.raises(ValueError, match=r"indices must be in 0\.\.1"):
        getattr(side, algorithm)(Problem([[1.0], [2.0]], [1, -1], "squared", lam), [0, 1, 2])


@pytest.mark.parametrize(
    ("weight", "error", "shown"),
    [
        *(([1, 2, 3], ValueError, r"shape \(3,\)"), ([1, 2, 3, 4, 5], ValueError, r"shape \(5,\)")),
        *(([[1, 2, 3, 4]], ValueError, "shape"), (1.0, ValueError, "shape")),
        *(([0, 0.5, -1, -2], ValueError, r"got -1"), ([1, 2, 3, -0.5], ValueError, r"got -0\.5")),
        *(([1, 2, np.nan, 4], ValueError, "nan"), ([1, 2, np.inf, 4], ValueError, "inf"), ([0] * 4, ValueError, "zero")),
        *((["1", "2", "3", "4"], TypeError, "<U1"), (np.array([1, 2, 3, "4"], dtype=object), TypeError, "text")),
        *(
            ([1j, 2, 3, 4], TypeError, "complex"),
            ([1, 2, None, 4], ValueError, "nan"),
            ([10**400, 1, 1, 1], TypeError, "large"),
        ),
    ],
    ids=short,
)
def test_draw_indices_refuses_wrong_weights(weight, error, shown):
    with pytest.raises(error, match=f"weight must.*{shown}"):
        draw_indices(4, 10, 0, sampling_weight=weight)


@pytest.mark.parametrize("seed", range(5))
def test_mean_of_drawn_rows_is_that_of_repeated_rows_to_the_bit(seed, monkeypatch):
    X, counts = make_text(40, 300, 8, seed).X, np.random.default_rng(seed).integers(0, 5, size=40)
    rows, again = as_rows(X), as_rows(X[np.repeat(np.arange(40), counts)])
    found = mean_row(rows, counts.astype(float), drawn=True)
    np.testing.assert_array_equal(found, mean_row(again, np.ones(again.m)))
    assert not (found == mean_row(rows, counts)).all()  # summed in another way it differs in the last bits
    monkeypatch.setattr("reference.sampling.BLOCK", 7)
    np.testing.assert_array_equal(found, mean_row(rows, counts.astype(float), drawn=True))
    weight = counts + 0.5
    for drawn in (True, False):
        np.testing.assert_allclose(mean_row(rows, weight, drawn), weight @ X.toarray() / weight.sum(), rtol=1e-13)


def test_mean_of_empty_rows_and_of_huge_and_tiny_weights():
    assert mean_row(as_rows(np.zeros((2, 3))), np.array([2.0, 1.0]), drawn=True).tolist() == [0, 0, 0]
    rows = as_rows([[1.0, 0], [4, 2]])
    for scale in (1e308, 1.0, 1e-300):
        np.testing.assert_allclose(mean_row(rows, scale * np.array([1, 0.5]), drawn=True), [2, 2 / 3], rtol=1e-15)


def test_mean_of_float32_rows_is_summed_in_float64_and_of_fractions_exactly():
    rows = as_rows(np.full((300_000, 1), 0.1, np.float32))
    assert abs(mean_row(rows, np.ones(300_000))[0] - float(np.float32(0.1))) < 1e-12
    weight = np.array([Fraction(2), Fraction(1, 2), Fraction(0)])
    assert mean_row(as_rows([[1, 0], [0, 2], [3, 1]], fraction), weight).tolist() == [Fraction(4, 5), Fraction(2, 5)]


def test_repeated_rows_come_in_blocks_of_a_size(monkeypatch):
    rows, counts = as_rows(np.tril(np.ones((4, 4)))), np.array([1, 2, 0, 3])  # 1 to 4 entries a row
    for entries in (0, 1, 3, 8, 11, 100):
        monkeypatch.setattr("reference.sampling.BLOCK", entries)
        blocks = list(repeated(rows, counts))
        assert np.concatenate([np.diff(block.indptr) for block in blocks]).tolist() == [1, 2, 2, 4, 4, 4]
        assert all(block.m == 1 or len(block.data) <= entries for block in blocks)
        assert len(blocks) <= 1 + 6 * 4 // max(4, entries - 3)  # and not smaller than need be


def test_mean_row_of_many_blocks_has_the_bits_of_one(monkeypatch):
    X, weight = as_rows(make_text(300, 100, 9, seed=0).X), np.random.default_rng(1).random(300)
    whole = mean_row(X, weight)
    np.testing.assert_array_equal(
        whole, np.bincount(X.indices, X.data * np.repeat(weight, np.diff(X.indptr)), X.n) / weight.sum()
    )
    monkeypatch.setattr("reference.rows.BLOCK", 50)
    assert sum(1 for _ in X.blocks()) > 50
    np.testing.assert_array_equal(mean_row(X, weight), whole)
