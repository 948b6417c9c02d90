"""Formulas and plain text of the ledger as HTML."""

from xml.etree import ElementTree

import pytest

from proofs.paper import LABELS
from proofs.report.text import mathml, words


def test_mathml_has_no_latex_left():
    formulas = [latex for facts in LABELS.values() for latex in facts.latex]
    assert {label for label, facts in LABELS.items() if facts.printed and not facts.latex} == {"tab:losses"}
    for latex in formulas:
        made = ElementTree.fromstring(mathml(latex))
        assert made.tag == "math"
        assert "\\" not in "".join(made.itertext()), latex
        assert sum(tag.text == "ℓ" for tag in made.iter("mi")) == latex.count(r"\ell"), latex
        assert sum((tag.text or "").count("′") for tag in made.iter()) == latex.count("'"), latex


@pytest.mark.parametrize("latex", ["b'", "b'_t", r"\ob'_t"])
def test_mathml_sets_a_prime_beside_its_letter(latex):
    made = ElementTree.fromstring(mathml(latex))
    (row,) = [each for each in made.iter() if len(each) and each[-1].text == "′"]
    assert row.tag == "mrow"
    assert [each.tag for each in made.iter() if each.tag in ("msup", "msubsup")] == []


def test_words_set_code_subscripts_and_signs():
    text = "`add_both` λw_{t−1} <= b̄'_t and Σ_{j=i}^t h_(i−1) x_πt y_π1, add_both w_t_ 2^-12 E1 & a < b\n\n# c"
    assert words(text) == (
        "<code>add_both</code> λw<sub>t−1</sub> ≤ b̄'<sub>t</sub> and Σ<sub>j=i</sub><sup>t</sup> h<sub>i−1</sub> "
        "x<sub>πt</sub> y<sub>π1</sub>, add_both w_t_ 2<sup>-12</sup> E1 &amp; a &lt; b # c"
    )
