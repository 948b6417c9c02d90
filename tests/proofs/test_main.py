"""Program of the ledger: usage, a file of the user's, interruption."""

import json
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from efficient.runs.algorithms import ALGORITHMS
from proofs.__main__ import main, parse
from proofs.board import WIDTH
from proofs.ledger import Entry, Job
from proofs.paper import ERRATA, LABELS, SECTIONS
from proofs.proved import mutants
from reference.datasets import make_generic

ROOT = Path(__file__).parents[2]


@pytest.fixture
def svm(tmp_path):
    path = tmp_path / "rows.svm"
    dump_svmlight_file(*make_generic(60, 30, 5, seed=2)[:2], str(path), zero_based=False)
    return str(path)


def test_main_on_a_file_writes_the_same_ledger_as_json(svm, tmp_path, capsys):
    out = tmp_path / "ledger.json"
    assert main(["--data", svm, "--loss", "log", "--lam", "0.1", "--json", str(out)]) == 0
    printed = capsys.readouterr().out
    ledger = json.loads(out.read_text("utf8"))
    assert {entry["algorithm"] for entry in ledger["entries"]} == {"sgd", "asgd", "csgd", "casgd"}
    assert {entry["data"] for entry in ledger["entries"]} == {svm, f"{svm} values"}
    assert all(entry["section"] in SECTIONS for entry in ledger["entries"])
    assert all(entry["holds"] == entry["expected"] for entry in ledger["entries"])
    assert ledger["versions"]["numpy"] == np.__version__
    assert f"{len(ledger['entries'])} entries, {len(ledger['entries'])} as expected, 0 not" in printed
    assert "refuted, as expected" in " ".join(printed.split())
    assert [file.name for file in tmp_path.iterdir() if file.suffix == ".part"] == []


def test_main_with_only_prints_one_label(svm, capsys):
    assert main(["--data", svm, "--loss", "log", "--lam", "0.1", "--only", "translation"]) == 0
    printed = capsys.readouterr().out
    assert "translation:" in printed
    assert "alg:" not in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--loss", "log"], "go with --data"),
        (["--data", "x.svm"], "--data needs --loss and --lam"),
        (["--only", "Lemma 2"], "--only: 'Lemma 2' is no statement of the paper. Is it 'Lemma 1'"),
        (["--only", "eq. 4", "--only", ""], "--only: '' is no statement"),
        (["--quick", "--data", "x.svm", "--loss", "log", "--lam", "1"], "--quick and --data do not go together"),
        (["--data", "x.svm", "--loss", "log", "--lam", "much"], "invalid float value: 'much'"),
        (["--data", "", "--loss", "log"], "--data needs --loss and --lam"),
        (
            ["--json", "/no/such/folder/ledger.json"],
            "--json must be a file that can be written; got '/no/such/folder/ledger.json'",
        ),
        (["--json", "/"], "Is a directory"),
    ],
)
def test_main_refuses_wrong_usage(arguments, message, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "loss", "lam", "message"),
    [
        ("1 1:2\n-1 2:1\n", "log", "-1", "lam"),
        ("1 1:2\n0 2:1\n", "hinge", "1", "labels -1 and +1"),
        ("1 1:2\nbroken\n", "squared", "1", "rows.svm"),
        ("1 1:nan\n", "squared", "1", "finite"),
    ],
)
def test_main_on_bad_data_is_one_line_and_status_1(content, loss, lam, message, tmp_path, capsys):
    path = tmp_path / "rows.svm"
    path.write_text(content)
    assert main(["--data", str(path), "--loss", loss, "--lam", lam]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_main_without_a_claim_about_a_file_is_status_2(svm, capsys):
    assert main(["--data", svm, "--loss", "log", "--lam", "0.1", "--only", "cost"]) == 2
    assert "no claim 'cost'" in capsys.readouterr().err


def test_main_on_a_missing_file_names_it(capsys):
    assert main(["--data", "/no/such/file.svm", "--loss", "log", "--lam", "1"]) == 1
    assert "/no/such/file.svm" in capsys.readouterr().err


def test_main_fails_on_a_wrong_loop(svm, monkeypatch, capsys):
    wrong = dict(mutants.of_algorithm(ALGORITHMS["csgd"]))["steps: p = -(d + r - a * q) / (lam * (t - 1 + t0)) - -> +"]
    monkeypatch.setitem(ALGORITHMS, "csgd", wrong)
    assert main(["--data", svm, "--loss", "hinge", "--lam", "0.1"]) == 1
    assert "FAILS" in capsys.readouterr().out


def started(*arguments, **options) -> subprocess.Popen:
    """Start the program as users do, its output in a pipe."""
    command = [sys.executable, "-m", "proofs", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf8", cwd=ROOT, **options)


@pytest.mark.parametrize(
    ("arguments", "labels"),
    [
        (["--only", "ALGORITHM 2", "--only", "pivot"], ["alg:asgd", "pivot"]),
        (["--only", "Equation 4", "--only", "eqn:gradSum"], ["eqn:gradSum"]),
        (["--only", "e9"], ["E9"]),
        (["--only", "slips"], list(ERRATA)),
    ],
)
def test_only_takes_printed_names_and_labels_in_any_case(arguments, labels):
    assert parse(arguments).labels == set(labels)


def test_list_names_what_only_takes(capsys):
    assert main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(LABELS)
    for line, label in zip(lines, LABELS, strict=True):
        name, listed, *_ = re.split(r"\s{2,}", line)
        assert parse(["--only", name]).labels == parse(["--only", listed]).labels == {label}


def test_program_prints_one_statement_within_a_hundred_columns():
    done = started("--only", "EQ 13")
    out, err = done.communicate(timeout=120)
    assert (done.returncode, err) == (0, "")
    assert out.startswith(
        "Evidence for eqn:zDef of arXiv:1612.09147:\nCentering and Translation Invariance\n  eq. 13 (eqn:zDef): "
    )
    assert "mutants refuted" in out and "(proved, for all t and n): holds" in out
    assert max(map(len, out.splitlines())) <= WIDTH


@pytest.mark.parametrize(
    ("number", "status"), [pytest.param(signal.SIGINT, 130, marks=pytest.mark.nightly), (signal.SIGTERM, 143)]
)
def test_program_that_is_stopped_says_what_it_has(number, status):
    """Stop the whole run after its first lines: they come at once, through a pipe, while the work has only begun."""
    began = time.monotonic()
    program = started("--quick")
    first = program.stdout.readline()
    assert first.startswith("Evidence for 28 statements") and program.poll() is None
    while not program.stdout.readline().startswith("Introduction"):
        assert time.monotonic() - began < 60
    program.send_signal(number)
    stopped = time.monotonic()
    out, err = program.communicate(timeout=60)
    assert program.returncode == status and time.monotonic() - stopped < 10
    assert err == "proofs: interrupted; the ledger above is not complete\n"
    assert re.search(r"^Table 1 +the losses +✓ \d+$", out, re.MULTILINE) and " as expected, 0 not" in out


@pytest.mark.parametrize(("read", "arguments"), [(0, ["--list"]), (1, ["--only", "E1", "--only", "E15"])])
def test_program_whose_reader_leaves_ends_in_silence(read, arguments):
    program = started(*arguments)
    for _ in range(read):  # of a list, which is written at once, nothing: else it may be whole before the reader leaves
        program.stdout.readline()
    program.stdout.close()
    with program.stderr:
        assert (program.wait(timeout=120), program.stderr.read()) == (141, "")


@pytest.mark.nightly
def test_quick_run_is_a_hundred_lines_with_a_board():
    done = started("--quick")
    out, err = done.communicate(timeout=600)
    lines = out.splitlines()
    assert (done.returncode, err) == (0, "")
    assert len(lines) <= 100 and max(map(len, lines)) <= WIDTH
    assert all(any(line.startswith(facts.printed) for line in lines) for facts in LABELS.values())


def test_board_marks_a_failure_and_the_status_is_1(monkeypatch, capsys):
    entries = [Entry("lem:v", "a claim", "exact", "", "1 of 2", False), Entry("cost", "a claim", "counted", "", "", True)]
    plan = [Job((entry.label,), entry.claim, partial(list, [entry])) for entry in entries]
    monkeypatch.setattr("proofs.plan.plan", lambda *_: plan)
    assert main(["--quick"]) == 1
    out = capsys.readouterr().out
    assert re.search(r"^Lemma 1 .* ✗ 1/1$", out, re.MULTILINE) and "1 of 2 (exact): FAILS" in out
    assert re.search(r"^cost .* ✓ 1$", out, re.MULTILINE) and "2 entries, 1 as expected, 1 not" in out


LIGHT = """
import sys
sys.modules |= dict.fromkeys(("sympy", "z3", "mpmath", "matplotlib"))  # as if they were not installed
from proofs.__main__ import main
try:
    main(["--help"])
finally:
    print(main(["--only", "E1"]))
"""


def test_help_needs_no_prover_and_a_missing_one_is_a_sentence():
    command = [sys.executable, "-c", LIGHT.replace("finally", "except SystemExit")]
    done = subprocess.run(command, capture_output=True, encoding="utf8", cwd=ROOT, check=False)
    assert done.stdout.endswith("\n1\n") and "python -m proofs.NAME" in done.stdout
    assert done.stderr == "proofs needs sympy: pip install -e '.[proofs]' in a clone\n"
    for file in [*(ROOT / "proofs").glob("*/__main__.py"), ROOT / "proofs/slips.py"]:
        name = file.stem if file.parent.name == "proofs" else file.parent.name
        assert re.search(rf"^  {name} +\w.*\w$", done.stdout, re.MULTILINE)
