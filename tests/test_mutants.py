"""Every known wrong algorithm is rejected by a named check, and the right one, written the same way, is accepted by all."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import efficient
import reference
from proofs.conformance import ALGORITHM, faults, train_with
from reference import draw_indices
from reference.datasets import make_generic, make_ties

GENERIC, TIES = make_generic(6, 5, 3, seed=1), make_ties(6, 3, 2, seed=14)
# column 1 of row 0 stored twice, in rows 0 and 2 out of order
REPEATED = sp.csr_array((np.array([2.0, 1, 0.25, 3, 1, 4]), np.array([2, 1, 1, 1, 2, 0]), np.array([0, 3, 4, 6])), shape=(3, 3))


def exact(X, y, indices):
    return lambda train, loss, average, centred: train(X, y, loss, Fraction(1, 2), indices, average, centred)


def long_float(train, loss, average, centred):
    return train(GENERIC.X, GENERIC.y, loss, 0.5, draw_indices(6, 4000, rng=0), average, centred)


CHECKS = {  # name: (run, tolerance); 0 stands for ==
    "generic": (exact(GENERIC.X, GENERIC.y, draw_indices(6, 24, rng=1)), 0),
    "ties": (exact(TIES.X, TIES.y, draw_indices(6, 12, rng=0)), 0),
    "repeated entries": (exact(REPEATED, np.array([1.0, -1, 1]), [0, 1, 2, 0]), 0),
    "empty row": (exact(sp.csr_array([[1.0, 0], [0, 0], [2, -1]]), np.array([1.0, -1, 1]), [0, 1, 2, 1]), 0),
    "long float run": (long_float, 4000 * np.finfo(float).eps),
}


def rejects(check: str, train, loss: str, average: bool, centred: bool) -> bool:
    """Whether the check tells `train` from the dense definition."""
    run, tolerance = CHECKS[check]
    w, b = run(train_with(reference), loss, average, centred)
    found_w, found_b = run(train, loss, average, centred)
    scale = max(1, abs(w).max(), abs(b))
    return not (abs(found_w - w).max() <= tolerance * scale and abs(found_b - b) <= tolerance * scale)


REJECTED_BY = {  # fault: (the check that rejects it, average, centred)
    # the data and the order
    "repeated entries lost": ("repeated entries", False, False),
    "update loses repeated entries": ("repeated entries", False, True),
    "mean loses repeated entries": ("repeated entries", True, True),
    "empty rows skipped": ("empty row", True, False),
    "0/1 labels": ("generic", False, False),
    "labels swapped": ("generic", False, True),
    "indices off by one": ("generic", False, False),
    "cyclic order": ("generic", True, False),
    "draws sorted": ("generic", False, False),
    "repeated draws skipped": ("generic", True, True),
    # the centre
    "centring forgotten": ("generic", False, True),
    "mean of stored entries": ("generic", True, True),
    "mean of the draws": ("generic", True, True),
    "one mean for all columns": ("generic", False, True),
    "stored entries centred": ("generic", False, True),
    "stored entries centred by one mean": ("generic", True, True),
    "theta without 1": ("generic", True, True),
    "theta is 1": ("generic", True, True),
    "z not updated": ("generic", False, True),
    "prediction not centred": ("generic", False, True),
    # the loss
    "tie at the kink": ("ties", False, False),
    "zero at the kink": ("ties", False, False),
    "squared loss without the half": ("generic", False, False),
    "squared hinge": ("generic", True, False),
    "perceptron": ("generic", False, False),
    "cross-entropy": ("generic", False, True),
    # the step
    "loop from 1": ("generic", False, False),
    "loop as printed": ("long float run", True, True),
    "t restarts": ("generic", False, False),
    "prediction over t": ("generic", True, False),
    "gradient at the average": ("generic", True, True),
    "ascent": ("generic", False, False),
    "step 1/(λ(t+1))": ("generic", False, False),
    "step 1/(λ√t)": ("generic", True, True),
    "step 1/t": ("generic", False, False),
    "λ doubled": ("generic", True, True),
    "λ over m": ("generic", False, True),
    "shrunk after the step": ("generic", True, False),
    "only stored entries shrunk": ("generic", False, False),
    "no shrinking without a loss": ("generic", False, False),
    "weights not regularised": ("generic", False, True),
    "bias not regularised": ("generic", True, True),
    "damped bias": ("generic", True, False),
    "damped a": ("generic", False, True),
    "no bias": ("generic", True, True),
    "projected": ("generic", False, True),
    "single precision": ("long float run", True, True),
    # the average
    "u with h_t": ("generic", True, False),
    "c with a/(t-1)": ("generic", True, True),
    "c without its first term": ("generic", True, True),
    "s without its first term": ("generic", True, True),
    "sums wait for a loss": ("generic", True, False),
    "w_0 in the mean": ("generic", True, False),
    "mean before the step": ("generic", True, True),
    "moving average": ("generic", True, True),
    "slow moving average": ("generic", True, False),
    "swapped running mean": ("generic", True, True),
    "average weighted by t": ("generic", True, False),
    # what is returned
    "last for average": ("generic", True, False),
    "average for last": ("generic", False, True),
    "bias not averaged": ("generic", True, False),
    "explicit bias": ("generic", True, True),
    "centred last predictor without its centre": ("generic", False, True),
    "average without its centre": ("generic", True, True),
    "average centred by the last weights": ("generic", True, True),
}


def test_every_fault_has_a_check():
    assert REJECTED_BY.keys() == faults.FAULTS.keys()


# the bounded derivatives of the kinked losses can hide a wrong prediction; some faults are of some losses only
LOSSES_WITH = {fault: tuple(losses) for fault, losses in faults.WRONG_DERIVATIVES.items()} | {
    "0/1 labels": ("hinge", "log"),
    "labels swapped": ("hinge", "log"),
    "no shrinking without a loss": ("hinge",),
    "sums wait for a loss": ("hinge",),
}
INSTANCES = [(fault, loss) for fault in REJECTED_BY for loss in LOSSES_WITH.get(fault, ("hinge", "log", "squared"))]


@pytest.mark.parametrize(("fault", "loss"), INSTANCES)
def test_the_wrong_twin_is_rejected(fault, loss):
    check, average, centred = REJECTED_BY[fault]

    def wrong(*arguments):
        return faults.train(*arguments, fault=fault)

    assert rejects(check, wrong, loss, average, centred)


@pytest.mark.parametrize("loss", reference.LOSSES)
@pytest.mark.parametrize(("average", "centred"), ALGORITHM)
@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("train", [faults.train, train_with(efficient)], ids=["twin without a fault", "efficient"])
def test_the_right_ones_are_accepted(train, check, average, centred, loss):
    assert not rejects(check, train, loss, average, centred)
