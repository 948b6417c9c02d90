"""Imports run one way: reference <- efficient <- proofs <- notebooks, tests; and a bare import stays light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MAY_IMPORT = {"reference": set(), "efficient": {"reference"}, "proofs": {"reference", "efficient"}}
ALGORITHMS = {"reference.sgd", "reference.asgd", "reference.csgd", "reference.casgd"}


def imported(source: str) -> set[str]:
    """The absolute modules that a source imports, and the names taken from them."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def trespasses(package: str, source: str) -> set[str]:
    """What the source of a module in this package imports and may not."""
    ours = {name for name in imported(source) if name.split(".")[0] in (*MAY_IMPORT, "tests", "notebooks")}
    wrong = {name for name in ours if name.split(".")[0] not in MAY_IMPORT[package]}
    if package == "efficient":  # the claim may not lean on the definitions that it is compared with
        wrong |= ours & (ALGORITHMS | {"reference.iterates"})
    return wrong


@pytest.mark.parametrize("file", sorted(ROOT.glob("[rep]*/**/*.py")), ids=lambda file: str(file.relative_to(ROOT)))
def test_imports_run_one_way(file):
    package = file.relative_to(ROOT).parts[0]
    assert trespasses(package, file.read_text("utf8")) == set()


@pytest.mark.parametrize(
    ("package", "source"),
    [
        ("reference", "import efficient"),
        ("reference", "def f():\n    from proofs.ledger import Entry"),
        ("efficient", "from reference import sgd"),
        ("efficient", "from reference.asgd import asgd"),
        ("efficient", "import proofs"),
        ("proofs", "import tests.test_exact"),
    ],
)
def test_a_trespass_is_seen(package, source):
    assert trespasses(package, source)


def run(code: str, **options):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, **options)


@pytest.mark.parametrize("heavy", ["sklearn", "sympy", "matplotlib", "mpmath", "pandas"])
def test_a_bare_import_is_light(heavy):
    done = run(f"import sys, efficient; sys.exit({heavy!r} in sys.modules)", cwd=ROOT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("stranger", ["reference", "efficient"])
def test_a_stranger_of_the_same_name_is_refused_with_the_cure(stranger, tmp_path):
    (tmp_path / stranger).mkdir()
    (tmp_path / stranger / "__init__.py").touch()
    needs_it = {"reference": "efficient", "efficient": "proofs"}[stranger]
    done = run(f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(ROOT)!r}]; import {needs_it}", cwd=tmp_path)
    assert done.returncode == 1
    assert f"`{stranger}`" in done.stderr
    assert "virtual environment of its own" in done.stderr
