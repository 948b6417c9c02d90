"""Translate the shipped files into one theory, `Generated.v`, which is written anew for each check and never kept."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from . import definition
from .fragment import MANY_MODELS, NUMBER, ONE_MODEL, Refused, check_hints, check_lanes, check_names, refuse
from .translate import Function, Module, names_read

ROOT = Path(__file__).resolve().parents[2]
KERNELS = "efficient/kernels"
LOOPS = ("sgd", "asgd", "csgd", "casgd")
LOSSES = ("absolute", "squared", "hinge", "log")
FILES = (
    *(f"{KERNELS}/{name}.py" for name in ("prefetch", "simd", "sparse", "batch")),
    *(f"efficient/{name}.py" for name in LOOPS),
    "reference/losses.py",
    *(definition.PROBLEM, definition.SGD, definition.ASGD),
)
"""Files that the theory is made of, from the root."""

HEAD = """(* Made from the Python files that each definition names. *)
Require Import Base.
Section Generated.
Context {Ar : Ops} {U : Undef}.
"""


def generated(root: Path = ROOT) -> str:
    """Translate the shipped loops and losses below a folder; raises Refused with file and line."""
    sources = {}
    for file in FILES:
        try:
            sources[file] = (root / file).read_text("utf8")
            tree = ast.parse(sources[file])
        except (OSError, SyntaxError) as error:
            raise Refused(f"{file} must be a file of Python; got {error}") from None
        check_names(file, tree)
    check_hints(f"{KERNELS}/prefetch.py", sources[f"{KERNELS}/prefetch.py"])
    check_lanes(f"{KERNELS}/simd.py", sources[f"{KERNELS}/simd.py"])
    operations: dict[str, Function] = {}
    constants: dict[str, int] = {}
    parts = [HEAD]
    for name in ("sparse", *LOOPS, "batch"):
        file = next(each for each in FILES if each.endswith(f"/{name}.py") and each.startswith("efficient"))
        kinds = MANY_MODELS if name == "batch" else ONE_MODEL
        module = Module(name, file, kinds, operations if name == "sparse" else dict(operations), constants)
        if name == "sparse":
            constants |= _constants(file, sources[file])
        parts += [each.text for each in translated(module, _in_order(module, ast.parse(sources[file])))]
    for file, nodes in definition.functions(sources):
        parts += [each.text for each in translated(Module("reference", file, definition.KINDS, {}, {}, costs=False), nodes)]
    numbers = Module("loss", "reference/losses.py", {"p": NUMBER, "y": NUMBER}, {}, {}, costs=False)
    wanted = {name for loss in LOSSES for name in (loss, f"{loss}_derivative")}
    tree = ast.parse(sources[numbers.file])
    parts += ["Context {More : Analysis}.\n"]
    parts += [each.text for each in translated(numbers, [each for each in _functions(tree) if each.name in wanted])]
    return "\n".join([*parts, "End Generated.\n"])


def translated(module: Module, nodes: list[ast.FunctionDef]) -> list[Function]:
    """Translate functions, each of which may call those before."""
    found = []
    for node in nodes:
        module.functions[node.name] = Function(module, node)
        found.append(module.functions[node.name])
    return found


def _functions(tree: ast.Module) -> list[ast.FunctionDef]:
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)]


def _in_order(module: Module, tree: ast.Module) -> list[ast.FunctionDef]:
    """Order the functions of a file so that each comes after those that it calls."""
    functions = {node.name: node for node in _functions(tree)}
    calls = {name: sorted(functions.keys() & names_read([node])) for name, node in functions.items()}
    try:
        return [functions[name] for name in TopologicalSorter(calls).static_order()]
    except CycleError as error:
        raise Refused(f"{module.file}: functions that call each other in a circle: {', '.join(error.args[1])}") from None


def _constants(file: str, source: str) -> dict[str, int]:
    """Return the places that a file names by NAME, … = np.uintp(number), …"""
    found: dict[str, int] = {}
    for node in ast.parse(source).body:
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                pairs = list(zip(names, values, strict=True))
            case ast.Assign(targets=[name], value=value):
                pairs = [(name, value)]
            case _:
                continue
        for pair in pairs:
            match pair:
                case (ast.Name(id=constant), ast.Call(func=called, args=[ast.Constant(value=int(place))])) if (
                    ast.unparse(called) == "np.uintp"
                ):
                    found[constant] = place
                case _:
                    refuse(file, node, "a constant must be np.uintp(number)")
    return found
