"""Count the work of a function that uses numpy: entries that are read, written or made, and lines of Python that are run.

Arrays are wrapped, not subclassed, so that no conversion loses the count. The function runs with globals in which numpy and
scipy are wrapped as well: an array made inside counts like one that was handed in.
"""

import builtins
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from types import FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp

from .marking import Place

FREE = {"shape", "size", "ndim", "broadcast_shapes", "result_type", "isscalar", "iterable"}
"""Functions that look at no entry."""


Places = tuple[Place, ...]
"""Line that works, the line that called its function, and so on, outwards."""


class Work:
    """Entries and lines of Python, by the lines that were running; `of` are the globals of the function."""

    def __init__(self) -> None:
        self.of: dict[str, Any] = {}
        self.done: Counter[Places] = Counter()

    def add(self, entries: int, frame: FrameType | None = None) -> None:
        """Count entries at the innermost line of the function, from a frame outwards, by default the caller's."""
        place = []
        frame = frame or sys._getframe(1)
        while frame is not None:
            if frame.f_globals is self.of:
                place.append((frame.f_code, frame.f_lineno))
            frame = frame.f_back
        self.done[tuple(place)] += int(entries)

    def trace(self, frame, event, _):
        """Count a line of the function, or of what it defines: what `sys.settrace` calls."""
        if frame.f_globals is not self.of:
            return None
        if event == "line":
            self.add(1, frame)
        return self.trace


def work_of(function: Callable, arguments: Callable[[Work], tuple]) -> Counter[Places]:
    """Run a function on counted arguments; return its work by the lines that were running.

    Parameters
    ----------
    function : callable
        It runs with globals of its own, and so do the functions of its module: what they change there is lost.
    arguments : callable
        Makes the arguments from a `Work`, with `wrap`.
    """
    work = Work()
    if isinstance(function, FunctionType):
        function = _rebound(function, work)
    given = arguments(work)
    before = sys.gettrace()
    sys.settrace(work.trace)
    try:
        function(*given)
    finally:
        sys.settrace(before)
    return work.done


def _rebound(function: FunctionType, work: Work) -> FunctionType:
    """Give a function, and those that it finds in its globals, new globals with numpy and scipy wrapped."""
    old = function.__globals__
    found = old.get("__builtins__", builtins)
    names = dict(vars(found) if isinstance(found, ModuleType) else found)
    importing = names["__import__"]

    def imported(name, globals=None, locals=None, fromlist=(), level=0):
        return _outside(importing(name, globals, locals, fromlist, level), work)

    new = work.of
    new |= {name: _outside(value, work) for name, value in old.items()}
    counted = {name: partial(_counted, names[name], work) for name in ("sum", "min", "max", "sorted")}
    new["__builtins__"] = {**names, **counted, "__import__": imported}

    def moved(each: FunctionType) -> FunctionType:
        copy = FunctionType(each.__code__, new, each.__name__, each.__defaults__, each.__closure__)
        copy.__kwdefaults__ = each.__kwdefaults__
        return copy

    for name, value in old.items():
        if isinstance(value, FunctionType) and value.__globals__ is old:
            new[name] = moved(value)
    return moved(function)


def _counted(function: Callable, work: Work, items, *more, **options):
    """Call a function that goes through `items` without a line of Python."""
    if not more and hasattr(items, "__iter__"):
        items = list(items)
        work.add(len(items))
    return function(items, *more, **options)


def _outside(value: Any, work: Work) -> Any:
    """Wrap what belongs to numpy or scipy: modules, functions, arrays."""
    if isinstance(value, ModuleType):
        return _Module(value, work) if value.__name__.split(".")[0] in ("numpy", "scipy") else value
    if isinstance(value, type):
        return _Function(value, work) if issubclass(value, (sp.sparray, sp.spmatrix)) else value
    home = str(getattr(value, "__module__", "") or "").split(".")[0]
    if isinstance(value, np.ufunc) or (callable(value) and home in ("numpy", "scipy")):
        return _Function(value, work)
    return wrap(value, work)


class _Module:
    def __init__(self, module: ModuleType, work: Work) -> None:
        self._module, self._work = module, work

    def __getattr__(self, name: str) -> Any:
        return _outside(getattr(self._module, name), self._work)


class _Function:
    def __init__(self, function: Any, work: Work) -> None:
        self._function, self._work = function, work

    def __call__(self, *arguments, **options):
        return _call(self._function, arguments, options, self._work)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._function, name)
        if name == "at":  # touches the entries that are named, not the whole vector
            return partial(_at, value, self._work)
        return partial(_method, value, self._work) if callable(value) else value


def _method(function: Callable, work: Work, *arguments, **options):
    return _call(function, arguments, options, work)


def _at(at: Callable, work: Work, array, places, *values):
    places, values = _plain(places), _plain(values)
    work.add(2 * np.size(np.asarray(array.array if isinstance(array, Counted) else array)[places]))
    at(array.array if isinstance(array, Counted) else array, places, *values)


def _call(function: Any, arguments: tuple, options: dict[str, Any], work: Work, read: int = 0) -> Any:
    """Call a function on plain arrays; count what it was given and what it returns."""
    name = getattr(function, "__name__", str(function))
    if name in ("take", "put") and isinstance(arguments[0], Counted):  # as with `at`
        whole, arguments = arguments[0].array, arguments[1:]
        read += _entries(arguments)
        result = function(whole, *_plain(arguments), **_plain(options))
    else:
        read += _entries((arguments, *options.values()))
        result = function(*_plain(arguments), **_plain(options))
    if name not in FREE:
        work.add(read + _entries(result))
    return wrap(result, work)


def _entries(value: Any) -> int:
    """Count the entries of all arrays in a value."""
    if isinstance(value, (Counted, np.ndarray)):
        return int(value.size)
    if isinstance(value, CountedRows) or sp.issparse(value):
        return int(value.nnz + value.shape[0])
    if isinstance(value, dict):
        return _entries(tuple(value.values()))
    return sum(map(_entries, value)) if isinstance(value, (list, tuple)) else 0


def _plain(value: Any) -> Any:
    """Unwrap all arrays in a value."""
    if isinstance(value, Counted):
        return value.array
    if isinstance(value, CountedRows):
        return value.rows
    if isinstance(value, (_Function, _Module)):
        return vars(value).get("_function") or vars(value)["_module"]
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    return value


def wrap(value: Any, work: Work) -> Any:
    """Wrap all arrays in a value."""
    if isinstance(value, np.ndarray) and value.ndim:
        return Counted(value, work)
    if sp.issparse(value):
        return CountedRows(value, work)
    if type(value) in (list, tuple):
        return type(value)(wrap(each, work) for each in value)
    return value


class Counted(np.lib.mixins.NDArrayOperatorsMixin):
    """Array whose every use is counted, conversions included."""

    def __init__(self, array: np.ndarray, work: Work) -> None:
        self.array, self.work = array, work

    def __array__(self, dtype=None, copy=None):
        self.work.add(self.array.size)
        return np.array(self.array, dtype=dtype)

    def __array_ufunc__(self, ufunc, method, *arguments, **options):
        if method == "at":
            return _at(ufunc.at, self.work, *arguments)
        result = _call(ufunc if method == "__call__" else getattr(ufunc, method), arguments, options, self.work)
        return options["out"][0] if "out" in options else result

    def __array_function__(self, function, _, arguments, options):
        return _call(function, arguments, options, self.work)

    def __getitem__(self, key):
        found = self.array[_plain(key)]
        if not isinstance(key, slice):  # a slice is a view, and free
            self.work.add(np.size(found) + _entries(key))
        return wrap(found, self.work)

    def __setitem__(self, key, value):
        plain = _plain(key)
        self.work.add(np.size(self.array[plain]) + _entries(key))
        self.array[plain] = _plain(value)

    def __iter__(self):
        for each in self.array:
            self.work.add(np.size(each))
            yield wrap(each, self.work)

    def __contains__(self, value):
        self.work.add(self.array.size)
        return value in self.array

    def __len__(self):
        return len(self.array)

    def __bool__(self):
        return bool(self.array)

    def __float__(self):
        return float(self.array)

    def __int__(self):
        return int(self.array)

    def __getattr__(self, name):
        value = getattr(self.array, name)
        if callable(value):
            if name == "take":
                return lambda places, *more: _call(value, (places, *more), {}, self.work)
            return lambda *arguments, **options: _call(value, arguments, options, self.work, self.array.size)
        return wrap(value, self.work) if name in ("T", "real", "flat") else value

    def __deepcopy__(self, _):
        return self.copy()


class CountedRows:
    """Sparse matrix whose arrays are counted, as is every other use of it."""

    def __init__(self, rows: Any, work: Work) -> None:
        self.rows, self.work = rows, work

    def __getitem__(self, key):
        found = self.rows[_plain(key)]
        by_rows = not isinstance(key, tuple)
        self.work.add(_entries(found) if by_rows else self.nnz)
        return wrap(found, self.work)

    def __iter__(self):
        return (self[[i]] for i in range(self.shape[0]))

    def __getattr__(self, name):
        value = getattr(self.rows, name)
        if callable(value):
            read = 0 if name in ("getrow", "_getrow") else self.nnz
            return lambda *arguments, **options: _call(value, arguments, options, self.work, read)
        return wrap(value, self.work)


def _operator(name: str) -> Callable:
    def method(self, *others):
        return _call(getattr(self.rows, name), others, {}, self.work, self.nnz)

    return method


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "matmul", "rmatmul", "truediv", "neg", "abs", "pow"):
    setattr(CountedRows, f"__{_name}__", _operator(f"__{_name}__"))
