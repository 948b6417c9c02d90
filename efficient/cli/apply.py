"""Predict and evaluate: apply a model file to a file of examples."""

import argparse
import sys

import numpy as np
import scipy.sparse as sp

from ..reading.examples import read_examples, read_rows
from ..runs.files import write_whole
from ..training.classes import decide, shown
from ..training.metrics import quality, shown_quality
from .model_file import Model, load_model


def predict(options: argparse.Namespace) -> None:
    """Write the label or number of each row, a line each, to standard output or a file."""
    model = load_model(options.model)
    name, X = read_rows(options.examples, model.zero_based)
    _note_width(model, name, X)
    scores = model.scores(X)
    columns = [[shown(label) for label in decide(scores, model.classes)]]
    if options.scores:
        columns += [[repr(float(score)) for score in of_model] for of_model in scores.T]
    lines = ["\t".join(cells) + "\n" for cells in zip(*columns, strict=True)]
    if options.output is not None:
        write_whole(options.output, lambda file: file.write("".join(lines).encode()))
        return
    for start in range(0, len(lines), 1000):  # small parts: of a large one, unbuffered, Python would lose what did not fit
        print("".join(lines[start : start + 1000]), end="")


def evaluate(options: argparse.Namespace) -> None:
    """Print the loss and the error, or MSE and R², of a model on a labelled file."""
    model = load_model(options.model)
    name, X, y = read_examples(options.examples, model.zero_based, options.labels)
    _note_width(model, name, X)
    if model.classes is not None and not np.isin(y, model.classes).all():
        unknown = y[~np.isin(y, model.classes)][0]
        known = ", ".join(map(shown, model.classes[:10])) + (", …" if len(model.classes) > 10 else "")
        raise ValueError(f"the labels in {name!r} must be classes of the model, {known}; got {shown(unknown)}")
    scores = model.scores(X)
    print(f"{len(y)} rows")
    for measure, value in quality(model.loss, scores, y, model.classes).items():
        print(f"{measure:6} {shown_quality(value)}")
    if model.classes is not None:
        wrong = decide(scores, model.classes) != y
        for label in np.unique(y):
            print(f"class {shown(label)}: {(y == label).sum()} rows, error {shown_quality(wrong[y == label].mean())}")


def _note_width(model: Model, name: str, X: sp.csr_array) -> None:
    """Note columns unknown in training on standard error."""
    if X.shape[1] > model.n:
        width = f"{name!r} has {X.shape[1]} columns and the model {model.n}"
        print(f"casgd: {width}: columns unknown in training are ignored", file=sys.stderr)
