"""Report a run: counts by flag."""

import math

from proofs.conformance.cases import load
from tests.proofs.conformance.programs import check_short


def test_report_by_flag_leaves_out_unsupported_cases():
    def train(X, y, loss, lam, indices, average, centred):
        if centred:
            raise NotImplementedError
        return X.sum(axis=0), math.nan

    first = sum("FirstStep" in case.flags for case in load("sgd", "log"))
    assert f"FirstStep {first} of {first}," in str(check_short(train, ["sgd", "csgd"], "log"))
