"""Held-out evaluation: rows that are held out are not trained on, and a miss is what it says."""

import numpy as np
import pytest

import efficient
from efficient.training.splits import groups_of_equal_rows, hold_out
from proofs.measured import held_out
from reference import Predictor, draw_indices
from reference.averaging import polynomial
from reference.datasets import Dataset, load_spam, make_text

SMALL = Dataset(*make_text(200, 400, 12, seed=0)[:2], np.array([f"word{j}" for j in range(400)]))


@pytest.fixture(scope="module")
def rest():
    return held_out.split(SMALL, "log", 1e-3)


def test_split_holds_rows_out_of_the_training(rest):
    assert rest.problem.m + len(rest.y) == 200 and 40 < len(rest.y) < 60
    training, tried = ({tuple(row) for row in np.split(X.indices, X.indptr[1:-1])} for X in (rest.problem.X, rest.X))
    assert len(tried) > 40 and not training & tried


def test_miss_is_a_wrong_sign_or_a_distance(rest):
    zero = np.zeros(rest.problem.n)
    assert rest.miss(Predictor(zero, 1.0)) == np.mean(rest.y < 0)
    assert rest.miss(Predictor(zero, -1.0)) == np.mean(rest.y > 0)
    numbers = held_out.split(SMALL, "squared", 1e-1)
    assert numbers.miss(Predictor(zero, 3.0)) == np.mean(np.abs(3 - numbers.y))


def test_by_draw_evaluates_the_predictors_of_the_kinds(rest):
    indices = draw_indices(rest.problem.m, rest.problem.m, rng=1)
    wanted = [efficient.sgd(rest.problem, indices), efficient.asgd(rest.problem, indices)]
    wanted.append(efficient.asgd(rest.problem, indices, averaging_weights=polynomial(1)))
    found = held_out.by_draw(rest, "asgd", passes=1, draws=2)
    assert found.shape == (2, len(held_out.KINDS))
    assert list(found[1]) == [rest.miss(predictor) for predictor in wanted]
    assert (found[0] != found[1]).any()


def test_hold_out_keeps_equal_rows_on_one_side():
    X = load_spam().X
    groups, held = groups_of_equal_rows(X), hold_out(X, 0.25, 0)
    assert not np.isin(groups[held], groups[~held]).any()
    careless = np.random.default_rng(0).permutation(held)
    assert np.isin(groups[careless], groups[~careless]).any()
