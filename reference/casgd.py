"""Centred averaged stochastic gradient descent by definition: the mean of the iterates on the rows x_i − x̄, eq. 16."""

from .asgd import average
from .averaging import Weights
from .problem import Predictor, Problem
from .sgd import iterates


def casgd(problem: Problem, indices, *, t0=0, weights: Weights | None = None) -> Predictor:
    """The uniform average of the iterates on the rows x_i − x̄, as a predictor for raw rows: (w̄_T, b̄'_T).

    t0 and weights as in `asgd`.

    Paper: Section "Centering and Translation Invariance", eq. 16 (eqn:centerAvg).
    Cost: O(Tn).
    """
    return average(problem, iterates(problem, indices, centred=True, t0=t0), weights)  # eq. 16 (eqn:centerAvg)
