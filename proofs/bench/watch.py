"""scikit-learn's compiled inner function, timed alone by standing in for it during a genuine `fit`.

So how it is called is none of our business. It visits one entry more a row, the 1 of the bias, and shuffles the row numbers
itself.
"""

from contextlib import contextmanager

import numpy as np
import scipy.sparse as sp

from reference import Loss

from ..peer import learner
from .measure import NotAvailable, now


class OneSeed(np.random.RandomState):
    """Hands out the same seed whenever it is asked for one, so that all classes are visited in one order, as ours are."""

    def randint(self, *_, size=None):
        return 1 if size is None else [self] * size  # a seed for each class may be a generator


def fit(learner, X, y) -> None:
    """Fit, or raise NotAvailable with the reason why it will not."""
    try:
        learner.fit(X, y)
    except ValueError as error:
        raise NotAvailable(f"scikit-learn: {error}") from None


class Inner:
    """What was seen of the inner function while it was watched: the seconds in it, and the last data set it was handed."""

    def __init__(self):
        self.seconds = 0.0
        self.dataset = None


@contextmanager
def watched():
    """Stand in for the inner function and watch it; raises NotAvailable where there is none of that name."""
    from sklearn.linear_model import _stochastic_gradient as module

    original = getattr(module, "_plain_sgd64", None)
    if original is None:
        import sklearn

        raise NotAvailable(f"scikit-learn {sklearn.__version__} has no inner function of the name that is known")
    inner = Inner()

    def stand_in(*arguments):
        for argument in arguments:
            if isinstance(argument, np.ndarray) and argument.dtype == np.float64:
                argument += 0  # the memory is there before the clock starts, as for the other contestants
            inner.dataset = argument if hasattr(argument, "_next_py") else inner.dataset
        began = now()
        result = original(*arguments)
        inner.seconds += now() - began
        return result

    module._plain_sgd64 = stand_in
    try:
        yield inner
    finally:
        module._plain_sgd64 = original


def shuffled_order(m: int, loss: Loss) -> np.ndarray:
    """The order in which it visits m rows when it shuffles, whatever they are: asked of a fit to m rows of one column."""
    with watched() as inner:
        fit(learner(loss.name, 1.0, shuffle=True, random_state=OneSeed()), sp.csr_matrix(np.ones((m, 1))), np.arange(m) % 2)
    if inner.dataset is None:
        raise NotAvailable("scikit-learn's inner function is not handed a data set that tells its order")
    return np.array([inner.dataset._next_py()[-1] for _ in range(m)], dtype=np.int64)
