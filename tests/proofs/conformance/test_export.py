"""Export the kit, and run it where nothing but numpy is installed."""

import ast
import subprocess
import sys

import pytest

from proofs.conformance.cases import PAPER
from proofs.conformance.export import RUNNER, export
from reference import PAPER as SAME
from tests.proofs.conformance.programs import KIT, ROOT

ABSENT = [
    "scipy",
    "numba",
    "sklearn",
    "sympy",
    "z3",
    "matplotlib",
    "mpmath",
    "tqdm",
    "pandas",
    "reference",
    "efficient",
    "proofs",
]

ALONE = f"""
import runpy, sys
sys.modules.update(dict.fromkeys({ABSENT}))  # importing one of them is an error
folder = sys.argv[1]
sys.argv = sys.argv[1:]
sys.path[0] = folder
runpy.run_path(folder, run_name="__main__")
"""


def run(*arguments, **options):
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, check=False, **options)


def test_runner_imports_the_standard_library_and_numpy():
    assert PAPER == SAME
    allowed = sys.stdlib_module_names | {"numpy"}
    for name in RUNNER:
        for node in ast.walk(ast.parse((KIT / f"{name}.py").read_text("utf8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [str(node.module)]
            if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
                assert node.module in RUNNER, (name, node.module)
            assert {each.split(".")[0] for each in names} - allowed <= {"scipy", "reference"}, name  # tried, or for our own


def test_import_of_the_kit_is_light():
    code = f"import sys, proofs.conformance.__main__; print([name for name in {ABSENT[:-1]} if name in sys.modules])"
    done = run("-c", code, cwd=ROOT)
    assert done.stdout.strip() == "[]", done.stderr


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    return export(tmp_path_factory.mktemp("project") / "kit")


def test_exported_kit_runs_with_numpy_alone(exported, tmp_path):
    source = (KIT / "examples" / "dense.py").read_text("utf8")
    (tmp_path / "mine.py").write_text(
        source + "\n\ndef wrong(*arguments):\n    w, b = train(*arguments)\n    return w, -b\n", "utf8"
    )
    for name, status, last in (("train", 0, "passed"), ("wrong", 1, "FAILED")):
        done = run("-c", ALONE, exported, "--impl", f"mine:{name}", "--algorithm", "asgd", "--loss", "log", cwd=tmp_path)
        assert (done.returncode, done.stdout.splitlines()[-1]) == (status, last), done.stdout + done.stderr
    assert "bias returned with the other sign" in done.stdout
    assert sum(file.stat().st_size for file in exported.rglob("*")) < 8_000_000


def test_export_replaces_an_older_one_and_nothing_else(exported, tmp_path):
    (exported / "conformance" / "vectors" / "stale.json").touch()
    assert export(exported) == exported
    assert not (exported / "conformance" / "vectors" / "stale.json").exists()
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(ValueError, match="the folder to export to must be empty, or hold an older export; got "):
        export(tmp_path)
    done = run("-m", "proofs.conformance", "export", tmp_path, cwd=ROOT)
    assert done.returncode == 2
    assert done.stderr.startswith("python -m proofs.conformance export: the folder to export to must be empty")
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]
