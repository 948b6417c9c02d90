"""Make the long and the wide test vectors: questions from recipes, by integer arithmetic, and their stored answers.

A recipe gives the same question on every machine; the stored file has the question's hash, so that another one is refused.
Exact answers would be fractions of thousands of digits. So the stored ones are rounded to float64, and their tolerances
include that rounding. They are for float64 only: exact runs do without.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .cases import ALGORITHM, VECTORS, VERSION, Case, Checkpoint, Question, chosen

FOLDER = "reach"
"""Folder of the stored answers, in that of the vectors."""

FLAGS: dict[str, tuple[str, Callable[[Question], bool]]] = {
    "ManySteps": (
        "there are at least 2000 steps, so that counters and scales must hold them",
        lambda q: len(q.indices) >= 2000,
    ),
    "ManyColumns": (
        "a column beyond 2^16 is stored, so that 16 bits cannot number them",
        lambda q: any(column >= 2**16 for row in q.rows for column, _ in row),
    ),
    "LongRow": ("a row stores 300 entries", lambda q: any(len(row) >= 300 for row in q.rows)),
    "UnreachedColumn": (
        "the last column has an entry, but in no row that is drawn: only the mean reaches it",
        lambda q: q.n - 1 in _columns(q.rows) - _columns(q.rows[i] for i in set(q.indices)),
    ),
}
"""Flags of the long and wide cases: a sentence and a predicate each."""


class Recipe(NamedTuple):
    """Long or wide question: m rows of 1 to `longest` entries in n columns, drawn in T/m shuffled passes.

    A row holds short numbers or full ones of 53 bits, below 2^-shrink in absolute value. The last row is in the mean, but is
    never drawn; it alone reaches the last column.
    """

    name: str
    comment: str
    seed: int
    n: int
    m: int
    longest: int
    T: int
    lam: float
    shrink: int
    losses: tuple[str, ...]
    checkpoints: tuple[int, ...]


RECIPES = (
    Recipe("many-steps", "Steps for sixteen passes over the rows; the predictor is asked for around 100 and 256 as well.",
           1, 40, 160, 12, 2544, 4.0, 1, ("absolute", "squared", "hinge", "log"), (100, 101, 128, 129, 256, 257, 1000, 2544)),
    Recipe("steps-beyond-16-bits", "More steps than 16 bits count, and than 32 bits hold the square of.",
           2, 3, 18, 3, 66011, 0.5, 0, ("hinge",), (32767, 46340, 66011)),
    Recipe("columns-beyond-16-bits", "Columns up to 2^17, and rows of up to 300 entries.",
           3, 131072, 24, 300, 69, 2.0, 3, ("hinge", "log"), (69,)),
    Recipe("many-columns", "A number of columns beyond 2^16 that is no power of two.",
           4, 70001, 20, 300, 57, 2.0, 3, ("absolute", "squared"), (57,)),
)  # fmt: skip


def split_mix(seed: int) -> Iterator[int]:
    """Yield 64 bits at a time, as SplitMix64 does (Steele, Lea and Flood 2014)."""
    state, mask = seed, 2**64 - 1
    while True:
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        yield z ^ (z >> 31)


def _below(bound: int, numbers: Iterator[int]) -> int:
    return next(numbers) % bound


def _value(numbers: Iterator[int], short: bool) -> float:
    """Make a number in (-1, 1) that is not 0: a multiple of 1/64, or one of 53 bits."""
    bits = 6 if short else 53
    number = 1 + _below(2**bits - 1, numbers)
    return (number if next(numbers) & 1 else -number) * 2.0**-bits


def question(recipe: Recipe, loss: str, centred: bool) -> Question:
    """Make the question of a recipe, the same on every machine."""
    numbers, n, m = split_mix(recipe.seed), recipe.n, recipe.m
    common = [column * (n - 1) // 64 for column in range(64)]  # half of the entries stand in these, so that rows share columns
    rows = []
    for i in range(m):
        length = {0: 1, 1: recipe.longest}.get(i, 1 + _below(recipe.longest, numbers))
        columns: set[int] = {n - 1} if i == m - 1 else set()
        while len(columns) < min(length, n - 1):
            columns.add(common[_below(64, numbers)] if len(columns) < min(40, length // 2) else _below(n - 1, numbers))
        rows.append([(column, _value(numbers, i % 3 == 0) * 2.0**-recipe.shrink) for column in sorted(columns)])
    signs = [float(1 - 2 * (next(numbers) & 1)) for _ in range(m)]
    reals = [2 * _value(numbers, False) for _ in range(m)]
    indices = list(islice(_passes(m - 1, numbers), recipe.T))
    return Question(n, rows, signs if loss in ("hinge", "log") else reals, loss, recipe.lam, indices, centred)


def _passes(m: int, numbers: Iterator[int]) -> Iterator[int]:
    """Draw the rows 0 to m - 1 pass by pass, each pass in an order of its own."""
    order = list(range(m))
    while True:
        for last in range(m - 1, 0, -1):
            other = _below(last + 1, numbers)
            order[last], order[other] = order[other], order[last]
        yield from order


def digest(question: Question) -> str:
    """Hash all that a program is asked, but for which predictor is wanted."""
    asked = [question.n, question.rows, question.y, question.loss, question.lam, question.indices]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()


def columns_used(question: Question) -> list[int]:
    """List the columns that are stored anywhere; the weights of the others are 0."""
    return sorted(_columns(question.rows))


def _columns(rows) -> set[int]:
    return {column for row in rows for column, _ in row}


def load(algorithm=None, loss=None) -> list[Case]:
    """Read the long and the wide cases of some algorithms and losses: a name, several, or None for all."""
    algorithms, losses = chosen(algorithm, loss)
    return [case for recipe in RECIPES for case in _read(recipe) if case.algorithm in algorithms and case.loss in losses]


@cache
def _read(recipe: Recipe) -> tuple[Case, ...]:
    path = VECTORS / FOLDER / f"{recipe.name}.json"
    file = json.loads(path.read_text("utf8"))
    if file["version"] != VERSION:
        raise ValueError(f"{path} has version {file['version']} of the format; this reads version {VERSION}")
    return tuple(_case(recipe, each, path) for each in file["cases"])


def _case(recipe: Recipe, each: dict, path: Path) -> Case:
    algorithm, loss = each["algorithm"], each["loss"]
    average, centred = next(kind for kind, name in ALGORITHM.items() if name == algorithm)
    asked = question(recipe, loss, centred)
    if digest(asked) != each["sha256"]:
        raise ValueError(f"{path} holds answers to another question than the recipe makes: {algorithm}, {loss}. Restore both")
    columns, checkpoints = columns_used(asked), []
    for point in each["checkpoints"]:
        w = np.zeros(recipe.n)
        w[columns] = point["w"]
        checkpoints.append(Checkpoint(point["t"], w, point["b"], *point["tolerance"]))
    return Case(
        **vars(asked),
        id=f"{algorithm}-{loss}-{recipe.name}",
        comment=recipe.comment,
        flags=tuple(flag for flag, (_, holds) in FLAGS.items() if holds(asked)),
        algorithm=algorithm,
        average=average,
        p=(),
        g=(),
        p_tolerance=(),
        g_tolerance=(),
        checkpoints=tuple(checkpoints),
        undecided="",
    )
