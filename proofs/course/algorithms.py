"""Test algorithms: their results by the conformance kit, their cost by counting."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

import numpy as np
import scipy.sparse as sp

from reference import LOSSES, draw_indices
from reference.datasets import make_generic

from ..conformance import check
from ..conformance.answers import Answer
from ..conformance.cases import Case
from ..conformance.diagnosis import Finding, said
from ..conformance.plain import sentence
from ..conformance.verdicts import BAD, Result
from .counting import Places, Work, work_of, wrap
from .formulas import filled
from .marking import Wrong, quoted, told

UNUSUAL = "it is not one of the usual mistakes"


def conforms(train: Callable, algorithm: str, loss: str | Iterable[str] | None = None) -> None:
    """Compare an implementation with the test vectors of an algorithm, with one loss, several or all.

    Raises
    ------
    Wrong
        Names the known fault, if it is one, and shows the shortest case that is wrong, and the line that raised an error.
    NotImplementedError
        A part is missing.
    """
    train = in_full(train)
    report = check(train, algorithm, loss, long=False, progress=False)
    bad = sorted((each for each in report.results if each.verdict in BAD), key=lambda each: _length_by_hand(each.case))
    if not bad:
        for result in report.results:
            if result.verdict == "unsupported":
                raise NotImplementedError(result.detail.removeprefix("NotImplementedError:").strip())
        return
    known = [text for finding in report.diagnosis if (text := _of_its_own(finding, algorithm))]
    error, first = _error(train, bad), next((result for result in bad if result.departure), bad[0])
    if not first.departure:
        known = [f"Perhaps {text}" for text in known]  # no number that was compared speaks for it
        sentences = [error, *known]
    elif known or error:
        sentences = [*known, error]
    else:
        sentences = place_of_the_fault(list(_right_numbers(report.results))) or _unknown(report.diagnosis)
    shortest = "the shortest" if first is bad[0] else "the shortest that has an answer"
    number = f"  {len(bad)} of {len(report.results)} cases are wrong; {shortest}:"
    raise Wrong("\n".join([*filter(None, sentences), number, *_shown(first)]))


def _unknown(findings: Iterable[Finding]) -> list[str]:
    """Say what is no known fault in plain words, and of no case but the one that is shown."""
    texts = [finding.text.split("; it first departs")[0] for finding in findings if not finding.faults]
    texts = [UNUSUAL if text.startswith("no known fault") else re.sub(r" to [a-z]+-[\w-]+(?=:)", "", text) for text in texts]
    return texts or [UNUSUAL]


def _right_numbers(results: Iterable[Result]) -> Iterator[np.ndarray]:
    """Tell for each answer which of its numbers [w, b] are right."""
    for result in results:
        for point, reply in zip(result.case.checkpoints, result.replies, strict=False):
            if point.held and isinstance(reply, Answer):
                tolerance = np.array([*[point.w_tolerance] * len(point.w), point.b_tolerance])
                right = np.array([*point.w, point.b], dtype=float)
                yield abs(np.array([*reply.w, reply.b], dtype=float) - right) <= tolerance


def place_of_the_fault(right: Sequence[np.ndarray]) -> list[str]:
    """Say which of weights and bias are wrong, if the others are right in all answers: `right` tells of [w, b] which are."""
    if right and all(each[:-1].all() for each in right):
        return ["the weights w are right in all answers, the bias is not: look at what makes the bias"]
    if right and all(each[-1] for each in right):
        return ["the bias is right in all answers, the weights w are not: look at what makes the weights"]
    return []


OF_CENTRING = re.compile(r"cent(re|ring)|mean row|theta|θ|\bhas [qzrs],")
OF_MEANS = re.compile(r"averag|harmonic")


def _of_its_own(finding: Finding, algorithm: str) -> str:
    """Leave out of an explanation what the algorithm lacks, as SGD lacks a centre and a mean; "" if nothing is left."""
    foreign = [*([] if "c" in algorithm else [OF_CENTRING]), *([] if "a" in algorithm else [OF_MEANS])]
    own = [
        faults
        for faults in finding.faults
        if not any(word.search(f"{fault} {sentence(fault)}") for fault in faults for word in foreign)
    ]
    text = ": ".join(filter(None, [", ".join(finding.where), said(own)])) if own else ""
    return text if "c" in algorithm else text.replace("(d + r - a q)", "(d + a)")


def in_full(train: Callable) -> Callable:
    """Let an implementation return its weights in any form that says which column has which."""

    def trained(X, *arguments):
        answer = train(X, *arguments)
        return [filled(answer[0], X.shape[1]), *answer[1:]] if isinstance(answer, (tuple, list)) and answer else answer

    return trained


def length(case: Case) -> tuple[int, int, int]:
    """Measure how long a case is: steps, rows, columns."""
    return len(case.indices), len(case.rows), case.n


def _length_by_hand(case: Case) -> tuple:
    """Measure how long a case is by hand: steps, then if its numbers are near a kink, rows, columns."""
    steps, *size = length(case)
    return steps, "NearTie" in case.flags, *size


def _error(train: Callable, bad: Sequence[Result]) -> str:
    """Run the cases that ended in an error again, shortest first, to quote the line that raised it; "" if none did."""
    cases = (result.case for result in bad if result.verdict == "error")
    for case, T in ((each, checkpoint.t) for each in cases for checkpoint in each.checkpoints):
        indices = np.array(case.indices[:T])
        try:
            train(case.matrix(), np.array(case.y), case.loss, case.lam, indices, case.average, case.centred)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit too
            return told(error, handed_out=1)  # `train`
    returned = next((result.detail for result in bad if result.verdict == "error"), "")
    return re.sub(r"^T = \d+: ", "", returned).replace("(w, b) or (w, b, p, g)", "(w, b)")


def _shown(result: Result) -> list[str]:
    """Describe a case and its departure."""
    lines = question_of(result.case)
    if departure := result.departure:
        difference = str(departure).split(" (")[0] + _other_part(result)
        lines.append(f"    the first difference is at {difference} (rounding could make {departure.tolerance:.1g})")
    return lines


def question_of(case: Case) -> list[str]:
    """Write a case so that it can be worked through by hand, or name one that is too large."""
    if len(case.rows) * case.n > 12:
        return [f"    in the case {case.id} of the conformance kit"]
    rows = " ".join("{" + ", ".join(f"{column}: {value:g}" for column, value in row) + "}" for row in case.rows)
    question = f"labels {case.y}; {case.loss} loss; λ = {case.lam:g}; drawn {case.indices}"
    return [f"    rows, as column: value, {rows}", f"    {question}"]


def _other_part(result: Result) -> str:
    """Say of the first wrong predictor of a case which of its parts is right."""
    right = [each for each in _right_numbers([result]) if not each.all()]
    if right and right[0][:-1].all():
        return "; w is right"
    return "; b is right" if right and right[0][-1] else ""


SIZES = {"T": 24, "m": 24, "n": 32}
"""Steps, rows and columns of the smallest run that is counted; the others have twice as many."""

COSTS = {
    "nT": "a step costs {share:.3g} entries for each of the n columns, so that the loop costs O(Tn): touch only the columns "
    "that the row stores",
    "mT": "a step costs {share:.3g} entries for each of the m rows, so that the loop costs O(Tm): read only the row that is "
    "drawn",
    "mn": "{share:.3g} entries are made for each of the m rows and n columns, O(mn): leave the rows sparse",
    "TT": "step t costs {share:.3g} entries for each step before it, so that the loop costs O(T²): keep sums",
}
"""Products of two sizes that the work must not grow with, and what to say if it does."""


def touches_few(algorithm: Callable) -> None:
    """Check by counting that a loop costs O(n + Tk), and no more than O(n + mk) before and after it.

    Parameters
    ----------
    algorithm : callable (X, y, derivative, lam, indices, zeros)

    Raises
    ------
    Wrong
        The work grows with a product of T, m and n; names the product and the line. Or the drawn rows are not read.
    """
    found = {doubled: _work(algorithm, doubled) for doubled in ("", "T", "m", "n", "nT", "mT", "mn", "TT")}
    base = found[""]
    if (found["T"].total() - base.total()) < SIZES["T"]:
        raise Wrong("nothing could be counted: read the rows that are drawn, from X")
    for product, costs in COSTS.items():
        first, second = tuple(product)
        together = Counter(found[product])
        together.subtract(found[first])
        together.subtract(found[second])
        together.update(base)
        # on 3T steps, of which 2T belong to the two runs of 2T
        share = together.total() / (SIZES[first] * SIZES[second])
        if share > 0.1:
            (places, _), *_ = together.most_common(1)
            raise Wrong("\n".join([costs.format(share=share), *quoted(places, "most in")]))


def _work(algorithm: Callable, doubled: str) -> Counter[Places]:
    """Count a run in which these sizes are doubled, T tripled if it is named twice: more of the same draws."""
    size = {name: SIZES[name] * (1 + doubled.count(name)) for name in SIZES}
    drawn, times = 8, size["T"] // SIZES["T"]
    rows = make_generic(m=size["m"], n=16, k=3, seed=0)
    X = sp.csr_array((rows.X.data, rows.X.indices, rows.X.indptr), shape=(size["m"], size["n"]))
    indices = np.tile(draw_indices(drawn, steps=SIZES["T"], rng=0), times)

    def arguments(work: Work) -> tuple:
        arrays = (wrap(each, work) for each in (X, rows.y.copy(), indices))
        return *islice(arrays, 2), LOSSES["squared"].derivative, 1.0, *arrays, lambda n: wrap(np.zeros(n), work)

    return work_of(algorithm, arguments)
