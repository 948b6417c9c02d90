"""Run the kit from the command line and by pytest."""

import json
import os
import subprocess
import sys
from fractions import Fraction

import pytest

from proofs.conformance.__main__ import main
from proofs.conformance.cases import load
from proofs.conformance.check import vectors
from tests.proofs.conformance.programs import ROOT


def run(*arguments: str, **options):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, **options)


OUTSIDER = """
__version__ = "4.5"
from proofs.conformance.plain import train as train_with_faults
from proofs.conformance.examples.dense import train as right
def wrong(*arguments): return train_with_faults(*arguments, fault="average for last")
def nothing(*arguments): raise NotImplementedError
number = 3
"""


@pytest.fixture
def outsider(tmp_path, monkeypatch):
    (tmp_path / "outsider.py").write_text(OUTSIDER, "utf8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(ROOT)]))
    yield tmp_path
    sys.modules.pop("outsider", None)


def test_main_in_a_shell_sets_the_exit_status(outsider):
    part = ("--algorithm", "sgd", "--loss", "hinge")
    wrong = run("-m", "proofs.conformance", "--impl", "outsider:wrong", *part, cwd=outsider)
    assert wrong.returncode == 1, wrong.stderr
    assert "the average is returned for the last predictor [average for last]" in wrong.stdout
    assert wrong.stdout.startswith("conformance of outsider:wrong 4.5, float64 (python 3.")
    none = run("-m", "proofs.conformance", "--impl", "outsider:absent", cwd=outsider)
    assert none.returncode == 2
    assert "'outsider:absent' cannot be imported: AttributeError" in none.stderr


def test_main_of_a_right_program_writes_json(outsider, capsys):
    arguments = [
        "--impl",
        "outsider:right",
        "--algorithm",
        "sgd",
        "asgd",
        "--loss",
        "log",
        "--json",
        str(outsider / "report.json"),
    ]
    assert main(arguments) == 0
    assert capsys.readouterr().out.endswith("\npassed\n")
    report = json.loads((outsider / "report.json").read_text("utf8"))
    assert report["passed"] is True
    assert report["implementation"] == {"name": "outsider:right", "version": "4.5"}
    assert report["versions"]["vectors"] == "1 of arXiv:1612.09147"
    assert [case["id"] for case in report["cases"]] == [case.id for case in vectors(["sgd", "asgd"], "log")]
    assert report["flags"]["FirstStep"] == {"passed": sum("FirstStep" in case.flags for case in load(["sgd", "asgd"], "log"))}


def test_main_with_everything_unsupported_fails(outsider, capsys):
    assert main(["--impl", "outsider:nothing", "--algorithm", "csgd"]) == 1
    assert capsys.readouterr().out.endswith("FAILED: no case was right\n")


def test_main_of_a_wrong_program_writes_departures(outsider):
    path = outsider / "report.json"
    assert main(["--impl", "outsider:wrong", "--algorithm", "csgd", "--loss", "log", "--json", str(path)]) == 1
    report = json.loads(path.read_text("utf8"))
    assert report["passed"] is False
    (finding,) = report["diagnosis"]
    assert finding["faults"] == [["average for last"]]
    wrong = [case for case in report["cases"] if case["verdict"] == "failed"]
    assert len(wrong) == report["count"]["failed"]
    for case in wrong:
        assert case["departure"]["error"] > case["departure"]["tolerance"]
        assert Fraction(case["departure"]["expected"]) != case["departure"]["found"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "one of the arguments --impl --command is required"),
        (["--impl", "a:b", "--command", "c"], "not allowed with argument"),
        (["--impl", "outsider"], "must be given as package.module:function"),
        (["--impl", "no_such_module:train"], "cannot be imported: ModuleNotFoundError"),
        (["--impl", "outsider:number"], "is no function: it is int 3"),
        (["--impl", "outsider:right", "--each"], "--each goes with --command"),
        (["--impl", "outsider:right", "--algorithm", "adam"], "invalid choice: 'adam'"),
        (
            ["--impl", "outsider:right", "--json", "no/such/folder/file"],
            "--json must be a file that can be written; got 'no/such/folder/file'",
        ),
        (["--impl", "outsider:right", "--expected-failures", "no-such-file"], "No such file"),
        (["--command", "no-such-program"], "command must name a program"),
        (["--command", "'"], "No closing quotation"),
    ],
)
def test_main_of_wrong_options_has_status_2(arguments, message, outsider, capsys):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("lines", "message"), [("sgd-log-mails", "has no reason"), ("sgd-log-male because", "matches no case of the vectors")]
)
def test_main_of_wrong_expected_failures_has_status_2(lines, message, outsider, capsys):
    (outsider / "failures.txt").write_text(lines, "utf8")
    with pytest.raises(SystemExit) as end:
        main(["--impl", "outsider:right", "--expected-failures", str(outsider / "failures.txt")])
    assert end.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "status", "messages"),
    [
        (
            ["--impl", "outsider:wrong", "-k", "csgd-log-mails"],
            1,
            ["[csgd-log-mails]", "failed: step 2: w[0] is ", "the average is returned for the last predictor"],
        ),
        (["--impl", "outsider:right", "-k", "sgd-log-mails"], 0, ["conformance of outsider:right 4.5"]),
        pytest.param(
            ["--impl", "outsider:nothing", "-k", "sgd-log-mails"],
            1,
            ["not supported", "FAILED: no case was right"],
            marks=pytest.mark.nightly,
        ),
        pytest.param(["--impl", "outsider:absent"], 4, ["'outsider:absent' cannot be imported"], marks=pytest.mark.nightly),
    ],
)
def test_pytest_suite_takes_an_implementation(options, status, messages, outsider):
    done = run("-m", "pytest", "-p", "no:cacheprovider", "tests/conformance", *options, cwd=ROOT)
    assert done.returncode == status, done.stdout + done.stderr
    for message in messages:
        assert message in done.stdout + done.stderr
