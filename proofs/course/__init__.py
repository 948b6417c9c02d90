"""What the exercises in `notebooks/exercises` call: marks for a test, and tests that say what is wrong with an answer.

The algorithms are held to the vectors of `proofs.conformance`, whose diagnosis is shown; formulas are decided by the prover of
the proofs. A test returns nothing if the answer is right, and raises `Wrong`, with sentences for its author, if not.
"""

from . import questions
from .algorithms import conforms, touches_few
from .marking import Wrong, marks, total
from .schemes import PASSES, excess, is_weighted_mean

__all__ = ["PASSES", "Wrong", "conforms", "excess", "is_weighted_mean", "marks", "questions", "total", "touches_few"]
