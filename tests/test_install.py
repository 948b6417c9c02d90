"""Test that the base install suffices for training and the conformance kit, and that the rest names its extra."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from proofs.__main__ import programs

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]

pytestmark = pytest.mark.ci

BLOCKED = """
import importlib.abc, runpy, sys

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"sympy", "z3", "mpmath", "matplotlib", "latex2mathml", "pandas", "flint"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
"""


def without_extras(code, *arguments):
    return subprocess.run([sys.executable, "-c", BLOCKED + code, *arguments], capture_output=True, text=True, cwd=ROOT)


def run_module(name, *arguments):
    return without_extras(f"runpy.run_module({name!r}, run_name='__main__', alter_sys=True)", *arguments)


@pytest.mark.parametrize(
    "module", ["efficient", "reference", "reference.datasets", "efficient.estimators", "proofs.conformance"]
)
def test_import_without_extras_succeeds(module):
    ran = without_extras(f"import importlib; importlib.import_module({module!r})")
    assert (ran.returncode, ran.stderr) == (0, "")


def test_conformance_runner_without_extras_passes_a_right_implementation():
    ran = run_module("proofs.conformance", "--impl", "proofs.conformance.examples.dense:train", "--loss", "hinge")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines()[-1] == "passed"


def test_casgd_without_extras_trains(tmp_path):
    model = tmp_path / "spam.model"
    ran = run_module("efficient", "train", "reference/data/spam.npz", "-o", str(model), "--epochs", "1")
    assert ran.returncode == 0, ran.stderr
    assert model.stat().st_size > 0


def test_log_loss_in_fractions_without_mpmath_names_the_extra():
    ran = without_extras(
        'from fractions import Fraction\nfrom reference import LOSSES\nLOSSES["log"].exact.derivative(Fraction(1), 1)'
    )
    assert "pip install -e '.[proofs]'" in ran.stderr.splitlines()[-1]


@pytest.mark.parametrize("program", sorted(programs()))
def test_program_without_extras_runs_or_names_the_extra_in_a_sentence(program):
    ran = run_module(f"proofs.{program}", "--help")
    if program in ("proved", "slips", "pictures", "course", "report"):
        by_import = program in ("pictures", "course")  # packages that are imported first
        assert ran.returncode == 1 and (ran.stderr.count("\n") == 1 or by_import)
        assert re.search(rf"proofs.{program} needs \w+: pip install -e '\.\[\w+\]' in a clone$", ran.stderr)
    else:
        assert (ran.returncode, ran.stderr) == (0, "") and f"usage: python -m proofs.{program}" in ran.stdout


@pytest.mark.parametrize("extra", ["test", "notebooks", "mutation"])
def test_extra_for_work_on_the_project_includes_proofs(extra):
    included, seen = [extra], set()
    while included:
        seen.add(name := included.pop())
        for requirement in map(Requirement, EXTRAS.get(name, [])):
            included += [each for each in requirement.extras if requirement.name == PROJECT["name"] and each not in seen]
    assert "proofs" in seen


def test_ledger_without_sympy_names_the_extra_in_one_line():
    ran = run_module("proofs", "--only", "Lemma 1")
    assert ran.returncode == 1
    (line,) = ran.stderr.splitlines()
    assert "pip install -e '.[proofs]'" in line


def test_citation_has_the_version_of_the_package():
    assert f"\nversion: {PROJECT['version']}\n" in (ROOT / "CITATION.cff").read_text("utf8")
