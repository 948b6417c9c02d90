"""Hold an implementation, a Python function or an external program, to the test vectors. Exit status 0 only if it conforms."""

import argparse
import sys
from collections.abc import Sequence

from efficient.runs.files import check_writable
from efficient.runs.terminal import print_any_letter

from .answers import Implementation, import_function
from .cases import ALGORITHM, LOSSES
from .check import check, check_patterns, read_expected_failures
from .command import Command
from .declared import check_known


def parse(arguments: Sequence[str] | None) -> tuple[argparse.Namespace, Implementation, dict[str, str]]:
    """Parse the options, the implementation and the expected failures; a wrong one is a usage error, status 2."""
    parser = argparse.ArgumentParser(
        prog="python -m proofs.conformance",
        description=__doc__,
        epilog="What an implementation is, and the lines an external program reads and writes: proofs/conformance/README.md.",
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--impl", metavar="PACKAGE.MODULE:FUNCTION", help="a function train(X, y, loss, lam, …)")
    which.add_argument("--command", metavar="'PROGRAM ARGUMENTS'", help="a program that reads and writes a JSON object a line")
    parser.add_argument("--algorithm", nargs="+", choices=list(ALGORITHM.values()), help="only these (default: all)")
    parser.add_argument("--loss", nargs="+", choices=list(LOSSES), help="only these (default: all)")
    parser.add_argument("--exact", action="store_true", help="lam is a Fraction, and results are compared with ==")
    parser.add_argument("--short", action="store_true", help="leave out the long and wide cases")
    parser.add_argument("--each", action="store_true", help="with --command: start the program anew for every line")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="with --command: end it after so long (default: 60)")
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
    if options.command is None and (options.each or options.timeout is not None):
        parser.error("--each and --timeout go with --command")
    if options.json:
        try:
            check_writable(options.json)
        except OSError as error:
            parser.error(f"--json must be a file that can be written; got {options.json!r}: {error.strerror}")
    try:
        implementation: Implementation
        if options.command is None:
            implementation = import_function(options.impl)
        else:
            implementation = Command(options.command, options.each, 60 if options.timeout is None else options.timeout)
        expected_failures = read_expected_failures(options.expected_failures) if options.expected_failures else {}
        check_patterns(expected_failures)
        check_known(options.known)
    except (ValueError, OSError) as error:
        parser.error(str(error))
    implementation.version = options.version_string or implementation.version
    return options, implementation, expected_failures


def main(arguments: Sequence[str] | None = None) -> int:
    print_any_letter()
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
