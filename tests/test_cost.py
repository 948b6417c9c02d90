"""Cost without a clock: the counted entries equal the formulas, and memory stays within bounds at full size."""

import os
import subprocess
import sys

import numpy as np
import pytest

from efficient.runs.algorithms import ALGORITHMS
from proofs.counted import cost
from proofs.ledger import Entry
from reference import Problem, draw_indices
from reference.datasets import make_generic


@pytest.mark.parametrize("name", ALGORITHMS)
def test_counts_equal_the_formulas(name):
    entries: list[Entry] = list(cost.count(name))
    assert len(entries) == 3 + (name[0] == "c")
    assert all(entry.holds for entry in entries), [entry.line() for entry in entries]


def test_a_wrong_formula_is_refused(monkeypatch):
    monkeypatch.setitem(cost.LOOP, "asgd", ("2K", "K", lambda s: (2 * s.K, s.K)))
    monkeypatch.setitem(cost.RECOVERY, "asgd", (2, 1))
    monkeypatch.setitem(cost.DENSE, "asgd", (1, 1))
    assert [entry.holds for entry in cost.count("asgd")] == [False, False, False]


def test_the_loop_does_not_see_n():
    tallies = []
    for n in (50, 5000):
        X, y, _ = make_generic(20, 50, 4, seed=1)
        X.resize(20, n)
        tallies.append(cost.count_sparse("casgd", Problem(X, y, "log", 0.1), draw_indices(20, 100, rng=0))[0]["loop"])
    assert tallies[0] == tallies[1]


def test_every_kind_of_access_is_counted():
    tally = cost.Tally()
    array = cost.CountingArray(np.arange(5.0), tally)
    array[2] = array[1] + array[0]
    assert (tally.read, tally.written) == (2, 1)
    array += 1
    assert (tally.read, tally.written) == (7, 6)
    assert (array[1:3] @ array[2:4], tally.read, tally.written) == (2.0 * 2 + 2 * 4, 11, 6)
    np.add.at(array, [0, 0, 3], array[1:4])
    assert (array.view(np.ndarray).tolist(), tally.read, tally.written) == ([5, 2, 2, 8, 5], 17, 9)


FULL_SIZE = """
import ctypes
import resource
import numpy as np
from reference import Problem, draw_indices
from reference.datasets import make_generic, make_text
import efficient

warm = make_generic(10, 10, 2, seed=0)
efficient.asgd(Problem(warm.X, warm.y, "log", 1e-4), [0, 1])
X, y, _ = make_text(200_000, 2_000_000, 100, seed=0)
rows = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
indices = draw_indices(200_000, 200_000, rng=0)

getattr(ctypes.CDLL(None), "malloc_trim", int)(0)  # what making the rows left free is given back, and is no room for training
with open("/proc/self/statm") as file:
    mapped = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (mapped + 64 * 2**20, resource.RLIM_INFINITY))
predictor = efficient.asgd(Problem(X, y, "log", 1e-4), indices)
assert np.isfinite(predictor.w).all() and predictor.w.shape == (2_000_000,)
print("trained within", rows, "+ 64 MB")
try:
    np.zeros(2_000_000 * 5)
except MemoryError:
    print("the limit bites")
"""


@pytest.mark.parametrize("use", [lambda v: v.dot(v), lambda v: np.dot(v, v), lambda v: v.copy(), lambda v: np.linalg.norm(v)])
def test_what_is_not_counted_is_refused(use):
    with pytest.raises(TypeError, match="not counted"):
        use(cost.CountingArray(np.arange(5.0), cost.Tally()))


def test_assignments_to_many_entries_count_them_all():
    tally = cost.Tally()
    array = cost.CountingArray(np.arange(5.0), tally)
    array[:] = 0
    array[[1, 3]] = 2
    assert (array[[1, 3]].sum(), tally.read, tally.written) == (4, 4, 7)


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="address space is limited as on Linux")
def test_training_needs_the_rows_and_little_more():
    # 200 000 rows, n = 2 000 000, k = 100: 240 MB of rows, 16 n bytes of state and 8 n of weights
    done = subprocess.run([sys.executable, "-c", FULL_SIZE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "trained within" in done.stdout
    assert "the limit bites" in done.stdout
