"""Compute the answers to the long and wide questions, and bound what float64 may do to them.

A step depends on the earlier ones only through the sums G_i of the derivatives of each row's draws:

    p_t = −1/(λ(t−1)) Σ_i G_i K_i,   K_i = x̂_i · x̂_t + 1.

For a loss with a kink, G is an integer, so that p_t is exact at any t. For the others each derivative is rounded to the grid
of 2^-256; the error that this hands on is followed, and far below what a float can show. Means weigh a derivative with
h_T − h_{j−1}, whose harmonic numbers are on that grid too. The bounds are those of `bounds.py`, with the draws of a row taken
together, in floats that are rounded up.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from reference import PAPER
from reference.losses import get_loss

from .bounds import EPS, SHORT
from .cases import ALGORITHM, VERSION, Question
from .reach import Recipe, columns_used, digest, question

GRID = 2**256
UP = 1 + 2.0**-20
"""Factor that pays for the rounding of the bounds themselves: sums of fewer than 2^24 terms that are not negative."""


class Rows:
    """Rows as integers on one grid, their mean, and the exact products that the steps need.

    Attributes
    ----------
    columns : the columns that are stored anywhere, to which all vectors here are restricted
    products : array of shape (m, m) of Fraction, x̂_i · x̂_j + 1
    centred, size : arrays of floats of shape (m, columns), x̂ and |x| + μ
    """

    def __init__(self, asked: Question):
        m, self.columns = len(asked.rows), columns_used(asked)
        place = {column: k for k, column in enumerate(self.columns)}
        self.values = np.full((m, len(self.columns)), Fraction(0))
        for i, row in enumerate(asked.rows):
            for column, value in row:
                self.values[i, place[column]] += Fraction(value)
        stored = [[place[column] for column, _ in row] for row in asked.rows]
        gram = np.array([[self.values[i, row] @ self.values[j, row] for j in range(m)] for i, row in enumerate(stored)])
        size = abs(self.values.astype(float))
        self.once = 10 + max(map(len, asked.rows))
        self.mean = np.full(len(self.columns), Fraction(0))
        self.centred, self.size, self.mean_size = self.values.astype(float), size, 0 * size[0]
        if asked.centred:
            self.mean = self.values.sum(axis=0) / m
            with_mean = np.array([self.values[i, row] @ self.mean[row] for i, row in enumerate(stored)])
            gram = gram - with_mean[:, None] - with_mean[None, :] + self.mean @ self.mean
            self.mean_size = size.mean(axis=0)
            self.centred, self.size = (self.values - self.mean).astype(float), size + self.mean_size
            self.once += 2 * (m + len(self.columns))  # the other columns add exact zeros
        self.products = gram + 1


class Steps:
    """Derivatives of all steps on the grid, and how far those of a float64 implementation may be off."""

    def __init__(self, asked: Question, rows: Rows):
        self.asked, self.rows = asked, rows
        loss, lam, m = get_loss(asked.loss), Fraction(asked.lam), len(asked.rows)
        derivative = (loss.exact or loss).derivative
        y = [Fraction(label) for label in asked.y]
        scale = np.lcm.reduce(np.array([each.denominator for each in rows.products.ravel()], dtype=object))
        products = [[int(each * scale) for each in row] for row in rows.products]
        near, sizes = abs(rows.products.astype(float)), rows.size @ rows.size.T + 1
        sums, errors, handed_on, made = [0] * m, np.zeros(m), np.zeros(m), np.zeros(m)
        self.g: list[int] = []
        self.d: list[float] = []
        for t, i in enumerate(asked.indices, start=1):
            p = -Fraction(sum(map(int.__mul__, sums, products[i])), scale * GRID) / (lam * max(1, t - 1))
            g = Fraction(derivative(p, y[i]))
            pace = float(lam) * max(1, t - 1)
            e = UP * (near[i] @ handed_on + (4 * t + rows.once) * float(EPS) * (sizes[i] @ made)) / pace
            off = UP * near[i] @ errors / pace  # of p, by the grid
            d = 0.0
            if loss.kink:
                if t > 1 and abs(p - loss.kink(y[i])) <= e:
                    raise ValueError(f"step {t} of {asked.loss} is not decided in float64: take another seed")
            else:
                curvature = 1.0
                if loss.exact:  # a rounded exponential: the log-loss
                    curvature = min(0.25, float(abs(g) * (1 - abs(g))) * (1 + 2 * e) + 2.0**-52)
                d = curvature * e + 4 * float(EPS) * max(1.0, float(abs(g)))
                errors[i] += off + 2.0**-127  # the grid of the log-loss in exact runs
            on_grid = round(g * GRID)
            sums[i] += on_grid
            handed_on[i] += d
            made[i] += float(abs(g))
            self.g.append(on_grid)
            self.d.append(d)
        if errors.max() > 2.0**-90:
            raise ValueError(f"rounding to the grid grows to {errors.max():g}: take a larger lam")


def predictor(steps: Steps, t: int, average: bool) -> dict[str, Any]:
    """Compute (w, b) after t steps, rounded to float64, and their tolerances; w in the columns that are used."""
    asked, rows, indices = steps.asked, steps.rows, steps.asked.indices[:t]
    lam, m = Fraction(asked.lam), len(asked.rows)
    harmonic = [0]
    for step in range(1, t + 1):
        harmonic.append(harmonic[-1] + (GRID + step // 2) // step)
    sums = [0] * m
    for i, slope, before in zip(indices, steps.g, harmonic, strict=False):
        sums[i] += slope * (harmonic[t] - before) if average else slope * GRID
    taught = np.array([Fraction(each, GRID * GRID) for each in sums])
    total, pace = sum(taught, Fraction(0)), lam * t
    drawn = sorted(set(indices))
    w = -((taught[drawn] @ rows.values[drawn]) - total * rows.mean) / pace
    b = -total / pace - w @ rows.mean

    of_row = np.array(indices)
    d, g = np.array(steps.d[:t]), np.array([abs(each) / GRID for each in steps.g[:t]])
    if average:
        h = np.array([each / GRID for each in harmonic])
        d, g = d * (h[t] - h[:t]), g * (h[t] + h[:t])
    handed_on, made = (np.bincount(of_row, weights, minlength=m) for weights in (d, (6 * t + rows.once) * float(EPS) * g))
    mean = rows.mean.astype(float)
    of_w = handed_on @ abs(rows.centred) + made @ rows.size
    of_b = handed_on @ abs(1 - rows.centred @ mean) + made @ (rows.size @ rows.mean_size + 1)
    shown = [float(weight) for weight in w]
    return {
        "t": t,
        "w": shown,
        "b": float(b),
        "tolerance": [
            _up(UP * of_w.max() / float(pace) + 2.0**-52 * max(map(abs, shown))),
            _up(UP * of_b / float(pace) + 2.0**-52 * abs(float(b))),
        ],
    }


def _up(number: float) -> float:
    return float(SHORT.create_decimal_from_float(number))


def document(recipe: Recipe) -> dict[str, Any]:
    """Make the file of a recipe: the answers of all algorithms for its losses."""
    cases = []
    for centred in (False, True):
        rows = None
        for loss in recipe.losses:
            asked = question(recipe, loss, centred)
            rows = rows or Rows(asked)  # they do not depend on the loss
            steps = Steps(asked, rows)
            for average in (False, True):
                points = [predictor(steps, t, average) for t in recipe.checkpoints]
                cases.append(_case(asked, ALGORITHM[average, centred], points))
    return {"paper": PAPER, "version": VERSION, "recipe": recipe.name, "comment": recipe.comment, "cases": cases}


def _case(asked: Question, algorithm: str, checkpoints: Sequence[dict]) -> dict[str, Any]:
    return {"algorithm": algorithm, "loss": asked.loss, "sha256": digest(asked), "checkpoints": list(checkpoints)}
