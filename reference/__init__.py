"""Define the algorithms of *Linear Learning with Sparse Data* (Ofer Dekel, arXiv:1612.09147), dense and naive, O(Tn).

Readable beats fast here. `efficient` computes the same in O(n + Tk), and `proofs` shows that it does.
"""

from .asgd import asgd
from .casgd import casgd
from .csgd import csgd
from .losses import LOSSES, Loss
from .optimum import Minimum, minimise
from .problem import Predictor, Problem
from .sampling import draw_indices
from .sgd import Iterate, iterates, sgd
from .step_size import safe_t0

__all__ = [
    "LOSSES",
    "PAPER",
    "Iterate",
    "Loss",
    "Minimum",
    "Predictor",
    "Problem",
    "asgd",
    "casgd",
    "csgd",
    "draw_indices",
    "iterates",
    "minimise",
    "safe_t0",
    "sgd",
]

PAPER = "arXiv:1612.09147"
"""Paper that this package belongs to; `efficient` compares it, to refuse another package of the same name."""
