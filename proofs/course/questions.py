"""Ask the small questions of the exercises; each holds the right answer and common wrong ones, with their sentences."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import accumulate, product
from types import FunctionType
from typing import Any

import numpy as np
import scipy.sparse as sp
import sympy

from reference import LOSSES, Problem, draw_indices, iterates
from reference.datasets import make_generic

from ..conformance.faults import FAULTS, SLIPS, WRONG_DERIVATIVES
from ..proved.symbols import g, gradient_step, h, lam, t, u, v, w, x
from .apart import with_globals
from .formulas import agrees, equals, numbers, shown
from .marking import Wrong

REAL = [(p, y) for p in (-3, -1, 0, 0.5, 1, 2.5) for y in (-2, 0, 1.5)]
SIGNS = [(p, y) for p in (-3, -1, -0.5, 0, 0.5, 1, 1.5, 3) for y in (-1, 1)]
FAR = [(p, y) for p in (-1000.0, -50.0, 0.0, 50.0, 1000.0) for y in (-1, 1)]


def values(absolute: Callable, squared: Callable, hinge: Callable, log: Callable) -> None:
    """Check the four losses of Table 1, functions of p and y."""
    known: dict[str, Callable] = {
        "|p − y| is never negative": lambda p, y: p - y,
        "this is the squared loss without its half; the absolute loss has no square": lambda p, y: (p - y) ** 2,
        "the sign is wrong: a loss is never negative": lambda p, y: -abs(p - y),
        "the label is subtracted, not added": lambda p, y: abs(p + y),
    }
    agrees(absolute, LOSSES["absolute"].value, REAL, known)
    known = {
        "the half is missing": lambda p, y: (p - y) ** 2,
        "the square is missing": lambda p, y: (p - y) / 2,
        "the sign is wrong: a loss is never negative": lambda p, y: -((p - y) ** 2) / 2,
        "the label is subtracted, not added": lambda p, y: (p + y) ** 2 / 2,
        "the half is a factor 2": lambda p, y: 2 * (p - y) ** 2,
        "this is the derivative, p − y": lambda p, y: p - y,
        "this is half of the absolute loss": lambda p, y: abs(p - y) / 2,
        "the label is left out": lambda p, y: p**2 / 2,
        "the prediction is left out": lambda p, y: y**2 / 2,
    }
    agrees(squared, LOSSES["squared"].value, REAL, known)
    known = {
        "the hinge is squared": lambda p, y: max(1 - p * y, 0) ** 2,
        "the hinge has its kink at a margin of 0, as the perceptron's loss has, not at 1": lambda p, y: max(-p * y, 0),
        "beyond the kink the hinge is 0, not negative": lambda p, y: 1 - p * y,
        "the hinge falls with the margin p y, it does not rise": lambda p, y: max(1 + p * y, 0),
        "it is the larger of the two, max, not min": lambda p, y: min(1 - p * y, 0),
        "the label is left out of the margin p y": lambda p, y: max(1 - p, 0),
        "the hinge has its kink at a margin of 2, not at 1": lambda p, y: max(2 - p * y, 0),
        "the margin is the product p y, not the sum": lambda p, y: max(1 - p + y, 0),
        "the margin is counted twice": lambda p, y: max(1 - 2 * p * y, 0),
        "the hinge is halved": lambda p, y: max(1 - p * y, 0) / 2,
        "the prediction is left out of the margin p y": lambda p, y: max(1 - y, 0),
        "the margin is subtracted from 1, not 1 from the margin": lambda p, y: max(p * y - 1, 0),
        "beyond the kink the hinge is 0, not 1": lambda p, y: max(1 - p * y, 1),
    }
    agrees(hinge, LOSSES["hinge"].value, SIGNS, known)
    known = {
        "this is the log-loss for labels 0 and 1; here they are −1 and 1": lambda p, y: math.log1p(math.exp(p)) - y * p,
        "the logarithm is the natural one, not to the base 2": lambda p, y: math.log2(1 + math.exp(-p * y)),
        "the sign of the exponent is wrong: the loss falls with the margin p y": lambda p, y: math.log1p(math.exp(p * y)),
        "the label is left out of the margin p y": lambda p, y: math.log1p(math.exp(-p)),
        "the 1 is missing: log(e^{−py}) is −py": lambda p, y: -p * y,
        "the sign is wrong: a loss is never negative": lambda p, y: -math.log1p(math.exp(-p * y)),
        "it is 1 + e^{−py}, not 1 − e^{−py}": lambda p, y: math.log(max(1 - math.exp(-p * y), 1e-300)),
        "it is 1 + e^{−py}, not 2 + e^{−py}": lambda p, y: math.log(2 + math.exp(-p * y)),
        "the part max(−py, 0) is missing, without which the rest is right for positive margins only": lambda p, y: math.log1p(
            math.exp(-abs(p * y))
        ),
        "the prediction is left out of the margin p y": lambda p, y: math.log1p(math.exp(-y)),
        "1 is added to the loss": lambda p, y: 1 + math.log1p(math.exp(-p * y)),
        "this is what the loss tends to far from 0; near 0 it is larger": lambda p, y: max(-p * y, 0),
        "the logarithm is missing": lambda p, y: 1 + math.exp(-p * y),
        "e needs −|py| in its power": lambda p, y: max(-p * y, 0) + math.log1p(math.exp(abs(p * y))),
    }
    agrees(log, LOSSES["log"].value, SIGNS, known)


def derivatives(**asked: Callable) -> None:
    """Check derivatives of the losses that are named, functions of p and y, at the kinks too."""
    for loss, derivative in asked.items():
        right = LOSSES[loss].derivative
        wrong = {
            fault: formulas[loss] for fault, formulas in WRONG_DERIVATIVES.items() if loss in formulas and fault not in SLIPS
        }
        known: dict[str, Callable] = {}
        for fault, formula in wrong.items():
            if "overflow" not in fault:  # asked for in `log_far_away`
                known[f"{FAULTS[fault]} [{fault}]"] = partial(_with, formula, right)
        if loss in DERIVATIVES_BY_Y:
            known["this is the derivative with respect to y; it must be the one with respect to p"] = DERIVATIVES_BY_Y[loss]
        known["this is the loss itself, not its derivative"] = LOSSES[loss].value
        known |= OTHER_WRONG_DERIVATIVES.get(loss, {})
        agrees(derivative, right, REAL if loss in ("absolute", "squared") else SIGNS, known)


def _with(formula: Callable, right: Callable, p: float, y: float) -> float:
    return formula(p, y, right)


DERIVATIVES_BY_Y: dict[str, Callable] = {  # those of the others differ from the right one in their sign only
    "hinge": lambda p, y: -p if p * y <= 1 else 0,
    "log": lambda p, y: -p / (1 + math.exp(p * y)),
}


OTHER_WRONG_DERIVATIVES: dict[str, dict[str, Callable]] = {
    "squared": {"the label is left out": lambda p, y: p, "the prediction is left out": lambda p, y: -y},
    "log": {
        "the denominator is without its e^{−|py|}": lambda p, y: -y * min(1, math.exp(-p * y)),
        "the denominator is without its 1": lambda p, y: -y * max(1, math.exp(-p * y)),
    },
}


def below(**mine: tuple[Callable, Callable]) -> None:
    """Check that the derivatives are subderivatives of the values: lines with these slopes are nowhere above the loss."""
    for loss, (value, derivative) in mine.items():
        for (p, y), (other, _) in product(SIGNS, SIGNS):
            line = value(p, y) + derivative(p, y) * (other - p)
            if not line <= value(other, y) + 1e-12:
                raise Wrong(f"{loss}: the line with your slope at p = {p}, y = {y} is above the loss at p = {other}")


def log_far_away(log: Callable, log_derivative: Callable) -> None:
    """Check the log-loss where e to the power of the margin overflows."""
    for mine, right in ((log, LOSSES["log"].value), (log_derivative, LOSSES["log"].derivative)):
        try:
            agrees(mine, right, FAR)
        except OverflowError as error:
            raise Wrong(f"e to a large power overflows ({error}): let no power of e be above 0") from None


def unshrunk(answer: Callable) -> None:
    """Check a function of w_t, λ and t: a multiple of w_t that a step of eq. 3 changes only where its row is not 0."""
    data, lam = make_generic(m=6, n=5, k=2, seed=0), 0.25
    indices = draw_indices(6, 8, rng=0)
    before = np.zeros(5)
    for step in iterates(Problem(data.X, data.y, "squared", lam), indices):
        w = step.predictor.w
        found = numbers(answer(w.copy(), lam, step.t))
        largest = np.argmax(abs(w))
        if found is None or found.shape != w.shape or not np.allclose(found * w[largest], found[largest] * w, rtol=1e-9):
            raise Wrong(f"it must be a multiple of w: w times one number; of w = {shown(w)} it is {shown(found)}")
        if not found[largest]:
            raise Wrong("it is 0 times w, from which w cannot be had back")
        row = data.X[[indices[step.t - 1]]].toarray()[0]
        changed = np.flatnonzero((row == 0) & ~np.isclose(found, before, rtol=1e-9, atol=0))
        if len(changed):
            raise Wrong(
                f"a step still shrinks it: step {step.t} makes {before[changed[0]]:.6g} to {found[changed[0]]:.6g} in column "
                f"{changed[0]}, where its row is 0. Eq. 3 multiplies w by (t - 1)/t there: which multiple undoes that?"
            )
        before = found


def objective(objective: Callable) -> None:
    """Check F (eq. 1, eqn:objective), a function of w, b, the rows, the labels, the value of the loss, and λ."""
    rows, y = np.array([[1.0, 0.0], [2.0, -1.0], [0.0, 0.5]]), np.array([1.0, -1.0, 1.0])
    asked = [(np.array([0.5, -1.0]), b, rows, y, LOSSES[loss].value, 0.25) for b in (0.0, 2.0) for loss in ("squared", "hinge")]

    def F(w, b, rows, y, value, lam, half=0.5, bias=1, share=1 / 3):
        return half * lam * (w @ w + bias * b * b) + share * sum(map(value, rows @ w + b, y))

    known: dict[str, Callable] = {
        "λ/2 multiplies ‖w‖² + b², it is not divided by it": lambda w, b, rows, y, value, lam: (
            F(w, b, rows, y, value, 0) + lam / 2 / (w @ w + b * b)
        ),
        "the half before λ is missing": partial(F, half=1),
        "the bias is regularised too: b² is in F": partial(F, bias=0),
        "the losses are averaged over the rows, not summed": partial(F, share=1),
        "λ is missing": lambda w, b, rows, y, value, lam: F(w, b, rows, y, value, 1),
        "the losses are left out": partial(F, share=0),
        "λ and what it multiplies are left out": partial(F, half=0),
        "the prediction lacks the bias": lambda w, b, rows, y, value, lam: F(w, 0, rows, y, value, lam) + lam / 2 * b * b,
        "the losses are divided by the number of columns; it must be that of the rows": partial(F, share=1 / 2),
        "λ/2 multiplies the norm squared, not the norm": lambda w, b, rows, y, value, lam: (
            F(w, b, rows, y, value, 0) + lam / 2 * math.sqrt(w @ w + b * b)
        ),
        "λ/2 multiplies ‖w‖² and b², both squared: b is there without its square": lambda w, b, rows, y, value, lam: (
            F(w, b, rows, y, value, lam) + lam / 2 * (b - b * b)
        ),
        "the sum of the losses is subtracted": partial(F, share=-1 / 3),
        "the bias is subtracted in the prediction": lambda w, b, rows, y, value, lam: F(w, -b, rows, y, value, lam),
    }
    agrees(objective, F, asked, known)


def recover(recover: Callable) -> None:
    """Check Lemma 1: the predictor [w_t, b_t] as a function of v_t, a_t, λ and t."""
    vectors = [(np.array([2.0, -1.0, 0.0]), -3.0), (np.array([0.5]), 1.0)]
    asked = [(v, a, lam, t) for v, a in vectors for lam in (0.25, 2.0) for t in (2, 3, 7)]

    def divided_by(divisor):
        return lambda v, a, lam, t: (v / divisor(lam, t), a / divisor(lam, t))

    known: dict[str, Callable] = {
        "the sign is wrong: the step goes down the gradient": divided_by(lambda lam, t: lam * t),
        "after step t it is t, not t − 1": divided_by(lambda lam, t: -lam * (t - 1)),
        "λ is missing": divided_by(lambda lam, t: -t),
        "t is missing": divided_by(lambda lam, t: -lam),
        "λ t divides, it does not multiply": divided_by(lambda lam, t: -1 / (lam * t)),
        "λ and t are missing": divided_by(lambda lam, t: -1),
        "after step t it is t, not t + 1": divided_by(lambda lam, t: -lam * (t + 1)),
        "λ divides, it does not multiply": divided_by(lambda lam, t: -t / lam),
        "t divides, it does not multiply": divided_by(lambda lam, t: -lam / t),
        "the bias has the wrong sign: it comes from a as w does from v": lambda v, a, lam, t: (-v / (lam * t), a / (lam * t)),
        "the weights have the wrong sign": lambda v, a, lam, t: (v / (lam * t), -a / (lam * t)),
        "the bias is divided by λ t too": lambda v, a, lam, t: (-v / (lam * t), -a),
        "bias and weights are swapped": lambda v, a, lam, t: (-a / (lam * t), -v / (lam * t)),
    }
    agrees(recover, divided_by(lambda lam, t: -lam * t), asked, known)


def tail(tail: Callable) -> None:
    """Check 1/i + … + 1/t, a function of i, t and the list of harmonic numbers."""
    h = [Fraction(0), *accumulate(Fraction(1, j) for j in range(1, 13))]
    asked = [(i, t, h) for t in (1, 2, 5, 12) for i in range(1, t + 1)]
    known: dict[str, Callable] = {
        "1/i belongs to it: only what comes before is subtracted": lambda i, t, h: h[t] - h[i],
        "the terms before 1/i are in it: subtract them": lambda i, t, h: h[t],
        "1/(i − 1) does not belong to it": lambda i, t, h: h[t] - h[max(i - 2, 0)],
        "what is subtracted is h_{i−1}; before the list's beginning Python counts from its end": lambda i, t, h: (
            h[t] - h[i - 2]
        ),
        "1/t belongs to it": lambda i, t, h: h[t - 1] - h[i - 1],
        "it is a difference, not a sum": lambda i, t, h: h[t] + h[i - 1],
        "the sign is wrong: the larger number comes first": lambda i, t, h: h[i - 1] - h[t],
        "it is a difference of two harmonic numbers, not the one of t − i": lambda i, t, h: h[t - i],
        "1/(t + 1) does not belong to it": lambda i, t, h: h[min(t + 1, len(h) - 1)] - h[i - 1],
    }
    agrees(tail, lambda i, t, h: sum(Fraction(1, j) for j in range(i, t + 1)), asked, known)


def centre(centre: Callable) -> None:
    """Check (x̄, θ), a function of the sparse rows and of `zeros`."""
    matrices = ([[1.0, 0.0], [3.0, 0.0], [0.0, 4.0], [0.0, 0.0]], [[0.5, 2.0, 0.0], [0.0, -1.0, 0.0]])

    def right(X, zeros, one=1):
        mean = X.toarray().mean(axis=0)
        return mean, one + mean @ mean

    def of_divisor(X, divisor):
        mean = X.toarray().sum(axis=0) / divisor
        return mean, 1 + mean @ mean

    def of_stored(X, zeros):
        mean = X.toarray().sum(axis=0) / np.maximum(1, (X.toarray() != 0).sum(axis=0))
        return mean, 1 + mean @ mean

    known: dict[str, Callable] = {
        "the mean of a column is over all m rows, not over those that store it": of_stored,
        "θ is without its 1": lambda X, zeros: right(X, zeros, one=0),
        "θ needs the square of the norm": lambda X, zeros: (right(X, zeros)[0], 1 + math.sqrt(right(X, zeros)[1] - 1)),
        "θ is 1 plus the squared norm of the mean; here it is 1 minus it": lambda X, zeros: (
            right(X, zeros)[0],
            2 - right(X, zeros)[1],
        ),
        "θ is made of the sum of the rows, not of their mean": lambda X, zeros: (
            right(X, zeros)[0],
            1 + X.shape[0] ** 2 * (right(X, zeros)[1] - 1),
        ),
        "the sum of the rows is not divided by m": lambda X, zeros: of_divisor(X, 1),
        "the sum of the rows is divided by the number of columns, not of rows": lambda X, zeros: of_divisor(X, X.shape[1]),
        "the sum of the rows is divided by m − 1": lambda X, zeros: of_divisor(X, X.shape[0] - 1),
        "the sum of the rows is divided by m + 1": lambda X, zeros: of_divisor(X, X.shape[0] + 1),
        "the sum of the rows is multiplied by m, not divided": lambda X, zeros: of_divisor(X, 1 / X.shape[0]),
        "θ is 1 plus the sum of the mean's entries; it needs their squares": lambda X, zeros: (
            right(X, zeros)[0],
            1 + right(X, zeros)[0].sum(),
        ),
    }
    agrees(centre, right, [(sp.csr_array(np.array(rows)), np.zeros) for rows in matrices], known)


def lemma(lemma: FunctionType) -> None:
    """Check the induction of Lemma 1, a function that gives w_{t−1} from v_{t−1}, w_t by the step, and v_t."""
    assumed, after, v_t = lemma()
    right = -v / (lam * (t - 1))
    known = {
        "before step t there were t − 1 steps": -v / (lam * t),
        "the sign is wrong: the predictor is minus the gradient sum, scaled": -right,
        "w is what is to be replaced: write it with v": w,
        "λ is missing": -v / (t - 1),
        "t − 1 is missing": -v / lam,
        "before step t there were t − 1 steps, not t + 1": -v / (lam * (t + 1)),
        "t − 1 divides, it does not multiply": -v * (t - 1) / lam,
        "λ divides, it does not multiply": -v * lam / (t - 1),
        "λ (t − 1) divides, it does not multiply": -v * lam * (t - 1),
        "this is minus the gradient sum, which is still to be divided by λ (t − 1)": -v,
        "λ and t are left out, and so is the sign": v,
        "this is the predictor after the step": -(v + g * x) / (lam * t),
    }
    equals(assumed, right, known)
    known = {
        "v is a sum of gradients as they are; the predictor is scaled when it is recovered": v - g * x / (lam * t),
        "v is a sum, it does not shrink": (1 - 1 / t) * v + g * x,
        "v grows by the gradient, it does not fall": v - g * x,
        "the new gradient is missing": v,
        "the gradient is g times the row: x is missing": v + g,
        "the gradient is g times the row: g is missing": v + x,
    }
    equals(v_t, v + g * x, known)
    known = {
        "the step shrinks what was there, by 1 − 1/t": right - g * x / (lam * t),
        "the step goes down the gradient": (1 - 1 / t) * right + g * x / (lam * t),
        "the step is 1/(λt) long: λ is missing": (1 - 1 / t) * right - g * x / t,
        "the step shrinks by 1 − 1/t, not 1/t": right / t - g * x / (lam * t),
        "the step's gradient is missing": (1 - 1 / t) * right,
        "w is what is to be replaced: the step starts from `assumed`": gradient_step(w, g, x, t),
    }
    equals(after, gradient_step(right, g, x, t), known)
    # at t = 1 there is no w_{t−1} to step from; the lemma's end, written down, is there all the same
    if with_globals(lemma, t=sympy.Integer(1))()[1].is_finite:
        raise Wrong("this is what the lemma claims, and is to be proved: let the step make it of `assumed`, unsimplified")


def trick(h_t: Any, u_t: Any, growth: Any) -> None:
    """Check the induction of the harmonic trick: h_t, u_t, and D_t − D_{t−1} for D = h v − u."""
    known = {
        "h_{t−1} has t − 1 terms; the t-th is 1/t": h + 1 / (t - 1),
        "1/t is missing": h,
        "1/t is added, not subtracted": h - 1 / t,
        "the t-th term is 1/t, not 1/(t + 1)": h + 1 / (t + 1),
        "the t-th term is 1/t, not t": h + t,
        "the terms before it are missing": 1 / t,
    }
    equals(h_t, h + 1 / t, known)
    known = {
        "u is updated after h has grown: it must take h_{t−1}": u + (h + 1 / t) * g * x,
        "u adds the gradient times h_{t−1}": u + g * x,
        "u grows by the term, it does not fall": u - h * g * x,
        "the gradient is g times the row: x is missing": u + h * g,
        "the gradient is g times the row: g is missing": u + h * x,
        "u adds the gradient of this step, not the sum of all": u + h * v,
        "u keeps what it was": h * g * x,
        "the new term is missing": u,
        "the new term is h_{t−1} times the gradient, not the gradient divided by it": u + g * x / h,
        "the new term is subtracted, and u is not": -u + h * g * x,
    }
    equals(u_t, u + h * g * x, known)
    known = {
        "the term of step t is v_t/t, and v_t has the new gradient in it": v / t,
        "the term of step t is v_t/t, not v_t/(t − 1)": (v + g * x) / (t - 1),
        "the term of step t is v_t/t: it is not divided by t": v + g * x,
        "v grows by the gradient": (v - g * x) / t,
        "v grows by g times the row: g is missing": (v + x) / t,
        "v grows by g times the row: x is missing": (v + g) / t,
        "v grows by g times the row, not by their quotient": (v + g / x) / t,
        "all of v_t is divided by t, not the new gradient alone": v + g * x / t,
        "the term of step t is all of v_t/t, not the new gradient alone": g * x / t,
        "the sign is wrong": -(v + g * x) / t,
        "the term of step t is v_t/t, not v_t/(t + 1)": (v + g * x) / (t + 1),
        "t divides, it does not multiply": (v + g * x) * t,
    }
    equals(growth, (v + g * x) / t, known)


def slip(off: Any) -> None:
    """Check the error of Σ w_j if u takes h_t in step t."""
    known = {
        "theirs minus the right one, not the other way": -g * x / (lam * t),
        "the sum is scaled by −1/λ: λ is missing": g * x / t,
        "h_t exceeds h_{t−1} by 1/t: t is missing": g * x / lam,
        "h_t exceeds h_{t−1} by 1/t, not by 1/(t − 1)": g * x / (lam * (t - 1)),
        "the sum is scaled by −1/λ, not by −λ": g * x * lam / t,
        "λ t divides, it does not multiply": g * x * lam * t,
        "the gradient is g times the row: x is missing": g / (lam * t),
        "this is theirs; how far is it off?": -((h + 1 / t) * (v + g * x) - u - (h + 1 / t) * g * x) / lam,
        "there is a difference": 0,
    }
    equals(off, g * x / (lam * t), known)


def slip_at_first(first: Any) -> None:
    """Check Σ w_j after step 1 if u takes h_1 in it."""
    known = {
        "this is the right sum, not theirs": -g * x / lam,
        "this is how far theirs is off; what is it?": g * x / lam,
        "t is 1 in the first step": g * x / (lam * t),
    }
    equals(first, 0, known)


def nearer(nearer: Callable) -> None:
    """Count for how many draws a scheme is nearer to the minimum than the last iterate, and than the paper's mean.

    The numbers asked about are made up, so that the answer of one measurement is no answer.
    """

    def counted(measured, place=-1, below=np.less, of=("last", "uniform"), mine=None):
        own = measured["yours"][:, place if mine is None else mine]
        return tuple(int(below(own, measured[name][:, place]).sum()) for name in of)

    rng = np.random.default_rng(0)
    asked = [({name: rng.integers(1, 9, (10, 4)) / 8 for name in ("last", "uniform", "yours")},) for _ in range(5)]
    known: dict[str, Callable] = {
        "after the last of the passes, not after the first": partial(counted, place=0),
        "after the last of the passes, not after the second": partial(counted, place=1),
        "after the last of the passes, not after the one before": partial(counted, place=-2),
        "after the last of the passes, not after all of them": lambda measured: tuple(
            int((measured["yours"] < measured[name]).sum()) for name in ("last", "uniform")
        ),
        "nearer to the minimum is where F − F* is smaller": partial(counted, below=np.greater),
        "nearer is smaller; equal is not nearer": partial(counted, below=np.less_equal),
        "nearer is smaller, not larger or equal": partial(counted, below=np.greater_equal),
        "yours is taken after the pass before the last, the others after the last": partial(counted, mine=-2),
        "yours is taken after the second pass, the others after the last": partial(counted, mine=1),
        "yours is taken after the first pass, the others after the last": partial(counted, mine=0),
        "the last predictor comes first, then the paper's mean": partial(counted, of=("uniform", "last")),
        "a number of draws, not their share": lambda measured: tuple(each / 10 for each in counted(measured)),
    }
    agrees(nearer, counted, asked, known)
