"""Who is timed: our loops and calls, the floor, what one would write without knowing better, and scikit-learn."""

from collections.abc import Callable, Iterator
from functools import cache, cached_property, partial

import numba
import numpy as np

import efficient
import reference
from efficient import State, States
from efficient.kernels.compiled import compiled_derivative, compiled_loop, unsigned
from efficient.runs.algorithms import ALGORITHMS
from reference import Predictor, Problem, draw_indices

from .. import peer
from . import watch
from .floors import numpy_asgd, plain_asgd, visit_all_twice, visit_twice
from .measure import Contestant, NotAvailable, Run, clock, difference, largest_difference, now
from .sets import matrix

K = 20
"""How many models are trained on one pass."""

LAMBDAS = np.geomspace(1e-3, 1, K)

MOST_BYTES = 1 << 30
"""What the state of K models may need; above, K models at once are not measured."""

DENSE_BUDGET = 5_000_000
"""How many coordinates a vector of a dense run may have in all its steps; T is cut to fit, but not below 3."""

MOST_COLUMNS = 5_000_000
"""Up to which n three steps of the dense definition are timed; they are always checked."""

AGREEMENT = 1e-9
"""How far two correct float programs may be apart, relative to the largest number in the answer."""

compiled_textbook = numba.njit(plain_asgd)


class Field:
    """A problem, an order of its rows, and the answers that its contestants are checked against."""

    def __init__(self, problem: Problem, order: str):
        self.problem, self.order = problem, order
        self.indices = _every_row_once(problem, order)
        self.few = self.indices[: max(3, min(1000, DENSE_BUDGET // max(1, problem.n)))]
        self._definitions: dict[str, Predictor] = {}

    def extent(self, indices) -> tuple[int, int]:
        """How many steps these are, and how many stored entries they visit."""
        return len(indices), max(1, int(np.diff(self.problem.X.indptr)[indices].sum()))

    def definition(self, algorithm: str) -> Predictor:
        """What the dense definition says after the few first steps."""
        if algorithm not in self._definitions:
            self._definitions[algorithm] = getattr(reference, algorithm)(self.problem, self.few)
        return self._definitions[algorithm]

    @cached_property
    def mean(self) -> Predictor:
        """Our averaged predictor after all steps, which programs that share nothing with it must reproduce."""
        return efficient.asgd(self.problem, self.indices)

    @cached_property
    def rows_with_ones(self):
        return peer.with_ones(matrix(self.problem))


def _every_row_once(problem: Problem, order: str) -> np.ndarray:
    if order == "sequential":
        return draw_indices(problem.m, problem.m, order="cyclic")
    try:
        return watch.shuffled_order(problem.m, problem.loss)
    except NotAvailable:
        return draw_indices(problem.m, problem.m, order="permuted")


def single_models(field: Field) -> Iterator[Contestant]:
    """The floor, our four algorithms in their loops and in whole calls, and the others on Algorithm 2."""
    problem, indices, few = field.problem, field.indices, field.few
    everything, beginning = field.extent(indices), field.extent(few)

    def ours(run: Callable[..., Run], algorithm: str, right: Callable[[], Predictor]) -> Contestant:
        def check(answers):
            first_steps = difference(run(problem, algorithm, few).answers[0], field.definition(algorithm))
            return max(first_steps, difference(answers[0], right()))

        name = f"{algorithm} {run.__name__}"
        return Contestant(name, partial(run, problem, algorithm, indices), *everything, check, AGREEMENT)

    def against(right: Callable[[], Predictor]) -> Callable:
        return lambda answers: difference(answers[0], right())

    yield Contestant("floor", partial(floor, problem, indices), *everything, None)
    for algorithm in ALGORITHMS:
        yield ours(loop, algorithm, partial(getattr(efficient, algorithm), problem, indices))
    for algorithm in ("csgd", "casgd"):
        after = partial(loop, problem, algorithm, indices, projected=True)
        right = partial(getattr(efficient, algorithm), problem, indices)
        yield Contestant(f"{algorithm} loop, q given", after, *everything, against(right))  # to the bit
    for kind, other_rows in (("float32 values", single_precision), ("int64 indices", long_indices)):
        twin = other_rows(problem)
        right = partial(efficient.asgd, in_double_precision(twin), indices)
        yield Contestant(f"asgd loop, {kind}", partial(loop, twin, "asgd", indices), *everything, against(right))  # to the bit
    for algorithm in ALGORITHMS:
        yield ours(call, algorithm, partial(getattr(efficient, algorithm), problem, indices))
    others: list[tuple[str, Callable[[], Run]]] = [
        ("plain numba loop", partial(textbook, compiled_textbook, problem, indices)),
        ("scikit-learn loop", partial(fit, field, problem.y, (problem.lam,))),
        ("scikit-learn fit", partial(fit, field, problem.y, (problem.lam,), alone=False)),
    ]
    for name, run in others:
        yield Contestant(name, run, *everything, against(lambda: field.mean), AGREEMENT)
    for name, run in (
        ("NumPy, row by row", partial(textbook, numpy_asgd, problem, few)),
        ("dense definition", partial(dense, problem, few)),
    ):
        yield Contestant(name, run, *beginning, against(partial(efficient.asgd, problem, few)), AGREEMENT)


def many_models(field: Field) -> Iterator[Contestant]:
    """K models in one pass, in K passes and by scikit-learn, unless their state is out of all proportion."""
    problem, state = field.problem, 16 * K * field.problem.n
    if state > MOST_BYTES:
        why = f"their state would take {state / 1e9:.1f} GB"
        yield Contestant(f"{K} models", partial(_refuse, why), *field.extent(field.indices), None)
        return
    yield Contestant(f"{K} models, floor", partial(floor_of_many, problem, field.indices), *field.extent(field.indices), None)
    yield from _many(field, f"{K} values of λ", [problem.variant(lam=lam) for lam in LAMBDAS], problem.y, LAMBDAS)
    classes = np.random.default_rng(0).permutation(np.arange(problem.m) % K)
    if problem.loss.binary and problem.m >= K:
        problems = [problem.variant(y=np.where(classes == each, 1.0, -1.0)) for each in range(K)]
        yield from _many(field, f"{K} classes", problems, classes, (problem.lam,))


def _many(field: Field, kind: str, problems: list[Problem], labels, lambdas) -> Iterator[Contestant]:
    extent = field.extent(field.indices)

    @cache
    def passes():
        return loops(problems, field.indices).answers

    def check(_):
        first_and_last = [problems[0], problems[-1]]
        definitions = [reference.asgd(problem, field.few) for problem in first_and_last]
        return largest_difference(loops(first_and_last, field.few).answers, definitions)

    def against_passes(answers):
        return largest_difference(answers, passes())

    yield Contestant(f"{kind}, one pass", partial(one_pass, problems, field.indices), *extent, against_passes)  # to the bit
    yield Contestant(f"{kind}, {K} passes", partial(loops, problems, field.indices), *extent, check, AGREEMENT)
    yield Contestant(f"{kind}, scikit-learn", partial(fit, field, labels, lambdas), *extent, against_passes, AGREEMENT)


def _refuse(why: str) -> Run:
    raise NotAvailable(why)


def floor(problem: Problem, indices) -> Run:
    """The two visits of Algorithm 2 without its arithmetic."""
    state = np.zeros((problem.n, 2))
    state[:] = 0  # the memory is there before the clock starts
    began = now()
    compiled_loop(visit_twice)(unsigned(problem.X), indices, state, state[:, 0])
    return Run(now() - began, [], {})


def floor_of_many(problem: Problem, indices) -> Run:
    """The same for K models at once."""
    state, total = States([problem] * K)._room, np.zeros(K)
    state[:] = 0  # as in `floor`
    began = now()
    compiled_loop(visit_all_twice)(unsigned(problem.X), indices, state, total)
    return Run(now() - began, [], {})


def loop(problem: Problem, algorithm: str, indices, projected: bool = False) -> Run:
    """The steps from the second on; what comes before and after, timed apart, is not in its seconds.

    The first step is another one, and before it the centred algorithms compute the projections q of all rows: if that pays,
    or if it is asked for.
    """
    parts: dict[str, float] = {}

    class Watched(State):
        def _project(self, mean, steps):
            super()._project(mean, 2 * self.problem.m if projected else steps)

        @staticmethod
        def find_pivot(*arguments):
            with clock(parts, "pivot"):
                return State.find_pivot(*arguments)

    with clock(parts, "state and x̄"):
        state = Watched(problem, algorithm)
    parts["state and x̄"] -= parts.get("pivot", 0.0)
    state.v[:] = 0  # the memory, of v and u alike, is there before the clock starts
    with clock(parts, "q and step 1"):
        state.run(indices[:1], progress=False)
    began = now()
    state.run(indices[1:], progress=False)
    seconds = now() - began
    with clock(parts, "predictor"):
        answer = state.last() if ALGORITHMS[algorithm].average is None else state.average()
    return Run(seconds, [answer], parts)


def call(problem: Problem, algorithm: str, indices) -> Run:
    """From the user's matrix and labels to the predictor."""
    X = matrix(problem)
    began = now()
    answer = getattr(efficient, algorithm)(Problem(X, problem.y, problem.loss, problem.lam), indices)
    return Run(now() - began, [answer], {})


def loops(problems: list[Problem], indices) -> Run:
    """A pass of Algorithm 2 for each of these problems."""
    parts: dict[str, float] = {}
    with clock(parts, "whole"):
        runs = [loop(problem, "asgd", indices) for problem in problems]
    return Run(sum(run.seconds for run in runs), [run.answers[0] for run in runs], parts)


def one_pass(problems: list[Problem], indices) -> Run:
    """One pass of Algorithm 2 for all of these problems, timed as `loop` is."""
    parts: dict[str, float] = {}
    with clock(parts, "whole"):
        states = States(problems, "asgd")
        states.v[:] = states.u[:] = 0  # as in `loop`
        states.run(indices[:1], progress=False)
        began = now()
        states.run(indices[1:], progress=False)
        seconds = now() - began
        answers = states.average()
    return Run(seconds, answers, parts)


def textbook(steps: Callable, problem: Problem, indices) -> Run:
    """Algorithm 2 by one of the two loops of `floors` that know no better."""
    X, v, u = problem.X, np.zeros(problem.n), np.zeros(problem.n)
    v[:] = u[:] = 0  # as in `loop`
    dloss = compiled_derivative(problem.loss.derivative)
    began = now()
    c, h = steps(X.data, X.indices, X.indptr, problem.y, problem.lam, dloss, indices, v, u)
    seconds = now() - began
    scale = -problem.lam * len(indices)
    return Run(seconds, [Predictor((h * v - u) / scale, c / scale)], {})


def dense(problem: Problem, indices) -> Run:
    """The definition, O(Tn)."""
    if problem.n > MOST_COLUMNS:
        raise NotAvailable(f"it takes too long in {problem.n:,} columns")
    began = now()
    answer = reference.asgd(problem, indices)
    return Run(now() - began, [answer], {})


def fit(field: Field, labels, lambdas, alone: bool = True) -> Run:
    """scikit-learn on the same rows in the same order, once for each λ: its inner function alone, or all of `fit`."""
    answers, inside, whole = [], 0.0, 0.0
    for lam in lambdas:
        learner = peer.learner(field.problem.loss.name, lam, shuffle=field.order == "random", random_state=watch.OneSeed())
        began = now()
        if alone:
            with watch.watched() as inner:
                watch.fit(learner, field.rows_with_ones, labels)
            inside += inner.seconds
        else:
            watch.fit(learner, field.rows_with_ones, labels)
        whole += now() - began
        answers += peer.predictors(learner)
    return Run(inside, answers, {"whole": whole}) if alone else Run(whole, answers, {})


def single_precision(problem: Problem) -> Problem:
    return Problem(matrix(problem).astype(np.float32), problem.y, problem.loss, problem.lam)


def in_double_precision(problem: Problem) -> Problem:
    return Problem(matrix(problem).astype(np.float64), problem.y, problem.loss, problem.lam)


def long_indices(problem: Problem) -> Problem:
    X = matrix(problem)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return Problem(X, problem.y, problem.loss, problem.lam)
