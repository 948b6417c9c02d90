"""Two provers, and the mutants of equations that they must refute.

A step of a proof is an equation between rational expressions in real unknowns. sympy decides it by a normal form: the
numerator of left − right, expanded, is 0 or it is not; nothing is left to `simplify`. z3 decides it as real arithmetic,
independently, by looking for a counterexample. Sums over the coordinates 1, …, n with a symbolic n are first split into
their terms, and factors without the index are taken out.
"""

import operator
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, lru_cache
from math import prod
from random import Random
from typing import Any, NamedTuple

import sympy
from sympy import Add, Expr, Indexed, Integer, Mul, Piecewise, Pow, Sum, Symbol
from sympy.core.function import AppliedUndef
from sympy.functions.elementary.piecewise import ExprCondPair

from reference.missing import Missing

try:
    import z3
except ModuleNotFoundError:
    z3 = Missing("z3", "counterexamples", "proofs")

UNKNOWNS = (Symbol, Indexed, Sum, AppliedUndef)
"""Expressions that are unknown numbers to both provers; those of +, ·, powers and numbers are arithmetic."""


Z3_EFFORT = 200_000_000
"""Effort at which z3 gives up, in its own steps and not in seconds: no verdict depends on the machine."""


class Equation(NamedTuple):
    """Step of a proof: what is claimed in words, the two sides, and whether to try the provers on its mutants."""

    claim: str
    left: Any
    right: Any
    mutate: bool = True

    @property
    def sides(self) -> tuple[Expr, Expr]:
        """Both sides as expressions. What is decided of an equation depends on them alone, and is kept for the next one."""
        return sympy.sympify(self.left), sympy.sympify(self.right)


def opaque(name: str):
    """Return an unknown function of a prediction and a label. Predictions that are equal after expansion are the same to it."""
    function = sympy.Function(name, real=True)
    return lambda p, y: function(sympy.expand(p), y)


def residual(equation: Equation) -> Expr:
    """Compute what remains of left − right: 0 if and only if the equation is an identity of rational functions."""
    return _residual(*equation.sides)


@cache
def _residual(left: Expr, right: Expr) -> Expr:
    return sympy.expand(sympy.fraction(sympy.together(split_sums(left - right)))[0])


def split_sums(expression: Expr) -> Expr:
    """Σ (a f_i + b) as a Σ f_i + b n: linear in its terms, constants before the sum."""
    return expression.replace(lambda part: isinstance(part, Sum), _split)


def _split(total: Sum) -> Expr:
    ((index, lower, upper),) = total.limits  # one index only
    parts = []
    for term in Add.make_args(sympy.expand(total.function)):
        constant, varying = term.as_independent(index, as_Add=False)
        parts.append(constant * (Sum(varying, (index, lower, upper)) if varying != 1 else upper - lower + 1))
    return Add(*parts)


def is_identity(equation: Equation) -> bool:
    """Decide the equation for all numbers. A point where the sides differ refutes it; only the normal form proves."""
    left, right = map(at_a_point, equation.sides)
    return left == right and residual(equation) == 0


@cache
def number_of(name: str) -> Fraction:
    """Return the number > 0 that an unknown of this name has at the point."""
    random = Random(name)
    return Fraction(random.randint(1, 97), random.randint(1, 13))


@lru_cache(maxsize=100_000)
def at_a_point(expression: Expr) -> Fraction:
    """Return the exact value where every unknown has the number of its name, and n = m = 3."""
    if isinstance(expression, sympy.Rational):
        return Fraction(expression.p, expression.q)
    if isinstance(expression, Sum):
        ((index, _, _),) = expression.limits
        return sum((at_a_point(expression.function.subs(index, value)) for value in (1, 2, 3)), Fraction(0))
    if isinstance(expression, Add):
        return sum((at_a_point(part) for part in expression.args), Fraction(0))
    if isinstance(expression, Mul):
        return prod((at_a_point(part) for part in expression.args), start=Fraction(1))
    if isinstance(expression, Pow) and isinstance(expression.exp, Integer):
        return at_a_point(expression.base) ** int(expression.exp)
    if not isinstance(expression, UNKNOWNS):
        raise TypeError(f"{type(expression).__name__} in {expression} is no rational arithmetic")
    return Fraction(3) if expression.is_integer else number_of(str(expression))


def _larger(first, *others):
    for other in others:
        first = z3.If(other > first, other, first)
    return first


Z3: dict[type, Any] = {
    Add: lambda *parts: z3.Sum(parts),
    Mul: lambda *parts: z3.Product(parts),
    sympy.Abs: lambda part: z3.If(part >= 0, part, -part),
    sympy.sign: lambda part: z3.If(part > 0, z3.RealVal(1), z3.If(part < 0, z3.RealVal(-1), z3.RealVal(0))),
    sympy.Heaviside: lambda part, at_0: z3.If(part > 0, z3.RealVal(1), z3.If(part < 0, z3.RealVal(0), at_0)),
    sympy.Max: _larger,
    sympy.Min: lambda *parts: -_larger(*(-part for part in parts)),
    sympy.And: z3.And,
    sympy.Or: z3.Or,
    sympy.Not: z3.Not,
} | dict(
    zip(
        (sympy.Lt, sympy.Le, sympy.Gt, sympy.Ge, sympy.Eq, sympy.Ne),
        (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
        strict=True,
    )
)
"""Operations of sympy as z3 has them."""


class Undecided(RuntimeError):
    """z3 found neither a proof nor a counterexample."""


def counterexample(equation: Equation) -> str | None:
    """z3's numbers for which the two sides differ; None if it has proved that there are none."""
    try:
        return _counterexample(*equation.sides, Z3_EFFORT)
    except Undecided:
        raise Undecided(equation.claim) from None


@cache
def _counterexample(left: Expr, right: Expr, effort: int) -> str | None:
    numbers: dict[Expr, Any] = {}
    one, other = (to_z3(split_sums(side), numbers) for side in (left, right))
    solver = z3.Solver()
    solver.set("rlimit", effort)
    solver.add(one != other)
    for unknown, number in numbers.items():
        if unknown.is_positive:
            solver.add(number > 0)
    verdict = solver.check()
    if verdict == z3.unsat:
        return None
    if verdict == z3.unknown:
        raise Undecided
    model = solver.model()
    return ", ".join(f"{unknown} = {model.eval(number, model_completion=True)}" for unknown, number in numbers.items())


def violation(claim) -> str | None:
    """z3's counterexample to a claim; None if it has proved that there is none."""
    solver = z3.Solver()
    solver.set("rlimit", Z3_EFFORT)
    solver.add(z3.Not(claim))
    verdict = solver.check()
    if verdict == z3.unknown:
        raise Undecided(str(claim))
    return None if verdict == z3.unsat else str(solver.model())


def to_z3(expression: Any, numbers: dict[Expr, Any] | None = None):
    """Translate an expression or a condition; `numbers` collects the unknowns."""
    if isinstance(expression, UNKNOWNS):
        number = z3.Real(str(expression))
        return number if numbers is None else numbers.setdefault(expression, number)
    if isinstance(expression, sympy.Number):
        return z3.RealVal(str(Fraction(str(expression)) if expression.is_Rational else Fraction(float(expression))))
    if isinstance(expression, sympy.logic.boolalg.BooleanAtom):
        return z3.BoolVal(bool(expression))
    parts = [to_z3(part, numbers) for part in expression.args if not isinstance(part, ExprCondPair)]
    if isinstance(expression, Pow) and isinstance(expression.exp, Integer):
        power = z3.Product([parts[0]] * abs(int(expression.exp)))
        return power if expression.exp > 0 else 1 / power
    if isinstance(expression, Piecewise):
        *pairs, (last, _) = expression.args
        formula = to_z3(last, numbers)
        for value, condition in reversed(pairs):
            formula = z3.If(to_z3(condition, numbers), to_z3(value, numbers), formula)
        return formula
    if type(expression) not in Z3:
        raise TypeError(f"z3 is not told of {type(expression).__name__} in {expression}")
    return Z3[type(expression)](*parts)


def mutants(equation: Equation) -> Iterator[Equation]:
    """Change the right side of the equation in one place, in every place and in each of these ways.

    A sign turned, a term left out, a factor of 2 put in, a number raised by one (indices and exponents among them), and a
    symbol taken for another one of the equation (h_t for h_{i−1}, v for u, one index for the next).
    """
    left, right = equation.sides
    if right == 0:
        left, right = right, left
    for wrong in _wrong(left, right):
        yield Equation(equation.claim, left, wrong)


@cache
def _wrong(left: Expr, right: Expr) -> tuple[Expr, ...]:
    others = sorted(left.atoms(Symbol, Indexed) | right.atoms(Symbol, Indexed), key=str)
    indices = {part for total in right.atoms(Sum) for part in total.variables}
    others = [symbol for symbol in others if symbol not in indices and not isinstance(symbol, sympy.Idx)]
    return tuple(wrong for wrong in dict.fromkeys(_change(right, others)) if wrong != right)


def _change(expression: Expr, others: list[Expr], squared: bool = False) -> Iterator[Expr]:
    if not squared:  # the sign of what is squared does not matter
        yield -expression
    yield 2 * expression
    if isinstance(expression, Add):
        for part in expression.args:
            yield expression - part
    if isinstance(expression, sympy.Rational):
        yield expression + 1
    if expression in others and len(others) > 1:
        yield others[(others.index(expression) + 1) % len(others)]
        yield expression + 1
    if isinstance(expression, (Add, Mul, Pow)):
        places = range(len(expression.args))
    elif isinstance(expression, Sum):
        places = range(1)
    else:
        return
    for place in places:
        squared = isinstance(expression, Pow) and place == 0 and expression.exp.is_even
        for wrong in _change(expression.args[place], others, squared):
            arguments = list(expression.args)
            arguments[place] = wrong
            yield expression.func(*arguments)
