"""Implementation conforms if every case of the vectors passes; which implementation, the options of pytest say."""

import pytest

from proofs.conformance.verdicts import BAD


def test_conforms(subject, case):
    result = subject.result(case)
    if result.verdict == "unsupported":
        pytest.skip(f"not supported: {result.detail}")
    if result.verdict == "expected failure":
        pytest.xfail(result.detail)
    if result.verdict in BAD:
        pytest.fail(f"{result.verdict}: {result.detail}\n{case.comment} [{', '.join(case.flags)}]", pytrace=False)
