"""Learning problem, validated once, its objective F (eq. 1) and subgradient, and linear predictors."""

import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .arithmetic import balls_of, check_defined, check_lam, check_predictions, number_type, shown, unsignalled
from .losses import Loss, get_loss, in_exact
from .rows import BLOCK, Rows, as_rows, one_each, owned, sealed
from .sampling import check_indices, check_weight, mean_row


@dataclass(frozen=True, eq=False)
class Predictor:
    """Linear predictor: w · x + b, or w · (x − x̄) + b in its explicit form.

    Parameters
    ----------
    w : ndarray of shape (n,)
        The weights.
    b : number
        The bias. With implicit centring this is the paper's b', and it applies to raw feature vectors.
    xbar : ndarray of shape (n,), optional
        The mean feature vector, or another origin, if this is the explicit form of a centred predictor.
    pivoted : Predictor, optional
        The same predictor in the explicit form around a pivot, an origin near the data. Its predictions keep all digits
        where b' = b − w · pivot is a difference of large numbers; see `efficient.runs.centring`.

    Paper: Section "Centering and Translation Invariance"; eq. 11 (eqn:explicitToImplicit) links the two forms.
    """

    w: np.ndarray
    b: Any
    xbar: np.ndarray | None = None
    pivoted: "Predictor | None" = None

    @unsignalled
    def predict(self, X) -> np.ndarray:
        """Predict for every row of X (raw, uncentred feature vectors).

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
        FloatingPointError
            A prediction overflows float64; names the row.

        Cost: O(n + mk) in the implicit form. In the explicit form O(n + mk + ml), where l columns of x̄ are not 0: only these
            are made dense, a block of rows at a time.
        """
        rows = as_rows(X, number_type(self.b))
        if rows.n != len(self.w):
            raise ValueError(f"X must have {len(self.w)} columns, as in training; got {rows.n}")
        return check_predictions(self._on(rows))

    def _on(self, rows: Rows) -> np.ndarray:
        if self.pivoted is not None:
            return self.pivoted._on(rows)
        if self.xbar is None or not self.xbar.any():
            return rows.dot(self.w) + self.b
        apart = self.xbar.astype(bool)
        columns, place = np.flatnonzero(apart), np.cumsum(apart) - 1
        predictions = rows.dot(np.where(apart, 0, self.w)) + self.b
        size = max(1, BLOCK * rows.m // (rows.m * len(columns) + len(rows.data)))
        for first in range(0, rows.m, size):
            starts = rows.indptr[first : first + size + 1]
            stored = slice(starts[0], starts[-1])
            entries = np.flatnonzero(apart[rows.indices[stored]])
            i = np.searchsorted(starts - starts[0], entries, side="right") - 1
            j = place[rows.indices[stored][entries]]
            offset = np.tile(-self.xbar[columns], (len(starts) - 1, 1))
            offset[i, j] += rows.data[stored][entries]
            predictions[first : first + size] += offset @ self.w[columns]
        return predictions

    @unsignalled
    def implicit(self) -> "Predictor":
        """Hide x̄ in the bias: the same predictor with b' = b − w · x̄, eq. 11.

        b' holds no more digits than float64 has. Where ‖x̄‖ is large for the spread of the rows, the predictions w · x + b'
        lose about eps·‖x̄‖/spread, relative to how much they vary. The explicit form does not.
        """
        if self.xbar is None:
            return self
        return Predictor(self.w, self.b - self.w @ self.xbar)  # eq. 11 (eqn:explicitToImplicit)

    @unsignalled
    def explicit(self, xbar) -> "Predictor":
        """Take x̄ out of the bias: the same predictor with b = b' + w · x̄, eq. 11 read backwards."""
        origin = self if self.pivoted is None else self.pivoted
        distance = xbar if origin.xbar is None else xbar - origin.xbar
        return Predictor(self.w, origin.b + self.w @ distance, xbar)  # eq. 11 (eqn:explicitToImplicit), for b


class Problem:
    """L2-regularised linear learning: minimise F(w, b) = λ/2 (‖w‖² + b²) + (1/m) Σ_i ℓ(w · x_i + b, y_i).

    The bias b is regularised, as in the paper; so F depends on the origin, which is why centring is worth while.
    All input is validated here, once; the algorithms trust a Problem. So it keeps arrays of its own, which are read-only:
    whatever the caller writes into X, y or the weights afterwards, the Problem is the same.

    Parameters
    ----------
    X : array-like, scipy.sparse array or matrix, or DataFrame, of shape (m, n)
        The feature vectors, held as `Rows`. They are copied, unless their memory can be read only, as that of bytes and of
        memory maps opened for reading. The file of such a map must not change while the Problem is used.
    y : array-like of shape (m,)
        The labels: finite numbers, and -1 or +1 where the loss says so (hinge, log).
    loss : {"absolute", "squared", "hinge", "log"} or Loss
    lam : float, Fraction or sympy expression
        The regularisation λ > 0. Its type chooses the arithmetic: float64, exact rationals, or symbols.
    sample_weight : array-like of shape (m,), optional
        Sample weights s_i >= 0, not all 0: F has (1/m) Σ_i s_i ℓ_i, a step's ℓ' is multiplied by the weight of its example,
        and x̄ is the weighted mean. The paper has s_i = 1.

    Raises
    ------
    TypeError, ValueError
        Names the argument, its condition and its value.

    Paper: Section 1, eq. 1 (eqn:objective).
    Cost: O(n + mk).
    """

    @unsignalled
    def __init__(self, X, y, loss: str | Loss, lam, sample_weight=None):
        self.lam: Any = check_lam(lam)
        self.number: Any = number_type(self.lam)
        self.loss = get_loss(loss)
        self.X: Rows = owned(as_rows(X, self.number))
        self.y = _check_labels(y, self.m, self.number, self.loss)
        if sample_weight is None:
            self.sample_weight = np.broadcast_to(sealed(np.array(self.number(1))), self.m)  # broadcast 1, no memory
        else:
            self.sample_weight = sealed(check_weight(sample_weight, self.m, "sample_weight", self.number))
        if balls := balls_of(self.lam):
            self.loss = balls.in_balls(self.loss)
        elif self.number is not np.float64:
            self.loss = in_exact(self.loss)

    def __setstate__(self, kept: dict[str, Any]) -> None:
        """Own the arrays of a copy or a pickle as well."""
        vars(self).update(kept)
        if self.y.flags.writeable:  # a deep copy
            self.X = self.X._replace(data=sealed(self.X.data), indices=sealed(self.X.indices), indptr=sealed(self.X.indptr))
            self.y, self.sample_weight = sealed(self.y), sealed(self.sample_weight)

    def variant(self, y=None, lam=None) -> "Problem":
        """Make the same problem with other labels or another λ; its rows are neither copied nor validated again.

        Parameters
        ----------
        y : array-like of shape (m,), optional
            The labels; those of this problem by default.
        lam : number > 0, optional
            The regularisation λ, in the arithmetic that the rows are in; that of this problem by default.

        Raises
        ------
        TypeError, ValueError
            As for a new Problem, or λ is in another arithmetic.

        Paper: none; labels of one class against the rest, and values of λ to choose from, are its usual uses.
        Cost: O(m), or O(1) where only λ changes.
        """
        changed = copy.copy(self)
        if lam is not None:
            changed.lam = check_lam(lam)
            if number_type(changed.lam) is not self.number:
                raise TypeError(
                    f"lam must be of the type that chose the arithmetic of these rows, as {shown(self.lam)} is; "
                    f"got {shown(lam)}. Make a new Problem for another arithmetic"
                )
        if y is not None:
            changed.y = _check_labels(y, self.m, self.number, self.loss)
        return changed

    @property
    def m(self) -> int:
        """Number of examples."""
        return self.X.m

    @property
    def n(self) -> int:
        """Number of features."""
        return self.X.n

    @cached_property
    @unsignalled
    def xbar(self) -> np.ndarray:
        """Mean feature vector x̄, weighted as the examples are."""
        return sealed(mean_row(self.X, self.sample_weight))

    @unsignalled
    def objective(self, predictor: Predictor, centred: bool = False):
        """Compute F(w, b), eq. 1; with `centred`, the F of the rows x_i − x̄, which csgd and casgd minimise.

        Parameters
        ----------
        predictor : Predictor
            In either form; its predictions are the same.
        centred : bool
            Regularise b = b' + w · x̄ of the centred rows in place of b' of the raw ones.

        Raises FloatingPointError if a prediction overflows float64; F itself may be infinite.

        Paper: Section 1, eq. 1 (eqn:objective).
        Cost: O(n + mk).
        """
        at, p = self._at(predictor, centred)
        losses = self.sample_weight * self._each(self.loss.value, p)
        F = self.lam / 2 * (at.w @ at.w + at.b * at.b) + losses.sum() / self.m  # eq. 1 (eqn:objective)
        check_defined("F(w, b)", F)
        return F

    @unsignalled
    def subgradient(self, predictor: Predictor, centred: bool = False) -> tuple[np.ndarray, Any]:
        """Compute ∇F(w, b) as (∂w, ∂b), with the subderivatives of Table 1 at the kinks (E12).

        Paper: Section "Stochastic Gradient Descent", eq. 2 (eqn:gradient).
        Cost: O(n + mk).
        """
        at, p = self._at(predictor, centred)
        g = self.sample_weight * self._each(self.loss.derivative, p)
        total = g.sum()
        from_losses = self.X.transpose_dot(g)
        if at.xbar is not None:
            from_losses = from_losses - total * at.xbar
        dw, db = self.lam * at.w + from_losses / self.m, self.lam * at.b + total / self.m  # eq. 2 (eqn:gradient)
        check_defined("∇F(w, b)", dw, db)
        return dw, db

    @unsignalled
    def stochastic_gradient(self, predictor: Predictor, i: int, centred: bool = False) -> tuple[np.ndarray, Any]:
        """Compute λ[w, b] + ℓ'(p_i, y_i)[x_i, 1], which a step takes for ∇F; its mean over i is ∇F exactly.

        Paper: Section "Stochastic Gradient Descent", the display after eq. 2.
        Raises ValueError if i is not a row number in 0..m-1.

        Cost: O(n).
        """
        (i,) = check_indices([i], self.m)
        at = predictor.explicit(self.xbar) if centred else predictor.implicit()
        x = self.X.dense(i) - self.xbar if centred else self.X.dense(i)
        g = self.sample_weight[i] * self.loss.derivative(at.w @ x + at.b, self.y[i])
        dw, db = self.lam * at.w + g * x, self.lam * at.b + g  # the display after eq. 2 (eqn:gradient)
        check_defined("the gradient at one example", dw, db)
        return dw, db

    def _at(self, predictor: Predictor, centred: bool) -> tuple[Predictor, np.ndarray]:
        """Bring the predictor into the form whose bias is regularised, and predict the training set."""
        if len(predictor.w) != self.n:
            raise ValueError(f"predictor must have {self.n} weights, one for each column of X; got {len(predictor.w)}")
        plain = predictor.implicit()
        return plain.explicit(self.xbar) if centred else plain, check_predictions((predictor.pivoted or plain)._on(self.X))

    def _each(self, function, p) -> np.ndarray:
        """Compute ℓ or ℓ' at every prediction and label, in the problem's arithmetic."""
        return np.array([self.number(value) for value in map(function, p, self.y)], dtype=self.y.dtype)


def _check_labels(y, m: int, number, loss: Loss) -> np.ndarray:
    labels = sealed(one_each("y", y, m, number))
    if loss.binary:
        wrong = labels[(labels != -1) & (labels != 1)]
        if len(wrong):
            raise ValueError(
                f"y must hold the labels -1 and +1 for the {loss.name} loss; got {wrong[0]}. "
                "Map your two classes, for example y = np.where(y == positive, 1.0, -1.0)"
            )
    return labels
