"""Command line of the bench: the table is complete, the file is written, and no time is asserted."""

import json
import sys

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from efficient.runs.algorithms import ALGORITHMS
from proofs.bench import __main__ as program
from proofs.bench.scaling import Sweep
from proofs.bench.tables import TARGETS
from reference.datasets import make_text

DATA = make_text(80, 300, 12, seed=0)

NAMES = {
    "floor",
    *(f"{algorithm} {kind}" for algorithm in ALGORITHMS for kind in ("loop", "call")),
    *("asgd loop, float32 values", "asgd loop, int64 indices", "csgd loop, q given", "casgd loop, q given", "20 models, floor"),
    *("plain numba loop", "scikit-learn loop", "scikit-learn fit", "NumPy, row by row", "dense definition"),
    *(f"20 {kind}, {how}" for kind in ("classes", "values of λ") for how in ("one pass", "20 passes", "scikit-learn")),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Results of a run on a user's own file, and what it printed; the first calls are the subject of another test."""
    folder = tmp_path_factory.mktemp("bench")
    dump_svmlight_file(DATA.X, DATA.y, str(folder / "rows.svm"), zero_based=False)
    with pytest.MonkeyPatch.context() as patch:
        printed: list[str] = []
        patch.setattr(program, "first_calls", lambda *_: {"asgd": {"import": 0.5, "first_call": 1.5}})
        patch.setattr(program.tqdm, "write", lambda bar, line, **_: printed.append(line))
        options = ["--quick", "--data", str(folder / "rows.svm"), "--loss", "log", "--lam", "0.01"]
        assert program.main([*options, "--json", str(folder / "bench.json")]) == 0
    assert sorted(file.name for file in folder.iterdir()) == ["bench.json", "rows.svm"]
    return json.loads((folder / "bench.json").read_text("utf8")), printed


@pytest.mark.parametrize("order", ["sequential", "random"])
def test_contest_times_every_contestant_and_judges_every_target(run, order):
    results, printed = run
    there = [entry for entry in results["timings"] if entry["order"] == order]
    assert {entry["contestant"] for entry in there} == NAMES
    assert all(entry["status"] == "timed" for entry in there), [entry["why"] for entry in there]
    assert all(entry["difference"] <= entry["bound"] for entry in there if "floor" not in entry["contestant"])
    judged = {(entry["above"], entry["below"]) for entry in results["targets"] if entry["order"] == order}
    assert judged == {(above, below) for above, below, *_ in TARGETS}
    assert all(any(line.startswith(f"    {name}") for line in printed) for name in NAMES)


def test_loops_that_are_the_same_agree_to_the_bit(run):
    exact = {"asgd loop, float32 values", "asgd loop, int64 indices", "20 classes, one pass", "20 values of λ, one pass"}
    exact |= {"csgd loop, q given", "casgd loop, q given", "floor", "20 models, floor"}
    assert {entry["contestant"] for entry in run[0]["timings"] if entry["bound"] == 0} == exact


def test_json_keeps_its_schema(run):
    results, _ = run
    assert list(results) == ["format", "paper", "kind", "versions", "machine", "sets", "timings", "memory", "start", "targets"]
    assert list(results["machine"]) == ["processor", "processors", "system", "clock"]
    assert list(results["sets"][0]) == ["name", "m", "n", "entries", "loss", "lam", "why"]
    timing = ["set", "order", "contestant", "status", "why", "steps", "entries", "difference", "bound", "seconds"]
    assert {tuple(entry) for entry in results["timings"]} == {(*timing, "ns_per_entry", "parts")}
    assert list(results["memory"][0]) == ["set", "algorithm", "n", "m", "peak", "state", "weights", "met"]
    assert list(results["targets"][0]) == ["above", "below", "set", "order", "at_most", "limit", "ratio", "at_the_floor", "met"]


def test_figures_are_those_of_the_seconds(run):
    for entry in run[0]["timings"]:
        assert len(entry["seconds"]) in (3, 5)
        ns = np.array(entry["seconds"]) / entry["entries"] * 1e9
        assert entry["ns_per_entry"]["median"] == pytest.approx(np.median(ns))
        assert entry["ns_per_entry"]["least"] == pytest.approx(ns.min())
    whole = {entry["entries"] for entry in run[0]["timings"] if entry["contestant"] == "asgd loop"}
    assert whole == {DATA.X.nnz}


def test_memory_is_held_against_the_vectors(run):
    for entry, vectors in zip(run[0]["memory"], (1, 2, 2, 3), strict=True):
        assert (entry["state"], entry["weights"]) == (8 * vectors * entry["n"], 8 * entry["n"])
        assert entry["peak"] >= entry["state"] + entry["weights"]


def test_one_table_alone_is_written_and_printed(tmp_path, capsys):
    assert program.main(["--quick", "--only", "gaps", "--json", str(tmp_path / "g.json")]) == 0
    results = json.loads((tmp_path / "g.json").read_text("utf8"))
    assert results["gaps"] and "timings" not in results
    printed = capsys.readouterr().out
    assert all(entry["solver"] in printed for entry in results["gaps"])


def test_models_on_two_threads_are_held_against_one_and_printed(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(program, "QUICK_SETS", {"tiny": (200, 100, 10)})
    assert program.main(["--quick", "--only", "threads", "--json", str(tmp_path / "t.json")]) == 0
    found = json.loads((tmp_path / "t.json").read_text("utf8"))["threads"]["tiny"]
    assert [each["order"] for each in found] == ["cyclic", "permuted"]
    assert capsys.readouterr().out.count("tiny, ") == 2


@pytest.mark.nightly
def test_rows_in_parts_are_measured_and_computed_and_printed_apart(tmp_path, capsys):
    assert program.main(["--quick", "--only", "parts", "--json", str(tmp_path / "p.json")]) == 0
    assert set(json.loads((tmp_path / "p.json").read_text("utf8"))["parts"]) == {"gaps", "epochs", "beyond"}
    measured, computed = capsys.readouterr().out.split("Computed: ")
    assert "Measured: milliseconds" in measured and "1e+09   1e+08  64" in computed


def test_rows_in_parts_without_dask_are_said_to_need_it(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "proofs.bench.parts", raising=False)
    monkeypatch.delattr("proofs.bench.parts", raising=False)
    monkeypatch.setitem(sys.modules, "dask", None)
    assert program.main(["--quick", "--only", "parts"]) == 0
    assert "not run, dask is missing: pip install -e '.[dask]'" in capsys.readouterr().out


def test_scaling_is_written_and_printed(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(program, "QUICK_SWEEPS", (Sweep("T", (10, 100), (10, 20), {"m": 50, "n": 100, "k": 5}),))
    assert program.main(["--scaling", "--quick", "--json", str(tmp_path / "s.json")]) == 0
    assert json.loads((tmp_path / "s.json").read_text("utf8"))["kind"] == "scaling"
    assert "Entries touched, counted one by one against T" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sets", "S,Q"], "--sets must name some of S, M, L, XL; got 'Q'"),
        (["--data", "x.svm"], "--data needs --loss and --lam"),
        (["--lam", "1"], "--loss and --lam go with --data"),
        (["--sets", "S", "--scaling"], "--scaling and --sets do not go together"),
        (["--only", "files", "--sets", "S"], "--only and --sets do not go together"),
        (["--only", "gaps", "--scaling"], "--scaling and --only do not go together"),
        (["--data", "x.svm", "--loss", "log", "--lam", "1", "--sets", "S"], "--sets and --data do not go together"),
        (["--json", "/no/such/folder/bench.json"], "got '/no/such/folder/bench.json'"),
    ],
)
def test_wrong_usage_is_refused(arguments, message, capsys):
    with pytest.raises(SystemExit) as ended:
        program.main(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(
    ("content", "loss", "lam", "message"),
    [
        (None, "log", "1", "rows.svm"),
        ("1 1:2\n-1 2:1\n", "log", "-1", "lam"),
        ("1 1:2\n", "log", "1", "two rows"),
        ("1 1:9\n-1 1:8\n" * 200, "squared", "1e-290", "overflow"),
    ],
)
def test_bad_data_is_one_line_and_status_1(content, loss, lam, message, tmp_path, capsys):
    path = tmp_path / "rows.svm"
    if content is not None:
        path.write_text(content)
    assert program.main(["--data", str(path), "--loss", loss, "--lam", lam]) == 1
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""


def test_interrupt_writes_nothing(monkeypatch, tmp_path, capsys):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(program, "scale", interrupted)
    assert program.main(["--scaling", "--json", str(tmp_path / "bench.json")]) == 130
    assert "interrupted" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
