"""Averaging weights: by hand, validated, and equal on both sides, exactly, with offsets and weighted examples."""

from fractions import Fraction

import numpy as np
import pytest
import sympy

import efficient
import reference
from efficient import State
from efficient.runs.algorithms import ALGORITHMS
from reference import Problem, draw_indices
from reference.arithmetic import fraction
from reference.averaging import evaluate, polynomial, suffix
from reference.datasets import make_generic, make_ties
from tests.helpers import AVERAGING, CENTRED

GENERIC, TIES = make_generic(7, 5, 3, seed=1), make_ties(7, 4, 2, seed=14)
PI = draw_indices(7, 10, rng=3)
EXAMPLE_WEIGHT = [Fraction(1, 2), 0, 3, 1, 2, Fraction(5, 7), 1]


def test_averaging_weights_by_hand():
    t = np.array([1.0, 2.0, 3.0])
    assert polynomial(2)(t).tolist() == [1, 4, 9]
    assert polynomial(2, t0=3)(t).tolist() == [16, 25, 36]
    assert polynomial(3, Fraction(1, 2))(Fraction(2)) == Fraction(125, 8)
    assert suffix(2)(t).tolist() == [0, 0, 1]
    found = [suffix(2)(step) for step in (Fraction(2), Fraction(3))]
    assert found == [0, 1] and {type(each) for each in found} == {int}


@pytest.mark.parametrize("number", [np.float64, fraction])
def test_evaluate_without_weights_holds_a_single_one_in_memory(number):
    ones = evaluate(None, 5, 1000, number)
    assert ones.shape == (1000,) and ones.strides == (0,) and ones[0] == 1
    assert evaluate(lambda t: t, 5, 3, number).tolist() == [5, 6, 7]
    assert evaluate(lambda t: 2, 5, 3, number).tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("number", "wrong"),
    [(fraction, Fraction(-1, 2)), (np.float64, -0.5), (np.float64, np.nan), (np.float64, np.ones(4)), (np.float64, np.ones(2))],
)
def test_evaluate_refuses_weights_below_0_or_of_another_number(number, wrong):
    with pytest.raises(ValueError, match=r"weights must .*>= 0"):
        evaluate(lambda t: wrong, 5, 3, number)


@pytest.mark.parametrize("side", [reference, efficient])
def test_asgd_refuses_what_is_no_function_and_weights_that_are_all_0(side):
    problem = Problem(GENERIC.X, GENERIC.y, "log", 0.5)
    with pytest.raises(TypeError, match=r"weights must.*'uniform'"):
        side.asgd(problem, PI, averaging_weights="uniform")
    with pytest.raises(ValueError, match=r"weights must not all be 0"):
        side.asgd(problem, PI, averaging_weights=lambda t: 0 * t)


@pytest.mark.parametrize("algorithm", [name for name in ALGORITHMS if name not in AVERAGING])
def test_weights_of_an_algorithm_without_an_average_are_refused(algorithm):
    with pytest.raises(ValueError, match=rf"weights.*{algorithm}"):
        State(Problem(GENERIC.X, GENERIC.y, "log", 0.5), algorithm, averaging_weights=suffix(1))


@pytest.mark.parametrize("algorithm", AVERAGING)
def test_weighted_averages_are_what_their_names_say(algorithm):
    problem = Problem(GENERIC.X, GENERIC.y, "log", Fraction(1, 2))
    each = [step.predictor for step in reference.iterates(problem, PI, centred=algorithm in CENTRED)]
    late = getattr(efficient, algorithm)(problem, PI, averaging_weights=suffix(4))
    np.testing.assert_array_equal(late.w, sum(predictor.w for predictor in each[4:]) / Fraction(6))
    linear = getattr(efficient, algorithm)(problem, PI, averaging_weights=polynomial(1))
    np.testing.assert_array_equal(linear.w, sum(Fraction(t) * each[t - 1].w for t in range(1, 11)) / Fraction(55))
    uniform = getattr(efficient, algorithm)(problem, PI)
    assert not (uniform.w == late.w).all() and not (uniform.w == linear.w).all()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_defaults_are_weights_of_1_and_t0_of_0_to_the_bit(algorithm):
    weights = {"averaging_weights": lambda t: 0 * t + 1} if algorithm in AVERAGING else {}
    found = getattr(efficient, algorithm)(Problem(GENERIC.X, GENERIC.y, "log", 0.01, np.ones(7)), PI, t0=0.0, **weights)
    wanted = getattr(efficient, algorithm)(Problem(GENERIC.X, GENERIC.y, "log", 0.01), PI)
    np.testing.assert_array_equal(found.w, wanted.w)
    assert found.b == wanted.b


@pytest.mark.parametrize("algorithm", CENTRED)
def test_translation_invariance_holds_with_weights_and_offsets(algorithm):
    dense = np.array([[Fraction(value) for value in row] for row in GENERIC.X.toarray()], dtype=object)
    c = np.array([Fraction(j - 2, 3) for j in range(5)], dtype=object)
    arguments = {"t0": Fraction(3)} | ({"averaging_weights": polynomial(2)} if algorithm in AVERAGING else {})
    before, after = (
        getattr(efficient, algorithm)(Problem(X, GENERIC.y, "log", Fraction(1, 2), EXAMPLE_WEIGHT), PI, **arguments)
        for X in (dense, dense + c)
    )
    np.testing.assert_array_equal(after.w, before.w)
    assert after.b == before.b - before.w @ c


def test_weights_of_symbolic_runs_and_single_numbers():
    lam = sympy.Symbol("lambda", positive=True)
    problem = Problem([[1], [2]], [1, 2], "squared", lam)
    late = efficient.asgd(problem, [0, 1], averaging_weights=suffix(1))
    assert sympy.expand(late.w[0] - reference.sgd(problem, [0, 1]).w[0]) == 0
    plain = Problem(GENERIC.X, GENERIC.y, "log", 0.5)
    np.testing.assert_array_equal(efficient.asgd(plain, PI, averaging_weights=lambda t: 1).w, efficient.asgd(plain, PI).w)
