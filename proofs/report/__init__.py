"""`python -m proofs.report`: the ledger as a page for the browser, with formulas and pictures, that needs nothing but itself.

It computes the whole ledger, unless it is given one, draws the pictures and times the loops, so it takes some minutes.
"""

import argparse
import io
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial

from threadpoolctl import threadpool_limits
from tqdm import tqdm

from efficient.runs.files import write_whole

from ..ledger import Entry, fill, read_json, summary, to_json
from ..paper import LABELS
from ..plan import plan
from . import figures, page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of the report."""
    parser.add_argument("folder", metavar="DIR", help="the folder for index.html and proofs.json; made if there is none")
    parser.add_argument(
        "--ledger", metavar="FILE", help="a ledger that `python -m proofs --json FILE` wrote, instead of computing it"
    )
    parser.add_argument("--only", metavar="LABEL", help="only the claims with this label", choices=sorted(LABELS))
    parser.add_argument("--progress", action=argparse.BooleanOptionalAction, help="show progress (default: at a terminal)")
    parser.set_defaults(run=main, error=parser.error)


def main(options: argparse.Namespace) -> int:
    """Fill the ledger, draw the pictures and write two files, each whole or not at all; status 0 if all is as expected."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    try:
        given = None if options.ledger is None else read_json(options.ledger)
    except (OSError, ValueError) as error:
        options.error(f"--ledger: {error}")
    made = _prepare(options)
    try:
        return _write(partial(fill, plan()) if given is None else partial(_among, given), options)
    except KeyboardInterrupt:
        print("proofs: interrupted; the page was not written", file=sys.stderr)
        return 130
    finally:
        if made and not os.listdir(options.folder):
            os.rmdir(options.folder)


def _prepare(options: argparse.Namespace) -> bool:
    """Make the folder if there is none, and try to write there, before minutes are spent; whether it was made."""
    made = not os.path.lexists(options.folder)
    try:
        if made:
            os.mkdir(options.folder)
        with tempfile.TemporaryFile(dir=options.folder):
            pass
    except OSError as error:
        options.error(f"cannot write into the folder {options.folder}: {error.strerror}; name one where you may write")
    return made


def _among(entries: list[Entry], only: str | None, progress: bool | None) -> list[Entry]:
    """The entries of a ledger that was given, as `fill` would have yielded them."""
    return [entry for entry in entries if only is None or only == entry.label]


def _write(ledger: Callable[[str | None, bool | None], Iterable[Entry]], options: argparse.Namespace) -> int:
    began = time.monotonic()
    # one thread, as for the ledger alone
    with threadpool_limits(1):
        entries = list(ledger(options.only, options.progress))
        hidden = None if options.progress is None else not options.progress
        with tqdm(total=0, unit="piece", disable=hidden, leave=False) as bar:
            drawn = list(figures.draw({entry.label for entry in entries}, bar))
    text = page.build(entries, drawn, options.only, time.monotonic() - began)
    machine = os.path.join(options.folder, "proofs.json")
    write_whole(machine, lambda file: file.write(to_json(entries).encode()))
    index = os.path.join(options.folder, "index.html")
    write_whole(index, lambda file: file.write(text.encode()))
    print(*summary(entries), index, sep="\n")
    return 0 if entries and all(entry.as_expected for entry in entries) else 1
