"""Compare an answer with the exact one: equal, or within what rounding can do, and if not, where it first departs."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np

from .answers import Answer, Reply
from .cases import Case, Checkpoint


class Departure(NamedTuple):
    """First number that is wrong: at step t, `what` (w[j], b, p or g) is `found` and not `expected`."""

    t: int
    what: str
    found: Any
    expected: Fraction
    error: float
    tolerance: float

    def __str__(self) -> str:
        found, expected = f"{_float(self.found):.6g}", f"{_float(self.expected):.6g}"
        if found == expected:
            found, expected = f"{_float(self.found):.17g}", f"{_float(self.expected):.17g}"
        allowed = f", allowed {self.tolerance:.2g}" if self.tolerance else ""
        off = f"{self.error:.2g}" if self.error else "less than float64 can hold"
        return f"step {self.t}: {self.what} is {found}, must be {expected} (off by {off}{allowed})"


@dataclass(frozen=True)
class Result:
    """Verdict on one case.

    `verdict` is one of VERDICTS, `detail` says why in a line. `wrong` are the places in `case.checkpoints` whose predictor is.
    """

    case: Case
    verdict: str
    detail: str
    replies: Sequence[Reply]
    departure: Departure | None = None
    wrong: tuple[int, ...] = ()


VERDICTS = {
    "passed": "right",
    "undecided": "right as far as float64 decides",
    "failed": "wrong",
    "error": "no answer, or one that cannot be read",
    "unexpectedly passed": "listed as an expected failure, but right",
    "expected failure": "listed as an expected failure, and wrong",
    "unsupported": "the implementation says that it does not do this",
}
"""Verdicts, and their meaning."""

BAD = ("failed", "error", "unexpectedly passed")
"""Verdicts that make a run fail."""


def judge(case: Case, replies: Sequence[Reply], exact: bool) -> Result:
    """Judge the replies to the checkpoints of a case, and find the first departure if one is wrong."""
    troubles = [reply for reply in replies if not isinstance(reply, Answer)]
    if troubles and all(trouble.kind == "unsupported" for trouble in troubles) and len(troubles) == len(replies):
        return Result(case, "unsupported", troubles[0].text, replies)
    departures, wrong = [], []
    for place, (checkpoint, reply) in enumerate(zip(case.checkpoints, replies, strict=True)):
        if not isinstance(reply, Answer):
            continue
        predictor = []
        if exact or checkpoint.held:
            suspects = _suspects(reply, checkpoint) if isinstance(checkpoint.w, np.ndarray) else range(len(checkpoint.w))
            w = [(f"w[{j}]", reply.w[j], checkpoint.w[j], checkpoint.w_tolerance) for j in suspects]
            predictor = [*w, ("b", reply.b, checkpoint.b, checkpoint.b_tolerance)]
        way = []
        if reply.p is not None and reply.g is not None:
            for step in range(min(checkpoint.t, len(case.p))):
                way.append((step + 1, "p", reply.p[step], case.p[step], case.p_tolerance[step]))
                way.append((step + 1, "g", reply.g[step], case.g[step], case.g_tolerance[step]))
        found = [_departure(*each, exact) for each in way if exact or each[4] is not None]
        there = [_departure(checkpoint.t, *each, exact) for each in predictor]
        if any(there):
            wrong.append(place)
        departures += [departure for departure in (*found, *there) if departure]
    first = min(departures, key=lambda departure: departure.t, default=None)
    if troubles:
        t = next(point.t for point, reply in zip(case.checkpoints, replies, strict=True) if reply is troubles[0])
        return Result(case, "error", f"T = {t}: {troubles[0].text}", replies, first, tuple(wrong))
    if first:
        return Result(case, "failed", str(first), replies, first, tuple(wrong))
    if case.undecided and not exact:
        return Result(case, "undecided", case.undecided, replies)
    return Result(case, "passed", "", replies)


def _suspects(reply: Answer, checkpoint: Checkpoint) -> list[int]:
    """Find the weights that may be off, of many: all whose error as rounded is not well below the tolerance, at most 9."""
    assert checkpoint.w_tolerance is not None
    with np.errstate(over="ignore", invalid="ignore"):
        fine = abs(np.array(reply.w) - checkpoint.w) <= checkpoint.w_tolerance * (1 - 2.0**-50)
    return np.flatnonzero(~fine)[:9].tolist()


def _departure(t: int, what: str, found: Any, expected: Any, tolerance: float | None, exact: bool) -> Departure | None:
    if exact:
        return None if found == expected else Departure(t, what, found, expected, _float(abs(found - expected)), 0)
    assert tolerance is not None
    if not isfinite(found):
        return Departure(t, what, found, Fraction(expected), inf, tolerance)
    expected = Fraction(expected)
    error = abs(Fraction(found) - expected)  # exact: the comparison must not round
    return None if error <= Fraction(tolerance) else Departure(t, what, found, expected, _float(error), tolerance)


def _float(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return inf
