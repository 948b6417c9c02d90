"""What is wrong is refused, by name and value, before any step; what is unusual but right gives the right result.

The same numbers in any container, type or order train the same predictor, and the caller's objects stay as they were.
"""

import copy
import re
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sympy

import efficient
import reference
from reference import Problem, draw_indices

ALGORITHMS = [getattr(side, name) for side in (reference, efficient) for name in ("sgd", "asgd", "csgd", "casgd")]

X = np.array([[1.0, 0, 2, 0], [0, 3, 0, 0], [0, 0, 0, 0], [4, 0, 1, 0]])  # with an empty row and an empty column
y = np.array([1.0, -1, 1, -1])
INDICES = [0, 1, 2, 3, 0, 2]
LAMS = [0.5, Fraction(1, 2)]

nan, inf = float("nan"), float("inf")


def names(argument, value=""):
    """A pattern for messages that name the argument and, after it, show the value."""
    return rf"(?s)\b{argument}\b.*{re.escape(str(value))}"


def snapshot(thing):
    """All there is to know about an object, in plain Python values that can be compared."""
    if sp.issparse(thing):
        return type(thing), {name: snapshot(value) for name, value in vars(thing).items()}
    if isinstance(thing, np.ndarray):
        values = copy.deepcopy(thing.tolist()) if thing.dtype == object else thing.tobytes()
        return type(thing), thing.dtype.str, thing.shape, thing.strides, thing.flags.writeable, values
    if isinstance(thing, (pd.DataFrame, pd.Series)):
        return type(thing), str(thing.dtypes), thing.to_dict()
    if isinstance(thing, (list, tuple)):
        return type(thing), [snapshot(item) for item in thing]
    return copy.deepcopy(thing)


def trained(algorithm, X, y=y, loss="log", lam=0.5, indices=INDICES):
    """(w, b) in one list, after a run that must leave its arguments alone."""
    before = [snapshot(thing) for thing in (X, y, indices)]
    predictor = algorithm(Problem(X, y, loss, lam), indices)
    assert [snapshot(thing) for thing in (X, y, indices)] == before
    assert type(predictor.w) is np.ndarray and predictor.w.ndim == 1 and np.ndim(predictor.b) == 0
    return [*predictor.w, predictor.b]


def assert_trains_alike(X, y=y, indices=INDICES, plain_X=X, plain_y=y, losses=("log", "squared")):
    """Every algorithm, in floats to the bit and in fractions, gives what it gives for plain arrays."""
    plain_indices = [int(i) for i in indices]
    for algorithm, loss, lam in product(ALGORITHMS, losses, LAMS):
        plain = trained(algorithm, plain_X, plain_y, loss, lam, plain_indices)
        assert trained(algorithm, X, y, loss, lam, indices) == plain
        assert {type(number) for number in plain} == {type(lam) if isinstance(lam, Fraction) else np.float64}


# refused: X


@pytest.mark.parametrize("lam", LAMS, ids=repr)
@pytest.mark.parametrize(
    ("wrong", "shape"),
    [
        (X[0], (4,)),
        (X[None], (1, 4, 4)),
        (3.0, ()),
        (None, ()),
        ([], (0,)),
        (X[:0], (0, 4)),
        (sp.csr_array((0, 4)), (0, 4)),
        (sp.coo_array(X[0]), (4,)),
        (pd.DataFrame({"a": []}), (0, 1)),
        (pd.Series(X[0]), (4,)),
        (pd.Series(X[0]).astype(pd.SparseDtype(float, 0.0)), (4,)),
        ({1, 2}, ()),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, tuple) else str(value),
)
def test_shape_of_X(wrong, shape, lam):
    with pytest.raises(ValueError, match=names("X", shape)):
        Problem(wrong, y, "squared", lam)


@pytest.mark.parametrize("lam", LAMS, ids=repr)
@pytest.mark.parametrize(
    ("wrong", "shown"),
    [
        ([["1", "2"]], "<U1"),
        ([[b"1"]], "|S1"),
        (np.array([[1, "3"]], dtype=object), ""),
        (np.array([[b"3"]], dtype=object), ""),
        (np.array([[1j]]), "complex128"),
        (np.array([[1j]], dtype=object), ""),
        (sp.csr_array(np.array([[1j]])), "complex128"),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), "datetime64[D]"),
        (np.array([[1]], dtype="timedelta64[s]"), "timedelta64[s]"),
        (np.array([[datetime(2020, 1, 1)]], dtype=object), ""),
        (np.array([[(1, 2.0)]], dtype=[("a", int), ("b", float)]), ""),
        (np.array([[{}]], dtype=object), ""),
        (pd.DataFrame({"a": ["spam"]}), ""),
        (pd.DataFrame({"a": ["spam"]}, dtype="category"), ""),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_entries_of_X_must_be_numbers(wrong, shown, lam):
    with pytest.raises(TypeError, match=names("X", shown)):
        Problem(wrong, [1], "squared", lam)


@pytest.mark.parametrize("lam", LAMS, ids=repr)
@pytest.mark.parametrize("wrong", [nan, inf, -inf])
@pytest.mark.parametrize("kind", [np.array, sp.csr_array, sp.csc_array, sp.coo_array, sp.lil_array, sp.bsr_array, pd.DataFrame])
def test_X_must_be_finite(kind, wrong, lam):
    bad = X.copy()
    bad[1, 1] = wrong
    with pytest.raises(ValueError, match=names("X", wrong) + ".*row 1, column 1"):
        Problem(kind(bad), y, "squared", lam)


@pytest.mark.parametrize("lam", LAMS, ids=repr)
@pytest.mark.parametrize(
    "wrong",
    [
        np.array([[1.0, None]], dtype=object),
        np.array([[1.0, nan]], dtype=object),
        np.array([[Decimal("NaN")]], dtype=object),
        np.array([[np.float32(inf)]], dtype=object),
        pd.DataFrame({"a": pd.array([None], dtype="Int64")}),
        [[1, 2], [3]],
        np.ma.masked_array(X[:1], mask=X[:1] == 2),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_X_must_be_complete(wrong, lam):
    with pytest.raises((TypeError, ValueError), match=names("X")):
        Problem(wrong, [1], "squared", lam)


@pytest.mark.parametrize("wrong", [np.longdouble("1e4000"), 10**400])
def test_X_must_fit_a_float(wrong):
    if wrong == inf:
        pytest.skip("a long double is a double here")
    entry = np.array([[wrong]])
    for kind in [np.array] if entry.dtype == object else [np.array, sp.csr_array, sp.coo_array]:
        with pytest.raises((TypeError, ValueError), match=names("X")):
            Problem(kind(entry), [1], "squared", 0.5)
    assert Problem(entry, [1], "squared", Fraction(1, 2)).X.data[0] == Fraction(*wrong.as_integer_ratio())


def with_parts(container, **parts):
    """A copy of a sparse container whose arrays were replaced behind its back."""
    container = container.copy()
    for name, part in parts.items():
        old = getattr(container, name)
        setattr(container, name, tuple(np.array(p) for p in part) if name == "coords" else np.array(part, dtype=old.dtype))
    return container


def lil_with_column(column):
    container = sp.lil_array(X)
    container.rows[0] = [0, column]
    return container


def dok_with_column(column):
    container = sp.dok_array(X)
    container._dict[0, column] = 1.0
    return container


csr, csc, coo, bsr = sp.csr_array(X), sp.csc_array(X), sp.coo_array(X), sp.bsr_array(X, blocksize=(2, 2))
MALFORMED = {
    "csr, decreasing indptr": with_parts(csr, indptr=[0, 3, 2, 3, 5]),
    "csr, indptr whose differences overflow": with_parts(csr, indptr=[0, 2, 3, 3, -(2**31)]),
    "csc, indptr whose differences overflow": with_parts(csc, indptr=[0, 2, 3, 3, -(2**31)]),
    "csr, indptr beyond the data": with_parts(csr, indptr=[0, 2, 3, 3, 9]),
    "csr, indptr not from 0": with_parts(csr, indptr=[1, 2, 3, 3, 5]),
    "csc, decreasing indptr": with_parts(csc, indptr=[0, 3, 2, 5, 5]),
}
for index in (7, -1, 4):
    MALFORMED |= {
        f"csr, column {index}": with_parts(csr, indices=[0, index, 1, 0, 2]),
        f"csc, row {index}": with_parts(csc, indices=[0, 3, 1, 0, index]),
        f"coo, column {index}": with_parts(coo, coords=(coo.coords[0], [0, 2, 1, 0, index])),
        f"coo, row {index}": with_parts(coo, coords=([0, 0, 1, 3, index], coo.coords[1])),
        f"bsr, block column {index}": with_parts(bsr, indices=[*bsr.indices[:-1], index]),
        f"lil, column {index}": lil_with_column(index),
        f"dok, column {index}": dok_with_column(index),
    }


@pytest.mark.parametrize("lam", LAMS, ids=repr)
@pytest.mark.parametrize("wrong", MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_sparse_matrices(wrong, lam):
    before = snapshot(wrong)
    with pytest.raises(ValueError, match=names("X")):
        Problem(wrong, y, "squared", lam)
    assert snapshot(wrong) == before


# refused: y


@pytest.mark.parametrize("lam", LAMS, ids=repr)
@pytest.mark.parametrize(
    ("wrong", "shown"),
    [
        (y[:3], (3,)),
        (np.append(y, 1), (5,)),
        (y[:, None], (4, 1)),
        (y[None], (1, 4)),
        (pd.DataFrame({"label": y}), (4, 1)),
        (sp.csr_array(y[:, None]), ""),
        (1.0, ()),
        (None, ()),
        ([], (0,)),
        ([1, -1, [1, 1], -1], ""),
        ([1, -1, nan, 1], nan),
        ([1, -1, inf, 1], inf),
        ([1, -1, -inf, 1], -inf),
        (np.array([1, -1, nan, 1], dtype=object), nan),
        (np.ma.masked_array(y, mask=[True, False, False, False]), ""),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_shape_and_values_of_y(wrong, shown, lam):
    with pytest.raises(ValueError, match=names("y", shown)):
        Problem(X, wrong, "squared", lam)


@pytest.mark.parametrize("lam", LAMS, ids=repr)
@pytest.mark.parametrize(
    "wrong",
    [
        ["1", "-1", "1", "-1"],
        [b"1", b"-1", b"1", b"-1"],
        np.array([1, "3", 1, 1], dtype=object),
        y + 1j,
        np.array([1, 1j, 1, 1], dtype=object),
        np.array(["2020-01-01"] * 4, dtype="datetime64[D]"),
        np.array([1] * 4, dtype="timedelta64[s]"),
        pd.Series(["spam", "ham", "spam", "ham"]),
        pd.Series(["spam", "ham", "spam", "ham"], dtype="category"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_labels_must_be_numbers(wrong, lam):
    with pytest.raises(TypeError, match=names("y")):
        Problem(X, wrong, "squared", lam)


@pytest.mark.parametrize("wrong", [None, np.longdouble("1e4000"), 10**400], ids=["None", "long double", "big int"])
def test_labels_must_fit_a_float(wrong):
    if wrong == inf:
        pytest.skip("a long double is a double here")
    with pytest.raises((TypeError, ValueError), match=names("y")):
        Problem(X[:1], np.array([wrong]), "squared", 0.5)


@pytest.mark.parametrize("lam", LAMS, ids=repr)
@pytest.mark.parametrize("loss", ["hinge", "log"])
@pytest.mark.parametrize(
    ("wrong", "value"),
    [([1, 0, 1, 0], 0), ([1, 2, 1, 1], 2), ([True, False, True, False], 0), ([1, -1, 0.5, 1], 0.5), ([1, -1, 1, -1.25], -1.25)],
)
def test_labels_of_binary_losses(wrong, value, loss, lam):
    shown = str(Fraction(value) if isinstance(lam, Fraction) else float(value))
    with pytest.raises(ValueError, match=names("y", f"-1 and +1 for the {loss} loss; got {shown}")):
        Problem(X, wrong, loss, lam)
    Problem(X, wrong, "absolute", lam)


# refused: lam, loss


@pytest.mark.parametrize(
    "wrong",
    [
        *(0, 0.0, -0.0, -1.0, -1, nan, inf, -inf, np.float32(0), np.longdouble("nan"), 10**400, -(10**400)),
        *("0.1", None, True, np.True_, False, 1j, 0.5 + 0j, Decimal("0.1"), [0.5], np.array(0.5), np.array([0.5])),
        *(Fraction(0), Fraction(-1, 2)),
        *(sympy.Symbol("a"), sympy.Symbol("a", real=True), sympy.Symbol("a", negative=True)),
        *(sympy.Integer(0), sympy.Rational(-1, 2), sympy.oo, sympy.nan, sympy.I, sympy.true),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_lam(wrong):
    with pytest.raises((TypeError, ValueError), match=names("lam", repr(wrong))):
        Problem(X, y, "squared", wrong)


@pytest.mark.parametrize("huge", [10**5000, Fraction(-1, 10**5000)], ids=["int", "Fraction"])
def test_lam_too_long_to_print(huge):
    with pytest.raises(ValueError, match=names("lam")):
        Problem(X, y, "squared", huge)


@pytest.mark.parametrize("wrong", ["logistic", "Hinge", "", None, 0, ["log"], abs], ids=repr)
def test_loss(wrong):
    with pytest.raises(ValueError, match=names("loss", repr(wrong))):
        Problem(X, y, wrong, 0.5)


# refused: indices, and how to draw them


@pytest.mark.parametrize("lam", LAMS, ids=repr)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    ("wrong", "error", "shown"),
    [
        ([], ValueError, (0,)),
        (np.zeros((2, 2), int), ValueError, (2, 2)),
        (0, ValueError, ()),
        (None, ValueError, ()),
        ([[0], [1, 2]], ValueError, ""),
        ([-1], ValueError, -1),
        ([0, -5, 1], ValueError, -5),
        ([0, 4], ValueError, 4),
        (np.array([2**64 - 1], dtype=np.uint64), ValueError, 2**64 - 1),
        ([0.0, 1.0], TypeError, "float64"),
        ([0, nan], TypeError, "float64"),
        ([True, False], TypeError, "bool"),
        (["0", "1"], TypeError, "<U1"),
        ([0, None], TypeError, "object"),
        ([1j], TypeError, "complex128"),
    ],
    ids=repr,
)
def test_indices(algorithm, wrong, error, shown, lam):
    with pytest.raises(error, match=names("indices", shown)):
        algorithm(Problem(X, y, "squared", lam), wrong)


@pytest.mark.parametrize(
    ("argument", "wrong"),
    [
        *product(["m", "steps"], [0, -1, 2.0, True, "3", None, nan, [1]]),
        *product(["order"], ["IID", "random", None, 1]),
        *product(["rng"], [None, True, "seed", -1, 0.5]),
    ],
    ids=repr,
)
def test_draw_indices(argument, wrong):
    with pytest.raises((TypeError, ValueError), match=names(argument, repr(wrong))):
        draw_indices(**({"m": 4, "steps": 6} | {argument: wrong}))


def test_predict_refuses_what_training_refuses():
    predictor = ALGORITHMS[0](Problem(X, y, "squared", 0.5), INDICES)
    for wrong in (X[:, :3], sp.csr_array((2, 5)), X[0], X[:0], X * nan, X.astype(str), X * 1j, MALFORMED["csr, column 7"]):
        with pytest.raises((TypeError, ValueError), match=names("X")):
            predictor.predict(wrong)


# never handed back: infinity


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    ("rows", "lam"),
    [
        ([[1e200]], 1e-200),  # w overflows at the last step, b does not
        ([[1.5e8], [0.0]], 1e-300),  # each w is finite, their sum is not
        ([[1.7e308], [1.7e308]], 1.0),  # nor is the sum for the mean row
    ],
)
def test_overflow_is_an_error(algorithm, rows, lam):
    try:
        predictor = algorithm(Problem(rows, np.ones(len(rows)), "hinge", lam), range(len(rows)))
    except FloatingPointError:
        return
    assert np.isfinite([*predictor.w, predictor.b]).all()


# right as it is: X


def frozen(container):
    for part in (container.data, container.indices, container.indptr):
        part.setflags(write=False)
    return container


def of_index_type(container, indices, indptr):
    container.indices, container.indptr = container.indices.astype(indices), container.indptr.astype(indptr)
    return container


def claiming_to_be_canonical(container):
    container.has_canonical_format = True
    if container.format != "coo":
        container.has_sorted_indices = True
    return container


def unsorted(container_type, dtype=float):
    """X as compressed rows in the order 2, 0, as compressed columns in the order 3, 0, or as shuffled triplets."""
    if container_type is sp.csr_array:
        return sp.csr_array((np.array([2, 1, 3, 1, 4], dtype), [2, 0, 1, 2, 0], [0, 2, 3, 3, 5]), shape=(4, 4))
    if container_type is sp.csc_array:
        return sp.csc_array((np.array([4, 1, 3, 1, 2], dtype), [3, 0, 1, 3, 0], [0, 2, 3, 5, 5]), shape=(4, 4))
    return sp.coo_array((np.array([1, 4, 3, 2, 1], dtype), ([3, 3, 1, 0, 0], [2, 0, 1, 2, 0])), shape=(4, 4))


def repeated(container_type, dtype=float):
    """X with its 1 in the first row stored as -1 + 2, and its 4 as 1 + 3."""
    if container_type is sp.csr_array:
        data, indices = [-1, 2, 2, 3, 1, 1, 3], [0, 2, 0, 1, 0, 2, 0]
        return sp.csr_array((np.array(data, dtype), indices, [0, 3, 4, 4, 7]), shape=(4, 4))
    if container_type is sp.csc_array:
        data, indices = [-1, 1, 2, 3, 3, 2, 1], [0, 3, 0, 3, 1, 0, 3]
        return sp.csc_array((np.array(data, dtype), indices, [0, 4, 5, 7, 7]), shape=(4, 4))
    data, coords = [-1, 2, 2, 3, 1, 1, 3], ([0, 0, 0, 1, 3, 3, 3], [0, 2, 0, 1, 0, 2, 0])
    return sp.coo_array((np.array(data, dtype), coords), shape=(4, 4))


def with_stored_zeros():
    return sp.csr_array(([1.0, 0, 2, 3, 0, -0.0, 4, 1], [0, 1, 2, 1, 0, 3, 0, 2], [0, 3, 4, 6, 8]), shape=(4, 4))


def with_spare_room():
    container = sp.csr_array(X)
    container.data, container.indices = np.append(container.data, [nan] * 20), np.append(container.indices, [99] * 20)
    return container


def lil_unsorted():
    container = sp.lil_array(X)
    container.rows[0], container.data[0] = [2, 0], [2.0, 1.0]
    return container


def view_of(array, step):
    """The same numbers with other strides."""
    rows, columns = array.shape
    wide = np.full((2 * rows, 2 * columns), 77, dtype=array.dtype)
    view = wide[::2, ::2][::step, ::step]
    view[:] = array
    return view


def read_only(array):
    array = np.array(array)
    array.setflags(write=False)
    return array


sparse_column = pd.SparseDtype(float, 0.0)
RIGHT = {
    f"{kind}_{name}": getattr(sp, f"{kind}_{name}")(X)
    for kind in ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")
    for name in ("array", "matrix")
}
RIGHT |= {f"dense {dtype}": X.astype(dtype) for dtype in ("i1", "u1", "i4", "u8", "f2", "f4", "g", ">f8", ">f4", ">i4", "O")}
RIGHT |= {
    f"{kind.__name__} {dtype}": kind(X.astype(dtype))
    for kind in (sp.csr_array, sp.csc_array, sp.coo_array, sp.dia_array, sp.bsr_array)
    for dtype in ("i1", "u1", "i8", "u8", "f4", "g")
}
RIGHT |= {
    f"{make.__name__} {kind.__name__} {dtype.__name__}": make(kind, dtype)
    for make in (unsorted, repeated)
    for kind in (sp.csr_array, sp.csc_array, sp.coo_array)
    for dtype in (np.int8, np.float32, np.float64)
}
RIGHT |= {
    f"{make.__name__} {kind.__name__}, said to be canonical": claiming_to_be_canonical(make(kind))
    for make in (unsorted, repeated)
    for kind in (sp.csr_array, sp.csc_array, sp.coo_array)
}
RIGHT |= {
    "csr big-endian": sp.csr_array((csr.data.astype(">f8"), csr.indices, csr.indptr), shape=X.shape),
    "csr read-only": frozen(sp.csr_array(X)),
    "csr unsorted read-only": frozen(unsorted(sp.csr_array)),
    "csc read-only": frozen(sp.csc_array(X)),
    "csr int64": of_index_type(sp.csr_array(X), np.int64, np.int64),
    "csr mixed index types": of_index_type(sp.csr_array(X), np.int32, np.int64),
    "csr mixed the other way": of_index_type(sp.csr_array(X), np.int64, np.int32),
    "csc int64": of_index_type(sp.csc_array(X), np.int64, np.int64),
    "csr stored zeros": with_stored_zeros(),
    "csr spare room": with_spare_room(),
    "csr transposed": sp.csr_array(X.T).T,
    "lil unsorted": lil_unsorted(),
    "bsr blocks": sp.bsr_array(X, blocksize=(2, 2)),
    "Fortran order": np.asfortranarray(X),
    "strided": view_of(X, 1),
    "reversed": view_of(X, -1),
    "read-only": read_only(X),
    "np.matrix": np.matrix(X),
    "masked, nothing hidden": np.ma.masked_array(X),
    "lists": X.tolist(),
    "tuples": tuple(map(tuple, X.tolist())),
    "arrays in a list": list(X),
    "ints and floats": np.array(
        [[1, 0.0, np.float32(2), 0], [0, Fraction(3), 0, 0], [False] * 4, [4, 0, True, 0]], dtype=object
    ),
    "decimals": np.array([[Decimal(int(value)) for value in row] for row in X], dtype=object),
    "DataFrame": pd.DataFrame(X),
    "DataFrame ints": pd.DataFrame(X.astype(int), columns=["to", "sparse", "data", "X"], index=[7, 7, 1, 0]),
    "DataFrame mixed": pd.DataFrame(X).astype({0: np.float32, 1: np.int8, 2: object}),
    "DataFrame nullable": pd.DataFrame(X).astype("Int64"),
    "DataFrame sparse": pd.DataFrame(X).astype(sparse_column),
    "DataFrame sparse ints": pd.DataFrame(X.astype(int)).astype(pd.SparseDtype(int, 0)),
    "DataFrame partly sparse": pd.DataFrame(X).astype({0: sparse_column, 2: sparse_column}),
    "DataFrame sparse, NaN the fill value": pd.DataFrame(X).astype(pd.SparseDtype(float)),
    "DataFrame sparse, 4 the fill value": pd.DataFrame(X).astype(pd.SparseDtype(float, 4.0)),
}


@pytest.mark.parametrize("right", RIGHT.values(), ids=RIGHT.keys())
def test_X_right_as_it_is(right):
    assert_trains_alike(right)


@pytest.mark.parametrize(
    "kind", [np.array, sp.csr_array, sp.csc_array, sp.coo_array, sp.lil_array, sp.dok_array, list, pd.DataFrame]
)
def test_booleans(kind):
    assert_trains_alike(kind(X > 0), plain_X=(X > 0) * 1.0)


def test_no_columns():
    for right in (np.zeros((4, 0)), sp.csr_array((4, 0)), [[]] * 4, pd.DataFrame(index=range(4))):
        assert_trains_alike(right, plain_X=np.empty((4, 0)))


def test_all_zero():
    """No stored entry tells the arithmetic; λ does."""
    for right in (sp.csr_array((4, 3)), np.zeros((4, 3), int), sp.coo_array((4, 3), dtype=np.int8)):
        assert_trains_alike(right, plain_X=np.zeros((4, 3)))


def test_memory_map(tmp_path):
    np.save(tmp_path / "X.npy", X)
    assert_trains_alike(np.load(tmp_path / "X.npy", mmap_mode="r"))


def test_entries_stored_twice_add_up_without_wrapping():
    def stored_twice(value, dtype):
        data = np.array([value, value], dtype=dtype)
        lil = sp.lil_array((1, 1), dtype=dtype)
        lil.rows[0], lil.data[0] = [0, 0], list(data)
        yield from (kind((data, [0, 0], [0, 2]), shape=(1, 1)) for kind in (sp.csr_array, sp.csc_array))
        yield sp.bsr_array((data.reshape(2, 1, 1), [0, 0], [0, 2]), shape=(1, 1))
        yield sp.coo_array((data, ([0, 0], [0, 0])), shape=(1, 1))
        yield lil

    for value, dtype in ((100, np.int8), (200, np.uint8), (True, bool), (2**31 - 1, np.int32), (16777217 / 2, np.float64)):
        for container, lam in product(stored_twice(value, dtype), LAMS):
            assert Problem(container, [1], "squared", lam).X.data.tolist() == [2 * value]
    wide = sp.csr_array((np.array([2**24, 1], np.float32), [0, 0], [0, 2]), shape=(1, 1))
    assert Problem(wide, [1], "squared", 0.5).X.data.tolist() == [2**24 + 1]


def test_float32_is_converted_exactly_and_summed_in_float64():
    exact = Problem(np.array([[0.1]], np.float32), np.array([0.1], np.float32), "squared", Fraction(1))
    assert exact.X.data[0] == exact.y[0] == Fraction(13421773, 2**27)
    many = sp.csr_array(np.full((3_000_000, 1), 0.1, np.float32))
    assert abs(Problem(many, np.zeros(3_000_000), "squared", 1.0).xbar[0] - float(np.float32(0.1))) < 1e-12


def test_canonical_floats_are_used_where_they_lie():
    for dtype in (np.float32, np.float64):
        container = sp.csr_array(X.astype(dtype))
        assert np.shares_memory(Problem(container, y, "log", 0.5).X.data, container.data)


# right as it is: y, lam, indices


@pytest.mark.parametrize(
    "right",
    [
        y.tolist(),
        tuple(y.tolist()),
        *(y.astype(dtype) for dtype in ("i1", "i8", "f2", "f4", "g", ">f8", ">i2", "O")),
        np.array([Fraction(1), -1, 1.0, np.int8(-1)], dtype=object),
        np.repeat(y, 2)[::2],
        y[::-1].copy()[::-1],
        read_only(y),
        np.ma.masked_array(y),
        pd.Series(y, index=[3, 2, 1, 0]),
        pd.Series(y).astype("Int64"),
        pd.Series(y).astype(sparse_column),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_y_right_as_it_is(right):
    assert_trains_alike(X, right)


def test_boolean_labels_are_0_and_1():
    assert_trains_alike(X, y > 0, plain_y=(y > 0) * 1.0, losses=["squared", "absolute"])


@pytest.mark.parametrize(
    "right",
    [
        tuple(INDICES),
        range(4),
        *(np.array(INDICES, dtype) for dtype in ("i1", "u1", "u8", "i4", ">i4")),
        read_only(INDICES),
        np.repeat(INDICES, 2)[::2],
        pd.Series(INDICES, index=INDICES),
        [np.int64(i) for i in INDICES],
        draw_indices(4, 1),
        [3],
    ],
    ids=lambda value: repr(value)[:60],
)
def test_indices_right_as_they_are(right):
    assert_trains_alike(X, indices=right)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_numbers_that_are_a_float_lam(algorithm):
    plain = trained(algorithm, X, lam=2.0)
    for lam in (2, np.int8(2), np.float32(2), np.float16(2), np.longdouble(2)):
        assert trained(algorithm, X, lam=lam) == plain


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_exact_lam(algorithm):
    tiny = Fraction(1, 10**5000)  # has more digits than Python prints
    assert trained(algorithm, X, loss="absolute", lam=tiny)[3] == 0
    fractions = trained(algorithm, X, loss="squared", lam=Fraction(1, 2))
    assert trained(algorithm, X, loss="squared", lam=sympy.Rational(1, 2)) == [sympy.Rational(value) for value in fractions]


# the checks themselves


def test_checks_reject_vandals_and_wrong_numbers():
    def vandalising(damage):
        def algorithm(problem, indices):
            damage()
            return reference.sgd(problem, indices)

        return algorithm

    container, lists, labels, drawn = unsorted(sp.csr_array), sp.lil_array(X), y.copy(), INDICES.copy()
    for damaged, damage in (
        (container, container.sort_indices),
        (container, lambda: container.data.setflags(write=False)),
        (lists, lambda: lists.data[0].reverse()),
        (X, lambda: labels.put(0, -1)),
        (X, lambda: drawn.append(0)),
    ):
        with pytest.raises(AssertionError):
            trained(vandalising(damage), damaged, labels, indices=drawn)
    with pytest.raises(AssertionError):
        assert_trains_alike(X + 1e-15)
