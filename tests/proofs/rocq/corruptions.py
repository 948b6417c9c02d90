"""Corrupt the shipped Python in one token, everywhere in turn."""

import ast
import io
import shutil
import tempfile
import tokenize
from pathlib import Path
from typing import NamedTuple

from proofs.proved.mutants import EXCHANGED
from proofs.rocq.fragment import HINTS, Refused
from proofs.rocq.prover import Check, Unproved
from proofs.rocq.sources import FILES as SOURCES
from proofs.rocq.sources import KERNELS, LOOPS, ROOT

FILES = (f"{KERNELS}/sparse.py", *(f"efficient/{name}.py" for name in LOOPS), f"{KERNELS}/batch.py")

OTHER = {
    **{
        "a": "g",
        "g": "a",
        "v": "u",
        "u": "v",
        "h": "c",
        "c": "h",
        "z": "r",
        "r": "z",
        "q": "d",
        "d": "q",
        "t": "t0",
        "t0": "t",
    },
    **{"d0": "d1", "d2": "d3", "start": "stop", "theta": "r", "s": "c", "total": "h", "xbar": "v"},
}
"""Name that a name is mistaken for."""


class Corruption(NamedTuple):
    """Source of a file with one token changed, where and how."""

    file: str
    line: int
    change: str
    source: str

    @property
    def where(self) -> str:
        return f"{self.file}:{self.line}: {self.change}"


def corruptions(file: str) -> list[Corruption]:
    """Change each operator, number, comparison and name of the functions of a file, one at a time."""
    source = (ROOT / file).read_text("utf8")
    lines, found = source.splitlines(keepends=True), []
    places = set()
    for function in (node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)):
        for each in function.body:
            text = isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
            hints = {
                node.lineno
                for node in ast.walk(each)
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in HINTS
            }
            places |= set() if text else set(range(each.lineno, (each.end_lineno or 0) + 1)) - hints
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        (row, start), (_, end) = token.start, token.end
        wrong = {
            tokenize.OP: EXCHANGED.get(token.string),
            tokenize.NUMBER: str(int(token.string) + 1) if token.type == tokenize.NUMBER else None,
            tokenize.NAME: OTHER.get(token.string),
        }.get(token.type)
        if row in places and wrong is not None:
            line = lines[row - 1]
            changed = "".join([*lines[: row - 1], line[:start] + wrong + line[end:], *lines[row:]])
            found.append(Corruption(file, row, f"{line.split('#')[0].strip()}  [{token.string} -> {wrong}]", changed))
    return found


def all_corruptions() -> list[Corruption]:
    return [each for file in FILES for each in corruptions(file)]


def outcome(corruption: Corruption, theories: tuple[str, ...]) -> str:
    """Judge a corruption by the theories, in turn: what refuses it or fails, or "" if all is still proved."""
    with tempfile.TemporaryDirectory() as folder:
        for file in SOURCES:
            (Path(folder) / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, Path(folder) / file)
        (Path(folder) / corruption.file).write_text(corruption.source, "utf8")
        check = Check(Path(folder))
        try:
            for theory in theories:
                check.compile(theory)
        except Refused as error:
            return f"refused: {error}"
        except Unproved as error:
            return f"not proved: {error}"
    return ""
