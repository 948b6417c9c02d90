"""The convergence guarantee: its proofs hold and can fail, and the exhaustive checks rest on an exact minimum of F."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import z3

import reference
from proofs import pictures
from proofs.proved import convergence as guarantee
from proofs.proved.convergence import BOUNDS, PROOFS, SMALL, Bound, Small, certified_minimum, expected, shares
from reference import Problem, minimise
from reference.datasets import load_tweets, with_sign_labels

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("each", PROOFS, ids=lambda each: each.steps.__name__)
def test_the_proof_holds_and_refutes_every_corruption(each):
    (entry,) = each.check()
    assert entry.holds, entry.figure
    assert entry.mutants > 10


@pytest.mark.parametrize("each", BOUNDS, ids=lambda each: each.claim[:40])
def test_the_inequality_holds_and_half_of_it_does_not(each):
    (entry,) = each.check()
    assert entry.holds, entry.figure


def test_an_inequality_that_is_wrong_slack_or_empty_fails():
    number = z3.Real("number")
    for formula, complaint in (
        (lambda factor: z3.Implies(number >= 1, number <= factor), "number = "),
        (lambda factor: z3.Implies(number <= 1, number <= 5 * factor), "not refuted"),
        (lambda factor: z3.Implies(z3.And(number > 1, number < 1), number <= factor), "says nothing"),
    ):
        (entry,) = Bound("wrong", lambda factor, formula=formula: {"the step": formula(factor)}).check()
        assert not entry.holds
        assert complaint in entry.figure


def test_every_job_is_as_expected_and_each_bound_is_on_every_problem():
    entries = [entry for job in guarantee.jobs() for entry in job.run()]
    assert all(entry.as_expected for entry in entries), [entry.line() for entry in entries if not entry.as_expected]
    assert {entry.label for job in guarantee.jobs() for entry in job.run()} == {guarantee.LABEL}
    exhausted = [entry for entry in entries if "exhaustive over" in entry.evidence]
    assert len(exhausted) == 7 * len(SMALL) - 1  # no L for the squared loss
    refuted = [entry for entry in entries if not entry.expected]
    assert len([entry for entry in refuted if entry.claim.startswith("with half")]) == 7
    assert len(refuted) == 7 + 4


def test_there_are_ties():
    for name in ("opposed", "agreed", "three", "median", "line"):
        assert sum(expected(name, T).ties for T in range(1, SMALL[name].steps + 1)) > 0


@pytest.mark.parametrize("name", SMALL)
def test_the_minimum_is_exact(name):
    problem = SMALL[name].problem
    best, lowest = certified_minimum(problem)
    assert problem.objective(best) == lowest
    rows = np.array([[float(x)] for x in SMALL[name].rows])
    found = minimise(Problem(rows, SMALL[name].y, SMALL[name].loss, float(SMALL[name].lam)))
    assert found.value - found.gap - 1e-12 <= float(lowest) <= found.value + 1e-12


def test_the_averages_are_those_that_they_are_called():
    """At T = 1 the two that begin with w_0 are at 0, the others at w_1; at T = 2 the paper's is reference.asgd's."""
    problem = SMALL["three"].problem
    _, lowest = certified_minimum(problem)
    at_zero = problem.objective(reference.Predictor(np.array([Fraction(0)]), Fraction(0))) - lowest
    one = [problem.objective(reference.sgd(problem, [i])) - lowest for i in range(3)]
    assert expected("three", 1).means == (at_zero, sum(one) / 3, at_zero, sum(one) / 3)
    two = [problem.objective(reference.asgd(problem, [i, j])) - lowest for i in range(3) for j in range(3)]
    assert expected("three", 2).means[1] == sum(two) / 9


def test_the_counterexample_by_hand():
    """λ = 1/4, rows 0, labels ±1: b_1 = ±4, F(±4) = 16/8 + 5/2, F* = F(0) = 1, ‖ĝ_1‖ = 1."""
    assert expected("opposed", 1).means[1] == Fraction(9, 2) - 1
    assert expected("opposed", 1).N == 1
    classical, too_narrow = guarantee.classical()
    assert (classical.holds, too_narrow.holds) == (False, False)


def test_a_violated_bound_fails(monkeypatch):
    """A problem whose gradients are counted as half of what they are."""
    honest = guarantee.expected
    monkeypatch.setattr(guarantee, "expected", lambda name, T: honest(name, T)._replace(N=honest(name, T).N / 2))
    assert not all(entry.holds for entry in guarantee.exhaust("agreed"))


@pytest.mark.parametrize("loss", ["hinge", "absolute", "squared"])
@pytest.mark.parametrize("seed", range(8))
def test_random_problems(loss, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    rows = rng.integers(-3, 4, size=2).tolist()
    y = rng.choice([-1, 1], size=2).tolist()
    monkeypatch.setitem(SMALL, "random", Small(rows, y, loss, Fraction(int(rng.integers(1, 9)), 4), 4))
    try:
        for T in (1, 2, 3):
            assert max(shares("random", T).values()) <= 1
    finally:
        expected.cache_clear()


def test_the_picture():
    """One pass, two seeds: every measured curve is below its bound."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    assert pictures.guarantee(ax, passes=1, seeds=2) is ax
    curves = [line.get_ydata() for line in ax.get_lines()][:6]
    assert all((measured < bound).all() for bound, measured in zip(curves[::2], curves[1::2], strict=True))
    assert ax.get_xlabel() and ax.get_ylabel() and len(ax.get_legend().get_texts()) == 4
    problem = with_sign_labels(load_tweets(tfidf=True))
    assert ax.get_lines()[0].get_xdata()[-1] == problem.X.shape[0]
