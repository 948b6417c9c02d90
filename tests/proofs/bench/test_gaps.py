"""Time to a gap: solvers of the same F reach it, one of another F does not, and the table marks the least time."""

import numpy as np
import pytest

from proofs.bench import gaps, tables
from proofs.bench.gaps import QUICK_CASES, Case, Solver, reached, time_to_gaps
from reference import Predictor, Problem, minimise
from reference.datasets import make_text


def small():
    return make_text(200, 60, 8, seed=0)


def gap_of(solver, problem):
    answer, _ = solver.solve(200)
    least = minimise(problem, solver.centred).value
    return (problem.objective(answer, solver.centred) - least) / least


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_all_solvers_minimise_the_same_objective_and_a_wrong_one_is_seen():
    for loss in ("log", "hinge", "squared"):
        problem = Problem(small().X, small().y, loss, 1e-2)
        found = {solver.name: gap_of(solver, problem) for solver in gaps.solvers(problem)}
        assert len(found) >= 5
        for solver in gaps.solvers(problem.variant(lam=1.0)):
            assert -1e-5 < found[solver.name] < gap_of(solver, problem) / 2, solver.name


def test_reached_is_the_fastest_budget_that_is_near_enough():
    points = [
        {"budget": 1, "gap": 0.5, "seconds": [1.0]},
        {"budget": 2, "gap": 0.05, "seconds": [3.0]},
        {"budget": 3, "gap": 0.005, "seconds": [2.0, 2.5, 9.0]},
    ]
    found = {point["gap"]: (point["budget"], point["seconds"]["median"]) for point in reached(points)}
    assert found == {1e-1: (3, 2.5), 1e-2: (3, 2.5)}


def test_table_marks_the_least_time_and_names_what_was_not_reached(monkeypatch):
    def solvers(problem):
        best = minimise(problem).predictor
        yield Solver("slow", lambda budget: (best, 2.0))
        yield Solver("fast", lambda budget: (best, 1.0))
        yield Solver("never", lambda budget: (Predictor(0 * best.w, 0.0), 0.1))

    monkeypatch.setattr(gaps, "solvers", solvers)
    records = list(time_to_gaps(1, (Case("few", small, "log"),)))
    lines = {line.split()[0]: line for line in tables.of_gaps({"gaps": records})}
    assert "*1e+03 (1)" in lines["fast"] and "*" not in lines["slow"]
    assert lines["never"].count("–") == len(gaps.GAPS)
    assert np.isfinite([point["gap"] for record in records for point in record["points"]]).all()


def test_quick_case_runs_all_solvers():
    assert all(record["points"] for record in time_to_gaps(1, QUICK_CASES) if not record["why"])
