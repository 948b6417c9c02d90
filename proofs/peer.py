"""Independent peer: scikit-learn's SGD, told to take steps 1/(λt) on rows [x, 1], computes what Algorithms 1 and 2 do.

The bias is the weight of the column of ones, and so it is regularised, as in the paper. The two programs share no code.
"""

import numpy as np
import scipy.sparse as sp

from reference import LOSSES, Predictor


def learner(loss: str, lam: float, average: bool = True, **options):
    """Make the estimator for one pass over the rows; in their order, unless the options say `shuffle=True`."""
    from sklearn.linear_model import SGDClassifier, SGDRegressor

    recipe = {
        **LOSSES[loss].scikit_learn,
        "alpha": lam,
        "learning_rate": "invscaling",
        "eta0": 1 / lam,
        "power_t": 1,
        "average": average,
        "fit_intercept": False,
        "shuffle": False,
        "max_iter": 1,
        "tol": None,
    }
    return (SGDClassifier if LOSSES[loss].binary else SGDRegressor)(**(recipe | options))


def one_pass(estimator, X, y):
    """Train for one pass; a class that does not occur does not disturb it, as it would `fit`."""
    from sklearn.base import is_classifier

    classes = {"classes": [-1.0, 1.0]} if is_classifier(estimator) else {}
    return estimator.partial_fit(X, y, **classes)


def with_ones(X) -> sp.csr_matrix:
    """Append a column of ones to the rows."""
    return short(sp.hstack([X, sp.csr_array(np.ones((X.shape[0], 1)))], format="csr"))


def short(X) -> sp.csr_matrix:
    """Convert rows to the container and the integers that scikit-learn works on without a copy."""
    rows = sp.csr_matrix(X)
    rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return rows


def predictors(fitted) -> list[Predictor]:
    """Read (w, b) of each class, or the one of two classes or a regression, after training on the rows [x, 1]."""
    return [Predictor(row[:-1], row[-1]) for row in np.atleast_2d(fitted.coef_)]
