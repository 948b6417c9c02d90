"""What mutation testing found untested in the command line: facts that no other test would miss."""

import argparse
import errno
import io
import itertools
import json
import os
import re
import runpy
import sys
import warnings
import zipfile
from dataclasses import FrozenInstanceError
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import efficient.__main__ as command_line
from efficient import State
from efficient.__main__ import main
from efficient.cli import examples, train
from efficient.cli.checkpoint import Checkpoint
from efficient.cli.examples import Examples, check_memory, physical_memory, read_examples, read_rows
from efficient.cli.features import Transform, fit_transform_to
from efficient.cli.labels import find_classes, shown
from efficient.cli.learning import epochs_of, row_summary
from efficient.cli.model_file import LONGEST_HEADER, Model, load_model
from efficient.cli.options import parse
from efficient.runs.files import check_stored
from efficient.runs.run import Run
from efficient.training.metrics import quality, shown_quality
from efficient.training.splits import folds, groups_of_equal_rows, hold_out
from reference import LOSSES, Predictor, Problem, draw_indices
from reference.averaging import polynomial
from reference.svmlight import load_svmlight

ROWS = "0 1:2 3:0.5\n1 2:1\n0 1:1 2:0.25\n1 2:3 3:1\n0 3:2\n1 1:1 2:2\n"
THREE = "1 1:2 3:0.5\n2 2:1\n3 1:1 2:0.25\n1 2:3 3:1\n2 3:2\n3 1:1 2:2\n"
CLASSES = np.array([-1.0, 1.0])


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("a.svm").write_text(ROWS)
    Path("b.svm").write_text(THREE)


def works(outcome):
    status, out, err = outcome
    assert (status, err) == (0, "")
    return out


def said_by(refused, error=ValueError):
    with pytest.raises(error) as caught:
        refused()
    return str(caught.value)


def train_two(name="a.model", *more):
    assert main(["train", "a.svm", "-o", name, "--epochs", "2", "--lam", "0.1", *more]) == 0


# the ends of the program


def ending(monkeypatch, error):
    def run(_options):
        raise error

    monkeypatch.setattr(command_line, "parse", lambda _: argparse.Namespace(run=run))


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (ValueError("a  b\n c"), 1, "a b c"),
        (TypeError("no"), 1, "no"),
        (FloatingPointError("no"), 1, "no"),
        (MemoryError(), 1, "MemoryError"),
        (OSError(errno.ENOENT, "is missing", "file"), 1, "'file': is missing"),
        (OSError(errno.ENOSPC, "is full"), 1, "is full"),
        (OSError("odd"), 1, "odd"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (KeyboardInterrupt("at step 3"), 130, "interrupted at step 3"),
    ],
)
def test_every_failure_is_one_line_and_a_status(casgd, monkeypatch, error, status, words):
    ending(monkeypatch, error)
    assert casgd() == (status, "", f"casgd: {words}\n")


def test_an_error_that_is_a_fault_of_ours_is_not_hidden(monkeypatch):
    ending(monkeypatch, ZeroDivisionError("ours"))
    with pytest.raises(ZeroDivisionError):
        main([])


def test_who_has_seen_enough_is_not_told(monkeypatch):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as out, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        assert main(["--help"]) == 141
        print("no harm", file=out, flush=True)  # what is written now goes nowhere


def test_without_standard_output_a_command_still_works(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", None)
        train_two()
    assert Path("a.model").exists()


def test_a_terminal_without_greek_letters_gets_help(monkeypatch):
    raw = io.BytesIO()
    with monkeypatch.context() as patch, io.TextIOWrapper(raw, encoding="ascii") as terminal:
        patch.setattr(sys, "stdout", terminal)
        with pytest.raises(SystemExit) as ended:
            main(["train", "--help"])
        text = raw.getvalue().decode()
    assert ended.value.code == 0
    assert "? > 0, the regularisation of w and b (default: 1e-4)" in " ".join(text.split())


def test_python_dash_m_runs_it_and_an_import_does_not(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["efficient", "evaluate", "none", "a.svm"])
    for name, ends in (("__main__", True), ("efficient.__main__", False), ("ABOVE", False)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # it was imported before
            if ends:
                with pytest.raises(SystemExit) as ended:
                    runpy.run_module("efficient.__main__", run_name=name)
                assert ended.value.code == 1
            else:
                runpy.run_module("efficient.__main__", run_name=name)
        assert capsys.readouterr().err == ("casgd: 'none': No such file or directory\n" if ends else "")


# options

LEARNING = {
    "loss": "log",
    "algorithm": "casgd",
    "average": "weighted",
    "epochs": 20,
    "order": "iid",
    "seed": 0,
    "t0": "auto",
    "transform": "none",
    "zero_based": False,
}


def options_of(line):
    found = dict(vars(parse(line.split())))
    return {name: value for name, value in found.items() if name not in ("parser", "run")}


def test_the_defaults():
    train_only = {"output": "m", "lam": 1e-4, "hold_out": 0.0, "checkpoint": None}
    assert options_of("train a.svm -o m") == {"examples": "a.svm", "labels": None, **LEARNING, **train_only}
    lams = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1]
    found = options_of("sweep a.svm")
    assert found.pop("lam") == pytest.approx(lams, rel=1e-15)
    assert found == {"examples": "a.svm", "labels": None, **LEARNING, "folds": 5}
    assert options_of("predict m a.svm") == {"model": "m", "examples": "a.svm", "output": None, "scores": False}
    assert options_of("evaluate m a.svm") == {"model": "m", "examples": "a.svm", "labels": None}


def test_every_option():
    line = "a.npz --labels y --loss hinge --algorithm asgd --average uniform --epochs 1 --order cyclic --seed 1 --t0 0.5"
    chosen = {"examples": "a.npz", "labels": "y", "loss": "hinge", "algorithm": "asgd", "average": "uniform", "epochs": 1}
    chosen |= {"order": "cyclic", "seed": 1, "t0": 0.5}
    found = options_of(f"train {line} -o z --lam 2 --tfidf --zero-based --hold-out 0.5 --checkpoint c")
    others = {"output": "z", "lam": 2.0, "transform": "tfidf", "zero_based": True, "hold_out": 0.5, "checkpoint": "c"}
    assert found == {**chosen, **others}
    found = options_of(f"sweep {line} --lam 2,0.5 --scale --folds 2")
    assert found == {**chosen, "lam": [2.0, 0.5], "transform": "scale", "zero_based": False, "folds": 2}
    assert options_of("predict m a.svm --scores -o A")["scores"] is True
    for algorithm, average in (("sgd", None), ("csgd", None), ("asgd", "weighted"), ("casgd", "weighted")):
        assert options_of(f"sweep a.svm --algorithm {algorithm}")["average"] == average
    assert options_of("sweep a.svm --t0 0")["t0"] == options_of("train a.svm -o z --hold-out 0")["hold_out"] == 0


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("train a.svm -o m --lam 0", "train: argument --lam: '0' is not a number > 0 (see casgd train --help)"),
        ("sweep a.svm --lam 1,x", "sweep: argument --lam: 'x' is not a number > 0 (see casgd sweep --help)"),
        ("train a.svm -o m --t0 x", "train: argument --t0: 'x' is not auto, or a number >= 0 (see casgd train --help)"),
        ("sweep a.svm --folds 1", "sweep: argument --folds: '1' is not a whole number >= 2 (see casgd sweep --help)"),
        ("sweep a.svm --epochs 0", "sweep: argument --epochs: '0' is not a whole number >= 1 (see casgd sweep --help)"),
        ("sweep a.svm --seed -1", "sweep: argument --seed: '-1' is not a whole number >= 0 (see casgd sweep --help)"),
        *(
            (
                f"train a.svm -o m --hold-out {share}",
                f"train: argument --hold-out: '{share}' is not a share of the rows, >= 0 and < 1 (see casgd train --help)",
            )
            for share in ("-0.1", "1", "1.5", "nan")
        ),
        ("train a.svm -o m --lambda 1", "train: unrecognized arguments: --lambda 1 (see casgd train --help)"),
        (
            "train a.svm -o m --labels y",
            "train: --labels goes with a FILE that ends in .npz; svmlight text holds its labels itself "
            "(see casgd train --help)",
        ),
        (
            "sweep a.svm --algorithm csgd --average weighted",
            "sweep: --average: csgd does not average; use asgd or casgd (see casgd sweep --help)",
        ),
        ("train a.svm -o no/m", "train: 'no/m' cannot be written: there is no such folder (see casgd train --help)"),
        ("train a.svm -o .", "train: '.' cannot be written: it is a folder or a device (see casgd train --help)"),
        (
            "train a.svm -o m --checkpoint ./m",
            "train: './m' would be overwritten: give the output another name (see casgd train --help)",
        ),
        (
            "train a.npz --labels y -o y",
            "train: 'y' would be overwritten: give the output another name (see casgd train --help)",
        ),
    ],
)
def test_bad_usage_is_said_in_these_words(casgd, line, words):
    assert casgd(*line.split()) == (2, "", f"casgd {words}\n")
    assert sorted(os.listdir()) == ["a.svm", "b.svm"]


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
@pytest.mark.parametrize(
    "line", ["train none -o /proc/x", "train none -o m --checkpoint /proc/x", "predict none none -o /proc/x"]
)
def test_what_cannot_be_written_is_refused_before_anything_is_read(casgd, line):
    status, out, err = casgd(*line.split())
    assert (status, out) == (2, "")
    assert err.startswith(f"casgd {line.split()[0]}: '/proc/x' cannot be written: ")
    assert "/proc/x'" in err and "Traceback" not in err


def test_a_name_too_long_to_be_written_is_refused_before_anything_is_read(casgd):
    status, _, err = casgd("train", "none", "-o", "x" * 300)
    assert (status, "cannot be written: File name too long" in err) == (2, True)
    assert sorted(os.listdir()) == ["a.svm", "b.svm"]


# archives


def stored(size=10, name="a", **values):
    with zipfile.ZipFile(io.BytesIO(), "w") as archive:
        archive.writestr(name, bytes(size))
    for key, value in values.items():
        setattr(archive.infolist()[0], key, value)
    return archive


def test_what_is_stored_as_it_is():
    assert list(check_stored(stored(), 10)) == ["a"]
    long = "b" * 100
    for archive, size, name in (
        (stored(), 9, "a"),
        (stored(file_size=11), 20, "a"),
        (stored(file_size=9), 20, "a"),
        (stored(compress_type=zipfile.ZIP_DEFLATED), 20, "a"),
        (stored(name=long), 9, long[:80]),
    ):
        words = said_by(lambda archive=archive, size=size: check_stored(archive, size))
        assert words == f"its member {name!r} is not stored as it is"


# examples


def test_rows_with_and_without_their_labels():
    name, X = read_rows("a.svm", False)
    assert (name, X.shape) == ("a.svm", (6, 3))
    read = read_examples("a.svm", False)
    assert (read.name, read.y.tolist()) == ("a.svm", [0, 1, 0, 1, 0, 1])
    np.testing.assert_array_equal(read.X.toarray(), X.toarray())


def test_a_name_may_come_before_that_of_standard_input():
    Path("+a.svm").write_text(ROWS)
    assert read_rows("+a.svm", False)[1].shape == (6, 3)


def test_what_scipy_saves_is_read():
    X = sp.csc_array(np.array([[1.0, 0, 2], [0, 3, 0]]))
    sp.save_npz("m.npz", X)
    np.testing.assert_array_equal(read_rows("m.npz", False)[1].toarray(), X.toarray())


def test_closed_standard_input_is_an_error_in_words(casgd, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert casgd("sweep", "-") == (1, "", "casgd: standard input is closed\n")


def matrix(**arrays):
    kept = {"data": np.ones(2), "indices": np.array([0, 1]), "indptr": np.array([0, 1, 2]), "shape": np.array([2, 2])} | arrays
    np.savez("m.npz", **{name: array for name, array in kept.items() if array is not None})


def test_a_matrix_may_unpack_to_as_much_as_there_is(monkeypatch):
    matrix(y=[0, 1])
    with zipfile.ZipFile("m.npz") as archive:
        size = sum(member.file_size for member in archive.infolist())
    monkeypatch.setattr(examples, "physical_memory", lambda: size)
    assert read_examples("m.npz", False).y.tolist() == [0, 1]
    monkeypatch.setattr(examples, "physical_memory", lambda: size - 1)
    words = f"'m.npz' does not hold a sparse matrix: unpacked it would take {size:.1e} bytes, more than this machine has"
    assert said_by(lambda: read_examples("m.npz", False)) == words


@pytest.mark.parametrize("name", ["data", "indices", "indptr", "shape"])
def test_an_array_that_is_lacking_is_named(name):
    matrix(**{name: None})
    assert said_by(lambda: read_rows("m.npz", False)) == f"'m.npz' does not hold a sparse matrix: it lacks the array {name}"


def test_values_are_converted_but_not_copied():
    X = sp.csr_array(np.eye(3))
    assert np.shares_memory(examples._canonical(X).data, X.data)
    assert examples._canonical(X.astype(np.float32)).data.dtype == np.float64


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([0, np.nan, np.inf], "'m.npz' must hold 2 labels, a number for each row; got shape (3,), dtype float64"),
        ([0], "'m.npz' must hold 2 labels, a number for each row; got shape (1,), dtype int64"),
        ([[0], [1]], "'m.npz' must hold 2 labels, a number for each row; got shape (2, 1), dtype int64"),
        ([np.nan, np.inf], "'m.npz': the label of row 0 (counted from 0) is nan, not a finite number"),
        ([0, -np.inf], "'m.npz': the label of row 1 (counted from 0) is -inf, not a finite number"),
        (None, "'m.npz' holds no labels: store them in it as y, or give their file by --labels"),
    ],
)
def test_labels_that_are_none(y, words):
    matrix(y=y)
    assert said_by(lambda: read_examples("m.npz", False)) == words


def test_labels_in_a_file_of_their_own():
    matrix()
    Path("y.txt").write_text("5\nspam" + "m" * 100 + "\n")
    words = f"'y.txt', line 2: one label a line is wanted; got 'spam{'m' * 76}'"
    assert said_by(lambda: read_examples("m.npz", False, "y.txt")) == words
    Path("y.txt").write_text(" 5\n3.5 \n")
    assert read_examples("m.npz", False, "y.txt").y.tolist() == [5, 3.5]
    np.save("y.npy", np.array([{}, {}], dtype=object))
    assert said_by(lambda: read_examples("m.npz", False, "y.npy")).startswith("'y.npy' holds no array of numbers: ")
    np.save("y.npy", [True, False])
    assert read_examples("m.npz", False, "y.npy").y.tolist() == [1, 0]


@pytest.mark.parametrize("error", [ValueError("no"), EOFError("no"), MemoryError("no"), examples.zlib.error("no")])
def test_whatever_fails_in_a_file_of_labels_is_said_of_it(monkeypatch, error):
    def fails(*_, **__):
        raise error

    Path("y.npy").write_bytes(b"")
    monkeypatch.setattr(np.lib.format, "read_array", fails)
    assert said_by(lambda: read_examples("a.svm", False, "y.npy")) == "'y.npy' holds no array of numbers: no"


def test_the_memory_of_a_training(monkeypatch):
    def of(m, n, models):
        return lambda: check_memory(Examples("a", sp.csr_array((m, n)), np.zeros(m)), models)

    for m, n, models in ((3, 5, 1), (2, 7, 3)):
        needed = 8 * (n * (4 * models + 6) + m * models)
        monkeypatch.setattr(examples, "physical_memory", lambda needed=needed: needed)
        of(m, n, models)()
        monkeypatch.setattr(examples, "physical_memory", lambda needed=needed: needed - 1)
        assert "'a' has" in said_by(of(m, n, models))
    monkeypatch.setattr(examples, "physical_memory", lambda: 2.5e9)
    assert said_by(of(10, 43_749_999, 1)) == (  # 3.5e9 bytes
        "'a' has 43749999 columns: 1 model(s) of so many weights need 4 GB, and this machine has 2 GB. "
        "Is there a wrong column number?"
    )
    monkeypatch.setattr(examples, "physical_memory", lambda: 1.5e9)
    assert "need 2 GB, and this machine has 2 GB" in said_by(of(10, 31_249_999, 1))  # 2.5e9 bytes


def test_the_memory_of_the_machine(monkeypatch):
    assert physical_memory() == os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for error in (AttributeError, ValueError, OSError):

        def silent(_name, error=error):
            raise error

        monkeypatch.setattr(os, "sysconf", silent)
        assert physical_memory() == float("inf")


# features


def test_scaling_leaves_columns_that_training_had_not():
    X = sp.csr_array(np.array([[4.0, 0, 0, -0.5], [-8, 0, 0, 0.25]]))
    assert fit_transform_to(X, "scale").factor.tolist() == [0.125, 1, 1, 2]
    transform = Transform("scale", np.array([1.0, 1e200]))
    words = "the values overflow float64 when they are transformed by scale: scale them down"
    assert said_by(lambda: transform.apply(sp.csr_array([[1, 1e200]])), FloatingPointError) == words
    assert fit_transform_to(X, "none").factor is None
    assert fit_transform_to(X, "none").apply(X) is X


def test_tfidf_counts_rows_with_an_entry_that_is_not_zero():
    data, indices, indptr = np.array([3.0, 0, -4, 1, 2]), np.array([0, 1, 2, 0, 2]), np.array([0, 3, 4, 5, 5])
    X = sp.csr_array((data, indices, indptr), shape=(4, 4))
    transform = fit_transform_to(X, "tfidf")
    weight = np.log(5 / 3) + 1
    assert transform.factor.tolist() == [weight, 0, weight, 0]
    np.testing.assert_allclose(
        transform.apply(X).toarray(), [[0.6, 0, -0.8, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0] * 4], rtol=1e-15
    )
    extreme = sp.csr_array(np.array([[3e-320, 0, 4e-320, 0], [3e300, 0, -4e300, 0], [0, 7, 0, 7], [0, 0, 5e-324, 0]]))
    np.testing.assert_allclose(
        transform.apply(extreme).toarray(), [[0.6, 0, 0.8, 0], [0.6, 0, -0.8, 0], [0] * 4, [0, 0, 1, 0]], rtol=1e-3
    )


# labels


@pytest.mark.parametrize(
    ("label", "text"),
    [(1.0, "1"), (-3.0, "-3"), (2.5, "2.5"), (1e16 - 2, "9999999999999998"), (1e16, "1e+16"), (2e16, "2e+16")],
)
def test_labels_are_shown_as_one_types_them(label, text):
    assert (shown(label), shown(np.float64(label))) == (text, text)
    assert shown(-abs(label)) == f"-{text.removeprefix('-')}"


def test_which_labels_are_classes():
    hinge, squared = LOSSES["hinge"], LOSSES["squared"]
    assert find_classes(np.array([1.0, 2]), squared, "a") is None
    assert find_classes(np.array([0.5, 0.25]), hinge, "a").tolist() == [0.25, 0.5]
    assert find_classes(np.array([3.0, 1, 2] * 2), hinge, "a").tolist() == [1, 2, 3]
    words = (
        "'a' has 3 different labels, 1 to 3, in 5 rows: these are no classes. Use --loss squared or absolute to predict numbers"
    )
    assert said_by(lambda: find_classes(np.array([3.0, 1, 2, 2, 2]), hinge, "a")) == words
    for broken in (2.25, 2.75):
        assert "these are no classes" in said_by(lambda broken=broken: find_classes(np.array([0, 1, broken] * 3), hinge, "a"))
    assert said_by(lambda: find_classes(np.array([2.0, 2]), hinge, "a")) == (
        "'a' has one class only, 2: the hinge loss tells two or more apart. "
        "Add examples of another class, or use --loss squared or absolute if the labels are numbers to predict"
    )


# quality and parts


def test_quality_by_hand():
    squared, hinge = LOSSES["squared"], LOSSES["hinge"]
    found = quality(squared, np.array([[1.0], [4], [3]]), np.array([1.0, 2, 6]), None)
    assert found == pytest.approx({"loss": 13 / 6, "MSE": 13 / 3, "R2": 1 - 13 / 14}, rel=1e-15)
    level = quality(squared, np.array([[1.0], [2]]), np.array([2.0, 2]), None)
    assert (level["MSE"], np.isnan(level["R2"])) == (0.5, True)
    assert quality(hinge, np.array([[0.5], [3.0]]), np.array([4.0, 9]), np.array([4.0, 9])) == {"loss": 0.75, "error": 0.5}
    scores = np.array([[1.0, -1, -1], [0, 0.5, -2]])
    found = quality(hinge, scores, np.array([1.0, 3]), np.array([1.0, 2, 3]))
    assert found == pytest.approx({"loss": (0 + 1 + 0 + 1.5 + 0 + 3) / 6, "error": 0.5})
    assert [shown_quality(value) for value in (float("nan"), 1 / 3, 0.0)] == ["-", "0.333333", "0"]


EQUAL = sp.csr_array(np.array([[1.0, 0], [2, 0], [1, 0], [0, 1], [2, 0], [1, 0], [0, 3], [4, 4]]))


def test_rows_are_held_out_in_a_drawn_order_while_there_is_room():
    assert groups_of_equal_rows(EQUAL).tolist() == [0, 1, 0, 2, 1, 0, 3, 4]
    sizes = [3, 2, 1, 1, 1]
    for seed in range(12):
        order = np.random.default_rng([seed, 1]).permutation(5)
        for share in (0.01, 0.1, 0.3, 0.5, 0.9):
            left, chosen = max(1, round(8 * share)), []
            for group in order:
                if sizes[group] <= left:
                    chosen.append(group)
                    left -= sizes[group]
            wanted = np.isin([0, 1, 0, 2, 1, 0, 3, 4], chosen)
            np.testing.assert_array_equal(hold_out(EQUAL, share, seed), wanted)
    words = "--hold-out 0.95 of 8 rows, 5 of them different, leaves one part without any"
    assert said_by(lambda: hold_out(EQUAL, 0.95, 0)) == words
    words = "--hold-out 0.25 of 4 rows, 1 of them different, leaves one part without any"
    assert said_by(lambda: hold_out(sp.csr_array(np.ones((4, 1))), 0.25, 0)) == words


def test_a_group_goes_to_the_smallest_fold():
    sizes = [3, 2, 1, 1, 1]
    for seed in range(12):
        of_fold, fold_of = [0, 0], {}
        for group in np.random.default_rng([seed, 1]).permutation(5):
            fold_of[group] = min((0, 1), key=lambda fold: of_fold[fold])
            of_fold[fold_of[group]] += sizes[group]
        assert folds(EQUAL, 2, seed).tolist() == [fold_of[group] for group in (0, 1, 0, 2, 1, 0, 3, 4)]
    assert sorted(set(folds(EQUAL, 5, 0))) == [0, 1, 2, 3, 4]
    assert said_by(lambda: folds(EQUAL, 6, 0)) == "--folds 6: there are 5 different rows only"


# models


def a_model(classes=CLASSES, n=2, transform="none", factor=None):
    predictors = [Predictor(np.arange(n) + k + 0.5, k - 0.25) for k in range(1 if len(classes) == 2 else len(classes))]
    return Model(predictors, LOSSES["log"], np.array(classes), Transform(transform, factor), False, {"lam": 0.5})


def test_a_model_file_member_by_member():
    a_model(transform="scale", factor=np.array([1.0, 2])).save("m")
    with zipfile.ZipFile("m") as archive:
        members = {member.filename: member for member in archive.infolist()}
        header = archive.read("header.json").decode()
    assert list(members) == ["header.json", "weights.npy", "bias.npy", "factor.npy"]
    for name, member in members.items():
        assert (member.date_time, member.compress_type) == ((1980, 1, 1, 0, 0, 0), zipfile.ZIP_STORED)
        assert name == "header.json" or member.extract_version == zipfile.ZIP64_VERSION  # weights may take more than 4 GB
    assert header == (
        '{\n "format": "casgd model",\n "version": 1,\n "loss": "log",\n "columns": 2,\n "zero_based": false,\n "classes": [\n'
        '  -1.0,\n  1.0\n ],\n "transform": "scale",\n "pivot": false,\n "training": {\n  "lam": 0.5\n }\n}'
    )


def rewritten(header=lambda text: text, **arrays):
    """The model file m with another header, or with other contents of its arrays."""
    with zipfile.ZipFile("m") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["header.json"] = header(members["header.json"].decode()).encode()
    members |= {f"{name}.npy": content for name, content in arrays.items()}
    with zipfile.ZipFile("m", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def refused():
    words = said_by(lambda: load_model("m"))
    assert words.startswith("'m' is no model file that can be used: ")
    return words.removeprefix("'m' is no model file that can be used: ")


def test_a_header_may_have_four_million_bytes():
    a_model().save("m")
    rewritten(lambda text: text + " " * ((1 << 22) - len(text)))
    assert load_model("m").n == 2
    rewritten(lambda text: text + " ")
    assert refused() == f"it has no header.json of at most {1 << 22} bytes"
    assert LONGEST_HEADER == 4194304


def npy(array, version=(1, 0)):
    content = io.BytesIO()
    np.lib.format.write_array(content, array, version=version)
    return content.getvalue()


def test_arrays_are_as_documented():
    weights = np.arange(6.0).reshape(3, 2)
    for content, words in (
        (npy(np.asfortranarray(weights)), "the array weights should be float64 of shape (3, 2); it is float64 of shape (3, 2)"),
        (npy(weights[:2]), "the array weights should be float64 of shape (3, 2); it is float64 of shape (2, 2)"),
        (npy(np.zeros((4, 2))), "the array weights should be float64 of shape (3, 2); it is float64 of shape (4, 2)"),
        (npy(weights.astype("f4")), "the array weights should be float64 of shape (3, 2); it is float32 of shape (3, 2)"),
        (npy(weights.astype("c16")), "the array weights should be float64 of shape (3, 2); it is complex128 of shape (3, 2)"),
        (npy(weights, (2, 0)), "the array weights has another version of numpy's format than 1.0"),
        (
            npy(weights).replace(b"NUMPY\x01\x00", b"NUMPY\x00\x01"),
            "the array weights has another version of numpy's format than 1.0",
        ),
        (npy(weights) + bytes(8), "the array weights is cut off"),
        (npy(weights)[:-8], "the array weights is cut off"),
        (
            npy(np.zeros((1,) * 30)),
            f"the array weights should be float64 of shape (3, 2); it is float64 of shape {str((1,) * 30)[:80]}",
        ),
        (npy(weights * np.nan), "the array weights holds a number that is not finite"),
    ):
        a_model([0.0, 1.5, 2]).save("m")
        rewritten(weights=content)
        assert refused() == words
    a_model([0.0, 1.5, 2]).save("m")
    rewritten(lambda text: text.replace("0.0", "0"), weights=npy(weights))
    assert load_model("m").classes.tolist() == [0, 1.5, 2]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": "9" * 30}, f"it has version {'9' * 20} of the format, and this program reads 1"),
        ({"version": 0}, "it has version 0 of the format, and this program reads 1"),
        ({"version": 2}, "it has version 2 of the format, and this program reads 1"),
        ({"format": "a"}, 'its header does not say "format": "casgd model"'),
        ({"format": "z"}, 'its header does not say "format": "casgd model"'),
        ({"columns": -1}, 'its header has no usable "columns"'),
        ({"classes": [1.0, 1.0]}, 'its header has no usable "classes"'),
        ({"classes": [1.0, 0.0]}, 'its header has no usable "classes"'),
        ({"classes": [1.0]}, 'its header has no usable "classes"'),
    ],
)
def test_a_header_is_as_documented(change, words):
    a_model().save("m")
    rewritten(lambda text: json.dumps(json.loads(text) | change))
    assert refused() == words


def test_a_model_is_what_it_is_and_equal_to_itself_only():
    model = a_model()
    with pytest.raises(FrozenInstanceError):
        model.zero_based = True
    assert model == model and model != a_model() and len({model, a_model()}) == 2


def test_a_model_keeps_the_pivot_and_its_bias():
    around = Predictor(np.array([2.0, 3]), 0.5, np.array([10.0, 0]))
    Model([Predictor(around.w, -19.5, pivoted=around)], LOSSES["log"], CLASSES, Transform("none", None), True, {}).save("m")
    (read,) = load_model("m").predictors
    assert (read.b, read.xbar, read.pivoted.b, read.pivoted.xbar.tolist()) == (-19.5, None, 0.5, [10, 0])
    with zipfile.ZipFile("m") as archive:
        assert json.loads(archive.read("header.json"))["pivot"] is True


# predict and evaluate


def test_predictions_of_many_rows_are_all_there(casgd):
    train_two()
    casgd()
    Path("many.svm").write_text("".join(f"0 1:{i % 7} 2:{i % 3}\n" for i in range(2345)))
    out = works(casgd("predict", "a.model", "many.svm", "--scores"))
    X = load_svmlight("many.svm").X
    scores = load_model("a.model").scores(X)[:, 0]
    assert out == "".join(f"{int(score > 0)}\t{float(score)!r}\n" for score in scores)
    with open("out", "w") as file, pytest.MonkeyPatch.context() as patch:
        written = []
        patch.setattr(sys, "stdout", SimpleNamespace(write=written.append, flush=file.flush))
        assert main(["predict", "a.model", "many.svm"]) == 0
    assert max(text.count("\n") for text in written) == 1000


def test_the_error_of_each_class(casgd):
    Model([Predictor(np.array([1.0]), 0.0)], LOSSES["hinge"], CLASSES, Transform("none", None), False, {}).save("m")
    Path("c.svm").write_text("-1 1:1\n-1 1:-1\n-1 1:-2\n1 1:1\n1 1:-1\n1 1:-2\n1 1:2\n")
    assert works(casgd("evaluate", "m", "c.svm")).splitlines() == [
        "7 rows",
        f"loss   {(2 + 2 + 3) / 7:.6g}",
        f"error  {3 / 7:.6g}",
        "class -1: 3 rows, error 0.333333",
        "class 1: 4 rows, error 0.5",
    ]


def test_an_evaluation(casgd):
    train_two()
    casgd()
    model, (X, y) = load_model("a.model"), load_svmlight("a.svm")[:2]
    values = quality(model.loss, model.scores(X), y, model.classes)
    wrong = model.predict(X) != y
    assert works(casgd("evaluate", "a.model", "a.svm")) == (
        f"6 rows\nloss   {values['loss']:.6g}\nerror  {values['error']:.6g}\n"
        f"class 0: 3 rows, error {wrong[y == 0].mean():.6g}\nclass 1: 3 rows, error {wrong[y == 1].mean():.6g}\n"
    )


@pytest.mark.parametrize("count", [9, 10, 11, 12])
def test_labels_that_the_model_does_not_know(casgd, count):
    a_model(np.arange(float(count)), n=3).save("m")
    Path("c.svm").write_text("0 1:1\n88 1:1\n1 1:1\n99 1:1\n77 2:1\n")
    known = ", ".join(map(str, range(min(count, 10)))) + (", …" if count > 10 else "")
    words = f"casgd: 'c.svm' has the label 88, which is none of the model's classes {known}\n"
    assert casgd("evaluate", "m", "c.svm") == (1, "", words)


def test_only_more_columns_than_the_model_has_are_noted(casgd):
    a_model(n=3).save("m")
    for text, columns in (("1 1:1 2:1\n1 2:2\n", 2), ("1 3:1\n", 3), ("1 1:1 4:1\n", 4), ("1 9:1\n", 9)):
        Path("c.svm").write_text(text)
        _, _, err = casgd("predict", "m", "c.svm")
        note = f"casgd: 'c.svm' has {columns} columns and the model 3: those beyond, unknown in training, are left out\n"
        assert err == (note if columns > 3 else "")


# training


def test_epochs_are_those_of_one_draw():
    options = argparse.Namespace(seed=3, epochs=4, order="iid")
    drawn = list(epochs_of(5, options))
    assert [len(each) for each in drawn] == [5] * 4
    np.testing.assert_array_equal(np.concatenate(drawn), draw_indices(5, 20, 3))
    X = sp.csr_array(np.array([[1.0, 0, 0], [1, 2, 0], [0, 0, 0]]))
    assert row_summary(X, None) == "3 rows, 3 columns, 1.0 entries a row, numbers to predict"
    assert row_summary(X[:2], np.arange(7)) == "2 rows, 3 columns, 1.5 entries a row, 7 classes"


def clock(monkeypatch, step):
    """Let the clocks go by so many seconds each time they are looked at."""
    fake = SimpleNamespace(perf_counter=itertools.count(1000, step).__next__, monotonic=itertools.count(1000, step).__next__)
    monkeypatch.setattr(train, "time", fake)


@pytest.mark.parametrize("algorithm", ["casgd", "sgd"])
@pytest.mark.parametrize(("file", "classes"), [("a.svm", [0.0, 1]), ("b.svm", [1.0, 2, 3])])
def test_the_table_of_a_training(casgd, monkeypatch, file, classes, algorithm):
    clock(monkeypatch, 3)
    out = works(casgd("train", file, "-o", "m", "--epochs", 2, "--lam", 0.5, "--algorithm", algorithm))
    X, y, _ = load_svmlight(file)
    lines = [f"6 rows, 3 columns, 1.7 entries a row, {len(classes)} classes"]
    lines.append("epoch       objective            loss           error  seconds")
    for epoch in (1, 2):
        each, scores = [], []
        for label in classes[1:] if len(classes) == 2 else classes:
            problem = Problem(X, np.where(y == label, 1.0, -1.0), "log", 0.5)
            state = State(problem, algorithm, weights=polynomial(1) if algorithm == "casgd" else None)
            state.run(draw_indices(6, 6 * epoch, 0))
            predictor = state.average() if algorithm == "casgd" else state.last()
            each.append(problem.objective(predictor, centred=algorithm == "casgd"))
            scores.append(predictor.predict(X))
        values = quality(LOSSES["log"], np.column_stack(scores), y, np.array(classes))
        lines.append(f"{epoch:5}  {np.mean(each):14.6g}  {values['loss']:14.6g}  {values['error']:14.6g}     3.00")
    assert out.splitlines() == [*lines, "wrote m"]
    about = load_model("m").training
    assert about == {
        **{name: value for name, value in LEARNING.items() if name != "epochs"},
        "algorithm": algorithm,
        "average": "weighted" if algorithm == "casgd" else None,
        "lam": 0.5,
        "hold_out": 0.0,
        "epochs": 2,
        "rows": 6,
    }


def test_the_table_with_rows_held_out(casgd, monkeypatch):
    clock(monkeypatch, 1)
    arguments = ["--epochs", 1, "--lam", 0.5, "--loss", "squared", "--scale", "--hold-out", 0.4, "--seed", 2]
    out = works(casgd("train", "a.svm", "-o", "m", *arguments))
    X, y, _ = load_svmlight("a.svm")
    held, model = hold_out(X, 0.4, 2), load_model("m")
    np.testing.assert_array_equal(model.transform.factor, fit_transform_to(X[~held], "scale").factor)
    first, head, line, last = out.splitlines()
    assert first == "6 rows, 3 columns, 1.7 entries a row, numbers to predict; 2 rows held out"
    names = ["objective", "loss", "MSE", "R2", "held-out loss", "held-out MSE", "held-out R2"]
    assert head == "  ".join(["epoch", *(f"{name:>14}" for name in names), "seconds"])
    values = [quality(LOSSES["squared"], model.scores(X[part]), y[part], None) for part in (~held, held)]
    shown_values = [shown_quality(value) for part in values for value in part.values()]
    assert line.split()[2:-1] == shown_values
    assert len(line) == len(head) and last == "wrote m"
    assert float(line.split()[1]) > values[0]["loss"]


def test_too_few_classes_are_left_by_holding_out(casgd):
    Path("c.svm").write_text("0 1:1\n0 1:2\n0 1:3\n1 2:1\n")
    for seed in range(20):
        held = hold_out(load_svmlight("c.svm").X, 0.25, seed)
        status, out, err = casgd("train", "c.svm", "-o", "m", "--hold-out", 0.25, "--seed", seed, "--epochs", 1)
        if held[3]:
            assert (status, out) == (1, "")
            assert err.startswith("casgd: 'c.svm without the rows held out' has one class only, 0: ")
            break
    else:
        pytest.fail("the only row of its class was never held out")


def test_each_line_of_a_training_is_told_at_once(monkeypatch):
    raw, seen = io.BytesIO(), []

    def looking(self, indices, **options):
        seen.append(raw.getvalue().decode().count("\n"))
        return run(self, indices, **options)

    run = Run.run
    monkeypatch.setattr(Run, "run", looking)
    with monkeypatch.context() as patch, io.TextIOWrapper(raw, encoding="utf8") as terminal:
        patch.setattr(sys, "stdout", terminal)
        train_two("m", "--epochs", "3")
        assert seen == [1, 3, 4]
        seen.clear()
        assert main(["sweep", "a.svm", "--epochs", "1", "--folds", "2"]) == 0
        assert seen == [7, 7]


# checkpoints


def test_checkpoints_are_saved_twice_a_minute_and_after_each_epoch(casgd, monkeypatch):
    saved = []
    save = Checkpoint.save
    monkeypatch.setattr(Checkpoint, "save", lambda self, states: (saved.append(states.t), save(self, states)))
    monkeypatch.setattr("efficient.kernels.blocks.ENTRIES", 1)  # blocks of one step
    monkeypatch.setattr("efficient.kernels.blocks.SECONDS", 0)
    arguments = ["train", "a.svm", "--epochs", 2, "--checkpoint", "c"]
    for seconds, expected in ((1, [6, 12]), (10, [4, 6, 10, 12]), (31, [*range(1, 7), *range(6, 13), 12])):
        clock(monkeypatch, seconds)
        saved.clear()
        Path("c").unlink(missing_ok=True)
        works(casgd(*arguments, "-o", "m"))
        assert saved == expected


def test_a_checkpoint_is_the_states_and_the_settings(casgd):
    train_two("m", "--checkpoint", "c")
    assert sorted(os.listdir()) == ["a.svm", "b.svm", "c", "m"]
    with zipfile.ZipFile("c") as archive:
        saved = json.loads(archive.read("settings.json"))
    assert list(saved) == list(train.SETTINGS)
    casgd()
    words = "was saved with lam = 0.1, and now it is 0.5: give the same options and data, or remove it to begin anew\n"
    again = ["train", "a.svm", "-o", "m", "--epochs", 2, "--checkpoint", "c"]
    assert casgd(*again, "--lam", 0.5, "--seed", 7) == (1, "", f"casgd: 'c' {words}")
    assert casgd(*again, "--lam", 0.1, "--t0", 7)[0] == 1
    assert casgd(*again, "--lam", 0.05) == (1, "", f"casgd: 'c' {words.replace('0.5', '0.05')}")
    status, _, err = casgd(*again, "--lam", 0.1)
    assert (status, err) == (0, "casgd: going on from step 12 of 'c'\n")
    again[5] = 1
    assert casgd(*again, "--lam", 0.1) == (1, "", "casgd: 'c' is beyond --epochs 1: it has come to step 12 of 6\n")
    Path("a.svm").write_text(ROWS.replace("2:3", "2:4"))
    status, out, err = casgd(*again, "--lam", 0.1)
    assert (status, out) == (1, "")
    assert err.endswith(": give the same options and data, or remove it to begin anew\n")
    Path("c").write_bytes(b"no archive")
    status, out, err = casgd(*again, "--lam", 0.1)
    assert err == "casgd: 'c' is no checkpoint: File is not a zip file. Remove it to begin anew\n"


@pytest.mark.parametrize("steps", [1, 5, 6, 7, 11])
def test_an_interrupted_training_goes_on_to_the_same_bits(casgd, monkeypatch, steps):
    train_two("whole")
    casgd()
    run = Run.run

    def interrupted(self, indices, callback, progress):
        run(self, indices[: steps - self.t], callback=callback, progress=progress)
        if self.t >= steps:
            raise KeyboardInterrupt
        return self

    arguments = ["train", "a.svm", "-o", "m", "--epochs", 2, "--lam", 0.1]
    with monkeypatch.context() as patch:
        patch.setattr(Run, "run", interrupted)
        assert casgd(*arguments)[::2] == (130, "casgd: interrupted\n")
        words = f"casgd: interrupted at step {steps} of 12; the same command goes on from there\n"
        assert casgd(*arguments, "--checkpoint", "c")[::2] == (130, words)
    status, out, err = casgd(*arguments, "--checkpoint", "c")
    assert (status, err) == (0, f"casgd: going on from step {steps} of 'c'\n")
    assert [line.split()[0] for line in out.splitlines()] == ["6", "epoch", *"12"[steps // 6 :], "wrote"]
    assert Path("m").read_bytes() == Path("whole").read_bytes()


def test_an_interrupt_before_the_first_step_saves_nothing(casgd, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Run, "run", interrupted)
    status, _, err = casgd("train", "a.svm", "-o", "m", "--checkpoint", "c")
    assert (status, err, Path("c").exists()) == (130, "casgd: interrupted\n", False)


# progress, and sweeps


class Bar:
    """A progress bar that remembers."""

    def __init__(self, first, total, wanted):
        self.n, self.total, self.seen, self.lines = first, total, [first], []
        assert wanted is None
        Bar.last = self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def update(self, more):
        self.n += more
        self.seen.append(self.n)

    def write(self, line, file):
        assert file is sys.stdout
        self.lines.append(line)


def test_the_bar_of_a_training_shows_its_steps(casgd, monkeypatch):
    works(casgd("train", "a.svm", "-o", "m", "--epochs", 1, "--checkpoint", "c"))
    monkeypatch.setattr(train, "progress_bar", Bar)
    assert casgd("train", "a.svm", "-o", "m", "--epochs", 3, "--checkpoint", "c")[0] == 0
    assert (Bar.last.seen[0], Bar.last.n, Bar.last.total) == (6, 18, 18)
    assert Bar.last.seen == sorted(Bar.last.seen) and 12 in Bar.last.seen
    assert [line.split()[0] for line in Bar.last.lines] == ["epoch", "2", "3"]


@pytest.mark.parametrize("command", ["train a.svm -o m", "sweep a.svm --folds 2"])
def test_there_is_one_bar_and_not_one_of_the_library_too(casgd, monkeypatch, command):
    shown_by_states, run = [], Run.run

    def running(self, indices, callback, progress):
        shown_by_states.append(progress)
        return run(self, indices, callback=callback, progress=progress)

    monkeypatch.setattr(Run, "run", running)
    works(casgd(*command.split(), "--epochs", 1))
    assert set(shown_by_states) == {False}


def test_the_memory_for_the_models_of_all_classes_and_values_is_asked_for(casgd, monkeypatch):
    asked = []
    monkeypatch.setattr("efficient.cli.sweep.check_memory", lambda examples, models: asked.append(models))
    monkeypatch.setattr(train, "check_memory", lambda examples, models: asked.append(models))
    Path("c.svm").write_text(THREE + THREE.replace(":1", ":4") + THREE.replace(":2", ":5"))
    works(casgd("sweep", "c.svm", "--lam", "1,2,3,4", "--epochs", 1, "--folds", 3))
    works(casgd("train", "b.svm", "-o", "m", "--epochs", 1))
    assert asked == [12, 3]


def test_the_bar_of_a_sweep_shows_the_steps_of_all_folds(casgd, monkeypatch):
    monkeypatch.setattr("efficient.cli.sweep.progress_bar", Bar)
    works(casgd("sweep", "a.svm", "--epochs", 2, "--folds", 3))
    assert (Bar.last.seen[0], Bar.last.n, Bar.last.total) == (0, 24, 24)
    assert Bar.last.seen == sorted(Bar.last.seen)
    assert {4, 8, 12, 16, 20, 24} <= set(Bar.last.seen)


@pytest.mark.parametrize(
    ("file", "loss", "kind"),
    [("a.svm", "hinge", "2 classes"), ("b.svm", "log", "3 classes"), ("a.svm", "absolute", "numbers to predict")],
)
def test_a_sweep_line_by_line(casgd, file, loss, kind):
    text = Path(file).read_text()
    Path("c.svm").write_text(text + text.replace("0.5", "0.75").replace(":1", ":1.5"))
    lams = (0.5, 0.05, 5.0)
    arguments = ["--epochs", 2, "--folds", 3, "--seed", 1, "--scale", "--loss", loss]
    out = works(casgd("sweep", "c.svm", "--lam", "0.5,0.05,5", *arguments))
    X, y, _ = load_svmlight("c.svm")
    fold, measured = folds(X, 3, 1), {lam: [] for lam in lams}
    classes = find_classes(y, LOSSES[loss], "c")
    for lam, k in itertools.product(lams, range(3)):
        rest = fold != k
        transform, scores = fit_transform_to(X[rest], "scale"), []
        for label in [None] if classes is None else classes[-1:] if len(classes) == 2 else classes:
            signs = y[rest] if label is None else np.where(y[rest] == label, 1.0, -1.0)
            problem = Problem(transform.apply(X[rest]), signs, loss, lam)
            state = State(problem, "casgd", weights=polynomial(1)).run(draw_indices(problem.m, 2 * problem.m, 1))
            scores.append(state.average().predict(transform.apply(X[~rest])))
        measured[lam].append(list(quality(LOSSES[loss], np.column_stack(scores), y[~rest], classes).values()))
    names = ["loss", "error"] if classes is not None else ["loss", "MSE", "R2"]
    lines = [f"12 rows, 3 columns, {X.nnz / 12:.1f} entries a row, {kind}; 3 folds"]
    lines.append("       lam" + "".join(f"  {name:>11}  std. error" for name in names))
    for lam, values in measured.items():
        means, errors = np.mean(values, axis=0), np.std(values, axis=0, ddof=1) / np.sqrt(3)
        cells = [f"  {mean:11.6g}  {error:10.6g}" for mean, error in zip(means, errors, strict=True)]
        lines.append(f"{lam:10g}" + "".join(cells))
    by = "loss" if classes is None else "error"
    key = 0 if classes is None else 1
    best = min(lams, key=lambda lam: (np.mean(measured[lam], axis=0)[key], np.mean(measured[lam], axis=0)[0]))
    assert out.splitlines() == [*lines, f"best lam {best:g}, by the lowest {by}"]


def test_a_fold_without_a_class_is_named(casgd):
    Path("c.svm").write_text("0 1:1\n0 1:2\n1 1:3\n0 1:4\n")
    k = folds(load_svmlight("c.svm").X, 4, 0)[2] + 1
    status, _, err = casgd("sweep", "c.svm", "--folds", 4)
    assert status == 1
    assert err.startswith(f"casgd: 'c.svm without fold {k}' has one class only, 0: ")


def test_where_errors_are_equal_the_lowest_loss_is_the_best(casgd):
    out = works(casgd("sweep", "a.svm", "--lam", "1000,1e6,100", "--folds", 2, "--epochs", 1))
    losses = [float(line.split()[1]) for line in out.splitlines()[2:5]]
    errors = [float(line.split()[3]) for line in out.splitlines()[2:5]]
    best = min(range(3), key=lambda i: (errors[i], losses[i]))
    assert re.search(r"^best lam (\S+), by the lowest error$", out, re.MULTILINE)[1] == ["1000", "1e+06", "100"][best]
