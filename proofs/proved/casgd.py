"""Section "Centering and Translation Invariance": implicit centring, the two new scalars z and r, and the theorem.

Dot products are sums over k = 1, …, n with symbolic n.
"""

import sympy

from ..ledger import Job
from .proof import jobs_of, proof
from .prover import Equation
from .symbols import (
    XBAR,
    V,
    W,
    X,
    a,
    a_t,
    b,
    before,
    c,
    g,
    gradient_step,
    h,
    h_t,
    k,
    lam,
    over_coordinates,
    r,
    s,
    t,
    u,
    v,
    v_t,
    w,
    x,
    xbar,
)

theta = 1 + over_coordinates(XBAR[k] ** 2)
"""θ = 1 + ‖x̄‖²."""


@proof("eqn:explicitToImplicit", "w · (x − x̄) + b = w · x + b' with b' = b − w · x̄")
def implicit_is_explicit():
    """For any w, b, x, x̄ and any n."""
    yield Equation(
        "explicit on the left, implicit on the right",
        over_coordinates(W[k] * (X[k] - XBAR[k])) + b,
        over_coordinates(W[k] * X[k]) + (b - over_coordinates(W[k] * XBAR[k])),
    )


@proof("eqn:wCenter", "on the rows x − x̄, w_t = −(v_t − a_t x̄)/(λt) and b_t = −a_t/(λt)")
def centred_weights():
    """Induction over t, as Lemma 1 with x − x̄ for x; v_t = v_{t−1} + g x with the centred predictions in g (E10)."""
    centred = x - xbar
    yield Equation("t = 1: eq. 3", gradient_step(w, g, centred, 1), -(g * x - g * xbar) / lam)
    yield Equation(
        "t: eq. 3 with the assumption",
        gradient_step(-(v - a * xbar) / (lam * before), g, centred, t),
        -(v_t - a_t * xbar) / (lam * t),
    )
    yield Equation("t: the bias", gradient_step(-a / (lam * before), g, 1, t), -a_t / (lam * t))


@proof("eqn:zDef", "z_t = v_t · x̄ grows by g x̄ · x")
def projection_sum():
    """z_{t−1} = v_{t−1} · x̄, any n."""
    yield Equation(
        "v_t · x̄",
        over_coordinates((V[k] + g * X[k]) * XBAR[k]),
        over_coordinates(V[k] * XBAR[k]) + g * over_coordinates(XBAR[k] * X[k]),
    )


@proof("eqn:bTagCenter", "b'_t = b_t − w_t · x̄ = −r_t/(λt) with r_t = a_t (1 + ‖x̄‖²) − v_t · x̄, at every step")
def implicit_bias():
    """Eqs. 11 and 12, any n; b' is known at every step, not only at the end (E8)."""
    weights = -(V[k] - a * XBAR[k]) / (lam * t)
    yield Equation(
        "b_t − w_t · x̄",
        -a / (lam * t) - over_coordinates(weights * XBAR[k]),
        -(a * theta - over_coordinates(V[k] * XBAR[k])) / (lam * t),
    )


@proof("eqn:pCenterDef", "p_t = −(v_{t−1} · x + r_{t−1} − a_{t−1} x̄ · x)/(λ(t−1)) for all t >= 2")
def centred_prediction():
    """p_t = w_{t−1} · x + b'_{t−1} with eq. 12 and b'_{t−1} = −r/(λ(t−1)), any n."""
    weights = -(V[k] - a * XBAR[k]) / (lam * before)
    yield Equation(
        "w_{t−1} · x + b'_{t−1}",
        over_coordinates(weights * X[k]) - r / (lam * before),
        -(over_coordinates(V[k] * X[k]) + r - a * over_coordinates(XBAR[k] * X[k])) / (lam * before),
    )


@proof("obCenterDef", "Σ_{j<=t} b'_j = −s_t/λ, so that b̄'_t = −s_t/(λt)")
def mean_implicit_bias():
    """Induction over t. s_t = s_{t−1} + r_t/t, eq. 17, s_1 = r_1; b'_t = −r_t/(λt), eq. 14. Here r is r_t."""
    yield Equation("t = 1", -r / (lam * 1), -r / lam)
    yield Equation("t: the sum grows by b'_t", -s / lam - r / (lam * t), -(s + r / t) / lam)
    yield Equation("b̄'_t = (1/t) Σ b'_j", (-s / lam) / t, -s / (lam * t))


@proof("eqn:owCenterDef", "Σ_{j<=t} w_j = −(h_t v_t − u_t − c_t x̄)/λ, so that w̄_t = −(h_t v_t − u_t − c_t x̄)/(λt)")
def mean_centred_weights():
    """Induction over t, with eqs. 6, 9 and 12; u_1 = 0, h_1 = 1, c_1 = a_1."""
    yield Equation("t = 1: w_1 by eq. 3", gradient_step(w, g, x - xbar, 1), -(1 * (g * x) - 0 - g * xbar) / lam)
    yield Equation(
        "t: the sum grows by w_t = −(v_t − a_t x̄)/(λt)",
        -(h_t * v_t - (u + h * g * x) - (c + a_t / t) * xbar) / lam,
        -(h * v - u - c * xbar) / lam - (v + g * x - (a + g) * xbar) / (lam * t),
    )
    yield Equation("w̄_t = (1/t) Σ w_j", (-(h * v - u - c * xbar) / lam) / t, -(h * v - u - c * xbar) / (lam * t))


shift = sympy.Symbol("shift", real=True)
K = sympy.Symbol("kappa", real=True)  # Σ_{i<=t−1} h_{i−1} g_i
SHIFT = sympy.IndexedBase("shift", real=True)


@proof("translation", "csgd and casgd are invariant: x + c for x leaves every w_t and p_t, and moves b'_t by −w_t · c")
def invariant():
    """Induction over t, any loss, any n; `shift` is c. x̄ becomes x̄ + c. If the predictions up to t − 1 were equal, so are
    the g_j, a_j, c_j and h_j; v becomes v + a c, and u becomes u + κ c with κ = Σ h_{i−1} g_i.
    """
    yield Equation("the centred rows are the same", (x + shift) - (xbar + shift), x - xbar)
    yield Equation("t = 1: p_1 = 0 on both; v_1 = g (x + c) is g x + a_1 c, a_1 = g", g * (x + shift), g * x + g * shift)
    yield Equation(
        "v_t grows by g (x + c), so v + a c goes on as it began", (v + a * shift) + g * (x + shift), v_t + a_t * shift
    )
    yield Equation("u likewise", (u + K * shift) + h * g * (x + shift), (u + h * g * x) + (K + h * g) * shift)
    yield Equation(
        "h_t a_t − κ_t = c_t, if it was so before: the scalar case of the swapped sums",
        h_t * a_t - (K + h * g),
        (h * a - K) + (a + g) / t,
    )
    yield Equation(
        "the weights of eq. 12 are the same", -((v + a * shift) - a * (xbar + shift)) / (lam * t), -(v - a * xbar) / (lam * t)
    )
    yield Equation(
        "the mean weights of eq. 19 are the same, c being h a − κ",
        -(h * (v + a * shift) - (u + K * shift) - (h * a - K) * (xbar + shift)) / (lam * t),
        -(h * v - u - (h * a - K) * xbar) / (lam * t),
    )
    yield Equation(
        "b' = b − w · x̄ moves by −w · c",
        b - over_coordinates(W[k] * (XBAR[k] + SHIFT[k])),
        (b - over_coordinates(W[k] * XBAR[k])) - over_coordinates(W[k] * SHIFT[k]),
    )
    yield Equation(
        "so the prediction for x + c is the one for x was, and the induction goes on",
        over_coordinates(W[k] * (X[k] + SHIFT[k])) + b - over_coordinates(W[k] * (XBAR[k] + SHIFT[k])),
        over_coordinates(W[k] * X[k]) + b - over_coordinates(W[k] * XBAR[k]),
    )


@proof("translation", "sgd and asgd are not: p_2 differs by −(g_1/λ)(c · (x_1 + x_2) + ‖c‖²)", "for all n")
def sensitive():
    """p_2 = w_1 · x_2 + b_1 with w_1 = −g_1 x_1/λ, b_1 = −g_1/λ; p_1 = 0 and so g_1 are the same. V is x_1, X is x_2, any n."""
    yield Equation(
        "p_2 on the moved rows less p_2",
        -g / lam * (over_coordinates((V[k] + SHIFT[k]) * (X[k] + SHIFT[k])) + 1)
        + g / lam * (over_coordinates(V[k] * X[k]) + 1),
        -g / lam * (over_coordinates(SHIFT[k] * (V[k] + X[k])) + over_coordinates(SHIFT[k] ** 2)),
    )


PROOFS = (
    implicit_is_explicit,
    centred_weights,
    projection_sum,
    implicit_bias,
    centred_prediction,
    mean_implicit_bias,
    mean_centred_weights,
    invariant,
    sensitive,
)


def jobs() -> list[Job]:
    return jobs_of(*PROOFS)
