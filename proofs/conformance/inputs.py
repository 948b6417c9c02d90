"""Inputs of the test vectors: rows, labels, λ and draws, each with its reason, in inputs.toml; and the flags of a case.

Numbers are short dyadic ones, so that exact results stay short and every input is the float64 that it is written as. Labels
come in two kinds: real ones, and signs for binary losses.
"""

import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from reference import Loss, Problem, iterates
from reference.losses import get_loss
from reference.sgd import Iterate

from .cases import LOSSES, Question

Row = Sequence[tuple[int, float]]


def _kinked(loss: str) -> Loss:
    """Find the loss with a kink that takes the same labels; a loss with a kink is its own."""
    kinked = [each for each in map(get_loss, (loss, *LOSSES)) if each.kink and each.binary == get_loss(loss).binary]
    return kinked[0]


@dataclass(frozen=True, eq=False)
class Run(Question):
    """Question with its steps in rational arithmetic."""

    @cached_property
    def exact(self) -> Problem:
        """Problem in rational arithmetic."""
        return self._exact(self.loss)

    @cached_property
    def steps(self) -> list[Iterate]:
        """All steps in rational arithmetic."""
        return list(iterates(self.exact, self.indices, centred=self.centred))

    @cached_property
    def columns(self) -> list[list[Fraction]]:
        """Columns of the matrix, dense and exact."""
        return [[self.exact.X.dense(i)[j] for i in range(len(self.rows))] for j in range(self.n)]

    @cached_property
    def flags(self) -> list[str]:
        """All flags that are true of these inputs."""
        return [flag for flag, (_, holds) in FLAGS.items() if holds(self)]

    def kink_distance(self, p: Fraction, i: int) -> Fraction:
        """Measure from the prediction p for row i to the kink of the loss, or of the one with a kink for such labels."""
        kink = _kinked(self.loss).kink
        assert kink is not None
        return abs(p - kink(Fraction(self.y[i])))

    def ties(self) -> bool:
        """Tell whether a margin is exactly at the kink of the loss, or of the one with a kink for such labels."""
        return 0 in self.kink_distances

    @cached_property
    def kink_distances(self) -> list[Fraction]:
        """Distances of all margins from the kink of the loss, or of the one with a kink for such labels."""
        kinked = _kinked(self.loss).name
        steps: Iterable[Iterate] = self.steps
        if kinked != self.loss:
            steps = iterates(self._exact(kinked), self.indices, centred=self.centred)
        return [self.kink_distance(step.p, i) for step, i in zip(steps, self.indices, strict=True)]

    def _exact(self, loss: str) -> Problem:
        return Problem(self.matrix(), self.y, loss, Fraction(self.lam))


def _is_far(column: list[Fraction]) -> bool:
    spread = max(column) - min(column)
    return spread > 0 and abs(sum(column, Fraction(0))) >= 2**8 * spread * len(column)


def _has_integers(run: Run) -> bool:
    values = [value for row in run.rows for _, value in row]
    return any(values) and all(value == int(value) for value in (*values, *run.y))


def _is_real_text(run: Run) -> bool:
    values = [value for row in run.rows for _, value in row]
    return bool(values) and all(0 < value < 1 and Fraction(value).denominator >= 2**40 for value in values)


def _are_sorted(row: Row) -> bool:
    return all(one <= other for (one, _), (other, _) in pairwise(row))


FLAGS: dict[str, tuple[str, Callable[[Run], bool]]] = {
    "FirstStep": ("there is one step, made from p = 0", lambda run: len(run.indices) == 1),
    "T2": ("there are two steps: the first that shrinks, the first mean", lambda run: len(run.indices) == 2),
    "KinkTie": ("a margin is exactly at the kink of the absolute or the hinge loss, where Table 1 picks a side", Run.ties),
    "NearTie": (
        "a margin is beside the kink: off by 2^-30, 2^-40 or 2^-52, exactly in float64",
        lambda run: any(0 < distance <= 2**-30 for distance in run.kink_distances),
    ),
    "EmptyRow": ("a row that stores nothing is drawn", lambda run: any(not run.rows[i] for i in run.indices)),
    "DuplicateIndex": (
        "a row stores a column twice: such entries add up",
        lambda run: any(len({column for column, _ in row}) < len(row) for row in run.rows),
    ),
    "UnsortedIndex": ("a row stores its columns out of order", lambda run: not all(map(_are_sorted, run.rows))),
    "StoredZero": ("a zero is stored", lambda run: any(value == 0 for row in run.rows for _, value in row)),
    "ZeroColumn": ("a column holds nothing but zeros", lambda run: not all(map(any, run.columns))),
    "ZeroMean": (
        "a column that is not zero has the mean 0",
        lambda run: any(any(column) and sum(column) == 0 for column in run.columns),
    ),
    "LargeShift": (
        "a column's mean is at least 2^8 times its spread: centring cancels",
        lambda run: any(map(_is_far, run.columns)),
    ),
    "TinyLambda": ("λ is at most 2^-16: the first steps are huge", lambda run: run.lam <= 2**-16),
    "LargeLambda": ("λ is at least 2^8: the steps are tiny", lambda run: run.lam >= 2**8),
    "SingleExample": ("there is one row, which is its own mean", lambda run: len(run.rows) == 1),
    "RepeatedDraws": (
        "a row is drawn again while another never is",
        lambda run: len(set(run.indices)) < min(len(run.rows), len(run.indices)),
    ),
    "NoFeatures": ("there are no columns: only the bias learns", lambda run: run.n == 0),
    "IntegerData": ("rows and labels are integers, not all zero", _has_integers),
    "RealText": ("tf-idf weights of real mails: no short numbers", _is_real_text),
}
"""Flags: a sentence and a predicate each. A short case has all the flags that are true of it."""


@dataclass(frozen=True, eq=False)
class Inputs:
    """Entry of inputs.toml: a question for every algorithm, and every loss that it has labels for.

    Parameters
    ----------
    name : the last part of the case's id
    comment : one sentence, why it exists
    lam, indices : as in `Question`
    rows : dense rows (lists of numbers), of which the zeros are not stored
    n, stored : number of columns, and rows of (column, value) pairs exactly as they are to be stored, in place of `rows`
    real, sign : the labels for real losses and for binary ones; None where there is no such case
    centred : for the centred algorithms only (True), the others only (False), or all
    losses : for these losses only; by default for all that there are labels for
    """

    name: str
    comment: str
    lam: float
    indices: list[int]
    rows: Sequence[Sequence[float]] = ()
    n: int | None = None
    stored: Sequence[Row] = ()
    real: list[float] | None = None
    sign: list[int] | None = None
    centred: bool | None = None
    losses: Sequence[str] = LOSSES

    def run(self, loss: str, centred: bool) -> Run | None:
        """Make the question for one loss, centred or not; None if the entry is not meant for it."""
        y = self.sign if get_loss(loss).binary else self.real
        if y is None or self.centred not in (None, centred) or loss not in self.losses:
            return None
        n, rows = self.n, self.stored
        if n is None:
            n, rows = len(self.rows[0]), [[(j, value) for j, value in enumerate(row) if value] for row in self.rows]
        pairs = [[(column, float(value)) for column, value in row] for row in rows]
        return Run(n, pairs, [float(label) for label in y], loss, float(self.lam), self.indices, centred)


def _read() -> tuple[Inputs, ...]:
    """Cases of `inputs.toml`."""
    file = tomllib.loads(Path(__file__).with_name("inputs.toml").read_text("utf8"))
    for each in file["case"]:
        if isinstance(each.get("rows"), str):
            each["rows"] = file["rows"][each["rows"]]
    return tuple(Inputs(**each) for each in file["case"])


INPUTS = _read()
"""Cases, grouped by what they try. One name may stand for several inputs that are meant for different algorithms."""
