"""Table of the paper: its sections, labels, equation numbers, formulas and errata, each fact once.

The LaTeX is the paper's, with its macros for the vectors, in the form that holds; `ERRATA` says where the print differs.
The lines of the pseudocode stand in `proved.pseudocode`, each beside the shipped line that it is compared with.
"""

import re
from difflib import get_close_matches
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
    why: str = ""
    """Sentence that says why the claim matters; empty for an erratum, which says it itself."""

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
            "the predictor, from the gradient sum",
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

_WHY = {
    "tab:losses": "An algorithm meets the loss through its derivative alone, so the wrong side at a kink is another program.",
    "eqn:objective": "It is what training minimises. The bias is regularised too, which is why the origin of the rows matters.",
    "cost": "A step costs as much as its row has entries, however many columns there are: this is the point of the paper.",
    "eqn:gradient": "One example drawn at random estimates the gradient over all of them, so a step needs one row.",
    "eqn:GDStep": "Taken literally it scales all n weights in every step, which is the cost that the rest of the paper avoids.",
    "eqn:gradSum": "A row changes the sum only where the row has entries: k numbers a step in place of n.",
    "lem:v": "A program may keep the gradient sum in place of the weights, and scale once, at the end.",
    "alg:sgd": "It is the first program at cost O(n + Tk); the two others add lines to it.",
    "guarantee": "It says what the mean of the iterates is good for: how far it can be from the minimum.",
    "eqn:naiveAverage": "It is the definition that Algorithm 2 has to meet, and by itself costs n numbers in every step.",
    "eqn:avgBias": "One number replaces the history of all biases.",
    "eqn:obDef": "The mean bias follows from that number at the end.",
    "eqn:sparseAverage": "Harmonic numbers turn the mean of dense vectors into two sums of sparse rows.",
    "eqn:buDef": "It is the second sum that a program keeps, and it also grows by k numbers a step.",
    "eqn:owDef": "Two sums give the dense mean in O(n), once, at the end.",
    "alg:asgd": "It returns the mean of all iterates for the price of the last one.",
    "eqn:explicitToImplicit": "The mean of sparse rows is dense. Hidden in the bias, it is never subtracted from a row.",
    "eqn:wCenter": "It is Lemma 1 for centred rows: the mean enters once, at the end, through the number a_t.",
    "eqn:zDef": "The product v · x̄ would cost n numbers a step; as a running sum it costs k.",
    "eqn:bTagCenter": "Three numbers give the implicit bias at every step.",
    "eqn:pCenterDef": "It predicts on a centred row from the entries of the raw row.",
    "eqn:centerAvg": "It is the definition that Algorithm 3 has to meet.",
    "eqn:sDef": "One number replaces the history of all implicit biases.",
    "obCenterDef": "The mean implicit bias follows from that number at the end.",
    "eqn:owCenterDef": "It recovers the mean weights from the two sums and the mean of the rows.",
    "alg:casgd": "It trains on centred rows, which would be dense, at the cost of the raw ones.",
    "translation": "Where a scale of measurement begins is arbitrary; a predictor should not depend on it.",
    "pivot": "An identity can lose all digits in floats; moving the large columns first keeps the digits.",
}
"""Why each claim matters, in a sentence or two."""

LETTERS = (
    (r"m, \; n", "number of examples; number of columns"),
    (r"k", "entries of a row that are not zero"),
    (r"T, \; t", "number of steps; number of a step, from 1"),
    (r"x_i, \; y_i", "features and label of example i"),
    (r"\pi_t", "index of the example that step t draws"),
    (r"\lambda", "strength of the regularisation, > 0; scikit-learn's alpha"),
    (r"\ell(p, y), \; \ell'(p, y)", "loss of the prediction p for the label y, and its derivative in p"),
    (r"F", "objective: the regularised mean loss over all examples"),
    (r"\bw_t, \; b_t", "weights and bias after step t, both 0 at the start"),
    (r"p_t, \; g", "prediction of step t before its update; the loss derivative there"),
    (r"\bv_t, \; a_t", "gradient sums, of the weights and of the bias"),
    (r"h_t", "harmonic number 1 + 1/2 + … + 1/t"),
    (r"\bu_t", "gradient sum with harmonic weights"),
    (r"c_t", "sum of a_j/j, for the mean bias"),
    (r"\ow_t, \; \ob_t", "means of the first t weights and biases"),
    (r"\ox", "mean of the rows, a dense vector"),
    (r"\theta, \; q", "the number 1 + ‖x̄‖²; the product x̄ · x of a row"),
    (r"z_t", "projection sum, v_t · x̄ as a running number"),
    (r"r_t", "a_t θ − z_t, from which the implicit bias follows"),
    (r"s_t", "sum of r_j/j, for the mean implicit bias"),
    (r"b', \; \ob'", "implicit bias b − w · x̄, with which weights of centred rows apply to raw rows; its mean"),
    (r"\omega_t", "weight of iterate t in the mean, 1 in the paper; ours"),
    (r"t_0", "offset of the step size 1/(λ(t + t0)), 0 in the paper; ours"),
)
"""Glossary of the paper's letters: LaTeX, and what it stands for."""

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
            found[label] = Label(label, section, words, tuple(latex), printed, _WHY[label])
        for each in ERRATA.values():
            if each.section == place:
                found[each.name] = Label(each.name, section, f"{each.where} ({each.kind})")
    return found


LABELS = _labels()
"""Every label under which a claim may stand in the ledger, in the order of the paper."""


def labels_named(name: str) -> tuple[str, ...]:
    """Find the labels with a name, as it is printed ("Lemma 1", "eq. 4", "slips") or as a label, in any case.

    Raises
    ------
    ValueError
        There is none of this name; the message names some that are alike.
    """
    known = {"slips": tuple(ERRATA)}
    for label, facts in LABELS.items():
        known |= {each: (label,) for each in (label, facts.printed) if each}
    plain = {_plain(each): each for each in known}
    if found := plain.get(_plain(name)):
        return known[found]
    alike = get_close_matches(_plain(name), plain, n=3, cutoff=0.4)
    hint = f"Is it {' or '.join(repr(plain[each]) for each in alike)}? " if alike else ""
    raise ValueError(f"{name!r} is no statement of the paper. {hint}--list shows all")


def _plain(name: str) -> str:
    """Leave out case, spaces and full stops, in which names may differ; an equation may be written out."""
    return re.sub(r"[\s.]", "", name.casefold()).replace("equation", "eq")


def errata_table() -> str:
    """Make the table of errata that `proofs/README.md` shows."""
    rows = (f"| {each.name} | {each.kind} | {each.where} | {each.printed} | {each.holds} |" for each in ERRATA.values())
    return "\n".join(("| id | kind | where | as printed | what holds |", "| --- | --- | --- | --- | --- |", *rows))
