"""Measure how truly the kit names fresh faults: change the examples by rule, and try the names on other questions.

`python -m tests.proofs.conformance.mutants [SEED [FILE [NUMBER]]]` prints every mutant, what the kit says of it, and the
figures of the kit's README. A mutant has another operator, assignment, relation, number, sign or letter, lacks a factor, or has
two lines in the other order. A name is true if the plain program with the named faults does what the mutant does on questions
that the kit does not have, to 9 digits, and does not without one of them; misleading otherwise.
"""

import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from proofs.conformance.agreement import runs
from proofs.conformance.answers import Answer, Function, Implementation, Reply
from proofs.conformance.cases import Case, Checkpoint, load
from proofs.conformance.check import check
from proofs.conformance.command import Command
from proofs.conformance.diagnosis import Finding
from tests.proofs.conformance.programs import KIT

EARLIER_RULES = [  # of the samples that the names were made with: a token as a regular expression, and what stands in its place
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

RULES = {  # what is drawn from now: each token as a regular expression, and all that stands in its place
    "operator": [(rf" {re.escape(one)} ", [f" {other} " for other in "+-*/" if other != one]) for one in "+-*/@"],
    "assignment": [(r" \+= ", [" = ", " -= ", " *= "]), (r" /= ", [" *= ", " = ", " -= "])],
    "relation": [(" <= ", [" < ", " > ", " >= ", " == "]), (" == ", [" != ", " <= "])],
    "number": [(r"\b1\b", ["0", "2"]), (r"\b0\b", ["1"]), (r"\bt - 1\b", ["t"])],
    "sign": [(r"(?<![\w)] )-(?=[\w(])", [""]), (r"(?<=[=(] )(?=[a-z])", ["-"]), (r"(?<=\()(?=[a-z])", ["-"])],
    "factor": [(r"\b\w+(?:\[\w+\])? [*/@] (?=[\w(])", [""]), (r" [-+] \w+(?! [*/@]|\w|[\[(])", [""])],
}

LETTERS = {  # names of one kind: each is taken for each other
    "asgd.c": ("a c h z r sum theta d projection p g", "v u xbar", "n m T"),
    "dense.py": ("w w_sum xbar", "b b_sum t lam g"),
}

NAMES = {  # of the earlier samples, in rings: each is taken for the next one
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


def earlier(file: str, kinds: Collection[str]) -> list[Mutant]:
    """Make the mutants that the earlier samples were drawn from."""
    rings = [ring.split() for ring in NAMES[file]] if "name" in kinds else []
    rules = EARLIER_RULES if "token" in kinds else []
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


def mutants(file: str) -> dict[str, list[Mutant]]:
    """Make all mutants of the algorithm in an example, by kind, without those that stood in an earlier pool."""
    source = (KIT / "examples" / file).read_text("utf8")
    start = source.index("static double derivative" if file == "asgd.c" else "    xbar =")
    lines = source[start : source.index("int main") if file == "asgd.c" else None].split("\n")
    seen = {source, *(mutant.source for mutant in earlier(file, ["token", "name", "statement"]))}
    made: dict[str, list[Mutant]] = {}
    rules = RULES | {
        "letter": [
            (rf"\b{one}\b(?!\()", [other for other in kind.split() if other != one])
            for kind in LETTERS[file]
            for one in kind.split()
        ]
    }
    for number, line in enumerate(lines):
        if not LINES[file](line) or "(T + 1);" in line:  # the latter is not compiled
            continue
        changed = [
            (kind, line[: found.start()] + other + line[found.end() :])
            for kind, tokens in rules.items()
            for token, others in tokens
            for found in re.finditer(token, line.partition("/*")[0])
            for other in others
        ]
        if number + 1 < len(lines) and LINES[file](lines[number + 1]) and _indent(line) == _indent(lines[number + 1]):
            changed.append(("order", f"{lines[number + 1]}\n{line}"))
        for kind, other in changed:
            rest = lines[number + 1 + (kind == "order") :]
            mutated = source[:start] + "\n".join([*lines[:number], other, *rest])
            mutated += source[source.index("int main") :] if file == "asgd.c" else ""
            if mutated not in seen:
                seen.add(mutated)
                shown = " / ".join(part.strip() for part in other.split("\n"))
                made.setdefault(kind, []).append(Mutant(file, f"{line.strip()}  ->  {shown}", mutated))
    return made


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def sample(file: str, seed: int) -> Iterator[Mutant]:
    """Draw mutants without end: a kind, then one of that kind, each once."""
    rng = random.Random(f"{seed} {file}")
    left = {kind: rng.sample(made, len(made)) for kind, made in sorted(mutants(file).items())}
    while left:
        kind = rng.choice(sorted(left))
        yield left[kind].pop()
        if not left[kind]:
            del left[kind]


def built(mutant: Mutant, folder: Path) -> Implementation | None:
    """Compile or import a mutant; None if that fails."""
    if mutant.file == "asgd.c":
        (folder / "m.c").write_text(mutant.source, "utf8")
        compiler = ["cc", "-std=c99", "-O1", "-w", "-o", folder / "m", folder / "m.c", "-lm"]
        done = subprocess.run(compiler, capture_output=True, check=False)
        return Command(str(folder / "m"), timeout=20) if done.returncode == 0 else None
    namespace: dict = {}
    exec(compile(mutant.source, "mutant.py", "exec"), namespace)
    return Function(namespace["train"])


def other_questions() -> list[Case]:
    """Make questions that the kit does not have, five for each algorithm and loss: two of real numbers, three with ties."""
    rng = np.random.default_rng(SEED)
    cases = []
    for case in load():
        if not case.id.endswith("-twelve-steps"):
            continue
        for number in range(5):
            m, n, T = (4, 3, 3) if number > 1 else (5, 4, 11)
            rows = [[(int(j), float(rng.normal())) for j in sorted(rng.choice(n, 2, replace=False))] for _ in range(m)]
            y = rng.choice([-1.0, 1.0], m) if case.loss in ("hinge", "log") else 3 * rng.normal(size=m)
            point = Checkpoint(T, (), 0, None, None)
            lam, indices = float(rng.uniform(0.3, 2)), rng.integers(0, m, T).tolist()
            if number > 1:  # small integers and few steps: margins are at the kink, exactly
                rows, y, lam = [[(j, float(round(x))) for j, x in row] for row in rows], np.sign(y), 1.0
            cases.append(
                replace(
                    case, id=f"{case.id}-{number}", n=n, rows=rows, y=y.tolist(), lam=lam, indices=indices, checkpoints=(point,)
                )
            )
    return cases


def is_true(finding: Finding, questions: list[Case], replies: list[Reply]) -> bool:
    """Tell whether some of the named faults do what the implementation does, where it is said that they do, each needed."""
    mine = [
        case
        for case in questions
        if not finding.where or {case.algorithm, case.loss, f"{case.algorithm} with {case.loss}"} & {*finding.where}
    ]
    answers = [reply for case, reply in zip(questions, replies, strict=True) if case in mine]
    return any(
        gives(faults, mine, answers) and not any(gives(faults - {each}, mine, answers) for each in faults)
        for faults in finding.faults
    )


def gives(faults: Collection[str], questions: list[Case], replies: list[Reply]) -> bool:
    """Tell whether the plain program with these faults gives these answers."""
    return all(_same(case, reply, frozenset(faults)) for case, reply in zip(questions, replies, strict=True))


@np.errstate(invalid="ignore")
def _same(case: Case, reply, faults) -> bool:
    if not isinstance(reply, Answer):
        return False
    run = runs(faults, case, False)[0]
    found, given = np.array([*reply.w, reply.b]), np.array([*run.w, run.b], dtype=float)
    finite = np.isfinite(given)
    scale = max(1.0, abs(given[finite]).max(initial=0))
    return (np.isfinite(found) == finite).all() and bool((abs(found - given)[finite] <= 1e-9 * scale).all())


def measure(file: str, seed: int, number: int = SAMPLE, shown=print) -> Counter:
    """Count what the kit says of some mutants: true, misleading, unnamed, passed; without those that do not build or answer.

    Those that pass and give right answers to the other questions as well change nothing, and are left out.
    """
    count: Counter = Counter()
    questions = other_questions()
    for mutant in sample(file, seed):
        if sum(count.values()) == number:
            break
        with tempfile.TemporaryDirectory() as folder:
            implementation = built(mutant, Path(folder))
            if implementation is None:
                continue
            report = check(implementation, long=False, progress=False)
            if not any(isinstance(reply, Answer) for result in report.results for reply in result.replies):
                continue
            replies = [reply for (reply,) in implementation.ask(questions, False)]
            if report.passed:
                if gives((), questions, replies):
                    continue
                kind = "passed" if check(implementation, progress=False).passed else "unnamed"
            else:
                named = [finding for finding in report.diagnosis if finding.faults]
                true = [is_true(finding, questions, replies) for finding in named]
                kind = "unnamed" if not named else "true" if all(true) else "misleading"
            count[kind] += 1
            says = "; ".join(sorted({" + ".join(sorted(each)) for f in report.diagnosis for each in f.faults}))[:300]
            shown(f"{kind:10} {mutant.change}\n           {says or [f.text[:200] for f in report.diagnosis]}", flush=True)
    return count


if __name__ == "__main__":
    seed = int(sys.argv[1]) if sys.argv[1:] else SEED
    for file in sys.argv[2:3] or LINES:
        print(f"== {file}, seed {seed}: {dict(measure(file, seed, int(sys.argv[3]) if sys.argv[3:] else SAMPLE))}", flush=True)
