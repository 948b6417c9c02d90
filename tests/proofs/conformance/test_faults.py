"""Plant every fault: the vectors show it, and the plain program without one is the definition."""

import pytest

from proofs.conformance.agreement import runs
from proofs.conformance.cases import load
from proofs.conformance.faults import EXAMPLES, MEMBERS, SLIPS
from proofs.conformance.plain import DERIVATIVES, FAULTS, derivative
from reference import LOSSES

CASES = sorted(load(), key=lambda case: len(case.indices) * case.n)
"""Cases of the vectors, the short ones first: most faults depart from two of these."""


def right(case, trace, point) -> bool:
    return tuple(trace.w) == point.w and trace.b == point.b


@pytest.mark.parametrize("algorithm", ["sgd", "asgd", "csgd", "casgd"])
def test_plain_program_without_a_fault_is_the_definition_exactly(algorithm):
    for case in load(algorithm):
        for point, trace in zip(case.checkpoints, runs(frozenset(), case, True), strict=True):
            assert right(case, trace, point)
            assert tuple(trace.p) == case.p[: point.t] and tuple(trace.g) == case.g[: point.t]


def departs(fault, case) -> bool:
    """Tell whether the plain program with the fault leaves the exact answers by far more than rounding."""
    try:
        found = runs(frozenset({fault}), case, False)
    except ZeroDivisionError:
        return True
    pairs = [pair for pair in zip(case.checkpoints, found, strict=True) if pair[0].held]
    return any(
        not abs(float(trace.b) - float(point.b)) <= 4 * point.b_tolerance
        or any(not abs(float(one) - float(other)) <= 4 * point.w_tolerance for one, other in zip(trace.w, point.w, strict=True))
        for point, trace in pairs
    )


TRIED = [*(name for name in FAULTS if name not in {"single precision", *SLIPS}), *MEMBERS]
RARE = [pytest.param(name, marks=pytest.mark.nightly) for name in SLIPS if name in SLIPS[::4] and name not in SLIPS[::40]]


@pytest.mark.parametrize("fault", [*TRIED, *SLIPS[::40], *RARE])
def test_fault_departs_from_two_cases_at_least(fault):
    shown = (case for case in CASES if departs(fault, case))
    assert next(shown, None) and next(shown, None)


def test_no_fault_departs_nowhere():
    assert not any(departs("nothing learnt after step 1000", case) for case in CASES[::7])


def test_derivatives_are_those_of_table_1():
    assert DERIVATIVES.keys() == LOSSES.keys()
    for name, loss in LOSSES.items():
        for p in (-800.0, -2.5, -1.0, 0.0, 0.5, 1.0, 30.0, 800.0):
            for y in (-1.0, 1.0):
                assert derivative(name, float)(p, y) == pytest.approx(loss.derivative(p, y), rel=1e-15, abs=1e-300)


def test_families_give_the_faults_of_other_names():
    same = {"bias step 0.01": "damped bias", "hinge with its kink at 0": "perceptron", "λ times 2": "λ doubled"}
    for case in CASES[::11]:
        for one, other in same.items():
            for first, second in zip(runs(frozenset({one}), case, True), runs(frozenset({other}), case, True), strict=True):
                if one == "bias step 0.01":
                    assert float(first.b) == pytest.approx(float(second.b), rel=1e-13)
                else:
                    assert (tuple(first.w), first.b) == (tuple(second.w), second.b)
    assert len(EXAMPLES) == 13
