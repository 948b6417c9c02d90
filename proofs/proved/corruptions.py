"""Single-token corruptions of the shipped loops: the proofs of an algorithm must fail on every program one token away.

Each + is tried as −, each · as /, each comparison as its opposite, each number one higher, and each name as the next other
name of the function, in the loops, the recoveries, the computation of x̄ and θ and the sparse vector operations that they
call. A survivor would be a program that differs and of which everything is proved that is proved of ours. Of the loop for many
models it is proved that it is the loop for one.
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

import numpy as np

from efficient.kernels import batch as many
from efficient.kernels import simd as lanes
from efficient.kernels import sparse
from efficient.runs.algorithms import ALGORITHMS, Algorithm, Mean

from ..ledger import Entry, Job
from .batch import claims as claims_of_many
from .prover import Equation, is_identity, number_of
from .shipped import Unknowns, induction, symbols, unrolled

EXCHANGED = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "==": "!=", "!=": "==", "<": ">="}
FOR_MANY = {
    **{name: getattr(many, name) for name in ("steps", "dots", "dot_of", "add_to_all", "add_to")},
    **{name: getattr(lanes, name) for name in ("read_four", "write_four", "read_one", "write_one")},
    **{name: getattr(sparse, name) for name in ("dot", "entries")},
}
"""What the loop for many models is made of, by the names under which these functions call each other."""

HELPERS = ("add", "add_both", "ONE", "TWO", "THREE", "FOUR", *FOR_MANY)
HINTS = ("ahead(", "ahead_in_order(", "ahead_of(", "side_by_side(")
"""How the lines begin that compute nothing, and which no proof can tell from their corruptions."""


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
        (row, start), (last, end) = token.start, token.end
        if wrong is None or row != last or lines[row - 1].strip().startswith(HINTS):
            continue
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
        original = getattr(algorithm, part)
        changed: Any = {part: mutant.function if callable(original) else original._replace(recover=mutant.function)}
        return algorithm._replace(**changed)

    for part in ("steps", "last", "average"):
        original = getattr(algorithm, part)
        if original is not None:
            for mutant in mutants(original if callable(original) else original.recover):
                yield f"{part}: {mutant.where}", with_part(part, mutant)
    mean = algorithm.mean
    for part in Mean._fields if mean is not None else ():
        for mutant in mutants(getattr(mean, part)):
            wrong: Any = {part: mutant.function}
            spoilt = None if mutant.function is None or mean is None else algorithm._replace(mean=mean._replace(**wrong))
            yield f"{part}: {mutant.where}", spoilt
    called = [name for name in ("dot", "add", "add_both") if name in algorithm.steps.__code__.co_names]
    for name in ("entries", *called):
        for mutant in mutants(getattr(sparse, name)):
            if mutant.function is None:
                yield f"{name}: {mutant.where}", None
                continue
            # `entries` is called by the others, so they are bound to it anew
            helpers = {name: mutant.function}
            if name == "entries":
                helpers |= {other: rebind(getattr(sparse, other), entries=mutant.function) for other in called}
            yield f"{name}: {mutant.where}", algorithm._replace(steps=rebind(algorithm.steps, **helpers))


def corrupted_for_many() -> Iterator[tuple[str, Callable | None]]:
    """The loop for many models with one token exchanged in it or in an operation that it is made of."""
    for name, function in FOR_MANY.items():
        for mutant in mutants(function):
            yield f"{name}: {mutant.where}", None if mutant.function is None else loop_for_many(**{name: mutant.function})


def loop_for_many(**exchanged: Callable) -> Callable:
    """The loop for many models with other functions among those it is made of."""
    scope = {**vars(many), "WIDTH": lanes.WIDTH}
    scope |= {name: FunctionType(each.__code__, scope, name) for name, each in {**FOR_MANY, **exchanged}.items()}
    return scope["steps"]


def claims(algorithm: Algorithm, unknown: Unknowns = symbols) -> Iterator[Equation]:
    """Everything that is proved about an algorithm's shipped code."""
    for T in (1, 2, 3):
        yield from unrolled(algorithm, T, unknown)
    for T in (1, 2) if algorithm.centred else ():
        yield from unrolled(algorithm, T, unknown, projected=True)
    for _, step in induction(algorithm, unknown):
        yield step


def fixed(**numbers: int) -> Unknowns:
    """The point where the unknowns whose names begin so have these numbers."""

    def number(name: str) -> Fraction:
        return next((Fraction(value) for start, value in numbers.items() if name.startswith(start)), number_of(name))

    return number


POINTS: tuple[Unknowns, ...] = (
    number_of,
    fixed(omega=1, weight=1, t0=0),  # the paper's case
    fixed(omega1=0, t0=0),  # the first iterate is not in the mean
    *(fixed(weight=1, slope=derivative, g=derivative) for derivative in (0, 1, -1)),
)
"""Where the claims are tried before they are put to the prover: anywhere, and where a comparison in the code might turn."""


def failure(algorithm: Algorithm | None) -> str | None:
    """What is wrong with this program: "refuted" by a claim, "broken" if it does not run; None if all that is proved holds."""
    return "broken" if algorithm is None else _failure(partial(claims, algorithm))


def failure_for_many(steps: Callable | None) -> str | None:
    """The same of a loop for many models."""
    return "broken" if steps is None else _failure(partial(claims_of_many, steps, "casgd"))


BREAKDOWNS = (ArithmeticError, AttributeError, LookupError, NameError, TypeError, ValueError)
"""What a program that makes no sense may raise."""


def _failure(claims: Callable[[Unknowns], Iterator[Equation]]) -> str | None:
    try:
        with np.errstate(over="ignore"):  # places in a row may wrap around
            at_all_points = all(step.left == step.right for point in POINTS for step in claims(point))
            return None if at_all_points and all(is_identity(step) for step in claims(symbols)) else "refuted"
    except BREAKDOWNS:
        return "broken"


EVIDENCE: dict[str, Callable[[Algorithm], Iterator[Equation]]] = {
    "one step": lambda algorithm: unrolled(algorithm, 1, number_of),
    "two steps": lambda algorithm: unrolled(algorithm, 2, number_of),
    "four steps": lambda algorithm: unrolled(algorithm, 4, number_of),
    "the induction": lambda algorithm: (step for _, step in induction(algorithm, number_of)),
    "all together": lambda algorithm: (step for point in POINTS for step in claims(algorithm, point)),
}
"""Ever more evidence, each at numbers: the loop against the definition for T steps; the induction; both at every point."""


def stands(algorithm: Algorithm | None, evidence: str) -> bool:
    """Whether a program passes this piece of evidence by itself: no claim in it fails, and it runs."""
    try:
        with np.errstate(over="ignore"):
            return algorithm is not None and all(step.left == step.right for step in EVIDENCE[evidence](algorithm))
    except BREAKDOWNS:
        return False


def standing(name: str) -> dict[str, list[str]]:
    """Which corruptions of an algorithm each piece of evidence, by itself, does not tell from it."""
    wrong = list(corrupted(ALGORITHMS[name]))
    return {evidence: [where for where, algorithm in wrong if stands(algorithm, evidence)] for evidence in EVIDENCE}


def refute(name: str) -> Iterator[Entry]:
    """Try every corruption of an algorithm, after the algorithm itself, of which all claims must hold."""
    own = failure(ALGORITHMS[name])
    verdicts = ((where, failure(algorithm)) for where, algorithm in corrupted(ALGORITHMS[name]))
    yield _entry(name, "a program that differs in one token fails the proofs", own, verdicts)


def refute_for_many() -> Iterator[Entry]:
    """The same for the loop for many models."""
    own = failure_for_many(many.steps)
    verdicts = ((where, failure_for_many(steps)) for where, steps in corrupted_for_many())
    yield _entry("casgd", "a loop for many models that differs in one token is not the loop for one", own, verdicts)


def _entry(name: str, claim: str, own: str | None, verdicts: Iterator[tuple[str, str | None]]) -> Entry:
    tried, broken, survivors = 0, 0, []
    for where, verdict in verdicts if own is None else ():
        tried += 1
        broken += verdict == "broken"
        if verdict is None:
            survivors.append(where)
    refuted = tried - len(survivors)
    figure = f"{refuted} of {tried} refuted, {refuted - broken} by a claim and {broken} as they do not run"
    if own is not None:
        figure = f"the shipped program itself is {own}"
    elif survivors:
        figure += "; not refuted: " + "; ".join(survivors)
    return Entry(
        ALGORITHMS[name].label,
        claim,
        "corruptions of the shipped code",
        figure,
        own is None and tried > 0 and not survivors,
        algorithm=name,
        corruptions=tried,
        refuted=refuted,
    )


def jobs() -> list[Job]:
    return [
        *(Job((ALGORITHMS[name].label,), f"corrupting {name}", partial(refute, name)) for name in ALGORITHMS),
        Job((ALGORITHMS["casgd"].label,), "corrupting the loop for many models", refute_for_many),
    ]
