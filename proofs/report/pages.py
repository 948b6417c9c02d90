"""Fill the templates of the pages with what the ledger, the paper, the sources and the notebooks say."""

import inspect
import platform
import re
from collections.abc import Iterator, Mapping
from datetime import date
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, NamedTuple

import sympy
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from efficient.runs.algorithms import ALGORITHMS
from reference import LOSSES

from ..board import cell, legend, rows
from ..course.live import title_of
from ..ledger import KINDS, Entry, versions
from ..paper import ERRATA, LABELS, LETTERS, SECTIONS
from ..proved.claims import CLAIMS
from ..proved.lines import LINES, RECOVERIES
from ..proved.proof import Proof
from .figures import Drawn
from .text import anchor, mathml, words

ROOT = Path(__file__).parents[2]
"""Folder of the three packages: a clone, or where a wheel is installed."""

HERE = Path(__file__).parent

PACKAGES = ("reference", "efficient", "proofs")

VERDICTS = {
    (True, True): ("holds", "✓", "holds", "the claim holds"),
    (False, False): ("refuted", "✗", "refuted, as expected", "the claim is false, as it should be, and the ledger shows it"),
    (False, True): ("wrong", "▲", "FAILS", "the claim should hold and does not"),
    (True, False): ("wrong", "▲", "HOLDS, against expectation", "the claim should be false and could not be refuted"),
}
"""By (holds, expected): the class of the mark, its shape, its words and what they mean."""

LONGEST = 400
"""Longest formula of a proof that is set, in characters of LaTeX; others are counted."""

SHOWN_STEPS = 12
"""Most steps of a proof that are set; those beyond repeat the same for other losses and branches."""


class Line(NamedTuple):
    """Line of a source that cites a label."""

    path: str
    number: int

    @property
    def href(self) -> str:
        return f"source/{self.path.removesuffix('.py')}.html#L-{self.number}"


def render(entries: list[Entry], drawn: list[Drawn], only: str | None) -> dict[str, str]:
    """Return the text of each page by its file name.

    Parameters
    ----------
    entries : list of Entry
        The ledger; an entry has here the number that it has in `proofs.json`, from 1.
    drawn : list of Drawn
        The pictures for it.
    only : str or None
        The label that the ledger is restricted to.
    """
    numbered: dict[str, list[tuple[int, Entry]]] = {label: [] for label in LABELS}
    for number, entry in enumerate(entries, start=1):
        numbered[entry.label].append((number, entry))
    numbered = {label: there for label, there in numbered.items() if there}
    claims: dict[str, dict[str, list[tuple[int, Entry]]]] = {label: {} for label in numbered}
    for label, there in numbered.items():
        for number, entry in there:
            claims[label].setdefault(entry.claim, []).append((number, entry))
    sections = {
        section: [label for label in numbered if LABELS[label].section == section and label not in ERRATA]
        for section in SECTIONS
    }
    sections = {section: labels for section, labels in sections.items() if labels}
    notebooks = {path.stem: title_of(path) for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals |= {
        "words": words,
        "math": mathml,
        "anchor": anchor,
        "page_of": page_of,
        "title": title,
        "verdicts": VERDICTS,
        "labels": LABELS,
        "errata": ERRATA,
        "claims": claims,
        "entries": entries,
        "sections": sections,
        "drawn": drawn,
        "only": only,
        "notebooks": notebooks,
        "guides": guides(),
    }

    def fill(name: str, **facts: Any) -> str:
        return environment.get_template(name).render(**facts)

    where = partial(cited, lines_by_label())
    made = {"index.md": fill("index.md", rows=rows(entries), cell=cell, legend=legend, kinds=KINDS)}
    for section, labels in sections.items():
        facts = {"proofs_of": proofs_of(labels), "steps_of": steps_of, "cited": where, "lines": lines_of, "losses": losses}
        made[f"{anchor(section)}.md"] = fill("section.md", section=section, here=labels, **facts)
    made["slips.md"] = fill("slips.md", slips=[label for label in numbered if label in ERRATA])
    made["glossary.md"] = fill("glossary.md", letters=LETTERS, vocabulary=vocabulary())
    made["course.md"] = fill("course.md")
    made["bench.md"] = fill("bench.md")
    for package in PACKAGES[:2]:
        made[f"api-{package}.md"] = fill("api.md", package=package, modules=list(modules_of(package)), lazy=lazy(package))
    about = {"today": date.today().isoformat(), "system": platform.platform(), "versions": versions()}
    made["reproduce.md"] = fill("reproduce.md", **about)
    return made


def title(label: str) -> str:
    """Name a label as the paper prints it, with a capital."""
    name = LABELS[label].printed or label
    return name[0].upper() + name[1:]


def page_of(label: str) -> str:
    """Address the place of a label: an erratum on the page of slips, others on the page of their section."""
    return f"{'slips' if label in ERRATA else anchor(LABELS[label].section)}.html#{anchor(label)}"


def proofs_of(labels: list[str]) -> dict[str, list[Proof]]:
    """Collect the proofs by equations of each label, each claim once."""
    found: dict[str, dict[str, Proof]] = {label: {} for label in labels}
    for module in CLAIMS.values():
        for each in getattr(module, "PROOFS", ()):
            if each.label in found:
                found[each.label].setdefault(each.claim, each)
    return {label: list(proofs.values()) for label, proofs in found.items()}


def steps_of(each: Proof) -> dict[str, Any]:
    """Return what a proof assumes, and its steps: the claim, and the formula, or nothing where the formula is too long."""
    assumed = inspect.getdoc(getattr(each.steps, "func", each.steps))
    steps = list(each.steps())
    shown = []
    for step in steps[:SHOWN_STEPS]:
        latex = " = ".join(sympy.latex(side, mul_symbol="dot") for side in (step.left, step.right))
        shown.append((step.claim, mathml(latex) if len(latex) <= LONGEST else ""))
    return {"assumed": assumed or "", "steps": shown, "count": len(steps)}


def losses() -> Iterator[tuple[str, ...]]:
    """Yield the name of each loss that has a formula, the formula and its derivative."""
    for name, loss in LOSSES.items():
        if loss.formula:
            yield name, *(mathml(sympy.latex(sympy.sympify(each)), "inline") for each in loss.formula)


def lines_of(label: str) -> list[tuple[str, str]]:
    """Set the pseudocode of an algorithm of the paper beside the shipped lines; nothing for other labels."""
    return [
        line
        for name, algorithm in ALGORITHMS.items()
        if label == algorithm.label and label.startswith("alg:")
        for line in (*LINES[name], *RECOVERIES[name])
    ]


def sources() -> Iterator[Path]:
    """List the modules of the three packages, relative to the folder that holds them."""
    for package in PACKAGES:
        yield from (path.relative_to(ROOT) for path in sorted((ROOT / package).rglob("*.py")))


def lines_by_label() -> dict[str, list[Line]]:
    """Find the lines that compute a label of the paper, cited in a comment, and those that begin its evidence."""
    found: dict[str, list[Line]] = {label: [] for label in LABELS}
    for path in sources():
        in_proofs = path.parts[0] == "proofs"
        for number, line in enumerate((ROOT / path).read_text("utf8").splitlines(), start=1):
            cited = CALLED.findall(line) if in_proofs else LABEL.findall(line.partition("#")[2])
            for label in dict.fromkeys(cited):
                if label in found:
                    found[label].append(Line(path.as_posix(), number))
    return found


LABEL, CALLED = re.compile(r"\b(?:eqn|alg|lem|tab):\w+|\bobCenterDef\b"), re.compile(r"""(?:@proof|Entry|Job)\(\(?"([^"]+)\"""")
"""Labels of the paper in a comment; labels under which evidence is given."""


def cited(lines: Mapping[str, list[Line]], label: str) -> dict[str, list[Line]]:
    """Sort the lines that cite a label by package."""
    by_package = {package: [line for line in lines[label] if line.path.startswith(f"{package}/")] for package in PACKAGES}
    return {package: there for package, there in by_package.items() if there}


APART = {"exam.md", "exam_solutions.md", "quiz_answers.md"}
"""Texts for lecturers alone, which are on no page that students read."""


def guides() -> list[str]:
    """List the texts of the rooms: their READMEs, and what stands beside those."""
    rooms = ("notebooks", *PACKAGES)
    return [
        path.relative_to(ROOT).as_posix()
        for room in rooms
        for path in sorted((ROOT / room).rglob("*.md"))
        if HERE not in path.parents and path.name not in APART
    ]


def vocabulary() -> list[list[str]]:
    """Read the project's words in CONTRIBUTING.md, which stands in a clone only."""
    file = ROOT / "CONTRIBUTING.md"
    table = file.read_text("utf8").partition("| word | means |")[2].partition("\n\n")[0] if file.is_file() else ""
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()[2:]]


def modules_of(package: str) -> Iterator[tuple[str, list[str]]]:
    """List the modules below a package that can be imported, and the public names that the package itself shows."""
    whole = import_module(package)
    for found in walk_packages(whole.__path__, f"{package}."):
        if not found.name.endswith("__main__"):
            yield found.name, list(whole.__all__)


def lazy(package: str) -> list[str]:
    """List the public names that a package imports when they are asked for, which autodoc does not see in it."""
    whole = import_module(package)
    return [name for name in whole.__all__ if name not in vars(whole)]
