"""Test that CONTRIBUTING names every room with the sentence that its `__init__` docstring begins with, and files that exist."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf8")


def first_sentence(file: Path) -> str:
    return (ast.get_docstring(ast.parse(file.read_text("utf8"))) or "").split("\n")[0]


def test_contributing_rooms_are_those_of_the_packages_with_their_sentences():
    files = [file for package in ("reference", "efficient", "proofs") for file in ROOT.glob(f"{package}/**/__init__.py")]
    rooms = {f"{file.parent.relative_to(ROOT)}/": first_sentence(file) for file in files}
    assert dict(re.findall(r"^\| `([\w/]+/)` \| (.*) \|$", TEXT, re.MULTILINE)) == rooms


def test_contributing_names_files_that_exist():
    paths = set(re.findall(r"`((?:reference|efficient|proofs|tests)/[\w./-]+|\.ci/run)`", TEXT))
    assert len(paths) > 10
    assert [path for path in sorted(paths) if "NAME" not in path and not (ROOT / path).exists()] == []
