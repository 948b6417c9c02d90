"""Ledger: what an entry may hold, its verdict, and the order of the entries."""

import json
from functools import partial

import numpy as np
import pytest

from proofs.ledger import SAME, Entry, Job, fill, read_json, summary, to_json
from proofs.paper import LABELS, SECTIONS


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
    """Give the jobs in the wrong order: entries come in the paper's, by section, whole sections at a time."""
    filled = list(fill(jobs(reversed(LABELS))))
    assert [section for section, _ in filled] == list(SECTIONS)
    assert [entry.label for _, entries in filled for entry in entries] == list(LABELS)
    assert [(section, [entry.label for entry in found]) for section, found in fill(jobs(LABELS), {"E7", "cost"})] == [
        ("Sparse Vector Operations", ["cost", "E7"])
    ]
    assert list(fill(jobs(["cost"]), only={"alg:sgd"})) == []


def test_fill_yields_a_section_before_later_jobs_are_run():
    """Let the job of a later section have entries of an earlier one: that waits for it, and the ones before do not."""

    def both():
        yield Entry("cost", "claim", "kernel", "", "", True)
        yield Entry("alg:casgd", "claim", "kernel", "", "", True)

    started = []

    def noted(label):
        started.append(label)
        yield Entry(label, "claim", "exact", "", "", True)

    plan = [Job((label,), label, partial(noted, label)) for label in ("alg:casgd", "alg:sgd", "tab:losses", "cost")]
    filled = fill([*plan, Job(("cost", "alg:casgd"), "both", both)])
    assert next(filled)[0] == "Introduction" and started == ["tab:losses"]
    section, found = next(filled)
    assert (section, len(found), started) == ("Sparse Vector Operations", 2, ["tab:losses", "cost"])
    assert [(section, len(found)) for section, found in filled] == [
        ("Stochastic Gradient Descent", 1),
        ("Centering and Translation Invariance", 2),
    ]


def test_json_is_read_back_as_it_was(tmp_path):
    entries = [Entry("E4", "claim", "exact", "==", "figure", False, "spam", "sgd", "log", 1.5, 2.0, False, 3, 3)]
    path = tmp_path / "proofs.json"
    path.write_text(to_json(entries), "utf8")
    assert read_json(str(path)) == entries
    assert summary(entries) == [
        "3 of 3 mutants of formulas, losses and programs were refuted",
        "1 entries, 1 as expected, 0 not",
    ]
    compared = [Entry("alg:sgd", SAME, "exact", "==", "", holds) for holds in (True, False)]
    assert summary(compared)[0] == "efficient/ computes what reference/ defines: 1 of 2 exact comparisons are equal"
    current = json.loads(path.read_text("utf8"))
    for other, words in (
        (current | {"format": 3}, "its format is 3, and this version reads 2"),
        ({"entries": current["entries"]}, "its format is None"),
        (current | {"entries": [{}]}, "label"),
        *(
            (current | {"entries": [current["entries"][0] | {name: wrong}]}, name)
            for name in vars(entries[0])
            for wrong in ([], {})
        ),
        (current | {"entries": [current["entries"][0] | {"label": "eqn:nowhere"}]}, "label"),
        ([], "list"),
    ):
        path.write_text(json.dumps(other))
        with pytest.raises(ValueError, match=f"must be a ledger that .*: .*{words}"):
            read_json(str(path))
