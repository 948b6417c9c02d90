"""Loop for K models: equal to the bit to the loop for one, which mutants of it are not."""

import inspect
from fractions import Fraction

import numba
import numpy as np
import pytest

from efficient import State, States
from efficient.kernels import batch, prefetch
from efficient.kernels.simd import read_four, write_four
from proofs.proved import batch as proved
from proofs.proved import mutants
from reference import Problem, draw_indices
from reference.datasets import make_text

X, Y, _ = make_text(60, 300, 10, seed=1)
PI = draw_indices(60, 400, rng=2)
SIGNS = np.random.default_rng(3).choice([-1.0, 1.0], (7, 60))


def exchanged(old, new, part="steps"):
    """Exchange a piece of the source of the loop, or of one of its operations."""
    source = inspect.getsource(proved.PARTS[part])
    source = source[source.index("def ") :]
    assert source.count(old) == 1
    scope: dict = {}
    exec(source.replace(old, new), {**vars(batch)}, scope)
    return proved.loop_of(**{part: scope[part]})


MUTANTS = {
    "λ of the first for all": ("(lam[k] * (t - 1 + t0[k]))", "(lam[0] * (t - 1 + t0[k]))", "steps"),
    "u with h_t": ("hg[k] = h[k] * g[k]", "hg[k] = (h[k] + omega[j] / (t + t0[k])) * g[k]", "steps"),
    "labels of the first for all": ("y[i, k])\n            hg[k] = h", "y[i, 0])\n            hg[k] = h", "steps"),
    "s not kept": ("s[k] = s[k] + omega[j] * r[k] / (t + t0[k])", "pass", "steps"),
    "no four together": ("range(np.uintp(0), left_over, FOUR)", "range(np.uintp(0), np.uintp(0), FOUR)", "dots"),
    "none left over": ("range(left_over, models)", "range(models, models)", "add_to_all"),
    "u for v": ("read(w, columns[e + TWO], 0, k)", "read(w, columns[e + TWO], 1, k)", "dot_of"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_mutant_is_found_by_bits_and_by_proofs(mutant, monkeypatch):
    wrong = exchanged(*MUTANTS[mutant])
    first = Problem(X[:6], Y[:6], "log", Fraction(1, 3))
    problems = [first.variant(y=SIGNS[k][:6], lam=Fraction(1, k + 1)) for k in range(6)]
    pi = draw_indices(6, 8, rng=4)

    def equal():
        found = States(problems, "casgd").run(pi).average()
        wanted = [State(each, "casgd").run(pi).average() for each in problems]
        return all((one.w == two.w).all() and one.b == two.b for one, two in zip(found, wanted, strict=True))

    assert equal()
    monkeypatch.setattr(batch, "steps", wrong)
    assert not equal()
    assert proved.failure(wrong) is not None


def test_another_order_of_summation_gives_other_bits():
    in_turn = exchanged("(d0 + d1) + (d2 + d3)", "((d0 + d1) + d2) + d3", "dot_of")
    problem = Problem(X, SIGNS[0] + np.random.default_rng(0).standard_normal(60), "squared", 0.1)
    alone = State(problem, t0=500).run(PI).average().w
    found, wrong = (States([problem] * 5, t0=500) for _ in range(2))
    wrong._steps, wrong._dloss = in_turn, problem.loss.derivative
    assert (found.run(PI).average()[4].w == alone).all()
    assert (wrong.run(PI).average()[4].w != alone).any()


def test_prefetching_the_state_changes_no_bit(monkeypatch):
    problem = Problem(X, SIGNS[0], "log", 0.1)
    problems = [problem.variant(y=signs) for signs in SIGNS]
    wanted = [each.w for each in States(problems, "casgd").run(PI).average()]
    monkeypatch.setattr(prefetch, "LARGE", 1)
    monkeypatch.setattr(batch, "steps", mutants.rebind(batch.steps))  # to be compiled anew
    found = [each.w for each in States(problems, "casgd").run(PI).average()]
    assert all((one == two).all() for one, two in zip(found, wanted, strict=True))


@pytest.mark.parametrize("models", [1, 3, 4, 9])
def test_vectors_begin_at_a_cache_line(models):
    problem = Problem([[1.0, 2, 3]], [1], "squared", 1.0)
    kept = [States([problem] * models) for _ in range(20)]  # kept, so that no two share their place
    assert {states.v.ctypes.data % 64 for states in kept} == {0}


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize("of_type", [np.float32, np.int64])
def test_read_four_takes_float64_only(of_type):
    def copy_four(array):
        write_four(read_four(array, 0), array, 0)

    numba.njit(copy_four)(np.zeros(4))
    with pytest.raises(numba.TypingError):
        numba.njit(copy_four)(np.zeros(4, of_type))
