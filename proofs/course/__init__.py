"""Mark the exercises of the course: tests that name the fault of an answer, and marks for each test.

Algorithms are compared with the vectors of `proofs.conformance`, whose diagnosis is shown. Formulas are decided by the prover
of `proofs.proved`. A test returns nothing if the answer is right, and raises `Wrong`, with sentences for its author, if not.
"""

try:
    from . import questions
    from .algorithms import conforms, touches_few
    from .marking import Wrong, marks, total
    from .schemes import PASSES, excess, is_weighted_mean
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"proofs.course needs {error.name}: pip install -e '.[proofs]' in a clone", name=error.name
    ) from None

__all__ = ["PASSES", "Wrong", "conforms", "excess", "is_weighted_mean", "marks", "questions", "total", "touches_few"]
