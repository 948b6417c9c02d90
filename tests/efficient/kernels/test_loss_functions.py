"""Functions of losses in compiled loops: numbers and pointers give the bits of the plain source; others are refused."""

from dataclasses import replace
from types import FunctionType

import numba
import numpy as np
import pytest

import efficient
from efficient.kernels.loss_functions import BUILT_IN, Numbered, loss_function
from reference import LOSSES, Loss, Problem
from reference.datasets import make_generic
from tests.helpers import draws, floats, same

compiled_only = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")


def huber_derivative(p, y):
    return max(-1.0, min(1.0, p - y))


@numba.njit
def call(function, p, y, values):
    for i in range(len(p)):
        values[i] = function(p[i], y[i])


@pytest.mark.parametrize("kind", BUILT_IN)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("labels", [np.float64, np.int8])
def test_loss_function_of_built_in_and_of_copy_equal_python(kind, loss, labels):
    function = getattr(LOSSES[loss], kind)
    copy = FunctionType(function.__code__, function.__globals__)  # another object, so not a number
    p = np.array([-800, -2.5, -1, 0, 1, 0.3, 7, 800])
    y = np.array([1, -1, -1, 1, 1, -1, 1, -1], dtype=labels)
    right = [float(function(float(a), float(b))) for a, b in zip(p, y, strict=True)]
    for form in (loss_function(function), loss_function(copy)):
        values = np.empty(len(p))
        call(form, p, y, values)
        np.testing.assert_array_equal(values, right)


def test_loss_with_name_and_fields_of_built_in_trains_its_own_derivative():
    mine = replace(LOSSES["squared"], derivative=huber_derivative)
    X, y, _ = make_generic(30, 6, 3, seed=0, binary=False)
    given, honest, built_in = (Problem(X, 5 * y, loss, 0.5) for loss in (mine, Loss("h", abs, huber_derivative), "squared"))
    pi = draws(given, 60)
    assert same(efficient.casgd(given, pi), efficient.casgd(honest, pi))
    assert not same(efficient.casgd(given, pi), efficient.casgd(built_in, pi))


@compiled_only
def test_renamed_copy_of_built_in_loss_is_built_in():
    renamed = replace(LOSSES["log"], name="logistic", slope_bound=None)
    assert isinstance(loss_function(renamed.derivative), Numbered)
    assert not isinstance(loss_function(huber_derivative), Numbered)


@compiled_only
def test_run_of_own_loss_equals_run_of_inlined_derivative():
    own = Loss("own", LOSSES["log"].value, lambda p, y: -y / (1 + np.exp(p * y)))
    problem = floats("generic", own)
    state = efficient.State(problem, "casgd")
    state._dloss = numba.njit("float64(float64, float64)", error_model="numpy")(own.derivative)
    pi = draws(problem, 50)
    assert same(state.run(pi).average(), efficient.casgd(problem, pi))


def raises(p, y):
    if p > 3:
        raise ValueError
    return p - y


@pytest.mark.parametrize(
    "derivative",
    [
        lambda p: p,
        lambda p, y: None,
        lambda p, y: 1j * p,
        pytest.param(raises, marks=compiled_only),
        pytest.param(numba.njit(raises), marks=compiled_only),
    ],
    ids=["one argument", "none", "complex", "raises", "dispatcher that raises"],
)
def test_loss_function_of_a_wrong_function_raises(derivative):
    with pytest.raises(TypeError, match="numba can compile"):
        loss_function(derivative)
