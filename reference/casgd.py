"""Average the iterates of stochastic gradient descent on the rows x_i − x̄ by definition, eq. 16."""

from .asgd import average
from .averaging import AveragingWeights
from .problem import Predictor, Problem
from .sgd import iterates


def casgd(problem: Problem, indices, *, t0=0, averaging_weights: AveragingWeights | None = None) -> Predictor:
    """Average the iterates on the rows x_i − x̄ uniformly; return the predictor for raw rows, (w̄_T, b̄'_T).

    t0 and weights as in `asgd`.

    Paper: Section "Centering and Translation Invariance", eq. 16 (eqn:centerAvg).
    Cost: O(Tn).
    """
    return average(problem, iterates(problem, indices, centred=True, t0=t0), averaging_weights)  # eq. 16 (eqn:centerAvg)
