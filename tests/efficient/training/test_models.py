"""Models: problems that share their rows, step offsets from facts of the loss, scores that are finite."""

from dataclasses import replace

import numpy as np
import pytest

from efficient import CASGDRegressor, State, States
from efficient.training.models import begin, make_problems, scores
from efficient.training.settings import Settings
from reference import LOSSES, Predictor, safe_t0
from reference.datasets import make_generic

X, NUMBERS, _ = make_generic(60, 20, 5, seed=2, binary=False)


def test_problems_share_their_rows_and_go_by_lam_first():
    problems = make_problems(X, np.arange(60) % 3, np.arange(3), "hinge", [0.5, 2.0])
    assert [problem.lam for problem in problems] == [0.5, 0.5, 0.5, 2, 2, 2]
    assert [int(problem.y.argmax()) for problem in problems] == [0, 1, 2] * 2
    assert all(problem.X is problems[0].X for problem in problems)


@pytest.mark.parametrize("algorithm", ["asgd", "casgd"])
def test_t0_is_safe_unless_the_slope_is_bounded(algorithm):
    centred = algorithm == "casgd"
    for loss in LOSSES.values():
        y = np.sign(NUMBERS) if loss.binary else NUMBERS
        lams = [0.5, 0.01]
        problems = make_problems(X, y, None, replace(loss, name="renamed"), lams)
        run = begin(problems, Settings(loss, algorithm=algorithm))
        wanted = [0, 0] if loss.slope_bound is not None else [safe_t0(problem, centred) for problem in problems]
        assert list(run.t0) == wanted
        assert begin(problems[:1], Settings(loss, algorithm=algorithm, t0=7e9)).t0 == 7e9


def test_renamed_squared_loss_trains_to_the_same_bits():
    rows = 30 * X  # with t0 = 0 the iterates overflow at once
    fitted = [
        CASGDRegressor(loss, random_state=0).fit(rows, NUMBERS) for loss in ("squared", replace(LOSSES["squared"], name="mse"))
    ]
    np.testing.assert_array_equal(fitted[0].coef_, fitted[1].coef_)
    assert fitted[0].score(rows, NUMBERS) > 0.5
    with pytest.raises(FloatingPointError, match="larger t0"):
        CASGDRegressor(replace(LOSSES["squared"], name="mse"), random_state=0, t0=0, alpha=1e-7).fit(rows, NUMBERS)


def test_begin_starts_the_run_that_fits_the_number_of_models():
    problems = make_problems(X, NUMBERS, None, "absolute", [0.5, 0.1])
    assert isinstance(begin(problems, Settings()), States)
    assert isinstance(begin(problems[:1], Settings()), State)


def test_begin_refuses_what_overflows():
    with pytest.raises(FloatingPointError, match="mean row overflows"):
        begin(make_problems(1e200 + X.toarray(), NUMBERS, None, "absolute", [0.5]), Settings())
    with pytest.raises(FloatingPointError, match="t0 = R²/λ overflows"):
        begin(make_problems(1e10 * X, NUMBERS, None, "squared", [1e-300]), Settings())


def test_scores_name_the_first_row_that_overflows():
    huge, ok = [1e308, 1e308, 0], [1, 1, 1]
    predictors = [Predictor(np.array([0.0, 0, 1]), 0.0), Predictor(np.ones(3), 0.0)]
    with pytest.raises(FloatingPointError, match="prediction for row 2 "):
        scores(predictors, np.array([ok, ok, huge, ok, huge], dtype=float))
    np.testing.assert_array_equal(scores(predictors, np.array([ok], dtype=float)), [[1, 3]])
