"""Find each line of Algorithms 1 to 3 in the shipped code. That the lines do what they should is proved in `shipped`."""

from collections.abc import Iterator
from functools import partial

from efficient.runs.algorithms import ALGORITHMS

from ..ledger import Entry, Job
from .lines import CENTRE, CONTROL, LINES, PROJECTED, RECOVERIES, SUM_OF_ROWS, control, in_order


def read(name: str) -> Iterator[Entry]:
    algorithm = ALGORITHMS[name]
    recover = (algorithm.average or algorithm.last).recover
    tables = [(LINES[name], algorithm.steps), (RECOVERIES[name], recover)]
    if algorithm.mean is not None:
        tables += [(SUM_OF_ROWS, algorithm.mean.add_up), (CENTRE, algorithm.mean.centre)]
    missing = [line for lines, function in tables for line in in_order(lines, function)]
    turned = [in_order(list(reversed(lines)), function) for lines, function in tables if len(lines) > 1]
    wanted = CONTROL + [PROJECTED] * (2 * algorithm.centred)
    missing += [f"nothing else than {', '.join(wanted)}"] * (control(algorithm.steps) != wanted)
    what = "every assignment of the pseudocode is a line of the shipped code"
    if name == "csgd":
        what = "Algorithm 1 and the centring lines of Algorithm 3, in the shipped code"
    total = sum(len(lines) for lines, _ in tables)
    yield Entry(
        ALGORITHMS[name].label,
        f"line by line: {what}, in the same order; no line repeats or branches besides",
        "exact",
        "==, read in the shipped code",
        f"missing: {missing}" if missing else f"{total} of {total} lines",
        not missing and all(turned),
        algorithm=name,
    )


def jobs() -> list[Job]:
    return [Job((ALGORITHMS[name].label,), f"reading {name}", partial(read, name)) for name in LINES]
