"""Compile the theories with Rocq, and read from its kernel what each claim rests on."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import NamedTuple

from .fragment import Refused
from .sources import ROOT, generated

HERE = Path(__file__).parent
THEORIES = HERE / "theories"
PACKAGES = tuple((HERE / "packages.txt").read_text("utf8").split())
CURE = f"apt-get install {' '.join(PACKAGES)}"
GENERATED = "Generated"
TIME_LIMIT = 300
"""Seconds of processor time after which a theory counts as not proved; the slowest takes fifteen."""

OF_THE_REALS = {
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
}
"""Axioms by which Rocq's library defines the real numbers, exp and ln; a claim may rest on these and on no others."""


class Claim(NamedTuple):
    """Statement in Statements.v: its name, the paper's labels, the words before it, its line, and the theory that proves it."""

    name: str
    labels: tuple[str, ...]
    words: str
    line: int
    theory: str

    @property
    def place(self) -> str:
        return f"{(THEORIES / 'Statements.v').relative_to(ROOT)}:{self.line}"


class Verdict(NamedTuple):
    """Claim, and the axioms that it and the other claims of its theory rest on; or why it is not proved."""

    claim: Claim
    axioms: tuple[str, ...] = ()
    failure: str = ""

    @property
    def proved(self) -> bool:
        return not self.failure and set(self.axioms) <= OF_THE_REALS

    @property
    def figure(self) -> str:
        """Say in a line what the kernel says."""
        if self.failure:
            return self.failure
        if self.proved:
            names = sorted(axiom.rpartition(".")[2] for axiom in self.axioms)
            return f"axioms of the real numbers: {', '.join(names)}" if names else "no axioms"
        return "rests on " + ", ".join(sorted(set(self.axioms) - OF_THE_REALS))


class Unproved(Exception):
    """Theory that Rocq rejects: names the theorem, the paper's labels and the line."""


@cache
def coqc() -> str | None:
    """Find Rocq's compiler."""
    return shutil.which("coqc")


@cache
def version() -> str:
    """Return Rocq's version, "8.16.1"."""
    said = subprocess.run([coqc() or "coqc", "--print-version"], capture_output=True, text=True, check=True)
    return said.stdout.split()[0]


@cache
def theories() -> dict[str, str]:
    """Read the theories by name."""
    return {file.stem: file.read_text("utf8") for file in sorted(THEORIES.glob("*.v"))}


@cache
def claims() -> tuple[Claim, ...]:
    """List the claims of Statements.v, each with the theory that holds its proof."""
    text, found = theories()["Statements"], []
    for match in re.finditer(r"\(\* \[([^\]]+)\] ([^*]+?) \*\)\nDefinition (\w+) : Prop", text):
        labels, words, name = match.groups()
        proofs = [theory for theory, code in theories().items() if f"Theorem {name}_holds : {name}." in code]
        if len(proofs) != 1:
            raise ValueError(f"the claim {name} must be proved in one theory; got {proofs}")
        line = text.count("\n", 0, match.start(3)) + 1
        found.append(Claim(name, tuple(labels.split(", ")), " ".join(words.split()), line, proofs[0]))
    return tuple(found)


def needs(theory: str) -> list[str]:
    """List the theories that a theory requires directly."""
    if theory == GENERATED:
        return ["Base"]
    named = re.findall(r"^Require (?:Import |Export )?([^.]+)\.", theories()[theory], re.MULTILINE)
    return [name for line in named for name in line.split() if name in theories() or name == GENERATED]


def required(theory: str) -> set[str]:
    """List all theories that a theory requires, directly or not."""
    return set(needs(theory)).union(*map(required, needs(theory)))


class Check:
    """Folder in which the theories are compiled, each once, by as many processes and threads as want them.

    Parameters
    ----------
    root : Path
        Where the Python files stand that are translated; this project, unless a test changes a copy.
    """

    def __init__(self, root: Path = ROOT):
        self.root = root
        self.folder = Path(tempfile.mkdtemp(prefix="rocq-"))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def compile(self, theory: str) -> str:
        """Compile a theory after what it requires, and return what Rocq says of its claims; raises Unproved or Refused."""
        import fcntl  # no part of Python for Windows, where all else must work

        for needed in needs(theory):
            self.compile(needed)
        said = self.folder / f"{theory}.said"
        with open(self.folder / f"{theory}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not said.exists():
                text = generated(self.root) if theory == GENERATED else theories()[theory]
                said.write_text(self.run(theory, text + questions(theory)), "utf8")
        return said.read_text("utf8")

    def run(self, theory: str, text: str) -> str:
        """Let Rocq compile a text, and return what it prints."""
        (self.folder / f"{theory}.v").write_text(text, "utf8")
        done = subprocess.run(
            [coqc() or "coqc", "-q", f"{theory}.v"],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=_limited,
        )
        if done.returncode == -signal.SIGXCPU:
            raise Unproved(f"{theory}.v: no proof within {TIME_LIMIT} s")
        if done.returncode:
            raise Unproved(explain(theory, text, done.stderr))
        return done.stdout

    def verdicts(self, theory: str) -> list[Verdict]:
        """Check the claims that a theory proves: each proof has the type of its claim, and rests on these axioms."""
        here = claims_of(theory)
        try:
            said = self.compile(theory)
        except (Unproved, Refused) as error:
            return [Verdict(claim, failure=str(error)) for claim in here]
        (axioms,) = axioms_of(said)
        return [Verdict(claim, axioms) for claim in here]

    def all(self) -> Iterator[Verdict]:
        """Check every claim, on two processors."""
        with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
            for verdicts in pool.map(self.verdicts, proving()):
                yield from verdicts


def _limited() -> None:
    """Let Rocq be ended by Ctrl-C in a worker, too, and by its time."""
    import resource  # no part of Python for Windows

    signal.signal(signal.SIGINT, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CPU, (TIME_LIMIT, TIME_LIMIT + 5))


def proving() -> list[str]:
    """List the theories that prove claims; those that require least come first, so that no worker waits for long."""
    return sorted({claim.theory for claim in claims()}, key=lambda theory: (len(required(theory)), theory))


def claims_of(theory: str) -> list[Claim]:
    """List the claims that a theory proves."""
    return [claim for claim in claims() if claim.theory == theory]


def questions(theory: str) -> str:
    """Ask, at the end of a theory, whether each proof has the type of its claim, and which axioms they rest on.

    All are asked for at once: for each answer Rocq walks through the library of the real numbers, for half a second.
    """
    names = [claim.name for claim in claims_of(theory)]
    if not names:
        return ""
    checked = [f"Definition {name}_checked : Statements.{name} := {name}_holds.\n" for name in names]
    together = ", ".join(f"{name}_checked" for name in names)
    return "".join([*checked, f"Definition all_checked := ({together}).\nPrint Assumptions all_checked.\n"])


def axioms_of(said: str) -> list[tuple[str, ...]]:
    """Read the answers to Print Assumptions: for each the names of the axioms, and lines that are no axiom as they are."""
    answers = re.split(r"^(?=Closed under the global context|Axioms:)", said, flags=re.MULTILINE)[1:]
    return [tuple(re.findall(r"^([^\s:]+)", answer.partition("\n")[2], re.MULTILINE)) for answer in answers]


def explain(theory: str, text: str, error: str) -> str:
    """Say which theorem of a theory fails, of which of the paper's labels, where and why."""
    where = re.search(r"line (\d+), characters", error)
    line = int(where[1]) if where else 0
    before = "\n".join(text.splitlines()[:line])
    names = re.findall(r"^(?:Theorem|Lemma|Corollary|Definition|Fixpoint|Let) (\w+)", before, re.MULTILINE)
    labels = re.findall(r"^\(\* \[([^\]]+)\]", before, re.MULTILINE)
    why = re.sub(r"^In environment.*? (?=The term|Unable|Cannot|Found|No )", "", " ".join(error.partition("Error:")[2].split()))
    of = f" ({labels[-1]})" if labels else ""
    return f"{theory}.v, line {line}: {names[-1] if names else theory}{of} is not proved: {why[:200]}"
