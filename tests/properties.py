"""Properties of the algorithms, each a function of a drawn case and of what is to have it, which raises AssertionError.

So a property can be required of the shipped algorithms, and be shown to reject known faults: see `tests/meta`.
"""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from random import Random

import numpy as np
import scipy.sparse as sp

import efficient
import reference
from efficient import State
from efficient.runs.algorithms import ALGORITHMS
from proofs.compared.iterates import compare
from proofs.compared.judge import UNIT, Verdict, judge
from reference import LOSSES, Loss, Predictor, Problem
from reference.arithmetic import fraction
from tests.helpers import AVERAGES, CENTRED, UNCENTRED, same
from tests.strategies import Case, cases

ANY = cases(("generic", "ties", "scaled", "fractions"), compiled=False)
"""For exact arithmetic: any numbers, stored in any way."""


def trained_by(side, case: Case, algorithm: str, number=fraction) -> Predictor:
    return getattr(side, algorithm)(case.problem(number), case.indices, **case.options(algorithm))


shipped = partial(trained_by, efficient)
dense = partial(trained_by, reference)


def mean_or_none(train, case: Case, algorithm: str, number=fraction) -> Predictor | None:
    """Predictor, or None where all averaging weights are 0 up to the last step, which both sides refuse."""
    try:
        return train(case, algorithm, number)
    except ValueError as error:
        if "weights must not all be 0" in str(error):
            return None
        raise


# ---- the two sides are equal in exact arithmetic ----


def steps_are_equal(case: Case, state=State) -> None:
    """Every p, every g, and after every step the last iterate and the mean, of all algorithms."""
    weights = AVERAGES[case.averaging_weights] if case.averaging_weights else None
    traces = compare(case.problem(fraction), case.indices, t0=case.t0, averaging_weights=weights, state=state)
    assert all(len(trace.equal) == len(case.indices) and trace.equal.all() for trace in traces.values())


def predictors_are_equal(case: Case, train) -> None:
    """Results of the functions, of all algorithms."""
    for algorithm in ALGORITHMS:
        assert same(mean_or_none(train, case, algorithm), mean_or_none(dense, case, algorithm))


# ---- float64: the judge finds nothing ----


def recover(state: State) -> Predictor | None:
    """Mean that a state keeps, or its last iterate if it keeps none; None if the averaging weights are all 0."""
    if not ALGORITHMS[state.algorithm].averaging:
        return state.last()
    return state.average() if state.total != 0 else None


def judged(case: Case, state=State, algorithms=tuple(ALGORITHMS)) -> dict[str, Verdict]:
    """Verdicts on both sides of a case."""
    weights = AVERAGES[case.averaging_weights] if case.averaging_weights else None
    with np.errstate(over="ignore", invalid="ignore"):
        return judge(case.problem(), case.indices, algorithms, t0=case.t0, averaging_weights=weights, state=state)


def steps_are_within_rounding(case: Case, state=State, algorithms=tuple(ALGORITHMS)) -> None:
    """Both sides are within rounding of the exact result of the derivatives that they took, and these are ℓ' there.

    Ties are no exception to this, and derivatives hand on no error.
    """
    for name, verdict in judged(case, state, algorithms).items():
        assert verdict.holds, (name, str(verdict))


def sides_part_at_kinks(case: Case, off=0) -> bool:
    """Where a float64 run first takes another derivative than the exact one, the margin is within rounding of the kink.

    Returns whether any does. `off` is added to the distances from the kink, to see that this is found.
    """
    differ = False
    for verdict in judged(case).values():
        for side, (step, margin) in verdict.parted.items():
            bounds = verdict.shrinking if side == "the definition" else verdict.rounding
            assert margin + off <= bounds.p[step - 1]
            differ = True
    return differ


# ---- exact arithmetic: invariances ----


def permuting_columns(case: Case, train) -> None:
    order = Random(case.n).sample(range(case.n), case.n)
    moved = replace(case, rows=tuple(tuple((order[j], value) for j, value in row) for row in case.rows))
    for algorithm in ALGORITHMS:
        before, after = train(case, algorithm), train(moved, algorithm)
        assert same(before, Predictor(after.w[order], after.b))


def permuting_rows(case: Case, train) -> None:
    order = Random(case.m).sample(range(case.m), case.m)  # row i of the new ones was row order[i]
    moved = replace(
        case,
        rows=tuple(case.rows[i] for i in order),
        y=tuple(case.y[i] for i in order),
        sample_weight=case.sample_weight and tuple(case.sample_weight[i] for i in order),
        indices=tuple(order.index(i) for i in case.indices),
    )
    for algorithm in ALGORITHMS:
        assert same(train(case, algorithm), train(moved, algorithm))


def appending_columns_of_zeros(case: Case, train) -> None:
    wider = replace(case, n=case.n + 3)
    for algorithm in ALGORITHMS:
        before, after = train(case, algorithm), train(wider, algorithm)
        assert not after.w[case.n :].any()
        assert same(before, Predictor(after.w[: case.n], after.b))


def _with_rows(case: Case, rows) -> Case:
    return replace(case, rows=tuple(tuple(enumerate(row)) for row in rows), container="dense", dtype="object")


def translating(case: Case, train) -> None:
    """Of the centred algorithms only."""
    c = np.array([Fraction(7 * (-1) ** j, j + 2) for j in range(case.n)], dtype=object)
    moved = _with_rows(case, case.dense(fraction) + c)
    for algorithm in CENTRED:
        before, after = train(case, algorithm), train(moved, algorithm)
        assert same(after, Predictor(before.w, before.b - before.w @ c))


def centring_explicitly(case: Case, train) -> None:
    xbar = case.problem(fraction).xbar
    moved = _with_rows(case, case.dense(fraction) - xbar)
    for centred, plain in zip(CENTRED, UNCENTRED, strict=True):
        assert same(train(case, centred), Predictor((after := train(moved, plain)).w, after.b, xbar).implicit())


def mirrored(loss: Loss, p, y) -> bool:
    """Tell if ℓ'(−p, −y) = −ℓ'(p, y); false of the absolute loss at p = y, whose tie Table 1 breaks to one side."""
    return loss.derivative(-p, -y) == -loss.derivative(p, y)


def _run_of(case: Case, algorithm: str):
    """(exact loss, [(p_t, y_t)]) of the definition's run."""
    problem = case.problem(fraction)
    steps = reference.iterates(problem, case.indices, centred=ALGORITHMS[algorithm].centred, t0=case.t0)
    return problem.loss, [(step.p, problem.y[i]) for step, i in zip(steps, case.indices, strict=True)]


def negating_labels(case: Case, train) -> None:
    """Unless the loss is not mirrored at a prediction of the run."""
    negated = replace(case, y=tuple(-y for y in case.y))
    for algorithm in ALGORITHMS:
        loss, run = _run_of(case, algorithm)
        if all(mirrored(loss, p, y) for p, y in run):
            before, after = train(case, algorithm), train(negated, algorithm)
            assert same(after, Predictor(-before.w, -before.b))


def scaling_labels(case: Case, train) -> None:
    """Of losses whose ℓ' grows as p and y do, and of those whose ℓ' does not, with λ the other way."""
    scaled = replace(case, y=tuple(3 * fraction(y) for y in case.y))
    for algorithm in () if LOSSES[case.loss].binary else ALGORITHMS:
        loss, run = _run_of(case, algorithm)
        for factor in (1, 3):
            if all(loss.derivative(3 * p, 3 * y) == factor * loss.derivative(p, y) for p, y in run):
                before = train(case, algorithm)
                after = train(replace(scaled, lam=fraction(case.lam) * factor / 3), algorithm)
                assert same(after, Predictor(3 * before.w, 3 * before.b))


def doubling_the_objective(case: Case, train) -> None:
    """Twice the loss and twice λ."""
    loss = LOSSES[case.loss].exact or LOSSES[case.loss]
    twice = Loss("twice", loss.value, lambda p, y: 2 * loss.derivative(p, y))
    doubled = replace(case, loss=twice, lam=2 * fraction(case.lam))
    for algorithm in ALGORITHMS:
        assert same(train(case, algorithm), train(doubled, algorithm))


INVARIANCES = {  # what it must reject
    permuting_columns: ("weights in reverse",),
    permuting_rows: ("indices off by one", "cyclic order"),
    appending_columns_of_zeros: ("weights in reverse",),
    translating: ("explicit bias", "z not updated", "mean of stored entries", "stored entries centred"),
    centring_explicitly: ("prediction not centred", "s without its first term", "mean of the draws"),
    negating_labels: ("bias too large",),
    scaling_labels: ("bias too large",),
    doubling_the_objective: ("bias too large if λ is",),
}


# ---- float64: invariances to the bit ----


def parts(state: State) -> dict:
    """Numbers of a state, with the signs of zeros taken off."""
    kept = ALGORITHMS[state.algorithm]
    return {name: np.copy(getattr(state, name)) + 0 for name in ("t", "p", "g", *kept.vectors, *kept.scalars)}


def same_bits(one: dict, other: dict, width: int | None = None) -> bool:
    return all((value[:width] if value.ndim else value).tobytes() == other[name].tobytes() for name, value in one.items())


def run(case: Case, algorithm: str, state=State) -> State | None:
    """State after all steps; None if it overflows."""
    try:
        return state(case.problem(), algorithm, **case.options(algorithm)).run(case.indices)
    except FloatingPointError:
        return None


def runs(case: Case, moved: Case, state):
    """Pairs of states before and after a move, where neither overflows; both must, or none."""
    for algorithm in ALGORITHMS:
        before, after = run(case, algorithm, state), run(moved, algorithm, state)
        assert (before is None) == (after is None)
        if before is not None:
            yield before, after


def zeros_change_no_bit(case: Case, state=State) -> None:
    for before, after in runs(case, replace(case, n=case.n + 3), state):
        assert same_bits(parts(after), parts(before), case.n)


def powers_of_two_change_no_bit(case: Case, state=State) -> None:
    """Twice the weights of the examples and twice λ: the gradient sums double, the predictors stay."""
    doubled = replace(case, sample_weight=tuple(2 * s for s in case.sample_weight or [1] * case.m), lam=2 * case.lam)
    for before, after in runs(case, doubled, state):
        assert before.p == after.p and 2 * before.g == after.g
        assert same(before.last(), after.last())
        assert same(recover(before), recover(after))


def signs_change_no_bit(case: Case, state=State) -> None:
    """Negated labels negate the predictor, if the loss is mirrored where a tie can be."""
    loss = LOSSES[case.loss]
    if mirrored(loss, loss.kink(1) if loss.kink else 1, 1):
        for before, after in runs(case, replace(case, y=tuple(-y for y in case.y)), state):
            assert before.p == -after.p and before.g == -after.g
            assert same(before.last(), Predictor(-after.last().w, -after.last().b))


BITS = (zeros_change_no_bit, powers_of_two_change_no_bit, signs_change_no_bit)


# ---- any float64 at all, and however the rows are stored ----


def results_are_finite(case: Case, train) -> None:
    for algorithm in ALGORITHMS:
        try:
            found = mean_or_none(train, case, algorithm, float)
        except FloatingPointError:
            continue
        assert found is None or (np.isfinite(found.w).all() and np.isfinite(found.b))


def arrays_stay(case: Case, use) -> None:
    """Arrays of the caller are, byte for byte and type for type, what they were before."""
    X, y, indices = case.X, np.array(case.y), np.array(case.indices)
    weight = case.sample_weight and np.array(case.sample_weight)
    kept = [getattr(X, name) for name in ("data", "indices", "indptr", "row", "col") if sp.issparse(X) and hasattr(X, name)]
    arrays = [*kept, y, indices, *([] if weight is None else [weight]), *([] if sp.issparse(X) else [X])]
    before = [(array.dtype, array.tolist()) for array in arrays]
    use(case, X, y, weight, indices)
    assert [(array.dtype, array.tolist()) for array in arrays] == before


def everything(case: Case, X, y, weight, indices) -> None:
    """Train, predict and evaluate with both sides, in floats."""
    problem = Problem(X, y, case.loss, float(case.lam), weight)
    for side in (reference, efficient):
        for algorithm in ALGORITHMS:
            try:
                predictor = getattr(side, algorithm)(problem, indices, **case.options(algorithm))
            except (ValueError, FloatingPointError):
                continue
            predictor.predict(X)
            problem.objective(predictor, ALGORITHMS[algorithm].centred)
    reference.safe_t0(problem, centred=True)


def rows_are_canonical(case: Case, rows=lambda case, number: case.problem(number).X) -> None:
    """Sorted columns, none twice, and the numbers that were stored: exactly, or rounded as they are added up."""
    exact, rounded = rows(case, fraction), rows(case, float)
    sizes = replace(case, rows=tuple(tuple((j, abs(value)) for j, value in row) for row in case.rows)).dense(fraction)
    for i, row in enumerate(case.rows):
        assert list(exact.dense(i)) == list(case.dense(fraction)[i])
        for found, right, size in zip(rounded.dense(i), exact.dense(i), sizes[i], strict=True):
            assert abs(fraction(found) - right) <= len(row) * fraction(UNIT) * size  # a rounding for each that is added
        for each in (exact, rounded):
            columns = each.indices[each.indptr[i] : each.indptr[i + 1]]
            assert (np.diff(columns.astype(np.int64)) > 0).all()
