"""Make the exercises from one source: student versions, solutions, and marks for notebooks that were handed in.

    python notebooks/exercises/make.py student DIR      without solutions and hidden tests: stubs raise NotImplementedError
    python notebooks/exercises/make.py solution DIR     with both, to be shown afterwards
    python notebooks/exercises/make.py mark FILE ...    marks for notebooks that were handed in

The sources are the notebooks beside this file. They follow the conventions of nbgrader (comments and cell metadata), which
takes them unchanged; nothing here needs nbgrader.
"""

import argparse
import json
import multiprocessing
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

SOURCE = Path(__file__).parent
STUB = ("# YOUR CODE HERE", "raise NotImplementedError()")


# from the source


def version(notebook: dict[str, Any], kind: str) -> dict[str, Any]:
    """Make the "student" version, without solutions, hidden tests and outputs, or the "solution", with all but the outputs.

    Raises
    ------
    ValueError
        A region is not ended, or stands in a cell where nbgrader does not look for it; names the cell.
    """
    cells = []
    for cell in notebook["cells"]:
        source, rules = source_of(cell), rules_of(cell)
        for region, instead, flag in (("SOLUTION", STUB, "solution"), ("HIDDEN TESTS", (), "grade")):
            pattern = rf"^([ \t]*)### BEGIN {region}\n((?:(?!.*### BEGIN).*\n)*?)[ \t]*### END {region}$\n?"
            kept = "".join(rf"\1{line}\n" for line in instead) if kind == "student" else r"\2"
            replaced, regions = re.subn(pattern, kept, source + "\n", flags=re.MULTILINE)
            if re.search(rf"### (BEGIN|END) {region}", replaced) or (regions and not rules.get(flag)):
                raise ValueError(f"the cell {rules.get('grade_id')!r} may not have the region {region}, or has half of one")
            source = replaced.strip("\n")
        cells.append({**cell, "source": source.splitlines(keepends=True)})
        if cell["cell_type"] == "code":
            cells[-1] |= {"outputs": [], "execution_count": None}
    return {**notebook, "cells": cells}


def rules_of(cell: dict[str, Any]) -> dict[str, Any]:
    """Return nbgrader's notes of a cell, {} for a cell that a student added."""
    return cell["metadata"].get("nbgrader", {})


def source_of(cell: dict[str, Any]) -> str:
    return cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])


def title_of(test: dict[str, Any]) -> str:
    """Read what a test says that its marks are for."""
    (title,) = re.findall(r'^with marks\(\d+, "(.*)"\):$', source_of(test), re.MULTILINE)
    return title


def read(path: Path) -> dict[str, Any]:
    """Read a notebook; ValueError if the file is none."""
    try:
        notebook = json.loads(path.read_text("utf8"))
        [source_of(cell) and cell["metadata"] for cell in notebook["cells"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no notebook: {type(error).__name__}: {error}") from None
    return notebook


def write(kind: str, folder: Path) -> list[Path]:
    """Write all exercises, as "student" or "solution", into a folder that has none of them."""
    made = {folder / path.name: version(read(path), kind) for path in sources()}
    there = [path.name for path in made if path.exists()]
    if there:
        raise ValueError(f"DIR must not have the exercises yet; {folder} has {', '.join(there)}. Choose an empty folder")
    folder.mkdir(parents=True, exist_ok=True)
    for path, notebook in made.items():
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf8")
    return list(made)


def sources() -> list[Path]:
    return sorted(SOURCE.glob("*.ipynb"))


# what was handed in


class Mark(NamedTuple):
    """Marks that a test gives, out of `points`, and its message if they are none; `title` says what it tests."""

    test: str
    title: str
    given: int
    points: int
    said: str = ""


class Marked(NamedTuple):
    """Marks of a notebook.

    `exercise` is the name of its source, `remarks` are about its other cells, `ended` if it did not come to its end.
    """

    exercise: str
    marks: list[Mark]
    remarks: list[str]
    ended: bool = False

    @property
    def total(self) -> tuple[int, int]:
        """Sum the marks: (given, points)."""
        return sum(mark.given for mark in self.marks), sum(mark.points for mark in self.marks)


def mark(handed_in: dict[str, Any], tell: Callable[[Any], object] = lambda _: None) -> Marked:
    """Run the answers of a notebook with the tests of its source, hidden ones too, even if its own tests were changed.

    All cells run in this process, in the order of the notebook; an error in one does not end the run. The student's have a
    namespace of their own, and the tests take only the answers' functions from it. Cells of the source that the notebook lacks
    come last; a missing answer is a remark.

    Parameters
    ----------
    tell : callable, optional
        Is told the name of each cell before it runs, and each `Mark` as it is given.

    Raises
    ------
    ValueError
        The notebook is of none of the exercises.
    """
    os.environ.setdefault("MPLBACKEND", "Agg")  # no windows
    from proofs.course.apart import Answers, answers_in, run

    exercise, source = _source_of(handed_in)
    asked = {rules_of(cell)["grade_id"]: cell for cell in source["cells"] if rules_of(cell)}
    there: set[str | None] = set()
    cells = []
    for cell in handed_in["cells"]:
        name = rules_of(cell).get("grade_id")
        own = name not in asked or not rules_of(asked[name])["locked"]
        if own:
            cells.append(cell)  # a copied answer runs twice, and the last one counts, as it did for its author
        elif name not in there:
            cells.append(asked[name])
        there.add(name)
    missing = [cell for name, cell in asked.items() if name not in there]
    remarks = [f"{rules_of(cell)['grade_id']}: this cell is missing" for cell in missing if not rules_of(cell)["grade"]]
    cells += [cell for cell in missing if rules_of(cell)["locked"]]
    code = [cell for cell in asked.values() if cell["cell_type"] == "code"]
    locked = [cell for cell in code if rules_of(cell)["locked"]]
    tests = [source_of(cell) for cell in locked if rules_of(cell)["grade"]]
    answers = Answers([source_of(cell) for cell in locked if not rules_of(cell)["grade"]], tests)
    wanted = [name for cell in code if not rules_of(cell)["locked"] for name in answers_in(source_of(cell))]
    marks, names = [], {"__name__": "__main__"}
    for cell in cells:
        if cell["cell_type"] != "code":
            continue
        rules = rules_of(cell)
        name = rules.get("grade_id", "a cell without a name")
        tell(name)
        if cell is not asked.get(name):  # a cell that only claims to be a test gives no marks
            said = answers.run(source_of(cell), name)
        else:
            answers.cell = name
            names |= answers.functions(wanted)
            said = run(source_of(cell), name, names)
            if answers.restore():
                said = said or "the answer changes the tests, or what they compare with"
            if rules["grade"]:
                marks.append(Mark(name, title_of(cell), 0 if said else rules["points"], rules["points"], said))
                tell(marks[-1])
                continue
        if said:
            remarks.append(f"{name}: {said}")
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
    return Marked(exercise, marks, remarks + answers.remarks)


def _source_of(handed_in: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Find the exercise that shares the most cells with a notebook, whose file may have any name."""
    there = {rules_of(cell).get("grade_id") for cell in handed_in["cells"]} - {None}
    notebooks = {path.stem: read(path) for path in sources()}
    shared = {name: sum(rules_of(cell).get("grade_id") in there for cell in each["cells"]) for name, each in notebooks.items()}
    best = max(shared, key=lambda name: shared[name])
    if not shared[best]:
        raise ValueError(f"FILE must have cells of an exercise; got none of {', '.join(notebooks)}")
    return best, notebooks[best]


def _send(path: Path, sender) -> None:
    try:
        sender.send(mark(read(path), sender.send))
    except ValueError as error:
        sender.send(error)


def mark_apart(path: Path, seconds: float) -> Marked | str:
    """Mark a file in a process of its own; return the reason if there are no marks.

    If the process must be ended, or ends itself, the marks earned so far stand. A browser has one process: there the file is
    marked in it, without a limit of time.
    """
    if sys.platform == "emscripten":
        try:
            return mark(read(path))
        except ValueError as error:
            return str(error)
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(path, sender))
    process.start()
    sender.close()
    deadline, cell, marks = time.monotonic() + seconds, "", []
    try:
        while True:
            if not receiver.poll(max(0.0, deadline - time.monotonic())):
                return _cut_short(path, marks, cell, f"not done after {seconds:g} s")
            told = receiver.recv()
            if isinstance(told, Marked):
                return told
            if isinstance(told, ValueError):
                return str(told)
            if isinstance(told, Mark):
                marks.append(told)
            else:
                cell = told
    except EOFError:
        process.join()
        return _cut_short(path, marks, cell, f"its process ended with exit code {process.exitcode}")
    finally:
        process.kill()
        process.join()


def _cut_short(path: Path, marks: list[Mark], cell: str, why: str) -> Marked | str:
    """Give no marks for the tests that were not run."""
    if not cell:
        return why
    exercise, source = _source_of(read(path))
    given = {each.test: each for each in marks}
    tests = [(rules_of(each), title_of(each)) for each in source["cells"] if rules_of(each).get("grade")]
    rest = f"not run: the notebook was ended in {cell}"
    all_marks = [given.get(each["grade_id"], Mark(each["grade_id"], title, 0, each["points"], rest)) for each, title in tests]
    return Marked(exercise, all_marks, [f"{cell}: {why}"], ended=True)


def report(path: Path, marked: Marked | str) -> tuple[str, dict[str, Any]]:
    """Describe the marks of a file, as text and as JSON."""
    if isinstance(marked, str):
        return f"{path}: no marks: {marked}", {"error": marked}
    given, points = marked.total
    lines = [f"{path}: {marked.exercise}, {given} of {points} marks"]
    alike: dict[str, list[Mark]] = {}
    for each in marked.marks:
        alike.setdefault(_findings(each) or each.title, []).append(each)
    for each in marked.marks:
        lines.append(f"  {each.given} of {each.points}  {each.title}")
        first, *others = alike[_findings(each) or each.title]
        if first is each:
            lines += [f"          {line}" for line in each.said.splitlines() if not line.startswith("(0 of ")]
            lines += ["          also in " + ", ".join(f"“{other.title}”" for other in others)] * bool(others)
    lines += [f"  {line}" for remark in marked.remarks for line in remark.splitlines()]
    tests = [each._asdict() for each in marked.marks]
    table = {"exercise": marked.exercise, "given": given, "points": points, "tests": tests, "remarks": marked.remarks}
    if marked.ended:
        table["error"] = marked.remarks[0]
    return "\n".join(lines), table


def _findings(mark: Mark) -> str:
    """Leave of a message what is not of its test alone: the sentences without the case, whose lines are indented."""
    return "\n".join(line for line in mark.said.splitlines() if not line.startswith((" ", "(0 of ")))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make.py", description="Make the exercises from one source.")
    commands = parser.add_subparsers(dest="command", required=True)
    for kind, text in (("student", "versions to hand out"), ("solution", "versions to show afterwards")):
        command = commands.add_parser(kind, help=text)
        command.add_argument("folder", type=Path, metavar="DIR")
    command = commands.add_parser("mark", help="mark notebooks that were handed in; this runs their code with your rights")
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
    tables = {}
    for path in options.files:
        text, tables[str(path)] = report(path, mark_apart(path, options.seconds))
        print(text, flush=True)
    if options.json:
        options.json.write_text(json.dumps(tables, indent=1, ensure_ascii=False) + "\n", "utf8")
    return int(any("error" in table for table in tables.values()))


if __name__ == "__main__":
    sys.exit(main())
