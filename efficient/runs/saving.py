"""Tell problems apart by a checksum, so that a saved state is resumed on its own problem only."""

import zlib
from types import CodeType
from typing import Any

import numpy as np

from reference import LOSSES, Loss, Problem
from reference.arithmetic import shown

BUILT_IN_LOSSES = 1
"""Version of the built-in losses: raise it when a derivative among them changes its values, not when it is rewritten."""

FORMAT = 2
"""Number of the format of saved states; files without one are of format 1, that of version 0.1, whose checksum was another."""

SUMMED = 1_000_000
"""Numbers that a checksum takes at a time."""


def loss_identity(loss: Loss) -> tuple:
    """Tell a loss from others: a built-in one by its name, also under another name, and any other by its derivative's code."""
    for name, built_in in LOSSES.items():
        if loss.derivative is built_in.derivative:
            return "built-in", name, BUILT_IN_LOSSES
    return "own", made_of(loss.derivative)


def made_of(thing) -> Any:
    """Describe a function by its code, constants, defaults and closure; anything else by its repr."""
    if isinstance(thing, CodeType):
        return thing.co_code, thing.co_names, tuple(map(made_of, thing.co_consts))
    if hasattr(thing, "__code__"):
        cells = [cell.cell_contents for cell in thing.__closure__ or ()]
        return made_of(thing.__code__), repr(thing.__defaults__), tuple(map(made_of, cells))
    return repr(thing)


def content_sum(values: dict[str, Any]) -> int:
    """Sum up the names, types, shapes and contents of saved arrays, whatever their order.

    Cost: the size of the arrays.
    """
    total = 0
    for name, array in sorted((name, np.ascontiguousarray(value)) for name, value in values.items()):
        total = zlib.crc32(f"{name} {array.dtype.str} {np.shape(values[name])} ".encode(), total)
        total = zlib.crc32(array.reshape(-1).view(np.uint8).data, total)
    return total


def check_content(saved: dict[str, Any]) -> None:
    """Raise ValueError unless the arrays of a state are those that were saved, and could be those of any run."""
    values = {name: value for name, value in saved.items() if name != "content" and isinstance(value, np.ndarray)}
    if int(saved["content"]) != content_sum(values):
        raise ValueError("its content is not what was saved")
    for name, value in values.items():
        if (value.dtype.kind == "f" and not np.isfinite(value).all()) or (name == "t" and value < 0):
            raise ValueError(f"{name} holds what no run can have")


def checksum(problems: tuple[Problem, ...]) -> int:
    """Sum up everything that a run depends on, however the rows are stored.

    Of the problems after the first, which share the rows and the loss, only λ and the labels count. Raises TypeError unless
    they are in float64.

    Cost: O(mk), and O(m) for each problem.
    """
    first, *others = problems
    if first.number is not np.float64:
        raise TypeError(f"problem must be in float64 for a file; got lam={shown(first.lam)}. Keep an exact state in memory")
    total = zlib.crc32(repr((first.n, loss_identity(first.loss), float(first.lam))).encode())
    arrays = [
        (first.X.data, np.float64),
        (first.X.indices, np.int64),
        (first.X.indptr, np.int64),
        (first.y, np.float64),
        (first.sample_weight, np.float64),
    ]
    for other in others:
        arrays += [(np.array([other.lam]), np.float64), (other.y, np.float64)]
    for array, dtype in arrays:
        for start in range(0, len(array), SUMMED):
            total = zlib.crc32(np.ascontiguousarray(array[start : start + SUMMED], dtype=dtype).data, total)
    return total
