"""List the slips: a statement of Algorithm 3, of the definition or of Table 1 with one operator, letter or number changed.

They are made by rule from the statements below: each operator is exchanged for each other, each letter for each other of its
kind, factors and signs are left out, numbers change by one, and `+=` is another assignment. Letters are as the paper has them;
`w_sum` and `b_sum` are the sums of the predictors, and x is the row, centred in the definition.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from .plain import DERIVATIVES, FAULTS, PER_PREFIX, WRONG_DERIVATIVES, also, exponential, fault

Value = Callable[[Any], Any]
Letters = dict[str, Value]

MEANING = {
    "g": "the derivative", "p": "the prediction", "d": "v·x", "q": "x̄·x", "a": "the sum of g", "c": "the sum of a/t",
    "h": "the sum of 1/t", "z": "the sum of g q", "r": "a theta - z", "s": "the sum of r/t", "theta": "1 + |x̄|²",
    "v": "the sum of g x", "u": "the sum of h g x",
}  # fmt: skip
"""Letters whose meaning is told where they were exchanged."""


def _number_of_steps(s):
    return getattr(s, "T", s.number(len(s.indices)))  # faults that ask it early are run for each number of steps


_SIZES: Letters = {
    "t": lambda s: s.t,
    "T": _number_of_steps,
    "m": lambda s: s.number(s.m),
    "n": lambda s: s.number(s.n),
    "lam": lambda s: s.lam,
}
_BEFORE: Letters = _SIZES | {
    **{name: attrgetter(name) for name in ("p", "d", "q", "a", "c", "h", "z", "r", "theta", "g")},
    "s": lambda s: s.s if s.centred else s.c,
}
"""Letters before the step, and what it has computed."""

_LATE = _BEFORE | {name: attrgetter(f"{name}_before") for name in ("a", "z", "r")}
_GROWN_A = _LATE | {"a": lambda s: s.a}
_GROWN_C = _GROWN_A | {"c": lambda s: s.c + (s.a if s.centred else s.bias) / s.t}
_GROWN = _GROWN_C | {"h": lambda s: s.h + 1 / s.t, "z": lambda s: s.z, "r": lambda s: s.r}
_END = _BEFORE | {"v": lambda s: s.v, "u": lambda s: s.u, "xbar": lambda s: s.xbar}
"""Letters where u, c, h, s are computed, in the order of Algorithm 3, and at its end."""


def _centred_w(s, t):
    return -(s.v - s.a * s.xbar) / (s.lam * t)


_DEFINED: Letters = _SIZES | {
    "w": lambda s: _centred_w(s, s.before) if s.before > 0 else 0 * s.v,
    "b": lambda s: -s.bias / (s.lam * s.before) if s.before > 0 else s.number(0),
    **{"x": lambda s: s.x - s.xbar, "xbar": lambda s: s.xbar, "g": lambda s: s.g},
    **{"w_sum": lambda s: vars(s).get("sum_w", 0 * s.v), "b_sum": lambda s: vars(s).get("sum_b", s.number(0))},
}
"""Letters of the definition at a step: the last predictor for centred rows, the centred row, the sums of the predictors."""

_NEW = _DEFINED | {"w": lambda s: _centred_w(s, s.t), "b": lambda s: -s.bias / (s.lam * s.t)}


class Slip(NamedTuple):
    """Statement with a slip: the target, the assignment and the expression."""

    target: str
    assignment: str
    expression: Any

    def value(self, s, letters: Letters, old: Any = None, **more: Any) -> Any:
        """Compute what the target gets."""
        env = {name: letters[name](s) for name in self.expression.co_names if name in letters and name not in more}
        new = eval(self.expression, {"__builtins__": {}}, env | more)  # of this module's own text
        if self.assignment == "+=":
            return old + new
        if self.assignment == "-=":
            return old - new
        if self.assignment == "*=":
            return old * new
        return old / new if self.assignment == "/=" else new

    def over_row(self, s, letters: Letters) -> Any:
        """Go through the entries of the drawn row; the target is a number, or that of the vectors which has its name."""
        vectors, total = {"v": s.v, "u": s.u, "xbar": s.xbar}, s.number(0)
        target = vectors[self.target].copy() if self.target in vectors else None
        for i, j, x in s.entries:
            if i == s.i:
                at = {name: vector[j] for name, vector in vectors.items()}
                old = total if target is None else target[j]
                total = self.value(s, letters, old, x=s.number(x), **at)
                if target is not None:
                    target[j] = total
        return total if target is None else target


def _product(slip: Slip) -> Value:
    """Make the function that computes d or q with a slip."""
    return lambda s: lambda s, vector: slip.over_row(s, {})


def _moved_v(slip: Slip) -> Value:
    def change(s):
        return (s.keep_v - 1) * s.v + slip.over_row(s, _BEFORE) - s.v

    return change


def _shifted(slip: Slip, target: str, letters: Letters) -> Value:
    """Make the change of a sum."""
    return lambda s: slip.value(s, letters, getattr(s, target)) - getattr(s, target)


def _of_definition(slip: Slip, part: str) -> dict[str, Value]:
    """Make the changes that bring the predictor for centred rows to what the slip gives."""
    if part == "w":
        return {"dv": lambda s: -s.lam * s.t * (slip.value(s, _DEFINED) + 0 * s.v) + (s.a + s.da) * s.xbar - s.v}

    def change(s):
        grown = _centred_w(_Grown(s), s.t)
        return -s.lam * s.t * _number(slip.value(s, _DEFINED | {"w": lambda s: grown})) - s.bias

    return {"dbias": change}


class _Grown:
    """State with v and a after the step, where its changes are known already."""

    def __init__(self, s):
        self.v, self.a, self.xbar, self.lam = s.v + s.dv, s.a + s.da, s.xbar, s.lam


def _number(value):
    return value if np.ndim(value) == 0 else value.sum() * np.nan  # a vector where a number is needed: no result


def _summed(slip: Slip, part: str) -> dict[str, Value]:
    other = "b" if part == "w" else "w"
    return {
        f"sum_{part}": lambda s: slip.value(s, _NEW) + (0 * s.v if part == "w" else 0),
        f"sum_{other}": lambda s: _NEW[f"{other}_sum"](s) + _NEW[other](s),
    }


def _centred_b(s):
    return s.b + s.w @ s.xbar


_OF_SUMS = {
    "w": lambda s: s.sum_w / s.T,
    "b": lambda s: s.sum_b / s.T - (s.sum_w / s.T) @ s.xbar,
}

# statement, its names by kind, and the patches: (stage, changes) of a slip
STATEMENTS: tuple[tuple[str, tuple[str, ...], Callable[[Slip], list[tuple[str, dict[str, Value]]]]], ...] = (
    ("d += v * x", ("v u xbar",), lambda e: [("step", {"d_of": _product(e)})]),
    ("q += xbar * x", ("v u xbar",), lambda e: [("step", {"q_of": _product(e)}), ("z", {"dz": lambda s: s.push_w * s.q})]),
    (
        *("p = -(d + r - a * q) / (lam * (t - 1))", ("d q r a c h z s theta", "t m n T lam")),
        lambda e: [("prediction", {"p": lambda s: e.value(s, _BEFORE)})],
    ),
    (
        *("v += g * x", ("g p d q a c h z r s theta",)),
        lambda e: [
            ("changes", {"dv": _moved_v(e)}),
            ("z", {"dz": lambda s: s.push_w * s.q}),
            ("u", {"u_term": lambda s: s.h_u * s.push_w * s.added}),
        ],
    ),
    (
        *("u += h * g * x", ("g p d q a c h z r s theta",)),
        lambda e: [("u", {"u_term": lambda s: e.over_row(s, _LATE) - s.u})],
    ),
    (
        *("a += g", ("g p d q c h z r s theta",)),
        lambda e: [("changes", {"da": _shifted(e, "a", _BEFORE), "dbias": _shifted(e, "bias", _BEFORE)})],
    ),
    (
        *("c += a / t", ("a g p d q h z r s theta", "t m n T lam")),
        lambda e: [("terms", {"c_term": lambda s: _shifted(e, "c", _GROWN_A)(s) if s.centred else s.c_term})],
    ),
    ("h += 1 / t", ("t m n T lam",), lambda e: [("terms", {"h_term": _shifted(e, "h", _GROWN_C)})]),
    ("z += g * q", ("g p d q a c h r s theta",), lambda e: [("z", {"dz": _shifted(e, "z", _GROWN)})]),
    ("r = a * theta - z", ("a g p d q c h z s theta",), lambda e: [("r", {"r": lambda s: e.value(s, _GROWN, s.r)})]),
    (
        *("s += r / t", ("r a g p d q c h z theta", "t m n T lam")),
        lambda e: [
            (
                "terms",
                {
                    "s_term": lambda s: e.value(s, _GROWN, s.s) - s.s,
                    "c_term": lambda s: s.c_term if s.centred else e.value(s, _GROWN, s.c) - s.c,
                },
            )
        ],
    ),
    (
        *("scale = -lam * T", ("t m n T lam",)),
        lambda e: [(stage, {"scale": lambda s: -e.value(s, _END)}) for stage in ("recovery", "recovery of the last")],
    ),
    (
        *("w = (h * v - u - c * xbar) / scale", ("h a c z r s theta", "v u xbar")),
        lambda e: [("averaged weights", {"w": lambda s: e.value(s, _END, scale=-s.scale) + 0 * s.v})],
    ),
    (
        *("w = (v - a * xbar) / scale", ("a c h z r s theta", "v u xbar")),
        lambda e: [("last", {"last_w": lambda s: s.last_w if s.average else e.value(s, _END, scale=-s.lam * s.t) + 0 * s.v})],
    ),
    ("b = s / scale", ("s a c h z r theta",), lambda e: [("averaged bias", {"b": lambda s: e.value(s, _END, scale=-s.scale)})]),
    (
        *("b = r / scale", ("r a c h z s theta",)),
        lambda e: [("last", {"last_b": lambda s: s.last_b if s.average else e.value(s, _END, scale=-s.lam * s.t)})],
    ),
    ("xbar /= m", ("m n T",), lambda e: [("mean", {"xbar": lambda s: e.value(s, _SIZES, s.xbar * s.m) + 0 * s.xbar})]),
    (
        *("theta += xbar * xbar", ()),
        lambda e: [("theta", {"theta": lambda s: _folded(e, s)})],
    ),
    (
        *("p = 0 if t == 1 else -(d + r - a * q) / (lam * (t - 1))", ()),
        lambda e: [
            ("derivative", {"p": lambda s: e.value(s, _BEFORE)}),
            ("derivative", {"g": lambda s: s.dloss(s.p, s.label)}),
        ],
    ),
    (
        *("g = slope(p, y)", ("p d q a c h z r s theta",)),
        lambda e: [("derivative", {"g": lambda s: e.value(s, _BEFORE, slope=s.dloss, y=s.label)})],
    ),
    # the definition
    (
        *("p = w @ x + b", ("w w_sum x xbar", "b b_sum g t lam")),
        lambda e: [
            ("derivative", {"p": lambda s: _number(e.value(s, _DEFINED))}),
            ("derivative", {"g": lambda s: s.dloss(s.p, s.label)}),
        ],
    ),
    (
        *("w = (1 - 1 / t) * w - g / (lam * t) * x", ("w w_sum x xbar", "b b_sum g t lam")),
        lambda e: [("changes", _of_definition(e, "w"))],
    ),
    (
        *("b = (1 - 1 / t) * b - g / (lam * t)", ("b b_sum g t lam w",)),
        lambda e: [("changes", _of_definition(e, "b"))],
    ),
    (
        *("w_sum = w_sum + w", ("w w_sum x xbar b b_sum",)),
        lambda e: [("rate", _summed(e, "w")), ("average", _OF_SUMS)],
    ),
    ("b_sum = b_sum + b", ("b b_sum g t lam",), lambda e: [("rate", _summed(e, "b")), ("average", _OF_SUMS)]),
    (
        *("w = w_sum / T", ("t m n T lam",)),
        lambda e: [
            (
                "average",
                {
                    "w": lambda s: e.value(s, _SIZES, w_sum=s.w * s.T) + 0 * s.w,
                    "b": lambda s: _centred_b(s) - (e.value(s, _SIZES, w_sum=s.w * s.T) + 0 * s.w) @ s.xbar,
                },
            )
        ],
    ),
    (
        *("b = b_sum / T", ("t m n T lam",)),
        lambda e: [("average", {"b": lambda s: e.value(s, _SIZES, b_sum=_centred_b(s) * s.T) - s.w @ s.xbar})],
    ),
    (
        *("b = b - w @ xbar", ("w xbar",)),
        lambda e: [("result", {"b": lambda s: _number(e.value(s, {}, b=_centred_b(s), w=s.w, xbar=s.xbar))})],
    ),
    (
        *("x = x - xbar", ("x xbar",)),
        lambda e: [("norm", {"rows": lambda s: e.value(s, {}, x=s.rows, xbar=s.xbar + 0 * s.rows) + s.xbar})],
    ),
)

STRAYS = {  # statement whose sum goes to another letter: that letter's change, the letters where it stands, and its targets
    "a += g": ("changes", {"da": lambda s: 0 * s.da, "dbias": lambda s: 0 * s.dbias}, _BEFORE, "c h z r s theta"),
    "c += a / t": ("terms", {"c_term": lambda s: 0 * s.c_term if s.centred else s.c_term}, _GROWN_A, "a h z r s theta"),
    "h += 1 / t": ("terms", {"h_term": lambda s: 0 * s.h_term}, _GROWN_C, "a c z r s theta"),
    "z += g * q": ("z", {"dz": lambda s: 0 * s.dz}, _GROWN, "a c h r s theta"),
    "s += r / t": (
        *("terms", {"s_term": lambda s: 0 * s.s_term, "c_term": lambda s: s.c_term if s.centred else 0 * s.c_term}),
        *(_GROWN, "a c h z r theta"),
    ),
    "r = a * theta - z": ("r", {"r": lambda s: s.r}, _GROWN, "a c h z s theta"),
}
"""Statements whose result may go to another letter."""

LOSSES = {
    "absolute": "-1 if p <= y else 1",
    "squared": "p - y",
    "hinge": "-y if p * y <= 1 else 0",
    "log": "-y / (1 + exp(p * y))",
}
"""Derivatives of Table 1."""


SAME = {
    "scale = -lam * t",
    "w = w_sum / t",
    "b = b_sum / t",
    "p = 0 if t <= 1 else -(d + r - a * q) / (lam * (t - 1))",
    "p = -0 if t == 1 else -(d + r - a * q) / (lam * (t - 1))",
    "-y if p / y <= 1 else 0",
    "-y / (1 + exp(p / y))",
}
"""Changes that change nothing: at the end t is T, t is never below 1, and labels of classes are -1 and 1."""


def _folded(slip: Slip, s) -> Any:
    theta = s.number(1)
    for each in s.xbar:
        theta = slip.value(s, _SIZES, theta, xbar=each)
    return theta


def changed(text: str, kinds: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the text with one token changed, each way once."""
    replacements = [(rf" {re.escape(one)} ", [f" {other} " for other in "+-*/" if other != one]) for one in "+-*/@"]
    replacements += [(r" [+/]= ", [" = ", " -= ", " *= ", " /= ", " += "])]
    replacements += [(r" <= ", [" < ", " > ", " >= ", " == "]), (" == ", [" != ", " <= "])]
    replacements += [(r"\b1\b", ["0", "2"]), (r"\b0\b", ["1"]), (r"(?<![\w)] )-(?=[\w(])", [""]), (r"\bt - 1\b", ["t"])]
    replacements += [(r"\b[\w]+ [*/] (?=[\w(])", [""]), (r" [*/] \w+\b", [""]), (r" [-+@] \w+\b( \* \w+)?(?! @|\()", [""])]
    replacements += [(r"(?<== )(?=\w)|(?<=[(] )(?=\w)", ["-"])]
    for kind in kinds:
        names = kind.split()
        replacements += [(rf"\b{one}\b", [other for other in names if other != one]) for one in names]
    seen = {text}
    head = re.match(r"\w+ (?=[-+*/]?= )", text)
    for pattern, others in replacements:
        for found in re.finditer(pattern, text):
            for other in others:
                made = text[: found.start()] + other + text[found.end() :]
                if made not in seen | SAME and found.end() > (head.end() - 1 if head else 0):
                    seen.add(made)
                    yield made


def _glosses(text: str, made: str) -> str:
    letters = [name for name in MEANING if re.search(rf"\b{name}\b", made) and not re.search(rf"\b{name}\b", text)]
    return "".join(f"; {name} is {MEANING[name]}" for name in letters)


def _add_strays() -> list[str]:
    """Add the slips that change another letter than they must."""
    names = []
    for text, (stage, own, letters, targets) in STRAYS.items():
        target, assignment, expression = text.split(" ", 2)
        slip = Slip(target, "=", compile(expression, text, "eval"))
        for other in targets.split():
            made = f"{other} {assignment} {expression}"
            name = made if made not in FAULTS else f"{made} for {text}"
            computed = {"a": "changes", "r": "r", "s": "terms"}.get(target, "z")
            fault_of(text, made)(name, computed, stray=lambda s, slip=slip, letters=letters: slip.value(s, letters))
            also(name, stage, **own)
            put = "sums" if other in "chs" or target == "s" else "r" if target == "r" else "z"
            if other != "r" or target == "s":  # else it is overwritten
                also(name, put, **_put(other, assignment == "+="))
            names.append(name)
    for one, other, term in (("d", "q", "v * x"), ("q", "d", "xbar * x")):
        names.append(name := f"{other} += {term}")
        fault(name, f"{other} += {term} is computed where it must be {one} += {term}", "step", **{
            f"{one}_of": lambda s: lambda s, vector: s.number(0),
            f"{other}_of": lambda s: lambda s, vector: s.v @ s.dotted + s.xbar @ s.x,
        })  # fmt: skip
        also(name, "z", dz=lambda s: s.push_w * s.q)
    for text, others in (("v += g * x", ("u", "xbar")), ("u += h * g * x", ("v", "xbar"))):
        for other in others:
            names.append(name := f"{other} {text[2:]}")
            fault_of(text, name)(name, "z", dz=lambda s: s.push_w * s.q)
            if text[0] == "v":
                also(name, "changes", dv=lambda s: (s.keep_v - 1) * s.v)
                also(name, "u", u_term=lambda s: s.h_u * s.push_w * s.added)
                also(name, "sums", **{other: lambda s, other=other: getattr(s, other) + s.push_w * s.added})
            else:
                also(name, "u", u_term=lambda s: 0 * s.u)
                also(name, "sums", **{other: lambda s, other=other: getattr(s, other) + s.h_before * s.push_w * s.added})
    return names


def _put(other: str, adds: bool) -> dict[str, Value]:
    """Make the changes of the letter that a result went to."""
    if other == "c":
        return {"c": lambda s: (s.c if adds else 0) + s.stray if s.centred else s.c}
    if other == "s":
        return {
            "s": lambda s: (s.s if adds else s.s_term) + s.stray,
            "c": lambda s: s.c if s.centred else (s.c if adds else s.c_term) + s.stray,
        }
    both = ("a", "bias") if other == "a" else (other,)
    return {name: partial(_changed, name, adds) for name in both}


def _changed(name: str, adds: bool, s) -> Any:
    return (getattr(s, name) if adds else 0) + s.stray


def add() -> tuple[str, ...]:
    """Add all slips to the faults; return their names."""
    names = []
    for text, kinds, patches in STATEMENTS:
        for made in changed(text, kinds):
            target, assignment, expression = re.fullmatch(r"(\w+) ([-+*/]?=) (.*)", made).groups()  # type: ignore[union-attr]
            try:
                slip = Slip(target, assignment, compile(expression, made, "eval"))
            except SyntaxError:
                continue
            name = made if made not in FAULTS else f"{made} for {text}"
            if name not in FAULTS:
                for stage, changes in patches(slip):
                    (also if name in FAULTS else fault_of(text, made))(name, stage, **changes)
                names.append(name)
                if {"T"} & {*re.findall(r"\w+", made)} - {*re.findall(r"\w+", text)}:
                    PER_PREFIX.add(name)
    names += _add_strays()
    for loss, text in LOSSES.items():
        for made in changed(text, ("p y",)):
            try:
                code = compile(made, made, "eval")
            except SyntaxError:
                continue
            names.append(name := f"{made} for the {loss} loss")
            FAULTS[name] = f"the derivative of the {loss} loss is computed as {made}, where it must be {text}"
            WRONG_DERIVATIVES[name] = {loss: lambda p, y, right, code=code: _slope(code, p, y)}
        for other in LOSSES:
            if other != loss:
                names.append(name := f"{other} loss for the {loss} loss")
                FAULTS[name] = f"the derivative of the {other} loss is taken for the {loss} loss"
                WRONG_DERIVATIVES[name] = {loss: lambda p, y, right, other=other: DERIVATIVES[other](p, y)}
    return tuple(names)


def fault_of(text: str, made: str) -> Callable:
    """Make the function that adds the slip to the faults with its sentence."""
    return lambda name, stage, **changes: fault(
        name, f"{made} is computed where it must be {text}{_glosses(text, made)}", stage, **changes
    )


def _slope(code: Any, p: Any, y: Any) -> Any:
    with np.errstate(all="ignore"):
        return eval(code, {"__builtins__": {}}, {"p": p, "y": y, "exp": exponential})  # of this module's own text
