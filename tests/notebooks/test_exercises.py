"""Test the exercises: solutions get full marks, stubs none, planted wrong answers the marks and sentences that they should."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from proofs.conformance import search

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "notebooks" / "exercises"
spec = importlib.util.spec_from_file_location("make", FOLDER / "make.py")
make = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make)

NAMES = [path.stem for path in make.sources()]


def source(name):
    return make.read(FOLDER / f"{name}.ipynb")


def solution(name):
    return make.version(source(name), "solution")


def student(name):
    return make.version(source(name), "student")


def cell_of(notebook, name):
    return next(cell for cell in notebook["cells"] if make.rules_of(cell).get("grade_id") == name)


def lost(marked):
    """Return the messages of the tests that gave no marks, by their names without that of the exercise."""
    prefix = marked.exercise.replace("_", "-") + "-"
    return {mark.test.removeprefix(prefix): mark.said for mark in marked.marks if mark.given < mark.points}


def planted(name, *changes):
    """Replace pieces of the answers in a solution, each of which must be there once."""
    notebook = solution(name)
    for old, new in changes:
        (cell,) = [cell for cell in notebook["cells"] if make.rules_of(cell).get("solution") and old in make.source_of(cell)]
        assert make.source_of(cell).count(old) == 1
        cell["source"] = make.source_of(cell).replace(old, new)
    return notebook


def test_exercises_are_those_of_the_course():
    assert NAMES == ["averaging", "centring", "dense_sgd", "losses", "proof", "scheme", "sparse_sgd"]


@pytest.mark.parametrize("name", NAMES)
def test_source_follows_nbgrader_and_gives_ten_marks(name):
    for notebook in (source(name), student(name), solution(name)):
        nbformat.validate(nbformat.from_dict(notebook))
        rules = [cell["metadata"]["nbgrader"] for cell in notebook["cells"]]
        assert len({each["grade_id"] for each in rules}) == len(rules)
        assert all(each["schema_version"] == 3 and each["locked"] != each["solution"] for each in rules)
        assert sum(each["points"] for each in rules if each["grade"]) == 10
    for cell in source(name)["cells"]:
        assert cell.get("outputs", []) == []
        assert not make.rules_of(cell)["grade"] or f"with marks({make.rules_of(cell)['points']}, " in make.source_of(cell)
    (hidden,) = [make.rules_of(cell)["points"] for cell in source(name)["cells"] if "BEGIN HIDDEN" in make.source_of(cell)]
    assert make.source_of(source(name)["cells"][-1]) == f"total(10, hidden={hidden})"


@pytest.mark.parametrize(
    "text",
    [
        "### BEGIN SOLUTION\npass",
        "### END SOLUTION",
        "### BEGIN SOLUTION\n" * 2,
        "### BEGIN HIDDEN TESTS\n### END HIDDEN TESTS",
    ],
)
def test_version_region_in_the_wrong_place_raises(text):
    notebook = source("losses")
    cell_of(notebook, "losses-values")["source"] = text
    with pytest.raises(ValueError, match=r"'losses-values' .* region"):
        make.version(notebook, "student")


@pytest.mark.parametrize("name", NAMES)
def test_version_student_has_no_answers_and_no_hidden_tests(name):
    for before, after in zip(source(name)["cells"], student(name)["cells"], strict=True):
        text = make.source_of(after)
        assert "###" not in text
        if make.rules_of(before)["solution"]:
            assert text.count("# YOUR CODE HERE\n    raise NotImplementedError()") == make.source_of(before).count("### BEGIN")
            assert "return" not in text
        if make.rules_of(before)["grade_id"].endswith("hidden"):
            assert text.startswith("# ") and len(text.splitlines()) == 1


@pytest.mark.parametrize("name", NAMES)
def test_mark_solution_gets_all_and_stubs_get_nothing(name):
    marked = make.mark(solution(name))
    assert (marked.exercise, lost(marked), marked.total, marked.remarks) == (name, {}, (10, 10), [])
    marked = make.mark(student(name))
    assert (marked.total, marked.remarks) == ((0, 10), [])
    assert all(mark.said.startswith("not written yet: NotImplementedError") for mark in marked.marks)


LOOP = "for t, i in enumerate(indices, start=1):"


def both(message, *others):
    return dict.fromkeys(("test-squared", "hidden", *others), message)


WRONG_ANSWERS = {
    # wrong answer: exercise, what is replaced by what, and of each test that gives no marks a part of its message
    "hinge, the other side of the kink": (
        "losses",
        [("return -y if p * y <= 1 else 0", "return -y if p * y < 1 else 0")],
        {"test-kinks": "the tie at the kink goes the other way [tie at the kink]"},
    ),
    "absolute, 0 at the kink": (
        "losses",
        [("return -1 if p <= y else 1", "return (p > y) - (p < y)")],
        {"test-kinks": "[zero at the kink]"},
    ),
    "squared loss without the half": (
        "losses",
        [("return (p - y) ** 2 / 2", "return (p - y) ** 2"), ("return p - y", "return 2 * (p - y)")],
        {
            "test-values": "the half is missing\nsquared(-3, -2) is 1, must be 0.5",
            "test-smooth": "[squared loss without the half]",
        },
    ),
    "hinge of another slope, which a hidden test sees": (
        "losses",
        [("return max(1 - p * y, 0)", "return max(1 - 2 * p * y, 0)")],
        {"test-values": "hinge(-3, 1) is 7, must be 4", "hidden": "is above the loss"},
    ),
    "bias not regularised": (
        "dense_sgd",
        [("b = (1 - 1 / t) * b - g", "b = b - g"), ("(w @ w + b * b)", "(w @ w)")],
        {
            "test-objective": "the bias is regularised too: b² is in F",
            **both("[bias not regularised]", "test-hinge"),
        },
    ),
    "multiple that still shrinks": (
        "dense_sgd",
        [("return lam * t * w", "return lam * w")],
        {"test-unshrunk": "a step still shrinks it: step 2 makes 0.544259 to 0.272129 in column 0, where its row is 0."},
    ),
    "no multiple": (
        "dense_sgd",
        [("return lam * t * w", "return lam * t")],
        {"test-unshrunk": "it must be a multiple of w: w times one number; of w = ["},
    ),
    "draws of their own": (
        "dense_sgd",
        [(LOOP, "for t, i in enumerate(np.random.permutation(indices), start=1):")],
        both("asked again, it says something else: it draws examples or keeps state", "test-hinge"),
    ),
    "t from 0": (
        "dense_sgd",
        [(LOOP, "for t, i in enumerate(indices):")],
        both(
            "ZeroDivisionError: division by zero\n  in `sgd`, line 5: `w = (1 - 1 / t) * w - g / (lam * t) * rows[i]`\n"
            "Perhaps the loop starts at t = 1 as printed",
            "test-hinge",
        ),
    ),
    "loop from t = 1 after step 1": (
        "sparse_sgd",
        [(LOOP, "for t, i in [(1, indices[0]), *enumerate(indices, start=1)]:")],
        both("[loop from 1]"),
    ),
    "repeated entries lost": (
        "sparse_sgd",
        [("np.add.at(v, columns, g * values)", "v[columns] += g * values")],
        both("[update loses repeated entries]"),
    ),
    "row made dense": (
        "sparse_sgd",
        [("np.add.at(v, columns, g * values)", "v += g * X[[i]].toarray()[0]")],
        {"test-cost": "entries for each of the n columns, so that the loop costs O(Tn)"},
    ),
    "error in a line": (
        "sparse_sgd",
        [("        a += g\n", "        a += g[0]\n")],
        both("line 8: `a += g[0]`", "test-cost"),
    ),
    "u with h_t": (
        "averaging",
        [("np.add.at(u, columns, h * g * values)", "np.add.at(u, columns, (h + 1 / t) * g * values)")],
        both("[u with h_t]"),
    ),
    "tail without its first term": (
        "averaging",
        [("return h[t] - h[i - 1]", "return h[t] - h[i]")],
        {"test-tail": "1/i belongs to it: only what comes before is subtracted\ntail(1, 1, "},
    ),
    "theta without 1": (
        "centring",
        [("return xbar, 1 + xbar @ xbar", "return xbar, xbar @ xbar")],
        {"test-centre": "θ is without its 1", **both("[theta without 1]")},
    ),
    "centre made dense": (
        "centring",
        [("z += g * q", "z = v @ xbar")],
        {"test-cost": "a step costs 2 entries for each of the n columns"},
    ),
    "proof with h_t in u": (
        "proof",
        [("u_t = u + h * g * x", "u_t = u + h_t * g * x")],
        {"test-mean": "u is updated after h has grown: it must take h_{t−1}\nwith g = 1, h = 2, t = 4, u = 4, x = 5 it is "},
    ),
    "slip the other way, and no first step": (
        "proof",
        [("return g * x / (lam * t), sympy.Integer(0)", "return -g * x / (lam * t), -g * x / lam")],
        {"test-slip": "theirs minus the right one, not the other way", "hidden": "this is the right sum, not theirs"},
    ),
    "scheme that is declared and not computed": (
        "scheme",
        [("weight = omega(t, T)", "weight = 1")],
        dict.fromkeys(("test-mean", "hidden"), "the uniform mean is returned, but another one is declared"),
    ),
    "claim instead of a count": (
        "scheme",
        [("    return int((yours < ", "    return 10, 10\n    return int((yours < ")],
        {"test-nearer": "nearer({last, uniform, yours}) is (10, 10), must be ("},
    ),
}


FIRST = {name: wrong for wrong, (name, *_) in reversed(WRONG_ANSWERS.items())}.values()
"""One wrong answer to each exercise, for the default run."""


@pytest.mark.parametrize(
    "wrong", [pytest.param(each, marks=[pytest.mark.nightly] * (each not in FIRST)) for each in WRONG_ANSWERS]
)
def test_mark_wrong_answer_is_told_its_fault(wrong):
    name, changes, messages = WRONG_ANSWERS[wrong]
    marked = make.mark(planted(name, *changes))
    found = lost(marked)
    assert marked.exercise == name
    assert found.keys() == messages.keys()
    assert all(part in found[test] for test, part in messages.items()), found
    points = {mark.test: mark.points for mark in marked.marks}
    assert marked.total[0] == 10 - sum(points[f"{name.replace('_', '-')}-{test}"] for test in messages)


SGD = "def sgd(X, y, derivative, lam, indices, zeros):\n"
LIBRARY = "efficient.sgd(reference.Problem(X, y, reference.Loss('', derivative, derivative), lam), indices)"
UNEARNED = {
    # what a cell is made to hold instead of an answer: exercise, cell, its text, the marks that are left, a part of a remark
    "a test shadowed": (
        "averaging",
        "asgd",
        "def asgd(*_): pass\nconforms = touches_few = lambda *_, **__: None",
        2,
        "gives touches_few, a name of the tests, another meaning; ignored",
    ),
    "questions patched": (
        "proof",
        "lemma",
        "questions.lemma = lambda *_: None\ndef lemma(): return 0, 0, 0",
        7,
        "changes questions.lemma, which belongs to the tests; ignored",
    ),
    "numpy patched": (
        "losses",
        "values",
        "import numpy as np\nnp.isfinite = np.array = lambda *_: True",
        3,
        "numpy.isfinite; undone",
    ),
    "library called": (
        "sparse_sgd",
        "sgd",
        f"{SGD}    import efficient, reference\n    return {LIBRARY}",
        2,
        "imports efficient",
    ),
    "losses of the library": (
        "losses",
        "values",
        "from reference import LOSSES\nabsolute, squared, hinge, log = (LOSSES[name].value for name in LOSSES)",
        3,
        "imports reference, which answers go without",
    ),
    "what was measured, typed in": ("scheme", "nearer", "def nearer(measured): return 8, 10", 7, None),
    "lemma assumed": (
        "proof",
        "lemma",
        "def lemma(): return -v / (lam * (t - 1)), -(v + g * x) / (lam * t), v + g * x",
        7,
        None,
    ),
}


@pytest.mark.parametrize("what", UNEARNED)
def test_mark_what_is_no_answer_earns_nothing_and_is_remarked(what):
    name, cell, text, left, remark = UNEARNED[what]
    notebook = solution(name)
    cell_of(notebook, f"{name.replace('_', '-')}-{cell}")["source"] = text
    marked = make.mark(notebook)
    assert marked.total == (left, 10)
    assert remark is None or any(remark in each for each in marked.remarks), marked.remarks


RIGHT = {
    "a list for a tuple, and a dictionary for a vector": (
        "    v, a = {}, 0.0\n"
        "    for t, i in enumerate(indices, start=1):\n"
        "        entries = list(zip(*row(X, i)))\n"
        "        p = -(sum(v.get(j, 0.0) * x for j, x in entries) + a) / (lam * (t - 1)) if t > 1 else 0.0\n"
        "        g = derivative(p, y[i])\n"
        "        for j, x in entries:\n            v[j] = v.get(j, 0.0) + g * x\n"
        "        a += g\n"
        "    return [{j: -x / (lam * t) for j, x in v.items()}, -a / (lam * t)]"
    ),
    "a vector without numpy": (
        "    v, a = [0.0] * X.shape[1], 0.0\n"
        "    for t, i in enumerate(indices, start=1):\n"
        "        columns, values = row(X, i)\n"
        "        p = -(sum(v[j] * x for j, x in zip(columns, values)) + a) / (lam * (t - 1)) if t > 1 else 0.0\n"
        "        g = derivative(p, y[i])\n"
        "        for j, x in zip(columns, values):\n            v[j] += g * x\n"
        "        a += g\n"
        "    return recover(np.array(v), a, lam, t)"
    ),
}


@pytest.mark.parametrize("form", RIGHT)
def test_mark_right_answer_in_another_form_keeps_its_marks(form):
    notebook = solution("sparse_sgd")
    cell_of(notebook, "sparse-sgd-sgd")["source"] = SGD + RIGHT[form]
    in_place = "def recover(v, a, lam, t):\n    v /= -lam * t\n    return v, -a / (lam * t)"
    cell_of(notebook, "sparse-sgd-recover")["source"] = f"?np\n%time t = X = LOSSES = 0\n{in_place}\nif True:\n    !ls"
    marked = make.mark(notebook)
    assert (lost(marked), marked.total) == ({}, (10, 10))


SGD_DENSE = """def sgd(rows, y, derivative, lam, indices):
    w, b = np.zeros(rows.shape[1]), 0.0
    for t, i in enumerate(indices, start=1):
        x = rows[i]
        w = (1 - 1 / t) * w - derivative(w @ x + b, y[i]) / (lam * t) * x
        b = (1 - 1 / t) * b - derivative(w @ x + b, y[i]) / (lam * t)
    return w, b"""
FIRST, SECOND = SGD_DENSE.splitlines()[4:6]
SGD_AGAIN = SGD_DENSE.replace(f"{FIRST}\n{SECOND}", f"{SECOND}\n{FIRST}")
SGD_DENSE_EVERY_STEP = """def sgd(X, y, derivative, lam, indices, zeros):
    v, a, w, b = zeros(X.shape[1]), 0.0, zeros(X.shape[1]), 0.0
    for t, i in enumerate(indices, start=1):
        columns, values = row(X, i)
        g = derivative(w[columns] @ values + b, y[i])
        np.add.at(v, columns, g * values)
        a += g
        w, b = recover(v, a, lam, t)
    return w, b"""
SHORTEST = """\
              rows, as column: value, {0: 1.5, 2: -0.25} {1: 2, 2: 0.75} {0: -0.5, 1: 1.25} {0: 0.75, 2: 1}
              labels [0.5, -1.25, 2.0, 0.75]; squared loss; λ = 0.5; drawn """

STUDENTS = {
    # student: exercise, the answer or what is replaced in the solution's, and what is sent back of the tests of this function
    "takes the derivative again for b": (
        "dense_sgd",
        SGD_DENSE,
        """\
  0 of 2  SGD with the squared loss
          the derivative is taken again for b, after w has changed [derivative again for b]
            49 of 52 cases are wrong; the shortest:
              rows, as column: value, {0: -2, 1: 0.5}
              labels [-1.5]; squared loss; λ = 0.25; drawn [0]
              the first difference is at step 1: b is 96, must be -6; w is right (rounding could make 3e-14)
          also in “SGD with the hinge loss”, “hidden tests: the other losses”
  0 of 2  SGD with the hinge loss
  0 of 2  hidden tests: the other losses""",
    ),
    "takes the derivative again for w": (
        "dense_sgd",
        SGD_AGAIN,
        """\
          the derivative is taken again for w, after b has changed [derivative again for w]
            49 of 52 cases are wrong; the shortest:
              rows, as column: value, {0: -2, 1: 0.5}
              labels [-1.5]; squared loss; λ = 0.25; drawn [0]
              the first difference is at step 1: w[0] is -36, must be 12; b is right (rounding could make 5e-14)
          also in “SGD with the hinge loss”, “hidden tests: the other losses”""",
    ),
    "takes the label of the step": (
        "sparse_sgd",
        ("g = derivative(p, y[i])", "g = derivative(p, y[t - 1])"),
        f"""\
  0 of 3  Algorithm 1 with the squared loss
          the label is the one at the step's number, y[t - 1], not that of the drawn row [label of the step]
          IndexError: index 3 is out of bounds for axis 0 with size 3
            in `sgd`, line 6: `g = derivative(p, y[t - 1])`
            49 of 52 cases are wrong; the shortest:
{SHORTEST}[1]
              the first difference is at step 1: w[1] is 2, must be -5 (rounding could make 2e-14)
          also in “hidden tests: the other losses”
  0 of 2  the cost of Algorithm 1
          IndexError: index 24 is out of bounds for axis 0 with size 24
            in `sgd`, line 6: `g = derivative(p, y[t - 1])`
  0 of 3  hidden tests: the other losses""",
    ),
    "takes the row of the step": (
        "sparse_sgd",
        ("columns, values = row(X, i)", "columns, values = row(X, t - 1)"),
        """\
          the row is the one at the step's number, t - 1, not the drawn one, whose label is taken [row of the step]
          IndexError: index 4 is out of bounds for axis 0 with size 4
            in `row`, line 9: `stored = slice(X.indptr[i], X.indptr[i + 1])`
            called in `sgd`, line 4: `columns, values = row(X, t - 1)`
""",
    ),
    "is right, but dense": (
        "sparse_sgd",
        SGD_DENSE_EVERY_STEP,
        """\
  0 of 2  the cost of Algorithm 1
          a step costs 4 entries for each of the n columns, so that the loop costs O(Tn): touch only the columns that \
the row stores
            most in `recover`, line 3: `return -v / (lam * t), -a / (lam * t)`
            called in `sgd`, line 8: `w, b = recover(v, a, lam, t)`
  3 of 3  hidden tests: the other losses""",
    ),
    "regularises the prediction": (
        "sparse_sgd",
        ("g = derivative(p, y[i])", "g = derivative(p, y[i]) + lam * p"),
        f"""\
  0 of 3  Algorithm 1 with the squared loss
          it is not one of the usual mistakes
            49 of 52 cases are wrong; the shortest:
{SHORTEST}[0, 1]
              the first difference is at step 2: w[1] is -4.9375, must be -4.125 (rounding could make 3e-14)
          also in “hidden tests: the other losses”
  2 of 2  the cost of Algorithm 1
  0 of 3  hidden tests: the other losses""",
    ),
}


SLOW = ("takes the derivative again for w", "takes the row of the step")


@pytest.mark.parametrize("student", [pytest.param(each, marks=[pytest.mark.nightly] * (each in SLOW)) for each in STUDENTS])
def test_report_is_fit_to_be_sent_back(student, monkeypatch):
    name, answer, told = STUDENTS[student]
    if "not one of the usual" in told:
        monkeypatch.setattr(search, "MOST_WORK", 2000)  # seconds
    notebook = planted(name, answer) if isinstance(answer, tuple) else solution(name)
    if isinstance(answer, str):
        cell_of(notebook, f"{name.replace('_', '-')}-sgd")["source"] = answer
    text, table = make.report(Path("one.ipynb"), make.mark(notebook))
    assert f"\n{told}" in text
    assert not any(each["test"] in text for each in table["tests"])


def test_mark_changed_tests_count_as_in_the_source():
    notebook = planted("averaging", ("np.add.at(u, columns, h * g", "np.add.at(u, columns, (h + 1 / t) * g"))
    for cell in notebook["cells"]:
        if make.rules_of(cell)["grade"]:
            cell["source"] = "pass"
            make.rules_of(cell)["points"] = 100
    generous = {"grade": True, "points": 100, "locked": True, "solution": False}
    make.rules_of(cell_of(notebook, "averaging-tail")).update(generous)
    added = {"grade_id": "averaging-extra", **generous}
    notebook["cells"].append({"cell_type": "code", "metadata": {"nbgrader": added}, "source": "pass"})
    marked = make.mark(notebook)
    assert lost(marked).keys() == {"test-squared", "hidden"}
    assert marked.total == (4, 10)


def test_mark_removed_cells_are_put_back_or_remarked():
    notebook = solution("dense_sgd")
    for name in ("test-squared", "train", "sgd"):
        notebook["cells"].remove(cell_of(notebook, f"dense-sgd-{name}"))
    marked = make.mark(notebook)
    assert marked.total == (4, 10)
    assert "dense-sgd-train: this cell is missing" in marked.remarks
    assert "dense-sgd-sgd: this cell is missing" in marked.remarks


def test_mark_copied_answer_counts_as_it_ran():
    notebook, right = student("averaging"), cell_of(solution("averaging"), "averaging-asgd")
    notebook["cells"].insert(3, right)
    assert make.mark(notebook).total == (0, 10)  # the stub comes last
    notebook["cells"].remove(right)
    notebook["cells"].insert(8, right)
    assert make.mark(notebook).total == (8, 10)


def test_mark_added_cells_run_and_may_fail():
    notebook = planted("dense_sgd", ("return lam / 2 * (w @ w + b * b) +", "return helper(lam, w, b) +"))
    helper = "%matplotlib inline\n!ls\ndef helper(lam, w, b):\n    return lam / 2 * (w @ w + b * b)"
    added = [{"cell_type": "code", "metadata": {}, "source": text} for text in (helper, "undefined", "exit()", "not a program")]
    notebook["cells"] = [*added, *notebook["cells"], {"cell_type": "raw", "metadata": {}, "source": "("}]
    marked = make.mark(notebook)
    assert marked.total == (10, 10)
    assert [remark.split(": ", 1)[1] for remark in marked.remarks] == [
        "NameError: name 'undefined' is not defined\n  in line 1: `undefined`",
        "SystemExit: None\n  in line 1: `exit()`",
        "SyntaxError: invalid syntax\n  in line 1: `not a program`",
    ]


def test_mark_notebook_of_no_exercise_raises():
    with pytest.raises(ValueError, match="of an exercise; got none of averaging, "):
        make.mark({"cells": []})


def command(*arguments, cwd):
    line = [sys.executable, FOLDER / "make.py", *map(str, arguments)]
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    done = subprocess.run(line, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_command_student_writes_once(tmp_path):
    status, written, errors = command("student", "out", cwd=tmp_path)
    assert (status, errors) == (0, "")
    assert [Path(line).stem for line in written.splitlines()] == NAMES
    assert json.loads((tmp_path / "out" / "losses.ipynb").read_text("utf8")) == student("losses")
    status, _, errors = command("solution", "out", cwd=tmp_path)
    assert status == 2
    assert "losses.ipynb" in errors and "empty folder" in errors


def test_command_mark_survives_what_students_hand_in(tmp_path):
    for name, notebook in (
        ("one", planted("dense_sgd", ("b = (1 - 1 / t) * b - g", "b = b - g"))),
        ("forever", planted("losses", ("return abs(p - y)", "while True: pass"))),
        ("dies", planted("losses", ("return abs(p - y)", "import os; os._exit(3)"))),
    ):
        (tmp_path / f"{name}.ipynb").write_text(json.dumps(notebook), "utf8")
    (tmp_path / "text.ipynb").write_text("no notebook", "utf8")
    files = ("one.ipynb", "dies.ipynb", "text.ipynb", "missing.ipynb")
    status, told, _ = command("mark", *files, "--json", "marks.json", cwd=tmp_path)
    assert status == 1
    told += command("mark", "forever.ipynb", "--seconds", "5", cwd=tmp_path)[1]
    for line in (
        "one.ipynb: dense_sgd, 4 of 10 marks",
        "  2 of 2  the objective",
        "text.ipynb: no marks: text.ipynb is no notebook: JSONDecodeError: ",
        "missing.ipynb: no marks: missing.ipynb is no notebook: FileNotFoundError: ",
        "forever.ipynb: losses, 0 of 10 marks",
        "  losses-test-values: not done after 5 s",
        "dies.ipynb: losses, 0 of 10 marks",
        "  losses-test-values: its process ended with exit code 3",
    ):
        assert f"\n{line}" in f"\n{told}"
    table = json.loads((tmp_path / "marks.json").read_text("utf8"))
    assert list(table) == list(files)
    assert (table["one.ipynb"]["given"], table["one.ipynb"]["points"]) == (4, 10)


def test_browser_marks_in_its_one_process(tmp_path, monkeypatch):
    files = {"one.ipynb": solution("losses"), "none.ipynb": {"cells": []}}
    for name, notebook in files.items():
        (tmp_path / name).write_text(json.dumps(notebook))
    monkeypatch.setattr(sys, "platform", "emscripten")
    monkeypatch.setattr(make, "multiprocessing", None)
    assert make.mark_apart(tmp_path / "one.ipynb", 300).total == (10, 10)
    assert "cells of an exercise" in make.mark_apart(tmp_path / "none.ipynb", 300)
