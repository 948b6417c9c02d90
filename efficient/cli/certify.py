"""Certify a model file: how many digits of its weights the exact run of the same training has."""

import argparse
import json

import numpy as np

from ..reading.examples import read_examples, read_rows
from ..runs.certify import Certificate
from ..runs.files import write_whole
from ..runs.state import State
from ..training.classes import shown
from ..training.epochs import Schedule
from ..training.models import begin, make_problems
from ..training.settings import Settings
from ..training.splits import hold_out
from .model_file import Model, load_model, rows_digest

RECORDED = (*Settings._fields, "order", "seed", "hold_out", "epochs", "rows", "steps", "stopping", "digest")
"""Fields of `training` that say what was trained on what; files of version 1 lack some."""


def certify(options: argparse.Namespace) -> None:
    """Repeat a training exactly, and print how near the model comes to it."""
    model = load_model(options.model)
    about = _recorded(options.model, model)
    examples = read_examples(options.examples, model.zero_based, options.labels)
    X, y = examples.X, examples.y
    if about["hold_out"]:
        kept = ~hold_out(X, about["hold_out"], about["seed"], None if model.classes is None else y)
        X, y = X[kept], y[kept]
    X = model.transform.apply(X[:, : model.n])
    if X.shape != (about["rows"], model.n) or rows_digest(X, y) != about["digest"]:
        raise ValueError(
            f"{examples.name!r} must hold the rows and labels that {options.model!r} was trained on; got others. "
            "Give the file of that training"
        )
    rows = None if options.rows is None else model.transformed(read_rows(options.rows, model.zero_based)[1])
    settings = Settings(*(about[name] for name in Settings._fields))
    schedule = Schedule(len(y), about["steps"], len(y), np.random.default_rng(about["seed"]), about["order"])
    indices = np.concatenate([indices for _, _, indices in schedule.portions(by_epoch=False)])
    found: list[Certificate] = []
    problems = make_problems(X, y, model.classes, model.loss, [settings.lam])
    for problem, predictor in zip(problems, model.predictors, strict=True):
        t0 = begin([problem], settings).t0
        state = State(problem, settings.algorithm, t0=t0, averaging_weights=settings.averaging_weights)
        try:
            found.append(state.certify(indices, predictor, rows))
        except (ImportError, ArithmeticError) as error:
            raise ValueError(f"{options.model!r} is not certified: {error}") from None
        label = "" if len(problems) == 1 or model.classes is None else f"Class {shown(model.classes[len(found) - 1])}: "
        print(f"{label}{found[-1]}", flush=True)
    if options.json is not None:
        text = json.dumps({"training": model.training, "models": [each.as_dict() for each in found]}, indent=1)
        write_whole(options.json, lambda file: file.write(text.encode()))


def _recorded(name: str, model: Model) -> dict:
    """Give the recorded training; raises ValueError if it is not complete."""
    if "parts" in model.training:
        raise ValueError(f"{name!r} is a model of parts, which cannot be repeated on one FILE. Train without --workers")
    missing = [field for field in RECORDED if field not in model.training]
    if missing:
        raise ValueError(f"{name!r} must record its training; got no {missing[0]!r}, as in files of version 1. Train it again")
    return model.training
