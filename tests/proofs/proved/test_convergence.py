"""Convergence guarantee: a wrong bound fails, and the exhaustive checks rest on an exact minimum of F."""

from fractions import Fraction

import numpy as np
import pytest
import z3

import reference
from proofs import pictures
from proofs.proved import convergence as guarantee
from proofs.proved.convergence import SMALL, Bound, Small, certified_minimum, exhaust, expected, shares, too_small
from reference import Problem, minimise
from reference.datasets import load_tweets, with_sign_labels


def test_bound_that_is_wrong_slack_or_empty_fails():
    number = z3.Real("number")
    for formula, complaint in (
        (lambda factor: z3.Implies(number >= 1, number <= factor), "number = "),
        (lambda factor: z3.Implies(number <= 1, number <= 5 * factor), "not refuted"),
        (lambda factor: z3.Implies(z3.And(number > 1, number < 1), number <= factor), "says nothing"),
    ):
        (entry,) = Bound("wrong", lambda factor, formula=formula: {"the step": formula(factor)}).check()
        assert not entry.holds
        assert complaint in entry.figure


def test_each_bound_is_tried_on_every_problem_and_at_half():
    exhausted = [entry for name in SMALL for entry in exhaust(name)]
    assert all(entry.holds for entry in exhausted)
    assert len(exhausted) == 7 * len(SMALL) - 1  # no L for the squared loss
    assert [entry.holds for entry in too_small()] == [False] * 7


def test_expected_counts_ties():
    for name in ("opposed", "agreed", "three", "median", "line"):
        assert sum(expected(name, T).ties for T in range(1, SMALL[name].steps + 1)) > 0


@pytest.mark.parametrize("name", SMALL)
def test_certified_minimum_is_exact(name):
    problem = SMALL[name].problem
    best, lowest = certified_minimum(problem)
    assert problem.objective(best) == lowest
    rows = np.array([[float(x)] for x in SMALL[name].rows])
    found = minimise(Problem(rows, SMALL[name].y, SMALL[name].loss, float(SMALL[name].lam)))
    assert found.value - found.gap - 1e-12 <= float(lowest) <= found.value + 1e-12


def test_expected_means_are_of_the_averages_named():
    """At T = 1 the two that begin with w_0 are at 0, the others at w_1; at T = 2 the paper's is reference.asgd's."""
    problem = SMALL["three"].problem
    _, lowest = certified_minimum(problem)
    at_zero = problem.objective(reference.Predictor(np.array([Fraction(0)]), Fraction(0))) - lowest
    one = [problem.objective(reference.sgd(problem, [i])) - lowest for i in range(3)]
    assert expected("three", 1).means == (at_zero, sum(one) / 3, at_zero, sum(one) / 3)
    two = [problem.objective(reference.asgd(problem, [i, j])) - lowest for i in range(3) for j in range(3)]
    assert expected("three", 2).means[1] == sum(two) / 9


def test_classical_counterexample_by_hand():
    """λ = 1/4, rows 0, labels ±1: b_1 = ±4, F(±4) = 16/8 + 5/2, F* = F(0) = 1, ‖ĝ_1‖ = 1."""
    assert expected("opposed", 1).means[1] == Fraction(9, 2) - 1
    assert expected("opposed", 1).N == 1
    classical, too_narrow = guarantee.classical()
    assert (classical.holds, too_narrow.holds) == (False, False)


def test_exhaust_of_a_violated_bound_fails(monkeypatch):
    """Count the gradients of a problem as half of what they are."""
    honest = guarantee.expected
    monkeypatch.setattr(guarantee, "expected", lambda name, T: honest(name, T)._replace(N=honest(name, T).N / 2))
    assert not all(entry.holds for entry in guarantee.exhaust("agreed"))


@pytest.mark.parametrize("loss", ["hinge", "absolute", "squared"])
@pytest.mark.parametrize("seed", range(3))
def test_shares_of_random_problems_are_at_most_1(loss, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    rows = rng.integers(-3, 4, size=2).tolist()
    y = rng.choice([-1, 1], size=2).tolist()
    monkeypatch.setitem(SMALL, "random", Small(rows, y, loss, Fraction(int(rng.integers(1, 9)), 4), 4))
    try:
        for T in (1, 2, 3):
            assert max(shares("random", T).values()) <= 1
    finally:
        expected.cache_clear()


@pytest.mark.nightly
def test_picture_shows_every_measured_curve_below_its_bound():
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
