"""Rationals of FLINT: runs on them are the runs on Fractions, number by number."""

from fractions import Fraction

import numpy as np
import pytest

import reference
from proofs.compared.rationals import on_rationals, rational
from reference import LOSSES, Problem
from reference.datasets import make_generic
from tests.without import run_without


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_run_on_rationals_is_the_run_on_fractions(loss, centred):
    data = make_generic(6, 4, 2, seed=1)
    problem = Problem(data.X, np.sign(data.y), loss, Fraction(1, 7), sample_weight=[1, 2, 0, Fraction(1, 3), 1, 1])
    indices = [0, 3, 5, 1, 1, 2, 4, 0]
    runs = [list(reference.iterates(each, indices, centred=centred, t0=2)) for each in (problem, on_rationals(problem))]
    numbers = [[each for step in run for each in (step.p, step.g, step.predictor.b, *step.predictor.w)] for run in runs]
    assert [rational(each) for each in numbers[0]] == numbers[1]
    assert len({str(each) for each in numbers[0]}) > 20


def test_rational_is_exact_and_refuses_what_is_no_number():
    assert rational(0.1) == rational(Fraction(0.1)) != rational(Fraction(1, 10))
    with pytest.raises(TypeError, match="real number"):
        rational("1")


def test_comparison_on_fractions_needs_no_flint(tmp_path):
    """Lectures compare so in browsers, where there is none."""
    code = """
from fractions import Fraction
from proofs.compared import iterates, rationals, translation
from reference import Problem
print(iterates.compare(Problem([[1], [2]], [1, -1], "hinge", Fraction(1, 2)), [0, 1])["casgd"].equal.tolist())
rationals.rational(1)
"""
    done = run_without(tmp_path, code, "flint", "z3")
    assert done.stdout == "[True, True]\n"
    assert "rationals need python-flint: pip install" in done.stderr
