"""Race: only right and steady answers are timed."""

import numpy as np

from proofs.bench.measure import Contestant, NotAvailable, Run, difference, first_calls, race
from reference import Predictor


def answering(*answers):
    given = iter(answers)
    return lambda: Run(1.0, [Predictor(np.array([next(given)]), 0.0)], {})


def test_race_disqualifies_an_answer_that_changes():
    def check(answers):
        return difference(answers[0], Predictor(np.array([1.0]), 0.0))

    def absent():
        raise NotAvailable("there is none")

    contestants = [
        Contestant("steady", answering(1, 1, 1), (1, 1), check),
        Contestant("fickle", answering(1, 1, 2), (1, 1), check),
        Contestant("not a number", answering(np.nan), (1, 1), check, 1.0),
        Contestant("absent", absent, (1, 1), None),
    ]
    found = {entry["contestant"]: (entry["status"], entry["seconds"]) for entry in race(contestants, 2)}
    assert found == {
        "steady": ("timed", [1.0, 1.0]),
        "fickle": ("refused", []),
        "not a number": ("refused", []),
        "absent": ("not available", []),
    }


def test_first_calls_are_timed_in_a_fresh_python():
    found = first_calls(1, ["sgd"])
    assert list(found) == ["sgd"]
    assert list(found["sgd"]) == ["import", "first_call"]
    assert min(found["sgd"].values()) > 0
