"""Bring the dense definition, `reference`, into the fragment: the body of its loops as functions of what they read.

The generator of iterates and the loop that averages them hand predictors over one by one; what remains of each are the
statements of its body. All around them is compared with what it is known to be, and refused otherwise.
"""

import ast
from typing import NoReturn

from . import fragment
from .fragment import NUMBER, NUMBERS, OF_MODELS, PLACE, SLOPE, TRUTH

SGD, ASGD, PROBLEM = "reference/sgd.py", "reference/asgd.py", "reference/problem.py"
KINDS = {
    **dict.fromkeys(("n", "step", "i"), PLACE),
    **dict.fromkeys(("lam", "t0", "b", "b_sum", "total", "omega"), NUMBER),
    **dict.fromkeys(("xbar", "y", "sample_weight", "w", "w_sum"), NUMBERS),
    "rows": OF_MODELS,
    "centred": TRUTH,
    "derivative": SLOPE,
}

STEP = """
def step(n, rows, centred, xbar, y, sample_weight, lam, derivative, t0, step, i, w, b):
    BODY
    return p, g, w, b, BIAS if centred else b
"""
AROUND_STEP = """
lam, y, derivative = problem.lam, problem.y, problem.loss.derivative
w, b = problem.X.zeros(), problem.number(0)
for step, i in enumerate(indices, start=1):
    BODY
    predictor = Predictor(w, b, xbar).implicit()
    check_finite(step, p, predictor.b, (0 * w).sum())
    yield Iterate(step, p, g, predictor)
"""
AVERAGE = """
def add(omega, w, b, w_sum, b_sum, total):
    BODY
    return w_sum, b_sum, total
def divide(w_sum, b_sum, total):
    return RESULT
"""
AROUND_AVERAGE = """
check_weights(averaging_weights)
w_sum, b_sum, total = problem.X.zeros(), problem.number(0), problem.number(0)
for step in steps:
    (omega,) = evaluate(averaging_weights, step.t, 1, problem.number)
    BODY
check_finite(step.t, (0 * w_sum).sum(), b_sum)
if total == 0:
    RAISE
return Predictor(RESULT)
"""
IMPLICIT = """
if self.xbar is None:
    return self
return Predictor(self.w, BIAS)
"""


class _Plain(ast.NodeTransformer):
    """Replace what a problem and a predictor hold by the parameters, and unwrap `with` statements."""

    def visit_With(self, node):
        return [self.visit(each) for each in node.body]

    def visit_Call(self, node):
        self.generic_visit(node)
        if ast.unparse(node.func) == "problem.X.dense" and len(node.args) == 1 and not node.keywords:
            return ast.copy_location(ast.Subscript(ast.Name("rows", ast.Load()), node.args[0], ast.Load()), node)
        return node

    def visit_Attribute(self, node):
        self.generic_visit(node)
        last = {"problem.sample_weight": "sample_weight", "step.predictor.w": "w", "step.predictor.b": "b"}
        last |= {f"self.{each}": each for each in ("w", "b", "xbar")}
        name = last.get(ast.unparse(node))
        return node if name is None else ast.copy_location(ast.Name(name, node.ctx), node)

    def visit_IfExp(self, node):
        self.generic_visit(node)
        if ast.unparse(node.test) == "xbar is None":
            return ast.copy_location(ast.IfExp(ast.Name("centred", ast.Load()), node.orelse, node.body), node)
        return node


class _Outline:
    """Function matched with an outline, in which BODY stands for statements and the last argument of a call for expressions."""

    def __init__(self, file: str, function: ast.FunctionDef, outline: str):
        self.file, self.function = file, function
        self.body: list[ast.stmt] = []
        self.values: dict[str, list[ast.expr]] = {}
        fragment.check_decorators(file, function)
        self.match(fragment.body_of(function), ast.parse(outline).body)

    def refuse(self, node: ast.AST) -> NoReturn:
        fragment.refuse(self.file, node, "must be as the translation knows it")

    def match(self, found: list[ast.stmt], wanted: list[ast.stmt]) -> None:
        found = [
            part for each in found for part in (each.body if isinstance(each, ast.With) and self.is_silent(each) else [each])
        ]
        hole = next((place for place, each in enumerate(wanted) if ast.unparse(each) == "BODY"), None)
        if hole is not None:
            tail = len(wanted) - hole - 1
            self.body = found[hole : len(found) - tail]
            found = [*found[:hole], *found[len(found) - tail :]]
            wanted = [*wanted[:hole], *wanted[hole + 1 :]]
        if len(found) != len(wanted):
            self.refuse(found[-1] if found else self.function)
        for ours, theirs in zip(found, wanted, strict=True):
            if isinstance(ours, ast.For) and isinstance(theirs, ast.For):
                self.same(ours, [ours.target, ours.iter], [theirs.target, theirs.iter])
                self.match(ours.body, theirs.body)
            elif isinstance(ours, ast.If) and isinstance(theirs, ast.If):
                self.same(ours, [ours.test], [theirs.test])
                if ast.unparse(theirs.body[0]) != "RAISE":
                    self.match(ours.body, theirs.body)
                elif not isinstance(ours.body[0], ast.Raise):
                    self.refuse(ours)
            elif (
                isinstance(ours, ast.Return)
                and isinstance(ours.value, ast.Call)
                and isinstance(theirs, ast.Return)
                and isinstance(theirs.value, ast.Call)
            ):
                hole_at = len(theirs.value.args) - 1  # the last arguments are taken as they stand
                heads = ([each.func, *each.args[:hole_at], *each.keywords] for each in (ours.value, theirs.value))
                self.same(ours, *heads)
                self.values[ast.unparse(theirs.value.args[hole_at])] = ours.value.args[hole_at:]
            else:
                self.same(ours, [ours], [theirs])

    @staticmethod
    def is_silent(node: ast.With) -> bool:
        """Tell whether a statement only keeps numpy from warning."""
        return all(ast.unparse(each).startswith("np.errstate(") for each in node.items)

    def same(self, at: ast.AST, found: list, wanted: list) -> None:
        if [ast.dump(each) for each in found] != [ast.dump(each) for each in wanted]:
            self.refuse(at)

    def filled(self, template: str, **values: list[ast.expr]) -> list[ast.FunctionDef]:
        """Put the statements and expressions into a template of functions."""
        plain, functions = _Plain(), []
        for function in ast.parse(template).body:
            assert isinstance(function, ast.FunctionDef)
            function.lineno = self.function.lineno
            body: list[ast.stmt] = []
            for each in function.body:
                if ast.unparse(each) == "BODY":
                    module = plain.visit(ast.Module(self.body, []))
                    body += module.body
                else:
                    for name, parts in values.items():
                        code = ", ".join(ast.unparse(plain.visit(part)) for part in parts)
                        each = ast.parse(ast.unparse(each).replace(name, code)).body[0]
                    body.append(each)
            function.body = body
            functions.append(function)
        return functions


def _named(file: str, source: str, name: str) -> ast.FunctionDef:
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef) and node.name == name]
    if len(found) != 1:
        raise fragment.Refused(f"{file}: there must be one function {name}; got {len(found)}")
    return found[0]


def functions(sources: dict[str, str]) -> list[tuple[str, list[ast.FunctionDef]]]:
    """Return the functions of the definition by file, in the fragment."""
    implicit = _Outline(PROBLEM, _named(PROBLEM, sources[PROBLEM], "implicit"), IMPLICIT)
    step = _Outline(SGD, _named(SGD, sources[SGD], "_iterates"), AROUND_STEP)
    average = _Outline(ASGD, _named(ASGD, sources[ASGD], "average"), AROUND_AVERAGE)
    return [
        (SGD, step.filled(STEP, BIAS=implicit.values["BIAS"])),
        (ASGD, average.filled(AVERAGE, RESULT=average.values["RESULT"])),
    ]
