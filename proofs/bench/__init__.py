"""`python -m proofs.bench`: how fast the loops are on this machine, against a floor, plain code and scikit-learn.

Ratios of times inside one run carry over to other machines, seconds do not. No claim of the paper rests on a clock; its
cost is counted, see `proofs.counted.cost`.
"""

import argparse
import io
import json
import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from efficient.runs.files import write_whole
from reference import LOSSES, Problem

from . import tables
from .footprint import start
from .scaling import QUICK_SWEEPS, SWEEPS, scale
from .sets import QUICK_SETS, SETS, Text, text_problem, user_problem
from .speed import contest, new_results

PICTURES = (".png", ".svg")
QUICK_ROUNDS, QUICK_REPEATS = 5, 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of the bench."""
    parser.add_argument("--quick", action="store_true", help="smaller and less exact, in half a minute")
    parser.add_argument("--scaling", action="store_true", help="time against T, k and n instead, beside counted entries")
    parser.add_argument("--sets", type=_sets, metavar="S,M,L,XL", help="which of the synthetic data sets; all by default")
    parser.add_argument("--data", metavar="FILE.svm", help="an svmlight file (columns from 1) instead of them")
    parser.add_argument("--loss", choices=sorted(LOSSES), help="with --data: the loss")
    parser.add_argument("--lam", type=float, help="with --data: the regularisation λ > 0")
    parser.add_argument("--json", metavar="FILE", help="write the results to FILE as well, machine-readable")
    parser.add_argument("--picture", metavar="FILE", help="draw the results: a .png or .svg file")
    parser.add_argument("--progress", action=argparse.BooleanOptionalAction, help="show progress (default: at a terminal)")
    parser.set_defaults(run=main, error=parser.error)


def _sets(text: str) -> list[str]:
    names = text.split(",")
    unknown = [name for name in names if name not in SETS]
    if unknown:
        raise argparse.ArgumentTypeError(f"there is no set {unknown[0]!r}; the sets are {', '.join(SETS)}")
    return names


def _check(options: argparse.Namespace) -> None:
    """What argparse cannot see by itself, before anything is computed."""
    for name, path in (("--json", options.json), ("--picture", options.picture)):
        if path and not os.path.isdir(os.path.dirname(os.path.abspath(path))):
            options.error(f"{name}: there is no folder for {path}")
    if options.picture and not options.picture.endswith(PICTURES):
        options.error(f"--picture: the name must end in {' or '.join(PICTURES)}; got {options.picture}")
    if options.data is not None and (options.loss is None or options.lam is None):
        options.error("--data needs --loss and --lam")
    if options.data is None and (options.loss is not None or options.lam is not None):
        options.error("--loss and --lam go with --data")
    chosen = [name for name in ("scaling", "sets", "data") if getattr(options, name)]
    if len(chosen) > 1:
        options.error(f"--{chosen[0]} and --{chosen[1]} do not go together")


def main(options: argparse.Namespace) -> int:
    """Measure, print, draw and write; the exit status says whether it came to an end, never how fast anything was."""
    _check(options)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    results = new_results("scaling" if options.scaling else "speed")
    try:
        with (
            threadpool_limits(1),
            tqdm(total=1, unit="run", disable=None if options.progress is None else not options.progress, leave=False) as bar,
        ):
            (_scaling if options.scaling else _speed)(options, results, bar)
    except (ValueError, TypeError, OSError, FloatingPointError, MemoryError) as error:
        if options.data is None:
            raise
        print(f"proofs: {options.data}: {error or type(error).__name__}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("proofs: interrupted; nothing was written", file=sys.stderr)
        return 130
    if options.json:
        _write_json(results, options.json)
    if options.picture:
        _draw(results, options.picture)
    return 0


def _speed(options: argparse.Namespace, results: dict, bar: tqdm) -> None:
    if options.data is not None:
        problem = user_problem(options.data, options.loss, options.lam)
        problems = {os.path.basename(options.data): lambda: problem}
    else:
        sizes = QUICK_SETS if options.quick and not options.sets else {name: SETS[name] for name in options.sets or SETS}
        problems = _synthetic(sizes)
    rounds, first_calls = (
        (QUICK_ROUNDS, partial(start, 1, ["asgd"])) if options.quick else (9, partial(start, 3, ["asgd", "casgd"]))
    )
    for timings in contest(results, problems, rounds, first_calls, *_told(bar)):
        if timings[0]["order"] == "sequential":
            _show(bar, [tables.of_set(results["sets"][-1])])
        _show(bar, tables.of_timings(timings))
    _show(bar, (tables.of_set(entry) for entry in results["sets"] if entry["why"]))
    for table in (tables.remarks, tables.of_memory, tables.of_start, tables.of_targets):
        _show(bar, table(results))


def _scaling(options: argparse.Namespace, results: dict, bar: tqdm) -> None:
    scale(results, QUICK_SWEEPS if options.quick else SWEEPS, QUICK_REPEATS if options.quick else 7, *_told(bar))
    _show(bar, tables.of_scaling(results))


def quick(kind: str, bar: tqdm) -> dict[str, Any]:
    """What `--quick` measures of "speed", but for the first calls in a fresh Python, or of "scaling"; nothing is printed."""
    results = new_results(kind)
    if kind == "scaling":
        scale(results, QUICK_SWEEPS, QUICK_REPEATS, *_told(bar))
    else:
        for _ in contest(results, _synthetic(QUICK_SETS), QUICK_ROUNDS, dict, *_told(bar)):
            pass
    return results


def _synthetic(sizes: Mapping[str, Text]) -> dict[str, Callable[[], Problem]]:
    return {name: partial(text_problem, size) for name, size in sizes.items()}


def _told(bar: tqdm):
    """How the bar is told that so many pieces of work are to come, and that the one of this name begins."""

    def expect(pieces: int) -> None:
        bar.total += pieces

    def tick(name: str) -> None:
        bar.set_postfix_str(name)
        bar.update()

    return expect, tick


def _show(bar: tqdm, lines) -> None:
    for line in lines:
        bar.write(line, file=sys.stdout)


def _write_json(results: dict, path: str) -> None:
    text = json.dumps(results, ensure_ascii=False, indent=1)
    write_whole(path, lambda file: file.write(text.encode()))


def _draw(results: dict, path: str) -> None:
    import matplotlib.pyplot as plt

    from .. import pictures

    plt.switch_backend("agg")
    figure = np.ravel(getattr(pictures, results["kind"])(results))[0].figure
    write_whole(path, lambda file: figure.savefig(file, format=path.rpartition(".")[2], dpi=100))
    plt.close(figure)
