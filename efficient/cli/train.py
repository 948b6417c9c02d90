"""Train a model on a file: a table of the epochs, checkpoints, and a model file in the end."""

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import scipy.sparse as sp

from reference import LOSSES, Problem
from reference.rows import lent

from ..kernels.blocks import progress_bar
from ..reading.examples import Examples, check_memory, read_examples
from ..runs.run import Run
from ..training import epochs
from ..training.classes import count_models, find_classes
from ..training.metrics import evaluate, quality
from ..training.models import begin, make_problems, scores
from ..training.settings import Settings
from ..training.splits import hold_out
from .checkpoint import Checkpoint
from .convert import converted
from .features import fit_transform_to
from .model_file import Model, rows_digest

SECONDS_BETWEEN_CHECKPOINTS = 30.0
"""Interval within an epoch that takes longer."""

SETTINGS = (*Settings._fields, "order", "seed", "hold_out", "transform", "zero_based")
"""Options that a training depends on, besides its length: to resume from a checkpoint they must be the same."""


def train(options: argparse.Namespace) -> None:
    """Train on a file of examples, print a line for each epoch, and write the model."""
    if options.out_of_core is not None:
        options.examples = converted(options.examples, options.out_of_core, options.zero_based)
    examples = read_examples(options.examples, options.zero_based, options.labels)
    loss = LOSSES[options.loss]
    classes = find_classes(examples.y, loss, examples.name)
    check_memory(examples, count_models(classes))
    summary, held = row_summary(examples.X, classes), None
    if options.hold_out:
        examples, held = _apart(
            examples, hold_out(examples.X, options.hold_out, options.seed, examples.y if loss.binary else None)
        )
        find_classes(examples.y, loss, examples.name)
        summary += f"; {len(held.y)} rows held out"
    transform = fit_transform_to(examples.X, options.transform)
    X, y = transform.apply(examples.X), examples.y
    held_X = transform.apply(held.X) if held else None
    problems = make_problems(lent(X), y, classes, loss, [options.lam])
    settings = {name: getattr(options, name) for name in SETTINGS}
    checkpoint = Checkpoint(options.checkpoint, settings) if options.checkpoint else None
    run = _resumed(checkpoint, problems, options) or begin(problems, options.settings)
    print(summary, flush=True)

    def describe() -> dict[str, float]:
        described = evaluate(run, X, y, classes)
        if held:
            of_held = quality(loss, scores(run.predictors(), held_X), held.y, classes)
            described |= {f"held-out {name}": value for name, value in of_held.items()}
        return described

    run_epochs(run, schedule(options, len(y), run.t), checkpoint, describe)
    about = settings | {"epochs": options.epochs, "rows": len(y), "steps": run.t, "stopping": "epochs"}
    about["digest"] = rows_digest(X, y)
    Model(run.predictors(), loss, classes, transform, options.zero_based, about).save(options.output)
    print(f"wrote {options.output}")


def schedule(options: argparse.Namespace, m: int, done: int = 0) -> epochs.Schedule:
    """Draw all epochs of m rows, of which some steps are done."""
    return epochs.Schedule(m, options.epochs * m, m, np.random.default_rng(options.seed), options.order, done=done)


def row_summary(X: sp.csr_array, classes: np.ndarray | None) -> str:
    """Describe the rows in a line."""
    m, n = X.shape
    kinds = "numbers to predict" if classes is None else f"{len(classes)} classes"
    return f"{m} rows, {n} columns, {X.nnz / m:.1f} entries a row, {kinds}"


def _apart(examples: Examples, held: np.ndarray) -> tuple[Examples, Examples]:
    """Split off the examples that are held out."""
    name, X, y = examples
    return Examples(f"{name} without the rows held out", X[~held], y[~held]), Examples(name, X[held], y[held])


def _resumed(checkpoint: Checkpoint | None, problems: list[Problem], options: argparse.Namespace) -> Run | None:
    """Resume the run of the checkpoint, if there is one."""
    run = checkpoint.load(problems, options.settings.averaging_weights) if checkpoint else None
    if run is None:
        return None
    total = options.epochs * run.problem.m
    if run.t > total:
        raise ValueError(f"--epochs must cover step {run.t} of {options.checkpoint!r}; got {options.epochs}, {total} steps")
    print(f"casgd: resuming from step {run.t} of {options.checkpoint!r}", file=sys.stderr)
    return run


def run_epochs(
    run: Run, schedule: epochs.Schedule, checkpoint: Checkpoint | None, describe: Callable[[], dict[str, float]]
) -> None:
    """Run to the last epoch, from any step on; print what `describe` measures after each, and keep the checkpoint."""
    saved = time.monotonic()
    with progress_bar(run.t, schedule.steps, None) as bar:
        table = epochs.Table(None if bar is None else partial(bar.write, file=sys.stdout))

        def save() -> None:
            nonlocal saved
            if checkpoint is not None:
                checkpoint.save(run)
                saved = time.monotonic()

        def after(epoch: int, seconds: float) -> None:
            save()
            table.line(epoch, describe(), seconds)

        def between(t: int, _run: Run) -> None:
            if bar is not None:
                bar.update(t - bar.n)
            if time.monotonic() - saved > SECONDS_BETWEEN_CHECKPOINTS:
                save()

        def interrupted() -> None:
            save()
            left = "the same command resumes" if checkpoint else "nothing was written: --checkpoint FILE would keep the state"
            raise KeyboardInterrupt(f"at step {run.t} of {schedule.steps}; {left}")

        epochs.train(run, schedule, after=after, between=between, interrupted=interrupted)
