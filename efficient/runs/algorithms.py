"""Registry of the algorithms: all that a run, and the evidence about it, needs to know of each."""

from typing import Any, NamedTuple

from .. import asgd, casgd, csgd, sgd


class Recovery(NamedTuple):
    """Way to make a predictor from a state: recover(lam, t, …) of the named parts of the state."""

    recover: Any
    parts: tuple[str, ...]


class Mean(NamedTuple):
    """Ways of the centred algorithms to x̄ and θ, and to the projections of all rows."""

    add_up: Any
    centre: Any
    project: Any


class Algorithm(NamedTuple):
    """Facts of an algorithm: its loop, the state that the loop carries, the recoveries, and its label in the paper."""

    steps: Any
    vectors: tuple[str, ...]
    scalars: tuple[str, ...]
    last: Recovery
    average: Recovery | None = None
    mean: Mean | None = None
    label: str = ""

    @property
    def centred(self) -> bool:
        """True if it trains on the rows x − x̄."""
        return self.mean is not None

    @property
    def averaging(self) -> bool:
        """True if it returns the mean of the iterates."""
        return self.average is not None


_LAST = Recovery(sgd.last, ("v", "a"))
_MEAN = Mean(casgd.add_up, casgd.centre, casgd.project)
_CENTRED_LAST = Recovery(csgd.last, ("v", "a", "r", "xbar"))

ALGORITHMS = {
    "sgd": Algorithm(sgd.steps, ("v",), ("a",), _LAST, label="alg:sgd"),
    "asgd": Algorithm(
        asgd.steps,
        ("v", "u"),
        ("a", "c", "h", "total"),
        _LAST,
        Recovery(asgd.average, ("v", "u", "c", "h", "total")),
        label="alg:asgd",
    ),
    "csgd": Algorithm(csgd.steps, ("v",), ("a", "z", "r"), _CENTRED_LAST, mean=_MEAN, label="eqn:wCenter"),
    "casgd": Algorithm(
        casgd.steps,
        ("v", "u"),
        ("a", "c", "h", "total", "z", "r", "s"),
        _CENTRED_LAST,
        Recovery(casgd.average, ("v", "u", "c", "h", "total", "s", "xbar")),
        mean=_MEAN,
        label="alg:casgd",
    ),
}
