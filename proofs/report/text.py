"""Set the ledger's plain text and the paper's LaTeX as HTML."""

import re
from html import escape
from xml.etree import ElementTree

from latex2mathml.converter import convert
from markupsafe import Markup

MACROS = {
    r"\ow": r"\overline{\mathbf{w}}",
    r"\ob": r"\overline{b}",
    r"\ox": r"\overline{\mathbf{x}}",
    r"\bw": r"\mathbf{w}",
    r"\bv": r"\mathbf{v}",
    r"\bu": r"\mathbf{u}",
}
"""The paper's macros, and what they stand for."""

NAMESPACE = "http://www.w3.org/1998/Math/MathML"


def anchor(label: str) -> str:
    """Make the id of a heading, as Sphinx does."""
    return re.sub(r"[^a-z0-9]+", "-", label.lower())


PARTS = re.compile(
    r"`(?P<code>[^`]+)`"
    r"|(?P<base>(?<![A-Za-z_])[^\W\d_][\u0302\u0304]*'?|Σ)_(?P<sub>\{[^}]*\}|\([^)]*\)|π?(?:[A-Za-z]|\d+)(?![A-Za-z_]))"
    r"|\^(?P<sup>\{[^}]*\}|-?\w+)"
)


def words(text: str) -> Markup:
    """Set the ledger's plain text: `x` is code, w_t and Σ_{j<=t} have subscripts, 2^T a superscript, <= and >= are one sign.

    All else is escaped, and a run of white space is one space: an empty line would end the HTML and begin Markdown.
    """
    made, begin, text = "", 0, " ".join(text.split())
    for found in PARTS.finditer(text):
        made += _signs(text[begin : found.start()] + (found["base"] or ""))
        if found["code"]:
            made += f"<code>{escape(found['code'], quote=False)}</code>"
        else:
            tag = "sub" if found["sub"] else "sup"
            made += f"<{tag}>{_signs((found['sub'] or found['sup']).strip('{}()'))}</{tag}>"
        begin = found.end()
    return Markup(made + _signs(text[begin:]))


def _signs(text: str) -> str:
    return escape(text.replace("<=", "≤").replace(">=", "≥"), quote=False)


def mathml(latex: str, display: str = "block") -> Markup:
    """Convert a formula to a `math` element.

    A prime stands beside its letter: the sign is a raised one already, and raised again it floats above the line.
    """
    for macro, meaning in MACROS.items():
        latex = latex.replace(macro, meaning)
    latex = re.sub(r"\\mathbf\s+(\w)", r"\\mathbf{\1}", latex)
    root = ElementTree.fromstring(convert(latex, display=display))
    for element in root.iter():
        element.tag = element.tag.removeprefix(f"{{{NAMESPACE}}}")
    for element in list(root.iter()):
        if element.tag in ("msup", "msubsup") and set(element[-1].text or " ") == {"′"}:
            prime, beside = element[-1], ElementTree.Element("mrow")
            element.remove(prime)
            beside.extend((element[0], prime))
            if element.tag == "msup":
                element.tag, element[:] = "mrow", list(beside)
            else:
                element.tag, element[0] = "msub", beside
    return Markup(ElementTree.tostring(root, encoding="unicode"))
