"""Measure how many digits the centred algorithms keep where the mean is large, and that text needs no pivot.

Algorithm 3 as printed loses about eps·‖x̄‖²/spread², explicit centring in floats eps·‖x̄‖/spread, as x̄ itself is rounded. On
pivoted rows, see `efficient.runs.centring`, nothing is lost. Each is held against the exact run on the very same floats.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache, partial

import numpy as np

import efficient
import reference
from efficient import State
from efficient.runs.algorithms import ALGORITHMS
from efficient.runs.centring import find_pivot
from reference import LOSSES, Problem, draw_indices
from reference.datasets import load_spam, load_tweets, make_generic, make_shifted

from ..ledger import Entry, Job

OFFSETS = (0.0, *(10.0**e for e in range(13)))
"""Numbers added to every entry of rows whose spread is 1."""

LAM = {name: 1.0 if loss.slope_bound is None else 0.1 for name, loss in LOSSES.items()}
BOUND = 1e-12
"""Error that the pivoted run may have, relative to the largest weight or prediction, in T = 40 steps on 20 rows."""

CURVES = {
    "printed": "Algorithm 3 as printed",
    "explicit": "explicit centring in floats",
    "pivoted": "Algorithm 3 on pivoted rows",
}
"""Ways that are measured, by their names in `measure`."""


def text_is_left_alone() -> Iterator[Entry]:
    """Look for a column to pivot on the two real sets, counted and tf-idf."""
    for name, load in (("spam", load_spam), ("tweets", load_tweets)):
        for kind, tfidf in (("counts", False), ("tf-idf", True)):
            rows = Problem(*load(tfidf=tfidf)[:2], "squared", 1.0).X
            density = np.bincount(rows.indices, minlength=rows.n) / rows.m
            pivot = find_pivot(rows)
            yield Entry(
                "pivot",
                "on text no column is pivoted: Algorithm 3 runs as printed, on the rows themselves",
                "counted",
                "all columns of the set",
                f"{0 if pivot is None else np.count_nonzero(pivot)} of {rows.n} columns pivoted, "
                f"{np.count_nonzero(density > 0.8)} with a density above 4/5, the densest {density.max():.2f}",
                pivot is None,
                f"{name} {kind}",
            )


def relative(found, wanted) -> float:
    """Return the largest difference, relative to the largest number wanted, computed exactly."""
    difference = [abs(Fraction(value) - exact) for value, exact in zip(map(float, found), wanted, strict=True)]
    return float(max(difference) / max(map(abs, wanted)))


@cache
def errors(loss: str, offset: float) -> dict[str, float]:
    """Measure the error of each way, relative to the exact run: its weights, and the predictions of the pivoted one."""
    data = make_shifted(20, 5, 5, seed=1, offset=offset)
    indices = draw_indices(20, 40, rng=2)
    exact = Problem(data.X, data.y, loss, Fraction(LAM[loss]))
    problem = Problem(data.X, data.y, loss, LAM[loss])
    wanted, found = efficient.casgd(exact, indices), efficient.casgd(problem, indices)
    return {
        "printed": relative(State(problem, "casgd", pivot=False).run(indices).average().w, wanted.w),
        "explicit": relative(reference.casgd(problem, indices).w, wanted.w),
        "pivoted": relative(found.w, wanted.w),
        "predictions": relative(found.predict(data.X), wanted.predict(data.X)),
        "b' alone": relative(problem.X.dot(found.w) + found.b, wanted.predict(data.X)),
    }


def measure() -> dict[str, np.ndarray]:
    """Return the worst relative error of the weights over all losses, for each of CURVES an array over OFFSETS."""
    return {name: np.array([max(errors(loss, offset)[name] for loss in LOSSES) for offset in OFFSETS]) for name in CURVES}


def keeps_its_digits(loss: str) -> Iterator[Entry]:
    """Hold each way against the exact run at every offset; the printed and the explicit one must be seen to lose digits."""
    measured = [errors(loss, offset) for offset in OFFSETS]
    for name, claim in {
        "pivoted": "casgd on pivoted rows has the weights of the exact run, however large the mean",
        "predictions": "and its predictions",
        "b' alone": "b' alone holds the predictions w · x + b' as well, however large the mean",
        "explicit": "explicit centring in floats has the weights of the exact run, however large the mean",
        "printed": "Algorithm 3 as printed has in floats the weights of the exact run, however large the mean",
    }.items():
        curve = [each[name] for each in measured]
        worst = max(curve)
        shown = ", ".join(f"{curve[OFFSETS.index(offset)]:.0e}" for offset in (0, 1e3, 1e6, 1e9, 1e12))
        yield Entry(
            "pivot",
            claim,
            "measured",
            f"float64, {len(OFFSETS)} offsets from 0 to 1e12",
            f"worst relative error {worst:.1e}, bound {BOUND:.0e}; {shown} at 0, 1e3, 1e6, 1e9, 1e12",
            worst <= BOUND,
            "generic",
            "casgd",
            loss,
            worst,
            BOUND,
            expected=name in ("pivoted", "predictions"),
        )


def translation_in_floats(loss: str) -> Iterator[Entry]:
    """Check the theorem in float64: entries are multiples of 2^-12, so that adding an offset of up to 1e12 does not round."""
    data = make_generic(20, 5, 5, seed=1)
    rows = np.round(data.X.toarray() * 4096) / 4096
    indices = draw_indices(20, 40, rng=2)
    for algorithm in (name for name in ALGORITHMS if ALGORITHMS[name].centred):
        here = getattr(efficient, algorithm)(Problem(rows, data.y, loss, LAM[loss]), indices).w
        moved = [getattr(efficient, algorithm)(Problem(rows + c, data.y, loss, LAM[loss]), indices).w for c in OFFSETS]
        worst = float(max(abs(w - here).max() for w in moved) / abs(here).max())
        yield Entry(
            "pivot",
            "adding a constant to every row leaves the weights as they are in float64 too",
            "measured",
            f"float64, {len(OFFSETS)} offsets from 0 to 1e12",
            f"worst relative difference {worst:.1e}, bound {BOUND:.0e}",
            worst <= BOUND,
            "generic",
            algorithm,
            loss,
            worst,
            BOUND,
        )


def jobs() -> list[Job]:
    checks = [("text", text_is_left_alone)]
    checks += [
        (f"{what.__name__}, {loss}", partial(what, loss))
        for what in (keeps_its_digits, translation_in_floats)
        for loss in LOSSES
    ]
    return [Job(("pivot",), f"pivot: {name}", run) for name, run in checks]
