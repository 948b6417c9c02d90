"""Cross-validate many values of λ at once, in one pass over the rows for each fold."""

import argparse

import numpy as np

from reference import LOSSES

from ..kernels.blocks import progress_bar
from ..training import epochs
from ..training.classes import count_models, find_classes
from ..training.metrics import quality, shown_quality
from ..training.models import begin, make_problems, scores
from ..training.splits import folds
from .examples import check_memory, read_examples
from .features import fit_transform_to
from .train import row_summary, schedule


def sweep(options: argparse.Namespace) -> None:
    """Print the quality on the rows held out, for each λ, and the best λ."""
    examples = read_examples(options.examples, options.zero_based, options.labels)
    X, y, loss = examples.X, examples.y, LOSSES[options.loss]
    classes = find_classes(y, loss, examples.name)
    models = count_models(classes)
    check_memory(examples, models * len(options.lam))
    fold = folds(X, options.folds, options.seed, y if loss.binary else None)
    for k in range(options.folds):
        find_classes(y[fold != k], loss, f"{examples.name} without fold {k + 1}")
    print(f"{row_summary(X, classes)}; {options.folds} folds", flush=True)
    measured: list[list[dict[str, float]]] = [[] for _ in options.lam]
    total, done = options.epochs * (options.folds - 1) * len(y), 0
    with progress_bar(0, total, None) as bar:
        for k in range(options.folds):
            rest = fold != k
            transform = fit_transform_to(X[rest], options.transform)
            run = begin(make_problems(transform.apply(X[rest]), y[rest], classes, loss, options.lam), options.settings)
            show = None if bar is None else lambda t, _, done=done: bar.update(done + t - bar.n)
            epochs.train(run, schedule(options, run.problem.m), between=show)
            done += run.t
            held_scores = scores(run.predictors(), transform.apply(X[~rest])).reshape(-1, len(options.lam), models)
            for i, of_lam in enumerate(measured):
                of_lam.append(quality(loss, held_scores[:, i], y[~rest], classes))
    names = list(measured[0][0])  # the same for each lam and fold
    print("  ".join([f"{'lam':>10}", *(f"{name:>11}  {'std. error':>10}" for name in names)]))
    means = []
    for lam, of_lam in zip(options.lam, measured, strict=True):
        values = np.array([[of_fold[name] for name in names] for of_fold in of_lam])
        means.append(dict(zip(names, values.mean(axis=0), strict=True)))
        errors = values.std(axis=0, ddof=1) / np.sqrt(options.folds)
        cells = (f"{shown_quality(means[-1][name]):>11}  {shown_quality(e):>10}" for name, e in zip(names, errors, strict=True))
        print("  ".join([f"{lam:10g}", *cells]))
    criterion = "loss" if classes is None else "error"
    best = min(range(len(means)), key=lambda i: (means[i][criterion], means[i]["loss"]))
    print(f"best lam {options.lam[best]:g}, by the lowest {criterion}")
