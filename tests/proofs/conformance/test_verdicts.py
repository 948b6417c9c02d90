"""Judge answers: within the tolerance or not, at the first wrong step."""

import math

import pytest

from proofs.conformance.answers import Answer
from proofs.conformance.cases import load
from proofs.conformance.plain import trace
from proofs.conformance.verdicts import judge
from tests.proofs.conformance.programs import check_short


@pytest.mark.parametrize(("share", "verdict"), [(0.4, "passed"), (1.5, "failed")])
@pytest.mark.parametrize("what", ["w", "b"])
def test_judge_allows_the_tolerance_and_no_more(share, verdict, what):
    (case,) = [case for case in load("casgd", "log") if case.id == "casgd-log-mails"]
    replies = []
    for point in case.checkpoints:
        w, b = [float(each) for each in point.w], float(point.b)
        if what == "w":
            w[0] += share * point.w_tolerance
        else:
            b += share * point.b_tolerance
        replies.append(Answer(tuple(w), b))
    assert judge(case, replies, False).verdict == verdict


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_judge_a_number_that_is_not_finite_fails(number):
    case = load("sgd", "log")[0]
    result = judge(case, [Answer(tuple(map(float, point.w)), number) for point in case.checkpoints], False)
    assert result.verdict == "failed"
    assert f"b is {number}" in str(result.departure)


def test_judge_with_p_and_g_finds_the_first_wrong_step():
    def train(X, y, loss, lam, indices, average, centred):
        run = trace(X, y, loss, lam, indices, average, centred, fault="prediction over t")
        return run.w, run.b, run.p, run.g

    report = check_short(train, "asgd", "hinge")
    assert {result.departure.what for result in report.results if result.departure} == {"p"}
    assert {result.departure.t for result in report.results if result.departure} == {2}
