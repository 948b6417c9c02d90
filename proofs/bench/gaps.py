"""Time against gap: how long a solver takes until its F is within a given share of the least F, (F − F*)/F*.

F* is certified by `reference.minimise`. All solvers have the bias regularised, as a column of ones, and one thread. `casgd`
minimises the F of the centred rows and is held against its own F*. A solver is run with longer and longer budgets; of those
that reach a gap the fastest counts, with all of `fit`. Where others win, the table says so. Vowpal Wabbit is left out: its
adaptive steps with --l2 do not end at the least F.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier, SGDRegressor
from sklearn.svm import LinearSVC

from efficient.training.epochs import Schedule, train
from efficient.training.models import begin
from efficient.training.settings import Settings
from reference import Predictor, Problem, minimise
from reference.datasets import Dataset, load_spam, load_tweets, make_text

from .. import peer
from .measure import now, quartiles, quiet

GAPS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)

EPOCHS = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200)
"""Budgets, in passes over the rows or in iterations of the solver."""

LONGEST = 20.0
"""Seconds after which a solver gets no longer budget."""

MOST_SQUARES = 5_000
"""Most columns of a solver that keeps a matrix of n² numbers."""

LAM = 1e-4


class Case(NamedTuple):
    """Rows with their loss; λ is 10⁻⁴ for all."""

    name: str
    make: Callable[[], Dataset]
    loss: str


CASES = (
    Case("mails", lambda: load_spam(tfidf=True), "log"),
    Case("mails", lambda: load_spam(tfidf=True), "hinge"),
    Case("tweets", lambda: load_tweets(tfidf=True), "squared"),
    Case("text, n = 1000", lambda: make_text(20_000, 1_000, 40, seed=0), "log"),
    Case("text, n = 10 000", lambda: make_text(20_000, 10_000, 75, seed=0), "log"),
    Case("text, n = 10 000", lambda: make_text(20_000, 10_000, 75, seed=0), "hinge"),
)

QUICK_CASES = (Case("text, n = 300", lambda: make_text(1_000, 300, 20, seed=0), "log"),)


class Solver(NamedTuple):
    """Way from a budget to a predictor and the seconds that it took; it minimises the F of centred rows or of raw ones."""

    name: str
    solve: Callable[[int], tuple[Predictor, float]]
    centred: bool = False


def solvers(problem: Problem) -> Iterator[Solver]:
    """Yield the solvers for the loss of a problem."""
    loss, m, rows, y = problem.loss.name, problem.m, peer.with_ones(problem.X.csr), problem.y

    def ours(algorithm: str, order: str) -> Solver:
        def solve(epochs: int) -> tuple[Predictor, float]:
            began = now()
            again = Problem(problem.X.csr, y, loss, problem.lam)
            run = begin([again], Settings(loss, problem.lam, algorithm))
            train(run, Schedule(m, epochs * m, m, np.random.default_rng(0), order))
            (answer,) = run.predictors()
            return answer, now() - began

        return Solver(f"{algorithm}, {order}", solve, algorithm == "casgd")

    def fitted(name: str, make: Callable[..., Any], **options) -> Solver:
        def solve(budget: int) -> tuple[Predictor, float]:
            solver = make(max_iter=budget, fit_intercept=False, **options)
            began = now()
            solver.fit(rows, y)
            seconds = now() - began
            return peer.predictors(solver)[0], seconds

        return Solver(name, solve)

    yield from (ours("casgd", "permuted"), ours("casgd", "iid"), ours("asgd", "permuted"))
    sgd = {"alpha": problem.lam, "average": True, "tol": None, "random_state": 0}
    exact = {"C": 1 / (problem.lam * m), "tol": 1e-12, "random_state": 0}
    if loss == "squared":
        yield fitted("SGDRegressor(average=True)", SGDRegressor, **sgd)
        yield fitted("Ridge(solver='lsqr')", Ridge, solver="lsqr", alpha=problem.lam * m, tol=1e-12)
    elif loss == "hinge":
        yield fitted("SGDClassifier(average=True)", SGDClassifier, loss="hinge", **sgd)
        yield fitted("LinearSVC", LinearSVC, loss="hinge", **exact)
    else:
        yield fitted("SGDClassifier(average=True)", SGDClassifier, loss="log_loss", **sgd)
        for solver in ("liblinear", "saga", "newton-cholesky"):
            if solver != "newton-cholesky" or problem.n <= MOST_SQUARES:
                yield fitted(f"LogisticRegression, {solver}", LogisticRegression, solver=solver, **exact)


def time_to_gaps(rounds: int, cases: tuple[Case, ...] = CASES, tell: Callable[[str], Any] = quiet) -> Iterator[dict[str, Any]]:
    """Time the solvers on each case, and yield a record of each.

    Returns
    -------
    iterator of dict
        `points` are (budget, gap, seconds of the rounds) of the budgets tried. `reached` are (gap, quartiles of the seconds,
        budget) of the fastest that reaches a gap, and nothing where none does. `why` says what kept it from running.
    """
    for case in cases:
        tell(f"gaps: {case.name}, {case.loss}: minimum")
        data = case.make()
        problem = Problem(data.X, data.y, case.loss, LAM)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            least = {centred: minimise(problem, centred).value for centred in (False, True)}
        for solver in solvers(problem):
            tell(f"gaps: {case.name}, {case.loss}: {solver.name}")
            record: dict[str, Any] = {"case": case.name, "loss": case.loss, "solver": solver.name, "why": "", "points": []}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                try:
                    record["points"] = list(_points(solver, problem, least[solver.centred], rounds))
                except (ValueError, MemoryError) as error:
                    record["why"] = str(error) or type(error).__name__
            yield record | {"reached": list(reached(record["points"]))}


def _points(solver: Solver, problem: Problem, least: float, rounds: int) -> Iterator[dict[str, Any]]:
    """Solve with longer and longer budgets, the first one once before the clock counts."""
    solver.solve(EPOCHS[0])
    for budget in EPOCHS:
        seconds = []
        for _ in range(rounds):
            answer, taken = solver.solve(budget)
            seconds.append(taken)
        gap = float((problem.objective(answer, solver.centred) - least) / least)
        yield {"budget": budget, "gap": gap, "seconds": seconds}
        if gap <= GAPS[-1] or sum(seconds) / rounds > LONGEST:
            return


def reached(points: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Find for each gap the least time of a budget that reaches it, among those that were tried."""
    for gap in GAPS:
        enough = [point for point in points if point["gap"] <= gap]
        if enough:
            best = min(enough, key=lambda point: float(np.median(point["seconds"])))
            yield {"gap": gap, "seconds": quartiles(best["seconds"]), "budget": best["budget"]}
