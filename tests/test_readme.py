"""Test that README is true: its examples print what it shows, its commands are CI's, its paths, modules and links exist."""

import importlib.util
import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf8")
EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES, ids=["library"])
def test_example_prints_what_it_shows(example, capsys):
    exec(compile(example, "README.md", "exec"), {})
    printed, *words = capsys.readouterr().out.split(maxsplit=1)
    (shown,) = re.findall(r"# (0\.\d\d)\b", example)
    assert f"{float(printed):.2f}" == shown
    assert all(word in words[0] for word in re.findall(r"'(\w+)'", example))


def test_example_of_the_command_line_prints_what_it_shows(casgd, monkeypatch):
    monkeypatch.chdir(ROOT)
    ((command, shown),) = re.findall(r"^    \$ casgd (sweep .*)\n((?:    [^$\n]*\n)*)", README, re.MULTILINE)
    status, printed, _ = casgd(*command.split())
    assert status == 0
    number = r"\d[\d.e-]*"
    assert re.sub(number, "#", printed) == re.sub(number, "#", textwrap.dedent(shown))
    numbers = [np.array(re.findall(number, text), dtype=float) for text in (printed, shown)]
    np.testing.assert_allclose(*numbers, rtol=1e-3)  # another processor may round a logarithm otherwise


def test_commands_are_the_two_of_ci():
    commands = re.findall(r"^    (python3 -m venv .*)$", README, re.MULTILINE)
    assert len(commands) == 2
    assert commands[0].endswith("-m proofs") and "pytest" in commands[1]
    assert "s/^    \\(python3 -m venv .*\\)$/\\1/p" in (ROOT / ".ci" / "run").read_text("utf8")


def test_paths_modules_and_links_exist():
    paths = re.findall(r"[`\s]((?:reference|efficient|proofs|notebooks|tests)/[\w./-]*)", README)
    modules = re.findall(r"python -m ((?:efficient|proofs)[\w.]*)", README)
    links = re.findall(r"\]\((?!http)([^)#]+)\)", README)
    assert all((paths, modules, links))
    assert [path for path in [*paths, *links] if not (ROOT / path).exists()] == []
    assert [module for module in modules if not importlib.util.find_spec(module.rstrip("."))] == []
