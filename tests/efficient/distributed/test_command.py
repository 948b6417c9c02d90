"""Train on several files by the shell: the same model with any number of workers, refusals, and an end at Ctrl-C."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from efficient.cli.model_file import load_model
from efficient.distributed import CASGDClassifier
from reference.datasets import load_spam

ROOT = Path(__file__).parents[3]
PARTS = ["a.svm", "b.svm", "c.svm"]


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """Folder with 600 mails in three files of unequal length, the last of which lacks the last columns."""
    folder = tmp_path_factory.mktemp("parts")
    X, y, _ = load_spam()
    chosen = np.random.default_rng(0).permutation(len(y))[:600]
    for name, rows in zip(PARTS, np.split(chosen, [100, 350]), strict=True):
        dump_svmlight_file(X[rows], y[rows], str(folder / name), zero_based=False)
    return folder


def run(folder, *arguments):
    command = [sys.executable, "-m", "efficient", *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=environment)


@pytest.mark.parametrize("workers", [2, pytest.param(1, marks=pytest.mark.nightly)])
def test_model_of_the_files_is_that_of_the_estimator_for_any_number_of_workers(parts, workers):
    converted = ["--out-of-core", "converted", "--order", "permuted"] if workers == 1 else []
    done = run(parts, "train", *PARTS, "--workers", workers, "--epochs", 3, "-o", "x.model", *converted)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"(?m)^    3 .*\nwrote x.model\n\Z", done.stdout)
    (found,) = load_model(str(parts / "x.model")).predictors
    alone = CASGDClassifier(n_epochs=3, random_state=0).fit([parts / name for name in PARTS])
    assert (found.w == alone.coef_[0]).all()
    assert found.b == alone.intercept_[0]
    assert run(parts, "predict", "x.model", "a.svm").stdout.count("\n") == 100
    assert "a model of parts, which cannot be repeated" in run(parts, "certify", "x.model", "a.svm").stderr
    (parts / "x.model").unlink()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*PARTS], "3 FILEs are parts of one training: give --workers N too"),
        (["-", "--workers", 2], "--workers goes with FILEs that all processes can open"),
        ([*PARTS, "--workers", 2, "--tfidf"], "--tfidf does not go with --workers"),
        ([*PARTS, "--workers", 2, "--hold-out", 0.5], "--hold-out does not go with --workers"),
        ([*PARTS, "--workers", 2, "--checkpoint", "c"], "--checkpoint does not go with --workers"),
        ([*PARTS, "--workers", 0], "0' is not a whole number >= 1"),
    ],
)
def test_what_does_not_go_with_workers_is_refused_in_a_line(fails, arguments, words):
    fails(2, [words], "train", *map(str, arguments), "-o", "x.model")


def test_file_that_is_not_there_is_named(fails):
    fails(1, ["'no-such.svm': No such file or directory"], "train", "no-such.svm", "--workers", "1", "-o", "x.model")


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform == "win32", reason="signals to a group")
def test_ctrl_c_at_the_terminal_ends_all_processes(parts):
    command = [sys.executable, "-m", "efficient", "train", *PARTS, "--workers", "2", "--epochs", "100000", "-o", "never.model"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=parts, env=environment, start_new_session=True
    )
    assert process.stdout is not None
    for line in process.stdout:
        if re.match(" +2 ", line):
            break
    began = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "casgd: interrupted and no model is written\n"
    assert not (parts / "never.model").exists()
    assert time.monotonic() - began < 30
