"""Hold an implementation, a Python function or an external program, to the test vectors. Exit status 0 only if it conforms."""

import argparse
import signal
import sys
import threading
from collections.abc import Sequence

from .answers import Implementation
from .cases import ALGORITHM, LOSSES
from .check import check, check_patterns, read_expected_failures
from .command import Command, Served
from .declared import check_known
from .export import export
from .faults import listed
from .light import check_writable, print_any_letter

PROGRAM = f"python -m {__package__}" if __package__ != "conformance" else "python FOLDER"


def parse(arguments: Sequence[str] | None) -> tuple[argparse.Namespace, Implementation, dict[str, str]]:
    """Parse the options, the implementation and the expected failures; a wrong one is a usage error, status 2."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description=__doc__,
        epilog="What an implementation is, and the lines an external program reads and writes: proofs/conformance/README.md. "
        "`export DIR` in place of options writes the kit to a folder of its own; `faults` lists what may be declared.",
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--impl", metavar="PACKAGE.MODULE:FUNCTION", help="a function train(X, y, loss, lam, …)")
    parser.add_argument("--python", metavar="PATH", help="with --impl: the interpreter that has it (default: this one)")
    which.add_argument("--command", metavar="'PROGRAM ARGUMENTS'", help="a program that reads and writes a JSON object a line")
    parser.add_argument("--algorithm", nargs="+", choices=list(ALGORITHM.values()), help="only these (default: all)")
    parser.add_argument("--loss", nargs="+", choices=list(LOSSES), help="only these (default: all)")
    parser.add_argument("--exact", action="store_true", help="lam is a Fraction, and results are compared with ==")
    parser.add_argument("--short", action="store_true", help="leave out the long and wide cases")
    parser.add_argument("--each", action="store_true", help="with --command: start the program anew for every line")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="end it after so long (default: 60, with --impl 300)")
    parser.add_argument(
        "--known",
        nargs="+",
        action="extend",
        default=[],
        metavar="DEVIATION",
        help="meant deviations, of the list in the README: they become the definition",
    )
    parser.add_argument("--version-string", metavar="TEXT", help="the version to report (default: the package's own)")
    parser.add_argument("--expected-failures", metavar="FILE", help="lines of an id, or a pattern (*-log-*), and a reason")
    parser.add_argument("--json", metavar="FILE", help="write the report to FILE as well, machine-readable")
    parser.add_argument("--progress", action=argparse.BooleanOptionalAction, help="show progress (default: at a terminal)")
    options = parser.parse_args(arguments)
    if options.command is None and options.each:
        parser.error("--each goes with --command")
    if options.impl is None and options.python:
        parser.error("--python goes with --impl")
    if options.json:
        try:
            check_writable(options.json)
        except OSError as error:
            parser.error(f"--json must be a file that can be written; got {options.json!r}: {error.strerror}")
    try:
        implementation: Implementation
        if options.command is None:
            implementation = Served(options.impl, options.python, 300 if options.timeout is None else options.timeout)
        else:
            implementation = Command(options.command, options.each, 60 if options.timeout is None else options.timeout)
        expected_failures = read_expected_failures(options.expected_failures) if options.expected_failures else {}
        check_patterns(expected_failures)
        check_known(options.known)
    except (ValueError, OSError) as error:
        parser.error(str(error))
    implementation.version = options.version_string or implementation.version
    return options, implementation, expected_failures


def _other(command: str, *rest: str) -> int:
    """Write the kit to a folder, or list the faults."""
    if len(rest) != (command == "export"):
        print(f"usage: {PROGRAM} export DIR, or: {PROGRAM} faults", file=sys.stderr)
        return 2
    if command == "faults":
        print(listed(), end="")
        return 0
    try:
        folder = export(rest[0])
    except (ValueError, OSError) as error:
        print(f"{PROGRAM} export: {error}", file=sys.stderr)
        return 2
    print(f"wrote the kit to {folder}; run it with: python {folder} --help")
    return 0


def _end_programs_at_signals() -> None:
    """Leave by an exception at SIGTERM and SIGHUP, so that the program under test is ended as well."""
    if threading.current_thread() is threading.main_thread():
        for number in (getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)):
            if signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, lambda number, frame: sys.exit(128 + number))


def main(arguments: Sequence[str] | None = None) -> int:
    print_any_letter()
    _end_programs_at_signals()
    try:
        return _main(list(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        print(f"{PROGRAM}: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT


def _main(arguments: Sequence[str]) -> int:
    if arguments[:1] in (["export"], ["faults"]):
        return _other(*arguments)
    options, implementation, expected_failures = parse(arguments)
    report = check(
        implementation,
        options.algorithm,
        options.loss,
        exact=options.exact,
        long=not options.short,
        known=options.known,
        expected_failures=expected_failures,
        progress=options.progress,
    )
    print(report)
    if options.json:
        report.write_json(options.json)
    return 0 if report.passed else 1


if __name__ == "__main__":
    sys.exit(main())
