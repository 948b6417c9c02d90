"""Compilation: the interpreter is free while a loop runs."""

import threading

import numba
import numpy as np
import pytest

from efficient.kernels.compiled import compiled_loop


def add_slowly(sums, rounds):
    for _ in range(rounds):
        for j in range(len(sums)):
            sums[j] = sums[j] + 1


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_other_threads_run_beside_a_compiled_loop():
    add, sums, seen = compiled_loop(add_slowly), np.zeros(1000), []
    add(sums, 1)
    thread = threading.Thread(target=add, args=(sums, 1_000_000))
    thread.start()
    while thread.is_alive():
        seen.append(sums[0])
    assert any(1 < each < 1_000_001 for each in seen)
