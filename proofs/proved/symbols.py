"""Letters of the paper as real unknowns. The step number t is `before + 1`, so that a proof for t >= 2 has before >= 1."""

import sympy

lam = sympy.Symbol("lambda", positive=True)  # regularisation
before = sympy.Symbol("tau", positive=True)  # t − 1, the number of steps taken before this one
t = before + 1  # this step
n = sympy.Symbol("n", integer=True, positive=True)  # number of features
m = sympy.Symbol("m", integer=True, positive=True)  # number of examples

x, y, w, v, u, xbar = sympy.symbols("x y w v u xbar", real=True)  # one coordinate of each vector, any one
b, a, c, h, g, p, z, r, s = sympy.symbols("b a c h g p z r s", real=True)  # the scalars
k = sympy.Symbol("k", integer=True)  # a coordinate that is summed over
i = sympy.Symbol("i", integer=True)  # an example that is summed over

X, W, V, U, XBAR, G = (sympy.IndexedBase(name, real=True) for name in ("x", "w", "v", "u", "xbar", "g"))


def over_coordinates(term) -> sympy.Expr:
    """Σ_{k=1}^n of a term in X[k], W[k], V[k], U[k], XBAR[k]: a dot product with symbolic n."""
    return sympy.Sum(term, (k, 1, n))


def over_examples(term) -> sympy.Expr:
    """Σ_{i=1}^m of a term in X[i], G[i]."""
    return sympy.Sum(term, (i, 1, m))


def gradient_step(w, g, x, t) -> sympy.Expr:
    """Return a coordinate of w_t by eq. 3 from w_{t−1}, the loss derivative and the row; with x = 1, the bias."""
    return (1 - 1 / sympy.sympify(t)) * w - g / (lam * t) * x


h_t, v_t, a_t = h + 1 / t, v + g * x, a + g
"""Harmonic number, gradient sum and its bias after step t, from those before it: h, v, a."""
