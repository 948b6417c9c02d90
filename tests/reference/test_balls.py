"""Balls: every operation encloses, what they do not decide is said, and the loops run on them."""

import math
import operator
import subprocess
import sys
from fractions import Fraction
from random import Random

import numpy as np
import pytest

import efficient
import reference
from efficient.runs.algorithms import ALGORITHMS
from reference import LOSSES, Loss, Problem
from reference.arithmetic import number_type
from reference.balls import LADDER, Ball, Undecided, ball, climb, in_balls, on_balls, precision
from tests.helpers import PROBLEMS, draws, floats

THIRD = Fraction(1, 3)


def around(low: float, high: float) -> Ball:
    """Ball that contains both."""
    return Ball(Ball(low).x.union(Ball(high).x))


@pytest.mark.parametrize("operation", [operator.add, operator.sub, operator.mul, operator.truediv])
@pytest.mark.parametrize("bits", [10, 53, 200])
def test_ball_operations_enclose_the_exact_result(operation, bits):
    random = Random(0)
    with precision(bits):
        for _ in range(200):
            x, y = (Fraction(random.randint(-99, 99), random.randint(1, 99)) for _ in range(2))
            if not y and operation is operator.truediv:
                continue
            exact = operation(x, y)
            for found in (operation(Ball(x), Ball(y)), operation(Ball(x), y), operation(x, Ball(y))):
                assert found.contains(exact)
                assert found.distance(exact) <= 2 * found.radius + (off := 8 * 2.0**-bits * max(1, abs(x), abs(y), abs(exact)))
                assert found.radius <= 4 * off
            assert not operation(Ball(x), Ball(y)).contains(exact + 100 * Fraction(2) ** -bits * (1 + abs(exact)))


def test_ball_of_floats_is_a_point_and_of_a_fraction_is_not():
    assert Ball(0.1).radius == 0 and Ball(0.1).contains(Fraction(0.1)) and not Ball(0.1).contains(Fraction(1, 10))
    assert Ball(THIRD).radius > 0 and Ball(THIRD).contains(THIRD)
    assert -Ball(2) == -2 and abs(Ball(-2)) == 2 and Ball(3) ** 2 == 9 and int(Ball(7)) == 7 and Ball(0.5).midpoint == 0.5


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_ball_of_what_is_not_finite_is_refused(value):
    with pytest.raises(ValueError, match="finite"):
        Ball(value)
    assert Ball(1).distance(value) == math.inf


@pytest.mark.parametrize(("low", "high", "other"), [(0.9, 1.1, 1), (1.0, 1.1, 1), (-1.0, 1.0, Ball(0))])
def test_comparison_within_a_ball_is_undecided(low, high, other):
    near = around(low, high)
    for undecided in (operator.le, operator.ge, operator.lt, operator.gt):
        if (low, undecided) in ((1.0, operator.ge), (1.0, operator.lt)):
            continue  # decided: no number in the ball is below 1, but for what rounding out adds
        with pytest.raises(Undecided):
            undecided(near, other)
    assert operator.ne(near, other) and not operator.eq(near, other)  # an update by what may be 0 is made
    assert near < 2 and near > -2 and near >= -2 and not near <= -2


def test_difference_of_a_ball_without_bounds_is_undecided_and_no_overflow():
    wide = Ball(1) / around(-1.0, 1.0)
    with pytest.raises(Undecided, match="infinite"):
        wide - wide
    p = Ball(1e300)
    assert p - p == 0


def test_climb_takes_the_first_precision_that_decides_and_names_what_was_not():
    def run():
        return Ball(THIRD) * 3 - Fraction(2) ** -100 <= 1

    assert climb(run, lambda decided: decided) == (True, 128)
    with pytest.raises(Undecided, match="told apart, even in balls of 53 bits"):
        climb(run, lambda decided: decided, LADDER[:1])
    with pytest.raises(Undecided, match="radius is too large"):
        climb(lambda: 1, lambda result: False)


@pytest.mark.parametrize("name", LOSSES)
def test_derivative_of_a_ball_holds_those_of_its_points_and_is_tight(name):
    loss = LOSSES[name]
    derivative, of_points = in_balls(loss).derivative, loss.exact or loss
    random = Random(1)
    for _ in range(100):
        p, y = random.uniform(-30, 30), random.choice([-1.0, 1.0])
        width = random.choice([0, 1e-15, 1e-3])
        try:
            found = ball(derivative(around(p, p + width) if width else Ball(p), Ball(y)))
        except Undecided:
            assert loss.kink and p <= loss.kink(y) <= p + width
            continue
        for point in (p, p + width / 2, p + width):
            assert found.distance(of_points.derivative(Fraction(point), Fraction(y))) <= 2 * found.radius + 2.0**-120
        assert found.radius <= 1.1 * width + 1e-14


def test_derivative_at_the_kink_is_undecided_unless_the_prediction_is_a_point():
    derivative = in_balls(LOSSES["hinge"]).derivative
    assert derivative(Ball(1), Ball(1)) == -1 and derivative(0, Ball(-1)) == 1
    with pytest.raises(Undecided, match="kink"):
        derivative(around(1 - 1e-16, 1.0 + 1e-15), Ball(1))
    with pytest.raises(Undecided, match="lost its digits"):
        derivative(around(0.0, 0.5), Ball(1))


def test_loss_of_the_users_own_runs_on_balls_from_its_float_source():
    own = Loss("softplus", lambda p, y: math.log1p(math.exp(p)), lambda p, y: 1 / (1 + math.exp(-p)))
    assert in_balls(own).derivative(Ball(0.5), Ball(1)).distance(1 / (1 + math.exp(-0.5))) < 1e-15


@pytest.mark.parametrize(("data", "loss"), PROBLEMS)
@pytest.mark.parametrize("side", [reference, efficient], ids=lambda side: side.__name__)
def test_algorithms_on_balls_enclose_those_on_fractions(side, data, loss):
    problem = floats(data, loss, lam=0.3)
    indices = draws(problem, 12)
    exact = Problem(problem.X.csr, problem.y, loss, Fraction(problem.lam))
    for name in ALGORITHMS:
        wanted = getattr(side, name)(exact, indices)
        with precision(512):
            for balls in (on_balls(problem), Problem(problem.X.csr, problem.y, loss, Ball(problem.lam))):
                found = getattr(side, name)(balls, indices)
                assert number_type(found.b) is ball
                for one, other in (*zip(found.w, wanted.w, strict=True), (found.b, wanted.b)):
                    # the log-loss of fractions is rounded to 2^-128
                    assert ball(one).contains(other) or (LOSSES[loss].exact and ball(one).distance(other) < 2.0**-100)


def inner(p):
    return math.exp(-p)


def test_loss_that_would_leave_the_balls_is_refused():
    hidden = Loss("hidden", lambda p, y: math.log1p(math.exp(p)), lambda p, y: 1 / (1 + inner(p)))
    with pytest.raises(TypeError, match="Ball"):  # its midpoint would do, and say nothing of the radius
        in_balls(hidden).derivative(Ball(0.5), Ball(1))


def test_lam_and_t0_of_balls_are_checked():
    for wrong in (Ball(0), Ball(-1)):
        with pytest.raises(ValueError, match="lam"):
            Problem([[1.0]], [1], "hinge", wrong)
        with pytest.raises(ValueError, match="t0"):
            reference.sgd(Problem([[1.0]], [1], "hinge", Ball(1)), [0], t0=Ball(-1))


def test_ball_without_flint_says_how_to_install_it():
    code = "import sys; sys.modules['flint'] = None\nfrom reference.balls import Ball\nBall(1)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "pip install -e '.[certify]' in a clone" in done.stderr.splitlines()[-1]


def test_arrays_of_balls_add_up():
    w = np.array([Ball(0.5), Ball(2)], dtype=object)
    assert (w @ np.array([Ball(4), Ball(1)], dtype=object)) == 4 and list(Ball(2) * w) == [1, 4] and (w / Ball(2))[1] == 1
