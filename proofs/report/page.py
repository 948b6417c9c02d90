"""Render the ledger by section of the paper as one HTML document; a link is made only to what is there."""

import base64
import platform
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from html import escape
from pathlib import Path
from string import Template
from xml.etree.ElementTree import fromstring

import sympy
from latex2mathml.converter import convert

from efficient.runs.algorithms import ALGORITHMS
from reference import LOSSES

from ..ledger import KINDS, Entry, versions
from ..paper import ERRATA, LABELS, SECTIONS
from ..proved.lines import LINES, RECOVERIES
from .figures import Drawn

VERDICTS = {
    (True, True): ("holds", "●", "the claim holds"),
    (False, False): ("refuted", "◇", "the claim is false, it was expected to be, and the ledger shows it"),
    (False, True): ("wrong", "▲", "the claim should hold and does not"),
    (True, False): ("wrong", "▲", "the claim should be false and could not be refuted"),
}
"""By (holds, expected): the class of the mark, its shape, and what the verdict means."""

MACROS = {
    r"\ow": r"\overline{\mathbf{w}}",
    r"\ob": r"\overline{b}",
    r"\ox": r"\overline{\mathbf{x}}",
    r"\bw": r"\mathbf{w}",
    r"\bv": r"\mathbf{v}",
    r"\bu": r"\mathbf{u}",
}
"""The paper's macros, and what they stand for."""

Numbered = list[tuple[int, Entry]]


def build(entries: list[Entry], drawn: list[Drawn], only: str | None = None) -> str:
    """Render the whole page.

    Parameters
    ----------
    entries : list of Entry
        The ledger; an entry has here the number that it has in `proofs.json`, from 1.
    drawn : list of Drawn
        The pictures for it.
    only : str, optional
        The label that the ledger is restricted to.
    """
    by_label: dict[str, Numbered] = {label: [] for label in LABELS}
    for number, entry in enumerate(entries, start=1):
        by_label[entry.label].append((number, entry))
    by_label = {label: there for label, there in by_label.items() if there}
    errata = [label for label in by_label if label in ERRATA]
    contents, sections = [link("in-short", "In short")], [_in_short(entries, drawn, only)]
    for section in SECTIONS:
        labels = [label for label in by_label if LABELS[label].section == section and label not in ERRATA]
        if not labels:
            continue
        under = (f"<li>{link(label, f'{_title(label)}: {LABELS[label].words}')}</li>" for label in labels)
        contents.append(f"{link(section, section)}\n<ul>{''.join(under)}</ul>")
        here = [link(label, label) for label in errata if LABELS[label].section == section]
        remarks = f"<p>Errata and remarks here: {', '.join(here)}.</p>" if here else ""
        sections.append(_section(section, section, remarks, *(_block(label, by_label, drawn) for label in labels)))
    if errata:
        contents.append(link("errata", "Errata and remarks"))
        rows = (
            (link(each.name, each.name), *map(words, (each.kind, each.where, each.printed, each.holds)))
            for each in ERRATA.values()
            if each.name in by_label
        )
        heads = ("id", "kind", "where", "as printed", "what holds")
        table = _table("Where the paper prints something else, or more needs to be said", heads, rows)
        sections.append(_section("errata", "Errata and remarks", table, *(_block(label, by_label, drawn) for label in errata)))
    contents.append(link("reproduce", "Versions and how to reproduce"))
    sections.append(_reproduce(only))
    template = Template((Path(__file__).parent / "page.html").read_text("utf8"))
    items = "\n".join(f"<li>{item}</li>" for item in contents)
    return template.substitute(contents=items, sections="\n".join(sections))


def _in_short(entries: list[Entry], drawn: list[Drawn], only: str | None) -> str:
    """Count the entries by kind and verdict, and name those that are not as expected."""
    wrong = [(number, entry) for number, entry in enumerate(entries, start=1) if not entry.as_expected]
    score = {
        "entries in the ledger": len(entries),
        "as expected": len(entries) - len(wrong),
        "mutants": sum(entry.mutants for entry in entries),
        "of these refuted": sum(entry.refuted for entry in entries),
    }
    parts = [f"<div><dt>{what}</dt><dd>{number:,}</dd></div>" for what, number in score.items()]
    blocks = [f'<dl class="score">{"".join(parts)}</dl>']
    if only:
        blocks.append(f"<p>The ledger on this page is restricted to the label <code>{escape(only)}</code>.</p>")
    if wrong:
        rows = (f"<li>{link(f'entry-{n}', _title(each.label))}: {words(each.claim)} {_verdict(each)}</li>" for n, each in wrong)
        blocks.append(f"<p>Not as expected:</p>\n<ul>{''.join(rows)}</ul>")
    if drawn:
        links = ", ".join(link(f"picture-{each.picture.name}", each.picture.title) for each in drawn)
        blocks.append(f"<p>Pictures: {links}.</p>")
    kinds: dict[str, list[Entry]] = {kind: [] for kind in KINDS}
    for entry in entries:
        kinds[entry.kind].append(entry)
    verdicts = ((True, True), (False, False))
    rows_of_kinds = (
        (
            f'<span class="kind">{kind}</span>',
            KINDS[kind],
            len(here),
            *(sum((entry.holds, entry.expected) == each for entry in here) for each in verdicts),
            sum(not entry.as_expected for entry in here),
        )
        for kind, here in kinds.items()
        if here
    )
    heads = ("kind", "what it is", "entries", "hold", "refuted, as expected", "not as expected")
    blocks.append(_table("Entries by kind of evidence", heads, rows_of_kinds))
    shown = {(entry.holds, entry.expected): entry for entry in entries}
    items = (f"<li>{_verdict(shown[case])}: {VERDICTS[case][2]}</li>" for case in VERDICTS if case in shown)
    return _section("in-short", "In short", *blocks, f"<p>A verdict has a shape and a word.</p>\n<ul>{''.join(items)}</ul>")


def _block(label: str, by_label: dict[str, Numbered], drawn: list[Drawn]) -> str:
    """Render a label: what it says, the evidence for it, and its pictures."""
    facts = LABELS[label]
    code = f" <code>{label}</code>" if facts.printed else ""
    blocks = [f'<h3 id="{anchor(label)}">{_title(label)} <span class="name">{words(facts.words)}</span>{code}</h3>']
    blocks += [f'<div class="formula">{mathml(latex)}</div>' for latex in facts.latex]
    there = [link(each, each) for each in facts.errata if each in by_label]
    if there:
        blocks.append(f'<p class="soft">The print differs: see {", ".join(there)}.</p>')
    if label == "tab:losses":
        rows = (
            (name, *(mathml(sympy.latex(sympy.sympify(each)), "inline") for each in loss.formula))
            for name, loss in LOSSES.items()
            if loss.formula
        )
        caption = "The losses and their derivatives, with the element that is picked at a kink"
        blocks.append(_table(caption, ("loss", "ℓ(p, y)", "ℓ'(p, y)"), rows))
    blocks.append(_evidence(label, by_label[label]))
    blocks += [_figure(each) for each in drawn if each.picture.label == label]
    for name, algorithm in ALGORITHMS.items():
        if label == algorithm.label and label.startswith("alg:"):
            lines = ((words(paper), f"<code>{escape(line)}</code>") for paper, line in (*LINES[name], *RECOVERIES[name]))
            blocks.append(_table(f"{_title(label)}, line by line", ("the paper", "the shipped code"), lines))
    return "\n".join(blocks)


def _evidence(label: str, entries: Numbered) -> str:
    """Tabulate the entries under a label: one of a kind in a line, several that claim the same under their claim."""
    claims: dict[str, Numbered] = {}
    for number, entry in entries:
        claims.setdefault(entry.claim, []).append((number, entry))
    bodies = []
    for claim, here in claims.items():
        several = len(here) > 1
        rows = [f'<tr class="claim"><th scope="rowgroup" colspan="4">{words(claim)}</th></tr>'] if several else []
        for number, entry in here:
            about = escape(", ".join(part for part in (entry.data, entry.algorithm, entry.loss) if part))
            single = words(claim) + (f' <span class="soft">({about})</span>' if about else "")
            rest = entry.by.removeprefix(entry.kind)
            rows.append(
                f'<tr id="entry-{number}" class="{"instance" if several else "single"}">'
                f'<th scope="row">{(about or f"entry {number}") if several else single}</th>'
                f'<td class="evidence"><span class="kind">{entry.kind}</span>{words(rest)}</td>'
                f'<td class="figure">{words(entry.figure)}</td><td class="verdict">{_verdict(entry)}</td></tr>'
            )
        bodies.append("\n".join(rows))
    caption = f"{anchor(label)}-evidence"
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("claim", "evidence", "figure", "verdict"))
    body = "".join(f"<tbody>\n{rows}\n</tbody>" for rows in bodies)
    head = f'<caption id="{caption}">Evidence: {_title(label)}</caption><thead><tr>{heads}</tr></thead>'
    return _scrolling(f'<table class="claims">{head}{body}</table>', caption)


def _figure(drawn: Drawn) -> str:
    """Render a picture, and the numbers of a bench as text."""
    picture, place = drawn.picture, f"picture-{drawn.picture.name}"
    sides = fromstring(drawn.svg).attrib
    size = " ".join(f'{side}="{float(sides[side].removesuffix("pt")):.0f}"' for side in ("width", "height"))
    source = f"data:image/svg+xml;base64,{base64.b64encode(drawn.svg).decode()}"
    image = f'<img src="{source}" alt="{escape(picture.alternative)}" {size}>'
    caption = f'<figcaption id="{place}-caption">{words(picture.caption)}</figcaption>'
    numbers = f"<pre>{escape(chr(10).join(drawn.lines))}</pre>" if drawn.lines else ""
    return f'<figure id="{place}">{_scrolling(image, f"{place}-caption")}{caption}</figure>\n{numbers}'


def _reproduce(only: str | None) -> str:
    command = "python -m proofs.report DIR" + (f" --only {escape(only)}" if only else "")
    return _section(
        "reproduce",
        "Versions and how to reproduce",
        f"<p>Made on {date.today().isoformat()} on {escape(platform.platform())}, by</p><pre><code>{command}</code></pre>",
        '<p>The entries are in <a href="proofs.json">proofs.json</a> for machines, in the order of their numbers. One label '
        "alone is computed again and printed by <code>python -m proofs --only LABEL</code>; the proofs are read in full, step "
        "by step, with <code>python -m proofs.proved</code>.</p>",
        _table("Versions", ("package", "version"), versions().items()),
    )


def anchor(label: str) -> str:
    """Make the id of a heading."""
    return re.sub(r"[^\w-]+", "-", label)


def link(label: str, text: str) -> str:
    """Link to a heading or an entry of the page."""
    return f'<a href="#{anchor(label)}">{words(text)}</a>'


PARTS = re.compile(
    r"`(?P<code>[^`]+)`"
    r"|(?P<base>(?<![A-Za-z_])[^\W\d_][\u0302\u0304]*'?|Σ)_(?P<sub>\{[^}]*\}|\([^)]*\)|π?(?:[A-Za-z]|\d+)(?![A-Za-z_]))"
    r"|\^(?P<sup>\{[^}]*\}|-?\w+)"
)


def words(text: str) -> str:
    """Set the ledger's plain text: `x` is code, w_t and Σ_{j<=t} have subscripts, 2^T a superscript, <= and >= are one sign."""
    made, begin = "", 0
    for found in PARTS.finditer(text):
        made += _signs(text[begin : found.start()] + (found["base"] or ""))
        if found["code"]:
            made += f"<code>{escape(found['code'], quote=False)}</code>"
        else:
            tag = "sub" if found["sub"] else "sup"
            made += f"<{tag}>{_signs((found['sub'] or found['sup']).strip('{}()'))}</{tag}>"
        begin = found.end()
    return made + _signs(text[begin:])


def _signs(text: str) -> str:
    return escape(text.replace("<=", "≤").replace(">=", "≥"), quote=False)


def mathml(latex: str, display: str = "block") -> str:
    """Convert a formula to a `math` element, without a namespace: a page in HTML needs none."""
    for macro, meaning in MACROS.items():
        latex = latex.replace(macro, meaning)
    return convert(latex, display=display).replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "")


def _title(label: str) -> str:
    """Name a label as the paper prints it, with a capital."""
    name = LABELS[label].printed or label
    return name[0].upper() + name[1:]


def _verdict(entry: Entry) -> str:
    kind, shape, _ = VERDICTS[entry.holds, entry.expected]
    return f'<span class="{kind}"><span aria-hidden="true">{shape}</span> {entry.verdict}</span>'


def _section(label: str, title: str, *blocks: str) -> str:
    inside = "\n".join(block for block in blocks if block)
    return f'<section aria-labelledby="{anchor(label)}"><h2 id="{anchor(label)}">{title}</h2>\n{inside}\n</section>'


def _table(caption: str, heads: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Tabulate rows of HTML; the first cell of a row is its head, and numbers stand right."""

    def cells() -> Iterator[str]:
        for head, *others in rows:
            values = "".join(
                f'<td class="number">{each}</td>' if isinstance(each, int) else f"<td>{each}</td>" for each in others
            )
            yield f'<tr><th scope="row">{head}</th>{values}</tr>'

    place = anchor(f"table {caption}")
    top = "".join(f'<th scope="col">{head}</th>' for head in heads)
    head = f'<caption id="{place}">{caption}</caption><thead><tr>{top}</tr></thead>'
    return _scrolling("<table>" + head + "<tbody>\n" + "\n".join(cells()) + "\n</tbody></table>", place)


def _scrolling(wide: str, caption: str) -> str:
    """Let what is wider than a narrow screen scroll in its place, by the keyboard too."""
    return f'<div class="scroll" role="region" tabindex="0" aria-labelledby="{caption}">{wide}</div>'
