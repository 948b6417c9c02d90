"""Run stochastic gradient descent on the rows x_i − x̄ by definition, and hide x̄ in the bias, eq. 11."""

from .problem import Predictor, Problem
from .sgd import iterates, last


def csgd(problem: Problem, indices, *, t0=0) -> Predictor:
    """Return the last iterate on the rows x_i − x̄, as a predictor for raw rows: (w_T, b'_T) with b' = b − w · x̄.

    Paper: Section "Centering and Translation Invariance", "a centered version of SGD"; eq. 11 (eqn:explicitToImplicit).
    Cost: O(Tn).
    """
    return last(iterates(problem, indices, centred=True, t0=t0))
