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
from reference import Problem, draw_indices
from reference.datasets import make_generic

from ..data import Case
from ..ledger import Entry, Job

ALGORITHMS = ("sgd", "asgd", "csgd", "casgd")


def jobs(cases: list[Case]) -> Iterator[Job]:
    for case in cases:
        for loss, lam in case.lam.items():
            yield Job(("translation",), f"translation: {case.name}, {loss}", partial(translate, case, loss, lam))


def translate(case: Case, loss: str, lam: float) -> Iterator[Entry]:
    """Run each algorithm on a few rows and on the same rows moved by c, and compare every step."""
    rows, y = case.sample(case.X, columns=100, rows=12)
    c = np.array([Fraction(j % 7 - 3, 2) for j in range(rows.shape[1])], dtype=object)
    exact = np.array([[Fraction(value) for value in row] for row in rows.toarray()], dtype=object)
    here, moved = (Problem(X, y, loss, Fraction(repr(lam))) for X in (exact, exact + c))
    steps = 2 * here.m
    indices = draw_indices(here.m, steps, rng=0)
    x_1, x_2 = exact[indices[0]], exact[indices[1]]
    g_1 = here.loss.derivative(Fraction(0), here.y[indices[0]])
    p_2_differs = g_1 * (c @ (x_1 + x_2) + c @ c) != 0
    for name in ALGORITHMS if p_2_differs else ALGORITHMS[2:]:
        first, second = State(here, name), State(moved, name)
        unequal, bias_moves = [], True
        for t, i in enumerate(indices, start=1):
            first.run([i])
            second.run([i])
            if first.p != second.p:
                unequal.append(t)
            for recover in ("last", "average") if name in ("asgd", "casgd") else ("last",):
                before, after = getattr(first, recover)(), getattr(second, recover)()
                bias_moves &= bool((after.w == before.w).all()) and after.b == before.b - before.w @ c
        invariant = not unequal and bias_moves
        if invariant:
            figure = f"{steps} of {steps} predictions and weights equal, b' moves by −w·c at every step"
        else:
            t = unequal[0] if unequal else steps
            figure = f"predictions first differ at step {t}, {len(unequal)} of {steps} in all"
        yield Entry(
            "translation",
            "adding a constant to every row leaves the predictions as they are",
            f"exact, ==, λ = {here.lam}",
            figure,
            invariant,
            case.name,
            name,
            loss,
            expected=name in ("csgd", "casgd"),
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
