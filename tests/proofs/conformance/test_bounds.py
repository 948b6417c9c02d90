"""Try the tolerances: right programs are within, and no tolerance is loose."""

from fractions import Fraction

import numpy as np
import pytest

import reference
from efficient import State
from proofs.compared.judge import judge as judge_by_balls
from proofs.conformance.answers import Function
from proofs.conformance.bounds import bounds
from proofs.conformance.cases import ALGORITHM, load
from proofs.conformance.inputs import Run
from proofs.conformance.verdicts import judge
from reference import Problem
from tests.proofs.conformance.programs import FILES


def by_reference(X, y, loss, lam, indices, average, centred):
    problem = Problem(X, y, loss, lam)
    steps = list(reference.iterates(problem, indices, centred=centred))
    found = getattr(reference, ALGORITHM[average, centred])(problem, indices)
    return found.w, found.b, [step.p for step in steps], [step.g for step in steps]


def by_efficient(X, y, loss, lam, indices, average, centred):
    state, p, g = State(Problem(X, y, loss, lam), ALGORITHM[average, centred]), [], []
    for i in indices:
        state.run([i])
        p, g = [*p, state.p], [*g, state.g]
    found = state.average() if average else state.last()
    return found.w, found.b, p, g


EVERY = [8, pytest.param(1, marks=pytest.mark.nightly)]
"""Every how many cases: tests/conformance holds both packages to all of them, by w and b."""


@pytest.mark.parametrize("every", EVERY)
@pytest.mark.parametrize("train", [by_reference, by_efficient])
def test_bounds_hold_every_number_of_a_right_program_and_are_not_loose(train, every):
    cases, closest = load()[::every], dict.fromkeys(FILES, Fraction(0))
    for case, replies in zip(cases, Function(train).ask(cases, False), strict=True):
        assert judge(case, replies, False).verdict in ("passed", "undecided"), case.id
        for point, reply in zip(case.checkpoints, replies, strict=True):
            numbers = zip(reply.p, case.p, case.p_tolerance)  # noqa: B905 (up to step t)
            if point.held:
                numbers = [*numbers, *((w, right, point.w_tolerance) for w, right in zip(reply.w, point.w, strict=True))]
            shares = [abs(Fraction(found) - right) / Fraction(allowed) for found, right, allowed in numbers if allowed]
            file = f"{case.algorithm}-{case.loss}"
            closest[file] = max([closest[file], *shares])
    assert min(closest.values()) > 1e-3


@pytest.mark.parametrize("every", EVERY)
@pytest.mark.parametrize("train", [by_reference, by_efficient])
def test_exact_runs_equal_every_number_of_the_vectors(train, every):
    cases = load()[::every]
    for case, replies in zip(cases, Function(train).ask(cases, True), strict=True):
        assert judge(case, replies, True).verdict == "passed", case.id


@pytest.mark.parametrize("every", EVERY)
def test_bounds_cover_the_rounding_of_definition_and_loop_as_the_judge_bounds_it(every):
    for case in load()[::every]:
        with np.errstate(over="ignore", invalid="ignore"):
            problem = Problem(case.matrix(), case.y, case.loss, case.lam)
            verdict = judge_by_balls(problem, case.indices, [case.algorithm])[case.algorithm]
        assert verdict.holds and not verdict.overflow, (case.id, str(verdict))
        for side in (verdict.shrinking, verdict.rounding):
            pairs = list(zip(side.p, case.p_tolerance, strict=True))
            # balls allow every operation 2^-1074 for underflow, also where all is 0 and exact: fewer than 2^14 operations
            held = [bound <= tolerance + 2.0**-1060 for bound, tolerance in pairs[1:] if tolerance is not None]
            assert all(held), case.id


def relative_tolerance(case):
    """Return the largest tolerance of a predictor, relative to its largest number."""
    for point in case.checkpoints:
        scale = max(map(abs, (*point.w, point.b)))
        if point.held and scale:
            yield max(point.w_tolerance, point.b_tolerance) / float(scale)


def test_bounds_are_small_against_the_answer():
    for case in load():
        limit = 1e-9 if "LargeShift" not in case.flags else 0.1 if case.id.endswith("very-far") else 1e-5
        assert max(relative_tolerance(case), default=0) <= limit, case.id


def test_bounds_leave_only_step_five_ties_undecided():
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


def test_bounds_decide_a_tie_only_where_numbers_are_exact():
    decided = small([[1, 0], [-0.5, 0]], 0.5)
    third = small([[1, 0], [-0.25, 0]], 0.75)  # λ is no power of two
    fine = small([[1, 2.0**-30], [-(2.0**-60), 2.0**-30]], 1)  # products of more than 53 bits
    centred = [[1, 0], [-0.5, 0], [-0.25, 0], [-0.25, 0]]
    fifths = small([[x + 1, y] for x, y in [*centred, [0, 0]]], 0.5, True)  # divides by five to centre
    for run in (decided, third, fine, small(centred, 0.5, True), fifths):
        assert run.steps[1].p == 1
    assert "undecided" not in bounds(decided, False, [2])
    assert "undecided" not in bounds(small(centred, 0.5, True), False, [2])
    assert "undecided" not in bounds(small([*centred, [0, 0]], 0.5, True), False, [2])  # the mean is 0 all the same
    for run in (third, fine, fifths):
        found = bounds(run, False, [1, 2])
        assert found["undecided"].startswith("step 2: the margin is within ")
        assert (found["p"][1], found["g"][1]) == (None, None)
        assert [each["w"] is None for each in found["checkpoints"]] == [False, True]


def test_bounds_of_a_short_run_equal_those_by_hand():
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
