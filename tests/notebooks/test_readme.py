"""Test that the lecturer's page names what is there, and that Binder installs what pyproject.toml offers."""

import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from proofs.conformance.twins import FAULTS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "notebooks" / "README.md").read_text("utf8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]


def not_installable(command: str) -> list[str]:
    """List what the arguments of `pip install` name, and this project does not offer."""
    wrong = []
    for argument in shlex.split(command):
        found = re.fullmatch(r"(?P<path>\.\S*?)(\[(?P<extras>.*)\])?", argument)
        if found:
            extras = set(filter(None, (found["extras"] or "").split(",")))
        elif " @ " in argument:
            requirement = Requirement(argument)
            extras = requirement.extras if requirement.name == PROJECT["name"] else {requirement.name}
        else:
            continue
        wrong += sorted(extras - PROJECT["optional-dependencies"].keys())
    return wrong


def test_binder_requirements_name_an_extra_that_exists():
    lines = (ROOT / ".binder" / "requirements.txt").read_text("utf8").splitlines()
    assert lines == ["-e .[notebooks]"]
    assert not_installable(lines[0]) == []
    notebooks = {Requirement(each).name for each in PROJECT["optional-dependencies"]["notebooks"]}
    assert {"jupyter", PROJECT["name"]} <= notebooks


def test_binder_python_is_one_that_the_project_allows():
    (version,) = re.findall(r"\Apython-(\d+\.\d+)\n\Z", (ROOT / ".binder" / "runtime.txt").read_text("utf8"))
    assert f"{version}.0" in SpecifierSet(PROJECT["requires-python"])


def test_page_commands_install_what_exists():
    commands = re.findall(r"pip install ([^`\n&]*)", PAGE)
    assert len(commands) == 4
    assert [not_installable(command) for command in commands] == [[]] * 4


@pytest.mark.parametrize(
    ("command", "wrong"),
    [
        ("-e .[notebook]", ["notebook"]),
        ("'./casgd[notebooks,gpu]'", ["gpu"]),
        ('"other @ git+https://ADDRESS"', ["other"]),
        ('"casgd[course] @ git+https://ADDRESS"', ["course"]),
    ],
)
def test_not_installable_names_what_does_not_exist(command, wrong):
    assert not_installable(command) == wrong


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
