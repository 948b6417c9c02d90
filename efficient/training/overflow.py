"""Overflow of a training or a prediction, with its cures in the words of Python or of the shell."""

from reference import Loss

from .settings import losses_of_bounded_slope

IN_PYTHON = {
    "lam": "a larger alpha",
    "rows": "smaller numbers in X and y",
    "t0": "a larger t0 (t0='auto' is right for a curvature of at most 1)",
    "loss": "a loss of bounded slope ({})",
}
IN_SHELL = {
    "lam": "a larger --lam",
    "rows": "smaller numbers in FILE, as --scale makes",
    "t0": "a larger --t0 (auto is right for a curvature of at most 1)",
    "loss": "--loss {}",
}


class Overflow(FloatingPointError):
    """Numbers beyond float64.

    Parameters
    ----------
    what : str
        What overflowed.
    cures : names in `IN_PYTHON`
    loss : Loss, optional
        Loss that is used, if another one is a cure.
    """

    def __init__(self, what: str, *cures: str, loss: Loss | None = None):
        super().__init__(what, *cures)
        self.what, self.cures = what, cures
        self.losses = () if loss is None else losses_of_bounded_slope(loss.binary)

    def said(self, words: dict[str, str]) -> str:
        """Say what overflowed, and what helps."""
        return f"{self.what}. Use {' or '.join(words[cure].format(' or '.join(self.losses)) for cure in self.cures)}"

    def __str__(self) -> str:
        return self.said(IN_PYTHON)
