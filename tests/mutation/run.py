"""Mutation testing of `reference` and `efficient`: would the tests notice if one operator or number were another one?

    python tests/mutation/run.py [--folder FOLDER] [--again] [--report] [MODULE ...]

cosmic-ray makes the mutants, one change each, and keeps the results in FOLDER, a session for each module; a run that was
stopped goes on there. Nothing but a copy of the project in FOLDER is changed. Each mutant meets, in a process of its own,

1. a sample of the test vectors, exactly and in float64, on both sides; then, if it is alive,
2. the tests that `cosmic-ray.toml` lists for its module, until the first fails; for a few modules then,
3. the tests listed as needing numba's compiler, without which the others run.

One that takes three times as long as the unchanged module, or four gigabytes, is dead too. Survivors that
`survivors.toml` does not explain, or a share of killed mutants below 95 %, make the exit status 1.
"""

import argparse
import ast
import difflib
import gc
import importlib
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import tomllib
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from cosmic_ray.commands.init import init
from cosmic_ray.config import load_config
from cosmic_ray.modules import filter_paths, find_modules
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.exception_replacer import CosmicRayTestingException, ExceptionReplacer
from cosmic_ray.plugins import get_operator
from cosmic_ray.tools.filters.operators_filter import OperatorsFilter
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec, TestOutcome, WorkerOutcome, WorkResult
from tqdm import tqdm

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
CONFIG = load_config(HERE / "cosmic-ray.toml")
WANTED = 0.95
MEMORY = 4 << 30
EVERY = 37
"""Of the vectors, each mutant meets each so manieth; the modules' tests see more."""

HINTS = ("ahead(", "ahead_in_order(", "ahead_of(", "side_by_side(")
"""How the lines begin that only fetch ahead of time, or say where things lie: no result shows what they do."""

LIBRARIES = (
    "numba.extending",
    "scipy.sparse.linalg",
    "scipy.optimize",
    "sympy",
    "mpmath",
    "z3",
    "pandas",
    "tqdm.auto",
    "pytest",
    "hypothesis.stateful",
    "sklearn.feature_extraction.text",
)
"""What is imported once, before the trials begin, and not for every mutant."""

Place = tuple[int, int]


# which mutants


def modules() -> list[Path]:
    """The modules to mutate, from the root."""
    paths = find_modules([Path(path) for path in CONFIG["module-path"]])
    return sorted(filter_paths(paths, CONFIG["excluded-modules"]))


class Code(NamedTuple):
    """What mutants of a module may and may not change: the places of operators with two operands, and of what is no program."""

    operators: list[tuple[Place, Place]]
    inert: list[tuple[Place, Place]]

    @classmethod
    def of(cls, source: str) -> "Code":
        lines = source.splitlines()

        def place(row: int, column: int) -> Place:
            return row, len(lines[row - 1].encode()[:column].decode())  # ast counts bytes, cosmic-ray characters

        def begin(node) -> Place:
            return place(node.lineno, node.col_offset)

        def end(node) -> Place:
            return place(node.end_lineno, node.end_col_offset)

        operators, inert = [], []
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.BinOp):
                operators.append((end(node.left), begin(node.right)))
            for name in ("annotation", "returns"):
                if getattr(node, name, None) is not None:
                    inert.append((begin(getattr(node, name)), end(getattr(node, name))))
        for row, line in enumerate(lines, start=1):
            if line.strip().startswith(HINTS):
                inert.append(((row, 0), (row, len(line))))
        return cls(operators, inert)

    def has(self, mutation: MutationSpec) -> bool:
        """Whether a mutation changes the program; cosmic-ray takes the * of a signature for a product too."""
        start, stop = tuple(mutation.start_pos), tuple(mutation.end_pos)
        if any(first <= start and stop <= last for first, last in self.inert):
            return False
        binary = "ReplaceBinaryOperator" in mutation.operator_name
        return not binary or any(first <= start and stop <= last for first, last in self.operators)


def skip(database: WorkDB) -> None:
    """Mark the mutants that are not to be tried."""
    options = argparse.Namespace(config=str(HERE / "cosmic-ray.toml"))
    OperatorsFilter().filter(database, options)
    code: dict[Path, Code] = {}
    for item in database.pending_work_items:
        (mutation,) = item.mutations
        path = mutation.module_path
        if path not in code:
            code[path] = Code.of(path.read_text("utf8"))
        if not code[path].has(mutation):
            database.set_result(item.job_id, WorkResult(WorkerOutcome.SKIPPED, output="no program"))


class AnyExceptionReplacer(ExceptionReplacer):
    """cosmic-ray's operator, which fails where an exception's name has a dot in it, such as zlib.error."""

    def mutate(self, node, index):
        self._name_nodes(node)[index].get_first_leaf().value = CosmicRayTestingException.__name__
        return node


def mutate(source: str, mutation: MutationSpec) -> str:
    replaces_exceptions = mutation.operator_name == "core/ExceptionReplacer"
    operator = AnyExceptionReplacer() if replaces_exceptions else get_operator(mutation.operator_name)()
    mutant = mutate_code(source, operator, mutation.occurrence)
    assert mutant is not None and mutant != source, mutation
    return mutant


# what a mutant meets


def meet_vectors(cases) -> None:
    """Hold both sides to these cases, exactly and in float64."""
    from fractions import Fraction

    import efficient
    import reference

    for case in cases:
        for lam in (Fraction(case.lam), case.lam):
            exact = isinstance(lam, Fraction)
            checkpoints = [point for point in case.checkpoints if exact or point.held]
            problem = reference.Problem(case.matrix(), case.y, case.loss, lam)
            state = efficient.State(problem, case.algorithm)
            for point in checkpoints:
                state.run(case.indices[state.t : point.t])
                found = [state.average() if case.average else state.last()]
                if point is checkpoints[-1]:
                    found.append(getattr(reference, case.algorithm)(problem, case.indices[: point.t]))
                for predictor in found:
                    assert len(predictor.w) == case.n, case.id
                    errors = [abs(Fraction(one) - other) for one, other in zip(predictor.w, point.w, strict=True)]
                    assert max(errors, default=0) <= (0 if exact else point.w_tolerance), case.id
                    assert abs(Fraction(predictor.b) - point.b) <= (0 if exact else point.b_tolerance), case.id
            if exact:
                steps = reference.iterates(problem, case.indices, centred=case.centred)
                assert tuple(step.p for step in steps) == case.p, case.id


def meet(module: str, cases, compiled: bool) -> int:
    """Hold the program to the vectors and to the tests of a module: 0, or what failed: 1 the vectors, 2 the tests."""
    import numba
    import pytest

    if not compiled:
        numba.config.DISABLE_JIT = True
        try:
            meet_vectors(cases)
        except BaseException:
            traceback.print_exc()
            return 1
    options = ["-x", "-q", "--no-header", "--tb=line", "--assert=plain", "-p", "no:cacheprovider"]
    options += ["-W", "ignore:the matrix subclass"]  # as scipy sets it up, when it is imported among the tests
    return 2 if pytest.main([*options, *CONFIG["compiled" if compiled else "tests"][module]]) else 0


VERDICTS = ["survived", "vectors", "tests"]
"""What the exit status of a trial means; any other end is one by its limits."""


class Trial(NamedTuple):
    """How a program fared: alive, or what killed it; the seconds of processor time that it took, and what it printed."""

    verdict: str
    seconds: float
    output: str


def attempt(module: str, tree: Path, cases, seconds: float) -> Trial:
    """Hold the program in `tree` to the vectors and the tests; if it is alive, compiled, to those that need the compiler."""
    trial = attempt_once(module, tree, cases, seconds, compiled=False)
    if trial.verdict == "survived" and module in CONFIG["compiled"]:
        again = attempt_once(module, tree, cases, 10 * seconds, compiled=True)
        return again._replace(seconds=trial.seconds)
    return trial


def attempt_once(module: str, tree: Path, cases, seconds: float, compiled: bool) -> Trial:
    """Hold the program in `tree` to the tests with or without numba's compiler, in a process of its own."""
    log, began = tree.with_suffix(".log"), time.monotonic()
    process = os.fork()
    if process == 0:
        status = 1
        try:
            os.setsid()
            signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it, the tests must not
            os.chdir(tree)
            output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(output, 1)
            os.dup2(output, 2)
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1,) * 2)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            sys.path[0] = str(tree)
            status = meet(module, cases, compiled)
        finally:
            sys.stdout.flush()
            os._exit(status)
    while True:
        ended, status, usage = os.wait4(process, os.WNOHANG)
        if ended:
            break
        if time.monotonic() - began > 10 * seconds:  # it sleeps, or waits for what never comes
            os.killpg(process, signal.SIGKILL)
        time.sleep(0.01)
    with suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)  # whatever it left behind
    code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else len(VERDICTS)
    verdict = VERDICTS[code] if code < len(VERDICTS) else "limits"
    return Trial(verdict, usage.ru_utime + usage.ru_stime, log.read_text("utf8", errors="replace")[-3000:])


def read_vectors(tree: Path) -> list:
    """The sample of the vectors; they are data, and what read them is forgotten."""
    sys.path[0] = str(tree)
    from proofs.conformance.cases import load

    cases = load()[::EVERY]
    for name in [name for name in sys.modules if name.split(".")[0] in ("reference", "efficient", "proofs")]:
        del sys.modules[name]
    return cases


def work(module: Path, tree: Path, database: WorkDB, cases, again: bool) -> bool:
    """Try the mutants of a module one after the other, after the unchanged program, which must survive."""
    items = list(database.pending_work_items)
    if again:
        items += [item for item, result in database.completed_work_items if result.test_outcome == TestOutcome.SURVIVED]
    if not items:
        return True
    items.sort(key=lambda item: item.mutations[0].start_pos)
    unchanged = attempt(str(module), tree, cases, 1000)
    if unchanged.verdict != "survived":
        print(f"{module}: without a change it fails the {unchanged.verdict}:\n{unchanged.output}")
        return False
    path = tree / module
    original = path.read_text("utf8")
    for item in tqdm(items, desc=str(module), unit=" mutants", disable=None):
        (mutation,) = item.mutations
        mutant = mutate(original, mutation)
        path.write_text(mutant, "utf8")
        try:
            trial = attempt(str(module), tree, cases, 10 + 3 * unchanged.seconds)
        finally:
            path.write_text(original, "utf8")
        diff = "\n".join(difflib.unified_diff(original.split("\n"), mutant.split("\n"), lineterm="", n=0))
        outcome = TestOutcome.SURVIVED if trial.verdict == "survived" else TestOutcome.KILLED
        database.set_result(item.job_id, WorkResult(WorkerOutcome.NORMAL, f"{trial.verdict}\n{trial.output}", outcome, diff))
    return True


# the report


class Mutant(NamedTuple):
    """A mutant that was tried: where, the line before and after, and how it fared."""

    module: str
    row: int
    line: str
    becomes: str
    verdict: str


def tried(database: WorkDB) -> Iterator[Mutant]:
    for item, result in database.completed_work_items:
        if result.worker_outcome == WorkerOutcome.SKIPPED:
            continue
        (mutation,) = item.mutations
        changes = result.diff.split("\n")[3:]
        before, after = (" ".join(line[1:].strip() for line in changes if line[:1] == sign).strip() for sign in "-+")
        verdict = (result.output or "").split("\n")[0]
        yield Mutant(str(mutation.module_path), mutation.start_pos[0], before, after, verdict)


def reasons() -> dict[tuple[str, str, str], tuple[str, bool]]:
    """Why the mutants that are known to survive do, and whether they are equivalent, by module, line and what it becomes."""
    listed = tomllib.loads((HERE / "survivors.toml").read_text("utf8"))
    return {
        (module, survivor["line"], becomes): (survivor["reason"], survivor.get("equivalent", False))
        for module, survivors in listed.items()
        for survivor in survivors
        for becomes in survivor["becomes"]
    }


def report(sessions: dict[Path, Path]) -> bool:
    """Print the numbers by module and the survivors; whether all is as wanted."""
    known, counts, survivors, waiting = reasons(), {}, [], 0
    for module, session in sessions.items():
        with use_db(session, WorkDB.Mode.open) as database:
            mutants = sorted(tried(database))
            waiting += len(database.pending_work_items)
        counts[str(module)] = Counter(mutant.verdict for mutant in mutants)
        survivors += [mutant for mutant in mutants if mutant.verdict == "survived"]
    counts["all"] = sum(counts.values(), Counter())
    print(f"{'module':28}{'mutants':>8}{'vectors':>8}{'tests':>8}{'limits':>8}{'alive':>8}{'killed':>9}")
    for name, count in counts.items():
        verdicts = [count[verdict] for verdict in ("vectors", "tests", "limits", "survived")]
        killed = f"{1 - count['survived'] / count.total():.1%}" if count else "-"
        print(f"{name:28}{count.total():8}" + "".join(f"{each:8}" for each in verdicts) + f"{killed:>9}")
    unexplained = equivalents = 0
    for mutant in survivors:
        reason, equivalent = known.get((mutant.module, mutant.line, mutant.becomes), (None, False))
        unexplained += reason is None
        equivalents += equivalent
        print(f"{mutant.module}:{mutant.row}\n  - {mutant.line}\n  + {mutant.becomes}\n  {reason or 'NOT EXPLAINED'}")
    print(f"{unexplained} survivors are not explained, {waiting} mutants are not tried")
    others = counts["all"].total() - equivalents
    killed = (others + equivalents - len(survivors)) / max(1, others)
    print(f"{equivalents} survivors are equivalent, the same program; of the other mutants {killed:.1%} are killed")
    return not unexplained and not waiting and len(survivors) <= (1 - WANTED) * counts["all"].total()


def find_session(module: Path, folder: Path) -> tuple[Path, Path, bool]:
    """The session of a module, the source that it is of, and whether that is the source as it is now."""
    session, source = folder / f"{module}.sqlite", folder / module
    return session, source, session.exists() and source.exists() and source.read_bytes() == module.read_bytes()


def session_of(module: Path, folder: Path) -> Path:
    """The session of a module, begun anew if its source is another one than last time."""
    session, source, fresh = find_session(module, folder)
    if not fresh:
        source.parent.mkdir(parents=True, exist_ok=True)
        source.unlink(missing_ok=True)
        session.unlink(missing_ok=True)
        with use_db(session) as database:
            init([module], database, {})
            skip(database)
        shutil.copy(module, source)
    return session


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("modules", nargs="*", type=Path, metavar="MODULE", help="such as efficient/asgd.py; by default all")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "casgd-mutation", help="of the results")
    parser.add_argument("--again", action="store_true", help="try those that survived once more, by the tests as they are now")
    parser.add_argument("--report", action="store_true", help="show the results so far, and try none")
    arguments = parser.parse_args()
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True  # a mutant of the same size and second would be taken for the program compiled before it
    os.chdir(ROOT)
    folder, tree = arguments.folder.resolve(), arguments.folder.resolve() / "project"
    chosen = arguments.modules or modules()
    unknown = [str(module) for module in chosen if str(module) not in CONFIG["tests"]]
    if unknown:
        parser.error(f"cosmic-ray.toml lists no tests for {', '.join(unknown)}")
    if arguments.report:
        found = {module: find_session(module, folder) for module in chosen}
        sessions = {module: session for module, (session, _, fresh) in found.items() if fresh}
        if len(sessions) < len(chosen):
            print("not tried as they are now:", *(str(module) for module in chosen if module not in sessions))
    else:
        sessions = {module: session_of(module, folder) for module in chosen}
        shutil.rmtree(tree, ignore_errors=True)
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".*", "__pycache__"))
        cases = read_vectors(tree)
        for library in LIBRARIES:
            importlib.import_module(library)
        gc.freeze()  # what is imported need not be looked through in every process
        for module, session in sessions.items():
            with use_db(session, WorkDB.Mode.open) as database:
                if not work(module, tree, database, cases, arguments.again):
                    return 1
    return 0 if report(sessions) and len(sessions) == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
