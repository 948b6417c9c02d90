"""Compare an implementation with the vectors: case by case, exactly or within the bounds of float64, with a diagnosis."""

import fnmatch
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from . import reach
from .answers import Function, Implementation
from .cases import ALGORITHM, LOSSES, Case, load
from .declared import check_known, declare, notes
from .light import progress as counting
from .report import Report
from .verdicts import Result, judge


def read_expected_failures(path: str | Path) -> dict[str, str]:
    """Read the expected failures of a file: on every line the id of a case, or a pattern of ids, and the reason.

    Raises
    ------
    ValueError
        A line has no reason; names it. Empty lines and lines that start with # are skipped.
    """
    reasons: dict[str, str] = {}
    for number, line in enumerate(Path(path).read_text("utf8").splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        pattern, _, reason = line.strip().partition(" ")
        if not reason.strip():
            raise ValueError(f"{path}, line {number}: {pattern!r} has no reason; write an id, a space, and why it fails")
        reasons[pattern] = reason.strip()
    return reasons


def check_patterns(expected_failures: Mapping[str, str]) -> None:
    """Refuse a pattern that matches no case, or no reason."""
    ids = [case.id for case in vectors()]
    for pattern, reason in expected_failures.items():
        if not str(reason).strip():
            raise ValueError(f"expected_failures: {pattern!r} has no reason")
        if not fnmatch.filter(ids, pattern):
            raise ValueError(f"expected_failures: {pattern!r} matches no case of the vectors")


def vectors(
    algorithm: str | Iterable[str] | None = None, loss: str | Iterable[str] | None = None, *, long: bool = True
) -> list[Case]:
    """Read the cases of some algorithms and losses as they are asked, with the long and wide ones or without."""
    cases = load(algorithm, loss) + (reach.load(algorithm, loss) if long else [])
    return sorted(cases, key=lambda case: (list(ALGORITHM.values()).index(case.algorithm), LOSSES.index(case.loss)))


def with_expectation(result: Result, expected_failures: Mapping[str, str]) -> Result:
    """Adjust the verdict on a case that is listed as an expected failure."""
    reasons = [reason for pattern, reason in expected_failures.items() if fnmatch.fnmatchcase(result.case.id, pattern)]
    if not reasons or result.verdict == "unsupported":
        return result
    if result.verdict in ("failed", "error"):
        return replace(result, verdict="expected failure", detail=f"{reasons[0]} ({result.detail})")
    return replace(result, verdict="unexpectedly passed", detail=f"strike it off the list: {reasons[0]}")


def check(
    train: Callable | Implementation,
    algorithm: str | Iterable[str] | None = None,
    loss: str | Iterable[str] | None = None,
    *,
    exact: bool = False,
    long: bool = True,
    known: Collection[str] = (),
    expected_failures: Mapping[str, str] | None = None,
    progress: bool | None = None,
) -> Report:
    """Compare an implementation with the test vectors, and diagnose what is wrong.

    Parameters
    ----------
    train : callable (X, y, loss, lam, indices, average, centred) -> (w, b) or (w, b, p, g), or Command
        X is a CSR array, y and indices are arrays, lam is a float. The predictor is for raw rows; p and g are the prediction
        and the loss derivative at every step. It raises NotImplementedError for what it does not do.
    algorithm : {"sgd", "asgd", "csgd", "casgd"}, several of them, or None for all
    loss : {"absolute", "squared", "hinge", "log"}, several of them, or None for all
    exact : bool
        lam is a Fraction, and the results must be equal to the exact ones with ==. The log-loss and its derivative are rounded
        to multiples of 2^-128 in exact runs, as `reference.losses.log_derivative_on_grid` does.
    long : bool
        Ask the long and wide cases as well, where the run is not exact.
    known : names of deviations, optional
        Faults or deviations of the list in the kit's README that are meant: the program that has them is the definition then.
    expected_failures : mapping from case ids, or patterns of them, to reasons, optional
        What may fail, and must.
    progress : bool, optional
        Show a progress bar on standard error; by default only at a terminal.

    Returns
    -------
    Report
        `report.passed`, `report.results`, `report.diagnosis`; printed, it is a summary.

    Raises
    ------
    TypeError, ValueError
        An argument is none of these. Whatever `train` does is a verdict, not an exception.

    Cost: a few seconds for all algorithms and losses, and whatever `train` takes for 2900 short runs and 200 long or wide ones.
    """
    implementation: Implementation = train if hasattr(train, "ask") else Function(train)  # type: ignore[assignment]
    deviations, expected_failures = check_known(known), expected_failures or {}
    cases = declare(vectors(algorithm, loss, long=long and not exact), deviations)
    if expected_failures:
        check_patterns(expected_failures)
    results = []
    with counting(len(cases), progress) as count:
        for case, replies in zip(cases, implementation.ask(cases, exact), strict=True):
            results.append(with_expectation(judge(case, replies, exact), expected_failures))
            count()
    return Report(implementation, exact, results, tuple(known), progress, notes(cases, deviations))
