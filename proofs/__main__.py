"""The main job: fill the ledger and print it. Exit status 0 only if every verdict is as expected."""

import argparse
import io
import sys
from collections.abc import Sequence

from threadpoolctl import threadpool_limits

from efficient.runs.files import check_writable
from reference import LOSSES

from . import bench, report, slips
from .compared import iterates as identical
from .compared import scikit_learn as independence
from .compared import translation
from .counted import cost
from .data import real_cases, user_case
from .ledger import Entry, Job, fill, print_ledger, write_json
from .measured import averaging as averages
from .measured import convergence, stability
from .paper import LABELS
from .proved import asgd as averaging
from .proved import batch as many
from .proved import casgd as centring
from .proved import convergence as guarantee
from .proved import corruptions as mutation
from .proved import extensions as beyond
from .proved import losses as introduction
from .proved import pseudocode, shipped
from .proved import sgd as descent
from .proved.proof import jobs_of


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m proofs",
        description="Show that the sparse algorithms are the dense ones: a ledger of claims, evidence and verdicts.",
        epilog="With --data the equivalence and invariance checks run on your own rows.",
    )
    parser.add_argument("--json", metavar="FILE", help="write the ledger to FILE as well, machine-readable")
    parser.add_argument("--only", metavar="LABEL", help="only the claims with this label", choices=sorted(LABELS))
    parser.add_argument("--data", metavar="FILE.svm", help="an svmlight file (columns from 1), in place of the two real sets")
    parser.add_argument("--loss", choices=sorted(LOSSES), help="with --data: the loss")
    parser.add_argument("--lam", type=float, help="with --data: the regularisation λ > 0")
    parser.add_argument("--progress", action=argparse.BooleanOptionalAction, help="show progress (default: at a terminal)")
    commands = parser.add_subparsers(title="another job, in place of the ledger", metavar="bench, report")
    bench.add_arguments(commands.add_parser("bench", help="time the loops on this machine", description=bench.__doc__))
    report.add_arguments(
        commands.add_parser("report", help="the ledger as a page with formulas and pictures", description=report.__doc__), plan
    )
    arguments = sys.argv[1:] if arguments is None else arguments
    options = parser.parse_args(arguments)
    if "run" in options:
        if arguments[0] not in commands.choices:
            parser.error("the options of bench and report come after it, those of the ledger do not go with it")
        return options
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


def plan(options: argparse.Namespace) -> list[Job]:
    """The jobs to do, in the order of the paper as far as one can say it of a job."""
    if options.data is not None:
        cases = [user_case(options.data, options.loss, options.lam)]
        return [*identical.jobs(cases), *translation.jobs(cases)]
    cases = real_cases()
    return [
        *introduction.jobs(),
        *convergence.jobs(cases),
        *averages.jobs(),
        *cost.jobs(),
        *jobs_of(*descent.PROOFS, *averaging.PROOFS, *centring.PROOFS, *shipped.PROOFS, *many.PROOFS),
        *beyond.jobs(),
        *guarantee.jobs(),
        *pseudocode.jobs(),
        *mutation.jobs(),
        *slips.jobs(),
        *stability.jobs(),
        *identical.jobs(cases),
        *independence.jobs(cases),
        *translation.jobs(cases),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    if "run" in options:
        return options.run(options)
    entries: list[Entry] = []
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # λ and ≥ on a terminal that lacks them
    try:
        # one thread: the dot products of the dense side are too short to share out, and two threads that wait for each
        # other on a busy machine take twenty times as long
        with threadpool_limits(1):
            for entry in fill(plan(options), options.only, options.progress):
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
    if options.json:
        write_json(entries, options.json)
    return 0 if all(entry.as_expected for entry in entries) else 1


if __name__ == "__main__":
    sys.exit(main())
