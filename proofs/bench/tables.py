"""The results as tables for the eye."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from .contestants import K
from .footprint import SECONDS


def of_set(entry: dict[str, Any]) -> str:
    """What a data set is."""
    if entry["why"]:
        return f"{entry['name']}: {entry['why']}"
    k = entry["entries"] / entry["m"]
    rows = f"{entry['m']:,} rows of {k:.1f} entries in {entry['n']:,} columns"
    return f"{entry['name']}: {rows}, {entry['loss']} loss, λ = {entry['lam']:g}"


def of_timings(timings: list[dict[str, Any]]) -> Iterator[str]:
    """One data set in one order: a line for each contestant."""
    T = timings[0]["steps"]
    yield f"  {timings[0]['order']}, T = {T:,}: nanoseconds for a stored entry visited (by all {K} models together)"
    yield f"    {'':<33}{'median':>9}{'quartiles':>20}{'least':>9}  around the loop, ms"
    for entry in timings:
        name = entry["contestant"] + ("" if entry["steps"] == T else f", T = {entry['steps']:,}")
        if entry["status"] != "timed":
            yield f"    {name:<33}{entry['status']}: {entry['why']}"
            continue
        ns = entry["ns_per_entry"]
        spread = f"[{ns['lower_quartile']:.2f}, {ns['upper_quartile']:.2f}]"
        around = ", ".join(f"{part} {float(f'{np.median(seconds) * 1e3:.2g}'):g}" for part, seconds in entry["parts"].items())
        yield f"    {name:<33}{ns['median']:>9.2f}{spread:>20}{ns['least']:>9.2f}  {around}".rstrip()


def remarks(results: dict[str, Any]) -> Iterator[str]:
    """What a reader may need to know about a refusal."""
    kinks = any(entry.get("loss") in ("absolute", "hinge") for entry in results["sets"])
    if kinks and any(entry["status"] == "refused" for entry in results["timings"]):
        yield "At a kink of the loss, where integers often lie, two correct programs may step to different sides and part."


def of_memory(results: dict[str, Any]) -> Iterator[str]:
    yield "Memory: peak of a call in bytes a column, against its state and the returned weights"
    for entry in results["memory"]:
        n = entry["n"]
        wanted = f"{entry['state'] / n:g} + {entry['weights'] / n:g}"
        yield f"  {entry['set']:<12} {entry['algorithm']:<6} {entry['peak'] / n:8.1f} of {wanted:<7} {_verdict(entry['met'])}"


def of_start(results: dict[str, Any]) -> Iterator[str]:
    yield "Start: seconds in a fresh Python"
    for algorithm, seconds in results["start"].items():
        for name, what in (("import", "import efficient"), ("first_call", f"first call of {algorithm}")):
            yield f"  {what:<24}{seconds[name]:6.2f} of {SECONDS[name]:g}  {_verdict(seconds[name] <= SECONDS[name])}"


def of_targets(results: dict[str, Any]) -> Iterator[str]:
    yield f"{'Targets: time of one over time of the other':<58}{'set, order':<24}{'target':>8}{'median':>9}{'quartiles':>18}"
    for entry in results["targets"]:
        found = entry["ratio"]
        pair = f"{entry['above']} / {entry['below']}"
        spread = f"[{found['lower_quartile']:.2f}, {found['upper_quartile']:.2f}]"
        limit = f"{'≤' if entry['at_most'] else '≥'} {entry['limit']:g}"
        place = f"{entry['set']}, {entry['order']}"
        bound = "" if entry["met"] or entry["at_the_floor"] is None else f", {entry['at_the_floor']:.2f} at the floor's speed"
        yield f"  {pair:<56}{place:<24}{limit:>8}{found['median']:>9.2f}{spread:>18}  {_verdict(entry['met'])}{bound}"


def _verdict(met: bool) -> str:
    return "met" if met else "missed"


def of_scaling(results: dict[str, Any]) -> Iterator[str]:
    """The fitted exponents of time, and those of the counted entries, which are whole numbers."""
    for unit, what in (("curves", "time"), ("counts", "entries touched, counted one by one")):
        for variable, fixed in results["fixed"].items():
            others = ", ".join(f"{name} = {value:,}" for name, value in fixed.items())
            yield f"{what.capitalize()} against {variable} ({others})"
            for entry in results[unit]:
                if entry["variable"] == variable:
                    yield _of_curve(entry)


def _of_curve(entry: dict[str, Any]) -> str:
    x, steps, variable = entry["x"], entry["T"], entry["variable"]
    figures = entry.get("entries") or [f"{seconds * 1e3:.3g} ms" for seconds in entry["seconds"]]
    taken = "" if variable == "T" else f"T = {steps[0]:,}"
    shown = " to ".join(f"{figure:,}" if isinstance(figure, int) else figure for figure in (figures[0], figures[-1]))
    whole, last = (round(entry[name], 2) + 0.0 for name in ("exponent", "last_exponent"))  # no -0.00
    exponents = f"exponent {whole:.2f}, in the last decade {last:.2f}"
    claimed = "" if entry["tends_to"] is None else f", claimed {entry['tends_to']}"
    span = f"{variable} = {x[0]:,} to {x[-1]:,}"
    return f"  {entry['algorithm']:<6}{entry['part']:<6}{span:<25}{taken:<12}{shown:<27}{exponents}{claimed}"
