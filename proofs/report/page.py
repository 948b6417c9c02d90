"""The page: the ledger by section of the paper, as one HTML document that loads nothing."""

import base64
import platform
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, fromstring

from ..ledger import Entry, versions
from ..paper import ERRATA, LABELS, SECTIONS
from ..proved.lines import LINES, RECOVERIES
from .elements import add, document, element, words
from .figures import Drawn
from .formulas import LOSSES, mathml

KINDS = {
    "proved": (
        ("for all", "unrolled", "on the shipped code"),
        "in symbols, by two provers that must agree; every mutant of a formula must be refuted",
    ),
    "exact": (("exact",), "in rational arithmetic, compared with ==, or decided by a prover; nothing is rounded"),
    "counted": (("counted",), "entries touched by the shipped code, one by one, on arrays that count"),
    "read": (("read",), "the shipped code held against the pseudocode, line by line"),
    "mutants": (
        ("mutants",),
        "the shipped code with one token changed, in every place: each such program must be refuted",
    ),
    "measured": (("measured",), "in floating point, held against a bound or over several seeds"),
    "other": (("",), "see there"),
}
"""The kinds of evidence: how the ledger's words for it begin, and what it is."""

VERDICTS = {
    (True, True): ("holds", "●", "the claim holds"),
    (False, False): ("refuted", "◇", "the claim is false, it was expected to be, and the ledger shows it"),
    (False, True): ("wrong", "▲", "the claim should hold and does not"),
    (True, False): ("wrong", "▲", "the claim should be false and could not be refuted"),
}
"""By (holds, expected): the class of the mark, its shape, and what the verdict means."""

PSEUDOCODE = {"alg:sgd": "sgd", "alg:asgd": "asgd", "alg:casgd": "casgd"}


def build(entries: list[Entry], drawn: list[Drawn], only: str | None, seconds: float) -> str:
    """The whole page.

    Parameters
    ----------
    entries : list of Entry
        The ledger; an entry has here the number that it has in `proofs.json`, from 1.
    drawn : list of Drawn
        The pictures for it.
    only : str or None
        The label that the ledger is restricted to, if it is.
    seconds : float
        How long all this took.
    """
    return document(_Page(entries, drawn).whole(only, seconds))


class _Page:
    """What is on the page, and where it is: a link is made only to what is there."""

    def __init__(self, entries: list[Entry], drawn: list[Drawn]):
        self.entries, self.drawn = entries, drawn
        self.by_label: dict[str, list[tuple[int, Entry]]] = {label: [] for label in LABELS}
        for number, entry in enumerate(entries, start=1):
            self.by_label[entry.label].append((number, entry))
        present = [label for label in LABELS if self.by_label[label]]
        self.slips = [label for label in ERRATA if label in present]
        self.sections = {
            section: [label for label in present if label not in ERRATA and LABELS[label].section == section]
            for section in SECTIONS
        }

    def whole(self, only: str | None, seconds: float) -> Element:
        return element(
            "html",
            _head(),
            element(
                "body",
                element("a", "Skip to the ledger", class_="skip", href="#main"),
                element(
                    "header",
                    element("h1", "Linear learning with sparse data: the evidence"),
                    element(
                        "p",
                        "Ofer Dekel's paper ",
                        element("cite", "Linear Learning with Sparse Data"),
                        " (",
                        element("a", "arXiv:1612.09147", href="https://arxiv.org/abs/1612.09147"),
                        ") trains linear predictors by averaged stochastic gradient descent without touching a dense vector in "
                        "a step. This page shows, claim by claim, that its sparse algorithms are the dense definitions, "
                        "computed at a lower cost.",
                    ),
                ),
                element(
                    "div",
                    self.contents(),
                    element("main", *self.parts(only, seconds), id="main", tabindex="-1"),
                    class_="columns",
                ),
            ),
            lang="en-GB",
        )

    def contents(self) -> Element:
        items = [element("li", _link("in-short", "In short"))]
        for section, labels in self.sections.items():
            if labels:
                under = (element("li", _link(anchor(label), f"{_title(label)}: {_name(label)}")) for label in labels)
                items.append(element("li", _link(anchor(section), section), element("ul", *under)))
        if self.slips:
            items.append(element("li", _link("slips", "Slips and remarks")))
        items.append(element("li", _link("reproduce", "Versions and how to reproduce")))
        return element("nav", element("h2", "Contents", id="contents"), element("ul", *items), aria_labelledby="contents")

    def parts(self, only: str | None, seconds: float) -> Iterator[Element]:
        yield self.in_short(only)
        for section, labels in self.sections.items():
            if labels:
                slips = [slip for slip in self.slips if LABELS[slip].section == section]
                yield element(
                    "section",
                    element("h2", section, id=anchor(section)),
                    *(
                        [element("p", "Slips and remarks here: ", *_listed(_link(slip, slip) for slip in slips), ".")]
                        if slips
                        else []
                    ),
                    *(block for label in labels for block in self.block(label)),
                    aria_labelledby=anchor(section),
                )
        if self.slips:
            yield self.of_slips()
        yield self.reproduce(only, seconds)

    def in_short(self, only: str | None) -> Element:
        wrong = [(number, entry) for number, entry in enumerate(self.entries, start=1) if not entry.as_expected]
        kinds: dict[str, list[Entry]] = {kind: [] for kind in KINDS}
        for entry in self.entries:
            kinds[kind_of(entry)].append(entry)
        rows = [
            (
                element("span", kind, class_="kind"),
                KINDS[kind][1],
                len(here),
                sum(entry.holds and entry.as_expected for entry in here),
                sum(not entry.holds and entry.as_expected for entry in here),
                sum(not entry.as_expected for entry in here),
            )
            for kind, here in kinds.items()
            if here
        ]
        score = [
            ("entries in the ledger", len(self.entries)),
            ("as expected", len(self.entries) - len(wrong)),
            ("mutants", sum(entry.mutants for entry in self.entries)),
            ("of these refuted", sum(entry.refuted for entry in self.entries)),
        ]
        section = element(
            "section",
            element("h2", "In short", id="in-short"),
            element(
                "dl",
                *(element("div", element("dt", what), element("dd", f"{number:,}")) for what, number in score),
                class_="score",
            ),
            aria_labelledby="in-short",
        )
        if only:
            section.append(element("p", "The ledger on this page is restricted to the label ", element("code", only), "."))
        if wrong:
            section.append(element("p", "Not as expected:"))
            section.append(element("ul", *(
                element("li", _link(f"entry-{number}", _title(entry.label)), ": ", *words(entry.claim), " ", _verdict(entry))
                for number, entry in wrong
            )))  # fmt: skip
        if self.drawn:
            links = (_link(f"picture-{each.picture.name}", each.picture.title) for each in self.drawn)
            section.append(element("p", "Pictures: ", *_listed(links), "."))
        section.append(
            _table(
                "Entries by kind of evidence",
                ("kind", "what it is", "entries", "hold", "refuted, as expected", "not as expected"),
                rows,
            )
        )
        section.append(element("p", "A verdict has a shape and a word."))
        shown = {(entry.holds, entry.expected): entry for entry in self.entries}
        section.append(
            element(
                "ul", *(element("li", _verdict(entry), ": ", VERDICTS[case][2]) for case, entry in sorted(shown.items())[::-1])
            )
        )
        return section

    def block(self, label: str) -> Iterator[Element]:
        """A label of the paper: what it says, the evidence for it, and its pictures."""
        yield _heading(label, _name(label))
        for latex in LABELS[label].latex:
            yield _formula(latex)
        there = [slip for slip in LABELS[label].errata if slip in self.slips]
        if there:
            yield element("p", "The print differs: see ", *_listed(_link(slip, slip) for slip in there), ".", class_="soft")
        if label == "tab:losses":
            yield _losses()
        yield self.evidence(label)
        for each in self.drawn:
            if each.picture.label == label:
                yield from _figure(each)
        if label in PSEUDOCODE:
            yield _pseudocode(label)

    def evidence(self, label: str) -> Element:
        """The entries under a label: one of a kind in a line, several that claim the same under their claim."""
        table = element(
            "table",
            element("caption", f"Evidence: {_title(label)}", id=f"{anchor(label)}-evidence"),
            element(
                "thead",
                element("tr", *(element("th", head, scope="col") for head in ("claim", "evidence", "figure", "verdict"))),
            ),
            class_="claims",
        )
        for claim, group in groupby(
            sorted(self.by_label[label], key=lambda pair: self.first(pair[1])), lambda pair: pair[1].claim
        ):
            listed = list(group)
            body = element("tbody")
            if len(listed) > 1:
                body.append(element("tr", element("th", *words(claim), scope="rowgroup", colspan="4"), class_="claim"))
            for _, same in groupby(listed, lambda pair: pair[1].evidence):
                rows = list(same)
                for place, (number, entry) in enumerate(rows):
                    body.append(_row(number, entry, len(listed) > 1, 0 if place else len(rows)))
            table.append(body)
        return _scrolling(table, f"{anchor(label)}-evidence")

    def first(self, entry: Entry) -> int:
        """Where its claim is first made."""
        return next(number for number, other in self.by_label[entry.label] if other.claim == entry.claim)

    def of_slips(self) -> Element:
        table = _table(
            "Where the paper prints something else, or more needs to be said",
            ("id", "kind", "where", "as printed", "what holds"),
            [
                (
                    _link(slip.name, slip.name),
                    slip.kind,
                    *(list(words(text)) for text in (slip.where, slip.printed, slip.holds)),
                )
                for slip in ERRATA.values()
                if slip.name in self.slips
            ],
        )
        section = element("section", element("h2", "Slips and remarks", id="slips"), table, aria_labelledby="slips")
        for slip in ERRATA.values():
            if slip.name in self.slips:
                section.append(_heading(slip.name, _name(slip.name)))
                section.append(self.evidence(slip.name))
        return section

    def reproduce(self, only: str | None, seconds: float) -> Element:
        command = "python -m proofs.report DIR" + (f" --only {only}" if only else "")
        return element(
            "section",
            element("h2", "Versions and how to reproduce", id="reproduce"),
            element("p", f"Computed on {date.today().isoformat()} in {seconds:.0f} seconds, on {platform.platform()}, by"),
            element("pre", element("code", command)),
            element(
                "p",
                "The entries are in ",
                element("a", "proofs.json", href="proofs.json"),
                " for machines, in the order of their numbers. One label alone is computed again and printed by ",
                element("code", "python -m proofs --only LABEL"),
                "; the proofs are read in full, step by step, with ",
                element("code", "python -m proofs.proved"),
                ".",
            ),
            _table("Versions", ("package", "version"), list(versions().items())),
            aria_labelledby="reproduce",
        )


def kind_of(entry: Entry) -> str:
    """The kind of its evidence."""
    return next(kind for kind, (begins, _) in KINDS.items() if entry.evidence.startswith(begins))


def anchor(label: str) -> str:
    """The id of a heading."""
    return label.replace(":", "-").replace(" ", "-")


def _head() -> Element:
    style = (Path(__file__).parent / "style.css").read_text("utf8")
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", "Linear learning with sparse data: the evidence"),
        element("style", style),
    )


def _title(label: str) -> str:
    """What the paper calls it."""
    name = LABELS[label].title.partition(" (")[0]
    return name[0].upper() + name[1:]


def _name(label: str) -> str:
    return LABELS[label].words


def _heading(label: str, name: str) -> Element:
    heading = element("h3", _title(label), " ", element("span", *words(name), class_="name"), id=anchor(label))
    if LABELS[label].printed:
        add(heading, " ", element("code", label))
    return heading


def _formula(latex: str) -> Element:
    return element("div", mathml(latex), class_="formula")


def _link(anchor: str, text: str) -> Element:
    return element("a", text, href=f"#{anchor}")


def _listed(elements: Iterable[Element]) -> list[Element | str]:
    return [part for each in elements for part in (", ", each)][1:]


def _verdict(entry: Entry) -> Element:
    kind, shape, _ = VERDICTS[entry.holds, entry.expected]
    return element("span", element("span", shape, aria_hidden="true"), f" {entry.verdict}", class_=kind)


def _row(number: int, entry: Entry, several: bool, span: int) -> Element:
    """The row of an entry; its evidence stands there for so many rows, and not at all if `span` is 0."""
    about = ", ".join(part for part in (entry.data, entry.algorithm, entry.loss) if part)
    if several:
        head: list[Element | str] = [about or ("in general" if kind_of(entry) == "proved" else f"entry {number}")]
    else:
        head = [*words(entry.claim), *((" ", element("span", f"({about})", class_="soft")) if about else ())]
    kind = kind_of(entry)
    rest = entry.evidence.removeprefix(kind) if entry.evidence.startswith(kind) else f" {entry.evidence}"
    evidence = element("td", element("span", kind, class_="kind"), *words(rest), class_="evidence", rowspan=span)
    return element(
        "tr",
        element("th", *head, scope="row"),
        *([evidence] if span else []),
        element("td", *words(entry.figure), class_="figure"),
        element("td", _verdict(entry), class_="verdict"),
        id=f"entry-{number}",
        class_="instance" if several else "single",
    )


def _table(caption: str, heads: tuple[str, ...], rows: Sequence[Sequence]) -> Element:
    """A table; the first cell of a row is its head, and numbers stand right."""
    numbers = [all(re.fullmatch(r"[\d.,]+|not timed", str(row[place])) for row in rows) for place in range(len(heads))]
    looks = [{"class_": "number"} if number else {} for number in numbers]
    place = anchor(f"table {caption}").replace(",", "")
    table = element(
        "table",
        element("caption", caption, id=place),
        element(
            "thead", element("tr", *(element("th", head, scope="col", **look) for head, look in zip(heads, looks, strict=True)))
        ),
    )
    body = element("tbody")
    for row in rows:
        cells = [cell if isinstance(cell, list) else [cell] for cell in row]
        first, *others = zip(cells, looks, strict=True)
        head = element("th", *first[0], scope="row", **first[1])
        body.append(element("tr", head, *(element("td", *cell, **look) for cell, look in others)))
    table.append(body)
    return _scrolling(table, place)


def _scrolling(wide: Element, caption: str) -> Element:
    """What is wider than a narrow screen scrolls in its place, by the keyboard too."""
    return element("div", wide, class_="scroll", role="region", tabindex="0", aria_labelledby=caption)


def _losses() -> Element:
    rows = [(name, mathml(value, "inline"), mathml(slope, "inline")) for name, (value, slope) in LOSSES.items()]
    heads = ("loss", "ℓ(p, y)", "ℓ'(p, y)")
    return _table("The losses and their derivatives, with the element that is picked at a kink", heads, rows)


def _pseudocode(label: str) -> Element:
    name = PSEUDOCODE[label]
    rows = [(list(words(paper)), element("code", line)) for paper, line in (*LINES[name], *RECOVERIES[name])]
    return _table(f"{_title(label)}, line by line", ("the paper", "the shipped code"), rows)


def _figure(drawn: Drawn) -> Iterator[Element]:
    """The picture, and its numbers as a table where a bench has measured them."""
    picture = drawn.picture
    svg = fromstring(drawn.svg)
    width, height = (round(float(svg.attrib[side].removesuffix("pt"))) for side in ("width", "height"))
    data = base64.b64encode(drawn.svg).decode()
    image = element("img", src=f"data:image/svg+xml;base64,{data}", alt=picture.alternative, width=width, height=height)
    place = f"picture-{picture.name}"
    caption = element("figcaption", element("strong", f"{picture.title}. "), *words(picture.caption), id=f"{place}-caption")
    yield element("figure", _scrolling(image, f"{place}-caption"), caption, id=place)
    if drawn.results:
        yield {"speed": _speeds, "scaling": _exponents}[picture.name](drawn.results)


def _speeds(results: dict[str, Any]) -> Element:
    timed = {(entry["set"], entry["order"], entry["contestant"]): entry["ns_per_entry"] for entry in results["timings"]}
    places = list(dict.fromkeys((name, order) for name, order, _ in timed))
    rows = []
    for contestant in dict.fromkeys(name for *_, name in timed):
        ns = [timed.get((*place, contestant)) for place in places]
        rows.append((contestant, *(f"{each['median']:.2f}" if each else "not timed" for each in ns)))
    caption = f"Medians of nanoseconds for a stored entry visited, one thread of {results['machine']['processor']}"
    return _table(caption, ("contestant", *(f"{name}, {order}" for name, order in places)), rows)


def _exponents(results: dict[str, Any]) -> Element:
    rows = [
        (
            f"{entry['algorithm']}, {entry['part']}",
            what,
            entry["variable"],
            f"{entry['x'][0]:,} to {entry['x'][-1]:,}",
            f"{round(entry['last_exponent'], 2) + 0.0:.2f}",
            "none" if entry["tends_to"] is None else str(entry["tends_to"]),
        )
        for curves, what in (("curves", "seconds"), ("counts", "entries"))
        for entry in results[curves]
    ]
    heads = ("what", "unit", "against", "from … to", "exponent of the last decade", "claimed for large values")
    return _table("Exponents of the cost", heads, rows)
