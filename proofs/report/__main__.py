"""Make the project's site: `python -m proofs.report DIR`, then open DIR/index.html.

The ledger is computed, unless it is given; then the pictures are drawn, the loops counted and timed, and the pages built.
"""

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from efficient.runs.terminal import print_any_letter

from ..paper import labels_named

try:
    from threadpoolctl import threadpool_limits

    from ..ledger import fill, read_json, summary
    from ..plan import plan
    from .figures import draw
    from .site import build
except ModuleNotFoundError as error:
    sys.exit(f"proofs.report needs {error.name}: pip install -e '.[site]' in a clone")


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the site whole or not at all; the exit status is 0 if all is as expected."""
    print_any_letter()
    parser = argparse.ArgumentParser(prog="python -m proofs.report", description=__doc__)
    parser.add_argument("folder", metavar="DIR", help="the folder of the site; made if there is none")
    parser.add_argument("--ledger", metavar="FILE", help="what `python -m proofs --json FILE` wrote, instead of computing it")
    parser.add_argument("--only", metavar="NAME", help='only the claims about this statement, "Lemma 1", "eq. 4", cost …')
    parser.add_argument("--progress", action=argparse.BooleanOptionalAction, help="show progress (default: at a terminal)")
    options = parser.parse_args(arguments)
    try:
        labels = None if options.only is None else labels_named(options.only)
    except ValueError as error:
        parser.error(f"--only: {error}")
    try:
        given = None if options.ledger is None else read_json(options.ledger)
    except (OSError, ValueError) as error:
        parser.error(f"--ledger: {error}")
    made = not os.path.lexists(options.folder)
    try:  # before minutes are spent
        if made:
            os.mkdir(options.folder)
        with tempfile.TemporaryFile(dir=options.folder):
            pass
    except OSError as error:
        parser.error(f"DIR must be a folder that can be written; got {options.folder!r}: {error.strerror}")
    try:
        with threadpool_limits(1):  # as for the ledger alone
            filled = fill(plan(), labels, options.progress) if given is None else [("", given)]
            entries = [entry for _, found in filled for entry in found if labels is None or entry.label in labels]
            drawn = list(draw({entry.label for entry in entries}, options.progress))
        build(Path(options.folder), entries, drawn, options.only)
    except OSError as error:  # a full disk, or a link that leads elsewhere
        print(f"proofs.report: {error.filename}: {error.strerror}; the site was not written", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("proofs.report: interrupted; the site was not written", file=sys.stderr)
        return 130
    finally:
        if made and not os.listdir(options.folder):
            os.rmdir(options.folder)
    print(*summary(entries), os.path.join(options.folder, "index.html"), sep="\n")
    return 0 if entries and all(entry.as_expected for entry in entries) else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
