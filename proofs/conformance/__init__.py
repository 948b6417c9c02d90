"""Test any implementation against the paper: `check(train)`, or `python -m proofs.conformance --impl module:train`.

An implementation is a callable `train(X, y, loss, lam, indices, average, centred) -> (w, b)`: the predictor for raw rows,
the mean of the iterates or the last of them. Our own two packages are called in the same way.
"""

from types import ModuleType

from .cases import ALGORITHM
from .check import check

__all__ = ["ALGORITHM", "check", "train_with"]


def train_with(package: ModuleType):
    """Make the `train` callable of a package that has functions sgd, asgd, csgd and casgd: `reference` or `efficient`."""
    from reference import Problem  # a check needs neither package

    def train(X, y, loss, lam, indices, average, centred):
        predictor = getattr(package, ALGORITHM[average, centred])(Problem(X, y, loss, lam), indices)
        return predictor.w, predictor.b

    return train
