"""Mean of states: the state of the mean gradient sums, exact in fractions; states that do not fit are refused."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest

from efficient import State, States
from efficient.runs.algorithms import ALGORITHMS
from efficient.runs.averaged import mean_of
from efficient.runs.centring import Centre, find_centre
from reference import Predictor, Problem, draw_indices
from reference.averaging import polynomial, suffix
from reference.datasets import make_generic, make_shifted
from tests.helpers import AVERAGING, CENTRED, bits, same

DATA = make_generic(12, 6, 3, seed=2)
PARTS = (slice(0, 4), slice(4, 8), slice(8, 12))


def begun(algorithm="casgd", number=Fraction, steps=9, part=PARTS[0], seed=0, loss="hinge", **options):
    """State of a part of the rows, after some steps."""
    lam = options.pop("lam", number(1) / 4)
    problem = Problem(DATA.X[part], DATA.y[part], loss, lam)
    if algorithm in CENTRED:
        whole = Problem(DATA.X, DATA.y, loss, lam)
        options.setdefault("centre", Centre(None, whole.xbar))
    weights = {"averaging_weights": polynomial(1)} if algorithm in AVERAGING else {}
    return State(problem, algorithm, **({"t0": 2} | weights | options)).run(draw_indices(problem.m, steps, seed))


def mean_predictor(predictors, weights=(1, 1, 1)):
    pairs = list(zip(weights, predictors, strict=True))
    return Predictor(*(sum(k * getattr(each, part) for k, each in pairs) / sum(weights) for part in "wb"))


@pytest.mark.parametrize("weights", [(1, 1, 1), (4, 1, 7)])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_mean_recovers_the_means_of_the_predictors_exactly(algorithm, weights):
    states = [begun(algorithm, part=part, seed=seed) for seed, part in enumerate(PARTS)]
    before = [copy.copy(state) for state in states]
    mean = State.mean(states, None if weights == (1, 1, 1) else weights)
    assert same(mean.last(), mean_predictor([state.last() for state in states], weights))
    if algorithm in AVERAGING:
        assert same(mean.average(), mean_predictor([state.average() for state in states], weights))
    for state, old in zip(states, before, strict=True):
        assert all((bits(state)[name] == value).all() for name, value in bits(old).items())


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_mean_is_the_state_of_the_mean_gradient_sums(algorithm):
    states = [begun(algorithm, part=part, seed=seed, loss="squared") for seed, part in enumerate(PARTS)]
    mean = State.mean(states)
    if algorithm in CENTRED:
        assert mean.z == mean.v @ mean.xbar
        assert mean.r == mean.a * mean.theta - mean.z
    # the next step from the mean is the step of the definition from the mean of the iterates
    at, problem = mean.last(), states[0].problem
    x, y, step = problem.X.dense(1), problem.y[1], problem.lam * (mean.t + 1 + mean.t0)
    g = problem.loss.derivative(at.predict([x])[0], y)
    following, centre = mean.run([1]).last(), mean.xbar if algorithm in CENTRED else 0 * x
    shrunk = 1 - problem.lam / step
    assert (following.w == shrunk * at.w - g / step * (x - centre)).all()
    assert following.b + following.w @ centre == shrunk * (at.b + at.w @ centre) - g / step


def test_mean_of_one_state_or_of_equal_ones_is_that_state():
    state = begun(number=float)
    for found in (State.mean([state]), State.mean([state, copy.copy(state)]), State.mean(iter([state] * 4))):
        assert all((bits(found)[name] == value).all() for name, value in bits(state).items())
    assert State.mean([state]).v.base is not state.v.base


def test_mean_of_many_models_has_the_bits_of_the_means_of_each():
    def problems(part):
        first = Problem(DATA.X[part], DATA.y[part], "log", 0.25)
        return [first, first.variant(lam=0.5), first.variant(y=-first.y)]

    centre = find_centre(Problem(DATA.X, DATA.y, "log", 0.25).X)
    pi = draw_indices(4, 20, 3)
    mean = States.mean([States(problems(part), "casgd", centre=centre).run(pi) for part in PARTS])
    each = [State.mean([State(problems(part)[k], "casgd", centre=centre).run(pi) for part in PARTS]) for k in range(3)]
    for found, wanted in zip(
        (mean.average(), mean.last()), ([s.average() for s in each], [s.last() for s in each]), strict=True
    ):
        assert all(same(*pair) for pair in zip(found, wanted, strict=True))


def test_mean_keeps_a_pivot():
    data = make_shifted(12, 5, 3, seed=3, offset=1e6)
    parts = [Problem(data.X[part], data.y[part], "log", 0.5) for part in PARTS]
    centre = find_centre(Problem(data.X, data.y, "log", 0.5).X)
    assert centre.pivot is not None
    mean = State.mean([State(part, "casgd", centre=centre).run([0, 1, 2, 3]) for part in parts])
    assert (mean.average().pivoted.xbar == centre.pivot).all()
    with pytest.raises(ValueError, match=r"same (centre|pivot).* number 1\. .*find_centre"):
        State.mean([State(part, "casgd").run([0, 1]) for part in parts])


@pytest.mark.parametrize(
    ("other", "named"),
    [
        ({"algorithm": "asgd"}, "algorithm"),
        ({"steps": 8}, "t;"),
        ({"t0": 3}, "t0"),
        ({"lam": Fraction(1, 5)}, "lam"),
        ({"lam": 0.25}, "arithmetic"),
        ({"loss": "squared"}, "loss"),
        ({"averaging_weights": polynomial(2)}, "averaging weights"),
        ({"averaging_weights": None}, "averaging weights"),
        ({"averaging_weights": suffix(100)}, "averaging weights"),
        ({"centre": Centre(None, np.array([Fraction(0)] * 6, dtype=object))}, "centre"),
    ],
)
def test_mean_of_states_that_differ_is_refused_by_the_name_of_what_differs(other, named):
    with pytest.raises(ValueError, match=f"states must have the same {named}.*number 1"):
        State.mean([begun(), begun(**other)])


def test_mean_of_states_of_unequal_width_is_refused():
    wide, narrow = (Problem(np.ones((2, n)), [1, -1], "hinge", 1.0) for n in (3, 2))
    with pytest.raises(ValueError, match="the same columns; got 2 after 3"):
        State.mean([State(wide).run([0]), State(narrow).run([0])])


def test_mean_of_nothing_or_of_what_is_no_state_is_refused():
    with pytest.raises(ValueError, match="states must be one State or more; got none"):
        State.mean([])
    with pytest.raises(TypeError, match="got int as number 1"):
        State.mean([begun(), 1])
    with pytest.raises(TypeError, match="kind States; got State"):
        States.mean([begun()])


def test_mean_in_a_callback_of_its_state_is_the_state_as_it_is():
    seen = []
    begun(steps=1).run([0, 1], callback=lambda t, state: seen.append(State.mean([state]).t))
    assert seen[-1] == 3


def test_mean_of_kept_adds_in_order():
    kept = [{"v": np.array([each]), "h": 1.0} for each in (1e16, 1.0, -1e16)]
    assert mean_of(kept, [1, 1, 1])["v"] == [0] != mean_of([kept[0], kept[2], kept[1]], [1, 1, 1])["v"]


@pytest.mark.parametrize("weights", [(1,), (1, 0), (1, -1), (1, float("nan")), (1, "2")])
def test_mean_with_unusable_weights_is_refused(weights):
    with pytest.raises(ValueError, match="weights must be a finite number > 0 for each of 2 states; got "):
        State.mean([begun(), begun()], weights)


def test_threads_that_only_look_wait_for_each_other():
    states = [begun(number=float, steps=500, seed=seed) for seed in range(3)]
    orders = [(0, 1, 2), (2, 1, 0), (1, 0, 2)]
    wanted = [bits(State.mean([states[k] for k in order])) for order in orders]

    def look(order):
        for _ in range(50):
            pickle.dumps(states[order[0]])
            State.mean([states[k] for k in order])
        return State.mean([states[k] for k in order])

    with ThreadPoolExecutor(3) as threads:
        for found, parts in zip(threads.map(look, orders), wanted, strict=True):
            assert all((bits(found)[name] == value).all() for name, value in parts.items())
