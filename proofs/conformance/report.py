"""Report a run: the implementation, the verdicts and the diagnosis, as text and as JSON."""

import json
import math
import platform
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from typing import Any

from .answers import Implementation
from .cases import PAPER, VERSION
from .diagnosis import Finding, diagnose
from .light import write_whole
from .plain import sentence
from .verdicts import BAD, VERDICTS, Departure, Result

WIDTH, MOST = 120, 9
"""Most characters of a line of the summary, and most lines of its diagnosis."""


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """Results of comparing an implementation with the vectors; print it for a summary.

    Parameters
    ----------
    implementation : Implementation
        Program under test, called once more if something is wrong, to see whether it repeats itself.
    exact : bool
    results : list of Result
        One for each case: `verdict`, `detail`, and `departure` if it went wrong.
    known : names of the declared deviations
    progress : bool, optional
        Show the search for a fault on standard error; by default only at a terminal.
    notes : sentences about what the declared cases do not hold
    """

    implementation: Implementation
    exact: bool
    results: Sequence[Result]
    known: Sequence[str] = ()
    progress: bool | None = None
    notes: Sequence[str] = ()

    @property
    def passed(self) -> bool:
        """Tell whether nothing is wrong that is not an expected failure, and something was right at all."""
        return self.count["passed"] + self.count["undecided"] > 0 and not any(self.count[verdict] for verdict in BAD)

    @property
    def count(self) -> Counter[str]:
        """Number of cases with each verdict."""
        return Counter(result.verdict for result in self.results)

    @property
    def flags(self) -> dict[str, Counter[str]]:
        """Number of cases with each verdict, for each flag."""
        names = dict.fromkeys(flag for result in self.results for flag in result.case.flags)
        return {flag: Counter(each.verdict for each in self.results if flag in each.case.flags) for flag in names}

    @cached_property
    def diagnosis(self) -> list[Finding]:
        """Known faults that explain the failures, in sentences."""
        return diagnose(
            self.results, self.exact, lambda case: next(iter(self.implementation.ask([case], self.exact))), self.progress
        )

    @property
    def versions(self) -> dict[str, str]:
        """Versions that the run was made with."""
        return {"python": platform.python_version(), "numpy": version("numpy"), "vectors": f"{VERSION} of {PAPER}"}

    def __str__(self) -> str:
        return "\n".join([*self._head(), *self._table(), *self._first(), *self._causes(), self._last()])

    __repr__ = __str__  # so that a notebook shows it

    def _head(self) -> list[str]:
        implementation = " ".join(filter(None, (self.implementation.name, self.implementation.version)))
        with_versions = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        arithmetic = "exact arithmetic" if self.exact else "float64"
        head = [f"conformance of {_cut(implementation, 20)}, {arithmetic} ({with_versions})"]
        counts = ", ".join(f"{self.count[verdict]} {verdict}" for verdict in VERDICTS if self.count[verdict])
        head.append(f"{len(self.results)} cases: {counts}")
        if self.known:
            head += textwrap.wrap("held to the paper but for: " + self._deviations(), WIDTH, subsequent_indent="  ")
        head += [line for note in self.notes for line in textwrap.wrap(note, WIDTH, subsequent_indent="  ")]
        absent = dict.fromkeys((each.case.algorithm, each.case.loss) for each in self.results if each.verdict == "unsupported")
        if absent:
            head.append("not supported: " + _cut(", ".join(f"{algorithm} with {loss}" for algorithm, loss in absent), 15))
        return head

    def _table(self) -> list[str]:
        """Flags where something is wrong, the worst first."""
        asked = {flag: count.total() - count["unsupported"] for flag, count in self.flags.items()}
        hit = {flag: bad for flag, count in self.flags.items() if (bad := sum(count[verdict] for verdict in BAD))}
        spared = [flag for flag, count in self.flags.items() if count["passed"] + count["undecided"] == asked[flag] > 0]
        if not hit:
            return []
        worst = sorted(hit, key=lambda flag: -hit[flag] / asked[flag])
        lines = self._by_algorithm()
        lines += ["wrong by flag: " + ", ".join(f"{flag} {hit[flag]} of {asked[flag]}" for flag in worst)]
        lines += ["right in all of: " + ", ".join(spared)] if spared else []
        return [line for text in lines for line in textwrap.wrap(text, WIDTH, subsequent_indent="  ")]

    def _by_algorithm(self) -> list[str]:
        """Say of each algorithm, if there are several, how often it is wrong."""
        counts: dict[str, Counter[str]] = {}
        for each in self.results:
            if each.verdict != "unsupported":
                counts.setdefault(each.case.algorithm, Counter()).update([each.verdict])
        said = []
        for algorithm, count in counts.items():
            bad, asked = sum(count[verdict] for verdict in BAD), count.total()
            said.append(f"{algorithm} wrong in {bad} of {asked}" if bad else f"{algorithm} right in all {asked}")
        return ["by algorithm: " + "; ".join(said)] if len(said) > 1 else []

    def _first(self) -> list[str]:
        bad = [result for result in self.results if result.verdict in BAD]
        lines = [_cut(f"  {result.case.id}: {result.verdict}: {' '.join(result.detail.split())}") for result in bad[:4]]
        return lines + [f"  and {len(bad) - 4} more"] * (len(bad) > 4)

    def _causes(self) -> list[str]:
        texts = [text for finding in self.diagnosis for text in finding.text.splitlines()]
        lines = [line for text in texts for line in textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ")]
        more = [f"  and {len(lines) - MOST} more lines, in `report.diagnosis` and in the JSON"] * (len(lines) > MOST)
        return ["diagnosis:", *lines[:MOST], *more] if lines else []

    def _deviations(self) -> str:
        return "; ".join(f"{sentence(name)} [{name}]" for name in self.known)

    def _last(self) -> str:
        if not any(self.count[verdict] for verdict in BAD) and not self.passed:
            return "FAILED: no case was right"
        if self.passed and self.known:
            return f"conforms to the paper but for {', '.join(self.known)}\npassed"
        return "passed" if self.passed else "FAILED"

    def as_json(self) -> dict[str, Any]:
        """Convert to objects that JSON has: everything but the replies."""
        return {
            "implementation": {"name": self.implementation.name, "version": self.implementation.version},
            "versions": self.versions,
            "exact": self.exact,
            "known": list(self.known),
            "notes": list(self.notes),
            "passed": self.passed,
            "count": dict(self.count),
            "flags": {flag: dict(count) for flag, count in self.flags.items()},
            "diagnosis": [
                {"text": each.text, "faults": [sorted(faults) for faults in each.faults], "where": list(each.where)}
                for each in self.diagnosis
            ],
            "cases": [
                {
                    "id": result.case.id,
                    "verdict": result.verdict,
                    "detail": result.detail,
                    "departure": _departure(result.departure),
                }
                for result in self.results
            ],
        }

    def write_json(self, path: str) -> None:
        """Write `as_json` to a file, whole or not at all."""
        text = json.dumps(self.as_json(), ensure_ascii=False, indent=1, allow_nan=False)
        write_whole(path, text)


def _departure(departure: Departure | None) -> dict[str, Any] | None:
    if departure is None:
        return None
    # JSON has neither fractions nor infinity
    return {
        name: value if isinstance(value, (int, str)) or (isinstance(value, float) and math.isfinite(value)) else str(value)
        for name, value in departure._asdict().items()
    }


def _cut(text: str, more: int = 0) -> str:
    room = WIDTH - more
    return text if len(text) <= room else text[: room - 1] + "…"
