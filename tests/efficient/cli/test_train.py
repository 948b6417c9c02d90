"""casgd train: the models of the library to the bit, a table that tells the truth, checkpoints, Ctrl-C and kill -9."""

import itertools
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
import tracemalloc
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

import efficient
from efficient.cli import checkpoint, train
from efficient.cli.features import fit_transform_to
from efficient.cli.model_file import load_model, rows_digest
from efficient.reading.svmlight import load_svmlight
from efficient.training import epochs
from efficient.training.metrics import quality, shown_quality
from efficient.training.splits import hold_out
from reference import LOSSES, Problem, draw_indices, safe_t0
from reference.averaging import polynomial
from reference.datasets import load_spam

COMMAND = [sys.executable, "-m", "efficient"]
FEW = ["--epochs", 2]


def library(problem, algorithm, indices, **options):
    """Predictor that the command should write."""
    averaging = algorithm in ("asgd", "casgd")
    state = efficient.State(problem, algorithm, averaging_weights=polynomial(1) if averaging else None, **options).run(indices)
    return state.average() if averaging else state.last()


def test_train_evaluate_predict_agree(works, table, mails):
    out = works("train", mails, "-o", "mails.model", "--tfidf", "--hold-out", 0.2, "--epochs", 5)
    printed = table(out)
    assert printed["epoch"] == [1, 2, 3, 4, 5]
    assert printed["held-out error"][-1] < 0.06
    assert printed["objective"][-1] < printed["objective"][0]
    assert "1210 rows, 20539 columns" in out and re.search(r"2\d\d rows held out", out)
    evaluated = works("evaluate", "mails.model", mails)
    predicted = np.array(works("predict", "mails.model", mails).split(), dtype=float)
    y = load_spam().y[::5]
    error = float(re.search(r"^error +(\S+)$", evaluated, re.MULTILINE)[1])
    assert error == pytest.approx(np.mean(predicted != y), rel=1e-5)
    assert error < 0.04
    assert f"class 1: {(y == 1).sum()} rows" in evaluated


@pytest.mark.parametrize("order", ["iid", "permuted", "cyclic"])
@pytest.mark.parametrize(("algorithm", "loss"), [("casgd", "log"), ("asgd", "hinge"), ("csgd", "squared")])
def test_model_is_that_of_the_library_to_the_bit(works, table, mails, algorithm, loss, order):
    options = ["--algorithm", algorithm, "--loss", loss, "--lam", "0.01", "--seed", 7, "--order", order, "--epochs", 3]
    printed = table(works("train", mails, "-o", "a.model", *options))
    X, y, _ = load_spam()
    problem = Problem(X[::5], y[::5], loss, 0.01)
    t0 = safe_t0(problem, centred=True) if loss == "squared" else 0
    predictor = library(problem, algorithm, draw_indices(1210, 3 * 1210, 7, order), t0=t0)
    (read,) = load_model("a.model").predictors
    np.testing.assert_array_equal(read.w, predictor.w)
    np.testing.assert_array_equal(read.predict(X), predictor.predict(X))
    centred = algorithm != "asgd"
    assert printed["objective"][-1] == pytest.approx(problem.objective(predictor, centred), rel=1e-5)
    assert problem.objective(predictor, centred) != pytest.approx(problem.objective(predictor, not centred), rel=2e-5)


@pytest.mark.parametrize("zero_based", [[], ["--zero-based"]])
def test_model_of_converted_text_and_out_of_core_is_that_of_the_text(works, mails, zero_based):
    if zero_based:
        Path("zero.svm").write_text("1 0:1 3:2\n-1 1:1\n" * 9, "utf8")
        mails = "zero.svm"
    options = ["--epochs", 2, "--order", "blocked", *zero_based]
    works("train", mails, "-o", "text.model", *options)
    works("convert", mails, "-o", "rows.npz", *zero_based)
    works("train", "rows.npz", "-o", "npz.model", *options)
    works("train", mails, "-o", "core.model", "--out-of-core", "new/folder", "--epochs", 2, *zero_based)
    (made,) = Path("new/folder").iterdir()
    before = made.stat().st_mtime_ns
    works("train", mails, "-o", "again.model", "--out-of-core", "new/folder", *options)
    assert [made.stat().st_mtime_ns] == [path.stat().st_mtime_ns for path in Path("new/folder").iterdir()] == [before]
    assert len({Path(f"{name}.model").read_bytes() for name in ("text", "npz", "core", "again")}) == 1


@pytest.mark.parametrize("labels", ["0 1", "-1 +1", "1.5 -2.5", "-3 1e9"])
@pytest.mark.usefixtures("folder")
def test_any_two_numbers_are_two_classes(works, labels):
    first, second = labels.split()
    text = Path("a.svm").read_text()
    Path("other.svm").write_text(re.sub(r"(?m)^[01]", lambda label: (first, second)[int(label[0])], text))
    works("train", "a.svm", "-o", "plain.model", "--lam", "0.1")
    works("train", "other.svm", "-o", "other.model", "--lam", "0.1")
    sign = 1 if float(first) < float(second) else -1
    plain, other = (load_model(name).predictors[0] for name in ("plain.model", "other.model"))
    np.testing.assert_array_equal(other.w, sign * plain.w)
    assert other.b == sign * plain.b
    assert {float(word) for word in works("predict", "other.model", "other.svm").split()} == {float(first), float(second)}


def test_more_classes_are_one_model_each_to_the_bit(works, table):
    X = load_spam().X[:300, :300]
    y = np.asarray(X.sum(axis=1)).ravel() % 4 * 2 - 3
    dump_svmlight_file(X, y, "many.svm", zero_based=False)
    X, classes = load_svmlight("many.svm").X, np.unique(y)
    assert len(classes) > 2
    out = works("train", "many.svm", "-o", "many.model", "--lam", "0.01", *FEW)
    many, objectives = load_model("many.model"), []
    np.testing.assert_array_equal(many.classes, classes)
    for label, predictor in zip(classes, many.predictors, strict=True):
        problem = Problem(X, np.where(y == label, 1.0, -1.0), "hinge", 0.01)
        alone = library(problem, "casgd", draw_indices(300, 600, 0, "permuted"))
        np.testing.assert_array_equal(predictor.w, alone.w)
        assert predictor.b == alone.b
        objectives.append(problem.objective(alone, centred=True))
    assert table(out)["objective"][-1] == pytest.approx(np.mean(objectives), rel=1e-5)


def test_labels_that_are_no_classes_are_refused(fails):
    Path("one.svm").write_text("1 1:1\n1 2:1\n1 3:1\n")
    fails(1, ["one.svm", "one class only, 1", "squared"], "train", "one.svm", "-o", "a.model")
    Path("a.svm").write_text("0.5 1:1\n1.5 2:1\n2.5 3:1\n3 1:2\n")
    fails(1, ["a.svm", "4 different labels", "squared"], "train", "a.svm", "-o", "a.model")
    Path("same.svm").write_text("1 1:1\n" * 5 + "-1 1:1\n" * 5)
    fails(1, ["held out", "1 of them different"], "train", "same.svm", "-o", "a.model", "--hold-out", "0.5")
    assert not Path("a.model").exists()


@pytest.mark.usefixtures("folder")
def test_rare_class_is_trained_on_whatever_the_seed(works):
    Path("rare.svm").write_text("".join(f"{int(i in (4, 17))} 1:{i} 2:1\n" for i in range(1, 31)))
    for seed in range(10):
        common = ["--epochs", 1, "--seed", seed]
        assert "6 rows held out" in works("train", "rare.svm", "-o", "rare.model", "--hold-out", 0.2, *common)
        assert "best lam" in works("sweep", "rare.svm", "--lam", 1, *common)


def clock(monkeypatch, step):
    """Let the clocks go by so many seconds each time they are read."""
    fake = SimpleNamespace(perf_counter=itertools.count(1000, step).__next__, monotonic=itertools.count(1000, step).__next__)
    monkeypatch.setattr(train, "time", fake)
    monkeypatch.setattr(epochs, "time", fake)


@pytest.mark.usefixtures("folder")
def test_table_line_by_line(works, monkeypatch):
    clock(monkeypatch, 1)
    settings = ["--epochs", 1, "--lam", 0.5, "--loss", "squared", "--scale", "--hold-out", 0.4, "--seed", 2]
    out = works("train", "a.svm", "-o", "m", *settings)
    X, y, _ = load_svmlight("a.svm")
    held, model = hold_out(X, 0.4, 2), load_model("m")
    first, head, line, last = out.splitlines()
    assert first == f"6 rows, 3 columns, 1.7 entries a row, numbers to predict; {held.sum()} rows held out"
    names = ["objective", "loss", "MSE", "R2", "held-out loss", "held-out MSE", "held-out R2"]
    assert head == "  ".join(["epoch", *(f"{name:>14}" for name in names), "seconds"])
    values = [quality(LOSSES["squared"], model.scores(X[part]), y[part], None) for part in (~held, held)]
    assert line.split()[2:-1] == [shown_quality(value) for part in values for value in part.values()]
    np.testing.assert_array_equal(model.transform.factor, fit_transform_to(X[~held], "scale").factor)
    assert (model.transform.factor != fit_transform_to(X, "scale").factor).any()
    assert (len(line), line[-6:], last) == (len(head), "  1.00", "wrote m")
    assert model.training == {
        **{"loss": "squared", "lam": 0.5, "algorithm": "casgd", "average": "weighted", "t0": "auto", "order": "permuted"},
        **{"seed": 2, "hold_out": 0.4, "transform": "scale", "zero_based": False, "epochs": 1, "rows": int((~held).sum())},
        **{"steps": int((~held).sum()), "stopping": "epochs", "digest": rows_digest(model.transform.apply(X[~held]), y[~held])},
    }


def test_overflow_names_the_step_and_the_cure(fails):
    Path("a.svm").write_text("1 1:1e200\n-1 1:2e200\n3 1:1e200\n")
    command = ["train", "a.svm", "-o", "a.model", "--loss", "squared", "--algorithm", "asgd"]
    fails(
        1,
        ["overflowed", "step", "larger --lam", "--scale", "larger --t0", "--loss absolute"],
        *command,
        "--t0",
        0,
        printed=True,
    )
    fails(1, ["t0", "--scale", "--lam"], *command)
    Path("b.svm").write_text("1 1:100\n")  # whose step can be taken; the predictor cannot be made
    of_one = ["b.svm", "-o", "b.model", "--loss", "absolute", "--lam", "1e-308", "--algorithm", "sgd", "--epochs", 1]
    fails(1, ["overflowed", "step 1:", "larger --lam", "larger --t0"], "train", *of_one, printed=True)
    fails(1, ["mean row overflows"], "train", "a.svm", "-o", "a.model", "--loss", "absolute")


# checkpoints


def with_checkpoint(examples, name, epochs=6, *more):
    return ["train", examples, "-o", f"{name}.model", "--checkpoint", f"{name}.checkpoint", "--epochs", epochs, *more]


def test_more_epochs_resume_from_the_checkpoint(casgd, works, fails, table, mails):
    works("train", mails, "-o", "whole.model", "--epochs", 6)
    left = Path(f"parts.checkpoint.{'0' * 16}.part")  # as a killed training may leave behind
    left.write_bytes(bytes(10_000_000))
    assert table(works(*with_checkpoint(mails, "parts", 2)))["epoch"] == [1, 2]
    assert not left.exists()
    for expected in ([3, 4, 5, 6], None):
        status, out, err = casgd(*with_checkpoint(mails, "parts", 6))
        step = 2420 if expected else 7260
        assert (status, err) == (0, f"casgd: resuming from step {step} of 'parts.checkpoint'\n")
        assert (table(out)["epoch"] == expected) if expected else "epoch" not in out  # the last one is done already
        assert Path("parts.model").read_bytes() == Path("whole.model").read_bytes()
    fails(1, ["--epochs", "step 7260 of 'parts.checkpoint'", "6050"], *with_checkpoint(mails, "parts", 5))


@pytest.mark.parametrize("labels", [2, 4])
def test_interrupted_or_killed_training_resumes_to_the_same_bits(casgd, works, mails, monkeypatch, labels):
    X, y, _ = load_svmlight(mails)
    dump_svmlight_file(X, y + np.arange(len(y)) % (labels // 2), "a.svm", zero_based=False)
    monkeypatch.setattr("efficient.kernels.blocks.ENTRIES", 50_000)
    monkeypatch.setattr(train, "SECONDS_BETWEEN_CHECKPOINTS", 0)
    works("train", "a.svm", "-o", "whole.model", "--epochs", 3)
    save, stops, steps = checkpoint.Checkpoint.save, iter([2, 1, 3, 1]), []

    class Killed(BaseException):
        pass

    def saving(left, how):
        def save_and_stop(self, run):
            nonlocal left
            left -= 1
            if left >= 0:
                save(self, run)
                steps.append(run.t)
            if left == 0:
                raise how

        return save_and_stop

    for stop in stops:
        how = KeyboardInterrupt() if stop % 2 else Killed()
        monkeypatch.setattr(checkpoint.Checkpoint, "save", saving(stop, how))
        try:
            status, _, err = casgd(*with_checkpoint("a.svm", "parts", 3))
        except Killed:
            continue
        assert status == 130
        assert re.search(r"casgd: interrupted at step \d+ of 3630; the same command resumes\n$", err)
    monkeypatch.setattr(checkpoint.Checkpoint, "save", save)
    assert any(step % 1210 for step in steps)
    status, _, err = casgd(*with_checkpoint("a.svm", "parts", 3))
    assert (status, f"step {steps[-1]} " in err) == (0, True)
    assert Path("parts.model").read_bytes() == Path("whole.model").read_bytes()


def test_checkpoint_of_something_else_is_refused(works, fails, mails):
    works(*with_checkpoint(mails, "a", 1))
    for more, words in (
        (["--seed", 1], ["seed = 0", "seed = 1"]),
        (["--order", "cyclic"], ["order = 'permuted'", "'cyclic'"]),
        (["--average", "uniform"], ["average = 'weighted'"]),
        (["--lam", "1"], ["lam = 0.0001"]),
        (["--t0", "3"], ["t0 = 'auto'"]),
        (["--hold-out", "0.1"], ["hold_out = 0.0"]),
        (["--tfidf"], ["transform = 'none'"]),
    ):
        fails(1, ["'a.checkpoint'", *words, "begin anew"], *with_checkpoint(mails, "a", 1, *more))
    Path("other.svm").write_bytes(mails.read_bytes().replace(b" 7:1 ", b" 7:2 "))
    fails(1, ["'a.checkpoint'", "another problem", "begin anew"], *with_checkpoint("other.svm", "a", 1))
    whole = Path("a.checkpoint").read_bytes()
    with zipfile.ZipFile("a.checkpoint") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for number in (None, 3):  # None: of version 0.1
        settings = json.loads(members["settings.json"]) | {"format": number}
        with zipfile.ZipFile("a.checkpoint", "w") as archive:
            for name, content in (members | {"settings.json": json.dumps(settings)}).items():
                archive.writestr(name, content)
        fails(1, ["'a.checkpoint'", f"format = {number}; got format = 2", "begin anew"], *with_checkpoint(mails, "a", 1))
    changed = bytes(byte ^ 1 for byte in whole[100_000:100_008])
    for damaged in (b"", whole[:-1000], whole[1000:], b"1 1:1\n", whole[:100_000] + changed + whole[100_008:]):
        Path("a.checkpoint").write_bytes(damaged)
        fails(1, ["'a.checkpoint'", "begin anew"], *with_checkpoint(mails, "a", 1))


@pytest.mark.usefixtures("folder")
def test_checkpoint_that_unpacks_to_more_than_the_file_is_refused(works, fails):
    works(*with_checkpoint("a.svm", "a", 1))
    with zipfile.ZipFile("a.checkpoint") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    assert list(json.loads(members["settings.json"])) == ["format", *train.SETTINGS]
    for harmed in ("settings.json", "v.npy"):
        with zipfile.ZipFile("a.checkpoint", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name, content + bytes(10_000_000 * (name == harmed)))
        tracemalloc.start()
        fails(1, ["'a.checkpoint'", "not stored as it is", "begin anew"], *with_checkpoint("a.svm", "a", 1))
        assert tracemalloc.get_traced_memory()[1] < 9e6
        tracemalloc.stop()


@pytest.mark.usefixtures("folder")
def test_checkpoints_are_saved_twice_a_minute_and_after_each_epoch(works, monkeypatch):
    saved, save = [], checkpoint.Checkpoint.save
    monkeypatch.setattr(checkpoint.Checkpoint, "save", lambda self, run: (saved.append(run.t), save(self, run)))
    monkeypatch.setattr("efficient.kernels.blocks.ENTRIES", 1)  # blocks of one step
    monkeypatch.setattr("efficient.kernels.blocks.SECONDS", 0)
    for seconds, expected in ((1, [6, 12]), (31, [*range(1, 7), *range(6, 13), 12])):
        clock(monkeypatch, seconds)
        saved.clear()
        Path("c").unlink(missing_ok=True)
        works("train", "a.svm", "--epochs", 2, "--checkpoint", "c", "-o", "m")
        assert saved == expected


@pytest.mark.nightly
def test_kill_9_and_ctrl_c_in_the_middle(casgd, works, mails, tmp_path, outside):
    epochs, name, kept = 2000, tmp_path / "parts", tmp_path / "parts.checkpoint"

    def version():
        return kept.stat().st_mtime_ns if kept.exists() else None

    for sent in (signal.SIGKILL, signal.SIGINT):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        before, end = version(), time.monotonic() + 300
        with subprocess.Popen([*COMMAND, *map(str, with_checkpoint(mails, name, epochs))], env=outside, **pipes) as process:
            while version() == before and process.poll() is None and time.monotonic() < end:
                time.sleep(0.002)
            process.send_signal(sent)
            _, err = process.communicate()
        assert not Path(f"{name}.model").exists()
        assert version() != before
        assert "Traceback" not in err
    assert process.returncode == 130
    resumed, interrupted = err.splitlines()
    assert re.match(r"casgd: resuming from step \d+ of ", resumed)
    assert re.match(r"casgd: interrupted at step \d+ of 2420000; the same command resumes$", interrupted)
    with np.load(kept) as archive:
        t = int(archive["t"])
    assert 0 < t < epochs * 1210
    more = -(-t // 1210) + 2
    status, _, err = casgd(*with_checkpoint(mails, name, more))
    assert (status, f"step {t} " in err) == (0, True)
    works("train", mails, "-o", "whole.model", "--epochs", more)
    assert Path(f"{name}.model").read_bytes() == Path("whole.model").read_bytes()


@pytest.mark.parametrize("more", [[], ["--checkpoint", "c"]])
@pytest.mark.usefixtures("folder")
def test_ctrl_c_leaves_nothing_but_the_checkpoint(casgd, monkeypatch, more):
    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(epochs, "draw_indices", interrupted)  # before the first step
        assert casgd("train", "a.svm", "-o", "a.model", *more)[::2] == (130, "casgd: interrupted\n")
    assert not Path("a.model").exists() and not Path("c").exists()
    monkeypatch.setattr(train, "evaluate", interrupted)
    words = "the same command resumes" if more else "nothing was written: --checkpoint FILE would keep the state"
    assert casgd("train", "a.svm", "-o", "a.model", *more)[::2] == (130, f"casgd: interrupted at step 6 of 180; {words}\n")
    assert Path("c").exists() == bool(more) and not Path("a.model").exists()


# progress


@pytest.mark.usefixtures("folder")
def test_progress_on_a_terminal_changes_no_line_of_the_table(casgd, works, monkeypatch):
    def shown_at_once(first, total, wanted):
        from tqdm import tqdm

        assert (first, total, wanted) == (0, 18, None)
        return tqdm(initial=first, total=total, unit=" steps", mininterval=0)

    plain = works("train", "a.svm", "-o", "a.model", "--epochs", 3)
    monkeypatch.setattr(train, "progress_bar", shown_at_once)
    status, out, err = casgd("train", "a.svm", "-o", "a.model", "--epochs", 3)
    assert (status, "18/18" in err) == (0, True)
    without_seconds = [re.sub(r"\S+$", "", text, flags=re.MULTILINE) for text in (plain, out)]
    assert without_seconds[0] == without_seconds[1]


def trains_for_ever(mails, kept, **options):
    """Start a training, and wait until it has saved a checkpoint."""
    command = [*COMMAND, *map(str, with_checkpoint(mails, kept.with_suffix(""), 10**6))]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **options)
    end = time.monotonic() + 120
    while not kept.exists():
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.01)
    return process


def test_a_training_that_is_stopped_saves_its_last_state(mails, tmp_path, outside):
    kept = tmp_path / "parts.checkpoint"
    process = trains_for_ever(mails, kept, env=outside, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    process.send_signal(signal.SIGHUP)  # as of a terminal that is closed, under nohup
    time.sleep(0.3)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    began = time.monotonic()
    _, err = process.communicate(timeout=30)
    assert process.returncode == 143 and time.monotonic() - began < 2
    (step,) = re.findall(r"^casgd: interrupted at step (\d+) of \d+; the same command resumes$", err, re.MULTILINE)
    with np.load(kept) as archive:
        assert int(archive["t"]) == int(step) > 0
    assert [path.name for path in tmp_path.iterdir()] == ["parts.checkpoint"]


def test_a_training_whose_terminal_is_closed_saves_its_last_state(mails, tmp_path, outside):
    kept = tmp_path / "parts.checkpoint"
    child, terminal = pty.fork()
    if not child:
        os.execve(COMMAND[0], [*COMMAND, *map(str, with_checkpoint(mails, tmp_path / "parts", 10**6))], outside)
    while not kept.exists():
        os.read(terminal, 10_000)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 129
    with np.load(kept) as archive:
        assert int(archive["t"]) > 0
    assert [path.name for path in tmp_path.iterdir()] == ["parts.checkpoint"]
