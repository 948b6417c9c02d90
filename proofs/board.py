"""Print the ledger: a line for each statement of the paper, or every entry, and a board of statements by kinds of evidence."""

from collections.abc import Iterable, Iterator, Mapping
from textwrap import shorten, wrap
from typing import NamedTuple

from .ledger import KINDS, Entry
from .paper import ERRATA, LABELS

WIDTH = 100
"""Most columns that a line takes."""

INDENT = " " * 8


class Row(NamedTuple):
    """Statement of the paper, by its name and in words, with its entries by kind."""

    name: str
    words: str
    entries: dict[str, list[Entry]]


def rows(entries: Iterable[Entry]) -> list[Row]:
    """Sort the entries by statement, in the order of the paper, and by kind; the errata are one statement, the last."""
    by_statement: dict[str, list[Entry]] = {label: [] for label in LABELS if label not in ERRATA}
    by_statement["errata"] = []
    for entry in entries:
        by_statement["errata" if entry.label in ERRATA else entry.label].append(entry)
    names = {label: (facts.printed or label, facts.words) for label, facts in LABELS.items()}
    names["errata"] = f"{[*ERRATA][0]}–{[*ERRATA][-1]}", "slips of the print, and remarks"  # noqa: RUF015
    return [
        Row(*names[label], {kind: [entry for entry in here if entry.kind == kind] for kind in KINDS})
        for label, here in by_statement.items()
        if here
    ]


def cell(entries: list[Entry]) -> str:
    """Say how many claims hold and, after +, how many are refuted, as expected; or how many of them are not as expected."""
    if wrong := sum(not entry.as_expected for entry in entries):
        return f"✗ {wrong}/{len(entries)}"
    held = sum(entry.holds for entry in entries)
    return f"✓ {held}{f'+{len(entries) - held}' * (held < len(entries))}" if entries else ""


def board(entries: Iterable[Entry], not_run: Mapping[str, str] | None = None) -> list[str]:
    """Tabulate the statements by kinds of evidence, for a terminal.

    Parameters
    ----------
    entries : iterable of Entry
        The ledger.
    not_run : mapping of str to str, optional
        Kinds of evidence that were left out, and for each why, or how to get it.
    """
    found = rows(entries)
    names = max((len(row.name) for row in found), default=0)
    table = [["", *KINDS], *(["", *map(cell, row.entries.values())] for row in found)]
    widths = [max(len(line[column]) for line in table) + 2 for column in range(len(table[0]))]
    words = WIDTH - names - sum(widths)
    heads = [("", ""), *((row.name, shorten(row.words, words, placeholder=" …")) for row in found)]
    lines = [
        f"{name:<{names}}  {said:<{words}}"
        + "".join(f"{text:>{width}}" for text, width in zip(line[1:], widths[1:], strict=True))
        for (name, said), line in zip(heads, table, strict=True)
    ]
    return [line.rstrip() for line in lines] + [each for text in legend(found, not_run or {}) for each in wrap(text, WIDTH)]


def board_markdown(entries: Iterable[Entry], not_run: Mapping[str, str] | None = None) -> list[str]:
    """Tabulate the statements by kinds of evidence, for a README."""
    found = rows(entries)
    lines = [f"| | {' | '.join(KINDS)} |", "| --- |" + " --- |" * len(KINDS)]
    lines += [f"| {row.name}: {row.words} | {' | '.join(map(cell, row.entries.values()))} |" for row in found]
    return [*lines, "", *legend(found, not_run or {})]


def legend(found: list[Row], not_run: Mapping[str, str]) -> list[str]:
    """Explain the cells that occur, and the kinds that were left out."""
    cells = [cell(here) for row in found for here in row.entries.values()]
    lines = []
    if any("+" in each for each in cells):
        lines.append("✓ 5+2: 5 claims hold, and 2 are refuted, as expected: what is false must be found to be false.")
    if any("✗" in each for each in cells):
        lines.append("✗ 1/7: of 7 entries 1 is not as expected.")
    return lines + [f"{kind}: not run. {why}" for kind, why in not_run.items() if not any(row.entries[kind] for row in found)]


def of_section(section: str, entries: list[Entry], whole: bool) -> Iterator[str]:
    """Print a section: every entry, or a line for each label and the entries that are not as expected."""
    yield section
    for label in dict.fromkeys(entry.label for entry in entries):
        here = [entry for entry in entries if entry.label == label]
        if not whole:
            yield _short(label, here)
            here = [entry for entry in here if not entry.as_expected]
        for claim in dict.fromkeys(entry.claim for entry in here):
            yield from _wrapped(f"{LABELS[label].title}: {claim}", "  ")
            for entry in here:
                if entry.claim == claim:
                    yield from _wrapped(entry.line().strip(), "    ")


def _short(label: str, entries: list[Entry]) -> str:
    """Sum up what is shown of a label."""
    mark = "✓" if all(entry.as_expected for entry in entries) else "✗"
    held, mutants, refuted = (sum(getattr(entry, name) for entry in entries) for name in ("holds", "mutants", "refuted"))
    counts = [f"{held} hold"] * (held > 0) + [f"{len(entries) - held} refuted"] * (held < len(entries))
    counts += [f"{refuted:,} of {mutants:,} mutants"] * (mutants > 0)
    words = shorten(LABELS[label].words, 42, placeholder=" …")
    return f"  {mark} {LABELS[label].printed or label:<11}  {words:<42}  {', '.join(counts)}"


def _wrapped(text: str, indent: str) -> list[str]:
    return wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent + " " * 4, break_on_hyphens=False)
