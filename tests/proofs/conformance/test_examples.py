"""Run the recipes: an adapter for each language, and the lines of the CI files."""

import os
import shutil
import subprocess
import sys

import pytest

from proofs.conformance import check
from proofs.conformance.command import Command
from proofs.conformance.export import export
from tests.proofs.conformance.programs import KIT, named

EXAMPLES = KIT / "examples"

RECIPES = {  # file: (what must be installed, how it is built, how it is run, a line and its wrong twin, the fault)
    "asgd.cpp": (
        "g++",
        "g++ -std=c++17 -O2 -Wall -Wextra -Werror -o {out}/cpp {file}",
        "{out}/cpp",
        ("p * y <= 1", "p * y < 1"),
        "tie at the kink",
    ),
    "asgd.rs": (
        "rustc",
        "rustc -O -D warnings -o {out}/rs {file}",
        "{out}/rs",
        ("let p = b + ", "let p = "),
        "prediction lacks the bias",
    ),
    "asgd.js": ("node", "", "node {file}", ("b: b - mean", "b: b + mean"), "bias shifted the wrong way"),
    "Asgd.java": ("javac", "javac -d {out} {file}", "java -cp {out} Asgd", ("x[n] = 1;", "x[n] = 0;"), "no bias"),
}


def program(name, folder, change=("", "")) -> Command:
    needs, build, run, _, _ = RECIPES[name]
    if shutil.which(needs) is None:
        pytest.skip(f"{needs} is not installed")
    source = (EXAMPLES / name).read_text("utf8")
    assert change[0] in source
    (folder / name).write_text(source.replace(*change) if change[0] else source, "utf8")
    places = {"out": folder, "file": folder / name}
    if build:
        subprocess.run(build.format(**places).split(), check=True, capture_output=True)
    return Command(run.format(**places), timeout=300)


@pytest.mark.parametrize("name", ["asgd.cpp", *(pytest.param(name, marks=pytest.mark.nightly) for name in [*RECIPES][1:])])
def test_recipe_conforms_and_its_twin_is_named(name, tmp_path):
    long = name == "asgd.cpp"
    assert check(program(name, tmp_path), ["sgd", "casgd"], "hinge", long=long, progress=False).passed
    *_, change, fault = RECIPES[name]
    report = check(program(name, tmp_path, change), ["sgd", "csgd"], "hinge", long=False, progress=False)
    assert any(fault in faults for faults in named(report))


@pytest.mark.nightly
@pytest.mark.parametrize("name", RECIPES)
def test_recipe_conforms_in_all_cases(name, tmp_path):
    assert check(program(name, tmp_path), progress=False).passed


def lines_of(file: str) -> list[str]:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    content = yaml.safe_load((EXAMPLES / file).read_text("utf8"))
    if file == "gitlab.yml":
        return content["conformance"]["script"]
    return [step["run"] for step in content["jobs"]["conformance"]["steps"] if "run" in step]


@pytest.mark.parametrize("file", ["github.yml", pytest.param("gitlab.yml", marks=pytest.mark.nightly)])
def test_ci_recipe_runs_line_by_line(file, tmp_path):
    if shutil.which("c++") is None:
        pytest.skip("no C++ compiler")
    export(tmp_path / "tests" / "kit")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    install, *lines = lines_of(file)
    assert install == "pip install numpy"
    for line in lines:
        subprocess.run(
            line, shell=True, check=True, cwd=tmp_path, env=os.environ | {"PATH": path, "PYTHONPATH": ""}, capture_output=True
        )
    assert (tmp_path / "conformance.json").exists()
