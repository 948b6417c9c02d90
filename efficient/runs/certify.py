"""Certify digits: run the same loop on balls, which hold the exact result, and compare a float64 run with it.

The exact run is that of the algorithm on the float64 rows, labels, λ, t0 and averaging weights as they are. A float64 run
parts from it by rounding: a little in every step, which the later derivatives amplify, and at a kink by taking its other side.
"""

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from reference import Predictor, Problem
from reference.averaging import AveragingWeights
from reference.rows import as_rows

EPS = float(np.finfo(np.float64).eps)
DIGITS = 20
"""Digits of the largest weight that the exact run is made to have: a few more than float64 has."""


class BallRun(NamedTuple):
    """Run on balls: p_t and ℓ'(p_t) of every step, the last predictor, the mean if one is kept, and the bits it took."""

    p: list[Any]
    slopes: list[Any]
    last: Predictor
    average: Predictor | None
    bits: int

    @property
    def result(self) -> Predictor:
        """Predictor that the algorithm returns."""
        return self.last if self.average is None else self.average


def run_on_balls(
    begin: Callable[..., Any],
    problem: Problem,
    indices,
    slopes: Sequence[float] | None = None,
    *,
    digits: int = DIGITS,
    ladder: Sequence[int] | None = None,
    progress: bool | None = None,
) -> BallRun:
    """Run a problem exactly: on balls, at the first precision that decides every step and gives the digits.

    Parameters
    ----------
    begin : callable (problem) -> State
        How a run of the algorithm begins, on any problem.
    problem : Problem in float64, or on balls
    indices : sequence of T row numbers
    slopes : T numbers, optional
        Derivatives to take in place of ℓ'(p_t), each times the weight of its example: those of another run.
    digits : int
        Digits that the largest number of each predictor must have.
    ladder : sequence of int, optional
        Precisions to try, in bits; by default those of `reference.balls.LADDER` that have as many digits.
    progress : bool, optional
        As for `Run.run`.

    Raises
    ------
    ImportError
        python-flint is not installed.
    Undecided
        Not even the last precision decides; names the step.

    Cost: O(k) operations on balls a step.
    """
    from reference import balls

    on_balls = balls.on_balls(problem) if problem.number is np.float64 else problem
    run = partial(_run, begin, on_balls, indices, slopes, progress, balls.Undecided)

    def wanted(found: BallRun) -> bool:
        return all(_relative_radius(each) <= 10.0**-digits for each in (found.last, found.average) if each is not None)

    found, bits = balls.climb(run, wanted, ladder or [bits for bits in balls.LADDER if 2.0**-bits <= 10.0**-digits])
    return found._replace(bits=bits)


def _run(begin, problem: Problem, indices, slopes, progress, undecided: type[Exception]) -> BallRun:
    of_loss = problem.loss.derivative
    p: list[Any] = []
    taken: list[Any] = []

    def derivative(prediction, y):
        try:
            slope = of_loss(prediction, y) if slopes is None else problem.number(slopes[len(taken)])
        except undecided as error:
            raise undecided(f"at step {len(taken) + 1} {error}") from None
        p.append(problem.number(prediction))
        taken.append(slope)
        return slope

    problem = copy.copy(problem)
    problem.loss = replace(problem.loss, derivative=derivative)
    state = begin(problem)
    if slopes is not None:  # x̄ has the weights of the examples by now, and the slopes have them too
        state.problem = copy.copy(problem)
        state.problem.sample_weight = np.broadcast_to(np.array(problem.number(1)), problem.m)
    state.run(indices, progress=progress)
    mean = state.average() if state._parts.averaging and state.total != 0 else None
    return BallRun(p, taken, state.last(), mean, 0)


def _relative_radius(predictor: Predictor) -> float:
    numbers = [*predictor.w, predictor.b]
    radius, largest = max(each.radius for each in numbers), max(abs(each.midpoint) for each in numbers)
    return radius / largest if largest else radius


@dataclass(frozen=True, eq=False)
class Certificate:
    """Distances of a float64 result from the exact run of the same algorithm on the same float64 rows.

    Parameters
    ----------
    found, exact : Predictor
        What is certified, and the exact one, on balls of `bits` bits.
    w, b : ndarray of shape (n,), float
        Bounds of |w_j − exact w_j| and |b − exact b|.
    predictions, off : ndarray of shape (m,), or None
        Predictions of the rows that were given, and bounds of their distances from those of the exact run.
    algorithm, steps, bits : str, int, int
    parted : (int, float), or None
        First step whose derivative is of another side of the kink than in the exact run, and the distance of the exact
        prediction from the kink.
    amplification : float
        How many times larger the error is than that of the same run before later derivatives depended on rounding.
    repeated : bool
        True if this machine, running the algorithm in float64, makes what is certified, bit for bit.
    """

    found: Predictor
    exact: Predictor
    w: np.ndarray
    b: float
    predictions: np.ndarray | None
    off: np.ndarray | None
    algorithm: str
    steps: int
    bits: int
    parted: tuple[int, float] | None
    amplification: float
    repeated: bool

    @property
    def within(self) -> float:
        """Bound of the error of every weight; of the bias where there are no weights."""
        return float(self.w.max()) if len(self.w) else self.b

    @property
    def relative(self) -> float:
        """Bound of the error of every weight, relative to the largest; of the bias where there are no weights."""
        return _ratio(self.within, abs(self.found.w).max() if len(self.w) else abs(self.found.b))

    @property
    def digits(self) -> int:
        """Count the digits of the largest weight that are certified."""
        return digits_of(self.relative)

    def as_dict(self) -> dict[str, Any]:
        """Give all of it for JSON: exact weights as texts with 20 digits, a ratio to 0 as null."""
        exact = [*self.exact.w, self.exact.b]
        about = {
            "algorithm": self.algorithm,
            "steps": self.steps,
            "bits": self.bits,
            "within": self.within,
            "relative": _finite(self.relative),
            "digits": self.digits,
            "amplification": _finite(self.amplification),
            "repeated": self.repeated,
            "parted": None if self.parted is None else dict(zip(("step", "margin"), self.parted, strict=True)),
            "w": _listed(self.found.w, exact[:-1], self.w),
            "b": _listed([self.found.b], exact[-1:], [self.b])[0],
        }
        if self.predictions is not None and self.off is not None:
            pairs = zip(self.predictions.tolist(), self.off.tolist(), strict=True)
            about["predictions"] = [{"value": value, "within": within} for value, within in pairs]
        return about

    def __str__(self) -> str:
        said = [
            f"The {len(self.w)} weights are within {self.within:.1e} of the exact run of {self.algorithm} ({self.steps} steps; "
            f"balls of {self.bits} bits): {self.digits} digits of the largest are certified. The bias is within {self.b:.1e}."
        ]
        if self.off is not None:
            said.append(
                f"The {len(self.off)} predictions are within {self.off.max(initial=0.0):.1e} of those of the exact run."
            )
        if self.parted is not None:
            step, margin = self.parted
            said.append(
                f"At step {step} float64 took the other side of the kink, from which the exact prediction is {margin:.1e} "
                "away; from there on the two runs take different steps."
            )
        said.append(f"The problem {amplifies(self.amplification)}.")
        if not self.repeated:
            said.append("This machine, running the algorithm again, does not make these weights to the bit.")
        return " ".join(said)


def amplifies(times: float) -> str:
    """Say by how much a problem amplifies rounding."""
    return "does not amplify rounding" if times < 2 else f"amplifies rounding {times:.2g} times"


def digits_of(relative: float) -> int:
    """Count the decimal digits that an error of this size, relative to the number, leaves right."""
    return int(max(0, min(17, -math.log10(relative)))) if relative else 17


def certificate(state, indices, predictor: Predictor | None = None, rows=None, progress: bool | None = None) -> Certificate:
    """Certify the result of a run of these indices from the first step on; see `State.certify`."""
    from reference import balls

    if state.problem.number is not np.float64:
        raise TypeError(
            f"problem must be in float64 to be certified; got lam={state.problem.lam!r}, whose run is exact already"
        )
    begin = partial(_begin, state)
    again, slopes = begin(state.problem), []
    again.run(indices, callback=lambda _, run: slopes.append(float(run.g)), every=1, progress=False)
    (made,) = again.predictors()
    found = made if predictor is None else predictor
    if len(found.w) != state.problem.n:
        raise ValueError(f"predictor must have {state.problem.n} weights, one for each column; got {len(found.w)}")
    exact = run_on_balls(begin, state.problem, indices, progress=progress)
    own = run_on_balls(begin, state.problem, indices, slopes, progress=progress)
    with balls.precision(exact.bits):
        w, b = distances(found, exact.result)
        alone = max(*distances(made, own.result)[0], distances(made, own.result)[1], EPS * _largest(made))
        amplified = max(*distances(made, exact.result)[0], distances(made, exact.result)[1])
        predictions, off = None, None
        if rows is not None:
            X = as_rows(rows)
            predictions = found.predict(rows)
            exactly = exact.result._on(balls.rows_on_balls(X))
            off = np.array([each.distance(p) for each, p in zip(exactly, predictions.tolist(), strict=True)])
    return Certificate(
        found,
        exact.result,
        w,
        b,
        predictions,
        off,
        state.algorithm,
        len(slopes),
        exact.bits,
        parted(state.problem, indices, exact, slopes),
        max(1.0, _ratio(amplified, alone)),
        np.array_equal(made.w, found.w) and bool(made.b == found.b),
    )


def _begin(state, problem: Problem):
    """Begin the run of a state anew, on this problem, with the same options."""
    weights = state.averaging_weights
    weights = float_weights(weights) if problem.X.exact and weights is not None else weights
    options: dict[str, Any] = {"t0": state.t0, "pivot": state._may_pivot, "averaging_weights": weights}
    centre = state._centre
    if centre is not None and problem.X.exact and centre.pivot is not None:
        pivot, xbar = (np.array([problem.number(each) for each in part], dtype=object) for part in centre)
        centre = centre._replace(pivot=None, xbar=pivot + xbar)
    return type(state)(problem, state.algorithm, centre=centre, **options)


def float_weights(averaging_weights: AveragingWeights) -> AveragingWeights:
    """Give the averaging weights of a float64 run for one step number of any arithmetic: float64 numbers, taken exactly."""
    return lambda t: float(np.ravel(averaging_weights(np.array([_float(t)])))[0])


def _float(number) -> float:
    """Convert a number of any arithmetic to the nearest float64; of a ball, the midpoint."""
    return float(getattr(number, "midpoint", number))


def parted(problem: Problem, indices, exact: BallRun, slopes: Sequence[float]) -> tuple[int, float] | None:
    """Find the first step at which a float64 run took the other side of a kink, with the margin of the exact one there."""
    kink = problem.loss.kink
    if kink is None:
        return None
    for t, (i, slope) in enumerate(zip(indices, slopes, strict=True)):
        if problem.sample_weight[i] * _float(exact.slopes[t]) != slope:
            return t + 1, abs(exact.p[t] - kink(problem.y[i])).midpoint
    return None


def distances(found: Predictor, exact: Predictor) -> tuple[np.ndarray, float]:
    """Bound the distance of each weight, and of the bias, from those of a predictor on balls."""
    w = np.array([each.distance(float(weight)) for each, weight in zip(exact.w, found.w, strict=True)])
    return w, exact.b.distance(float(found.b))


def _largest(predictor: Predictor) -> float:
    return max(abs(predictor.w).max(initial=0.0), abs(predictor.b))


def _ratio(error: float, size: float) -> float:
    return float(error / size) if size else math.inf if error else 0.0


def _finite(ratio: float) -> float | None:
    return ratio if ratio < math.inf else None


def _listed(values, exact, within) -> list[dict[str, Any]]:
    return [
        {"value": float(value), "exact": ball.x.mid().str(20, radius=False), "within": float(each)}
        for value, ball, each in zip(values, exact, within, strict=True)
    ]
