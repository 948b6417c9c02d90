"""Call an implementation on copies and validate its output; exceptions become verdicts."""

import importlib
import importlib.metadata
import numbers
import warnings
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

import numpy as np

from .cases import Case


class Answer(NamedTuple):
    """Predictor, and the predictions and derivatives of its steps if returned: floats, or Fractions if exact."""

    w: tuple[Any, ...]
    b: Any
    p: tuple[Any, ...] | None = None
    g: tuple[Any, ...] | None = None


class Trouble(NamedTuple):
    """Missing answer: `kind` is "error" or "unsupported", `text` says why; `divides` if it was a division by zero."""

    kind: str
    text: str
    divides: bool = False


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
        self.version = _version_of(module)

    def ask(self, cases: Sequence[Case], exact: bool) -> Iterator[list[Reply]]:
        for case in cases:
            yield [self._ask(case, checkpoint.t, exact) for checkpoint in case.checkpoints]

    def _ask(self, case: Case, t: int, exact: bool) -> Reply:
        X, y, indices = case.matrix(), np.array(case.y, dtype=np.float64), np.array(case.indices[:t], dtype=np.int64)
        lam = Fraction(case.lam) if exact else case.lam
        arrays = {"X": X.data, "X.indices": X.indices, "X.indptr": X.indptr, "y": y, "indices": indices}
        before = {name: array.copy() for name, array in arrays.items()}
        try:
            with warnings.catch_warnings(), np.errstate():  # restore what it sets
                warnings.simplefilter("ignore")
                result = self.train(X, y, case.loss, lam, indices, case.average, case.centred)
        except KeyboardInterrupt:
            raise
        except NotImplementedError as error:
            return Trouble("unsupported", _told(error))
        except BaseException as error:
            return Trouble("error", _told(error), isinstance(error, ZeroDivisionError))
        after = arrays | {"X": X.data, "X.indices": X.indices, "X.indptr": X.indptr}
        changed = [name for name, array in before.items() if not np.array_equal(array, after[name])]
        if changed:
            return Trouble("error", f"changed its argument {changed[0]}: the caller's arrays must be left as they are")
        if result is None:
            return Trouble("error", "must return (w, b) or (w, b, p, g); returned nothing: is the `return` missing?")
        if not isinstance(result, (tuple, list)) or len(result) not in (2, 4):
            return Trouble("error", f"must return (w, b) or (w, b, p, g); returned {_shown(result)}")
        return read(result, case.n, t, exact)


def import_function(path: str) -> Function:
    """Import the function that `package.module:function` names.

    Raises
    ------
    ValueError
        It cannot be imported; says what was tried.
    """
    module, colon, attribute = path.partition(":")
    if not (module and colon and attribute):
        raise ValueError(f"the implementation must be given as package.module:function; got {path!r}")
    try:
        found: Any = importlib.import_module(module)
        for name in attribute.split("."):
            found = getattr(found, name)
    except Exception as error:
        raise ValueError(f"{path!r} cannot be imported: {_told(error)}") from error
    if not callable(found):
        raise ValueError(f"{path!r} is no function: it is {_shown(found)}")
    function = Function(found, path)
    function.version = _version_of(module)  # not of where the function comes from: that may be a helper
    return function


def _version_of(module: str | None) -> str:
    """Find `__version__` of the package that the module is in, or that of the distribution of that name, or nothing."""
    package = (module or "").split(".")[0]
    try:
        found = getattr(importlib.import_module(package), "__version__", None)
        return str(found or importlib.metadata.version(package))
    except Exception:  # __main__, a package that cannot say its version, or one that is no distribution
        return ""


def read(values: Sequence[Any], n: int, t: int, exact: bool) -> Reply:
    """Validate (w, b) or (w, b, p, g): n weights, a bias, t predictions and derivatives."""
    try:
        w, b = _vector("w", values[0], n, exact), _number("b", values[1], exact)
        if len(values) == 2:
            return Answer(w, b)
        return Answer(w, b, _vector("p", values[2], t, exact), _vector("g", values[3], t, exact))
    except Exception as error:
        return Trouble("error", str(error) if isinstance(error, ValueError) else f"cannot be read: {_told(error)}")


def _vector(name: str, values: Any, size: int, exact: bool) -> tuple[Any, ...]:
    try:
        shape = np.shape(values)
    except Exception:
        raise ValueError(f"{name} must be a vector of {size} numbers; it is {_shown(values)}") from None
    if shape != (size,):
        what = f"has the shape {shape}" if shape else f"is {_shown(values)}"
        raise ValueError(f"{name} must be a vector of {size} numbers, shape ({size},); it {what}")
    return tuple(_number(f"{name}[{j}]", value, exact) for j, value in enumerate(values))


def _number(name: str, value: Any, exact: bool) -> Any:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise ValueError(f"{name} must be a number; it is {_shown(value)}")
    if not exact:
        try:
            return float(value)
        except OverflowError:
            raise ValueError(f"{name} must fit a float64; it is {_shown(value)}") from None
    if not isinstance(value, numbers.Rational):
        raise ValueError(f"{name} must be exact, a Fraction or an int, as lam is a Fraction; it is {_shown(value)}")
    return Fraction(int(value.numerator), int(value.denominator))


def _told(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:
        text = "something that cannot be shown"
    return f"{type(value).__name__} {text if len(text) <= 60 else text[:57] + '...'}"
