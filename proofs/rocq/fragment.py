"""Say what of Python is translated: the kinds of values, the functions that compute nothing, and the refusal of the rest."""

import ast
from pathlib import Path
from typing import NoReturn

PLACE, NUMBER, TRUTH = "nat", "K", "bool"
NUMBERS, PLACES = "nat -> K", "nat -> nat"
OF_MODELS, OF_COLUMNS = "nat -> nat -> K", "nat -> nat -> nat -> K"
ROWS, SLOPE = "rows", "K -> K -> K"
ATTRIBUTES = {"indices": PLACES, "data": NUMBERS, "indptr": PLACES}
"""Arrays of a sparse matrix."""

ONE_MODEL = {
    **dict.fromkeys(("v", "u", "xbar", "y", "sample_weight", "omega", "projections"), NUMBERS),
    **dict.fromkeys(("g", "hg", "lam", "t0", "theta", "t", "a", "c", "h", "total", "z", "r", "s", "p"), NUMBER),
    **dict.fromkeys(("i", "start", "stop"), PLACE),
    "X": ROWS,
    "indices": PLACES,
    "dloss": SLOPE,
}
"""Kind of each parameter of the loops for one model."""

MANY_MODELS = ONE_MODEL | {
    **dict.fromkeys(("lam", "t0", "a", "c", "h", "total", "z", "r", "s", "p", "g", "hg", "d"), NUMBERS),
    "y": OF_MODELS,
    "w": OF_COLUMNS,
    "k": PLACE,
}
"""Kind of each parameter of the loop for many models."""

ORDER = (
    *("t", "i", "first", "d", "q", "p", "finite", "g", "hg", "v", "u", "w", "xbar"),
    *("a", "c", "h", "total", "theta", "z", "r", "s"),
)
"""Order of the variables that a loop carries, whatever the order of the lines; others come after, as they are assigned."""

HINTS = {"ahead", "ahead_of", "ahead_in_order", "side_by_side"}
"""Functions that compute nothing: their bodies are docstrings, which `check_hints` holds them to."""

TOGETHER = {"read_four": "read_one", "write_four": "write_one"}
"""Reads and writes of four neighbours, and those of one which they are, four times."""

LANES = """
def read_four(array, *place):
    *row, first = place
    return np.array([array[(*row, first + lane)] for lane in range(WIDTH)])
def write_four(four, array, *place):
    *row, first = place
    for lane in range(WIDTH):
        array[(*row, first + lane)] = four[lane]
def read_one(array, *place):
    return array[place]
def write_one(one, array, *place):
    array[place] = one
"""
"""Code of these reads and writes, as they are translated; any other is refused."""


class Refused(ValueError):
    """Python outside the fragment, or a change of it that the translation would not see; names file and line."""


def refuse(file: Path | str, node: ast.AST, why: str) -> NoReturn:
    """Raise `Refused` at a place of a source file."""
    code = ast.unparse(node).splitlines()[0] if isinstance(node, (ast.expr, ast.stmt)) else ""
    raise Refused(f"{file}, line {getattr(node, 'lineno', '?')}: {why}: {code}")


def kind_of_entry(kind: str) -> str | None:
    """Return the kind of an array's entries, or None of what is not an array."""
    return kind.removeprefix("nat -> ") if kind.startswith("nat -> ") else None


def body_of(node: ast.FunctionDef) -> list[ast.stmt]:
    """Return the statements of a function without its docstring."""
    return node.body[1:] if ast.get_docstring(node) is not None else node.body


def check_hints(file: str, source: str) -> None:
    """Refuse hints that compute."""
    found = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    for name in sorted(HINTS):
        if name not in found:
            raise Refused(f"{file}: there is no function {name}")
        if body_of(found[name]):
            refuse(file, found[name], "a hint must compute nothing")


def check_lanes(file: str, source: str) -> None:
    """Refuse reads and writes of neighbours that are not those of four single ones."""
    found = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    for wanted in ast.parse(LANES).body:
        assert isinstance(wanted, ast.FunctionDef)
        if wanted.name not in found:
            raise Refused(f"{file}: there is no function {wanted.name}")
        ours = found[wanted.name]
        if [ast.dump(each) for each in (ours.args, *body_of(ours))] != [ast.dump(each) for each in (wanted.args, *wanted.body)]:
            refuse(file, ours, "must be as the translation knows it")
