"""casgd sweep: cross-validation of many values of λ at once, in one pass over the rows for each fold."""

import argparse

import numpy as np

from reference import LOSSES

from ..kernels.blocks import progress_bar
from ..training.classes import count_models
from ..training.metrics import quality, shown_quality
from ..training.models import begin, scores, state_problems
from ..training.splits import folds
from .examples import check_memory, read_examples
from .features import fit_transform_to
from .labels import find_classes
from .learning import epochs_of, row_summary


def sweep(options: argparse.Namespace) -> None:
    """Print the quality on the rows held out, for each λ, and which λ is the best."""
    examples = read_examples(options.examples, options.zero_based, options.labels)
    X, y, loss = examples.X, examples.y, LOSSES[options.loss]
    classes = find_classes(y, loss, examples.name)
    models = count_models(classes)
    check_memory(examples, models * len(options.lam))
    fold = folds(X, options.folds, options.seed)
    for k in range(options.folds):
        find_classes(y[fold != k], loss, f"{examples.name} without fold {k + 1}")
    print(f"{row_summary(X, classes)}; {options.folds} folds", flush=True)
    measured: list[tuple[float, list[dict[str, float]]]] = [(lam, []) for lam in options.lam]
    total, done = options.epochs * (options.folds - 1) * len(y), 0
    with progress_bar(0, total, None) as bar:
        for k in range(options.folds):
            rest = fold != k
            transform = fit_transform_to(X[rest], options.transform)
            problems = state_problems(transform.apply(X[rest]), y[rest], classes, options.loss, options.lam)
            states = begin(problems, options.algorithm, options.average, options.t0)
            for indices in epochs_of(states.problem.m, options):
                show = None if bar is None else lambda t, _, done=done: bar.update(done + t - bar.n)
                states.run(indices, callback=show, progress=False)
            done += states.t
            predictors, held = states.predictors(), transform.apply(X[~rest])
            for i, (_, of_lam) in enumerate(measured):
                with_lam = predictors[i * models : (i + 1) * models]
                of_lam.append(quality(loss, scores(with_lam, held), y[~rest], classes))
    names = list(of_lam[0])  # the same for each lam and fold
    print("  ".join([f"{'lam':>10}", *(f"{name:>11}  {'std. error':>10}" for name in names)]))
    means = []
    for lam, of_lam in measured:
        values = np.array([[fold[name] for name in names] for fold in of_lam])
        means.append(dict(zip(names, values.mean(axis=0), strict=True)))
        errors = values.std(axis=0, ddof=1) / np.sqrt(options.folds)
        cells = (f"{shown_quality(means[-1][name]):>11}  {shown_quality(e):>10}" for name, e in zip(names, errors, strict=True))
        print("  ".join([f"{lam:10g}", *cells]))
    criterion = "loss" if classes is None else "error"
    best = min(range(len(means)), key=lambda i: (means[i][criterion], means[i]["loss"]))
    print(f"best lam {options.lam[best]:g}, by the lowest {criterion}")
