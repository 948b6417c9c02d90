"""Run Algorithms 1 to 3 of *Linear Learning with Sparse Data* at cost O(n + Tk).

The loop of each is written once: compiled on float64, plain Python on fractions, symbols, balls and counting arrays. For speed,
`kernels.batch` restates Algorithms 2 and 3 for K models in one pass; `proofs.proved.batch` proves the loops equal.
"""

import reference

if getattr(reference, "PAPER", None) != "arXiv:1612.09147":
    raise ImportError(
        f"the package `reference` at {reference.__path__} is not this project's package. "
        "Install this project into a virtual environment of its own"
    )

from reference import Predictor, Problem
from reference.averaging import AveragingWeights

from .runs.batch import States
from .runs.certify import Certificate
from .runs.state import State


def sgd(problem: Problem, indices, *, t0=0) -> Predictor:
    """Return the last iterate of stochastic gradient descent, without a dense operation in the loop.

    Parameters
    ----------
    problem : Problem
    indices : sequence of T row numbers in 0..m-1, the paper's π
    t0 : number >= 0
        The steps have the size 1/(λ(t + t0)). The paper has t0 = 0; `safe_t0` is what the squared loss needs.

    Returns
    -------
    Predictor
        (w_T, b_T)

    Raises
    ------
    TypeError, ValueError
        Unusable indices, or a user's own loss that numba cannot compile; no step was taken.
    FloatingPointError
        The iterates overflowed; names the step.

    Paper: Algorithm 1 (alg:sgd).
    Cost: O(n + Tk).
    """
    return State(problem, "sgd", t0=t0).run(indices).last()


def asgd(problem: Problem, indices, *, t0=0, averaging_weights: AveragingWeights | None = None) -> Predictor:
    """Return the mean of all T iterates, at the cost of the last one; parameters and errors as `sgd`.

    With `averaging_weights`, a function of step numbers such as `polynomial(1)` or `suffix(1000)`, it is their weighted mean.

    Paper: Algorithm 2 (alg:asgd).
    Cost: O(n + Tk).
    """
    return State(problem, "asgd", t0=t0, averaging_weights=averaging_weights).run(indices).average()


def csgd(problem: Problem, indices, *, t0=0) -> Predictor:
    """Return the last iterate on centred rows, for raw rows, (w_T, b'_T); parameters and errors as `sgd`.

    Paper: Section "Centering and Translation Invariance", eqs. 12 to 15.
    Cost: O(n + mk + Tk).
    """
    return State(problem, "csgd", t0=t0).run(indices).forget_rows().last()


def casgd(problem: Problem, indices, *, t0=0, averaging_weights: AveragingWeights | None = None) -> Predictor:
    """Return the mean of all T iterates on centred rows, for raw rows, (w̄_T, b̄'_T); parameters and errors as `asgd`.

    In float64 the printed recurrence cancels where a column's mean is large against its spread; such columns are moved to 0 by
    a pivot first, which changes nothing else (translation invariance). The predictor keeps the pivot form beside b'.

    Paper: Algorithm 3 (alg:casgd).
    Cost: O(n + mk + Tk).
    """
    return State(problem, "casgd", t0=t0, averaging_weights=averaging_weights).run(indices).forget_rows().average()


def certify(problem: Problem, indices, predictor: Predictor | None = None, algorithm: str = "asgd", **options) -> Certificate:
    """Certify how near a float64 predictor comes to the exact run of the algorithm; `options` as those of `State`.

    Paper: none; Algorithms 1 to 3 in exact arithmetic are what float64 is held against.
    Cost: O(n + mk + Tk) operations on balls; see `State.certify`.
    """
    return State(problem, algorithm, **options).certify(indices, predictor)


def __getattr__(name: str):
    """Return the estimators, imported when they are asked for: they need scikit-learn, which takes half a second to import."""
    if name in ("CASGDClassifier", "CASGDRegressor"):
        from .estimators import linear as estimators

        return getattr(estimators, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, those of the estimators too."""
    return __all__


__all__ = ["CASGDClassifier", "CASGDRegressor", "State", "States", "asgd", "casgd", "certify", "csgd", "sgd"]
