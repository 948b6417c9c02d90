"""What each label of the paper says: a name in words, and the formulas as MathML for a browser.

The LaTeX is the paper's, with its macros for the vectors, in the form that holds; where the print differs, `SLIPS_AT` names
the slip.
"""

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

SAYS: dict[str, tuple[str, ...]] = {
    "tab:losses": ("the losses",),
    "eqn:objective": (
        "the objective",
        r"F(\bw, b) = \frac{\lambda}{2} \left( \|\bw\|^2 + b^2 \right) + \frac{1}{m} \sum_{i=1}^m \ell(\bw \cdot x_i + b, y_i)",
    ),
    "cost": (
        "what a run touches",
        r"\mathcal{O}(n + Tk) \quad\text{in place of}\quad \mathcal{O}(Tn)",
    ),
    "eqn:gradient": (
        "its gradient",
        r"\nabla F(\bw, b) = \lambda [\bw, b] + \frac{1}{m} \sum_{i=1}^m \ell'(\bw \cdot x_i + b, y_i) \; [x_i, 1]",
    ),
    "eqn:GDStep": (
        "the step",
        r"[\bw_t, b_t] = \left(1 - \frac{1}{t}\right) [\bw_{t-1}, b_{t-1}]"
        r" - \frac{\ell'(p_t, y_{\pi_t})}{\lambda t} \; [x_{\pi_t}, 1]",
        r"p_t = \bw_{t-1} \cdot x_{\pi_t} + b_{t-1}",
    ),
    "eqn:gradSum": (
        "the gradient sum",
        r"[\bv_t, a_t] = \sum_{j=1}^t \ell'(p_j, y_{\pi_j}) \; [x_{\pi_j}, 1]",
    ),
    "lem:v": (
        "the predictor is the gradient sum, scaled",
        r"\frac{-1}{\lambda t} [\bv_t, a_t] = [\bw_t, b_t] \quad\text{for all}\quad t \geq 1",
    ),
    "alg:sgd": ("SGD, the last iterate", r"\bw = \frac{-1}{\lambda T} \bv_T \qquad b = \frac{-a_T}{\lambda T}"),
    "guarantee": (
        "how near the mean of the iterates is",
        r"\mathbb{E}\,F(\ow_T, \ob_T) - F^\star \leq \frac{G^2 \, h_{T+1}}{2 \lambda T}",
    ),
    "eqn:naiveAverage": (
        "the mean of the iterates",
        r"\ow_t = \frac{1}{t} \sum_{j=1}^t \bw_j \quad\text{and}\quad \ob_t = \frac{1}{t} \sum_{j=1}^t b_j",
    ),
    "eqn:avgBias": ("the sum for the mean bias", r"c_t = \sum_{j=1}^t \frac{a_j}{j}"),
    "eqn:obDef": ("the mean bias", r"\ob_t = \frac{-c_t}{\lambda t}"),
    "eqn:sparseAverage": (
        "the mean without dense vectors",
        r"\ow_t = \frac{-1}{\lambda t} \left( h_t \bv_t - \sum_{i=1}^t h_{i-1} \, \ell'(p_i, y_{\pi_i}) \; x_{\pi_i} \right)",
    ),
    "eqn:buDef": (
        "the harmonic gradient sum",
        r"\bu_t = \sum_{i=1}^t h_{i-1} \, \ell'(p_i, y_{\pi_i}) \; x_{\pi_i}",
    ),
    "eqn:owDef": ("the mean weights", r"\ow_t = \frac{-1}{\lambda t} \left( h_t \bv_t - \bu_t \right)"),
    "alg:asgd": (
        "averaged SGD",
        r"\ow = \frac{-1}{\lambda T} \left( h_T \bv_T - \bu_T \right) \qquad \ob = \frac{-c_T}{\lambda T}",
    ),
    "eqn:explicitToImplicit": ("the implicit bias", r"b' = b - \bw \cdot \ox"),
    "eqn:wCenter": (
        "the predictor on centred rows",
        r"\bw_t = \frac{-1}{\lambda t} ( \bv_t - a_t \ox ) \quad\text{and}\quad b_t = \frac{-a_t}{\lambda t}",
    ),
    "eqn:zDef": ("the projection sum", r"z_t = z_{t-1} + \ell'(p_t, y_{\pi_t}) \, \ox \cdot x_{\pi_t}"),
    "eqn:bTagCenter": (
        "the implicit bias at every step",
        r"b'_t = \frac{-r_t}{\lambda t} \quad\text{where}\quad r_t = a_t (1 + \|\ox\|^2) - z_t",
    ),
    "eqn:pCenterDef": (
        "the centred prediction",
        r"p_t = \frac{-1}{\lambda (t-1)} \left( \bv_{t-1} \cdot x_{\pi_t} + r_{t-1} - a_{t-1} \, \ox \cdot x_{\pi_t} \right)"
        r" \quad\text{for all}\quad t \geq 2",
    ),
    "eqn:centerAvg": (
        "the mean of the centred iterates",
        r"\ow_t = \frac{1}{t} \sum_{j=1}^t \bw_j \quad\text{and}\quad \ob'_t = \frac{1}{t} \sum_{j=1}^t b'_j",
    ),
    "eqn:sDef": ("the sum for the mean implicit bias", r"s_t = \sum_{j=1}^t \frac{r_j}{j}"),
    "obCenterDef": ("the mean implicit bias", r"\ob'_t = \frac{1}{t} \sum_{j=1}^t b'_j = \frac{-s_t}{\lambda t}"),
    "eqn:owCenterDef": (
        "the mean weights on centred rows",
        r"\ow_t = \frac{-1}{\lambda t} \left( h_t \bv_t - \bu_t - c_t \ox \right)",
    ),
    "alg:casgd": (
        "centred averaged SGD",
        r"\ow = \frac{-1}{\lambda T} \left( h_T \bv_T - \bu_T - c_T \ox \right) \qquad \ob' = \frac{-s_T}{\lambda T}",
    ),
    "translation": (
        "moving all rows by a constant",
        r"x_i \mapsto x_i + c \quad\text{gives}\quad \bw_t \mapsto \bw_t, \quad b'_t \mapsto b'_t - \bw_t \cdot c",
    ),
    "pivot": ("digits kept far from the origin", r"\text{mean}^2 > 4 \; \text{variance}"),
}  # fmt: skip
"""For each label its name in words, and its formulas in LaTeX."""

LOSSES = {
    "absolute": (r"|p - y|", r"\begin{cases} -1 & \text{if } p \leq y \\ 1 & \text{otherwise} \end{cases}"),
    "squared": (r"\frac{1}{2} (p - y)^2", r"p - y"),
    "hinge": (r"\max \{ 1 - p y, 0 \}", r"\begin{cases} -y & \text{if } p y \leq 1 \\ 0 & \text{otherwise} \end{cases}"),
    "log": (r"\log ( 1 + \exp(-p y) )", r"\frac{-y}{1 + \exp(p y)}"),
}
"""Table 1: each loss and its derivative."""

SLIPS_AT = {
    "lem:v": ("E1",),
    "alg:sgd": ("E2",),
    "alg:asgd": ("E2",),
    "eqn:buDef": ("E3",),
    "alg:casgd": ("E2", "E4"),
    "eqn:pCenterDef": ("E15",),
}
"""Where the paper prints something else, and the slip that says what."""


def mathml(latex: str, display: str = "block") -> Element:
    """The formula as a `math` element, without a namespace: a page in HTML needs none."""
    for macro, meaning in MACROS.items():
        latex = latex.replace(macro, meaning)
    text = convert(latex, display=display)
    return fromstring(text.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', ""))
