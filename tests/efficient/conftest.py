"""Run the command line in a folder of its own, and tell what it should do from what it does."""

import os
import re
from pathlib import Path

import pytest
from sklearn.datasets import dump_svmlight_file

from reference.datasets import load_spam

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def outside():
    """Environment to run the command in from any folder."""
    return os.environ | {"PYTHONPATH": str(ROOT)}


@pytest.fixture(scope="session")
def mails(tmp_path_factory):
    """Every fifth mail of spam, as an svmlight file."""
    X, y, _ = load_spam()
    path = tmp_path_factory.mktemp("mails") / "mails.svm"
    dump_svmlight_file(X[::5], y[::5], str(path), zero_based=False)
    return path


@pytest.fixture
def folder(casgd):
    """Folder of the command with two files of six rows, of two and of three classes."""
    Path("a.svm").write_text("0 1:2 3:0.5\n1 2:1\n0 1:1 2:0.25\n1 2:3 3:1\n0 3:2\n1 1:1 2:2\n")
    Path("b.svm").write_text("1 1:2 3:0.5\n2 2:1\n3 1:1 2:0.25\n1 2:3 3:1\n2 3:2\n3 1:1 2:2\n")
    return Path()


@pytest.fixture
def works(casgd):
    """Run a command that works in silence, and return its output."""

    def run(*arguments, **options):
        status, out, err = casgd(*arguments, **options)
        assert (status, err) == (0, "")
        return out

    return run


@pytest.fixture
def fails(casgd):
    """Run a command that ends with this status, no output and one line on standard error that has these words."""

    def run(status, words, *arguments, printed=False, **options):
        got, out, err = casgd(*arguments, **options)
        assert got == status, err
        assert re.fullmatch(r"casgd[^\n]*: [^\n]+\n", err), err
        for word in words:
            assert word in err
        assert printed or out == ""
        return err

    return run


def table(out):
    """Read the printed epochs as a dictionary of columns."""
    head, *lines = [re.split(r" {2,}", line.strip()) for line in out.splitlines() if re.match(r" *(epoch|\d+) {2,}", line)]
    return {name: [float(line[i]) for line in lines] for i, name in enumerate(head)}


@pytest.fixture(name="table")
def table_of():
    """Give the reader of printed epochs."""
    return table
