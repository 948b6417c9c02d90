"""Every way through a function with `if`s, for unknown arguments: the condition of each way, and the value there."""

import operator
from collections.abc import Callable, Iterator
from types import FunctionType, SimpleNamespace
from typing import Any

import sympy


class Unknown:
    """A sympy or z3 number whose comparisons ask which way to go."""

    def __init__(self, number, way: "Way"):
        self.number, self.way = number, way

    def __neg__(self):
        return Unknown(-self.number, self.way)

    def __abs__(self):
        return self if self >= 0 else -self  # type: ignore[operator]


def _arithmetic(operation, swapped=False):
    def apply(self, other):
        numbers = [part.number if isinstance(part, Unknown) else part for part in (self, other)]
        return Unknown(operation(*(reversed(numbers) if swapped else numbers)), self.way)

    return apply


def _comparison(operation):
    def ask(self, other):
        return self.way.decide(operation(self.number, other.number if isinstance(other, Unknown) else other))

    return ask


for _name in ("add", "sub", "mul", "truediv"):
    setattr(Unknown, f"__{_name}__", _arithmetic(getattr(operator, _name)))
    setattr(Unknown, f"__r{_name}__", _arithmetic(getattr(operator, _name), swapped=True))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Unknown, f"__{_name}__", _comparison(getattr(operator, _name)))


class Way:
    """The answers to the comparisons on one way through a function: those given, then yes to every further one.

    What was asked before gets the answer that it got.
    """

    def __init__(self, answers: list[bool]):
        self.answers, self.conditions = answers, []  # type: tuple[list[bool], list[Any]]

    def decide(self, condition) -> bool:
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


def with_symbolic_math(function: Callable) -> Callable:
    """The same code with sympy's exp and log1p for those of `math`."""

    def lift(formula):
        return lambda unknown: Unknown(formula(unknown.number), unknown.way)

    symbolic = SimpleNamespace(exp=lift(sympy.exp), log1p=lift(lambda number: sympy.log(1 + number)))
    return FunctionType(function.__code__, {"math": symbolic})
