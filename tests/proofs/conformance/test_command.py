"""Ask external programs: whatever a program does becomes a verdict."""

import json
import math
import os
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from fractions import Fraction
from functools import cache

import pytest

from proofs.conformance import check, command
from proofs.conformance.answers import Answer, Function
from proofs.conformance.cases import load
from proofs.conformance.command import Command, Served
from proofs.conformance.examples import dense
from proofs.conformance.plain import train as train_with_faults
from proofs.conformance.serve import MOST_DIGITS
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
    "a heir": ("import os, time; os.fork() or time.sleep(60)", "no answer; ended after 1 s more, as a program that it left"),
    "a heir out of reach": (
        "import os, time; os.fork() or (os.setsid(), time.sleep(60))",
        "no answer; ended after 1 s more, as a program that it left behind holds its output open",
    ),
    "a flood of a heir": (
        "import os\nif not os.fork():\n    os.setsid()\n    while True: print('x' * 1000)",
        "no answer; ended after 65536 bytes of output",
    ),
    "a flood of complaints": ("while True: print('x' * 1000, file=sys.stderr)", "no answer; ended after 65536 bytes of output"),
    "closed pipes": ("import os, time; os.close(1); os.close(2); time.sleep(60)", "no answer; ended after 1 s"),
    "no end at SIGTERM": (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)",
        "no answer; ended after 1 s",
    ),
    "a stop": ("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)  # sleep", "no answer; ended after 1 s"),
    "lines without end": ("while True: print('y')", "no answer; ended after 65536 bytes of output"),
    "objects that are none": ("print('{\\n' * 9999)", "no answer; line 1 of its output is not JSON: {"),
    "unfinished nans": ("print(',nan(' * 13000)", "no answer; line 1 of its output is not JSON: ,nan(,nan(,nan("),
    "a screen cleared": (
        "for q in questions: print(json.dumps({'id': q['id'], 'error': '\\33[2J\\ud800' * 30}))",
        "?[2J??[2J??[2J?",
    ),
}


@pytest.mark.parametrize(("body", "message"), PROGRAMS.values(), ids=PROGRAMS)
def test_command_of_a_bad_program_says_why_in_time(body, message, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "MOST_OUTPUT", 1 << 16)
    timeout = 1 if "sleep" in body else 60
    implementation = Command(program(tmp_path, body), timeout=timeout)
    started = time.monotonic()
    list(implementation.ask(load("sgd", "squared"), False))
    assert time.monotonic() - started < min(timeout, 5) + command.GRACE + 1
    report = check_short(implementation, "sgd", "squared")
    assert not report.passed
    assert message in " ".join(str(report).split())


HUGE = ["1e300000000", "1/3e9999999", "1e3_0000_0000", "7" * 10**6, "1/" + "7" * 10**6, "0x1p9", "1/0"]


@pytest.mark.parametrize("number", HUGE, ids=lambda text: text[:20])
def test_command_of_a_huge_exact_number_is_refused_before_it_is_made(number, tmp_path):
    body = f"for q in questions: print(json.dumps({{'id': q['id'], 'w': [{number!r}] * q['n'], 'b': {number!r}}}))"
    started = time.monotonic()
    ((reply,), *_) = Command(program(tmp_path, body)).ask(load("sgd", "squared")[:1], True)
    assert time.monotonic() - started < 5
    assert reply.text.startswith('an exact answer holds integers and strings such as "-3/7": ')


def test_command_of_the_longest_exact_numbers_is_read(tmp_path):
    digits = "7" * MOST_DIGITS
    body = f"for q in questions: print(json.dumps({{'id': q['id'], 'w': ['-{digits}/3'] * q['n'], 'b': {digits}}}))"
    ((reply,), *_) = Command(program(tmp_path, body)).ask(load("sgd", "squared")[:1], True)
    assert (reply.w[0], reply.b) == (Fraction(-int(digits), 3), int(digits))


def test_command_of_an_integer_without_end_is_infinite(tmp_path):
    body = f"for q in questions: print(json.dumps({{'id': q['id'], 'w': [0] * q['n'], 'b': 0}})[:-2], '{'7' * 10**6}}}')"
    ((reply,), *_) = Command(program(tmp_path, body)).ask(load("sgd", "squared")[:1], False)
    assert reply.b == math.inf


def test_command_line_that_is_terminated_ends_its_program(tmp_path):
    body = "import os, time; open('started', 'w').write(str(os.getpid())); os.rename('started', 'pid'); time.sleep(60)"
    kit = [sys.executable, "-m", "proofs.conformance", "--command", program(tmp_path, body)]
    for number, status in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
        with subprocess.Popen(kit, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE) as process:
            while not (tmp_path / "pid").exists():
                time.sleep(0.01)
            process.send_signal(number)
            assert process.wait(5) == status
            assert b"Traceback" not in process.stderr.read()
        with pytest.raises(ProcessLookupError):
            os.kill(int((tmp_path / "pid").read_text()), 0)
        (tmp_path / "pid").unlink()


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
def forks(*arguments):
    os.fork() or (os.setsid(), time.sleep(60))
    os._exit(0)
def deletes(X, y, loss, lam, indices, average, centred):
    del X.data
    return [0] * X.shape[1], 0
def boundless(X, y, loss, lam, indices, average, centred): return [1 << 10**8] * X.shape[1], 1 << 10**8
"""


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("hangs", "no answer; ended after 1 s"),
        pytest.param("exits", "no answer; exit status 5", marks=pytest.mark.nightly),
        ("forks", "no answer; ended after 1 s more, as a program that it left behind holds its output open"),
        pytest.param("deletes", "changed its argument X:", marks=pytest.mark.nightly),
        ("boundless", "w[0] must be a number; it is str '<int that has more than 4300 digits>'"),
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


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("time.sleep(60)", "ended after 1 s"),
        ("while True: print('x' * 1000)", "ended after 65536 bytes of output"),
        ("os.fork() or (os.setsid(), time.sleep(60))", None),
    ],
)
def test_served_module_that_hangs_prints_or_forks_at_import(body, reason, tmp_path, monkeypatch):
    (tmp_path / "bad.py").write_text(f"import os, time\n{body}\ndef train(*arguments): return 0", "utf8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "MOST_OUTPUT", 1 << 16)
    started = time.monotonic()
    if reason is None:  # what it leaves behind is its own affair
        assert Served("bad:train").name == "bad:train"
    else:
        with pytest.raises(ValueError, match=f"'bad:train' cannot be imported: {reason}"):
            Served("bad:train", timeout=1 if "sleep" in body else 300)
    assert time.monotonic() - started < 10


def test_served_by_a_wrong_interpreter_says_so():
    with pytest.raises(ValueError, match="--python must name a Python interpreter; got 'no-such-python'"):
        Served("m:train", "no-such-python")
    with pytest.raises(ValueError, match="'no_such_module:train' cannot be imported: ModuleNotFoundError"):
        Served("no_such_module:train")
