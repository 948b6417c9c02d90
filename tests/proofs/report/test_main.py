"""Program of the report: the two files are written whole or not at all, and wrong arguments are refused before the work."""

import os
import re

import pytest

from efficient.runs.files import write_whole
from proofs import bench
from proofs.bench.scaling import Sweep
from proofs.ledger import Entry, read_json, to_json
from proofs.report import __main__ as program
from tests.proofs.report.ledgers import LEDGER
from tests.proofs.report.test_page import faults


def read(folder) -> tuple[str, list[Entry]]:
    """Read the page in the folder, and the entries of the ledger beside it."""
    assert sorted(os.listdir(folder)) == ["index.html", "proofs.json"]
    return (folder / "index.html").read_text("utf8"), read_json(folder / "proofs.json")


def test_report_of_one_label_has_its_entries_and_picture(tmp_path, capsys):
    assert program.main([str(tmp_path / "new"), "--only", "guarantee"]) == 0
    text, entries = read(tmp_path / "new")
    assert {entry.label for entry in entries} == {"guarantee"}
    assert faults(text, entries) == []
    assert re.findall(r'<figure id="picture-(\w+)"', text) == ["guarantee"]
    assert "python -m proofs.report DIR --only guarantee" in text
    printed = capsys.readouterr().out.splitlines()
    assert printed[-2:] == [f"{len(entries)} entries, {len(entries)} as expected, 0 not", str(tmp_path / "new" / "index.html")]


def test_report_of_a_written_ledger_computes_no_claim(tmp_path, monkeypatch):
    """Run the clocks of the pictures about cost on small data."""
    sweeps = (
        Sweep("T", (10, 100), (10, 100), {"m": 50, "n": 20, "k": 4}),
        Sweep("k", (2, 20), (2, 20), {"m": 20, "n": 50, "T": 30}, 5),
        Sweep("n", (10, 100), (10, 100), {"m": 20, "k": 4, "T": 30}, 5),
    )
    monkeypatch.setattr(bench, "QUICK_SETS", {"tiny": (80, 300, 12)})
    monkeypatch.setattr(bench, "QUICK_SWEEPS", sweeps)
    monkeypatch.setattr(program, "fill", lambda *_: pytest.fail("computed"))
    (tmp_path / "ledger.json").write_text(to_json(LEDGER), "utf8")
    assert program.main([str(tmp_path / "report"), "--only", "cost", "--ledger", str(tmp_path / "ledger.json")]) == 1
    text, entries = read(tmp_path / "report")
    assert entries == [entry for entry in LEDGER if entry.label == "cost"]
    assert faults(text, entries) == []
    assert re.findall(r'<figure id="picture-(\w+)"', text) == ["scaling", "speed"]
    numbers = re.findall(r"<pre>(.*?)</pre>", text, re.S)
    assert "exponent" in numbers[0] and "scikit-learn loop" in numbers[1]


@pytest.mark.parametrize("where", ["file", "missing/folder", ""])
def test_bad_folder_is_refused_before_the_work(where, tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("mine")
    monkeypatch.setattr(program, "fill", lambda *_: pytest.fail("computed"))
    with pytest.raises(SystemExit) as ended:
        program.main([where and str(tmp_path / where)])
    assert ended.value.code == 2
    assert f"DIR must be a folder that can be written; got {where and str(tmp_path / where)!r}" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["file"]
    assert (tmp_path / "file").read_text() == "mine"


def test_file_that_is_no_ledger_is_refused(tmp_path, capsys):
    (tmp_path / "file").write_text("{}")
    with pytest.raises(SystemExit):
        program.main([str(tmp_path / "report"), "--ledger", str(tmp_path / "file")])
    assert "--ledger" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("there", [False, True])
def test_interrupted_report_leaves_nothing_new(there, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "report"
    if there:
        folder.mkdir()
        (folder / "index.html").write_text("old")

    def cut_off(*_):
        yield "Introduction", LEDGER[:1]
        raise KeyboardInterrupt

    monkeypatch.setattr(program, "fill", cut_off)
    assert program.main([str(folder)]) == 130
    assert "interrupted" in capsys.readouterr().err
    assert [file.name for file in tmp_path.rglob("*")] == (["report", "index.html"] if there else [])


def test_interrupt_while_writing_leaves_the_old_page(tmp_path, monkeypatch):
    (tmp_path / "index.html").write_text("old")

    def cut_off(path, write):
        if path.endswith("html"):
            raise KeyboardInterrupt
        write_whole(path, write)

    monkeypatch.setattr(program, "fill", lambda *_: [("Introduction", LEDGER[:1])])
    monkeypatch.setattr(program, "write_whole", cut_off)
    assert program.main([str(tmp_path)]) == 130
    assert (tmp_path / "index.html").read_text() == "old"


@pytest.mark.parametrize("entries", [[], [Entry("lem:v", "a claim", "exact", "", "1 of 2", False)]])
def test_ledger_that_is_not_as_expected_is_written_with_status_1(entries, tmp_path, monkeypatch):
    monkeypatch.setattr(program, "fill", lambda *_: [("a section", entries)])
    assert program.main([str(tmp_path)]) == 1
    assert faults(*read(tmp_path)) == []
