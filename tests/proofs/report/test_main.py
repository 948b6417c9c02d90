"""Program of the site: written whole or not at all, and wrong arguments are refused before the work."""

import os
import re
import signal
import subprocess
import sys
import time
import warnings

import pytest

from proofs import bench
from proofs.bench.scaling import Sweep
from proofs.ledger import Entry, read_json, to_json
from proofs.report import __main__ as program
from proofs.report import site
from proofs.report.pages import ROOT
from tests.proofs.report.ledgers import LEDGER


@pytest.fixture
def built(monkeypatch):
    """Calls of `build`, which does nothing."""
    calls = []
    monkeypatch.setattr(program, "build", lambda *arguments: calls.append(arguments))
    return calls


@pytest.mark.nightly
def test_site_of_one_label_has_its_entries_and_picture(tmp_path, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # between Sphinx and its own extensions
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        assert program.main([str(tmp_path / "new"), "--only", "guarantee"]) == 0
    done, entries = capsys.readouterr(), read_json(tmp_path / "new" / "proofs.json")
    assert {entry.label for entry in entries} == {"guarantee"}
    assert done.out.splitlines()[-2:] == [
        f"{len(entries)} entries, {len(entries)} as expected, 0 not",
        str(tmp_path / "new" / "index.html"),
    ]
    assert done.err == ""  # Sphinx has nothing to warn of
    shown = {path: path.read_text("utf8") for path in (tmp_path / "new").glob("*.html")}
    assert re.findall(r'<figure id="picture-(\w+)"', "".join(shown.values())) == ["guarantee"]
    assert "python -m proofs.report DIR --only guarantee" in shown[tmp_path / "new" / "reproduce.html"]


def test_site_of_a_written_ledger_computes_no_claim(tmp_path, monkeypatch, built):
    """Run the clocks of the pictures about cost on small data."""
    sweeps = (
        Sweep("T", (10, 100), (10, 100), {"m": 50, "n": 20, "k": 4}),
        Sweep("k", (2, 20), (2, 20), {"m": 20, "n": 50, "T": 30}, 5),
        Sweep("n", (10, 100), (10, 100), {"m": 20, "k": 4, "T": 30}, 5),
    )
    monkeypatch.setattr(bench, "QUICK_SWEEPS", sweeps)
    monkeypatch.setattr(program, "fill", lambda *_: pytest.fail("computed"))
    (tmp_path / "ledger.json").write_text(to_json(LEDGER), "utf8")
    assert program.main([str(tmp_path / "site"), "--only", "cost", "--ledger", str(tmp_path / "ledger.json")]) == 1
    ((folder, entries, drawn, only),) = built
    assert (folder, only) == (tmp_path / "site", "cost")
    assert entries == [entry for entry in LEDGER if entry.label == "cost"]
    assert [each.picture.name for each in drawn] == ["scaling"]
    assert any("exponent" in line for line in drawn[0].lines)


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


def test_interrupt_while_building_leaves_the_old_site(tmp_path, monkeypatch, capsys):
    (tmp_path / "index.html").write_text("old")

    def cut_off(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(program, "fill", lambda *_: [("Introduction", LEDGER[:1])])
    monkeypatch.setattr(program, "draw", lambda *_: [])
    monkeypatch.setattr(site, "Sphinx", cut_off)
    assert program.main([str(tmp_path)]) == 130
    assert os.listdir(tmp_path) == ["index.html"]
    assert (tmp_path / "index.html").read_text() == "old"


@pytest.mark.nightly
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_signal_while_sphinx_works_leaves_the_old_site(sent, tmp_path):
    (tmp_path / "index.html").write_text("old")
    (tmp_path / "ledger.json").write_text(to_json(LEDGER[:1]), "utf8")
    command = [sys.executable, "-m", "proofs.report", str(tmp_path), "--ledger", str(tmp_path / "ledger.json")]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as started:
        until = time.monotonic() + 120
        while not list(tmp_path.glob(".site-*/doctrees/*")) and time.monotonic() < until:
            time.sleep(0.05)
        started.send_signal(sent)
        assert started.wait(60) == 130
        assert "interrupted" in started.stderr.read()
    assert sorted(os.listdir(tmp_path)) == ["index.html", "ledger.json"]


def test_site_without_sphinx_names_the_extra(tmp_path):
    code = "import sys, runpy; sys.modules['sphinx'] = None; sys.argv[1:] = ['x']; runpy.run_module('proofs.report.__main__')"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "pip install -e '.[site]' in a clone" in done.stderr


@pytest.mark.parametrize("entries", [[], [Entry("lem:v", "a claim", "exact", "", "1 of 2", False)]])
def test_ledger_that_is_not_as_expected_is_shown_with_status_1(entries, tmp_path, monkeypatch, built):
    monkeypatch.setattr(program, "fill", lambda *_: [("a section", entries)])
    monkeypatch.setattr(program, "draw", lambda *_: [])
    assert program.main([str(tmp_path)]) == 1
    assert built == [(tmp_path, entries, [], None)]
