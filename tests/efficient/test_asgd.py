"""Memory of a run at full size: the rows, and little more."""

import os
import subprocess
import sys

import pytest

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


@pytest.mark.nightly
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="address space is limited as on Linux")
def test_training_needs_the_rows_and_little_more():
    # 200 000 rows, n = 2 000 000, k = 100: 240 MB of rows, 16 n bytes of state and 8 n of weights
    done = subprocess.run([sys.executable, "-c", FULL_SIZE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "trained within" in done.stdout
    assert "the limit bites" in done.stdout
