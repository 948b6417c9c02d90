"""Translation: adding a constant vector c to every row moves the centred algorithms' bias by −w · c and changes nothing else.

The uncentred ones make other predictions: p_2 differs by −(g_1/λ)(c · (x_1 + x_2) + ‖c‖²), unless the rows happen to make
that 0, and then nothing is claimed. Both are decided in exact arithmetic on real rows.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import numpy as np

import efficient
from efficient import State
from efficient.runs.algorithms import ALGORITHMS
from reference import Predictor, Problem, draw_indices
from reference.datasets import make_generic

from ..data import Case
from ..ledger import Entry, Job
from .iterates import compare
from .rationals import on_rationals, to_rationals


def jobs(cases: list[Case]) -> Iterator[Job]:
    for case in cases:
        for loss, lam in case.lam.items():
            yield Job(("translation",), f"translation: {case.name}, {loss}", partial(translate, case, loss, lam))


def translate(case: Case, loss: str, lam: float) -> Iterator[Entry]:
    """Run each algorithm on a few rows moved by c, and compare every step with the definition on the rows as they are."""
    rows, y = case.sample(case.X, columns=100, rows=12)
    c = np.array([Fraction(j % 7 - 3, 2) for j in range(rows.shape[1])], dtype=object)
    exact = np.array([[Fraction(value) for value in row] for row in rows.toarray()], dtype=object)
    here, moved = (on_rationals(Problem(X, y, loss, Fraction(repr(lam)))) for X in (exact, exact + c))
    exact, c = to_rationals(exact), to_rationals(c)

    class Moved(State):
        """Run on the rows x + c, with its predictors as those of the rows x: their bias is b' + w · c."""

        def __init__(self, problem, algorithm, **options):
            super().__init__(moved, algorithm, **options)

        def last(self):
            return Predictor((found := super().last()).w, found.b + found.w @ c)

        def average(self):
            return Predictor((found := super().average()).w, found.b + found.w @ c)

    steps = 2 * here.m
    indices = draw_indices(here.m, steps, rng=0)
    x_1, x_2 = exact[indices[0]], exact[indices[1]]
    g_1 = here.loss.derivative(here.number(0), here.y[indices[0]])
    p_2_differs = g_1 * (c @ (x_1 + x_2) + c @ c) != 0
    judged = [name for name, algorithm in ALGORITHMS.items() if algorithm.centred or p_2_differs]
    for name, trace in compare(here, indices, judged, state=Moved).items():
        unequal = np.flatnonzero(trace.prediction != 0) + 1
        invariant = bool(trace.equal.all())
        if invariant:
            figure = f"{steps} of {steps} predictions and weights equal, b' moves by −w·c at every step"
        else:
            figure = f"predictions first differ at step {min(unequal, default=steps)}, {len(unequal)} of {steps} in all"
        yield Entry(
            "translation",
            "adding a constant to every row leaves the predictions as they are",
            "exact",
            f"==, λ = {here.lam}",
            figure,
            invariant,
            case.name,
            name,
            loss,
            expected=ALGORITHMS[name].centred,
        )


def changes(offsets, loss: str = "log", lam: float = 0.1, steps: int = 200) -> dict[str, np.ndarray]:
    """Measure the change of each algorithm's predictions on 20 rows, of the largest, when a number is added to all entries.

    In float64; the entries are multiples of 2^-12, so that adding a power of two up to 2^30 does not round.
    """
    data = make_generic(20, 5, 5, seed=1)
    rows = np.round(data.X.toarray() * 4096) / 4096
    indices = draw_indices(len(rows), steps, rng=2)
    found = {}
    for name in ALGORITHMS:
        train = getattr(efficient, name)
        here, *moved = (
            train(Problem(rows + offset, data.y, loss, lam), indices).predict(rows + offset) for offset in (0, *offsets)
        )
        found[name] = np.array([abs(there - here).max() for there in moved]) / abs(here).max()
    return found
