"""Train on several files by the shell, on a cluster of processes of this machine."""

import argparse
import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dask
import numpy as np
from dask.delayed import delayed
from distributed import Client, LocalCluster

from reference import LOSSES, Predictor

from ..cli.convert import converted
from ..cli.features import Transform
from ..cli.model_file import Model
from ..training.settings import DEFAULTS
from .estimators import CASGDClassifier, CASGDRegressor
from .parts import as_parts


def train(options: argparse.Namespace) -> None:
    """Train on the rows of all files, print a line for each epoch, and write the model."""
    for path in options.parts:
        os.stat(path)  # before processes are started
    loss = LOSSES[options.loss]
    given: dict[str, Any] = {
        "loss": options.loss,
        "alpha": options.lam,
        "algorithm": options.algorithm,
        "average": options.average or DEFAULTS.average,
        "t0": options.t0,
        "n_epochs": options.epochs,
        "sampling": options.order,
        "random_state": options.seed,
        "verbose": True,
    }
    model = CASGDClassifier(**given) if loss.binary else CASGDRegressor(**given)
    with workers(options.workers):
        paths = options.parts
        if options.out_of_core is not None:
            paths = dask.compute(*(delayed(_mapped)(path, options.out_of_core, options.zero_based) for path in paths))
        try:
            model.fit_parts(as_parts(paths, zero_based=options.zero_based))
        except KeyboardInterrupt:
            raise KeyboardInterrupt("and no model is written") from None
    classes = model.classes_ if loss.binary else None
    about = {name: getattr(options, name) for name in ("loss", "lam", "algorithm", "average", "t0", "order", "seed", "epochs")}
    about |= {"parts": len(paths), "steps": model.t_}
    predictors = list(map(Predictor, np.atleast_2d(model.coef_), model.intercept_))
    Model(predictors, loss, classes, Transform("none", None), options.zero_based, about).save(options.output)
    print(f"wrote {options.output}")


def _mapped(path: str, folder: str, zero_based: bool) -> str:
    return path if path.endswith(".npz") else converted(path, folder, zero_based)


@contextmanager
def workers(count: int) -> Iterator[None]:
    """Let so many processes of one thread do what Dask is asked meanwhile; Ctrl-C is for this process alone."""
    options = {"threads_per_worker": 1, "processes": True, "host": "127.0.0.1", "dashboard_address": None}
    main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if main else None  # which the processes inherit
    try:
        cluster = LocalCluster(n_workers=count, silence_logs=logging.CRITICAL, **options)
    finally:
        if main:
            signal.signal(signal.SIGINT, before)
    with cluster, Client(cluster):
        yield
