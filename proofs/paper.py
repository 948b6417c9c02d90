"""Table of the paper: its sections, labels, equation numbers, formulas and errata, each fact once.

The LaTeX is the paper's, with its macros for the vectors, in the form that holds; `ERRATA` says where the print differs.
The lines of the pseudocode stand in `proved.pseudocode`, each beside the shipped line that it is compared with.
"""

from itertools import count
from typing import NamedTuple

ARXIV = "arXiv:1612.09147"


class Label(NamedTuple):
    """Label of a claim: the paper's own, or ours without a colon for a claim in prose, or the id of an erratum."""

    label: str
    section: str
    words: str
    latex: tuple[str, ...] = ()
    printed: str = ""
    """Name in print, such as "eq. 9"; empty if the label is ours."""

    @property
    def title(self) -> str:
        """Name in print and label, such as "eq. 9 (eqn:buDef)"."""
        return f"{self.printed} ({self.label})" if self.printed else self.label

    @property
    def errata(self) -> tuple[str, ...]:
        """Ids of the errata that say what the paper prints here instead."""
        return tuple(each.name for each in ERRATA.values() if self.label in each.at)


class Erratum(NamedTuple):
    """Departure from the print ("slip", "imprecise"), or a remark: what is printed where, and what holds.

    `at` holds the labels whose printed form is wrong.
    """

    name: str
    section: int
    kind: str
    where: str
    printed: str
    holds: str
    at: tuple[str, ...] = ()


_CONTENTS: dict[str, dict[str, tuple[str, ...]]] = {
    "Introduction": {
        "tab:losses": ("the losses",),
        "eqn:objective": (
            "the objective",
            r"F(\bw, b) = \frac{\lambda}{2} \left( \|\bw\|^2 + b^2 \right)"
            r" + \frac{1}{m} \sum_{i=1}^m \ell(\bw \cdot x_i + b, y_i)",
        ),
    },
    "Sparse Vector Operations": {
        "cost": (
            "what a run touches",
            r"\mathcal{O}(n + Tk) \quad\text{in place of}\quad \mathcal{O}(Tn)",
        ),
    },
    "Stochastic Gradient Descent": {
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
    },
    "Averaged Stochastic Gradient Descent": {
        "eqn:naiveAverage": (
            "the mean of the iterates",
            r"\ow_t = \frac{1}{t} \sum_{j=1}^t \bw_j \quad\text{and}\quad \ob_t = \frac{1}{t} \sum_{j=1}^t b_j",
        ),
        "eqn:avgBias": ("the sum for the mean bias", r"c_t = \sum_{j=1}^t \frac{a_j}{j}"),
        "eqn:obDef": ("the mean bias", r"\ob_t = \frac{-c_t}{\lambda t}"),
        "eqn:sparseAverage": (
            "the mean without dense vectors",
            r"\ow_t = \frac{-1}{\lambda t}"
            r" \left( h_t \bv_t - \sum_{i=1}^t h_{i-1} \, \ell'(p_i, y_{\pi_i}) \; x_{\pi_i} \right)",
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
    },
    "Centering and Translation Invariance": {
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
            r"p_t = \frac{-1}{\lambda (t-1)}"
            r" \left( \bv_{t-1} \cdot x_{\pi_t} + r_{t-1} - a_{t-1} \, \ox \cdot x_{\pi_t} \right)"
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
    },
}  # fmt: skip
"""Labels by section, in the paper's order, each with its name in words and its formulas in LaTeX."""

_ERRATA = (
    Erratum(
        "E1",
        2,
        "slip",
        "proof of Lemma 1, t = 1",
        "w_1 = 1/λ − ℓ', v_1 = ℓ', scaled by λ",
        "−(1/λ) ℓ'(0, y_π1) [x_π1, 1], scaled by −λ",
        ("lem:v",),
    ),
    Erratum(
        "E2",
        2,
        "slip",
        "heads of Algorithms 1–3; x_t in the centred section",
        "{(x_t, y_t)}, i = 1..m",
        "index i",
        ("alg:sgd", "alg:asgd", "alg:casgd"),
    ),
    Erratum("E3", 3, "slip", "eq. 9", "sum over i of terms in j", "i throughout", ("eqn:buDef",)),
    Erratum(
        "E4",
        4,
        "slip",
        "Algorithm 3, the loop",
        "from t = 1, after step 1 was done",
        "t = 2; as printed it divides by 0",
        ("alg:casgd",),
    ),
    Erratum(
        "E5",
        4,
        "imprecise",
        "b = 0 passes through the centre of mass",
        "any predictor",
        "the decision boundary does; a regression line if ȳ = 0",
    ),
    Erratum("E6", 0, "remark", "hinge and log-loss", "y real", "the formulas hold; classification needs ±1"),
    Erratum(
        "E7", 1, "remark", "cost", "O(n + Tk)", "Σ_t k of the drawn rows, Tk in expectation; CASGD reads all rows once more"
    ),
    Erratum("E8", 4, "imprecise", "b'", "“cannot be computed until training concludes”", "r_t gives it at every step"),
    Erratum(
        "E9",
        4,
        "remark",
        "“the root of the problem is b²”",
        "of the problem's sensitivity",
        "true of F's minimiser; the iterates depend on translation even without it",
    ),
    Erratum("E10", 4, "slip", "centred section", "v_t as in eq. 4", "the same form, with the centred predictions"),
    Erratum(
        "E11", 2, "slip", "the sequences", "from t = 0, recovered by −1/(λt)", "w_0 = 0 by definition; recovery from t = 1"
    ),
    Erratum("E12", 2, "remark", "∇F", "“the subgradient”", "a set; Table 1 picks an element at the kinks"),
    Erratum("E13", 4, "remark", "cost of x̄", "O(mk)", "O(n + mk): it is a dense vector"),
    Erratum(
        "E14",
        4,
        "remark",
        "explicit and implicit centring",
        "equivalent",
        "in exact arithmetic; in floats b' cannot hold the digits far from 0",
    ),
    Erratum("E15", 4, "slip", "eq. 15", "for every t", "for t >= 2; p_1 = 0 (the source of E4)", ("eqn:pCenterDef",)),
    Erratum("E16", 0, "remark", "λ", "“a user-defined regularization parameter”", "λ > 0"),
    Erratum("E17", 3, "remark", "eqs. 8, 9 and 13", "h_0 and z_0 are not defined", "both are the empty sum, 0"),
)

SECTIONS = tuple(_CONTENTS)
"""Sections of the paper, in its order."""

ERRATA = {each.name: each for each in _ERRATA}
"""Every departure from the paper's print, and every remark, by the id that the code cites."""


def _labels() -> dict[str, Label]:
    """Number the equations through; after the labels of a section come its errata."""
    others = {"tab:losses": "Table 1", "lem:v": "Lemma 1"}
    others |= {f"alg:{name}": f"Algorithm {number}" for number, name in enumerate(("sgd", "asgd", "casgd"), start=1)}
    numbers, found = count(1), {}
    for place, (section, labels) in enumerate(_CONTENTS.items()):
        for label, (words, *latex) in labels.items():
            equation = label.startswith("eqn:") or label == "obCenterDef"
            printed = f"eq. {next(numbers)}" if equation else others.get(label, "")
            found[label] = Label(label, section, words, tuple(latex), printed)
        for each in ERRATA.values():
            if each.section == place:
                found[each.name] = Label(each.name, section, f"{each.where} ({each.kind})")
    return found


LABELS = _labels()
"""Every label under which a claim may stand in the ledger, in the order of the paper."""


def errata_table() -> str:
    """Make the table of errata that the README shows."""
    rows = (f"| {each.name} | {each.kind} | {each.where} | {each.printed} | {each.holds} |" for each in ERRATA.values())
    return "\n".join(("| id | kind | where | as printed | what holds |", "| --- | --- | --- | --- | --- |", *rows))
