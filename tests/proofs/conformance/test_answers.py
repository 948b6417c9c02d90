"""Ask functions: whatever a function does becomes a verdict."""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from proofs.conformance import check
from proofs.conformance.answers import Function
from proofs.conformance.examples import dense
from tests.proofs.conformance.programs import RIGHT, altered, check_short


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
    "w no vector": (altered(lambda w, b: (OnlyShape(w), b)), "cannot be read: TypeError: 'OnlyShape' object is not iterable"),
    "returns nothing": (lambda *_: None, "returned nothing: is the `return` missing?"),
    "returns w alone": (altered(lambda w, b: w), "must return (w, b) or (w, b, p, g); returned ndarray"),
    "returns three things": (altered(lambda w, b: (w, b, b)), "must return (w, b) or (w, b, p, g); returned tuple"),
    "w too long": (altered(lambda w, b: ([*w, 0], b)), "it has the shape"),
    "w a row": (altered(lambda w, b: (w[None], b)), "it has the shape (1, "),
    "w of text": (altered(lambda w, b: ([str(each) for each in w], b)), "w[0] must be a number; it is str"),
    "w a word": (altered(lambda w, b: ("weights", b)), "it is str 'weights'"),
    "w ragged": (altered(lambda w, b: ([[1], [2, 3]], b)), "w must be a vector of"),
    "w None": (altered(lambda w, b: (None, b)), "it is NoneType None"),
    "w with None": (altered(lambda w, b: ([None] * len(w), b)), "w[0] must be a number; it is NoneType None"),
    "w complex": (altered(lambda w, b: (w + 0j, b)), "w[0] must be a number; it is complex"),
    "w too large": (altered(lambda w, b: ([10**400] * len(w), b)), "w[0] must fit a float64"),
    "b a vector": (altered(lambda w, b: (w, np.array([b]))), "b must be a number; it is ndarray"),
    "b None": (altered(lambda w, b: (w, None)), "b must be a number; it is NoneType None"),
    "p too short": (altered(lambda w, b: (w, b, [], [])), "p must be a vector of"),
    "changes X": (changes("X"), "changed its argument X:"),
    "changes the columns": (changes("X.indices"), "changed its argument X.indices:"),
    "changes y": (changes("y"), "changed its argument y:"),
    "changes the draws": (changes("indices"), "changed its argument indices:"),
}


@pytest.mark.parametrize(("train", "message"), NO_ANSWERS.values(), ids=NO_ANSWERS)
def test_check_without_an_answer_says_why(train, message):
    report = check_short(train, "sgd", "squared")
    assert not report.passed
    assert report.count["error"] >= 30  # those without a feature have no w[0], a draw of row 0 is what it was
    assert message in str(report)
    assert len(str(report).splitlines()) < 25
    json.dumps(report.as_json(), allow_nan=False)


@pytest.mark.parametrize(
    "wrong", [lambda X, y: 0, lambda X, y, loss, lam, indices, *, average, centred: 0, lambda *, X, **_: 0]
)
def test_wrong_signature_is_one_sentence(wrong):
    with pytest.raises(ValueError, match=r"lambda> must be called as train\(X, y, loss, .*; it takes \(.*: ") as caught:
        check(wrong)
    assert "\n" not in str(caught.value)


def test_right_signature_in_any_form_is_called():
    right = (dense.train, functools.partial(dense.train), lambda *values: dense.train(*values))
    assert all(check_short(each, "sgd", "squared").passed for each in right)


def test_wrong_signature_of_a_module_is_one_line(tmp_path):
    (tmp_path / "mine.py").write_text("def train(X, y): return 0\n")
    command = [sys.executable, "-m", "proofs.conformance", "--impl", "mine:train"]
    outside = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{Path(__file__).parents[3]}"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=outside, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        "must be called as train(X, y, loss, lam, indices, average, centred); it takes (X, y)" in done.stderr.splitlines()[-1]
    )


def test_read_exact_floats_is_an_error():
    report = check(dense.train, "sgd", "hinge", exact=True)
    assert report.count["error"] == len(report.results)
    assert "must be exact, a Fraction or an int" in str(report)


def test_function_version_is_that_of_its_package():
    assert Function(np.linspace).version == np.__version__
    assert Function(dense.train).name == "proofs.conformance.examples.dense:train"
