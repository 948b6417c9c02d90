"""casgd train: an epoch at a time, with a table of how it goes and checkpoints, and a model file in the end."""

import argparse
import sys
import time
from collections.abc import Callable

import numpy as np

from reference import LOSSES, Problem

from ..kernels.blocks import progress_bar
from ..runs.run import Run
from ..training.classes import count_models
from ..training.metrics import quality, shown_quality
from ..training.models import averaging, begin, is_centred, objective, scores, state_problems
from ..training.splits import hold_out
from .checkpoint import Checkpoint
from .examples import Examples, check_memory, read_examples
from .features import fit_transform_to
from .labels import find_classes
from .learning import epochs_of, row_summary
from .model_file import Model

SECONDS_BETWEEN_CHECKPOINTS = 30.0
"""Within an epoch that takes longer."""

SETTINGS = ("loss", "algorithm", "average", "lam", "t0", "order", "seed", "hold_out", "transform", "zero_based")
"""The options that a training depends on, besides its length: to go on with a checkpoint they must be the same."""


def train(options: argparse.Namespace) -> None:
    """Train on a file of examples, print how it goes, and write the model."""
    examples = read_examples(options.examples, options.zero_based, options.labels)
    loss = LOSSES[options.loss]
    classes = find_classes(examples.y, loss, examples.name)
    check_memory(examples, count_models(classes))
    summary, held = row_summary(examples.X, classes), None
    if options.hold_out:
        examples, held = _apart(examples, hold_out(examples.X, options.hold_out, options.seed))
        find_classes(examples.y, loss, examples.name)
        summary += f"; {len(held.y)} rows held out"
    transform = fit_transform_to(examples.X, options.transform)
    X, y = transform.apply(examples.X), examples.y
    held_X = transform.apply(held.X) if held else None
    problems = state_problems(X, y, classes, options.loss, [options.lam])
    settings = {name: getattr(options, name) for name in SETTINGS}
    checkpoint = Checkpoint(options.checkpoint, settings) if options.checkpoint else None
    states = _gone_on_with(checkpoint, problems, options)
    if states is None:
        states = begin(problems, options.algorithm, options.average, options.t0)
    print(summary, flush=True)

    def describe() -> dict[str, float]:
        predictors = states.predictors()
        on_rows, centre = scores(predictors, X), states.problem.xbar if is_centred(options.algorithm) else None
        described = {"objective": objective(problems, predictors, on_rows, centre), **quality(loss, on_rows, y, classes)}
        if held:
            of_held = quality(loss, scores(predictors, held_X), held.y, classes)
            described |= {f"held-out {name}": value for name, value in of_held.items()}
        return described

    run_epochs(states, len(y), options, checkpoint, describe)
    about = settings | {"epochs": options.epochs, "rows": len(y)}
    Model(states.predictors(), loss, classes, transform, options.zero_based, about).save(options.output)
    print(f"wrote {options.output}")


def _apart(examples: Examples, held: np.ndarray) -> tuple[Examples, Examples]:
    """The examples without those that are held out, and these."""
    name, X, y = examples
    return Examples(f"{name} without the rows held out", X[~held], y[~held]), Examples(name, X[held], y[held])


def _gone_on_with(checkpoint: Checkpoint | None, problems: list[Problem], options: argparse.Namespace) -> Run | None:
    """The states of the checkpoint, if there is one."""
    states = checkpoint.load(problems, averaging(options.algorithm, options.average)) if checkpoint else None
    if states is None:
        return None
    total = options.epochs * states.problem.m
    if states.t > total:
        beyond = f"it has come to step {states.t} of {total}"
        raise ValueError(f"{options.checkpoint!r} is beyond --epochs {options.epochs}: {beyond}")
    print(f"casgd: going on from step {states.t} of {options.checkpoint!r}", file=sys.stderr)
    return states


def run_epochs(
    states: Run, m: int, options: argparse.Namespace, checkpoint: Checkpoint | None, describe: Callable[[], dict[str, float]]
) -> None:
    """Run to the last epoch, from wherever the states are; print what `describe` says after each and keep the checkpoint."""
    total = options.epochs * m
    saved, headed = time.monotonic(), False

    with progress_bar(states.t, total, None) as bar:

        def say(line: str) -> None:
            if bar is None:
                print(line, flush=True)
            else:
                bar.write(line, file=sys.stdout)

        def between_blocks(t: int, _states) -> None:
            nonlocal saved
            if bar is not None:
                bar.update(t - bar.n)
            if checkpoint is not None and time.monotonic() - saved > SECONDS_BETWEEN_CHECKPOINTS:
                checkpoint.save(states)
                saved = time.monotonic()

        try:
            for epoch, indices in enumerate(epochs_of(m, options), start=1):
                if states.t >= epoch * m:
                    continue
                began = time.perf_counter()
                left = indices[states.t - epoch * m :]  # counted from the end of the epoch
                states.run(left, callback=between_blocks, progress=False)
                seconds = time.perf_counter() - began
                if checkpoint is not None:
                    checkpoint.save(states)
                    saved = time.monotonic()
                described = describe()
                if not headed:
                    say("  ".join(["epoch", *(f"{name:>14}" for name in described), "seconds"]))
                    headed = True
                values = (f"{shown_quality(value):>{max(14, len(name))}}" for name, value in described.items())
                say("  ".join([f"{epoch:5}", *values, f"{seconds:7.2f}"]))
        except KeyboardInterrupt:
            if checkpoint is None or states.t == 0:
                raise
            checkpoint.save(states)
            raise KeyboardInterrupt(f"at step {states.t} of {total}; the same command goes on from there") from None
