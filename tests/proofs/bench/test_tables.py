"""Targets and remarks of the bench, from made-up seconds."""

import pytest

from proofs.bench import contest, tables
from proofs.bench.tables import TARGETS, judged


def timed(seconds, contestant):
    return {"set": "S", "order": "random", "contestant": contestant, "seconds": seconds, "entries": 1}


@pytest.mark.parametrize(("factor", "met"), [(0.5, True), (2.0, False)])
def test_target_is_met_by_the_median_of_the_rounds(factor, met):
    for above, below, sign, limits, _ in TARGETS:
        limit = limits[1] * (factor if sign == "≤" else 1 / factor)
        verdicts = list(judged([timed([limit * 1.0, limit * 2.0, 1000.0], above), timed([1.0, 2.0, 3.0], below)]))
        assert [(entry["met"], entry["ratio"]["median"]) for entry in verdicts] == [(met, pytest.approx(limit))]


def test_target_says_what_the_floor_would_reach():
    *_, verdict = judged([timed([8.0], "scikit-learn loop"), timed([4.0], "asgd loop"), timed([2.0], "floor")])
    assert (verdict["ratio"]["median"], verdict["at_the_floor"], verdict["met"]) == (2.0, 4.0, False)
    assert list(tables.of_targets({"targets": [verdict]}))[1].endswith("missed, 4.00 at the floor's speed")
    assert list(tables.of_targets({"targets": [verdict | {"met": True}]}))[1].endswith("met")
    (verdict,) = judged([timed([8.0], "scikit-learn loop"), timed([4.0], "asgd loop")])
    assert verdict["at_the_floor"] is None


def test_refusal_at_a_kink_is_explained():
    refused = {"sets": [{"loss": "hinge", "why": ""}], "timings": [{"status": "refused"}]}
    assert len(list(tables.remarks(refused))) == 1
    assert list(tables.remarks({**refused, "sets": [{"loss": "log", "why": ""}]})) == []
    assert list(tables.remarks({**refused, "timings": [{"status": "timed"}]})) == []


def test_set_too_large_for_the_memory_is_passed_over():
    def too_large():
        raise MemoryError

    found: dict = {}
    assert list(contest(found, {"XXL": too_large}, 1)) == []
    assert found["sets"] == [{"name": "XXL", "why": "not enough memory"}]
    assert tables.of_set(found["sets"][0]) == "XXL: not enough memory"
    assert list(tables.remarks(found)) == []
