"""Page of the report in a browser: formulas have boxes, links lead somewhere, colours have contrast, focus is seen."""

import json
import re
import shutil
import subprocess
from html import unescape

import pytest

from tests.proofs.report.ledgers import whole_page

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium here; the page is checked without a browser only")

SEEN = """
  const [skip] = document.links;
  if (skip.getClientRects().length) {
    skip.focus();
    if (skip.getBoundingClientRect().left < 0) found.push("focus is not seen");
    if (getComputedStyle(skip).outlineStyle !== "solid") found.push("focus has no outline");
    skip.click();
    if (document.activeElement.id !== "main") found.push("contents are not skipped");
  }
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
"""
"""Script that lists in `found` what is wrong with the page as it is shown."""

LISTEN = """<script>
const found = [];
addEventListener("securitypolicyviolation", event => found.push("refused: " + event.violatedDirective));
addEventListener("load", () => setTimeout(() => { %s parent.postMessage(found, "*"); }));
</script>"""
"""It stands before the page's own policy, which forbids scripts."""

LOOKS = {
    "light": {},
    "dark": {"dark": True},
    "narrow": {"width": 360},
    "narrow, dark": {"width": 360, "dark": True},
    "projector": {"width": 1920},
    "paper": {"width": 673, "paper": True},  # A4 less its margins
}


@pytest.fixture(scope="module")
def whole():
    return whole_page()


@pytest.fixture
def shown(tmp_path):
    """Function that opens a page in a frame, in a look, and returns what is wrong with it."""

    def show(text: str, width: int = 1280, dark: bool = False, paper: bool = False) -> list[str]:
        if dark:
            text = text.replace("@media screen and (prefers-color-scheme: dark)", "@media screen")
        if paper:
            text = text.replace("@media screen", "@media speech").replace("@media print", "@media all")
        text = text.replace("<head>", "<head>" + LISTEN % SEEN, 1)
        (tmp_path / "page.html").write_text(text, "utf8")
        file = tmp_path / "frame.html"
        listen = "<script>onmessage = event => { document.title = JSON.stringify(event.data); }</script>"
        file.write_text(f'{listen}<title></title><iframe width="{width}" height="800" src="page.html"></iframe>', "utf8")
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
        options += [f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=5000", "--dump-dom", file.as_uri()]
        done = subprocess.run([PROGRAM, *options], capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            pytest.skip(f"{PROGRAM} does not start; the page is checked without a browser only")
        return json.loads(unescape(re.search("<title>(.*?)</title>", done.stdout, re.S)[1]))

    return show


@pytest.mark.parametrize("look", LOOKS)
def test_page_is_shown_without_fault(look, shown, whole):
    assert shown(whole, **LOOKS[look]) == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('href="#alg-sgd"', 'href="#alg-sdg"', "leads nowhere: #alg-sdg"),
        ("base64,", "base64,AAAA", "not loaded: data:image/svg+xml"),
        ("--soft: #565656", "--soft: #999999", "low contrast 2.85"),
        (".holds {", ".holds { opacity: 0.5;", "low contrast"),
        ("</style>", "math { display: none }</style>", "no box"),
        ("</style>", ".formula { overflow: visible !important; width: 120vw }</style>", "wider than the window"),
        ('class="formula"><math ', 'class="formula"><mth ', "no formula"),
        (".skip:focus { left: 1rem;", ".skip:focus {", "focus is not seen"),
        ('tabindex="-1"', "", "contents are not skipped"),
        ("</body>", "<script>1</script></body>", "refused: script-src"),
        ("</body>", "<img src='https://example.org/a.png'></body>", "refused: img-src"),
    ],
)
def test_faulty_page_is_seen(old, new, told, shown, whole):
    assert old in whole
    assert any(fault.startswith(told) for fault in shown(whole.replace(old, new, 1)))


@pytest.mark.parametrize(
    ("old", "new", "look"),
    [
        ("--soft: #b3b3b0", "--soft: #666666", {"dark": True}),
        ("@media print {", "@media print { p { color: #999999; }", {"paper": True}),
    ],
)
def test_low_contrast_in_one_look_is_seen_there_alone(old, new, look, shown, whole):
    faulty = whole.replace(old, new)
    assert shown(faulty) == []
    assert any(fault.startswith("low contrast") for fault in shown(faulty, **look))
