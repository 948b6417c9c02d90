"""Mutants of the shipped loops, programs that differ in one token: make them, and judge them by what is proved of the loops.

Each + is tried as −, each · as /, each comparison as its opposite, each number one higher, and each name as the next other
name of the function, in the loops, the recoveries, the computation of x̄ and θ and the sparse vector operations that they
call. A mutant that survives would be a program that differs and of which everything is proved that is proved of ours.
"""

import inspect
import io
import keyword
import tokenize
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from efficient.kernels import sparse
from efficient.runs.algorithms import ALGORITHMS, Algorithm, Mean

from ..ledger import Entry
from .execution import Unknowns, induction, symbols, unrolled
from .prover import Equation, is_identity, number_of

EXCHANGED = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "==": "!=", "!=": "==", "<": ">="}
HINTS = ("ahead(", "ahead_in_order(", "ahead_of(", "side_by_side(")
"""Beginnings of the lines that compute nothing, and which no proof can tell from their mutants."""


class Mutant(NamedTuple):
    """Function with one token exchanged: where, and the compiled result (None if Python refuses it)."""

    where: str
    function: Callable | None


def of_function(function: Callable, helpers: Iterable[str] = ()) -> Iterator[Mutant]:
    """Exchange every token of a function's body in turn; names of helpers that it calls count as its own."""
    source = inspect.getsource(function)
    source = source[source.index("def ") :]
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    body = next(place for place, token in enumerate(tokens) if token.type == tokenize.INDENT)
    helpers = {"dot", "add", "add_both", "entries", "ONE", "TWO", "THREE", "FOUR", *helpers}
    names = sorted(set(function.__code__.co_varnames) | (set(function.__code__.co_names) & helpers))
    lines = source.splitlines(keepends=True)
    for token in tokens[body:]:
        wrong = None
        if token.type == tokenize.OP:
            wrong = EXCHANGED.get(token.string)
        elif token.type == tokenize.NUMBER:
            wrong = str(int(token.string) + 1)
        elif token.type == tokenize.NAME and token.string in names and not keyword.iskeyword(token.string):
            wrong = names[(names.index(token.string) + 1) % len(names)]
        (row, start), (last, end) = token.start, token.end
        if wrong is None or row != last or lines[row - 1].strip().startswith(HINTS):
            continue
        line = lines[row - 1]
        where = f"{line.split('#')[0].strip()} {token.string} -> {wrong}"
        scope: dict[str, Any] = {}
        try:
            exec(
                "".join([*lines[: row - 1], line[:start] + wrong + line[end:], *lines[row:]]), dict(function.__globals__), scope
            )
        except SyntaxError:
            yield Mutant(where, None)
        else:
            yield Mutant(where, scope[function.__name__])


def rebind(function: Callable, **helpers) -> Callable:
    """Make the same code with other helpers."""
    return FunctionType(function.__code__, {**function.__globals__, **helpers}, function.__name__)


def of_algorithm(algorithm: Algorithm) -> Iterator[tuple[str, Algorithm | None]]:
    """Exchange a token in the loop, a recovery, the computation of x̄ and θ, or an operation that the loop calls."""
    recoveries = {part: recovery for part in ("last", "average") if (recovery := getattr(algorithm, part))}
    mean = {} if algorithm.mean is None else algorithm.mean._asdict()
    operations = {
        name: getattr(sparse, name) for name in ("dot", "add", "add_both") if name in algorithm.steps.__code__.co_names
    }

    def put(part: str, wrong: Callable) -> Algorithm:
        changed: dict[str, Any] = {part: wrong}
        if part in recoveries:
            changed = {part: recoveries[part]._replace(recover=wrong)}
        elif part in mean:
            changed = {"mean": Mean(**{**mean, part: wrong})}
        elif part == "entries":  # the operations call it, so they are bound to it anew
            bound = {name: rebind(function, entries=wrong) for name, function in operations.items()}
            changed = {"steps": rebind(algorithm.steps, entries=wrong, **bound)}
        elif part in operations:
            changed = {"steps": rebind(algorithm.steps, **{part: wrong})}
        return algorithm._replace(**changed)

    parts = {"steps": algorithm.steps, **{part: recovery.recover for part, recovery in recoveries.items()}, **mean}
    for part, function in {**parts, "entries": sparse.entries, **operations}.items():
        for mutant in of_function(function):
            yield f"{part}: {mutant.where}", None if mutant.function is None else put(part, mutant.function)


def claims(algorithm: Algorithm, unknown: Unknowns = symbols) -> Iterator[Equation]:
    """Everything that is proved about an algorithm's shipped code."""
    for T in (1, 2, 3):
        yield from unrolled(algorithm, T, unknown)
    for T in (1, 2) if algorithm.centred else ():
        yield from unrolled(algorithm, T, unknown, projected=True)
    for _, step in induction(algorithm, unknown):
        yield step


def fixed(**numbers: int) -> Unknowns:
    """Make the point where the unknowns whose names begin so have these numbers."""

    def number(name: str) -> Fraction:
        return next((Fraction(value) for start, value in numbers.items() if name.startswith(start)), number_of(name))

    return number


POINTS: tuple[Unknowns, ...] = (
    number_of,
    fixed(omega=1, weight=1, t0=0),  # the paper's case
    fixed(omega1=0, t0=0),  # the first iterate is not in the mean
    *(fixed(weight=1, slope=derivative, g=derivative) for derivative in (0, 1, -1)),
    fixed(a=0),  # after steps whose derivatives add up to nothing
    fixed(h=0),
)
"""Points at which the claims are tried before the prover: anywhere, and where a comparison in the code might turn."""

BREAKDOWNS = (ArithmeticError, AttributeError, LookupError, NameError, TypeError, ValueError)
"""Exceptions that a program which makes no sense may raise."""


def verdict(claims: Callable[[Unknowns], Iterator[Equation]]) -> str | None:
    """Judge a program by the claims about it: "refuted" by one, "broken" if it does not run, None if all hold."""
    try:
        with np.errstate(over="ignore"):  # places in a row may wrap around
            at_all_points = all(step.left == step.right for point in POINTS for step in claims(point))
            return None if at_all_points and all(is_identity(step) for step in claims(symbols)) else "refuted"
    except BREAKDOWNS:
        return "broken"


def failure(algorithm: Algorithm | None) -> str | None:
    """Judge an algorithm by all claims about the shipped one."""
    return "broken" if algorithm is None else verdict(partial(claims, algorithm))


EVIDENCE: dict[str, Callable[[Algorithm], Iterator[Equation]]] = {
    "one step": lambda algorithm: unrolled(algorithm, 1, number_of),
    "two steps": lambda algorithm: unrolled(algorithm, 2, number_of),
    "four steps": lambda algorithm: unrolled(algorithm, 4, number_of),
    "the induction": lambda algorithm: (step for _, step in induction(algorithm, number_of)),
    "all together": lambda algorithm: (step for point in POINTS for step in claims(algorithm, point)),
}
"""Ever more evidence, each at numbers: the loop against the definition for T steps; the induction; both at every point."""


def stands(algorithm: Algorithm | None, evidence: str) -> bool:
    """Tell whether a program passes this piece of evidence by itself: no claim in it fails, and it runs."""
    try:
        with np.errstate(over="ignore"):
            return algorithm is not None and all(step.left == step.right for step in EVIDENCE[evidence](algorithm))
    except BREAKDOWNS:
        return False


def standing(name: str) -> dict[str, list[str]]:
    """List the mutants of an algorithm that each piece of evidence, by itself, does not tell from it."""
    wrong = list(of_algorithm(ALGORITHMS[name]))
    return {evidence: [where for where, algorithm in wrong if stands(algorithm, evidence)] for evidence in EVIDENCE}


def judged(name: str, claim: str, own: str | None, verdicts: Iterator[tuple[str, str | None]]) -> Entry:
    """Make the entry of an algorithm from the verdict on the shipped program, which must be None, and those on its mutants."""
    found = list(verdicts) if own is None else []
    survivors = [where for where, failure in found if failure is None]
    broken = sum(failure == "broken" for _, failure in found)
    refuted = len(found) - len(survivors)
    figure = f"{refuted} of {len(found)} refuted, {refuted - broken} by a claim and {broken} as they do not run"
    if own is not None:
        figure = f"the shipped program itself is {own}"
    elif survivors:
        figure += "; not refuted: " + "; ".join(survivors)
    holds = bool(found) and not survivors
    evidence = "mutants of the shipped code"
    label = ALGORITHMS[name].label
    return Entry(label, claim, "proved", evidence, figure, holds, algorithm=name, mutants=len(found), refuted=refuted)
