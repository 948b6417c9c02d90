"""Hypothesis strategies: problems of every kind, with the options that the algorithms take, and the ways to store rows.

A `Case` prints as the call that makes it, so that a counterexample can be pasted into a test.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from hypothesis import settings
from hypothesis import strategies as st

from efficient.runs.algorithms import ALGORITHMS
from reference import LOSSES, Problem
from tests.helpers import AVERAGES

NIGHTLY = settings.get_current_profile_name() == "nightly"
STEPS = 16 if NIGHTLY else 8
"""Largest T."""


@dataclass(frozen=True)
class Case:
    """Problem, drawn examples and options of a run. The rows are (column, value) pairs in stored order."""

    rows: tuple
    n: int
    y: tuple
    loss: str
    lam: Any
    indices: tuple
    sample_weight: tuple | None = None  # of the examples
    t0: Any = 0
    averaging_weights: str | None = None  # of the iterates, in AVERAGES
    container: str = "csr"
    dtype: str = "float64"
    index: str = "int32"

    @property
    def m(self) -> int:
        return len(self.rows)

    @property
    def tidy(self) -> "Case":
        """Same rows with sorted columns, none of them twice."""
        return replace(self, rows=tuple(tuple(sorted(dict(row).items())) for row in self.rows))

    @property
    def plain(self) -> "Case":
        """Same problem as the paper has it: t0 = 0, and all weights are 1."""
        return replace(self, sample_weight=None, t0=0, averaging_weights=None)

    def dense(self, number=float) -> np.ndarray:
        """Rows in the arithmetic of `number`, what is stored twice added up."""
        X = np.full((self.m, self.n), number(0), dtype=float if number is float else object)
        for i, row in enumerate(self.rows):
            for j, value in row:
                X[i, j] += number(value)
        return X

    @property
    def X(self):
        """Rows in their container; whatever is repeated, unsorted or a stored zero stays so where the container can."""
        if self.container == "dense":
            return self.dense(Fraction) if self.dtype == "object" else self.dense().astype(self.dtype)
        values = np.array([value for row in self.rows for _, value in row], dtype=self.dtype)
        i = np.repeat(np.arange(self.m), [len(row) for row in self.rows]).astype(self.index)
        j = np.array([j for row in self.rows for j, _ in row], dtype=self.index)
        if self.container == "coo":
            return sp.coo_array((values, (i, j)), shape=(self.m, self.n))
        major, minor, along = (i, j, self.m) if self.container == "csr" else (j, i, self.n)
        order = np.argsort(major, kind="stable")
        starts = np.searchsorted(major[order], np.arange(along + 1)).astype(self.index)
        kind = sp.csr_array if self.container == "csr" else sp.csc_array
        return kind((values[order], minor[order], starts), shape=(self.m, self.n))

    def problem(self, number=float) -> Problem:
        """Problem in float64, or with `fraction` in exact arithmetic."""
        return Problem(self.X, self.y, self.loss, number(self.lam), self.sample_weight)

    def options(self, algorithm: str) -> dict:
        """Keyword arguments of a run, those that the algorithm takes."""
        weights = {"averaging_weights": AVERAGES[self.averaging_weights] if self.averaging_weights else None}
        return {"t0": self.t0} | (weights if ALGORITHMS[algorithm].averaging else {})


class Kind(NamedTuple):
    """Sources of the numbers of a case, and the types that hold them."""

    values: st.SearchStrategy
    labels: st.SearchStrategy
    lam: st.SearchStrategy
    dtypes: tuple[str, ...]
    t0: st.SearchStrategy = st.sampled_from([0, 1, 0.5, 100])
    sample_weight: st.SearchStrategy = st.sampled_from([1, 0, 2, 0.5, 3])


def single(low: float, high: float) -> st.SearchStrategy:
    """Floats that float32 holds as well, so that every container gets the same ones."""
    return st.floats(low, high, width=32, allow_subnormal=False)


def ratios(low: int, high: int) -> st.SearchStrategy:
    return st.fractions(low, high, max_denominator=7)


positive_ratios = st.fractions(Fraction(1, 7), 3, max_denominator=7)
powers = st.integers(-20, 20).map(lambda k: 2.0**k)
finite = st.floats(allow_nan=False, allow_infinity=False)

KINDS = {
    "generic": Kind(single(-4, 4), single(-4, 4), single(0.0625, 8), ("float64", "float32")),
    # margins exactly at a kink are common among small integers
    "ties": Kind(
        st.integers(-2, 2), st.integers(-1, 1), st.sampled_from([1, 0.5, 0.25, 2]), ("float64", "float32", "int64", "int8")
    ),
    "scaled": Kind(single(-4, 4), single(-4, 4), powers, ("float64",)),
    "fractions": Kind(
        ratios(-3, 3), ratios(-3, 3), positive_ratios, ("object",), st.sampled_from([0, Fraction(1, 3)]), positive_ratios
    ),
    # any float64 at all: numbers whose squares overflow or vanish, too
    "extreme": Kind(finite, finite, finite.filter(lambda lam: lam > 0), ("float64",), finite.map(abs), st.just(1)),
}

FORMATS = ("csr", "int64", True), ("coo", "int32", True), ("csc", "int32", True), ("dense", "int32", False)
STORAGE = dict(zip(LOSSES, cycle(FORMATS), strict=False))
"""Container, type of its indices, and presence of weights in default float runs: every combination with a loss and an
algorithm is another loop to compile, which takes a second. The nightly run has them all."""


@st.composite
def cases(draw, kinds=("generic", "ties", "scaled"), losses=tuple(LOSSES), compiled=True) -> Case:
    """Draw a case of one of these kinds and losses; those that will not be compiled are stored in any way."""
    kind, loss = KINDS[draw(st.sampled_from(kinds))], draw(st.sampled_from(losses))
    m, n = draw(st.integers(1, 6)), draw(st.integers(0, 6))
    values, labels = kind.values, st.sampled_from([-1, 1]) if LOSSES[loss].binary else kind.labels
    if kind is KINDS["scaled"]:
        scale = draw(st.lists(st.tuples(powers, st.sampled_from([0, 0, 2.0**10, -(2.0**20)])), min_size=n, max_size=n))

        def stored(j, value):
            return j, value * scale[j][0] + scale[j][1]
    else:

        def stored(j, value):
            return j, value

    entries = st.tuples(st.integers(0, max(0, n - 1)), values)
    row = st.lists(entries, max_size=n + 2 if n else 0)
    rows = tuple(tuple(stored(j, value) for j, value in draw(row)) for _ in range(m))
    case = Case(
        rows=rows,
        n=n,
        y=tuple(draw(st.lists(labels, min_size=m, max_size=m))),
        loss=loss,
        lam=draw(kind.lam),
        indices=tuple(draw(st.lists(st.integers(0, m - 1), min_size=1, max_size=STEPS))),
        t0=draw(kind.t0),
    )
    if compiled and not NIGHTLY:
        container, index, given_weights = STORAGE[loss]
        dtype = kind.dtypes[0]
    else:
        dtype = draw(st.sampled_from(kind.dtypes))
        container = "dense" if dtype == "object" else draw(st.sampled_from(["csr", "csc", "coo", "dense"]))
        index, given_weights = draw(st.sampled_from(["int32", "int64"])), draw(st.booleans())
    case = replace(case, container=container, index=index, dtype=dtype)
    if container == "dense" or draw(st.booleans()):
        case = case.tidy
    if not given_weights:
        return case
    weight = draw(st.lists(kind.sample_weight, min_size=m, max_size=m).filter(any))
    return replace(
        case,
        sample_weight=tuple(weight),
        averaging_weights=draw(st.sampled_from([name for name in AVERAGES if AVERAGES[name]])),
    )
