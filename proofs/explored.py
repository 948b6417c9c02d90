"""One feature, so that weight and bias are a plane to look at: a run of all four algorithms, step by step.

60 rows of spread 1 with labels -1 and +1 are moved by a translation. Plain algorithms are seen in the plane (w, b) of eq. 1;
centred ones in that of the centred rows, whose bias b' + w · x̄ is what is regularised.
"""

from typing import NamedTuple

import numpy as np

from efficient import State
from reference import Minimum, Predictor, Problem, draw_indices, minimise, safe_t0
from reference.datasets import make_shifted

ROWS, STEPS = 60, 1000
PAIRS = {False: ("sgd", "asgd"), True: ("csgd", "casgd")}
"""The last iterate and the mean, without and with centring."""


class View(NamedTuple):
    """What is seen of the runs.

    `path` holds for each algorithm (w, b) after every step, shape (STEPS, 2); `t` are the steps at which `excess`, F − F*, is
    known; `margins` are y_i p_i in the end. `minima` are those of F and, under True, of the centred F.
    """

    problem: Problem
    path: dict[str, np.ndarray]
    t: np.ndarray
    excess: dict[str, np.ndarray]
    margins: dict[str, np.ndarray]
    minima: dict[bool, Minimum]


def view(lam: float, loss: str, translation: float = 0.0, t0=0, seed: int = 0) -> View:
    """Run the four algorithms on the same draws.

    Parameters
    ----------
    lam, loss : as in `Problem`; the labels are -1 and +1, which every loss takes
    translation : float
        What is added to every row.
    t0 : number or "safe"
        The offset of the step size; "safe" for that of `safe_t0`, each problem its own.
    seed : int
        Of the draws.

    Raises
    ------
    FloatingPointError
        The iterates overflowed.

    Cost: O(STEPS).
    """
    data = make_shifted(ROWS, 1, 1, seed=3, offset=translation)
    problem = Problem(data.X, data.y, loss, lam)
    indices = draw_indices(problem.m, STEPS, rng=seed)
    t = np.unique(np.geomspace(1, STEPS, 40).round().astype(int))
    path, excess, margins, minima = {}, {}, {}, {}
    for centred, pair in PAIRS.items():
        minima[centred] = minimise(problem, centred)
        lowest = minima[centred].value - minima[centred].gap
        offset = safe_t0(problem, centred) if t0 == "safe" else t0
        seen: dict[str, list[Predictor]] = {name: [] for name in pair}

        def look(_, state, seen=seen):
            for each, recover in zip(seen.values(), (state.last, state.average), strict=True):
                each.append(recover())

        State(problem, pair[1], t0=offset).run(indices, callback=look, every=1, progress=False)
        for name, predictors in seen.items():
            path[name] = np.array([point(problem, predictor, centred) for predictor in predictors])
            excess[name] = np.array([problem.objective(predictors[step - 1], centred) for step in t]) - lowest
            margins[name] = problem.y * predictors[-1].predict(data.X)
    return View(problem, path, t, excess, margins, minima)


def point(problem: Problem, predictor: Predictor, centred: bool) -> tuple[float, float]:
    """(w, b), with the bias that is regularised."""
    at = predictor.explicit(problem.xbar) if centred else predictor.implicit()
    return float(at.w[0]), float(at.b)
