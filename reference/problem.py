"""The problem, validated once, and its solutions: the objective F of eq. 1, its subgradient, linear predictors."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .arithmetic import check_lam, number_type
from .losses import Loss, get_loss, in_exact
from .rows import Rows, as_array, as_rows
from .sampling import check_indices


@dataclass(frozen=True, eq=False)
class Predictor:
    """A linear predictor: it predicts w · x + b, or w · (x − x̄) + b in its explicit form.

    Parameters
    ----------
    w : ndarray of shape (n,)
        The weights.
    b : number
        The bias. With implicit centring this is the paper's b', and it applies to raw feature vectors.
    xbar : ndarray of shape (n,), optional
        The mean feature vector, if this is the explicit form of a centred predictor.

    Paper: Section "Centering and Translation Invariance"; eq. 11 (eqn:explicitToImplicit) links the two forms.
    """

    w: np.ndarray
    b: Any
    xbar: np.ndarray | None = None

    def predict(self, X) -> np.ndarray:
        """The prediction for every row of X (raw, uncentred feature vectors).

        Parameters
        ----------
        X : array-like or scipy.sparse container of shape (m, n)

        Returns
        -------
        ndarray of shape (m,)

        Raises
        ------
        TypeError, ValueError
            X is not a finite matrix of real numbers with n columns.

        Cost: O(n + mk) in the implicit form; O(mn) in the explicit form, which makes every row dense.
        """
        rows = as_rows(X, number_type(self.b))
        if rows.n != len(self.w):
            raise ValueError(f"X must have {len(self.w)} columns, as in training; got {rows.n}")
        if self.xbar is None:
            return rows.dot(self.w) + self.b
        return np.array([(rows.dense(i) - self.xbar) @ self.w + self.b for i in range(rows.m)])

    def implicit(self) -> "Predictor":
        """The same predictor with x̄ hidden in the bias: b' = b − w · x̄, eq. 11."""
        if self.xbar is None:
            return self
        return Predictor(self.w, self.b - self.w @ self.xbar)

    def explicit(self, xbar) -> "Predictor":
        """The same predictor with the bias of the centred data: b = b' + w · x̄, eq. 11 read backwards."""
        plain = self.implicit()
        return Predictor(plain.w, plain.b + plain.w @ xbar, xbar)


class Problem:
    """L2-regularised linear learning: minimise F(w, b) = λ/2 (‖w‖² + b²) + (1/m) Σ_i ℓ(w · x_i + b, y_i).

    The bias b is regularised, as in the paper; that is what makes F depend on the origin and centring worth while.
    Everything is validated here, once; the algorithms trust a Problem.

    Parameters
    ----------
    X : array-like, scipy.sparse array or matrix, or DataFrame, of shape (m, n)
        The feature vectors. Held as `Rows`; see `as_rows` for what is copied.
    y : array-like of shape (m,)
        The labels: finite numbers, and -1 or +1 where the loss says so (hinge, log).
    loss : {"absolute", "squared", "hinge", "log"} or Loss
    lam : float, Fraction or sympy expression
        The regularisation λ > 0. Its type chooses the arithmetic: float64, exact rationals, or symbols.

    Raises
    ------
    TypeError, ValueError
        Naming the argument, its value and what would be right.

    Paper: Section 1, eq. 1 (eqn:objective).
    Cost: O(n + mk).
    """

    def __init__(self, X, y, loss: str | Loss, lam):
        self.lam: Any = check_lam(lam)
        self.number: Any = number_type(self.lam)
        self.loss = get_loss(loss)
        self.X: Rows = as_rows(X, self.number)
        self.y = _as_labels(y, self.m, self.number, self.loss)
        if self.number is not np.float64:
            self.loss = in_exact(self.loss)

    @property
    def m(self) -> int:
        """The number of examples."""
        return self.X.m

    @property
    def n(self) -> int:
        """The number of features."""
        return self.X.n

    @cached_property
    def xbar(self) -> np.ndarray:
        """The mean feature vector x̄."""
        return self.X.mean()

    def objective(self, predictor: Predictor, centred: bool = False):
        """F(w, b), eq. 1 (eqn:objective); with `centred`, the F of the rows x_i − x̄, which csgd and casgd minimise.

        Parameters
        ----------
        predictor : Predictor
            In either form; its predictions are the same.
        centred : bool
            Which bias is regularised: b' of the raw rows, or b = b' + w · x̄ of the centred ones.

        Cost: O(n + mk).
        """
        at, p = self._at(predictor, centred)
        losses = self._each(self.loss.value, p)
        return self.lam / 2 * (at.w @ at.w + at.b * at.b) + losses.sum() / self.m

    def subgradient(self, predictor: Predictor, centred: bool = False) -> tuple[np.ndarray, Any]:
        """∇F(w, b) as (∂w, ∂b), eq. 2 (eqn:gradient), with the subderivatives of Table 1 at the kinks (E12).

        Cost: O(n + mk).
        """
        at, p = self._at(predictor, centred)
        g = self._each(self.loss.derivative, p)
        total = g.sum()
        from_losses = self.X.transpose_dot(g)
        if at.xbar is not None:
            from_losses = from_losses - total * at.xbar
        return self.lam * at.w + from_losses / self.m, self.lam * at.b + total / self.m

    def stochastic_gradient(self, predictor: Predictor, i: int, centred: bool = False) -> tuple[np.ndarray, Any]:
        """λ[w, b] + ℓ'(p_i, y_i)[x_i, 1]: what a step takes for ∇F; its mean over i is exactly that.

        Paper: Section "Stochastic Gradient Descent", the display after eq. 2.
        Raises ValueError if i is not a row number in 0..m-1.

        Cost: O(n).
        """
        (i,) = check_indices([i], self.m)
        at = predictor.explicit(self.xbar) if centred else predictor.implicit()
        x = self.X.dense(i) - self.xbar if centred else self.X.dense(i)
        g = self.loss.derivative(at.w @ x + at.b, self.y[i])
        return self.lam * at.w + g * x, self.lam * at.b + g

    def _at(self, predictor: Predictor, centred: bool) -> tuple[Predictor, np.ndarray]:
        """The predictor in the form whose bias is regularised, and its predictions on the training set."""
        if len(predictor.w) != self.n:
            raise ValueError(f"predictor must have {self.n} weights, one for each column of X; got {len(predictor.w)}")
        plain = predictor.implicit()
        return plain.explicit(self.xbar) if centred else plain, self.X.dot(plain.w) + plain.b

    def _each(self, function, p) -> np.ndarray:
        """ℓ or ℓ' at every prediction and label, in the problem's arithmetic."""
        return np.array([self.number(function(p_i, y_i)) for p_i, y_i in zip(p, self.y, strict=True)], dtype=self.y.dtype)


def _as_labels(y, m: int, number, loss: Loss) -> np.ndarray:
    y = as_array(y, "y")
    if y.shape != (m,):
        raise ValueError(f"y must have one label for each of the {m} rows of X, shape ({m},); got shape {y.shape}")
    if y.dtype.kind not in "fiubO":
        raise TypeError(f"y must hold real numbers; got dtype {y.dtype}")
    try:
        if number is np.float64:
            if y.dtype == object and any(isinstance(label, (str, bytes)) for label in y):
                raise TypeError("got text")
            with np.errstate(over="ignore"):
                labels = np.array(y, dtype=np.float64)  # a copy, which nobody can change behind our back
            if not np.isfinite(labels).all():
                raise ValueError(f"got {labels[~np.isfinite(labels)][0]}")
        else:
            labels = np.empty(m, dtype=object)
            for i, label in enumerate(y):
                labels[i] = number(label)
    except (TypeError, ValueError, OverflowError) as error:
        problem = TypeError if isinstance(error, TypeError) else ValueError
        shown = "" if number is np.float64 else f"; got {label!r}"
        raise problem(f"y must hold finite real numbers: {error}{shown}") from None
    if loss.binary:
        wrong = labels[(labels != -1) & (labels != 1)]
        if len(wrong):
            raise ValueError(
                f"y must hold the labels -1 and +1 for the {loss.name} loss; got {wrong[0]}. "
                "Map your two classes, for example y = np.where(y == positive, 1.0, -1.0)"
            )
    return labels
