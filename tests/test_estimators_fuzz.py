"""Whatever the estimators are handed, they train and predict finite numbers or refuse it in words, and leave it as it was.

In the profile "nightly" of hypothesis this tries many thousands of malformed inputs; otherwise a few hundred.
"""

import warnings
from collections import Counter

import numpy as np
import pandas as pd
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

from efficient import CASGDClassifier, CASGDRegressor

NUMBERS = [0.0, 0.0, 0.0, 1.0, -1.0, 0.5, 3.0, 1e-3]
ODD_NUMBERS = [np.nan, np.inf, -np.inf, 1e308, -1e308, 1.7e308, 5e-324, -0.0, 1e154, 1e-160, 2.0**53]
DTYPES = (np.float64, np.float64, np.float32, np.int8, np.bool_)
ODD_DTYPES = (object, np.complex128, "U3", "S3", np.longdouble, "datetime64[s]")
DAMAGES = ("column", "columns start", "rows start", "short", "unsorted", "stale flag")

LABELS = ([-1, 1], [0, 1], ["a", "b"], [False, True], [0, 1, 2], ["a", "b", "c"], [-1.5, 3.0])
ODD_LABELS = (
    *([7], [0.5, 1.5], [1e308, -1e308, 0], [np.nan, 1], [None, 1], [np.inf, 0], ["a", 1]),
    *([b"a", b"b"], [1j, 2], [[1], [2]], [(1, 2), (3, 4)], [10**400, 1], [np.datetime64("2000-01-01")]),
)

OPTIONS = st.fixed_dictionaries(
    {
        "n_steps": st.sampled_from([1, 7, 50]),
        "algorithm": st.sampled_from(["casgd", "casgd", "sgd"]),
        "random_state": st.just(0),
    },
    optional={
        "alpha": st.sampled_from([1e-4, 1.0, 1e300]),
        "t0": st.sampled_from(["auto", 0, 3.5, 1e300]),
        "average": st.sampled_from(["weighted", "uniform"]),
        "sampling": st.sampled_from(["iid", "permuted", "cyclic"]),
        "warm_start": st.booleans(),
    },
)
ODD_OPTIONS = st.sampled_from(
    [
        *({"n_steps": value} for value in (0, -1, 1.5, "2", True)),
        *({"random_state": value} for value in (-1, "0", 1.5, [1])),
        *({"alpha": value} for value in (0, -1, np.nan, "1", None, 5e-324)),
        *({"t0": value} for value in (-1, np.nan, None, "safe")),
        *({"loss": value} for value in ("cubic", None, "hinge", "squared")),
        *({"n_steps": None, "n_epochs": value} for value in (0, None, 1.5)),
        *({"class_weight": value} for value in ("balanced", "heavy", 3, {"a": 0}, {1: np.nan}, {1: -1}, {1: 2}, {5: 1})),
        {"average": "both"},
        {"sampling": "all"},
        {"algorithm": "adam"},
    ]
)


@st.composite
def matrices(draw, columns=None, odd=False):
    """Feature vectors in any container; odd ones have impossible entries, shapes, types or indices."""
    shape = draw(st.integers(1 - odd, 7)), draw(st.integers(1 - odd, 4)) if columns is None else columns
    fault = draw(st.sampled_from(["entries", "dtype", "shape", "damage", "mask"])) if odd else ""
    numbers = st.sampled_from(NUMBERS + ODD_NUMBERS if fault == "entries" else NUMBERS)
    entries = np.array(draw(st.lists(numbers, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))).reshape(shape)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X = entries.astype(draw(st.sampled_from(ODD_DTYPES if fault == "dtype" else DTYPES)))
    if fault == "mask":
        return np.ma.masked_array(X, mask=entries == 0.5)
    if fault == "shape":
        return draw(st.sampled_from([X.T, X[np.newaxis], X.ravel(), X[:1].ravel()[:1], X.tolist(), X[:, :-1], X[:0]]))
    kind = draw(
        st.sampled_from(["csr", "csc"] if fault == "damage" else ["array", "array", "csr", "csr", "coo", "frame", "list"])
    )
    if kind == "frame":
        return pd.DataFrame(X)
    if kind == "list":
        return X.tolist()
    if kind == "array" or X.dtype.kind not in "fiub":  # scipy has no other sparse matrices
        return X
    sparse = sp.csr_array(X).asformat(kind)
    return damaged(sparse, draw(st.sampled_from(DAMAGES))) if fault == "damage" else sparse


def damaged(X, damage):
    if damage == "column" and X.nnz:
        X.indices[-1] = 10**6
    elif damage == "columns start" and X.nnz:
        X.indices[0] = -1
    elif damage == "rows start" and len(X.indptr) > 2:
        X.indptr[1] = 10**6
    elif damage == "short":
        X.data = X.data[:-1]
    elif damage == "unsorted":
        X.indices, X.data = X.indices[::-1].copy(), X.data[::-1].copy()
    elif damage == "stale flag" and X.nnz:
        X.indices[:] = X.indices[0]
        X.has_canonical_format = X.has_sorted_indices = True
    return X


@st.composite
def labels(draw, m, real, odd):
    """Labels for m rows; odd ones are of a kind that people hand over by mistake, or too many."""
    values = draw(st.sampled_from(ODD_LABELS if odd else [[-1.5, 0, 2.0, 1.0]] if real else LABELS))
    length = max(0, m + (draw(st.sampled_from([0, 0, 1, -1])) if odd else 0))
    y = [values[(i + draw(st.integers(0, 1))) % len(values)] for i in range(length)]
    kind = draw(st.sampled_from(["list", "array", "series", *(["object", "none", "float32", "column"] if odd else [])]))
    try:
        if kind == "object":
            return np.array(y, dtype=object)
        if kind == "float32":
            with np.errstate(over="ignore"):
                return np.array(y, dtype=np.float32)
        if kind == "column":
            return np.array(y).reshape(-1, 1)
        return {"list": list, "array": np.array, "series": pd.Series, "none": lambda y: None}[kind](y)
    except (ValueError, TypeError, OverflowError):  # numpy refused it already
        return y


@st.composite
def weights(draw, m, odd):
    """Sample weights, if any; odd ones cannot be used, or just so."""
    kind = draw(st.sampled_from(["odd", "text", "one number", "column"] if odd else ["none", "plain", "whole"]))
    if kind == "none":
        return None
    if kind == "one number":
        return 2.0
    values = {"odd": [1.0, 1e300, 1e9, 0.0, -1.0, np.nan, np.inf, 1.7e308], "whole": [0, 1, 2, 5]}.get(kind, [0.5, 1.0, 1e-300])
    length = max(0, m + (draw(st.sampled_from([0, 0, 1, -1])) if odd else 0))
    weight = draw(st.lists(st.sampled_from(values), min_size=length, max_size=length))
    if kind == "column":
        return np.array(weight).reshape(-1, 1)
    return [str(each) for each in weight] if kind == "text" else draw(st.sampled_from([list, np.array]))(weight)


def remembered(thing):
    """All there is to know about an argument, to see whether it was changed."""
    if sp.issparse(thing):
        return type(thing), {name: remembered(value) for name, value in vars(thing).items()}
    if isinstance(thing, np.ndarray):
        return thing.dtype.str, thing.shape, thing.strides, repr(thing.tolist())
    return type(thing), repr(thing)


def rows_of(X) -> int:
    return X.shape[0] if getattr(X, "shape", ()) else len(X)


def test_any_input_is_used_or_refused():
    outcomes = Counter()
    faults = st.sets(st.sampled_from(["X", "y", "weight", "options", "classes", "elsewhere"]), max_size=2)

    @given(data=st.data(), kind=st.sampled_from([CASGDClassifier, CASGDRegressor]), odd=faults, stream=st.booleans())
    def check(data, kind, odd, stream):
        X = data.draw(matrices(odd="X" in odd), "X")
        m = rows_of(X)
        y = data.draw(labels(m, kind is CASGDRegressor, "y" in odd), "y")
        weight = data.draw(weights(m, "weight" in odd), "weight")
        elsewhere = data.draw(matrices(X.shape[1] if getattr(X, "ndim", 0) == 2 else 3, "elsewhere" in odd), "elsewhere")
        options = data.draw(OPTIONS, "options") | (data.draw(ODD_OPTIONS, "odd options") if "options" in odd else {})
        arguments = {"sample_weight": weight}
        if kind is CASGDRegressor:
            options.pop("class_weight", None)
            if stream and "options" not in odd:
                options["t0"] = 10.0
        elif stream:
            whatever = st.sampled_from([[3], [], 5, [np.nan, 1], ["a", 1], [[1, 2]], None])
            arguments["classes"] = (
                data.draw(whatever, "classes") if "classes" in odd else sorted(set(y)) if "y" not in odd else y
            )
        before = [remembered(thing) for thing in (X, y, weight, elsewhere)]
        stage = "trained"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataConversionWarning)
            try:
                estimator = kind(**options)
                for _ in range(2):
                    train = estimator.partial_fit if stream else estimator.fit
                    assert train(X, y, **arguments) is estimator
                    assert np.isfinite(estimator.coef_).all() and np.isfinite(estimator.intercept_).all()
                outcomes[stage] += 1
                stage = "predicted"
                for rows in (X, elsewhere):
                    scores = estimator.decision_function(rows) if kind is CASGDClassifier else estimator.predict(rows)
                    assert np.isfinite(scores).all() and len(scores) == len(estimator.predict(rows)) == rows_of(rows)
                outcomes[stage] += 1
            except (TypeError, ValueError, FloatingPointError) as refusal:
                outcomes["not " + stage] += 1
                outcomes["speechless"] += len(str(refusal)) <= 10
        assert [remembered(thing) for thing in (X, y, weight, elsewhere)] == before

    check()
    assert outcomes.pop("speechless", 0) == 0
    total = outcomes["trained"] + outcomes["not trained"]
    assert len(outcomes) == 4 and min(outcomes.values()) >= total / 50, outcomes  # each kind of outcome was often seen
