"""Try the inputs and the flags of the vectors."""

import numpy as np
import pytest

from proofs.conformance import ALGORITHM
from proofs.conformance.cases import load
from proofs.conformance.inputs import FLAGS, INPUTS, Run
from reference.datasets import load_spam
from tests.proofs.conformance.programs import FILES, run_of


def test_inputs_of_mails_are_the_data_set():
    X, y, vocabulary = load_spam(tfidf=True)
    columns = [int(np.flatnonzero(vocabulary == word)[0]) for word in ("the", "time", "over", "help", "plain")]
    mails = [84, 1896, 2042, 173, 0]
    (rows,) = {str(each.rows): each.rows for each in INPUTS if each.name.startswith("mails")}.values()
    np.testing.assert_allclose(rows, X[mails][:, columns].toarray(), rtol=1e-12)
    for inputs in INPUTS:
        if inputs.name.startswith("mails"):
            assert inputs.sign == list(y[mails])


def test_flags_are_all_in_every_file():
    for name in FILES:
        rare = set() if name.endswith(("-absolute", "-hinge")) else {"NearTie"}  # which only a kink makes
        assert {flag for case in load(*name.split("-")) for flag in case.flags} == FLAGS.keys() - rare


def test_flags_of_a_case_are_those_that_hold():
    for last, mean in (("sgd", "asgd"), ("csgd", "casgd")):
        cases, same = load(last), load(mean)
        assert [case.flags for case in cases] == [case.flags for case in same]  # of the same inputs
        for case in cases:
            assert list(case.flags) == run_of(case).flags, case.id


PLAIN = Run(2, [[(0, 1.5), (1, 1)], [(0, 2)], [(1, 0.5)]], [1, -1, 1], "hinge", 0.5, [0, 1, 2], False)


def changed(**changes) -> Run:
    return Run(**({name: getattr(PLAIN, name) for name in PLAIN.__dataclass_fields__} | changes))


BARELY = {  # flag: (inputs of which it is true, as near ones as can be of which it is not)
    "FirstStep": (changed(indices=[0]), changed(indices=[0, 1])),
    "T2": (changed(indices=[0, 1]), changed(indices=[0])),
    # p_2 = (1 · x + 1)/lam
    "KinkTie": (changed(rows=[[(0, 1)], [(0, -0.5)]], y=[1, 1], indices=[0, 1]), changed(indices=[0, 1])),
    "NearTie": (
        changed(rows=[[(0, 1)], [(0, 2.0**-30)]], y=[1, 1], indices=[0, 1], lam=1),
        changed(rows=[[(0, 1)], [(0, 2.0**-29)]], y=[1, 1], indices=[0, 1], lam=1),
    ),
    "EmptyRow": (changed(rows=[[(0, 1)], [], [(1, 2)]]), changed(rows=[[(0, 1)], [], [(1, 2)]], indices=[0, 2])),
    "DuplicateIndex": (changed(rows=[[(0, 1), (0, 2)]] * 3), changed(rows=[[(0, 1), (1, 2)]] * 3)),
    "UnsortedIndex": (changed(rows=[[(1, 1), (0, 2)]] * 3), changed(rows=[[(0, 1), (0, 2)]] * 3)),
    "StoredZero": (changed(rows=[[(0, 0.0)], [(1, 1)], []]), changed(rows=[[(0, 1)], [], []])),
    "ZeroColumn": (changed(rows=[[(0, 1), (1, 0)]] * 3), changed(rows=[[(0, 1), (1, 0)]] * 2 + [[(1, 1)]])),
    "ZeroMean": (changed(rows=[[(0, 1)], [(0, -2)], [(0, 1)]]), changed(rows=[[(0, 1)], [(0, -2)], [(0, 0.5)]])),
    "LargeShift": (changed(rows=[[(0, 384)], [(0, 385.5)], [(0, 384)]]), changed(rows=[[(0, 256)], [(0, 255)], [(0, 256)]])),
    "TinyLambda": (changed(lam=2.0**-16), changed(lam=2.0**-15)),
    "LargeLambda": (changed(lam=256), changed(lam=255)),
    "SingleExample": (changed(rows=[[(0, 1)]], y=[1], indices=[0]), PLAIN),
    "RepeatedDraws": (changed(indices=[0, 0]), changed(indices=[0, 1, 2, 0])),
    "NoFeatures": (changed(n=0, rows=[[], [], []]), changed(n=1, rows=[[], [], []])),
    "IntegerData": (changed(rows=[[(0, 1)], [(1, -3)], []]), PLAIN),
    "RealText": (changed(rows=[[(0, 0.1)], [(1, 0.7)], []]), changed(rows=[[(0, 0.1)], [(1, 0.5)], []])),
}


@pytest.mark.parametrize("flag", FLAGS)
def test_flag_holds_barely(flag):
    true, false = BARELY[flag]
    assert flag in true.flags
    assert flag not in false.flags


def test_flag_of_a_large_shift_ignores_constant_columns():
    assert "LargeShift" not in changed(rows=[[(0, 1024)]] * 3).flags


def test_flag_of_ties_is_shared_by_losses_with_the_same_labels():
    for loss, kinked in (("squared", "absolute"), ("log", "hinge")):
        for algorithm in ALGORITHM.values():
            ties = [{case.id for case in load(algorithm, name) if "KinkTie" in case.flags} for name in (loss, kinked)]
            assert len(ties[0]) >= 5
            assert ties[0] == {case_id.replace(kinked, loss) for case_id in ties[1]}
    # margins exactly at the kink, at the steps that the ids say
    for case in load(loss=("absolute", "hinge")):
        at_kink = [
            t for t, (p, i) in enumerate(zip(case.p, case.indices, strict=True), 1) if run_of(case).kink_distance(p, i) == 0
        ]
        for step, word in enumerate(("first", "two", "three", "four", "five"), start=1):
            if word in case.id.split("-") and "tie" in case.id:
                assert step in at_kink
