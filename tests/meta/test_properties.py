"""Negative controls of the searches: each property is shown to reject a known fault, or one planted here."""

from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import Phase, find, settings
from hypothesis.errors import NoSuchExample

from efficient import State
from efficient.runs.algorithms import ALGORITHMS
from proofs.conformance import faults, plain
from reference import LOSSES, Predictor
from reference.arithmetic import fraction
from tests.properties import (
    ANY,
    BITS,
    INVARIANCES,
    arrays_stay,
    powers_of_two_change_no_bit,
    predictors_are_equal,
    results_are_finite,
    rows_are_canonical,
    shipped,
    sides_part_at_kinks,
    steps_are_within_rounding,
)
from tests.strategies import Case, cases

TIES = cases(("ties",), losses=tuple(name for name, loss in LOSSES.items() if loss.kink))


def counterexample(strategy, holds) -> object | None:
    """Case that a search of 1000 examples finds; or None."""

    def fails(drawn):
        try:
            holds(drawn)
        except (AssertionError, ZeroDivisionError):  # the loop as printed divides by 0
            return True
        return False

    search = settings(max_examples=1000, phases=[Phase.generate], database=None, derandomize=False)
    try:
        return find(strategy, fails, settings=search, random=Random(0))
    except NoSuchExample:
        return None


def twin(fault):
    """Third implementation, with a known fault or none. It takes CSR or dense rows, and knows no options."""

    def train(case: Case, algorithm: str, number=fraction) -> Predictor:
        if case.container != "dense":
            case = replace(case, container="csr")
        switches = ALGORITHMS[algorithm].averaging, ALGORITHMS[algorithm].centred
        return Predictor(*plain.train(case.X, case.y, case.loss, number(case.lam), case.indices, *switches, fault=fault))

    return train


def broken(fault):
    """Third implementation with a known fault, or the shipped algorithms with one planted here."""

    def train(case: Case, algorithm: str) -> Predictor:
        if fault in faults.FAULTS:
            return twin(fault)(case, algorithm)
        w, b = (right := shipped(case, algorithm)).w, right.b
        return {
            "weights in reverse": Predictor(w[::-1], b),
            "bias too large": Predictor(w, b + 1),
            "bias too large if λ is": Predictor(w, b + (case.lam > 1)),
        }[fault]

    return train


class SinglePrecision(State):
    """Bias sum kept in float32."""

    def run(self, indices):
        super().run(indices)
        self.a = np.float64(np.float32(self.a))
        return self


class LateKink(State):
    """Other side of the kink taken for some way beyond it."""

    def run(self, indices):
        super().run(indices)
        y, s = self.problem.y[indices[-1]], self.problem.sample_weight[indices[-1]]
        if 1 < self.p * y <= 1.125:
            self.g = -y * s
        return self


class Timid(State):
    """Overflow reported where there is none."""

    def run(self, indices):
        super().run(indices)
        if abs(self.p) > 1000:
            raise FloatingPointError
        return self


class Careless(State):
    """Something tiny added to the bias: absolute, and the more of it the more columns there are."""

    def run(self, indices):
        super().run(indices)
        self.a = self.a + 1e-15 * self.problem.n
        return self


def unchecked(case, algorithm, number):
    with np.errstate(all="ignore"):
        return twin(None)(case, algorithm, number)


def sorted_in_place(case: Case, X, y, weight, indices) -> None:
    if sp.issparse(X) and X.format != "coo":
        X.sort_indices()


def last_entry_only(case, number):
    return case.tidy.problem(number).X


def agree(case):
    assert not sides_part_at_kinks(case)


@pytest.mark.nightly
@pytest.mark.parametrize("fault", [fault for fault in faults.FAULTS if fault != "single precision"])
def test_search_for_unequal_predictors_finds_a_known_fault(fault):
    assert counterexample(ANY, lambda case: predictors_are_equal(case.plain, twin(fault)))


def test_search_of_the_third_implementation_finds_nothing():
    search = settings(max_examples=20, phases=[Phase.generate], database=None, derandomize=False)

    def fails(case):
        predictors_are_equal(case.plain, twin(None))
        return False

    with pytest.raises(NoSuchExample):
        find(cases(), fails, settings=search, random=Random(0))


@pytest.mark.parametrize(("move", "fault"), [(move, fault) for move, faults in INVARIANCES.items() for fault in faults])
def test_search_for_a_broken_invariance_finds_a_fault(move, fault):
    assert counterexample(ANY, lambda case: move(case.plain, broken(fault)))


@pytest.mark.parametrize(
    ("fault", "loss"),
    [
        (Timid, "squared"),
        *(
            pytest.param(*each, marks=pytest.mark.nightly)
            for each in ((SinglePrecision, "log"), (SinglePrecision, "squared"), (LateKink, "hinge"))
        ),
    ],
)
def test_search_for_float_steps_beyond_rounding_finds_a_wrong_state(fault, loss):
    assert counterexample(cases(losses=(loss,)), lambda case: steps_are_within_rounding(case, fault))


@pytest.mark.nightly
def test_search_at_kinks_finds_derivatives_that_differ_and_margins_that_are_only_near():
    assert counterexample(TIES, agree)
    assert counterexample(TIES, lambda case: sides_part_at_kinks(case, off=Fraction(1, 10**9)))


@pytest.mark.parametrize("move", BITS, ids=lambda move: move.__name__)
def test_search_for_a_changed_bit_finds_a_careless_state(move):
    strategy = cases(losses=("hinge", "absolute")) if move is powers_of_two_change_no_bit else cases()
    assert counterexample(strategy, lambda case: move(case, Careless))


@pytest.mark.parametrize(
    ("strategy", "holds"),
    [
        (cases(("extreme",)), lambda case: results_are_finite(case.plain, unchecked)),
        (cases(("ties",), compiled=False), lambda case: arrays_stay(case, sorted_in_place)),
        (cases(("ties",), compiled=False), lambda case: rows_are_canonical(case, last_entry_only)),
    ],
    ids=["overflow returned", "rows sorted in place", "repeated entries lost"],
)
def test_search_finds_what_is_planted(strategy, holds):
    assert counterexample(strategy, holds)
