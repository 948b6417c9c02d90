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


def pair(names, marks=pytest.mark.nightly, **settings):
    """Name deviations, and the settings of `other` that make their program."""
    return pytest.param(names, settings, id=" + ".join(names), marks=marks)


TIED = [
    pair(["no bias"], (), bias_step=0.0),
    pair(["λ over m"], factor=lambda lam, m: lam / m),
    pair(["step eta0=0.5 k=2 a=1"], (), schedule=lambda t, lam: 0.5 / (1 + lam * 0.5 * (t + 2))),
    pair(["step 1/(λ√t)"], schedule=lambda t, lam: 1 / (lam * math.sqrt(t))),
    pair(["bias step 0.1"], bias_step=0.1),
    pair(["projected"], projected=True),
    pair(["bias not regularised"], bias_kept=True),
    pair(["λ is 1/C"], factor=lambda lam, m: 1 / lam),
    pair(["average from step 3"], start=3),
    pair(["no bias", "λ times m"], bias_step=0.0, factor=lambda lam, m: lam * m),
    pair(["projected", "bias not regularised"], projected=True, bias_kept=True),
    pair(["step eta0=0.5 k=2 a=1", "no bias"], bias_step=0.0, schedule=lambda t, lam: 0.5 / (1 + lam * 0.5 * (t + 2))),
]


@pytest.mark.parametrize(("names", "settings"), TIED)
@pytest.mark.parametrize("strict", [False, True], ids=["paper's side", "other side"])
def test_check_of_a_declared_deviation_holds_the_side_of_the_kink(names, settings, strict):
    """Pass the program of either side with its own declaration, and refuse it with the other's."""
    known = [*names, *["tie at the kink"] * strict]
    same = check(other(strict=strict, **settings), ["asgd", "csgd"], ["hinge"], known=known, long=False, progress=False)
    assert same.passed, str(same)
    assert same.notes == []
    wrong = check(other(strict=not strict, **settings), ["asgd", "csgd"], ["hinge"], known=known, long=False, progress=False)
    assert {each.case.algorithm for each in wrong.results if each.verdict == "failed"} == {"asgd", "csgd"}
    if strict:
        assert wrong.diagnosis[0].text.startswith("the declared deviation [tie at the kink] is not there")
    failed = {each.case.id for each in wrong.results if each.verdict == "failed"}
    assert failed == {each.case.id for each in wrong.results if "KinkTie" in each.case.flags}


def test_check_of_a_declared_deviation_says_what_it_does_not_hold():
    right = other(schedule=lambda t, lam: 0.1 / (1 + lam * 0.1 * t))
    report = check(right, "asgd", known=["step eta0=0.1 k=0 a=1"], loss=["absolute", "hinge"], long=False, progress=False)
    assert report.passed
    assert report.notes == ["under this declaration no case reaches a tie of hinge (asgd): either side passes"]
    assert report.notes[0] in str(report)
    twice = check(other(start=3), "sgd", "log", known=["average from step 3"], long=False, progress=False)
    assert twice.notes == ["the declared deviation [average from step 3] changes no answer"]


def test_check_with_a_declared_deviation_names_the_fault_that_is_left():
    train = other(strict=True, projected=True, bias_kept=True)
    report = check(train, ["sgd", "asgd"], "hinge", known=["tie at the kink", "bias not regularised"], progress=False)
    assert named(report) == [{"projected"}]


def test_check_with_steps_declared_names_what_is_shrunk_after_them():
    """Compose the fault with the declared step: the gradient is multiplied by 1 - λη, not by 1 - 1/t."""
    schedule = lambda t, lam: 0.5 / (1 + lam * 0.5 * t)  # noqa: E731

    def train(X, y, loss, lam, indices, average, centred):
        w, b = np.zeros(X.shape[1]), 0.0
        for t, i in enumerate(indices, start=1):
            x, eta = X.toarray()[i], schedule(t, lam)
            g = dense.derivative(loss, w @ x + b, y[i])
            w, b = (1 - eta * lam) * (w - eta * g * x), (1 - eta * lam) * (b - eta * g)
        return w, b

    report = check(train, "sgd", "hinge", known=["step eta0=0.5"], long=False, progress=False)
    assert named(report) == [{"shrunk after the step"}]


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
    with pytest.raises(ValueError, match=r"with K >= -1; k is 0 and a is 1 if left out; got 'step eta0=1 k=-2'"):
        check(dense.train, known=["step eta0=1 k=-2"])


def test_declared_cases_without_a_deviation_keep_the_papers_answers():
    cases = vectors("casgd", ["hinge", "log"], long=False)
    assert declare(cases, frozenset()) == cases
    declared = {case.id: case for case in declare(cases, frozenset({"columns in 30 bits"}))}
    assert len(declared) == len(cases) + 4  # ties of the hinge's own
    for case in cases:
        same = declared[case.id]
        assert (case.p, case.g) == (same.p, same.g)
        for point, other_point in zip(case.checkpoints, same.checkpoints, strict=True):
            assert (point.w, point.b) == (other_point.w, other_point.b)


def test_every_fault_has_a_sentence():
    assert all(sentence(name) == FAULTS[name] for name in FAULTS)
    assert sentence("bias step 0.1") == "the bias takes steps of 0.1 of the size"
