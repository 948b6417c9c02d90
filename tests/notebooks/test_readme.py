"""Test that the lecturer's page names what is there, and that Binder installs what pyproject.toml offers."""

import json
import re
import tomllib
from pathlib import Path

from packaging.specifiers import SpecifierSet

from proofs.conformance.plain import FAULTS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "notebooks" / "README.md").read_text("utf8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]


def test_binder_installs_the_clone_with_a_python_that_the_project_allows():
    assert (ROOT / ".binder" / "requirements.txt").read_text("utf8") == "-e .[notebooks]\n"
    (version,) = re.findall(r"\Apython-(\d+\.\d+)\n\Z", (ROOT / ".binder" / "runtime.txt").read_text("utf8"))
    assert f"{version}.0" in SpecifierSet(PROJECT["requires-python"])
    assert any(each.startswith("jupyter") for each in PROJECT["optional-dependencies"]["notebooks"])


def test_page_installs_this_project_with_extras_that_exist():
    installed = re.findall(r"pip install (?:--quiet |-e )?['\"]?([./\w-]*?)(?:\[(\w+)\])?(?:['\" `\n]|$)", PAGE)
    assert len(installed) == 4
    assert {name for name, _ in installed} == {".", f"./{PROJECT['name']}-{PROJECT['version']}-py3-none-any.whl"}
    assert {extra for _, extra in installed} - {""} <= PROJECT["optional-dependencies"].keys()


def rows_of(heading: str) -> list[list[str]]:
    """Read the cells of the table under a heading of the page."""
    section = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    (section,) = [each for each in section if each.startswith(heading)]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\| `.*\|$", section, re.MULTILINE)]


def test_page_names_every_notebook():
    lectures = [row[0].strip("`") for row in rows_of("The lectures")]
    assert {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")} <= set(lectures)
    assert len(lectures) == 7
    names = [row[0].strip("`") for row in rows_of("The exercises")]
    assert sorted(names) == sorted(path.stem for path in (ROOT / "notebooks" / "exercises").glob("*.ipynb"))
    before = re.findall(r"`(\w+)`", " ".join(row[3] for row in rows_of("The exercises")))
    assert before
    assert set(before) <= {*lectures, *names}


def test_page_minutes_are_those_of_the_exercises():
    for name, _, minutes, _ in rows_of("The exercises"):
        notebook = json.loads((ROOT / "notebooks" / "exercises" / f"{name.strip('`')}.ipynb").read_text("utf8"))
        assert f"*{minutes} minutes. Before it: " in "".join(notebook["cells"][0]["source"])


def test_page_message_is_one_of_the_kit():
    ((sentence, fault),) = re.findall(r"^    WRONG: (.*) \[(.*)\]$", PAGE, re.MULTILINE)
    assert FAULTS[fault] == sentence


def test_page_version_is_that_of_the_project():
    assert f"Version {PROJECT['version']}." in PAGE
