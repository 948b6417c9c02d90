"""Read the vectors: schema, ids, numbers, and the exact answers."""

import copy
import json
from collections import Counter
from fractions import Fraction
from functools import cache

import jsonschema
import pytest

from proofs.conformance.cases import VECTORS, load
from proofs.conformance.inputs import INPUTS
from proofs.conformance.reach import FOLDER, RECIPES
from tests.proofs.conformance.programs import FILES


@cache
def document(name):
    return json.loads((VECTORS / f"{name}.json").read_text("utf8"))


@pytest.fixture(scope="module")
def schema():
    return jsonschema.Draft202012Validator(json.loads((VECTORS / "schema.json").read_text("utf8")))


def test_schema_accepts_the_files(schema):
    schema.check_schema(schema.schema)
    for name in FILES:
        assert [error.message for error in schema.iter_errors(document(name))] == []


def test_schema_of_the_long_cases_accepts_the_files_and_no_others():
    schema = jsonschema.Draft202012Validator(json.loads((VECTORS / FOLDER / "schema.json").read_text("utf8")))
    schema.check_schema(schema.schema)
    for recipe in RECIPES:
        file = document(f"{FOLDER}/{recipe.name}")
        assert [error.message for error in schema.iter_errors(file)] == []
        file = copy.deepcopy(file)
        file["cases"][0]["checkpoints"][0]["tolerance"][1] = 0
        assert not schema.is_valid(file)


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
def test_schema_rejects_a_broken_file(what, schema):
    file = document("casgd-hinge") | {"cases": copy.deepcopy(document("casgd-hinge")["cases"][:25])}
    assert schema.is_valid(file)
    BREAK[what](file)
    assert not schema.is_valid(file)


def test_schema_of_the_log_loss_requires_its_grid(schema):
    file = copy.copy(document("sgd-log"))
    del file["grid_bits"]
    assert not schema.is_valid(file)


def test_vector_ids_are_unique_and_name_their_file():
    names = {inputs.name for inputs in INPUTS}
    ids = [case["id"] for name in FILES for case in document(name)["cases"]]
    assert [case_id for case_id, count in Counter(ids).items() if count > 1] == []
    for name in FILES:
        assert {case["id"].removeprefix(f"{name}-") for case in document(name)["cases"]} <= names
    assert len({(inputs.name, inputs.comment) for inputs in INPUTS}) == len(
        {inputs.comment for inputs in INPUTS}
    )  # no reason twice


def test_load_gives_consistent_cases():
    for case in load():
        T = len(case.indices)
        assert len(case.y) == len(case.rows) > max(case.indices)
        assert all(column < case.n for row in case.rows for column, _ in row)
        assert len(case.p) == len(case.g) == len(case.p_tolerance) == len(case.g_tolerance) == T <= 12
        assert [point.t for point in case.checkpoints] == sorted({t for t in (1, 2, 3, T // 2, T) if 0 < t <= T})
        assert all(len(point.w) == case.n for point in case.checkpoints)


def test_vector_decimals_are_the_fractions_to_40_digits():
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
