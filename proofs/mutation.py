"""Single-token corruptions of the shipped loops: the proofs of an algorithm must fail on every program one token away.

Each + is tried as −, each · as /, each comparison as its opposite, each number one higher, and each name as the next other
name of the function, in the loops, the recoveries and the sparse vector operations that they call. A survivor passes the
induction and the unrolled runs; it must be an equivalent program, and `EQUIVALENT` says why it is.
"""

import inspect
import io
import keyword
import tokenize
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from types import FunctionType
from typing import Any, NamedTuple

from efficient import sparse
from efficient.state import ALGORITHMS, Algorithm

from .ledger import LABEL_OF, Entry, Job
from .prover import Equation, is_identity, number_of
from .shipped import Unknowns, induction, symbols, unrolled

EXCHANGED = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "==": "!=", "!=": "==", "<": ">="}
HELPERS = ("row", "dot", "add", "add_both")

EQUIVALENT = {
    "if g != 0: 0 -> 1": "a row whose derivative is 0 is skipped to save time; adding 0 · x changes nothing",
    "if g != 0: g -> hg": "h g is 0 just where g is, since h >= 1 after the first step",
}
"""Why a surviving corruption is the same program, by the line, the token and what stood in its place."""


class Mutant(NamedTuple):
    """A function with one token exchanged: where, and the compiled result (None if Python refuses it)."""

    where: str
    function: Callable | None


def mutants(function: Callable) -> Iterator[Mutant]:
    """Every single-token corruption of a function's body."""
    source = inspect.getsource(function)
    source = source[source.index("def ") :]
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    body = next(place for place, token in enumerate(tokens) if token.type == tokenize.INDENT)
    names = sorted(set(function.__code__.co_varnames) | (set(function.__code__.co_names) & set(HELPERS)))
    lines = source.splitlines(keepends=True)
    for token in tokens[body:]:
        wrong = None
        if token.type == tokenize.OP:
            wrong = EXCHANGED.get(token.string)
        elif token.type == tokenize.NUMBER:
            wrong = str(int(token.string) + 1)
        elif token.type == tokenize.NAME and token.string in names and not keyword.iskeyword(token.string):
            wrong = names[(names.index(token.string) + 1) % len(names)]
        if wrong is None or token.start[0] != token.end[0]:
            continue
        (row, start), (_, end) = token.start, token.end
        line = lines[row - 1]
        code = line.split("#")[0].strip()
        changed = [*lines[: row - 1], line[:start] + wrong + line[end:], *lines[row:]]
        scope: dict[str, Any] = {}
        try:
            exec("".join(changed), dict(function.__globals__), scope)
        except SyntaxError:
            yield Mutant(f"{code} {token.string} -> {wrong}", None)
            continue
        mutant = scope[function.__name__]
        yield Mutant(f"{code} {token.string} -> {wrong}", mutant)


def rebind(function: Callable, **helpers) -> Callable:
    """The same code with other helpers."""
    return FunctionType(function.__code__, {**function.__globals__, **helpers}, function.__name__)


def corrupted(algorithm: Algorithm) -> Iterator[tuple[str, Algorithm | None]]:
    """The algorithm with one token exchanged in its loop, its recoveries or a helper that its loop calls."""

    def with_part(part: str, mutant: Mutant) -> Algorithm | None:
        if mutant.function is None:
            return None
        if part == "steps":
            return algorithm._replace(steps=mutant.function)
        return algorithm._replace(**{part: getattr(algorithm, part)._replace(recover=mutant.function)})

    for part in ("steps", "last", "average"):
        original = algorithm.steps if part == "steps" else getattr(algorithm, part) and getattr(algorithm, part).recover
        if original is not None:
            for mutant in mutants(original):
                yield f"{part}: {mutant.where}", with_part(part, mutant)
    called = [name for name in HELPERS if name in algorithm.steps.__code__.co_names]
    for name in ("row", *called):
        for mutant in mutants(getattr(sparse, name)):
            if mutant.function is None:
                yield f"{name}: {mutant.where}", None
                continue
            # `row` is called by the others, so they are bound to it anew
            helpers = {name: mutant.function}
            if name == "row":
                helpers |= {other: rebind(getattr(sparse, other), row=mutant.function) for other in called}
            yield f"{name}: {mutant.where}", algorithm._replace(steps=rebind(algorithm.steps, **helpers))


def claims(algorithm: Algorithm, unknown: Unknowns = symbols) -> Iterator[Equation]:
    """Everything that is proved about an algorithm's shipped code."""
    for T in (1, 2, 3):
        yield from unrolled(algorithm, T, unknown)
    for _, step in induction(algorithm, unknown):
        yield step


def in_the_papers_case(name: str):
    """The number at the point, but weight = ω = 1 and t0 = 0."""
    return Fraction(name != "t0") if name == "t0" or name.startswith(("omega", "weight")) else number_of(name)


def survives(algorithm: Algorithm | None) -> bool:
    """Whether every claim holds of this program. One that Python refuses, or that fails on the way, does not.

    Nearly all are refuted at one rational point; what passes there is put to the prover.
    """
    if algorithm is None:
        return False
    try:
        for numbers in (number_of, in_the_papers_case):
            if not all(step.left == step.right for step in claims(algorithm, numbers)):
                return False
        return all(is_identity(step) for step in claims(algorithm))
    except (ArithmeticError, AttributeError, LookupError, NameError, TypeError, ValueError):
        return False


def refute(name: str) -> Iterator[Entry]:
    """Try every corruption of an algorithm; the survivors are listed with the reason why they are the same program."""
    tried, survivors = 0, []
    for where, algorithm in corrupted(ALGORITHMS[name]):
        tried += 1
        if survives(algorithm):
            survivors.append(where)
    unexplained = [where for where in survivors if where.split(": ", 1)[1] not in EQUIVALENT]
    refuted = tried - len(survivors)
    figure = f"{refuted} of {tried} refuted ({refuted / tried:.1%}), {len(survivors)} equivalent"
    if unexplained:
        figure += "; not explained: " + "; ".join(unexplained)
    yield Entry(
        LABEL_OF[name],
        "a program that differs in one token fails the proofs",
        "corruptions of the shipped code",
        figure,
        not unexplained and refuted >= 0.95 * tried,
        algorithm=name,
        corruptions=tried,
    )


def jobs() -> list[Job]:
    return [Job((LABEL_OF[name],), f"corrupting {name}", partial(refute, name)) for name in ALGORITHMS]
