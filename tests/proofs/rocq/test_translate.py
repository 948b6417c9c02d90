"""Translator: what it refuses, with file and line; and that it sees every function of the loops."""

import re

import pytest

from proofs.rocq.fragment import Refused
from proofs.rocq.sources import LOOPS, ROOT, generated


def test_generated_defines_every_loop_and_recovery_and_names_the_line():
    text = generated()
    for name in LOOPS:
        assert f"Definition {name}_steps " in text
        line = int(re.search(rf"\(\* efficient/{name}\.py, line (\d+) \*\)\nDefinition {name}_steps ", text)[1])
        assert (ROOT / f"efficient/{name}.py").read_text("utf8").splitlines()[line - 1].startswith("def steps(")
    assert {"batch_steps", "casgd_centre", "loss_log_derivative"} <= set(re.findall(r"^Definition (\w+)", text, re.MULTILINE))


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("efficient/sgd.py", "a = a + g", "a = min(a, g)", "not a function that is translated: min(a, g)"),
        ("efficient/sgd.py", "a = a + g", "a = unknown + g", "not assigned before: unknown"),
        ("efficient/sgd.py", "a = a + g", "while a: a = g", "not in the fragment"),
        ("efficient/sgd.py", "a = a + g", "a += X", "rows"),
        ("efficient/sgd.py", "a = a + g", "a = i", "must be of kind K, is nat"),
        ("efficient/asgd.py", "w -= u", "v -= u", "changes an array of the caller as a whole"),
        ("efficient/asgd.py", "add_both(v, g, u, h * g, X, i)", "add_both(v, g, v, h * g, X, i)", "handed over twice"),
        ("efficient/asgd.py", "for j in range", "for t in range", "is another variable, too"),
        ("efficient/kernels/sparse.py", "columns, values = X.indices, X.data\n    start, stop = entries(X, i)\n    rest",
         "columns, values = v, X.data\n    start, stop = entries(X, i)\n    rest", "must be of kind nat"),
        ("efficient/kernels/sparse.py", "np.uintp(4)", "4", "a constant must be np.uintp(number)"),
        ("efficient/kernels/simd.py", "    return array[place]", "    return 2 * array[place]", "as the translation knows it"),
        ("efficient/kernels/prefetch.py", "def ahead(X, indices, j, v):", "def ahead(X, indices, j, v):\n    v[0] = 1",
         "compute nothing"),
        ("reference/losses.py", "abs(p - y)", "p ** y", "not in the fragment"),
        ("reference/sgd.py", "start=1", "start=0", "must be as the translation knows it"),
        ("reference/asgd.py", "step.t, 1, problem", "step.t, 2, problem", "must be as the translation knows it"),
        ("reference/problem.py", "if self.xbar is None:\n            return self\n        return Predictor",
         "if self.xbar is not None:\n            return self\n        return Predictor", "must be as the translation knows it"),
        ("efficient/casgd.py", "def add_up", "def add_up(", "must be a file of Python"),
    ],
)  # fmt: skip
def test_generated_refuses_what_is_outside_the_fragment(file, old, new, message, copy):
    with pytest.raises(Refused) as raised:
        generated(copy(file, old, new))
    assert str(raised.value).startswith(file)
    assert message in str(raised.value)
    assert "line" in str(raised.value)
