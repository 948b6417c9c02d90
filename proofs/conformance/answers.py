"""Call an implementation on copies and validate its output; exceptions become verdicts."""

import numbers
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

import numpy as np

from . import serve
from .cases import Case
from .serve import MOST_BITS, MOST_DIGITS, shown, told


class Answer(NamedTuple):
    """Predictor, and the predictions and derivatives of its steps if returned: floats, or Fractions if exact."""

    w: tuple[Any, ...]
    b: Any
    p: tuple[Any, ...] | None = None
    g: tuple[Any, ...] | None = None


@dataclass(frozen=True)
class Trouble:
    """Missing answer: `kind` is "error" or "unsupported", `text` says why; `divides` if it was a division by zero."""

    kind: str
    text: str
    divides: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", serve.one_line(self.text))  # it is another program's


Reply = Answer | Trouble


class Implementation(Protocol):
    """Program under test, a function or a command."""

    name: str
    version: str

    def ask(self, cases: Sequence[Case], exact: bool) -> Iterator[list[Reply]]:
        """Reply to every case, in order: one reply for each checkpoint."""


class Function:
    """Python callable `train(X, y, loss, lam, indices, average, centred)` that returns (w, b) or (w, b, p, g)."""

    def __init__(self, train: Callable, name: str | None = None):
        if not callable(train):
            raise TypeError(f"train must be a function (X, y, loss, lam, indices, average, centred) -> (w, b); got {train!r}")
        module, qualified = getattr(train, "__module__", None), getattr(train, "__qualname__", None)
        self.train = train
        self.name = name or (f"{module}:{qualified}" if module and qualified else repr(train))
        serve.check_signature(train, self.name)
        self.version = serve.version_of(module)

    def ask(self, cases: Sequence[Case], exact: bool) -> Iterator[list[Reply]]:
        for case in cases:
            yield [self._ask(case, checkpoint.t, exact) for checkpoint in case.checkpoints]

    def _ask(self, case: Case, t: int, exact: bool) -> Reply:
        lam = Fraction(case.lam) if exact else case.lam
        try:
            result = serve.call(
                self.train, case.rows, case.n, case.y, case.loss, lam, case.indices[:t], case.average, case.centred
            )
        except serve.Refused as error:
            return Trouble(error.kind, str(error), error.divides)
        return read(result, case.n, t, exact)


def import_function(path: str) -> Function:
    """Import the function that `package.module:function` names; raise ValueError if it cannot be."""
    found, version = serve.find(path)
    function = Function(found, path)
    function.version = version  # not of where the function comes from: that may be a helper
    return function


def read(values: Sequence[Any], n: int, t: int, exact: bool) -> Reply:
    """Validate (w, b) or (w, b, p, g): n weights, a bias, t predictions and derivatives."""
    try:
        w, b = _vector("w", values[0], n, exact), _number("b", values[1], exact)
        if len(values) == 2:
            return Answer(w, b)
        return Answer(w, b, _vector("p", values[2], t, exact), _vector("g", values[3], t, exact))
    except Exception as error:
        return Trouble("error", str(error) if isinstance(error, ValueError) else f"cannot be read: {told(error)}")


def _vector(name: str, values: Any, size: int, exact: bool) -> tuple[Any, ...]:
    try:
        shape = np.shape(values)
    except Exception:
        raise ValueError(f"{name} must be a vector of {size} numbers; it is {shown(values)}") from None
    if shape != (size,):
        what = f"has the shape {shape}" if shape else f"is {shown(values)}"
        raise ValueError(f"{name} must be a vector of {size} numbers, shape ({size},); it {what}")
    return tuple(_number(f"{name}[{j}]", value, exact) for j, value in enumerate(values))


def _number(name: str, value: Any, exact: bool) -> Any:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise ValueError(f"{name} must be a number; it is {shown(value)}")
    if not exact:
        try:
            return float(value)
        except OverflowError:
            raise ValueError(f"{name} must fit a float64; it is {shown(value)}") from None
    if not isinstance(value, numbers.Rational):
        raise ValueError(f"{name} must be exact, a Fraction or an int, as lam is a Fraction; it is {shown(value)}")
    numerator, denominator = int(value.numerator), int(value.denominator)
    if max(numerator.bit_length(), denominator.bit_length()) > MOST_BITS:
        raise ValueError(f"{name} must have at most {MOST_DIGITS} digits above and below the line; it has more")
    return Fraction(numerator, denominator)
