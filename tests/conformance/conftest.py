"""The door for outsiders: `pytest tests/conformance --impl package.module:function`, or `--command 'program arguments'`.

Without either option both our packages go through the same door.
"""

from collections.abc import Sequence

import pytest

import efficient
import reference
from proofs.conformance import train_with
from proofs.conformance.answers import Function, Implementation, Reply, import_function
from proofs.conformance.cases import Case, load
from proofs.conformance.check import check_patterns, read_expected_failures, with_expectation
from proofs.conformance.command import Command
from proofs.conformance.report import Report
from proofs.conformance.verdicts import Result, judge


class Door:
    """An implementation, the cases that it is to be asked, and what came of those that it was."""

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


DOORS = pytest.StashKey[dict[str, Door]]()


def _doors(config: pytest.Config) -> dict[str, Door]:
    """Who is held to the vectors, by a short name: the user's implementation, or both of ours."""
    if DOORS in config.stash:
        return config.stash[DOORS]
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
    config.stash[DOORS] = {
        name: Door(implementation, config.getoption("--exact"), expected_failures)
        for name, implementation in implementations.items()
    }
    return config.stash[DOORS]


def pytest_configure(config):
    if any(config.getoption(name) for name in ("--impl", "--command", "--expected-failures")):
        _doors(config)  # what is wrong with them is told before anything is collected


def pytest_generate_tests(metafunc):
    if {"door", "case"} <= set(metafunc.fixturenames):
        pairs = [(name, door, case) for name, door in _doors(metafunc.config).items() for case in load()]
        ids = [f"{name}-{case.id}" if name else case.id for name, _, case in pairs]
        metafunc.parametrize(("door", "case"), [(door, case) for _, door, case in pairs], ids=ids)


def pytest_collection_finish(session):
    for item in session.items:
        if "door" in getattr(getattr(item, "callspec", None), "params", {}):
            item.callspec.params["door"].cases.append(item.callspec.params["case"])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter, config):
    yield  # the list of failed tests may be long: the diagnosis comes after it
    for door in config.stash.get(DOORS, {}).values():
        report = door.report
        if report.results and (not report.passed or config.getoption("--impl") or config.getoption("--command")):
            terminalreporter.section("conformance")
            terminalreporter.write_line(str(report))


def pytest_sessionfinish(session, exitstatus):
    """Nobody passes by supporting nothing."""
    reports = [door.report for door in session.config.stash.get(DOORS, {}).values() if door.results]
    if exitstatus == pytest.ExitCode.OK and not all(report.passed for report in reports):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
