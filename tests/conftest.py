"""The options of the conformance suite, here so that pytest knows them wherever it is started in this project.

And how long hypothesis searches: a hundred examples of a property, always the same ones; `--hypothesis-profile=nightly` looks
further.
"""

from hypothesis import settings

settings.register_profile("ci", max_examples=100, stateful_step_count=20, derandomize=True, deadline=None, database=None)
settings.register_profile("nightly", max_examples=2000, stateful_step_count=50, deadline=None)
settings.load_profile("ci")


def pytest_addoption(parser):
    group = parser.getgroup("conformance", "tests/conformance: hold your own implementation to the test vectors")
    group.addoption("--impl", metavar="PACKAGE.MODULE:FUNCTION", help="a function train(X, y, loss, lam, …)")
    group.addoption("--command", metavar="'PROGRAM ARGUMENTS'", help="a program that reads and writes a JSON object a line")
    group.addoption("--exact", action="store_true", help="lam is a Fraction, and results are compared with ==")
    group.addoption("--expected-failures", metavar="FILE", help="lines of an id, or a pattern such as *-log-*, and a reason")
