"""casgd sweep: the cross-validation of separate trainings."""

import re
import shlex
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from efficient import State
from efficient.cli import sweep
from efficient.cli.features import fit_transform_to
from efficient.reading.svmlight import load_svmlight
from efficient.training.metrics import quality
from efficient.training.splits import folds
from reference import LOSSES, Problem, draw_indices
from reference.averaging import polynomial
from reference.datasets import load_spam, load_tweets


def numbers():
    X, y, _ = load_tweets()
    return X[:300], y[:300]


def classes(count):
    X = load_spam().X[:300, :300]
    return X, np.asarray(X.sum(axis=1)).ravel() % count


@pytest.mark.parametrize(("data", "loss"), [(classes(2), "hinge"), (classes(3), "log"), (numbers(), "absolute")])
def test_sweep_is_the_cross_validation_of_separate_trainings(works, data, loss):
    dump_svmlight_file(*data, "a.svm", zero_based=False)
    X, y, _ = load_svmlight("a.svm")
    lams, known = (0.5, 0.05, 5.0), np.unique(y) if LOSSES[loss].binary else None
    command = ["--lam", "0.5,0.05,5", "--epochs", 2, "--folds", 3, "--seed", 1, "--tfidf", "--loss", loss]
    out = works("sweep", "a.svm", *command)
    fold, measured = folds(X, 3, 1, None if known is None else y), {lam: [] for lam in lams}
    for k in range(3):
        rest = fold != k
        transform = fit_transform_to(X[rest], "tfidf")
        for lam in lams:
            scores = []
            for label in [None] if known is None else known[-1:] if len(known) == 2 else known:
                signs = y[rest] if label is None else np.where(y[rest] == label, 1.0, -1.0)
                problem = Problem(transform.apply(X[rest]), signs, loss, lam)
                indices = draw_indices(problem.m, 2 * problem.m, 1, "permuted")
                state = State(problem, "casgd", averaging_weights=polynomial(1)).run(indices)
                scores.append(state.average().predict(transform.apply(X[~rest])))
            measured[lam].append(list(quality(LOSSES[loss], np.column_stack(scores), y[~rest], known).values()))
    names, criterion = (["loss", "MSE", "R2"], 0) if known is None else (["loss", "error"], 1)
    lines = ["       lam" + "".join(f"  {name:>11}  std. error" for name in names)]
    for lam, values in measured.items():
        means, errors = np.mean(values, axis=0), np.std(values, axis=0, ddof=1) / np.sqrt(3)
        cells = [f"  {mean:11.6g}  {error:10.6g}" for mean, error in zip(means, errors, strict=True)]
        lines.append(f"{lam:10g}" + "".join(cells))
    best = min(lams, key=lambda lam: (np.mean(measured[lam], axis=0)[criterion], np.mean(measured[lam], axis=0)[0]))
    first, *printed = out.splitlines()
    assert re.fullmatch(r"300 rows, \d+ columns, \S+ entries a row, .*; 3 folds", first)
    assert printed[: len(lines) + 1] == [*lines, f"best lam {best:g}, by the lowest {names[criterion]}"]


@pytest.mark.usefixtures("folder")
def test_sweep_takes_the_lowest_loss_where_errors_are_equal(works):
    out = works("sweep", "a.svm", "--lam", "1000,1e6,100", "--folds", 2, "--epochs", 1)
    rows = [line.split() for line in out.splitlines()[2:5]]
    assert len({error for _, _, _, error, _ in rows}) == 1
    best = min(rows, key=lambda row: float(row[1]))[0]
    assert f"best lam {float(best):g}, by the lowest error" in out


@pytest.mark.usefixtures("folder")
def test_sweep_refuses_folds_that_cannot_be_made(fails):
    Path("same.svm").write_text("1 1:1\n" * 5 + "-1 1:1\n" * 5)
    fails(1, ["folds", "different rows, 1; got 5"], "sweep", "same.svm")
    Path("rare.svm").write_text("0 1:1\n0 1:2\n1 1:3\n0 1:4\n")
    X, y, _ = load_svmlight("rare.svm")
    k = folds(X, 4, 0, y)[2] + 1
    fails(1, [f"'rare.svm without fold {k}' has one class only, 0"], "sweep", "rare.svm", "--folds", 4)


@pytest.mark.usefixtures("folder")
def test_sweep_asks_for_the_memory_of_all_models_and_shows_all_steps(works, monkeypatch):
    asked, steps = [], []

    class Bar:
        def __init__(self, first, total, wanted):
            self.n = first
            steps.append(total)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            steps.append(self.n)

        def update(self, more):
            assert more >= 0
            self.n += more

    monkeypatch.setattr(sweep, "check_memory", lambda examples, models: asked.append(models))
    monkeypatch.setattr(sweep, "progress_bar", Bar)
    Path("c.svm").write_text("".join(f"{i % 3} 1:{i} 2:1\n" for i in range(1, 13)))
    works("sweep", "c.svm", "--lam", "1,2,3,4", "--epochs", 2, "--folds", 3)
    assert (asked, steps) == ([12], [48, 48])


@pytest.mark.usefixtures("folder")
def test_sweep_prints_the_same_whatever_the_number_of_jobs(works, monkeypatch):
    options = ["--lam", "1e-300,1,2", "--loss", "squared", "--t0", 0, "--order", "iid", "--epochs", 2, "--folds", 4]
    alone = works("sweep", "a.svm", *options)
    together, fit = threading.Barrier(2, timeout=60), sweep.fit_transform_to
    monkeypatch.setattr(sweep, "fit_transform_to", lambda *given: (together.wait(), fit(*given))[1])  # two at a time, or none
    assert works("sweep", "a.svm", *options, "--jobs", 2) == alone
    assert "overflows" in alone and "--jobs" not in alone


@pytest.mark.usefixtures("folder")
def test_an_error_or_ctrl_c_ends_all_folds(casgd, monkeypatch):
    begun, long = [], ["--epochs", 1000000, "--folds", 4, "--jobs", 2, "--lam", 1]

    def wrong(parts, lams, options, between):
        begun.append(lams)
        if len(begun) == 2:
            raise MemoryError("no room")
        return measure(parts, lams, options, between)

    measure = sweep._measure
    monkeypatch.setattr(sweep, "_measure", wrong)
    began = time.monotonic()
    status, _, err = casgd("sweep", "a.svm", *long)
    assert status == 1 and "no room" in err and len(begun) < 4 and time.monotonic() - began < 20

    def pressed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(sweep, "_measure", measure)
    monkeypatch.setattr(sweep, "wait", pressed)
    assert casgd("sweep", "a.svm", *long)[0] == 130 and time.monotonic() - began < 40


@pytest.mark.usefixtures("folder")
def test_sweep_prints_the_command_that_trains_with_the_best_lam(works):
    options = ["--loss", "squared", "--epochs", 3, "--order=permuted", "--seed", 5, "--scale"]
    out = works("sweep", "a.svm", "--lam=0.5,1e-3,70", *options, "--folds", 2)
    best = re.search(r"^best lam (\S+),", out, re.MULTILINE)[1]
    program, *arguments = shlex.split(out.splitlines()[-1])
    assert program == "casgd"
    works(*arguments)
    works("train", "a.svm", "-o", "same.model", "--lam", best, *options)
    assert Path("a.model").read_bytes() == Path("same.model").read_bytes()
    given = works("sweep", "-", "--folds", 2, "--epochs", 1, stdin=Path("a.svm").read_bytes()).splitlines()[-1]
    assert re.fullmatch(r"casgd train - --epochs 1 --lam \S+ -o stdin\.model", given)


def test_sweep_names_each_lam_within_a_standard_error_of_the_best(works, mails):
    out = works("sweep", mails, "--tfidf", "--folds", 4, "--epochs", 3, "--lam", "1e-6,1e-5,3e-5,1e-4,1")
    lines = out.splitlines()
    found = {float(lam): (float(error), float(se)) for lam, _, _, error, se in (line.split() for line in lines[2:7])}
    best = float(re.search(r"^best lam (\S+),", out, re.MULTILINE)[1])
    near = {lam for lam, (error, _) in found.items() if lam != best and error <= sum(found[best])}
    assert near and near != found.keys() - {best}
    (said,) = (line for line in lines if line.startswith("within a standard error of it: "))
    assert set(map(float, said.partition(": ")[2].split(", "))) == near


@pytest.mark.parametrize(
    ("lams", "words"),
    [("10,1000", "the least that was tried: try smaller"), ("1e-7,1e-9", "the greatest that was tried: try greater")],
)
def test_sweep_says_when_the_best_lam_is_at_the_edge(works, mails, lams, words):
    options = ["--tfidf", "--folds", 2, "--epochs", 2]
    assert words in works("sweep", mails, "--lam", lams, *options)
    for inside in (lams.split(",")[0], "1e-9,0.0001,1000"):
        assert "was tried" not in works("sweep", mails, "--lam", inside, *options)


@pytest.mark.usefixtures("folder")
def test_sweep_goes_on_without_a_lam_that_overflows(works, fails):
    options = ["--loss", "squared", "--t0", 0, "--epochs", 1, "--folds", 2, "--order", "iid"]
    alone = works("sweep", "a.svm", "--lam", "1,2", *options).splitlines()
    out = works("sweep", "a.svm", "--lam", "1e-300,1,2", *options).splitlines()
    assert out[2].split() == ["1e-300", "overflows"]
    assert [*out[:2], *out[3:]] == alone
    fails(1, ["overflow", "--t0", "--lam"], "sweep", "a.svm", "--lam", "1e-300,1e-301", *options, printed=True)
