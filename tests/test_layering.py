"""Imports run one way, floor by floor from the definitions up to the report; and a bare import stays light."""

import ast
import os
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("reference", "efficient", "proofs")

FLOORS = (
    ("reference",),
    ("efficient.kernels",),
    ("efficient.sgd", "efficient.asgd", "efficient.csgd", "efficient.casgd"),
    ("efficient.runs",),
    ("efficient.training", "efficient.reading"),
    ("efficient.estimators", "efficient.cli"),
    ("efficient.distributed",),
    ("efficient",),  # its __init__ and __main__
    ("proofs.paper", "proofs.data", "proofs.peer"),
    ("proofs.ledger",),
    ("proofs.proved", "proofs.rocq", "proofs.compared", "proofs.counted", "proofs.measured", "proofs.conformance"),
    ("proofs.board",),
    ("proofs.slips", "proofs.bench"),
    ("proofs.plan", "proofs.pictures", "proofs.course"),
    ("proofs.report",),
    ("proofs",),
)
"""Units from the ground up, each a module or a folder but for the units in it. A unit imports lower floors only."""

ROOMS_AT_MOST, FLOORS_OF_ROOMS_AT_MOST = 21, 5
DEFINITIONS = {"reference.sgd", "reference.asgd", "reference.csgd", "reference.casgd", "reference.iterates"}
"""Algorithms that the claim may not use, since it is compared with them."""

COLLECTORS = {"proofs.plan", "proofs.proved.claims", "proofs.proved.__main__"}
"""Modules that gather the claims."""

SHOWN = {
    "proofs.pictures.evidence": {"proofs.compared.translation"},
    "proofs.pictures.measured": {"proofs.measured.averaging", "proofs.measured.stability"},
    "proofs.compared.translation": {"proofs.compared.iterates"},
    "proofs.report.pages": {"proofs.proved.claims"},
}
"""Modules that run the experiment of a claim again, to draw it, on other rows, or show its proof."""


def module_of(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {
    module_of(file): file.read_text("utf8")
    for package in PACKAGES
    for file in sorted((ROOT / package).rglob("*.py"))
    if "examples" not in file.parts
}
FOLDERS = {module_of(file) for package in PACKAGES for file in (ROOT / package).rglob("__init__.py")}


def imported(name: str, source: str, modules=frozenset(SOURCES)) -> set[str]:
    """List the modules and names that a module imports, anywhere in its source; relative ones in full."""
    package = name if name in FOLDERS else name.rpartition(".")[0]
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            found = {f"{base}.{alias.name}" for alias in node.names}
            names |= {each for each in found if each in modules or each in DEFINITIONS}
            names |= {base} if found - modules else set()
    return names - {name}


def unit_of(name: str) -> str | None:
    """Find the unit that a module belongs to, the longest that fits."""
    units = [unit for floor in FLOORS for unit in floor if f"{name}.".startswith(f"{unit}.")]
    return max(units, key=len, default=None)


def floor_of(unit: str) -> int:
    return next(number for number, floor in enumerate(FLOORS) if unit in floor)


def trespasses(name: str, source: str) -> set[str]:
    """List what a module imports and may not: its own floor and those above, other than its unit; tests; definitions."""
    wrong = set()
    for each in imported(name, source):
        top = each.split(".")[0]
        if top in ("tests", "notebooks") or (name.startswith("efficient") and each in DEFINITIONS):
            wrong.add(each)
        elif top in PACKAGES:
            ours, theirs = unit_of(name), unit_of(each)
            if theirs != ours and floor_of(theirs) >= floor_of(ours):
                wrong.add(each)
    return wrong


def states_claims(source: str) -> bool:
    """True if the module lists jobs for the ledger, or proofs."""
    for node in ast.parse(source).body:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        if any(isinstance(target, ast.Name) and target.id == "PROOFS" for target in targets):
            return True
        if isinstance(node, ast.FunctionDef) and node.name == "jobs":
            return True
    return False


def helpers_in_claims(sources: dict[str, str]) -> set[tuple[str, str]]:
    """List who imports from a module that states claims, and from which, but for those that gather or show claims."""
    claims = {name for name, source in sources.items() if name.startswith("proofs") and states_claims(source)}
    found = {(name, each) for name, source in sources.items() for each in imported(name, source, frozenset(sources)) & claims}
    return {(name, each) for name, each in found if name not in COLLECTORS and each not in SHOWN.get(name, ())}


def crowded(folders: set[str], floors: tuple[tuple[str, ...], ...]) -> list[str]:
    """List what has more than it may: the house rooms, a package floors of rooms."""
    found = ["rooms"] if len(folders) > ROOMS_AT_MOST else []
    for package in PACKAGES:
        inside = [floor for floor in floors if any(unit.startswith(f"{package}.") and unit in folders for unit in floor)]
        found += [package] if len(inside) > FLOORS_OF_ROOMS_AT_MOST else []
    return found


def cycle(sources: dict[str, str]) -> list[str]:
    """Find modules that import each other in a circle."""
    graph = {name: imported(name, source, frozenset(sources)) & set(sources) for name, source in sources.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


@pytest.mark.parametrize("name", SOURCES)
def test_module_imports_lower_floors_only(name):
    assert trespasses(name, SOURCES[name]) == set()


def test_house_has_few_rooms_and_floors_and_no_circle():
    assert crowded(FOLDERS, FLOORS) == []
    units = [unit for floor in FLOORS for unit in floor]
    assert sorted(units) == sorted({unit_of(name) for name in SOURCES})
    assert cycle(SOURCES) == []


def test_no_helper_is_imported_from_a_module_that_states_claims():
    assert helpers_in_claims(SOURCES) == set()
    assert all(shown <= imported(name, SOURCES[name]) for name, shown in SHOWN.items())


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("reference.sgd", "import efficient"),
        ("reference.rows", "def f():\n    from proofs.ledger import Entry"),
        ("efficient.runs.state", "from reference import sgd"),
        ("efficient.sgd", "from reference.asgd import asgd"),
        ("efficient.cli.train", "import proofs"),
        ("efficient.sgd", "from . import asgd"),
        ("efficient.kernels.sparse", "from ..runs.state import State"),
        ("efficient.training.models", "from .. import State"),
        ("efficient.cli.train", "from ..estimators import linear"),
        ("proofs.proved.sgd", "from ..plan import plan"),
        ("proofs.bench.measure", "from .. import pictures"),
        ("proofs.ledger", "import tests.helpers"),
    ],
)
def test_trespasses_sees_an_import_upward(name, source):
    assert trespasses(name, source)


def test_crowded_sees_rooms_and_floors_beyond_the_limit():
    more = {f"proofs.more{number}" for number in range(ROOMS_AT_MOST + 1 - len(FOLDERS))}
    assert crowded(FOLDERS | more, FLOORS) == ["rooms"]
    tower = tuple((f"proofs.more{number}",) for number in range(FLOORS_OF_ROOMS_AT_MOST + 1))
    assert crowded({unit for (unit,) in tower}, tower) == ["proofs"]


def test_helpers_in_claims_sees_a_module_that_is_not_shown():
    borrowed = {"proofs.pictures.evidence": "from ..counted.cost import jobs"}
    assert helpers_in_claims(SOURCES | borrowed) == {("proofs.pictures.evidence", "proofs.counted.cost")}


def test_cycle_sees_two_modules_that_import_each_other():
    sources = {"reference.a": "from .b import x", "reference.b": "def f():\n    from . import a", "reference.c": ""}
    assert set(cycle(sources)) == {"reference.a", "reference.b"}
    assert cycle({"reference.a": "from .b import x", "reference.b": ""}) == []


@pytest.mark.parametrize("claim", ["def jobs():\n    return []", "PROOFS = {}", "PROOFS: dict = {}"])
def test_helpers_in_claims_sees_a_helper(claim):
    sources = {
        "proofs.proved.a": claim,
        "proofs.proved.b": "from .a import helper",
        "proofs.plan": "from .proved.a import jobs",
    }
    assert helpers_in_claims(sources) == {("proofs.proved.b", "proofs.proved.a")}


def run(code: str, **options):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, **options)


HEAVY = ["sklearn", "sympy", "matplotlib", "mpmath", "pandas", "flint", "scipy.optimize"]


@pytest.mark.parametrize(
    ("modules", "heavy"),
    [
        ("reference, reference.datasets, reference.optimum", HEAVY),
        ("efficient", HEAVY),
        ("efficient.cli.options, " + ", ".join(name for name in SOURCES if name.startswith("efficient.training.")), HEAVY[:1]),
    ],
    ids=lambda value: value.split(",")[0] if isinstance(value, str) else "",
)
def test_import_is_light(modules, heavy):
    done = run(f"import sys, {modules}; print([name for name in {heavy} if name in sys.modules])", cwd=ROOT)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


def test_import_of_the_estimators_is_not_light():
    done = run("import sys, efficient.estimators.linear; print('sklearn' in sys.modules)", cwd=ROOT)
    assert done.stdout.strip() == "True", done.stderr


@pytest.mark.parametrize("other", ["reference", "efficient"])
def test_another_package_of_the_same_name_is_refused_with_the_cure(other, tmp_path):
    (tmp_path / other).mkdir()
    (tmp_path / other / "__init__.py").touch()
    needs_it = {"reference": "efficient", "efficient": "proofs"}[other]
    done = run(f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(ROOT)!r}]; import {needs_it}", cwd=tmp_path)
    assert done.returncode == 1
    assert f"`{other}`" in done.stderr
    assert "environment" in done.stderr


def test_commands_on_a_plain_file_import_no_scikit_learn(tmp_path):
    (tmp_path / "rows.svm").write_text("1 1:1\n-1 2:1\n" * 9, "utf8")
    commands = ("train rows.svm -o m", "predict m rows.svm", "evaluate m rows.svm", "train rows.svm -o m --tfidf")
    code = f"import sys; from efficient.__main__ import main\nfor each in {commands}:\n    main(each.split())"
    done = run(
        code + "\n    print('scikit-learn:', 'sklearn' in sys.modules)",
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert re.findall("scikit-learn: (.*)", done.stdout) == ["False", "False", "False", "True"], done.stderr
