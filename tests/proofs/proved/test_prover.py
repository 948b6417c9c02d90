"""Two provers: both prove what is true and refute what is not, mutants among it."""

import pytest
import sympy
import z3

from proofs.proved.asgd import mean_weights
from proofs.proved.prover import Equation, Undecided, counterexample, is_identity, mutants, residual, split_sums, to_z3
from proofs.proved.symbols import V, X, g, h, k, lam, m, n, over_coordinates, over_examples, t, u, v, x

IDENTITIES = [
    Equation("", (x + 1) ** 2, x**2 + 2 * x + 1),
    Equation("", 1 / lam - 1 / (lam + 1), 1 / (lam * (lam + 1))),
    Equation("", over_coordinates(3 * V[k] * g + X[k] + 2), 3 * g * over_coordinates(V[k]) + over_coordinates(X[k]) + 2 * n),
]
FALSEHOODS = [
    Equation("", (x + 1) ** 2, x**2 + 2 * x),
    Equation("", 1 / lam - 1 / (lam + 1), 1 / (lam * (lam + 2))),
    Equation("", over_coordinates(V[k] * X[k]), over_coordinates(V[k]) * over_coordinates(X[k])),
    Equation("", over_examples(g) / m, g + 1),
]


@pytest.mark.parametrize("identity", IDENTITIES, ids=str)
def test_both_provers_prove(identity):
    assert residual(identity) == 0
    assert counterexample(identity) is None
    assert is_identity(identity)


@pytest.mark.parametrize("falsehood", FALSEHOODS, ids=str)
def test_both_provers_refute(falsehood):
    assert residual(falsehood) != 0
    assert "=" in counterexample(falsehood)
    assert not is_identity(falsehood)


def test_mutants_differ_in_one_place():
    changed = {str(each.right) for each in mutants(Equation("", x, g * h + 2))}
    assert {"g*h", "g*h - 2", "-g*h + 2", "2*g*h + 2", "g*h + 3", "h*(g + 1) + 2", "-g*h - 2", "g*x + 2"} <= changed
    assert "g*h + 2" not in changed
    assert not any(is_identity(each) for each in mutants(Equation("", g * h + 2, g * h + 2)))


def test_sums_are_split_whatever_n():
    assert split_sums(over_coordinates(g * V[k] + h)) == g * over_coordinates(V[k]) + h * n


def test_sums_over_two_indices_are_refused():
    twice = sympy.Sum(V[k], (k, 1, n), (sympy.Symbol("i", integer=True), 1, m))
    with pytest.raises(ValueError, match="unpack"):
        split_sums(twice)


def test_undecided_is_no_verdict(monkeypatch):
    monkeypatch.setattr("proofs.proved.prover.Z3_EFFORT", 1)
    with pytest.raises(Undecided):
        counterexample(Equation("hard", (x + g) ** 3 * (h + v) / lam, (x + g) ** 2 * (h + v) * (x + g) / lam))
    (entry,) = mean_weights.check()
    assert not entry.holds


def test_symbols_of_the_proofs_are_real():
    assert all(symbol.is_real for symbol in (x, v, u, g, h, lam, t))
    assert lam.is_positive and not sympy.Symbol("h", real=True).is_positive


def test_to_z3_reads_cases_and_comparisons():
    y = sympy.Symbol("y", real=True)
    cases = sympy.Piecewise((sympy.Max(x, y, 1), x < y), (sympy.Abs(x) + 0.5, sympy.Or(x > 2, sympy.Eq(y, 0))), (-y, True))
    X, Y = z3.Reals("x y")
    for at, wanted in (((-1, 3), 3), ((3, 1), 3.5), ((1, 1), -1), ((-2, 0), 1), ((0, 0), 0.5)):
        found = z3.simplify(z3.substitute(to_z3(cases), (X, z3.RealVal(at[0])), (Y, z3.RealVal(at[1]))))
        assert float(found.as_fraction()) == wanted
    with pytest.raises(TypeError, match="z3 is not told of sin"):
        to_z3(sympy.sin(x))
