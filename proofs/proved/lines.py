"""Map each line of Algorithms 1 to 3 to the shipped line that does it, in the order of the pseudocode.

The caller draws the indices; `State` sets v and u to zero.
"""

import ast
import inspect

from efficient.runs.algorithms import ALGORITHMS, Algorithm

FIRST = [
    ("g ← ℓ'(0, y_π1)", "g = sample_weight[i] * dloss(p, y[i])"),
    ("v ← g x_π1", "add(v, g, X, i)"),
    ("a ← g", "a = g"),
]
AVERAGED_FIRST = [("c ← a", "c = omega[0] * a / (t + t0)"), ("h ← 1", "h = omega[0] / (t + t0)")]
DOT = [("d ← v · x_πt", "d = dot(v, X, i)")]
UPDATE = [
    ("g ← ℓ'(p, y_πt)", "g = sample_weight[i] * dloss(p, y[i])"),
    ("v ← v + g x_πt", "add(v, g, X, i)"),
    ("a ← a + g", "a = a + g"),
]
AVERAGED_UPDATE = [
    ("g ← ℓ'(p, y_πt)", "g = sample_weight[i] * dloss(p, y[i])"),
    ("v ← v + g x_πt ; u ← u + h g x_πt", "add_both(v, g, u, h * g, X, i)"),
    ("a ← a + g", "a = a + g"),
    ("c ← c + a/t", "c = c + omega[j] * a / (t + t0)"),
    ("h ← h + 1/t", "h = h + omega[j] / (t + t0)"),
]
CENTRED_FIRST = [
    ("q ← x̄ · x_π1", "q = projections[i] if len(projections) else dot(xbar, X, i)"),
    ("z ← g q", "z = g * q"),
    ("r ← aθ − z", "r = a * theta - z"),
]
CENTRED_PREDICTION = [
    ("q ← x̄ · x_πt", "q = projections[i] if len(projections) else dot(xbar, X, i)"),
    ("p ← −(d + r − aq)/(λ(t−1))", "p = -(d + r - a * q) / (lam * (t - 1 + t0))"),
]
CENTRED_UPDATE = [("z ← z + g q", "z = z + g * q"), ("r ← aθ − z", "r = a * theta - z")]
PREDICTION = [("p ← −(d + a)/(λ(t−1))", "p = -(d + a) / (lam * (t - 1 + t0))")]
FIRST_SUM, SUM = [("s ← r", "s = omega[0] * r / (t + t0)")], [("s ← s + r/t", "s = s + omega[j] * r / (t + t0)")]


def _lines(algorithm: Algorithm) -> list[tuple[str, str]]:
    """Lines of an algorithm: Algorithm 1, and the lines that averaging and centring add to it."""
    averaging, centred = algorithm.averaging, algorithm.centred
    return [
        *FIRST,
        *(AVERAGED_FIRST if averaging else ()),
        *(CENTRED_FIRST if centred else ()),
        *(FIRST_SUM if averaging and centred else ()),
        *DOT,
        *(CENTRED_PREDICTION if centred else PREDICTION),
        *(AVERAGED_UPDATE if averaging else UPDATE),
        *(CENTRED_UPDATE if centred else ()),
        *(SUM if averaging and centred else ()),
    ]


LINES = {name: _lines(algorithm) for name, algorithm in ALGORITHMS.items()}
"""(pseudocode, shipped line) in the paper's order, where the paper has t0 = 0, ω = 1 and weight = 1.

The loop runs from t = 2 in all of them (E4); csgd has no pseudocode of its own.
"""

RECOVERIES = {
    "sgd": [("w ← −v/(λT) ; b ← −a/(λT)", "return v / (-lam * t), a / (-lam * t)")],
    "asgd": [("w̄ ← −(h v − u)/(λT)", "w = h * v"), ("", "w -= u"), ("", "w /= -lam * total"),
             ("b̄ ← −c/(λT)", "return w, c / (-lam * total)")],
    "csgd": [("w ← −(v − a x̄)/(λT)", "w = a * xbar"), ("", "w -= v"), ("", "w /= lam * t"),
             ("b' ← −r/(λT)", "return w, r / (-lam * t)")],
    "casgd": [("w̄ ← −(h v − u − c x̄)/(λT)", "w = h * v"), ("", "w -= u"), ("", "w -= c * xbar"), ("", "w /= -lam * total"),
              ("b̄' ← −s/(λT)", "return w, s / (-lam * total)")],
}  # fmt: skip

SUM_OF_ROWS = [("x̄ ← (1/m) Σ x_i", "add(xbar, sample_weight[i], X, i)")]
CENTRE = [
    ("(x̄, the division)", "xbar[j] = xbar[j] / total"),
    ("θ ← 1 + ‖x̄‖²", "theta = theta + xbar[j] * xbar[j]"),
]


def in_order(lines: list[tuple[str, str]], function) -> list[str]:
    """Return the lines of pseudocode whose shipped line is missing from the function, or not in its place."""
    code = [line.split("#")[0].strip() for line in inspect.getsource(function).splitlines()]
    missing, place = [], 0
    for pseudocode, wanted in lines:
        if wanted in code[place:]:
            place = code.index(wanted, place) + 1
        else:
            missing.append(pseudocode or wanted)
    return missing


CONTROL = ["if t == 0", "for j in range(first, len(indices))", "if p - p != 0"]
"""Where a loop may branch or repeat: at step 1, for each later step, at an overflow; in centred ones, for q, at `PROJECTED`."""

PROJECTED = "if len(projections)"


def control(function) -> list[str]:
    """List where a function branches or repeats, in its order; a choice of a value comes behind."""
    tree = ast.parse(inspect.getsource(function))
    found = [
        node for node in ast.walk(tree) if isinstance(node, (ast.For, ast.While, ast.If, ast.IfExp, ast.Try, ast.comprehension))
    ]
    return [
        f"for {ast.unparse(node.target)} in {ast.unparse(node.iter)}"
        if isinstance(node, ast.For)
        else f"if {ast.unparse(node.test)}"
        if isinstance(node, (ast.If, ast.IfExp))
        else type(node).__name__
        for node in found
    ]


def table() -> str:
    """Set each line of the pseudocode beside its shipped line, algorithm by algorithm."""
    rows = []
    for name, lines in LINES.items():
        rows.append(name)
        for paper, line in (*(CENTRE if ALGORITHMS[name].centred else ()), *lines, *RECOVERIES[name]):
            rows.append(f"    {paper:<40} {line}")
    return "\n".join(rows)
