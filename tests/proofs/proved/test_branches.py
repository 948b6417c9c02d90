"""Symbolic execution of scalar functions."""

import sympy
import z3

from proofs.proved.branches import branches


def test_branches_visits_every_way():
    def steps(p, y):
        if p < 0:
            return -1
        return abs(p - y) if p > y else 0

    p, y = z3.Reals("p y")
    found = [([answer for _, answer in conditions], str(value)) for conditions, value in branches(steps, p, y)]
    assert sorted(found, key=str) == [
        ([False, False], "0"),
        ([False, True, False], "-(p - y)"),
        ([False, True, True], "p - y"),
        ([True], "-1"),
    ]


def test_branches_compares_numbers_and_not_expressions():
    p, y = sympy.symbols("p y", real=True)
    found = {value: conditions for conditions, value in branches(lambda p, y: 1 if p == y else 2 if p else 3, p, y)}
    assert found[1] == [(sympy.Eq(p, y), True)]
    assert found[3] == [(sympy.Eq(p, y), False), (sympy.Ne(p, 0), False)]
