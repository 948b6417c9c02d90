"""Contestants of the bench: our loops and calls, the floor, naive baselines, and scikit-learn."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property, partial

import numpy as np
import scipy.sparse as sp

import efficient
import reference
from efficient import State, States
from efficient.kernels.compiled import compiled_loop, unsigned
from efficient.kernels.compiler import njit
from efficient.kernels.loss_functions import loss_function
from efficient.reading.svmlight import load_svmlight
from efficient.runs.algorithms import ALGORITHMS
from reference import Predictor, Problem, draw_indices
from reference.datasets import make_text

from .. import peer
from .baselines import numpy_asgd, plain_asgd, visit_all_twice, visit_twice
from .measure import Contestant, NotAvailable, Run, clock, difference, largest_difference, now

LOSS, LAM = "log", 1e-3
"""On synthetic rows. At λ <= 1e-4 the rounding of any two correct programs parts by more than can be checked."""

K = 20
"""Models that are trained on one pass."""

LAMBDAS = np.geomspace(1e-3, 1, K)

MOST_BYTES = 1 << 30
"""Most memory for the state of K models; where they need more, they are not measured."""

DENSE_BUDGET = 5_000_000
"""Coordinates that a vector of a dense run may have in all its steps; T is cut to fit, but not below 3."""

MOST_COLUMNS = 5_000_000
"""Up to which n three steps of the dense definition are timed; they are always checked."""

AGREEMENT = 1e-9
"""Largest distance of two correct float programs, relative to the largest number in the answer."""

compiled_textbook = njit()(plain_asgd)


def text_problem(m: int, n: int, k: int) -> Problem:
    """Make a synthetic text of m rows with about k entries in n columns."""
    X, y, _ = make_text(m, n, k, seed=0)
    return Problem(X, y, LOSS, LAM)


def user_problem(path: str, loss: str, lam: float) -> Problem:
    """Read the rows of an svmlight file. Raises ValueError, TypeError or OSError as `load_svmlight` and `Problem` do."""
    data = load_svmlight(path)
    problem = Problem(data.X, data.y, loss, lam)
    if problem.m < 2 or not len(problem.X.data):
        raise ValueError(f"there must be at least two rows and one entry to be timed; got {problem.m} rows")
    return problem


def matrix(problem: Problem, **dtypes) -> sp.csr_array:
    """Return the rows of a problem as a scipy container, in the same memory, or converted to other data types."""
    parts = {name: getattr(problem.X, name).astype(dtypes.get(name), copy=False) for name in dtypes}
    X = problem.X.csr
    for name, part in parts.items():
        setattr(X, name, part)
    return X


class Field:
    """Problem, an order of its rows, and the answers that its contestants are checked against."""

    def __init__(self, problem: Problem, order: str):
        self.problem, self.order = problem, order
        self.indices = (
            scikit_learn_order(problem.m) if order == "random" else draw_indices(problem.m, problem.m, order="cyclic")
        )
        self.few = self.indices[: max(3, min(1000, DENSE_BUDGET // max(1, problem.n)))]
        self.definition = cache(lambda algorithm: getattr(reference, algorithm)(problem, self.few))
        self.ours = cache(lambda algorithm: getattr(efficient, algorithm)(problem, self.indices))

    def extent(self, indices) -> tuple[int, int]:
        """Count the steps, and the stored entries that they visit."""
        return len(indices), max(1, int(np.diff(self.problem.X.indptr)[indices].sum()))

    @cached_property
    def rows_with_ones(self):
        """Rows [x, 1] for scikit-learn."""
        return peer.with_ones(matrix(self.problem))


def single_models(field: Field) -> Iterator[Contestant]:
    """Yield the floor, our four algorithms in their loops and in whole calls, and the others on Algorithm 2."""
    problem, indices, few = field.problem, field.indices, field.few
    everything = field.extent(indices)

    def against(right: Callable[[], Predictor]) -> Callable:
        return lambda answers: difference(answers[0], right())

    def ours(run: Callable[..., Run], algorithm: str) -> Contestant:
        def check(answers):
            first_steps = difference(run(problem, algorithm, few).answers[0], field.definition(algorithm))
            return max(first_steps, difference(answers[0], field.ours(algorithm)))

        name = f"{algorithm} {run.__name__}"
        return Contestant(name, partial(run, problem, algorithm, indices), everything, check, AGREEMENT)

    yield Contestant("floor", partial(floor, problem, indices), everything, None)
    for algorithm in ALGORITHMS:
        yield ours(loop, algorithm)
    for algorithm, facts in ALGORITHMS.items():
        if facts.centred:
            after, right = partial(loop, problem, algorithm, indices, projected=True), partial(field.ours, algorithm)
            yield Contestant(f"{algorithm} loop, q given", after, everything, against(right))  # to the bit
    for kind, dtypes in (
        ("float32 values", {"data": np.float32}),
        ("int64 indices", {"indices": np.int64, "indptr": np.int64}),
    ):
        other = Problem(matrix(problem, **dtypes), problem.y, problem.loss, problem.lam)
        in_double = Problem(matrix(other, data=np.float64), problem.y, problem.loss, problem.lam)
        right = partial(efficient.asgd, in_double, indices)
        yield Contestant(f"asgd loop, {kind}", partial(loop, other, "asgd", indices), everything, against(right))  # to the bit
    for algorithm in ALGORITHMS:
        yield ours(call, algorithm)
    for name, run in (
        ("plain numba loop", partial(textbook, compiled_textbook, problem, indices)),
        ("scikit-learn loop", partial(fit, field, problem.y, (problem.lam,))),
        ("scikit-learn fit", partial(fit, field, problem.y, (problem.lam,), alone=False)),
    ):
        yield Contestant(name, run, everything, against(partial(field.ours, "asgd")), AGREEMENT)
    for name, run in (
        ("NumPy, row by row", partial(textbook, numpy_asgd, problem, few)),
        ("dense definition", partial(dense, problem, few)),
    ):
        yield Contestant(name, run, field.extent(few), against(partial(efficient.asgd, problem, few)), AGREEMENT)


def many_models(field: Field) -> Iterator[Contestant]:
    """Yield K models in one pass, in K passes and by scikit-learn, unless their state is out of all proportion."""
    problem, everything = field.problem, field.extent(field.indices)
    if (state := 16 * K * problem.n) > MOST_BYTES:
        yield Contestant(f"{K} models", partial(_refuse, f"their state would take {state / 1e9:.1f} GB"), everything, None)
        return
    yield Contestant(f"{K} models, floor", partial(floor_of_many, problem, field.indices), everything, None)
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

    yield Contestant(f"{kind}, one pass", partial(one_pass, problems, field.indices), extent, against_passes)  # to the bit
    yield Contestant(f"{kind}, {K} passes", partial(loops, problems, field.indices), extent, check, AGREEMENT)
    yield Contestant(f"{kind}, scikit-learn", partial(fit, field, labels, lambdas), extent, against_passes, AGREEMENT)


def _refuse(why: str) -> Run:
    raise NotAvailable(why)


def floor(problem: Problem, indices) -> Run:
    """Time the two visits of Algorithm 2 without its arithmetic."""
    state = np.zeros((problem.n, 2))
    state[:] = 0  # allocated and touched before timing
    began = now()
    compiled_loop(visit_twice)(unsigned(problem.X), indices, state, state[:, 0])
    return Run(now() - began, [], {})


def floor_of_many(problem: Problem, indices) -> Run:
    """Time the same for K models at once."""
    state, total = States([problem] * K)._shares[0].room, np.zeros(K)
    state[:] = 0  # as in `floor`
    began = now()
    compiled_loop(visit_all_twice)(unsigned(problem.X), indices, state, total)
    return Run(now() - began, [], {})


def loop(problem: Problem, algorithm: str, indices, projected: bool = False) -> Run:
    """Time the steps from the second on; what comes before and after is timed apart and not in the seconds.

    The first step is another one, and before it the centred algorithms compute the projections q of all rows: if that pays,
    or if it is asked for.
    """
    parts: dict[str, float] = {}

    class Watched(State):
        def _project(self, mean, steps):
            super()._project(mean, 2 * self.problem.m if projected else steps)

    with clock(parts, "state and x̄"):
        state = Watched(problem, algorithm)
    state.v[:] = 0  # the memory, of v and u alike, is allocated and touched before timing
    with clock(parts, "q and step 1"):
        state.run(indices[:1], progress=False)
    began = now()
    state.run(indices[1:], progress=False)
    seconds = now() - began
    with clock(parts, "predictor"):
        answer = state.average() if ALGORITHMS[algorithm].averaging else state.last()
    return Run(seconds, [answer], parts)


def call(problem: Problem, algorithm: str, indices) -> Run:
    """Time all from the user's matrix and labels to the predictor."""
    X = matrix(problem)
    began = now()
    answer = getattr(efficient, algorithm)(Problem(X, problem.y, problem.loss, problem.lam), indices)
    return Run(now() - began, [answer], {})


def loops(problems: list[Problem], indices) -> Run:
    """Time a pass of Algorithm 2 for each of these problems."""
    parts: dict[str, float] = {}
    with clock(parts, "whole"):
        runs = [loop(problem, "asgd", indices) for problem in problems]
    return Run(sum(run.seconds for run in runs), [run.answers[0] for run in runs], parts)


def one_pass(problems: list[Problem], indices) -> Run:
    """Time one pass of Algorithm 2 for all of these problems, as `loop` does."""
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
    """Time Algorithm 2 by one of the two naive loops of `baselines`."""
    X, v, u = problem.X, np.zeros(problem.n), np.zeros(problem.n)
    v[:] = u[:] = 0  # as in `loop`
    dloss = loss_function(problem.loss.derivative)
    began = now()
    c, h = steps(X.data, X.indices, X.indptr, problem.y, problem.lam, dloss, indices, v, u)
    seconds = now() - began
    scale = -problem.lam * len(indices)
    return Run(seconds, [Predictor((h * v - u) / scale, c / scale)], {})


def dense(problem: Problem, indices) -> Run:
    """Time the definition, O(Tn)."""
    if problem.n > MOST_COLUMNS:
        raise NotAvailable(f"it takes too long in {problem.n:,} columns")
    began = now()
    answer = reference.asgd(problem, indices)
    return Run(now() - began, [answer], {})


def fit(field: Field, labels, lambdas, alone: bool = True) -> Run:
    """Time scikit-learn on the same rows in the same order, once for each λ: its inner function alone, or all of `fit`.

    The inner function visits one entry more a row, the 1 of the bias, and shuffles the row numbers itself.
    """
    loss = field.problem.loss
    if not loss.scikit_learn:
        raise NotAvailable(f"scikit-learn has no {loss.name} loss")
    answers, inside, whole = [], [0.0], 0.0
    for lam in lambdas:
        learner = peer.learner(loss.name, lam, shuffle=field.order == "random", random_state=OneSeed())
        began = now()
        try:
            if alone:
                with watched(inside):
                    learner.fit(field.rows_with_ones, labels)
            else:
                learner.fit(field.rows_with_ones, labels)
        except ValueError as error:
            raise NotAvailable(f"scikit-learn: {error}") from None
        whole += now() - began
        answers += peer.predictors(learner)
    return Run(inside[0], answers, {"whole": whole}) if alone else Run(whole, answers, {})


class OneSeed(np.random.RandomState):
    """Return one seed whenever asked, so that scikit-learn visits the rows for all classes in one order, as we do."""

    def randint(self, *_, size=None):
        return 1 if size is None else [self] * size  # a seed for each class may be a generator


def scikit_learn_order(m: int) -> np.ndarray:
    """Return the order in which scikit-learn visits m rows when it shuffles them with that seed."""
    try:
        from sklearn.utils._seq_dataset import ArrayDataset64

        rows = ArrayDataset64(np.ones((m, 1)), np.ones(m), np.ones(m), seed=1)
        rows._shuffle_py(1)
        return np.array([rows._next_py()[-1] for _ in range(m)], dtype=np.int64)
    except (ImportError, AttributeError):  # private to scikit-learn: without it, its answers are refused
        return draw_indices(m, m, order="permuted")


@contextmanager
def watched(seconds: list[float]):
    """Add the time in scikit-learn's compiled inner function to `seconds[0]`, by wrapping it during a genuine `fit`.

    Raises NotAvailable where there is none of that name.
    """
    from sklearn.linear_model import _stochastic_gradient as module

    original = getattr(module, "_plain_sgd64", None)
    if original is None:
        raise NotAvailable("this scikit-learn has no inner function of the name that is known")

    def timed(*arguments):
        for argument in arguments:
            if isinstance(argument, np.ndarray) and argument.dtype == np.float64:
                argument += 0  # allocated and touched before timing, as for the other contestants
        began = now()
        result = original(*arguments)
        seconds[0] += now() - began
        return result

    module._plain_sgd64 = timed
    try:
        yield
    finally:
        module._plain_sgd64 = original
