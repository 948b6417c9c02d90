"""Certificates hold against independent exact runs: fractions where the loss is rational, mpmath at 60 digits elsewhere."""

import json
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import efficient
import reference
from efficient import State
from efficient.runs.algorithms import ALGORITHMS
from efficient.runs.centring import find_centre
from efficient.runs.certify import Certificate, certificate, digits_of
from reference import LOSSES, Predictor, Problem
from reference.averaging import polynomial, suffix
from reference.balls import Undecided, precision
from reference.datasets import load_spam, make_generic, make_shifted, make_text, make_ties, with_sign_labels
from tests.helpers import draws

WEIGHTS = (polynomial(0), polynomial(1), suffix(3))


def random_problem(seed: int):
    """Problem, indices, algorithm and options, of every kind."""
    rng = np.random.default_rng(seed)
    name, loss = (names[rng.integers(len(names))] for names in (list(ALGORITHMS), list(LOSSES)))
    make = (make_generic, make_shifted)[rng.integers(2)]
    X, y, _ = make(int(rng.integers(2, 7)), 5, 3, seed=seed, **({"offset": 8.0} if make is make_shifted else {}))
    weight = rng.integers(0, 3, X.shape[0]) + 0.5  # given to all, since without any there is another loop to compile
    problem = Problem(X, y, loss, float(rng.choice([0.05, 0.3, 1.0, 7.0])), weight)
    options = {"t0": float(rng.choice([0, 0.5, 20]))}
    if ALGORITHMS[name].averaging:
        options["averaging_weights"] = WEIGHTS[rng.integers(len(WEIGHTS))]
    return problem, rng.integers(problem.m, size=16), name, options


def by_mpmath(problem: Problem, indices, algorithm: str, t0: float, averaging_weights=None):
    """Define the log-loss run in 60 digits: eq. 3 on dense rows, eq. 5, eq. 11."""
    mp = mpmath.MPContext()
    mp.dps = 60
    X = [[mp.mpf(float(x)) for x in problem.X.dense(i)] for i in range(problem.m)]
    s = [mp.mpf(float(each)) for each in problem.sample_weight]
    mean = [mp.mpf(0)] * problem.n
    if ALGORITHMS[algorithm].centred:
        mean = [sum(s[i] * X[i][j] for i in range(problem.m)) / sum(s) for j in range(problem.n)]
    at = lambda i: [*(x - c for x, c in zip(X[i], mean, strict=True)), mp.mpf(1)]  # noqa: E731
    v, total, weight = [mp.mpf(0)] * (problem.n + 1), [mp.mpf(0)] * (problem.n + 1), mp.mpf(0)
    for step, i in enumerate(indices, start=1):
        x, y, t = at(i), mp.mpf(float(problem.y[i])), step + mp.mpf(t0)
        g = -s[i] * y / (1 + mp.exp(y * sum(w * each for w, each in zip(v, x, strict=True))))
        v = [(1 - 1 / t) * w - g / (mp.mpf(problem.lam) * t) * each for w, each in zip(v, x, strict=True)]
        omega = mp.mpf(1) if averaging_weights is None else mp.mpf(int(averaging_weights(step)))
        total, weight = [one + omega * w for one, w in zip(total, v, strict=True)], weight + omega
    if ALGORITHMS[algorithm].averaging:
        v = [each / weight for each in total]
    return [*v[:-1], v[-1] - sum(w * c for w, c in zip(v, mean, strict=False))]


def as_fraction(x) -> Fraction:
    sign, mantissa, exponent, _ = x._mpf_
    return (-1) ** sign * Fraction(int(mantissa)) * Fraction(2) ** exponent


def exact_numbers(problem: Problem, indices, algorithm: str, options) -> tuple[list[Fraction], Fraction]:
    """[w, b] by an independent exact run, and how far that may be off."""
    if LOSSES[problem.loss.name].exact:
        numbers = list(map(as_fraction, by_mpmath(problem, indices, algorithm, **options)))
        return numbers, max(1, *map(abs, numbers)) * Fraction(1, 10**40)
    exact = Problem(problem.X.csr, problem.y, problem.loss, Fraction(problem.lam), problem.sample_weight)
    options = options | {"t0": Fraction(options["t0"])}
    predictor = getattr(reference, algorithm)(exact, indices, **options)
    return [*predictor.w, predictor.b], Fraction(0)


def holds(found: Certificate, exact: list[Fraction], off: Fraction) -> None:
    """Require that balls contain the exact numbers, and that bounds hold and are not loose."""
    with precision(found.bits):
        for ball, number, value, within in zip(
            [*found.exact.w, found.exact.b], exact, [*found.found.w, found.found.b], [*found.w, found.b], strict=True
        ):
            assert ball.contains(number) or (off and ball.distance(number) <= 2 * ball.radius + off)
            error = abs(Fraction(float(value)) - number)
            assert error <= Fraction(within) + off
            assert within <= float(error) * (1 + 1e-9) + 1e-18 * max(1.0, found.found.w.max(), -found.found.w.min()) + 5e-324


def test_certificates_of_300_random_problems_hold_the_exact_run():
    parted = 0
    for seed in range(300):
        problem, indices, name, options = random_problem(seed)
        try:
            found = State(problem, name, **options).certify(indices)
        except Undecided:
            assert problem.loss.kink  # a tie that centring does not compute exactly
            parted += 1
            continue
        exact, off = exact_numbers(problem, indices, name, options)
        holds(found, exact, off)
    assert parted <= 3


@pytest.mark.parametrize(("loss", "tfidf"), [("hinge", False), ("log", True)])
def test_certificate_of_shipped_mails_holds_the_exact_run(loss, tfidf):
    mails = with_sign_labels(load_spam(tfidf=tfidf))
    X = mails.X[:60]
    X = X[:, np.unique(X.indices)[::40]]
    problem = Problem(X, mails.y[:60], loss, 0.125)
    for name in ("asgd", "casgd"):
        indices = draws(problem, 80)
        found = State(problem, name).certify(indices, rows=X)
        exact, off = exact_numbers(problem, indices, name, {"t0": 0.0})
        holds(found, exact, off)
        assert found.repeated and found.digits >= 12 and found.parted is None
        for i, (value, within) in enumerate(zip(found.predictions, found.off, strict=True)):
            right = sum((w * Fraction(x) for w, x in zip(exact, X[[i]].toarray()[0].tolist(), strict=False)), exact[-1])
            assert abs(Fraction(float(value)) - right) <= Fraction(within) + 10**6 * off


def test_certificate_of_a_wrong_predictor_says_how_wrong():
    problem = Problem(*make_text(40, 100, 8, seed=1)[:2], "hinge", 0.01)
    indices = draws(problem, 80)
    right = efficient.asgd(problem, indices)
    w = right.w.copy()
    w[np.flatnonzero(w)[3]] += 1e-9
    found = efficient.certify(problem, indices, Predictor(w, right.b), "asgd")
    assert found.within == pytest.approx(1e-9, rel=1e-3) and not found.repeated and "to the bit" in str(found)
    assert efficient.certify(problem, indices, right, "asgd").within < 1e-12


def test_certificate_of_ties_names_the_step_at_which_float64_takes_the_other_side():
    for seed in range(40):
        X, y, _ = make_ties(20, 4, 2, seed=seed)
        problem = Problem(X, y, "hinge", 0.1)
        indices = draws(problem, 200, seed=seed)
        try:
            found = State(problem, "casgd").certify(indices)
        except Undecided:
            continue
        if found.parted:
            break
    step, margin = found.parted
    exact = Problem(X, y, "hinge", Fraction(0.1))
    state, definition = State(problem, "casgd"), reference.iterates(exact, indices, centred=True)
    differ = [
        (at.t, float(abs(at.p - exact.y[i]))) for i, at in zip(indices, definition, strict=True) if state.run([i]).g != at.g
    ]
    assert differ[0] == (step, pytest.approx(margin, rel=1e-12))
    assert margin < 1e-13 and found.amplification > 1e6 and f"step {step}" in str(found) and "kink" in str(found)


def test_certificate_of_an_exact_tie_that_centring_hides_gives_up_and_says_at_which_step():
    # x̄ = 4/3 is no float: the terms of p_3 are enclosed, though their sum, 3 · (1 − 4/3) = -1, gives exactly the label
    problem = Problem([[3.0], [0.0], [1.0]], [-1.0, 99.0, 0.5], "absolute", 1.0)
    exact = Problem(problem.X.csr, problem.y, "absolute", Fraction(1))
    assert [step.p for step in reference.iterates(exact, [0, 1, 2], centred=True)][2] == Fraction(1, 2)
    with pytest.raises(Undecided, match=r"at step 3 .* 8192 bits"):
        State(problem, "csgd").certify([0, 1, 2])


def test_certificate_of_a_pivoted_run_keeps_the_digits_of_predictions():
    X, y, _ = make_shifted(40, 5, 3, seed=3, offset=1e6)
    problem = Problem(X, y, "log", 0.1)
    indices = draws(problem, 200)
    with_pivot, as_printed = (State(problem, "casgd", pivot=pivot).certify(indices, rows=X) for pivot in (True, False))
    assert with_pivot.w.max() < 1e-9 < as_printed.w.max()
    assert with_pivot.off.max() < 1e-8 < as_printed.off.max()
    centre = find_centre(problem.X)
    given = State(problem, "casgd", centre=centre).certify(indices)
    assert given.w.max() < 1e-9  # the exact run of the rows around the same centre


def test_certificate_as_json_has_all_weights_and_the_digits():
    problem = Problem(*make_generic(9, 5, 3, seed=1)[:2], "log", 0.1)
    found = State(problem, "casgd").certify(draws(problem, 30), rows=problem.X.csr)
    read = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert [each["value"] for each in read["w"]] == found.found.w.tolist() and len(read["predictions"]) == 9
    for each in (*read["w"], read["b"]):
        assert abs(Fraction(each["value"]) - Fraction(each["exact"])) <= Fraction(each["within"]) + Fraction(1, 10**18)
    assert read["digits"] == found.digits == digits_of(found.relative) and read["parted"] is None


@pytest.mark.parametrize(
    ("relative", "digits"), [(0, 17), (1e-20, 17), (2e-16, 15), (1e-3, 3), (0.5, 0), (7.0, 0), (math.inf, 0)]
)
def test_digits_of_an_error(relative, digits):
    assert digits_of(relative) == digits


def test_certify_of_unusable_arguments_names_them():
    problem = Problem([[1.0, 0], [0, 1]], [1, -1], "hinge", 0.5)
    state = State(problem)
    for arguments, named in [
        (([2],), "indices"),
        (([0], Predictor(np.zeros(3), 0.0)), "predictor"),
        (([0], None, [[1.0]]), "X must have 2"),
    ]:
        with pytest.raises(ValueError, match=named):
            state.certify(*arguments)
    with pytest.raises(TypeError, match="float64"):
        State(Problem([[1.0]], [1], "hinge", Fraction(1))).certify([0])


def test_certify_leaves_the_state_as_it_is():
    problem = Problem([[1.0, 0], [0, 1]], [1, -1], "hinge", 0.5)
    state = State(problem).run([0, 1])
    before = state.v.copy(), state.t, state.a
    assert state.certify([0, 1, 1]).steps == 3
    assert (state.v == before[0]).all() and (state.t, state.a) == before[1:]
    assert certificate(state, [0, 1]).within == 0


def test_certificate_of_weights_that_are_0_has_no_ratio_but_is_json():
    problem = Problem([[0.0], [0.0]], [1, -1], "hinge", 0.5)
    found = efficient.certify(problem, [0, 1], Predictor(np.zeros(1), 0.0), "sgd")
    assert json.loads(json.dumps(found.as_dict(), allow_nan=False))["digits"] == 17 and "does not amplify" in str(found)
    wrong = efficient.certify(Problem([[1.0]], [1], "hinge", 0.5), [0], Predictor(np.zeros(1), 0.0), "sgd")
    assert json.loads(json.dumps(wrong.as_dict(), allow_nan=False))["relative"] is None and wrong.digits == 0
