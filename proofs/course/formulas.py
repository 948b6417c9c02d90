"""Test functions by their values, and formulas by the prover."""

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from itertools import count
from typing import Any

import numpy as np
import scipy.sparse as sp
import sympy

from ..proved import symbols
from ..proved.prover import Equation, is_identity
from .marking import Wrong

ROUNDINGS = 64
"""Bound of the roundings in the functions asked for, at numbers no larger than their result or 1."""


def agrees(
    answer: Callable, right: Callable, questions: Iterable[tuple], known_wrong: Mapping[str, Callable] | None = None
) -> None:
    """Compare a function with the right one: the same numbers for all questions, tuples of arguments, to rounding.

    `known_wrong` maps sentences to functions. A sentence is told if its function gives all the answers. Each call has its own
    copy of the question, so that an answer may work in place.

    Raises
    ------
    Wrong
        Shows the first question whose answer is wrong.
    """
    questions = list(questions)
    found, expected = _asked(answer, questions), _asked(right, questions)
    for place, question in enumerate(questions):
        if not _alike(found[place], expected[place]):
            given = ", ".join(map(shown, question))
            first = f"{shown(answer)}({given}) is {shown(found[place])}, must be {shown(expected[place])}"
            known = {text: _asked(wrong, questions) for text, wrong in (known_wrong or {}).items()}
            sentences = [text for text, given in known.items() if all(map(_alike, found, given))]
            raise Wrong(
                "\n".join([*(sentences or _of_parts(found, expected, known) or _in_proportion(found, expected)), first])
            )


def _in_proportion(found: list, expected: list) -> list[str]:
    """Say by which factor all results are off, or what is added to all of them."""
    mine, right = (numbers([part for part in each if part is not None]) for each in (found, expected))
    if mine is None or right is None or mine.shape != right.shape or not np.isfinite(mine).all():
        return []
    largest = np.argmax(abs(right))
    factor, more = mine[largest] / right[largest] if right[largest] else 0.0, mine[0] - right[0]
    if factor and np.allclose(mine, factor * right, rtol=1e-9, atol=0):
        return ["the sign is wrong" if factor == -1 else f"all results are {factor:.3g} times what they must be"]
    if np.allclose(mine - right, more, rtol=0, atol=1e-9):
        return [f"all results are off by {more:.3g}"]
    return []


def _of_parts(found: list, expected: list, known: Mapping[str, list]) -> list[str]:
    """Find the sentences that explain the wrong ones of several results, where the others are right."""
    if not all(isinstance(each, (tuple, list)) and len(each) == len(expected[0]) for each in (*found, *expected)):
        return []
    sentences = []
    for part in range(len(expected[0])):
        mine, right = ([each[part] for each in all_parts] for all_parts in (found, expected))
        if not all(map(_alike, mine, right)):
            given = {text: [each[part] for each in values] for text, values in known.items()}
            told = [text for text, values in given.items() if all(map(_alike, mine, values))]
            if not told:
                return []
            sentences.append(f"{ORDINALS[part]} of the results: {told[0]}")
    return sentences


ORDINALS = ("the first", "the second", "the third")


def _asked(function: Callable, questions: Iterable[tuple]) -> list:
    return [function(*deepcopy(question)) for question in questions]


def numbers(value: Any) -> np.ndarray | None:
    """Join numbers and vectors into one vector; None if the value holds anything else."""
    parts = value if isinstance(value, (tuple, list)) else (value,)
    try:
        return np.concatenate([np.ravel(np.asarray(part, dtype=float)) for part in parts])
    except (TypeError, ValueError):
        return None


def filled(value: Any, n: int) -> Any:
    """Write a vector that is given as {column: number}, or sparse, with all its n entries; leave others as they are."""
    if sp.issparse(value):
        return value.toarray().ravel()
    if not isinstance(value, dict):
        return value
    vector = np.zeros(n)
    for column, number in value.items():
        vector[column] = number
    return vector


def _alike(found: Any, expected: Any) -> bool:
    if isinstance(found, (tuple, list)) and isinstance(expected, tuple) and len(found) == len(expected):
        found = [filled(part, np.size(like)) for part, like in zip(found, expected, strict=True)]
    one, other = numbers(found), numbers(expected)
    if one is None or other is None or one.shape != other.shape:
        return False
    with np.errstate(invalid="ignore"):  # infinity less infinity
        near = abs(one - other) <= ROUNDINGS * np.finfo(float).eps * np.maximum(1, abs(other))
    return bool((near & np.isfinite(other) | (one == other)).all())


def shown(value: Any) -> str:
    """Print a number, a vector, a matrix, a function, or several of these, in short."""
    if isinstance(value, tuple):
        return f"({', '.join(map(shown, value))})"
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value[:4]))}{', …' * (len(value) > 4)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(map(str, value))}}}"
    if callable(value):
        return getattr(value, "__name__", "a function")
    value = value.toarray() if sp.issparse(value) else value
    if isinstance(value, np.ndarray):
        return np.array2string(value, separator=", ", precision=6).replace("\n", "")
    return f"{value:.6g}" if isinstance(value, float) else str(value)


LETTERS: dict[str, Any] = {
    **{str(letter): letter for letter in vars(symbols).values() if isinstance(letter, sympy.Symbol)},
    "lam": symbols.lam,
    "t": symbols.t,
}
"""Letters of a formula, by name."""


def equals(answer: Any, right: Any, known_wrong: Mapping[str, Any] | None = None) -> None:
    """Compare a formula with the right one: equal for all numbers, in any form.

    Parameters
    ----------
    answer : sympy expression in the letters of `proofs.proved.symbols`, or number
    right : sympy expression
    known_wrong : mapping from sentences to the formulas that they are about, optional

    Raises
    ------
    Wrong
        Shows numbers for which the two differ, and a sentence if the wrong formula is known.
    """
    expression = _expression(answer)
    if not is_identity(Equation("answer", expression, right)):
        known = (known_wrong or {}).items()
        sentences = [text for text, wrong in known if is_identity(Equation("answer", expression, wrong))]
        sentences = sentences or _of_one_letter(expression, sympy.sympify(right))
        raise Wrong("\n".join([*sentences, _difference(expression, sympy.sympify(right))]))


def _of_one_letter(expression: sympy.Expr, right: sympy.Expr) -> list[str]:
    """Say what a single letter does in a formula that is right but for that letter."""
    for letter in sorted(right.free_symbols, key=str):
        name, value = ("t", symbols.t) if letter == symbols.before else (str(letter), letter)
        slips = {
            f"{name} is missing": 1,
            f"{name} divides where it must multiply, or the other way": 1 / value,
            f"{name} has the other sign": -value,
            f"{name} counts twice": 2 * value,
            f"{name} is there with its square": value**2,
        }
        if name == "t":
            slips |= {
                "t is one too large: t + 1 for t, or t for t - 1": value + 1,
                "t is one too small: t - 1 for t": value - 1,
            }
        for text, other in slips.items():
            wrong = right.subs(letter, other - 1 if name == "t" else other)
            if wrong.is_finite is not False and is_identity(Equation("answer", expression, wrong)):
                return [text]
    return []


def _expression(answer: Any) -> sympy.Expr:
    try:
        expression = sympy.sympify(answer, strict=True)
    except sympy.SympifyError:
        expression = None
    if not isinstance(expression, sympy.Expr):
        raise Wrong(f"{answer!r} is no formula: write one with the letters {', '.join(LETTERS)}")
    if expression.atoms(sympy.Float):
        raise Wrong(f"{answer} has a decimal number, which is not exact: write sympy.Rational(1, 2) for 0.5")
    unknown = sorted({str(letter) for letter in expression.free_symbols} - LETTERS.keys())
    if unknown:
        raise Wrong(f"{', '.join(unknown)} in {answer} is none of the letters {', '.join(LETTERS)}")
    # a new symbol of a known name means the known one
    expression = expression.xreplace({letter: LETTERS[str(letter)] for letter in expression.free_symbols})
    if not _is_rational(expression):
        expression = sympy.simplify(expression)
    if not _is_rational(expression):
        raise Wrong(f"{answer} must be made of letters and whole numbers with +, −, ·, / and whole powers")
    return expression


def _is_rational(expression: sympy.Expr) -> bool:
    return bool(expression.is_finite is not False and expression.is_rational_function(*expression.free_symbols))


def _difference(expression: sympy.Expr, right: sympy.Expr) -> str:
    """Find small numbers for which two unequal formulas differ."""
    letters = sorted(expression.free_symbols | right.free_symbols, key=str)
    for first in count(1):
        values = {letter: sympy.Integer(first + place) for place, letter in enumerate(letters)}
        found, expected = expression.subs(values), right.subs(values)
        if found != expected and found.is_finite:
            break
    names = [(f"t = {value + 1}" if letter == symbols.before else f"{letter} = {value}") for letter, value in values.items()]
    return f"with {', '.join(names)} it is {found}, must be {expected}"
