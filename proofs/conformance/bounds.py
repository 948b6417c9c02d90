"""Bound the distance of a correct float64 implementation from the exact result, from the inputs alone.

Correct are, in float64 throughout and with sums in any order: eq. 3 on dense rows, Algorithms 1 to 3 as printed, weights held
as a scalar times a vector, explicit centring and implicit, a pivot, sums that are divided at the end or a running mean.

**Notation.** x̂ = x − x̄, or x where nothing is centred; g_j = ℓ'(p_j, y_j) for the j-th row drawn. In exact arithmetic

    p_t = −1/(λ(t−1)) Σ_{j<t} g_j (x̂_j · x̂_t + 1).

**Errors handed on.** If the g_j are off by at most d_j, p_t is off by at most Σ_{j<t} |x̂_j · x̂_t + 1| d_j / (λ(t−1)). A
prediction that is off by e_j makes g_j off by 0 for a loss with a kink, as long as the side is decided; by e_j for the squared
loss; and by ℓ'' e_j for the log-loss, where ℓ'' = |g|(1 − |g|) <= 1/4 grows by at most exp(e) <= 1 + 2e over a distance of
e <= 1, since |ℓ'''| <= ℓ''. The derivative itself is rounded: by eps |g| for the squared loss, and by 4 eps for the log-loss,
which some write as a sigmoid minus a label, so that its error is not relative to g.

**Errors made.** The term g_j x_j x_t of p_t is rounded N_t times on its way, each time by at most eps/2 of it, or of a sum
whose terms add up in absolute value, with those of the other j, to Σ_{j<t} |g_j| B_jt / (λ(t−1)), where

    B_jt = (|x_j| + μ) · (|x_t| + μ) + 1,   μ = (1/m) Σ_i |x_i|, entrywise, where rows are centred; without, μ = 0.

Multiplied out these are |x_j| · |x_t| for d = v · x, |x_j| · μ for z, μ · |x_t| for q, and μ · μ + 1 for θ. Algorithm 3 as
printed subtracts them from one another, which is where it loses eps ‖x̄‖²/spread²; a pivot loses less. μ stands for |x̄| since
the mean is rounded by eps of its terms. N_t adds up

- 4 a step: 1/t, 1 − 1/t, its product with w, and the sum (of the other forms fewer: v, a and z add once);
- the stored entries of the longest row: adding up what is stored twice, and the products that v · x adds up;
- if centred, 2(m + n): x̄ adds up m rows, and is in both factors; x̂ · x̂, ‖x̄‖² and w · x̄ add up n products;
- 10 for what is done once: g x, λt, two divisions, d + r − a q, ….

N_t eps is twice N_t roundings. The factor 2 pays for terms of second order and for ways to write it that round once more. So

    e_t = (Σ_{j<t} |x̂_j · x̂_t + 1| d_j + N_t eps Σ_{j<t} |g_j| B_jt) / (λ(t−1)),   e_1 = 0.

**Predictors.** w_T = −1/(λT) Σ_j g_j x̂_j and b'_T, with 1 − x̂_j · x̄ for x̂_j, are bounded likewise. In a mean g_j has the
weight h_T − h_{j−1} (h harmonic numbers); Algorithms 2 and 3 subtract u, which has h_{j−1}, from h v, so that roundings are of
h_T + h_{j−1}. A predictor has 2 roundings a step more, for the sums c, h and s. In a mean with weights ω_t, where h is the sum
of ω_t/t and Σω stands for T, it has 3 more again: ω_t itself, its product with what it weighs, and the sum Σω.

**Kinks.** A derivative is decided if the margin is further from the kink than e_t; or if every number that goes into the margin
is exact in float64. That is so at t = 1; and up to t = 3, where only λ, 2λ and m have been divided by, if these are powers of
two and all terms together are at most 2^53 of the units that their products are multiples of. From the first step on that is
not decided, only exact implementations are held to the case.
"""

from collections.abc import Sequence
from decimal import ROUND_UP, Context
from fractions import Fraction
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from reference.losses import get_loss

from .inputs import Run

Vector = Any  # an object array of fractions, whose arithmetic numpy's types do not know
EPS = Fraction(1, 2**52)
ZERO = Fraction(0)
SHORT = Context(prec=2, rounding=ROUND_UP)


def bounds(run: Run, average: bool, checkpoints: Sequence[int], omega: Sequence[Fraction] | None = None) -> dict:
    """Bound the errors of float64: absolute tolerances for p and g at every step, for w and b at the checkpoints.

    The one for w is the largest of any column. `omega` are the weights ω_1, … of the iterates in the mean (default: uniform).
    They are None from the first step on whose derivative is not decided in float64; "undecided" then says which and why.
    All is computed on fractions and rounded up to two digits, so that it is the same on every machine.
    """
    rows = _rows(run)
    e, d, undecided = _steps(run)
    end = undecided or len(e) + 1
    weights, roundings = ([Fraction(1)] * len(e), 6) if omega is None else (omega, 9)
    harmonic = [ZERO, *accumulate(weight / t for t, weight in enumerate(weights, start=1))]
    predictors: list[dict[str, float | None]] = []
    for t in checkpoints:
        w, b = np.full(run.n, ZERO), ZERO
        for j, i in enumerate(run.indices[:t]):
            handed_on, made = d[j], (roundings * t + rows.once) * EPS * abs(run.steps[j].g)
            if average:
                handed_on, made = handed_on * (harmonic[t] - harmonic[j]), made * (harmonic[t] + harmonic[j])
            w = w + handed_on * abs(rows.centred[i]) + made * rows.size[i]
            b = b + handed_on * abs(1 - rows.centred[i] @ rows.mean) + made * (rows.size[i] @ rows.mean_size + 1)
        scale = run.exact.lam * (sum(weights[:t]) if average else t)
        tolerances = {"w": max(w, default=ZERO) / scale, "b": b / scale}
        predictors.append({name: _number(bound) if t < end else None for name, bound in tolerances.items()})
    result = {
        "p": [_number(each) if t < end else None for t, each in enumerate(e, start=1)],
        "g": [_number(each) if t < end else None for t, each in enumerate(d, start=1)],
        "checkpoints": predictors,
    }
    if undecided:
        result["undecided"] = (
            f"step {undecided}: the margin is within {_number(e[undecided - 1])} of the kink, "
            "so that rounding decides which derivative a float64 implementation takes"
        )
    return result


class _Rows(NamedTuple):
    """x̂ and |x| + μ of every row, x̄ and μ; and how many roundings a term meets once, not at every step."""

    centred: list[Vector]
    size: list[Vector]
    mean: Vector
    mean_size: Vector
    once: int


@cache
def _rows(run: Run) -> _Rows:
    m, n = len(run.rows), run.n
    size = np.full((m, n), ZERO)
    for i, row in enumerate(run.rows):
        for j, value in row:
            size[i, j] += abs(Fraction(value))  # entries that are stored twice count twice, as each is rounded
    once = 10 + max(map(len, run.rows))
    dense = [run.exact.X.dense(i) for i in range(m)]
    if not run.centred:
        return _Rows(dense, list(size), np.full(n, ZERO), np.full(n, ZERO), once)
    mean, mean_size = run.exact.xbar, size.sum(axis=0) / m
    return _Rows([x - mean for x in dense], list(size + mean_size), mean, mean_size, once + 2 * (m + n))


@cache
def _steps(run: Run) -> tuple[list[Fraction], list[Fraction], int | None]:
    """e and d for every step, and the first step that is not decided."""
    rows, loss = _rows(run), get_loss(run.loss)
    drawn = sorted(set(run.indices))
    product = {(i, j): abs(rows.centred[i] @ rows.centred[j] + 1) for i in drawn for j in drawn}
    terms_of = {(i, j): rows.size[i] @ rows.size[j] + 1 for i in drawn for j in drawn}
    e: list[Fraction] = []
    d: list[Fraction] = []
    undecided = None
    for t, (i, step) in enumerate(zip(run.indices, run.steps, strict=True), start=1):
        before = list(enumerate(run.indices[: t - 1]))
        handed_on = sum((product[i, j] * d[place] for place, j in before), ZERO)
        terms = sum((terms_of[i, j] * abs(run.steps[place].g) for place, j in before), ZERO)
        e_t = _up((handed_on + (4 * t + rows.once) * EPS * terms) / (run.exact.lam * max(1, t - 1)))
        if loss.exact:  # a rounded exponential: the log-loss
            d_t = _curvature(abs(step.g), e_t) * e_t + 4 * EPS
        elif loss.curvature:
            d_t = loss.curvature(step.g) * e_t + EPS * abs(step.g)
        else:
            d_t = ZERO
            if undecided is None and run.kink_distance(step.p, i) <= e_t and not _is_exact(run, t, terms):
                undecided = t
        e.append(e_t)
        d.append(_up(d_t))
    return e, d, undecided


def _curvature(g: Fraction, e: Fraction) -> Fraction:
    """Return a bound for ℓ'' of the log-loss within e of where |ℓ'| is g; g is on the grid of 2^-128."""
    if e > 1:
        return Fraction(1, 4)
    return min(Fraction(1, 4), (g * (1 - g) + Fraction(1, 2**128)) * (1 + 2 * e))


def _is_exact(run: Run, t: int, terms: Fraction) -> bool:
    """Tell whether all that goes into the margin of step t is exact in float64, however it is computed."""
    if t == 1:
        return True
    others = run.rows if run.centred else []
    if run.centred and not any(run.exact.xbar) and _sums_are_exact(run):
        others = []  # the mean comes out as 0: rows stay as they are
    m = len(others) or 1
    if t > 3 or not (_is_power_of_two(run.exact.lam) and _is_power_of_two(Fraction(m))):
        return False
    drawn = [run.rows[i] for i in run.indices[:t]]
    unit = Fraction(1, m * m * _denominator([*drawn[:-1], *others]) * _denominator([drawn[-1], *others]))
    return terms <= 2**53 * unit


def _sums_are_exact(run: Run) -> bool:
    """Tell whether every sum of entries of a column is exact in float64, in any order."""
    most = max(sum(map(abs, column)) for column in run.columns)
    return most <= Fraction(2**53, _denominator(run.rows))


def _denominator(rows: Sequence) -> int:
    """Find the unit 1/d of which all entries of these rows are multiples."""
    return max([1, *(Fraction(value).denominator for row in rows for _, value in row)])


def _is_power_of_two(x: Fraction) -> bool:
    return x.numerator & (x.numerator - 1) == 0 and x.denominator & (x.denominator - 1) == 0


def _up(x: Fraction) -> Fraction:
    """x rounded up to two decimal digits."""
    return Fraction(SHORT.divide(x.numerator, x.denominator))


def _number(x: Fraction) -> float:
    return float(_up(x))
