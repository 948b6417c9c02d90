"""Page of the report: whole by itself, true to the ledger, with links, captions and words for every picture."""

import base64
import re
from html.parser import HTMLParser
from itertools import pairwise
from typing import NamedTuple
from xml.etree import ElementTree

import pytest

from proofs.ledger import Entry
from proofs.paper import ERRATA, LABELS
from proofs.report import page
from proofs.report.figures import PICTURES, Drawn
from proofs.report.page import words
from reference import LOSSES
from tests.proofs.report.ledgers import LEDGER, whole_page

VOID = {"meta", "img", "br", "hr", "link", "input"}
FETCHING = {"script", "link", "iframe", "object", "embed", "video", "audio", "source", "use", "base"}


class Tag(NamedTuple):
    """Element, those that it is in, and the texts in it."""

    name: str
    attributes: dict
    above: tuple["Tag", ...]
    texts: list[str]

    @property
    def text(self):
        return "".join(self.texts)


class Parsed(HTMLParser):
    """Elements of a page in their order, and the tags that are not closed."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.unclosed, self._open = [], [], []
        self.feed(text)
        self.unclosed += [tag.name for tag in self._open]

    def handle_starttag(self, name, attributes):
        tag = Tag(name, dict(attributes), tuple(self._open), [])
        self.tags.append(tag)
        self._open += [tag] * (name not in VOID)

    def handle_endtag(self, name):
        if self._open and self._open[-1].name == name:
            self._open.pop()
        else:
            self.unclosed.append(f"/{name}")

    def handle_data(self, data):
        for tag in self._open:
            tag.texts.append(data)

    def all(self, *names, inside=None, **attributes):
        """Tags with one of these names, with these attributes, inside that tag."""
        found = [tag for tag in self.tags if tag.name in names and attributes.items() <= tag.attributes.items()]
        return found if inside is None else [tag for tag in found if any(each is inside for each in tag.above)]


def plain(text: str) -> str:
    """Set the ledger's text as the page does, without the tags."""
    return "".join(ElementTree.fromstring(f"<p>{words(text)}</p>").itertext())


def faults(text: str, entries: list[Entry]) -> list[str]:
    """List what is wrong with the page of these entries, as far as it can be told without a browser."""
    parsed = Parsed(text)
    ids = [tag.attributes["id"] for tag in parsed.tags if "id" in tag.attributes]
    found = [f"not closed: {name}" for name in parsed.unclosed]
    found += [f"twice: {name}" for name in set(ids) if ids.count(name) > 1]
    for href in (tag.attributes["href"] for tag in parsed.all("a")):
        if href[1:] not in ids if href[0] == "#" else href not in ("proofs.json", "https://arxiv.org/abs/1612.09147"):
            found.append(f"no target: {href}")
    found += [f"fetches: {tag.name}" for tag in parsed.all(*FETCHING)]
    found += [f"fetches: {rule}" for tag in parsed.all("style") for rule in re.findall(r"url\(.*?\)|@import.*", tag.text)]
    for image in parsed.all("img"):
        kind, _, data = image.attributes["src"].partition(";base64,")
        if kind != "data:image/svg+xml" or len(ElementTree.fromstring(base64.b64decode(data))) == 0:
            found.append(f"no picture of its own: {image.attributes['src'][:40]}")
        if len(image.attributes.get("alt", "")) < 40:
            found.append("no words for a picture")
    levels = [int(tag.name[1]) for tag in parsed.all("h1", "h2", "h3", "h4")]
    if levels[0] != 1 or levels.count(1) != 1 or any(b > a + 1 for a, b in pairwise(levels)):
        found.append(f"headings out of order: {levels}")
    found += [f"not one {name}" for name in ("main", "nav", "header", "title") if len(parsed.all(name)) != 1]
    named = [*parsed.all("nav", "section"), *parsed.all("div", role="region")]
    found += [f"without a name: {tag.name}" for tag in named if tag.attributes.get("aria-labelledby") not in ids]
    if parsed.all("a")[0].attributes["href"] != "#main" or "lang" not in parsed.all("html")[0].attributes:
        found.append("no way to skip the contents, or no language")
    if len(parsed.all("caption")) != len(parsed.all("table")):
        found.append("a table without a caption")
    found += [f"head without scope: {tag.text}" for tag in parsed.all("th") if "scope" not in tag.attributes]
    return found + unlisted(parsed, entries)


def unlisted(parsed: Parsed, entries: list[Entry]) -> list[str]:
    """List the entries that are not there once, with their claim, evidence, figure and verdict."""
    rows = {tag.attributes["id"]: tag for tag in parsed.all("tr") if tag.attributes.get("id", "").startswith("entry-")}
    found = [] if len(rows) == len(entries) else [f"{len(rows)} rows for {len(entries)} entries"]
    for number, entry in enumerate(entries, start=1):
        right = False
        if row := rows.get(f"entry-{number}"):
            head, evidence, figure, verdict = (tag.text for tag in parsed.all("th", "td", inside=row))
            claims = [tag.text for tag in parsed.all("th", inside=row.above[-1], scope="rowgroup")]
            about = ", ".join(part for part in (entry.data, entry.algorithm, entry.loss) if part)
            right = [*claims, head][0].removesuffix(f" ({about})") == plain(entry.claim) and about in head
            right = right and evidence.endswith(plain(entry.evidence)) and figure == plain(entry.figure)
            right = right and verdict[2:] == entry.verdict
        if not right:
            found.append(f"not on the page: entry {number}")
    return found


@pytest.fixture(scope="module")
def whole():
    return whole_page()


def test_page_is_whole_and_lists_every_entry(whole):
    assert faults(whole, LEDGER) == []
    parsed = Parsed(whole)
    assert len(parsed.all("img")) == len(PICTURES)
    assert len(parsed.all("math")) == sum(len(facts.latex) for facts in LABELS.values()) + 2 * len(LOSSES)
    headings = [tag.text for tag in parsed.all("h3")]
    assert len(headings) == len(LABELS)
    assert all(any(heading.startswith(f"{name} ") for heading in headings) for name in ERRATA)
    top = whole[: whole.index('id="Introduction"')]
    assert "▲</span> FAILS" in top
    assert "▲</span> HOLDS, against expectation" in top


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('href="#alg-sgd"', 'href="#alg-sdg"', "no target: #alg-sdg"),
        ('href="proofs.json"', 'href="proof.json"', "no target: proof.json"),
        ("data:image/svg+xml;base64,", "https://example.org/", "no picture of its own"),
        ("</style>", "body { background: url(https://example.org/a.png) }</style>", "fetches: url("),
        ("</style>", "</style><script>1</script>", "fetches: script"),
        (' alt="A plot', ' alt="" title="A plot', "no words for a picture"),
        ("</table>", "", "not closed"),
        ('id="entry-7"', 'id="entry-8"', "twice: entry-8"),
        ('id="entry-7"', 'id="entry"', "not on the page: entry 7"),
        ("steps, 5 of 5 refuted", "steps, 4 of 5 refuted", "not on the page: entry 1"),
        ('<th scope="row"', '<th class="row"', "head without scope"),
        ('href="#main"', 'href="#errata"', "no way to skip"),
        ("<main ", "<main><main ", "not one main"),
        ("<h1>", "<h4>1</h4><h1>", "headings out of order"),
    ],
)
def test_faulty_page_is_told(old, new, told, whole):
    assert any(fault.startswith(told) for fault in faults(whole.replace(old, new, 1), LEDGER))


def test_mathml_has_no_latex_left():
    formulas = [latex for facts in LABELS.values() for latex in facts.latex]
    assert {label for label, facts in LABELS.items() if facts.printed and not facts.latex} == {"tab:losses"}
    for latex in formulas:
        made = ElementTree.fromstring(page.mathml(latex))
        assert made.tag == "math"
        assert "\\" not in "".join(made.itertext()), latex
        assert sum(tag.text == "ℓ" for tag in made.iter("mi")) == latex.count(r"\ell"), latex


def test_words_set_code_subscripts_and_signs():
    text = "`add_both` λw_{t−1} <= b̄'_t and Σ_{j=i}^t h_(i−1) x_πt y_π1, add_both w_t_ 2^-12 E1 & a < b"
    assert words(text) == (
        "<code>add_both</code> λw<sub>t−1</sub> ≤ b̄'<sub>t</sub> and Σ<sub>j=i</sub><sup>t</sup> h<sub>i−1</sub> "
        "x<sub>πt</sub> y<sub>π1</sub>, add_both w_t_ 2<sup>-12</sup> E1 &amp; a &lt; b"
    )


def test_numbers_of_a_bench_stand_under_its_picture():
    picture = PICTURES[-1]._replace(label=LEDGER[0].label)
    text = page.build(LEDGER[:1], [Drawn(picture, b'<svg width="1pt" height="1pt"/>', ["a < b"])])
    assert "<pre>a &lt; b</pre>" in text
