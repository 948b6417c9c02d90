"""Course where numba is not installed: slower, and whole."""

import subprocess
import sys
import time

import nbformat
import pytest
from nbclient import NotebookClient

from tests.without import ROOT, environment_without

NOTEBOOKS = ROOT / "notebooks"
MAKE = NOTEBOOKS / "exercises" / "make.py"
MINUTE = 60


@pytest.mark.nightly
def test_solutions_get_all_marks_without_what_browsers_lack(tmp_path):
    environment = environment_without(tmp_path, "numba", "llvmlite", "z3", "flint")

    def make(*arguments):
        done = subprocess.run([sys.executable, MAKE, *arguments], env=environment, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    files = make("solution", tmp_path / "solutions")
    told = [line for line in make("mark", *files) if not line.startswith(" ")]
    assert [line.partition(", ")[2] for line in told] == ["10 of 10 marks"] * 7


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["01_sgd", "03_centring"])
def test_lecture_takes_less_than_a_minute_without_numba(name, tmp_path):
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(NOTEBOOKS)}})
    started = time.perf_counter()
    client.execute(env=environment_without(tmp_path, "numba", "llvmlite"))
    assert time.perf_counter() - started < MINUTE
    told = [output.text for cell in notebook.cells for output in cell.get("outputs", []) if output.get("name") == "stderr"]
    assert len(told) == 1 and "numba is not installed" in told[0]
