"""Labels on the line: each equation of the paper stands as a comment on the line of code that computes it, on both sides."""

import io
import re
import tokenize
from pathlib import Path

import pytest

from proofs.paper import LABELS

ROOT = Path(__file__).parent.parent
SIDES = ("reference", "efficient")
EQUATIONS = [name for name, label in LABELS.items() if label.printed.startswith("eq. ")]

SUMS = "sum that the definition has no need of: it keeps the iterates themselves"
MEANS = "definition of a mean of dense iterates, which the sparse loop never makes: it recovers the mean by eq. {}"
ONLY_ON = {
    "eqn:gradient": ("reference", "gradient over all rows, which no stochastic loop takes"),
    "eqn:GDStep": ("reference", "step on dense vectors, which Lemma 1 replaces by the gradient sum"),
    "eqn:gradSum": ("efficient", SUMS),
    "lem:v": ("efficient", "recovery from the gradient sum"),
    "eqn:naiveAverage": ("reference", MEANS.format("7 and eq. 10")),
    "eqn:avgBias": ("efficient", SUMS),
    "eqn:obDef": ("efficient", "recovery from the sum c"),
    "eqn:sparseAverage": ("efficient", "recovery from v and u, before u has its name"),
    "eqn:buDef": ("efficient", SUMS),
    "eqn:owDef": ("efficient", "recovery from v and u"),
    "eqn:wCenter": ("efficient", "recovery from v on raw rows; the definition has centred rows"),
    "eqn:zDef": ("efficient", "projection sum of the implicit centring; the definition has centred rows"),
    "eqn:bTagCenter": ("efficient", "bias without b; the definition has b and takes eq. 11"),
    "eqn:pCenterDef": ("efficient", "prediction from v on raw rows; the definition has centred rows"),
    "eqn:centerAvg": ("reference", MEANS.format("18 and eq. 19")),
    "eqn:sDef": ("efficient", SUMS),
    "obCenterDef": ("efficient", "recovery from the sum s"),
    "eqn:owCenterDef": ("efficient", "recovery from v, u and c"),
}
"""Labels that only one side computes, and why the other has no such line."""

CODE_LINES = {
    "alg:sgd": (3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14),
    "alg:asgd": (5, 6, 9, 10, 11, 13, 14),
    "alg:casgd": (2, 3, 6, 7, 8, 9, 12, 13, 16, 17, 18, 20, 21),
}
"""Lines of the pseudocode that compute something new; the others repeat the algorithm before, or draw, zero, end or return."""


def trailing_comments(source: str) -> list[str]:
    """Comments that share their line with code."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT and token.line[: token.start[1]].strip()]


def labels_of(comments: list[str]) -> set[str]:
    """Labels that the comments hold in full, with the right number in print."""
    text = "\n".join(comments)
    return {name for name in (*EQUATIONS, "lem:v") if LABELS[name].title in text}


def lines_of(comments: list[str]) -> set[tuple[str, int]]:
    """Lines of pseudocode that the comments name."""
    found = re.findall(r"(alg:\w+), lines? (\d+)(?: and (\d+))?", "\n".join(comments))
    return {(label, int(number)) for label, *numbers in found for number in numbers if number}


def comments_on(side: str) -> list[str]:
    return [each for file in sorted((ROOT / side).rglob("*.py")) for each in trailing_comments(file.read_text("utf8"))]


@pytest.mark.parametrize("side", SIDES)
def test_labels_stand_on_code_lines_of_each_side_that_computes_them(side):
    wanted = {name for name in (*EQUATIONS, "lem:v") if ONLY_ON.get(name, (side,))[0] == side}
    assert labels_of(comments_on(side)) == wanted
    assert len(EQUATIONS) == 19


@pytest.mark.parametrize("label", CODE_LINES)
def test_pseudocode_lines_stand_on_code_lines_of_the_sparse_loop(label):
    name = label.removeprefix("alg:")
    comments = trailing_comments((ROOT / "efficient" / f"{name}.py").read_text("utf8"))
    assert {number for of, number in lines_of(comments) if of == label} == set(CODE_LINES[label])
    assert not lines_of(comments_on("reference"))


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("p = 1  # alg:casgd, line 13; eq. 15 (eqn:pCenterDef): w · x", {"eqn:pCenterDef"}),
        ("# eq. 15 (eqn:pCenterDef)\np = 1", set()),  # a line of its own
        ('"""eq. 15 (eqn:pCenterDef)"""', set()),
        ("p = 1  # eq. 14 (eqn:pCenterDef)", set()),  # a wrong number
        ("p = 1  # eqn:pCenterDef", set()),
    ],
)
def test_labels_of_finds_only_full_labels_beside_code(source, found):
    assert labels_of(trailing_comments(source)) == found


def test_lines_of_finds_every_number():
    assert lines_of(["# alg:sgd, line 10; alg:asgd, line 9", "# alg:sgd, lines 13 and 14"]) == {
        ("alg:sgd", 10), ("alg:asgd", 9), ("alg:sgd", 13), ("alg:sgd", 14),
    }  # fmt: skip
