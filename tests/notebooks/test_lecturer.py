"""Test that the lecturer's pages are complete, and that the numbers of the exam are those of the library."""

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import efficient
import reference
from proofs.paper import LETTERS
from reference import Problem

FOLDER = Path(__file__).parents[2] / "notebooks" / "lecturer"
LECTURES = [path.stem for path in sorted(FOLDER.parent.glob("0*.ipynb"))]


SHORT = re.compile(r"\\([bo])([a-z])(?![a-z])")
"""Macros of the paper: a bold letter, or one with a bar."""


def page(name):
    return (FOLDER / f"{name}.md").read_text("utf8")


def glossary():
    """Write the letters of the paper as the page has them."""
    rows = [f"| ${SHORT.sub(symbol, latex)}$ | {meaning} |" for latex, meaning in LETTERS]
    return "\n".join(["# Glossary: the letters of the paper", "", "| letter | means |", "| --- | --- |", *rows, ""])


def symbol(found):
    return rf"\{'mathbf' if found[1] == 'b' else 'bar'}{{{found[2]}}}"


def test_glossary_is_that_of_the_paper():
    assert page("glossary") == glossary()


@pytest.mark.parametrize("name", ["quiz", "quiz_answers"])
def test_quiz_has_ten_for_each_lecture(name):
    parts = re.split(r"^## ", page(name), flags=re.MULTILINE)[1:]
    assert len(parts) == len(LECTURES) == 6
    for number, part in enumerate(parts, start=1):
        assert part.startswith(f"{number}. ")
        assert re.findall(r"^(\d+)\. ", part, flags=re.MULTILINE)[-10:] == [str(each) for each in range(1, 11)]


def test_exam_marks_and_minutes_add_up():
    heads = re.findall(r"\((\d+) marks, (\d+) minutes\)", page("exam"))
    assert sum(int(marks) for marks, _ in heads) == 60
    assert sum(int(minutes) for _, minutes in heads) == 120
    assert sum(map(int, re.findall(r"\[(\d+)\]", page("exam")))) == 60


def test_exam_solutions_are_what_the_library_computes():
    rows, draws, half = np.array([[1, 0], [0, 2], [1, 1]], dtype=object), np.array([0, 1, 2]), Fraction(1, 2)
    data = Problem(rows, np.array([1, -1, -1]), "hinge", half)
    solutions = re.sub(r"\s+", " ", page("exam_solutions"))
    for T in (1, 2, 3):
        found = reference.sgd(data, draws[:T])
        assert f"| ({found.w[0]}, {found.w[1]}) | {found.b} |".replace("-", "−") in solutions
    mean = efficient.asgd(data, draws)
    assert f"(a) ({mean.w[0]}, {mean.w[1]}) and {mean.b}.".replace("-", "−") in solutions
    state = efficient.State(data, "asgd").run(draws)
    assert f"v₃ = ({state.v[0]}, {state.v[1]}) and a₃ = {state.a}" in solutions
    assert f"h₃ = {state.h}" in solutions and f"({state.u[0]}, {state.u[1]}), with h₀" in solutions
    centred = efficient.State(data, "csgd").run(draws[:1])
    assert f"θ = 1 + 4/9 + 1 = {centred.theta}" in solutions and f"2/3 = {centred.r}.".replace("-", "−") in solutions
    first = centred.last()
    assert f"({first.w[0]}, {first.w[1]}), b′₁ = −r₁/λ = {first.b}".replace("-", "−") in solutions
    assert f"= {first.predict(rows)[0]}. (d)" in solutions
    moved = efficient.State(Problem(rows + 5, data.y, "hinge", half), "csgd").run(draws[:1]).last()
    assert f"to {moved.b}." in solutions and (moved.w == first.w).all()
