"""Table of the paper: every label has a proof, and README and code know the errata of the table."""

import re
from pathlib import Path

from proofs import paper, slips
from proofs.paper import ERRATA, LABELS
from proofs.plan import plan

ROOT = Path(__file__).parents[2]


def test_labels_are_those_of_the_paper_and_numbered_in_its_order():
    printed = [label for label in LABELS.values() if label.printed]
    equations = [label for label in printed if label.printed.startswith("eq. ")]
    assert [label.printed for label in equations] == [f"eq. {number}" for number in range(1, 20)]
    assert {label.printed for label in printed if label not in equations} == {
        *("Table 1", "Lemma 1", "Algorithm 1", "Algorithm 2", "Algorithm 3")
    }
    assert LABELS["eqn:buDef"].title == "eq. 9 (eqn:buDef)"
    assert LABELS["eqn:owCenterDef"].printed == "eq. 19"
    assert LABELS["E4"].section == LABELS["alg:casgd"].section == paper.SECTIONS[-1]
    assert LABELS["alg:casgd"].errata == ("E2", "E4")


def test_every_label_has_a_claim():
    assert {label for job in plan() for label in job.labels} == LABELS.keys()


def test_readme_has_the_errata_of_the_table():
    assert paper.errata_table() in (ROOT / "proofs" / "README.md").read_text("utf8")
    assert list(ERRATA) == list(slips.CHECKS) == [f"E{number}" for number in range(1, 18)]
    assert {label for each in ERRATA.values() for label in each.at} <= LABELS.keys()


def test_code_cites_only_errata_of_the_table():
    for folder in ("reference", "efficient", "proofs"):
        for file in (ROOT / folder).rglob("*.py"):
            assert set(re.findall(r"\bE\d+\b", file.read_text("utf8"))) <= ERRATA.keys(), file
