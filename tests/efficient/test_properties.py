"""Search for counterexamples by hypothesis: problems that tie, degenerate, are badly scaled, or are stored in odd ways.

The default run tries a few examples of each property, always the same ones; thousands of new ones are tried by

    pytest -m "nightly or not nightly" tests/efficient --hypothesis-profile=nightly
"""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import example, given, settings

import efficient
from reference import LOSSES
from reference.arithmetic import fraction
from reference.averaging import suffix
from tests.helpers import same
from tests.properties import (
    ANY,
    BITS,
    INVARIANCES,
    arrays_stay,
    dense,
    everything,
    mean_or_none,
    powers_of_two_change_no_bit,
    predictors_are_equal,
    results_are_finite,
    rows_are_canonical,
    shipped,
    sides_part_at_kinks,
    steps_are_equal,
    steps_are_within_rounding,
)
from tests.strategies import NIGHTLY, Case, cases

few = settings(max_examples=settings().max_examples // 5)
"""Enough for a default run: a fifth of what the profile says."""

BELOW_THE_GRID = Case(((), ((0, 1024.0),), ((0, 1024.0), (1, 1.0))), 2, (1, -1, -1), "log", 4096.0, (1, 2))
"""The second derivative is exp(−128), which is 0 in exact arithmetic: nearer to it than to 2⁻¹²⁸."""

KINKED = tuple(name for name, loss in LOSSES.items() if loss.kink)


@few
@given(case=ANY)
def test_state_exact_steps_are_those_of_the_definition(case):
    steps_are_equal(case)


@few
@given(case=ANY)
def test_functions_exact_predictors_are_those_of_the_definition(case):
    predictors_are_equal(case, shipped)


@few
@example(case=BELOW_THE_GRID)
@given(case=cases())
def test_state_float_steps_are_those_of_the_definition_to_rounding(case):
    steps_are_within_rounding(case)


@few
@given(case=cases(("ties",), losses=KINKED))
def test_float_derivatives_differ_only_within_rounding_of_the_kink(case):
    sides_part_at_kinks(case)


@pytest.mark.parametrize("move", INVARIANCES, ids=lambda move: move.__name__)
@settings(max_examples=settings().max_examples // 20)
@given(case=ANY)
def test_functions_exact_predictors_keep_the_invariance(move, case):
    if mean_or_none(shipped, case, "asgd") is not None:
        move(case, shipped)


@few
@given(case=ANY)
def test_average_of_the_last_iterate_alone_is_the_last_iterate(case):
    problem = case.problem(fraction)
    weights = suffix(len(case.indices) - 1)
    for mean, last in (("asgd", "sgd"), ("casgd", "csgd")):
        found = getattr(efficient, mean)(problem, case.indices, t0=case.t0, averaging_weights=weights)
        assert same(found, getattr(efficient, last)(problem, case.indices, t0=case.t0))


@pytest.mark.parametrize("move", BITS, ids=lambda move: move.__name__)
@few
@given(case=cases())
def test_state_float_run_changes_no_bit(move, case):
    # sample weights given and none are different loops to compile
    if NIGHTLY or case.sample_weight or move is not powers_of_two_change_no_bit:
        move(case)


@few
@given(case=cases(("extreme", "scaled")))
def test_functions_overflow_is_an_error_and_results_are_finite(case):
    results_are_finite(case.tidy, shipped)  # an entry that overflows as it is added up is refused
    results_are_finite(case.tidy, dense)


@pytest.mark.parametrize("train", [shipped, dense])
@pytest.mark.parametrize(("x", "weight"), [(1.0, (1e308, 1e308)), (1e308, (2.0, 0.0))])
def test_functions_large_sample_weights_give_an_error_or_finite_results(train, x, weight):
    results_are_finite(
        Case(rows=(((0, x),), ()), n=1, y=(1, 1), loss="hinge", lam=1.0, indices=(0,), sample_weight=weight), train
    )


@few
@given(case=cases(("extreme",)))
def test_functions_extreme_numbers_are_within_rounding(case):
    if case.lam * (case.t0 + 1000) < np.inf:  # where λ(t + t0) overflows, 0 is returned
        with suppress(FloatingPointError):  # ‖x̄‖² overflows before the first step
            steps_are_within_rounding(case.tidy)


@few
@given(case=cases(("generic", "ties")))
def test_callers_arrays_never_change(case):
    arrays_stay(case, everything)


@few
@given(case=cases(("generic", "ties", "scaled"), compiled=False))
def test_rows_are_the_same_however_they_are_stored(case):
    rows_are_canonical(case)
