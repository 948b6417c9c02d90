"""Loops where numba is not installed: every module is imported, and all runs, with the same bits and one warning."""

import contextlib
import io

import pytest

from efficient.kernels.compiler import COMPILES
from tests.without import run_without

RUN = """
import efficient
from efficient.reading.svmlight import load_svmlight
from reference import Problem, draw_indices
from reference.datasets import make_generic
X, y, _ = make_generic(40, 12, 5, seed=1)
problem, indices = Problem(X, y, "log", 0.1), draw_indices(40, 200, rng=2)
for name in ("sgd", "asgd", "csgd", "casgd"):
    found = getattr(efficient, name)(problem, indices)
    print(name, found.w.tobytes().hex(), float(found.b).hex())
model = efficient.CASGDClassifier("log", n_epochs=3, random_state=0).fit(X, ["yes" if each > 0 else "no" for each in y])
print("classifier", model.decision_function(X).tobytes().hex())
with open(__file__, "wb") as file:
    file.write(b"1 1:0.1 3:-2e-3\\n-1 2:.5 # a comment\\n")
print("svmlight", load_svmlight(__file__).X.toarray().tobytes().hex())
"""

EVERYTHING = """
from importlib import import_module
from pkgutil import walk_packages
import reference, efficient, proofs
for package in (reference, efficient, proofs):
    for found in walk_packages(package.__path__, package.__name__ + "."):
        if not found.name.endswith("__main__") and found.name != "efficient.kernels.loop_cache":  # it keeps compiled loops
            import_module(found.name)
"""


def test_run_without_numba_gives_the_same_bits_and_one_warning(tmp_path):
    done = run_without(tmp_path, f"__file__ = 'rows.svm'\n{RUN}", "numba", "llvmlite")
    assert done.returncode == 0, done.stderr
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        exec(RUN, {"__file__": str(tmp_path / "rows.svm")})
    assert done.stdout == told.getvalue()
    assert done.stderr.count("Warning: ") == 1 and "pip install numba" in done.stderr


def test_every_module_is_imported_without_numba(tmp_path):
    done = run_without(tmp_path, EVERYTHING, "numba", "llvmlite")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not COMPILES, reason="nothing is compiled")
def test_run_without_numba_has_no_numba(tmp_path):
    done = run_without(tmp_path, "import numba", "numba", "llvmlite")
    assert "No module named 'numba'" in done.stderr
    cured = run_without(tmp_path, "import efficient.kernels.compiler as c; print(c.COMPILES)", "nothing")
    assert cured.stdout == "True\n"
