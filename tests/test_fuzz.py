"""Attack the float path in the default run for seconds, at night for a million calls; planted faults are found."""

import numpy as np
import pytest
import scipy.sparse as sp

from reference import Predictor, Problem
from tests import fuzz


def test_malformed_and_extreme_problems_are_refused_in_words_or_give_finite_results():
    _, ends = fuzz.attack(1500)
    assert min(ends[name] for name in ("result", "Overflow", "ValueError", "TypeError")) > 20


@pytest.mark.nightly
def test_a_million_calls_are_refused_in_words_or_give_finite_results():
    _, ends = fuzz.attack(1_000_000, first=10**6)
    assert ends.total() >= 1_000_000


@pytest.mark.parametrize("seed", [400, 5002105, 5003195])  # of safe_t0, predict and objective
def test_overflows_of_both_signs_are_refused(seed):
    _, ends = fuzz.attack(20, first=seed)
    assert ends["Overflow"]


def warns(self, X):
    return np.full(X.shape[0], 1e308) * 10


def gives_nan(self, X):
    return np.full(X.shape[0], np.nan)


def raises_its_own(self, X):
    raise IndexError("list index out of range")


@pytest.mark.parametrize("wrong", [warns, gives_nan, raises_its_own])
def test_attack_on_a_faulty_prediction_finds_the_fault(wrong, monkeypatch):
    monkeypatch.setattr(Predictor, "predict", wrong)
    with pytest.raises(fuzz.Failure, match=r"seed \d+, \w+: "):
        fuzz.attack(3000)


def halves_labels(X, y):
    y *= 0.5


def sorts_columns(X, y):
    if sp.issparse(X) and X.format == "csr":
        X.indices[::-1].sort()


@pytest.mark.parametrize("wrong", [halves_labels, sorts_columns])
def test_attack_on_a_problem_that_changes_the_callers_arrays_finds_it(wrong, monkeypatch):
    right = Problem.__init__

    def changing(self, X, y, *rest, **options):
        right(self, X, y, *rest, **options)
        wrong(X, y)

    monkeypatch.setattr(Problem, "__init__", changing)
    with pytest.raises(fuzz.Failure, match="an array of the caller was changed"):
        fuzz.attack(3000)
