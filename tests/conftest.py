"""Give the command line as a fixture, the profiles of hypothesis, and the options of the conformance suite.

The options stand here so that pytest knows them in every folder of this project. The default profile searches a hundred
examples, always the same ones; `--hypothesis-profile=nightly` searches further.
"""

import io
import signal

import pytest
from hypothesis import settings

settings.register_profile("ci", max_examples=100, stateful_step_count=20, derandomize=True, deadline=None, database=None)
settings.register_profile("nightly", max_examples=2000, stateful_step_count=50, deadline=None)
settings.load_profile("ci")

signal.signal(signal.SIGINT, signal.default_int_handler)  # the tests mean the same in the background, which ignores it,
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # and under nohup


@pytest.fixture
def casgd(capsys, monkeypatch, tmp_path):
    """Run a command in a folder of its own: (status, standard output, standard error)."""
    from efficient.__main__ import main

    monkeypatch.chdir(tmp_path)

    def run(*arguments, stdin=None):
        if stdin is not None:
            given = io.BytesIO(stdin)
            given.name = "<stdin>"  # type: ignore[attr-defined]
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(given, encoding="utf8"))
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as exit:
            status = exit.code
        return status, *capsys.readouterr()

    return run


def pytest_addoption(parser):
    group = parser.getgroup("conformance", "tests/conformance: hold your own implementation to the test vectors")
    group.addoption("--impl", metavar="PACKAGE.MODULE:FUNCTION", help="a function train(X, y, loss, lam, …)")
    group.addoption("--command", metavar="'PROGRAM ARGUMENTS'", help="a program that reads and writes a JSON object a line")
    group.addoption("--exact", action="store_true", help="lam is a Fraction, and results are compared with ==")
    group.addoption("--expected-failures", metavar="FILE", help="lines of an id, or a pattern such as *-log-*, and a reason")
