"""Offer the algorithms as scikit-learn estimators: pipelines, grid searches, sparse matrices, DataFrames, streams.

λ, the strength of the regularisation, is called `alpha` here, and other programs have other names and scales for it. They
minimise the same F, but for the bias, with

| program, for m rows                                      | parameter | value               | bias regularised |
| -------------------------------------------------------- | --------- | ------------------- | ---------------- |
| the paper                                                | λ         | λ                   | yes              |
| `CASGDClassifier`, `CASGDRegressor`                      | alpha     | λ                   | yes              |
| scikit-learn's `SGDClassifier`, `SGDRegressor`           | alpha     | λ                   | no               |
| `LogisticRegression`                                     | C         | 1/(λm)              | no               |
| `LinearSVC(loss="hinge")`, `LinearSVR(epsilon=0)`        | C         | 1/(λm)              | yes              |
| `Ridge`                                                  | alpha     | λm                  | no               |
| liblinear, as its -s 0 (log), -s 3 (hinge)               | -c        | 1/(λm)              | with -B 1        |
| Vowpal Wabbit without --bfgs                             | --l2      | λ; 2λ if squared    | yes              |

Rows about scikit-learn's solvers are tested; those about the last two programs follow their documentation. The squared loss of
Vowpal Wabbit has no factor ½.

The bias of `CASGDClassifier` and `CASGDRegressor` is regularised, as in the paper: λ/2 (‖w‖² + b²). With the centred
algorithms, `casgd` (the default) and `csgd`, that is harmless: b is then the prediction at the mean of the rows, not at an
origin that may be far from all of them, and the result does not depend on the origin.
"""

from collections.abc import Mapping
from typing import Self

import numpy as np
from joblib import effective_n_jobs
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, unique_labels

from reference.arithmetic import unsignalled
from reference.losses import get_loss
from reference.sampling import check_weight

from ..runs.run import Run
from ..training.classes import decide
from ..training.metrics import losses_of
from ..training.settings import DEFAULTS, EPOCHS
from .fitting import AUTO, LinearEstimator, is_whole


class CASGDClassifier(ClassifierMixin, LinearEstimator):
    """Linear classifier, trained by averaged SGD on centred rows that are never made dense.

    Parameters
    ----------
    loss : {"hinge", "log"}, or a Loss
        "hinge" is a support vector machine; "log" is logistic regression, with probabilities. Any loss for labels -1 and +1
        in `reference.LOSSES` can be named; your own is given as a `Loss`.
    alpha : float > 0
        λ of the paper; the table at the head of this module has its names elsewhere. The bias is regularised too.
    algorithm : {"casgd", "asgd", "csgd", "sgd"}
        "c": on centred rows, for which a regularised bias is harmless. "a": the average of the iterates, not the last one.
    average : {"weighted", "uniform"}
        Averaging weights of casgd and asgd for the iterate of step t: t, or 1 as in the paper. The others have no average.
    t0 : "auto" or float >= 0
        The steps are 1/(alpha (t + t0)). "auto" is 0, as in the paper, for a loss with a `slope_bound`. For one without, such
        as the squared loss, it is R²/alpha: R² is the greatest squared length of a row [x, 1] that can be drawn, centred where
        the algorithm is.
    n_epochs : int >= 1
        Length of the training in units of the number of rows; integer sample weights count as repeated rows.
    n_steps : int >= 1, optional
        Length of the training in steps, in place of n_epochs.
    sampling : {"auto", "iid", "permuted", "blocked", "cyclic"}
        Rows are drawn with replacement as in the paper, each once an epoch in a new order or in one of blocks, as
        `reference.draw_indices` says, or as they stand. "auto" is "permuted", but "iid" for weights that are not whole numbers
        or add up to more than 2²⁶. The paper's guarantee is for "iid" alone.
    random_state : int, Generator, RandomState or None
        An int gives the same model every time. None draws differently every time, and not from numpy's global generator.
    class_weight : dict, "balanced" or None
        The weight of each class, which multiplies the sample_weight of its rows. "balanced" makes the classes equally frequent.
    verbose : bool
        Print the objective, the quality on the rows and the seconds of each epoch, at the cost of an evaluation of all rows.
    callback : callable (t, estimator), optional
        Called by fit after each epoch, with the estimator as it is after t steps.
    warm_start : bool
        Let `fit` resume the last one: its t, sums, mean of the rows and random numbers. Two warm fits of one epoch give the
        bits of one fit of two epochs.
    n_jobs : int, optional
        How many threads share the models of more than two classes, four or more each, as scikit-learn counts: None is 1,
        unless `joblib.parallel_config` says otherwise, and -1 all processors. The bits are the same whatever the number.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted. A positive decision is for classes_[1].
    coef_ : ndarray of shape (1, n), or (n_classes, n) for more than two classes, each against the rest
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Bias for raw rows, the paper's b'.
    t_, n_iter_ : int
        Number of steps so far, and of (begun) epochs of the last fit.
    n_features_in_, feature_names_in_
        As in every scikit-learn estimator.

    Notes
    -----
    Rows are drawn in proportion to their `sample_weight`, and every step has its full length. Integer weights say how often a
    row occurs: they give the bits of `np.repeat(X, sample_weight)`, and weights of 1 those of no weights. A row of weight 0 is
    as good as absent.

    Columns of very different sizes, such as years beside incomes, make steps that suit none of them: scale them first, sparse
    ones by `MaxAbsScaler` for example. Ctrl-C ends fit within a second, and leaves the estimator as it is after t_ steps.

    Models of several classes are trained in one pass over the rows, on the same drawn examples.

    The defaults of alpha, n_epochs, average and sampling were chosen by `python -m proofs.measured --defaults`. Few rows mean
    few steps, and the first ones have the size 1/alpha: for small data take more epochs or a larger alpha.

    Paper: Algorithms 1 to 3.
    Cost: O(K(n + Tk)) for K models, and O(mk) for the mean of the rows.
    """

    _binary = True

    def __init__(
        self,
        loss=DEFAULTS.loss,
        *,
        alpha=DEFAULTS.lam,
        algorithm=DEFAULTS.algorithm,
        average=DEFAULTS.average,
        t0=DEFAULTS.t0,
        n_epochs=EPOCHS,
        n_steps=None,
        sampling=AUTO,
        random_state=None,
        class_weight=None,
        verbose=False,
        callback=None,
        warm_start=False,
        n_jobs=None,
    ):
        given = locals()
        super().__init__(**{name: given[name] for name in LinearEstimator._get_param_names()})
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    @unsignalled
    def fit(self, X, y, sample_weight=None) -> Self:
        """Train on the rows of X and their labels.

        Parameters
        ----------
        X : array-like, scipy.sparse container or DataFrame of shape (m, n)
        y : array-like of shape (m,), labels of any kind
        sample_weight : array-like of shape (m,), optional
            Numbers >= 0, see Notes.

        Raises
        ------
        ValueError, TypeError
            Unusable parameters, rows or labels; no step was taken.
        FloatingPointError
            The iterates overflowed; names the step.
        """
        return self._fit(X, y, sample_weight)

    @available_if(LinearEstimator._steps_are_known)
    @unsignalled
    def partial_fit(self, X, y, classes=None, sample_weight=None) -> Self:
        """Resume with these rows, each once and in order: chunks give the bits of one long run over all of them.

        The centred algorithms keep the mean of the rows of the first call. Weights must be integers; after the first call a
        batch without any weight takes no step. With a loss without a `slope_bound`, `t0` must be a number: while it is "auto"
        the method is missing. Parameters and errors as `fit`, and:

        Parameters
        ----------
        classes : array-like of shape (n_classes,)
            All labels that will come, on the first call.
        """
        return self._fit(X, y, sample_weight, stream=True, classes=classes)

    @unsignalled
    def decision_function(self, X) -> np.ndarray:
        """Compute w · x + b of each row: shape (m,), positive for classes_[1]; or (m, n_classes) for more than two classes."""
        decisions = self._scores(X)
        return decisions.ravel() if len(self.classes_) == 2 else decisions

    @unsignalled
    def predict(self, X) -> np.ndarray:
        """Predict the label of each row: the class with the greatest decision."""
        return decide(self._scores(X), self.classes_)

    def _has_probabilities(self) -> bool:
        loss = get_loss(self.loss)
        if loss.probability is None:
            raise AttributeError(f"loss must have probabilities, as the log loss has; got the {loss.name} loss")
        return True

    @available_if(_has_probabilities)
    @unsignalled
    def predict_proba(self, X) -> np.ndarray:
        """Predict the probability of each class, shape (m, n_classes); for more than two each against the rest, normalised."""
        return np.exp(self.predict_log_proba(X))

    @available_if(_has_probabilities)
    @unsignalled
    def predict_log_proba(self, X) -> np.ndarray:
        """Predict the logarithm of `predict_proba`, finite even where that is 0."""
        decisions, loss = self._scores(X), get_loss(self.loss)  # of which the loss is −log P(y)
        label = np.ones(len(decisions))
        if len(self.classes_) == 2:
            return -np.column_stack([losses_of(loss, decisions[:, 0], -label), losses_of(loss, decisions[:, 0], label)])
        each = -np.column_stack([losses_of(loss, of_class, label) for of_class in decisions.T])
        return each - logsumexp(each, axis=1, keepdims=True)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not (self.class_weight is None or isinstance(self.class_weight, Mapping) or self._is_balanced()):
            raise ValueError(f"class_weight must be None, 'balanced' or a dict {{label: weight}}; got {self.class_weight!r}")
        if not (self.n_jobs is None or (is_whole(self.n_jobs) and self.n_jobs != 0)):
            raise ValueError(
                f"n_jobs must be None or an integer other than 0, such as -1 for all processors; got {self.n_jobs!r}"
            )

    def _jobs(self) -> int:
        return effective_n_jobs(self.n_jobs)

    def _is_balanced(self) -> bool:
        return isinstance(self.class_weight, str) and self.class_weight == "balanced"

    def _find_classes(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        _check_labels(y)
        return _several(np.unique(y if weight is None else y[np.nonzero(weight)]))

    def _known_classes(self, y: np.ndarray, classes, resumed: bool) -> np.ndarray:
        if self._is_balanced():
            raise ValueError("class_weight must be a dict in partial_fit, which does not have all rows; got 'balanced'")
        if classes is None and not resumed:
            raise ValueError("classes must be all labels to come on the first call to partial_fit; got None")
        _check_labels(y)
        known = self.classes_ if classes is None else _several(unique_labels(classes))
        if not np.isin(y, known).all():
            unknown = y[~np.isin(y, known)].tolist()[0]
            raise ValueError(f"y must hold labels among the classes {known.tolist()}; got {unknown!r}")
        return known

    def _drawn(self, y: np.ndarray, classes: np.ndarray | None, weight: np.ndarray | None, some: bool) -> np.ndarray | None:
        if self.class_weight is None or classes is None:
            return weight
        weight = np.ones(len(y)) if weight is None else weight
        if self._is_balanced():
            frequent = np.array([weight[y == each].sum() for each in classes])
            of_classes = weight.sum() / (len(classes) * frequent)
        else:
            try:
                of_classes = compute_class_weight(self.class_weight, classes=classes, y=classes)
            except (TypeError, ValueError, OverflowError) as error:
                raise ValueError(f"class_weight must hold a number for each class: {error}") from None
        with np.errstate(over="ignore", invalid="ignore"):
            weight = weight * np.select([y == each for each in classes], list(of_classes))
        return check_weight(weight, len(y), "sample_weight times class_weight", some=some)


def _check_labels(y: np.ndarray) -> None:
    with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn tries whether they are integers
        check_classification_targets(y)


def _several(classes: np.ndarray) -> np.ndarray:
    if len(classes) < 2:
        raise ValueError(f"y must have two classes or more; got one class only, {classes.tolist()}")
    return classes


class CASGDRegressor(RegressorMixin, LinearEstimator):
    """Linear regression, trained by averaged SGD on centred rows that are never made dense.

    Parameters, attributes and notes are those of `CASGDClassifier` but for classes, and:

    Parameters
    ----------
    loss : {"absolute", "squared"}, or a Loss
        ½(p − y)², the default, is ridge regression, |p − y| robust regression.

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
    intercept_ : ndarray of shape (1,)

    Paper: Algorithms 1 to 3.
    Cost: O(n + Tk), and O(mk) for the mean of the rows.
    """

    @unsignalled
    def fit(self, X, y, sample_weight=None) -> Self:
        """Train on the rows of X and the numbers y of shape (m,); parameters and errors as `CASGDClassifier.fit`."""
        return self._fit(X, y, sample_weight)

    @available_if(LinearEstimator._steps_are_known)
    @unsignalled
    def partial_fit(self, X, y, sample_weight=None) -> Self:
        """Resume with these rows, each once and in order, as `CASGDClassifier.partial_fit` does.

        With the squared loss `t0` must be a number: while it is "auto" the method is missing, and the error says why.
        """
        return self._fit(X, y, sample_weight, stream=True)

    @unsignalled
    def predict(self, X) -> np.ndarray:
        """Predict the number of each row, w · x + b."""
        return self._scores(X).ravel()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if get_loss(self.loss).binary:
            raise ValueError(f"loss must be one for numbers; got the {get_loss(self.loss).name} loss. Use CASGDClassifier")

    def _keep(self, states: Run, epochs: int) -> None:
        super()._keep(states, epochs)
        self.coef_ = self.coef_.ravel()
