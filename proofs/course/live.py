"""Build the course as a static site whose notebooks run in the browser: JupyterLite, with Python compiled to WebAssembly.

The site holds the lectures with their outputs, the exercises as students get them, and the wheel of the project. Python itself,
NumPy, SciPy and the other packages come from the network at the first run, or from a copy of the Pyodide distribution.
"""

import html
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
"""Folder of the three packages: a clone, or where a wheel is installed."""

NOTEBOOKS = ROOT / "notebooks"

RUNS = {"01_sgd", "03_centring", "05_proofs", "interactive"}
"""Notebooks that run in the browser, but for cells that need more; the others are there to be read."""

FIRST = """\
# In the browser, run this cell first: it fetches Python's packages, some 60 MB, and this course.
# Loops run as plain Python here, since numba has no build for browsers: nothing below is a measure of speed.
%pip install --quiet casgd sympy matplotlib ipywidgets"""

BESIDE = ("comm", "ipywidgets", "jupyterlab_widgets")
"""Packages that notebooks need and a Pyodide distribution lacks."""

PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The course, live</title>
<script id="jupyter-config-data" type="application/json" data-jupyter-lite-root=".">{{}}</script>
<style>
body {{ font: 1.05rem/1.5 system-ui, sans-serif; max-width: 42rem; margin: 2rem auto; padding: 0 1rem; }}
@media (prefers-color-scheme: dark) {{ body {{ background: #131416; color: #ddd; }} a {{ color: #8ab4f8; }} }}
</style>
<main>
<h1>The course, live in the browser</h1>
<p>Nothing is installed. {source} Run the first cell of a notebook first, and allow it a minute. What you write is kept in this
browser; download your exercise from the menu “File” to hand it in.</p>
<p>The pages need a web server, not a file: <code>python3 -m http.server</code> in the folder of the site is one.</p>
<h2>Exercises</h2>
<p>Each test gives its marks below its cell, in the same interpreter as your answers: there is no limit of time, so restart the
kernel if an answer does not end. Some tests are hidden; they are run on what you hand in.</p>
<ul>
{exercises}
</ul>
<h2>Lectures that run</h2>
<p>The algorithms, the pictures, sympy and the sliders, which need seconds for a move, run here. The second prover (z3), the
certificates (python-flint) and the proof assistant (Rocq) have no build for browsers: their cells say so. Read their outputs
before you run all.</p>
<ul>
{runs}
</ul>
<h2>Lectures to read</h2>
<ul>
{others}
</ul>
</main>
</html>
"""

FROM_NETWORK = "Python and its packages come from the network (cdn.jsdelivr.net, pypi.org) at the first run, some 60 MB."
FROM_SITE = "Python and its packages come from this site."


def build(folder: Path, pyodide: Path | None = None) -> None:
    """Write the site into a folder, which is made if there is none, whole or not at all.

    Parameters
    ----------
    folder : Path
    pyodide : Path, optional
        Folder of a Pyodide distribution, with `pyodide.mjs`, to be copied into the site, which then needs no network. What it
        lacks is fetched by pip now.

    Raises
    ------
    ValueError
        No clone, a folder that has files, or no distribution.
    """
    if not (NOTEBOOKS.is_dir() and (ROOT / "pyproject.toml").is_file()):
        raise ValueError("the course must be built in a clone, which has the notebooks; this is an installed package")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"DIR must be empty, or not there yet; got {str(folder)!r}. Remove it, or choose another")
    if pyodide is not None and not (pyodide / "pyodide.mjs").is_file():
        raise ValueError(f"--pyodide must be the folder of a Pyodide distribution, with pyodide.mjs; got {str(pyodide)!r}")
    import jupyterlite_pyodide_kernel  # noqa: F401  # before the work; the program finds it by itself
    from hatchling.builders.wheel import WheelBuilder

    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".site-", dir=folder.parent) as work:
        lite, made = Path(work, "lite").resolve(), Path(work, "made").resolve()
        (lite / "files" / "exercises").mkdir(parents=True)
        list(WheelBuilder(str(ROOT)).build(directory=str(lite / "pypi"), versions=["standard"]))
        handed_out = Path(work, "handed_out")
        _run(str(NOTEBOOKS / "exercises" / "make.py"), "student", str(handed_out))
        for path in handed_out.glob("*.ipynb"):
            _write_notebook(path, lite / "files" / "exercises")
        for path in NOTEBOOKS.glob("*.ipynb"):
            _write_notebook(path, lite / "files")
        if pyodide is not None:
            shutil.copytree(pyodide, lite / "static" / "pyodide")
            _run("-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", str(lite / "pypi"), *BESIDE)
        command = ["-m", "jupyterlite_core", "build", "--apps", "notebooks", "--apps", "tree", "--no-sourcemaps"]
        _run(*command, "--contents", "files", "--output-dir", str(made), there=lite)  # it leaves files where it runs
        (made / "index.html").write_text(_start_page(lite / "files", pyodide is not None), "utf8")
        if folder.exists():
            folder.rmdir()
        made.rename(folder)


def _run(*arguments: str, there: Path | None = None) -> None:
    """Run a program of Python, in a folder; what it prints is shown if it fails."""
    done = subprocess.run([sys.executable, *arguments], cwd=there, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments[:3])} failed:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")


def _write_notebook(path: Path, folder: Path) -> None:
    """Write a notebook for the browser's kernel; one that runs there gets a first cell that fetches what it needs."""
    notebook = json.loads(path.read_text("utf8"))
    notebook["metadata"]["kernelspec"] = {"name": "python", "display_name": "Python (Pyodide)", "language": "python"}
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):  # JupyterLite shows lines of a list with commas between them
            for texts in (output, output.get("data", {})):
                texts |= {kind: "".join(text) for kind, text in texts.items() if kind.startswith("text")}
    if path.stem in RUNS or folder.name == "exercises":
        notebook["cells"].insert(1, _code_cell(FIRST))
    (folder / path.name).write_text(json.dumps(notebook, ensure_ascii=False), "utf8")


def _code_cell(source: str) -> dict[str, Any]:
    lines = source.splitlines(keepends=True)
    return {"cell_type": "code", "id": "browser", "metadata": {}, "execution_count": None, "outputs": [], "source": lines}


def _start_page(files: Path, is_whole: bool) -> str:
    """Make the page that links to all notebooks."""
    lectures = sorted(files.glob("*.ipynb"))
    return PAGE.format(
        source=FROM_SITE if is_whole else FROM_NETWORK,
        exercises=_links(files, sorted((files / "exercises").glob("*.ipynb"))),
        runs=_links(files, (path for path in lectures if path.stem in RUNS)),
        others=_links(files, (path for path in lectures if path.stem not in RUNS)),
    )


def _links(files: Path, paths: Iterable[Path]) -> str:
    return "\n".join(
        f'<li><a href="notebooks/index.html?path={path.relative_to(files).as_posix()}">{html.escape(title_of(path))}</a></li>'
        for path in paths
    )


def title_of(notebook: Path) -> str:
    """Read the heading of a notebook."""
    text = "".join(json.loads(notebook.read_text("utf8"))["cells"][0]["source"])
    return text.splitlines()[0].lstrip("# ")
