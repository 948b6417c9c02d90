"""Report a run: counts by flag."""

import json
import math
from itertools import cycle

from proofs.conformance.cases import load
from tests.proofs.conformance.programs import RIGHT, altered, check_short


def test_report_by_flag_leaves_out_unsupported_cases():
    def train(X, y, loss, lam, indices, average, centred):
        if centred:
            raise NotImplementedError
        return RIGHT(X, -y, loss, lam, indices, average, centred)

    first = sum("FirstStep" in case.flags for case in load("sgd", "log"))
    assert f"FirstStep {first} of {first}," in str(check_short(train, ["sgd", "csgd"], "log"))


def test_report_of_infinite_results_is_json():
    numbers = cycle([math.inf, -math.inf])
    report = check_short(altered(lambda w, b: (w, next(numbers))), "sgd", "log")
    assert report.count["failed"] == len(report.results)
    assert "b is inf" in json.dumps(report.as_json(), allow_nan=False)
    assert "it draws examples or keeps state" in str(report)
