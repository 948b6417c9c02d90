"""Options: defaults are those of the estimators; wrong ones are refused in a line, with status 2, before anything is read."""

import os
import re
import shutil
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from efficient import CASGDClassifier
from efficient.cli.options import parse
from reference import LOSSES
from reference.averaging import AVERAGES

ELSEWHERE = {"log_loss": "log", "squared_error": "squared", "epsilon_insensitive": "absolute", "logistic": "log"}


def options_of(line):
    return vars(parse(line.split()))


@pytest.mark.parametrize("command", ["train a.svm -o m", "sweep a.svm"])
def test_defaults_are_those_of_the_estimators(command):
    found, theirs = options_of(command), CASGDClassifier().get_params()
    same = {"loss": "loss", "algorithm": "algorithm", "average": "average", "t0": "t0"}
    same |= {"epochs": "n_epochs"} | ({"lam": "alpha"} if "train" in command else {})
    for ours, name in same.items():
        assert found[ours] == theirs[name]
    assert (found["order"], theirs["sampling"]) == ("permuted", "auto")  # the same without weights
    assert (found["seed"], found["transform"], found["zero_based"], found["labels"]) == (0, "none", False, None)


def test_every_option_is_read():
    line = "a.npz --labels y --loss log --algorithm asgd --average uniform --epochs 1 --order cyclic --seed 1 --t0 0.5"
    chosen = {"examples": "a.npz", "labels": "y", "loss": "log", "algorithm": "asgd", "average": "uniform", "epochs": 1}
    chosen |= {"order": "cyclic", "seed": 1, "t0": 0.5}
    train = {"output": "z", "lam": 2.0, "transform": "tfidf", "zero_based": True, "hold_out": 0.5, "checkpoint": "c"}
    found = options_of(f"train {line} -o z --lam 2 --tfidf --zero-based --hold-out 0.5 --checkpoint c")
    assert {name: found[name] for name in chosen | train} == chosen | train
    sweep = {"lam": [2.0, 0.5], "transform": "scale", "zero_based": False, "folds": 2}
    found = options_of(f"sweep {line} --lam 2,0.5 --scale --folds 2")
    assert {name: found[name] for name in chosen | sweep} == chosen | sweep
    assert options_of("predict m a.svm --scores -o A")["scores"] is True
    for algorithm, average in (("sgd", None), ("casgd", next(iter(AVERAGES)))):
        assert options_of(f"sweep a.svm --algorithm {algorithm}")["average"] == average


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", ["COMMAND"]),
        ("learn", ["learn"]),
        ("train", ["FILE"]),
        ("train a.svm", ["-o"]),
        *((f"train a.svm -o m --lam {lam}", ["--lam", repr(lam), "> 0"]) for lam in ("0", "-1", "nan", "1e999", "1,2")),
        ("sweep a.svm --lam 1,,2", ["--lam", "''"]),
        ("sweep a.svm --folds 1", ["--folds", ">= 2"]),
        *((f"train a.svm -o m --epochs {epochs}", ["--epochs", ">= 1"]) for epochs in ("0", "1.5")),
        *((f"train a.svm -o m --seed {seed}", ["--seed", "from 0 to 4294967295"]) for seed in ("-1", "4294967296")),
        *((f"train a.svm -o m --t0 {t0}", ["--t0", "auto"]) for t0 in ("-1", "x", "inf")),
        *((f"train a.svm -o m --hold-out {share}", ["--hold-out", "< 1"]) for share in ("-0.1", "1", "nan")),
        ("train a.svm -o m --loss perceptron", ["--loss", *LOSSES]),
        *((f"train a.svm -o m --loss {name}", [repr(name), f"called {ours!r}"]) for name, ours in ELSEWHERE.items()),
        ("train a.svm -o m --max_iter 5", ["--max_iter 5", "--epochs"]),
        ("train a.svm -o m --max-iter=5", ["--max-iter=5", "--epochs"]),
        ("sweep a.svm -C 1", ["-C", "--lam"]),
        ("sweep a.svm --alpha 1 --random_state 0", ["alpha", "--lam", "--seed"]),
        *((f"{command} b.svm", ["'b.svm' is there", "--force"]) for command in ("train a.svm -o", "predict m a.svm -o")),
        ("certify m a.svm --json b.svm", ["'b.svm' is there", "--force"]),
        ("train a.svm -o m --average x", ["--average", *AVERAGES]),
        ("train a.svm -o m --los log", ["--los", "is it --loss?"]),
        ("train a.svm -o m --tol 1e-3", ["tol", "--epochs"]),
        ("sweep a.svm --lam 1e-4 1e-2", ["1e-2", "commas"]),
        ("train a.svm -o m --tfidf --scale", ["--scale"]),
        ("train a.svm -o m --algorithm sgd --average uniform", ["--average", "sgd", "asgd"]),
        ("train a.svm -o m --labels y.npy", ["--labels", ".npz"]),
        ("train a.svm -o m --lambda 1", ["--lambda 1", "see casgd train --help"]),
        ("train a.svm -o m --out-of-core d --hold-out 0.5", ["--out-of-core", "--hold-out"]),
        ("train a.svm -o m --out-of-core d --tfidf", ["--out-of-core", "--tfidf"]),
        ("train - -o m --out-of-core d", ["--out-of-core", "FILE"]),
        ("train a.npz -o m --out-of-core d", ["--out-of-core", ".npz"]),
        ("convert a.svm -o m", ["-o", ".npz", "'m'"]),
        ("convert a.svm -o no/m.npz", ["'no/m.npz'", "folder"]),
        ("predict m", ["FILE"]),
        ("predict m a.svm --zero-based", ["--zero-based", "see casgd predict --help"]),
        ("train a.svm -o no/m", ["'no/m'", "folder"]),
        ("train a.svm -o .", ["'.'", "folder"]),
        (f"train a.svm -o {os.devnull}", ["device"]),
        (f"train none -o {'x' * 300}", ["cannot be written", "too long"]),
        ("train a.svm -o m --checkpoint no/c", ["'no/c'"]),
        ("train a.svm -o ./a.svm", ["overwritten"]),
        ("train a.svm -o m --checkpoint ./m", ["overwritten"]),
        ("train a.npz --labels y -o y", ["overwritten"]),
        ("predict m a.svm -o m", ["overwritten"]),
    ],
)
def test_bad_usage_is_refused_before_anything_is_read(fails, line, words):
    before = Path("a.svm").read_text()
    fails(2, words, *line.split())
    assert sorted(os.listdir()) == ["a.svm", "b.svm"]
    assert Path("a.svm").read_text() == before


def test_only_files_of_the_command_are_overwritten_without_force(works, fails, folder):
    np.savez("other.npz", data=1)
    Path("empty").touch()
    for command, other, own in (
        ("train a.svm --epochs 1 -o", "b.svm", "a.model"),
        ("predict a.model a.svm --scores -o", "b.svm", "labels.tsv"),
        ("convert b.svm -o", "other.npz", "b.npz"),
        ("certify a.model a.svm --json", "a.svm.json", "a.json"),
    ):
        Path("a.svm.json").write_text('{"notes": 1}')
        before = Path(other).read_bytes()
        fails(2, [other, "--force"], *command.split(), other)
        assert Path(other).read_bytes() == before
        for again in (False, True):
            # labels look alike, those that casgd wrote and the true ones
            works(*command.split(), own, *(["--force"] if again and command.startswith("predict") else []))
        shutil.copy(other, forced := f"copy-{other}")
        works(*command.split(), forced, "--force")
        assert Path(forced).read_bytes() == Path(own).read_bytes()
    works("train", "a.svm", "--epochs", 1, "-o", "empty")
    Path("labels.txt").write_text("1\n0\n")
    fails(2, ["labels.txt", "--force"], "predict", "a.model", "a.svm", "-o", "labels.txt")


def test_version_is_that_of_the_installation(casgd):
    assert casgd("--version") == (0, f"casgd {version('casgd')}\n", "")


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
@pytest.mark.parametrize(
    "line", ["train none -o /proc/x", "train none -o m --checkpoint /proc/x", "predict none none -o /proc/x"]
)
def test_target_that_cannot_be_written_is_refused_before_anything_is_read(fails, line):
    fails(2, ["'/proc/x' cannot be written: "], *line.split())


@pytest.mark.parametrize("command", [[], ["train"], ["predict"], ["evaluate"], ["certify"], ["sweep"], ["convert"]])
def test_examples_of_the_help_parse(casgd, command):
    status, out, err = casgd(*command, "--help")
    assert (status, err) == (0, "")
    lines = re.findall(r"^ +(?:.*\| )?casgd (.*)$", out, re.MULTILINE)
    assert len(lines) >= 1
    for line in lines:
        arguments = re.split(r" > | {3,}", line)[0].split()
        for name in (argument for argument in arguments if "." in argument and not argument.startswith("--")):
            assert not Path(name).exists()
        status, out_of_line, err = casgd(*arguments, stdin=b"")
        assert (status, out_of_line) == (1, ""), err  # the files are missing, but the usage is right
    assert all(len(line) <= 80 for line in out.splitlines())


@pytest.mark.parametrize("command", ["train", "sweep"])
def test_help_lists_every_loss_with_its_kind_of_labels(casgd, command):
    out = casgd(command, "--help")[1]
    for binary, words in ((True, "classes for these losses:"), (False, "numbers to predict for these losses:")):
        listed = " ".join(out.split()).split(words)[1].split(".")[0]
        assert set(re.split(", ", listed.strip())) == {name for name, loss in LOSSES.items() if loss.binary == binary}
    assert "(default: hinge, for classes; give squared for numbers to predict)" in " ".join(out.split())
