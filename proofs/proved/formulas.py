"""Read a loss, as printed and as shipped, as formulas for z3.

A loss with exponentials is read through E > 0, which stands for its exponential: exp(py) for the log-loss, so that p is
log(E)/y. A logarithm is an unknown number, after that of a product is split into a sum.
"""

from collections.abc import Callable
from itertools import combinations

import sympy
from sympy.core.relational import Relational

from reference import Loss

from .branches import branches, with_symbolic_math
from .prover import to_z3, z3
from .symbols import p, y

E = sympy.Symbol("exp", positive=True)


def labels(loss: Loss) -> tuple[sympy.Expr, ...]:
    """List the labels in the domain of a loss; y stands for every real one."""
    return (sympy.Integer(1), sympy.Integer(-1)) if loss.binary else (y,)


def borders(expression: sympy.Expr) -> list[sympy.Expr]:
    """List the differences that are 0 where the expression changes from one case to another."""
    found = [each.lhs - each.rhs for each in expression.atoms(Relational)]
    found += [each.args[0] for each in expression.atoms(sympy.Abs)]
    cases = expression.atoms(sympy.Max, sympy.Min)
    return found + [one - other for each in cases for one, other in combinations(each.args, 2)]


class Reading:
    """Formulas of a loss at a label: `value` and `derivative` as printed, in sympy, and what is `known` of E, in z3."""

    def __init__(self, loss: Loss, label: sympy.Expr = y):
        if loss.formula is None:
            raise ValueError(f"loss must have a formula; got {loss.name!r} without one")
        self.value, self.derivative = (sympy.sympify(text, locals={"p": p, "y": y}).subs(y, label) for text in loss.formula)
        exponents = sorted((each.args[0] for each in self.value.atoms(sympy.exp)), key=str)
        self.exponential = bool(exponents)
        if exponents and borders(self.value):
            raise ValueError(f"formula must be smooth where it has exponentials; got {loss.formula}")
        self.known = z3.Real(E.name) > 0 if exponents else z3.BoolVal(True)
        self._p = sympy.solve(exponents[0].as_coeff_Mul()[1] - sympy.log(E), p)[0] if exponents else p

    def formula(self, expression) -> z3.ExprRef:
        """Translate an expression in p and y."""
        expression = sympy.sympify(expression)
        if self.exponential:
            expression = expression.subs(p, self._p)
            expression = expression.replace(sympy.log, lambda number: sympy.expand_log(sympy.log(sympy.factor(number))))
            unknown = {
                each: sympy.Symbol(str(each), real=True) for each in expression.atoms(sympy.exp, sympy.log, sympy.NumberSymbol)
            }
            expression = expression.xreplace(unknown)
        return to_z3(expression)

    def shipped(self, function: Callable, *numbers, change: Callable = lambda value: value) -> z3.ExprRef:
        """Translate a shipped function at these expressions, branch by branch; `change` is made to the value of each."""
        formula = z3.RealVal(0)
        for conditions, value in branches(with_symbolic_math(function), *map(sympy.sympify, numbers)):
            here = z3.And([self.formula(condition) == answer for condition, answer in conditions])
            formula = z3.If(here, self.formula(change(sympy.sympify(value))), formula)
        return formula
