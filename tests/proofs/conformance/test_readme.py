"""Compare the kit's README with the kit."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

from proofs.conformance import reach
from proofs.conformance.answers import Answer
from proofs.conformance.cases import load
from proofs.conformance.faults import listed
from proofs.conformance.inputs import FLAGS
from proofs.conformance.plain import FAULTS
from proofs.conformance.verdicts import judge
from tests.proofs.conformance.programs import KIT, README, ROOT


def table(heading: str) -> dict[str, str]:
    """Return the rows of the table under a heading."""
    section = README.split(f"## {heading}\n")[1].split("\n## ")[0]
    return dict(re.findall(r"^\| (.+?) \| (.+?) \|$", section, re.MULTILINE)[2:])


def test_list_of_the_faults_is_as_the_kit_prints_it():
    text = (KIT / "FAULTS.md").read_text("utf8")
    assert text.endswith("\n\n" + listed())
    assert {*re.findall(r"^\| (.+?) \|", text, re.MULTILINE)[2:]} >= FAULTS.keys()


def test_readme_lists_the_flags():
    assert table("What a case is about") == {flag: why for flag, (why, _) in (FLAGS | reach.FLAGS).items()}
    assert {flag for case in load() for flag in case.flags} == FLAGS.keys()


def test_readme_question_has_a_right_answer():
    question, answer = (json.loads(line) for line in re.findall(r"```json\n(.*?)\n```", README))
    name, t = question["id"].split("@")
    (case,) = [case for case in load() if case.id == name]
    assert question == json.loads(json.dumps(case.request(int(t))))
    (point,) = [point for point in case.checkpoints if point.t == int(t)]
    assert answer.pop("id") == question["id"]
    assert judge(replace(case, checkpoints=(point,)), [Answer(*map(_tuple, answer.values()))], False).verdict == "passed"


def _tuple(value):
    return tuple(value) if isinstance(value, list) else value


def test_readme_commands_use_known_options():
    for line in re.findall(r"^(?: {4})?(?:python -m proofs\.conformance) (.*)$", README, re.MULTILINE):
        options = {"--impl", "--command", "--expected-failures", "--json", "--short", "--known", "--loss"}
        assert {word for word in shlex.split(line) if word.startswith("--")} - {"--quiet"} <= options
    (line,) = re.findall(r"^ {4}(cc .*)$", README, re.MULTILINE)
    assert shlex.split(line)[-2] == str((KIT / "examples" / "asgd.c").relative_to(ROOT))
    assert {name for name in re.findall(r"`(\w+\.\w+)`", README) if (KIT / "examples" / name).exists()} >= {
        *("asgd.c", "asgd.cpp", "asgd.rs", "asgd.js", "Asgd.java", "dense.py"),
    }


@pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler")
def test_readme_first_lines_end_green(tmp_path):
    lines = re.search(r"((?:^ {4}.*\n){3})", README, re.MULTILINE)[1].replace("python ", f"{shlex.quote(sys.executable)} ", 1)
    where = os.environ | {"PYTHONPATH": str(ROOT)}
    lines = (
        lines.replace("    python tests/kit", f"    {shlex.quote(sys.executable)} tests/kit") + " --algorithm casgd --loss log"
    )
    done = subprocess.run(
        ["bash", "-e", "-c", lines.replace("\n --", " --")],
        cwd=tmp_path,
        env=where,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.endswith("\npassed\n"), done.stdout + done.stderr
