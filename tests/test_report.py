"""The report page: whole by itself, true to the ledger, readable by eye, ear and keyboard; a page that is not must be told."""

import base64
import json
import os
import re
from html.parser import HTMLParser
from itertools import pairwise
from typing import NamedTuple
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import pytest

from proofs import bench, report
from proofs.bench.scaling import Sweep
from proofs.ledger import Entry
from proofs.paper import ERRATA, LABELS
from proofs.report import figures, formulas, page
from proofs.report.__main__ import main
from proofs.report.elements import element, words
from tests.browser import PROGRAM, Browser, NoBrowser

VOID = {"meta", "img", "br", "hr", "link", "input"}
FETCHING = {"script", "link", "iframe", "object", "embed", "video", "audio", "source", "use", "base"}


class Parsed(HTMLParser):
    """The elements of a page in their order, and the tags that are not closed."""

    class Element(NamedTuple):
        tag: str
        attributes: dict
        above: tuple["Parsed.Element", ...]
        texts: list[str]

        @property
        def text(self):
            return "".join(self.texts)

    def __init__(self, text):
        super().__init__()
        self.elements, self.unclosed, self._open = [], [], []
        self.feed(text)
        self.unclosed += [made.tag for made in self._open]

    def handle_starttag(self, tag, attributes):
        made = self.Element(tag, dict(attributes), tuple(self._open), [])
        self.elements.append(made)
        if tag not in VOID:
            self._open.append(made)

    def handle_endtag(self, tag):
        if self._open and self._open[-1].tag == tag:
            self._open.pop()
        else:
            self.unclosed.append(f"/{tag}")

    def handle_data(self, data):
        for made in self._open:
            made.texts.append(data)

    def all(self, *tags, **attributes):
        """The elements with one of these tags and with these attributes."""
        return [made for made in self.elements if made.tag in tags and attributes.items() <= made.attributes.items()]

    def inside(self, outer, *tags):
        return [made for made in self.elements if made.tag in tags and any(each is outer for each in made.above)]


def plain(text: str) -> str:
    """The ledger's text as it is on the page."""
    return "".join(element("p", *words(text)).itertext())


def faults(text: str, entries: list[Entry]) -> list[str]:
    """What is wrong with the page of these entries, as far as it can be told without a browser."""
    parsed = Parsed(text)
    found = [f"not closed: {tag}" for tag in parsed.unclosed]
    ids = [made.attributes["id"] for made in parsed.elements if "id" in made.attributes]
    found += [f"twice: {name}" for name in set(ids) if ids.count(name) > 1]
    for link in parsed.all("a"):
        target = link.attributes["href"]
        if target[0] == "#" and target[1:] not in ids:
            found.append(f"no target: {target}")
        elif target[0] != "#" and target not in ("proofs.json", "https://arxiv.org/abs/1612.09147"):
            found.append(f"strange link: {target}")
    found += [f"fetches: {made.tag}" for made in parsed.all(*FETCHING)]
    found += [f"fetches: {rule}" for style in parsed.all("style") for rule in re.findall(r"url\(.*?\)|@import.*", style.text)]
    for image in parsed.all("img"):
        kind, _, data = image.attributes["src"].partition(";base64,")
        if kind != "data:image/svg+xml":
            found.append(f"no picture of its own: {image.attributes['src'][:40]}")
        elif len(ElementTree.fromstring(base64.b64decode(data))) == 0:
            found.append("an empty picture")
        if len(image.attributes.get("alt", "")) < 40:
            found.append(f"no words for a picture: {image.attributes.get('alt')}")
    levels = [int(made.tag[1]) for made in parsed.all("h1", "h2", "h3", "h4", "h5", "h6")]
    if levels[0] != 1 or levels.count(1) != 1 or any(b > a + 1 for a, b in pairwise(levels)):
        found.append(f"headings out of order: {levels}")
    found += [f"not one {tag}" for tag in ("main", "nav", "header", "title") if len(parsed.all(tag)) != 1]
    named = [*parsed.all("nav", "section"), *parsed.all("div", role="region")]
    found += [f"without a name: {made.tag}" for made in named if made.attributes.get("aria-labelledby") not in ids]
    if parsed.all("a")[0].attributes["href"] != "#main" or "lang" not in parsed.all("html")[0].attributes:
        found.append("no way to skip the contents, or no language")
    if len(parsed.all("caption")) != len(parsed.all("table")):
        found.append("a table without a caption")
    found += [f"head without scope: {made.text}" for made in parsed.all("th") if "scope" not in made.attributes]
    return found + unlisted(parsed, entries)


def unlisted(parsed: Parsed, entries: list[Entry]) -> list[str]:
    """The entries that are not there once, with their claim, evidence, figure and verdict."""
    rows = [row for row in parsed.all("tr") if row.attributes.get("id", "").startswith("entry-")]
    evidence, there = "", {}
    for row in rows:
        head, *cells = parsed.inside(row, "th", "td")
        if len(cells) == 3:  # else the evidence of the row before stands for this one, too
            evidence = cells[0].text
        claims = [each.text for each in parsed.inside(row.above[-1], "th") if each.attributes.get("scope") == "rowgroup"]
        there[row.attributes["id"]] = [*claims, head.text], evidence, cells[-2].text, cells[-1].text
    found = [] if len(rows) == len(entries) else [f"{len(rows)} rows for {len(entries)} entries"]
    for number, entry in enumerate(entries, start=1):
        claims, evidence, figure, verdict = there.get(f"entry-{number}", ([""], "", "", ""))
        about = ", ".join(part for part in (entry.data, entry.algorithm, entry.loss) if part)
        right = claims[0].removesuffix(f" ({about})") == plain(entry.claim) and about in claims[-1]
        right = right and evidence.endswith(plain(entry.evidence)) and figure == plain(entry.figure)
        if not right or verdict[2:] != entry.verdict:
            found.append(f"not on the page: entry {number}")
    return found


def small_ledger() -> list[Entry]:
    """Of every label a claim that holds and one with several verdicts, in the ledger's way of writing."""
    entries = []
    for number, label in enumerate(LABELS):
        claim, figure = f"Σ_{{j<=t}} w_j = −(h_t v_t − u_t)/λ for `add_both` >= {number}", f"{number + 2} steps, 5 of 5 refuted"
        entries.append(Entry(label, claim, "for all t and n", figure, True, mutants=5, refuted=5))
        for loss, holds, expected in (("log", True, True), ("hinge", False, False)):
            claim, evidence = "b'_t is E‖ĝ_{T+1}‖², 2^T of them", "exact, ==, λ = 1/100"
            figure = f"p_t differs at ybar = -1, {loss} " + "9" * 40
            entries.append(Entry(label, claim, evidence, figure, holds, "spam counts", "casgd", loss, expected=expected))
    entries.append(Entry("cost", "c_t is too small", "counted", "1 of 2 runs equal", False))
    entries.append(Entry("E4", "t = 1 divides by 0", "measured in float64", "2.0", True, expected=False))
    entries.append(Entry("cost", "a claim", "seen in a dream", "3", True))
    return entries


LEDGER = small_ledger()


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A report of the claims about cost, whose clocks run on small data."""
    folder = tmp_path_factory.mktemp("cost")
    sweeps = (
        Sweep("T", (10, 100), (10, 100), {"m": 50, "n": 20, "k": 4}),
        Sweep("k", (2, 20), (2, 20), {"m": 20, "n": 50, "T": 30}, 5),
        Sweep("n", (10, 100), (10, 100), {"m": 20, "k": 4, "T": 30}, 5),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench, "QUICK_SETS", {"tiny": (80, 300, 12)})
        patch.setattr(bench, "QUICK_SWEEPS", sweeps)
        kept = []
        draw = figures.draw
        patch.setattr(figures, "draw", lambda *given: (kept.append(each) or each for each in draw(*given)))
        assert main([str(folder), "--only", "cost"]) == 0
    return folder, kept


@pytest.fixture(scope="module")
def whole(measured):
    """A page with every label, every verdict and every picture; those that take long to draw are stood in for."""
    figure = plt.figure(figsize=(4, 3))
    figure.subplots().plot([1, 2], label="line")
    drawn = {each.picture.name: each for each in measured[1]}
    for picture in figures.PICTURES:
        stand_in = picture._replace(axes=lambda *_: figure.axes)
        drawn.setdefault(picture.name, figures.Drawn(picture, stand_in.draw(None), None))
    return page.build(LEDGER, list(drawn.values()), None, 12.3)


def read(folder) -> tuple[str, list[Entry]]:
    """The page in the folder, and the entries of the ledger beside it."""
    assert sorted(os.listdir(folder)) == ["index.html", "proofs.json"]
    ledger = json.loads((folder / "proofs.json").read_text("utf8"))
    entries = [Entry(**{name: value for name, value in entry.items() if name != "section"}) for entry in ledger["entries"]]
    return (folder / "index.html").read_text("utf8"), entries


def test_the_whole_page(whole):
    assert faults(whole, LEDGER) == []
    parsed = Parsed(whole)
    assert len(parsed.all("img")) == len(figures.PICTURES)
    assert len(parsed.all("math")) == sum(len(label.latex) for label in LABELS.values()) + 2 * len(formulas.LOSSES)
    headings = [made.text for made in parsed.all("h3")]
    assert len(headings) == len(LABELS)
    assert all(any(heading.startswith(f"{name} ") for heading in headings) for name in ERRATA)
    top = whole[: whole.index('id="Introduction"')]
    assert "▲</span> FAILS" in top
    assert "▲</span> HOLDS, against expectation" in top
    assert len(whole) < 5e6


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('href="#alg-sgd"', 'href="#alg-sdg"', "no target: #alg-sdg"),
        ('href="proofs.json"', 'href="proof.json"', "strange link"),
        ("data:image/svg+xml;base64,", "https://example.org/", "no picture of its own"),
        ('src="data', 'src="picture.svg" data="', "no picture of its own"),
        ("</style>", "body { background: url(https://example.org/a.png) }</style>", "fetches: url("),
        ("</style>", "</style><script>1</script>", "fetches: script"),
        (' alt="A plot', ' alt="" title="A plot', "no words for a picture"),
        ("</table>", "", "not closed"),
        ("<h3", "<h4", "not closed"),
        ('id="entry-7"', 'id="entry-8"', "twice: entry-8"),
        ('id="entry-7"', 'id="entry"', "not on the page: entry 7"),
        ("steps, 5 of 5 refuted", "steps, 4 of 5 refuted", "not on the page: entry 1"),
        ("<caption", "<p", "not closed"),
        ('<th scope="row"', '<th class="row"', "head without scope"),
        ('href="#main"', 'href="#slips"', "no way to skip"),
        ("<main ", "<main><main ", "not one main"),
    ],
)
def test_a_spoilt_page_is_told(old, new, told, whole):
    assert any(fault.startswith(told) for fault in faults(whole.replace(old, new, 1), LEDGER))


@pytest.mark.parametrize("level", ["2", "4"])
def test_headings_out_of_order_are_told(level, whole):
    spoilt = whole.replace("<h1>", f"<h{level}>").replace("</h1>", f"</h{level}>")
    assert any(fault.startswith("headings") for fault in faults(spoilt, LEDGER))


def test_every_label_of_the_paper_has_its_formula():
    assert {name for name, label in LABELS.items() if label.printed and not label.latex} == {"tab:losses"}  # which has a table
    assert formulas.LOSSES.keys() == {"absolute", "squared", "hinge", "log"}
    for text in (*(text for label in LABELS.values() for text in label.latex), *sum(formulas.LOSSES.values(), ())):
        made = formulas.mathml(text)
        assert made.tag == "math"
        assert "\\" not in "".join(made.itertext()), text
        assert sum(tag.text == "ℓ" for tag in made.iter("mi")) == text.count(r"\ell"), text


def test_words():
    text = "`add_both` λw_{t−1} <= b̄'_t and Σ_{j=i}^t h_(i−1) x_πt y_π1, add_both w_t_ 2^-12 E1"
    shown = ElementTree.tostring(element("p", *words(text)), encoding="unicode").strip()
    assert shown == (
        "<p><code>add_both</code> λw<sub>t−1</sub> ≤ b̄'<sub>t</sub> and Σ<sub>j=i</sub><sup>t</sup> h<sub>i−1</sub> "
        "x<sub>πt</sub> y<sub>π1</sub>, add_both w_t_ 2<sup>-12</sup> E1</p>"
    )


def test_a_report_of_one_label(tmp_path, capsys):
    assert main([str(tmp_path / "new"), "--only", "lem:v"]) == 0
    text, entries = read(tmp_path / "new")
    assert {entry.label for entry in entries} == {"lem:v"}
    assert faults(text, entries) == []
    assert "python -m proofs.report DIR --only lem:v" in text
    printed = capsys.readouterr().out.splitlines()
    assert printed[-2:] == [f"{len(entries)} entries, {len(entries)} as expected, 0 not", str(tmp_path / "new" / "index.html")]


def test_a_report_with_a_picture(tmp_path):
    assert main([str(tmp_path), "--only", "guarantee"]) == 0
    text, entries = read(tmp_path)
    assert faults(text, entries) == []
    assert re.findall(r'id="picture-(\w+)"', text) == ["guarantee"]


def test_a_report_with_clocks(measured):
    folder, drawn = measured
    text, entries = read(folder)
    assert faults(text, entries) == []
    assert [each.picture.name for each in drawn] == re.findall(r'id="picture-(\w+)"', text) == ["scaling", "speed"]
    scaling, speed = (each.results for each in drawn)
    rows = [made.text for made in Parsed(text).all("tr")]
    for entry in scaling["curves"] + scaling["counts"]:
        shown = f"{entry['algorithm']}, {entry['part']}", f"{round(entry['last_exponent'], 2) + 0.0:.2f}"
        assert any(row.startswith(shown[0]) and shown[1] in row for row in rows)
    for entry in speed["timings"]:
        assert any(row.startswith(entry["contestant"]) and f"{entry['ns_per_entry']['median']:.2f}" in row for row in rows)
    again = drawn[1].picture.draw(speed)
    assert again == drawn[1].svg


@pytest.mark.parametrize("where", ["file", "missing/folder", ""])
def test_a_bad_folder_is_told_before_anything_is_computed(where, tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("mine")
    monkeypatch.setattr(report, "fill", lambda *_: pytest.fail("computed"))
    with pytest.raises(SystemExit) as ended:
        main([where and str(tmp_path / where)])
    assert ended.value.code == 2
    assert f"cannot write into the folder {where and tmp_path / where}" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["file"]
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("there", [False, True])
def test_an_interrupted_report_leaves_nothing_new(there, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "report"
    if there:
        folder.mkdir()
        (folder / "index.html").write_text("old")

    def cut_off(*_):
        yield LEDGER[0]
        raise KeyboardInterrupt

    monkeypatch.setattr(report, "fill", cut_off)
    assert main([str(folder)]) == 130
    assert capsys.readouterr().err == "proofs: interrupted; the page was not written\n"
    assert [file.name for file in tmp_path.rglob("*")] == (["report", "index.html"] if there else [])


def test_an_interrupt_while_writing_leaves_the_old_page(tmp_path, monkeypatch):
    (tmp_path / "index.html").write_text("old")
    replace = os.replace

    def cut_off(source, target):
        if target.endswith("html"):
            raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(report, "fill", lambda *_: LEDGER[:1])
    monkeypatch.setattr(os, "replace", cut_off)
    assert main([str(tmp_path)]) == 130
    assert (tmp_path / "index.html").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["index.html", "proofs.json"]


@pytest.mark.parametrize("entries", [[], [Entry("lem:v", "a claim", "exact", "1 of 2", False)]])
def test_a_ledger_that_is_not_as_expected_is_written_and_told(entries, tmp_path, monkeypatch):
    monkeypatch.setattr(report, "fill", lambda *_: entries)
    assert main([str(tmp_path)]) == 1
    assert faults(*read(tmp_path)) == []


SEEN = """
(() => {
  const found = [];
  for (const math of document.querySelectorAll("math"))
    for (const part of math.querySelectorAll("mi, mn, mo, mtext, mfrac, mtable")) {
      const box = part.getBoundingClientRect();
      if (part.textContent.trim() && !(box.width > 0 && box.height > 0)) found.push("no box: " + part.textContent);
    }
  for (const place of document.querySelectorAll("math, .formula")) {
    const box = place.getBoundingClientRect();
    if (!(box.width > 5 && box.height > 5)) found.push("no box: " + place.textContent);
    const formula = place.localName === "math" ? place : place.firstElementChild;
    if (!(formula instanceof MathMLElement)) found.push("no formula: " + place.textContent);
  }
  for (const image of document.images)
    if (!image.complete || !image.naturalWidth) found.push("not loaded: " + image.src.slice(0, 40));
  for (const link of document.querySelectorAll("a[href^='#']")) {
    link.click();
    if (document.querySelector(":target") === null) found.push("leads nowhere: " + link.hash);
  }
  location.hash = "";
  const wide = document.documentElement.scrollWidth;
  if (wide > window.innerWidth) found.push("wider than the window: " + wide);
  const channels = text => text.match(/[\\d.]+/g).map(Number);
  const luminance = colour => {
    const [r, g, b] = colour.map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = element => {
    for (let above = element; above; above = above.parentElement) {
      const colour = channels(getComputedStyle(above).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
      if (colour[3] > 0) found.push("half transparent: " + above.tagName);
    }
    return null;
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode.textContent.trim(), element = texts.currentNode.parentElement;
    const style = getComputedStyle(element);
    if (!text || !element.getClientRects().length) continue;
    const below = behind(element), ink = channels(style.color);
    const [dark, light] = [luminance(below), luminance(ink)].sort((a, b) => a - b);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    const contrast = (light + 0.05) / (dark + 0.05);
    if (contrast < (large ? 3 : 4.5) || ink.length > 3 || style.opacity < 1)
      found.push("low contrast " + contrast.toFixed(2) + ": " + text.slice(0, 40));
  }
  return found;
})()
"""
"""What is wrong with the page as it is shown."""

LOOKS = {
    "light": {},
    "dark": {"scheme": "dark"},
    "narrow": {"width": 360},
    "narrow, dark": {"width": 360, "scheme": "dark"},
    "projector": {"width": 1920},
    "print": {"width": 673, "media": "print"},  # A4 less its margins
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if PROGRAM is None:
        pytest.skip("there is no Chromium here; the page is checked without a browser only")
    try:
        with Browser(tmp_path_factory.mktemp("profile")) as opened:
            yield opened
    except NoBrowser as error:
        pytest.skip(f"{PROGRAM} does not start, {error}; the page is checked without a browser only")


@pytest.fixture
def shown(browser, tmp_path):
    """A function that opens a page in a look and returns what is wrong with it."""

    def show(text: str, **look) -> list[str]:
        file = tmp_path / "index.html"
        file.write_text(text, "utf8")
        browser.look(**look)
        browser.open(file.as_uri())
        found = browser.run(SEEN)
        found += [f"complaint: {told}" for told in browser.complaints]
        return found + [f"fetched: {url}" for url in browser.fetched if url.partition("#")[0] != file.as_uri()]

    return show


@pytest.mark.parametrize("look", LOOKS)
def test_the_page_in_the_browser(look, shown, browser, whole):
    assert shown(whole, **LOOKS[look]) == []
    preferred = browser.run("matchMedia('(prefers-color-scheme: dark)').matches")
    assert preferred == ("dark" in look)
    assert browser.run("innerWidth") >= browser.run("document.body.clientWidth") > 0
    assert browser.run("getComputedStyle(document.querySelector('nav')).display === 'none'") == (look == "print")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('href="#alg-sgd"', 'href="#alg-sdg"', "leads nowhere: #alg-sdg"),
        ("base64,", "base64,AAAA", "not loaded: data:image/svg+xml"),
        ('src="data', 'src="missing.svg" title="data', "not loaded: file:"),
        ('src="data', 'src="missing.svg" title="data', "complaint: "),
        ("--soft: #565656", "--soft: #999999", "low contrast 2.85"),
        ("--ink: #1c1c1c", "--ink: #ffffff", "low contrast 1.00"),
        (".holds {", ".holds { opacity: 0.5;", "low contrast"),
        ("</style>", "math { display: none }</style>", "no box"),
        ("</style>", ".formula { overflow: visible !important; width: 120vw }</style>", "wider than the window"),
        ('class="formula"><math ', 'class="formula"><mth ', "no formula"),
        ("</body>", "<script>1</script></body>", "complaint: "),
        ("</body>", "<img src='https://example.org/a.png'></body>", "complaint: "),
    ],
)
def test_a_spoilt_page_is_seen(old, new, told, shown, whole):
    assert any(fault.startswith(told) for fault in shown(whole.replace(old, new, 1)))


def test_low_contrast_in_the_dark_is_seen_there_alone(shown, whole):
    spoilt = whole.replace("--soft: #b3b3b0", "--soft: #666666")
    assert shown(spoilt) == []
    assert any(fault.startswith("low contrast") for fault in shown(spoilt, scheme="dark"))


def test_the_keyboard_finds_its_way(shown, browser, whole):
    shown(whole)
    for key in ("Tab", "Enter"):
        if key == "Enter":
            box = browser.run("document.activeElement.getBoundingClientRect().left")
            assert browser.run("document.activeElement.textContent") == "Skip to the ledger"
            assert box >= 0
            assert browser.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        text = {"text": "\r"} if key == "Enter" else {}
        code = {"Tab": 9, "Enter": 13}[key]
        for kind in ("keyDown", "keyUp"):
            browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **text)
    assert browser.run("document.activeElement.id") == "main"
