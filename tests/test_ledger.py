"""The main job: the ledger holds on the user's own data, is written for machines, and fails when the code is wrong."""

import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_breast_cancer, load_diabetes

from efficient.runs import state
from proofs.__main__ import main
from proofs.compared import iterates as identical
from proofs.compared import scikit_learn as independence
from proofs.compared import translation
from proofs.data import Case
from proofs.ledger import Entry
from proofs.paper import LABELS, SECTIONS
from reference.datasets import make_generic, make_shifted, make_ties

CASE = Case("small", *make_generic(30, 40, 4, seed=1)[:2], {"hinge": 0.1, "squared": 1.0})


@pytest.fixture
def svm(tmp_path):
    path = tmp_path / "rows.svm"
    dump_svmlight_file(*make_generic(60, 30, 5, seed=2)[:2], str(path), zero_based=False)
    return str(path)


def run_jobs(module, case=CASE):
    return [entry for job in module.jobs([case]) for entry in job.run()]


@pytest.mark.parametrize("module", [identical, translation, independence])
def test_the_claims_hold_on_any_data(module):
    entries = run_jobs(module)
    assert entries
    assert all(entry.as_expected for entry in entries), [entry.line() for entry in entries]
    assert {entry.label for entry in entries} <= LABELS.keys()


def test_a_float_run_may_part_at_a_kink_only():
    entries = run_jobs(identical, Case("ties", *make_ties(40, 4, 2, seed=1)[:2], {"hinge": 0.1, "absolute": 0.1}))
    assert all(entry.as_expected for entry in entries), [entry.line() for entry in entries]


@pytest.mark.parametrize(
    "data",
    [
        make_shifted(40, 6, 3, seed=1, offset=1e3),
        make_generic(1, 8, 8, seed=2),
        make_generic(3, 2000, 2000, seed=3),
        make_generic(4, 5, 0, seed=4),
        make_generic(3, 0, 0, seed=5),
    ],
    ids=["offset 1000", "one row", "wide dense rows", "empty rows", "no columns"],
)
def test_odd_data_is_judged_fairly(data):
    for module in (identical, translation):
        entries = run_jobs(module, Case("odd", data.X, data.y, {"log": 0.1}))
        assert {"csgd", "casgd"} <= {entry.algorithm for entry in entries}
        assert all(entry.as_expected for entry in entries), [entry.line() for entry in entries]


def test_labels_that_leave_nothing_to_learn():
    case = Case("zeros", CASE.X, np.zeros(30), {"squared": 1.0})
    assert all(entry.as_expected for module in (identical, translation) for entry in run_jobs(module, case))


def test_a_sample_is_never_empty():
    for k in (3, 200, 2000):
        rows, y = Case("wide", *make_generic(5, 2000, k, seed=1)[:2], {}).sample(make_generic(5, 2000, k, seed=1).X)
        assert 0 < rows.shape[1] <= 500
        assert rows.shape[0] == len(y) == 5


def corrupted(name, old, new):
    """The loop of an algorithm with a piece of its source exchanged."""
    import inspect

    steps = state.ALGORITHMS[name].steps
    source = inspect.getsource(steps)
    assert source.count(old) == 1
    scope: dict = {}
    exec(source.replace(old, new), steps.__globals__, scope)
    return state.ALGORITHMS[name]._replace(steps=scope["steps"])


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("sgd", "(t - 1 + t0)", "(t + t0)"),
        ("asgd", "c = c + omega[j] * a / (t + t0)", "c = c + omega[j] * a / (t + 1)"),
        ("csgd", "- a * q", "+ a * q"),
        ("casgd", "h * g, X", "(h + 1 / t) * g, X"),
    ],
)
def test_a_wrong_loop_is_found(name, old, new, monkeypatch, svm, capsys):
    monkeypatch.setitem(state.ALGORITHMS, name, corrupted(name, old, new))
    wrong = {(entry.algorithm, entry.evidence[:5]) for entry in run_jobs(identical) if not entry.as_expected}
    assert wrong == {(name, "exact"), (name, "measu")}
    assert main(["--data", svm, "--loss", "hinge", "--lam", "0.1"]) == 1
    assert "FAILS" in capsys.readouterr().out


def test_a_wrong_prediction_in_the_centred_loop_breaks_the_invariance(monkeypatch):
    monkeypatch.setitem(state.ALGORITHMS, "casgd", corrupted("casgd", "- a * q", "+ a * q"))
    verdicts = {(entry.algorithm, entry.as_expected) for entry in run_jobs(translation)}
    assert verdicts == {("sgd", True), ("asgd", True), ("csgd", True), ("casgd", False)}


def test_scikit_learn_is_no_echo(monkeypatch):
    monkeypatch.setitem(state.ALGORITHMS, "asgd", corrupted("asgd", "u, h * g", "u, (h + 1 / t) * g"))
    assert not any(entry.holds for entry in run_jobs(independence))


def test_the_users_own_file(svm, tmp_path, capsys):
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


def test_only_one_label(svm, capsys):
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
def test_wrong_usage(arguments, message, capsys):
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
def test_bad_data_is_one_line_and_status_1(content, loss, lam, message, tmp_path, capsys):
    path = tmp_path / "rows.svm"
    path.write_text(content)
    assert main(["--data", str(path), "--loss", loss, "--lam", lam]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_no_claim_of_this_label_about_a_file(svm, capsys):
    assert main(["--data", svm, "--loss", "log", "--lam", "0.1", "--only", "cost"]) == 2
    assert "no claim 'cost'" in capsys.readouterr().err


def test_an_interrupted_ledger_shows_what_it_has(svm, capsys, monkeypatch):
    def cut_off(*arguments):
        yield Entry("cost", "claim", "counted", "figure", True)
        raise KeyboardInterrupt

    monkeypatch.setattr("proofs.__main__.fill", cut_off)
    assert main(["--data", svm, "--loss", "log", "--lam", "0.1"]) == 130
    printed = capsys.readouterr()
    assert "cost: claim" in printed.out
    assert printed.err == "proofs: interrupted; the ledger above is not complete\n"


def test_a_missing_file(capsys):
    assert main(["--data", "/no/such/file.svm", "--loss", "log", "--lam", "1"]) == 1
    assert "/no/such/file.svm" in capsys.readouterr().err


@pytest.mark.parametrize("field", [{"holds": np.True_}, {"value": np.int64(1)}, {"bound": float("nan")}])
def test_an_entry_refuses_what_json_cannot_hold(field):
    with pytest.raises((TypeError, ValueError), match="'claim'"):
        Entry(**{"label": "cost", "claim": "claim", "evidence": "", "figure": "", "holds": True, **field})


@pytest.mark.parametrize("load", [load_diabetes, load_breast_cancer])
def test_a_correct_library_is_not_failed_on_standardised_dense_rows(load):
    X, y = load(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    entries = run_jobs(identical, Case("dense", sparse.csr_array(X), y.astype(float), {"squared": 0.01}))
    assert all(entry.as_expected for entry in entries), [entry.line() for entry in entries]


def test_verdicts():
    entry = Entry("cost", "claim", "evidence", "figure", holds=True)
    words = {
        (True, True): "holds",
        (False, True): "FAILS",
        (False, False): "refuted, as expected",
        (True, False): "HOLDS, against expectation",
    }
    for (holds, expected), word in words.items():
        entry = Entry("cost", "claim", "evidence", "figure", holds, expected=expected)
        assert entry.verdict == word
        assert entry.as_expected == (holds == expected)
