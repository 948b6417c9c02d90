"""Fill the ledger and print it, section by section of the paper. The exit status is 0 only if all is as expected."""

import argparse
import ast
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from threadpoolctl import threadpool_limits
from tqdm import tqdm

from efficient.runs.files import check_writable, write_whole
from efficient.runs.signals import Stop, stop_as_ctrl_c
from efficient.runs.terminal import print_any_letter
from reference import LOSSES

from .board import board, of_section
from .data import user_case
from .ledger import Entry, Job, fill, summary, to_json
from .paper import ARXIV, ERRATA, LABELS, labels_named
from .rocq.prover import CURE, coqc

QUICK = "Left out by --quick"


@cache
def programs() -> dict[str, str]:
    """Find the other programs, each with the first sentence of its docstring, without importing them."""
    here = Path(__file__).parent
    files = {file.parent.name: file for file in here.glob("*/__main__.py")} | {"slips": here / "slips.py"}
    said = {name: ast.get_docstring(ast.parse(file.read_text("utf8"))) or "" for name, file in files.items()}
    return {name: said[name].splitlines()[0].split(". ")[0].split(": `")[0].rstrip(".") for name in sorted(said)}


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    others = "\n".join(f"  {name:<12} {said}" for name, said in programs().items())
    parser = argparse.ArgumentParser(
        prog="python -m proofs",
        description="Show that the sparse algorithms are the dense ones: evidence by section of the paper.",
        epilog="With --data, the equivalence and invariance checks run on your own rows.\n\n"
        f"other evidence, python -m proofs.NAME:\n{others}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--only", metavar="NAME", action="append", help='only this statement, in full: "Lemma 1", "eq. 4", cost, E1 …'
    )
    parser.add_argument("--list", action="store_true", help="list the names and labels that --only takes")
    parser.add_argument(
        "--quick", action="store_true", help="in 20 seconds: without Rocq, measurements and the larger data set"
    )
    parser.add_argument("--verbose", action="store_true", help="print every entry")
    parser.add_argument("--json", metavar="FILE", help="write the ledger to FILE as well, machine-readable")
    parser.add_argument("--data", metavar="FILE.svm", help="an svmlight file (columns from 1), in place of the two real sets")
    parser.add_argument("--loss", choices=sorted(LOSSES), help="with --data: the loss")
    parser.add_argument("--lam", type=float, help="with --data: the regularisation λ > 0")
    parser.add_argument("--progress", action=argparse.BooleanOptionalAction, help="show progress (default: at a terminal)")
    options = parser.parse_args(arguments)
    if options.json:
        try:
            check_writable(options.json)
        except OSError as error:
            parser.error(f"--json must be a file that can be written; got {options.json!r}: {error.strerror}")
    if options.data is not None and (options.loss is None or options.lam is None):
        parser.error("--data needs --loss and --lam")
    if options.data is None and (options.loss is not None or options.lam is not None):
        parser.error("--loss and --lam go with --data")
    if options.data is not None and options.quick:
        parser.error("--quick and --data do not go together")
    try:
        options.labels = None if options.only is None else {label for name in options.only for label in labels_named(name)}
    except ValueError as error:
        parser.error(f"--only: {error}")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    print_any_letter()
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["report"]:
        from .report.__main__ import main as report

        return report(arguments[1:])
    options = parse(arguments)
    try:
        if options.list:
            _print(f"{facts.printed or label:<13}{label:<24}{facts.words}" for label, facts in LABELS.items())
            return 0
        with stop_as_ctrl_c() as stop:
            return _proved(options, stop)
    except BrokenPipeError:  # the reader closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def _proved(options: argparse.Namespace, stop: Stop) -> int:
    """Fill the ledger and print it; return the exit status."""
    entries: list[Entry] = []
    try:
        work = jobs(options)  # before the announcement, as a package may be missing
        _print(announcement(options))
        # one thread: the dot products of the dense side are too short to share out, and two threads that wait for each
        # other on a busy machine take twenty times as long
        with threadpool_limits(1):
            for section, found in fill(work, options.labels, options.progress):
                entries += found
                _print(of_section(section, found, options.verbose or options.data is not None or options.only is not None))
    except BrokenPipeError:
        raise
    except ModuleNotFoundError as error:
        print(f"proofs needs {error.name}: pip install -e '.[proofs]' in a clone", file=sys.stderr)
        return 1
    except (ValueError, TypeError, OSError, FloatingPointError, MemoryError) as error:
        if options.data is None:
            raise
        print(f"proofs: {options.data}: {error or type(error).__name__}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        _print(conclusion(entries, options))
        print("proofs: interrupted; the ledger above is not complete", file=sys.stderr)
        return stop.status
    if not entries:
        print(f"proofs: there is no claim {' or '.join(options.only)!r} about a file of yours", file=sys.stderr)
        return 2
    _print(conclusion(entries, options))
    if options.json:
        write_whole(options.json, lambda file: file.write(to_json(entries).encode()))
    return 0 if all(entry.as_expected for entry in entries) else 1


def announcement(options: argparse.Namespace) -> list[str]:
    """Say at once what will be run."""
    if options.data is not None:
        return [f"Equivalence and invariance on {options.data}, {options.loss} loss, λ = {options.lam:g}:"]
    if options.labels is not None:
        return [f"Evidence for {', '.join(label for label in LABELS if label in options.labels)} of {ARXIV}:"]
    time = "20 seconds" if options.quick else "a minute"
    return [
        f"Evidence for {len(LABELS) - len(ERRATA)} statements of {ARXIV} and {len(ERRATA)} errata: about {time} on two cores.",
        "A section is printed as soon as it is done, at the end a board. --verbose prints every entry.",
        "A mutant is a copy of a formula or program with one token changed, which the evidence must reject.",
    ]


def jobs(options: argparse.Namespace) -> list[Job]:
    """List the work that the options ask for."""
    from .plan import plan  # with all provers

    return plan(None if options.data is None else user_case(options.data, options.loss, options.lam), options.quick)


def conclusion(entries: list[Entry], options: argparse.Namespace) -> Iterator[str]:
    """Yield the board, if it is of the whole paper, and the sums."""
    if options.data is None and options.labels is None and entries:
        not_run = {"kernel": f"Rocq is not installed: {CURE}"} if coqc() is None else {}
        yield ""
        yield from board(entries, {"kernel": QUICK, "measured": QUICK} if options.quick else not_run)
    yield from summary(entries)


def _print(lines: Iterable[str]) -> None:
    """Print lines above the progress bar, at once even into a pipe."""
    tqdm.write("\n".join(lines), file=sys.stdout)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
