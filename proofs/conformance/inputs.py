"""The inputs of the test vectors: rows, labels, λ and draws, each with its reason, and what the flags of a case mean.

Numbers are short dyadic ones, so that exact results stay short and every input is the float64 that it is written as. Labels
come in two kinds: real ones for the absolute and squared losses, signs for hinge and log.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from reference import Problem, iterates
from reference.sgd import Iterate

Row = Sequence[tuple[int, float]]

KINKED = {"absolute": "absolute", "squared": "absolute", "hinge": "hinge", "log": "hinge"}
"""For each loss the one with a kink that takes the same labels."""


@dataclass(frozen=True, eq=False)
class Run:
    """A question to an implementation: train on these rows in this order, centred or not.

    Parameters
    ----------
    n : int
        The number of columns.
    rows : m rows of (column, value) pairs as they are stored: perhaps unsorted, a column twice, zeros
    y, loss, lam, indices, centred : as the face of an implementation has them, in float64; 0-based
    """

    n: int
    rows: Sequence[Row]
    y: Sequence[float]
    loss: str
    lam: float
    indices: Sequence[int]
    centred: bool

    @cached_property
    def X(self) -> sp.csr_array:
        """The rows as a CSR array that stores the pairs as they are given."""
        data = np.array([value for row in self.rows for _, value in row], dtype=np.float64)
        columns = np.array([column for row in self.rows for column, _ in row], dtype=np.int32)
        starts = np.cumsum([0, *map(len, self.rows)], dtype=np.int32)
        return sp.csr_array((data, columns, starts), shape=(len(self.rows), self.n))

    @cached_property
    def exact(self) -> Problem:
        """The problem in rational arithmetic."""
        return self._exact(self.loss)

    @cached_property
    def steps(self) -> list[Iterate]:
        """All steps in rational arithmetic."""
        return list(iterates(self.exact, self.indices, centred=self.centred))

    @cached_property
    def columns(self) -> list[list[Fraction]]:
        """The columns of the matrix, dense and exact."""
        return [[self.exact.X.dense(i)[j] for i in range(len(self.rows))] for j in range(self.n)]

    @cached_property
    def flags(self) -> list[str]:
        """All flags that are true of these inputs."""
        return [flag for flag, (_, holds) in FLAGS.items() if holds(self)]

    def kink_distance(self, p: Fraction, i: int) -> Fraction:
        """How far the prediction p for row i is from the kink of the loss, or of the one with a kink for such labels."""
        y = Fraction(self.y[i])
        return abs(p - y) if KINKED[self.loss] == "absolute" else abs(p * y - 1)

    def ties(self) -> bool:
        """Whether a margin is exactly at the kink of the loss, or of the one with a kink for such labels."""
        steps: Iterable[Iterate] = self.steps
        if KINKED[self.loss] != self.loss:
            steps = iterates(self._exact(KINKED[self.loss]), self.indices, centred=self.centred)
        return any(self.kink_distance(step.p, i) == 0 for step, i in zip(steps, self.indices, strict=True))

    def _exact(self, loss: str) -> Problem:
        return Problem(self.X, self.y, loss, Fraction(self.lam))


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
"""What each flag says of a case, in words and as a predicate. A case has all the flags that are true of it."""


@dataclass(frozen=True, eq=False)
class Inputs:
    """What a case asks, for every algorithm and loss unless it says otherwise.

    Parameters
    ----------
    name : the last part of the case's id
    comment : one sentence, why it exists
    rows : dense rows (lists of numbers), of which the zeros are not stored, or `Stored` rows
    lam, indices : as in `Run`
    real, sign : the labels for the absolute and squared losses, and for hinge and log; None where there is no such case
    centred : for the centred algorithms only (True), the others only (False), or all
    """

    name: str
    comment: str
    rows: "Stored | Sequence[Sequence[float]]"
    lam: float
    indices: list[int]
    real: list[float] | None
    sign: list[int] | None
    centred: bool | None = None

    def run(self, loss: str, centred: bool) -> Run | None:
        """The question that these inputs are for one loss, centred or not; None if they are not meant for it."""
        y = self.real if KINKED[loss] == "absolute" else self.sign
        if y is None or self.centred not in (None, centred):
            return None
        rows = self.rows
        if not isinstance(rows, Stored):
            rows = Stored(len(rows[0]), [[(j, value) for j, value in enumerate(row) if value] for row in rows])
        pairs = [[(column, float(value)) for column, value in row] for row in rows.rows]
        return Run(rows.n, pairs, [float(label) for label in y], loss, float(self.lam), self.indices, centred)


@dataclass(frozen=True)
class Stored:
    """n columns, and rows of (column, value) pairs exactly as they are to be stored."""

    n: int
    rows: list[list[tuple[int, float]]]


FOUR = [[1.5, 0, -0.25], [0, 2, 0.75], [-0.5, 1.25, 0], [0.75, 0, 1]]
SIX = [[1, 0, 2], [0, -3, 1], [2, 2, 0], [-1, 0, 4], [0, 1, -1], [3, -2, 0]]
WORDS = [  # of the mails 84, 1896, 2042, 173 and 0 in `load_spam(tfidf=True)`: the, time, over, help, plain
    [0.2558453921372936, 0.02426545573168109, 0.01465829469797073, 0.010818796336529051, 0.0060939797353931485],
    [0.19485773815766008, 0.02607892715670789, 0, 0, 0],
    [0.14334369469628505, 0, 0.1158899178240909, 0, 0],
    [0.008797318435413298, 0.017660932700492387, 0, 0, 0],
    [0.031835885336883384, 0, 0, 0.01709708215203523, 0],
]
FAR = 2.0**10

INPUTS = (
    # few steps
    Inputs("one-step", "After one step the predictor is -g/lam [x, 1].", FOUR, 0.5, [1], [0.5, -1.25, 2, 0.75], [1, -1, 1, -1]),
    Inputs(
        "one-step-again",
        "One step from another row, with a label of the other sign.",
        FOUR, 2, [2], [0.5, -1.25, 2, 0.75], [1, -1, 1, -1],
    ),
    Inputs(
        "two-steps",
        "The second step is the first that shrinks the predictor, and the first that makes a mean.",
        FOUR, 0.5, [0, 1], [0.5, -1.25, 2, 0.75], [1, -1, 1, -1],
    ),
    Inputs(
        "two-steps-on-one-row",
        "The same row twice: its second prediction is made with what it taught.",
        FOUR, 4, [3, 3], [0.5, -1.25, 2, 0.75], [1, -1, 1, -1],
    ),
    Inputs(
        "first-label-zero",
        "The first prediction, 0, is the label: the absolute loss starts at its kink, the squared one without a gradient.",
        FOUR, 0.5, [1, 0, 2, 3, 1], [0.5, 0, 2, 0.75], None,
    ),
    Inputs(
        "first-label-negative",
        "The first label is -1, so that all signs of the first step turn round.",
        FOUR, 0.5, [1, 0, 2, 3, 1], None, [1, -1, -1, 1],
    ),
    # ordinary rows
    Inputs(
        "twelve-steps",
        "Ordinary rows, a third of whose numbers are zero, each drawn a few times.",
        FOUR, 0.5, [0, 1, 2, 3, 1, 0, 2, 2, 3, 1, 0, 3], [0.5, -1.25, 2, 0.75], [1, -1, 1, -1],
    ),
    Inputs(
        "reverse-order",
        "Every row is drawn once, from the last to the first: an implementation that visits rows in its own order fails.",
        SIX, 1.5, [5, 4, 3, 2, 1, 0], [1, -2, 0.5, 3, -0.25, -1], [1, -1, 1, 1, -1, -1],
    ),
    Inputs(
        "five-rows",
        "The mean divides by five, so that it is no dyadic number.",
        [[0.5, 0, 0, 1], [0, -1, 0.25, 0], [0, 0, 2, 0], [1.25, 0, 0, -0.5], [0, 0.75, 0, 0]],
        0.25, [4, 0, 3, 1, 2, 0, 4, 1, 3], [1, -0.5, 0.25, -1.5, 2], [1, -1, -1, 1, 1],
    ),
    Inputs(
        "wide-rows",
        "Twelve columns and two entries a row: most weights are touched once or never.",
        Stored(12, [[(0, 1.5), (7, -1)], [(3, 0.5), (7, 2)], [(11, -0.75), (4, 1)], [(0, -1), (9, 0.25)], [(5, 3), (6, 0.5)]]),
        1, [2, 0, 1, 4, 3, 1, 0, 2], [0.25, -0.75, 1.25, 0.5, -1], [1, 1, -1, -1, 1],
    ),
    Inputs(
        "lam-one-tenth",
        "With lam = 0.1, the float64 and not the fraction, no division is exact.",
        FOUR, 0.1, [3, 1, 0, 2, 0, 1, 3], [0.5, -1.25, 2, 0.75], [1, -1, -1, 1],
    ),
    Inputs(
        "opposite-rows",
        "Two rows and their opposites, so that steps cancel.",
        [[1, 0.5], [-1, -0.5], [0.25, -2], [-0.25, 2]],
        0.75, [0, 1, 2, 3, 0, 2, 1], [1, -1, 0.5, 0.25], [1, -1, 1, 1],
    ),
    Inputs(
        "long-rows",
        "Predictions are large against the labels: the hinge loss is flat and the log-loss nearly so.",
        [[16, 8, 0], [-8, 24, 4], [12, 0, -16], [0, -20, 8]],
        0.5, [0, 1, 2, 3, 0, 1, 3, 2], [1024, -512, 300, 77], [1, 1, 1, -1],
    ),
    # ties
    Inputs(
        "tie-at-step-two",
        "The second margin is exactly at the kink, also the squared loss has no gradient there; the means are 0.",
        [[-1, 1.5, 1], [2, 0, -1], [-1, -1, 0], [0, -0.5, 0]],
        2, [0, 1, 2, 3, 1, 0, 2], [1, -1, 0, -0.25], [-1, 1, -1, 1],
    ),
    Inputs(
        "tie-at-step-two-off-the-origin",
        "The second margin is exactly at the kink, for rows as they are.",
        [[-1, 2, 1], [0, -1, 1.5], [0.5, 2, -0.5], [-0.5, -1, 1.5]],
        0.5, [0, 1, 2, 3, 1, 0, 2], [-0.5, -1, -0.25, 0.5], [1, 1, 1, -1], centred=False,
    ),
    Inputs(
        "tie-at-step-two-off-the-origin",
        "The second margin is exactly at the kink, for centred rows.",
        [[-0.5, -1, -0.5], [0, 0, 1], [-0.5, 0, 0], [2, 0, 1.5]],
        0.5, [0, 1, 2, 3, 1, 0, 2], [-1, -1, -0.75, 1], [-1, -1, 1, 1], centred=True,
    ),
    Inputs(
        "tie-at-step-three",
        "The third margin is exactly at the kink, also the squared loss has no gradient there; the means are 0.",
        [[-1, -1, -0.5], [2, 0, -0.5], [0, 1.5, -0.5], [-1, -0.5, 1.5]],
        0.5, [0, 1, 2, 3, 1, 0, 2], [-1, 0.5, -1, -1.25], [-1, -1, -1, 1],
    ),
    Inputs(
        "tie-at-step-three-off-the-origin",
        "The third margin is exactly at the kink, for rows as they are.",
        [[-1, -0.5, -1], [2, -0.5, 0.5], [1.5, 0, -1], [0.5, 0, -0.5]],
        0.25, [0, 1, 2, 3, 1, 0, 2], [0.5, -1.5, 8, -1.25], [1, -1, 1, 1], centred=False,
    ),
    Inputs(
        "tie-at-step-three-off-the-origin",
        "The third margin is exactly at the kink, for centred rows.",
        [[1.5, 1.5, 0.5], [1, 0, -0.5], [-0.5, 0, 1], [-1, 1.5, 1]],
        0.5, [0, 1, 2, 3, 1, 0, 2], [1.25, 0.25, -1, -0.25], [-1, 1, 1, 1], centred=True,
    ),
    Inputs(
        "ties-at-steps-two-and-three",
        "Two margins in a row are exactly at the kink, for rows as they are.",
        [[0, -0.5, 0], [0.5, 0, -0.5], [1.5, 1.5, 0], [0, 1.5, 0]],
        1, [0, 1, 2, 3, 1, 0, 2], [-1, -1, 0.75, -1], [1, 1, 1, -1], centred=False,
    ),
    Inputs(
        "ties-at-steps-two-and-three",
        "Two margins in a row are exactly at the kink, for centred rows.",
        [[2, -0.5, 2], [0.5, 0, 0.5], [-0.5, -1, -1], [0, -0.5, 0.5]],
        1, [0, 1, 2, 3, 1, 0, 2], [1.5, 1, -1, -1.5], [1, 1, -1, 1], centred=True,
    ),
    Inputs(
        "tie-at-step-five",
        "The fifth margin is exactly at the kink, after a division by three: exact arithmetic decides, floats may not.",
        [[0, -1, 0], [2, 0, 1], [0, -1, 2], [0, -0.5, 2]],
        2, [0, 1, 2, 3, 1, 0, 2], None, [-1, 1, 1, 1], centred=False,
    ),
    Inputs(
        "tie-at-step-five",
        "The fifth margin is exactly at the kink, after a division by three: exact arithmetic decides, floats may not.",
        [[2, -0.5, 0], [0, 0, 1], [1, 0.5, 0.5], [1, -0.5, 0]],
        0.25, [0, 1, 2, 3, 1, 0, 2], None, [1, -1, 1, -1], centred=True,
    ),
    Inputs(
        "tie-at-step-five",
        "The fifth margin is exactly at the kink, after a division by three: exact arithmetic decides, floats may not.",
        [[0, -1, 0], [2, 0, 1], [0, -1, 2], [0, -0.5, 2]],
        2, [0, 2, 3, 0, 1, 2, 3], [0.5, 0.25, 0, 1], None, centred=False,
    ),
    Inputs(
        "tie-at-step-five",
        "The fifth margin is exactly at the kink, after a division by three: exact arithmetic decides, floats may not.",
        [[2, -0.5, 0], [0, 0, 1], [1, 0.5, 0.5], [1, -0.5, 0]],
        0.25, [0, 2, 3, 0, 1, 2, 3], [1.25, -2.4375, -0.25, 0.75], None, centred=True,
    ),
    Inputs(
        "beside-the-kink",
        "The second margin is beyond the kink by less than 2^-20, which is no tie.",
        [[-1, 1.5, 1], [2, -(2.0**-20), -1], [-1, -1, 0], [0, -0.5 + 2.0**-20, 0]],
        2, [0, 1, 2, 3, 1, 0, 2], [0.5, -1 - 2.0**-20, 0, -0.25], [-1, 1, -1, 1],
    ),
    # how rows are stored
    Inputs(
        "empty-row",
        "A row that stores nothing still teaches the bias, and is -xbar when centred.",
        [[0.5, -1], [0, 0], [2, 0.25], [0, 1.5]], 0.5, [0, 1, 2, 1, 3, 1], [1, -0.5, 0.25, 2], [1, -1, 1, -1],
    ),
    Inputs(
        "empty-row-first",
        "The first row drawn stores nothing.",
        [[0.5, -1], [2, 0.25], [0, 0], [0, 1.5]], 1, [2, 0, 1, 3, 2], [1, 0.25, -1.5, 2], [-1, 1, 1, -1],
    ),
    Inputs("all-rows-empty", "No row stores anything.", [[0, 0]] * 3, 0.5, [0, 2, 1, 0, 1], [0.5, -2, 1.25], [-1, 1, 1]),
    Inputs(
        "entries-twice",
        "A row stores a column twice, side by side: the two entries add up.",
        Stored(3, [[(0, 1), (0, 0.5), (2, -0.25)], [(1, 2), (2, 0.75)], [(0, -0.5), (1, 1), (1, 0.25)], [(0, 0.75), (2, 1)]]),
        0.5, [0, 1, 2, 3, 2, 0], [0.5, -1.25, 2, 0.75], [1, -1, 1, -1],
    ),
    Inputs(
        "entries-thrice",
        "A row stores a column three times, among others and out of order.",
        Stored(3, [[(2, 1), (0, 0.5), (2, -3), (1, 1), (2, 1.25)], [(1, 1), (0, -1.5), (1, 0.75)], [(0, 2), (2, 0.5)]]),
        0.75, [0, 1, 2, 0, 2, 1, 0], [2, 0.25, -1], [1, 1, -1],
    ),
    Inputs(
        "entries-that-cancel",
        "Entries for one column add up to 0; a row that is zero though it stores four entries.",
        Stored(3, [[(0, 1.5), (0, -1.5), (2, 1)], [(1, 2), (0, -1), (0, 1), (1, -2)], [(0, 1), (1, 0.5)], [(1, -1), (2, 2)]]),
        0.5, [0, 1, 2, 3, 1, 0], [1, -1, 0.5, -0.25], [1, -1, 1, 1],
    ),
    Inputs(
        "unsorted-columns",
        "Rows store their columns from the last to the first.",
        Stored(4, [[(3, 1), (1, -0.5), (0, 2)], [(2, 0.25), (0, -1)], [(3, -0.75), (2, 1.5)], [(1, 1)]]),
        0.25, [1, 0, 2, 3, 0, 2], [-0.5, 1.5, 0.75, -1], [-1, 1, 1, -1],
    ),
    Inputs(
        "stored-zeros",
        "Zeros are stored; they count for nothing, also in the mean.",
        Stored(3, [[(0, 0), (1, 1), (2, 0)], [(0, 0)], [(0, 2), (1, 0), (2, -0.5)], [(1, -1.5), (2, 1)]]),
        0.5, [0, 1, 2, 3, 2, 1, 0], [0.5, -1, 1.25, 0.25], [1, -1, -1, 1],
    ),
    Inputs(
        "stored-zeros-in-a-zero-column",
        "A column whose entries are all stored and all zero, the last column, and columns out of order.",
        Stored(3, [[(2, 0), (0, 1.5)], [(1, -1), (2, 0)], [(2, 0), (1, 0.5), (0, -0.25)]]),
        1.5, [2, 0, 1, 1, 0, 2], [1, -0.75, 0.5], [1, -1, 1],
    ),
    # columns
    Inputs(
        "column-never-stored",
        "The first, a middle and the last column have no entry: their weights stay 0.",
        [[0, 1, 0, -0.5, 0], [0, 0.25, 0, 2, 0], [0, -1.5, 0, 0.5, 0]],
        1.375, [0, 2, 1, 1, 0, 2, 1], [1, -1, 0.25], [1, -1, -1],
    ),
    Inputs(
        "column-of-the-first-step",
        "A column is stored in one row, drawn first and never again: its weight shrinks without being visited.",
        [[3, 0, 0.5], [0, 1, -1], [0, -0.5, 2], [0, 0.25, 1]],
        0.25, [0, 1, 2, 3, 2, 1, 3, 2], [1, -0.5, 0.75, 2], [1, -1, -1, 1],
    ),
    Inputs(
        "zero-mean-column",
        "The mean of the first column is 0 though it is stored, that of the second is not.",
        [[1.5, 1], [-0.5, 0.25], [-2, 3], [1, 0]], 0.5, [1, 2, 0, 3, 2, 1, 0], [0.5, -1, 1.5, -0.25], [1, -1, 1, 1],
    ),
    Inputs(
        "constant-column",
        "A column is the same in every row: a second bias, and gone after centring.",
        [[1, 0.5], [1, -1.5], [1, 0], [1, 2]], 0.5, [3, 0, 2, 1, 3, 1], [0.25, -0.75, 1, 1.5], [1, -1, -1, 1],
    ),
    Inputs(
        "rows-all-alike",
        "All rows are equal and only the labels differ: centred rows are zero.",
        [[0.5, -2, 1]] * 4, 2, [0, 1, 2, 3, 1, 2], [1, -0.5, 0.25, 2], [1, -1, -1, 1],
    ),
    # far from the origin
    Inputs(
        "all-columns-far",
        "Every entry is 2^10 from 0 and the spread is 2.",
        [[FAR + 1, -FAR], [FAR - 0.5, 1.25 - FAR], [FAR, 2 - FAR], [FAR + 1.5, 0.5 - FAR]],
        1, [0, 1, 2, 3, 1, 0], [1, -0.5, 0.25, 2], [1, -1, -1, 1],
    ),
    Inputs(
        "one-column-far",
        "One column is -2^14 from 0, the others are sparse and near.",
        [[1, 0, 1 - 2.0**14], [0, -0.5, -(2.0**14)], [2, 0, 3 - 2.0**14], [0, 1, 0.5 - 2.0**14]],
        8, [1, 0, 3, 2, 1, 3], [0.5, -1, 1, 0.25], [-1, 1, 1, -1],
    ),
    Inputs(
        "very-far",
        "A column is 2^20 from 0: Algorithm 3 as printed keeps few of its digits.",
        [[2.0**20 + 1, 1], [2.0**20 - 1, 0.5], [2.0**20 + 2, -1], [2.0**20 - 1.5, 0]],
        4, [0, 1, 2], [1, -1, 0.5, 2], [1, -1, 1, 1],
    ),
    # λ
    Inputs(
        "lam-tiny",
        "With lam = 2^-20 predictions are huge, and the exponential of a margin overflows.",
        FOUR, 2.0**-20, [0, 1, 2, 3, 1, 0], [0.5, -1.25, 2, 0.75], [1, -1, -1, 1],
    ),
    Inputs(
        "lam-tiny-short-rows",
        "With lam = 2^-16 and rows as short as 2^-8 the bias is a hundred times the weights.",
        [[0.00390625, 0], [-0.0078125, 0.00390625], [0, 0.01171875]],
        2.0**-16, [2, 0, 1, 0, 2, 1, 1], [1, -1, 0.5], [1, -1, -1],
    ),
    Inputs(
        "lam-large",
        "With lam = 2^10 predictions hardly leave 0.",
        FOUR, 2.0**10, [2, 3, 0, 1, 3, 0, 2, 1], [0.5, -1.25, 2, 0.75], [1, -1, 1, 1],
    ),
    Inputs(
        "lam-large-long-rows",
        "Though lam = 1000 is large for the bias, rows as long as 100 still move the predictions.",
        [[96, 0, -20], [0, 64, 32], [-48, 80, 0]],
        1000, [0, 1, 2, 1, 0, 2], [10, -5, 3], [1, -1, 1],
    ),
    # which rows are drawn
    Inputs(
        "single-example",
        "There is one row: centred it is zero, and only the bias learns.",
        [[1.25, -0.5, 0]], 0.625, [0] * 6, [0.875], [1],
    ),
    Inputs(
        "single-example-one-step",
        "One row and one step, the shortest run of all.",
        [[-2, 0.5]], 0.25, [0], [-1.5], [-1],
    ),
    Inputs(
        "one-row-again-and-again",
        "One row is drawn five times running and two are never drawn, though they are part of the mean.",
        [[0.5, 1], [-1, 2], [3, 0], [0.25, -0.5]], 0.5, [1, 1, 1, 1, 1, 3, 1], [1, -1.5, 4, 0.5], [1, 1, -1, -1],
    ),
    Inputs(
        "far-row-never-drawn",
        "A long row is never drawn: it moves the mean and nothing else.",
        [[1, 0.5, 0], [64, -32, 16], [-0.5, 0, 2], [0, 1.5, -1]],
        1, [0, 2, 3, 2, 0, 3], [0.5, 1, -1, 0.25], [1, 1, -1, 1],
    ),
    Inputs(
        "no-features",
        "The rows have no columns.",
        Stored(0, [[], [], []]), 0.75, [0, 1, 2, 1, 0, 0], [1, -0.5, 2.25], [1, -1, -1],
    ),
    # integers and text
    Inputs(
        "integers",
        "Integers everywhere, as counts are.",
        SIX, 3, [0, 3, 1, 4, 2, 5, 1, 3], [2, -1, 3, 0, 1, -2], [1, -1, 1, 1, -1, -1],
    ),
    Inputs(
        "zeros-and-ones",
        "Features that are 0 or 1, and more rows than steps.",
        [[1, 0, 1, 0], [0, 1, 1, 0], [1, 1, 0, 1], [0, 0, 0, 1], [1, 1, 1, 1], [0, 1, 0, 0], [1, 0, 0, 1]],
        0.3, [6, 4, 1, 0, 3], [1, 2, 0, -1, 3, -2, 1], [1, -1, 1, -1, 1, -1, -1],
    ),
    Inputs(
        "mails",
        "Five words of five real mails: numbers with all their 53 bits.",
        WORDS, 0.25, [0, 1, 2, 3, 4, 1], [1, -1, -1, 1, 1], [1, -1, -1, 1, 1],
    ),
    Inputs(
        "mails-lam-one-hundredth",
        "The same mails in another order, and lam = 0.01.",
        WORDS, 0.01, [4, 2, 0, 1, 2], [1, -1, -1, 1, 1], [1, -1, -1, 1, 1],
    ),
)  # fmt: skip
"""The cases, grouped by what they try. One name may stand for several inputs that are meant for different algorithms."""
