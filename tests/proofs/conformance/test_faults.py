"""Plant every fault: the vectors show it wherever it has an effect."""

from fractions import Fraction

import numpy as np
import pytest

from proofs.conformance.cases import load
from proofs.conformance.faults import FAULTS, train
from reference import LOSSES
from tests.proofs.conformance.programs import FILES

WHERE = [  # in which algorithms and with which losses the faults have an effect; the others have one everywhere
    (
        lambda average, centred, loss: centred,
        """mean loses repeated entries; centring forgotten; mean of stored entries; mean of the draws; one mean for all columns;
        stored entries centred; stored entries centred by one mean; theta without 1; theta is 1; z not updated;
        prediction not centred; explicit bias""",
    ),
    (lambda average, centred, loss: not centred, "only stored entries shrunk"),
    (
        lambda average, centred, loss: average,
        """u with h_t; c with a/(t-1); c without its first term; w_0 in the mean; mean before the step; moving average;
        slow moving average; swapped running mean; average weighted by t; last for average; bias not averaged""",
    ),
    (lambda average, centred, loss: not average, "average for last"),
    (
        lambda average, centred, loss: average and centred,
        "s without its first term; average without its centre; average centred by the last weights",
    ),
    (lambda average, centred, loss: centred and not average, "centred last predictor without its centre"),
    (lambda average, centred, loss: loss.binary, "0/1 labels; labels swapped"),
    (lambda average, centred, loss: loss.kink, "tie at the kink"),
    (lambda average, centred, loss: loss.name == "absolute", "zero at the kink"),
    (lambda average, centred, loss: loss.name == "squared", "squared loss without the half"),
    (lambda average, centred, loss: loss.name == "hinge", "squared hinge; perceptron"),
    (lambda average, centred, loss: loss.name == "log", "cross-entropy"),
    # the derivative of the absolute loss is never 0
    (lambda average, centred, loss: loss.name != "absolute", "no shrinking without a loss"),
    (lambda average, centred, loss: average and loss.name != "absolute", "sums wait for a loss"),
    # at the infinite margin of the round too many the derivative is 0, and only means count rounds
    (lambda average, centred, loss: average or not loss.binary, "loop as printed"),
]


def without_effect(average, centred, loss) -> set[str]:
    return {
        " ".join(fault.split())
        for where, faults in WHERE
        if not where(average, centred, LOSSES[loss])
        for fault in faults.split(";")
    }


@pytest.mark.parametrize("name", FILES)
def test_fault_departs_from_two_cases_of_every_file_that_it_affects(name):
    questions = []
    for case in sorted(load(*name.split("-")), key=lambda case: -len(case.indices)):
        point = [point for point in case.checkpoints if point.held][-1]
        arguments = case.matrix(), case.y, case.loss, case.lam, case.indices[: point.t], case.average, case.centred
        questions.append((arguments, point))

    def departs(arguments, point, fault) -> bool:
        w, b = train(*arguments, fault=fault)
        off = [(found, wanted, point.w_tolerance) for found, wanted in zip(w, point.w, strict=True)]
        off.append((b, point.b, point.b_tolerance))
        return any(
            not np.isfinite(found) or abs(Fraction(float(found)) - wanted) > 100 * Fraction(tolerance)
            for found, wanted, tolerance in off
        )

    unaffected = without_effect(case.average, case.centred, case.loss)
    for fault in FAULTS.keys() - unaffected:
        departures = (each for each in questions if departs(*each, fault))
        assert next(departures, None) and next(departures, None), fault
    assert unaffected < FAULTS.keys()
    for arguments, _ in questions:  # all the others at once change no bit
        (right_w, right_b), (w, b) = train(*arguments), train(*arguments, fault=unaffected)
        np.testing.assert_array_equal(w, right_w)
        assert b == right_b
