"""Ledger: what an entry may hold, its verdict, and the order of the entries."""

from functools import partial

import numpy as np
import pytest

from proofs.ledger import Entry, Job, fill, read_json, summary, to_json
from proofs.paper import LABELS


@pytest.mark.parametrize("field", [{"holds": np.True_}, {"value": np.int64(1)}, {"bound": float("nan")}, {"kind": "seen"}])
def test_entry_refuses_what_json_cannot_hold_and_unknown_kinds(field):
    with pytest.raises((TypeError, ValueError), match="'claim'"):
        Entry(**{"label": "cost", "claim": "claim", "kind": "exact", "evidence": "", "figure": "", "holds": True, **field})


def test_verdict_says_whether_it_was_expected():
    words = {
        (True, True): "holds",
        (False, True): "FAILS",
        (False, False): "refuted, as expected",
        (True, False): "HOLDS, against expectation",
    }
    for (holds, expected), word in words.items():
        entry = Entry("cost", "claim", "float", "evidence", "figure", holds, expected=expected)
        assert entry.verdict == word
        assert entry.as_expected == (holds == expected)


def jobs(labels):
    return [
        Job((label,), label, partial(lambda label: [Entry(label, "claim", "exact", "", "", True)], label)) for label in labels
    ]


def test_fill_shares_out_a_long_list_in_order():
    assert [entry.label for entry in fill(jobs(LABELS))] == list(LABELS)
    assert [entry.label for entry in fill(jobs(LABELS), only="cost")] == ["cost"]
    assert list(fill(jobs(["cost"]), only="alg:sgd")) == []


def test_json_is_read_back_as_it_was(tmp_path):
    entries = [Entry("E4", "claim", "exact", "==", "figure", False, "spam", "sgd", "log", 1.5, 2.0, False, 3, 3)]
    path = tmp_path / "proofs.json"
    path.write_text(to_json(entries), "utf8")
    assert read_json(str(path)) == entries
    assert summary(entries) == [
        "3 of 3 mutants of formulas, losses and programs were refuted",
        "1 entries, 1 as expected, 0 not",
    ]
    path.write_text('{"entries": [{}]}')
    with pytest.raises(ValueError, match="must be a ledger"):
        read_json(str(path))
