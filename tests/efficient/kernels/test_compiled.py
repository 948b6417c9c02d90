"""Compilation: derivatives that cannot be compiled, the interpreter free while a loop runs."""

import threading

import numba
import numpy as np
import pytest

from efficient.kernels.compiled import compiled_derivative, compiled_loop


@pytest.mark.parametrize(
    "derivative", [lambda p: p, lambda p, y: None, lambda p, y: 1j * p], ids=["one argument", "none", "complex"]
)
def test_compiled_derivative_of_a_wrong_function_raises(derivative):
    with pytest.raises(TypeError, match="numba can compile"):
        compiled_derivative(derivative)


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
