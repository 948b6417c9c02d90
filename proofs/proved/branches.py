"""Symbolic execution of scalar functions: enumerate the branches for unknown arguments, each with its conditions and value."""

import operator
from collections.abc import Callable, Iterator
from types import FunctionType, SimpleNamespace
from typing import Any

import sympy
from sympy.logic.boolalg import BooleanAtom

from .prover import z3


class Unknown:
    """Sympy or z3 number whose comparisons ask which way to go."""

    def __init__(self, number, way: "Way"):
        self.number, self.way = number, way

    def __neg__(self):
        return Unknown(-self.number, self.way)

    def __bool__(self):
        return bool(self != 0)

    def __abs__(self):
        return self if self >= 0 else -self  # type: ignore[operator]


def _arithmetic(operation, swapped=False):
    def apply(self, other):
        numbers = [part.number if isinstance(part, Unknown) else part for part in (self, other)]
        return Unknown(operation(*(reversed(numbers) if swapped else numbers)), self.way)

    return apply


SYMBOLIC = {operator.eq: sympy.Eq, operator.ne: sympy.Ne}
"""Comparisons that sympy's operators make of the expressions, and not of the numbers."""


def _comparison(operation):
    def ask(self, other):
        other = other.number if isinstance(other, Unknown) else other
        asked = SYMBOLIC.get(operation, operation) if isinstance(self.number, sympy.Basic) else operation
        return self.way.decide(asked(self.number, other))

    return ask


for _name in ("add", "sub", "mul", "truediv"):
    setattr(Unknown, f"__{_name}__", _arithmetic(getattr(operator, _name)))
    setattr(Unknown, f"__r{_name}__", _arithmetic(getattr(operator, _name), swapped=True))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Unknown, f"__{_name}__", _comparison(getattr(operator, _name)))


class Way:
    """Answers to the comparisons on one way through a function: those given, then yes to every further one.

    What was asked before gets the answer that it got.
    """

    def __init__(self, answers: list[bool]):
        self.answers, self.conditions = answers, []  # type: tuple[list[bool], list[Any]]

    def decide(self, condition) -> bool:
        if isinstance(condition, (bool, BooleanAtom)):
            return bool(condition)
        if condition in self.conditions:
            return self.answers[self.conditions.index(condition)]
        if len(self.conditions) == len(self.answers):
            self.answers.append(True)
        self.conditions.append(condition)
        return self.answers[len(self.conditions) - 1]


def branches(function: Callable, *numbers) -> Iterator[tuple[list[tuple[Any, bool]], Any]]:
    """Yield ([(condition, answer), …], value) for every way through the function at these unknown numbers."""
    pending: list[list[bool]] = [[]]
    while pending:
        given = pending.pop()
        way = Way(list(given))
        value = function(*(Unknown(number, way) for number in numbers))
        pending.extend([*way.answers[:place], False] for place in range(len(given), len(way.answers)))
        yield list(zip(way.conditions, way.answers, strict=True)), value.number if isinstance(value, Unknown) else value


def with_symbolic_math(function: Callable) -> Any:
    """Make the same code with sympy's exp, log and log1p for those of `math`."""

    def lift(formula):
        return lambda unknown: Unknown(formula(unknown.number), unknown.way)

    symbolic = SimpleNamespace(exp=lift(sympy.exp), log=lift(sympy.log), log1p=lift(lambda number: sympy.log(1 + number)))
    scope = {**function.__globals__, "math": symbolic}
    return FunctionType(function.__code__, scope, function.__name__, function.__defaults__, function.__closure__)


def as_formula(function, *numbers):
    """Return the shipped function at these z3 numbers, as nested if-then-elses over the ways through it."""
    formula = z3.RealVal(0)
    for conditions, value in branches(function, *numbers):
        here = z3.And([condition if answer else z3.Not(condition) for condition, answer in conditions])
        formula = z3.If(here, value if z3.is_expr(value) else z3.RealVal(value), formula)
    return formula
