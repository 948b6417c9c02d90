"""Cost without a clock: the counted entries equal the formulas, and a wrong formula does not."""

import pytest

from efficient.runs.algorithms import ALGORITHMS
from proofs.counted import cost
from proofs.counted.arrays import count_sparse
from reference import Problem
from tests.helpers import DATA, draws


@pytest.mark.parametrize("name", ALGORITHMS)
def test_count_equals_the_formulas(name):
    entries = list(cost.count(name))
    assert len(entries) == 3 + ALGORITHMS[name].centred
    assert all(entry.holds for entry in entries), [entry.line() for entry in entries]


def test_count_refuses_wrong_formulas(monkeypatch):
    monkeypatch.setitem(cost.LOOP, "asgd", ("2K", "K", lambda s: (2 * s.K, s.K)))
    monkeypatch.setitem(cost.RECOVERY, "asgd", (2, 1))
    monkeypatch.setitem(cost.DENSE, "asgd", (1, 1))
    assert [entry.holds for entry in cost.count("asgd")] == [False, False, False]


def test_operations_equal_the_formulas_and_no_others(monkeypatch):
    assert [entry.holds for entry in cost.operations()] == [True] * 3
    for operation in cost.OPERATIONS:
        monkeypatch.setitem(cost.OPERATIONS, operation, (3, 1))
    assert [entry.holds for entry in cost.operations()] == [False] * 3


@pytest.mark.parametrize("name", ALGORITHMS)
def test_loop_does_not_see_n(name):
    X, y, _ = DATA["wide"]
    tallies = []
    for n in (X.shape[1], 5000):
        wider = X.copy()
        wider.resize(X.shape[0], n)
        problem = Problem(wider, y, "log", 0.1)
        tallies.append(count_sparse(name, problem, draws(problem, 40))[0]["loop"])
    assert tallies[0] == tallies[1]
