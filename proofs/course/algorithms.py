"""Test algorithms: their results by the conformance kit, the cost of their steps by counting."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from reference import LOSSES, draw_indices
from reference.datasets import make_generic

from ..conformance import check
from ..conformance.cases import Case
from ..conformance.verdicts import BAD, Result
from ..counted.arrays import CountingArray, Tally
from .marking import Wrong


def conforms(train: Callable, algorithm: str, loss: str | Iterable[str] | None = None) -> None:
    """Compare an implementation with the test vectors of an algorithm, with one loss, several or all.

    Raises
    ------
    Wrong
        Names the known fault, if it is one, and shows the shortest case that is wrong.
    Exception
        The error that `train` raised, so that its author sees the line; a note may name the cause. NotImplementedError if a
        part is missing.
    """
    report = check(train, algorithm, loss, long=False, progress=False)
    bad = sorted((each for each in report.results if each.verdict in BAD), key=lambda each: length(each.case))
    if not bad:
        for result in report.results:
            if result.verdict == "unsupported":
                raise NotImplementedError(result.detail.removeprefix("NotImplementedError:").strip())
        return
    known = [finding.text for finding in report.diagnosis if finding.faults]
    if not known or bad[0].verdict == "error":
        _raise_again(train, bad, known)
    first = next((result for result in bad if result.departure), bad[0])
    sentences = known or [finding.text for finding in report.diagnosis]
    sentences.append(f"{len(bad)} of {len(report.results)} cases are wrong, such as {first.case.id}:")
    raise Wrong("\n".join([*sentences, *_shown(first)]))


def length(case: Case) -> tuple[int, int, int]:
    """Measure how long a case is: steps, rows, columns."""
    return len(case.indices), len(case.rows), case.n


def _raise_again(train: Callable, bad: Sequence[Result], known: Sequence[str]) -> None:
    """Run the cases that ended in an error again, shortest first, so that the error shows its line."""
    for case in (result.case for result in bad if result.verdict == "error"):
        for T in (checkpoint.t for checkpoint in case.checkpoints):
            indices = np.array(case.indices[:T])
            try:
                train(case.matrix(), np.array(case.y), case.loss, case.lam, indices, case.average, case.centred)
            except Exception as error:
                for sentence in known:
                    error.add_note(f"Perhaps {sentence}")
                raise


def _shown(result: Result) -> list[str]:
    """Describe the departure of a case, after its question if that can be worked through by hand."""
    case = result.case
    if len(case.rows) * case.n > 12:
        return [f"  {result.detail}"]
    rows = " ".join("{" + ", ".join(f"{column}: {value:g}" for column, value in row) + "}" for row in case.rows)
    question = f"labels {case.y}; {case.loss} loss; λ = {case.lam:g}; drawn {case.indices}"
    return [f"  rows, as column: value, {rows}", f"  {question}", f"  {result.detail}"]


def touches_few(algorithm: Callable) -> None:
    """Check by counting that a loop touches only what a row stores, on the same rows in 16 columns and in 32.

    Parameters
    ----------
    algorithm : callable (X, y, derivative, lam, indices, zeros)
        Its vectors are made by `zeros(n)`.

    Raises
    ------
    Wrong
        The cost of n more columns depends on T; names it. Or nothing could be counted.
    """
    rows = make_generic(m=8, n=16, k=3, seed=0)
    indices = draw_indices(8, steps=24, rng=0)

    def touched(n: int, T: int) -> int:
        X = sp.csr_array((rows.X.data, rows.X.indices, rows.X.indptr), shape=(8, n))
        tally = Tally()
        algorithm(X, rows.y, LOSSES["squared"].derivative, 1.0, indices[:T], lambda n: _Counted(np.zeros(n), tally))
        return tally.read + tally.written

    if touched(16, 12) == 0:
        raise Wrong("nothing could be counted: make every vector of n entries with zeros(n)")
    more = touched(32, 24) - touched(32, 12) - (touched(16, 24) - touched(16, 12))
    if more:
        raise Wrong(
            f"a step touches {more / (16 * 12):.3g} entries for each of the n columns, so that the loop costs O(Tn): "
            "touch only the columns that the row stores"
        )


def _counted(name: str) -> Any:
    def method(self, *arguments, **options):
        self.tally.read += self.size
        return getattr(self.view(np.ndarray), name)(*arguments, **options)

    return method


class _Counted(CountingArray):
    """Vector that counts the entries read and written, in every function of numpy."""

    dot, copy, tolist, astype, ravel, take = map(_counted, ("dot", "copy", "tolist", "astype", "ravel", "take"))

    def __array_function__(self, function, types, arguments, options):
        def plain(value):
            if isinstance(value, CountingArray):
                self.tally.read += value.size
                return value.view(np.ndarray)
            return type(value)(map(plain, value)) if isinstance(value, (list, tuple)) else value

        return function(*plain(arguments), **{name: plain(value) for name, value in options.items()})
