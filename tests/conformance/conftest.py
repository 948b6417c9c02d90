"""Test an implementation: `pytest tests/conformance --impl package.module:function`, or `--command 'program arguments'`.

Without either option both our packages are held to them in the same way.
"""

from collections.abc import Sequence

import pytest

import efficient
import reference
from proofs.conformance import train_with
from proofs.conformance.answers import Function, Implementation, Reply, import_function
from proofs.conformance.cases import Case
from proofs.conformance.check import check_patterns, read_expected_failures, vectors, with_expectation
from proofs.conformance.command import Command
from proofs.conformance.report import Report
from proofs.conformance.verdicts import Result, judge


class Subject:
    """Implementation, the cases collected for it, and the results so far."""

    def __init__(self, implementation: Implementation, exact: bool, expected_failures: dict[str, str]):
        self.implementation, self.exact, self.expected_failures = implementation, exact, expected_failures
        self.cases: list[Case] = []
        self.replies: dict[str, Sequence[Reply]] = {}
        self.results: dict[str, Result] = {}

    def result(self, case: Case) -> Result:
        if case.id not in self.replies:
            batch = [case]
            if isinstance(self.implementation, Command):  # one start for all cases of the algorithm and the loss
                batch = [each for each in self.cases if (each.algorithm, each.loss) == (case.algorithm, case.loss)]
            answers = self.implementation.ask(batch, self.exact)
            self.replies |= {each.id: replies for each, replies in zip(batch, answers, strict=True)}
        result = with_expectation(judge(case, self.replies[case.id], self.exact), self.expected_failures)
        self.results[case.id] = result
        return result

    @property
    def report(self) -> Report:
        return Report(self.implementation, self.exact, list(self.results.values()))


LONG = ("many-columns", "columns-beyond-16-bits", "steps-beyond-16-bits")
"""Cases that take the definitions, O(Tn), twenty seconds in all; the sparse algorithms are held to them by default."""

SUBJECTS = pytest.StashKey[dict[str, Subject]]()


def _subjects(config: pytest.Config) -> dict[str, Subject]:
    """Find what is held to the vectors, by a short name: the user's implementation, or both of ours."""
    if SUBJECTS in config.stash:
        return config.stash[SUBJECTS]
    path, command, failures = (config.getoption(name) for name in ("--impl", "--command", "--expected-failures"))
    if path and command:
        raise pytest.UsageError("--impl and --command exclude each other")
    try:
        expected_failures = read_expected_failures(failures) if failures else {}
        check_patterns(expected_failures)
        ours = {name.__name__: Function(train_with(name), name.__name__) for name in (reference, efficient)}
        theirs = import_function(path) if path else Command(command) if command else None
    except (ValueError, OSError) as error:
        raise pytest.UsageError(str(error)) from error
    implementations = {"": theirs} if theirs else ours
    config.stash[SUBJECTS] = {
        name: Subject(implementation, config.getoption("--exact"), expected_failures)
        for name, implementation in implementations.items()
    }
    return config.stash[SUBJECTS]


def pytest_configure(config):
    if any(config.getoption(name) for name in ("--impl", "--command", "--expected-failures")):
        _subjects(config)  # refuse wrong options before anything is collected


def pytest_generate_tests(metafunc):
    if {"subject", "case"} <= set(metafunc.fixturenames):
        pairs = [
            (name, subject, case)
            for name, subject in _subjects(metafunc.config).items()
            for case in vectors(long=not subject.exact)
        ]
        cases = [
            pytest.param(
                *(subject, case),
                id=f"{name}-{case.id}" if name else case.id,
                marks=[pytest.mark.nightly] * (name == "reference" and case.id.endswith(LONG)),
            )
            for name, subject, case in pairs
        ]
        metafunc.parametrize(("subject", "case"), cases)


def pytest_collection_finish(session):
    for item in session.items:
        if "subject" in getattr(getattr(item, "callspec", None), "params", {}):
            item.callspec.params["subject"].cases.append(item.callspec.params["case"])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter, config):
    yield  # the list of failed tests may be long: the diagnosis comes after it
    for subject in config.stash.get(SUBJECTS, {}).values():
        report = subject.report
        if report.results and (not report.passed or config.getoption("--impl") or config.getoption("--command")):
            terminalreporter.section("conformance")
            terminalreporter.write_line(str(report))


def pytest_sessionfinish(session, exitstatus):
    """Fail an implementation that supports nothing."""
    reports = [subject.report for subject in session.config.stash.get(SUBJECTS, {}).values() if subject.results]
    if exitstatus == pytest.ExitCode.OK and not all(report.passed for report in reports):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
