"""Ask external programs: whatever a program does becomes a verdict."""

import json
import shlex
import shutil
import subprocess
import sys
import textwrap
import time
from functools import cache

import pytest

from proofs.conformance import check, command
from proofs.conformance.answers import Answer, Function
from proofs.conformance.cases import load
from proofs.conformance.command import Command, Served
from proofs.conformance.examples import dense
from proofs.conformance.plain import train as train_with_faults
from tests.proofs.conformance.programs import KIT, ROOT, check_short, named


def program(tmp_path, body: str) -> str:
    """Return a command that runs this Python, with the questions of its standard input at hand."""
    file = tmp_path / "program.py"
    file.write_text("import json, sys\nquestions = [json.loads(line) for line in sys.stdin]\n" + textwrap.dedent(body), "utf8")
    return shlex.join([sys.executable, "-S", str(file)])


ZEROS = 'def answer(q): return {"id": q["id"], "w": [0] * q["n"], "b": 0}\n'


PROGRAMS = {  # what it does: (its code, what is said of it)
    "nothing": ("", "no answer"),
    "prose": ("print('hello')", "no answer; line 1 of its output is not JSON: hello"),
    "a list": ("print([1, 2])", 'no answer; line 1 of its output is no object with an "id": [1, 2]'),
    "too deep": ("print('[' * 10000)", "no answer; line 1 of its output is not JSON"),
    "another id": ('print(\'{"id": "mine"}\')', 'no answer; line 1 of its output answers what was not asked: {"id": "mine"}'),
    "no weights": ("for q in questions: print(json.dumps({'id': q['id'], 'b': 0}))", 'the answer lacks "w"'),
    "half a way": (ZEROS + "for q in questions: print(json.dumps(answer(q) | {'p': []}))", 'the answer lacks "g"'),
    "text": (ZEROS + "for q in questions: print(json.dumps(answer(q) | {'b': '0.5'}))", "b must be a number; it is str '0.5'"),
    "not a number": (ZEROS + "for q in questions: print(json.dumps(answer(q) | {'w': [1e999] * q['n']}))", "w[0] is inf"),
    "twice": (ZEROS + "for q in questions: print(json.dumps(answer(q)), json.dumps(answer(q)), sep='\\n')", "answered twice"),
    "a crash": ("print('so far', file=sys.stderr); sys.exit(3)", "no answer; exit status 3, last words: so far"),
    "an abort": ("import os; os.abort()", "no answer; killed by signal 6"),
    "a flood": ("while True: print('x' * 1000)", "no answer; ended after 65536 bytes of output"),
    "a hang": ("import time; time.sleep(60)", "no answer; ended after 1 s, perhaps by another question: try --each"),
    "nan as C prints it": (
        "for q in questions: print('{\"id\": \"%s\", \"w\": [%s], \"b\": -nan}' % (q['id'], ', '.join(['inf'] * q['n'])))",
        "w[0] is inf",
    ),
    "a heir": ("import os, time; os.fork() or time.sleep(60)", "no answer; ended after 1 s"),
}


@pytest.mark.parametrize(("body", "message"), PROGRAMS.values(), ids=PROGRAMS)
def test_command_of_a_bad_program_says_why(body, message, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "MOST_OUTPUT", 1 << 16)
    report = check_short(Command(program(tmp_path, body), timeout=1 if "sleep" in body else 60), "sgd", "squared")
    assert not report.passed
    assert message in str(report)


def test_command_without_one_answer_costs_one_case(tmp_path):
    body = ZEROS + "for q in questions:\n    if not q['id'].startswith('sgd-squared-one-step@'): print(json.dumps(answer(q)))"
    report = check_short(Command(program(tmp_path, body)), "sgd", "squared")
    assert [result.case.id for result in report.results if result.verdict == "error"] == ["sgd-squared-one-step"]
    assert report.count["failed"] > 30


def test_command_each_starts_a_program_per_question(tmp_path, monkeypatch):
    body = ZEROS + "assert len(questions) == 1\nprint(json.dumps(answer(questions[0])))"
    cases = load("sgd", "squared")[:3]
    (*replies,) = Command(program(tmp_path, body), each=True).ask(cases, False)
    assert [[type(reply) for reply in each] for each in replies] == [[Answer] * len(case.checkpoints) for case in cases]


def test_command_of_an_unsupporting_program_fails(tmp_path):
    body = "for q in questions: print(json.dumps({'id': q['id'], 'unsupported': 'gone fishing'}))"
    report = check_short(Command(program(tmp_path, body)), "sgd", "squared")
    assert report.count["unsupported"] == len(report.results)
    assert not report.passed


def test_command_reads_exact_answers_in_any_order(tmp_path):
    answers = {}
    for case in load("casgd", "hinge"):
        for point in case.checkpoints:
            answers[f"{case.id}@{point.t}"] = {"w": [str(each) for each in point.w], "b": str(point.b)}
    (tmp_path / "answers.json").write_text(json.dumps(answers), "utf8")
    body = f"""
    answers = json.load(open({str(tmp_path / "answers.json")!r}))
    for q in reversed(questions): print(json.dumps(answers[q["id"]] | {{"id": q["id"]}}))
    """
    assert check_short(Command(program(tmp_path, body)), "casgd", "hinge", exact=True).passed
    assert "w[0] must be a number; it is str" in str(check_short(Command(program(tmp_path, body)), "casgd", "hinge"))


def test_command_of_wrong_arguments_raises():
    with pytest.raises(ValueError, match=r"command must name a program, as ./program if .* got 'no-such'"):
        Command("no-such program")
    with pytest.raises(ValueError, match="timeout must be a number of seconds > 0; got 0"):
        Command(sys.executable, timeout=0)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Build the C example, as its README says, with further options."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed: the C example is not built")
    folder = tmp_path_factory.mktemp("c")

    @cache
    def build(*options: str) -> str:
        target = str(folder / "-".join(["asgd", *options]))
        flags = ["-std=c99", "-O2", "-Wall", "-Wextra", "-pedantic", "-Werror", *options]
        subprocess.run(["gcc", *flags, "-o", target, str(KIT / "examples" / "asgd.c"), "-lm"], check=True)
        return target

    return build


def test_command_of_the_c_example_passes(built):
    report = check(Command(built()))
    assert report.passed
    assert report.count["unsupported"] == 0


def test_command_of_the_c_example_with_a_fault_names_it(built):
    report = check_short(Command(built("-DFAULT")), ["sgd", "asgd"], "log")
    assert report.count["failed"] == len(load("asgd", "log"))
    assert named(report) == [{"w_0 in the mean"}]


BAD = """
import os, time
def hangs(*arguments): time.sleep(60)
def exits(*arguments): os._exit(5)
def talks(X, y, loss, lam, indices, average, centred):
    print("a line of its own")
    raise NotImplementedError("not yet")
def short(X, y): return 0
"""


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("hangs", "no answer; ended after 1 s"),
        ("exits", "no answer; exit status 5"),
    ],
)
def test_served_function_that_ends_or_hangs_gets_one_sentence(name, reason, tmp_path, monkeypatch):
    (tmp_path / "bad.py").write_text(BAD, "utf8")
    monkeypatch.chdir(tmp_path)
    started = time.monotonic()
    (finding,) = check_short(Served(f"bad:{name}", timeout=1), "sgd").diagnosis
    assert finding.text.startswith(f"it gives no answer to any question; to the first, sgd-absolute-one-step, {reason}")
    assert time.monotonic() - started < 30


def test_served_function_of_another_signature_is_refused(tmp_path, monkeypatch):
    (tmp_path / "bad.py").write_text(BAD, "utf8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"bad:short must be called as train\(X, y, .*; it takes \(X, y\)"):
        Served("bad:short")


def test_served_function_answers_as_in_the_same_process(tmp_path, monkeypatch):
    (tmp_path / "bad.py").write_text(BAD, "utf8")
    monkeypatch.chdir(tmp_path)
    assert check_short(Served("bad:talks"), "sgd", "log").count["unsupported"] == len(load("sgd", "log"))
    cases = load("casgd", "hinge")[:9]
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for exact, path, train in ((False, "examples.dense:train", dense.train), (True, "plain:train", train_with_faults)):
        served, called = Served(f"proofs.conformance.{path}"), Function(train)
        assert list(served.ask(cases, exact)) == list(called.ask(cases, exact))


def test_served_by_a_wrong_interpreter_says_so():
    with pytest.raises(ValueError, match="--python must name a Python interpreter; got 'no-such-python'"):
        Served("m:train", "no-such-python")
    with pytest.raises(ValueError, match="'no_such_module:train' cannot be imported: ModuleNotFoundError"):
        Served("no_such_module:train")
