"""Tables of the results, and the targets that the loops are held against."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from reference import LOSSES

from .contestants import K
from .measure import quartiles

SECONDS = {"import": 0.5, "first_call": 1.0}
"""Targets for the import and the first call."""

CLASSES, LAMBDAS, FLOOR_OF_MANY = f"{K} classes", f"{K} values of λ", f"{K} models, floor"

FILE_TARGETS = (
    ("casgd train", None, 2.5),
    ("casgd train", "scikit-learn, by stages", 1.0),
    ("casgd train", "liblinear-train", 1.0),
    ("casgd train", "vw", 1.0),
)
"""Processor seconds of a program, or its ratio to those of another one, and the limit."""

TARGETS: tuple[tuple[str, str, str, tuple[float, float], str | None], ...] = (
    ("asgd loop", "floor", "≤", (1.3, 1.3), None),
    ("scikit-learn loop", "asgd loop", "≥", (1.7, 2.8), "floor"),
    ("scikit-learn fit", "asgd call", "≥", (2.0, 2.0), "floor"),
    ("scikit-learn fit", "casgd call", "≥", (1.1, 1.1), "floor"),
    ("casgd loop, q given", "asgd loop", "≤", (1.35, 1.35), None),
    ("casgd loop", "asgd loop", "≤", (1.35, 1.35), None),
    ("sgd loop", "asgd loop", "≤", (1.0, 1.0), None),
    ("asgd loop, float32 values", "asgd loop", "≤", (1.0, 1.0), None),
    ("asgd loop, int64 indices", "asgd loop", "≤", (1.0, 1.0), None),
    (f"{CLASSES}, {K} passes", f"{CLASSES}, one pass", "≥", (2.0, 4.0), FLOOR_OF_MANY),
    (f"{LAMBDAS}, {K} passes", f"{LAMBDAS}, one pass", "≥", (2.0, 4.0), FLOOR_OF_MANY),
    (f"{CLASSES}, scikit-learn", f"{CLASSES}, one pass", "≥", (4.0, 7.0), FLOOR_OF_MANY),
    (f"{LAMBDAS}, scikit-learn", f"{LAMBDAS}, one pass", "≥", (4.0, 7.0), FLOOR_OF_MANY),
)
"""The time of one contestant over that of another: at most or at least a limit, for rows in order and at random.

Where the other one has a floor, it tells what of the limit this machine's memory leaves possible. The limits were set by
prototypes, before the loops were written.
"""


def judged(timings: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Judge each target where both contestants were timed: the quartiles of the ratio, round by round, and the verdict.

    The median decides. `at_the_floor` is the median that a loop as fast as the floor would reach, where there is one.
    """
    timed = {
        (entry["set"], entry["order"], entry["contestant"]): np.array(entry["seconds"]) / entry["entries"]
        for entry in timings
        if entry["seconds"]
    }
    for above, below, sign, limits, floor in TARGETS:
        for name, order in dict.fromkeys(place[:2] for place in timed):
            if (name, order, above) not in timed or (name, order, below) not in timed:
                continue
            ratio = quartiles(timed[name, order, above] / timed[name, order, below])
            bound = timed.get((name, order, floor))
            limit = limits[order == "random"]
            yield {
                "above": above,
                "below": below,
                "set": name,
                "order": order,
                "at_most": sign == "≤",
                "limit": limit,
                "ratio": ratio,
                "at_the_floor": None if bound is None else float(np.median(timed[name, order, above] / bound)),
                "met": ratio["median"] <= limit if sign == "≤" else ratio["median"] >= limit,
            }


def of_set(entry: dict[str, Any]) -> str:
    """Describe a data set."""
    if entry["why"]:
        return f"{entry['name']}: {entry['why']}"
    k = entry["entries"] / entry["m"]
    rows = f"{entry['m']:,} rows of {k:.1f} entries in {entry['n']:,} columns"
    return f"{entry['name']}: {rows}, {entry['loss']} loss, λ = {entry['lam']:g}"


def of_timings(timings: list[dict[str, Any]]) -> Iterator[str]:
    """Tabulate one data set in one order: a line for each contestant."""
    T = timings[0]["steps"]
    yield f"  {timings[0]['order']}, T = {T:,}: nanoseconds for a stored entry visited (by all {K} models together)"
    yield f"    {'':<33}{'median':>9}{'quartiles':>20}{'least':>9}  around the loop, ms"
    for entry in timings:
        name = entry["contestant"] + ("" if entry["steps"] == T else f", T = {entry['steps']:,}")
        if entry["status"] != "timed":
            yield f"    {name:<33}{entry['status']}: {entry['why']}"
            continue
        ns = entry["ns_per_entry"]
        around = ", ".join(f"{part} {float(f'{np.median(seconds) * 1e3:.2g}'):g}" for part, seconds in entry["parts"].items())
        yield f"    {name:<33}{ns['median']:>9.2f}{_spread(ns):>20}{ns['least']:>9.2f}  {around}".rstrip()


def remarks(results: dict[str, Any]) -> Iterator[str]:
    """Explain a refusal where the loss has a kink."""
    kinks = any(entry["loss"] in LOSSES and LOSSES[entry["loss"]].kink for entry in results["sets"] if not entry["why"])
    if kinks and any(entry["status"] == "refused" for entry in results["timings"]):
        yield "At a kink of the loss, where integers often are, two correct programs may step to different sides and part."


def of_memory(results: dict[str, Any]) -> Iterator[str]:
    """Tabulate the memory of the algorithms."""
    yield "Memory: peak of a call in bytes a column, against its state and the returned weights"
    for entry in results["memory"]:
        n = entry["n"]
        wanted = f"{entry['state'] / n:g} + {entry['weights'] / n:g}"
        yield f"  {entry['set']:<12} {entry['algorithm']:<6} {entry['peak'] / n:8.1f} of {wanted:<7} {_verdict(entry['met'])}"


def of_start(results: dict[str, Any]) -> Iterator[str]:
    """Tabulate the import and the first calls."""
    yield "Start: seconds in a fresh Python"
    for algorithm, seconds in results["start"].items():
        for name, what in (("import", "import efficient"), ("first_call", f"first call of {algorithm}")):
            yield f"  {what:<24}{seconds[name]:6.2f} of {SECONDS[name]:g}  {_verdict(seconds[name] <= SECONDS[name])}"


def of_files(results: dict[str, Any]) -> Iterator[str]:
    """Tabulate the programs from a text file to a model file."""
    m, n, k = results["file"]
    yield f"From text to a model: {m:,} rows, {n:,} columns, about {k} entries a row; hinge loss, λ = 1e-4, a process each"
    yield f"  {'processor seconds':<33}{'median':>9}{'quartiles':>20}{'rows wrong':>12}  stages"
    for entry in results["files"]:
        if entry["status"] != "timed":
            yield f"  {entry['program']:<33}{entry['status']}: {entry['why']}"
            continue
        stages = ", ".join(f"{name} {np.median(seconds):.2f}" for name, seconds in entry["stages"].items())
        found = f"{entry['quartiles']['median']:>9.2f}{_spread(entry['quartiles']):>20}{entry['error']:>12.3f}"
        yield f"  {entry['program']:<33}{found}  {stages}".rstrip()
    for entry in results["file_targets"]:
        ratio, name = entry["ratio"], f"{entry['above']} / {entry['below'] or 'a second'}"
        figures = f"≤ {entry['limit']:g}{ratio['median']:>9.2f}{_spread(ratio):>18}"
        yield f"  {name:<56}{figures}  {_verdict(entry['met'])}"


def judged_files(records: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Judge each target of the programs that were timed: the quartiles of the seconds or of their ratio, round by round."""
    timed = {entry["program"]: np.array(entry["seconds"]) for entry in records if entry["seconds"]}
    for above, below, limit in FILE_TARGETS:
        if above in timed and (below is None or below in timed):
            ratio = quartiles(timed[above] / (1 if below is None else timed[below]))
            yield {"above": above, "below": below, "limit": limit, "ratio": ratio, "met": ratio["median"] <= limit}


def of_gaps(results: dict[str, Any]) -> Iterator[str]:
    """Tabulate the time of each solver to each gap, the fastest marked, and the least gap of those that do not reach it."""
    cases = dict.fromkeys((entry["case"], entry["loss"]) for entry in results["gaps"])
    for case, loss in cases:
        records = [entry for entry in results["gaps"] if (entry["case"], entry["loss"]) == (case, loss)]
        gaps = [point["gap"] for point in max((entry["reached"] for entry in records), key=len)]
        yield f"{case}, {loss} loss, λ = 1e-4: milliseconds until (F − F*)/F* <= …, after (passes or iterations); * least"
        yield f"  {'':<33}{''.join(f'{gap:>16g}' for gap in gaps)}  least gap"
        for entry in records:
            if entry["why"]:
                yield f"  {entry['solver']:<33}not available: {entry['why']}"
                continue
            of = {point["gap"]: point for point in entry["reached"]}
            cells = "".join(f"{_cell(gap, of, records):>16}" for gap in gaps)
            yield f"  {entry['solver']:<33}{cells}  {min(point['gap'] for point in entry['points']):.1e}"


def _cell(gap: float, of: dict[float, dict[str, Any]], records: list[dict[str, Any]]) -> str:
    if gap not in of:
        return "–"
    all_of_them = [point["seconds"]["median"] for entry in records for point in entry["reached"] if point["gap"] == gap]
    median = of[gap]["seconds"]["median"]
    return f"{'*' if median == min(all_of_them) else ''}{median * 1e3:.3g} ({of[gap]['budget']})"


def of_targets(results: dict[str, Any]) -> Iterator[str]:
    """Tabulate the ratios beside their limits."""
    yield f"{'Targets: time of one over time of the other':<58}{'set, order':<24}{'target':>8}{'median':>9}{'quartiles':>18}"
    for entry in results["targets"]:
        ratio, place = entry["ratio"], f"{entry['set']}, {entry['order']}"
        limit = f"{'≤' if entry['at_most'] else '≥'} {entry['limit']:g}"
        bound = "" if entry["met"] or entry["at_the_floor"] is None else f", {entry['at_the_floor']:.2f} at the floor's speed"
        figures = f"{limit:>8}{ratio['median']:>9.2f}{_spread(ratio):>18}"
        yield f"  {entry['above'] + ' / ' + entry['below']:<56}{place:<24}{figures}  {_verdict(entry['met'])}{bound}"


def _spread(found: dict[str, float]) -> str:
    return f"[{found['lower_quartile']:.2f}, {found['upper_quartile']:.2f}]"


def _verdict(met: bool) -> str:
    return "met" if met else "missed"


def of_scaling(results: dict[str, Any]) -> Iterator[str]:
    """Tabulate the fitted exponents of time, and those of the counted entries, which are whole numbers."""
    for unit, what in (("curves", "Time"), ("counts", "Entries touched, counted one by one")):
        for variable, fixed in results["fixed"].items():
            yield f"{what} against {variable} ({', '.join(f'{name} = {value:,}' for name, value in fixed.items())})"
            for entry in results[unit]:
                if entry["variable"] != variable:
                    continue
                x, figures = entry["x"], entry.get("entries") or [f"{each * 1e3:.3g} ms" for each in entry["seconds"]]
                taken = "" if variable == "T" else f"T = {entry['T'][0]:,}"
                shown = " to ".join(f"{each:,}" if isinstance(each, int) else each for each in (figures[0], figures[-1]))
                whole, last = (round(entry[name], 2) + 0.0 for name in ("exponent", "last_exponent"))  # no -0.00
                claimed = "" if entry["tends_to"] is None else f", claimed {entry['tends_to']}"
                head = f"  {entry['algorithm']:<6}{entry['part']:<6}{f'{variable} = {x[0]:,} to {x[-1]:,}':<25}"
                yield f"{head}{taken:<12}{shown:<27}exponent {whole:.2f}, in the last decade {last:.2f}{claimed}"
