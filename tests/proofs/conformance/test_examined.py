"""Other people's implementations give what the table in the conformance README says of them."""

from pathlib import Path

import pytest

from proofs.conformance.examined import EXAMINED, HEAD, examine, row

NAMES = {each.name.split(",")[0]: each for each in EXAMINED}


README = Path(__file__).parents[3] / "proofs" / "conformance" / "README.md"


def stored_rows():
    return README.read_text("utf8").partition(HEAD)[2].partition("\n\n")[0].strip().splitlines()


def test_the_table_has_a_row_for_each_and_no_other():
    assert [line.split(" | ")[0] for line in stored_rows()] == [f"| {each.name}" for each in EXAMINED]


def test_scikit_learn_conforms_by_the_recipe():
    each = NAMES["scikit-learn `SGDClassifier`"]
    report = examine(each)
    assert report.passed, str(report)
    assert row(each, report).strip() in stored_rows()
    listed = {result.case.loss for result in report.results if result.verdict == "expected failure"}
    assert listed == {"absolute", "squared"}  # hinge and log conform without any exception


def test_its_own_intercept_on_sparse_rows_is_found_out():
    each = NAMES["scikit-learn with its own intercept"]
    report = examine(each)
    assert {fault for finding in report.diagnosis for faults in finding.faults for fault in faults} == {
        "bias not regularised",
        "damped bias",
    }
    assert row(each, report).strip() in stored_rows()


def test_the_authors_recovery_of_the_last_centred_predictor_is_found_out():
    each = NAMES["the author's C++"]
    (finding,) = examine(each).diagnosis
    assert finding.faults == (frozenset({"centred last predictor without its centre"}),)


def test_river_is_found_out():
    pytest.importorskip("river", reason="river is no dependency: its row was made where it is installed")
    (finding,) = examine(NAMES["river 0.26.1"]).diagnosis
    assert frozenset({"only stored entries shrunk"}) in finding.faults
