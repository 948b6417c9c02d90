"""Make wrong answers by rule from the solutions of the exercises, mark them, and count how many are named.

    python tests/notebooks/wrong_answers.py [NUMBER [SEED]]

prints each wrong answer with what its author is told, and the figures.

A rule changes one place of a solution: another operator, a term or a factor left out, a number or a step beside the right one,
a comparison the other way, a statement left out.
"""

import ast
import copy
import importlib.util
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

spec = importlib.util.spec_from_file_location("make", Path(__file__).parents[2] / "notebooks" / "exercises" / "make.py")
make = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make)

OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
COMPARED = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt}
OF_CENTRING = re.compile(r"cent(re|ring)|mean row|theta|θ|raw row|x̄|a q")
OF_MEANS = re.compile(r"averag|\bh_|harmonic|\bu (is|adds)")


class WrongAnswer(NamedTuple):
    """Solution of an exercise with one place changed: its cell's name and text, and what was changed in words."""

    exercise: str
    cell: str
    text: str
    change: str


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield what a node may be replaced by, with the rule's name."""
    if isinstance(node, ast.BinOp):
        if type(node.op) in OPERATORS:
            yield "operator", ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)
        if isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
            yield "left out", node.left
            yield "left out", node.right
        if isinstance(node.op, ast.Div):
            yield "left out", node.left
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARED:
        yield "comparison", ast.Compare(node.left, [COMPARED[type(node.ops[0])]()], node.comparators)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "sign", node.operand
    if isinstance(node, ast.Constant) and isinstance(node.value, int) and not isinstance(node.value, bool):
        yield "number", ast.Constant(node.value + 1)
    if isinstance(node, ast.Name) and node.id in ("t", "T") and isinstance(node.ctx, ast.Load):
        yield "step", ast.BinOp(node, ast.Add(), ast.Constant(1))
    if isinstance(node, ast.AugAssign):
        yield "statement left out", ast.Pass()


class _Replacing(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> Any:
        return self.new if node is self.old else self.generic_visit(node)


def wrong_answers() -> list[WrongAnswer]:
    """List all, in the order of the exercises."""
    found = []
    for path in make.sources():
        for cell in make.version(make.read(path), "solution")["cells"]:
            if not make.rules_of(cell)["solution"] or cell["cell_type"] != "code":
                continue
            text = make.source_of(cell)
            tree = ast.parse(text)
            for place, node in enumerate(ast.walk(tree)):
                for number in range(sum(1 for _ in changes(node))):
                    copied = copy.deepcopy(tree)
                    there = next(each for index, each in enumerate(ast.walk(copied)) if index == place)
                    rule, new = list(changes(there))[number]
                    what = f"{rule}: {ast.unparse(there)} -> {ast.unparse(new)}"
                    changed = ast.unparse(ast.fix_missing_locations(_Replacing(there, new).visit(copied)))
                    found.append(WrongAnswer(path.stem, make.rules_of(cell)["grade_id"], changed, what))
    return found


def sample(number: int, seed: int = 0) -> list[WrongAnswer]:
    """Draw so many, always the same, the same number of each exercise as far as there are any."""
    groups: dict[str, list[WrongAnswer]] = {}
    for each in wrong_answers():
        groups.setdefault(each.exercise, []).append(each)
    for group in groups.values():
        random.Random(seed).shuffle(group)
    turns = zip_longest(*groups.values())
    return [each for turn in turns for each in turn if each is not None][:number]


def told(wrong: WrongAnswer) -> tuple[int, list[str]]:
    """Mark a wrong answer: its marks, and the messages."""
    notebook = make.version(make.read(make.SOURCE / f"{wrong.exercise}.ipynb"), "solution")
    (cell,) = [cell for cell in notebook["cells"] if make.rules_of(cell)["grade_id"] == wrong.cell]
    cell["source"] = wrong.text
    marked = make.mark(notebook)
    return marked.total[0], [mark.said for mark in marked.marks if mark.said]


def kind(wrong: WrongAnswer, given: int, messages: list[str]) -> str:
    """Judge what an author was told: "right", "false", "named", "placed", "error" with its line, or "shown" by numbers."""
    if given == 10:
        return "right"
    text = "\n".join(messages)
    foreign = {"dense_sgd": (OF_CENTRING, OF_MEANS), "sparse_sgd": (OF_CENTRING, OF_MEANS), "averaging": (OF_CENTRING,)}
    if not wrong.cell.endswith("objective") and any(each.search(text) for each in foreign.get(wrong.exercise, ())):
        return "false"
    kinds = {_kind_of(message) for message in messages}
    return next(each for each in ("named", "placed", "error", "shown") if each in kinds)


PLACED = re.compile(r"the (weights w are|bias is) right in all")
SHOWN = re.compile(r"it is not one of the usual mistakes|.* is .*, must be|.*your slope .* above the loss")
"""First lines of messages that show numbers and name no fault."""


def _kind_of(message: str) -> str:
    first = message.splitlines()[0]
    if re.match(r"\w+Error", first):
        return "named" if "Perhaps" in message else "error"
    return "placed" if PLACED.match(first) else "shown" if SHOWN.match(first) else "named"


def main(number: int = 60, seed: int = 0) -> None:
    figures: Counter[str] = Counter()
    for wrong in sample(number, seed):
        given, messages = told(wrong)
        found = kind(wrong, given, messages)
        figures[found] += 1
        print(f"{found:6}  {given:2d} of 10  {wrong.cell}  {wrong.change}")
        for message in messages:
            print("          " + message.splitlines()[0], flush=True)
    print(dict(figures))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
