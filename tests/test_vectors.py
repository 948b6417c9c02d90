"""The test vectors are what the definitions give, hold right implementations and reject every known wrong one."""

import copy
import json
import shutil
from collections import Counter
from fractions import Fraction
from functools import cache

import jsonschema
import numpy as np
import pytest

import reference
from efficient import State
from proofs.conformance import generate
from proofs.conformance.bounds import bounds
from proofs.conformance.cases import ALGORITHM, VECTORS, load
from proofs.conformance.faults import FAULTS, trace
from proofs.conformance.faults import train as train_with_faults
from proofs.conformance.inputs import FLAGS, INPUTS, Run
from reference import LOSSES, Problem
from reference.datasets import load_spam

MAILS = next(inputs for inputs in INPUTS if inputs.name == "mails")
FILES = [f"{algorithm}-{loss}" for algorithm in ALGORITHM.values() for loss in LOSSES]


@pytest.fixture(scope="module")
def made():
    """All files as the generator writes them now."""
    return dict(generate.vectors())


@cache
def document(name):
    return json.loads((VECTORS / f"{name}.json").read_text("utf8"))


@pytest.fixture(scope="module")
def schema():
    return jsonschema.Draft202012Validator(json.loads((VECTORS / "schema.json").read_text("utf8")))


def run_of(case) -> Run:
    return Run(case.n, case.rows, case.y, case.loss, case.lam, case.indices, case.centred)


# the files


def test_the_stored_files_are_what_the_generator_makes(made, monkeypatch, capsys):
    monkeypatch.setattr(generate, "vectors", lambda: iter(made.items()))
    assert generate.main(["--check"]) == 0
    assert capsys.readouterr().out == "16 vector files are what the definitions give\n"


def test_one_digit_that_is_edited_is_found_and_named(made, monkeypatch, capsys, tmp_path):
    shutil.copytree(VECTORS, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "csgd-log.json"
    lines = path.read_text("utf8").split("\n")
    place = next(i for i, line in enumerate(lines) if '"id": "csgd-log-five-rows"' in line)
    edited = next(i for i in range(place, len(lines)) if '"decimal": "-0.3' in lines[i])
    lines[edited] = lines[edited].replace('"decimal": "-0.3', '"decimal": "-0.4', 1)
    path.write_text("\n".join(lines), "utf8")
    monkeypatch.setattr(generate, "vectors", lambda: iter(made.items()))
    assert generate.main(["--check"], tmp_path) == 1
    said = capsys.readouterr().out
    assert said.startswith(f"csgd-log.json, line {edited + 1} (csgd-log-five-rows): stored is ")
    assert said.count("\n") == 1


def test_files_that_are_missing_or_too_many_are_named(made, tmp_path):
    shutil.copytree(VECTORS, tmp_path, dirs_exist_ok=True)
    (tmp_path / "sgd-log.json").rename(tmp_path / "sgd-huber.json")
    found = list(generate.differences(made, tmp_path))
    assert found == ["sgd-huber.json: stored, but not generated", "sgd-log.json: generated, but not stored"]


def test_the_generator_writes_its_files_and_nothing_else(made, monkeypatch, tmp_path):
    monkeypatch.setattr(generate, "vectors", lambda: iter(made.items()))
    assert generate.main([], tmp_path) == 0
    assert {file.name: file.read_bytes().decode() for file in tmp_path.iterdir()} == made


def test_there_are_sixteen_files_of_at_least_25_cases_in_less_than_5_megabytes(made):
    assert sorted(made) == sorted(f"{name}.json" for name in FILES)
    assert sum(len(content.encode()) for content in made.values()) < 5_000_000
    for name in FILES:
        assert len(document(name)["cases"]) >= 25


def test_the_files_satisfy_the_schema(schema):
    schema.check_schema(schema.schema)
    for name in FILES:
        assert [error.message for error in schema.iter_errors(document(name))] == []


BREAK = {
    "no loss": lambda file: file.pop("loss"),
    "a key too many": lambda file: file.update(author="x"),
    "a bias of another algorithm": lambda file: file.update(average=False),
    "a grid for a rational loss": lambda file: file.update(grid_bits=128),
    "few cases": lambda file: file.update(cases=file["cases"][:24]),
    "a label of 0": lambda file: file["cases"][0]["y"].__setitem__(0, 0),
    "an unknown flag": lambda file: file["cases"][0]["flags"].append("Nice"),
    "a flag twice": lambda file: file["cases"][0].update(flags=["T2", "T2"]),
    "no comment": lambda file: file["cases"][0].update(comment=""),
    "an id in capitals": lambda file: file["cases"][0].update(id="casgd-hinge-One"),
    "a triple for an entry": lambda file: file["cases"][0]["rows"].__setitem__(0, [[0, 1, 2]]),
    "a column that is no integer": lambda file: file["cases"][0]["rows"].__setitem__(0, [[0.5, 1]]),
    "lam = 0": lambda file: file["cases"][0].update(lam=0),
    "a negative index": lambda file: file["cases"][0]["indices"].__setitem__(0, -1),
    "a plain number for an exact one": lambda file: file["cases"][0]["expected"]["p"].__setitem__(0, 0.5),
    "a decimal for a fraction": lambda file: file["cases"][0]["expected"]["g"].__setitem__(
        0, {"exact": "0.5", "decimal": "0.5"}
    ),
    "a checkpoint without b": lambda file: file["cases"][0]["expected"]["checkpoints"][0].pop("b"),
    "a negative tolerance": lambda file: file["cases"][0]["float"]["p"].__setitem__(0, -1e-9),
    "no tolerance for g": lambda file: file["cases"][0]["float"].pop("g"),
}


@pytest.mark.parametrize("what", BREAK)
def test_a_broken_file_violates_the_schema(what, schema):
    file = document("casgd-hinge") | {"cases": copy.deepcopy(document("casgd-hinge")["cases"][:25])}
    assert schema.is_valid(file)
    BREAK[what](file)
    assert not schema.is_valid(file)


def test_the_log_loss_must_name_its_grid(schema):
    file = copy.copy(document("sgd-log"))
    del file["grid_bits"]
    assert not schema.is_valid(file)


def test_ids_are_unique_and_say_where_they_belong():
    names = {inputs.name for inputs in INPUTS}
    ids = [case["id"] for name in FILES for case in document(name)["cases"]]
    assert [case_id for case_id, count in Counter(ids).items() if count > 1] == []
    for name in FILES:
        assert {case["id"].removeprefix(f"{name}-") for case in document(name)["cases"]} <= names
    assert len({(inputs.name, inputs.comment) for inputs in INPUTS}) == len(
        {inputs.comment for inputs in INPUTS}
    )  # no reason twice


def test_every_case_fits_together():
    for case in load():
        T = len(case.indices)
        assert len(case.y) == len(case.rows) > max(case.indices)
        assert all(column < case.n for row in case.rows for column, _ in row)
        assert len(case.p) == len(case.g) == len(case.p_tolerance) == len(case.g_tolerance) == T <= 12
        assert [point.t for point in case.checkpoints] == sorted({t for t in (1, 2, 3, T // 2, T) if 0 < t <= T})
        assert all(len(point.w) == case.n for point in case.checkpoints)


def test_inputs_round_trip():
    written = {}
    for (average, centred), algorithm in ALGORITHM.items():
        del average
        for loss in LOSSES:
            for inputs in INPUTS:
                if run := inputs.run(loss, centred):
                    written[f"{algorithm}-{loss}-{inputs.name}"] = run
    cases = load()
    assert [case.id for case in cases] == list(written)
    for case in cases:
        run = written[case.id]
        assert (case.n, case.y, case.lam, case.indices) == (run.n, run.y, run.lam, run.indices)
        assert [[tuple(pair) for pair in row] for row in case.rows] == [[tuple(pair) for pair in row] for row in run.rows]
        assert all(isinstance(value, float) for value in (*case.y, case.lam, *(value for row in case.rows for _, value in row)))


def test_decimals_are_the_fractions_to_40_digits(made):
    def numbers(value):
        if isinstance(value, dict) and "exact" in value:
            yield value
        elif isinstance(value, (dict, list)):
            for each in value.values() if isinstance(value, dict) else value:
                yield from numbers(each)

    inexact = 0
    for name in FILES:
        for number in numbers(document(name)):
            exact, decimal = Fraction(number["exact"]), Fraction(number["decimal"])
            digits = number["decimal"].split("E")[0].replace(".", "").lstrip("-0")
            assert len(digits) <= 40
            assert abs(decimal - exact) * 2 * 10**39 <= abs(exact)
            if decimal != exact:
                inexact += 1
                assert len(digits) == 40
    assert inexact > 10_000


def test_the_mails_are_those_of_the_data_set():
    X, y, vocabulary = load_spam(tfidf=True)
    columns = [int(np.flatnonzero(vocabulary == word)[0]) for word in ("the", "time", "over", "help", "plain")]
    mails = [84, 1896, 2042, 173, 0]
    np.testing.assert_allclose(MAILS.rows, X[mails][:, columns].toarray(), rtol=1e-12)
    for inputs in INPUTS:
        if inputs.rows is MAILS.rows:
            assert inputs.sign == list(y[mails])


# the flags


def test_every_flag_is_in_every_file():
    for name in FILES:
        assert {flag for case in document(name)["cases"] for flag in case["flags"]} == FLAGS.keys()


def test_a_case_has_the_flags_that_are_true_of_it():
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
def test_what_a_flag_is_true_of(flag):
    true, false = BARELY[flag]
    assert flag in true.flags
    assert flag not in false.flags


def test_constant_columns_have_no_spread_to_be_far_for():
    assert "LargeShift" not in changed(rows=[[(0, 1024)]] * 3).flags


def test_losses_without_a_kink_are_flagged_as_those_with_one():
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


# the three implementations


def by_definition(case, number):
    problem = Problem(case.matrix(), case.y, case.loss, number(case.lam))
    steps = list(reference.iterates(problem, case.indices, centred=case.centred))
    predictors = [getattr(reference, case.algorithm)(problem, case.indices[: point.t]) for point in case.checkpoints]
    return [step.p for step in steps], [step.g for step in steps], [(each.w, each.b) for each in predictors]


def efficiently(case, number):
    state, p, g, predictors = State(Problem(case.matrix(), case.y, case.loss, number(case.lam)), case.algorithm), [], [], {}
    for t, i in enumerate(case.indices, start=1):
        state.run([i])
        predictor = state.average() if case.average else state.last()
        p, g, predictors[t] = [*p, state.p], [*g, state.g], (predictor.w, predictor.b)
    return p, g, [predictors[point.t] for point in case.checkpoints]


def faultless_twin(case, number):
    arguments = case.matrix(), case.y, case.loss, number(case.lam)
    found = [trace(*arguments, case.indices[: point.t], case.average, case.centred) for point in case.checkpoints]
    return found[-1].p, found[-1].g, [(each.w, each.b) for each in found]


def errors(case, p, g, predictors):
    """(error, tolerance) of everything that float64 decides, the error exact."""

    def error(found, wanted):
        return abs(Fraction(float(found)) - wanted)

    yield from zip(map(error, p, case.p), case.p_tolerance, strict=True)
    yield from zip(map(error, g, case.g), case.g_tolerance, strict=True)
    for point, (w, b) in zip(case.checkpoints, predictors, strict=True):
        yield from ((error(*each), point.w_tolerance) for each in zip(w, point.w, strict=True))
        yield error(b, point.b), point.b_tolerance


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("answer", [by_definition, efficiently, faultless_twin])
def test_a_right_implementation_is_within_the_tolerances(answer, name):
    closest = 0.0
    for case in load(*name.split("-")):
        for error, tolerance in errors(case, *answer(case, float)):
            if tolerance is not None:
                assert error <= tolerance, case.id
                closest = max(closest, float(error / Fraction(tolerance)) if tolerance else 0)
    assert closest > 1e-3  # the tolerances are not so wide that they say nothing


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("answer", [by_definition, efficiently])
def test_a_right_implementation_is_equal_in_exact_arithmetic(answer, name):
    for case in load(*name.split("-")):
        p, g, predictors = answer(case, Fraction)
        assert (tuple(p), tuple(g)) == (case.p, case.g), case.id
        assert [(tuple(w), b) for w, b in predictors] == [(point.w, point.b) for point in case.checkpoints], case.id


# the tolerances


def relative_tolerance(case):
    """The largest tolerance of a predictor, relative to its largest number."""
    for point in case.checkpoints:
        scale = max(map(abs, (*point.w, point.b)))
        if point.held and scale:
            yield max(point.w_tolerance, point.b_tolerance) / float(scale)


def test_tolerances_are_small_against_the_answer():
    for case in load():
        limit = 1e-9 if "LargeShift" not in case.flags else 0.1 if case.id.endswith("very-far") else 1e-5
        assert max(relative_tolerance(case), default=0) <= limit, case.id


def test_what_float64_does_not_decide():
    undecided = {case.id for case in load() if case.undecided}
    assert undecided == {f"{name}-tie-at-step-five" for name in FILES if name.split("-")[1] in ("absolute", "hinge")}
    for case in load():
        held = [tolerance is not None for tolerance in (*case.p_tolerance, *case.g_tolerance)]
        steps = len(case.indices) if not case.undecided else int(case.undecided.split()[1].rstrip(":")) - 1
        assert held == [t < steps for t in range(len(case.indices))] * 2
        assert [point.held for point in case.checkpoints] == [point.t <= steps for point in case.checkpoints]


def small(rows, lam, centred=False):
    """Rows with the label 1, of which the second is at the kink of the hinge if its product with the first, plus 1, is lam."""
    return Run(2, [list(enumerate(row)) for row in rows], [1.0] * len(rows), "hinge", lam, [0, 1], centred)


def test_a_tie_is_decided_only_where_every_number_is_exact():
    decided = small([[1, 0], [-0.5, 0]], 0.5)
    third = small([[1, 0], [-0.25, 0]], 0.75)  # λ is no power of two
    fine = small([[1, 2.0**-30], [-(2.0**-60), 2.0**-30]], 1)  # products of more than 53 bits
    centred = [[1, 0], [-0.5, 0], [-0.25, 0], [-0.25, 0]]
    for run in (decided, third, fine, small(centred, 0.5, True), small([*centred, [0, 0]], 0.5, True)):
        assert run.steps[1].p == 1
    assert "undecided" not in bounds(decided, False, [2])
    assert "undecided" not in bounds(small(centred, 0.5, True), False, [2])
    for run in (third, fine, small([*centred, [0, 0]], 0.5, True)):  # the last divides by five to centre
        found = bounds(run, False, [1, 2])
        assert found["undecided"].startswith("step 2: the margin is within ")
        assert (found["p"][1], found["g"][1]) == (None, None)
        assert [each["w"] is None for each in found["checkpoints"]] == [False, True]


def test_the_bound_of_a_short_run_by_hand():
    # two rows of one column, λ = 1/2, squared loss: p_2 = -g_1 (x_1 x_2 + 1)/λ with 4·2 + 10 + 1 roundings of its terms
    run = Run(1, [[(0, 2.0)], [(0, -1.0)]], [4.0, 1.0], "squared", 0.5, [0, 1], False)
    eps = np.finfo(float).eps
    found = bounds(run, False, [1, 2])
    p_2 = (1 * 4 * eps + 19 * eps * 4 * (2 + 1)) / 0.5  # g_1 = -4 is itself rounded: |2 · -1 + 1| times eps · 4
    g_2 = p_2 + 9 * eps  # p_2 = -8, so that g_2 = -9
    w_2 = (4 * eps * 2 + g_2 * 1 + 23 * eps * (4 * 2 + 9 * 1)) / (0.5 * 2)
    b_2 = (4 * eps + g_2 + 23 * eps * (4 + 9)) / (0.5 * 2)
    assert found["p"] == [0, pytest.approx(p_2, rel=0.1)]
    assert found["g"] == [pytest.approx(4 * eps, rel=0.1), pytest.approx(g_2, rel=0.1)]
    assert found["checkpoints"][1] == {"w": pytest.approx(w_2, rel=0.1), "b": pytest.approx(b_2, rel=0.1)}


# the wrong twins

UNSEEN = [  # where a fault changes nothing: why, in which algorithms and with which losses, and which faults
    (
        "nothing is centred",
        lambda average, centred, loss: not centred,
        """mean loses repeated entries; centring forgotten; mean of stored entries; mean of the draws; one mean for all columns;
        stored entries centred; stored entries centred by one mean; theta without 1; theta is 1; z not updated;
        prediction not centred; explicit bias; s without its first term; centred last predictor without its centre;
        average without its centre; average centred by the last weights""",
    ),
    (
        "nothing is averaged",
        lambda average, centred, loss: not average,
        """u with h_t; c with a/(t-1); c without its first term; s without its first term; sums wait for a loss;
        w_0 in the mean; mean before the step; moving average; slow moving average; swapped running mean; average weighted by t;
        last for average; bias not averaged; average without its centre; average centred by the last weights""",
    ),
    (
        "the last predictor is not asked for",
        lambda average, centred, loss: average,
        "average for last; centred last predictor without its centre",
    ),
    ("centred rows store all entries", lambda average, centred, loss: centred, "only stored entries shrunk"),
    (
        "the loss takes real labels",
        lambda average, centred, loss: loss in ("absolute", "squared"),
        "0/1 labels; labels swapped",
    ),
    ("the loss has no kink", lambda average, centred, loss: loss in ("squared", "log"), "tie at the kink"),
    ("it is another loss", lambda average, centred, loss: loss != "absolute", "zero at the kink"),
    ("it is another loss", lambda average, centred, loss: loss != "squared", "squared loss without the half"),
    ("it is another loss", lambda average, centred, loss: loss != "hinge", "squared hinge; perceptron"),
    ("it is another loss", lambda average, centred, loss: loss != "log", "cross-entropy"),
    (
        "its derivative is never 0",
        lambda average, centred, loss: loss == "absolute",
        "no shrinking without a loss; sums wait for a loss",
    ),
    (
        "at the infinite margin of the round too many the derivative is 0, and only means count rounds",
        lambda average, centred, loss: not average and loss in ("hinge", "log"),
        "loop as printed",
    ),
]


def unseen(average, centred, loss) -> set[str]:
    """The faults that change nothing there."""
    return {
        " ".join(fault.split()) for _, where, faults in UNSEEN if where(average, centred, loss) for fault in faults.split(";")
    }


def question(case):
    """The longest run of the case that float64 decides, as arguments of `train`, and its expected predictor."""
    point = [point for point in case.checkpoints if point.held][-1]
    arguments = case.matrix(), case.y, case.loss, case.lam, case.indices[: point.t], case.average, case.centred
    return arguments, point


def departs(arguments, point, fault) -> bool:
    """Whether the twin with the fault is off by a hundred times the tolerance, or not even finite."""
    w, b = train_with_faults(*arguments, fault=fault)
    off = [*((float(found), wanted, point.w_tolerance) for found, wanted in zip(w, point.w, strict=True))]
    off.append((float(b), point.b, point.b_tolerance))
    return any(not np.isfinite(found) or abs(Fraction(found) - wanted) > 100 * Fraction(bound) for found, wanted, bound in off)


@pytest.mark.parametrize("name", FILES)
def test_every_wrong_twin_departs_from_several_cases_of_every_file_that_it_can_affect(name):
    algorithm, loss = name.split("-")
    (kind,) = [kind for kind, each in ALGORITHM.items() if each == algorithm]
    cases = sorted(load(algorithm, loss), key=lambda case: -len(case.indices))
    questions = [question(case) for case in cases]
    without_effect = unseen(*kind, loss)
    assert without_effect < FAULTS.keys()
    for fault in FAULTS.keys() - without_effect:
        found = 0
        for arguments, point in questions:
            found += departs(arguments, point, fault)
            if found == 2:
                break
        assert found == 2, fault
    # all faults that can have no effect, at once, have none: the same bits
    for arguments, _ in questions:
        (right_w, right_b), (w, b) = train_with_faults(*arguments), train_with_faults(*arguments, fault=without_effect)
        np.testing.assert_array_equal(w, right_w)
        assert b == right_b


def test_every_fault_can_be_seen_in_some_file():
    everywhere = [unseen(*kind, loss) for kind in ALGORITHM for loss in LOSSES]
    assert set.intersection(*everywhere) == set()
    assert set.union(*everywhere) < FAULTS.keys()
