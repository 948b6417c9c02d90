"""Fill the ledger and print it. The exit status is 0 only if every verdict is as expected."""

import argparse
import sys
from collections.abc import Sequence

from threadpoolctl import threadpool_limits

from efficient.runs.files import check_writable, write_whole
from efficient.runs.terminal import print_any_letter
from reference import LOSSES

from .data import user_case
from .ledger import Entry, fill, print_ledger, to_json
from .paper import LABELS
from .plan import plan
from .rocq.prover import CURE, coqc


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m proofs",
        description="Show that the sparse algorithms are the dense ones: a ledger of claims, evidence and verdicts.",
        epilog="With --data the equivalence and invariance checks run on your own rows. Other evidence: python -m proofs.ROOM, "
        "ROOM being proved, rocq, slips, measured, conformance, bench, pictures or report.",
    )
    parser.add_argument("--json", metavar="FILE", help="write the ledger to FILE as well, machine-readable")
    parser.add_argument("--only", metavar="LABEL", help="only the claims with this label", choices=sorted(LABELS))
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
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    print_any_letter()
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["report"]:
        from .report.__main__ import main as report

        return report(arguments[1:])
    options = parse(arguments)
    entries: list[Entry] = []
    try:
        # one thread: the dot products of the dense side are too short to share out, and two threads that wait for each
        # other on a busy machine take twenty times as long
        with threadpool_limits(1):
            case = None if options.data is None else user_case(options.data, options.loss, options.lam)
            for entry in fill(plan(case), options.only, options.progress):
                entries.append(entry)
    except (ValueError, TypeError, OSError, FloatingPointError, MemoryError) as error:
        if options.data is None:
            raise
        print(f"proofs: {options.data}: {error or type(error).__name__}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print_ledger(entries)
        print("proofs: interrupted; the ledger above is not complete", file=sys.stderr)
        return 130
    if not entries:
        print(f"proofs: there is no claim {options.only!r} about a file of yours", file=sys.stderr)
        return 2
    print_ledger(entries)
    if options.data is None and coqc() is None:
        print(f"Rocq was not run, since it is not installed: {CURE}")
    if options.json:
        write_whole(options.json, lambda file: file.write(to_json(entries).encode()))
    return 0 if all(entry.as_expected for entry in entries) else 1


if __name__ == "__main__":
    sys.exit(main())
