"""Measure how truly the kit names fresh faults: change one token of the examples by rule, and try the names on other questions.

`python -m tests.proofs.conformance.mutants [FILE [KIND …]]` prints every mutant, what the kit says of it, and the figures of
the kit's README. A kind is a change of a "token", of a "name", or of a "statement", which is left out or stands twice. A name
is true if the plain program with the named faults does what the mutant does on questions that the kit does not have, to 9
digits, and does not without one of them; misleading otherwise.
"""

import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from proofs.conformance.agreement import runs
from proofs.conformance.answers import Answer, Implementation
from proofs.conformance.cases import Case, Checkpoint, load
from proofs.conformance.check import check
from proofs.conformance.command import Command, Served
from proofs.conformance.diagnosis import Finding
from tests.proofs.conformance.programs import KIT

RULES = [  # a token as a regular expression, and what stands in its place
    (r" \+ ", " - "),
    (r" - ", " + "),
    (r" \* ", " / "),
    (r" / ", " * "),
    (r" \+= ", " -= "),
    (r" \+= ", " = "),
    (r" <= ", " < "),
    (r" <= ", " >= "),
    (r"\b1\b", "2"),
    (r"\bt - 1\b", "t"),
    (r"\(double\)t\b", "(double)(t + 1)"),
    (r"\(lam \* t\)", "(lam * (t + 1))"),
    (r"\b[ga] \* ", ""),
    (r"-y", "y"),
]

NAMES = {  # names of one kind, in rings: each is taken for the next one
    "asgd.c": ("a c h z r sum theta a", "v u xbar v", "d projection p g d", "m n T m"),
    "dense.py": ("w w_sum xbar w", "b b_sum b", "t lam t"),
}

STATEMENT = {  # those that are left out, or stand twice
    "asgd.c": re.compile(r"^ *(?:\w+(?:\[\w+\])? \+=.*;|z \+=.*;|h \+=.*;|sum \+=.*;)$"),
    "dense.py": re.compile(r"^ *(?:rows|w|b|w_sum, b_sum|w, b) = [^0]*$"),
}

LINES = {
    "asgd.c": lambda line: not any(word in line for word in ("for (", "zeros(n)", "printf", "free(")) or "a * xbar" in line,
    "dense.py": lambda line: not line.lstrip().startswith(("def", "for", "if", "import", '"""', "rows = X")),
}
"""Lines that are changed: no loop heads, which would leave their arrays, and no declarations."""

SAMPLE, SEED = 30, 1612
"""Number of mutants of each example, and the seed that chooses them."""


class Mutant(NamedTuple):
    """Example with one token changed."""

    file: str
    change: str
    source: str


def mutants(file: str, kinds: Collection[str]) -> list[Mutant]:
    """Make all mutants of the algorithm in an example, with another token, another name, or a statement left out or twice."""
    rings = [ring.split() for ring in NAMES[file]] if "name" in kinds else []
    rules = RULES if "token" in kinds else []
    rules = rules + [(rf"\b{one}\b(?!\()", other) for ring in rings for one, other in pairwise(ring)]
    source = (KIT / "examples" / file).read_text("utf8")
    start = source.index("static double derivative" if file == "asgd.c" else "    xbar =")
    lines = source[start:].split("\n")
    made = {}
    for number, line in enumerate(lines):
        if line.startswith("int main"):
            break
        if not LINES[file](line):
            continue
        changed = [
            line[: found.start()] + new + line[found.end() :] for token, new in rules for found in re.finditer(token, line)
        ]
        if STATEMENT[file].match(line):
            changed += [""] if "token" in kinds and file == "asgd.c" else []
            changed += ["", f"{line}\n{line}"] if "statement" in kinds else []
        for other in changed:
            mutated = source[:start] + "\n".join([*lines[:number], other, *lines[number + 1 :]])
            shown = "(left out)" if not other else "(twice)" if "\n" in other else other.strip()
            made[mutated] = Mutant(file, f"{line.strip()}  ->  {shown}", mutated)
    return list(made.values())


def sample(file: str, kinds: Collection[str]) -> list[Mutant]:
    """Shuffle the mutants of an example, always in the same way, without those that were looked at before."""
    left_out = looked_at(file)
    fresh = [mutant for mutant in _shuffled(mutants(file, kinds), SEED) if mutant not in left_out]
    return [mutant for mutant in fresh if "(T + 1);" not in mutant.change.split("  ->  ")[0]]  # this line is not compiled


def looked_at(file: str) -> list[Mutant]:
    """List the mutants that were looked at while the names were made: three earlier samples."""
    is_c = file == "asgd.c"
    first = _shuffled(mutants(file, ["token"]), 2026)
    seen = first[: 40 if is_c else 15]
    second = _shuffled([mutant for mutant in mutants(file, ["token", "name"]) if mutant not in first[:30]], 771)
    seen += second[: 45 if is_c else 12]
    third = _shuffled(mutants(file, ["token", "statement"]), 20_261_129)
    return seen + [mutant for mutant in third if mutant not in seen][: 34 if is_c else 30]


def _shuffled(items: list, seed: int) -> list:
    return random.Random(seed).sample(items, len(items))


def built(mutant: Mutant, folder: Path) -> Implementation | None:
    """Compile or import a mutant; None if that fails."""
    if mutant.file == "asgd.c":
        (folder / "m.c").write_text(mutant.source, "utf8")
        compiler = ["cc", "-std=c99", "-O1", "-w", "-o", folder / "m", folder / "m.c", "-lm"]
        done = subprocess.run(compiler, capture_output=True, check=False)
        return Command(str(folder / "m"), timeout=20) if done.returncode == 0 else None
    (folder / "mutant.py").write_text(mutant.source, "utf8")
    os.environ["PYTHONPATH"] = str(folder)
    try:
        return Served("mutant:train", timeout=60)
    except ValueError:
        return None


def other_questions() -> list[Case]:
    """Make questions that the kit does not have, two for each algorithm and loss."""
    rng = np.random.default_rng(SEED)
    cases = []
    for case in load():
        if not case.id.endswith("-twelve-steps"):
            continue
        for number in range(2):
            m, n, T = 5, 4, 11
            rows = [[(int(j), float(rng.normal())) for j in sorted(rng.choice(n, 2, replace=False))] for _ in range(m)]
            y = rng.choice([-1.0, 1.0], m) if case.loss in ("hinge", "log") else 3 * rng.normal(size=m)
            point = Checkpoint(T, (), 0, None, None)
            lam, indices = float(rng.uniform(0.3, 2)), rng.integers(0, m, T).tolist()
            cases.append(
                replace(
                    case, id=f"{case.id}-{number}", n=n, rows=rows, y=y.tolist(), lam=lam, indices=indices, checkpoints=(point,)
                )
            )
    return cases


def is_true(finding: Finding, implementation: Implementation, questions: list[Case]) -> bool:
    """Tell whether some of the named faults do what the implementation does, where it is said that they do, each needed."""
    mine = [
        case
        for case in questions
        if not finding.where or {case.algorithm, case.loss, f"{case.algorithm} with {case.loss}"} & {*finding.where}
    ]
    replies = [reply for (reply,) in implementation.ask(mine, False)]

    def gives(faults) -> bool:
        return all(_same(case, reply, faults) for case, reply in zip(mine, replies, strict=True))

    return any(gives(faults) and not any(gives(faults - {each}) for each in faults) for faults in finding.faults)


def _same(case: Case, reply, faults) -> bool:
    if not isinstance(reply, Answer):
        return False
    run = runs(faults, case, False)[0]
    found, given = np.array([*reply.w, reply.b]), np.array([*run.w, run.b], dtype=float)
    return bool(np.allclose(found, given, rtol=0, atol=1e-9 * max(1.0, abs(given).max()), equal_nan=True))


def measure(file: str, kinds: Collection[str], number: int = SAMPLE, shown=print) -> Counter:
    """Count what the kit says of some mutants: true, misleading, unnamed, passed; without those that do not build or answer."""
    count: Counter = Counter()
    questions = other_questions()
    for mutant in sample(file, kinds):
        if sum(count.values()) == number:
            break
        with tempfile.TemporaryDirectory() as folder:
            implementation = built(mutant, Path(folder))
            if implementation is None:
                continue
            report = check(implementation, long=False, progress=False)
            if not any(isinstance(reply, Answer) for result in report.results for reply in result.replies):
                continue
            if report.passed:
                kind = "passed" if check(implementation, progress=False).passed else "unnamed"
            else:
                named = [finding for finding in report.diagnosis if finding.faults]
                true = [is_true(finding, implementation, questions) for finding in named]
                kind = "unnamed" if not named else "true" if all(true) else "misleading"
            count[kind] += 1
            says = "; ".join(sorted({" + ".join(sorted(each)) for f in report.diagnosis for each in f.faults}))[:150]
            shown(f"{kind:10} {mutant.change}\n           {says or [f.text[:200] for f in report.diagnosis]}", flush=True)
    return count


if __name__ == "__main__":
    for file in sys.argv[1:2] or LINES:
        kinds = sys.argv[2:] or ["token", "statement", "name"]
        print(f"== {file}, {' and '.join(kinds)}: {dict(measure(file, kinds))}")
