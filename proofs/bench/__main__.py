"""Time the loops on this machine: `python -m proofs.bench`."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence

from threadpoolctl import threadpool_limits
from tqdm import tqdm

from efficient.runs.files import check_writable, write_whole
from efficient.runs.terminal import print_any_letter
from reference import LOSSES

from . import QUICK_REPEATS, QUICK_ROUNDS, QUICK_SETS, SETS, __doc__, contest, new_results, synthetic, tables, threads
from .contestants import user_problem
from .files import QUICK_SIZE, SIZE, end_to_end
from .gaps import QUICK_CASES, time_to_gaps
from .measure import first_calls
from .scaling import QUICK_SWEEPS, SWEEPS, scale

TABLES = ("loops", "threads", "files", "gaps", "parts")
"""Loops by the stored entry and on two threads, programs from text to a model, solvers by the time to a gap, rows in parts."""


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line; everything that is wrong with it ends the program here, before anything is measured."""
    parser = argparse.ArgumentParser(prog="python -m proofs.bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller and less exact, in a minute")
    parser.add_argument("--scaling", action="store_true", help="time against T, k and n instead, beside counted entries")
    parser.add_argument("--only", choices=TABLES, help="one of the tables; all by default")
    parser.add_argument("--sets", metavar=",".join(SETS), help="which of the synthetic data sets; all by default")
    parser.add_argument("--data", metavar="FILE.svm", help="an svmlight file (columns from 1) instead of them")
    parser.add_argument("--loss", choices=sorted(LOSSES), help="with --data: the loss")
    parser.add_argument("--lam", type=float, help="with --data: the regularisation λ > 0")
    parser.add_argument("--json", metavar="FILE", help="write the results to FILE as well, machine-readable")
    parser.add_argument("--progress", action=argparse.BooleanOptionalAction, help="show progress (default: at a terminal)")
    options = parser.parse_args(arguments)
    if options.data is not None and (options.loss is None or options.lam is None):
        parser.error("--data needs --loss and --lam")
    if options.data is None and (options.loss is not None or options.lam is not None):
        parser.error("--loss and --lam go with --data")
    chosen = [name for name in ("scaling", "only", "sets", "data") if getattr(options, name)]
    if chosen == ["only", "sets"] and options.only == "loops":
        chosen = ["sets"]
    if len(chosen) > 1:
        parser.error(f"--{chosen[0]} and --{chosen[1]} do not go together")
    for name in options.sets.split(",") if options.sets else ():
        if name not in SETS:
            parser.error(f"--sets must name some of {', '.join(SETS)}; got {name!r}")
    if options.json:
        try:
            check_writable(options.json)
        except OSError as error:
            parser.error(f"--json must be a file that can be written; got {options.json!r}: {error.strerror}")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; the exit status says whether it came to an end, never how fast anything was."""
    print_any_letter()
    options = parse(arguments)
    results = new_results("scaling" if options.scaling else "speed")
    hidden = None if options.progress is None else not options.progress
    try:
        # one thread, as the loops have
        with threadpool_limits(1), tqdm(unit="run", disable=hidden, leave=False) as bar:

            def tell(name: str) -> None:
                bar.set_postfix_str(name)
                bar.update()

            for line in _lines(options, results, tell):
                bar.write(line, file=sys.stdout)
    except (ValueError, TypeError, OSError, FloatingPointError, MemoryError) as error:
        if options.data is None:
            raise
        print(f"proofs.bench: {options.data}: {error or type(error).__name__}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("proofs.bench: interrupted; nothing was written", file=sys.stderr)
        return 130
    if options.json:
        text = json.dumps(results, ensure_ascii=False, indent=1)
        write_whole(options.json, lambda file: file.write(text.encode()))
    return 0


def _lines(options: argparse.Namespace, results: dict, tell: Callable[[str], None]) -> Iterable[str]:
    """Measure what is asked for; yield the lines to print."""
    if options.scaling:
        yield from _scaling(options, results, tell)
        return
    wanted = ("loops",) if options.data is not None or options.sets else TABLES if options.only is None else (options.only,)
    for table in wanted:
        yield from {"loops": _speed, "threads": _threads, "files": _files, "gaps": _gaps, "parts": _parts}[table](
            options, results, tell
        )


def _threads(options: argparse.Namespace, results: dict, tell: Callable[[str], None]) -> Iterable[str]:
    """Spread models over threads; yield the lines to print."""
    sizes, rounds = (QUICK_SETS, 3) if options.quick else ({name: SETS[name] for name in ("S", "M")}, 9)
    results["threads"] = {name: list(threads.one_against_two(size, rounds, tell)) for name, size in sizes.items()}
    yield from threads.lines(results["threads"])


def _files(options: argparse.Namespace, results: dict, tell: Callable[[str], None]) -> Iterable[str]:
    """Run the programs; yield the lines to print."""
    results["file"] = QUICK_SIZE if options.quick else SIZE
    results["files"] = list(end_to_end(1 if options.quick else 5, results["file"], tell))
    results["file_targets"] = list(tables.judged_files(results["files"]))
    yield from tables.of_files(results)


def _gaps(options: argparse.Namespace, results: dict, tell: Callable[[str], None]) -> Iterable[str]:
    """Time the solvers; yield the lines to print."""
    results["gaps"] = list(time_to_gaps(1, QUICK_CASES, tell) if options.quick else time_to_gaps(3, tell=tell))
    yield from tables.of_gaps(results)


def _parts(options: argparse.Namespace, results: dict, tell: Callable[[str], None]) -> Iterable[str]:
    """Train on rows in parts; yield the lines to print."""
    try:
        from . import parts
    except ModuleNotFoundError as error:
        yield f"Rows in parts: not run, {error.name} is missing: pip install -e '.[dask]' in a clone"
        return
    results["parts"] = parts.measure(options.quick, tell)
    yield from parts.lines(results["parts"])


def _speed(options: argparse.Namespace, results: dict, tell: Callable[[str], None]) -> Iterable[str]:
    """Measure the speeds; yield the lines to print."""
    if options.data is not None:
        problem = user_problem(options.data, options.loss, options.lam)
        problems = {os.path.basename(options.data): lambda: problem}
    elif options.sets:
        problems = synthetic({name: SETS[name] for name in options.sets.split(",")})
    else:
        problems = synthetic(QUICK_SETS if options.quick else SETS)
    for timings in contest(results, problems, QUICK_ROUNDS if options.quick else 9, tell):
        if timings[0]["order"] == "sequential":
            yield tables.of_set(results["sets"][-1])
        yield from tables.of_timings(timings)
    tell("first calls in a fresh Python")
    results["start"] = first_calls(1, ["asgd"]) if options.quick else first_calls(3, ["asgd", "casgd"])
    yield from (tables.of_set(entry) for entry in results["sets"] if entry["why"])
    for table in (tables.remarks, tables.of_memory, tables.of_start, tables.of_targets):
        yield from table(results)


def _scaling(options: argparse.Namespace, results: dict, tell: Callable[[str], None]) -> Iterable[str]:
    """Measure the scaling; yield the lines to print."""
    results |= scale(QUICK_SWEEPS, QUICK_REPEATS, tell) if options.quick else scale(SWEEPS, 7, tell)
    yield from tables.of_scaling(results)


if __name__ == "__main__":
    sys.exit(main())
