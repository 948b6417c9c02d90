"""Counting arrays count every kind of access, and refuse what they cannot count."""

import numpy as np
import pytest

from proofs.counted.arrays import CountingArray, Tally


def test_counting_array_counts_every_kind_of_access():
    tally = Tally()
    array = CountingArray(np.arange(5.0), tally)
    array[2] = array[1] + array[0]
    assert (tally.read, tally.written) == (2, 1)
    array += 1
    assert (tally.read, tally.written) == (7, 6)
    assert (array[1:3] @ array[2:4], tally.read, tally.written) == (2.0 * 2 + 2 * 4, 11, 6)
    np.add.at(array, [0, 0, 3], array[1:4])
    assert (array.view(np.ndarray).tolist(), tally.read, tally.written) == ([5, 2, 2, 8, 5], 17, 9)


@pytest.mark.parametrize("use", [lambda v: v.dot(v), lambda v: np.dot(v, v), lambda v: v.copy(), lambda v: np.linalg.norm(v)])
def test_counting_array_refuses_what_is_not_counted(use):
    with pytest.raises(TypeError, match="not counted"):
        use(CountingArray(np.arange(5.0), Tally()))


def test_counting_array_counts_assignments_to_many_entries():
    tally = Tally()
    array = CountingArray(np.arange(5.0), tally)
    array[:] = 0
    array[[1, 3]] = 2
    assert (array[[1, 3]].sum(), tally.read, tally.written) == (4, 4, 7)
