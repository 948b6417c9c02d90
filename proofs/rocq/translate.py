"""Print a function of the shipped loops as Gallina, statement by statement.

An assignment is a `let`, an array a function from places, a store into an array `upd`, a `for` the iteration of its body on
the variables that the body assigns, `if …: break` its end. Every statement adds 1 to `cost`, and so does every subscript.
Python outside this fragment is refused, with file and line.
"""

import ast
from collections.abc import Iterable
from typing import NamedTuple, NoReturn

from . import fragment
from .fragment import NUMBER, NUMBERS, PLACE, ROWS, SLOPE, TOGETHER, TRUTH, body_of, kind_of_entry

OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "mod"}
STORES = {NUMBERS: "upd", fragment.OF_COLUMNS: "upd3"}
UNDEFINED = {PLACE: "undef_place", NUMBER: "undef", TRUTH: "false"}


class Term(NamedTuple):
    """Gallina of an expression, and the kind of its value."""

    code: str
    kind: str


class Module(NamedTuple):
    """File whose functions are translated: its name in Gallina, and what its functions may use.

    `costs` is False for functions of numbers alone, whose steps are not counted.
    """

    name: str
    file: str
    kinds: dict[str, str]
    functions: "dict[str, Function]"
    constants: dict[str, int]
    costs: bool = True


def stem(node: ast.AST | None) -> str | None:
    """Return the name of a called function, of those that are translated without its module."""
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func)
        return {"np.uintp": "uintp", "math.exp": "exp", "math.log1p": "log1p"}.get(name, name)
    return None


def is_length(node: ast.AST) -> bool:
    """True for len(a), and for a.shape[2], how many models a has."""
    if isinstance(node, ast.Call) and stem(node) == "len":
        return isinstance(node.args[0], ast.Name)
    return isinstance(node, ast.Subscript) and ast.unparse(node).endswith(".shape[2]")


def length_of(node: ast.AST) -> str:
    """Name the length that such an expression asks for."""
    return "len_" + next(each.id for each in ast.walk(node) if isinstance(each, ast.Name) and each.id != "len")


def names_read(nodes: Iterable[ast.AST]) -> set[str]:
    return {
        each.id for node in nodes for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
    }


def names_alone(nodes: Iterable[ast.expr]) -> set[str]:
    """List the names in sums, differences and tuples, and not those that are indexed there."""
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, (ast.BinOp, ast.Tuple)):
            names |= names_alone([node.left, node.right] if isinstance(node, ast.BinOp) else node.elts)
    return names


def price(node: ast.AST) -> int:
    """Count a statement, and each of its subscripts."""
    reads = (isinstance(each, ast.Subscript) or stem(each) in ("read", "write") for each in ast.walk(node))
    return 1 + sum(reads)


class Function:
    """Translation of one function. `text` holds its definitions in Gallina, the bodies of its loops first."""

    def __init__(self, module: Module, node: ast.FunctionDef):
        self.module, self.node = module, node
        fragment.check_decorators(module.file, node)
        if node.args.posonlyargs or node.args.kwonlyargs or node.args.vararg or node.args.kwarg or node.args.defaults:
            self.refuse(node, "must have plain parameters")
        self.name = f"{module.name}_{node.name}"
        self.statements = body_of(node)
        self.parameters = [each.arg for each in node.args.args if each.arg not in ("read", "write")]
        self.kinds: dict[str, str] = {}
        for name in self.parameters:
            self.kinds[name] = module.kinds.get(name) or self.refuse(node, f"the kind of the parameter {name} is not known")
        assigned = self.assigned(self.statements)
        self.written = [name for name in self.parameters if name in assigned and kind_of_entry(self.kinds[name])]
        self.written = self.written if module.costs else []  # without costs names are bound anew, and nothing is stored
        self.lengths = self._lengths()
        self.places = self._places()
        self.results: list[str] = []
        self.ranges: dict[str, ast.Call] = {}
        self.lent: set[str] = set()
        self.remainders: set[ast.expr] = set()
        self.whole: ast.expr | None = None
        self.loops: list[str] = []
        self.later: list[ast.stmt] = []
        self.text = self._definitions()

    def refuse(self, node: ast.AST, why: str = "not in the fragment") -> NoReturn:
        fragment.refuse(self.module.file, node, why)

    def is_array(self, name: str) -> bool:
        return kind_of_entry(self.kinds[name]) is not None

    # ---- what a function assigns, asks for and calls

    def callee(self, node: ast.AST) -> "Function | None":
        return self.module.functions.get(stem(node) or "") if isinstance(node, ast.Call) else None

    def _lengths(self) -> set[str]:
        """Parameters whose length is asked for, here or in a function that is called."""
        found = set()
        for node in ast.walk(self.node):
            if is_length(node):
                found.add(length_of(node))
                if (self.kinds.get(length_of(node).removeprefix("len_")) == fragment.OF_COLUMNS) != isinstance(
                    node, ast.Subscript
                ):
                    self.refuse(node, "must be len(array), or w.shape[2] for the number of models")
        for node in ast.walk(self.node):
            if (called := self.callee(node)) is not None and isinstance(node, ast.Call):
                found |= {f"len_{self.argument(node, each.removeprefix('len_'))}" for each in called.lengths}
        return found

    def _places(self) -> set[str]:
        """Names that a range or a subscript uses: an integer that they are set to is a place, not a number."""
        used: set[str] = set()
        for node in ast.walk(self.node):
            if isinstance(node, ast.Subscript):
                used |= names_alone([node.slice])
            elif isinstance(node, ast.Call) and stem(node) == "range":
                used |= names_alone(node.args)
        return used

    def argument(self, call: ast.Call, parameter: str) -> str:
        """Name the array that is handed over for a parameter."""
        called = self.callee(call)
        assert called is not None
        value = call.args[[each.arg for each in called.node.args.args].index(parameter)]
        return value.id if isinstance(value, ast.Name) else self.refuse(call, f"{parameter} must be the name of an array")

    def targets(self, node: ast.expr) -> list[str]:
        if isinstance(node, ast.Tuple):
            return [name for each in node.elts for name in self.targets(each)]
        if isinstance(node, ast.Name):
            return [node.id]
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            return [node.value.id]
        return self.refuse(node)

    def assigned(self, statements: list[ast.stmt]) -> list[str]:
        """List the names that statements assign or store into, in order."""
        names: list[str] = []
        for each in statements:
            if isinstance(each, ast.Assign):
                names += [name for target in each.targets for name in self.targets(target)]
            elif isinstance(each, ast.AugAssign):
                names += self.targets(each.target)
            elif isinstance(each, (ast.If, ast.For)):
                names += self.assigned(each.body)
            elif isinstance(each, ast.Expr) and isinstance(each.value, ast.Call):
                if stem(each.value) == "write":
                    names += self.targets(each.value.args[1])
                elif (called := self.callee(each.value)) is not None:
                    names += [self.argument(each.value, name) for name in called.written]
        return list(dict.fromkeys(names))

    # ---- expressions

    def expression(self, node: ast.expr, want: str | None = None) -> Term:
        """Translate an expression; `want` says what an integer is, a place or a number."""
        if is_length(node):
            return Term(length_of(node), PLACE)
        if isinstance(node, ast.Constant):
            return self.constant(node, want)
        if isinstance(node, ast.Name):
            if node.id in self.module.constants:
                return Term(str(self.module.constants[node.id]), PLACE)
            return Term(node.id, self.kinds.get(node.id) or self.refuse(node, "not assigned before"))
        if isinstance(node, ast.Attribute):
            base = self.expression(node.value)
            if base.kind == ROWS and node.attr in fragment.ATTRIBUTES:
                return Term(f"(r_{node.attr} {base.code})", fragment.ATTRIBUTES[node.attr])
        if isinstance(node, ast.Subscript):
            places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            return self.entry(node, node.value, places)
        if isinstance(node, ast.UnaryOp):
            return self.unary(node)
        if isinstance(node, ast.BinOp):
            return self.binary(node, want)
        if isinstance(node, ast.BoolOp):
            operator = "andb" if isinstance(node.op, ast.And) else "orb"
            parts = [self.of_kind(each, TRUTH).code for each in node.values]
            return Term(f"({operator} {' '.join(parts)})", TRUTH) if len(parts) == 2 else self.refuse(node)
        if isinstance(node, ast.Compare):
            return self.comparison(node)
        if isinstance(node, ast.IfExp) and not self.module.costs:
            test, then = self.of_kind(node.test, TRUTH), self.expression(node.body)
            return Term(f"(if {test.code} then {then.code} else {self.of_kind(node.orelse, then.kind).code})", then.kind)
        if isinstance(node, ast.Call):
            return self.called(node)
        return self.refuse(node)

    def of_kind(self, node: ast.expr, kind: str) -> Term:
        term = self.expression(node, kind)
        if term.kind != kind and not (kind == TRUTH and is_length(node)):
            self.refuse(node, f"must be of kind {kind}, is {term.kind}")
        return Term(f"(negb (Nat.eqb {term.code} 0))", TRUTH) if kind == TRUTH and is_length(node) else term

    def constant(self, node: ast.Constant, want: str | None) -> Term:
        if isinstance(node.value, bool):
            return Term(str(node.value).lower(), TRUTH)
        if not isinstance(node.value, int) or node.value < 0:
            self.refuse(node)
        if want == PLACE:
            return Term(str(node.value), PLACE)
        return Term(("K0", "K1")[node.value] if node.value < 2 else f"(inj {node.value})", NUMBER)

    def entry(self, node: ast.expr, array: ast.expr, places: list[ast.expr]) -> Term:
        term = self.expression(array)
        for place in places:
            entry = kind_of_entry(term.kind) or self.refuse(node, "has fewer axes")
            term = Term(f"({term.code} {self.of_kind(place, PLACE).code})", entry)
        return term

    def unary(self, node: ast.UnaryOp) -> Term:
        if isinstance(node.op, ast.Not):
            return Term(f"(negb {self.of_kind(node.operand, TRUTH).code})", TRUTH)
        if isinstance(node.op, ast.USub):
            return Term(f"(- {self.of_kind(node.operand, NUMBER).code})%K", NUMBER)
        return self.refuse(node)

    def binary(self, node: ast.BinOp, want: str | None) -> Term:
        if isinstance(node.op, ast.MatMult) and "n" in self.parameters:
            return Term(f"(dotn n {self.of_kind(node.left, NUMBERS).code} {self.of_kind(node.right, NUMBERS).code})", NUMBER)
        operator = OPERATORS.get(type(node.op)) or self.refuse(node)
        if isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant):
            self.refuse(node, "is a float in Python")
        if operator == "mod":
            self.remainders.add(node.left)
        if operator == "-" and ast.dump(node.left) == ast.dump(node.right):
            if not isinstance(node.left.value if isinstance(node.left, ast.Subscript) else node.left, ast.Name):
                self.refuse(node, "is 0 of one variable only")
            return Term(f"(Kself {self.of_kind(node.left, NUMBER).code})", NUMBER)
        if isinstance(node.left, ast.Constant):
            right = self.expression(node.right, want)
            left = self.expression(node.left, right.kind)
        else:
            left = self.expression(node.left, want)
            right = self.expression(node.right, left.kind)
        if (left.kind, right.kind) == (PLACE, PLACE) and operator != "/":
            remainder = isinstance(node.right, ast.BinOp) and isinstance(node.right.op, ast.Mod)
            if operator == "-" and not remainder and node not in self.remainders:
                self.refuse(node, "may be negative, which counts from the end")
            return Term(f"({left.code} {operator} {right.code})%nat", PLACE)
        if operator != "mod" and {left.kind, right.kind} <= {NUMBER, NUMBERS}:
            if NUMBERS not in (left.kind, right.kind):
                return Term(f"({left.code} {operator} {right.code})%K", NUMBER)
            self.whole = node
            sides = (f"({each.code} k_)" if each.kind == NUMBERS else each.code for each in (left, right))
            return Term(f"(fun k_ => ({f' {operator} '.join(sides)})%K)", NUMBERS)
        return self.refuse(node, f"{left.kind} {operator} {right.kind}")

    def comparison(self, node: ast.Compare) -> Term:
        if len(node.ops) != 1:
            self.refuse(node)
        (operator,), (right_node,) = node.ops, node.comparators
        if isinstance(node.left, ast.Constant):
            right = self.expression(right_node)
            left = self.expression(node.left, right.kind)
        else:
            left = self.expression(node.left)
            right = self.expression(right_node, left.kind)
        if left.kind != right.kind or left.kind not in (PLACE, NUMBER):
            self.refuse(node, f"{left.kind} compared with {right.kind}")
        if isinstance(operator, (ast.Eq, ast.NotEq)):
            code = f"({'Nat.eqb' if left.kind == PLACE else 'Keqb'} {left.code} {right.code})"
            return Term(code if isinstance(operator, ast.Eq) else f"(negb {code})", TRUTH)
        if left.kind == NUMBER and isinstance(operator, (ast.LtE, ast.GtE)):
            sides = (left.code, right.code) if isinstance(operator, ast.LtE) else (right.code, left.code)
            return Term(f"(Kleb {' '.join(sides)})", TRUTH)
        return self.refuse(node)

    def called(self, node: ast.Call) -> Term:
        name, arguments = stem(node), node.args
        if node.keywords:
            self.refuse(node)
        if name == "uintp":
            return self.expression(arguments[0], PLACE)
        if name == "read":
            return self.entry(node, arguments[0], arguments[1:])
        if isinstance(node.func, ast.Name) and self.kinds.get(node.func.id) == SLOPE and len(arguments) == 2:
            return Term(f"({name} {' '.join(self.of_kind(each, NUMBER).code for each in arguments)})", NUMBER)
        if name == "problem.number":
            return Term(f"(inj {self.of_kind(arguments[0], PLACE).code})", NUMBER)
        if not self.module.costs and name in ("abs", "exp", "log1p", "max"):
            return Term(f"(K{name} {' '.join(self.of_kind(each, NUMBER).code for each in arguments)})", NUMBER)
        return self.refuse(node, "not a function that is translated")

    # ---- statements

    def block(self, statements: list[ast.stmt], end: str, broken: str | None = None) -> str:
        """Translate the statements, then `end`; `broken` is what a `break` among them leaves behind."""
        if not statements:
            return end
        first, rest = statements[0], statements[1:]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Call) and stem(first.value) in fragment.HINTS:
            if first.value.keywords or not all(isinstance(each, ast.Name) for each in first.value.args):
                self.refuse(first, "a hint must be given names")
            return self.block(rest, end, broken)
        if isinstance(first, ast.AugAssign):
            if isinstance(first.target, ast.Name) and first.target.id in self.parameters and self.is_array(first.target.id):
                self.refuse(first, "changes an array of the caller as a whole")
            if isinstance(first.target, ast.Name) and first.target.id in self.lent:
                self.refuse(first, "changes an array that has two names")
            value = ast.copy_location(ast.BinOp(self.loaded(first.target), first.op, first.value), first)
            first = ast.copy_location(ast.Assign([first.target], value), first)
        counted = first.test if isinstance(first, ast.If) else first.iter if isinstance(first, ast.For) else first
        tick = f"let cost := (cost + {price(counted)})%nat in\n" if self.module.costs else ""
        if isinstance(first, ast.Return):
            return tick + self.returned(first)
        if isinstance(first, ast.If) and not first.orelse:
            if len(first.body) == 1 and isinstance(first.body[0], ast.Break):
                if broken is None:
                    self.refuse(first.body[0], "breaks from inside another statement")
                test = self.of_kind(first.test, TRUTH).code
                return f"{tick}if {test} then {broken} else\n{self.block(rest, end, broken)}"
            return tick + self.condition(first, rest) + self.block(rest, end, broken)
        if isinstance(first, ast.For) and not first.orelse:
            return tick + self.loop(first, rest) + self.block(rest, end, broken)
        if isinstance(first, ast.Assign):
            return tick + self.assignment(first) + self.block(rest, end, broken)
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Call):
            return tick + self.effect(first.value, rest) + self.block(rest, end, broken)
        return self.refuse(first)

    @staticmethod
    def loaded(target: ast.expr) -> ast.expr:
        return ast.parse(ast.unparse(target), mode="eval").body

    def returned(self, node: ast.Return) -> str:
        if node is not self.statements[-1] or node.value is None:
            self.refuse(node, "returns before the end")
        terms = [self.expression(each) for each in (node.value.elts if isinstance(node.value, ast.Tuple) else [node.value])]
        self.results = [each.kind for each in terms]
        return self.packed([*self.written, *(each.code for each in terms)])

    def packed(self, codes: list[str]) -> str:
        """Make the tuple of some values and the cost."""
        codes = [*codes, "cost"] if self.module.costs else codes
        return f"({', '.join(codes)})" if len(codes) != 1 else codes[0]

    def bound(self, names: list[str], code: str) -> str:
        names = [*names, "cost"]
        return f"let {names[0]} := {code} in\n" if len(names) == 1 else f"let '({', '.join(names)}) := {code} in\n"

    def set_kind(self, node: ast.AST, name: str, kind: str) -> None:
        if fragment.RESERVED.fullmatch(name) or name in {*fragment.COMES_FROM, *self.module.constants, *self.module.functions}:
            self.refuse(node, f"{name} is a name of the translation")
        if self.kinds.setdefault(name, kind) != kind:
            self.refuse(node, f"{name} was of kind {self.kinds[name]}, is now {kind}")

    def assignment(self, node: ast.Assign) -> str:
        value, target = node.value, node.targets[0]
        called = self.callee(value)
        if len(node.targets) > 1:
            term = self.value_for(target, value)
            if kind_of_entry(term.kind):
                self.refuse(node, "gives an array a second name")
            same = Term("new0", term.kind)
            return f"let new0 := {term.code} in\n" + "".join(self.store(each, same) for each in node.targets)
        if isinstance(value, ast.IfExp) and self.module.costs:
            return self.chosen(node, target, value)
        if called is not None and isinstance(value, ast.Call):
            code = self.call(value)
            if called.written:
                self.refuse(node, "assigns the result of a function that changes its arguments")
            if isinstance(target, ast.Subscript) and len(called.results) == 1:
                return self.bound(["new0"], code) + self.store(target, Term("new0", called.results[0]))
            targets = target.elts if isinstance(target, ast.Tuple) else [target]
            return self.bind_results(node, targets, called.results, code)
        if not isinstance(target, ast.Tuple):
            return self.store(target, self.value_for(target, value))
        if not isinstance(value, ast.Tuple) or len(value.elts) != len(target.elts):
            self.refuse(node)
        pairs = [(each, part) for each, part in zip(target.elts, value.elts, strict=True) if not self.is_range(each, part)]
        terms = [self.value_for(each, part) for each, part in pairs]
        fresh = [f"new{number}" for number in range(len(terms))]  # the right sides are evaluated before the first store
        code = "".join(f"let {name} := {term.code} in\n" for name, term in zip(fresh, terms, strict=True))
        new = [self.store(each, Term(name, term.kind)) for (each, _), name, term in zip(pairs, fresh, terms, strict=True)]
        return code + "".join(new)

    def is_range(self, target: ast.expr, value: ast.expr) -> bool:
        """Remember a range that is given a name, which is no value."""
        if isinstance(target, ast.Name) and isinstance(value, ast.Call) and stem(value) == "range":
            if (names_read([value]) - fragment.BUILTIN) & {*self.assigned(self.statements)}:
                self.refuse(value, "has bounds that change")
            self.ranges[target.id] = value
            return True
        return False

    def bind_results(self, node: ast.stmt, targets: list[ast.expr], kinds: list[str], code: str) -> str:
        names = [name for each in targets for name in self.targets(each)]
        if any(map(kind_of_entry, kinds)):
            self.refuse(node, "gives an array a second name")
        if len(names) != len(kinds) or not all(isinstance(each, ast.Name) for each in targets):
            self.refuse(node, f"{len(kinds)} results")
        for name, kind in zip(names, kinds, strict=True):
            self.set_kind(node, name, kind)
        return self.bound(names, code)

    def chosen(self, node: ast.Assign, target: ast.expr, value: ast.IfExp) -> str:
        """Translate target = value if test else call."""
        test, kinds, codes = self.of_kind(value.test, TRUTH).code, [], []
        for each in (value.body, value.orelse):
            if (called := self.callee(each)) is not None and isinstance(each, ast.Call):
                if called.written or len(called.results) != 1:
                    self.refuse(each)
                kinds.append(called.results[0])
                codes.append(self.call(each))
            else:
                term = self.expression(each, NUMBER)
                kinds.append(term.kind)
                codes.append(f"({term.code}, cost)")
        if kinds[0] != kinds[1]:
            self.refuse(node, f"{kinds[0]} or {kinds[1]}")
        return self.bind_results(node, [target], kinds[:1], f"if {test} then {codes[0]} else {codes[1]}")

    def value_for(self, target: ast.expr, value: ast.expr) -> Term:
        """Translate what is assigned to a target, which says what an integer is."""
        if isinstance(target, ast.Name):
            want = self.kinds.get(target.id) or (PLACE if target.id in self.places else None)
        elif isinstance(target, ast.Subscript):
            places = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
            want = self.entry(target, target.value, places).kind
        else:
            self.refuse(target)
        term = self.expression(value, want)
        if want is not None and term.kind != want:
            self.refuse(value, f"must be of kind {want}, is {term.kind}")
        if isinstance(value, (ast.Name, ast.Attribute)) and kind_of_entry(term.kind):
            self.lent |= {*names_read([value]), *self.targets(target)}  # two names of one array: no more stores
        return term

    def store(self, target: ast.expr, term: Term) -> str:
        if isinstance(target, ast.Name):
            if target.id in self.written:
                self.refuse(target, "changes an array of the caller as a whole")
            self.set_kind(target, target.id, term.kind)
            return f"let {target.id} := {term.code} in\n"
        assert isinstance(target, ast.Subscript)
        places = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
        return self.stored(target, target.value, places, term)

    def stored(self, node: ast.expr, array: ast.expr, places: list[ast.expr], term: Term) -> str:
        if not isinstance(array, ast.Name) or array.id in self.lent or array.id not in self.written:
            self.refuse(node, "stores into what is not an array of the caller under its only name")
        if term.kind != self.entry(node, array, places).kind or self.kinds[array.id] not in STORES:
            self.refuse(node, f"stores a value of kind {term.kind}")
        codes = " ".join(self.of_kind(each, PLACE).code for each in places)
        return f"let {array.id} := {STORES[self.kinds[array.id]]} {array.id} {codes} {term.code} in\n"

    def effect(self, node: ast.Call, rest: list[ast.stmt]) -> str:
        """Translate a call for what it does to its arguments."""
        if stem(node) == "write":
            return self.stored(node, node.args[1], node.args[2:], self.expression(node.args[0], NUMBER))
        called = self.callee(node)
        if called is None or called.results:
            return self.refuse(node, "not a function that is translated")
        given = [ast.unparse(each) for each in node.args[:2]]
        if given == list(TOGETHER):  # four neighbours are four, one after the other
            return self.loop(self.one_by_one(node), rest)
        return self.bound([self.argument(node, name) for name in called.written], self.call(node))

    @staticmethod
    def one_by_one(node: ast.Call) -> ast.For:
        *arguments, first = (ast.unparse(each) for each in node.args[2:])
        given = ", ".join([*TOGETHER.values(), *arguments, "lane"])
        code = f"for lane in range({first}, {first} + FOUR):\n    {ast.unparse(node.func)}({given})"
        loop = ast.parse(code).body[0]
        assert isinstance(loop, ast.For)
        for each in ast.walk(loop):
            ast.copy_location(each, node)
        return loop

    def call(self, node: ast.Call) -> str:
        """Translate a call; an array that the function changes is handed over once."""
        called = self.callee(node)
        assert called is not None
        if called.whole is not None:
            self.refuse(node, "computes with whole arrays")
        names = [each.arg for each in called.node.args.args]
        if len(names) != len(node.args) or node.keywords:
            self.refuse(node, f"{called.node.name} has {len(names)} parameters")
        codes = []
        for name, each in zip(names, node.args, strict=True):
            if name in ("read", "write"):
                if ast.unparse(each) != f"{name}_one":
                    self.refuse(node)
                continue
            term = self.of_kind(each, called.kinds[name])
            codes.append(term.code)
            if f"len_{name}" in called.lengths:
                codes.append(f"len_{self.argument(node, name)}")
            if name in called.written and codes.count(term.code) + sum(term.code == ast.unparse(a) for a in node.args) > 2:
                self.refuse(node, f"{term.code} is changed, and handed over twice")
            if name in called.written and (term.code in self.lent or term.code not in self.written):
                self.refuse(node, "changes what is not an array of the caller under its only name")
        return f"{called.name} {' '.join(codes)} cost"

    # ---- conditions and loops

    def live(self, names: list[str], rest: list[ast.stmt]) -> list[str]:
        """Keep the names that matter afterwards."""
        later = names_read(rest) | names_read(self.later) | set(self.written)
        return self.ordered(name for name in names if name in later)

    @staticmethod
    def ordered(names: Iterable[str]) -> list[str]:
        return sorted(names, key=lambda name: fragment.ORDER.index(name) if name in fragment.ORDER else len(fragment.ORDER))

    def inside(self, body: list[ast.stmt], after: list[ast.stmt], end: str, broken: str | None = None) -> str:
        before, self.later = self.later, [*after, *self.later]
        code = self.block(body, end, broken)
        self.later = before
        return code

    def condition(self, node: ast.If, rest: list[ast.stmt]) -> str:
        names = self.live(self.assigned(node.body), rest)
        test = self.of_kind(node.test, TRUTH).code
        inner = self.inside(node.body, rest, self.packed(names))
        return self.bound(names, f"if {test} then\n{inner}\nelse {self.packed(names)}")

    def loop(self, node: ast.For, rest: list[ast.stmt]) -> str:
        over = self.ranges.get(node.iter.id) if isinstance(node.iter, ast.Name) else node.iter
        if stem(over) != "range" or not isinstance(over, ast.Call) or not isinstance(node.target, ast.Name):
            self.refuse(node, "must be a loop over a range")
        variable = node.target.id
        bounds = [self.of_kind(each, PLACE).code for each in over.args]
        low, high, step = {1: ["0", *bounds, "1"], 2: [*bounds, "1"], 3: bounds}[len(bounds)]
        assigned = self.assigned(node.body)
        if variable in self.kinds or variable in assigned:
            self.refuse(node, f"{variable} is another variable, too")
        self.set_kind(node, variable, PLACE)
        carried = self.carried(node.body) | set(self.live(assigned, rest))
        names = self.ordered(name for name in assigned if name in carried)
        breaks = any(isinstance(each, ast.If) and isinstance(each.body[0], ast.Break) for each in node.body)
        state = self.packed(names)
        end, broken = (f"(false, {state})", f"(true, {state})") if breaks else (state, None)
        inner = self.inside(node.body, [*node.body, *rest], end, broken)
        del self.kinds[variable]
        body = self.body_definition(node, variable, names, assigned, breaks, inner)
        kind = "for_break" if breaks else "for_range"
        return self.bound(names, f"{kind} {low} {high} {step} ({body}) {state}")

    def carried(self, body: list[ast.stmt]) -> set[str]:
        """Names that a body reads before it assigns them."""
        defined: set[str] = set()
        carried: set[str] = set()
        for each in body:
            carried |= names_read([each]) - defined
            defined |= set(self.assigned([each]))
        return carried

    def body_definition(
        self, node: ast.For, variable: str, names: list[str], assigned: list[str], breaks: bool, inner: str
    ) -> str:
        """Define the body of a loop as a function of what it reads; return its application to that."""
        used = names_read(node.body) | {length_of(each) for body in node.body for each in ast.walk(body) if is_length(each)}
        for each in (each for body in node.body for each in ast.walk(body)):
            if isinstance(each, ast.Call) and (called := self.callee(each)) is not None:
                used |= {f"len_{self.argument(each, name.removeprefix('len_'))}" for name in called.lengths}
            if isinstance(each, ast.Name) and each.id in self.ranges:
                used |= {length_of(part) for part in ast.walk(self.ranges[each.id]) if is_length(part)}
        scope = {name: kind for name, kind in self.scope().items() if name in used and name not in [variable, *assigned]}
        missing = [name for name in names if name not in self.kinds]
        if missing:
            self.refuse(node, f"{missing[0]} is never assigned")
        kinds = " * ".join([*(f"({self.kinds[name]})" for name in names), "nat"])
        name = f"{self.name}_body{len(self.loops) + 1 if self.loops else ''}"
        binders = "".join(f" ({each} : {kind})" for each, kind in scope.items())
        result = f"bool * ({kinds})" if breaks else kinds
        self.loops.append(
            f"(* {self.module.file}, line {node.lineno} *)\n"
            f"Definition {name}{binders} ({variable} : nat) (state_ : {kinds}) : {result} :=\n"
            f"{self.bound(names, 'state_')}let cost := (cost + 1)%nat in\n{inner}.\n"
        )
        return " ".join([name, *scope])

    def scope(self) -> dict[str, str]:
        """Variables of the function and of the loops around, with their kinds."""
        return self.with_lengths() | {name: kind for name, kind in self.kinds.items() if name not in self.parameters}

    def with_lengths(self) -> dict[str, str]:
        """List the parameters, each followed by its length where that is asked for."""
        found = {}
        for name in self.parameters:
            found[name] = self.kinds[name]
            if f"len_{name}" in self.lengths:
                found[f"len_{name}"] = PLACE
        return found

    def _definitions(self) -> str:
        stray = self.lengths - {f"len_{name}" for name in self.parameters}
        if stray:
            self.refuse(self.node, f"the length of {min(stray).removeprefix('len_')}, which is not a parameter")
        code = self.block(self.statements, self.packed(self.written))
        if self.whole is not None and self.loops:
            self.refuse(self.whole, "computes with a whole array beside a loop")
        binders = "".join(f" ({name} : {kind})" for name, kind in self.with_lengths().items())
        perhaps = self.assigned([each for each in self.statements if isinstance(each, (ast.If, ast.For))])
        unset = [name for name in perhaps if name not in self.parameters and self.kinds.get(name) in UNDEFINED]
        undefined = "".join(f"let {name} := {UNDEFINED[self.kinds[name]]} in\n" for name in unset)
        cost = " (cost : nat)" if self.module.costs else ""
        where = f"(* {self.module.file}, line {self.node.lineno} *)\n"
        return "\n".join([*self.loops, f"{where}Definition {self.name}{binders}{cost} :=\n{undefined}{code}.\n"])
