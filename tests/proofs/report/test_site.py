"""Site, built once from a ledger: true to it, whole by itself, and shown in a browser without a fault.

Each check of a page is tried on a page that is wrong on purpose.
"""

import contextlib
import io
import os
import re
import shutil
import warnings
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from proofs.course import live
from proofs.ledger import read_json, to_json
from proofs.paper import ERRATA, LABELS
from proofs.report import __main__ as program
from proofs.report.figures import PICTURES
from proofs.report.pages import ROOT
from proofs.report.site import _inside
from tests.proofs.report.ledgers import HOSTILE, LEDGER, small_pictures

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
pytestmark = pytest.mark.ci
IN_CLONE = (ROOT / "notebooks").is_dir()


class Parsed(HTMLParser):
    """Ids, links and pictures of a page, what it loads, and its text."""

    def __init__(self, text: str):
        super().__init__()
        self.ids, self.hrefs, self.loads, self.images, self.texts = [], [], [], [], []
        self.feed(text)
        self.text = " ".join("".join(self.texts).split())

    def handle_starttag(self, name, attributes):
        found = dict(attributes)
        self.ids += [found["id"]] if "id" in found else []
        self.hrefs += [found["href"]] if name == "a" and "href" in found else []
        self.loads += [found[key] for key in ("src", "href") if key in found and name in ("script", "img", "link", "iframe")]
        self.images += [found] if name == "img" else []

    def handle_data(self, data):
        self.texts.append(data)


def faults(pages: dict[str, Parsed]) -> list[str]:
    """List dead links, what is loaded from elsewhere, pictures without words and ids that occur twice, by page."""
    found = []
    for name, page in pages.items():
        for address in (*page.hrefs, *page.loads):
            parts = urlsplit(address)
            if parts.scheme in ("http", "https", "data") or parts.netloc:
                found += [f"{name}: loads {address}"] if address in page.loads and parts.scheme != "data" else []
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(name), unquote(parts.path))) if parts.path else name
            if (target not in pages and not (FOLDER[0] / target).is_file()) or (
                parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids
            ):
                found.append(f"{name}: leads nowhere: {address}")
        found += [f"{name}: no words for {image['src']}" for image in page.images if len(image.get("alt") or "") < 15]
        found += [f"{name}: twice: {each}" for each in sorted({each for each in page.ids if page.ids.count(each) > 1})]
    return found


FOLDER: list[Path] = []
"""Folder of the site, for what is no page."""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Folder of the site of the ledger, built by the program."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "mine.txt").write_text("mine")
    (folder / "site.txt").write_bytes(b"old.html\n../outside\nlinked/outside\nlinked\n.\n\xff\n")
    (folder / "linked").symlink_to(folder.parent)
    (folder / "old.html").write_text("old")
    (folder.parent / "outside").write_text("mine")
    (folder / "ledger.json").write_text(to_json(LEDGER), "utf8")
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # between Sphinx and its own extensions
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        patch.setattr(program, "draw", small_pictures)
        patch.setattr(live, "build", lambda folder: (folder.mkdir(), (folder / "index.html").write_text("live")))
        told = io.StringIO()
        with contextlib.redirect_stderr(told):
            assert program.main([str(folder), "--ledger", str(folder / "ledger.json")]) == 1
        assert told.getvalue() == ""  # Sphinx has nothing to warn of
    FOLDER[:] = [folder]
    return folder


@pytest.fixture(scope="module")
def pages(made):
    return {path.relative_to(made).as_posix(): Parsed(path.read_text("utf8")) for path in made.rglob("*.html")}


def test_file_behind_a_link_is_not_inside_the_folder(tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "_static").symlink_to(tmp_path)
    assert not _inside(tmp_path / "site", "_static/picture.svg")
    assert _inside(tmp_path / "site", "index.html") and _inside(tmp_path / "site", "new/index.html")


def test_build_replaces_its_own_files_only(made):
    assert not (made / "old.html").exists()
    assert (made / "mine.txt").read_text() == (made.parent / "outside").read_text() == "mine"
    listed = (made / "site.txt").read_text().split()
    assert all((made / name).is_file() for name in listed)
    assert not any(name.startswith(".") for name in os.listdir(made))


def test_pages_have_no_fault(pages):
    assert faults(pages) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("<a href='sgd.html'>", "x.html: leads nowhere: sgd.html"),
        ("<a href='index.html#no-such'>", "x.html: leads nowhere: index.html#no-such"),
        ("<img src='_static/scaling.svg' alt=''>", "x.html: no words for _static/scaling.svg"),
        ("<script src='https://example.org/a.js'></script>", "x.html: loads https://example.org/a.js"),
        ("<p id='a'><p id='a'>", "x.html: twice: a"),
    ],
)
def test_faults_sees_a_faulty_page(text, told, pages):
    assert faults({"index.html": pages["index.html"]} | {"x.html": Parsed(text)})[-1] == told


def test_site_has_every_part(made, pages):
    assert read_json(made / "proofs.json") == LEDGER
    everything = " ".join(page.text for page in pages.values())
    rows = [each for page in pages.values() for each in page.ids if re.fullmatch(r"entry-\d+", each)]
    assert sorted(rows) == sorted(f"entry-{number}" for number in range(1, len(LEDGER) + 1))
    for label, facts in LABELS.items():
        assert facts.why in everything, label
    shown = {image["src"] for name, page in pages.items() if "/" not in name for image in page.images}
    assert shown == {f"_static/{picture.name}.svg" for picture in PICTURES}
    assert all(name.lower() in pages["slips.html"].ids for name in ERRATA)
    board = pages["index.html"].text
    assert "FAILS" in board
    assert "HOLDS, against expectation" in board
    assert {"api-reference.html", "api-efficient.html", "glossary.html", "bench.html", "course.html"} <= set(pages)
    for name in ("reference.minimise", "efficient.State.run", "efficient.CASGDClassifier.partial_fit"):
        assert any(name in page.ids for page in pages.values()), name
    lemma = pages["stochastic-gradient-descent.html"]
    assert any(re.fullmatch(r"source/efficient/sgd\.html#L-\d+", href) for href in lemma.hrefs)
    assert "Proof: [w t , b t ]".replace(" ", "") in lemma.text.replace(" ", "")
    assert ("notebooks/01_sgd.html" in pages) == IN_CLONE
    assert not {Path(name).stem for name in pages} & {"exam", "exam_solutions", "quiz_answers"}


def test_hostile_text_of_the_ledger_is_shown_as_text(made, pages):
    shown = pages["sparse-vector-operations.html"].text
    assert shown.count(" ".join(HOSTILE.split()).replace("`", "").partition(" {{")[0].replace("`", "")) >= 4
    assert "{{ 7 * 7 }}" in shown
    text = (made / "sparse-vector-operations.html").read_text("utf8")
    assert "<script>document.title" not in text
    assert 'href="javascript:' not in text


def open_browser():
    from playwright.sync_api import sync_playwright

    if PROGRAM is None:
        if os.environ.get("CI"):
            pytest.fail("chromium must be installed where CI is set, or nothing has seen the site. Install it with apt-get")
        pytest.skip("there is no Chromium here; the site is checked without a browser only")
    return sync_playwright()


@pytest.fixture(scope="module")
def browser():
    with open_browser() as play:
        started = play.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield started
        started.close()


LOOKS = {
    "light": {"viewport": {"width": 1280, "height": 800}},
    "dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 800}},
    "phone, dark": {"viewport": {"width": 390, "height": 800}, "color_scheme": "dark"},
}
SEEN = ["index", "centering-and-translation-invariance", "slips", "glossary", "bench", "api-reference", "source/efficient/sgd"]
SEEN += ["notebooks/01_sgd"] * IN_CLONE

WRONG = """() => {
  const found = [];
  for (const math of document.querySelectorAll("math"))
    if (!math.closest("details:not([open])"))
      for (const part of math.querySelectorAll("mi, mn, mo")) {
        const box = part.getBoundingClientRect();
        if (part.textContent.trim() && !(box.width > 0 && box.height > 0)) found.push("no box: " + part.textContent);
      }
  for (const image of document.images)
    if (image.loading !== "lazy" && (!image.complete || !image.naturalWidth)) found.push("not loaded: " + image.src);
  const wide = document.documentElement.scrollWidth;
  if (wide > window.innerWidth) found.push("wider than the window: " + wide);
  for (const verdict of document.querySelectorAll("td.verdict, .board td")) {
    const box = verdict.getBoundingClientRect();
    if (box.width && (box.left < 0 || box.right > window.innerWidth)) found.push("off screen: " + verdict.textContent);
  }
  return [...new Set(found)];
}"""
"""Script that lists what is wrong with a page as it is shown."""

RULES = ["color-contrast", "image-alt", "link-name", "document-title", "html-has-lang", "td-headers-attr", "list", "dlitem"]


def seen(browser, address: str, look: dict, change: str = "", media: str | None = None) -> list[str]:
    """List what is wrong with a page in the browser: errors, addresses that are not files, what is hidden, low contrast."""
    from axe_playwright_python.sync_playwright import Axe

    context = browser.new_context(**look)
    page, found = context.new_page(), []
    page.on("console", lambda message: found.append(f"console: {message.text}") if message.type == "error" else None)
    page.on("pageerror", lambda error: found.append(f"error: {error}"))
    page.on(
        "request", lambda request: found.append(f"asks: {request.url}") if request.url[:5] not in ("file:", "data:") else None
    )
    page.goto(address)
    if media:
        page.emulate_media(media=media)
    if change:
        page.evaluate(change)
        page.wait_for_timeout(100)
    found += page.evaluate(WRONG)
    violations = Axe().run(page, options={"runOnly": RULES}).response["violations"]
    found += [f"{each['id']}: {node['html'][:100]}" for each in violations for node in each["nodes"]]
    context.close()
    return found


@pytest.mark.parametrize(
    ("name", "look"),
    [
        pytest.param(
            name, look, marks=[] if name == SEEN[0] or (name, look) == (SEEN[1], "phone, dark") else pytest.mark.nightly
        )
        for name in SEEN
        for look in LOOKS
    ],
)
def test_page_is_shown_without_fault(name, look, browser, made):
    assert seen(browser, (made / f"{name}.html").as_uri(), LOOKS[look]) == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("document.querySelector('.why').style.color = '#aaaaaa'", "color-contrast"),
        ("document.body.style.minWidth = '200vw'", "wider than the window"),
        ("console.error('1')", "console: 1"),
        *(
            pytest.param(*each, marks=pytest.mark.nightly)
            for each in (
                ("document.querySelectorAll('.formula').forEach(each => each.style.display = 'none')", "no box"),
                ("document.querySelector('td.verdict').style = 'position: fixed; left: 99vw'", "off screen"),
                ("fetch('https://example.org/').catch(() => 0)", "console: "),
                (
                    "document.body.append(Object.assign(new Image(), {src: 'no.png', alt: 'a picture of nothing'}))",
                    "not loaded",
                ),
            )
        ),
    ],
)
def test_faulty_page_is_seen(change, told, browser, made):
    address = (made / "stochastic-gradient-descent.html").as_uri()
    assert any(fault.startswith(told) for fault in seen(browser, address, LOOKS["phone"], change))


def test_hostile_text_runs_nothing(browser, made):
    page = browser.new_page()
    page.goto((made / "sparse-vector-operations.html").as_uri())
    assert "taken" not in page.title()
    page.close()


def test_proofs_are_open_in_print(browser, made):
    page = browser.new_page()
    page.goto((made / "stochastic-gradient-descent.html").as_uri())
    shown = "() => document.querySelector('details ol').checkVisibility({contentVisibilityAuto: true})"
    assert page.evaluate(shown) is False
    page.emulate_media(media="print")
    page.wait_for_function(shown, timeout=5000)  # the new style holds from the next frame on
    assert len(page.pdf()) > 50_000
    page.close()


def test_search_finds_a_word_without_a_server(browser, made):
    page = browser.new_page()
    page.goto((made / "search.html").as_uri() + "?q=centred")
    page.wait_for_selector("#search-results li a", timeout=5000)
    page.close()
