"""How the estimators train: parameters and rows checked, states begun or gone on with, predictors kept."""

import time
from collections.abc import Callable
from numbers import Integral, Real
from types import MethodType
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, is_regressor
from sklearn.utils.validation import check_is_fitted, validate_data

from reference import LOSSES, Loss, Predictor, draw_indices
from reference.losses import get_loss
from reference.rows import well_formed
from reference.sampling import ORDERS, check_weight

from ..runs.algorithms import ALGORITHMS
from ..runs.centring import find_centre
from ..runs.run import Run
from ..training.models import AVERAGES, begin, is_centred, needs_t0, objective, scores, state_problems

DRAWN_AT_ONCE = 1_000_000
"""Whole epochs of at most so many examples are drawn before the steps on them are taken, where nobody looks on after each."""

LONGEST_EPOCH = 1 << 31
"""More steps an epoch are taken for a misunderstanding of whole sample weights."""


class StepsUnknown(ValueError, AttributeError):
    """partial_fit cannot choose its step sizes: to scikit-learn the method is not there, to a reader the cure is named."""


class IfStepsAreKnown:
    """A method that is there unless the length of the steps would have to be found from rows that are not known yet."""

    def __init__(self, method: Callable):
        self.method = method
        self.__doc__ = method.__doc__

    def __get__(self, estimator: Any, owner: type | None = None):
        if estimator is None:
            return self.method
        loss = LOSSES.get(estimator.loss) if isinstance(estimator.loss, str) else estimator.loss
        if isinstance(loss, Loss) and needs_t0(loss) and isinstance(estimator.t0, str):
            raise StepsUnknown(
                f"t0 must be a number for partial_fit with the squared loss; got {estimator.t0!r}, which is R²/alpha, where R² "
                "is the greatest squared length of a row [x, 1], and the rows to come are not known. Give t0=R²/alpha, for "
                "example t0=2/alpha for rows of length 1, or t0=0 for the steps of the paper"
            )
        return MethodType(self.method, estimator)


class LinearEstimator(BaseEstimator):
    """What the classifier and the regressor have in common."""

    loss: Any
    alpha: Any
    algorithm: Any
    average: Any
    t0: Any
    n_epochs: Any
    n_steps: Any
    sampling: Any
    random_state: Any
    verbose: Any
    callback: Any
    warm_start: Any
    coef_: np.ndarray
    intercept_: np.ndarray
    classes_: np.ndarray
    _began: dict[str, Any]
    _rng: np.random.Generator
    _states: Run

    _losses: tuple[str, ...]

    def _fit(self, X, y, sample_weight) -> Self:
        """Begin, or go on if warm, and take the steps of all epochs on drawn rows."""
        self._check_parameters()
        goes_on = self.warm_start and hasattr(self, "_states")
        X, y = self._check_rows(X, y, reset=not goes_on)
        weight = None if sample_weight is None else check_weight(sample_weight, X.shape[0], "sample_weight")
        classes = self._find_classes(y, weight)
        drawn = self._drawn(y, classes, weight)
        epoch = self._epoch(X.shape[0], drawn)
        states = self._states_for(X, y, classes, drawn, goes_on)
        total = self.n_epochs * epoch if self.n_steps is None else int(self.n_steps)
        watched = bool(self.verbose) or self.callback is not None
        size = epoch if watched else epoch * max(1, DRAWN_AT_ONCE // epoch)
        first = states.t
        try:
            for start in range(0, total, size):
                began = time.perf_counter()
                self._take(states, draw_indices(X.shape[0], min(size, total - start), self._rng, self.sampling, drawn))
                seconds = time.perf_counter() - began
                if watched:
                    self._keep(states, -(-min(start + size, total) // epoch))
                    if self.verbose:
                        F = self._objective(states, X, drawn)
                        print(f"epoch {self.n_iter_}: t = {self.t_}, objective {F:.6g}, {seconds:.2f} s", flush=True)
                    if self.callback is not None:
                        self.callback(self.t_, self)
        except KeyboardInterrupt:  # between two blocks, so that the states are whole
            if states.t > first:
                self._keep(states, -(-(states.t - first) // epoch))
                self._states = states.forget_rows()
            raise
        self._keep(states, -(-total // epoch))
        self._states = states.forget_rows()
        return self

    def _partial_fit(self, X, y, sample_weight, classes=None) -> Self:
        """Begin or go on, and take a step on each row in order."""
        self._check_parameters()
        goes_on = hasattr(self, "_states")
        X, y = self._check_rows(X, y, reset=not goes_on)
        weight = None if sample_weight is None else check_weight(sample_weight, X.shape[0], "sample_weight")
        classes = self._known_classes(y, classes, goes_on)
        drawn = self._drawn(y, classes, weight)
        broken = _broken(drawn)
        if len(broken):
            raise ValueError(
                "sample_weight and class_weight must be whole numbers in partial_fit, which takes the rows in order, each as "
                f"often as its weight says; got {broken[0]}"
            )
        steps = _rows_in_all(X.shape[0], drawn)
        states = self._states_for(X, y, classes, drawn, goes_on)
        self._take(states, draw_indices(X.shape[0], steps, order="cyclic", weight=drawn))
        self._keep(states, 1)
        self._states = states.forget_rows()
        return self

    def _check_parameters(self) -> None:
        """Refuse unusable parameters, whose names and right values the errors say."""
        for name, wanted, right in (
            ("alpha", "a finite number > 0", _is_number(self.alpha) and self.alpha > 0),
            ("algorithm", _one_of(ALGORITHMS), _is_text(self.algorithm, ALGORITHMS)),
            ("average", _one_of(AVERAGES), _is_text(self.average, AVERAGES)),
            ("t0", "'auto' or a finite number >= 0", self._is_t0()),
            ("n_epochs", "an integer >= 1", _is_count(self.n_epochs)),
            ("n_steps", "None or an integer >= 1", self.n_steps is None or _is_count(self.n_steps)),
            ("sampling", _one_of(ORDERS), _is_text(self.sampling, ORDERS)),
            ("callback", "None or a function of t and the estimator", self.callback is None or callable(self.callback)),
            ("loss", f"{_one_of(self._losses)}, or a Loss", isinstance(self.loss, Loss) or _is_text(self.loss, self._losses)),
            ("verbose", "a boolean or an integer", isinstance(self.verbose, (Integral, np.bool_))),
            ("warm_start", "a boolean", isinstance(self.warm_start, (bool, np.bool_))),
        ):
            if not right:
                raise ValueError(f"{name} must be {wanted}; got {getattr(self, name)!r}")

    def _is_t0(self) -> bool:
        return _is_text(self.t0, ("auto",)) if isinstance(self.t0, str) else _is_number(self.t0) and self.t0 >= 0

    def _check_rows(self, X, y, reset: bool) -> tuple[Any, np.ndarray]:
        """The rows and labels as arrays that scikit-learn has nothing to say against."""
        return self._validated(X, y, reset=reset, y_numeric=is_regressor(self))

    def _validated(self, X, *y, **options):
        """What scikit-learn makes of it; what overflows in its own checks it looks for."""
        if sp.issparse(X):
            X = well_formed(X, "X")  # scipy's C code, which converts it, would read beyond the arrays of a malformed one
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                return validate_data(self, X, *y, accept_sparse="csr", **options)
        except OverflowError as error:
            raise ValueError(f"X and y must hold numbers that fit a float64: {error}") from None

    def _find_classes(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray | None:
        """The classes of the rows that can be drawn, or None if numbers are predicted."""
        return None

    def _known_classes(self, y: np.ndarray, classes, goes_on: bool) -> np.ndarray | None:
        """The classes that partial_fit was told of, or None if numbers are predicted."""
        return None

    def _drawn(self, y: np.ndarray, classes: np.ndarray | None, weight: np.ndarray | None) -> np.ndarray | None:
        """In proportion to what the rows are drawn; None for all alike."""
        return weight

    def _epoch(self, m: int, drawn: np.ndarray | None) -> int:
        """How many steps an epoch has: one for each row that can be drawn, as often as it occurs."""
        if drawn is not None and len(_broken(drawn)):
            if self.sampling != "iid":
                raise ValueError(
                    "sampling must be 'iid' where sample_weight or class_weight are not whole numbers, which say how often a "
                    f"row occurs; got {self.sampling!r}"
                )
            return int(np.count_nonzero(drawn))
        return _rows_in_all(m, drawn)

    def _generator(self) -> np.random.Generator:
        """The source of what is drawn; without a random_state it differs each time, and numpy's global one is left alone."""
        if isinstance(self.random_state, (bool, np.bool_)):
            raise ValueError(f"random_state must be None, an integer >= 0 or a numpy generator; got {self.random_state!r}")
        try:
            return np.random.default_rng(self.random_state)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"random_state must be None, an integer >= 0 or a numpy generator; got {self.random_state!r}: {error}"
            ) from None

    def _states_for(self, X, y: np.ndarray, classes: np.ndarray | None, drawn: np.ndarray | None, goes_on: bool) -> Run:
        """The models on these rows: new ones, or those that there are, which then go on."""
        began = {name: getattr(self, name) for name in ("loss", "alpha", "algorithm", "average", "t0")}
        problems = state_problems(X, y, classes, get_loss(self.loss), [float(self.alpha)])
        if goes_on:
            for name, before in self._began.items():
                if began[name] != before:
                    raise ValueError(
                        f"{name} was {before!r} when this training began, and is {began[name]!r} now: set it back, or begin "
                        "anew by fit with warm_start=False"
                    )
            if classes is not None and not np.array_equal(classes, self.classes_):
                raise ValueError(
                    f"y must have the same classes as before, {self.classes_.tolist()}, to go on; got {classes.tolist()}"
                )
            return self._states.follow(problems)
        for name in ("coef_", "_states"):  # lest a fit that fails leave half of an older one
            self.__dict__.pop(name, None)
        self._began, self._rng = began, self._generator()
        if classes is not None:
            self.classes_ = classes
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is looked for, and refused in words
            centre = find_centre(problems[0].X, drawn) if is_centred(self.algorithm) else None
            try:
                return begin(problems, self.algorithm, self.average, self.t0, drawn, centre)
            except FloatingPointError:
                raise FloatingPointError("the squared length of the mean of X overflows float64: scale X down") from None
            except ValueError as error:
                if "t0" not in str(error):
                    raise
                raise ValueError(
                    f"t0 = R²/alpha is too large for float64: scale X down, or use a larger alpha ({error})"
                ) from None

    def _take(self, states: Run, indices: np.ndarray) -> None:
        """Take a step for each of the drawn examples, and say in the estimator's words what an overflow asks for."""
        try:
            states.run(indices, progress=False)
        except FloatingPointError:
            cures = "a larger alpha, smaller numbers in X and y"
            if self.loss not in ("hinge", "log", "absolute"):
                cures += ", a loss with a bounded derivative (hinge, log, absolute)"
            if self.t0 != "auto":
                cures = f"t0='auto', {cures}"
            raise FloatingPointError(
                f"the iterates overflowed float64 by step {states.t}: steps of 1/(alpha*(t + t0)) are too long for these rows "
                f"at first; got alpha={self.alpha!r}, t0={self.t0!r}. What helps: {cures}"
            ) from None

    def _keep(self, states: Run, epochs: int) -> None:
        """Take the predictors of the moment for this estimator's."""
        predictors = states.predictors()
        self.coef_ = np.array([predictor.w for predictor in predictors])
        self.intercept_ = np.array([predictor.b for predictor in predictors])
        self._around = None  # where b' alone would not have all digits, the pivot and the biases around it
        if states.pivot is not None:
            self._around = states.pivot, [predictor.pivoted.b for predictor in predictors if predictor.pivoted is not None]
        self.t_, self.n_iter_ = states.t, epochs

    def _predictors(self) -> list[Predictor]:
        """One for each model, with coef_ and intercept_."""
        models = list(zip(np.atleast_2d(self.coef_), self.intercept_, strict=True))
        if self._around is None:
            return [Predictor(w, b) for w, b in models]
        pivot, biases = self._around
        return [Predictor(w, b, pivoted=Predictor(w, at, pivot)) for (w, b), at in zip(models, biases, strict=True)]

    def _objective(self, states: Run, X, drawn: np.ndarray | None) -> float:
        """F of the rows as they are drawn, centred where the algorithm is; its mean over the models. O(K(n + mk))."""
        centre = None
        if is_centred(self.algorithm):
            centre = states.xbar if states.pivot is None else states.pivot + states.xbar
        predictors = self._predictors()
        return objective(states.problems, predictors, scores(predictors, X), centre, drawn)

    def _scores(self, X) -> np.ndarray:
        """The prediction of each model for each row, of shape (m, K)."""
        check_is_fitted(self, "coef_")
        return scores(self._predictors(), self._validated(X, reset=False))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _broken(weight: np.ndarray | None) -> np.ndarray:
    """The weights that are not whole numbers."""
    return np.empty(0) if weight is None else weight[np.nonzero(weight % 1)]


def _rows_in_all(m: int, counts: np.ndarray | None) -> int:
    """How many rows there are, each as often as it occurs."""
    if counts is None:
        return m
    with np.errstate(over="ignore"):
        total = counts.sum()
    if total > LONGEST_EPOCH:
        raise ValueError(
            f"sample_weight holds whole numbers, which say how often each row occurs: {total:.0e} in all, a step for each. "
            "If only their proportions are meant, divide them by their mean"
        )
    return int(total)


def _is_number(value) -> bool:
    try:
        return isinstance(value, Real) and not isinstance(value, (bool, np.bool_)) and bool(np.isfinite(float(value)))
    except OverflowError:
        return False


def _is_count(value) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and int(value) >= 1


def _is_text(value, allowed) -> bool:
    return isinstance(value, str) and value in allowed


def _one_of(allowed) -> str:
    return " or ".join([", ".join(map(repr, list(allowed)[:-1])), repr(list(allowed)[-1])])
