"""What the loops ought to reach, in ratios inside one run: these carry over to other machines, where seconds do not."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from .contestants import K
from .measure import ratio


class Target(NamedTuple):
    """The time of one contestant over that of another: at most the limit, or at least the limit, which depends on the order.

    Where the other one has a floor, that tells what of the limit this machine's memory leaves possible.
    """

    above: str
    below: str
    at_most: bool
    limits: dict[str, float]
    floor: str | None = None


def _either(limit: float) -> dict[str, float]:
    return {"sequential": limit, "random": limit}


CLASSES, LAMBDAS, FLOOR_OF_MANY = f"{K} classes", f"{K} values of λ", f"{K} models, floor"

TARGETS = (
    Target("asgd loop", "floor", True, _either(1.3)),
    Target("scikit-learn loop", "asgd loop", False, {"sequential": 1.7, "random": 2.8}, "floor"),
    Target("scikit-learn fit", "asgd call", False, _either(2.0), "floor"),
    Target("casgd loop, q given", "asgd loop", True, _either(1.35)),
    Target("casgd loop", "asgd loop", True, _either(1.35)),
    Target("sgd loop", "asgd loop", True, _either(1.0)),
    Target("asgd loop, float32 values", "asgd loop", True, _either(1.0)),
    Target("asgd loop, int64 indices", "asgd loop", True, _either(1.0)),
    Target(f"{CLASSES}, {K} passes", f"{CLASSES}, one pass", False, {"sequential": 2.0, "random": 4.0}, FLOOR_OF_MANY),
    Target(f"{LAMBDAS}, {K} passes", f"{LAMBDAS}, one pass", False, {"sequential": 2.0, "random": 4.0}, FLOOR_OF_MANY),
    Target(f"{CLASSES}, scikit-learn", f"{CLASSES}, one pass", False, {"sequential": 4.0, "random": 7.0}, FLOOR_OF_MANY),
    Target(f"{LAMBDAS}, scikit-learn", f"{LAMBDAS}, one pass", False, {"sequential": 4.0, "random": 7.0}, FLOOR_OF_MANY),
)
"""What the loops were built to reach; set by prototypes, before they were written."""


def judged(timings: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each target where both contestants were timed: the quartiles of the ratio, and whether its median meets the limit.

    `at_the_floor` is the median that a loop as fast as the floor would reach, where there is one.
    """
    places = dict.fromkeys((entry["set"], entry["order"]) for entry in timings)
    timed = {(entry["set"], entry["order"], entry["contestant"]): entry for entry in timings if entry["seconds"]}
    for above, below, at_most, limits, floor in TARGETS:
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
                "at_the_floor": _median(timed, place, above, floor),
                "met": found["median"] <= limit if at_most else found["median"] >= limit,
            }


def _median(timed: dict, place: tuple, above: str, floor: str | None) -> float | None:
    if (*place, floor) not in timed:
        return None
    return ratio(timed[*place, above], timed[*place, floor])["median"]
