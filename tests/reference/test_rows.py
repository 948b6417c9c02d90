"""Feature matrices: any container, type or order gives the same rows; wrong ones are refused by name and value.

The caller's objects stay as they were.
"""

import copy
import re
import tracemalloc
from datetime import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import efficient
import reference
from efficient.runs.algorithms import ALGORITHMS
from reference import Problem
from reference.arithmetic import fraction
from reference.rows import as_rows, is_sealed, lent

X = np.array([[1.0, 0, 2, 0], [0, 3, 0, 0], [0, 0, 0, 0], [4, 0, 1, 0]])  # with an empty row and an empty column
ARITHMETICS = pytest.mark.parametrize("number", [np.float64, fraction], ids=["float", "exact"])

nan, inf = float("nan"), float("inf")


def short(value):
    return re.sub(r"\s+", " ", repr(value))[:60]


def names(argument, value=""):
    """Pattern for messages that name the argument and, after it, show the value."""
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


def dense(container, number):
    """Rows as lists, from a container that must be left alone."""
    before = snapshot(container)
    rows = as_rows(container, number)
    assert snapshot(container) == before
    assert rows.data.dtype in ((object,) if number is fraction else (np.float32, np.float64))
    assert {type(value) for value in rows.data} <= {Fraction, np.float32, np.float64}
    assert all((np.diff(rows.indices[a:b]) > 0).all() for a, b in zip(rows.indptr, rows.indptr[1:], strict=False))
    return [rows.dense(i).tolist() for i in range(rows.m)]


# refused


def with_parts(container, **parts):
    """Copy a sparse container and replace arrays of the copy without its checks."""
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

TWO_INDICES = pd.Series(pd.arrays.SparseArray([1.0, 2.0]), index=pd.MultiIndex.from_tuples([(0, 0), (1, 1)]))
SHAPES = [
    *((X[0], (4,)), (X[None], (1, 4, 4)), (3.0, ()), (None, ()), ([], (0,)), ({1, 2}, ())),
    *((X[:0], (0, 4)), (sp.csr_array((0, 4)), (0, 4)), (sp.coo_array(X[0]), (4,)), (pd.DataFrame({"a": []}), (0, 1))),
    *((pd.Series(X[0]), (4,)), (pd.Series(X[0]).astype(pd.SparseDtype(float, 0.0)), (4,)), (TWO_INDICES, (2,))),
]
NO_NUMBERS = [
    *(
        ([["1", "2"]], "<U1"),
        ([[b"1"]], "|S1"),
        (np.array([[1, "3"]], dtype=object), ""),
        (np.array([[b"3"]], dtype=object), ""),
    ),
    *((np.array([[1j]]), "complex128"), (np.array([[1j]], dtype=object), ""), (sp.csr_array(np.array([[1j]])), "complex128")),
    (np.array([["2020-01-01"]], dtype="datetime64[D]"), "datetime64[D]"),
    (np.array([[1]], dtype="timedelta64[s]"), "timedelta64[s]"),
    (np.array([[datetime(2020, 1, 1)]], dtype=object), ""),
    (np.array([[(1, 2.0)]], dtype=[("a", int), ("b", float)]), ""),
    (np.array([[{}]], dtype=object), ""),
    (pd.DataFrame({"a": ["spam"]}), ""),
    (pd.DataFrame({"a": ["spam"]}, dtype="category"), ""),
]
INCOMPLETE = [
    np.array([[1.0, None]], dtype=object),
    np.array([[1.0, nan]], dtype=object),
    np.array([[Decimal("NaN")]], dtype=object),
    np.array([[np.float32(inf)]], dtype=object),
    pd.DataFrame({"a": pd.array([None], dtype="Int64")}),
    [[1, 2], [3]],
    np.ma.masked_array(X[:1], mask=X[:1] == 2),
]
WRONG = [
    *((value, ValueError, shape) for value, shape in SHAPES),
    *((value, TypeError, shown) for value, shown in NO_NUMBERS),
    *((value, (TypeError, ValueError), "") for value in INCOMPLETE),
    *((value, ValueError, "malformed") for value in MALFORMED.values()),
]


@ARITHMETICS
@pytest.mark.parametrize(("wrong", "error", "shown"), WRONG, ids=short)
def test_as_rows_refuses_what_is_no_matrix_of_numbers(wrong, error, shown, number):
    before = snapshot(wrong)
    with pytest.raises(error, match=names("X", shown)):
        as_rows(wrong, number)
    assert snapshot(wrong) == before


@ARITHMETICS
@pytest.mark.parametrize("wrong", [nan, inf, -inf])
@pytest.mark.parametrize("kind", [np.array, sp.csr_array, sp.csc_array, sp.coo_array, sp.lil_array, sp.bsr_array, pd.DataFrame])
def test_as_rows_names_the_first_entry_that_is_not_finite(kind, wrong, number):
    bad = X.copy()
    bad[1, 1], bad[3, 3] = wrong, nan
    with pytest.raises(ValueError, match=names("X", wrong) + ".*row 1, column 1"):
        as_rows(kind(bad), number)


@pytest.mark.parametrize("wrong", [np.longdouble("1e4000"), 10**400])
def test_as_rows_refuses_what_no_float_holds(wrong):
    if wrong == inf:
        pytest.skip("a long double is a double here")
    entry = np.array([[wrong]])
    for kind in [np.array] if entry.dtype == object else [np.array, sp.csr_array, sp.coo_array]:
        with pytest.raises((TypeError, ValueError), match=names("X")):
            as_rows(kind(entry))
    assert as_rows(entry, fraction).data[0] == Fraction(*wrong.as_integer_ratio())


@pytest.mark.parametrize(
    ("kind", "outside", "words"), [(sp.csc_array, 9, "malformed"), (sp.csr_array, 2, r"column 2 outside 0\.\.1")]
)
def test_as_rows_checks_indices_by_the_right_side(kind, outside, words):
    X = np.arange(1.0, 19).reshape(9, 2)
    for each in (X, X.T):
        assert dense(kind(each), np.float64) == each.tolist()
    wrong = kind(X)
    wrong.indices[-1] = outside
    with pytest.raises(ValueError, match=words):
        as_rows(wrong)


# right as it is


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


def stored_twice(container_type, dtype=float):
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
    """Return the same numbers with other strides."""
    rows, columns = array.shape
    wide = np.full((2 * rows, 2 * columns), 77, dtype=array.dtype)
    view = wide[::2, ::2][::step, ::step]
    view[:] = array
    return view


def read_only(array):
    array = np.array(array)
    array.setflags(write=False)
    return array


FORMATS = ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")
COMPRESSED = (sp.csr_array, sp.csc_array, sp.coo_array)
sparse_column = pd.SparseDtype(float, 0.0)
RIGHT = {f"{form}_{kind}": getattr(sp, f"{form}_{kind}")(X) for form in FORMATS for kind in ("array", "matrix")}
RIGHT |= {f"dense {dtype}": X.astype(dtype) for dtype in ("i1", "u1", "i4", "u8", "f2", "f4", "g", ">f8", ">f4", ">i4", "O")}
RIGHT |= {
    f"{kind.__name__} {dtype}": kind(X.astype(dtype))
    for kind in (*COMPRESSED, sp.dia_array, sp.bsr_array)
    for dtype in ("i1", "u1", "i8", "u8", "f4", "g")
}
RIGHT |= {
    f"{make.__name__} {kind.__name__} {dtype.__name__}": make(kind, dtype)
    for make in (unsorted, stored_twice)
    for kind in COMPRESSED
    for dtype in (np.int8, np.float32, np.float64)
}
RIGHT |= {
    f"{make.__name__} {kind.__name__}, said to be canonical": claiming_to_be_canonical(make(kind))
    for make in (unsorted, stored_twice)
    for kind in COMPRESSED
}
UNLIKE = frozen(of_index_type(sp.csr_array(X.astype(np.float32)), np.int64, np.int64))
"""Rows that the compiled loops take as they are, in other types than float64 and int32, and may not write to."""

RIGHT |= {
    "csr float32 int64 read-only": UNLIKE,
    "csr big-endian": sp.csr_array((csr.data.astype(">f8"), csr.indices, csr.indptr), shape=X.shape),
    "csr read-only": frozen(sp.csr_array(X)),
    "csr int64": of_index_type(sp.csr_array(X), np.int64, np.int64),
    "csr stored zeros": with_stored_zeros(),
    "csr unsorted read-only": frozen(unsorted(sp.csr_array)),
    "csc read-only": frozen(sp.csc_array(X)),
    "csr mixed index types": of_index_type(sp.csr_array(X), np.int32, np.int64),
    "csr mixed the other way": of_index_type(sp.csr_array(X), np.int64, np.int32),
    "csc int64": of_index_type(sp.csc_array(X), np.int64, np.int64),
    "csr spare room": with_spare_room(),
    "csr transposed": sp.csr_array(X.T).T,
    "lil unsorted": lil_unsorted(),
    "bsr blocks": sp.bsr_array(X, blocksize=(2, 2)),
    "Fortran order": np.asfortranarray(X),
    "strided": view_of(X, 1),
    "reversed": view_of(X, -1),
    "read-only": read_only(X),
    "np.matrix": X.view(np.matrix),  # whose constructor warns
    "masked, nothing hidden": np.ma.masked_array(X),
    "lists": X.tolist(),
    "tuples": tuple(map(tuple, X.tolist())),
    "arrays in a list": list(X),
    "mixed": np.array([[1, 0.0, np.float32(2), 0], [0, Fraction(3), 0, 0], [False] * 4, [4, 0, True, 0]], dtype=object),
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


@ARITHMETICS
@pytest.mark.parametrize("right", RIGHT.values(), ids=RIGHT.keys())
def test_as_rows_gives_the_same_rows_for_every_container(right, number):
    assert dense(right, number) == X.tolist()


@ARITHMETICS
@pytest.mark.parametrize(
    "kind", [np.array, sp.csr_array, sp.csc_array, sp.coo_array, sp.lil_array, sp.dok_array, list, pd.DataFrame]
)
def test_as_rows_takes_booleans_and_rows_without_an_entry(kind, number):
    assert dense(kind(X > 0), number) == ((X > 0) * 1.0).tolist()
    assert dense(kind(np.zeros((4, 3), np.int8)), number) == [[0] * 3] * 4
    if kind is not sp.dok_array:
        assert dense(kind(np.zeros((4, 0))), number) == [[]] * 4


def test_as_rows_takes_memory_maps(tmp_path):
    np.save(tmp_path / "X.npy", X)
    assert dense(np.load(tmp_path / "X.npy", mmap_mode="r"), np.float64) == X.tolist()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_training_gives_the_same_bits_for_other_types_of_rows(algorithm):
    y, indices = np.array([1.0, -1, 1, -1]), [0, 1, 2, 3, 0, 2]
    for side in (reference, efficient):
        plain, other = (getattr(side, algorithm)(Problem(rows, y, "log", 0.5), indices) for rows in (X, UNLIKE))
        assert [*plain.w, plain.b] == [*other.w, other.b]
        assert other.w.dtype == np.float64


@ARITHMETICS
@pytest.mark.parametrize(
    ("value", "dtype"), [(100, np.int8), (200, np.uint8), (True, bool), (2**31 - 1, np.int32), (16777217 / 2, np.float64)]
)
def test_entries_stored_twice_add_up_without_wrapping(value, dtype, number):
    data = np.array([value, value], dtype=dtype)
    lil = sp.lil_array((1, 1), dtype=dtype)
    lil.rows[0], lil.data[0] = [0, 0], list(data)
    for container in (
        *(kind((data, [0, 0], [0, 2]), shape=(1, 1)) for kind in (sp.csr_array, sp.csc_array)),
        sp.bsr_array((data.reshape(2, 1, 1), [0, 0], [0, 2]), shape=(1, 1)),
        sp.coo_array((data, ([0, 0], [0, 0])), shape=(1, 1)),
        lil,
    ):
        assert as_rows(container, number).data.tolist() == [2 * value]
    wide = sp.csr_array((np.array([2**24, 1], np.float32), [0, 0], [0, 2]), shape=(1, 1))
    assert as_rows(wide, number).data.tolist() == [2**24 + 1]


def test_canonical_floats_are_used_without_a_copy():
    for dtype in (np.float32, np.float64):
        container = sp.csr_array(X.astype(dtype))
        assert np.shares_memory(as_rows(container).data, container.data)


def test_lent_rows_are_sealed_for_their_user_only():
    container = sp.csr_array(X)
    seen = lent(container)
    assert all(np.shares_memory(getattr(seen, part), getattr(container, part)) for part in ("data", "indices", "indptr"))
    assert is_sealed(seen.data) and is_sealed(seen.indices) and not is_sealed(container.data)
    container.data[0] = 7
    assert seen.data[0] == 7 and lent(X) is X


def test_a_data_frame_of_sparse_columns_is_not_made_dense():
    column = pd.arrays.SparseArray.from_spmatrix(sp.csc_array(([2.0], ([7], [0])), shape=(500_000, 1)))
    frame = pd.DataFrame(dict.fromkeys("abcdefgh", column))
    tracemalloc.start()
    rows = as_rows(frame)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert rows.indices.tolist() == list(range(8)) and rows.dense(7).tolist() == [2] * 8
    assert peak < 8 * 500_000 * 8 / 2


@ARITHMETICS
def test_products_are_in_the_arithmetic_of_the_rows(number):
    rows, one = as_rows([[1, 0], [2, 3]], number), np.array([number(1), number(1)])
    found = rows.dot(one), rows.transpose_dot(one), rows.dense(0)
    assert [each.tolist() for each in found] == [[1, 5], [3, 3], [1, 0]]
    assert [each.dtype for each in found] == [np.float64 if number is np.float64 else object] * 3


def test_the_checks_reject_changed_containers_and_wrong_numbers():
    container, lists = unsorted(sp.csr_array), sp.lil_array(X)
    for damaged, damage in (
        (container, container.sort_indices),
        (container, lambda: container.data.setflags(write=False)),
        (lists, lambda: lists.data[0].reverse()),
    ):
        before = snapshot(damaged)
        damage()
        assert snapshot(damaged) != before
    assert dense(X + 1e-15, np.float64) != X.tolist()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1 << 16])
def test_order_of_columns_is_seen_wherever_blocks_are_cut(size, monkeypatch):
    monkeypatch.setattr(reference.rows, "IN_CACHE", size)
    rng, seen = np.random.default_rng(0), set()
    for _ in range(200):
        starts = np.concatenate([[0], np.cumsum(rng.choice([0, 0, 1, 2, 5], 6))])
        columns = np.concatenate([[], *(rng.permutation(8)[:k] for k in np.diff(starts))]).astype(np.int32)
        if rng.random() < 0.7:
            columns = np.concatenate([[], *map(np.sort, np.split(columns, starts[1:-1]))]).astype(np.int32)
        if len(columns) and rng.random() < 0.3:
            columns[rng.integers(len(columns))] = rng.choice([-1, 0, 7, 8])
        X = sp.csr_array((np.arange(1.0, len(columns) + 1), columns, starts.astype(np.int32)), shape=(6, 8))
        right = (columns >= 0).all() and (columns < 8).all()
        seen.add((bool(right), bool(X.has_canonical_format)))
        if not right:
            with pytest.raises(
                ValueError, match=r"X is a malformed sparse matrix of shape \(6, 8\): column (-1|8) outside 0\.\.7"
            ):
                as_rows(X)
            continue
        rows, wanted = as_rows(X), X.copy()
        wanted.sum_duplicates()
        assert np.shares_memory(rows.data, X.data) == (X.has_canonical_format and len(columns) > 0)
        for found, of in zip(rows[:3], (wanted.data, wanted.indices, wanted.indptr), strict=True):
            np.testing.assert_array_equal(found, of)
    assert len(seen) == 4
