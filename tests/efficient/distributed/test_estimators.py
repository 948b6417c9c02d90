"""Estimators on rows in parts: what they take, the same bits on any workers, and what is left after Ctrl-C."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import warnings
from itertools import pairwise
from pathlib import Path

import dask
import dask.array as da
import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from dask.delayed import delayed
from sklearn.datasets import dump_svmlight_file
from sklearn.model_selection import GridSearchCV

import efficient.estimators.linear as whole
from efficient.distributed import CASGDClassifier, CASGDRegressor
from efficient.reading.mapped import convert
from reference import Problem, safe_t0
from reference.datasets import load_tweets, make_generic

ROOT = Path(__file__).parents[3]
CUTS = (0, 50, 140, 200)
DATA = make_generic(200, 20, 5, seed=1)
DATA = DATA._replace(X=(DATA.X * 64).astype(int) / 64)  # numbers that text holds


def blocks(X=DATA.X, y=DATA.y, cuts=CUTS):
    return [X[a:b] for a, b in pairwise(cuts)], [y[a:b] for a, b in pairwise(cuts)]


def bits(model):
    return model.coef_.tobytes() + model.intercept_.tobytes()


def fitted(*rows, of=CASGDClassifier, **options):
    with dask.config.set(scheduler="synchronous"):
        return of(**({"random_state": 0, "n_epochs": 3} | options)).fit(*rows)


def test_dask_arrays_blocks_and_files_give_the_same_bits(tmp_path):
    X, y = blocks()
    lazy = [da.from_delayed(delayed(block), block.shape, meta=sp.csr_array((0, 0))) for block in X]
    texts = []
    for number, (block, labels) in enumerate(zip(X, y, strict=True)):
        texts.append(tmp_path / f"part{number}.svm")
        dump_svmlight_file(block, labels, str(texts[-1]), zero_based=False)
        convert(texts[-1], tmp_path / f"part{number}.npz")
    model = fitted(X, y)
    for rows in (
        ([delayed(block) for block in X], [delayed(labels) for labels in y]),
        (da.concatenate(lazy), da.concatenate([da.from_array(labels) for labels in y])),
        ([block.toarray() for block in X], y),
        ([block.toarray().tolist() for block in X], [labels.tolist() for labels in y]),
        (texts,),
        ([str(path.with_suffix(".npz")) for path in texts],),
        ([*X[:2], sp.csr_array((0, 20)), X[2]], [*y[:2], np.array([]), y[2]]),
    ):
        assert bits(fitted(*rows)) == bits(model)


@pytest.mark.parametrize("scheduler", ["threads", pytest.param("processes", marks=pytest.mark.nightly)])
def test_threads_and_processes_give_the_same_bits(scheduler):
    X, y = blocks()
    model = fitted(X, y)
    with dask.config.set(scheduler=scheduler, num_workers=2):
        assert bits(CASGDClassifier(random_state=0, n_epochs=3).fit(X, y)) == bits(model)
    assert bits(fitted(X, y, random_state=1)) != bits(model)


def killed_once(block, flag):
    """Give a block; the fifth time kill the process that asks for it, in the middle of an epoch."""
    with open(flag, "a", encoding="utf8") as file:
        file.write("x")
    if os.path.getsize(flag) == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return block


@pytest.mark.skipif(sys.platform != "linux", reason="a worker is killed")
def test_worker_that_is_killed_in_an_epoch_is_replaced_without_a_trace(tmp_path):
    from distributed import Client, LocalCluster

    X, y = blocks()
    flag, model = tmp_path / "asked", fitted(X, y)
    options = {"processes": True, "threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1", "silence_logs": 60}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Dask about its worker
        with LocalCluster(n_workers=2, **options) as cluster, Client(cluster):
            lazy = [delayed(X[0]), delayed(killed_once)(X[1], str(flag)), delayed(X[2])]
            again = CASGDClassifier(random_state=0, n_epochs=3).fit(lazy, y)
    assert flag.stat().st_size > 5
    assert bits(again) == bits(model)


def test_model_of_parts_is_an_ordinary_estimator():
    X, y = blocks()
    model = pickle.loads(pickle.dumps(fitted(X, y)))
    assert isinstance(model, whole.CASGDClassifier)
    assert (model.classes_ == [-1, 1]).all()
    assert model.t_ == 3 * -(-200 // 3)
    assert model.n_iter_ == 3
    before = model.coef_.copy()
    assert model.partial_fit(DATA.X, DATA.y).t_ == 201 + 200
    assert (model.coef_ != before).any()


def test_several_classes_of_any_kind_are_trained_in_one_pass_each_as_alone():
    names = np.array(["b", "a", "c"])[np.arange(200) % 3]
    names[:50] = np.where(names[:50] == "c", "a", names[:50])  # a part that lacks a class
    X, y = blocks(y=names)
    model = fitted(X, y, class_weight={"a": 1, "b": 2, "c": 1})
    assert model.coef_.shape == (3, 20)
    assert set(model.predict(DATA.X)) <= {"a", "b", "c"}
    unweighted = fitted(X, y)
    for k, name in enumerate("abc"):
        alone = fitted(X, [np.where(part == name, 1, -1) for part in y])
        assert alone.coef_.tobytes() == unweighted.coef_[k].tobytes()


def test_balanced_classes_are_those_of_all_parts():
    X, y = blocks(y=np.where(np.arange(200) < 60, 1, -1))
    weights = {1: 200 / (2 * 60), -1: 200 / (2 * 140)}
    assert bits(fitted(X, y, class_weight="balanced")) == bits(fitted(X, y, class_weight=weights))
    assert bits(fitted(X, y, class_weight="balanced")) != bits(fitted(X, y, sampling="iid"))


@pytest.mark.parametrize("cuts", [(0, 1000, 4200), (0, 1050, 2100, 3150, 4200)])
def test_epochs_on_parts_are_worth_those_of_one_machine_divided_by_the_parts(cuts):
    X, y, _ = load_tweets()
    parts, epochs = len(cuts) - 1, 20
    model = fitted(*blocks(X, y, cuts), of=CASGDRegressor, n_epochs=epochs, alpha=1e-3)
    alone = whole.CASGDRegressor(random_state=0, n_epochs=epochs // parts, alpha=1e-3).fit(X, y)
    assert model.score(X, y) == pytest.approx(alone.score(X, y), abs=0.01)
    twice = whole.CASGDRegressor(random_state=0, n_epochs=2 * epochs // parts, alpha=1e-3).fit(X, y)
    assert model.score(X, y) < twice.score(X, y) - 0.01
    assert model._run.t0 == pytest.approx(safe_t0(Problem(X, y, "squared", 1e-3), True), rel=1e-12)


@pytest.mark.parametrize(
    ("rows", "options", "named"),
    [
        (blocks(), {"sampling": "cyclic"}, "sampling must be one that draws, for parts of unequal"),
        (blocks(), {"warm_start": True}, "warm_start must be False for rows in parts"),
        (blocks(), {"n_jobs": 2}, "n_jobs must be None for rows in parts"),
        (blocks(), {"alpha": 0}, "alpha must be"),
        (blocks(), {"class_weight": {-1: 2**25, 1: 1}}, "must add up to at most"),
        ((DATA.X, DATA.y), {}, "X must be a Dask array, a list of blocks or a list of files"),
        ((["no-such.svm"], DATA.y), {}, "y must be None for files"),
        ((blocks()[0], blocks()[1][:2]), {}, "y must have a block for each of the 3 blocks of X; got 2"),
        ((blocks()[0], [DATA.y] * 3), {}, r"y in part \d must have shape \(\d+,\)"),
        (([DATA.X * np.nan], [DATA.y]), {}, "X in part 0 must"),
        (([DATA.X], [np.ones(200)]), {}, "one class only"),
        ((da.ones((4, 4), chunks=(2, 2)), da.ones(4, chunks=2)), {}, r"one chunk; got 2\. Use X\.rechunk"),
        (([sp.csr_array((0, 20))], [np.array([])]), {}, "X must have at least one row"),
    ],
)
def test_rows_or_parameters_that_cannot_be_used_are_refused_by_name(rows, options, named):
    with pytest.raises((ValueError, TypeError), match=named):
        fitted(*rows, **options)


def test_overflow_names_the_step_and_the_cure():
    with pytest.raises(FloatingPointError, match="overflowed float64 by step"):
        fitted(*blocks(X=DATA.X * 1e6), of=CASGDRegressor, t0=0, alpha=1e-8)


def test_ctrl_c_leaves_the_last_whole_epoch(tmp_path):
    program = """
        import numpy as np
        from efficient.distributed import CASGDClassifier
        from reference.datasets import make_generic
        data = make_generic(200, 20, 5, seed=1)
        model = CASGDClassifier(random_state=0, n_epochs=10**6, callback=lambda t, model: print(t, flush=True))
        try:
            model.fit([data.X[:100], data.X[100:]], [data.y[:100], data.y[100:]])
        except KeyboardInterrupt:
            print("stopped", model.t_ % 100, model.n_iter_ == model.t_ // 100, np.isfinite(model.coef_).all())
    """
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "100\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[0].splitlines()[-1] == "stopped 0 True True"


def test_without_dask_the_extra_is_named():
    program = "import sys; sys.modules['distributed'] = None; import efficient.distributed"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": str(ROOT)}
    )
    assert done.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: efficient.distributed needs distributed: pip install -e '.[dask]' in a clone"
    )


@pytest.mark.nightly
def test_searches_of_scikit_learn_run_on_dask_with_the_same_scores():
    from distributed import Client, LocalCluster

    def searched():
        alphas = {"alpha": [1e-4, 1e-3, 1e-2]}
        return GridSearchCV(whole.CASGDClassifier(random_state=0, n_epochs=3), alphas, cv=3).fit(DATA.X, DATA.y)

    alone, options = searched(), {"threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1", "silence_logs": 60}
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster), joblib.parallel_config(backend="dask"):
        found = searched()
    assert (found.cv_results_["mean_test_score"] == alone.cv_results_["mean_test_score"]).all()
