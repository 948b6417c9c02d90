"""The command line, tried as a new user would: what is right gives the models of the library, what is wrong one clear line."""

import bz2
import contextlib
import gzip
import io
import os
import re
import signal
import subprocess
import sys
import time
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import MaxAbsScaler

import efficient
from efficient.__main__ import main
from efficient.cli import checkpoint, examples, train
from efficient.cli.features import fit_transform_to
from efficient.cli.model_file import load_model
from efficient.training.splits import folds, groups_of_equal_rows, hold_out
from reference import Problem, draw_indices, safe_t0
from reference.averaging import polynomial
from reference.datasets import load_spam, load_tweets
from reference.svmlight import load_svmlight

ROOT = Path(__file__).parent.parent
COMMAND = [sys.executable, "-m", "efficient"]
FEW = ["--epochs", "2"]


@pytest.fixture(scope="module")
def mails(tmp_path_factory):
    """Every fifth mail of spam, as an svmlight file."""
    X, y, _ = load_spam()
    path = tmp_path_factory.mktemp("mails") / "mails.svm"
    dump_svmlight_file(X[::5], y[::5], str(path), zero_based=False)
    return path


def works(outcome):
    status, out, err = outcome
    assert (status, err) == (0, "")
    return out


def fails(outcome, status, *words):
    """One line on standard error with these words, nothing on standard output, and this status."""
    got, out, err = outcome
    assert got == status, err
    assert re.fullmatch(r"casgd[^\n]*: [^\n]+\n", err), err
    for word in words:
        assert word in err
    assert "Traceback" not in err
    assert out == ""


def table(out):
    """The printed epochs, as a dictionary of columns."""
    head, *lines = [re.split(r" {2,}", line.strip()) for line in out.splitlines() if re.match(r" *(epoch|\d+) {2,}", line)]
    return {name: [float(line[i]) for line in lines] for i, name in enumerate(head)}


# the way of a new user


def test_train_evaluate_predict(casgd, mails):
    out = works(casgd("train", mails, "-o", "mails.model", "--tfidf", "--hold-out", "0.2", "--epochs", 5))
    printed = table(out)
    assert printed["epoch"] == [1, 2, 3, 4, 5]
    assert printed["held-out error"][-1] < 0.06
    assert printed["objective"][-1] < printed["objective"][0]
    assert all(objective > loss for objective, loss in zip(printed["objective"], printed["loss"], strict=True))
    assert "1210 rows, 20539 columns" in out and "242 rows held out" in out
    evaluated = works(casgd("evaluate", "mails.model", mails))
    predicted = np.array(works(casgd("predict", "mails.model", mails)).split(), dtype=float)
    y = load_spam().y[::5]
    error = float(re.search(r"^error +(\S+)$", evaluated, re.MULTILINE)[1])
    assert error == pytest.approx(np.mean(predicted != y), rel=1e-5)
    assert error < 0.04
    assert f"class 1: {(y == 1).sum()} rows" in evaluated


@pytest.mark.parametrize(
    ("algorithm", "loss", "average"), [("casgd", "log", "weighted"), ("asgd", "hinge", "uniform"), ("csgd", "log", None)]
)
@pytest.mark.parametrize("order", ["iid", "permuted", "cyclic"])
def test_the_model_is_that_of_the_library_to_the_bit(casgd, mails, algorithm, loss, average, order):
    options = ["--algorithm", algorithm, "--loss", loss, "--lam", "0.01", "--seed", 7, "--order", order, "--epochs", 3]
    printed = table(works(casgd("train", mails, "-o", "a.model", *options, *(["--average", average] if average else []))))
    X, y, _ = load_spam()
    problem = Problem(X[::5], y[::5], loss, 0.01)
    weights = polynomial(1) if average == "weighted" else None
    state = efficient.State(problem, algorithm, weights=weights).run(draw_indices(1210, 3 * 1210, 7, order))
    predictor = state.average() if average else state.last()
    (read,) = load_model("a.model").predictors
    np.testing.assert_array_equal(read.w, predictor.w)
    np.testing.assert_array_equal(read.predict(X), predictor.predict(X))
    centred = algorithm != "asgd"
    assert printed["objective"][-1] == pytest.approx(problem.objective(predictor, centred), rel=1e-5)
    assert problem.objective(predictor, centred) != pytest.approx(problem.objective(predictor, not centred), rel=1e-4)


def test_numbers_are_predicted_as_by_the_library(casgd):
    X, y, _ = load_tweets()
    dump_svmlight_file(X, y, "tweets.svm", zero_based=False)
    out = works(casgd("train", "tweets.svm", "-o", "a.model", "--loss", "squared", "--hold-out", "0.2", "--epochs", 4))
    X, y, _ = load_svmlight("tweets.svm")  # scikit-learn wrote the labels with 16 digits
    held = hold_out(X, 0.2, 0)
    problem = Problem(X[~held], y[~held], "squared", 1e-4)
    indices = draw_indices(problem.m, 4 * problem.m, 0)
    predictor = efficient.casgd(problem, indices, t0=safe_t0(problem, centred=True), weights=polynomial(1))
    predicted = np.array(works(casgd("predict", "a.model", "tweets.svm")).split(), dtype=float)
    np.testing.assert_array_equal(predicted, predictor.predict(X))
    printed, mse = table(out), np.mean((predicted - y)[held] ** 2)
    assert printed["held-out MSE"][-1] == pytest.approx(mse, rel=1e-5)
    assert printed["held-out R2"][-1] == pytest.approx(1 - mse / np.var(y[held]), rel=1e-5)
    assert "R2 " in works(casgd("evaluate", "a.model", "tweets.svm"))


def test_sweep_is_the_cross_validation_of_separate_trainings(casgd, mails):
    out = works(casgd("sweep", mails, "--tfidf", "--lam", "1e-3,1e-5,10", "--folds", 3, *FEW))
    X, y, _ = load_spam()
    X, y = X[::5], y[::5]
    fold, errors = folds(X, 3, 0), {}
    for lam in (1e-3, 1e-5, 10):
        errors[lam] = []
        for k in range(3):
            rest = fold != k
            transform = fit_transform_to(X[rest], "tfidf")
            problem = Problem(transform.apply(X[rest]), y[rest], "log", lam)
            indices = draw_indices(problem.m, 2 * problem.m, 0)
            predictor = efficient.casgd(problem, indices, weights=polynomial(1))
            errors[lam].append(np.mean((predictor.predict(transform.apply(X[~rest])) > 0) != (y[~rest] > 0)))
    lines = [line.split() for line in out.splitlines()[2:5]]
    assert [float(line[0]) for line in lines] == [1e-3, 1e-5, 10]
    for line, of_lam in zip(lines, errors.values(), strict=True):
        assert float(line[3]) == pytest.approx(np.mean(of_lam), rel=1e-5)
        assert float(line[4]) == pytest.approx(np.std(of_lam, ddof=1) / np.sqrt(3), rel=1e-4)
    best = min(errors, key=lambda lam: np.mean(errors[lam]))
    assert out.endswith(f"best lam {best:g}, by the lowest error\n")


def test_sweep_of_numbers_goes_by_the_loss(casgd):
    X, y, _ = load_tweets()
    dump_svmlight_file(X[:600], y[:600], "tweets.svm", zero_based=False)
    out = works(casgd("sweep", "tweets.svm", "--loss", "absolute", "--lam", "100,1e-2", *FEW))
    assert out.endswith("best lam 0.01, by the lowest loss\n")


# labels

ROWS = "{0} 1:2 3:0.5\n{1} 2:1\n{0} 1:1 2:0.25\n{1} 2:3 3:1\n{0} 3:2\n"


@pytest.mark.parametrize("labels", ["0 1", "1 2", "-1 +1", "1.5 -2.5", "-3 1e9", "0 4294967296"])
def test_any_two_numbers_are_two_classes(casgd, labels):
    first, second = labels.split()
    (Path("plain.svm")).write_text(ROWS.format("-1", "1"))
    (Path("other.svm")).write_text(ROWS.format(first, second))
    works(casgd("train", "plain.svm", "-o", "plain.model", "--lam", "0.1"))
    works(casgd("train", "other.svm", "-o", "other.model", "--lam", "0.1"))
    sign = 1 if float(first) < float(second) else -1
    plain, other = (load_model(name).predictors[0] for name in ("plain.model", "other.model"))
    np.testing.assert_array_equal(other.w, sign * plain.w)
    assert other.b == sign * plain.b
    words = works(casgd("predict", "other.model", "other.svm")).split()
    assert {float(word) for word in words} == {float(first), float(second)}
    assert "error  0\n" in works(casgd("evaluate", "other.model", "other.svm"))


def test_more_classes_are_one_model_each_to_the_bit(casgd, mails):
    X, _, _ = load_spam()
    X = X[:300, :300]
    y = np.asarray(X.sum(axis=1)).ravel() % 4 * 2 - 3
    dump_svmlight_file(X, y, "many.svm", zero_based=False)
    X = load_svmlight("many.svm").X
    out = works(casgd("train", "many.svm", "-o", "many.model", "--lam", "0.01", *FEW))
    many = load_model("many.model")
    classes = np.unique(y)
    assert len(classes) > 2
    np.testing.assert_array_equal(many.classes, classes)
    objectives = []
    for label, predictor in zip(classes, many.predictors, strict=True):
        problem = Problem(X, np.where(y == label, 1.0, -1.0), "log", 0.01)
        alone = efficient.casgd(problem, draw_indices(300, 600, 0), weights=polynomial(1))
        np.testing.assert_array_equal(predictor.w, alone.w)
        assert predictor.b == alone.b
        objectives.append(problem.objective(alone, centred=True))
    assert table(out)["objective"][-1] == pytest.approx(np.mean(objectives), rel=1e-5)
    lines = [line.split("\t") for line in works(casgd("predict", "many.model", "many.svm", "--scores")).splitlines()]
    scores = np.array([line[1:] for line in lines], dtype=float)
    np.testing.assert_array_equal(scores, many.scores(X))
    np.testing.assert_array_equal([float(line[0]) for line in lines], classes[scores.argmax(axis=1)])


@pytest.mark.parametrize("command", [["train", "-o", "a.model"], ["sweep"]])
def test_one_class_is_refused_in_words(casgd, command):
    Path("one.svm").write_text("1 1:1\n1 2:1\n1 3:1\n")
    fails(casgd(*command, "one.svm"), 1, "one.svm", "one class only, 1", "--loss squared")
    assert not Path("a.model").exists()
    Path("rare.svm").write_text("0 1:1\n" + "".join(f"1 2:{i}\n" for i in range(1, 9)))
    if command == ["sweep"]:
        fails((lambda status, _, err: (status, "", err))(*casgd(*command, "rare.svm", "--folds", 9)), 1, "rare.svm", "fold")


def test_numbers_are_no_classes(casgd):
    Path("a.svm").write_text("0.5 1:1\n1.5 2:1\n2.5 3:1\n3 1:2\n")
    fails(casgd("train", "a.svm", "-o", "a.model"), 1, "a.svm", "4 different labels", "--loss squared")
    Path("a.svm").write_text("".join(f"{i} 1:{i}\n" for i in range(10)))
    fails(casgd("train", "a.svm", "-o", "a.model"), 1, "10 different labels", "--loss squared")


def test_a_label_that_the_model_does_not_know_is_refused(casgd):
    Path("a.svm").write_text(ROWS.format("0", "1"))
    works(casgd("train", "a.svm", "-o", "a.model", *FEW))
    Path("b.svm").write_text(ROWS.format("-1", "1"))
    fails(casgd("evaluate", "a.model", "b.svm"), 1, "b.svm", "label -1", "0, 1")
    works(casgd("predict", "a.model", "b.svm"))


# transformations and parts


def test_tfidf_is_that_of_scikit_learn_on_the_words_of_the_training():
    X, _, _ = load_spam()
    part, other = X[:500], X[500:900]
    transform = fit_transform_to(part, "tfidf")
    known = np.flatnonzero(np.bincount(part.indices, minlength=X.shape[1]))
    assert len(known) < X.shape[1]
    theirs = TfidfTransformer().fit(part[:, known])
    for rows in (part, other):
        np.testing.assert_allclose(
            transform.apply(rows)[:, known].toarray(), theirs.transform(rows[:, known]).toarray(), atol=1e-15
        )
        unknown = np.setdiff1d(np.arange(X.shape[1]), known)
        assert not transform.apply(rows)[:, unknown].toarray().any()


def test_scaling_is_that_of_scikit_learn():
    X = sp.random_array((50, 20), density=0.2, random_state=np.random.default_rng(0), format="csr") - sp.eye_array(50, 20)
    X = sp.csr_array(X)
    transform = fit_transform_to(X[:40], "scale")
    theirs = MaxAbsScaler().fit(X[:40])
    for rows in (X[:40], X[40:]):
        np.testing.assert_allclose(transform.apply(rows).toarray(), theirs.transform(rows).toarray(), rtol=1e-15)
        assert transform.apply(rows).nnz == rows.nnz


@pytest.mark.parametrize("name", ["tfidf", "scale"])
def test_extreme_values_are_transformed_or_refused(name):
    X = sp.csr_array(np.array([[1e-320, 0, 1e-300], [0, 1e300, 0], [0, 1e200, 1e-310], [0, 0, 0]]))
    with np.errstate(all="ignore"):
        transform = fit_transform_to(X, name)
        assert np.isfinite(transform.apply(X).data).all()
        assert abs(transform.apply(X).data).max() <= 1 + 1e-15
        huge = sp.csr_array(np.array([[1e308, 1e308, 1e308]]))
        if name == "scale":
            with pytest.raises(FloatingPointError, match="scale"):
                transform.apply(huge)


def test_the_transformation_is_fitted_to_the_training_part_and_kept_in_the_model(casgd, mails):
    works(casgd("train", mails, "-o", "a.model", "--tfidf", "--hold-out", "0.3", "--seed", 3, *FEW))
    X = load_spam().X[::5]
    rest = ~hold_out(X, 0.3, 3)
    model = load_model("a.model")
    np.testing.assert_array_equal(model.transform.factor, fit_transform_to(X[rest], "tfidf").factor)
    assert (model.transform.factor != fit_transform_to(X, "tfidf").factor).any()
    scores = model.predictors[0].predict(model.transform.apply(X))
    words = works(casgd("predict", "a.model", mails, "--scores")).split()
    np.testing.assert_array_equal(np.array(words[1::2], dtype=float), scores)


def parts_that_share_rows(X, parts):
    rows = [(X.indices[a:b].tobytes(), X.data[a:b].tobytes()) for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)]
    seen = [{rows[i] for i in np.flatnonzero(parts == part)} for part in np.unique(parts)]
    return sum(len(a & b) for i, a in enumerate(seen) for b in seen[:i])


def test_rows_that_repeat_each_other_stay_together():
    X = load_spam().X
    m = X.shape[0]
    assert len(np.unique(groups_of_equal_rows(X))) == m - 422
    for seed in range(3):
        held = hold_out(X, 0.2, seed)
        assert abs(held.mean() - 0.2) < 1e-3
        assert parts_that_share_rows(X, held) == 0
        fold = folds(X, 5, seed)
        sizes = np.bincount(fold)
        assert len(sizes) == 5 and sizes.max() - sizes.min() <= 100
        assert parts_that_share_rows(X, fold) == 0
        by_row = np.random.default_rng(seed).random(m) < 0.2
        assert parts_that_share_rows(X, by_row) > 50  # as a plain draw would
    assert (hold_out(X, 0.2, 0) != hold_out(X, 0.2, 1)).any()
    np.testing.assert_array_equal(hold_out(X, 0.2, 0), hold_out(X, 0.2, 0))


def test_stored_zeros_do_not_tell_rows_apart():
    X = sp.csr_array((np.array([1.0, 0, 1, -0.0, 1]), np.array([0, 1, 0, 2, 1]), np.array([0, 2, 4, 5])), shape=(3, 3))
    np.testing.assert_array_equal(groups_of_equal_rows(X), [0, 0, 1])
    assert X.nnz == 5


def test_parts_that_cannot_be_made_are_refused(casgd):
    Path("a.svm").write_text("1 1:1\n" * 5 + "-1 1:1\n" * 5)
    fails(casgd("train", "a.svm", "-o", "a.model", "--hold-out", "0.5"), 1, "--hold-out", "1 of them different")
    fails(casgd("sweep", "a.svm"), 1, "--folds 5", "1 different")


# kinds of files


def test_every_kind_of_file_gives_the_same_model(casgd, mails):
    text = mails.read_bytes()
    X, y, _ = load_spam()
    X, y = X[::5], y[::5]
    Path("a.svm.gz").write_bytes(gzip.compress(text))
    Path("a.svm.bz2").write_bytes(bz2.compress(text))
    Path("crlf").write_bytes(b"# by hand\r\n\r\n" + text.replace(b"\n", b" # mail\r\n").rstrip())
    Path("qid.svm").write_bytes(re.sub(rb"(?m)^(\S+)", rb"\1 qid:7", text))
    dump_svmlight_file(X, y, "zero.svm", zero_based=True)
    np.savez("a.npz", data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=y)
    for name, form in (("csr", sp.csr_array), ("csc", sp.csc_matrix), ("coo", sp.coo_array), ("int", lambda X: X.astype("i2"))):
        sp.save_npz(f"{name}.npz", form(X))
    np.save("y.npy", y.astype(np.int8))
    np.savetxt("y.txt", y)
    kinds = [
        *([name] for name in ("a.svm.gz", "a.svm.bz2", "crlf", "qid.svm", "a.npz")),
        ["zero.svm", "--zero-based"],
        ["csr.npz", "--labels", "y.npy"],
        *([f"{name}.npz", "--labels", "y.txt"] for name in ("csr", "csc", "coo", "int")),
    ]
    works(casgd("train", mails, "-o", "plain.model", *FEW))
    works(casgd("train", "-", "-o", "a.model", *FEW, stdin=text))
    plain, predicted = load_model("plain.model"), works(casgd("predict", "plain.model", mails))
    for kind in [None, *kinds]:
        if kind is not None:
            works(casgd("train", *kind, "-o", "a.model", *FEW))
        model = load_model("a.model")
        np.testing.assert_array_equal(model.predictors[0].w, plain.predictors[0].w)
        assert model.predictors[0].b == plain.predictors[0].b
        assert model.zero_based == (kind == kinds[5])
        file = "csr.npz" if kind is None else kind[0]
        assert works(casgd("predict", "a.model", file)) == predicted


def test_the_numbering_of_columns_is_kept_in_the_model(casgd):
    Path("zero.svm").write_text("1 0:1\n-1 1:1\n")
    Path("one.svm").write_text("1 1:1\n-1 2:1\n")
    fails(casgd("train", "zero.svm", "-o", "a.model"), 1, "'zero.svm', line 1", "column 0", "with --zero-based")
    works(casgd("train", "zero.svm", "-o", "zero.model", "--zero-based", *FEW))
    works(casgd("train", "one.svm", "-o", "one.model", *FEW))
    for name in ("zero", "one"):
        assert works(casgd("predict", f"{name}.model", f"{name}.svm")) == "1\n-1\n"
    fails(casgd("predict", "one.model", "zero.svm"), 1, "'zero.svm', line 1", "column 0")
    fails(casgd("predict", "one.model", "zero.svm", "--zero-based"), 2, "--zero-based")


def test_columns_beyond_the_model_are_left_out_and_said_to_be(casgd):
    Path("a.svm").write_text(ROWS.format("0", "1"))
    works(casgd("train", "a.svm", "-o", "a.model", "--tfidf", *FEW))
    Path("wide.svm").write_text("0 1:2 3:0.5 7:9\n1 2:1\n")
    Path("narrow.svm").write_text("0 1:2 3:0.5\n1 2:1\n")
    status, out, err = casgd("predict", "a.model", "wide.svm", "--scores")
    assert (status, err.count("\n")) == (0, 1)
    assert "'wide.svm' has 7 columns and the model 3" in err
    assert out == works(casgd("predict", "a.model", "narrow.svm", "--scores"))
    # which is what training on as many columns gives
    Path("as_wide.svm").write_text(ROWS.format("0", "1").rstrip() + " 7:0\n")
    works(casgd("train", "as_wide.svm", "-o", "wide.model", "--tfidf", *FEW))
    assert out == works(casgd("predict", "wide.model", "wide.svm", "--scores"))
    Path("short.svm").write_text("0 1:2\n")
    works(casgd("predict", "a.model", "short.svm"))


def test_predictions_go_to_a_file_whole_or_not_at_all(casgd):
    Path("a.svm").write_text(ROWS.format("0", "1"))
    works(casgd("train", "a.svm", "-o", "a.model", *FEW))
    assert works(casgd("predict", "a.model", "a.svm", "-o", "out.txt")) == ""
    assert Path("out.txt").read_text() == works(casgd("predict", "a.model", "a.svm"))
    Path("bad.svm").write_text("1 1:1\n1 x:1\n")
    fails(casgd("predict", "a.model", "bad.svm", "-o", "out.txt"), 1, "'bad.svm', line 2")
    assert Path("out.txt").read_text() == works(casgd("predict", "a.model", "a.svm"))
    before = Path("a.model").read_bytes()
    fails(casgd("train", "bad.svm", "-o", "a.model"), 1, "'bad.svm', line 2")
    assert Path("a.model").read_bytes() == before
    assert not list(Path().glob("*.part"))


def test_the_same_training_is_the_same_file(casgd):
    Path("a.svm").write_text(ROWS.format("0", "1"))
    files = []
    for seed in (1, 1, 2):
        works(casgd("train", "a.svm", "-o", "a.model", "--seed", seed, *FEW))
        files.append(Path("a.model").read_bytes())
    assert files[0] == files[1] != files[2]


# bad files

BAD_LINES = {
    "word": ("spam 1:1", "spam"),
    "no value": ("1 1:1 2", "column:value"),
    "empty value": ("1 1:", "float"),
    "empty column": ("1 :1", "whole number; got ''"),
    "twice": ("1 2:1 2:1", "increase"),
    "not sorted": ("1 3:1 2:1", "increase"),
    "column 0": ("1 0:1", "zero-based"),
    "negative column": ("1 -2:1", "-2"),
    "huge column": ("1 1000000000000:1", "2147483647"),
    "fraction of a column": ("1 1.5:1", "whole number; got '1.5'"),
    "nan": ("1 1:nan", "finite"),
    "inf": ("1 1:-inf", "finite"),
    "overflow": ("1 1:1e999", "finite"),
    "nan label": ("nan 1:1", "finite"),
    "overflowing label": ("1e999 1:1", "finite"),
    "two labels": ("1,2 1:1", "1,2"),
    "decimal comma": ("1 1:0,5", "0,5"),
    "thousands": ("1 1:1_000", "_"),
    "hexadecimal": ("1 1:0x1p3", "0x1p3"),
    "csv": ("1,0.5,2", "1,0.5,2"),
    "no label": ("1:1 2:1", "1:1"),
    "NUL": ("1 1:1\0", "float"),
    "not UTF-8": ("1 \udcff:1", "xff"),
}


@pytest.mark.parametrize("ending", ["", ".gz", ".bz2"])
@pytest.mark.parametrize(("line", "word"), BAD_LINES.values(), ids=BAD_LINES)
def test_a_bad_line_is_named(casgd, line, word, ending):
    text = f"# first\n\n1 1:1\n-1 2:1 # second\n{line}\n1 1:1\n".encode(errors="surrogateescape")
    compress = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}[ending]
    Path(f"bad.svm{ending}").write_bytes(compress(text))
    fails(casgd("train", f"bad.svm{ending}", "-o", "a.model"), 1, f"'bad.svm{ending}', line 5: ", word)
    assert not Path("a.model").exists()


def test_a_bad_line_of_standard_input_is_named(casgd):
    fails(casgd("sweep", "-", stdin=b"1 1:1\n\n-1 1:nan\n"), 1, "<stdin>", "line 3")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.svm", b"", ["no example"]),
        ("comments.svm", b"# 1 1:1\n\n", ["no example"]),
        ("plain.gz", b"1 1:1\n", ["line 1", "gzip"]),
        ("cut.gz", gzip.compress(b"1 1:1\n" * 1000, mtime=0)[:-9], ["line 1001", "ended"]),
        ("harmed.gz", gzip.compress(os.urandom(9999))[:5000] + bytes(99), ["line"]),
        ("plain.bz2", b"1 1:1\n", ["line 1", "Invalid data"]),
        ("cut.bz2", bz2.compress(b"1 1:1\n" * 1000)[:-9], ["line", "ended"]),
        ("binary.svm", bytes(range(256)), ["line 1"]),
        ("a.npz", b"1 1:1\n", ["sparse matrix", "not a zip file"]),
        ("a.npz", b"", ["sparse matrix"]),
    ],
)
def test_a_file_that_is_none_is_refused(casgd, name, content, words):
    Path(name).write_bytes(content)
    fails(casgd("train", name, "-o", "a.model"), 1, name, *words)


def test_a_line_without_end_is_not_read_into_memory(casgd, monkeypatch):
    monkeypatch.setattr("reference.svmlight.LONGEST", 1000)
    Path("a.svm.gz").write_bytes(gzip.compress(b"1 1:1\n1 " + b" " * 10**7))
    fails(casgd("train", "a.svm.gz", "-o", "a.model"), 1, "'a.svm.gz', line 2", "1000 bytes")


def test_a_column_number_that_asks_for_gigabytes_is_refused(casgd, monkeypatch):
    monkeypatch.setattr(examples, "physical_memory", lambda: 8e9)
    Path("a.svm").write_text("1 1:1\n-1 2147483647:1\n")
    fails(casgd("train", "a.svm", "-o", "a.model"), 1, "a.svm", "2147483647 columns", "wrong column number", "8 GB")
    fails(casgd("sweep", "a.svm", "--folds", 2), 1, "2147483647 columns")
    sp.save_npz("a.npz", sp.csr_array((2, 10**12)))
    np.save("y.npy", [0, 1])
    fails(casgd("train", "a.npz", "--labels", "y.npy", "-o", "a.model"), 1, "1000000000000 columns")


def test_a_column_number_that_asks_for_gigabytes_is_left_out_of_predictions(casgd):
    Path("a.svm").write_text(ROWS.format("0", "1"))
    works(casgd("train", "a.svm", "-o", "a.model", *FEW))
    Path("b.svm").write_text("1 1:1 2147483647:1\n")
    status, out, err = casgd("predict", "a.model", "b.svm")
    assert (status, out in ("0\n", "1\n")) == (0, True)
    assert "2147483647 columns" in err


def npz(**arrays):
    content = io.BytesIO()
    np.savez(content, **arrays)
    return content.getvalue()


CSR = {"data": np.ones(2), "indices": np.array([0, 1]), "indptr": np.array([0, 1, 2]), "shape": np.array([2, 2])}


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"indptr": None, "y": [0, 1]}, ["indptr"]),
        ({"y": None}, ["no labels", "--labels"]),
        ({"y": [0, 1, 2]}, ["2 labels", "(3,)"]),
        ({"y": ["a", "b"]}, ["2 labels", "<U1"]),
        ({"y": [0, np.nan]}, ["row 1", "nan"]),
        ({"data": [1, np.inf], "y": [0, 1]}, ["inf", "row 1"]),
        ({"indices": [0, 7], "y": [0, 1]}, ["matrix"]),
        ({"indptr": [0, 5, 2], "y": [0, 1]}, ["matrix"]),
        ({"shape": [2], "y": [0, 1]}, ["matrix"]),
        ({"shape": [2, -1], "y": [0, 1]}, ["matrix"]),
        ({"data": np.array([{}, {}], dtype=object), "y": [0, 1]}, ["allow_pickle"]),
        ({"data": ["1", "2"], "y": [0, 1]}, ["matrix"]),
        ({"format": b"abc", "y": [0, 1]}, ["matrix"]),
    ],
)
def test_a_wrong_matrix_is_refused(casgd, arrays, words):
    kept = {name: array for name, array in (CSR | arrays).items() if array is not None}
    Path("bad.npz").write_bytes(npz(**kept))
    fails(casgd("train", "bad.npz", "-o", "a.model"), 1, "bad.npz", *words)


def test_a_matrix_that_unpacks_to_more_than_the_memory_is_refused(casgd, monkeypatch):
    np.savez_compressed("bomb.npz", **{**CSR, "data": np.zeros(10**6)}, y=[0, 1])
    monkeypatch.setattr(examples, "physical_memory", lambda: 10**6)
    assert Path("bomb.npz").stat().st_size < 10**5
    fails(casgd("train", "bomb.npz", "-o", "a.model"), 1, "bomb.npz", "more than this machine has")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("y.txt", b"0\n1\nspam\n", ["line 3", "spam"]),
        ("y.txt", b"0\n", ["2 labels"]),
        ("y.txt", b"0\ninf\n", ["inf"]),
        ("y.txt", b"\xff\n", ["line 1"]),
        ("y.npy", b"0\n1\n", ["array of numbers"]),
        ("y.npy", b"", ["array of numbers"]),
        ("y.npy", b"\x93NUMPY\x01\x00\xff\xff", ["array of numbers"]),
    ],
)
def test_wrong_labels_are_refused(casgd, name, content, words):
    Path("a.npz").write_bytes(npz(**CSR))
    Path(name).write_bytes(content)
    fails(casgd("train", "a.npz", "--labels", name, "-o", "a.model"), 1, name, *words)


def test_a_file_that_is_not_there_is_named(casgd):
    Path("a.svm").write_text(ROWS.format("0", "1"))
    for arguments in (
        ["train", "none", "-o", "m"],
        ["sweep", "none"],
        ["predict", "none", "a.svm"],
        ["evaluate", "none", "a.svm"],
    ):
        fails(casgd(*arguments), 1, "'none'", "No such file")
    fails(casgd("predict", "a.svm", "a.svm"), 1, "'a.svm' is no model file")
    fails(casgd("train", ".", "-o", "m"), 1, "'.'")


def test_an_overflow_names_the_step_and_the_cure(casgd):
    Path("a.svm").write_text("1 1:1e200\n-1 1:2e200\n3 1:1e200\n")
    fails_in_training = casgd("train", "a.svm", "-o", "a.model", "--loss", "squared", "--t0", 0, *FEW)
    fails((fails_in_training[0], "", fails_in_training[2]), 1, "overflowed", "step")
    fails(casgd("train", "a.svm", "-o", "a.model", "--loss", "squared", *FEW), 1, "t0")
    Path("b.svm").write_text(ROWS.format("0", "1"))
    works(casgd("train", "b.svm", "-o", "b.model", *FEW))
    Path("b.svm").write_text("1 1:1\n1 1:1e308 2:1e308 3:-1e308\n")
    status, out, err = casgd("predict", "b.model", "b.svm")
    if status:
        fails((status, out, err), 1, "row 1", "overflows")
    assert "nan" not in out


# bad usage


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ["COMMAND"]),
        (["learn"], ["learn"]),
        (["train"], ["FILE"]),
        (["train", "a.svm"], ["-o"]),
        (["train", "a.svm", "-o", "m", "--lam", "0"], ["--lam", "'0'", "> 0"]),
        (["train", "a.svm", "-o", "m", "--lam", "-1"], ["--lam"]),
        (["train", "a.svm", "-o", "m", "--lam", "nan"], ["--lam"]),
        (["train", "a.svm", "-o", "m", "--lam", "1e999"], ["--lam"]),
        (["train", "a.svm", "-o", "m", "--lam", "1,2"], ["--lam"]),
        (["sweep", "a.svm", "--lam", "1,,2"], ["--lam"]),
        (["sweep", "a.svm", "--folds", "1"], ["--folds", ">= 2"]),
        (["train", "a.svm", "-o", "m", "--epochs", "0"], ["--epochs"]),
        (["train", "a.svm", "-o", "m", "--epochs", "1.5"], ["--epochs"]),
        (["train", "a.svm", "-o", "m", "--seed", "-1"], ["--seed"]),
        (["train", "a.svm", "-o", "m", "--t0", "-1"], ["--t0", "auto"]),
        (["train", "a.svm", "-o", "m", "--hold-out", "1"], ["--hold-out"]),
        (["train", "a.svm", "-o", "m", "--loss", "huber"], ["--loss", "hinge"]),
        (["train", "a.svm", "-o", "m", "--los", "log"], ["--los"]),
        (["train", "a.svm", "-o", "m", "--tfidf", "--scale"], ["--scale"]),
        (["train", "a.svm", "-o", "m", "--algorithm", "sgd", "--average", "uniform"], ["--average", "asgd"]),
        (["train", "a.svm", "-o", "m", "--labels", "y.npy"], ["--labels", ".npz"]),
        (["train", "a.svm", "-o", "no/m"], ["'no/m'", "folder"]),
        (["train", "a.svm", "-o", "."], ["'.'", "folder"]),
        (["train", "a.svm", "-o", ""], ["''"]),
        (["train", "a.svm", "-o", os.devnull], ["device"]),
        (["train", "a.svm", "-o", "m", "--checkpoint", "."], ["'.'", "folder"]),
        (["train", "a.svm", "-o", "./a.svm"], ["overwritten"]),
        (["train", "a.svm", "-o", "m", "--checkpoint", "m"], ["overwritten"]),
        (["train", "a.svm", "-o", "m", "--checkpoint", "no/c"], ["'no/c'"]),
        (["predict", "m"], ["FILE"]),
        (["predict", "m", "a.svm", "-o", "m"], ["overwritten"]),
        (["predict", "m", "a.svm", "--zero-based"], ["--zero-based", "see casgd predict --help"]),
        (["train", "a.svm", "-o", "m", "--lambda", "1"], ["--lambda 1", "see casgd train --help"]),
    ],
)
def test_bad_usage_is_one_line_and_status_2(casgd, arguments, words):
    Path("a.svm").write_text(ROWS.format("0", "1"))
    fails(casgd(*arguments), 2, *words)
    assert Path("a.svm").read_text() == ROWS.format("0", "1")


@pytest.mark.parametrize("command", [[], ["train"], ["predict"], ["evaluate"], ["sweep"]])
def test_help_has_examples_that_parse(casgd, command, monkeypatch):
    status, out, err = casgd(*command, "--help")
    assert (status, err) == (0, "")
    lines = re.findall(r"^ +(?:.*\| )?casgd (.*)$", out, re.MULTILINE)
    assert len(lines) >= 1
    for line in lines:
        arguments = re.split(r" > | {3,}", line)[0].split()
        for name in (argument for argument in arguments if "." in argument and not argument.startswith("--")):
            assert not Path(name).exists()
        status, out, err = casgd(*arguments, stdin=b"")
        assert status == 1, err  # the files are not there, but the usage is right
    assert all(len(line) <= 80 for line in out.splitlines())


# interrupted, killed, and gone on with


def train_arguments(mails, name, epochs=6, *more):
    return ["train", mails, "-o", f"{name}.model", "--checkpoint", f"{name}.checkpoint", "--epochs", epochs, *more]


def test_more_epochs_go_on_from_the_checkpoint(casgd, mails):
    works(casgd("train", mails, "-o", "whole.model", "--epochs", 6))
    out = works(casgd(*train_arguments(mails, "parts", 2)))
    assert table(out)["epoch"] == [1, 2]
    status, out, err = casgd(*train_arguments(mails, "parts", 6))
    assert (status, err) == (0, "casgd: going on from step 2420 of 'parts.checkpoint'\n")
    assert table(out)["epoch"] == [3, 4, 5, 6]
    assert Path("parts.model").read_bytes() == Path("whole.model").read_bytes()
    status, out, err = casgd(*train_arguments(mails, "parts", 6))
    assert status == 0 and "epoch" not in out  # it has come there already
    assert Path("parts.model").read_bytes() == Path("whole.model").read_bytes()
    fails(casgd(*train_arguments(mails, "parts", 5)), 1, "'parts.checkpoint'", "--epochs 5", "step 7260 of 6050")


@pytest.mark.parametrize("labels", [2, 4])
def test_wherever_it_is_interrupted_it_goes_on_to_the_same_bits(casgd, mails, monkeypatch, labels):
    """Also within an epoch, and by Ctrl-C or by an end without a last word."""
    X, y, _ = load_svmlight(mails)
    dump_svmlight_file(X, y + np.arange(len(y)) % (labels // 2), "a.svm", zero_based=False)
    monkeypatch.setattr("efficient.kernels.blocks.ENTRIES", 50_000)
    monkeypatch.setattr(train, "SECONDS_BETWEEN_CHECKPOINTS", 0)
    works(casgd("train", "a.svm", "-o", "whole.model", "--epochs", 3))
    save, stops, steps = checkpoint.Checkpoint.save, iter([2, 1, 3, 1]), []

    class Killed(BaseException):
        pass

    def saving(left, how):
        def save_and_stop(self, states):
            nonlocal left
            left -= 1
            if left >= 0:
                save(self, states)
                steps.append(states.t)
            if left == 0:
                raise how

        return save_and_stop

    for stop in stops:
        how = KeyboardInterrupt() if stop % 2 else Killed()
        monkeypatch.setattr(checkpoint.Checkpoint, "save", saving(stop, how))
        try:
            status, _, err = casgd(*train_arguments("a.svm", "parts", 3))
        except Killed:
            continue
        assert status == 130
        assert re.search(r"casgd: interrupted at step \d+ of 3630; the same command goes on from there\n$", err)
    monkeypatch.setattr(checkpoint.Checkpoint, "save", save)
    assert any(step % 1210 for step in steps)
    status, _, err = casgd(*train_arguments("a.svm", "parts", 3))
    assert (status, f"step {steps[-1]} " in err) == (0, True)
    assert Path("parts.model").read_bytes() == Path("whole.model").read_bytes()


def test_a_checkpoint_of_something_else_is_refused(casgd, mails):
    works(casgd(*train_arguments(mails, "a", 1)))
    for more, words in (
        (["--seed", 1], ["seed = 0", "1"]),
        (["--order", "cyclic"], ["order = 'iid'", "'cyclic'"]),
        (["--average", "uniform"], ["average = 'weighted'"]),
        (["--lam", "1"], ["lam = 0.0001"]),
        (["--t0", "3"], ["t0 = 'auto'"]),
        (["--hold-out", "0.1"], ["hold_out = 0.0"]),
        (["--tfidf"], ["transform = 'none'"]),
    ):
        fails(casgd(*train_arguments(mails, "a", 1, *more)), 1, "'a.checkpoint'", *words, "begin anew")
    other = Path("other.svm")
    other.write_bytes(mails.read_bytes().replace(b" 7:1 ", b" 7:2 "))
    fails(casgd(*train_arguments(other, "a", 1)), 1, "'a.checkpoint'", "another problem", "begin anew")
    whole = Path("a.checkpoint").read_bytes()
    changed = bytes(byte ^ 1 for byte in whole[100_000:100_008])
    for damaged in (b"", whole[:-1000], whole[1000:], b"1 1:1\n", whole[:100_000] + changed + whole[100_008:]):
        Path("a.checkpoint").write_bytes(damaged)
        fails(casgd(*train_arguments(mails, "a", 1)), 1, "'a.checkpoint'", "begin anew")


def test_a_checkpoint_that_unpacks_to_more_than_the_file_is_refused(casgd, mails):
    works(casgd(*train_arguments(mails, "a", 1)))
    with zipfile.ZipFile("a.checkpoint") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for harmed in ("settings.json", "v.npy"):
        with zipfile.ZipFile("a.checkpoint", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name, content + bytes(10_000_000 * (name == harmed)))
        tracemalloc.start()
        fails(casgd(*train_arguments(mails, "a", 1)), 1, "'a.checkpoint'", "not stored as it is", "begin anew")
        assert tracemalloc.get_traced_memory()[1] < 9e6
        tracemalloc.stop()


def test_a_checkpoint_does_not_mind_what_a_killed_one_left_behind(casgd, mails):
    Path("a.checkpoint.part").write_bytes(bytes(10_000_000))
    works(casgd(*train_arguments(mails, "a", 1)))
    status, _, err = casgd(*train_arguments(mails, "a", 2))
    assert (status, err) == (0, "casgd: going on from step 1210 of 'a.checkpoint'\n")
    assert not Path("a.checkpoint.part").exists()


def test_kill_9_and_ctrl_c_in_the_middle(casgd, mails, tmp_path):
    epochs, name, kept = 2000, tmp_path / "parts", tmp_path / "parts.checkpoint"

    def version():
        return kept.stat().st_mtime_ns if kept.exists() else None

    for sent in (signal.SIGKILL, signal.SIGINT):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        before, end = version(), time.monotonic() + 300
        with subprocess.Popen([*COMMAND, *map(str, train_arguments(mails, name, epochs))], env=outside(), **pipes) as process:
            while version() == before and process.poll() is None and time.monotonic() < end:
                time.sleep(0.002)
            process.send_signal(sent)
            _, err = process.communicate()
        assert not Path(f"{name}.model").exists()
        assert version() != before
        assert "Traceback" not in err
    assert process.returncode == 130
    (went_on, interrupted) = err.splitlines()
    assert re.match(r"casgd: going on from step \d+ of ", went_on)
    assert re.match(r"casgd: interrupted at step \d+ of 2420000; the same command goes on from there$", interrupted)
    with np.load(kept) as archive:
        t = int(archive["t"])
    assert 0 < t < epochs * 1210
    more = -(-t // 1210) + 2
    status, _, err = casgd(*train_arguments(mails, name, more))
    assert (status, f"step {t} " in err) == (0, True)
    works(casgd("train", mails, "-o", "whole.model", "--epochs", more))
    assert Path(f"{name}.model").read_bytes() == Path("whole.model").read_bytes()


def test_ctrl_c_without_a_checkpoint(casgd, mails, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(train, "scores", interrupted)
    status, _, err = casgd("train", mails, "-o", "a.model")
    assert (status, err) == (130, "casgd: interrupted\n")
    assert os.listdir() == []


# from the shell


def test_a_closed_pipe_is_quiet(casgd, mails, tmp_path):
    works(casgd("train", mails, "-o", "a.model", *FEW))
    Path("many.svm").write_bytes(mails.read_bytes() * 20)
    shell = f"({sys.executable} -m efficient predict a.model many.svm --scores; echo $? > status) | head -1"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=False, env=outside())
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1
    assert Path("status").read_text() == "141\n"


def outside():
    """An environment to run the command in from any folder."""
    return os.environ | {"PYTHONPATH": str(ROOT)}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_an_error(casgd, mails):
    works(casgd("train", mails, "-o", "a.model", *FEW))
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, "predict", "a.model", mails], stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=outside()
        )
    assert done.returncode == 1
    assert re.fullmatch(r"casgd: [^\n]*No space left[^\n]*\n", done.stderr)


def test_scikit_learn_is_imported_for_svmlight_text_only(casgd):
    Path("a.svm").write_text(ROWS.format("0", "1"))
    sp.save_npz("a.npz", sp.csr_array(np.eye(3)))
    works(casgd("train", "a.svm", "-o", "a.model", *FEW))
    code = """
import contextlib, sys
from efficient.__main__ import main
for command in ("--help", "train a.svm", "predict a.model a.npz"):
    with contextlib.suppress(SystemExit):
        main(command.split())
assert "sklearn" not in sys.modules
main(["predict", "a.model", "a.svm"])
assert "sklearn" in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=outside())
    assert done.returncode == 0, done.stderr


def test_progress_is_shown_on_a_terminal_only(casgd, mails, monkeypatch):
    plain = works(casgd("train", mails, "-o", "a.model", "--epochs", 3))
    monkeypatch.setattr("efficient.kernels.blocks.progress_bar", None)  # not this one
    monkeypatch.setattr(train, "progress_bar", shown_at_once)
    status, out, err = casgd("train", mails, "-o", "a.model", "--epochs", 3)
    assert (status, "steps" in err) == (0, True)
    without_seconds = [re.sub(r"\S+$", "", text, flags=re.MULTILINE) for text in (plain, out)]
    assert without_seconds[0] == without_seconds[1]


def shown_at_once(first, total, wanted):
    from tqdm import tqdm

    assert wanted is None
    return tqdm(initial=first, total=total, unit=" steps", mininterval=0)


# whatever is in a file

LABELS = st.sampled_from(
    ["1", "-1", "+1", "0", "-0", "1e308", "-1.7e308", "1e309", "nan", "1,2", "a", "\0", "\udcff", "#", "#1:1", "qid:3", "qid:"]
)
ENTRIES = st.sampled_from(
    ["1:1", "2:0.5", "3:-1e3", "4:5e-324", "5:1e-310", "6:-0", "3:1e308", "1:1e999", "1:nan", "2:inf", "1:1_0", "1:1:1", "0:1"]
)
WRONG = st.sampled_from(
    ["-1:2", "2147483647:1", "99999999999999:1", "1.5:1", "1_0:1", "0x1:1", "a:b", "1:", ":1", ":", "\u0663:\u0661", "1"]
)
LINES = st.lists(LABELS | ENTRIES | WRONG, max_size=6).map(" ".join)
GOOD = st.sampled_from(["1 1:1 2:0.5", "-1 2:1", "1 3:2 # good", "-1 1:0.25 4:1", "1 1:1"])
ENDS = st.sampled_from(["\n"] * 9 + ["\r\n", "\r", "\n\n"])


@st.composite
def texts(draw):
    """Some good lines, and in half of the texts one or two that may be anything."""
    lines = draw(st.lists(GOOD, min_size=2, max_size=8))
    for line in draw(st.just([]) | st.lists(LINES, min_size=1, max_size=2)):
        lines.insert(draw(st.integers(0, len(lines))), line)
    return "".join(line + draw(ENDS) for line in lines).encode(errors="surrogateescape")


HARM = st.tuples(st.integers(0, 2000), st.binary(min_size=1, max_size=3))


@settings(max_examples=4 * settings.default.max_examples, suppress_health_check=[HealthCheck.too_slow])
@given(
    content=st.one_of(texts(), texts(), texts(), st.binary(max_size=60)),
    ending=st.sampled_from(["", "", "", "", ".gz", ".gz", ".bz2", ".npz"]),
    harm=st.one_of(st.none(), st.none(), st.none(), HARM),
    options=st.sampled_from([[], ["--tfidf"], ["--scale"], ["--zero-based"], ["--hold-out", "0.5"], ["--loss", "squared"]]),
)
@example(content=b"1 1:1\n-1 2:1e308 3:1e308\n", ending="", harm=None, options=["--tfidf"])
@example(content=b"1e308 1:1\n-1e308 2:1\n", ending="", harm=None, options=["--loss", "squared"])
def test_any_file_gives_finite_predictions_or_one_line(workplace, content, ending, harm, options):
    folder, saw = workplace
    path, model = folder / f"fuzz{ending}", folder / "fuzz.model"
    pack = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".npz": lambda _: npz(**CSR, y=[0, 1])}
    content = pack[ending](content)
    if harm is not None:
        place, other = harm[0] % (len(content) + 1), harm[1]
        content = content[:place] + other + content[place + len(other) :]
    path.write_bytes(content)
    model.unlink(missing_ok=True)
    status, out, err = quietly("train", path, "-o", model, "--epochs", 1, *options)
    assert path.read_bytes() == content
    saw[status] = saw.get(status, 0) + 1
    if status:
        assert (status, model.exists()) == (1, False)
        assert re.fullmatch(r"casgd: [^\n]+\n", err), err
        return
    assert err == ""
    assert "nan" not in out
    read = load_model(str(model))  # which refuses what is not finite
    status, out, err = quietly("predict", model, path)
    if status == 0:
        assert np.isfinite(np.array(out.split(), dtype=float)).all()
        assert len(out.split()) == read.training["rows"] or options[:1] == ["--hold-out"]
    else:
        assert (status, "overflow" in err) == (1, True)


def quietly(*arguments):
    """The status and output of a command, without a fixture."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        status = main([str(argument) for argument in arguments])
    return status, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    """A folder, and how often each status was seen: the files must not be all alike."""
    seen: dict[int, int] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(examples, "physical_memory", lambda: 4e9)
        yield tmp_path_factory.mktemp("fuzz"), seen
    if sum(seen.values()) >= 100:
        assert seen.keys() == {0, 1}
