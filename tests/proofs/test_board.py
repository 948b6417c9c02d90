"""Board: a row for each statement, a cell for each kind, and no verdict that a cell could hide."""

import subprocess
import sys
from pathlib import Path

import pytest

from proofs.board import WIDTH, board, board_markdown, of_section
from proofs.ledger import KINDS, Entry, read_json
from proofs.paper import LABELS
from proofs.rocq.prover import CURE, coqc

ROOT = Path(__file__).parents[2]


def entry(label="lem:v", kind="exact", holds=True, expected=True, **fields):
    return Entry(label, "a claim", kind, "", "a figure", holds, expected=expected, **fields)


PAIR = ({}, {"holds": False, "expected": False})
WHOLE = [entry(label, kind, **fields) for label in LABELS for kind in KINDS for fields in PAIR]


@pytest.mark.parametrize(
    ("entries", "cell"),
    [
        ([entry(), entry()], "✓ 2"),
        ([entry(), entry(holds=False, expected=False)], "✓ 1+1"),
        ([entry(), entry(holds=False)], "✗ 1/2"),
        ([entry(), entry(holds=True, expected=False)], "✗ 1/2"),
    ],
)
def test_cell_says_what_holds_what_is_refuted_and_what_is_not_as_expected(entries, cell):
    head, row, *said = board(entries, {"kernel": "Install it", "exact": "Never said"})
    assert head.split() == list(KINDS)
    assert row.startswith("Lemma 1") and row.endswith(cell)
    assert head.index("exact") + len("exact") == len(row)
    assert [line for line in said if "not run" in line] == ["kernel: not run. Install it"]
    assert any("as expected" in line for line in said) == (cell != "✓ 2")


def test_board_of_the_whole_paper_has_a_row_for_each_statement_and_one_for_errata():
    lines, errata = board(WHOLE), [label for label in LABELS if label.startswith("E")]
    rows = [line for line in lines if "✓" in line and "claims hold" not in line]
    assert len(rows) == len(LABELS) - len(errata) + 1
    assert rows[-1].startswith("E1–E17") and rows[-1].count(f"✓ {len(errata)}+{len(errata)}") == len(KINDS)
    assert max(map(len, lines)) <= WIDTH
    table = board_markdown(WHOLE)
    assert [line.count("|") for line in table[: len(rows) + 2]] == [len(KINDS) + 2] * (len(rows) + 2)
    assert all(row.split("  ")[0] in table[number + 2] for number, row in enumerate(rows))


def test_section_shows_what_is_not_as_expected_in_full_and_the_rest_in_a_line():
    right, wrong = entry(mutants=3, refuted=3), Entry("alg:sgd", "claim " * 40, "float", "", "number " * 40, False)
    short, *failed = list(of_section("Section", [right, wrong], whole=False))[1:]
    assert short == f"  ✓ Lemma 1      {LABELS['lem:v'].words:<42}  1 hold, 3 of 3 mutants"
    assert failed[0].startswith("  ✗ Algorithm 1") and failed[-1].endswith("(float): FAILS")
    whole = list(of_section("Section", [right, wrong], whole=True))
    assert "    a figure (exact): holds" in whole
    assert max(map(len, failed + whole)) <= WIDTH


@pytest.mark.nightly
@pytest.mark.skipif(coqc() is None, reason=CURE)
def test_board_of_the_readme_is_that_of_the_whole_run(tmp_path):
    command = [sys.executable, "-m", "proofs", "--json", str(tmp_path / "proofs.json")]
    done = subprocess.run(command, capture_output=True, encoding="utf8", cwd=ROOT, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) <= 100 and max(map(len, lines)) <= WIDTH
    entries = read_json(str(tmp_path / "proofs.json"))
    assert set(board(entries)) <= set(lines)
    assert "\n".join(board_markdown(entries)) in (ROOT / "README.md").read_text("utf8")
