"""Arithmetics: the type of λ chooses; numbers that are none, or out of range, are refused by name and value."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import sympy

import efficient
import reference
from efficient import State
from efficient.runs.algorithms import ALGORITHMS
from reference import Problem
from reference.arithmetic import fraction
from tests.reference.test_rows import inf, names, nan, short

X, y, INDICES = [[1.0, 0, 2], [0, 3, 0], [0, 0, 0], [4, 0, 1]], [1, -1, 1, -1], [0, 1, 2, 3, 0, 2]


def trained(side, algorithm, lam, loss="squared"):
    predictor = getattr(side, algorithm)(Problem(X, y, loss, lam), INDICES)
    return [*predictor.w, predictor.b]


@pytest.mark.parametrize(
    "wrong",
    [
        *(0, 0.0, -0.0, -1.0, -1, nan, inf, -inf, np.float32(0), np.longdouble("nan"), 10**400, -(10**400)),
        *("0.1", None, True, np.True_, False, 1j, 0.5 + 0j, Decimal("0.1"), [0.5], np.array(0.5), np.array([0.5])),
        *(Fraction(0), Fraction(-1, 2)),
        *(sympy.Symbol("a"), sympy.Symbol("a", real=True), sympy.Symbol("a", negative=True)),
        *(sympy.Integer(0), sympy.Rational(-1, 2), sympy.oo, sympy.nan, sympy.I, sympy.true, sympy.Float(0.5)),
    ],
    ids=short,
)
def test_lam_that_is_no_number_above_0_is_refused(wrong):
    with pytest.raises((TypeError, ValueError), match=names("lam", repr(wrong))):
        Problem(X, y, "squared", wrong)


@pytest.mark.parametrize("huge", [10**5000, Fraction(-1, 10**5000)], ids=["int", "Fraction"])
def test_lam_too_long_to_print_is_refused(huge):
    with pytest.raises(ValueError, match=names("lam")):
        Problem(X, y, "squared", huge)
    assert Problem(X, y, "squared", Fraction(10**5000)).lam == 10**5000


@pytest.mark.parametrize("wrong", [-1, nan, inf, "1", None, True, 1j, [3.0], [1, 2]], ids=short)
@pytest.mark.parametrize("side", [reference, efficient])
def test_t0_that_is_no_number_from_0_on_is_refused(side, wrong):
    with pytest.raises((TypeError, ValueError), match="t0, the offset of the step size"):
        side.asgd(Problem(X, y, "log", 0.5), INDICES, t0=wrong)


@pytest.mark.parametrize("side", [reference, efficient])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_lam_of_any_float_type_is_a_float64(side, algorithm):
    plain = trained(side, algorithm, 2.0)
    assert {type(value) for value in plain} == {np.float64}
    for lam in (2, np.int8(2), np.float32(2), np.float16(2), np.longdouble(2)):
        assert trained(side, algorithm, lam) == plain


@pytest.mark.parametrize("side", [reference, efficient])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_lam_of_every_exact_type_gives_the_same_numbers(side, algorithm):
    tiny = Fraction(1, 10**5000)  # has more digits than Python prints
    assert all(type(value) is Fraction for value in trained(side, algorithm, tiny, "absolute"))
    fractions = trained(side, algorithm, Fraction(1, 2))
    assert trained(side, algorithm, sympy.Rational(1, 2)) == [sympy.Rational(value) for value in fractions]


def test_symbols_are_taken_as_lam_and_t0():
    lam, t0 = sympy.symbols("lambda t0", positive=True)
    problem = Problem([[1], [2]], [1, 2], "squared", lam)
    for wrong in (sympy.Integer(-1), sympy.oo, sympy.Symbol("n", negative=True)):
        with pytest.raises(ValueError, match="t0, the offset"):
            State(problem, "sgd", t0=wrong)
    assert State(problem, "sgd", t0=t0).run([0]).last().w[0] == 1 / (lam * (1 + t0))


@pytest.mark.parametrize("wrong", ["1", b"1", 1j, None])
def test_fraction_refuses_what_is_no_real_number(wrong):
    with pytest.raises(TypeError, match="real number"):
        fraction(wrong)


def test_fraction_of_float32_is_exact():
    assert fraction(np.float32(0.1)) == Fraction(13421773, 2**27)
