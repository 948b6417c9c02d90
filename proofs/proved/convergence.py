"""Prove the guarantee behind steps of 1/(λt) for all T: a bound of E F of an average of the iterates over F*.

Here w is the whole vector [w, b], and x is [x, 1]; w_0 = 0; ĝ_t = λw_{t−1} + g x is the stochastic gradient of step t and
E‖ĝ_t‖² <= G² for every t that the average needs; F is λ-strongly convex and w* is its minimiser, F* = F(w*). Then

    the mean of w_0, …, w_{T−1}              E F − F* <= G² h_T / (2λT)
    the paper's mean, of w_1, …, w_T         E F − F* <= G² h_{T+1} / (2λT), with E‖ĝ_{T+1}‖² <= G² as well
    w_{t−1} with the weight t, t = 1, …, T   E F − F* <= G² (2T − 1) / (λT(T+1)) < 2G² / (λ(T+1))
    w_t with the weight t, t = 1, …, T       E F − F* <= G² (2T + 1 − h_{T+1}) / (λT(T+1)) < 2G² / (λ(T+1)), same proviso

and E‖w_t − w*‖² <= G²/(λ²t). In the inequalities, which z3 proves, e is E F(w_{t−1}) − F*, D and D_t are E‖w_{t−1} − w*‖² and
E‖w_t − w*‖², A is E ĝ_t · (w_{t−1} − w*), N is E‖ĝ_t‖², h is h_{t−1}.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import sympy
import z3

from reference import LOSSES, Predictor, Problem, iterates

from ..ledger import Entry, Job
from .branches import as_formula
from .formulas import Reading, labels
from .proof import FOR_ALL, Proof, jobs_of, proof
from .prover import Equation, to_z3, violation
from .symbols import G, W, X, before, k, lam, over_coordinates, p, t

LABEL = "guarantee"
STAR = sympy.IndexedBase("wstar", real=True)


@proof(LABEL, "‖w_t − w*‖² = ‖w_{t−1} − w*‖² − (2/(λt)) ĝ_t · (w_{t−1} − w*) + ‖ĝ_t‖²/(λt)²")
def one_step():
    """w_t = w_{t−1} − ĝ_t/(λt), eq. 3; w* and ĝ_t, here G, are any vectors."""
    moved = W[k] - G[k] / (lam * t) - STAR[k]
    along, squared = over_coordinates(G[k] * (W[k] - STAR[k])), over_coordinates(G[k] ** 2)
    before_it = over_coordinates((W[k] - STAR[k]) ** 2)
    right = before_it - 2 / (lam * t) * along + squared / (lam * t) ** 2
    yield Equation("expanded", over_coordinates(moved**2), right)


@proof(LABEL, "F is λ-strongly convex: F(u) >= F(w) + ∇F(w) · (u − w) + λ/2 ‖u − w‖²")
def strongly_convex():
    """Take the regulariser with equality; the losses add ℓ(q) − ℓ(p) − ℓ'(p)(q − p) >= 0 each, Table 1; here u is w*.

    With u = w* and E ĝ_t = ∇F(w_{t−1}), eq. 2: A >= e + λ/2 D. With w = w*, where 0 is a subgradient: e >= λ/2 D.
    """
    yield Equation(
        "λ/2 ‖u‖² = λ/2 ‖w‖² + λw · (u − w) + λ/2 ‖u − w‖²",
        over_coordinates(lam / 2 * STAR[k] ** 2),
        lam / 2 * over_coordinates(W[k] ** 2)
        + lam * over_coordinates(W[k] * (STAR[k] - W[k]))
        + lam / 2 * over_coordinates((STAR[k] - W[k]) ** 2),
    )


D, D_t, N, A = sympy.symbols("D D_t N A", real=True)


@proof(LABEL, "e <= λ(t−1)/2 D − λt/2 D_t + N/(2λt): unweighted, what one step takes the next gives back, and w_0 drops out")
def telescopes():
    """Bound A by the one-step identity, e <= A − λ/2 D by strong convexity. Σ_{t<=T} keeps −λT/2 D_T and the N/(2λt)."""
    A = lam * t / 2 * (D - D_t) + N / (2 * lam * t)
    right = lam * (t - 1) / 2 * D - lam * t / 2 * D_t + N / (2 * lam * t)
    yield Equation("A solves the one-step identity", D - 2 / (lam * t) * A + N / (lam * t) ** 2, D_t)
    yield Equation("A − λ/2 D", A - lam / 2 * D, right)
    yield Equation("the weight of D_{t−1} at step t is that of D_{t−1} at step t − 1", lam * (t - 1) / 2, lam * before / 2)


@proof(LABEL, "weighted by t, telescoping alone leaves λ/2 Σ t D_t over")
def left_over():
    """D_t appears at step t and at step t + 1. Weight t on w_{t−1}, then weight t on w_t, whose e belongs to step t + 1."""
    taken, given = lam * t / 2, lam * ((t + 1) - 1) / 2
    yield Equation("t on w_{t−1}: t λt/2 is taken, (t+1) λt/2 given", (t + 1) * given - t * taken, lam * t / 2)
    yield Equation("t on w_t: (t−1) λt/2 is taken, t λt/2 given", t * given - (t - 1) * taken, lam * t / 2)


@proof(LABEL, "D_t <= G²/(λ²t) gives itself from t − 1 to t: (1 − 2/t)/(t−1) + 1/t² < 1/t")
def distance_recursion():
    """D_t <= (1 − 2/t) D + G²/(λt)², by A >= λD; t >= 2, so that 1 − 2/t >= 0. At t = 1 the factor of D_0 is −1."""
    yield Equation("A = λD in the one-step identity", D - 2 / (lam * t) * (lam * D), (1 - 2 / t) * D)
    yield Equation("by how much it is less", 1 / t - (1 - 2 / t) / before - 1 / t**2, 1 / (t**2 * before))


@proof(LABEL, "each average is a running one: w̄_t = (1 − α) w̄_{t−1} + α w, with α = 1/t, and 2/(t+1) for the weights t")
def running_averages():
    """So that F(w̄_T) is at most the average of the F, by convexity, one step after another (Jensen)."""
    mean, w = sympy.symbols("wbar w", real=True)
    yield Equation("weights 1, total t", (before * mean + w) / t, (1 - 1 / t) * mean + w / t)
    total = t * (t + 1) / 2
    yield Equation("weights t, total t(t+1)/2", total - t, before * (before + 1) / 2)
    yield Equation("weights t", ((total - t) * mean + t * w) / total, (1 - 2 / (t + 1)) * mean + 2 / (t + 1) * w)


@proof(LABEL, "λw_t = (1 − 1/t) λw_{t−1} − (1/t) g x is minus a mean of the g x, and no mean is longer than the longest")
def bounded_iterates():
    """Lemma 1 times λ. α = 1/t, V = −g x. ‖V‖² <= L²R² where |ℓ'| <= L and ‖x‖ <= R; z3 draws the conclusions."""
    alpha, V = 1 / t, -G[k]
    yield Equation("eq. 3 times λ", lam * (W[k] - (lam * W[k] + G[k]) / (lam * t)), (1 - alpha) * lam * W[k] + alpha * V)
    combined = over_coordinates(((1 - alpha) * X[k] + alpha * V) ** 2)
    ends = (1 - alpha) * over_coordinates(X[k] ** 2) + alpha * over_coordinates(V**2)
    yield Equation(
        "‖(1−α)X + αV‖² = (1−α)‖X‖² + α‖V‖² − α(1−α)‖X − V‖²",
        combined,
        ends - alpha * (1 - alpha) * over_coordinates((X[k] - V) ** 2),
    )
    yield Equation(
        "‖X − V‖² = 2‖X‖² + 2‖V‖² − ‖X + V‖²",
        over_coordinates((X[k] - V) ** 2),
        2 * over_coordinates(X[k] ** 2) + 2 * over_coordinates(V**2) - over_coordinates((X[k] + V) ** 2),
    )


@proof(LABEL, "F(w) − F* <= ‖∇F(w)‖²/(2λ)")
def completed_square():
    """From strong convexity at w* = w + d: F* − F(w) >= ∇F · d + λ/2 ‖d‖², here with G for ∇F and X for d.

    So for the paper's mean of one iterate G²/(2λ) does suffice where G bounds ĝ_2 too. Whether G² h_T/(2λT) then suffices for
    T >= 2 is neither proved nor refuted here.
    """
    yield Equation(
        "∇F · d + λ/2 ‖d‖² = ‖λd + ∇F‖²/(2λ) − ‖∇F‖²/(2λ)",
        over_coordinates(G[k] * X[k]) + lam / 2 * over_coordinates(X[k] ** 2),
        over_coordinates((lam * X[k] + G[k]) ** 2) / (2 * lam) - over_coordinates(G[k] ** 2) / (2 * lam),
    )


PROOFS: tuple[Proof, ...] = (
    one_step,
    strongly_convex,
    telescopes,
    left_over,
    distance_recursion,
    running_averages,
    bounded_iterates,
    completed_square,
)


class Bound(NamedTuple):
    """Claim, z3's formulas for it as a function of a factor that is 1, and a smaller factor at which one must be refuted."""

    claim: str
    formulas: Callable[[Any], dict[str, z3.BoolRef]]
    too_small: Fraction = Fraction(1, 2)

    def check(self) -> Iterator[Entry]:
        proved = {name: violation(formula) for name, formula in self.formulas(1).items()}
        failures = [f"{name}: {numbers}" for name, numbers in proved.items() if numbers is not None]
        failures += [f"{name}: says nothing" for name, it in self.formulas(1).items() if violation(z3.Not(it.arg(0))) is None]
        smaller = [violation(formula) for formula in self.formulas(z3.RealVal(str(self.too_small))).values()]
        refuted = any(numbers is not None for numbers in smaller)
        figure = f"{len(proved)} steps proved by z3, refuted with {self.too_small} of the constant"
        if not refuted:
            failures.append(f"not refuted with {self.too_small} of the constant")
        yield Entry(
            *(LABEL, self.claim, "proved", FOR_ALL, "; ".join(failures) or figure, not failures),
            mutants=1,
            refuted=int(refuted),
        )


lambda_, step, d, d_t, n_t, a, e, G2, h, s = z3.Reals("lambda t D D_t N A e G² h s")
STEP = z3.And(
    *(lambda_ > 0, step >= 1, d >= 0, d_t >= 0, e >= 0),
    d_t == d - 2 * a / (lambda_ * step) + n_t / (lambda_ * step) ** 2,
    a >= e + lambda_ / 2 * d,
    *(e >= lambda_ / 2 * d, n_t <= G2),
)
"""Facts known of step t: the one-step identity, strong convexity at both ends, and that N is at most G²."""

UNIT = G2 / (2 * lambda_)


def near(factor, at=step):
    """G²/(λ²t), what D_t is at most."""
    return factor * G2 / (lambda_**2 * at)


def distance(factor):
    yield "t = 1", z3.Implies(z3.And(STEP, step == 1), d_t <= near(factor))
    yield "t", z3.Implies(z3.And(STEP, step >= 2, d <= near(factor, step - 1)), d_t <= near(factor))


def own_gradients(factor):
    """s is Σ_{j<t} e_j and h stands for Σ_{j<t} N_j/j."""
    at_most = factor * h / (2 * lambda_) - lambda_ * (step - 1) / 2 * d
    after = factor * (h + n_t / step) / (2 * lambda_) - lambda_ * step / 2 * d_t
    yield "t", z3.Implies(z3.And(STEP, s <= at_most), s + e <= after)


def mean_before(factor):
    """s is Σ_{j<t} e_j; e belongs to w_{t−1}. In the last step, T steps were taken and s/T is the mean."""
    at_most = factor * h * UNIT - lambda_ * (step - 1) / 2 * d
    yield "t", z3.Implies(z3.And(STEP, s <= at_most), s + e <= factor * (h + 1 / step) * UNIT - lambda_ * step / 2 * d_t)
    whole = z3.And(STEP, s <= factor * h * UNIT - lambda_ * step / 2 * d_t)
    yield "the mean", z3.Implies(whole, s / step <= factor * G2 * h / (2 * lambda_ * step))


def mean_after(factor):
    """T + 1 steps were taken: s is Σ_{j<=T+1} e_j <= h_{T+1} G²/(2λ) by the proof for w_0, …, w_T, and e that of w_0."""
    whole = z3.And(STEP, s <= h * UNIT)
    yield "the mean", z3.Implies(whole, (s - e) / step <= factor * G2 * h / (2 * lambda_ * step))


def weighted_before(factor):
    """s is Σ_{j<t} j e_j; e belongs to w_{t−1}."""
    yield "t = 1", z3.Implies(z3.And(STEP, step == 1), e <= factor * UNIT - lambda_ / 2 * d_t)
    at_most = factor * (2 * step - 3) * UNIT - lambda_ * (step - 1) ** 2 / 2 * d
    after = factor * (2 * step - 1) * UNIT - lambda_ * step**2 / 2 * d_t
    yield "t", z3.Implies(z3.And(STEP, step >= 2, d <= near(1, step - 1), s <= at_most), s + step * e <= after)
    mean, total = s * 2 / (step * (step + 1)), step * (step + 1)
    yield (
        "the average",
        z3.Implies(z3.And(STEP, s <= (2 * step - 1) * UNIT), mean <= factor * G2 * (2 * step - 1) / (lambda_ * total)),
    )
    yield (
        "rounded up",
        z3.Implies(z3.And(STEP, G2 > 0), G2 * (2 * step - 1) / (lambda_ * total) < 2 * G2 / (lambda_ * (step + 1))),
    )


def weighted_after(factor):
    """s is Σ_{j<t} (j−1) e_j: 0 after step 1, and e, of w_{t−1}, weighs t − 1. At the average, T + 1 steps were taken."""
    at_most = factor * (2 * step - 3 - h) * UNIT - lambda_ * (step - 2) * (step - 1) / 2 * d
    after = factor * (2 * step - 1 - (h + 1 / step)) * UNIT - lambda_ * (step - 1) * step / 2 * d_t
    yield "t", z3.Implies(z3.And(STEP, step >= 2, d <= near(1, step - 1), s <= at_most), s + (step - 1) * e <= after)
    mean, total = s * 2 / (step * (step + 1)), step * (step + 1)
    known = z3.And(STEP, s <= (2 * step + 1 - h) * UNIT)
    yield "the average", z3.Implies(known, mean <= factor * G2 * (2 * step + 1 - h) / (lambda_ * total))
    rounded = G2 * (2 * step + 1 - h) / (lambda_ * total) < 2 * G2 / (lambda_ * (step + 1))
    yield "rounded up", z3.Implies(z3.And(STEP, G2 > 0, h > 1), rounded)


def jensen(factor):
    """F at c = (1−α)u + αv is `s`, at u and v it is `e` and `n_t`; `d` and `d_t` are ∇F(c) · u and ∇F(c) · v."""
    alpha = z3.Real("alpha")
    at_c = (1 - alpha) * d + alpha * d_t
    below = z3.And(alpha >= 0, alpha <= 1, s >= 0, e >= s + d - at_c, n_t >= s + d_t - at_c)
    yield "F(c) <= (1−α) F(u) + α F(v)", z3.Implies(below, s <= factor * ((1 - alpha) * e + alpha * n_t))


def gradient_norm(factor):
    """M is L²R²; `d`, `n_t` are ‖λw_{t−1}‖², ‖g x‖², and `e` is the square that the equations above subtract, >= 0."""
    M, alpha, slope, R2, L2 = z3.Reals("M alpha g R² L²")
    yield "‖g x‖² <= L²R²", z3.Implies(z3.And(slope**2 <= L2, R2 >= 0, n_t >= 0, n_t <= R2), slope**2 * n_t <= L2 * R2)
    known = z3.And(alpha >= 0, alpha <= 1, d <= M, n_t <= M, e >= 0)
    yield "‖λw_t‖² <= L²R²", z3.Implies(known, (1 - alpha) * d + alpha * n_t - alpha * (1 - alpha) * e <= M)
    yield "‖λw_{t−1} + g x‖² <= 4L²R²", z3.Implies(known, 2 * d + 2 * n_t - e <= factor * 4 * M)


def bound(claim: str, steps) -> Bound:
    return Bound(claim, lambda factor: dict(steps(factor)))


BOUNDS = (
    bound("‖ĝ_t‖² <= 4L²R² for every t, where |ℓ'| <= L and ‖[x, 1]‖ <= R", gradient_norm),
    bound("E‖w_t − w*‖² <= G²/(λ²t) for t >= 1", distance),
    bound("F of an average is at most the average of the F", jensen),
    bound("the mean of w_0, …, w_{T−1}: E F − F* <= (1/T) Σ_t E‖ĝ_t‖²/(2λt)", own_gradients),
    bound("the mean of w_0, …, w_{T−1}: E F − F* <= G² h_T/(2λT)", mean_before),
    bound("the paper's mean, of w_1, …, w_T: E F − F* <= G² h_{T+1}/(2λT), where G bounds ĝ_{T+1} too", mean_after),
    bound("w_{t−1} weighted by t: E F − F* <= G² (2T−1)/(λT(T+1)) < 2G²/(λ(T+1))", weighted_before),
    bound(
        "w_t weighted by t: E F − F* <= G² (2T+1−h_{T+1})/(λT(T+1)) < 2G²/(λ(T+1)), where G bounds ĝ_{T+1} too", weighted_after
    ),
)


def slopes() -> Iterator[Entry]:
    """Prove the slope bound of each loss that has one, and refute half of it; without one, even 1 must be refuted."""
    for name, loss in LOSSES.items():
        bound, refutations = loss.slope_bound or 1, []
        for factor in (1, Fraction(1, 2)):
            within = []
            for label in labels(loss):
                read = Reading(loss, label)
                slope, at_most = read.shipped(loss.derivative, p, label), to_z3(sympy.nsimplify(factor * bound))
                within.append(z3.Implies(read.known, z3.And(slope >= -at_most, slope <= at_most)))
            refutations.append(violation(z3.And(within)))
        numbers, refuted = refutations[0], refutations[1] is not None
        figure = f"not at {numbers}" if numbers else "proved by z3, on the shipped code; half of it is refuted"
        claim = f"|ℓ'| <= {bound}, so that G = {2 * bound} max ‖[x_i, 1]‖ will do"
        yield Entry(
            LABEL,
            claim,
            "proved",
            "for all real p",
            figure,
            numbers is None and refuted,
            loss=name,
            expected=loss.slope_bound is not None,
            mutants=1,
            refuted=int(refuted),
        )


class Small(NamedTuple):
    """Problem with one feature and a bias, small enough to run every sequence of 1, …, `steps` indices that there is."""

    rows: list[int]
    y: list[int]
    loss: str
    lam: Fraction
    steps: int

    @property
    def problem(self) -> Problem:
        rows = np.array([[Fraction(x)] for x in self.rows], dtype=object)
        return Problem(rows, [Fraction(label) for label in self.y], self.loss, self.lam)


SMALL = {
    "opposed": Small([0, 0], [1, -1], "hinge", Fraction(1, 4), 5),
    "agreed": Small([2, 1], [1, 1], "hinge", Fraction(4), 5),
    "overshot": Small([9, 9], [1, 1], "hinge", Fraction(1), 5),
    "three": Small([1, 0, -2], [1, -1, -1], "hinge", Fraction(1), 4),
    "median": Small([0, 0, 0], [-1, 0, 1], "absolute", Fraction(1, 2), 4),
    "line": Small([-1, 0, 2], [-1, 1, 2], "absolute", Fraction(1), 4),
    "squares": Small([1, -3], [0, 1], "squared", Fraction(1, 2), 5),
}
"""Integers, so that predictions fall on the kinks."""


def certified_minimum(problem: Problem) -> tuple[Predictor, Fraction]:
    """Return the minimiser and a lower bound on F*, which is F* itself if the duality gap is 0.

    z3 solves 0 ∈ ∂F(w): w = −Σ g_i x_i/(λm), g_i a subderivative at p_i. The bound is the dual of F at g, which is at most F*
    whatever g may be, within the slopes of the loss: −λ/2 ‖w‖² − (1/m) Σ ℓ*(g_i, y_i).
    """
    m, lam, loss, y = problem.m, problem.lam, problem.loss, problem.y
    if loss.conjugate is None:
        raise ValueError(f"loss must have a conjugate; got {loss.name!r}")
    number = z3.Reals(" ".join(f"g{i}" for i in range(m)))
    rows = [[*problem.X.dense(i), Fraction(1)] for i in range(m)]
    solver = z3.Solver()
    for i in range(m):
        p = sum(-(_dot(rows[i], rows[j]) / (lam * m)) * number[j] for j in range(m))
        if loss.kink is None:
            solver.add(number[i] == as_formula(loss.derivative, p, y[i]))
            continue
        kink = loss.kink(y[i])
        left, right = (loss.derivative(kink + side, y[i]) for side in (-1, 1))
        on_a_branch = z3.Or(z3.And(p <= kink, number[i] == left), z3.And(p >= kink, number[i] == right))
        solver.add(z3.Or(on_a_branch, z3.And(p == kink, number[i] >= left, number[i] <= right)))
    if solver.check() != z3.sat:
        raise ArithmeticError("z3 finds no minimiser")
    g = [solver.model().eval(each, model_completion=True).as_fraction() for each in number]
    wb = [-sum(g[i] * rows[i][j] for i in range(m)) / (lam * m) for j in range(problem.n + 1)]
    conjugates = [loss.conjugate(g[i], y[i]) for i in range(m)]
    return Predictor(np.array(wb[:-1], dtype=object), wb[-1]), -lam / 2 * _dot(wb, wb) - sum(conjugates) / m


def _dot(left, right):
    return sum(one * other for one, other in zip(left, right, strict=True))


class Expected(NamedTuple):
    """E ‖ĝ_T‖², E ‖ĝ_{T+1}‖², E ‖w_T − w*‖² and E F − F* of the averages over all m^T sequences; the longest ĝ_T, and ties."""

    N: Fraction
    N_next: Fraction
    D: Fraction
    means: tuple[Fraction, ...]
    longest: Fraction
    ties: int


AVERAGES = ((0, lambda t: 1), (1, lambda t: 1), (0, lambda t: t), (1, lambda t: t))
"""For each average its first iterate, w_0 or w_1, and the weight of the t-th, t = 1, …, T."""


@cache
def expected(name: str, T: int) -> Expected:
    problem = SMALL[name].problem
    m, lam, zero = problem.m, problem.lam, Fraction(0)
    best, lowest = certified_minimum(problem)
    star, N, N_next, D, longest, ties = np.append(best.w, best.b), zero, zero, zero, zero, 0
    means = [zero] * len(AVERAGES)
    for indices in product(range(m), repeat=T):
        steps = list(iterates(problem, indices))
        w = [0 * star, *(np.append(step.predictor.w, step.predictor.b) for step in steps)]
        N += _square(lam * T * (w[T - 1] - w[T]))
        longest = max(longest, _square(lam * T * (w[T - 1] - w[T])))
        next_ones = (problem.stochastic_gradient(steps[-1].predictor, i) for i in range(m))
        N_next += sum((_square(np.append(*each)) for each in next_ones), zero) / m
        D += _square(w[T] - star)
        kink = problem.loss.kink
        ties += int(kink is not None and steps[-1].p == kink(problem.y[indices[-1]]))
        for place, (first, weight) in enumerate(AVERAGES):
            omega = [weight(t) for t in range(1, T + 1)]
            mean = _dot(omega, w[first : first + T]) / sum(omega)
            means[place] += problem.objective(Predictor(mean[:-1], mean[-1])) - lowest
    return Expected(N / m**T, N_next / m**T, D / m**T, tuple(each / m**T for each in means), longest, ties)


def _square(vector) -> Fraction:
    return vector @ vector


def harmonic(T: int) -> Fraction:
    return sum((Fraction(1, t) for t in range(1, T + 1)), Fraction(0))


def shares(name: str, T: int) -> dict[str, Fraction]:
    """Compute the bounded quantity as a share of its bound; G² is the largest of the E‖ĝ_t‖² that the bound needs."""
    lam, bound = SMALL[name].lam, LOSSES[SMALL[name].loss].slope_bound
    so_far = [expected(name, t) for t in range(1, T + 1)]
    N, now = [each.N for each in so_far], so_far[-1]
    G2_T, G2_next, h_T, h_next = max(N), max(*N, now.N_next), harmonic(T), harmonic(T + 1)
    norm, D, _, own, mean, papers, weighted, papers_weighted = (each.claim for each in BOUNDS)
    found = {
        norm: now.longest / (4 * (bound or 1) ** 2 * max(x * x + 1 for x in SMALL[name].rows)),
        D: now.D / (G2_T / (lam**2 * T)),
        own: now.means[0] / (sum(N_t / t for t, N_t in enumerate(N, start=1)) / (2 * lam * T)),
        mean: now.means[0] / (G2_T * h_T / (2 * lam * T)),
        papers: now.means[1] / (G2_next * h_next / (2 * lam * T)),
        weighted: now.means[2] / (G2_T * (2 * T - 1) / (lam * T * (T + 1))),
        papers_weighted: now.means[3] / (G2_next * (2 * T + 1 - h_next) / (lam * T * (T + 1))),
    }
    if bound is None:
        del found[norm]
    return found


def exhaust(name: str) -> Iterator[Entry]:
    """Every bound on one small problem, at every T."""
    small, problem = SMALL[name], SMALL[name].problem
    best, lowest = certified_minimum(problem)
    certain = problem.objective(best) == lowest
    by_step = [shares(name, T) for T in range(1, small.steps + 1)]
    ties = sum(expected(name, T).ties for T in range(1, small.steps + 1))
    for claim in by_step[0]:
        worst = max(share[claim] for share in by_step)
        at = 1 + [share[claim] for share in by_step].index(worst)
        tied = f", {ties} predictions on a kink" if ties else ""
        figure = f"at most {float(worst):.3f} of the bound, at T = {at}; F* = {lowest}{tied}"
        evidence = f"exhaustive over {problem.m}^T sequences, T = 1, …, {small.steps}"
        holds = certain and worst <= 1
        yield Entry(LABEL, claim, "exact", evidence, figure, holds, name, loss=small.loss, value=float(worst), bound=1.0)


def too_small() -> Iterator[Entry]:
    """Return the same checks with half of each constant: each must find a problem that violates it."""
    for claim in shares("opposed", 1):
        found = ((name, T, 2 * shares(name, T).get(claim, 0)) for name in SMALL for T in range(1, SMALL[name].steps + 1))
        name, T, share = next((each for each in found if each[2] > 1), ("", 0, 0))
        figure = f"{float(share):.3f} of it at T = {T}" if name else "no problem violates it"
        yield Entry(LABEL, f"with half the constant: {claim}", "exact", "exhaustive", figure, not name, name, expected=False)


def classical() -> Iterator[Entry]:
    """Check the bound with h_T for a mean with w_0 and without w_T; T = 1, both rows 0, labels 1 and −1, λ = 1/4."""
    small, run = SMALL["opposed"], expected("opposed", 1)
    at_most, share = run.N / (2 * small.lam), shares("opposed", 1)[BOUNDS[5].claim]
    figure = f"b_1 = ±4: E F(w_1) − F* = {run.means[1]} > {at_most} = G²/(2λ), G² = {run.N}"
    claim = "the paper's mean: E F − F* <= G² h_T/(2λT), where G bounds ĝ_1, …, ĝ_T"
    yield Entry(LABEL, claim, "exact", "T = 1", figure, run.means[1] <= at_most, "opposed", loss="hinge", expected=False)
    with_h = run.N * harmonic(2) / (2 * small.lam)
    claim = "the paper's mean: E F − F* <= G² h_{T+1}/(2λT), where G bounds ĝ_1, …, ĝ_T only"
    figure = f"{run.means[1]} > {with_h}; but E‖ĝ_2‖² = {run.N_next}, and with that G² it is {float(share):.3f} of the bound"
    yield Entry(LABEL, claim, "exact", "T = 1", figure, run.means[1] <= with_h, "opposed", loss="hinge", expected=False)


def one_run(name: str = "squares") -> Iterator[Entry]:
    """Check the squared loss, which has no L: the longest ĝ_t of a run for G, against the sum of the expected ones."""
    small, problem = SMALL[name], SMALL[name].problem
    T = small.steps
    excess, too_low = expected(name, T).means[0], 0
    for indices in product(range(problem.m), repeat=T):
        w = [np.array([Fraction(0)] * 2, dtype=object)]
        w += [np.append(step.predictor.w, step.predictor.b) for step in iterates(problem, indices)]
        G2 = max(_square(small.lam * t * (w[t - 1] - w[t])) for t in range(1, T + 1))
        too_low += G2 * harmonic(T) / (2 * small.lam * T) < excess
    claim = "the longest ĝ_t of one run will do for G"
    figure = f"{too_low} of {problem.m**T} runs give less than E F − F*: use (1/T) Σ_t E‖ĝ_t‖²/(2λt)"
    yield Entry(LABEL, claim, "exact", f"exhaustive, T = {T}", figure, too_low == 0, name, loss=small.loss, expected=False)


def jobs() -> list[Job]:
    return [
        *jobs_of(*PROOFS),
        *(Job((LABEL,), f"inequality: {each.claim}", each.check) for each in BOUNDS),
        Job((LABEL,), "slopes of the losses", slopes),
        *(Job((LABEL,), f"all sequences: {name}", partial(exhaust, name)) for name in SMALL),
        *(Job((LABEL,), f"guarantee: {each.__name__}", each) for each in (too_small, classical, one_run)),
    ]
