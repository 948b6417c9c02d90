"""Test that the cost of a loop is counted however its arrays are read or made."""

import numpy as np
import pytest

from proofs.course import Wrong, touches_few
from proofs.course.apart import compiled

RIGHT = """\
def row(X, i):
    stored = slice(X.indptr[i], X.indptr[i + 1])
    return X.indices[stored], X.data[stored]

def sgd(X, y, derivative, lam, indices, zeros):
    v, a, past, once = zeros(X.shape[1]), 0.0, [], 0
    for t, i in enumerate(indices, start=1):
        columns, values = row(X, i)
        p = -(v[columns] @ values + a) / (lam * (t - 1)) if t > 1 else 0.0
        g = derivative(p, y[i])
        np.add.at(v, columns, g * values)
        a += g
    return -v / (lam * len(indices)), -a / (lam * len(indices))
"""
READ, DOT, ADD, SUM = "columns, values = row(X, i)", "v[columns] @ values", "np.add.at(v, columns, g * values)", "a += g"


def counted(*changes):
    program = RIGHT
    for old, new in changes:
        assert old in program
        program = program.replace(old, new)
    names = {"np": np}
    exec(compiled(program, "cell"), names)
    touches_few(names["sgd"])


@pytest.mark.parametrize(
    "change",
    [
        (SUM, SUM),
        ("zeros(X", "np.zeros(X"),
        (READ, "r = X[[i]]; columns, values = r.indices, r.data"),
        (DOT, "sum(v[j] * x for j, x in zip(columns, values))"),
        (DOT, "np.dot(v.take(columns), values)"),
        (ADD, "for j, x in zip(columns, values): v[j] += g * x"),
    ],
    ids=str,
)
def test_touches_few_sparse_step_passes(change):
    counted(change)


def test_touches_few_sums_in_a_dictionary_pass():
    counted(
        ("v, a", "v, w, a"),
        ("= zeros(X.shape[1])", "= {}, zeros(X.shape[1])"),
        (DOT, "sum(v.get(j, 0.0) * x for j, x in zip(columns, values))"),
        (ADD, "for j, x in zip(columns.tolist(), values.tolist()): v[j] = v.get(j, 0.0) + g * x"),
        ("    return -v", "    for j in v: w[j] = v[j]\n    return -w"),
    )


DENSE = [
    "v + 1",
    "v.__imul__(1.0)",
    "v @ np.ones(len(v))",
    "np.dot(v, v)",
    "v.dot(v)",
    "v.copy()",
    "v[:] + 1",
    "np.concatenate([v, [1.0]])",
    "list(v)",
    "(2 * v)[columns]",
    "np.asarray(v)",
    "np.array(v)",
    "[0.0 * x for x in v]",
    "[0.0 for _ in range(X.shape[1])]",
    "np.bincount(columns, weights=values, minlength=X.shape[1])",
    "X[[i]].toarray()",
    "__import__('numpy').zeros(X.shape[1])",
    "__import__('scipy.sparse').sparse.csr_array((values, columns, [0, len(values)]), shape=(1, X.shape[1])).toarray()",
]


@pytest.mark.parametrize("step", DENSE)
def test_touches_few_dense_step_raises_and_names_its_line(step):
    with pytest.raises(Wrong, match=r"for each of the n columns, so that the loop costs O\(Tn\)") as told:
        counted((SUM, f"{SUM}; once = {step}"))
    assert f"\n  most in `sgd`, line 12: `{SUM}; once = " in str(told.value)


@pytest.mark.parametrize(
    ("step", "cost"),
    [
        ("once = [row(X, j) for j in range(X.shape[0])]", r"each of the m rows, .* O\(Tm\)"),
        ("once = X.sum(axis=0)", r"each of the m rows, .* O\(Tm\)|each of the n columns"),
        ("once = y.mean()", r"each of the m rows, .* O\(Tm\)"),
        ("past.append(g); once = [p for p in past]", r"each step before it, .* O\(T²\)"),
        ("past.append(g); once = sum(past)", r"each step before it, .* O\(T²\)"),
        ("past.append(g); once = max(map(abs, past))", r"each step before it, .* O\(T²\)"),
        ("once = indices[:t].sum()", r"each step before it, .* O\(T²\)"),
        ("once = X.toarray() if t == 1 else once", r"each of the m rows and n columns, O\(mn\)"),
    ],
)
def test_touches_few_other_products_raise(step, cost):
    with pytest.raises(Wrong, match=cost):
        counted((SUM, f"{SUM}; {step}"))


def test_touches_few_rows_not_read_raises():
    with pytest.raises(Wrong, match="read the rows that are drawn"):
        touches_few(lambda X, y, derivative, lam, indices, zeros: (zeros(X.shape[1]), 0.0))
