"""Rational numbers of FLINT in place of Fractions: the same values, for which exact runs take a fifth of the time."""

import copy
from dataclasses import replace
from fractions import Fraction

import numpy as np

from reference import Problem
from reference.arithmetic import fraction
from reference.missing import Missing

try:
    from flint import fmpq
except ImportError:
    fmpq = Missing("python-flint", "rationals", "proofs")  # type: ignore


def rational(value) -> "fmpq":
    """Convert a real number to the rational that equals it exactly."""
    if type(value) is fmpq:
        return value
    exact = fraction(value)
    return fmpq(exact.numerator, exact.denominator)


to_rationals = np.frompyfunc(rational, 1, 1)
"""`rational` of every number in an array."""


def on_rationals(problem: Problem) -> Problem:
    """Make the same problem on rationals of FLINT, from one on Fractions; its loss is still asked in Fractions."""
    exact = problem.loss.derivative

    def derivative(p, y):
        return rational(exact(*(Fraction(int(each.p), int(each.q)) for each in (rational(p), y))))

    other = copy.copy(problem)
    vars(other).pop("xbar", None)
    other.number, other.lam, other.loss = rational, rational(problem.lam), replace(problem.loss, derivative=derivative)
    other.X = problem.X._replace(data=to_rationals(problem.X.data))
    other.y, other.sample_weight = to_rationals(problem.y), to_rationals(problem.sample_weight)
    return other
