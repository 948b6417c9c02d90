"""Sparse vector operations against their definition in fractions."""

from fractions import Fraction

import numpy as np
import pytest

from efficient.kernels.sparse import add, add_both, dot
from reference import Problem


@pytest.mark.parametrize("k", range(10))
def test_vector_operations_reach_every_entry_of_a_row_of_any_length(k):
    numbers = [Fraction(2 * j + 1, j + 3) for j in range(k)]
    X = Problem([[0] * (k + 2), [0, *numbers, 0]], [1, 1], "squared", Fraction(1, 2)).X
    v, u = (np.array([Fraction(p**j) for j in range(k + 2)], dtype=object) for p in (2, 3))
    assert dot(v, X, 1) == sum(number * 2 ** (j + 1) for j, number in enumerate(numbers))
    assert dot(v, X, 0) == 0
    add(v, Fraction(5), X, 1)
    assert list(v) == [1, *(2 ** (j + 1) + 5 * number for j, number in enumerate(numbers)), 2 ** (k + 1)]
    add_both(v, Fraction(-5), u, Fraction(7), X, 1)
    assert list(v) == [2**j for j in range(k + 2)]
    assert list(u) == [1, *(3 ** (j + 1) + 7 * number for j, number in enumerate(numbers)), 3 ** (k + 1)]
