"""Settings of a training and their defaults, which the estimators and the command line share."""

from typing import NamedTuple

from reference import LOSSES, Loss
from reference.averaging import AVERAGES, AveragingWeights

from ..runs.algorithms import ALGORITHMS


class Settings(NamedTuple):
    """Settings of a training: the objective and the algorithm, besides its length and the draws.

    Parameters
    ----------
    loss : str or Loss
    lam : float > 0
        λ, the regularisation of w and b; `alpha` of the estimators.
    algorithm : {"sgd", "asgd", "csgd", "casgd"}
    average : str or None
        Averaging weights of asgd and casgd, by their name in `AVERAGES`.
    t0 : float >= 0, or "auto"
        The steps are 1/(λ(t + t0)). "auto" is 0 for a loss of bounded slope, and `safe_t0` for one without a bound.
    """

    loss: str | Loss = "hinge"
    lam: float = 1e-4
    algorithm: str = "casgd"
    average: str | None = next(iter(AVERAGES))
    t0: float | str = "auto"

    @property
    def centred(self) -> bool:
        """Tell whether the rows are centred."""
        return ALGORITHMS[self.algorithm].centred

    @property
    def averaging_weights(self) -> AveragingWeights | None:
        """Averaging weights; None for uniform ones, and for an algorithm without an average."""
        return AVERAGES[self.average] if self.average is not None and ALGORITHMS[self.algorithm].averaging else None


DEFAULTS = Settings()
"""Defaults for classes."""

DEFAULTS_FOR_NUMBERS = Settings(loss="squared")
"""Defaults for numbers to predict."""

ELSEWHERE = {
    "C": ("alpha, which is 1/(C m) for m rows", "--lam, which is 1/(C m) for m rows"),
    "c": ("alpha, which is 1/(C m) for m rows", "--lam, which is 1/(C m) for m rows"),
    "lam": ("alpha", "--lam"),
    "lambda": ("alpha", "--lam"),
    "alpha": ("alpha", "--lam"),
    "l2": ("alpha", "--lam"),
    "max_iter": ("n_epochs", "--epochs"),
    "n_epochs": ("n_epochs", "--epochs"),
    "epochs": ("n_epochs", "--epochs"),
    "passes": ("n_epochs", "--epochs"),
    "random_state": ("random_state", "--seed"),
    "seed": ("random_state", "--seed"),
    "sampling": ("sampling", "--order"),
    "order": ("sampling", "--order"),
    "shuffle": ("sampling='permuted'", "--order permuted"),
    "eta0": ("t0, since steps are 1/(alpha (t + t0))", "--t0, since steps are 1/(λ(t + t0))"),
    "tol": ("n_epochs, after which training ends,", "--epochs, after which training ends,"),
    "early_stopping": ("n_epochs, after which training ends,", "--epochs, after which training ends,"),
    "penalty": ("alpha, since the penalty is the squared norm,", "--lam, since the penalty is the squared norm,"),
    "learning_rate": ("t0, since steps are 1/(alpha (t + t0))", "--t0, since steps are 1/(λ(t + t0))"),
}
"""Names of parameters in scikit-learn, liblinear and Vowpal Wabbit, and those of the estimators and of the command line."""

EPOCHS = 30
ORDER = "permuted"


def losses(binary: bool) -> tuple[str, ...]:
    """Names of the losses for classes, or of those for numbers to predict."""
    return tuple(name for name, loss in LOSSES.items() if loss.binary == binary)


def losses_of_bounded_slope(binary: bool) -> tuple[str, ...]:
    """Names of those for which no t0 is needed."""
    return tuple(name for name in losses(binary) if LOSSES[name].slope_bound is not None)
