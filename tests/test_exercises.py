"""The exercises: solutions get full marks, stubs get none and are told so, and typical wrong answers are told what is wrong."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest
import sympy

from proofs.conformance.twins import FAULTS
from proofs.course import Wrong, is_weighted_mean, marking, marks, questions, total, touches_few
from proofs.course.formulas import agrees, equals
from proofs.course.schemes import WRONG_MEANS
from proofs.proved.symbols import g, h, t, u, v, x
from reference import Problem, iterates

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "notebooks" / "exercises"
spec = importlib.util.spec_from_file_location("make", FOLDER / "make.py")
make = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make)

NAMES = [path.stem for path in make.sources()]


def source(name):
    return make.read(FOLDER / f"{name}.ipynb")


def rules(notebook):
    return [cell["metadata"]["nbgrader"] for cell in notebook["cells"]]


def lost(marked):
    """The tests that gave no marks, by their names without that of the exercise, and what they said."""
    prefix = marked.exercise.replace("_", "-") + "-"
    return {mark.test.removeprefix(prefix): mark.said for mark in marked.marks if mark.given < mark.points}


def planted(name, *changes):
    """The solution of an exercise with pieces of its answers replaced, each of which must be there once."""
    notebook = make.solution(source(name))
    for old, new in changes:
        where = [cell for cell in notebook["cells"] if make.rules_of(cell).get("solution") and old in make.source_of(cell)]
        assert len(where) == 1
        text = make.source_of(where[0])
        assert text.count(old) == 1
        where[0]["source"] = text.replace(old, new)
    return notebook


# the source


def test_all_exercises_are_there():
    assert NAMES == ["averaging", "centring", "dense_sgd", "losses", "proof", "scheme", "sparse_sgd"]


@pytest.mark.parametrize("name", NAMES)
def test_the_source_is_a_notebook_that_nbgrader_can_use(name):
    for notebook in (source(name), make.student(source(name)), make.solution(source(name))):
        nbformat.validate(nbformat.from_dict(notebook))
        ids = [each["grade_id"] for each in rules(notebook)]
        assert len(set(ids)) == len(ids)
        assert all(each["schema_version"] == 3 and each["locked"] != each["solution"] for each in rules(notebook))
        assert sum(each["points"] for each in rules(notebook) if each["grade"]) == 10
    assert all(cell.get("outputs", []) == [] for cell in source(name)["cells"])


@pytest.mark.parametrize("name", NAMES)
def test_the_marks_that_a_test_shows_are_those_that_it_gives(name):
    for cell in source(name)["cells"]:
        if make.rules_of(cell)["grade"]:
            assert f"with marks({make.rules_of(cell)['points']}, " in make.source_of(cell)
    assert make.source_of(source(name)["cells"][-1]) == "total(10)"


def test_a_region_in_the_wrong_place_is_refused():
    notebook = source("losses")
    cell = next(cell for cell in notebook["cells"] if make.rules_of(cell)["solution"])
    for text, trouble in (
        ("### BEGIN SOLUTION\npass", "has no ### END SOLUTION"),
        ("### END SOLUTION", "in the wrong place"),
        ("### BEGIN SOLUTION\n### BEGIN SOLUTION", "in the wrong place"),
        ("### BEGIN HIDDEN TESTS\n### END HIDDEN TESTS", "may not have a region"),
    ):
        cell["source"] = text
        with pytest.raises(ValueError, match=f"'losses-values' .*{trouble}"):
            make.student(notebook)


# what is handed out


@pytest.mark.parametrize("name", NAMES)
def test_the_student_version_has_no_answers_and_no_hidden_tests(name):
    handed_out = make.student(source(name))
    for before, after in zip(source(name)["cells"], handed_out["cells"], strict=True):
        text = make.source_of(after)
        assert "###" not in text
        if make.rules_of(before)["solution"]:
            assert text.count("# YOUR CODE HERE\n    raise NotImplementedError()") == make.source_of(before).count("### BEGIN")
            assert "return" not in text
        if make.rules_of(before)["grade_id"].endswith("hidden"):
            assert text.startswith("# ")
            assert len(text.splitlines()) == 1


@pytest.mark.parametrize("name", NAMES)
def test_a_solution_gets_full_marks(name):
    marked = make.mark(make.solution(source(name)))
    assert marked.exercise == name
    assert lost(marked) == {}
    assert marked.total == (10, 10)
    assert marked.remarks == []


@pytest.mark.parametrize("name", NAMES)
def test_stubs_get_nothing_and_are_told_that_they_are_stubs(name):
    marked = make.mark(make.student(source(name)))
    assert marked.total == (0, 10)
    assert all(mark.said.startswith("not written yet: NotImplementedError") for mark in marked.marks)
    assert marked.remarks == []


AFTER_EACH_ANSWER = {
    "losses": [2, 10],
    "dense_sgd": [2, 10],
    "sparse_sgd": [2, 10],
    "averaging": [2, 10],
    "centring": [2, 10],
    "proof": [3, 6, 10],
    "scheme": [0, 7, 10],
}


@pytest.mark.parametrize("name", NAMES)
def test_one_stub_after_the_other_is_replaced_and_passes(name):
    notebook, totals = make.student(source(name)), []
    for cell, solved in zip(notebook["cells"], make.solution(source(name))["cells"], strict=True):
        if make.rules_of(cell)["solution"]:
            cell["source"] = solved["source"]
            totals.append(make.mark(notebook).total[0])
    assert totals == AFTER_EACH_ANSWER[name]


# typical wrong answers

HINGE, ABSOLUTE = "return -y if p * y <= 1 else 0", "return -1 if p <= y else 1"
LOG = "return -y * (e if p * y > 0 else 1) / (1 + e)"
RETURN = "return -(h * v - u - c * xbar) / (lam * T), -s / (lam * T)"

WRONG_ANSWERS = {
    # what is wrong: exercise, what is replaced by what, which tests give no marks, what they say
    "hinge, tie at the kink the other way": (
        *("losses", [(HINGE, HINGE.replace("<=", "<"))], {"test-kinks"}),
        f"hinge: {FAULTS['tie at the kink']}",
    ),
    "absolute, 0 at the kink": (
        *("losses", [(ABSOLUTE, "return 0 if p == y else -1 if p < y else 1")], {"test-kinks"}),
        FAULTS["zero at the kink"],
    ),
    "absolute, the difference of two truth values": (
        *("losses", [(ABSOLUTE, "return (p > y) - (p < y)")], {"test-kinks"}),
        FAULTS["zero at the kink"],
    ),
    "squared loss without the half": (
        "losses",
        [("return (p - y) ** 2 / 2", "return (p - y) ** 2"), ("return p - y", "return 2 * (p - y)")],
        {"test-values", "test-smooth"},
        ("the half is missing\nsquared(-3, -2) is 1, must be 0.5", FAULTS["squared loss without the half"]),
    ),
    "log-loss for labels 0 and 1": (
        "losses",
        [
            (
                "return -y * (e if p * y > 0 else 1) / (1 + e)",
                "return (1 if p > 0 else math.exp(p)) / (1 + math.exp(-abs(p))) - y",
            )
        ],
        {"test-smooth", "hidden"},
        (FAULTS["cross-entropy"], ""),
    ),
    "log-loss that overflows": (
        "losses",
        [(LOG, "return -y / (1 + math.exp(p * y))")],
        {"test-smooth", "hidden"},
        "OverflowError: math range error (line ",
    ),
    "the slope of the hinge turned, hidden test": (
        *("losses", [("return max(1 - p * y, 0)", "return max(1 - 2 * p * y, 0)")], {"test-values", "hidden"}),
        ("hinge(-3, 1) is 7, must be 4", ""),
    ),
    "the bias not regularised": (
        "dense_sgd",
        [("b = (1 - 1 / t) * b - g", "b = b - g"), ("(w @ w + b * b)", "(w @ w)")],
        {"test-objective", "test-squared", "test-hinge", "hidden"},
        ("the bias is regularised too: b² is in F", *[FAULTS["bias not regularised"]] * 3),
    ),
    "the rows in order, not as drawn": (
        "dense_sgd",
        [("for t, i in enumerate(indices, start=1):", "for t, i in enumerate(np.arange(len(indices)) % len(y), start=1):")],
        {"test-squared", "test-hinge", "hidden"},
        FAULTS["cyclic order"],
    ),
    "a permutation of their own, not the draws": (
        "dense_sgd",
        [("for t, i in enumerate(indices, start=1):", "for t, i in enumerate(np.random.permutation(indices), start=1):")],
        {"test-squared", "test-hinge", "hidden"},
        "it draws examples or keeps state",
    ),
    "t from 0": (
        "dense_sgd",
        [("for t, i in enumerate(indices, start=1):", "for t, i in enumerate(indices):")],
        {"test-squared", "test-hinge", "hidden"},
        "ZeroDivisionError: division by zero (line 5 of its cell)\nPerhaps the loop starts at t = 1 as printed",
    ),
    "steps of 1/(t + 1)": (
        "dense_sgd",
        [("for t, i in enumerate(indices, start=1):", "for t, i in enumerate(indices, start=2):")],
        {"test-squared", "test-hinge", "hidden"},
        FAULTS["step 1/(λ(t+1))"],
    ),
    "the loop from t = 1, after step 1": (
        "sparse_sgd",
        [
            ("for t, i in enumerate(indices, start=1):", "for t, i in [(1, indices[0]), *enumerate(indices, start=1)]:"),
        ],
        {"test-squared", "hidden"},
        FAULTS["loop from 1"],
    ),
    "the prediction over t": (
        "sparse_sgd",
        [("/ (lam * (t - 1)) if t > 1 else 0.0", "/ (lam * t)")],
        {"test-squared", "hidden"},
        FAULTS["prediction over t"],
    ),
    "values stored twice lost": (
        "sparse_sgd",
        [("np.add.at(v, columns, g * values)", "v[columns] += g * values")],
        {"test-squared", "hidden"},
        FAULTS["update loses repeated entries"],
    ),
    "the row made dense": (
        "sparse_sgd",
        [("np.add.at(v, columns, g * values)", "v += g * X[[i]].toarray()[0]")],
        {"test-cost"},
        "entries for each of the n columns, so that the loop costs O(Tn)",
    ),
    "vectors that cannot be counted": (
        *("sparse_sgd", [("zeros(X.shape[1])", "np.zeros(X.shape[1])")], {"test-cost"}),
        "nothing could be counted: make every vector of n entries with zeros(n)",
    ),
    "u with h_t": (
        "averaging",
        [("np.add.at(u, columns, h * g * values)", "np.add.at(u, columns, (h + 1 / t) * g * values)")],
        {"test-squared", "hidden"},
        FAULTS["u with h_t"],
    ),
    "the mean starts at w_0": (
        "averaging",
        [("return -(h * v - u) / (lam * T), -c / (lam * T)", "return -(h * v - u) / (lam * (T + 1)), -c / (lam * (T + 1))")],
        {"test-squared", "hidden"},
        FAULTS["w_0 in the mean"],
    ),
    "a tail without its first term": (
        *("averaging", [("return h[t] - h[i - 1]", "return h[t] - h[i]")], {"test-tail"}),
        "1/i belongs to it: only what comes before is subtracted\ntail(1, 1, ",
    ),
    "the last predictor for the mean": (
        "averaging",
        [("return -(h * v - u) / (lam * T), -c / (lam * T)", "return -v / (lam * T), -a / (lam * T)")],
        {"test-squared", "hidden"},
        FAULTS["last for average"],
    ),
    "only stored entries centred": (
        "centring",
        [
            ("q = xbar[columns] @ values", "values = values - xbar[columns]\n        q = r = 0.0"),
            ("r = a * theta - z", "r = a"),
            (RETURN, "return -(h * v - u) / (lam * T), -s / (lam * T)"),
            ("+ r - a * q)", "+ a)"),
        ],
        {"test-squared", "hidden"},
        FAULTS["stored entries centred"],
    ),
    "theta without 1": (
        *(
            "centring",
            [("return xbar, 1 + xbar @ xbar", "return xbar, xbar @ xbar")],
            {"test-centre", "test-squared", "hidden"},
        ),
        ("θ is without its 1", *[FAULTS["theta without 1"]] * 2),
    ),
    "the explicit bias": (
        *("centring", [(RETURN, RETURN.replace("-s /", "-c /"))], {"test-squared", "hidden"}),
        FAULTS["explicit bias"],
    ),
    "z not updated": (
        *("centring", [("z += g * q", "z = z if t > 1 else g * q")], {"test-squared", "hidden"}),
        FAULTS["z not updated"],
    ),
    "the centre made dense": (
        "centring",
        [("z += g * q", "z = v @ xbar")],
        {"test-cost"},
        "a step touches 2 entries for each of the n columns, so that the loop costs O(Tn)",
    ),
    "the mean over the rows that store it": (
        "centring",
        [("values / X.shape[0])", "values / np.bincount(X.indices, minlength=X.shape[1])[columns])")],
        {"test-centre", "test-squared", "hidden"},
        ("the mean of a column is over all m rows", *[FAULTS["mean of stored entries"]] * 2),
    ),
    "a proof with h_t in u": (
        *("proof", [("u_t = u + h * g * x", "u_t = u + h_t * g * x")], {"test-mean"}),
        "u is updated after h has grown: it must take h_{t−1}\nwith g = 1, h = 2, t = 4, u = 4, x = 5 it is ",
    ),
    "a proof from t for t − 1": (
        *("proof", [("assumed = -v / (lam * (t - 1))", "assumed = -v / (lam * t)")], {"test-lemma"}),
        "before step t there were t − 1 steps\nwith ",
    ),
    "a slip the other way, and no first step": (
        "proof",
        [("return g * x / (lam * t), sympy.Integer(0)", "return -g * x / (lam * t), -g * x / lam")],
        {"test-slip", "hidden"},
        ("theirs minus the right one, not the other way", "this is the right sum, not theirs"),
    ),
    "a scheme that is not computed": (
        *("scheme", [("weight = omega(t, T)", "weight = 1")], {"test-mean", "hidden"}),
        "the uniform mean is returned, but another one is declared",
    ),
    "a scheme that is divided by T": (
        *(
            "scheme",
            [
                ("return -(h * v - u) / (lam * all_weights)", "return -(h * v - u) / (lam * T)"),
                (", -c / (lam * all_weights)", ", -c / (lam * T)"),
            ],
            {"test-mean", "hidden"},
        ),
        "the weighted sum is divided by T, not by the sum of the weights",
    ),
    "a claim instead of a count": (
        *("scheme", [("    return int((yours < ", "    return 10, 10\n    return int((yours < ")], {"test-nearer"}),
        "you say (10, 10), but it is (",
    ),
}


@pytest.mark.parametrize("wrong", WRONG_ANSWERS)
def test_a_wrong_answer_is_told_what_is_wrong(wrong):
    name, changes, tests, messages = WRONG_ANSWERS[wrong]
    marked = make.mark(planted(name, *changes))
    assert marked.exercise == name
    assert lost(marked).keys() == tests
    points = {each["grade_id"]: each["points"] for each in rules(source(name)) if each["grade"]}
    assert marked.total[0] == 10 - sum(points[f"{name.replace('_', '-')}-{test}"] for test in tests)
    said = [lost(marked)[test] for test in sorted(tests, key=list(lost(marked)).index)]
    for message, words in zip([messages] * len(said) if isinstance(messages, str) else messages, said, strict=True):
        assert message in words


# what may come back


def cell_of(notebook, name):
    return next(cell for cell in notebook["cells"] if make.rules_of(cell).get("grade_id") == name)


def test_tests_that_were_changed_count_as_they_were():
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


def test_cells_that_were_removed_are_put_back_or_missed():
    notebook = make.solution(source("dense_sgd"))
    for cell in (cell_of(notebook, "dense-sgd-test-squared"), cell_of(notebook, "dense-sgd-train")):
        notebook["cells"].remove(cell)
    marked = make.mark(notebook)
    assert lost(marked).keys() == {"test-hinge", "hidden"}  # they came before `train`, which was put back at the end
    assert marked.remarks == ["dense-sgd-train: this cell is missing"]
    notebook["cells"].remove(cell_of(notebook, "dense-sgd-sgd"))
    marked = make.mark(notebook)
    assert marked.total == (2, 10)
    assert "dense-sgd-sgd: this cell is missing" in marked.remarks


def test_an_answer_that_was_copied_and_changed_counts():
    notebook = make.student(source("averaging"))
    for name in ("averaging-tail", "averaging-asgd"):
        notebook["cells"].insert(3, cell_of(make.solution(source("averaging")), name))
    assert make.mark(notebook).total == (0, 10)  # the stubs come last
    for name in ("averaging-tail", "averaging-asgd"):
        cell = cell_of(notebook, name)
        notebook["cells"].remove(cell)
        notebook["cells"].insert(8, cell)
    assert make.mark(notebook).total == (8, 10)  # the one for `tail` comes after its test
    test = cell_of(notebook, "averaging-test-tail")
    notebook["cells"].append(test)
    assert make.mark(notebook).total == (8, 10)  # a test counts once


def test_cells_that_were_added_run_and_may_fail():
    notebook = planted("dense_sgd", ("return lam / 2 * (w @ w + b * b) +", "return helper(lam, w, b) +"))
    added = [
        "%matplotlib inline\n!ls\ndef helper(lam, w, b):\n    return lam / 2 * (w @ w + b * b)",
        "\nundefined",
        "exit()",
        "not a program",
    ]
    cells = [{"cell_type": "code", "metadata": {}, "source": text} for text in added]
    notebook["cells"] = [*cells, *notebook["cells"], {"cell_type": "raw", "metadata": {}, "source": "("}]
    marked = make.mark(notebook)
    assert marked.total == (10, 10)
    assert [remark.split(" (line")[0] for remark in marked.remarks] == [
        "a cell without a name: NameError: name 'undefined' is not defined",
        "a cell without a name: SystemExit: None",
        "a cell without a name: SyntaxError: invalid syntax (<a cell without a name>, line 1)",
    ]


def test_an_error_comes_with_its_line():
    notebook = planted("sparse_sgd", ("        a += g\n", "        a += g[0]\n"))
    assert "IndexError: invalid index to scalar variable. (line 8 of its cell)" in lost(make.mark(notebook))["test-squared"]


def test_a_notebook_of_nothing_is_refused():
    with pytest.raises(ValueError, match="no cell of any exercise: averaging, "):
        make.mark({"cells": []})


def command(*arguments, cwd):
    done = subprocess.run(
        [sys.executable, FOLDER / "make.py", *map(str, arguments)],
        cwd=cwd,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_the_commands(tmp_path):
    status, written, errors = command("student", "out", cwd=tmp_path)
    assert (status, errors) == (0, "")
    assert [Path(line).stem for line in written.splitlines()] == NAMES
    assert json.loads((tmp_path / "out" / "losses.ipynb").read_text("utf8")) == make.student(source("losses"))
    status, _, errors = command("solution", "out", cwd=tmp_path)
    assert status == 2
    assert "already there, perhaps with somebody's answers" in errors
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
    told += command("mark", "forever.ipynb", "--seconds", "1", cwd=tmp_path)[1]
    for line in (
        "one.ipynb: dense_sgd, 2 of 10 marks",
        "  2 of 2  dense-sgd-test-objective",
        f"          {FAULTS['bias not regularised']} [bias not regularised]",
        "dies.ipynb: no marks: its process ended with exit code 3",
        "text.ipynb: no marks: text.ipynb is no notebook: JSONDecodeError: ",
        "missing.ipynb: no marks: missing.ipynb is no notebook: FileNotFoundError: ",
        "forever.ipynb: no marks: not done after 1 s",
    ):
        assert f"\n{line}" in f"\n{told}"
    table = json.loads((tmp_path / "marks.json").read_text("utf8"))
    assert list(table) == list(files)
    assert (table["one.ipynb"]["given"], table["one.ipynb"]["points"]) == (2, 10)


# the tests themselves


@pytest.mark.parametrize(
    "answer",
    [
        (h + 1 / t) * (v + g * x) - u - h * g * x,
        sympy.expand(h * v - u + (v + g * x) / t),
        sympy.Symbol("h") * v - u + sympy.sqrt((t) ** 2) * (v + g * x) / t**2,
    ],
    ids=str,
)
def test_a_formula_is_right_in_any_form(answer):
    equals(answer, h * v - u + (v + g * x) / t)


@pytest.mark.parametrize(
    ("answer", "trouble"),
    [
        (h * v - u + v / t, r"with g = 1, h = 2, t = 4, u = 4, v = 5, x = 6 it is 29/4, must be 35/4"),
        (0, "must be"),
        (sympy.zoo, "must be made of letters"),
        (0.5 * v, "not exact: write sympy.Rational"),
        (sympy.Symbol("k2") * v, "k2 in k2\\*v is none of the letters"),
        (sympy.exp(v), "must be made of letters"),
        (None, "no formula"),
        (sympy.Eq(v, u), "no formula"),
        ("h*v - u + (v + g*x)/t", "no formula"),
        ([v], "no formula"),
    ],
    ids=str,
)
def test_a_formula_that_is_none_or_wrong(answer, trouble):
    with pytest.raises(Wrong, match=trouble):
        equals(answer, h * v - u + (v + g * x) / t)


QUESTIONS = {
    # how many answers each takes
    questions.values: 4,
    questions.log_far_away: 2,
    questions.objective: 1,
    questions.recover: 1,
    questions.tail: 1,
    questions.centre: 1,
    questions.lemma: 3,
    questions.trick: 3,
    questions.slip: 1,
    questions.slip_at_first: 1,
}


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.__name__)
def test_every_known_wrong_answer_is_told_its_sentence_and_no_other(question, monkeypatch):
    held = []
    for test in (agrees, equals):
        monkeypatch.setattr(questions, test.__name__, lambda *asked, test=test: held.append((test, *asked)))
    question(*[lambda: None] * QUESTIONS[question])
    assert held
    for test, _, right, *more in held:
        test(right, right, *more)
        known = more[-1] if more and isinstance(more[-1], dict) else {}
        for sentence, wrong in known.items():
            with pytest.raises(Wrong) as told:
                test(wrong, right, *more)
            assert str(told.value).splitlines()[:-1] == [sentence]


@pytest.mark.parametrize(
    ("omega", "trouble"),
    [
        (lambda t, T: 2.0, "omega is the same for every step"),
        (lambda t, T: int(t == T), "that is the last iterate"),
        (lambda t, T: t - 2, r"omega\(1, 12\) must be a finite number >= 0; it is -1"),
        (lambda t, T: float("nan"), "must be a finite number"),
        (lambda t, T: "1", "must be a finite number >= 0; it is '1'"),
        (lambda t, T: t - 1, r"omega\(t, 1\) is 0 for every step t"),
    ],
)
def test_what_is_no_scheme(omega, trouble):
    with pytest.raises(Wrong, match=trouble):
        is_weighted_mean(lambda X, *_: (np.zeros(X.shape[1]), 0.0), omega, "squared")


def weighted(omega, spoil=lambda w: w):
    """The mean of the iterates with these weights, by definition."""

    def train(X, y, loss, lam, indices, average, centred):
        T = len(indices)
        steps = [step.predictor for step in iterates(Problem(X, y, loss, lam), indices)]
        mean = sum(omega(t, T) * np.append(each.w, each.b) for t, each in enumerate(steps, start=1))
        mean = spoil(mean / sum(omega(t, T) for t in range(1, T + 1)))
        return mean[:-1], mean[-1]

    return train


SCHEMES = {
    "weights t²": lambda t, T: t**2,
    "the second half": lambda t, T: int(2 * t > T),
    "exponential": lambda t, T: 0.9 ** (T - t),
    "the first steps": lambda t, T: 1 / t,
}


@pytest.mark.parametrize("omega", SCHEMES.values(), ids=SCHEMES)
def test_a_scheme_is_right_to_rounding_and_no_further(omega):
    is_weighted_mean(weighted(omega), omega, ["squared", "hinge"])
    with pytest.raises(Wrong, match="means are wrong, such as asgd-squared-"):
        is_weighted_mean(weighted(omega, lambda mean: mean * (1 + 1e-8)), omega, "squared")


def wrong_mean(ways):
    """What is returned for the mean with the weights t: made of [w, b] before and after all steps."""

    def train(X, y, loss, lam, indices, average, centred):
        after = [np.append(step.predictor.w, step.predictor.b) for step in iterates(Problem(X, y, loss, lam), indices)]
        mean = ways(np.array([0 * after[0], *after]), np.arange(1, len(after) + 1))
        return mean[:-1], mean[-1]

    return train


WAYS = {
    "the uniform mean is returned, but another one is declared": lambda way, t: way[1:].mean(axis=0),
    "the last predictor is returned for the mean": lambda way, t: way[-1],
    "the predictor before step t has the weight of step t": lambda way, t: t @ way[:-1] / t.sum(),
    "the weighted sum is divided by T, not by the sum of the weights": lambda way, t: t @ way[1:] / t[-1],
    "the weighted sum is not divided by the sum of the weights": lambda way, t: t @ way[1:],
    "the weights w are averaged as declared and the bias is not: it is the last one": lambda way, t: np.append(
        (t @ way[1:] / t.sum())[:-1], way[-1, -1]
    ),
}


@pytest.mark.parametrize("sentence", WRONG_MEANS)
def test_a_wrong_mean_is_told_which_it_is(sentence):
    with pytest.raises(Wrong) as told:
        is_weighted_mean(wrong_mean(WAYS[sentence]), lambda t, T: t, "squared")
    assert str(told.value).splitlines()[:-1] == [sentence]


def test_a_running_mean_is_a_right_answer_too():
    def train(X, y, loss, lam, indices, average, centred):
        mean = 0
        for step in iterates(Problem(X, y, loss, lam), indices):
            mean = mean + 2 / (step.t + 1) * (np.append(step.predictor.w, step.predictor.b) - mean)
        return mean[:-1], mean[-1]

    is_weighted_mean(train, lambda t, T: t, ["squared", "log"])


def test_what_is_no_answer():
    with pytest.raises(Wrong, match=r"must return \(w, b\) with 2 weights; returned None"):
        is_weighted_mean(lambda *_: None, lambda t, T: t, "squared")
    with pytest.raises(Wrong, match=r"^<lambda>\(1, 1, \[0, 1, 3/2, 11/6, …\]\) is None, must be 1$"):
        questions.tail(lambda i, t, h: None)


def touching(step):
    """A loop that does `step(v, columns, values)` in every step, counted."""

    def algorithm(X, y, derivative, lam, indices, zeros):
        v = zeros(X.shape[1])
        for i in indices:
            stored = slice(X.indptr[i], X.indptr[i + 1])
            step(v, X.indices[stored], X.data[stored])

    touches_few(algorithm)


@pytest.mark.parametrize(
    "step",
    [
        lambda v, columns, values: np.add.at(v, columns, values),
        lambda v, columns, values: np.dot(v[columns], values),
        lambda v, columns, values: v[columns].dot(values),
        lambda v, columns, values: sum(v[j] * value for j, value in zip(columns, values, strict=True)),
    ],
)
def test_steps_that_touch_few_entries(step):
    touching(step)


@pytest.mark.parametrize(
    "step",
    [
        lambda v, columns, values: v + 1,
        lambda v, columns, values: v.__imul__(0.5),
        lambda v, columns, values: v @ np.ones(len(v)),
        lambda v, columns, values: np.dot(v, v),
        lambda v, columns, values: v.dot(v),
        lambda v, columns, values: v.copy(),
        lambda v, columns, values: v[:] + 1,
        lambda v, columns, values: np.concatenate([v, [1.0]]),
        lambda v, columns, values: list(v),
        lambda v, columns, values: (2 * v)[columns],
    ],
)
def test_steps_that_touch_all_entries(step):
    with pytest.raises(Wrong, match=r"a step touches [1-6] entries for each of the n columns"):
        touching(step)


def test_marks_and_their_total(capsys, monkeypatch):
    monkeypatch.setattr(marking, "_book", {})
    with marks(3, "this"):
        pass
    with pytest.raises(Wrong, match=r"^no\n\(0 of 2 marks for that\)$"), marks(2, "that"):
        raise Wrong("no")
    with pytest.raises(ZeroDivisionError), marks(1, "more"):
        1 / 0  # noqa: B018
    total(10)
    assert capsys.readouterr().out.splitlines() == [
        "Right: 3 of 3 marks for this.",
        "  3 of  3  this",
        "  0 of  2  that",
        "  0 of  1  more",
        "  3 of 10  in all; 4 are for tests that were not run, or that are hidden",
    ]
    with pytest.raises(Wrong, match="not written yet: NotImplementedError: half"), marks(3, "this"):
        raise NotImplementedError("half")
    total(6)
    assert capsys.readouterr().out.splitlines()[-1] == "  0 of  6  in all"
