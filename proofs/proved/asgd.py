"""Section "Averaged Stochastic Gradient Descent": the mean of the iterates from v, u, a, c and h.

Each vector is proved one coordinate at a time, for any coordinate.
"""

import sympy

from ..ledger import Job
from .proof import jobs_of, proof
from .prover import Equation
from .symbols import a_t, b, before, c, g, gradient_step, h, h_t, lam, t, u, v, v_t, w, x


@proof("eqn:naiveAverage", "the mean of t iterates is the mean of t − 1 of them, moved by w_t")
def running_mean():
    """t w̄_t = (t−1) w̄_{t−1} + w_t; every proof below adds up the iterates, t w̄_t, one by one. No w_0 is in the sum."""
    mean, w_t = sympy.symbols("wbar w_t", real=True)
    yield Equation("weights and bias alike", (before * mean + w_t) / t, mean + (w_t - mean) / t)


@proof("eqn:obDef", "Σ_{j<=t} b_j = −c_t/λ, so that b̄_t = −c_t/(λt)")
def mean_bias():
    """Induction over t. c_t = c_{t−1} + a_t/t, eq. 6, and c_1 = a_1; b_t = −a_t/(λt), Lemma 1."""
    yield Equation("t = 1: b_1 by eq. 3 is −c_1/λ with c_1 = a_1/1 = g", gradient_step(b, g, 1, 1), -(g / 1) / lam)
    yield Equation("t: the sum grows by b_t = −a_t/(λt)", -c / lam - a_t / (lam * t), -(c + a_t / t) / lam)
    yield Equation("b̄_t = (1/t) Σ b_j", (-c / lam) / t, -c / (lam * t))


@proof("eqn:sparseAverage", "Σ_{j=i}^t 1/j = h_t − h_{i−1}")
def harmonic_tail():
    """Induction over t from t = i. h_i = h_{i−1} + 1/i and h_0 = 0; `h_i1` is h_{i−1}, `i` any index."""
    i, h_i1 = sympy.Symbol("i", positive=True), sympy.Symbol("h_i1", real=True)
    yield Equation("t = i: the only term is 1/i", (h_i1 + 1 / i) - h_i1, 1 / i)
    yield Equation("t: the tail grows by 1/t", (h - h_i1) + 1 / t, h_t - h_i1)


@proof("eqn:sparseAverage", "Σ_{j<=t} v_j/j = Σ_{i<=t} (Σ_{j=i}^t 1/j) g_i x_i = h_t v_t − Σ_{i<=t} h_{i−1} g_i x_i")
def swapped_sums():
    """Induction over t: up to t − 1, `D` is the sum on the left and the one in the middle, and u = Σ h_{i−1} g_i x_i."""
    D = sympy.Symbol("D", real=True)
    yield Equation("t = 1: one term, v_1 = g x", g * x / 1, g * x)
    yield Equation(
        "t, middle: every tail grows by 1/t, and the new term has the tail 1/t",
        D + v_t / t,
        D + v / t + g * x / t,
    )
    yield Equation("t = 1, right: h_1 = 1 and h_0 = 0", 1 * (g * x) - 0 * g * x, g * x)
    yield Equation(
        "t, right: h_t v_t − u_t is h_{t−1} v_{t−1} − u_{t−1} and v_t/t",
        h_t * v_t - (u + h * g * x),
        (h * v - u) + (v + g * x) / t,
    )


@proof(
    "eqn:buDef", "u_t = Σ_{i<=t} h_{i−1} g_i x_i grows by h_{t−1} g x, and with h_t in its place the average is wrong by g x/t"
)
def harmonic_gradient_sum():
    """Index i throughout (E3). Σ w_j is −(h v − u)/λ; the second step says what taking h_t for h_{t−1} would do."""
    yield Equation("u_t", u + h * g * x, u + (h_t - 1 / t) * g * x)
    yield Equation(
        "with h_t the sum is off by g x/t",
        (h_t * v_t - (u + h * g * x)) - (h_t * v_t - (u + h_t * g * x)),
        g * x / t,
    )


@proof("eqn:owDef", "Σ_{j<=t} w_j = −(h_t v_t − u_t)/λ, so that w̄_t = −(h_t v_t − u_t)/(λt)")
def mean_weights():
    """Induction over t. w_t = −v_t/(λt), Lemma 1; u_1 = 0, h_1 = 1."""
    yield Equation("t = 1: w_1 by eq. 3", gradient_step(w, g, x, 1), -(1 * (g * x) - 0) / lam)
    yield Equation(
        "t: the sum grows by w_t = −v_t/(λt)",
        -(h_t * v_t - (u + h * g * x)) / lam,
        -(h * v - u) / lam - (v + g * x) / (lam * t),
    )
    yield Equation("w̄_t = (1/t) Σ w_j", (-(h * v - u) / lam) / t, -(h * v - u) / (lam * t))


PROOFS = (running_mean, mean_bias, harmonic_tail, swapped_sums, harmonic_gradient_sum, mean_weights)


def jobs() -> list[Job]:
    return jobs_of(*PROOFS)
