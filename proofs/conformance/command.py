"""Ask an external program: a JSON object a line on its standard input, one a line on its standard output."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from .answers import Reply, Trouble, read
from .cases import Case

MOST_OUTPUT = 1 << 26
"""Most bytes of output; a program that writes more is ended."""


ENDED, PATIENCE = "ended after", 2
"""How a program that had to be ended is told, and how often in a row without any answer before it is asked no more."""

NUMBERS = re.compile(r"(?<=[\[:,\s])([-+]?)(nan|inf)(?:inity)?(?:\([^)]*\))?(?=[\],}\s])", re.IGNORECASE)
"""What C and others print for numbers that are not finite, where JSON has none."""


class Command:
    """Program that is started once for each algorithm and loss, reads all its questions and answers them.

    Parameters
    ----------
    command : str
        The program and its arguments, as one would type them (no pipes, no variables).
    each : bool
        Start it anew for every question, so that one crash costs one answer.
    timeout : float
        Seconds after which a started program is ended, with all that it started.

    Raises
    ------
    ValueError
        The program is not found, or the timeout is no positive number.
    """

    version = ""  # a program cannot be asked
    exactly: tuple[str, ...] = ()
    """Further arguments in exact runs."""

    def __init__(self, command: str, each: bool = False, timeout: float = 60):
        self.arguments = shlex.split(command)
        if not self.arguments:
            raise ValueError(f"command must name a program; got {command!r}")
        if shutil.which(self.arguments[0]) is None:
            raise ValueError(f"command must name a program, as ./program if it is in this folder; got {self.arguments[0]!r}")
        if not 0 < timeout <= threading.TIMEOUT_MAX:
            raise ValueError(f"timeout must be a number of seconds > 0; got {timeout!r}")
        self.name, self.each, self.timeout = command, each, timeout
        self._silence: list[str] = []

    def ask(self, cases: Sequence[Case], exact: bool) -> Iterator[list[Reply]]:
        self._silence = []
        for _, group in groupby(cases, key=lambda case: (case.algorithm, case.loss)):
            batch = list(group)
            questions = [(case, checkpoint.t) for case in batch for checkpoint in case.checkpoints]
            starts = [[question] for question in questions] if self.each else [questions]
            replies = chain.from_iterable(self._answers_unless_it_hangs(start, exact) for start in starts)
            yield from ([next(replies) for _ in case.checkpoints] for case in batch)

    def _answers_unless_it_hangs(self, questions: list[tuple[Case, int]], exact: bool) -> list[Reply]:
        """Start the program, unless it had to be ended the last times without a single answer."""
        if len(self._silence) == PATIENCE:
            return [Trouble("error", f"{self._silence[0]}; not asked any more")] * len(questions)
        replies = self._answers(questions, exact)
        hung = all(isinstance(reply, Trouble) and ENDED in reply.text for reply in replies)
        self._silence = [*self._silence, replies[0].text] if hung and isinstance(replies[0], Trouble) else []
        return replies

    def _answers(self, questions: list[tuple[Case, int]], exact: bool) -> list[Reply]:
        """Start the program once and read its answers to these questions."""
        requests = [case.request(t) for case, t in questions]
        try:
            more = self.exactly if exact else ()
            lines, ending = self._run("".join(json.dumps(request) + "\n" for request in requests), more)
        except OSError as error:
            return [Trouble("error", f"{self.arguments[0]} does not start: {error.strerror or error}")] * len(requests)
        answers, strange = _parse(lines, {request["id"] for request in requests})
        return [
            _read_answer(answers[request["id"]], case, t, exact)
            if request["id"] in answers
            else Trouble("error", "; ".join(["no answer", *filter(None, (ending, strange))]))
            for request, (case, t) in zip(requests, questions, strict=True)
        ]

    def _run(self, text: str, more: tuple[str, ...]) -> tuple[list[str], str]:
        """Run the program; return its lines of output, and how it ended if it did not end well."""
        with tempfile.TemporaryFile() as questions, tempfile.TemporaryFile() as complaints:
            questions.write(text.encode())
            questions.seek(0)
            process = subprocess.Popen(
                [*self.arguments, *more], stdin=questions, stdout=subprocess.PIPE, stderr=complaints, start_new_session=True
            )
            late = threading.Event()

            def end() -> None:
                late.set()
                _kill(process)

            watchdog = threading.Timer(self.timeout, end)
            watchdog.start()
            try:
                with process:
                    assert process.stdout is not None
                    output = process.stdout.read(MOST_OUTPUT + 1)
                    if len(output) > MOST_OUTPUT:
                        _kill(process)
                    process.wait()
            finally:
                watchdog.cancel()
                if process.poll() is None:
                    _kill(process)
            complaints.seek(max(0, complaints.seek(0, os.SEEK_END) - 500))
            last_words = complaints.read().decode(errors="replace").strip().splitlines()
        if late.is_set():
            ending = f"{ENDED} {self.timeout:g} s" + ("" if self.each else ", perhaps by another question: try --each")
        elif len(output) > MOST_OUTPUT:
            ending = f"{ENDED} {MOST_OUTPUT} bytes of output"
        elif process.returncode < 0:
            ending = f"killed by signal {-process.returncode} ({signal.strsignal(-process.returncode)})"
        else:
            ending = f"exit status {process.returncode}" if process.returncode else ""
        if ending and last_words:
            ending += f", last words: {last_words[-1][:200]}"
        return output.decode(errors="replace").split("\n"), ending


class Served(Command):
    """Python function `package.module:function` in an interpreter of its own, which may be that of another environment.

    Raises
    ------
    ValueError
        There is no such interpreter, or the function cannot be imported there; says what was tried.
    """

    exactly = ("--exact",)

    def __init__(self, path: str, python: str | None = None, timeout: float = 300):
        arguments = [python or sys.executable, str(Path(__file__).with_name("serve.py")), path]
        if shutil.which(arguments[0]) is None:
            raise ValueError(f"--python must name a Python interpreter; got {python!r}")
        super().__init__(shlex.join(arguments), timeout=timeout)
        self.name = path
        try:
            done = subprocess.run([*arguments, "--describe"], capture_output=True, text=True, timeout=timeout, check=False)
        except subprocess.TimeoutExpired:
            raise ValueError(f"{path!r} cannot be imported: that takes more than {timeout:g} s") from None
        if done.returncode:
            last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
            raise ValueError(last if repr(path) in last or "package.module" in last else f"{path!r} cannot be imported: {last}")
        self.version = done.stdout.strip()


def _kill(process: subprocess.Popen) -> None:
    """End the program and whatever it started, which may go on writing when the program itself has ended."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # it leads a session of its own
    else:
        process.kill()


def _parse(lines: list[str], asked: set[str]) -> tuple[dict[str, Any], str]:
    """Read the answers by id, None if there are two, and the first line of output that is no answer."""
    answers: dict[str, Any] = {}
    strange = ""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            answer = _loads(line)
        except (ValueError, RecursionError):
            problem = "is not JSON"
        else:
            name = answer.get("id") if isinstance(answer, dict) else None
            if not isinstance(name, str):
                problem = 'is no object with an "id"'
            elif name not in asked:
                problem = "answers what was not asked"
            else:
                problem = "answers again" if name in answers else ""
                answers[name] = None if problem else answer
        strange = strange or (problem and f"line {number} of its output {problem}: {line.strip()[:80]}")
    return answers, strange


def _loads(line: str) -> Any:
    """Read JSON, and NaN and infinity as C prints them."""
    try:
        return json.loads(line)
    except ValueError:
        names = {"nan": "NaN", "inf": "Infinity"}
        return json.loads(
            NUMBERS.sub(lambda found: found[1].replace("+", "") * (found[2].lower() == "inf") + names[found[2].lower()], line)
        )


def _read_answer(answer: dict[str, Any] | None, case: Case, t: int, exact: bool) -> Reply:
    if answer is None:
        return Trouble("error", "answered twice")
    for kind in ("unsupported", "error"):
        if kind in answer:
            return Trouble(kind, str(answer[kind]), bool(answer.get("divides")))
    names = ("w", "b", "p", "g") if "p" in answer or "g" in answer else ("w", "b")
    missing = [name for name in names if name not in answer]
    if missing:
        return Trouble("error", f'the answer lacks "{missing[0]}"')
    values = [answer[name] for name in names]
    if exact:
        try:
            values = [[_fraction(each) for each in value] if isinstance(value, list) else _fraction(value) for value in values]
        except (ValueError, ZeroDivisionError) as error:
            return Trouble("error", f'an exact answer holds integers and strings such as "-3/7": {error}')
    return read(values, case.n, t, exact)


def _fraction(value: Any) -> Any:
    return Fraction(value) if isinstance(value, str) else value
