"""Elements of a page, and the ledger's plain text set as mathematics."""

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element, tostring

BLOCKS = {"body", "header", "main", "nav", "section", "div", "p", "ul", "ol", "li", "table", "thead", "tbody", "tr", "figure",
          "head", "h1", "h2", "h3", "dl", "dt", "dd", "title", "meta", "style", "caption", "figcaption"}  # fmt: skip
"""After these a line ends, so that two pages can be compared line by line."""


def element(tag: str, *content, **attributes) -> Element:
    """An element with text and other elements in it. A trailing _ of an attribute's name is dropped, other _ become -."""
    made = Element(tag, {name.rstrip("_").replace("_", "-"): str(value) for name, value in attributes.items()})
    add(made, *content)
    if tag in BLOCKS:
        made.tail = "\n"
    return made


def add(parent: Element, *content) -> None:
    """Append text and elements."""
    for part in content:
        if isinstance(part, Element):
            parent.append(part)
        elif len(parent):
            parent[-1].tail = (parent[-1].tail or "") + str(part)
        else:
            parent.text = (parent.text or "") + str(part)


def document(root: Element) -> str:
    return "<!DOCTYPE html>\n" + tostring(root, encoding="unicode", method="html") + "\n"


PARTS = re.compile(
    r"`(?P<code>[^`]+)`"
    r"|(?P<base>(?<![A-Za-z_])[^\W\d_][\u0302\u0304]*'?|Σ)_(?P<sub>\{[^}]*\}|\([^)]*\)|π?(?:[A-Za-z]|\d+)(?![A-Za-z_]))"
    r"|\^(?P<sup>\{[^}]*\}|-?\w+)"
)


def words(text: str) -> Iterator[Element | str]:
    """The ledger's plain text: `x` is code, w_t and Σ_{j<=t} have subscripts, 2^T a superscript, <= and >= are one sign."""
    begin = 0
    for found in PARTS.finditer(text):
        yield _signs(text[begin : found.start()] + (found["base"] or ""))
        if found["code"]:
            yield element("code", found["code"])
        else:
            yield element("sub" if found["sub"] else "sup", _signs((found["sub"] or found["sup"]).strip("{}()")))
        begin = found.end()
    yield _signs(text[begin:])


def _signs(text: str) -> str:
    return text.replace("<=", "≤").replace(">=", "≥")
