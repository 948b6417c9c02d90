"""Check programs: verdicts, expected failures, refused arguments."""

from fractions import Fraction

import numpy as np
import pytest

from proofs.conformance import ALGORITHM
from proofs.conformance.cases import load
from proofs.conformance.check import check, read_expected_failures, vectors
from proofs.conformance.examples import dense
from proofs.conformance.plain import train as train_with_faults
from tests.proofs.conformance.programs import RIGHT, altered, check_short, with_fault


@pytest.mark.parametrize(
    ("train", "long"),
    [pytest.param(dense.train, True, marks=pytest.mark.nightly), (train_with_faults, False)],
    ids=["by definition", "the program without a fault"],
)
def test_check_of_a_right_program_passes(train, long):
    report = check(train, long=long)
    assert report.passed
    assert report.count["passed"] + report.count["undecided"] == len(vectors(long=long)) > 800
    assert report.diagnosis == []


@pytest.mark.parametrize("algorithm", ALGORITHM.values())
def test_check_of_exact_answers_passes(algorithm):
    report = check_short(RIGHT, algorithm, ["absolute", "log"], exact=True)
    assert report.passed
    assert report.count["undecided"] == 0


def test_check_of_ten_exact_digits_fails():
    report = check_short(altered(lambda w, b: (w, b + Fraction(1, 10**10))), "sgd", "hinge", exact=True)
    assert report.count["failed"] == len(report.results)


def test_check_unsupported_algorithms_passes():
    def train(X, y, loss, lam, indices, average, centred):
        if centred:
            raise NotImplementedError("no centring yet")
        return dense.train(X, y, loss, lam, indices, average, centred)

    report = check_short(train, loss="hinge")
    assert report.passed
    assert report.count["unsupported"] == len(load(["csgd", "casgd"], "hinge"))
    assert "not supported: csgd with hinge, casgd with hinge" in str(report)


def test_check_with_everything_unsupported_fails():
    def train(*arguments):
        raise NotImplementedError

    report = check_short(train, "sgd")
    assert report.count["unsupported"] == len(report.results)
    assert not report.passed
    assert str(report).endswith("FAILED: no case was right")


def test_check_of_wrong_arguments_raises():
    with pytest.raises(ValueError, match=r"algorithm must be one of 'sgd', 'asgd'.*got 'adam'"):
        check_short(dense.train, "adam")
    with pytest.raises(ValueError, match="loss must name at least one"):
        check_short(dense.train, loss=[])
    with pytest.raises(TypeError, match="train must be a function"):
        check_short(None)
    with pytest.raises(ValueError, match="fault must be one of"):
        train_with_faults(np.eye(1), [1], "hinge", 1.0, [0], False, False, fault="gremlins")


def test_check_with_expected_failures_reverses_verdicts():
    expected = {"*-tie-*": "we take the other side", "*-first-label-zero": "so here", "*-zero-mean-column": "and here"}
    wrong = check_short(with_fault("tie at the kink"), "sgd", "absolute", expected_failures=expected)
    assert wrong.count["expected failure"] > 0
    assert all("we take the other side" in each.detail for each in wrong.results if "-tie-" in each.case.id and each.detail)
    right = check_short(dense.train, "sgd", "absolute", expected_failures=expected)
    assert not right.passed
    assert right.count["unexpectedly passed"] >= wrong.count["expected failure"]
    assert "strike it off the list: we take the other side" in str(right)


def test_check_with_only_expected_failures_passes_without_diagnosis():
    ids = [
        each.case.id for each in check_short(with_fault("tie at the kink"), "sgd", "hinge").results if each.verdict == "failed"
    ]
    report = check_short(with_fault("tie at the kink"), "sgd", "hinge", expected_failures=dict.fromkeys(ids, "ours to choose"))
    assert ids
    assert report.passed
    assert report.diagnosis == []


def test_read_expected_failures_refuses_incomplete_lines(tmp_path):
    file = tmp_path / "failures.txt"
    file.write_text("# ties\n\n*-tie-*   the other side of it\nsgd-log-mails too many digits\n", "utf8")
    assert read_expected_failures(file) == {"*-tie-*": "the other side of it", "sgd-log-mails": "too many digits"}
    file.write_text("sgd-log-mails\n", "utf8")
    with pytest.raises(ValueError, match=r"failures.txt, line 1: 'sgd-log-mails' has no reason"):
        read_expected_failures(file)
    with pytest.raises(ValueError, match="'sgd-log-male' matches no case"):
        check_short(dense.train, "sgd", "log", expected_failures={"sgd-log-male": "a typing error"})
    # a pattern for other algorithms than the ones run is none
    assert check_short(dense.train, "sgd", "log", expected_failures={"casgd-*": "not yet"}).passed
