"""Call an implementation where it lives: by the kit itself, or as a script in the implementation's own interpreter.

    PYTHON serve.py package.module:function

reads a question a line and writes an answer a line, as external programs do. This file needs numpy alone, and no other file of
the kit; where scipy is installed, X is a `scipy.sparse.csr_array`, otherwise `Rows`, which has the same four attributes.
"""

import importlib
import importlib.metadata
import inspect
import json
import math
import os
import sys
import warnings
from fractions import Fraction

import numpy as np

MOST_DIGITS = 4300
"""Most digits of an integer, or of a fraction's numerator and denominator, as in Python's text."""

MOST_BITS = int(MOST_DIGITS * math.log2(10))
"""Bits that no integer of more digits fits in."""

MOST_SHOWN, MOST_TOLD = 60, 400
"""How much of a strange value a message shows, and how much of an implementation's own words."""

ASKED = ("rows", "n", "y", "loss", "indices", "average", "centred")
"""What a question holds besides the id and λ."""

PARTS = {"X": "data", "X.indices": "indices", "X.indptr": "indptr"}
"""Arrays of the matrix, by the names that messages give them."""


class Rows:
    """Sparse rows for an interpreter without scipy: the arrays of a `csr_array`, and dense rows on demand.

    Attributes
    ----------
    data, indices, indptr : arrays; row i stores the entries indptr[i] to indptr[i + 1] - 1, as in scipy
    shape : (m, n)
    """

    def __init__(self, arrays, shape):
        self.data, self.indices, self.indptr = arrays
        self.shape = shape

    def toarray(self):
        """Make the dense matrix; what is stored twice adds up."""
        dense = np.zeros(self.shape)
        np.add.at(dense, (np.repeat(np.arange(self.shape[0]), np.diff(self.indptr)), self.indices), self.data)
        return dense


def matrix(rows, n):
    """Make the matrix of these rows of (column, value) pairs, which stores the entries as given."""
    entries = [entry for row in rows for entry in row]
    columns = np.array([column for column, _ in entries], dtype=np.int32)
    values = np.array([value for _, value in entries], dtype=np.float64)
    starts = np.cumsum([0, *map(len, rows)], dtype=np.int32)
    try:
        from scipy.sparse import csr_array
    except ImportError:
        csr_array = Rows
    return csr_array((values, columns, starts), shape=(len(rows), n))


class Refused(Exception):
    """No answer: `kind` is "error" or "unsupported", `divides` if it was a division by zero."""

    def __init__(self, kind, text, divides=False):
        super().__init__(text)
        self.kind, self.divides = kind, divides


def call(train, rows, n, y, loss, lam, indices, average, centred):
    """Call the implementation on copies; return (w, b) or (w, b, p, g) as it returns them.

    Raises
    ------
    Refused
        It raised, changed its arguments, or returned something else.
    """
    X, y, indices = matrix(rows, n), np.array(y, dtype=np.float64), np.array(indices, dtype=np.int64)
    arrays = {**{name: getattr(X, part) for name, part in PARTS.items()}, "y": y, "indices": indices}
    before = {name: array.copy() for name, array in arrays.items()}
    try:
        with warnings.catch_warnings(), np.errstate():  # restore what it sets
            warnings.simplefilter("ignore")
            result = train(X, y, loss, lam, indices, average, centred)
    except KeyboardInterrupt:
        raise
    except NotImplementedError as error:
        raise Refused("unsupported", told(error)) from None
    except BaseException as error:
        raise Refused("error", told(error), isinstance(error, ZeroDivisionError)) from None
    after = {**arrays, **{name: getattr(X, part, None) for name, part in PARTS.items()}}
    changed = [name for name, array in before.items() if not np.array_equal(array, after[name])]
    if changed:
        raise Refused("error", f"changed its argument {changed[0]}: the caller's arrays must be left as they are")
    if result is None:
        raise Refused("error", "must return (w, b) or (w, b, p, g); returned nothing: is the `return` missing?")
    if not isinstance(result, (tuple, list)) or len(result) not in (2, 4):
        raise Refused("error", f"must return (w, b) or (w, b, p, g); returned {shown(result)}")
    return result


def find(path):
    """Import the function that `package.module:function` names, and find its package's version.

    Raises
    ------
    ValueError
        It cannot be imported; says what was tried.
    """
    module, colon, attribute = path.partition(":")
    if not (module and colon and attribute):
        raise ValueError(f"the implementation must be given as package.module:function; got {path!r}")
    try:
        found = importlib.import_module(module)
        for name in attribute.split("."):
            found = getattr(found, name)
    except Exception as error:
        raise ValueError(f"{path!r} cannot be imported: {told(error)}") from error
    if not callable(found):
        raise ValueError(f"{path!r} is no function: it is {shown(found)}")
    check_signature(found, path)
    return found, version_of(module)


def check_signature(train, name):
    """Raise ValueError unless the function takes seven arguments by position, or does not say what it takes."""
    try:
        takes = inspect.signature(train)
    except (TypeError, ValueError):  # a builtin, or what pretends to be a function
        return
    try:
        takes.bind(*range(7))
    except TypeError as error:
        wanted = "train(X, y, loss, lam, indices, average, centred)"
        raise ValueError(f"{name} must be called as {wanted}; it takes {takes}: {error}") from None


def version_of(module):
    """Find `__version__` of the package that the module is in, or that of the distribution of that name, or nothing."""
    package = (module or "").split(".")[0]
    try:
        found = getattr(importlib.import_module(package), "__version__", None)
        return str(found or importlib.metadata.version(package))
    except Exception:  # __main__, a package that cannot say its version, or one that is no distribution
        return ""


def told(error):
    """Tell an exception in a line."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


def one_line(text):
    """Show words that are not our own in a line: no letters that act on a terminal, and not without end."""
    line = "".join(letter if letter.isprintable() else "?" for letter in " ".join(text[: 10 * MOST_TOLD].split()))
    return line if len(line) <= MOST_TOLD else line[: MOST_TOLD - 3] + "..."


def shown(value):
    """Show a value, or the beginning of it."""
    try:
        text = repr(value)
    except Exception:
        text = "something that cannot be shown"
    return f"{type(value).__name__} {text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 3] + '...'}"


def _plain(value):
    """Convert a number, or nested ones, to what JSON has; fractions to strings, anything else to a word in brackets."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (int, Fraction)) and max(abs(value.numerator), value.denominator).bit_length() > MOST_BITS:
        return f"<{type(value).__name__} that has more than {MOST_DIGITS} digits>"
    if isinstance(value, Fraction):
        return str(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return f"<{value}>"
    try:
        return [_plain(each) for each in value]
    except Exception:
        return f"<{shown(value)}>"


def main(path, exact, describe):
    """Answer the questions of standard input; or only say which version it is."""
    answers = os.fdopen(os.dup(1), "w")  # what the implementation prints is no answer
    os.dup2(2, 1)
    train, version = find(path)
    if describe:
        answers.write(version)
        return
    for line in sys.stdin:
        asked = json.loads(line)
        lam = Fraction(asked["lam"]) if exact else asked["lam"]
        rows, n, y, loss, indices, average, centred = (asked[name] for name in ASKED)
        try:
            result = call(train, rows, n, y, loss, lam, indices, average, centred)
            answer = dict(zip("wbpg", map(_plain, result)))  # noqa: B905
        except Refused as error:
            answer = {error.kind: str(error), "divides": error.divides}
        answers.write(json.dumps({"id": asked["id"], **answer}) + "\n")
        answers.flush()


if __name__ == "__main__":
    sys.path[0] = os.getcwd()
    try:
        main(sys.argv[1], "--exact" in sys.argv[2:], "--describe" in sys.argv[2:])
    except ValueError as error:
        sys.exit(str(error))
