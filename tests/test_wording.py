"""Test the wording: no banned words, and docstrings that begin with an imperative."""

import ast
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BANNED = re.compile(
    r"\b(strangers?|doors?|nobody|somebody|anybody|everybody|spoil\w*|lest|lies?|whoever|go(es|ing)? on with|quick looks?)\b",
    re.I,
)
BEGINNING = re.compile(r"(the|an?|what|how|whether|by)\b", re.I)
FILES = [
    file
    for kind in ("*.py", "*.md", "*.ipynb")
    for file in [
        *ROOT.glob(kind),
        *(
            file
            for room in ("reference", "efficient", "proofs", "notebooks", "tests")
            for file in ROOT.glob(f"{room}/**/{kind}")
        ),
    ]
    if file != Path(__file__) and ".ipynb_checkpoints" not in file.parts
]


def faults(text: str, kind: str) -> list[str]:
    """List the banned words of a file, and its docstrings that begin with an article or a question."""
    if kind == ".ipynb":
        text = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
    found = [match[0] for match in BANNED.finditer(text)]
    if kind == ".py":
        kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        docstrings = (ast.get_docstring(node) or "" for node in ast.walk(ast.parse(text)) if isinstance(node, kinds))
        found += [docstring.split("\n")[0] for docstring in docstrings if BEGINNING.match(docstring)]
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_wording_follows_the_rules(file):
    assert faults(file.read_text("utf8"), file.suffix) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('"""The losses."""', ".py"),
        ('def f():\n    """Whether it is."""', ".py"),
        ("x = 1  # a quick look", ".py"),
        ("Nobody knows.", ".md"),
        ('{"cells": [{"source": ["it ", "goes on with this"]}]}', ".ipynb"),
    ],
)
def test_faults_sees_what_breaks_the_rules(text, kind):
    assert len(faults(text, kind)) == 1
