"""Check the errata of the paper: refute each wrong printed form by numbers, and show that the corrected form holds.

Run this module to read them: `python -m proofs.slips`.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np

import efficient
import reference
from efficient import State
from efficient.runs.terminal import print_any_letter
from reference import LOSSES, Problem
from reference.datasets import make_generic

from .ledger import Entry, Job
from .paper import ERRATA

try:
    import sympy

    from .proved.branches import as_formula
    from .proved.prover import Equation, counterexample, residual, violation, z3
    from .proved.symbols import XBAR, W, X, b, g, k, lam, over_coordinates, x
except ModuleNotFoundError as error:
    if __name__ != "__main__":
        raise
    sys.exit(f"proofs.slips needs {error.name}: pip install -e '.[proofs]' in a clone")

Check = Callable[[], Iterator[tuple[str, str, bool, bool] | tuple[str, str, bool, bool, str]]]
"""Check that yields what is claimed, the figure, if it holds, if it is expected to, and the kind if it is not exact."""


def printed(equation: Equation):
    """Return a printed equation, refuted by z3's numbers."""
    numbers = counterexample(equation)
    return f"as printed, {equation.claim}", f"differs at {numbers}", numbers is None, False, "proved"


def corrected(equation: Equation):
    """Return the corrected equation, proved."""
    remains = residual(equation)
    proved = remains == 0 and counterexample(equation) is None
    return equation.claim, "sympy and z3 prove it" if proved else f"{remains} remains", proved, True, "proved"


SMALL = make_generic(4, 3, 2, seed=1)
ORDER = [0, 1, 2, 3, 0, 2]


def exact_problem(loss: str = "log") -> Problem:
    return Problem(SMALL.X, SMALL.y, loss, Fraction(1, 2))


def base_case():
    yield printed(Equation("−λ w_1 with w_1 = 1/λ − g is g x", -lam * (1 / lam - g), g * x))
    yield printed(Equation("scaling by λ: λ w_1 = g", lam * (1 / lam - g), g))
    yield printed(Equation("scaling by λ: λ w_1 = g x, with w_1 = −g x/λ", lam * (-g * x / lam), g * x))
    yield printed(Equation("v_1 = g", g * x, g))
    yield corrected(Equation("−λ w_1 with w_1 = −g x/λ is v_1 = g x", -lam * (-g * x / lam), g * x))


def head_index():
    examples, t = [("x_1", "y_1"), ("x_2", "y_2"), ("x_3", "y_3")], 1
    as_printed = {examples[t] for i in range(3)}
    meant = {examples[i] for i in range(3)}
    yield "as printed, the set {(x_t, y_t)}, i = 1..3, has 3 examples", f"it has {len(as_printed)}", len(as_printed) == 3, False
    yield "{(x_i, y_i)}, i = 1..3, has 3 examples", f"it has {len(meant)}", len(meant) == 3, True


def mixed_indices():
    h = [Fraction(0), Fraction(1), Fraction(3, 2)]  # h_0, h_1, h_2
    gx = sympy.symbols("gx1:4", real=True)
    meant = sum(h[i] * gx[i] for i in range(3))
    for j in range(3):
        yield printed(Equation(f"t = 3, j = {j + 1}: Σ_i h_(i−1) g_j x_j is u_3", sum(h[i] * gx[j] for i in range(3)), meant))
    problem = exact_problem()
    steps = list(reference.iterates(problem, ORDER))
    harmonic = [sum((Fraction(1, j) for j in range(1, i)), Fraction(0)) for i in range(1, 7)]
    u = sum(harmonic[i] * steps[i].g * problem.X.dense(ORDER[i]) for i in range(6))
    equal = bool((State(problem, "asgd").run(ORDER).u == u).all())
    yield "with index i throughout it is the loop's u", "T = 6, exact rationals", equal, True


def algorithm_3_as_printed(X, y, loss, lam, indices):
    """Algorithm 3 with its loop from t = 1, literally."""
    m, _ = X.shape
    xbar = X.sum(axis=0) / m
    theta = 1 + xbar @ xbar
    dloss = LOSSES[loss].derivative
    i = indices[0]
    g = dloss(lam * 0, y[i])
    v, a, u, c, h = g * X[i], g, 0 * X[i], g, lam / lam
    z = g * (xbar @ X[i])
    r = a * theta - z
    s = r
    for t, i in enumerate(indices, start=1):
        d, q = v @ X[i], xbar @ X[i]
        p = -(d + r - a * q) / (lam * (t - 1))
        g = dloss(p, y[i])
        v, a = v + g * X[i], a + g
        u, c, h = u + h * g * X[i], c + a / t, h + 1 / (t * lam / lam)
        z = z + g * q
        r = a * theta - z
        s = s + r / t
    T = len(indices)
    return -(h * v - u - c * xbar) / (lam * T), -s / (lam * T)


def loop_from_one():
    X, y = SMALL.X.toarray(), SMALL.y
    for loss in LOSSES:
        right = efficient.casgd(Problem(X, y, loss, 0.5), ORDER)
        with np.errstate(all="ignore"):
            w, bias = algorithm_3_as_printed(X, y, loss, np.float64(0.5), ORDER)
        found = ", ".join(f"{value:.3g}" for value in [*w, bias])
        wanted = ", ".join(f"{value:.3g}" for value in [*right.w, right.b])
        equal = np.allclose([*w, bias], [*right.w, right.b])
        yield f"as printed, {loss} in float64", f"[w, b'] = {found} for {wanted}", equal, False, "float"
    exact = np.array([[Fraction(value) for value in row] for row in X], dtype=object)
    try:
        algorithm_3_as_printed(exact, [Fraction(label) for label in y], "hinge", Fraction(1, 2), ORDER)
        figure, defined = "it ran", True
    except ZeroDivisionError:
        figure, defined = "division by λ · 0 at t = 1", False
    yield "as printed, in exact arithmetic", figure, defined, False
    wanted, found = (side.casgd(exact_problem("hinge"), ORDER) for side in (reference, efficient))
    equal = bool((found.w == wanted.w).all()) and found.b == wanted.b
    yield "from t = 2 it is the definition", "T = 6, exact rationals", equal, True


def centre_of_mass():
    mean_label = sympy.Symbol("ybar", real=True)
    off_centre = over_coordinates(W[k] * (X[k] - XBAR[k]))
    at_centre = off_centre.xreplace({X: XBAR})
    yield printed(Equation("b = 0: the regression line passes through (x̄, ȳ)", at_centre, mean_label))
    yield corrected(Equation("b = 0: the boundary w · (x − x̄) = 0 passes through x̄", at_centre, sympy.Integer(0)))
    yield corrected(Equation("b = 0: the line passes through (x̄, ȳ) if ȳ = 0", at_centre, mean_label.subs(mean_label, 0)))


def real_labels():
    refused = 0
    for loss in ("hinge", "log"):
        try:
            Problem(SMALL.X, 2 * SMALL.y, loss, 1.0)
        except ValueError:
            refused += 1
    yield "other labels than −1 and +1 are refused by choice", f"{refused} of 2 losses refuse ±2", refused == 2, True
    p, q, y = z3.Reals("p q y")
    at_p, at_q, slope = (as_formula(function, *at) for function, at in (
        (LOSSES["hinge"].value, (p, y)), (LOSSES["hinge"].value, (q, y)), (LOSSES["hinge"].derivative, (p, y)),
    ))  # fmt: skip
    holds = violation(at_q >= at_p + slope * (q - p)) is None
    yield (
        "the hinge's formulas hold for every real y",
        "z3 proves the subgradient inequality for all real y",
        holds,
        True,
        "proved",
    )


def mean_cost():
    row_sizes, T = [1, 4, 0, 2], 3
    totals = [sum(row_sizes[i] for i in draws) for draws in product(range(4), repeat=T)]
    k_mean = Fraction(sum(row_sizes), 4)
    every = set(totals) == {T * k_mean}
    yield (
        "T steps touch exactly Tk entries, k being the mean",
        f"{min(totals)} to {max(totals)} by the draws, Tk = {T * k_mean}",
        every,
        False,
    )
    expected = Fraction(sum(totals), len(totals))
    yield "they do in expectation", f"mean over all {len(totals)} sequences of draws: {expected}", expected == T * k_mean, True


def bias_at_every_step():
    problem, state, known = exact_problem(), State(exact_problem(), "casgd"), []
    for step in reference.iterates(problem, ORDER, centred=True):
        state.run([ORDER[step.t - 1]])
        if -state.r / (problem.lam * step.t) == step.predictor.b:
            known.append(step.t)
    T = len(ORDER)
    yield "as printed, b' is not known before training concludes", f"it is at step {known[0]} of {T}", known[:1] == [T], False
    yield "b'_t = −r_t/(λt) at every step", f"{len(known)} of {T} steps equal, exact rationals", len(known) == T, True


def second_weight(rows):
    """w_2 of SGD on labels 1, −1 with λ = 1, the squared loss and b left out of the regulariser."""
    w = bias = Fraction(0)
    for t, (x_t, y_t) in enumerate(zip(rows, (1, -1), strict=True), start=1):
        slope = w * x_t + bias - y_t
        w, bias = (1 - Fraction(1, t)) * w - slope * x_t / t, bias - slope / t
    return w


def root_of_the_problem():
    here, moved = second_weight([1, 2]), second_weight([6, 7])
    claim = "without b² the iterates do not depend on translation either"
    yield claim, f"x = 1, 2: w_2 = {here}; x = 6, 7: w_2 = {moved}", here == moved, False
    m = 3
    X = np.array([[Fraction(1)], [Fraction(2)], [Fraction(4)]], dtype=object)
    slopes, stationary = [], True
    for offset in (0, 5):  # where the gradient of λ/2 w² + (1/2m) Σ (w x_i + b − y_i)² is 0, y = 1, −1, 2, λ = 1
        column, labels = X[:, 0] + offset, np.array([Fraction(1), Fraction(-1), Fraction(2)], dtype=object)
        centred = column - column.sum() / m
        w = (centred @ labels / m) / (1 + centred @ centred / m)
        off = w * column + (labels - w * column).sum() / m - labels  # with the bias that fits best
        stationary &= off.sum() == 0 and w + off @ column / m == 0
        slopes.append(w)
    figure = f"squared loss, w* = {slopes[0]} and {slopes[1]} on rows moved by 5"
    yield "the minimiser of F without b² does not, as the paper says", figure, stationary and slopes[0] == slopes[1], True


def gradient_sum_reused():
    problem = exact_problem()
    plain, centred = State(problem, "asgd").run(ORDER), State(problem, "casgd").run(ORDER)
    yield (
        "as printed, v_t is that of eq. 4",
        f"v_6 = {[round(float(value), 3) for value in centred.v]}, eq. 4's {[round(float(value), 3) for value in plain.v]}",
        bool((plain.v == centred.v).all()),
        False,
    )
    steps = reference.iterates(problem, ORDER, centred=True)
    v = sum(step.g * problem.X.dense(i) for step, i in zip(steps, ORDER, strict=True))
    yield "it has the same form, with the centred predictions", "T = 6, exact rationals", bool((v == centred.v).all()), True


def before_the_first_step():
    try:
        figure, defined = str(-Fraction(0) / (Fraction(1, 2) * 0)), True
    except ZeroDivisionError:
        figure, defined = "−v_0/(λ · 0) divides by 0", False
    yield "as printed, the recovery by −1/(λt) exists from t = 0", figure, defined, False
    try:
        State(exact_problem(), "sgd").last()
        figure, refused = "handed out", False
    except ValueError:
        figure, refused = "a State refuses to recover before its first step", True
    yield "w_0 = 0 is a definition; the recovery begins at t = 1", figure, refused, True


def subgradients():
    q, slope = z3.Reals("q slope")
    for loss, low, high in (("hinge", -1, 0), ("absolute", -1, 1)):  # y = 1, kink at p = 1
        value = as_formula(LOSSES[loss].value, q, z3.RealVal(1))
        at_kink = LOSSES[loss].value(1, 1)
        inequality = z3.ForAll(q, value >= at_kink + slope * (q - 1))
        holds = violation(z3.Implies(z3.And(slope >= low, slope <= high), inequality)) is None
        picked = LOSSES[loss].derivative(1, 1)
        figure = f"{loss}, p = y = 1: every slope from {low} to {high} is one (z3); Table 1 picks {picked}"
        yield "∇F is one element of a set", figure, holds and low <= picked <= high, True, "proved"
        unique = violation(z3.Implies(inequality, slope == picked))
        yield f"as printed, “the” subgradient, {loss}", f"another one: {unique}", unique is None, False, "proved"


def first_centred_prediction():
    try:
        figure, defined = str(-Fraction(0) / (Fraction(1, 2) * (1 - 1))), True
    except ZeroDivisionError:
        figure, defined = "0/(λ · 0)", False
    yield "as printed, eq. 15 gives p_1", figure, defined, False
    problem, equal = exact_problem(), []
    sums = np.zeros(problem.n, dtype=object), Fraction(0)  # v and a; x̄ and the predictions are the definition's
    for step in reference.iterates(problem, ORDER, centred=True):
        row, t, (v, a) = problem.X.dense(ORDER[step.t - 1]), step.t, sums
        r = a * (1 + problem.xbar @ problem.xbar) - v @ problem.xbar
        equal.append(step.p == (-(v @ row + r - a * (problem.xbar @ row)) / (problem.lam * (t - 1)) if t > 1 else 0))
        sums = v + step.g * row, a + step.g
    figure = f"{sum(equal)} of {len(equal)} steps equal, exact rationals"
    yield "it holds for t >= 2, as the display for SGD says, and p_1 = 0", figure, all(equal), True


def positive_regularisation():
    refused = 0
    for value in (0.0, Fraction(0), -1.0):
        try:
            Problem(SMALL.X, SMALL.y, "log", value)
        except ValueError:
            refused += 1
    yield "λ = 0 and λ < 0 are refused: every step divides by λ", f"{refused} of 3 refused", refused == 3, True


def empty_sums():
    problem = exact_problem()
    wanted, right = reference.asgd(problem, ORDER), State(problem, "asgd").run(ORDER)
    u_with = {h_0: right.u + h_0 * next(reference.iterates(problem, ORDER)).g * problem.X.dense(ORDER[0]) for h_0 in (0, 1)}
    equal = {h_0: bool((-(right.h * right.v - u) / (problem.lam * 6) == wanted.w).all()) for h_0, u in u_with.items()}
    yield "with h_0 = 0, the empty sum, eq. 10 is the mean", "T = 6, exact rationals", equal[0], True
    yield "with h_0 = 1 too", "T = 6, exact rationals", equal[1], False
    wanted, right = reference.casgd(problem, ORDER), State(problem, "casgd").run(ORDER)
    harmonic = sum(Fraction(1, j) for j in range(1, 7))
    for z_0 in (0, 1):  # z is z_0 more in every step, so that Σ r_j/j is z_0 h_T less
        bias = -(right.s - z_0 * harmonic) / (problem.lam * 6)
        yield f"with z_0 = {z_0} b̄' is the mean implicit bias", "T = 6, exact rationals", bias == wanted.b, z_0 == 0


def mean_needs_n():
    from .counted.arrays import count_sparse

    counts = []
    for n in (10, 1000):
        X = SMALL.X.copy()
        X.resize(4, n)
        counts.append(sum(count_sparse("casgd", Problem(X, SMALL.y, "log", 1.0), np.array(ORDER))[0]["mean"]))
    figure = f"the same rows in 10 and in 1000 columns: {counts[0]} and {counts[1]} entries touched"
    yield "a dense x̄ takes O(mk) operations", figure, counts[0] == counts[1], False, "counted"
    figure = "each further column costs 4"
    yield "it takes O(n + mk)", figure, counts[1] - counts[0] == 4 * 990, True, "counted"


def equivalent_centrings():
    explicit = over_coordinates(W[k] * (X[k] - XBAR[k])) + b
    implicit = over_coordinates(W[k] * X[k]) + (b - over_coordinates(W[k] * XBAR[k]))
    yield corrected(Equation("explicit and implicit centring predict the same, in exact arithmetic", explicit, implicit))
    offset = 1e8
    rows = SMALL.X.toarray() + offset
    predictor = reference.Predictor(np.array([1.0, 2.0, -1.5]), 0.1, rows.mean(axis=0))
    difference = float(abs(predictor.predict(rows) - predictor.implicit().predict(rows)).max())
    figure = f"at an offset of {offset:.0e} they differ by {difference:.1e} on rows of spread 1"
    yield "they are equivalent in float64 too", figure, difference < 1e-12, False, "float"


CHECKS: dict[str, Check] = {
    "E1": base_case,
    "E2": head_index,
    "E3": mixed_indices,
    "E4": loop_from_one,
    "E5": centre_of_mass,
    "E6": real_labels,
    "E7": mean_cost,
    "E8": bias_at_every_step,
    "E9": root_of_the_problem,
    "E10": gradient_sum_reused,
    "E11": before_the_first_step,
    "E12": subgradients,
    "E13": mean_needs_n,
    "E14": equivalent_centrings,
    "E15": first_centred_prediction,
    "E16": positive_regularisation,
    "E17": empty_sums,
}
"""For each erratum of the paper its check, which yields (what is claimed, figure, holds, expected to hold)."""


def entries(name: str) -> Iterator[Entry]:
    """Refute what is printed and show what holds."""
    for claim, figure, holds, expected, *other in CHECKS[name]():
        kind = other[0] if other else "exact"
        yield Entry(name, f"{ERRATA[name].where}: {claim}", kind, "", figure, bool(holds), expected=expected)


def jobs() -> list[Job]:
    return [Job((name,), f"{name}: {ERRATA[name].where}", partial(entries, name)) for name in CHECKS]


def main(arguments: Sequence[str] | None = None) -> int:
    print_any_letter()
    argparse.ArgumentParser(prog="python -m proofs.slips", description=__doc__).parse_args(arguments)
    wrong = 0
    for name, erratum in ERRATA.items():
        print(f"{name} ({erratum.kind}) {erratum.where}: printed {erratum.printed}; what holds: {erratum.holds}")
        for entry in entries(name):
            print(f"    {entry.claim}: {entry.figure}: {entry.verdict}")
            wrong += not entry.as_expected
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
