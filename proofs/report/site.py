"""Build the site with Sphinx, from the filled templates, the docstrings, the notebooks and the sources."""

import errno
import inspect
import json
import os
import re
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from docutils.nodes import SkipNode
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from ..course import live
from ..ledger import Entry, to_json
from ..pictures.alternative import image_alternative
from .figures import Drawn
from .pages import HERE, ROOT, guides, render, sources
from .text import mathml

POLICY = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'self' file: data: 'unsafe-inline'\">"
"""Sent in every page: the browser loads nothing from elsewhere."""

LISTING = "site.txt"
"""File that lists the others of a site, so that the next one can remove those that it no longer has."""


def build(folder: Path, entries: list[Entry], drawn: list[Drawn], only: str | None) -> None:
    """Build the site beside the old one in the folder, then put it in its place.

    Until the last moment the old site is whole; files of others in the folder are left alone.
    """
    with tempfile.TemporaryDirectory(prefix=".site-", dir=folder) as work:
        source, made = Path(work, "source"), Path(work, "made")
        _write_source(source, entries, drawn, only)
        with patch_docutils(None), docutils_namespace():
            app = Sphinx(
                source, None, made, Path(work, "doctrees"), "html", confoverrides=CONFIGURATION, status=None, warning=sys.stderr
            )
            app.build()
        if (ROOT / "notebooks").is_dir():
            live.build(made / "live")
        (made / "proofs.json").write_text(to_json(entries), "utf8")
        (made / ".buildinfo").unlink(missing_ok=True)
        names = sorted(path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file())
        (made / LISTING).write_text("\n".join([*names, LISTING, ""]), "utf8")
        old = folder / LISTING
        listed = old.read_text("utf8", errors="replace").split("\n")[:-1] if old.is_file() else ()
        for name in set(listed) - {*names, LISTING}:
            if _inside(folder, name) and (folder / name).is_file():
                (folder / name).unlink()
        for name in (*names, LISTING):
            if not _inside(folder, name):
                raise OSError(errno.ELOOP, "a link leads to another folder; remove it", str((folder / name).parent))
        for name in (*names, LISTING):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(made / name, folder / name)


def _inside(folder: Path, name: str) -> bool:
    """Tell whether the file would stand in the folder, and not behind a link that leads elsewhere."""
    return (folder / name).parent.resolve().is_relative_to(folder.resolve())


def _write_source(source: Path, entries: list[Entry], drawn: list[Drawn], only: str | None) -> None:
    """Write what Sphinx reads: the pages, the READMEs of the rooms with their pictures, and the notebooks."""
    (source / "_static").mkdir(parents=True)
    shutil.copy(HERE / "site.css", source / "_static")
    for each in drawn:
        (source / "_static" / f"{each.picture.name}.svg").write_bytes(each.svg)
    for name, text in render(entries, drawn, only).items():
        (source / name).write_text(text, "utf8")
    for name in guides():
        text = (ROOT / name).read_text("utf8")
        _put(source / name, LINK.sub(partial(_kept, (ROOT / name).parent), text))
        for picture in re.findall(r"!\[[^]]*\]\(([^)]+)\)", text):
            file = (ROOT / name).parent / picture
            if file.is_file():
                (source / name).parent.joinpath(picture).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, (source / name).parent / picture)
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        notebook = json.loads(path.read_text("utf8"))
        for cell in notebook["cells"]:
            cell["metadata"]["mystnb"] = {"image": {"alt": image_alternative("".join(cell["source"]))}}
            if cell["cell_type"] == "markdown":
                cell["source"] = "".join(cell["source"]).replace("](exercises/)", "](README.md#the-exercises)")
        _put(source / "notebooks" / path.name, json.dumps(notebook))


LINK = re.compile(r"(?<!!)\[([^]]+)\]\((?!https?:|#)([^)#]+)[^)]*\)")
"""Link of Markdown to a file or a folder."""


def _kept(folder: Path, link: re.Match) -> str:
    """Return a link to a page as it is, and of others, such as files of a clone, the words alone."""
    target = Path(os.path.relpath(folder / link[2], ROOT)).as_posix()
    return link[0] if target in guides() else link[1]


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf8")


def source_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Make a page of each source, with a place to link to at every line."""
    formatter = HtmlFormatter(linenos="inline", lineanchors="L", anchorlinenos=True, wrapcode=True)
    for path in sources():
        code = highlight((ROOT / path).read_text("utf8"), PythonLexer(), formatter)
        body = f'<div class="source-page"><h1>{path.as_posix()}</h1>{code}</div>'
        yield f"source/{path.with_suffix('').as_posix()}", {"title": path.as_posix(), "body": body}, "page.html"


def linkcode_resolve(domain: str, info: dict[str, str]) -> str | None:
    """Address the source of an object of the API."""
    try:
        found: Any = import_module(info["module"])
        for name in info["fullname"].split("."):
            found = getattr(found, name)
        found = inspect.unwrap(getattr(found, "fget", found))
        path = Path(inspect.getsourcefile(found) or "").relative_to(ROOT)
        return f"source/{path.with_suffix('').as_posix()}.html#L-{inspect.getsourcelines(found)[1]}"
    except (AttributeError, TypeError, OSError, ValueError, ImportError):
        return None  # a constant, or of another package


def mark_sections(app, what, name, obj, options, lines: list[str]) -> None:
    """Make fields of the paragraphs `Paper:` and `Cost:`, below the first paragraph: no section of NumPy's style fits them.

    A module says nothing in NumPy's sections: a paragraph of its with aligned columns is set as it is.
    """
    text = "\n".join(lines).replace("|", r"\|")  # absolute values, not substitutions
    text = re.sub(r"\b(\w+)_ (?!:)", r"\1\\_ ", text)  # an attribute, not a link
    fields = re.findall(r"^(Paper|Cost): (.+(?:\n.+)*?)(?=\n(?:Paper|Cost):|\n\n|\n?\Z)", text, re.M)
    if fields:
        text = re.sub(r"^(Paper|Cost): .+(?:\n.+)*?(?=\n(?:Paper|Cost):|\n\n|\n?\Z)", "", text, flags=re.M).rstrip()
        first, _, rest = text.partition("\n\n")
        about = "\n".join(f":{name}: {' '.join(said.split())}" for name, said in fields)
        text = f"{first}\n\n{about}\n\n{rest}\n"
    if what == "module":
        text = "\n\n".join(
            "::\n\n" + textwrap.indent(each, "    ") if re.search(r"\S {2,}\S", each) else each for each in text.split("\n\n")
        )
    lines[:] = text.split("\n")


def visit_math(translator, node) -> None:
    """Write inline mathematics as MathML."""
    translator.body.append(mathml(node.astext(), "inline"))
    raise SkipNode


def visit_math_block(translator, node) -> None:
    """Write a displayed formula as MathML."""
    translator.body.append(f'<div class="formula">{mathml(node.astext())}</div>')
    raise SkipNode


def add_policy(app, pagename, templatename, context, doctree) -> None:
    """Put the policy into the head of a page."""
    context["metatags"] = context.get("metatags", "") + POLICY


def setup(app: Sphinx) -> dict[str, bool]:
    """Register what is ours with Sphinx."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    app.connect("html-collect-pages", source_pages)
    app.connect("html-page-context", add_policy)
    app.connect("autodoc-process-docstring", mark_sections, priority=100)
    app.add_css_file("site.css", priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


CONFIGURATION: dict[str, Any] = {
    "project": "Linear learning with sparse data",
    "html_title": "Linear learning with sparse data",
    "extensions": ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.linkcode", __name__],
    "html_theme": "furo",
    "html_static_path": ["_static"],
    "html_math_renderer": "mathml",
    "html_copy_source": False,
    "html_show_copyright": False,
    "html_show_sphinx": False,
    "default_role": "code",
    "language": "en",
    "linkcode_resolve": linkcode_resolve,
    "autodoc_member_order": "bysource",
    "autodoc_typehints": "none",
    "napoleon_google_docstring": False,
    "myst_enable_extensions": ["dollarmath", "amsmath"],
    "myst_heading_anchors": 3,
    "nb_execution_mode": "off",
    "nb_ipywidgets_js": {},
}
"""Configuration of Sphinx and its extensions."""
