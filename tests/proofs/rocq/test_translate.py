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
        ("efficient/asgd.py", "w = h * v", "w = v\n    w *= h", "changes an array that has two names"),
        ("efficient/asgd.py", "w = h * v", "w = x = v\n    x *= h", "gives an array a second name"),
        ("efficient/sgd.py", "first = 0", "first = 0\n    w = v if t == 0 else v", "gives an array a second name"),
        ("efficient/sgd.py", "a = a + g  #", "w = t * v\n        a = a + g  #", "computes with a whole array beside a loop"),
        ("efficient/sgd.py", "indices[0], 1", "indices[first - 1], 1", "counts from the end"),
        ("efficient/sgd.py", "if p - p != 0", "if (d + a) - (d + a) != 0", "is 0 of one variable only"),
        ("efficient/sgd.py", "first = 0", "first = 0\n    K0 = t0", "is a name of the translation"),
        ("efficient/sgd.py", "ahead(X, indices, j, v)", "ahead(X, indices, j, add(v, t, X, j))", "a hint must be given names"),
        ("efficient/sgd.py", "import add, dot", "import add_both as add, dot", "is another name, or of another file"),
        ("efficient/sgd.py", "def last(", "steps = len(steps)\n\n\ndef last(", "must be bound once"),
        ("efficient/sgd.py", "def last(", "@doubled\ndef last(", "may change the function"),
        ("efficient/sgd.py", "def last(lam, t, v, a):", "def last(lam, t, v, a, *rest):", "must have plain parameters"),
        ("efficient/kernels/batch.py", "np.uintp(w.shape[2])", "np.uintp(len(w))", "for the number of models"),
        ("efficient/kernels/batch.py", "models, first = range(len(lam)), 0", "first = 0\n    models, first = range(first), 0",
         "has bounds that change"),
        ("efficient/kernels/simd.py", "WIDTH = 4", "WIDTH = 2", "must be as the translation knows it"),
        ("reference/losses.py", "(p - y) * (p - y) / 2", "(p - y) * (p - y) * (1 / 2)", "is a float in Python"),
        ("reference/losses.py", "def absolute(", "max = min\n\n\ndef absolute(", "must be bound once"),
        ("reference/sgd.py", 'with np.errstate(over="ignore", invalid="ignore"):', "with single_precision():",
         "must be as the translation knows it"),
        ("reference/sgd.py", "problem.X.dense(i) if", "problem.X.dense(i, transposed=True) if", "not in the fragment"),
        ("reference/problem.py", "self.b - self.w @ self.xbar)", "self.b - self.w @ self.xbar, xbar=self.xbar)",
         "must be as the translation knows it"),
    ],
)  # fmt: skip
def test_generated_refuses_what_is_outside_the_fragment(file, old, new, message, copy):
    with pytest.raises(Refused) as raised:
        generated(copy(file, old, new))
    assert str(raised.value).startswith(file)
    assert message in str(raised.value)
    assert "line" in str(raised.value)


def test_chained_assignment_is_evaluated_once(copy):
    text = generated(copy("efficient/sgd.py", "        t = t + 1\n", "        t = p = t + 1\n"))
    assert "let new0 := (t + K1)%K in\nlet t := new0 in\nlet p := new0 in\n" in text
