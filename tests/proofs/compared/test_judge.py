"""Judge float64 runs by balls: right ones are accepted on any data, a fault of 1e-9 in one weight of either side is not."""

from functools import cache

import numpy as np
import pytest
from sklearn import datasets

import reference
from efficient import State
from efficient.runs.algorithms import ALGORITHMS
from proofs.compared import judge as judging
from proofs.compared.judge import VISIBLE, define, judge
from reference import LOSSES, Loss, Predictor, Problem, draw_indices
from reference.balls import ball, on_balls, precision
from reference.datasets import make_generic, make_shifted, make_text, make_ties
from tests.helpers import PROBLEMS, draws, floats

SETS = ("iris", "digits", "wine", "breast_cancer", "diabetes", "linnerud")
LAMBDAS = (1e-3, 1e-2, 1.0)
STEPS = 80
GRID = [
    (name, standardised, signs, loss, lam)
    for name in SETS
    for standardised in (False, True)
    for signs in (False, True)
    for loss in LOSSES
    for lam in LAMBDAS
    if signs or not LOSSES[loss].binary
]
SAMPLE = GRID[::17]
"""Every seventeenth entry: each set raw and standardised, each loss and each λ are among them."""


def sampled(grid):
    return [each if each in SAMPLE else pytest.param(*each, marks=pytest.mark.nightly) for each in grid]


@cache
def shipped(name: str, standardised: bool, signs: bool):
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    y = (y if y.ndim == 1 else y[:, 0]).astype(float)
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(spread, spread, 1) if standardised else X
    return X, np.where(y > np.median(y), 1.0, -1.0) if signs else y


class OffByLittle(State):
    """Largest weight off by a relative 1e-9, in what is returned."""

    def last(self):
        return faulty(super().last())

    def average(self):
        return faulty(super().average())


def faulty(predictor: Predictor) -> Predictor:
    w = predictor.w.copy()
    j = int(abs(w).argmax())
    w[j] += 1e-9 * max(abs(w[j]), abs(predictor.b))
    return Predictor(w, predictor.b, predictor.xbar, predictor.pivoted)


def iterates_off_by_little(problem, indices, **options):
    """Definition whose last predictor is off."""
    for step in ITERATES(problem, indices, **options):
        yield step if step.t < len(indices) else step._replace(predictor=faulty(step.predictor))


ITERATES = reference.iterates


def test_sample_of_the_grid_has_every_set_loss_and_lambda():
    for place, values in enumerate((SETS, (False, True), (False, True), LOSSES, LAMBDAS)):
        assert {each[place] for each in SAMPLE} == set(values)


@pytest.mark.parametrize(("name", "standardised", "signs", "loss", "lam"), sampled(GRID))
def test_judge_of_sets_that_scikit_learn_ships_fails_nothing_and_sees_a_fault_in_either_side(
    name, standardised, signs, loss, lam, monkeypatch
):
    problem = Problem(*shipped(name, standardised, signs), loss, lam)
    indices = draw_indices(problem.m, min(problem.m, STEPS), rng=0)
    right, sparse = judge(problem, indices), judge(problem, indices, state=OffByLittle)
    monkeypatch.setattr(judging.reference, "iterates", iterates_off_by_little)
    dense = judge(problem, indices)
    for algorithm, verdict in right.items():
        assert verdict.holds, (algorithm, str(verdict))
        if verdict.overflow:
            assert "float64 overflows: the definition by step" in str(verdict) and "the sparse algorithm by step" in str(
                verdict
            )
        elif verdict.resolution <= VISIBLE:
            for planted, side in ((sparse, "the sparse algorithm loses"), (dense, "the definition is off")):
                assert not planted[algorithm].holds and planted[algorithm].why.startswith(side), (algorithm, str(verdict))
        else:
            assert "is not seen" in str(verdict)


LARGER = {  # data, lam; the squared loss only where its first steps of 1/(λt) do not overflow
    "short rows": (make_generic(50, 40, 3, seed=1), 0.5),
    "long rows": (make_generic(60, 30, 20, seed=2), 1.0),
    "dense rows": (make_shifted(40, 10, 5, seed=3, offset=0.5), 1.0),
    "text": (make_text(200, 1000, 20, seed=4), 0.1),
    "text, small λ": (make_text(200, 1000, 20, seed=5), 1e-3),
    "large λ": (make_generic(50, 40, 3, seed=6), 1e3),
}


@pytest.mark.parametrize(
    "case",
    [pytest.param(each, marks=[pytest.mark.nightly] * (each not in ("dense rows", "text, small λ"))) for each in LARGER],
)
def test_judge_of_larger_data_accepts_tightly(case):
    (X, y, _), lam = LARGER[case]
    for loss in LOSSES if lam >= 0.1 else [name for name in LOSSES if LOSSES[name].slope_bound]:
        problem = Problem(X, y, loss, lam)
        for verdict in judge(problem, draws(problem, 300, seed=3)).values():
            assert verdict.holds and not verdict.parted and verdict.resolution < 1e-10
            assert verdict.worst > 1e-3  # what is allowed is not far from what rounding does


@pytest.mark.parametrize(("data", "loss"), PROBLEMS)
def test_judge_of_small_data_accepts_at_ties_too(data, loss):
    problem = floats(data, loss, lam=1.0)
    assert all(verdict.holds for verdict in judge(problem, draws(problem, 40)).values())


@pytest.mark.parametrize("seed", range(4))
def test_judge_accepts_where_the_problem_amplifies_rounding(seed):
    def slope(p, y):
        return -1 if p - y < -1 else 1 if p - y > 1 else p - y

    huber = Loss("huber", lambda p, y: (p - y) ** 2 / 2 if abs(p - y) <= 1 else abs(p - y) - 0.5, slope, slope_bound=1)
    X, y, _ = make_generic(30, 8, 8, seed=seed)
    problem = Problem(3 * X, y, huber, 1e-3)
    verdicts = judge(problem, draws(problem, 300))
    assert all(verdict.holds for verdict in verdicts.values())
    assert max(verdict.amplification for verdict in verdicts.values()) > 30
    assert any("amplifies" in str(verdict) for verdict in verdicts.values())


class Off(State):
    """Predictions off, and nothing else, as soon as there have been three steps."""

    def run(self, indices, **options):
        super().run(indices, **options)
        self.p = self.p + (self.t > 2)
        return self


class WrongSlope(State):
    """Derivative with another sign, kept as the last step's only."""

    def run(self, indices, **options):
        super().run(indices, **options)
        self.g = -self.g
        return self


class SinglePrecision(State):
    """Bias sum kept in float32."""

    def run(self, indices, **options):
        super().run(indices, **options)
        self.a = np.float64(np.float32(self.a))
        return self


class OtherSteps(State):
    """Step sizes of 1/(λ(t + 10⁻⁹))."""

    def __init__(self, problem, algorithm, **options):
        super().__init__(problem, algorithm, **options | {"t0": 1e-9})


class Timid(State):
    """Overflow reported where there is none."""

    def run(self, indices, **options):
        super().run(indices, **options)
        if self.t > 3:
            raise FloatingPointError
        return self


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    ("state", "loss"),
    [
        (Off, "hinge"),
        (OtherSteps, "log"),
        (SinglePrecision, "log"),
        (SinglePrecision, "squared"),
        (Timid, "log"),
        (WrongSlope, "log"),
    ]
    + [(WrongSlope, name) for name in LOSSES if LOSSES[name].kink],
)
def test_judge_of_a_wrong_state_rejects(state, loss, algorithm):
    problem = floats("generic", loss)
    assert not judge(problem, draws(problem, 60), [algorithm], state=state)[algorithm].holds


def test_judge_of_an_overflow_of_both_sides_names_it_and_does_not_fail():
    problem = Problem(*make_generic(20, 8, 4, seed=1)[:2], "squared", 1e-9)
    for verdict in judge(problem, draws(problem, 200)).values():
        assert verdict.holds and verdict.overflow.startswith("float64 overflows: the definition by step")


def test_judge_of_ties_names_the_side_and_the_step():
    problem = Problem(*make_ties(20, 6, 3, seed=2)[:2], "hinge", 0.5)
    verdict = judge(problem, draw_indices(20, 100, rng=0), ["sgd"])["sgd"]
    assert verdict.holds and verdict.parted == {"the definition": (9, 0.0)}
    assert "at step 9" in str(verdict)


def test_definition_on_balls_is_within_the_running_bound():
    for X, y, _ in (make_shifted(20, 6, 3, seed=3, offset=4.0), make_generic(12, 8, 4, seed=1)):
        for centred in (False, True):
            problem = Problem(X, y, "hinge", 0.3)
            indices = draws(problem, 60)
            side, bounds = define(problem, indices, centred)
            with precision(256):
                steps = list(reference.iterates(on_balls(problem), indices, centred=centred))
                off = [ball(step.p).distance(p) for step, p in zip(steps, side.p.tolist(), strict=True)]
                last = [w.distance(found) for w, found in zip(steps[-1].predictor.w, side.last.w.tolist(), strict=True)]
            assert [step.g for step in steps] == side.g.tolist()
            assert all(one <= bound for one, bound in zip(off, bounds.p, strict=True)) and max(off) > 0
            assert all(one <= bound for one, bound in zip(last, bounds.results[0], strict=False)) and max(last) > 0
            assert bounds.p.max() < 1e-12
