"""Search for the known faults that, alone or up to three together, give all results of a run, within bounded work.

One fault is looked for first, then all pairs, then triples. Pairs are sifted by single results, the first steps of simple cases
first: faults that act alike there, alone, are tried as one. Triples are built one fault after another: each must give the
simplest result that the others do not, and the ways that give most results are kept.
"""

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations, combinations_with_replacement, islice, product

import numpy as np

from .agreement import Comparison, Evidence, Faults, all_act, compare, run_of
from .answers import Answer
from .cases import ALGORITHM, LOSSES, Case
from .faults import MEMBERS, SLIPS
from .plain import FAULTS, WRONG_DERIVATIVES, family

NAMES = (*(fault for fault in FAULTS if fault != "single precision" and fault not in {*SLIPS}), *MEMBERS)
"""Faults that are tried, also together; slips are tried alone. Single precision is none of them: see `diagnosis.precision`."""

MOST_WORK = 200_000
"""Most steps of the plain program that a search may take, those of its beginning included: some seconds."""

MOST_SECONDS = 10.0
"""Most seconds of the processor, if work that is seldom so costly takes longer."""

BEAM, SAMPLE = 8, 16
"""How many ways to go on to a triple are kept, and by how many cases they are ranked."""

FEW, MANY = 200, 1000
"""So few pairs are tried one by one, and so many are ranked at most."""

SETTLED = 3
"""So many results that a fault leaves to rounding must a second one not contradict, of which it settles one."""

Files = dict[str, list[Evidence]]


class Exhausted(Exception):
    """Tell that a search has done as much work as it may."""


class Tally:
    """Count the explanations tried and their work, show the count at a terminal, and end a search that is too long."""

    def __init__(self, shown: bool | None):
        self.shown = sys.stderr.isatty() if shown is None else shown
        self.tried: set[Faults] = set()
        self.work, self.most = 0, MOST_WORK
        self.started = self.last_shown = time.monotonic()
        self.last = time.process_time() + MOST_SECONDS

    def count(self, faults: Faults, steps: int) -> None:
        """Count a run of this number of steps with these faults."""
        self.tried.add(faults)
        self.work += steps + 2  # a run costs two steps before its first
        if self.work > self.most or time.process_time() > self.last:
            raise Exhausted
        if self.shown and self.work % 16 == 0 and time.monotonic() > self.last_shown + 0.2:
            self.last_shown = time.monotonic()
            sys.stderr.write(f"\rlooking for the fault: {len(self.tried)} explanations tried")
            sys.stderr.flush()

    @contextmanager
    def share(self, part: float) -> Iterator[None]:
        """Give a search this part of the work that is left, and end it there."""
        whole = self.most
        self.most = self.work + int(part * (whole - self.work))
        try:
            yield
        except Exhausted:
            pass
        finally:
            self.most = whole

    @contextmanager
    def more(self, part: float) -> Iterator[None]:
        """Give a search this part of all the work, also if none is left."""
        self.most = self.work + int(part * MOST_WORK)
        with self.share(1):
            yield

    def __str__(self) -> str:
        return f"searched {len(self.tried)} explanations in {time.monotonic() - self.started:.0f} s"

    def close(self) -> None:
        """Leave the line at the terminal."""
        if self.shown and self.last_shown > self.started:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


class Search:
    """Search for the faults behind a run's results, of which those of an algorithm with a loss are a file."""

    def __init__(self, evidence: Iterable[Evidence], exact: bool, tally: Tally):
        self.exact, self.tally = exact, tally
        self.files: Files = {}
        for each in sorted(evidence, key=_rejecting):
            self.files.setdefault(f"{each.case.algorithm} with {each.case.loss}", []).append(each)
        for name, file in self.files.items():
            self.files[name] = [*islice(_probes(file), 1), *file]
        self._of_file: dict[tuple[Faults, str], Comparison] = {}

    def wrong(self) -> list[str]:
        """List the files in which something is wrong."""
        return [name for name, file in self.files.items() if any(each.wrong for each in file)]

    def evidence(self, files: Iterable[str]) -> list[Evidence]:
        return [each for name in files for each in self.files[name]]

    def single(self, files: Sequence[str]) -> list[Faults]:
        """Find the faults that alone give all results of these files; of some left to rounding also pairs that settle them."""
        for names in (NAMES, SLIPS):
            found, left_open = self._explanations((frozenset({name}) for name in names), files)
            if left_open:
                with self.tally.share(0.2):
                    settled, still_open = self._explanations(self._settling(found, files), files)
                    found += [pair for pair in settled if self._all_act(pair, files)] if still_open < left_open else []
            if found:
                return found
        return []

    def _settling(self, found: Sequence[Faults], files: Sequence[str]) -> Iterator[Faults]:
        """Yield the pairs of one of these faults and another that settle one of the first results that it leaves open."""
        for one in found[:SETTLED]:
            left = ((each, comparison.open) for each in self.evidence(files) if (comparison := self._compare(one, each)).open)
            few = [*islice(left, SETTLED)]
            for other in NAMES:
                if other not in one:
                    made = [(self._compare(one | {other}, each), number) for each, number in few]
                    if not any(each.other for each, _ in made) and any(each.open < number for each, number in made):
                        yield one | {other}

    def several(self, files: Sequence[str]) -> list[Faults]:
        """Find two or three faults that together give all results of these files, the fewest possible."""
        pairs, nearly = self._pairs(files)
        for candidates in (lambda: pairs, lambda: self._triples(nearly, files)):
            found, _ = self._explanations(sorted(candidates(), key=sorted), files)
            if found := [faults for faults in found if self._all_act(faults, files)]:
                return found
        return []

    def _all_act(self, faults: Faults, files: Sequence[str]) -> bool:
        return all_act(faults, self.evidence(files), self.exact)

    def _explanations(self, candidates: Iterable[Faults], files: Sequence[str]) -> tuple[list[Faults], int]:
        """Find the candidates that give all of these results but the fewest left to rounding, and the number of these."""
        found = {faults: left for faults in candidates if (left := self._left_open(faults, files)) is not None}
        fewest = min(found.values(), default=0)
        return [faults for faults, left in found.items() if left == fewest], fewest

    def _left_open(self, faults: Faults, files: Sequence[str]) -> int | None:
        """Count the results that these faults leave to rounding; None if they give others, or explain nothing."""
        left, explained = 0, False
        for name in files:
            comparison = self._compare_file(faults, name)
            if comparison.other:
                return None
            left, explained = left + comparison.open, explained or comparison.explained
        return left if explained else None

    def _compare_file(self, faults: Faults, name: str) -> Comparison:
        """Compare the replies of a file with the faulty program's."""
        if (faults, name) not in self._of_file:
            left, explained = 0, False
            for each in self.files[name]:
                comparison = self._compare(faults, each)
                if comparison.other:
                    self._of_file[faults, name] = comparison
                    break
                left, explained = left + comparison.open, explained or comparison.explained
            else:
                self._of_file[faults, name] = Comparison(False, left, explained)
        return self._of_file[faults, name]

    def differs(self, faults: Faults, each: Evidence) -> bool:
        """Tell whether the program with these faults gives another reply."""
        return self._compare(faults, each).other

    def _compare(self, faults: Faults, each: Evidence) -> Comparison:
        self.tally.count(faults, len(each.case.indices))
        comparison = compare(faults, each, self.exact)
        if comparison.open:
            self.tally.count(faults, 4 * len(each.case.indices))  # the rounding was bounded
        return comparison

    def _pairs(self, files: Sequence[str]) -> tuple[list[Faults], list[Faults]]:
        """List the pairs that give the first results of simple cases, and those that give most of these."""
        blocks: list[list[str]] = [[*NAMES]]
        alive = {(0, 0)}
        nearly: list[Faults] = []
        for name in sorted(files, key=_simple):
            for probe in _probes(self.files[name]):
                if sum(len(blocks[one]) * len(blocks[other]) for one, other in alive) <= FEW:
                    break
                blocks, alive = self._sifted(blocks, alive, probe)
                nearly = _members(blocks, alive) or nearly
        return _members(blocks, alive), nearly

    def _sifted(self, blocks: list[list[str]], alive: set, probe: Evidence) -> tuple[list[list[str]], set[tuple[int, int]]]:
        """Divide the blocks by what their faults do to a result, and keep the pairs of blocks whose first members give it."""
        made: list[list[str]] = []
        parts: dict[int, list[int]] = {}
        smooth = replace(probe.case, loss="log")  # where no derivative is 0, which hides what is multiplied by it
        for number in sorted({number for pair in alive for number in pair}):
            divided: dict[object, list[str]] = {}
            for name in blocks[number]:
                divided.setdefault(self._effect(name, probe, smooth), []).append(name)
            parts[number] = [len(made) + place for place in range(len(divided))]
            made += divided.values()
        kept = set()
        for one, other in sorted(alive):
            pairs = combinations_with_replacement(parts[one], 2) if one == other else product(parts[one], parts[other])
            for first, second in pairs:
                members = made[first][:2] if first == second else [made[first][0], made[second][0]]
                if len(members) == 2 and not self._compare(frozenset(members), probe).other:
                    kept.add((first, second))
        return made, kept

    def _effect(self, name: str, probe: Evidence, smooth: Case) -> object:
        """Make a key that is the same for faults that do the same to a result, and to the same case with another loss."""
        wrong_slopes = WRONG_DERIVATIVES.get(name) or (family(name).derivatives if name not in FAULTS else {})
        if probe.case.loss in wrong_slopes:
            return name  # a derivative may be wrong elsewhere, where another fault leads
        made = []
        for case in (probe.case, smooth):
            self.tally.count(frozenset({name}), len(case.indices))
            runs = run_of(frozenset({name}) | case.known, case, False)
            made.append(runs and np.array([*runs[0].w, runs[0].b, *runs[0].p, *runs[0].g], dtype=float).tobytes())
        return tuple(made)

    def _triples(self, nearly: Sequence[Faults], files: Sequence[str]) -> list[Faults]:
        """List triples, built from the faults and pairs that give most results."""
        # the simplest first, where few faults have an effect; what is wrong before what is right
        ordered = sorted(
            self.evidence(files), key=lambda each: (not each.wrong, len(each.case.indices), each.case.n, each.case.id)
        )
        sample = ordered[:: -(-len(ordered) // SAMPLE)]

        def score(way: Faults) -> int:
            return sum(not self._compare(way, each).other for each in sample)

        ways: list[Faults] = [frozenset()]
        for size in (1, 2, 3):
            longer = {way | {name} for way in ways for name in self._next(way, ordered)}
            if size == 2 and len(nearly) <= MANY:
                longer |= {*nearly}
            if size < 3:
                ways = sorted(longer, key=lambda way: (-score(way), sorted(way)))[:BEAM]
        return [*longer]

    def _next(self, way: Faults, ordered: Sequence[Evidence]) -> list[str]:
        """List the faults with which the simplest result that this way does not give is given, or one of the next simple."""
        failing = (each for each in ordered if self._compare(way, each).other or (each.wrong and not way))
        for each in islice(failing, 4):
            if names := [name for name in NAMES if name not in way and self._gives(way | {name}, each)]:
                return names
        return []

    def _gives(self, faults: Faults, each: Evidence) -> bool:
        comparison = self._compare(faults, each)
        return not comparison.other and (comparison.explained or not each.wrong)


def _members(blocks: list[list[str]], alive: Iterable[tuple[int, int]]) -> list[Faults]:
    """List the pairs of faults of the pairs of blocks."""
    return [
        frozenset(pair)
        for one, other in alive
        for pair in (combinations(blocks[one], 2) if one == other else product(blocks[one], blocks[other]))
    ]


def _rejecting(each: Evidence) -> tuple:
    """Sort what is wrong first, and long runs without ties: there most candidates fail at once."""
    return not each.wrong, "KinkTie" in each.case.flags, -len(each.case.indices)


def _simple(name: str) -> tuple[int, int]:
    """Sort the files by algorithm, as few faults act in the simple ones, then by loss."""
    algorithm, loss = name.split(" with ")
    return list(ALGORITHM.values()).index(algorithm), LOSSES.index(loss)


def _probes(file: Sequence[Evidence]) -> Iterator[Evidence]:
    """Yield single results of a file: of the first steps of a wrong case without ties, as general as there is."""
    whole = [each for each in file if len(each.case.checkpoints) > 2] or file
    for each in islice(sorted(whole, key=lambda each: (-len(each.wrong), "KinkTie" in each.case.flags, -each.case.n)), 2):
        for place, (checkpoint, reply) in enumerate(zip(each.case.checkpoints, each.replies, strict=True)):
            if checkpoint.t <= 3 and (isinstance(reply, Answer) or reply.divides):
                case = replace(each.case, indices=each.case.indices[: checkpoint.t], checkpoints=(checkpoint,))
                yield Evidence(case, [reply], frozenset({0}) if place in each.wrong else frozenset())
