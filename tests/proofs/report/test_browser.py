"""Page of the report in a browser: formulas have boxes, links lead somewhere, colours have contrast, the keyboard works."""

import pytest

from tests.proofs.report.browser import PROGRAM, Browser, NoBrowser
from tests.proofs.report.ledgers import whole_page

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
"""Script that lists what is wrong with the page as it is shown."""

LOOKS = {
    "light": {},
    "dark": {"scheme": "dark"},
    "narrow": {"width": 360},
    "narrow, dark": {"width": 360, "scheme": "dark"},
    "projector": {"width": 1920},
    "print": {"width": 673, "media": "print"},  # A4 less its margins
}


@pytest.fixture(scope="module")
def whole():
    return whole_page()


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
    """Function that opens a page in a look and returns what is wrong with it."""

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
def test_page_is_shown_without_fault(look, shown, browser, whole):
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
def test_faulty_page_is_seen(old, new, told, shown, whole):
    assert any(fault.startswith(told) for fault in shown(whole.replace(old, new, 1)))


def test_low_contrast_in_the_dark_is_seen_there_alone(shown, whole):
    faulty = whole.replace("--soft: #b3b3b0", "--soft: #666666")
    assert shown(faulty) == []
    assert any(fault.startswith("low contrast") for fault in shown(faulty, scheme="dark"))


def test_keyboard_skips_the_contents(shown, browser, whole):
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
