"""Declare deviations: another program that has them conforms, and one without them, or with more, does not."""

import math

import numpy as np
import pytest

from proofs.conformance import check
from proofs.conformance.check import vectors
from proofs.conformance.declared import declare
from proofs.conformance.examples import dense
from proofs.conformance.plain import FAULTS, sentence
from tests.proofs.conformance.programs import named


def other(*deviations, strict=False, schedule=None, projected=False, bias_step=1.0, bias_kept=False, start=1, factor=None):
    """Make the dense definition with deviations, written as those who have them write it: weights, not sums."""

    def train(X, y, loss, lam, indices, average, centred):
        rows = X.toarray()
        if "float32 values" in deviations:
            rows = np.zeros(X.shape)
            np.add.at(rows, (np.repeat(np.arange(len(y)), np.diff(X.indptr)), X.indices), X.data.astype(np.float32))
        xbar = rows.mean(axis=0) if centred else np.zeros(X.shape[1])
        rows = rows - xbar
        lam = factor(lam, len(y)) if factor else lam
        w, b = np.zeros(X.shape[1]), 0.0
        w_mean, b_mean, number = 0 * w, 0.0, 0
        first = len(y) + 1 if start == "pass" else start
        for t, i in enumerate(indices, start=1):
            eta = schedule(t, lam) if schedule else 1 / (lam * t)
            p = w @ rows[i] + b
            if strict and loss == "hinge":
                g = -y[i] if p * y[i] < 1 else 0
            elif strict and loss == "absolute":
                g = 1 if p >= y[i] else -1
            else:
                g = dense.derivative(loss, p, y[i])
            w = (1 - eta * lam) * w - eta * g * rows[i]
            b = (1 if bias_kept else 1 - eta * lam) * b - eta * bias_step * g
            if projected:
                norm = math.sqrt(w @ w + b * b)
                shrink = min(1.0, 1 / (math.sqrt(lam) * norm)) if norm else 1.0
                w, b = shrink * w, shrink * b
            number = max(1, t - first + 1)
            w_mean, b_mean = w_mean + (w - w_mean) / number, b_mean + (b - b_mean) / number
        if average:
            w, b = w_mean, b_mean
        return w, b - w @ xbar

    return train


DEVIATIONS = {  # the names to declare: the program that has them
    ("tie at the kink",): other(strict=True),
    ("projected",): other(projected=True),
    ("tie at the kink", "projected", "bias not regularised"): other(strict=True, projected=True, bias_kept=True),
    ("no bias",): other(bias_step=0.0),
    ("bias not regularised", "bias step 0.1"): other(bias_kept=True, bias_step=0.1),
    ("bias constant 0.5",): other(bias_step=0.25),
    ("step eta0=0.5 k=2 a=1",): other(schedule=lambda t, lam: 0.5 / (1 + lam * 0.5 * (t + 2))),
    ("step eta0=0.25 k=0 a=0.75",): other(schedule=lambda t, lam: 0.25 / (1 + lam * 0.25 * t) ** 0.75),
    ("step 1/(λ√t)",): other(schedule=lambda t, lam: 1 / (lam * math.sqrt(t))),
    ("average from step 3",): other(start=3),
    ("w_1 left out of the mean",): other(start=2),
    ("average after the first pass",): other(start="pass"),
    ("λ over m",): other(factor=lambda lam, m: lam / m),
    ("λ times m",): other(factor=lambda lam, m: lam * m),
    ("λ is 1/C",): other(factor=lambda lam, m: 1 / lam),
    ("float32 values",): other("float32 values"),
}


OFTEN = {("tie at the kink", "projected", "bias not regularised")}


@pytest.mark.parametrize(
    "names",
    [names if names in OFTEN else pytest.param(names, marks=pytest.mark.nightly) for names in DEVIATIONS],
    ids=" + ".join,
)
def test_check_of_a_declared_deviation_conforms_and_needs_the_declaration(names):
    program = DEVIATIONS[names]
    losses = ["absolute", "hinge"] if any(name.startswith(("step", "λ is")) for name in names) or names in OFTEN else None
    report = check(program, loss=losses, known=names, long=names == ("tie at the kink",), progress=False)
    assert report.passed, str(report)
    assert str(report).endswith(f"conforms to the paper but for {', '.join(names)}\npassed")
    assert report.count["passed"] > 2 * report.count["undecided"]
    without = check(program, loss=losses, long=False, progress=False)
    assert without.count["failed"] > 8
    undeclared = check(dense.train, loss=losses, known=names, long=False, progress=False)
    assert not undeclared.passed


def test_check_with_a_declared_deviation_names_the_fault_that_is_left():
    train = other(strict=True, projected=True, bias_kept=True)
    report = check(train, ["sgd", "asgd"], "hinge", known=["tie at the kink", "bias not regularised"], progress=False)
    assert named(report) == [{"projected"}]


def test_check_of_float32_sums_conforms_with_single_precision_declared():
    def train(X, y, loss, lam, indices, average, centred):
        w, b = other()(X.astype(np.float32), y.astype(np.float32), loss, np.float32(lam), indices, average, centred)
        return np.float32(w), np.float32(b)

    assert check(train, "sgd", "hinge", known=["single precision", "float32 values"], progress=False).passed
    assert not check(train, "sgd", "hinge", known=["float32 values"], progress=False).passed


def test_check_of_an_unknown_deviation_names_the_nearest():
    with pytest.raises(ValueError, match=r"got 'tie at a kink'. Do you mean 'tie at the kink'"):
        check(dense.train, known=["tie at a kink"])
    with pytest.raises(ValueError, match="got 'step eta0=x k=0 a=1'"):
        check(dense.train, known=["step eta0=x k=0 a=1"])


def test_declared_cases_without_a_deviation_keep_the_papers_answers():
    cases = vectors("casgd", ["hinge", "log"], long=False)
    assert declare(cases, frozenset()) == cases
    for case, same in zip(cases, declare(cases, frozenset({"columns in 30 bits"})), strict=True):
        assert (case.p, case.g) == (same.p, same.g)
        for point, other_point in zip(case.checkpoints, same.checkpoints, strict=True):
            assert (point.w, point.b) == (other_point.w, other_point.b)


def test_every_fault_has_a_sentence():
    assert all(sentence(name) == FAULTS[name] for name in FAULTS)
    assert sentence("bias step 0.1") == "the bias takes steps of 0.1 of the size"
