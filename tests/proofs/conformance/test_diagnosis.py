"""Diagnose wrong programs: the right fault is named, and no other."""

import math
import random
import re
from itertools import combinations

import numpy as np
import pytest

from proofs.conformance import ALGORITHM, agreement, search
from proofs.conformance.answers import Function
from proofs.conformance.cases import load
from proofs.conformance.examples import dense
from proofs.conformance.faults import SLIPS
from proofs.conformance.plain import FAULTS, WRONG_DERIVATIVES, trace
from proofs.conformance.plain import train as train_with_faults
from proofs.conformance.report import Report
from proofs.conformance.verdicts import judge
from tests.proofs.conformance.programs import RIGHT, altered, check_short, named, with_fault


def half(train, algorithm=None, loss=None) -> Report:
    """Return the report on every second case: enough to know a fault by, in half the time."""
    implementation, cases = Function(train), load(algorithm, loss)[::2]
    answered = zip(cases, implementation.ask(cases, False), strict=True)
    return Report(implementation, False, [judge(case, replies, False) for case, replies in answered])


def sample(*faults, every=8):
    """Try the first of so many faults by default, the others at night."""
    return [pytest.param(fault, marks=[pytest.mark.nightly] * (place % every > 0)) for place, fault in enumerate(faults)]


LOSS_OF = {fault: next(iter(losses)) for fault, losses in WRONG_DERIVATIVES.items()} | {
    "0/1 labels": "log",
    "labels swapped": "log",
    "no shrinking without a loss": "hinge",
    "sums wait for a loss": "hinge",
}
"""With which loss a fault is planted; the others with the squared loss, where every prediction matters."""


@pytest.mark.parametrize(
    "fault",
    [
        fault if place % 50 == 0 else pytest.param(fault, marks=pytest.mark.nightly)
        for place, fault in enumerate([*(fault for fault in FAULTS if fault not in {*SLIPS}), *SLIPS[::15]])
    ],
)
def test_diagnose_a_planted_fault_names_it_in_every_algorithm(fault):
    seen = 0
    for algorithm in ALGORITHM.values():
        report = half(with_fault(fault), algorithm, LOSS_OF.get(fault, "squared"))
        (faults,) = named(report) if not report.passed else [{fault}]
        if fault in SLIPS and fault not in faults:  # a fault that does the same has a name of its own
            loss = LOSS_OF.get(fault, "squared")
            assert faults and all(agree({fault}, each.split(" & "), algorithm, loss) for each in faults)
        else:
            assert fault in faults
        assert all("&" not in each for each in faults)
        seen += not report.passed
    assert seen


@pytest.mark.parametrize("fault", sample("u with h_t", "tie at the kink", "weights subtracted in the prediction"))
def test_diagnose_all_algorithms_and_losses_finds_one_fault(fault):
    report = half(with_fault(fault))
    assert named(report) == [{fault}]
    assert report.diagnosis[0].where == ()
    assert len(str(report).splitlines()) < 25


@pytest.mark.parametrize("fault", sample("tie at the kink", "z not updated"))
def test_diagnose_exact_answers_names_the_fault(fault):
    assert named(check_short(with_fault(fault), "csgd", "absolute", exact=True)) == [{fault}]


def by_definition(fault):
    """Make the dense definition with a fault: other formulas than the plain program's, so that all rounds differently."""

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
    sample(
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
        every=4,
    ),
)
def test_diagnose_another_program_names_the_same_fault(fault):
    report = half(by_definition(fault), "casgd", ["hinge", "log"])
    assert not report.passed
    assert [fault in faults for faults in named(report)] == [True]


def test_check_of_the_other_program_without_a_fault_passes():
    assert check_short(by_definition(None), loss=["hinge", "log"]).passed


def agree(faults, others, algorithm, loss) -> bool:
    """Tell whether two sets of faults give the same results in the cases that float64 decides."""
    for case in load(algorithm, loss):
        for point in [point for point in case.checkpoints if point.held]:
            arguments = case.matrix(), case.y, case.loss, case.lam, case.indices[: point.t], case.average, case.centred
            (w, b), (other_w, other_b) = (train_with_faults(*arguments, fault=each) for each in (faults, others))
            scale = max(1, *(abs(each) for each in [*other_w, other_b] if np.isfinite(each)), 0)
            if not np.allclose([*w, b], [*other_w, other_b], rtol=0, atol=1e-9 * scale, equal_nan=True):
                return False
    return True


PAIRS = random.Random(20).sample(list(combinations(sorted(FAULTS.keys() - {"single precision", *SLIPS}), 2)), 8)


@pytest.mark.parametrize(
    "pair",
    [pytest.param(pair, marks=[pytest.mark.nightly] * (place > 0)) for place, pair in enumerate(PAIRS)],
    ids=" + ".join,
)
def test_diagnose_two_faults_does_not_blame_one_alone(pair):
    for algorithm, loss in (("casgd", "hinge"), ("asgd", "squared")):
        report = check_short(with_fault(*pair), algorithm, loss)
        for names in named(report):
            assert names, "some faults explain it: these two"
            both = " & ".join(sorted(pair)) in names
            assert both or all(agree(set(each.split(" & ")), pair, algorithm, loss) for each in names)


@pytest.mark.parametrize(
    ("other", "algorithm", "loss"),
    [
        pytest.param("damped bias", "casgd", "log", marks=pytest.mark.nightly),
        ("c with a of before", "casgd", "hinge"),  # one alone gives the first results, as "the last step learns nothing" does
        pytest.param("c with a of before", None, "absolute", marks=pytest.mark.nightly),
    ],
)
def test_diagnose_two_faults_names_both(other, algorithm, loss):
    report = check_short(with_fault("u with h_t", other), algorithm, loss)
    assert named(report) == [{f"{other} & u with h_t"}]
    assert "two faults at once" in str(report)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "faults",
    [
        ("bias not regularised", "tie at the kink", "w_1 left out of the mean"),
        ("c with a of before", "tie at the kink", "u with h_t"),
    ],
)
def test_diagnose_three_faults_names_all(faults):
    report = check_short(with_fault(*faults), "casgd", "hinge")
    assert [" & ".join(faults) in names for names in named(report)] == [True]


def test_diagnose_faults_of_separate_algorithms_names_each():
    def train(X, y, loss, lam, indices, average, centred):
        fault = {(True, False): "w_0 in the mean", (True, True): "average without its centre"}.get((average, centred))
        return train_with_faults(X, y, loss, lam, indices, average, centred, fault=fault)

    report = check_short(train, loss="squared")
    assert [next(iter(each & {"w_0 in the mean", "average without its centre"})) for each in named(report)] == [
        "w_0 in the mean",
        "average without its centre",
    ]
    assert [finding.where for finding in report.diagnosis] == [("asgd",), ("casgd",)]


def test_diagnose_indistinguishable_faults_lists_all():
    report = check_short(with_fault("no bias"), "csgd", "squared")  # without its 1, θ leaves b out of b' as well
    assert named(report) == [{"no bias", "theta without 1"}]
    assert "which give the same results in the cases run" in str(report)


def test_diagnose_an_unknown_fault_says_so():
    report = check_short(altered(lambda w, b: (w, b + 0.125)), "sgd", "log")
    assert named(report) == [set()]
    assert "no known fault explains it; it first departs in sgd-log-" in str(report)
    assert "step 1: b is " in str(report)
    assert re.search(r"; searched \d{3,} explanations in \d+ s", report.diagnosis[0].text)


def test_diagnose_ends_when_the_work_is_done(monkeypatch):
    monkeypatch.setattr(search, "MOST_WORK", 3000)
    calls = []
    monkeypatch.setattr(search, "compare", lambda *arguments: calls.append(1) or agreement.compare(*arguments))
    report = check_short(with_fault("u with h_t", "damped bias"), "casgd", "log")
    assert "no known fault explains it" in str(report)
    assert len(calls) < 1500


def test_diagnose_interrupted_keeps_the_verdict(monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(search, "compare", interrupt)
    report = check_short(with_fault("u with h_t"), "asgd", "log")
    assert str(report).endswith("FAILED")
    assert "the search for the fault was interrupted; it first departs in asgd-log-" in str(report)


def test_diagnose_shows_the_search_if_asked(capsys):
    report = check_short(altered(lambda w, b: (w, b + 0.125)), "asgd", "log", progress=True)
    assert report.diagnosis
    assert re.search(r"\rlooking for the fault: \d+ explanations tried", capsys.readouterr().err)


def test_diagnose_lost_digits_says_rounding():
    report = check_short(altered(lambda w, b: (w * (1 + 1e-11), b * (1 + 1e-11))), ["csgd", "casgd"], "log")
    (finding,) = report.diagnosis
    assert finding.faults == ()
    assert finding.text.startswith("rounding: ")


def test_diagnose_lost_digits_leaves_kinks_open():
    def train(*arguments):
        w, b = train_with_faults(*arguments, "tie at the kink")
        return w * (1 + 1e-11), b * (1 + 1e-11)

    (finding,) = check_short(train, "sgd", "hinge").diagnosis
    assert finding.faults == ()
    assert re.search(r"only digits are lost; where a kink is near, [1-9]\d* more wrong results", finding.text)


def test_diagnose_float32_says_single_precision():
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

    assert named(half(train, "casgd")) == [{"single precision"}]


def test_diagnose_digits_lost_by_cancellation_is_not_single_precision():
    def cancels(X, y, loss, lam, indices, average, centred):
        w, b = RIGHT(X, y, loss, lam, indices, average, centred)
        return (w * (1 + 3e-8), b * (1 + 3e-8)) if average and lam <= 2**-16 else (w, b)

    text = check_short(cancels, ["sgd", "asgd"], "squared", progress=False).diagnosis[0].text
    assert text.startswith("cancellation: digits are lost in ")
    assert "single precision" not in text


@pytest.mark.nightly
def test_diagnose_a_fault_but_for_a_few_cases_names_the_nearest():
    def nearly(X, y, loss, lam, indices, average, centred):
        fault = "step 1/(λ(t+1))" if X.shape[1] < 6 else None
        return train_with_faults(X, y, loss, lam, indices, average, centred, fault=fault)

    text = check_short(nearly, "sgd", "hinge", progress=False).diagnosis[0].text
    assert "nearest: the steps are 1/(λ(t+1)) [step 1/(λ(t+1))], explains " in text
    assert "; not sgd-hinge-wide-rows" in text


@pytest.mark.nightly
def test_diagnose_first_steps_of_another_size_says_how_to_declare_them():
    def bottou(X, y, loss, lam, indices, average, centred):
        name = "step eta0=0.125 k=-1 a=1"
        return train_with_faults(X, y, loss, lam, indices, average, centred, fault=name)

    text = check_short(bottou, "sgd", "hinge", progress=False).diagnosis[0].text
    assert 'if they are meant, try --known "step eta0=0.125 k=-1 a=1"' in text


@pytest.mark.nightly
def test_diagnose_errors_that_no_rounding_makes_is_not_single_precision():
    assert named(check_short(altered(lambda w, b: (w * (1 + 2.0**-12), b)), "sgd")) == [set()]


def test_diagnose_a_division_by_zero_names_the_printed_loop():
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

    report = check_short(train, loss="log")
    assert report.count["error"] == len(load("sgd", "log"))
    assert named(report) == [{"loop as printed"}]


def test_diagnose_an_unrepeatable_program_says_so():
    rng = np.random.default_rng(0)

    def shuffles(X, y, loss, lam, indices, average, centred):
        return RIGHT(X, y, loss, lam, rng.permutation(indices), average, centred)

    assert "it draws examples or keeps state" in str(check_short(shuffles, "asgd", "log"))

    longest = max(load("sgd", "absolute"), key=lambda case: len(case.indices))

    def mostly_shuffles(X, y, loss, lam, indices, average, centred):
        repeats = len(y) == len(longest.y)
        return RIGHT(X, y, loss, lam, indices[::-1] if repeats else rng.permutation(indices), average, centred)

    assert "it draws examples or keeps state" in str(check_short(mostly_shuffles, "sgd", "absolute"))


@pytest.mark.parametrize("place", [2, 3], ids=["p", "g"])
def test_diagnose_wrong_p_or_g_alone_says_so(place):
    def train(*arguments):
        run = list(trace(*arguments)[:4])
        run[place] = [each + 1 for each in run[place]]
        return run

    report = check_short(train, "csgd", "squared")
    assert report.count["failed"] == len(report.results)
    assert "w and b are right, but not p and g as returned" in str(report)
