"""Search orders of all that a State can do: its bits stay those of one run, and within rounding of the definition.

Hypothesis draws the orders: pieces of a run, refused ones in between, looks, files written and read again, copies, other rows.
"""

import copy
import pickle
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import Phase, assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from efficient import State
from efficient.runs.algorithms import ALGORITHMS
from reference import LOSSES
from tests.helpers import AVERAGES, same
from tests.properties import parts, recover, same_bits, steps_are_within_rounding
from tests.strategies import Case, cases

ROWS = cases(("generic", "ties", "scaled")).map(lambda case: case.tidy)


class Orders(RuleBasedStateMachine):
    """State, and what it must be: a run of `indices` on `pool`, all the rows that it was given, the last from `first` on."""

    kind = State
    files = Bundle("files")

    @initialize(case=ROWS, algorithm=st.sampled_from([*ALGORITHMS]))
    def begin(self, case: Case, algorithm: str):
        self.folder = tempfile.TemporaryDirectory()
        self.algorithm, self.case, self.pool, self.first, self.indices = algorithm, case, case, 0, ()
        self.state = self.kind(case.problem(), algorithm, **case.options(algorithm))
        self.overflowed = False
        self.kept: list[tuple[State, dict]] = []

    def one_run(self) -> State | None:
        """None if it overflows."""
        state = State(self.pool.problem(), self.algorithm, **self.case.options(self.algorithm))
        try:
            return state.run(self.indices) if self.indices else state
        except FloatingPointError:
            return None

    def refuses(self, error, message, use) -> None:
        """Assert that the call is refused, and changes nothing."""
        before = parts(self.state)
        with pytest.raises(error, match=message):
            use()
        assert same_bits(before, parts(self.state))

    @rule(drawn=st.lists(st.integers(0, 5), min_size=1, max_size=6), dtype=st.sampled_from(["int64", "uint8", "int32"]))
    def run(self, drawn, dtype):
        drawn = [i % self.case.m for i in drawn]
        if self.overflowed:
            return self.refuses(FloatingPointError, "overflowed", lambda: self.state.run(drawn))
        self.indices += tuple(self.first + i for i in drawn)
        self.overflowed = self.one_run() is None
        try:
            assert self.state.run(np.array(drawn, dtype=dtype)) is self.state
            assert not self.overflowed
        except FloatingPointError:
            assert self.overflowed

    @rule(wrong=st.sampled_from([[], [6], [0, 6], [0, -1], [0.0], [[0]], ["0"], [True], None]))
    def run_what_is_refused(self, wrong):
        self.refuses((TypeError, ValueError), "indices must", lambda: self.state.run(wrong))

    @invariant()
    def the_bits_of_one_run(self):
        if not self.overflowed:
            wanted = self.one_run()
            assert self.state.t == len(self.indices)
            assert same_bits(parts(wanted), parts(self.state))

    @rule()
    def look(self):
        looks = [self.state.last, lambda: recover(self.state)]
        if self.overflowed:
            for look in looks:
                self.refuses(FloatingPointError, "overflowed", look)
        elif not self.indices:
            self.refuses(ValueError, "no step was taken yet", self.state.last)
        else:
            wanted, before = self.one_run(), parts(self.state)
            try:
                assert same(self.state.last(), wanted.last())
                assert same(recover(self.state), recover(wanted))
            except FloatingPointError:  # the next step would have been refused
                pass
            assert same_bits(before, parts(self.state))

    @precondition(lambda self: self.indices and not self.overflowed)
    @rule()
    def compare_with_the_definition(self):
        steps_are_within_rounding(replace(self.pool, indices=self.indices), self.kind, (self.algorithm,))

    @precondition(lambda self: not self.overflowed)
    @rule(target=files)
    def save(self):
        path = Path(self.folder.name) / f"{len(list(Path(self.folder.name).iterdir()))}.npz"
        self.state.save(path)
        return path, self.case, self.pool, self.first, self.indices

    @rule(file=files)
    def load(self, file):
        path, self.case, self.pool, self.first, self.indices = file
        weights = self.case.options(self.algorithm).get("averaging_weights")
        self.state, self.overflowed = self.kind.load(path, self.case.problem(), weights), False
        other = replace(self.case, lam=2 * self.case.lam).problem()
        self.refuses(ValueError, "another problem", lambda: self.kind.load(path, other, weights))
        if ALGORITHMS[self.algorithm].averaging:
            given_or_not = None if weights else AVERAGES["odd steps"]
            self.refuses(
                ValueError, "weights must be given just if", lambda: self.kind.load(path, self.case.problem(), given_or_not)
            )

    @rule(twin=st.sampled_from([copy.deepcopy, lambda state: pickle.loads(pickle.dumps(state))]))
    def go_on_with_a_copy(self, twin):
        self.kept.append((self.state, parts(self.state)))
        self.state = twin(self.state)

    @rule(other=ROWS)
    def follow(self, other: Case):
        assume(self.case.dtype == other.dtype or np.dtype(self.case.dtype).kind in "fO")  # or the rows may not fit
        y = tuple(1 if label > 0 else -1 for label in other.y) if LOSSES[self.case.loss].binary else other.y
        weight = None if self.case.sample_weight is None else other.sample_weight or (2,) * other.m
        other = replace(self.case, rows=other.rows, n=other.n, y=y, sample_weight=weight)
        if ALGORITHMS[self.algorithm].centred:
            return self.refuses(ValueError, "must have a centre to follow", lambda: self.state.follow(other.problem()))
        another = replace(other, lam=2 * other.lam).problem()
        self.refuses(ValueError, "must have the same loss and lam", lambda: self.state.follow(another))
        assert self.state.follow(other.problem()) is self.state
        self.case, self.first = other, self.pool.m
        self.pool = replace(
            self.pool,
            rows=self.pool.rows + other.rows,
            n=max(self.pool.n, other.n),
            y=self.pool.y + y,
            sample_weight=self.pool.sample_weight and self.pool.sample_weight + other.sample_weight,
        )

    def teardown(self):
        if hasattr(self, "folder"):
            self.folder.cleanup()
            for state, before in self.kept:  # what was copied is not moved by the copy
                assert same_bits(before, parts(state))


def test_state_in_any_order_is_the_bits_of_one_run():
    run_state_machine_as_test(Orders, settings=settings(max_examples=25, stateful_step_count=15))


@pytest.mark.nightly
def test_state_in_many_more_orders_is_the_bits_of_one_run():
    run_state_machine_as_test(Orders)


class ForgetsH(State):
    @classmethod
    def load(cls, path, problem, weights=None):
        state = super().load(path, problem, weights)
        state.h = 0 * state.p
        return state


class RestartsT(State):
    def run(self, indices):
        if self.t > 0:
            super().run(indices)
            self.t = len(indices)
            return self
        return super().run(indices)


class MovesWhenLookedAt(State):
    def last(self):
        predictor = super().last()
        self.v[:] *= 1 + 2.0**-52
        return predictor


class RunsUpToTheFault(State):
    def run(self, indices):
        try:
            return super().run(indices)
        except ValueError:
            super().run(indices[:1])
            raise


class CopiesByReference(State):
    def __deepcopy__(self, memo):
        twin = type(self).__new__(type(self))
        twin.__setstate__(self.__getstate__())
        return twin


class ForgetsNarrowRows(State):
    def follow(self, problem):
        self.v[problem.n :] = 0
        return super().follow(problem)


@pytest.mark.parametrize(
    "mutant",
    [
        pytest.param(ForgetsH, marks=pytest.mark.nightly),  # rare: found after some hundred runs
        RestartsT,
        MovesWhenLookedAt,
        RunsUpToTheFault,
        CopiesByReference,
        ForgetsNarrowRows,
    ],
)
def test_the_search_finds_a_mutant(mutant):
    broken = type(mutant.__name__, (Orders,), {"kind": mutant})
    search = settings(max_examples=1000, phases=[Phase.generate], database=None, derandomize=True)
    with pytest.raises(AssertionError):
        run_state_machine_as_test(broken, settings=search)
