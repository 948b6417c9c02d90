"""The face that scikit-learn's users know: `CASGDClassifier` and `CASGDRegressor`, for pipelines and grid searches.

They add what scikit-learn expects to the four algorithms: labels of any kind, many classes, validation, weights, random draws.
The algorithms are those of `efficient.State`: given the same indices, they train the same predictor, to the bit.
"""

import math
import time
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import log_expit, logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from reference import LOSSES, Loss, Predictor, Problem, draw_indices, safe_t0
from reference.averages import polynomial
from reference.losses import LOG, SQUARED
from reference.rows import Rows, as_rows
from reference.sampling import ORDERS, as_counts, check_weight

from .centre import find_centre
from .state import ALGORITHMS, Algorithm, State
from .states import States

CHUNK = 1 << 20
"""About how many indices are drawn at a time."""

MOST_COUNTS = 100_000_000
"""How many rows whole weights may stand for: visiting each of so many once takes minutes."""

TINY = math.ulp(0.0)


class _T0Unknown(AttributeError, ValueError):
    """Says why there is no `partial_fit`: an AttributeError, so that `hasattr` says the same."""


class _where_t0_is_known:
    """A method that is there unless t0 would have to be computed from rows that are not known yet."""

    def __init__(self, method):
        self.method, self.__doc__ = method, method.__doc__

    def __get__(self, estimator, owner=None):
        if estimator is None:
            return self.method
        if isinstance(estimator.t0, str) and estimator.loss in ("squared", SQUARED):
            raise _T0Unknown(
                "partial_fit needs a number for t0 with the squared loss, since 'auto' would compute it from all rows: "
                "give t0=R²/alpha, where R² is the largest ‖x‖² + 1 of the rows to come, as t0=2/alpha for rows of length 1"
            )
        return self.method.__get__(estimator, owner)


class _Linear(BaseEstimator):
    """What the two estimators share: all but the labels."""

    loss: str | Loss
    alpha: float
    algorithm: str
    average: str
    t0: str | float
    n_epochs: int
    n_steps: int | None
    sampling: str
    random_state: Any
    verbose: int
    callback: Callable | None
    warm_start: bool

    _losses: tuple[str, ...]

    def _loss(self) -> Loss:
        if isinstance(self.loss, Loss):
            return self.loss
        _check_choice("loss", self.loss, self._losses, ", or a Loss")
        return LOSSES[self.loss]

    @property
    def _parts(self) -> Algorithm:
        return ALGORITHMS[self.algorithm]

    def _check_parameters(self) -> None:
        self._loss()
        _check_choice("algorithm", self.algorithm, tuple(ALGORITHMS))
        _check_choice("average", self.average, ("uniform", "weighted"))
        _check_choice("sampling", self.sampling, ORDERS)
        if self.t0 != "auto":
            _check_number("t0", self.t0, Real, 0, "'auto' or a finite number >= 0")
        _check_number("alpha", self.alpha, Real, TINY, "a finite number > 0")
        if self.n_steps is None:
            _check_number("n_epochs", self.n_epochs, Integral, 1, "an integer >= 1")
        else:
            _check_number("n_steps", self.n_steps, Integral, 1, "None or an integer >= 1")
        if self.callback is not None and not callable(self.callback):
            raise TypeError(f"callback must be None or a function of t and the state; got {self.callback!r}")
        if not isinstance(self.random_state, (type(None), np.random.RandomState, np.random.Generator)):
            _check_number("random_state", self.random_state, Integral, 0, "None, an int >= 0, a RandomState or a Generator")

    def _check_X(self, X, reset: bool = False, **labels):
        """scikit-learn's validation, and before it ours: compiled code may not meet a malformed sparse matrix."""
        if sp.issparse(X):
            X = _matrix(as_rows(X))
        with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn adds infinities up before it refuses them
            return validate_data(self, X, **labels, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32])

    def _problems(self, X, targets) -> list[Problem]:
        """One problem for each target, on the same rows."""
        first = Problem(X, targets[0], self._loss(), float(self.alpha))
        return [first, *(first.variant(y=labels) for labels in targets[1:])]

    def _settings(self) -> dict:
        """What may not change while training goes on."""
        return {"loss": self._loss(), **{name: getattr(self, name) for name in ("alpha", "algorithm", "average", "t0")}}

    def _begin(self, problems: list[Problem], weight) -> State | States:
        """A state that has taken no step, on rows that will be drawn with these weights."""
        centred, shares = self._parts.centred, weight
        if weight is not None and as_counts(weight) is None:
            shares = weight / weight.max()
        if self.t0 != "auto":
            self.t0_ = float(self.t0)
        else:
            self.t0_ = float(safe_t0(problems[0], centred, shares)) if problems[0].loss == SQUARED else 0.0
        self._began_with = self._settings()
        self._rng = np.random.default_rng(self.random_state)
        averaged = self._parts.average is not None
        options: dict[str, Any] = {
            "t0": self.t0_,
            "weights": polynomial(1, self.t0_) if averaged and self.average == "weighted" else None,
            "centre": find_centre(problems[0].X, shares) if centred else None,
        }
        if len(problems) == 1:
            return State(problems[0], self.algorithm, **options)
        return States(problems, self.algorithm, **options)

    def _go_on(self, problems: list[Problem]) -> State | States:
        """The state that the last call left, on other rows."""
        for name, now in self._settings().items():
            before = self._began_with[name]
            if now != before and not (name == "t0" and now == self.t0_):
                raise ValueError(
                    f"{name} cannot change while training goes on; it was {before!r} and is {now!r}: set it back, "
                    "or begin anew with fit and warm_start=False"
                )
        return self._state.follow(problems) if isinstance(self._state, States) else self._state.follow(problems[0])

    def _draw(self, problems: list[Problem], weight, going_on: bool) -> None:
        """Train on rows that are drawn as `sampling` says."""
        m = epoch = problems[0].m
        if weight is not None:
            counts = as_counts(weight)
            if counts is not None:
                epoch = _check_counts(counts)
            elif self.sampling != "iid":
                raise ValueError(
                    "sampling must be 'iid' unless the weights (sample_weight times class_weight) are whole numbers, "
                    f"which say how often; got {self.sampling!r}"
                )
        steps = int(self.n_epochs) * epoch if self.n_steps is None else int(self.n_steps)
        state = self._go_on(problems) if going_on else self._begin(problems, weight)
        watch = self._watch(problems, weight)
        size = epoch if watch else epoch * max(1, CHUNK // epoch)
        for done in range(0, steps, size):
            state.run(draw_indices(m, min(size, steps - done), self._rng, self.sampling, weight), progress=False)
            if watch:
                watch(state)
        self._keep(state, len(problems), -(-steps // epoch))

    def _visit(self, problems: list[Problem], weight, going_on: bool) -> None:
        """Train on every row in order, as often as its weight says; a fraction is the probability of once more."""
        counts = np.ones(problems[0].m)
        if weight is not None:
            _check_counts(np.ceil(weight))
        state = self._go_on(problems) if going_on else self._begin(problems, weight)
        if weight is not None:
            counts, fraction = np.floor(weight), weight % 1
            counts[fraction > 0] += self._rng.random(np.count_nonzero(fraction)) < fraction[fraction > 0]
        indices = np.repeat(np.arange(len(counts)), counts.astype(np.int64))
        if len(indices):
            state.run(indices, progress=False)
            watch = self._watch(problems, weight)
            if watch:
                watch(state)
        self._keep(state, len(problems), 1)

    def _watch(self, problems: list[Problem], weight) -> Callable | None:
        """What to call after every epoch, if anything: a printer of F, and the user's callback."""
        if not self.verbose and self.callback is None:
            return None
        began = time.perf_counter()
        share = None if weight is None else weight * (len(weight) / weight.sum())

        def watch(state):
            if self.verbose:
                values = []
                for problem, predictor in zip(problems, self._predictors(state), strict=True):
                    weighted = Problem(_matrix(problem.X), problem.y, problem.loss, problem.lam, share)
                    values.append(weighted.objective(predictor, self._parts.centred))
                print(f"t = {state.t}, F = {np.mean(values):.6g}, {time.perf_counter() - began:.1f} s", flush=True)
            if self.callback is not None:
                self.callback(state.t, state)

        return watch

    def _predictors(self, state: State | States) -> list[Predictor]:
        found = state.last() if self._parts.average is None else state.average()
        return found if isinstance(found, list) else [found]

    def _keep(self, state: State | States, models: int, epochs: int) -> None:
        """Set what is known after training; of the rows, nothing is kept."""
        state.forget_rows()
        self._state, self.t_, self.n_iter_ = state, state.t, epochs
        nothing = [Predictor(np.zeros(self.n_features_in_), 0.0)] * models  # (w_0, b_0) = 0 by definition
        predictors = self._predictors(state) if state.t else nothing
        self.coef_ = np.array([predictor.w for predictor in predictors])
        self.intercept_ = np.array([predictor.b for predictor in predictors])
        self._pivoted = [predictor.pivoted for predictor in predictors if predictor.pivoted is not None]

    def _scores(self, X) -> np.ndarray:
        """w · x + b for every row and model, shape (m, K)."""
        check_is_fitted(self, "coef_")
        X = self._check_X(X)
        w, b, pivoted = np.atleast_2d(self.coef_), np.ravel(self.intercept_), getattr(self, "_pivoted", [])
        with np.errstate(over="ignore", invalid="ignore"):
            if pivoted and _agree(pivoted, w, b):
                scores = np.column_stack([predictor.predict(X) for predictor in pivoted])
            else:
                scores = X @ w.T + b
        if not np.isfinite(scores).all():
            raise ValueError("X is too large, or coef_ is: w · x + b overflows float64. Scale the columns of X down")
        return scores

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class CASGDClassifier(ClassifierMixin, _Linear):
    """A linear classifier for sparse rows, trained by centred averaged stochastic gradient descent (CASGD).

    It minimises F(w, b) = λ/2 (‖w‖² + b²) + (1/m) Σ_i ℓ(w · x_i + b, y_i), λ = alpha, and predicts the second of two sorted
    classes where w · x + b > 0. Of more than two, one model for each against the others is trained, all in one pass.

    The bias b is regularised, as in the paper. Then F depends on where the origin is, and far from it b is not small. That is
    why "casgd" takes the mean of the rows for the origin: b is what an average row scores, which is of the size of a label,
    and keeping that small costs little; a constant added to a column changes no prediction. Rows are never made dense for it.

    Parameters
    ----------
    loss : {"hinge", "log"} or Loss
        "hinge" makes it a linear support vector machine, "log" a logistic regression, which knows probabilities. A `Loss` of
        your own is handed the labels −1 and +1.
    alpha : float > 0
        The paper's λ. What others call it, for the same loss and weights:

        ==============================================  ============  =====================================================
        program                                         its alpha, C  its bias
        ==============================================  ============  =====================================================
        `SGDClassifier`                                 alpha = λ     not regularised
        `LinearSVC(loss="hinge")`, liblinear's ``-c``   C = 1/(λm)    regularised (``intercept_scaling=1``, ``-B 1``)
        `LogisticRegression`                            C = 1/(λm)    not regularised, except with ``solver="liblinear"``
        Vowpal Wabbit                                   ``--l2`` λ    regularised
        Vowpal Wabbit, ``--bfgs``                       ``--l2`` λm   regularised unless ``--no_bias_regularization``
        ==============================================  ============  =====================================================

    algorithm : {"casgd", "asgd", "csgd", "sgd"}
        With a c: on centred rows. With an a: the average of the iterates; otherwise the last one.
    average : {"weighted", "uniform"}
        Which average "casgd" and "asgd" take. "uniform" is the paper's; in "weighted" the iterate after step t counts t + t0
        times, so that the first, which are far off, are soon forgotten.
    t0 : "auto" or number >= 0
        Step t has the size 1/(alpha (t + t0)). "auto" is the paper's 0, except for the squared loss, which would overshoot:
        there it is `safe_t0`, R²/alpha with the largest R² = ‖x‖² + 1 of a row that can be drawn, centred if the algorithm is.
    n_epochs : int >= 1
        How many times to take as many steps as there are rows.
    n_steps : int >= 1, optional
        How many steps to take instead.
    sampling : {"iid", "permuted", "cyclic"}
        Which row a step takes: any, as in the paper; each once an epoch, in a new random order; or in the order given.
    random_state : int, numpy RandomState or Generator, optional
        With an int each fit draws the same; the indices are ``draw_indices(m, steps, random_state, sampling, weight)`` of
        `reference`. Generators are advanced. None draws anew each time. Nobody's global state is touched.
    class_weight : dict or "balanced", optional
        By what to multiply the sample weights of a class; "balanced": such that all classes weigh the same.
    warm_start : bool
        Whether `fit` goes on where the last call stopped, drawing further, instead of beginning anew: on the same rows, two
        fits of 5 epochs are then one of 10, to the bit.
    verbose : int
        If not 0, print t, F and the seconds after every epoch, at the cost of computing F.
    callback : callable (t, state), optional
        Called after every epoch with the number of steps and the `State`, or `States` of many classes: ``state.average()`` is
        the predictor so far, for O(n). What it raises ends the training.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    coef_ : ndarray of shape (1, n) for two classes, otherwise (K, n)
    intercept_ : ndarray of shape (1,) or (K,)
        w and b for raw rows. Predictions use what they hold, also after you change them, except that far from the origin,
        where b cannot hold the digits, the untouched ones are used in a form that can. Training that goes on has its own
        record of what was learned, and overwrites them.
    t_ : int
        The number of steps taken, over all calls that went on.
    t0_ : float
        The t0 that was used.
    n_iter_ : int
        The number of epochs of the last call.
    n_features_in_, feature_names_in_
        The columns, and their names if a DataFrame had some.

    Notes
    -----
    `sample_weight` says how often a row is drawn, compared with others; a step is always the same. Whole numbers count: the
    result is that of the rows ``np.repeat(X, sample_weight, axis=0)``, in this order, to the bit, and an epoch has as many
    steps as these. Of other weights only the proportions matter. Rows with the weight 0 are as good as absent.

    The defaults of alpha, n_epochs and average are from a table measured on two real sets, see `proofs.held_out`.

    Nothing of the rows is kept. Only the squared loss can overflow: if it does, FloatingPointError says so.

    Paper: Algorithms 1 to 3; weighted draws, the weighted average and t0 are beyond it.
    Cost: O(n + mk + Tk) for T steps, where a row has k stored entries; K times that for K > 2 classes.
    """

    _losses = ("hinge", "log")

    def __init__(
        self,
        loss="hinge",
        alpha=1e-4,
        *,
        algorithm="casgd",
        average="weighted",
        t0="auto",
        n_epochs=20,
        n_steps=None,
        sampling="iid",
        random_state=None,
        class_weight=None,
        warm_start=False,
        verbose=0,
        callback=None,
    ):
        self.loss = loss
        self.alpha = alpha
        self.algorithm = algorithm
        self.average = average
        self.t0 = t0
        self.n_epochs = n_epochs
        self.n_steps = n_steps
        self.sampling = sampling
        self.random_state = random_state
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.verbose = verbose
        self.callback = callback

    def fit(self, X, y, sample_weight=None):
        """Train on rows that are drawn as `sampling` says, for n_epochs or n_steps.

        Parameters
        ----------
        X : array-like, scipy.sparse container or DataFrame of shape (m, n)
        y : array-like of shape (m,)
            Labels of two or more classes, of any type that can be sorted.
        sample_weight : array-like of shape (m,), optional
            Numbers >= 0: how often each row is drawn, compared with others. See the class.

        Returns
        -------
        CASGDClassifier
            This one.

        Raises
        ------
        TypeError, ValueError
            Naming the argument, its value and what would be right; nothing was trained.
        FloatingPointError
            The iterates overflowed; names the step.

        Cost: O(n + mk + Tk); for K > 2 classes O(K) times that, but the rows are visited once, not K times.
        """
        self._check_parameters()
        going_on = bool(self.warm_start) and hasattr(self, "coef_")
        X, y = self._check_X(X, reset=not going_on, y=y)
        check_classification_targets(y)
        X, y, weight = _present(X, y, _as_weight(sample_weight, len(y)))
        if not going_on:
            self.classes_ = _check_classes(y)
        codes = self._codes(y)
        X, codes, weight = _present(X, codes, self._times_class_weight(codes, weight))
        if len(np.unique(codes)) < 2 and not going_on:
            raise ValueError("class_weight leaves rows of one class only: at least two classes must have a weight > 0")
        self._draw(self._problems(X, self._targets(codes)), weight, going_on)
        return self

    @_where_t0_is_known
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Take one step for each row, in order: chunk after chunk the same as one long run over all, to the bit.

        "casgd" and "csgd" keep the mean of the first call's rows for the origin. It need not be the mean of all: any origin
        near the rows does, and what is minimised depends on it through the bias only.

        Parameters
        ----------
        X, y : as in `fit`; y may lack some of the classes
        classes : array-like, optional
            All classes that will ever occur; the first call needs it.
        sample_weight : array-like of shape (m,), optional
            How many steps to take for each row, one after the other; of 2.3, two, and with probability 0.3 a third.

        Returns
        -------
        CASGDClassifier
            This one.

        Raises
        ------
        TypeError, ValueError, FloatingPointError
            As `fit`; and AttributeError for the squared loss with t0="auto", which would need the rows to come.

        Cost: O(n + mk), for m rows with k stored entries each.
        """
        self._check_parameters()
        going_on = hasattr(self, "coef_")
        if not going_on and classes is None:
            raise ValueError("classes must be given in the first call of partial_fit: all labels that will ever occur")
        if self.class_weight == "balanced":
            raise ValueError("class_weight='balanced' needs all labels, and partial_fit sees a few: give a dict of weights")
        X, y = self._check_X(X, reset=not going_on, y=y)
        check_classification_targets(y)
        if not going_on:
            self.classes_ = _check_classes(classes)
        elif classes is not None and not np.array_equal(self.classes_, np.unique(classes)):
            raise ValueError(f"classes must be those of the first call, {self.classes_}; got {np.unique(classes)}")
        codes, weight = self._codes(y), _as_weight(sample_weight, len(y))
        X, codes, weight = _present(X, codes, self._times_class_weight(codes, weight))
        self._visit(self._problems(X, self._targets(codes)), weight, going_on)
        return self

    def _codes(self, y) -> np.ndarray:
        """The places of the labels in `classes_`."""
        place = {label: code for code, label in enumerate(self.classes_.tolist())}
        values, inverse = np.unique(y, return_inverse=True)
        unknown = [value for value in values.tolist() if value not in place]
        if unknown:
            raise ValueError(f"y must hold labels among the classes {self.classes_}; got {unknown[0]!r}")
        return np.array([place[value] for value in values.tolist()])[inverse]

    def _times_class_weight(self, codes, weight):
        if self.class_weight is None:
            return weight
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            counts = np.bincount(codes, weight, minlength=len(self.classes_))  # scikit-learn < 1.7 does not count weights
            of_class = counts.sum() / (np.count_nonzero(counts) * np.maximum(counts, counts[counts > 0].min()))
        else:
            of_class = compute_class_weight(self.class_weight, classes=self.classes_, y=self.classes_[codes])
        product = of_class[codes] if weight is None else of_class[codes] * weight
        return check_weight(product, len(codes), "class_weight times sample_weight")

    def _targets(self, codes) -> list[np.ndarray]:
        """Labels -1 and +1: one vector for two classes, otherwise one for each class against the others."""
        positive = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        return [np.where(codes == code, 1.0, -1.0) for code in positive]

    def decision_function(self, X) -> np.ndarray:
        """w · x + b: positive for classes_[1], or the larger, the more a class of many is preferred to the others.

        Parameters
        ----------
        X : array-like, scipy.sparse container or DataFrame of shape (m, n)

        Returns
        -------
        ndarray of shape (m,), or (m, K) for K > 2 classes

        Raises
        ------
        ValueError
            Not finite, another number of columns than in training, or so large that a score overflows.

        Cost: O(mk), K times for K > 2 classes.
        """
        scores = self._scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X) -> np.ndarray:
        """The class that each row most likely belongs to, shape (m,); errors as `decision_function`."""
        scores = self.decision_function(X)
        return self.classes_[scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(int)]

    @available_if(lambda self: self._loss() == LOG)
    def predict_log_proba(self, X) -> np.ndarray:
        """The logarithms of `predict_proba`, with all digits where those are tiny; for the log-loss only."""
        scores = self._scores(X)
        if scores.shape[1] == 1:
            return log_expit(np.hstack([-scores, scores]))
        of_each = log_expit(scores)
        return of_each - logsumexp(of_each, axis=1, keepdims=True)

    @available_if(lambda self: self._loss() == LOG)
    def predict_proba(self, X) -> np.ndarray:
        """The probability of each class, 1/(1 + exp(−(w · x + b))), shape (m, K); for the log-loss only.

        For K > 2 classes it is that of each class against the others, scaled to a sum of 1. Errors as `decision_function`.
        """
        return np.exp(self.predict_log_proba(X))


class CASGDRegressor(RegressorMixin, _Linear):
    """A linear regressor for sparse rows, trained by centred averaged stochastic gradient descent (CASGD).

    It minimises F(w, b) = λ/2 (‖w‖² + b²) + (1/m) Σ_i ℓ(w · x_i + b, y_i), λ = alpha, and predicts w · x + b. That b is
    regularised, and why that does no harm on centred rows, is told in `CASGDClassifier`. The squared loss is (p − y)²/2.

    Parameters
    ----------
    loss : {"squared", "absolute"} or Loss
        "squared" makes it a ridge regression, "absolute" a median regression, a support vector regression with epsilon = 0.
    alpha : float > 0
        The paper's λ. What others call it, for the same loss and weights:

        =========================================  ============  ======================================================
        program                                    its alpha, C  its bias
        =========================================  ============  ======================================================
        `SGDRegressor`                             alpha = λ     not regularised
        `Ridge`                                    alpha = λm    not regularised
        `LinearSVR(epsilon=0)`, liblinear's ``-c`` C = 1/(λm)    regularised (``intercept_scaling=1``, ``-B 1``)
        Vowpal Wabbit, its squared loss (p − y)²   ``--l2`` 2λ   regularised
        Vowpal Wabbit, the same with ``--bfgs``    ``--l2`` 2λm  regularised unless ``--no_bias_regularization``
        =========================================  ============  ======================================================

    algorithm, average, t0, n_epochs, n_steps, sampling, random_state, warm_start, verbose, callback
        As in `CASGDClassifier`.

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
    intercept_ : ndarray of shape (1,)
    t_, t0_, n_iter_, n_features_in_, feature_names_in_
        As in `CASGDClassifier`.

    Notes
    -----
    With the squared loss and t0="auto" there is no `partial_fit`, since R² is not known before all rows are.

    Paper: Algorithms 1 to 3; weighted draws, the weighted average and t0 are beyond it.
    Cost: O(n + mk + Tk) for T steps, where a row has k stored entries.
    """

    _losses = ("squared", "absolute")

    def __init__(
        self,
        loss="squared",
        alpha=1e-4,
        *,
        algorithm="casgd",
        average="weighted",
        t0="auto",
        n_epochs=20,
        n_steps=None,
        sampling="iid",
        random_state=None,
        warm_start=False,
        verbose=0,
        callback=None,
    ):
        self.loss = loss
        self.alpha = alpha
        self.algorithm = algorithm
        self.average = average
        self.t0 = t0
        self.n_epochs = n_epochs
        self.n_steps = n_steps
        self.sampling = sampling
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.callback = callback

    def fit(self, X, y, sample_weight=None):
        """Train on rows that are drawn as `sampling` says, for n_epochs or n_steps; as `CASGDClassifier.fit`, y real."""
        self._check_parameters()
        going_on = bool(self.warm_start) and hasattr(self, "coef_")
        X, y, weight = self._check_rows(X, y, sample_weight, going_on)
        self._draw(self._problems(X, [y]), weight, going_on)
        return self

    @_where_t0_is_known
    def partial_fit(self, X, y, sample_weight=None):
        """Take one step for each row, in order; as `CASGDClassifier.partial_fit`, y real.

        With the squared loss t0 must be a number: "auto" would need the rows to come, and there is no such attribute then.
        """
        self._check_parameters()
        going_on = hasattr(self, "coef_")
        X, y, weight = self._check_rows(X, y, sample_weight, going_on)
        self._visit(self._problems(X, [y]), weight, going_on)
        return self

    def _check_rows(self, X, y, sample_weight, going_on: bool):
        loss = self._loss()
        if loss.binary:
            raise ValueError(f"loss must be one for real labels; got the {loss.name} loss, which is for labels -1 and +1")
        X, y = self._check_X(X, reset=not going_on, y=y, y_numeric=True)
        return _present(X, y, _as_weight(sample_weight, len(y)))

    def _keep(self, state, models, epochs):
        super()._keep(state, models, epochs)
        self.coef_ = self.coef_[0]

    def predict(self, X) -> np.ndarray:
        """w · x + b for every row, shape (m,); errors as `CASGDClassifier.decision_function`."""
        return self._scores(X)[:, 0]


def _check_choice(name: str, value, choices: tuple[str, ...], also: str = "") -> None:
    if not (isinstance(value, str) and value in choices):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}{also}; got {value!r}")


def _check_number(name: str, value, kind, least, wanted: str) -> None:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, kind):
        raise TypeError(f"{name} must be {wanted}; got {value!r}")
    if not least <= value < math.inf:
        raise ValueError(f"{name} must be {wanted}; got {value!r}")


def _check_counts(counts: np.ndarray) -> int:
    """The sum of whole weights, refused if it would take hours to visit so many rows."""
    total = int(counts.sum())
    if total > MOST_COUNTS:
        raise ValueError(
            f"sample_weight and class_weight together stand for {total} rows, since whole numbers say how often each occurs: "
            "divide them by a number such that they are smaller, or no longer whole; what counts is then their proportion"
        )
    return total


def _check_classes(labels) -> np.ndarray:
    classes = np.unique(labels)
    if len(classes) < 2:
        raise ValueError(f"the number of classes has to be greater than one; got {len(classes)} class: {classes}")
    return classes


def _as_weight(sample_weight, m: int) -> np.ndarray | None:
    return None if sample_weight is None else check_weight(sample_weight, m, "sample_weight")


def _present(X, y, weight):
    """The rows whose weight is not 0: the others are as good as absent."""
    if weight is None or weight.all():
        return X, y, weight
    present = np.flatnonzero(weight)
    return X[present], y[present], weight[present]


def _matrix(rows: Rows) -> sp.csr_array:
    return sp.csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.m, rows.n))


def _agree(predictors: list[Predictor], w: np.ndarray, b: np.ndarray) -> bool:
    """Whether coef_ and intercept_ are still those that were trained."""
    implicit = [predictor.implicit() for predictor in predictors]
    return np.array_equal(w, [one.w for one in implicit]) and np.array_equal(b, [one.b for one in implicit])
