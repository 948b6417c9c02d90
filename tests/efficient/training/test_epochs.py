"""Epochs: portions change no bit, reports come after each epoch, Ctrl-C leaves a whole run; one table for both faces."""

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from efficient import CASGDClassifier, CASGDRegressor
from efficient.training import epochs
from efficient.training.epochs import Schedule, Table, train
from efficient.training.models import begin, make_problems
from efficient.training.settings import Settings
from reference import draw_indices
from reference.datasets import make_generic
from reference.sampling import ORDERS
from tests.helpers import floats, same

PROBLEM = floats("generic", "log", 0.1)


def new_run():
    return begin([PROBLEM], Settings("log"))


def schedule(steps=30, order="iid", done=0, drawn=None):
    return Schedule(8, steps, 8, np.random.default_rng(5), order, drawn, done)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("drawn", [None, np.array([1.0, 0, 2, 1, 1, 1, 1, 1])])
def test_train_takes_the_steps_of_one_draw_in_any_portions(monkeypatch, order, drawn):
    whole = new_run().run(draw_indices(8, 30, 5, order, drawn)).predictors()[0]
    for at_once in (1, 20, 1_000_000):
        monkeypatch.setattr(epochs, "DRAWN_AT_ONCE", at_once)
        for after in (None, lambda *_: None):
            run = new_run()
            train(run, schedule(order=order, drawn=drawn), after=after)
            assert same(run.predictors()[0], whole)


def test_train_reports_after_each_epoch_and_block():
    run, reports, blocks = new_run(), [], []
    train(run, schedule(20), after=lambda epoch, seconds: reports.append((epoch, run.t, seconds >= 0)))
    assert reports == [(1, 8, True), (2, 16, True), (3, 20, True)]
    train(run, schedule(20), between=lambda t, _: blocks.append(t))
    assert blocks[-1] == 40


@pytest.mark.parametrize("done", [0, 3, 8, 13, 30])
def test_train_resumes_within_an_epoch(done):
    whole, run, seen = new_run(), new_run(), []
    train(whole, schedule())
    if done:
        run.run(draw_indices(8, 30, 5)[:done])
    train(run, schedule(done=done), after=lambda epoch, _: seen.append(epoch))
    assert same(run.predictors()[0], whole.predictors()[0])
    assert seen == list(range(done // 8 + 1, 5)) if done < 30 else not seen


def test_train_calls_back_after_ctrl_c_if_a_step_was_taken(monkeypatch):
    def stop(epoch, seconds):
        if epoch == 2:
            raise KeyboardInterrupt

    run, kept = new_run(), []
    with pytest.raises(KeyboardInterrupt):
        train(run, schedule(), after=stop, interrupted=lambda: kept.append(run.t))
    assert kept == [16]
    monkeypatch.setattr(epochs, "draw_indices", lambda *_: stop(2, 0))
    with pytest.raises(KeyboardInterrupt):
        train(run, schedule(), interrupted=lambda: kept.append(run.t))
    assert kept == [16]


@pytest.mark.parametrize(("loss", "words"), [("squared", ["larger t0", "(absolute"]), ("absolute", []), ("log", [])])
def test_train_says_what_helps_against_an_overflow(loss, words):
    X, y, _ = make_generic(60, 20, 5, seed=2, binary=loss == "log")
    run = begin(make_problems(1e3 * X, y, None, loss, [5e-324]), Settings(t0=0))
    with pytest.raises(
        FloatingPointError, match=r"by step \d+: .* λ = 4.94066e-324 and t0 = 0,.* larger lam \(alpha"
    ) as caught:
        train(run, Schedule(60, 60, 60, np.random.default_rng(0)))
    assert ("t0='auto'" in str(caught.value)) == bool(words)
    for word in words:
        assert word in str(caught.value)


def test_table_prints_a_head_and_wide_columns(capsys):
    table = Table()
    for epoch in (1, 2):
        table.line(epoch, {"loss": 1 / 3, "a name of 20 letters": float("nan")}, 1.5)
    assert capsys.readouterr().out.splitlines() == [
        "epoch            loss  a name of 20 letters  seconds",
        "    1        0.333333                     -     1.50",
        "    2        0.333333                     -     1.50",
    ]


@pytest.mark.parametrize(("loss", "classes"), [("log", 2), ("hinge", 3), ("squared", None)])
@pytest.mark.parametrize("algorithm", ["asgd", "casgd"])
def test_estimator_and_command_line_print_the_same_table(casgd, capsys, loss, classes, algorithm):
    X, y, _ = make_generic(60, 20, 5, seed=2, binary=False)
    y = y if classes is None else np.arange(60.0) % classes
    dump_svmlight_file(X, y, "a.svm", zero_based=False)
    command = ["--loss", loss, "--lam", 0.01, "--algorithm", algorithm, "--epochs", 3, "--seed", 4]
    _, out, _ = casgd("train", "a.svm", "-o", "m", *command)
    _, *theirs, _ = out.splitlines()
    estimator = CASGDRegressor if classes is None else CASGDClassifier
    settings = {"loss": loss, "alpha": 0.01, "algorithm": algorithm, "n_epochs": 3, "random_state": 4, "verbose": True}
    estimator(**settings).fit(X, y)
    ours = capsys.readouterr().out.splitlines()
    assert [line.rsplit(maxsplit=1)[0] for line in ours] == [line.rsplit(maxsplit=1)[0] for line in theirs]
    assert len(ours) == 4
