"""Certified minimum of F, and of the centred F: the limit of stochastic gradient descent."""

import warnings
from dataclasses import dataclass

import numpy as np

from .problem import Predictor, Problem

STEP_LIMIT = 500  # the real sets take 5 to 100
CG_LIMIT = 1000  # conjugate gradient steps for one Newton step; cut short, it still descends

TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Minimum:
    """Minimum of F with a certificate of its error: value − gap <= min F <= value.

    Parameters
    ----------
    predictor : Predictor
        In implicit form, for raw rows.
    value : float
        F at the predictor; the centred F if that was minimised.
    gap : float
        The duality gap, >= 0, in units of F. It is a sum of terms >= 0, so nothing cancels in it. The rounding of F itself is
        not in it: some 1e-16 of F(0) for rows near the origin.
    relative_gap : float
        gap / F(0), a fraction of the objective of the zero predictor.
    """

    predictor: Predictor
    value: float
    gap: float
    relative_gap: float


def minimise(problem: Problem, centred: bool = False) -> Minimum:
    """Minimise F(w, b) = λ/2 (‖w‖² + b²) + (1/m) Σ_i ℓ(w · x_i + b, y_i), and prove it by a duality gap.

    With ℓ* the convex conjugate of ℓ, and for any g_1, …, g_m at which every ℓ*(g_i, y_i) is finite, F − min F is at most

        (1/m) Σ_i (ℓ(p_i, y_i) + ℓ*(g_i, y_i) − g_i p_i)  +  ‖λ[w, b] + (1/m) Σ_i g_i [x_i, 1]‖² / (2λ).

    The first term, the slack, is >= 0, and 0 if g_i is a subderivative at p_i; the second vanishes if g solves the dual
    for [w, b]. Newton's method shrinks the second and, for a loss with a kink, the method of multipliers the first.

    Parameters
    ----------
    problem : Problem
        In float64, with weights of 1, and with a loss whose kink or curvature is known: `Loss.kink`, `Loss.curvature`.
    centred : bool
        Minimise the F of the rows x_i − x̄, which csgd and casgd minimise. Centring is implicit: no row is made dense.

    Returns
    -------
    Minimum
        Deterministic. Its relative gap is at most 1e-10, or 1e-6 for a loss with a kink, unless a warning is given.

    Warns
    -----
    RuntimeWarning
        The relative gap stayed above its bound; the certificate returned holds the gap reached.

    Raises
    ------
    TypeError
        Exact or symbolic arithmetic, or a loss whose kink and curvature are unknown.
    ValueError
        A weight of an example is not 1.
    FloatingPointError
        F or its gradient overflows float64.

    Paper: Section 1, eq. 1 (eqn:objective); centred as in Section "Centering and Translation Invariance".
    Cost: O(n + mk) a conjugate gradient step, of which there are tens (no kink) to thousands (small λ and a kink). The search
        ends after 500 steps of Newton's method or of the multipliers, the former of at most 1000 conjugate gradient steps.
    """
    from scipy.optimize import brentq
    from scipy.sparse.linalg import LinearOperator, cg

    _check(problem)
    lam, data = problem.lam, _Data(problem, centred)
    with np.errstate(over="ignore", invalid="ignore"):
        at_zero = problem.objective(Predictor(np.zeros(problem.n), 0.0), centred)
        model = _Smooth(problem) if problem.loss.kink is None else _Kinked(problem, at_zero)
        wb = np.zeros(problem.n + 1)
        for steps_left in reversed(range(STEP_LIMIT + 1)):
            p = data.predictions(wb)
            g = model.slope(p)
            gradient = lam * wb + data.mean_gradient(g)
            slack, distance = model.slack(p, g), gradient @ gradient / (2 * lam)
            gap = slack + distance
            if not (steps_left and np.isfinite(gap) and gap > model.bound * at_zero):
                break
            if isinstance(model, _Kinked) and distance < slack:
                model.sharpen(g)
                continue
            curvature = model.curvature(g)
            hessian = LinearOperator(
                (len(wb), len(wb)),
                lambda v, h=curvature: lam * v + data.mean_gradient(h * data.predictions(v)),
                dtype=np.float64,
            )
            step, _info = cg(hessian, -gradient, rtol=0.1, maxiter=CG_LIMIT)
            p_step = data.predictions(step)

            def directional(a, wb=wb, step=step, p=p, p_step=p_step):
                return lam * (wb @ step + a * (step @ step)) + model.slope(p + a * p_step) @ p_step / problem.m

            if not directional(0.0) < 0:
                break  # only rounding is left
            a = brentq(directional, 0.0, 1.0, xtol=TINY, rtol=1e-6, maxiter=5000) if directional(1.0) > 0 else 1.0
            wb = wb + a * step
        predictor = Predictor(wb[:-1], wb[-1], data.xbar).implicit()
        value = problem.objective(predictor, centred)
        gap = min(gap, value - _lower_bound(problem))
    if not np.isfinite(value + gap):
        raise FloatingPointError("F or its gradient overflows float64 on these rows and labels: scale X or y down")
    relative_gap = gap / at_zero if gap else 0.0
    if relative_gap > model.bound:
        warnings.warn(
            f"minimise stopped at a relative duality gap of {relative_gap:.1e}, above {model.bound:.0e}: "
            "value exceeds min F by at most gap. Scale or centre the columns of X, or use a larger lam",
            RuntimeWarning,
            stacklevel=2,
        )
    return Minimum(predictor, float(value), float(gap), float(relative_gap))


def _check(problem: Problem) -> None:
    if problem.number is not np.float64:
        raise TypeError(f"problem must be in float64 to be minimised; got lam={problem.lam!r}. State it with a float lam")
    if (problem.sample_weight != 1).any():
        raise ValueError(
            "sample_weight must be 1 for every example, or the minimum cannot be certified. Make a Problem without weights"
        )
    if problem.loss.kink is None and problem.loss.curvature is None:
        raise TypeError(
            f"loss must have a kink or a curvature to be certified; got {problem.loss.name!r}. State one of them in Loss(…)"
        )


def _lower_bound(problem: Problem) -> float:
    """Bound min F from below by the dual at g = 0: the mean of the smallest losses, where a conjugate tells them."""
    if problem.loss.conjugate is None:
        return -np.inf
    return -np.mean([problem.loss.conjugate(0, y) for y in problem.y])


class _Data:
    """Rows x_i − x̄, or x_i, as the two linear maps that Newton's method needs; no row is made dense."""

    def __init__(self, problem: Problem, centred: bool):
        self.rows = problem.X.csr
        self.columns = self.rows.T.tocsr()
        self.xbar = problem.xbar if centred else np.zeros(problem.n)

    def predictions(self, wb) -> np.ndarray:
        """w · (x_i − x̄) + b for every i, as Predictor computes it in the implicit form."""
        return self.rows @ wb[:-1] + (wb[-1] - wb[:-1] @ self.xbar)

    def mean_gradient(self, g) -> np.ndarray:
        """(1/m) Σ_i g_i [x_i − x̄, 1]."""
        total = g.sum()
        return np.append(self.columns @ g - total * self.xbar, total) / len(g)


class _Smooth:
    """Losses without a kink for Newton's method: g = ℓ'(p), and its derivative as a function of g."""

    bound = 1e-10

    def __init__(self, problem: Problem):
        assert problem.loss.curvature is not None
        self.loss, self.y, self.curvature = problem.loss, problem.y, problem.loss.curvature

    def slope(self, p) -> np.ndarray:
        return _derivatives(self.loss, p, self.y)

    def slack(self, p, g) -> float:
        return 0.0


class _Kinked:
    """Losses with a kink: linear with the slope `low` before it, and `high` after.

    Newton's method needs the kink rounded off: g climbs from low to high at the rate `sigma`, and is `multipliers` at the
    kink. Moving the multipliers to the g found makes the smooth minimiser the true one.
    """

    bound = 1e-6

    def __init__(self, problem: Problem, at_zero):
        assert problem.loss.kink is not None
        self.kink = problem.loss.kink(problem.y)
        self.low, self.high = (_derivatives(problem.loss, np.full(problem.m, p), problem.y) for p in (-np.inf, np.inf))
        self.multipliers = np.zeros(problem.m)
        self.sigma = 0.5 / max(at_zero, TINY)  # in units of 1/y; less than 1, or a hinge at p = 0 is clipped

    def slope(self, p) -> np.ndarray:
        return np.clip(self.multipliers + self.sigma * (p - self.kink), self.low, self.high)

    def curvature(self, g) -> np.ndarray:
        return np.where((self.low < g) & (g < self.high), self.sigma, 0.0)

    def slack(self, p, g) -> float:
        past = p - self.kink  # ℓ = max(low past, high past) and ℓ*(g) = g kink
        return np.mean(np.maximum((self.high - g) * past, (self.low - g) * past))

    def sharpen(self, g) -> None:
        self.multipliers = g
        self.sigma *= 1.3  # faster growth takes fewer steps but harder ones


def _derivatives(loss, p, y) -> np.ndarray:
    return np.array(list(map(loss.derivative, p, y)), dtype=np.float64)
