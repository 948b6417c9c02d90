"""Program of the ledger: usage, a file of the user's, interruption."""

import json

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from efficient.runs.algorithms import ALGORITHMS
from proofs.__main__ import main
from proofs.ledger import Entry
from proofs.paper import SECTIONS
from proofs.proved import mutants
from reference.datasets import make_generic


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
    assert "refuted, as expected" in printed
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
        (["--only", "nonsense"], "invalid choice: 'nonsense'"),
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


def test_main_interrupted_prints_what_it_has(svm, capsys, monkeypatch):
    def cut_off(*arguments):
        yield Entry("cost", "claim", "counted", "", "figure", True)
        raise KeyboardInterrupt

    monkeypatch.setattr("proofs.__main__.fill", cut_off)
    assert main(["--data", svm, "--loss", "log", "--lam", "0.1"]) == 130
    printed = capsys.readouterr()
    assert "cost: claim" in printed.out
    assert printed.err == "proofs: interrupted; the ledger above is not complete\n"


def test_main_on_a_missing_file_names_it(capsys):
    assert main(["--data", "/no/such/file.svm", "--loss", "log", "--lam", "1"]) == 1
    assert "/no/such/file.svm" in capsys.readouterr().err


def test_main_fails_on_a_wrong_loop(svm, monkeypatch, capsys):
    wrong = dict(mutants.of_algorithm(ALGORITHMS["csgd"]))["steps: p = -(d + r - a * q) / (lam * (t - 1 + t0)) - -> +"]
    monkeypatch.setitem(ALGORITHMS, "csgd", wrong)
    assert main(["--data", svm, "--loss", "hinge", "--lam", "0.1"]) == 1
    assert "FAILS" in capsys.readouterr().out
