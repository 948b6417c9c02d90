"""Formulas of the paper as MathML for a browser; their LaTeX is in `proofs.paper`."""

from xml.etree.ElementTree import Element, fromstring

from latex2mathml.converter import convert

MACROS = {
    r"\ow": r"\overline{\mathbf{w}}",
    r"\ob": r"\overline{b}",
    r"\ox": r"\overline{\mathbf{x}}",
    r"\bw": r"\mathbf{w}",
    r"\bv": r"\mathbf{v}",
    r"\bu": r"\mathbf{u}",
}
"""The paper's macros, and what they stand for."""

LOSSES = {
    "absolute": (r"|p - y|", r"\begin{cases} -1 & \text{if } p \leq y \\ 1 & \text{otherwise} \end{cases}"),
    "squared": (r"\frac{1}{2} (p - y)^2", r"p - y"),
    "hinge": (r"\max \{ 1 - p y, 0 \}", r"\begin{cases} -y & \text{if } p y \leq 1 \\ 0 & \text{otherwise} \end{cases}"),
    "log": (r"\log ( 1 + \exp(-p y) )", r"\frac{-y}{1 + \exp(p y)}"),
}
"""Table 1: each loss and its derivative."""


def mathml(latex: str, display: str = "block") -> Element:
    """The formula as a `math` element, without a namespace: a page in HTML needs none."""
    for macro, meaning in MACROS.items():
        latex = latex.replace(macro, meaning)
    text = convert(latex, display=display)
    return fromstring(text.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', ""))
