"""Translation: adding a constant vector c to every row moves the centred algorithms' bias by −w · c and changes nothing else.

The uncentred ones make other predictions. Both are decided in exact arithmetic on real rows.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import numpy as np

from efficient import State
from reference import Problem, draw_indices

from .cases import Case
from .ledger import Entry, Job

ALGORITHMS = ("sgd", "asgd", "csgd", "casgd")


def jobs(cases: list[Case]) -> Iterator[Job]:
    for case in cases:
        for loss in case.lam:
            yield Job(("translation",), f"translation: {case.name}, {loss}", partial(translate, case, loss))


def translate(case: Case, loss: str) -> Iterator[Entry]:
    """Run each algorithm on a few rows and on the same rows moved by c, and compare every step."""
    rows, y = case.sample(case.X, columns=150, rows=24)
    c = np.array([Fraction(j % 7 - 3, 2) for j in range(rows.shape[1])], dtype=object)
    exact = np.array([[Fraction(value) for value in row] for row in rows.toarray()], dtype=object)
    here, moved = (Problem(X, y, loss, Fraction(1, 10)) for X in (exact, exact + c))
    steps = 2 * here.m
    for name in ALGORITHMS:
        first, second = State(here, name), State(moved, name)
        unequal, bias_moves = [], True
        for t, i in enumerate(draw_indices(here.m, steps, rng=0), start=1):
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
            "exact, ==",
            figure,
            invariant,
            case.name,
            name,
            loss,
            expected=name in ("csgd", "casgd"),
        )
