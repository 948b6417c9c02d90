"""A search for counterexamples, by hypothesis: problems that tie, degenerate, are badly scaled, or are stored in odd ways.

`pytest` tries a hundred examples of each property, always the same ones. Thousands of new ones are tried by

    pytest tests/test_search.py tests/test_state_machine.py --hypothesis-profile=nightly

Each property is a function of a case and of whoever is to have it, and raises AssertionError; so it can be shown to reject
the known wrong twins, or a fault planted here.
"""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import combinations
from random import Random

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import Phase, example, find, given, settings
from hypothesis.errors import NoSuchExample

import efficient
import reference
from efficient import State
from proofs.compared.iterates import KINK_DISTANCE
from proofs.conformance.faults import FAULTS
from proofs.conformance.faults import train as train_with_faults
from reference import LOSSES, Loss, Predictor, Problem
from reference.arithmetic import fraction
from reference.averaging import suffix
from tests.rounding import (
    Rounded,
    Undecided,
    allows,
    dense_bound,
    derivative,
    for_raw_rows,
    in_arithmetic,
    on_rounded,
    prescribed,
    recover,
    sparse_bound,
)
from tests.strategies import AVERAGES, AVERAGING, CENTRED, NIGHTLY, Case, cases

ANY = cases(("generic", "ties", "scaled", "fractions"), compiled=False)
"""For exact arithmetic: any numbers, stored in any way."""


def shipped(case: Case, algorithm: str, number=fraction) -> Predictor:
    return getattr(efficient, algorithm)(case.problem(number), case.indices, **case.options(algorithm))


def dense(case: Case, algorithm: str, number=fraction) -> Predictor:
    return getattr(reference, algorithm)(case.problem(number), case.indices, **case.options(algorithm))


def twin(fault):
    """The third implementation, with a known fault or none. It takes CSR or dense rows, and knows no options."""

    def train(case: Case, algorithm: str, number=fraction) -> Predictor:
        if case.container != "dense":
            case = replace(case, container="csr")
        switches = AVERAGING[algorithm], CENTRED[algorithm]
        return Predictor(*train_with_faults(case.X, case.y, case.loss, number(case.lam), case.indices, *switches, fault=fault))

    return train


def same(one: Predictor | None, other: Predictor | None) -> bool:
    if one is None or other is None:
        return one is other
    return len(one.w) == len(other.w) and bool((one.w == other.w).all()) and one.b == other.b


def mean_or_none(train, case: Case, algorithm: str, number=fraction) -> Predictor | None:
    """None where all weights are 0 up to the last step, which everybody refuses."""
    try:
        return train(case, algorithm, number)
    except ValueError as error:
        if "weights must not all be 0" in str(error):
            return None
        raise


def counterexample(strategy, holds) -> object | None:
    """What a search finds, a longer one than that of a run within a minute; or None."""

    def fails(drawn):
        try:
            holds(drawn)
        except (AssertionError, ZeroDivisionError):  # a twin whose loop is as printed divides by 0
            return True
        return False

    search = settings(max_examples=1000, phases=[Phase.generate], database=None, derandomize=False)
    try:
        return find(strategy, fails, settings=search, random=Random(0))
    except NoSuchExample:
        return None


# ---- exact arithmetic: the two sides are equal ----


def holds_that_steps_are_equal(case: Case, state=State) -> None:
    """Every p, every g, and after every step the last iterate and the mean, of all four algorithms."""
    problem = case.problem(fraction)
    for algorithm in AVERAGING:
        running = state(problem, algorithm, **case.options(algorithm))
        w, b, total = 0, 0, 0
        for step in reference.iterates(problem, case.indices, centred=CENTRED[algorithm], t0=case.t0):
            running.run([case.indices[step.t - 1]])
            assert (running.t, running.p, running.g) == (step.t, step.p, step.g)
            assert same(running.last(), step.predictor)
            if AVERAGING[algorithm]:
                omega = fraction(AVERAGES[case.weights](Fraction(step.t))) if case.weights else Fraction(1)
                w, b, total = w + omega * step.predictor.w, b + omega * step.predictor.b, total + omega
                assert same(recover(running), Predictor(w / total, b / total) if total else None)


def holds_that_predictors_are_equal(case: Case, train) -> None:
    """What the functions return, of all four algorithms."""
    for algorithm in AVERAGING:
        assert same(mean_or_none(train, case, algorithm), mean_or_none(dense, case, algorithm))


@given(case=ANY)
def test_in_exact_arithmetic_every_step_is_that_of_the_definition(case):
    holds_that_steps_are_equal(case)


@given(case=ANY)
def test_in_exact_arithmetic_every_predictor_is_that_of_the_definition(case):
    holds_that_predictors_are_equal(case, shipped)
    holds_that_predictors_are_equal(case.plain, twin(None))


class Off(State):
    """A state whose predictions, and nothing else, are off as soon as there have been three steps."""

    def run(self, indices):
        super().run(indices)
        self.p = self.p + (self.t > 2)
        return self


def test_the_search_finds_a_wrong_prediction():
    assert counterexample(ANY, lambda case: holds_that_steps_are_equal(case, Off))


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault != "single precision"])
def test_the_search_finds_what_is_wrong_with_every_twin(fault):
    assert counterexample(ANY, lambda case: holds_that_predictors_are_equal(case.plain, twin(fault)))


# ---- float64: every step is the definition's, to rounding ----


def holds_step_by_step(case: Case, state=State, algorithms=tuple(AVERAGING)) -> None:
    """Given the derivatives that the run itself took before, p_t and the predictors are within the bound of the exact ones;
    and the derivative is ℓ' at its own p_t. Ties are no exception to this, and no error is handed on by the derivatives.
    """
    problem = case.problem()
    for algorithm in algorithms:
        options, p, g = case.options(algorithm), [], []
        running = state(problem, algorithm, **options)
        try:
            for i in case.indices:
                running.run([i])
                p, g = [*p, running.p], [*g, running.g]
            last, mean = running.last(), recover(running)
        except FloatingPointError:
            assert overflows(problem, algorithm, case, g)
        bound = on_rounded(problem, algorithm, prescribed(g), running.pivot, **options)
        exact = in_arithmetic(problem, fraction, prescribed(g, fraction))
        definition = reference.iterates(exact, case.indices, centred=CENTRED[algorithm], t0=case.t0)
        for i, found_p, found_g, step in zip(case.indices, p, g, definition, strict=False):
            bound.run([i])
            assert bound.p == step.p
            assert Rounded(bound.p).allows(found_p)
            slope = Rounded(problem.weight[i]) * derivative(case.loss)(found_p, Rounded(problem.y[i]))
            assert slope.allows(found_g)
        if len(p) == len(case.indices):
            assert same(for_raw_rows(bound.last(), running.pivot), step.predictor)
            assert allows(for_raw_rows(bound.last(), running.pivot), last)
            assert (mean is None) == (recover(bound) is None)
            assert mean is None or allows(for_raw_rows(recover(bound), running.pivot), mean)


def overflows(problem: Problem, algorithm: str, case: Case, slopes) -> bool:
    """Whether the numbers of the step after these derivatives are near the end of float64, far beyond what was put in."""
    exact = in_arithmetic(problem, fraction, prescribed([*slopes, 0], fraction))
    after = case.indices[: len(slopes) + 1]
    *_, step = reference.iterates(exact, after, centred=CENTRED[algorithm], t0=case.t0)
    return max(abs(number) for number in (step.p, step.predictor.b, *step.predictor.w)) > 2**850


@given(case=cases())
def test_every_float_step_is_the_definitions_to_rounding(case):
    holds_step_by_step(case)


class SinglePrecision(State):
    """A state that keeps its bias sum in float32."""

    def run(self, indices):
        super().run(indices)
        self.a = np.float64(np.float32(self.a))
        return self


class LateKink(State):
    """A state that takes the other side for some way beyond the kink."""

    def run(self, indices):
        super().run(indices)
        y, s = self.problem.y[indices[-1]], self.problem.weight[indices[-1]]
        if 1 < self.p * y <= 1.125:
            self.g = -y * s
        return self


class Timid(State):
    """A state that calls large what is not."""

    def run(self, indices):
        super().run(indices)
        if abs(self.p) > 1000:
            raise FloatingPointError
        return self


@pytest.mark.parametrize(
    ("fault", "loss"), [(SinglePrecision, "log"), (SinglePrecision, "squared"), (LateKink, "hinge"), (Timid, "squared")]
)
def test_the_search_finds_a_float_step_that_is_not(fault, loss):
    assert counterexample(cases(losses=(loss,)), lambda case: holds_step_by_step(case, fault))


# ---- float64: both sides are within the bound of the exact run, while the derivative is decided ----


as_printed = partial(sparse_bound, pivoting=False)


def holds_to_rounding(case: Case, train, bound) -> None:
    """The predictor of a float run is within the bound of the exact one, unless a derivative on the way is not decided."""
    for algorithm in AVERAGING:
        try:
            wanted = bound(case.problem(), algorithm, case.indices, derivative(case.loss), **case.options(algorithm))
            found = mean_or_none(train, case, algorithm, float)
        except (Undecided, FloatingPointError):  # that an overflow is none where it need not be is part of `holds_step_by_step`
            continue
        assert (found is None) == (wanted is None)
        assert found is None or allows(wanted, found)


BELOW_THE_GRID = Case(((), ((0, 1024.0),), ((0, 1024.0), (1, 1.0))), 2, (1, -1, -1), "log", 4096.0, (1, 2))
"""The second derivative is exp(−128), which is 0 in exact arithmetic: nearer to it than to 2⁻¹²⁸."""


@example(case=BELOW_THE_GRID)
@given(case=cases())
def test_floats_are_within_rounding_of_the_exact_run(case):
    holds_to_rounding(case, shipped, sparse_bound)
    holds_to_rounding(case, dense, dense_bound)
    holds_to_rounding(case.plain.tidy, twin(None), as_printed)


def in_single_precision(train):
    def rounded(case, algorithm, number):
        predictor = train(case, algorithm, number)
        return Predictor(predictor.w.astype(np.float32).astype(float), predictor.b)

    return rounded


@pytest.mark.parametrize(
    ("train", "bound"),
    [(in_single_precision(dense), dense_bound), (twin("single precision"), as_printed)],
    ids=["dense", "twin"],
)
def test_the_search_finds_single_precision(train, bound):
    assert counterexample(cases(("generic",)), lambda case: holds_to_rounding(case.plain.tidy, train, bound))


# ---- float64 at the kinks: rounding may choose the side, and only there ----


def holds_at_kinks(case: Case) -> bool:
    """Where the derivatives of two runs first differ, both margins are within the sum of their bounds of the kink.

    The runs are the exact one, the dense and the sparse one in float64. Returns whether any of them differ.
    """
    problem, differ = case.problem(), False
    exactly = in_arithmetic(problem, fraction, LOSSES[case.loss].derivative)
    for algorithm in AVERAGING:
        options = {"centred": CENTRED[algorithm], "t0": case.t0}
        state = State(problem, algorithm, **case.options(algorithm))
        p = {
            "exact": [(step.p, step.g) for step in reference.iterates(exactly, case.indices, **options)],
            "dense": [(step.p, step.g) for step in reference.iterates(problem, case.indices, **options)],
            "sparse": [(state.run([i]).p, state.g) for i in case.indices],
        }
        slopes = {side: [g for _, g in run] for side, run in p.items()}
        dense = in_arithmetic(problem, Rounded, prescribed(slopes["dense"]))
        sparse = on_rounded(problem, algorithm, prescribed(slopes["sparse"]), state.pivot, t0=case.t0)
        bound = {
            "exact": [0] * len(case.indices),
            "dense": [Rounded(step.p).bound for step in reference.iterates(dense, case.indices, **options)],
            "sparse": [Rounded(sparse.run([i]).p).bound for i in case.indices],
        }
        for one, other in combinations(p, 2):
            differing = [t for t in range(len(case.indices)) if slopes[one][t] != slopes[other][t]]
            for t in differing[:1]:
                differ = True
                for side in (one, other):
                    margin = KINK_DISTANCE[case.loss](fraction(p[side][t][0]), exactly.y[case.indices[t]])
                    assert margin <= fraction(bound[one][t]) + fraction(bound[other][t])
    return differ


TIES = cases(("ties",), losses=tuple(KINK_DISTANCE))


@given(case=TIES)
def test_derivatives_differ_only_where_the_margin_is_within_rounding_of_the_kink(case):
    holds_at_kinks(case)


def test_the_search_finds_derivatives_that_differ():
    def agree(case):
        assert not holds_at_kinks(case)

    assert counterexample(TIES, agree)


def test_the_search_finds_a_margin_that_is_only_near(monkeypatch):
    for loss, distance in list(KINK_DISTANCE.items()):
        monkeypatch.setitem(KINK_DISTANCE, loss, lambda p, y, distance=distance: distance(p, y) + Fraction(1, 10**9))
    assert counterexample(TIES, holds_at_kinks)


# ---- exact arithmetic: what must not change, or must change in a known way ----


def permuting_columns(case: Case, train) -> None:
    order = Random(case.n).sample(range(case.n), case.n)
    moved = replace(case, rows=tuple(tuple((order[j], value) for j, value in row) for row in case.rows))
    for algorithm in AVERAGING:
        before, after = train(case, algorithm), train(moved, algorithm)
        assert same(before, Predictor(after.w[order], after.b))


def permuting_rows(case: Case, train) -> None:
    order = Random(case.m).sample(range(case.m), case.m)  # row i of the new ones was row order[i]
    moved = replace(
        case,
        rows=tuple(case.rows[i] for i in order),
        y=tuple(case.y[i] for i in order),
        weight=case.weight and tuple(case.weight[i] for i in order),
        indices=tuple(order.index(i) for i in case.indices),
    )
    for algorithm in AVERAGING:
        assert same(train(case, algorithm), train(moved, algorithm))


def appending_columns_of_zeros(case: Case, train) -> None:
    wider = replace(case, n=case.n + 3)
    for algorithm in AVERAGING:
        before, after = train(case, algorithm), train(wider, algorithm)
        assert not after.w[case.n :].any()
        assert same(before, Predictor(after.w[: case.n], after.b))


def translating(case: Case, train) -> None:
    """Of the centred algorithms only."""
    c = np.array([Fraction(7 * (-1) ** j, j + 2) for j in range(case.n)], dtype=object)
    rows = tuple(tuple(enumerate(row + c)) for row in case.dense(fraction))
    moved = replace(case, rows=rows, container="dense", dtype="object")
    for algorithm in ("csgd", "casgd"):
        before, after = train(case, algorithm), train(moved, algorithm)
        assert same(after, Predictor(before.w, before.b - before.w @ c))


def centring_explicitly(case: Case, train) -> None:
    xbar = case.problem(fraction).xbar
    rows = tuple(tuple(enumerate(row - xbar)) for row in case.dense(fraction))
    moved = replace(case, rows=rows, container="dense", dtype="object")
    for centred, plain in (("csgd", "sgd"), ("casgd", "asgd")):
        assert same(train(case, centred), Predictor((after := train(moved, plain)).w, after.b, xbar).implicit())


def negating_labels(case: Case, train) -> None:
    """Unless a prediction equals its label: Table 1 breaks that tie of the absolute loss to one side."""
    negated = replace(case, y=tuple(-y for y in case.y))
    for algorithm in AVERAGING:
        problem = case.problem(fraction)
        run = reference.iterates(problem, case.indices, centred=CENTRED[algorithm], t0=case.t0)
        if case.loss != "absolute" or all(step.p != problem.y[i] for step, i in zip(run, case.indices, strict=True)):
            before, after = train(case, algorithm), train(negated, algorithm)
            assert same(after, Predictor(-before.w, -before.b))


def scaling_labels(case: Case, train) -> None:
    """Of the squared loss, and of the absolute loss with λ the other way."""
    if case.loss in ("squared", "absolute"):
        scaled = replace(case, y=tuple(3 * fraction(y) for y in case.y))
        if case.loss == "absolute":
            scaled = replace(scaled, lam=fraction(case.lam) / 3)
        for algorithm in AVERAGING:
            before, after = train(case, algorithm), train(scaled, algorithm)
            assert same(after, Predictor(3 * before.w, 3 * before.b))


def doubling_the_objective(case: Case, train) -> None:
    """Twice the loss and twice λ."""
    loss = LOSSES[case.loss].exact or LOSSES[case.loss]
    twice = Loss("twice", loss.value, lambda p, y: 2 * loss.derivative(p, y))
    doubled = replace(case, loss=twice, lam=2 * fraction(case.lam))
    for algorithm in AVERAGING:
        assert same(train(case, algorithm), train(doubled, algorithm))


MOVES = {  # what it must reject
    permuting_columns: ("weights in reverse",),
    permuting_rows: ("indices off by one", "cyclic order"),
    appending_columns_of_zeros: ("weights in reverse",),
    translating: ("explicit bias", "z not updated", "mean of stored entries", "stored entries centred"),
    centring_explicitly: ("prediction not centred", "s without its first term", "mean of the draws"),
    negating_labels: ("bias too large",),
    scaling_labels: ("bias too large",),
    doubling_the_objective: ("bias too large if λ is",),
}


@pytest.mark.parametrize("move", MOVES, ids=lambda move: move.__name__)
@settings(max_examples=settings().max_examples // 4)
@given(case=ANY)
def test_in_exact_arithmetic_nothing_else_changes(move, case):
    if mean_or_none(shipped, case, "asgd") is not None:
        move(case, shipped)


def broken(fault):
    """A twin with a known fault, or the shipped algorithms with one planted here."""

    def train(case: Case, algorithm: str) -> Predictor:
        if fault in FAULTS:
            return twin(fault)(case, algorithm)
        w, b = (right := shipped(case, algorithm)).w, right.b
        return {
            "weights in reverse": Predictor(w[::-1], b),
            "bias too large": Predictor(w, b + 1),
            "bias too large if λ is": Predictor(w, b + (case.lam > 1)),
        }[fault]

    return train


@pytest.mark.parametrize(("move", "fault"), [(move, fault) for move, faults in MOVES.items() for fault in faults])
def test_the_search_finds_what_should_not_have_changed(move, fault):
    assert counterexample(ANY, lambda case: move(case.plain, broken(fault)))


@given(case=ANY)
def test_the_mean_of_the_last_iterate_alone_is_the_last_iterate(case):
    problem = case.problem(fraction)
    weights = suffix(len(case.indices) - 1)
    for mean, last in (("asgd", "sgd"), ("casgd", "csgd")):
        found = getattr(efficient, mean)(problem, case.indices, t0=case.t0, weights=weights)
        assert same(found, getattr(efficient, last)(problem, case.indices, t0=case.t0))


# ---- float64: what must not change a bit ----


def parts(state: State) -> dict:
    """The numbers of a state, with the signs of zeros taken off."""
    names = ("t", "p", "g", *state._parts.vectors, *state._parts.scalars)
    return {name: np.copy(getattr(state, name)) + 0 for name in names}


def same_bits(one: dict, other: dict, width: int | None = None) -> bool:
    return all((value[:width] if value.ndim else value).tobytes() == other[name].tobytes() for name, value in one.items())


def run(case: Case, algorithm: str, state=State) -> State | None:
    """The state after all steps; None if it overflows."""
    try:
        return state(case.problem(), algorithm, **case.options(algorithm)).run(case.indices)
    except FloatingPointError:
        return None


def zeros_change_no_bit(case: Case, state=State) -> None:
    wider = replace(case, n=case.n + 3)
    for algorithm in AVERAGING:
        before, after = run(case, algorithm, state), run(wider, algorithm, state)
        assert (before is None) == (after is None)
        assert before is None or same_bits(parts(after), parts(before), case.n)


def powers_of_two_change_no_bit(case: Case, state=State) -> None:
    """Twice the weights of the examples and twice λ: the gradient sums double, the predictors stay."""
    doubled = replace(case, weight=tuple(2 * s for s in case.weight or [1] * case.m), lam=2 * case.lam)
    for algorithm in AVERAGING:
        before, after = run(case, algorithm, state), run(doubled, algorithm, state)
        assert (before is None) == (after is None)
        if before is not None:
            assert before.p == after.p and 2 * before.g == after.g
            assert same(before.last(), after.last())
            assert same(recover(before), recover(after))


def signs_change_no_bit(case: Case, state=State) -> None:
    """Labels the other way round turn the predictor round; not of the absolute loss, which breaks ties to one side."""
    negated = replace(case, y=tuple(-y for y in case.y))
    for algorithm in AVERAGING if case.loss != "absolute" else ():
        before, after = run(case, algorithm, state), run(negated, algorithm, state)
        assert (before is None) == (after is None)
        if before is not None:
            assert before.p == -after.p and before.g == -after.g
            assert same(before.last(), Predictor(-after.last().w, -after.last().b))


BITS = (zeros_change_no_bit, powers_of_two_change_no_bit, signs_change_no_bit)


@pytest.mark.parametrize("move", BITS, ids=lambda move: move.__name__)
@given(case=cases())
def test_in_float64_not_a_bit_changes(move, case):
    # a weight given and none are different loops to compile
    if NIGHTLY or case.weight or move is not powers_of_two_change_no_bit:
        move(case)


class Careless(State):
    """A state that adds something tiny to its bias: absolute, and the more of it the more columns there are."""

    def run(self, indices):
        super().run(indices)
        self.a = self.a + 1e-15 * self.problem.n
        return self


@pytest.mark.parametrize("move", BITS, ids=lambda move: move.__name__)
def test_the_search_finds_a_bit_that_changed(move):
    strategy = cases(losses=("hinge", "absolute")) if move is powers_of_two_change_no_bit else cases()
    assert counterexample(strategy, lambda case: move(case, Careless))


# ---- any float64 at all: an overflow is a FloatingPointError, and what is returned is finite ----


def holds_that_results_are_finite(case: Case, train) -> None:
    for algorithm in AVERAGING:
        try:
            found = mean_or_none(train, case, algorithm, float)
        except FloatingPointError:
            continue
        assert found is None or (np.isfinite(found.w).all() and np.isfinite(found.b))


@given(case=cases(("extreme", "scaled")))
def test_an_overflow_is_an_error_and_nothing_infinite_is_returned(case):
    holds_that_results_are_finite(case.tidy, shipped)  # an entry that overflows as it is added up is refused
    holds_that_results_are_finite(case.tidy, dense)


DENSE_WARNS = pytest.mark.xfail(
    raises=RuntimeWarning, strict=True, reason="weights of examples are multiplied and added up outside errstate"
)


@pytest.mark.parametrize(
    ("train", "x", "weight"),
    [
        (shipped, 1.0, (1e308, 1e308)),
        pytest.param(dense, 1.0, (1e308, 1e308), marks=DENSE_WARNS),
        pytest.param(dense, 1e308, (2.0, 0.0), marks=DENSE_WARNS),
    ],
)
def test_neither_if_the_weights_of_examples_are_large(train, x, weight):
    holds_that_results_are_finite(
        Case(rows=(((0, x),), ()), n=1, y=(1, 1), loss="hinge", lam=1.0, indices=(0,), weight=weight), train
    )


@given(case=cases(("extreme",)))
def test_what_is_returned_is_right_however_large_the_numbers_are(case):
    if case.lam * (case.t0 + 1000) < np.inf:  # where λ(t + t0) overflows, 0 is returned
        holds_to_rounding(case.tidy, shipped, sparse_bound)
        holds_to_rounding(case.tidy, dense, dense_bound)


def test_the_search_finds_an_overflow_that_is_returned():
    def unchecked(case, algorithm, number):
        with np.errstate(all="ignore"):
            return twin(None)(case, algorithm, number)

    assert counterexample(cases(("extreme",)), lambda case: holds_that_results_are_finite(case.plain, unchecked))


# ---- the caller's arrays ----


def holds_that_arrays_stay(case: Case, use) -> None:
    """Whatever is handed over is, byte for byte and type for type, what it was before."""
    X, y, indices = case.X, np.array(case.y), np.array(case.indices)
    weight = case.weight and np.array(case.weight)
    kept = [getattr(X, name) for name in ("data", "indices", "indptr", "row", "col") if sp.issparse(X) and hasattr(X, name)]
    arrays = [*kept, y, indices, *([] if weight is None else [weight]), *([] if sp.issparse(X) else [X])]
    before = [(array.dtype, array.tolist()) for array in arrays]
    use(case, X, y, weight, indices)
    assert [(array.dtype, array.tolist()) for array in arrays] == before


def everything(case: Case, X, y, weight, indices) -> None:
    """Train, predict and evaluate with both sides, in floats."""
    problem = Problem(X, y, case.loss, float(case.lam), weight)
    for side in (reference, efficient):
        for algorithm in AVERAGING:
            try:
                predictor = getattr(side, algorithm)(problem, indices, **case.options(algorithm))
            except (ValueError, FloatingPointError):
                continue
            predictor.predict(X)
            problem.objective(predictor, CENTRED[algorithm])
    reference.safe_t0(problem, centred=True)


@given(case=cases(("generic", "ties")))
def test_the_callers_arrays_never_change(case):
    holds_that_arrays_stay(case, everything)


def in_place(case: Case, X, y, weight, indices) -> None:
    if sp.issparse(X) and X.format != "coo":
        X.sort_indices()


def test_the_search_finds_rows_sorted_in_place():
    assert counterexample(cases(("ties",), compiled=False), lambda case: holds_that_arrays_stay(case, in_place))


# ---- however the rows are stored, they are the same rows ----


def holds_that_rows_are_canonical(case: Case, rows=lambda case, number: case.problem(number).X) -> None:
    """Sorted columns, none twice, and the numbers that were stored: exactly, or rounded as they are added up."""
    exact, rounded = rows(case, fraction), rows(case, float)
    sums = case.dense(Rounded)
    for i in range(case.m):
        assert list(exact.dense(i)) == list(case.dense(fraction)[i])
        assert all(wanted.allows(found) for wanted, found in zip(sums[i], rounded.dense(i), strict=True))
        for each in (exact, rounded):
            columns = each.indices[each.indptr[i] : each.indptr[i + 1]]
            assert (np.diff(columns.astype(np.int64)) > 0).all()


@given(case=cases(("generic", "ties", "scaled"), compiled=False))
def test_rows_are_the_same_however_they_are_stored(case):
    holds_that_rows_are_canonical(case)


def test_the_search_finds_entries_that_are_lost():
    def last_entry_only(case, number):
        return case.tidy.problem(number).X

    assert counterexample(cases(("ties",), compiled=False), lambda case: holds_that_rows_are_canonical(case, last_entry_only))
