"""Validate parameters and rows, start or resume training, store fitted attributes."""

from collections.abc import Callable
from inspect import Signature, signature
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, is_regressor
from sklearn.utils.validation import check_is_fitted, validate_data

from reference import LOSSES, Loss, Predictor
from reference.averaging import AVERAGES
from reference.losses import get_loss, hint
from reference.rows import lent, well_formed
from reference.sampling import ORDERS, check_weight

from ..runs.algorithms import ALGORITHMS
from ..runs.run import Run
from ..training.epochs import Schedule, Table, train
from ..training.metrics import evaluate
from ..training.models import begin, make_problems, scores
from ..training.settings import DEFAULTS_FOR_NUMBERS, ELSEWHERE, EPOCHS, ORDER, Settings, losses

LONGEST_EPOCH = 1 << 31
"""Most steps of an epoch: more come from integer weights that were meant as proportions."""

LONGEST_LIST = 1 << 26
"""Most steps of an epoch of weighted rows that is drawn as a whole: half a gigabyte of numbers. Independent draws need none."""

AUTO = "auto"

SAMPLINGS = (AUTO, *ORDERS)


class LinearEstimator(BaseEstimator):
    """Parameters, training and scores that the classifier and the regressor share."""

    coef_: np.ndarray
    intercept_: np.ndarray
    classes_: np.ndarray
    _settings: Settings
    _rng: np.random.Generator
    _run: Run
    __signature__: Signature

    _binary = False
    """Whether labels are classes."""

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        _, *parameters = signature(cls.__init__).parameters.values()
        cls.__signature__ = Signature(parameters)  # not that of __new__

    def __new__(cls, *_, **given):
        """Refuse parameters of other programs, and say what they are here; Python refuses all others."""
        for name in given.keys() - {*LinearEstimator._get_param_names(), *cls._get_param_names()}:
            if name in ELSEWHERE:
                raise TypeError(f"{cls.__name__} has no parameter {name!r}. It is {ELSEWHERE[name][0]} here")
        return super().__new__(cls)

    def __init__(
        self,
        loss=DEFAULTS_FOR_NUMBERS.loss,
        *,
        alpha=DEFAULTS_FOR_NUMBERS.lam,
        algorithm=DEFAULTS_FOR_NUMBERS.algorithm,
        average=DEFAULTS_FOR_NUMBERS.average,
        t0=DEFAULTS_FOR_NUMBERS.t0,
        n_epochs=EPOCHS,
        n_steps=None,
        sampling=AUTO,
        random_state=None,
        verbose=False,
        callback=None,
        warm_start=False,
    ):
        self.loss: Any = loss
        self.alpha: Any = alpha
        self.algorithm: Any = algorithm
        self.average: Any = average
        self.t0: Any = t0
        self.n_epochs: Any = n_epochs
        self.n_steps: Any = n_steps
        self.sampling: Any = sampling
        self.random_state: Any = random_state
        self.verbose: Any = verbose
        self.callback: Any = callback
        self.warm_start: Any = warm_start

    def _fit(self, X, y, sample_weight, *, stream: bool = False, classes=None) -> Self:
        """Start, or resume if warm or in a stream, and take the steps: those of all epochs, or one on each row in order."""
        self._check_parameters()
        resumed = hasattr(self, "_run") and (stream or self.warm_start)
        X, y = self._validated(X, y, reset=not resumed, y_numeric=is_regressor(self))
        X = X if self.callback else lent(X)  # the caller cannot write there before the rows are forgotten
        some = not (stream and resumed)  # of a stream a batch may have no weight
        weight = None if sample_weight is None else check_weight(sample_weight, X.shape[0], "sample_weight", some=some)
        known = self._known_classes(y, classes, resumed) if stream else self._find_classes(y, weight)
        sampling_weight = self._drawn(y, known, weight, some)
        if not (some or sampling_weight is None or sampling_weight.any()):
            return self
        order = "cyclic" if stream else self.sampling
        epoch, order = epoch_and_order(X.shape[0], sampling_weight, order)
        run = self._resume(X, y, known) if resumed else self._begin(X, y, known, sampling_weight)
        steps = epoch if stream else self.n_epochs * epoch if self.n_steps is None else int(self.n_steps)
        schedule, first = Schedule(X.shape[0], steps, epoch, self._rng, order, sampling_weight), run.t

        def keep() -> None:
            self._keep(run, -(-(run.t - first) // epoch))
            self._run = run.forget_rows()

        after = None if stream or not (self.verbose or self.callback) else self._report(run, X, y, known, sampling_weight)
        train(run, schedule, after=after, interrupted=keep, jobs=self._jobs())
        keep()
        return self

    def _jobs(self) -> int:
        """Count the threads that share the models."""
        return 1

    def _report(self, run: Run, X, y: np.ndarray, classes, sampling_weight: np.ndarray | None) -> Callable[[int, float], None]:
        """Make the function to call after each epoch, for `verbose` and `callback`."""
        table = Table()

        def after(epoch: int, seconds: float) -> None:
            self._keep(run, epoch)
            if self.verbose:
                table.line(epoch, evaluate(run, X, y, classes, sampling_weight), seconds)
            if self.callback is not None:
                self.callback(self.t_, self)

        return after

    def _check_parameters(self) -> None:
        """Refuse unusable parameters."""
        names = losses(self._binary)
        for name, wanted, right in (
            ("alpha", "a finite number > 0", _is_number(self.alpha) and self.alpha > 0),
            ("algorithm", _one_of(ALGORITHMS), _is_text(self.algorithm, ALGORITHMS)),
            ("average", f"{_one_of(AVERAGES)} (algorithm='csgd' is without)", _is_text(self.average, AVERAGES)),
            ("t0", "'auto' or a finite number >= 0", _is_text(self.t0, ["auto"]) or (_is_number(self.t0) and self.t0 >= 0)),
            ("n_epochs", "an integer >= 1", _is_count(self.n_epochs)),
            ("n_steps", "None or an integer >= 1", self.n_steps is None or _is_count(self.n_steps)),
            ("sampling", _one_of(SAMPLINGS), _is_text(self.sampling, SAMPLINGS)),
            ("callback", "None or a function of t and the estimator", self.callback is None or callable(self.callback)),
            ("loss", f"{_one_of(names)}, or a Loss", isinstance(self.loss, Loss) or _is_text(self.loss, names)),
            ("verbose", "a boolean or an integer", isinstance(self.verbose, (Integral, np.bool_))),
            ("warm_start", "a boolean", isinstance(self.warm_start, (bool, np.bool_))),
        ):
            if not right:
                called = hint(self.loss) if name == "loss" else ""
                raise ValueError(f"{name} must be {wanted}; got {getattr(self, name)!r}{called}")

    def _validated(self, X, *y, **options):
        """Let scikit-learn validate, and look for what overflows in its own checks."""
        if sp.issparse(X):
            X = well_formed(X, "X")  # scipy's C code would read beyond the arrays of a malformed one
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                return validate_data(self, X, *y, accept_sparse="csr", **options)
        except OverflowError as error:
            raise ValueError(f"X and y must hold numbers that fit a float64: {error}") from None

    def _find_classes(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray | None:
        """Find the classes of the rows that can be drawn; None if numbers are predicted."""
        return None

    def _known_classes(self, y: np.ndarray, classes, resumed: bool) -> np.ndarray | None:
        """Validate the classes that partial_fit was told of; None if numbers are predicted."""
        return None

    def _drawn(self, y: np.ndarray, classes: np.ndarray | None, weight: np.ndarray | None, some: bool) -> np.ndarray | None:
        """Make the sampling weights of the rows, `some` of them > 0; None for all alike."""
        return weight

    def _steps_are_known(self) -> bool:
        """Raise AttributeError if partial_fit would have to find t0 from rows that are still to come."""
        loss = LOSSES.get(self.loss) if isinstance(self.loss, str) else self.loss
        if isinstance(loss, Loss) and loss.slope_bound is None and isinstance(self.t0, str):
            raise AttributeError(
                f"t0 must be a number for partial_fit with the {loss.name} loss, whose slope has no bound; got {self.t0!r}. "
                "Give R²/alpha, where R² is the greatest squared length of a row [x, 1] to come, or 0 as in the paper"
            )
        return True

    def _begin(self, X, y: np.ndarray, classes: np.ndarray | None, sampling_weight: np.ndarray | None) -> Run:
        """Start new models on these rows."""
        for name in ("coef_", "_run"):  # a fit that fails leaves nothing of an older one
            self.__dict__.pop(name, None)
        if classes is not None:
            self.classes_ = classes
        self._rng = self._generator()
        self._settings = Settings(self.loss, float(self.alpha), self.algorithm, self.average, self.t0)
        problems = make_problems(X, y, classes, get_loss(self.loss), [float(self.alpha)])
        return begin(problems, self._settings, sampling_weight)

    def _resume(self, X, y: np.ndarray, classes: np.ndarray | None) -> Run:
        """Let the trained models take their next steps on these rows."""
        now = Settings(self.loss, float(self.alpha), self.algorithm, self.average, self.t0)
        for name, before, value in zip(now._fields, self._settings, now, strict=True):
            if before != value:
                name = "alpha" if name == "lam" else name
                raise ValueError(
                    f"{name} must be {before!r}, as before, to resume; got {value!r}. Or fit with warm_start=False"
                )
        if classes is not None and not np.array_equal(classes, self.classes_):
            raise ValueError(f"y must have the classes {self.classes_.tolist()}, as before, to resume; got {classes.tolist()}")
        return self._run.follow(make_problems(X, y, classes, get_loss(self.loss), [float(self.alpha)]))

    def _generator(self) -> np.random.Generator:
        """Make the source of what is drawn: without a random_state another one each time, and never numpy's global one."""
        try:
            if isinstance(self.random_state, (bool, np.bool_)):
                raise TypeError("it is a boolean")
            return np.random.default_rng(self.random_state)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"random_state must be None, an integer >= 0 or a numpy generator; got {self.random_state!r}: {error}"
            ) from None

    def _keep(self, run: Run, epochs: int) -> None:
        """Store the predictors of the moment."""
        predictors = run.predictors()
        self.coef_ = np.array([predictor.w for predictor in predictors])
        self.intercept_ = np.array([predictor.b for predictor in predictors])
        self._around = None  # where b' alone would not have all digits, the pivot and the biases around it
        if run.pivot is not None:
            self._around = run.pivot, [predictor.pivoted.b for predictor in predictors if predictor.pivoted is not None]
        self.t_, self.n_iter_ = run.t, epochs

    def _scores(self, X) -> np.ndarray:
        """Predict with each model for each row, shape (m, K)."""
        check_is_fitted(self, "coef_")
        X = self._validated(X, reset=False)
        models = zip(np.atleast_2d(self.coef_), self.intercept_, strict=True)
        if self._around is None:
            return scores([Predictor(w, b) for w, b in models], X)
        pivot, biases = self._around
        around = [Predictor(w, b, pivoted=Predictor(w, at, pivot)) for (w, b), at in zip(models, biases, strict=True)]
        return scores(around, X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def epoch_and_order(m: int, sampling_weight: np.ndarray | None, order: str, counts: np.ndarray | int = 1) -> tuple[int, str]:
    """Count the steps of an epoch, one for each row that can be drawn, as often as it occurs; choose the order for "auto".

    `counts` says how many of the m rows have each weight.
    """
    if sampling_weight is None:
        return m, ORDER if order == AUTO else order
    broken = sampling_weight[np.nonzero(sampling_weight % 1)]
    if len(broken):
        if order not in (AUTO, "iid"):
            raise ValueError(
                "sample_weight and class_weight must be integers, which say how often a row occurs, unless rows are drawn with "
                f"replacement; got {broken[0]}. Use fit with sampling='iid'"
            )
        return int(np.sum((sampling_weight > 0) * counts)), "iid"
    with np.errstate(over="ignore"):
        total = np.sum(sampling_weight * counts)
    listed = total <= max(m, LONGEST_LIST)
    order = (ORDER if listed else "iid") if order == AUTO else order
    if total > LONGEST_EPOCH or not (listed or order == "iid"):
        raise ValueError(
            "integers in sample_weight, which say how often a row occurs, must add up to at most "
            f"{LONGEST_EPOCH if order == 'iid' else max(m, LONGEST_LIST)}; got {total:.0e}. If only their proportions are "
            "meant, divide them by their mean"
        )
    return int(total), order


def _is_number(value) -> bool:
    try:
        return isinstance(value, Real) and not isinstance(value, (bool, np.bool_)) and bool(np.isfinite(float(value)))
    except OverflowError:
        return False


def is_whole(value) -> bool:
    """Tell whether a value is an integer, and not a boolean."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _is_count(value) -> bool:
    return is_whole(value) and int(value) >= 1


def _is_text(value, allowed) -> bool:
    return isinstance(value, str) and value in allowed


def _one_of(allowed) -> str:
    *others, last = map(repr, allowed)
    return f"{', '.join(others)} or {last}"
