"""casgd certify: the certificate of a model file, and what it refuses."""

import json
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import reference
from efficient.cli.model_file import load_model
from efficient.reading.svmlight import load_svmlight
from reference import Predictor, Problem, draw_indices
from reference.averaging import polynomial


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("file", "models"), [("a.svm", 1), ("b.svm", 3)])
def test_certificate_of_a_model_holds_the_exact_run(works, file, models):
    works("train", file, "-o", "m", "--lam", "0.3", "--epochs", "3", "--seed", "5", "--order", "permuted")
    said = works("certify", "m", file, "--json", "m.json", "--rows", file).splitlines()
    assert len(said) == models and all("digits of the largest are certified" in line for line in said)
    assert models == 1 or [line.split(":")[0] for line in said] == ["Class 1", "Class 2", "Class 3"]
    found = json.loads(Path("m.json").read_text())
    assert found["training"]["steps"] == 18 and found["training"]["stopping"] == "epochs"
    X, y = load_svmlight(file)[:2]
    rng = np.random.default_rng(5)
    indices = np.concatenate([draw_indices(len(y), len(y), rng, "permuted") for _ in range(3)])
    for k, (certified, predictor) in enumerate(zip(found["models"], load_model("m").predictors, strict=True)):
        signs = np.where(y == (k + 1 if models > 1 else 1), 1, -1)
        exact = reference.casgd(Problem(X, signs, "hinge", Fraction(0.3)), indices, averaging_weights=polynomial(1))
        numbers = zip([*certified["w"], certified["b"]], [*exact.w, exact.b], [*predictor.w, predictor.b], strict=True)
        for each, right, value in numbers:
            assert each["value"] == value
            assert abs(Fraction(value) - right) <= Fraction(each["within"]) <= Fraction(1, 10**13)
            assert abs(Fraction(each["exact"]) - right) <= abs(right) / 10**18
        assert len(certified["predictions"]) == 6 and certified["repeated"]


@pytest.mark.nightly
def test_certificates_of_mails_as_counts_and_as_tfidf_have_many_digits(works, mails):
    for options in (["--lam", "0.01"], ["--tfidf", "--loss", "log", "--lam", "0.01", "--hold-out", "0.5"]):
        works("train", str(mails), "-o", "m", "--epochs", "1", *options)
        said = works("certify", "m", str(mails), "--json", "m.json")
        (found,) = json.loads(Path("m.json").read_text())["models"]
        assert found["digits"] >= 10 and f"{found['digits']} digits" in said and found["repeated"]
        assert max(each["within"] for each in found["w"]) == found["within"]


@pytest.mark.usefixtures("folder")
def test_certify_of_a_changed_weight_says_how_far_it_is(works):
    works("train", "a.svm", "-o", "m", "--loss", "log", "--lam", "0.5", "--epochs", "2")
    model = load_model("m")
    (predictor,) = model.predictors
    w = predictor.w + np.eye(len(predictor.w))[1] / 4
    replace(model, predictors=[Predictor(w, predictor.b)]).save("m")
    assert "within 2.5e-01" in (said := works("certify", "m", "a.svm")) and "to the bit" in said


@pytest.mark.usefixtures("folder")
def test_certify_refuses_other_rows_and_files_without_a_record(works, fails, monkeypatch):
    works("train", "a.svm", "-o", "m", "--loss", "log", "--lam", "0.5", "--epochs", "2")
    Path("other.svm").write_text(Path("a.svm").read_text().replace("0.25", "0.26"))
    Path("labels.svm").write_text(Path("a.svm").read_text().replace("0 3:2", "1 3:2"))
    for file in ("other.svm", "labels.svm", "b.svm"):
        fails(1, [repr(file), "'m' was trained on"], "certify", "m", file)
    for loss in ("log", "squared"):
        works("train", "a.svm", "-o", "held", "--loss", loss, "--lam", "0.5", "--epochs", "2", "--hold-out", "0.34")
        assert re.search(r"\b1[4-7] digits", works("certify", "held", "a.svm"))
    model = load_model("m")
    del model.training["digest"]
    model.save("old")
    fails(1, ["'old'", "digest", "Train it again"], "certify", "old", "a.svm")
    fails(2, ["'m' would be overwritten"], "certify", "m", "a.svm", "--json", "m")
    monkeypatch.setitem(sys.modules, "flint", None)
    monkeypatch.delitem(sys.modules, "reference.balls", raising=False)
    monkeypatch.delattr(reference, "balls", raising=False)
    fails(1, ["pip install -e '.[certify]' in a clone"], "certify", "m", "a.svm")


def test_certify_of_a_tie_that_is_not_decided_says_at_which_step(works, fails):
    Path("tie.svm").write_text("-1 1:3\n99 1:0\n0.5 1:1\n")
    works(
        "train",
        "tie.svm",
        "-o",
        "m",
        "--loss",
        "absolute",
        "--lam",
        "1",
        "--algorithm",
        "csgd",
        "--order",
        "cyclic",
        "--epochs",
        "1",
    )
    fails(1, ["'m' is not certified: at step 3"], "certify", "m", "tie.svm")


@pytest.mark.nightly
def test_certify_stops_at_ctrl_c(mails, works, outside, tmp_path):
    works("train", str(mails), "-o", str(tmp_path / "m"), "--epochs", "20", "--loss", "log", "--lam", "1e-3")
    command = [sys.executable, "-m", "efficient", "certify", str(tmp_path / "m"), str(mails)]
    with subprocess.Popen(command, env=outside, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        time.sleep(6)
        assert process.poll() is None, process.communicate()
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        out, err = process.communicate(timeout=20)
    assert process.returncode == 130 and out == "" and "interrupted" in err and "Traceback" not in err
    assert time.monotonic() - began < 5
