"""What the loops ought to reach, in ratios inside one run: these carry over to other machines, where seconds do not."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from .contestants import K
from .measure import ratio


class Target(NamedTuple):
    """The time of one contestant over that of another: at most the limit, or at least the limit, which depends on the order."""

    above: str
    below: str
    at_most: bool
    limits: dict[str, float]


def _alike(limit: float) -> dict[str, float]:
    return {"sequential": limit, "random": limit}


TARGETS = (
    Target("asgd loop", "floor", True, _alike(1.25)),
    Target("casgd loop", "asgd loop", True, _alike(1.4)),
    Target("plain numba loop", "asgd loop", False, {"sequential": 1.5, "random": 2.0}),
    Target("scikit-learn loop", "asgd loop", False, {"sequential": 1.5, "random": 2.0}),
    Target("scikit-learn fit", "asgd call", False, _alike(1.5)),
    Target(f"{K} classes, {K} passes", f"{K} classes, one pass", False, {"sequential": 2.0, "random": 4.0}),
    Target(f"{K} values of λ, {K} passes", f"{K} values of λ, one pass", False, {"sequential": 2.0, "random": 4.0}),
    Target(f"{K} classes, scikit-learn", f"{K} classes, one pass", False, {"sequential": 3.0, "random": 8.0}),
    Target(f"{K} values of λ, scikit-learn", f"{K} values of λ, one pass", False, {"sequential": 3.0, "random": 8.0}),
)
"""Chosen before the bench was first run, by what prototypes of the loops had reached."""


def judged(timings: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each target where both contestants were timed: the quartiles of the ratio, and whether its median meets the limit."""
    places = dict.fromkeys((entry["set"], entry["order"]) for entry in timings)
    timed = {(entry["set"], entry["order"], entry["contestant"]): entry for entry in timings if entry["seconds"]}
    for above, below, at_most, limits in TARGETS:
        for place in places:
            if (*place, above) not in timed or (*place, below) not in timed:
                continue
            found, limit = ratio(timed[*place, above], timed[*place, below]), limits[place[1]]
            yield {
                "above": above,
                "below": below,
                "set": place[0],
                "order": place[1],
                "at_most": at_most,
                "limit": limit,
                "ratio": found,
                "met": found["median"] <= limit if at_most else found["median"] >= limit,
            }
