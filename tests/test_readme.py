"""The README is true: its example runs and prints what it says, and its two commands are the ones that CI runs."""

import re
import textwrap
from pathlib import Path

import numpy as np
from sklearn.datasets import dump_svmlight_file

from efficient.__main__ import main
from reference.datasets import load_spam

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf8")


EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_the_example(capsys):
    example, _ = EXAMPLES
    exec(compile(example, "README.md", "exec"), {})
    share, words = capsys.readouterr().out.split(maxsplit=1)
    (said,) = re.findall(r"# (0\.\d\d) of the mails", README)
    assert f"{float(share):.2f}" == said
    assert all(word in words for word in re.findall(r"'(\w+)'", example))


def test_the_example_of_the_estimators(capsys):
    _, example = EXAMPLES
    exec(compile(example, "README.md", "exec"), {})
    (said,) = re.findall(r"# (0\.\d\d)$", example, re.MULTILINE)
    assert f"{float(capsys.readouterr().out):.2f}" == said


def test_the_example_of_the_command_line(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    X, y, _ = load_spam()
    dump_svmlight_file(X, y, "spam.svm", zero_based=False)
    ((command, said),) = re.findall(r"^    \$ casgd (sweep .*)\n((?:    [^$\n]*\n)*)", README, re.MULTILINE)
    assert main(command.split()) == 0
    number = r"\d[\d.e-]*"
    printed = capsys.readouterr().out
    assert re.sub(number, "#", printed) == re.sub(number, "#", textwrap.dedent(said))
    numbers = [np.array(re.findall(number, text), dtype=float) for text in (printed, said)]
    np.testing.assert_allclose(*numbers, rtol=1e-3)  # another processor may round a logarithm otherwise


def test_the_two_commands():
    commands = re.findall(r"^    (python3 -m venv .*)$", README, re.MULTILINE)
    assert len(commands) == 2
    assert commands[0].endswith("-m proofs")
    assert "pytest" in commands[1]
    assert "s/^    \\(python3 -m venv .*\\)$/\\1/p" in (ROOT / ".ci" / "run").read_text("utf8")


def test_the_places_exist():
    for place in re.findall(r"^\| `(\w+)/` \|", README, re.MULTILINE):
        assert (ROOT / place).is_dir()
    for module in re.findall(r"`(\w+)`", re.search(r"likewise (.*?) \|", README)[1]):
        assert (ROOT / "proofs" / f"{module}.py").is_file()


def test_the_links_lead_somewhere():
    links = re.findall(r"\]\((?!http)([^)#]+)\)", README)
    assert {Path(link).suffix for link in links} >= {".png", ".md"}
    assert [link for link in links if not (ROOT / link).is_file()] == []
