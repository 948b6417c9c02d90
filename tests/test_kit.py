"""The conformance kit: it accepts what is right, names what is wrong, and survives whatever an implementation does."""

import json
import math
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from fractions import Fraction
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import reference
from proofs.conformance import ALGORITHM, check, command, train_with
from proofs.conformance.__main__ import main
from proofs.conformance.answers import Answer, Function
from proofs.conformance.cases import load
from proofs.conformance.check import read_expected_failures
from proofs.conformance.command import Command
from proofs.conformance.examples import dense
from proofs.conformance.faults import FAULTS, WRONG_DERIVATIVES, trace
from proofs.conformance.faults import train as train_with_faults
from proofs.conformance.inputs import FLAGS
from proofs.conformance.report import Report
from proofs.conformance.verdicts import judge

ROOT = Path(__file__).parent.parent
KIT = ROOT / "proofs" / "conformance"
README = (KIT / "README.md").read_text("utf8")
RIGHT = train_with(reference)


def with_fault(*faults):
    """An outsider's implementation with these faults."""
    return lambda *arguments: train_with_faults(*arguments, fault=faults)


def spoilt(spoil):
    """A right implementation whose (w, b) is passed through a function."""
    return lambda *arguments: spoil(*RIGHT(*arguments))


def half(train, algorithm=None, loss=None) -> Report:
    """The report on every second case: enough to know a fault by, in half the time."""
    implementation, cases = Function(train), load(algorithm, loss)[::2]
    answered = zip(cases, implementation.ask(cases, False), strict=True)
    return Report(implementation, False, [judge(case, replies, False) for case, replies in answered])


def named(report) -> list[set[str]]:
    """The faults that each finding names, as alternatives, those of a pair together."""
    return [{" & ".join(sorted(faults)) for faults in finding.faults} for finding in report.diagnosis]


# what is right


@pytest.mark.parametrize("train", [dense.train, train_with_faults], ids=["by definition", "the program without a fault"])
def test_right_ones_conform(train):
    report = check(train)
    assert report.passed
    assert report.count["passed"] + report.count["undecided"] == len(load()) > 700
    assert report.diagnosis == []


@pytest.mark.parametrize("algorithm", ALGORITHM.values())
def test_an_exact_one_conforms_exactly(algorithm):
    report = check(RIGHT, algorithm, ["absolute", "log"], exact=True)
    assert report.passed
    assert report.count["undecided"] == 0


def test_ten_digits_are_not_exact():
    report = check(spoilt(lambda w, b: (w, b + Fraction(1, 10**10))), "sgd", "hinge", exact=True)
    assert report.count["failed"] == len(report.results)


@pytest.mark.parametrize(("share", "verdict"), [(0.4, "passed"), (1.5, "failed")])
@pytest.mark.parametrize("what", ["w", "b"])
def test_the_tolerance_is_what_is_allowed(share, verdict, what):
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


# what is wrong is named


LOSS_OF = {fault: next(iter(losses)) for fault, losses in WRONG_DERIVATIVES.items()} | {
    "0/1 labels": "log",
    "labels swapped": "log",
    "no shrinking without a loss": "hinge",
    "sums wait for a loss": "hinge",
}
"""With which loss a fault is planted; the others with the squared loss, where every prediction matters."""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_named_in_every_algorithm_that_has_it(fault):
    seen = 0
    for algorithm in ALGORITHM.values():
        report = half(with_fault(fault), algorithm, LOSS_OF.get(fault, "squared"))
        (faults,) = named(report) if not report.passed else [{fault}]
        assert fault in faults
        assert all("&" not in each for each in faults)
        seen += not report.passed
    assert seen


@pytest.mark.parametrize("fault", ["u with h_t", "tie at the kink"])
def test_over_all_algorithms_and_losses_only_one_fault_fits(fault):
    report = half(with_fault(fault))
    assert named(report) == [{fault}]
    assert report.diagnosis[0].where == ()
    assert len(str(report).splitlines()) < 25


@pytest.mark.parametrize("fault", ["tie at the kink", "z not updated"])
def test_a_fault_is_named_in_exact_arithmetic(fault):
    assert named(check(with_fault(fault), "csgd", "absolute", exact=True)) == [{fault}]


def by_definition(fault):
    """The dense definition with a fault: other formulas than the twins', so that everything rounds in another way."""

    def train(X, y, loss, lam, indices, average, centred):
        rows, m = X.toarray(), len(y)
        xbar = rows[indices if fault == "mean of the draws" else slice(None)].mean(axis=0)
        rows = rows - xbar if centred else rows
        lam = {"λ doubled": 2 * lam, "λ over m": lam / m}.get(fault, lam)
        indices = {"draws sorted": np.sort(indices), "indices off by one": indices - 1}.get(fault, indices)
        y = -y if fault == "labels swapped" and loss in ("hinge", "log") else y
        w, b, W, B = np.zeros(X.shape[1]), 0.0, [], []
        for step, i in enumerate(indices, start=1):
            x, t = rows[i], (step - 1) % m + 1 if fault == "t restarts" else step
            p = w @ x + b
            if fault == "gradient at the average" and W:
                p = np.mean(W, axis=0) @ x + np.mean(B)
            if fault == "prediction over t":
                p *= 1 - 1 / t
            g = dense.derivative(loss, p, y[i])
            if fault == "tie at the kink" and loss in ("hinge", "absolute") and p in (y[i], 1 / (y[i] or 1)):
                g = {"absolute": 1 if p == y[i] else g, "hinge": 0 if p * y[i] == 1 else g}[loss]
            if fault == "squared hinge" and loss == "hinge":
                g *= 2 * max(0, 1 - p * y[i])
            step_size = 1 / (lam * t)
            step_size = {"step 1/(λ(t+1))": 1 / (lam * (t + 1)), "step 1/(λ√t)": 1 / (lam * math.sqrt(t))}.get(fault, step_size)
            shrink_w = 1 if fault == "weights not regularised" else 1 - step_size * lam
            shrink_b = 1 if fault == "bias not regularised" else 1 - step_size * lam
            if fault == "no shrinking without a loss" and g == 0:
                shrink_w = shrink_b = 1
            w = shrink_w * w - step_size * g * x
            b = shrink_b * b - {"damped bias": 0.01, "no bias": 0}.get(fault, 1) * step_size * g
            if fault == "projected":
                length = math.sqrt(w @ w + b * b)
                w, b = (part * min(1, 1 / (math.sqrt(lam) * length) if length else 1) for part in (w, b))
            W, B = [*W, w], [*B, b]
        if average and fault != "last for average":
            if fault == "w_0 in the mean":
                W, B = [0 * w, *W], [0, *B]
            w, b = np.mean(W, axis=0), B[-1] if fault == "bias not averaged" else np.mean(B)
        at = W[-1] if fault in ("average centred by the last weights", "bias not averaged") else w
        return w, b - at @ xbar if centred and fault != "explicit bias" else b

    return train


@pytest.mark.parametrize(
    "fault",
    [
        *("mean of the draws", "λ doubled", "λ over m", "draws sorted", "indices off by one", "labels swapped", "t restarts"),
        *(
            "gradient at the average",
            "prediction over t",
            "tie at the kink",
            "squared hinge",
            "step 1/(λ(t+1))",
            "step 1/(λ√t)",
        ),
        *("weights not regularised", "bias not regularised", "no shrinking without a loss", "damped bias", "no bias"),
        *("projected", "last for average", "w_0 in the mean", "bias not averaged", "average centred by the last weights"),
        "explicit bias",
    ],
)
def test_a_fault_is_named_however_it_is_programmed(fault):
    report = half(by_definition(fault), "casgd", ["hinge", "log"])
    assert not report.passed
    assert [fault in faults for faults in named(report)] == [True]


def test_the_definition_without_a_fault_conforms():
    assert check(by_definition(None), loss=["hinge", "log"]).passed


def agree(faults, others, algorithm, loss) -> bool:
    """Whether two sets of faults give the same results in the cases that float64 decides."""
    for case in load(algorithm, loss):
        for point in [point for point in case.checkpoints if point.held]:
            arguments = case.matrix(), case.y, case.loss, case.lam, case.indices[: point.t], case.average, case.centred
            (w, b), (other_w, other_b) = (train_with_faults(*arguments, fault=each) for each in (faults, others))
            scale = max([1, *map(abs, other_w), abs(other_b)])
            if not np.allclose([*w, b], [*other_w, other_b], rtol=0, atol=1e-9 * scale, equal_nan=True):
                return False
    return True


PAIRS = random.Random(20).sample(list(combinations(sorted(FAULTS.keys() - {"single precision"}), 2)), 8)


@pytest.mark.parametrize("pair", PAIRS, ids=" + ".join)
def test_two_faults_are_not_taken_for_one_of_them(pair):
    for algorithm, loss in (("casgd", "hinge"), ("asgd", "squared")):
        report = check(with_fault(*pair), algorithm, loss)
        for names in named(report):
            assert names, "some faults explain it: these two"
            both = " & ".join(sorted(pair)) in names
            assert both or all(agree(set(each.split(" & ")), pair, algorithm, loss) for each in names)


def test_two_faults_are_named_as_two():
    report = check(with_fault("u with h_t", "damped bias"), "casgd", "log")
    assert named(report) == [{"damped bias & u with h_t"}]
    assert "two faults at once" in str(report)


def test_faults_in_separate_functions_are_named_for_each():
    def train(X, y, loss, lam, indices, average, centred):
        fault = {(True, False): "w_0 in the mean", (True, True): "average without its centre"}.get((average, centred))
        return train_with_faults(X, y, loss, lam, indices, average, centred, fault=fault)

    report = check(train, loss="squared")
    assert named(report) == [{"w_0 in the mean"}, {"average without its centre"}]
    assert [finding.where for finding in report.diagnosis] == [("asgd",), ("casgd",)]


def test_what_cannot_be_told_apart_is_listed_together():
    report = check(with_fault("no bias"), "csgd", "squared")  # without its 1, θ leaves b out of b' as well
    assert named(report) == [{"no bias", "theta without 1"}]
    assert "which give the same results in the cases run" in str(report)


def test_an_unknown_fault_is_called_unknown():
    report = check(spoilt(lambda w, b: (w, b + 0.125)), "sgd", "log")
    assert named(report) == [set()]
    assert "no known fault explains it; it first departs in sgd-log-" in str(report)
    assert "step 1: b is " in str(report)


def test_no_fault_is_blamed_for_rounding():
    report = check(spoilt(lambda w, b: (w * (1 + 1e-11), b * (1 + 1e-11))), ["csgd", "casgd"], "log")
    (finding,) = report.diagnosis
    assert finding.faults == ()
    assert finding.text.startswith("rounding: ")


def test_rounding_is_not_made_the_reason_of_what_hangs_on_a_kink():
    def train(*arguments):
        w, b = train_with_faults(*arguments, "tie at the kink")
        return w * (1 + 1e-11), b * (1 + 1e-11)

    (finding,) = check(train, "sgd", "hinge").diagnosis
    assert finding.faults == ()
    assert re.search(r"only digits are lost; where a kink is near, [1-9]\d* more wrong results", finding.text)


def test_single_precision_is_known_by_its_errors():
    def train(X, y, loss, lam, indices, average, centred):
        rows = X.toarray().astype(np.float32)
        xbar = rows.mean(axis=0) if centred else 0 * rows[0]
        one, lam = np.float32(1), np.float32(lam)
        w, b, W, B = 0 * xbar, np.float32(0), [], []
        for t, i in enumerate(indices, start=1):
            x = rows[i] - xbar
            g = np.float32(dense.derivative(loss, w @ x + b, y[i]))
            w, b = (
                (one - one / np.float32(t)) * w - g / (lam * np.float32(t)) * x,
                (one - one / np.float32(t)) * b - g / (lam * np.float32(t)),
            )
            W, B = [*W, w], [*B, b]
        w, b = (np.mean(W, axis=0), np.mean(B)) if average else (w, b)
        return w, b - w @ xbar

    assert named(half(train)) == [{"single precision"}]
    # errors of that size that no rounding makes are none of it
    assert named(check(spoilt(lambda w, b: (w * (1 + 2.0**-12), b)), "sgd")) == [set()]


def test_dividing_by_zero_in_the_loop_as_printed_is_named():
    def train(X, y, loss, lam, indices, average, centred):
        if average or centred:
            raise NotImplementedError("only sgd")
        rows = X.toarray().tolist()
        x, label = rows[indices[0]], float(y[indices[0]])
        g = float(dense.derivative(loss, 0, label))
        v, a = [g * each for each in x], g
        for t in range(1, len(indices) + 1):
            x, label = rows[indices[t - 1]], float(y[indices[t - 1]])
            g = float(dense.derivative(loss, -(sum(map(float.__mul__, v, x)) + a) / (lam * (t - 1)), label))
            v, a = [old + g * each for old, each in zip(v, x, strict=True)], a + g
        return [-each / (lam * t) for each in v], -a / (lam * t)

    report = check(train, loss="log")
    assert report.count["error"] == len(load("sgd", "log"))
    assert named(report) == [{"loop as printed"}]


def test_one_that_does_not_repeat_itself_is_told_so():
    rng = np.random.default_rng(0)

    def shuffles(X, y, loss, lam, indices, average, centred):
        return RIGHT(X, y, loss, lam, rng.permutation(indices), average, centred)

    assert "it draws examples or keeps state" in str(check(shuffles, "asgd", "log"))

    longest = max(load("sgd", "absolute"), key=lambda case: len(case.indices))

    def mostly_shuffles(X, y, loss, lam, indices, average, centred):
        repeats = len(y) == len(longest.y)
        return RIGHT(X, y, loss, lam, indices[::-1] if repeats else rng.permutation(indices), average, centred)

    assert "it draws examples or keeps state" in str(check(mostly_shuffles, "sgd", "absolute"))


# what an implementation may do instead of answering


def raises(*arguments):
    raise RuntimeError("out\nof cheese")


def exits(*arguments):
    sys.exit("goodbye")


class Unspeakable(BaseException):
    def __str__(self):
        raise RuntimeError

    __repr__ = __str__


def raises_worse(*arguments):
    raise Unspeakable


class OnlyShape:
    def __init__(self, w):
        self.shape = w.shape

    __repr__ = Unspeakable.__str__


def changes(name):
    def train(X, y, loss, lam, indices, average, centred):
        result = RIGHT(X, y, loss, lam, indices, average, centred)
        if name == "X":
            X.data *= 2
        elif name == "X.indices":
            X.sum_duplicates()
            X.indices = X.indices[::-1].copy()
        else:
            {"y": y, "indices": indices}[name][...] = 0
        return result

    return train


NO_ANSWERS = {
    "raises": (raises, "RuntimeError: out of cheese"),
    "exits": (exits, "SystemExit: goodbye"),
    "raises what cannot be told": (raises_worse, "T = 1: Unspeakable"),
    "returns what cannot be shown": (lambda *_: Unspeakable(), "returned Unspeakable something"),
    "w no vector": (spoilt(lambda w, b: (OnlyShape(w), b)), "cannot be read: TypeError: 'OnlyShape' object is not iterable"),
    "returns nothing": (lambda *_: None, "returned nothing: is the `return` missing?"),
    "returns w alone": (spoilt(lambda w, b: w), "must return (w, b) or (w, b, p, g); returned ndarray"),
    "returns three things": (spoilt(lambda w, b: (w, b, b)), "must return (w, b) or (w, b, p, g); returned tuple"),
    "w too long": (spoilt(lambda w, b: ([*w, 0], b)), "it has the shape"),
    "w a row": (spoilt(lambda w, b: (w[None], b)), "it has the shape (1, "),
    "w of text": (spoilt(lambda w, b: ([str(each) for each in w], b)), "w[0] must be a number; it is str"),
    "w a word": (spoilt(lambda w, b: ("weights", b)), "it is str 'weights'"),
    "w ragged": (spoilt(lambda w, b: ([[1], [2, 3]], b)), "w must be a vector of"),
    "w None": (spoilt(lambda w, b: (None, b)), "it is NoneType None"),
    "w with None": (spoilt(lambda w, b: ([None] * len(w), b)), "w[0] must be a number; it is NoneType None"),
    "w complex": (spoilt(lambda w, b: (w + 0j, b)), "w[0] must be a number; it is complex"),
    "w too large": (spoilt(lambda w, b: ([10**400] * len(w), b)), "w[0] must fit a float64"),
    "b a vector": (spoilt(lambda w, b: (w, np.array([b]))), "b must be a number; it is ndarray"),
    "b None": (spoilt(lambda w, b: (w, None)), "b must be a number; it is NoneType None"),
    "p too short": (spoilt(lambda w, b: (w, b, [], [])), "p must be a vector of"),
    "changes X": (changes("X"), "changed its argument X:"),
    "changes the columns": (changes("X.indices"), "changed its argument X.indices:"),
    "changes y": (changes("y"), "changed its argument y:"),
    "changes the draws": (changes("indices"), "changed its argument indices:"),
}


@pytest.mark.parametrize(("train", "message"), NO_ANSWERS.values(), ids=NO_ANSWERS)
def test_no_answer_is_a_verdict(train, message):
    report = check(train, "sgd", "squared")
    assert not report.passed
    assert report.count["error"] >= 30  # those without a feature have no w[0], a draw of row 0 is what it was
    assert message in str(report)
    assert len(str(report).splitlines()) < 25
    json.dumps(report.as_json(), allow_nan=False)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_wrong(number):
    report = check(spoilt(lambda w, b: (w, number)), "sgd", "log")
    assert report.count["failed"] == len(report.results)
    assert f"b is {number}" in str(report)
    json.dumps(report.as_json(), allow_nan=False)


def test_floats_are_no_exact_answer():
    report = check(dense.train, "sgd", "hinge", exact=True)
    assert report.count["error"] == len(report.results)
    assert "must be exact, a Fraction or an int" in str(report)


def test_the_step_that_goes_wrong_is_found_by_its_prediction():
    def train(X, y, loss, lam, indices, average, centred):
        run = trace(X, y, loss, lam, indices, average, centred, fault="prediction over t")
        return run.w, run.b, run.p, run.g

    report = check(train, "asgd", "hinge")
    assert {result.departure.what for result in report.results if result.departure} == {"p"}
    assert {result.departure.t for result in report.results if result.departure} == {2}


@pytest.mark.parametrize("place", [2, 3], ids=["p", "g"])
def test_a_wrong_way_to_the_right_result_is_told(place):
    def train(*arguments):
        run = list(trace(*arguments)[:4])
        run[place] = [each + 1 for each in run[place]]
        return run

    report = check(train, "csgd", "squared")
    assert report.count["failed"] == len(report.results)
    assert "w and b are right, but not p and g as returned" in str(report)


def test_what_is_not_implemented_is_not_held_against_anyone():
    def train(X, y, loss, lam, indices, average, centred):
        if centred:
            raise NotImplementedError("no centring yet")
        return dense.train(X, y, loss, lam, indices, average, centred)

    report = check(train, loss="hinge")
    assert report.passed
    assert report.count["unsupported"] == len(load(["csgd", "casgd"], "hinge"))
    assert "not supported: csgd with hinge, casgd with hinge" in str(report)


def test_what_is_not_implemented_is_not_counted_among_the_cases_of_a_flag():
    def train(X, y, loss, lam, indices, average, centred):
        if centred:
            raise NotImplementedError
        return X.sum(axis=0), math.nan

    first = sum("FirstStep" in case.flags for case in load("sgd", "log"))
    assert f"FirstStep {first} of {first}," in str(check(train, ["sgd", "csgd"], "log"))


def test_nobody_passes_by_implementing_nothing():
    def train(*arguments):
        raise NotImplementedError

    report = check(train, "sgd")
    assert report.count["unsupported"] == len(report.results)
    assert not report.passed
    assert str(report).endswith("FAILED: no case was right")


def test_the_kit_itself_refuses_what_makes_no_sense():
    with pytest.raises(ValueError, match=r"algorithm must be one of 'sgd', 'asgd'.*got 'adam'"):
        check(dense.train, "adam")
    with pytest.raises(ValueError, match="loss must name at least one"):
        check(dense.train, loss=[])
    with pytest.raises(TypeError, match="train must be a function"):
        check(None)
    with pytest.raises(ValueError, match="fault must be a key of FAULTS or several; got"):
        train_with_faults(*[None] * 7, fault="gremlins")


# expected failures


def test_expected_failures_turn_round():
    expected = {"*-tie-*": "we take the other side", "*-first-label-zero": "so here", "*-zero-mean-column": "and here"}
    wrong = check(with_fault("tie at the kink"), "sgd", "absolute", expected_failures=expected)
    assert wrong.count["expected failure"] > 0
    assert all("we take the other side" in each.detail for each in wrong.results if "-tie-" in each.case.id and each.detail)
    right = check(dense.train, "sgd", "absolute", expected_failures=expected)
    assert not right.passed
    assert right.count["unexpectedly passed"] >= wrong.count["expected failure"]
    assert "strike it off the list: we take the other side" in str(right)


def test_a_run_with_nothing_but_expected_failures_passes_and_blames_nothing():
    ids = [each.case.id for each in check(with_fault("tie at the kink"), "sgd", "hinge").results if each.verdict == "failed"]
    report = check(with_fault("tie at the kink"), "sgd", "hinge", expected_failures=dict.fromkeys(ids, "ours to choose"))
    assert ids
    assert report.passed
    assert report.diagnosis == []


def test_the_file_of_expected_failures_is_read_strictly(tmp_path):
    file = tmp_path / "failures.txt"
    file.write_text("# ties\n\n*-tie-*   the other side of it\nsgd-log-mails too many digits\n", "utf8")
    assert read_expected_failures(file) == {"*-tie-*": "the other side of it", "sgd-log-mails": "too many digits"}
    file.write_text("sgd-log-mails\n", "utf8")
    with pytest.raises(ValueError, match=r"failures.txt, line 1: 'sgd-log-mails' has no reason"):
        read_expected_failures(file)
    with pytest.raises(ValueError, match="'sgd-log-male' matches no case"):
        check(dense.train, "sgd", "log", expected_failures={"sgd-log-male": "a typing error"})
    # a pattern for other algorithms than the ones run is none
    assert check(dense.train, "sgd", "log", expected_failures={"casgd-*": "not yet"}).passed


# programs


def program(tmp_path, body: str) -> str:
    """A command that runs this Python, with the questions of its standard input at hand."""
    file = tmp_path / "program.py"
    file.write_text("import json, sys\nquestions = [json.loads(line) for line in sys.stdin]\n" + textwrap.dedent(body), "utf8")
    return shlex.join([sys.executable, "-S", str(file)])


ZEROS = 'def answer(q): return {"id": q["id"], "w": [0] * q["n"], "b": 0}\n'

PROGRAMS = {  # what it does: (its code, what is said of it)
    "nothing": ("", "no answer"),
    "prose": ("print('hello')", "no answer; line 1 of its output is not JSON: hello"),
    "a list": ("print([1, 2])", 'no answer; line 1 of its output is no object with an "id": [1, 2]'),
    "too deep": ("print('[' * 10000)", "no answer; line 1 of its output is not JSON"),
    "another id": ('print(\'{"id": "mine"}\')', 'no answer; line 1 of its output answers what was not asked: {"id": "mine"}'),
    "no weights": ("for q in questions: print(json.dumps({'id': q['id'], 'b': 0}))", 'the answer lacks "w"'),
    "half a way": (ZEROS + "for q in questions: print(json.dumps(answer(q) | {'p': []}))", 'the answer lacks "g"'),
    "text": (ZEROS + "for q in questions: print(json.dumps(answer(q) | {'b': '0.5'}))", "b must be a number; it is str '0.5'"),
    "not a number": (ZEROS + "for q in questions: print(json.dumps(answer(q) | {'w': [1e999] * q['n']}))", "w[0] is inf"),
    "twice": (ZEROS + "for q in questions: print(json.dumps(answer(q)), json.dumps(answer(q)), sep='\\n')", "answered twice"),
    "a crash": ("print('so far', file=sys.stderr); sys.exit(3)", "no answer; exit status 3, last words: so far"),
    "an abort": ("import os; os.abort()", "no answer; killed by signal 6"),
    "a flood": ("while True: print('x' * 1000)", "no answer; ended after 65536 bytes of output"),
    "a hang": ("import time; time.sleep(60)", "no answer; ended after 1 s, perhaps by another question: try --each"),
    "a heir": ("import os, time; os.fork() or time.sleep(60)", "no answer; ended after 1 s"),
}


@pytest.mark.parametrize(("body", "message"), PROGRAMS.values(), ids=PROGRAMS)
def test_whatever_a_program_does_is_a_verdict(body, message, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "MOST_OUTPUT", 1 << 16)
    report = check(Command(program(tmp_path, body), timeout=1 if "sleep" in body else 60), "sgd", "squared")
    assert not report.passed
    assert message in str(report)


def test_a_missing_answer_costs_its_case_only(tmp_path):
    body = ZEROS + "for q in questions:\n    if not q['id'].startswith('sgd-squared-one-step@'): print(json.dumps(answer(q)))"
    report = check(Command(program(tmp_path, body)), "sgd", "squared")
    assert [result.case.id for result in report.results if result.verdict == "error"] == ["sgd-squared-one-step"]
    assert report.count["failed"] > 30


def test_each_question_may_have_a_program_of_its_own(tmp_path, monkeypatch):
    body = ZEROS + "assert len(questions) == 1\nprint(json.dumps(answer(questions[0])))"
    cases = load("sgd", "squared")[:3]
    (*replies,) = Command(program(tmp_path, body), each=True).ask(cases, False)
    assert [[type(reply) for reply in each] for each in replies] == [[Answer] * len(case.checkpoints) for case in cases]


def test_a_program_may_support_nothing(tmp_path):
    body = "for q in questions: print(json.dumps({'id': q['id'], 'unsupported': 'gone fishing'}))"
    report = check(Command(program(tmp_path, body)), "sgd", "squared")
    assert report.count["unsupported"] == len(report.results)
    assert not report.passed


def test_a_program_may_answer_exactly_and_in_any_order(tmp_path):
    answers = {}
    for case in load("casgd", "hinge"):
        for point in case.checkpoints:
            answers[f"{case.id}@{point.t}"] = {"w": [str(each) for each in point.w], "b": str(point.b)}
    (tmp_path / "answers.json").write_text(json.dumps(answers), "utf8")
    body = f"""
    answers = json.load(open({str(tmp_path / "answers.json")!r}))
    for q in reversed(questions): print(json.dumps(answers[q["id"]] | {{"id": q["id"]}}))
    """
    assert check(Command(program(tmp_path, body)), "casgd", "hinge", exact=True).passed
    assert "w[0] must be a number; it is str" in str(check(Command(program(tmp_path, body)), "casgd", "hinge"))


def test_a_command_that_cannot_be_run_is_refused():
    with pytest.raises(ValueError, match=r"command must name a program, as ./program if .* got 'no-such'"):
        Command("no-such program")
    with pytest.raises(ValueError, match="timeout must be a number of seconds > 0; got 0"):
        Command(sys.executable, timeout=0)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """How to build the C example, as its README says, with further options."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed: the C example is not built")
    folder = tmp_path_factory.mktemp("c")

    @cache
    def build(*options: str) -> str:
        target = str(folder / "-".join(["asgd", *options]))
        flags = ["-std=c99", "-O2", "-Wall", "-Wextra", "-pedantic", "-Werror", *options]
        subprocess.run(["gcc", *flags, "-o", target, str(KIT / "examples" / "asgd.c"), "-lm"], check=True)
        return target

    return build


def test_the_example_in_c_conforms(built):
    report = check(Command(built()))
    assert report.passed
    assert report.count["unsupported"] == 0


def test_the_example_in_c_with_a_fault_is_caught_and_named(built):
    report = check(Command(built("-DFAULT")), ["sgd", "asgd"], "log")
    assert report.count["failed"] == len(load("asgd", "log"))
    assert named(report) == [{"w_0 in the mean"}]


# the command line, and pytest


def run(*arguments: str, **options):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, **options)


OUTSIDER = """
__version__ = "4.5"
from proofs.conformance.faults import train as train_with_faults
from proofs.conformance.examples.dense import train as right
def wrong(*arguments): return train_with_faults(*arguments, fault="average for last")
def nothing(*arguments): raise NotImplementedError
number = 3
"""


@pytest.fixture
def outsider(tmp_path, monkeypatch):
    (tmp_path / "outsider.py").write_text(OUTSIDER, "utf8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(ROOT)]))
    yield tmp_path
    sys.modules.pop("outsider", None)


def test_the_command_line_by_exit_status(outsider):
    part = ("--algorithm", "sgd", "--loss", "hinge")
    wrong = run("-m", "proofs.conformance", "--impl", "outsider:wrong", *part, cwd=outsider)
    assert wrong.returncode == 1, wrong.stderr
    assert "the average is returned for the last predictor [average for last]" in wrong.stdout
    assert wrong.stdout.startswith("conformance of outsider:wrong 4.5, float64 (python 3.")
    none = run("-m", "proofs.conformance", "--impl", "outsider:absent", cwd=outsider)
    assert none.returncode == 2
    assert "'outsider:absent' cannot be imported: AttributeError" in none.stderr


def test_the_command_line_passes_what_is_right(outsider, capsys):
    arguments = [
        "--impl",
        "outsider:right",
        "--algorithm",
        "sgd",
        "asgd",
        "--loss",
        "log",
        "--json",
        str(outsider / "report.json"),
    ]
    assert main(arguments) == 0
    assert capsys.readouterr().out.endswith("\npassed\n")
    report = json.loads((outsider / "report.json").read_text("utf8"))
    assert report["passed"] is True
    assert report["implementation"] == {"name": "outsider:right", "version": "4.5"}
    assert report["versions"]["vectors"] == "1 of arXiv:1612.09147"
    assert [case["id"] for case in report["cases"]] == [case.id for case in load(["sgd", "asgd"], "log")]
    assert report["flags"]["FirstStep"] == {"passed": sum("FirstStep" in case.flags for case in load(["sgd", "asgd"], "log"))}


def test_the_command_line_fails_who_supports_nothing(outsider, capsys):
    assert main(["--impl", "outsider:nothing", "--algorithm", "csgd"]) == 1
    assert capsys.readouterr().out.endswith("FAILED: no case was right\n")


def test_what_is_wrong_is_in_the_json(outsider):
    path = outsider / "report.json"
    assert main(["--impl", "outsider:wrong", "--algorithm", "csgd", "--loss", "log", "--json", str(path)]) == 1
    report = json.loads(path.read_text("utf8"))
    assert report["passed"] is False
    (finding,) = report["diagnosis"]
    assert finding["faults"] == [["average for last"]]
    wrong = [case for case in report["cases"] if case["verdict"] == "failed"]
    assert len(wrong) == report["count"]["failed"]
    for case in wrong:
        assert case["departure"]["error"] > case["departure"]["tolerance"]
        assert Fraction(case["departure"]["expected"]) != case["departure"]["found"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "one of the arguments --impl --command is required"),
        (["--impl", "a:b", "--command", "c"], "not allowed with argument"),
        (["--impl", "outsider"], "must be given as package.module:function"),
        (["--impl", "no_such_module:train"], "cannot be imported: ModuleNotFoundError"),
        (["--impl", "outsider:number"], "is no function: it is int 3"),
        (["--impl", "outsider:right", "--each"], "--each and --timeout go with --command"),
        (["--impl", "outsider:right", "--algorithm", "adam"], "invalid choice: 'adam'"),
        (
            ["--impl", "outsider:right", "--json", "no/such/folder/file"],
            "--json must be a file that can be written; got 'no/such/folder/file'",
        ),
        (["--impl", "outsider:right", "--expected-failures", "no-such-file"], "No such file"),
        (["--command", "no-such-program"], "command must name a program"),
        (["--command", "'"], "No closing quotation"),
    ],
)
def test_a_command_line_that_makes_no_sense_has_status_2(arguments, message, outsider, capsys):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("lines", "message"), [("sgd-log-mails", "has no reason"), ("sgd-log-male because", "matches no case of the vectors")]
)
def test_a_wrong_list_of_expected_failures_has_status_2(lines, message, outsider, capsys):
    (outsider / "failures.txt").write_text(lines, "utf8")
    with pytest.raises(SystemExit) as end:
        main(["--impl", "outsider:right", "--expected-failures", str(outsider / "failures.txt")])
    assert end.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "status", "messages"),
    [
        (
            ["--impl", "outsider:wrong", "-k", "csgd-log-mails"],
            1,
            ["[csgd-log-mails]", "failed: step 2: w[0] is ", "the average is returned for the last predictor"],
        ),
        (["--impl", "outsider:right", "-k", "sgd-log-mails"], 0, ["conformance of outsider:right 4.5"]),
        (["--impl", "outsider:nothing", "-k", "sgd-log-mails"], 1, ["not supported", "FAILED: no case was right"]),
        (["--impl", "outsider:absent"], 4, ["'outsider:absent' cannot be imported"]),
    ],
)
def test_the_pytest_door(options, status, messages, outsider):
    done = run("-m", "pytest", "-p", "no:cacheprovider", "tests/conformance", *options, cwd=ROOT)
    assert done.returncode == status, done.stdout + done.stderr
    for message in messages:
        assert message in done.stdout + done.stderr


# the README


def table(heading: str) -> dict[str, str]:
    """The rows of the table under a heading."""
    section = README.split(f"## {heading}\n")[1].split("\n## ")[0]
    return dict(re.findall(r"^\| (.+?) \| (.+?) \|$", section, re.MULTILINE)[2:])


def test_the_readme_lists_the_faults():
    assert table("What can go wrong") == FAULTS


def test_the_readme_lists_the_flags():
    assert table("What a case is about") == {flag: why for flag, (why, _) in FLAGS.items()}
    assert {flag for case in load() for flag in case.flags} == FLAGS.keys()


def test_the_question_in_the_readme_is_asked_and_its_answer_is_right():
    question, answer = (json.loads(line) for line in re.findall(r"```json\n(.*?)\n```", README))
    name, t = question["id"].split("@")
    (case,) = [case for case in load() if case.id == name]
    assert question == json.loads(json.dumps(case.request(int(t))))
    (point,) = [point for point in case.checkpoints if point.t == int(t)]
    assert answer.pop("id") == question["id"]
    assert judge(_only(case, point), [Answer(*map(_tuple, answer.values()))], False).verdict == "passed"


def _only(case, point):
    from dataclasses import replace

    return replace(case, checkpoints=(point,))


def _tuple(value):
    return tuple(value) if isinstance(value, list) else value


def test_the_commands_in_the_readme_are_understood():
    for line in re.findall(r"^(?: {4})?(?:python -m proofs\.conformance) (.*)$", README, re.MULTILINE):
        options = {"--impl", "--command", "--expected-failures", "--json"}
        assert {word for word in shlex.split(line) if word.startswith("--")} - {"--quiet"} <= options
    (line,) = re.findall(r"^ {4}(cc .*)$", README, re.MULTILINE)
    assert shlex.split(line)[-2] == str((KIT / "examples" / "asgd.c").relative_to(ROOT))


def test_the_version_of_a_function_is_that_of_its_package():
    assert Function(np.mean).version == np.__version__
    assert Function(dense.train).name == "proofs.conformance.examples.dense:train"
