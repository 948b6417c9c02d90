"""Section "Stochastic Gradient Descent": the stochastic gradient, the step, the gradient sum and Lemma 1.

Each vector is proved one coordinate at a time, for any coordinate; the bias is the coordinate with x = 1.
"""

from ..ledger import Job
from .proof import jobs_of, proof
from .prover import Equation
from .symbols import G, V, X, a, b, before, g, gradient_step, i, k, lam, m, over_coordinates, over_examples, t, v, w, x


@proof("eqn:gradient", "the stochastic gradient is an unbiased estimator of the gradient")
def unbiased():
    """i is drawn uniformly from 1, …, m; w and b are any predictor, g_i = ℓ'(w · x_i + b, y_i) any numbers."""
    yield Equation(
        "the mean over i of λw + g_i x_i is λw + (1/m) Σ g_i x_i",
        over_examples(lam * w + G[i] * X[i]) / m,
        lam * w + over_examples(G[i] * X[i]) / m,
    )
    yield Equation(
        "the mean over i of λb + g_i is λb + (1/m) Σ g_i",
        over_examples(lam * b + G[i]) / m,
        lam * b + over_examples(G[i]) / m,
    )


@proof("eqn:GDStep", "the step of size 1/(λt) against the stochastic gradient is w_t = (1 − 1/t) w_{t−1} − g/(λt) x")
def step_rearranged():
    """g is the loss derivative at p_t, any number."""
    yield Equation("weights", w - (lam * w + g * x) / (lam * t), gradient_step(w, g, x, t))
    yield Equation("bias", b - (lam * b + g) / (lam * t), gradient_step(b, g, 1, t))


@proof("eqn:GDStep", "(w_0, b_0) enters at t = 1 only through p_1: its weight there is 0", "for all n")
def start_is_forgotten():
    """w and b are any w_0, b_0, zero or not; g is the loss derivative at p_1."""
    yield Equation("weights", gradient_step(w, g, x, 1), -g / lam * x)
    yield Equation("bias", gradient_step(b, g, 1, 1), -g / lam)


@proof("lem:v", "[w_t, b_t] = −[v_t, a_t]/(λt) for all t >= 1")
def lemma_1():
    """Induction over t. v_t = v_{t−1} + g x, eq. 4; for t >= 2, w_{t−1} = −v_{t−1}/(λ(t−1)) is assumed.

    The paper's base case misprints w_1 (E1); here it is −(1/λ) g x.
    """
    assumed_w, assumed_b = -v / (lam * before), -a / (lam * before)
    yield Equation("t = 1: eq. 3, scaled by −λ, is v_1 = g x", -lam * gradient_step(w, g, x, 1), g * x)
    yield Equation("t = 1: and a_1 = g", -lam * gradient_step(b, g, 1, 1), g)
    yield Equation("(1 − 1/t) · 1/(t−1) = 1/t", (1 - 1 / t) / before, 1 / t)
    yield Equation(
        "eq. 3 with the assumption, multiplied by −λt, is v_{t−1} + g x = v_t",
        -lam * t * gradient_step(assumed_w, g, x, t),
        v + g * x,
    )
    yield Equation(
        "and a_{t−1} + g = a_t",
        -lam * t * gradient_step(assumed_b, g, 1, t),
        a + g,
    )


@proof("lem:v", "p_t = −(v_{t−1} · x + a_{t−1})/(λ(t−1)) for all t >= 2")
def prediction():
    """Lemma 1 at t − 1, for any n; the definition is p_t = w_{t−1} · x + b_{t−1}."""
    yield Equation(
        "w_{t−1} · x + b_{t−1}",
        over_coordinates(-V[k] / (lam * before) * X[k]) - a / (lam * before),
        -(over_coordinates(V[k] * X[k]) + a) / (lam * before),
    )


PROOFS = (unbiased, step_rearranged, start_is_forgotten, lemma_1, prediction)


def jobs() -> list[Job]:
    return jobs_of(*PROOFS)
