"""Cross-validate many values of λ at once, in one pass over the rows for each fold."""

import argparse
import shlex
import threading
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np

from reference import LOSSES, Loss

from ..kernels.blocks import progress_bar
from ..reading.examples import STANDARD_INPUT, check_memory, read_examples
from ..runs.run import Run
from ..training import epochs
from ..training.classes import count_models, find_classes
from ..training.metrics import quality, shown_quality
from ..training.models import begin, make_problems, scores
from ..training.splits import folds
from .features import fit_transform_to
from .train import row_summary, schedule

PAUSE = 0.1
"""Seconds between two looks at the folds that are in work."""


class Parts(NamedTuple):
    """Rows to train on and rows held out, with their labels; the classes, and the loss."""

    X: Any
    y: np.ndarray
    held_X: Any
    held_y: np.ndarray
    classes: np.ndarray | None
    loss: Loss


def sweep(options: argparse.Namespace) -> None:
    """Print the quality on the rows held out, for each λ, the best λ, and the command that trains with it.

    A value of λ whose iterates overflow in a fold is out; the error is raised if all are. Folds are trained in as many threads
    as wished: the loops run beside each other, and what is printed is the same.
    """
    examples = read_examples(options.examples, options.zero_based, options.labels)
    X, y, loss = examples.X, examples.y, LOSSES[options.loss]
    classes = find_classes(y, loss, examples.name)
    models = count_models(classes)
    jobs = min(options.jobs, options.folds)
    check_memory(examples, models * len(options.lam) * jobs)
    fold = folds(X, options.folds, options.seed, y if loss.binary else None)
    for k in range(options.folds):
        find_classes(y[fold != k], loss, f"{examples.name} without fold {k + 1}")
    print(f"{row_summary(X, classes)}; {options.folds} folds", flush=True)
    stop, done = threading.Event(), [0] * options.folds

    def of_fold(k: int) -> dict[float, Any]:
        def between(t: int, _run: Run) -> None:
            done[k] = max(done[k], t)
            if stop.is_set():
                raise KeyboardInterrupt

        rest = fold != k
        transform = fit_transform_to(X[rest], options.transform)
        parts = Parts(transform.apply(X[rest]), y[rest], transform.apply(X[~rest]), y[~rest], classes, loss)
        return _measure(parts, list(dict.fromkeys(options.lam)), options, between)

    with progress_bar(0, options.epochs * (options.folds - 1) * len(y), None) as bar, ThreadPoolExecutor(jobs) as pool:
        folded = [pool.submit(of_fold, k) for k in range(options.folds)]
        pending: set[Future] = set(folded)
        try:
            while pending:
                finished, pending = wait(pending, PAUSE, FIRST_EXCEPTION)
                for each in finished:
                    each.result()  # raises what the fold raised
                if bar is not None:
                    bar.update(sum(done) - bar.n)
        finally:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
    found = [each.result() for each in folded]
    failed = {lam: error for of_lams in found for lam, error in of_lams.items() if isinstance(error, FloatingPointError)}
    if failed.keys() >= set(options.lam):
        raise failed[max(failed)]
    _report(options, {lam: [of_lams[lam] for of_lams in found] for lam in options.lam if lam not in failed}, failed)


def _measure(parts: Parts, lams: list[float], options: argparse.Namespace, show) -> dict[float, Any]:
    """Measure the quality for each λ, all in one pass; where iterates overflow, each alone, and give the error of those."""
    try:
        run = begin(make_problems(parts.X, parts.y, parts.classes, parts.loss, lams), options.settings)
        epochs.train(run, schedule(options, run.problem.m), between=show)
        of_lams = np.split(scores(run.predictors(), parts.held_X), len(lams), axis=1)
        return {
            lam: quality(parts.loss, of_lam, parts.held_y, parts.classes) for lam, of_lam in zip(lams, of_lams, strict=True)
        }
    except FloatingPointError as error:
        if len(lams) == 1:
            return {lams[0]: error}
        return {lam: found for each in lams for lam, found in _measure(parts, [each], options, show).items()}


def _report(options: argparse.Namespace, measured: dict[float, list[dict[str, float]]], failed) -> None:
    """Print a line for each λ, and what follows from them."""
    names = list(next(iter(measured.values()))[0])  # the same for each lam and fold
    print("  ".join([f"{'lam':>10}", *(f"{name:>11}  {'std. error':>10}" for name in names)]))
    means: dict[float, dict[str, float]] = {}
    errors: dict[float, dict[str, float]] = {}
    for lam in options.lam:
        if lam in failed:
            print(f"{lam:10g}  overflows")
            continue
        values = np.array([[of_fold[name] for name in names] for of_fold in measured[lam]])
        means[lam] = dict(zip(names, values.mean(axis=0), strict=True))
        errors[lam] = dict(zip(names, values.std(axis=0, ddof=1) / np.sqrt(options.folds), strict=True))
        cells = (f"{shown_quality(means[lam][name]):>11}  {shown_quality(errors[lam][name]):>10}" for name in names)
        print("  ".join([f"{lam:10g}", *cells]))
    criterion = "error" if "error" in names else "loss"
    best = min(means, key=lambda lam: (means[lam][criterion], means[lam]["loss"]))
    print(f"best lam {best:g}, by the lowest {criterion}")
    bound = means[best][criterion] + errors[best][criterion]
    if near := [lam for lam in means if lam != best and means[lam][criterion] <= bound]:
        print(f"within a standard error of it: {', '.join(f'{lam:g}' for lam in near)}")
    if len(means) > 1 and best in (min(means), max(means)):
        end, others = ("least", "smaller") if best == min(means) else ("greatest", "greater")
        print(f"which is the {end} that was tried: try {others} ones too")
    print(f"casgd {shlex.join(_training(options, best))}")


def _training(options: argparse.Namespace, lam: float) -> list[str]:
    """Give the arguments of `casgd train` for this λ, and all else as it was given here."""
    of_sweep = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for name in ("--lam", "--folds", "--jobs"):
        of_sweep.add_argument(name)
    others = of_sweep.parse_known_args(options.arguments[1:])[1]
    stem = "stdin" if options.examples == STANDARD_INPUT else PurePath(options.examples).name.partition(".")[0]
    return ["train", *others, "--lam", repr(lam), "-o", f"{stem}.model"]
