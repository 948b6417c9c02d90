"""List the slips of one letter in Algorithm 3: in a statement of it, another sum or product stands where one must, or none.

They are made by rule: each statement of the step and of the recovery, each letter of it, each other letter in its place.
"""

import re
from collections.abc import Callable
from typing import Any

from .plain import also, fault

Value = Callable[[Any], Any]

LETTERS: dict[str, tuple[str, Value]] = {
    "g": ("the derivative of the loss", lambda s: s.g),
    "p": ("the prediction", lambda s: s.p),
    "d": ("the product of v and the row", lambda s: s.d),
    "q": ("the product of the mean row and the row", lambda s: s.q),
    "a": ("the sum of the derivatives", lambda s: s.a),
    "c": ("the sum of a/t", lambda s: s.c),
    "h": ("the sum of 1/t", lambda s: s.h),
    "z": ("the sum of g q", lambda s: s.z),
    "r": ("aθ - z, the bias' sum", lambda s: s.r),
    "s": ("the sum of r/t", lambda s: s.s if s.centred else s.c),
    "θ": ("1 + the squared norm of the mean row", lambda s: s.theta),
    "1": ("", lambda s: s.number(1)),
}
"""Letter, its meaning, and its value where the statement stands."""

VECTORS: dict[str, tuple[str, Value]] = {
    "v": ("the sum of g x", lambda s: s.v),
    "u": ("the sum of h g x", lambda s: s.u),
    "x̄": ("the mean row", lambda s: s.xbar),
}

GROWN: dict[str, Value] = {
    "c": lambda s: s.c + (s.a if s.centred else s.bias) / s.t,
    "h": lambda s: s.h + s.number(1) / s.t,
}
"""Sums that are brought to this step before z and r are."""

STATEMENTS: tuple[tuple[str, str, str, str, Callable[[Value], dict[str, Value]]], ...] = (
    # statement, the letter that is replaced, those that stand for it (others would double a known fault), stage, what changes
    ("-(d + r - a q)/(λ(t-1))", "d", "qachzsθ1", "centred prediction", lambda m: {"d": m}),
    ("-(d + r - a q)/(λ(t-1))", "r", "dqchzsθ1", "centred prediction", lambda m: {"own": m}),
    ("-(d + r - a q)/(λ(t-1))", "a", "dqchzrsθ1", "centred prediction", lambda m: {"aq": lambda s: m(s) * s.q}),
    ("-(d + r - a q)/(λ(t-1))", "q", "dachzrsθ1", "centred prediction", lambda m: {"aq": lambda s: s.a * m(s)}),
    ("v += g x", "g", "pdqachzrsθ1", "changes", lambda m: {"dv": lambda s: (s.keep_v - 1) * s.v + m(s) * s.added}),
    ("u += h g x", "h", "gpdqaczrsθ", "u", lambda m: {"u_term": lambda s: m(s) * s.dv}),
    ("u += h g x", "g", "pdqachzrsθ", "u", lambda m: {"u_term": lambda s: s.h_u * m(s) * s.added}),
    (
        *("a += g", "g", "pdqchzrsθ1", "changes"),
        lambda m: {
            "da": lambda s: (s.keep_w - 1) * s.a + m(s),
            "dbias": lambda s: (s.keep_b - 1) * s.bias + m(s),
        },
    ),
    ("c += a/t", "a", "pdqhzsθ1", "terms", lambda m: {"c_term": lambda s: m(s) / s.t if s.centred else s.c_term}),
    ("z += g q", "g", "pdqachrsθ", "z", lambda m: {"dz": lambda s: m(s) * s.q}),
    ("z += g q", "q", "pdachrsθ1", "z", lambda m: {"dz": lambda s: s.push_w * m(s)}),
    ("r = a θ - z", "a", "gpdqchzrs1", "r", lambda m: {"r": lambda s: m(s) * s.theta - s.z}),
    ("r = a θ - z", "θ", "gpdqachzrs", "r", lambda m: {"r": lambda s: s.bias * m(s) - s.z}),
    ("r = a θ - z", "z", "gpdqchrsθ1", "r", lambda m: {"r": lambda s: s.bias * s.theta - m(s)}),
    (
        *("s += r/t", "r", "pdqchzsθ1", "terms"),
        lambda m: {
            "s_term": lambda s: m(s) / s.t,
            "c_term": lambda s: s.c_term if s.centred else m(s) / s.t,
        },
    ),
    ("the average's h v - u - c x̄", "h", "aczrsθ", "recovery", lambda m: {"hv": lambda s: m(s) * s.v}),
    ("the average's h v - u - c x̄", "v", "ux̄", "recovery", lambda m: {"hv": lambda s: s.h * m(s)}),
    ("the average's h v - u - c x̄", "u", "x̄", "recovery", lambda m: {"taken_u": m}),
    ("the average's h v - u - c x̄", "c", "zrθ1", "recovery", lambda m: {"cx": lambda s: m(s) * s.xbar}),
    ("the average's h v - u - c x̄", "x̄", "vu", "recovery", lambda m: {"cx": lambda s: s.c * m(s)}),
    ("the last v - a x̄", "a", "chzrsθ1", "recovery of the last", lambda m: {"ax": lambda s: m(s) * s.xbar}),
    ("the last v - a x̄", "x̄", "vu", "recovery of the last", lambda m: {"ax": lambda s: s.a * m(s)}),
    (
        *("the last v - a x̄", "v", "ux̄", "last"),
        lambda m: {"last_w": lambda s: s.last_w if s.average else -(m(s) - s.ax) / (s.lam * s.t)},
    ),
    ("the averaged bias s", "s", "zθ1", "averaged bias", lambda m: {"b": lambda s: -m(s) / (s.lam * s.T)}),
    (
        *("the last bias r", "r", "chzsθ1", "last"),
        lambda m: {"last_b": lambda s: s.last_b if s.average else -m(s) / (s.lam * s.t)},
    ),
)


def add() -> tuple[str, ...]:
    """Add all slips to the faults; return their names."""
    names = []
    for statement, old, others, stage, changes in STATEMENTS:
        for new in re.findall("x̄|.", others):
            meaning, value = (LETTERS | VECTORS)[new]
            name = f"{'no' if new == '1' else f'{new} for'} {old} in {statement}"
            has = f"has {new}, {meaning}, where it needs" if new != "1" else "lacks"
            if stage in ("z", "r"):
                value = GROWN.get(new, value)
            fault(name, f"{statement} {has} {old}, {(LETTERS | VECTORS)[old][0]}", stage, **changes(value))
            if statement == "v += g x":
                also(name, "z", dz=lambda s: s.push_w * s.q)
                also(name, "u", u_term=lambda s: s.h_u * s.push_w * s.added)
            names.append(name)
    return tuple(names)
