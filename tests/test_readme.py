"""Test that every README is true: its code runs as pasted from a clone and prints what is shown; paths and links exist."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from proofs.conformance.examples import dense
from reference.datasets import load_spam

ROOT = Path(__file__).parent.parent
READMES = sorted(
    str(path.relative_to(ROOT))
    for path in [
        ROOT / "README.md",
        *(path for name in ("efficient", "proofs", "reference", "notebooks") for path in (ROOT / name).rglob("README.md")),
    ]
)
README = (ROOT / "README.md").read_text("utf8")

SET_UP = re.compile(r"-m venv|pip install|jupyter")
"""Commands that `.ci/run` and `tests/test_install.py` run."""

MADE_UP = re.compile(r"\./pegasos|mypackage\.mine")
"""Programs of the reader's that are wrong in a way of their own."""

SHORT = re.compile(r"casgd |python notebooks/exercises/make\.py (student|solution)")
"""Commands for the default run; the others take from ten seconds to minutes."""

COMMAND = re.compile(r"(casgd|python3?|cc|c\+\+|pytest) ")
NUMBER = re.compile(r"\d[\d.]*(?:e[+-]?\d+)?")


def blocks(readme: str) -> list[tuple[str, str]]:
    """List the code blocks of a README: the language of a fenced one, "" of an indented one, and the text."""
    text = (ROOT / readme).read_text("utf8")
    fenced = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    indented = re.findall(r"(?<=\n\n)(?:    .*\n)+", fenced.sub("", text))
    return [*fenced.findall(text), *(("", textwrap.dedent(block)) for block in indented)]


def commands(readme: str) -> list[tuple[str, str]]:
    """List the commands of a README, each with the output that is shown for it."""
    found = []
    for language, block in blocks(readme):
        if language in ("", "sh", "bash") and block.startswith("$ "):
            found += re.findall(r"^\$ (.*)\n((?:[^$].*\n)*)", block, re.MULTILINE)
        elif language in ("", "sh", "bash") and COMMAND.match(block):
            found += [(line, "") for line in block.splitlines()]
    return [(command, shown) for command, shown in found if not (SET_UP.search(command) or MADE_UP.search(command))]


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """Clone of the repository beside a reader's own files, as the current folder."""
    folder = tmp_path / "clone"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".*", "__pycache__", "node_modules"))
    (folder / "mypackage").mkdir()
    shutil.copy(dense.__file__, folder / "mypackage" / "sgd.py")
    (folder / "failures.txt").touch()
    (folder / "submissions").mkdir()
    shutil.copy(folder / "notebooks/exercises/losses.ipynb", folder / "submissions")
    X, y, _ = load_spam()
    dump_svmlight_file(X[:300], y[:300], str(folder / "FILE.svm"), zero_based=False)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, arguments in (("python", ""), ("python3", ""), ("casgd", "-m efficient")):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n')
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.chdir(folder)
    return folder


def check_commands(given: list[tuple[str, str]]) -> None:
    """Run commands one after the other; what they print must be what is shown, but for the last digits and seconds."""
    for command, shown in given:
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, timeout=1800)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        if shown:
            assert NUMBER.sub("#", done.stdout) == NUMBER.sub("#", shown), command
            numbers = [np.array(NUMBER.findall(text), dtype=float) for text in (done.stdout, shown)]
            np.testing.assert_allclose(*numbers, rtol=1e-3)  # another processor may round a logarithm otherwise


@pytest.mark.usefixtures("clone")
@pytest.mark.parametrize("readme", [name for name in READMES if any(SHORT.match(each) for each, _ in commands(name))])
def test_short_commands_of_a_readme_run_as_pasted(readme):
    check_commands([each for each in commands(readme) if SHORT.match(each[0])])


@pytest.mark.nightly  # the whole evidence, and the bench: more than ten minutes
@pytest.mark.usefixtures("clone")
@pytest.mark.parametrize("readme", [name for name in READMES if not all(SHORT.match(each) for each, _ in commands(name))])
def test_commands_of_a_readme_run_as_pasted(readme):
    check_commands([each for each in commands(readme) if not SHORT.match(each[0])])


def shown_by(block: str) -> str:
    """Join the comments on lines that print, and those on lines of their own after them."""
    return " ".join(re.findall(r"^print\(.*?\)(?:\n?#|  #) (.*(?:\n# .*)*)$", block, re.MULTILINE))


@pytest.mark.usefixtures("clone")
@pytest.mark.parametrize("readme", [name for name in READMES if any(language == "python" for language, _ in blocks(name))])
def test_python_of_a_readme_prints_what_it_shows(readme, capsys):
    reader = {"train": dense.train}
    for language, block in blocks(readme):
        if language == "python":
            exec(compile(block, readme, "exec"), reader)
            printed, shown = capsys.readouterr().out, shown_by(block)
            assert shown or not printed or "check(train" in block
            words = re.compile(r"'\w+'|\bTrue\b|\bFalse\b")
            assert words.findall(printed)[: len(words.findall(shown))] == words.findall(shown)
            for found, wanted in zip(NUMBER.findall(printed), NUMBER.findall(shown), strict=bool(shown)):
                decimals = len(wanted.partition(".")[2])
                assert round(float(found), decimals) == float(wanted), block


def test_blocks_that_lie_are_seen(monkeypatch):
    monkeypatch.chdir(ROOT)
    with pytest.raises(AssertionError):
        check_commands([("casgd --no-such-option", "")])
    with pytest.raises(AssertionError):
        check_commands([("echo 1 row", "2 rows\n")])
    with pytest.raises(AssertionError):
        check_commands([("echo 1.5 rows", "1.6 rows\n")])
    check_commands([("echo 1.50001 rows", "1.5 rows\n")])


def test_every_block_is_of_a_known_kind():
    kinds = {language for readme in READMES for language, _ in blocks(readme)}
    assert kinds <= {"", "python", "json", "yaml", "text", "sh"}
    assert sum(len(commands(readme)) for readme in READMES) > 15
    texts = [(ROOT / readme).read_text("utf8") for readme in READMES]
    assert not any("ADDRESS-OF" in text for text in texts)


def test_commands_are_the_two_of_ci():
    found = re.findall(r"^    (python3 -m venv .*)$", README, re.MULTILINE)
    assert len(found) == 2
    assert found[0].endswith("-m proofs") and "pytest" in found[1]
    assert "s/^    \\(python3 -m venv .*\\)$/\\1/p" in (ROOT / ".ci" / "run").read_text("utf8")


@pytest.mark.parametrize("readme", READMES)
def test_paths_modules_and_links_exist(readme):
    text = (ROOT / readme).read_text("utf8")
    paths = [
        path
        for path in re.findall(r"[`\s]((?:reference|efficient|proofs|notebooks|tests)/[\w./-]*)", text)
        if "kit" not in path
    ]
    modules = re.findall(r"python -m ((?:efficient|proofs)[\w.]*)", text)
    links = re.findall(r"\]\((?!http)([^)#]+)\)", text)
    if readme == "README.md":
        assert all((paths, modules, links))
    assert [path for path in paths if not (ROOT / path).exists()] == []
    assert [link for link in links if not (ROOT / readme).parent.joinpath(link).exists()] == []
    assert [module for module in modules if not importlib.util.find_spec(module.rstrip("."))] == []


def test_defaults_table_is_that_of_the_settings():
    from efficient import CASGDClassifier, CASGDRegressor

    rows = re.findall(
        r"^\| (.*?) \| (.*?) \| (.*?) \| (.*?) \| .* \|$", (ROOT / "efficient/README.md").read_text("utf8"), re.MULTILINE
    )
    told = {re.sub(r".*`(\w+)`.*", r"\1", names.split(", `--")[0]): each for names, *each in rows[1:]}
    for place, estimator in ((1, CASGDClassifier()), (2, CASGDRegressor())):
        for name, value in estimator.get_params().items():
            if name in told:
                assert told[name][place] == (f"{value:g}" if isinstance(value, float) else str(value)), name
    assert {"loss", "alpha", "algorithm", "average", "t0", "n_epochs", "sampling", "random_state"} <= told.keys()
