"""Ask the small questions of the exercises; each holds the right answer and common wrong ones, with their sentences."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np
import scipy.sparse as sp

from reference import LOSSES

from ..proved.symbols import g, gradient_step, h, lam, t, u, v, w, x
from .formulas import agrees, equals

REAL = [(p, y) for p in (-3, -1, 0, 0.5, 1, 2.5) for y in (-2, 0, 1.5)]
SIGNS = [(p, y) for p in (-3, -1, -0.5, 0, 0.5, 1, 3) for y in (-1, 1)]
FAR = [(p, y) for p in (-1000.0, -50.0, 0.0, 50.0, 1000.0) for y in (-1, 1)]


def values(absolute: Callable, squared: Callable, hinge: Callable, log: Callable) -> None:
    """Check the four losses of Table 1, functions of p and y."""
    agrees(absolute, LOSSES["absolute"].value, REAL, {"|p − y| is never negative": lambda p, y: p - y})
    agrees(squared, LOSSES["squared"].value, REAL, {"the half is missing": lambda p, y: (p - y) ** 2})
    known: dict[str, Callable] = {
        "the hinge is squared": lambda p, y: max(1 - p * y, 0) ** 2,
        "the hinge has its kink at a margin of 0, as the perceptron's loss has, not at 1": lambda p, y: max(-p * y, 0),
        "beyond the kink the hinge is 0, not negative": lambda p, y: 1 - p * y,
    }
    agrees(hinge, LOSSES["hinge"].value, SIGNS, known)
    known = {
        "this is the log-loss for labels 0 and 1; here they are −1 and 1": lambda p, y: math.log1p(math.exp(p)) - y * p,
        "the logarithm is the natural one, not to the base 2": lambda p, y: math.log2(1 + math.exp(-p * y)),
    }
    agrees(log, LOSSES["log"].value, SIGNS, known)


def log_far_away(log: Callable, log_derivative: Callable) -> None:
    """Check the log-loss where e to the power of the margin overflows."""
    agrees(log, LOSSES["log"].value, FAR)
    agrees(log_derivative, LOSSES["log"].derivative, FAR)


def objective(objective: Callable) -> None:
    """Check F (eq. 1, eqn:objective), a function of w, b, the rows, the labels, the value of the loss, and λ."""
    rows, y = np.array([[1.0, 0.0], [2.0, -1.0], [0.0, 0.5]]), np.array([1.0, -1.0, 1.0])
    asked = [(np.array([0.5, -1.0]), b, rows, y, LOSSES[loss].value, 0.25) for b in (0.0, 2.0) for loss in ("squared", "hinge")]

    def F(w, b, rows, y, value, lam, half=0.5, bias=1, share=1 / 3):
        return half * lam * (w @ w + bias * b * b) + share * sum(map(value, rows @ w + b, y))

    known = {
        "the half before λ is missing": partial(F, half=1),
        "the bias is regularised too: b² is in F": partial(F, bias=0),
        "the losses are averaged over the rows, not summed": partial(F, share=1),
    }
    agrees(objective, F, asked, known)


def recover(recover: Callable) -> None:
    """Check Lemma 1: the predictor [w_t, b_t] as a function of v_t, a_t, λ and t."""
    vectors = [(np.array([2.0, -1.0, 0.0]), -3.0), (np.array([0.5]), 1.0)]
    asked = [(v, a, lam, t) for v, a in vectors for lam in (0.25, 2.0) for t in (2, 3, 7)]

    def divided_by(divisor):
        return lambda v, a, lam, t: (v / divisor(lam, t), a / divisor(lam, t))

    known = {
        "the sign is wrong: the step goes down the gradient": divided_by(lambda lam, t: lam * t),
        "after step t it is t, not t − 1": divided_by(lambda lam, t: -lam * (t - 1)),
        "λ is missing": divided_by(lambda lam, t: -t),
        "t is missing": divided_by(lambda lam, t: -lam),
    }
    agrees(recover, divided_by(lambda lam, t: -lam * t), asked, known)


def tail(tail: Callable) -> None:
    """Check 1/i + … + 1/t, a function of i, t and the list of harmonic numbers."""
    h = [Fraction(0), *accumulate(Fraction(1, j) for j in range(1, 13))]
    asked = [(i, t, h) for t in (1, 2, 5, 12) for i in range(1, t + 1)]
    known = {"1/i belongs to it: only what comes before is subtracted": lambda i, t, h: h[t] - h[i]}
    agrees(tail, lambda i, t, h: sum(Fraction(1, j) for j in range(i, t + 1)), asked, known)


def centre(centre: Callable) -> None:
    """Check (x̄, θ), a function of the sparse rows and of `zeros`."""
    matrices = ([[1.0, 0.0], [3.0, 0.0], [0.0, 4.0], [0.0, 0.0]], [[0.5, 2.0, 0.0], [0.0, -1.0, 0.0]])

    def right(X, zeros, one=1):
        mean = X.toarray().mean(axis=0)
        return mean, one + mean @ mean

    def of_stored(X, zeros):
        mean = X.toarray().sum(axis=0) / np.maximum(1, (X.toarray() != 0).sum(axis=0))
        return mean, 1 + mean @ mean

    known = {
        "the mean of a column is over all m rows, not over those that store it": of_stored,
        "θ is without its 1": lambda X, zeros: right(X, zeros, one=0),
    }
    agrees(centre, right, [(sp.csr_array(np.array(rows)), np.zeros) for rows in matrices], known)


def lemma(assumed: Any, after: Any, v_t: Any) -> None:
    """Check the induction of Lemma 1: w_{t−1} from v_{t−1}, w_t by the step, and v_t."""
    right = -v / (lam * (t - 1))
    known = {
        "before step t there were t − 1 steps": -v / (lam * t),
        "the sign is wrong: the predictor is minus the gradient sum, scaled": -right,
        "w is what is to be replaced: write it with v": w,
    }
    equals(assumed, right, known)
    known = {
        "v is a sum of gradients as they are; the predictor is scaled when it is recovered": v - g * x / (lam * t),
        "v is a sum, it does not shrink": (1 - 1 / t) * v + g * x,
    }
    equals(v_t, v + g * x, known)
    equals(after, gradient_step(right, g, x, t), {"the step shrinks what was there, by 1 − 1/t": right - g * x / (lam * t)})


def trick(h_t: Any, u_t: Any, growth: Any) -> None:
    """Check the induction of the harmonic trick: h_t, u_t, and D_t − D_{t−1} for D = h v − u."""
    equals(h_t, h + 1 / t, {"h_{t−1} has t − 1 terms; the t-th is 1/t": h + 1 / (t - 1)})
    known = {
        "u is updated after h has grown: it must take h_{t−1}": u + (h + 1 / t) * g * x,
        "u adds the gradient times h_{t−1}": u + g * x,
    }
    equals(u_t, u + h * g * x, known)
    equals(growth, (v + g * x) / t, {"the term of step t is v_t/t, and v_t has the new gradient in it": v / t})


def slip(off: Any) -> None:
    """Check the error of Σ w_j if u takes h_t in step t."""
    equals(off, g * x / (lam * t), {"theirs minus the right one, not the other way": -g * x / (lam * t)})


def slip_at_first(first: Any) -> None:
    """Check Σ w_j after step 1 if u takes h_1 in it."""
    equals(first, 0, {"this is the right sum, not theirs": -g * x / lam})
