"""Reach further than the short cases: many steps, many columns, margins beside the kink."""

import shutil
import subprocess
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import reference
from proofs.conformance import check, reach, rounded
from proofs.conformance.check import vectors
from proofs.conformance.command import Command
from proofs.conformance.inputs import FLAGS
from reference import Problem
from tests.proofs.conformance.programs import KIT

SOURCE = (KIT / "examples" / "asgd.c").read_text("utf8")

TWINS = {  # what a C programmer did: (line, its twin), where it is asked
    "columns held in 8 bits": (
        "size_t j = (size_t)q->column.at[e];",
        "size_t j = (unsigned char)q->column.at[e];",
        ("asgd", "hinge"),
    ),
    "columns held in 16 bits": (
        "size_t j = (size_t)q->column.at[e];",
        "size_t j = (unsigned short)q->column.at[e];",
        ("sgd", "squared"),
    ),
    "nothing learnt after step 100": (
        "double g = derivative(q->loss, p, q->y.at[i]);",
        "double g = t > 100 ? 0 : derivative(q->loss, p, q->y.at[i]);",
        ("sgd", "log"),
    ),
    "a margin with a tolerance": ("p * y <= 1", "p * y <= 1 + 1e-9", ("casgd", "hinge")),
    "a margin with a tolerance, rounded": ("p * y <= 1", "p * y <= 1 + 4e-16", ("sgd", "hinge")),
    "a margin short of the kink": ("p * y <= 1", "p * y == 1 || p * y <= 1 - 1e-15", ("csgd", "hinge")),
    "a label with a tolerance": ("p <= y", "p <= y + 1e-12", ("casgd", "absolute")),
    "float32 values where they are near": (
        "double x = strtod(s, &end);",
        "double x = strtod(s, &end); x = fabs((float)x - x) < 1e-9 ? (float)x : x;",
        ("sgd", "squared"),
    ),
    "a step counter of 16 bits": ("c += a / (double)t", "c += a / (double)(unsigned short)t", ("asgd", "hinge")),
    "a square of the step in 32 bits": ("h += 1 / (double)t", "h += t / (double)(int)(unsigned)(t * t)", ("casgd", "hinge")),
    "a scale that underflows": (
        "-q->lam * (double)T;",
        "-(fabs(q->lam) > 3e38 ? INFINITY : q->lam) * (double)T;",
        ("sgd", "hinge"),
    ),
}


REACHES = {"ManySteps", "ManyColumns", "NearTie", "RealText", "LargeLambda", "TinyLambda"}
"""Flags of the cases that reach: other ones would miss these twins."""


@pytest.fixture(scope="module")
def compiler():
    found = shutil.which("cc") or shutil.which("gcc")
    if found is None:
        pytest.skip("no C compiler: the twins are not built")
    return found


@pytest.mark.parametrize("what", TWINS)
def test_check_rejects_a_twin_in_cases_that_reach_far(what, compiler, tmp_path):
    line, twin, (algorithm, loss) = TWINS[what]
    assert line in SOURCE
    (tmp_path / "twin.c").write_text(SOURCE.replace(line, twin), "utf8")
    subprocess.run([compiler, "-std=c99", "-O1", "-w", "-o", tmp_path / "twin", tmp_path / "twin.c", "-lm"], check=True)
    report = check(Command(str(tmp_path / "twin")), algorithm, loss, progress=False)
    assert not report.passed
    bad = [result.case for result in report.results if result.verdict in ("failed", "error")]
    assert all(REACHES & {*case.flags} for case in bad)


def test_vectors_reach_as_far_as_they_say():
    cases = vectors()
    assert max(len(case.indices) for case in cases) > 2**16
    wide = [case for case in cases if "ManyColumns" in case.flags]
    assert {case.algorithm for case in wide} == {"sgd", "asgd", "csgd", "casgd"}
    assert {2**17, 70001} == {case.n for case in wide}
    for case in wide:
        lengths = {len(row) for row in case.rows}
        assert min(lengths) == 1 and max(lengths) >= 300
        columns = np.array([column for row in case.rows for column, _ in row])
        assert len(np.unique(columns % 2**16)) < len(np.unique(columns))  # 16 bits confuse some
    assert all("UnreachedColumn" in case.flags for case in reach.load())
    assert all(not case.undecided for case in cases if "NearTie" in case.flags)
    assert not [case for case in vectors(long=False) if not case.p]


@pytest.mark.parametrize(
    ("algorithm", "loss"),
    [
        pytest.param(
            algorithm, loss, marks=[] if (algorithm, loss) in (("sgd", "log"), ("casgd", "hinge")) else pytest.mark.nightly
        )
        for algorithm in ("sgd", "asgd", "csgd", "casgd")
        for loss in ("absolute", "squared", "hinge", "log")
    ],
)
def test_stored_answers_are_the_definitions_rounded(algorithm, loss):
    case = next(case for case in reach.load(algorithm, loss) if len(case.indices) == 2544)
    rows = case.rows[:]
    used = sorted({*rows[0][:2], *rows[-1]})  # the definition in fractions, at the first checkpoint
    assert used
    point = case.checkpoints[0]
    exact = Problem(case.matrix(), case.y, loss, Fraction(case.lam))
    if loss in ("squared", "log"):  # whose fractions grow with every step: a shorter run of the same rows
        steps = rounded.Steps(replace(case, indices=case.indices[:12]), rounded.Rows(case))
        found = rounded.predictor(steps, 12, case.average)
        right = getattr(reference, algorithm)(exact, case.indices[:12])
        w = [right.w[column] for column in steps.rows.columns]
    else:
        right = getattr(reference, algorithm)(exact, case.indices[: point.t])
        found, w = {"w": point.w, "b": point.b}, right.w
    for one, other in zip([*found["w"], found["b"]], [*w, right.b], strict=True):
        assert abs(Fraction(float(one)) - other) <= abs(other) / 2**52
    assert right.b != 0


def test_load_refuses_answers_to_another_question(monkeypatch):
    recipe = reach.RECIPES[1]
    monkeypatch.setattr(reach, "RECIPES", (recipe._replace(seed=recipe.seed + 1),))
    with pytest.raises(ValueError, match="another question than the recipe makes"):
        reach.load("sgd", "hinge")


def test_rounded_refuses_a_question_that_float64_does_not_decide():
    asked = replace(reach.question(reach.RECIPES[1], "hinge", False), rows=[[(0, 1.0)]] * 18, lam=2.0, indices=[0] * 5)
    with pytest.raises(ValueError, match="step 2 of hinge is not decided"):
        rounded.Steps(replace(asked, y=[1.0] * 18, lam=2.0), rounded.Rows(asked))


def test_flags_of_the_long_cases_are_in_the_list():
    assert {flag for case in reach.load() for flag in case.flags} == reach.FLAGS.keys()
    assert not reach.FLAGS.keys() & FLAGS.keys()
