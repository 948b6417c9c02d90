"""Ask an external program: a JSON object a line on its standard input, one a line on its standard output."""

import io
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
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import chain, groupby
from pathlib import Path
from typing import Any, NamedTuple

from .answers import Reply, Trouble, read
from .cases import Case
from .serve import MOST_DIGITS, one_line, shown

MOST_OUTPUT, MOST_STRANGE = 1 << 24, 1000
"""Most bytes that a program may write to standard output, or to standard error, and most objects there that are no answers."""

GRACE = 1
"""Seconds after the program's end in which what it started may still write."""

EXACT = re.compile(rf"\s*[-+]?[0-9]{{1,{MOST_DIGITS}}}\s*(/\s*[0-9]{{1,{MOST_DIGITS}}}\s*)?")

ENDED, PATIENCE = "ended after", 2
"""How a program that had to be ended is told, and how often in a row without any answer before it is asked no more."""

NUMBERS = re.compile(r"(?<=[\[:,\s])([-+]?)(nan|inf)(?:inity)?(?:\([^)]{0,99}\))?(?=[\],}\s])", re.IGNORECASE)
"""What C and others print for numbers that are not finite, where JSON has none."""


class End(NamedTuple):
    """Output of a program, its exit status, why it ended if not well, and the last line of its complaints."""

    output: str
    status: int
    reason: str
    last_words: str


class _Reader(threading.Thread):
    """Thread that reads the output of a program: a pipe that another program holds open must keep no one waiting."""

    def __init__(self, process: subprocess.Popen, stream: Any):
        super().__init__(daemon=True)
        self.process, self.stream, self.found, self.over = process, stream, bytearray(), threading.Event()
        self.start()

    def run(self) -> None:
        with self.stream:
            while (chunk := self.stream.read(1 << 16)) and not self.over.is_set():
                self.found += chunk
                if len(self.found) > MOST_OUTPUT:
                    _kill(self.process)
                    return


class Command:
    """Program that is started once for each algorithm and loss, reads all its questions and answers them.

    Parameters
    ----------
    command : str
        The program and its arguments, as one would type them (no pipes, no variables).
    each : bool
        Start it anew for every question, so that one crash costs one answer.
    timeout : float
        Seconds after which a started program is ended, with what it started in its session.

    Raises
    ------
    ValueError
        The program is not found, or the timeout is no positive number.
    """

    version = ""  # a program cannot be asked
    exactly: tuple[str, ...] = ()
    """Further arguments in exact runs."""
    alone = ": try --each"
    """How to ask every question of a program of its own."""

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
            end = self._run("".join(json.dumps(request) + "\n" for request in requests), more)
        except OSError as error:
            return [Trouble("error", f"{self.arguments[0]} does not start: {error.strerror or error}")] * len(requests)
        answers, strange = _parse(end.output, {request["id"] for request in requests})
        ending = end.reason
        if ending.startswith(ENDED) and len(requests) > 1:
            ending += f", perhaps by another question{self.alone}"
        if ending and end.last_words:
            ending += f", last words: {end.last_words[:200]}"
        return [
            _read_answer(answers[request["id"]], case, t, exact)
            if request["id"] in answers
            else Trouble("error", "; ".join(["no answer", *filter(None, (ending, strange))]))
            for request, (case, t) in zip(requests, questions, strict=True)
        ]

    def _run(self, text: str, more: tuple[str, ...]) -> End:
        """Run the program on this input; whatever it does, return within the time limit and two seconds."""
        with tempfile.TemporaryFile() as questions:
            questions.write(text.encode())
            questions.seek(0)
            pipe = subprocess.PIPE
            process = subprocess.Popen(
                [*self.arguments, *more], stdin=questions, stdout=pipe, stderr=pipe, bufsize=0, start_new_session=True
            )
        readers = [_Reader(process, stream) for stream in (process.stdout, process.stderr)]
        try:
            late = False
            try:
                process.wait(self.timeout)
            except subprocess.TimeoutExpired:
                late = True
                _kill(process)
            grace = time.monotonic() + GRACE
            for reader in readers:
                reader.join(max(0, grace - time.monotonic()))
            held = any(reader.is_alive() for reader in readers)
        finally:
            for reader in readers:
                reader.over.set()
            _kill(process)
            process.wait()
        output, complaints = (bytes(reader.found).decode(errors="replace") for reader in readers)
        if late:
            reason = f"{ENDED} {self.timeout:g} s"
        elif any(len(reader.found) > MOST_OUTPUT for reader in readers):
            reason = f"{ENDED} {MOST_OUTPUT} bytes of output"
        elif held:
            reason = f"{ENDED} {GRACE} s more, as a program that it left behind holds its output open"
        elif process.returncode < 0:
            reason = f"killed by signal {-process.returncode} ({signal.strsignal(-process.returncode)})"
        else:
            reason = f"exit status {process.returncode}" if process.returncode else ""
        return End(output, process.returncode, reason, (complaints[-500:].strip().splitlines() or [""])[-1])


class Served(Command):
    """Python function `package.module:function` in an interpreter of its own, which may be that of another environment.

    Raises
    ------
    ValueError
        There is no such interpreter, or the function cannot be imported there; says what was tried.
    """

    exactly = ("--exact",)
    alone = ""

    def __init__(self, path: str, python: str | None = None, timeout: float = 300):
        arguments = [python or sys.executable, str(Path(__file__).with_name("serve.py")), path]
        if shutil.which(arguments[0]) is None:
            raise ValueError(f"--python must name a Python interpreter; got {python!r}")
        super().__init__(shlex.join(arguments), timeout=timeout)
        self.name = path
        end = self._run("", ("--describe",))
        if end.status:
            last = end.last_words or end.reason if end.reason.startswith("exit") else end.reason
            raise ValueError(last if repr(path) in last or "package.module" in last else f"{path!r} cannot be imported: {last}")
        self.version = one_line(end.output)


def _kill(process: subprocess.Popen) -> None:
    """End the program and whatever it started, which may go on writing when the program itself has ended."""
    if hasattr(os, "killpg"):
        with suppress(OSError):  # there is none any more
            os.killpg(process.pid, signal.SIGKILL)  # it leads a session of its own
    else:
        process.kill()


def _parse(output: str, asked: set[str]) -> tuple[dict[str, Any], str]:
    """Read the answers by id, None if there are two, and the first line of output that is no answer."""
    answers: dict[str, Any] = {}
    strange, left = "", MOST_STRANGE
    for number, line in enumerate(io.StringIO(output, newline="\n"), start=1):
        if line.isspace() or (strange and not line.lstrip().startswith("{")):  # what is no object is no answer
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
        if problem:
            strange = strange or f"line {number} of its output {problem}: {line.strip()[:80]}"
            left -= 1
            if not left:
                break
    return answers, strange


def _loads(line: str) -> Any:
    """Read JSON, and NaN and infinity as C prints them."""
    try:
        return json.loads(line, parse_int=_integer)
    except ValueError:
        names = {"nan": "NaN", "inf": "Infinity"}
        as_json = NUMBERS.sub(
            lambda found: found[1].replace("+", "") * (found[2].lower() == "inf") + names[found[2].lower()], line
        )
        return json.loads(as_json, parse_int=_integer)


def _integer(digits: str) -> int | float:
    """Read an integer, or as a float one that takes long to read."""
    return int(digits) if len(digits) <= MOST_DIGITS else float(digits)


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
    """Read a fraction in a string; powers of ten, which could be too large for any memory, are none."""
    if not isinstance(value, str):
        return value
    if not EXACT.fullmatch(value):
        raise ValueError(f"got {shown(value)}" + f" of {len(value)} characters" * (len(value) > MOST_DIGITS))
    return Fraction(value.replace(" ", ""))
