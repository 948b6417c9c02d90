"""The exercises, from one source: what is handed out, the solutions, and the marks for what comes back.

    python notebooks/exercises/make.py student DIR      without solutions and hidden tests: stubs raise NotImplementedError
    python notebooks/exercises/make.py solution DIR     with both, to be shown afterwards
    python notebooks/exercises/make.py mark FILE ...    marks for notebooks that were handed in

The source are the notebooks beside this file. They follow nbgrader's conventions (its comments and its cell metadata), so that
nbgrader takes them as they are; nothing here needs it.
"""

import argparse
import contextlib
import io
import json
import multiprocessing
import os
import re
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

SOURCE = Path(__file__).parent
STUB = ("# YOUR CODE HERE", "raise NotImplementedError()")


# from the source


def student(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook that is handed out: no solutions, no hidden tests, no outputs.

    Raises
    ------
    ValueError
        A region is not ended, or stands in a cell where nbgrader does not look for it; names the cell.
    """
    return _version(notebook, {"SOLUTION": STUB, "HIDDEN TESTS": ()})


def solution(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook as it is, without the comments that mark its regions, and without outputs."""
    return _version(notebook, {"SOLUTION": None, "HIDDEN TESTS": None})


def _version(notebook: dict[str, Any], instead: dict[str, Sequence[str] | None]) -> dict[str, Any]:
    """The notebook with the lines of its regions replaced by others, or kept if there are None, and without outputs."""
    cells = []
    for cell in notebook["cells"]:
        source, rules = source_of(cell), rules_of(cell)
        for (kind, lines), belongs in zip(instead.items(), (rules.get("solution"), rules.get("grade")), strict=True):
            try:
                source = _replaced(source, kind, lines)
            except ValueError as error:
                raise ValueError(f"the cell {rules.get('grade_id')!r} {error}") from None
            if f"### BEGIN {kind}" in source_of(cell) and not belongs:
                raise ValueError(f"the cell {rules.get('grade_id')!r} may not have a region ### BEGIN {kind}")
        cells.append({**cell, "source": source.strip("\n").splitlines(keepends=True)})
        if cell["cell_type"] == "code":
            cells[-1] |= {"outputs": [], "execution_count": None}
    return {**notebook, "cells": cells}


def _replaced(source: str, kind: str, instead: Sequence[str] | None) -> str:
    lines: list[str] = []
    region: list[str] | None = None
    indent = ""
    for line in source.splitlines():
        if line.strip() == f"### BEGIN {kind}" and region is None:
            region, indent = [], line[: line.index("#")]
        elif line.strip() == f"### END {kind}" and region is not None:
            lines += region if instead is None else [indent + each for each in instead]
            region = None
        elif re.match(rf"\s*### (BEGIN|END) {kind}", line):
            raise ValueError(f"has {line.strip()!r} in the wrong place")
        else:
            (lines if region is None else region).append(line)
    if region is not None:
        raise ValueError(f"has no ### END {kind}")
    return "\n".join(lines)


def rules_of(cell: dict[str, Any]) -> dict[str, Any]:
    """What nbgrader notes of a cell; nothing if somebody added the cell."""
    return cell["metadata"].get("nbgrader", {})


def source_of(cell: dict[str, Any]) -> str:
    return cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])


def read(path: Path) -> dict[str, Any]:
    """A notebook.

    Raises
    ------
    ValueError
        It is none.
    """
    try:
        notebook = json.loads(path.read_text("utf8"))
        [source_of(cell) and cell["metadata"] for cell in notebook["cells"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no notebook: {type(error).__name__}: {error}") from None
    return notebook


def write(kind: str, folder: Path) -> list[Path]:
    """Write all exercises as "student" or "solution" into a folder, over none that is there."""
    made = {folder / path.name: {"student": student, "solution": solution}[kind](read(path)) for path in sources()}
    there = [str(path) for path in made if path.exists()]
    if there:
        raise ValueError(f"{', '.join(there)}: already there, perhaps with somebody's answers; choose an empty folder")
    folder.mkdir(parents=True, exist_ok=True)
    for path, notebook in made.items():
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf8")
    return list(made)


def sources() -> list[Path]:
    return sorted(SOURCE.glob("*.ipynb"))


# what was handed in


class Mark(NamedTuple):
    """What a test gives: its name, the marks, out of how many, and what the test said if they are none."""

    test: str
    given: int
    points: int
    said: str = ""


class Marked(NamedTuple):
    """The marks of a notebook; `exercise` is the name of its source, `remarks` what else went wrong."""

    exercise: str
    marks: list[Mark]
    remarks: list[str]

    @property
    def total(self) -> tuple[int, int]:
        """Given, and out of how many."""
        return sum(mark.given for mark in self.marks), sum(mark.points for mark in self.marks)


def mark(handed_in: dict[str, Any]) -> Marked:
    """Run the answers of a notebook with the tests of its source, hidden ones too, whatever its own tests have become.

    All cells run in this process, in the order of the notebook; an error in one does not end the run. Cells of the source that
    the notebook lacks come last; an answer that it lacks is a remark.

    Raises
    ------
    ValueError
        The notebook is of none of the exercises.
    """
    os.environ.setdefault("MPLBACKEND", "Agg")  # no windows
    exercise, source = _source_of(handed_in)
    asked = {rules_of(cell)["grade_id"]: cell for cell in source["cells"] if rules_of(cell)}
    there: set[str | None] = set()
    cells = []
    for cell in handed_in["cells"]:
        name = rules_of(cell).get("grade_id")
        own = name not in asked or not rules_of(asked[name])["locked"]
        if own:
            cells.append(cell)  # twice if somebody has copied it, so that the last one counts as it did for them
        elif name not in there:
            cells.append(asked[name])
        there.add(name)
    missing = [cell for name, cell in asked.items() if name not in there]
    remarks = [f"{rules_of(cell)['grade_id']}: this cell is missing" for cell in missing if not rules_of(cell)["grade"]]
    cells += [cell for cell in missing if rules_of(cell)["locked"]]
    marks, names = [], {"__name__": "__main__"}
    for cell in cells:
        if cell["cell_type"] != "code":
            continue
        rules = rules_of(cell)
        name = rules.get("grade_id", "a cell without a name")
        said = _run(source_of(cell), name, names)
        if cell is asked.get(name) and rules["grade"]:  # what else claims to be a test is none
            marks.append(Mark(name, 0 if said else rules["points"], rules["points"], said))
        elif said:
            remarks.append(f"{name}: {said}")
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
    return Marked(exercise, marks, remarks)


def _source_of(handed_in: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The exercise of which a notebook has the most cells, however its file is called."""
    there = {rules_of(cell).get("grade_id") for cell in handed_in["cells"]}
    best: tuple[int, str, dict[str, Any]] = (0, "", {})
    for path in sources():
        notebook = read(path)
        shared = sum(bool(rules_of(cell)) and rules_of(cell)["grade_id"] in there for cell in notebook["cells"])
        if shared > best[0]:
            best = (shared, path.stem, notebook)
    if not best[0]:
        raise ValueError(f"it has no cell of any exercise: {', '.join(path.stem for path in sources())}")
    return best[1:]


def _run(source: str, name: str, names: dict[str, Any]) -> str:
    """Run a cell; what it raised, in words, or nothing."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            try:
                code = compile(source, f"<{name}>", "exec")
            except SyntaxError:  # magics are for notebooks only
                code = compile(re.sub(r"(?m)^[ \t]*[%!].*$", "", source), f"<{name}>", "exec")
            exec(code, names)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit too
            if hasattr(error, "_render_traceback_"):  # says all that is to be said
                return str(error)
            lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith("<")]
            where = f" (line {lines[-1]} of its cell)" if lines else ""
            return "\n".join([f"{type(error).__name__}: {error}{where}", *getattr(error, "__notes__", [])])
    return ""


def _send(path: Path, sender) -> None:
    try:
        sender.send(mark(read(path)))
    except ValueError as error:
        sender.send(str(error))


def mark_apart(path: Path, seconds: float) -> Marked | str:
    """The marks of a file, made in a process of its own; or why there are none."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(path, sender))
    process.start()
    sender.close()
    try:
        return receiver.recv() if receiver.poll(seconds) else f"not done after {seconds:g} s"
    except EOFError:
        process.join()
        return f"its process ended with exit code {process.exitcode}"
    finally:
        process.kill()
        process.join()


def _told(path: Path, marked: Marked | str) -> str:
    if isinstance(marked, str):
        return f"{path}: no marks: {marked}"
    given, points = marked.total
    lines = [f"{path}: {marked.exercise}, {given} of {points} marks"]
    for each in marked.marks:
        lines.append(f"  {each.given} of {each.points}  {each.test}")
        lines += [f"          {line}" for line in each.said.splitlines()]
    return "\n".join([*lines, *(f"  {remark}" for remark in marked.remarks)])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make.py", description="The exercises, from one source.")
    commands = parser.add_subparsers(dest="command", required=True)
    for kind, text in (("student", "what is handed out"), ("solution", "what is shown afterwards")):
        command = commands.add_parser(kind, help=text)
        command.add_argument("folder", type=Path, metavar="DIR")
    command = commands.add_parser("mark", help="marks for what was handed in; this runs the code in it, as you")
    command.add_argument("files", type=Path, nargs="+", metavar="FILE")
    command.add_argument("--json", type=Path, metavar="FILE", help="write the marks there too")
    command.add_argument("--seconds", type=float, default=300, help="end a notebook after so long (default: 300)")
    options = parser.parse_args(arguments)
    if options.command != "mark":
        try:
            for path in write(options.command, options.folder):
                print(path)
        except ValueError as error:
            parser.error(str(error))
        return 0
    results = {}
    for path in options.files:
        results[str(path)] = marked = mark_apart(path, options.seconds)
        print(_told(path, marked), flush=True)
    if options.json:
        table = {path: _as_json(marked) for path, marked in results.items()}
        options.json.write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n", "utf8")
    return int(any(isinstance(marked, str) for marked in results.values()))


def _as_json(marked: Marked | str) -> dict[str, Any]:
    if isinstance(marked, str):
        return {"error": marked}
    given, points = marked.total
    tests = [each._asdict() for each in marked.marks]
    return {"exercise": marked.exercise, "given": given, "points": points, "tests": tests, "remarks": marked.remarks}


if __name__ == "__main__":
    sys.exit(main())
