"""Fill and write the ledger: one entry for each claim, with its evidence."""

import json
import multiprocessing
import os
import platform
import signal
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from types import NoneType
from typing import Any, NamedTuple, cast

from tqdm import tqdm

from .paper import ARXIV, LABELS, SECTIONS

KINDS = {
    "proved": "for every case, in symbols, by two provers that must agree; every mutant of a formula must be refuted",
    "kernel": "for every case, checked by the small kernel of a proof assistant",
    "exact": "in rational arithmetic, compared with ==, or read in the code; nothing is rounded",
    "float": "in floating point, dense beside sparse, within a bound on the rounding",
    "counted": "entries touched by the shipped code, one by one, on arrays that count",
    "measured": "in floating point: convergence, averaging and stability, over several seeds or against a bound",
}
"""Kinds of evidence, the strongest first, and what each is."""

SAME = "the sparse algorithm is the dense one, at every prefix"
"""Claim of an exact comparison, which the last lines count."""

FORMAT = 2
"""Number of the format of a ledger in JSON; 1, without a number, had no kinds."""


@dataclass(frozen=True)
class Entry:
    """One claim, the evidence for it and the verdict.

    `kind` is one of KINDS, and `evidence` says more of it, if there is more to say.
    `value` and `bound` are numbers for machines, where the evidence is one: the claim holds if value <= bound.
    `expected` is False for a claim that is shown to be false, so that the ledger is as expected when `holds == expected`.
    `mutants` counts the formulas, losses or programs that were changed on purpose in one place to try the check on, and
    `refuted` how many of them the check refuted.
    """

    label: str
    claim: str
    kind: str
    evidence: str
    figure: str
    holds: bool
    data: str = ""
    algorithm: str = ""
    loss: str = ""
    value: float | None = None
    bound: float | None = None
    expected: bool = True
    mutants: int = 0
    refuted: int = 0

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {self.kind!r} for {self.label}, {self.claim!r}")
        if self.label not in LABELS:
            raise ValueError(f"label must be one of the paper's; got {self.label!r} for {self.claim!r}")
        try:
            json.dumps(vars(self), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise type(error)(f"an entry must hold what JSON can; {self.label}, {self.claim!r}: {error}") from None

    @property
    def as_expected(self) -> bool:
        return self.holds == self.expected

    @property
    def verdict(self) -> str:
        if self.as_expected:
            return "holds" if self.holds else "refuted, as expected"
        return "FAILS" if self.expected else "HOLDS, against expectation"

    @property
    def by(self) -> str:
        """Kind and particulars of the evidence, in words."""
        return f"{self.kind}, {self.evidence}" if self.evidence else self.kind

    def line(self) -> str:
        about = "  ".join(part.ljust(8) for part in (self.data, self.algorithm, self.loss) if part)
        return f"    {about:<36}  {self.figure} ({self.by}): {self.verdict}"


class Job(NamedTuple):
    """Piece of work that yields entries under some of these labels."""

    labels: tuple[str, ...]
    name: str
    run: Callable[[], Iterable[Entry]]


def fill(
    jobs: Iterable[Job], only: Collection[str] | None = None, progress: bool | None = None
) -> Iterator[tuple[str, list[Entry]]]:
    """Run the jobs, and yield each section of the paper with its entries as soon as all of them are there.

    A long list is shared out over the processors, where a process can be forked. After Ctrl-C the sections that are not
    complete are yielded as far as they are there, and then KeyboardInterrupt is raised.

    Parameters
    ----------
    jobs : iterable of Job
        The work; it is taken in the order of the paper.
    only : collection of str, optional
        The labels that are wanted; all by default.
    progress : bool, optional
        Show a progress bar on standard error; by default only at a terminal.
    """
    labels = LABELS.keys() if only is None else LABELS.keys() & set(only)
    places, jobs = list(LABELS), list(jobs)
    strange = {label for job in jobs for label in job.labels} - LABELS.keys()
    if strange:
        raise ValueError(f"jobs must have labels of the paper; got {', '.join(sorted(strange))}")
    jobs = [job for job in jobs if labels & set(job.labels)]
    jobs.sort(key=lambda job: SECTIONS.index(sections_of(labels & set(job.labels))[0]))
    left = Counter(section for job in jobs for section in sections_of(labels & set(job.labels)))
    found: dict[str, list[Entry]] = {section: [] for section in SECTIONS if left[section]}

    def complete() -> Iterator[tuple[str, list[Entry]]]:
        for section in [*found]:
            if left[section]:
                return
            yield section, sorted(found.pop(section), key=lambda entry: places.index(entry.label))

    try:
        with (
            _runner(jobs) as results,
            tqdm(jobs, unit="job", disable=None if progress is None else not progress, leave=False) as bar,
        ):
            for job, entries in zip(bar, results, strict=True):
                bar.set_postfix_str(job.name)
                for entry in entries:
                    if entry.label in labels:
                        found[LABELS[entry.label].section].append(entry)
                left.subtract(sections_of(labels & set(job.labels)))
                yield from complete()
    except KeyboardInterrupt:
        left.clear()
        yield from complete()
        raise


def sections_of(labels: Collection[str]) -> list[str]:
    """List the sections that the labels stand in, in the order of the paper."""
    return [section for section in SECTIONS if any(LABELS[label].section == section for label in labels)]


_jobs: list[Job] = []
"""Jobs that a forked process inherits: a job need not be picklable, its entries are."""


def _run(number: int) -> list[Entry]:
    return list(_jobs[number].run())


def _leave_signals_to_the_parent() -> None:
    """Ignore Ctrl-C, which the parent answers, and end when the parent says so."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def _runner(jobs: list[Job]) -> Iterator[Iterator[Iterable[Entry]]]:
    """Return the entries of each job, from as many processes as pay."""
    workers = min(os.cpu_count() or 1, len(jobs) // 8)
    if workers < 2 or "fork" not in multiprocessing.get_all_start_methods():
        yield (job.run() for job in jobs)
        return
    _jobs[:] = jobs
    with multiprocessing.get_context("fork").Pool(workers, _leave_signals_to_the_parent) as pool:
        yield pool.imap(_run, range(len(jobs)))


def summary(entries: list[Entry]) -> list[str]:
    """Sum up a ledger in its last lines: the equalities, the mutants, if there are any, and all entries."""
    wrong = sum(not entry.as_expected for entry in entries)
    mutants, refuted = (sum(getattr(entry, name) for entry in entries) for name in ("mutants", "refuted"))
    tried = [f"{refuted} of {mutants} mutants of formulas, losses and programs were refuted"] if mutants else []
    equal = [entry.holds for entry in entries if entry.claim == SAME]
    same = [f"efficient/ computes what reference/ defines: {sum(equal)} of {len(equal)} exact comparisons are equal"]
    return [*same * bool(equal), *tried, f"{len(entries)} entries, {len(entries) - wrong} as expected, {wrong} not"]


def versions() -> dict[str, str]:
    """Name the versions that the evidence was made with."""
    packages = ("casgd", "numpy", "scipy", "numba", "scikit-learn", "sympy", "mpmath", "z3-solver")
    return {"python": platform.python_version()} | {package: version(package) for package in packages}


def read_json(path: str) -> list[Entry]:
    """Return the entries of a file that `to_json` wrote; raises ValueError if the file is not such a ledger."""
    try:
        with open(path, encoding="utf8") as file:
            ledger = json.load(file)
        if ledger.get("format") != FORMAT:
            raise ValueError(f"its format is {ledger.get('format')}, and this version reads {FORMAT}. Make it anew")
        return [_entry({name: value for name, value in each.items() if name != "section"}) for each in ledger["entries"]]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path} must be a ledger that `python -m proofs --json FILE` wrote: {error}") from None


def _entry(values: dict[str, Any]) -> Entry:
    """Make an entry of what a file says; raise ValueError if a part is of another kind, or the label is unknown."""
    for each in fields(Entry):
        kind = (int, float, NoneType) if each.name in ("value", "bound") else cast(type, each.type)
        if each.name in values and not isinstance(values[each.name], kind):
            raise ValueError(f"{each.name} of an entry is {values[each.name]!r:.60}")
    if values.get("label", "") not in LABELS:
        raise ValueError(f"label of an entry is {values.get('label')!r:.60}")
    return Entry(**values)


def to_json(entries: list[Entry]) -> str:
    """Write the entries for machines, with the versions that they were made with."""
    ledger = {
        "format": FORMAT,
        "paper": ARXIV,
        "versions": versions(),
        "entries": [{"section": LABELS[entry.label].section, **asdict(entry)} for entry in entries],
    }
    return json.dumps(ledger, ensure_ascii=False, indent=1)
