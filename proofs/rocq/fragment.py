"""Say what of Python is translated: the kinds of values, the functions that compute nothing, and the refusal of the rest."""

import ast
import re
from collections.abc import Iterator
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

COMES_FROM = {
    **dict.fromkeys(HINTS, "prefetch"),
    **dict.fromkeys((*TOGETHER, *TOGETHER.values()), "simd"),
    **dict.fromkeys(("entries", "dot", "add", "add_both", "ONE", "TWO", "THREE", "FOUR"), "sparse"),
    **{"INLINED": "compiler", "register_jitable": "compiler", "Predictor": "problem", "Problem": "problem"},
    **{
        "Iterate": "sgd",
        "iterates": "sgd",
        "evaluate": "averaging",
        "check_weights": "averaging",
        "check_finite": "arithmetic",
    },
}
"""File that each name is defined in or imported from, by its own name."""

BUILTIN = {"len", "range", "abs", "max", "enumerate"}
DECORATORS = {"register_jitable(**INLINED)", "unsignalled"}
"""Decorators that change no result."""

RESERVED = re.compile(r"K0|K1|cost|state_|k_|undef\w*|new\d+|(len|models)_\w+|read|write")
"""Names that the translation itself uses, or that it gives a meaning."""

LANES = """
WIDTH = 4
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


def bindings(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """List the names that the statements of a file bind, with where, and not those within its functions."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name, node
        return
    if isinstance(node, ast.alias):
        yield node.asname or node.name, node
    elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id, node
    for child in ast.iter_child_nodes(node):
        yield from bindings(child)


def check_names(file: str, tree: ast.Module) -> None:
    """Refuse a file in which a name may stand for something else than its text says: bound twice, or imported as another."""
    seen = {*BUILTIN, "*"}
    for name, node in bindings(tree):
        if name in seen:
            refuse(file, node, f"{name} must be bound once")
        seen.add(name)
        if isinstance(node, ast.FunctionDef) and COMES_FROM.get(name, Path(file).stem) != Path(file).stem:
            refuse(file, node, f"must be defined in {COMES_FROM[name]}.py")
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            refuse(file, node, "changes names of the file")
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            module = (getattr(node, "module", None) or "").rpartition(".")[2]
            for each in node.names:
                renamed = each.asname and (each.name, each.asname) != ("numpy", "np")
                if renamed or COMES_FROM.get(each.name, module) != module:
                    refuse(file, node, "is another name, or of another file")


def check_decorators(file: str, node: ast.FunctionDef) -> None:
    """Refuse decorators that may change a function."""
    for each in node.decorator_list:
        if ast.unparse(each) not in DECORATORS:
            refuse(file, each, "may change the function")


def check_hints(file: str, source: str) -> None:
    """Refuse hints that compute."""
    found = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    for name in sorted(HINTS):
        if name not in found:
            raise Refused(f"{file}: there is no function {name}")
        if body_of(found[name]):
            refuse(file, found[name], "a hint must compute nothing")
        check_decorators(file, found[name])


def check_lanes(file: str, source: str) -> None:
    """Refuse reads and writes of neighbours that are not those of four single ones."""

    def parts(tree: ast.Module) -> dict[str, ast.stmt]:
        return {name: each for each in tree.body for name, _ in bindings(each)}

    def code(node: ast.stmt) -> list[str]:
        read = [node.args, *body_of(node), *node.decorator_list] if isinstance(node, ast.FunctionDef) else [node]
        return [ast.dump(each) for each in read]

    found = parts(ast.parse(source))
    for name, wanted in parts(ast.parse(LANES)).items():
        if name not in found:
            raise Refused(f"{file}: there is no {name}")
        if code(found[name]) != code(wanted):
            refuse(file, found[name], "must be as the translation knows it")
