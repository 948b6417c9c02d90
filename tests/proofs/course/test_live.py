"""Course as a static site: whole, without answers, and run by the Python of a browser as far as registries reach."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import threading
import zipfile
from email.parser import Parser
from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from jupyterlite_pyodide_kernel.constants import PYODIDE_VERSION

from proofs.course import __main__ as program
from proofs.course import live
from proofs.paper import LABELS

PYODIDE = f"pyodide@{PYODIDE_VERSION}"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder, before = tmp_path_factory.mktemp("course") / "site", os.listdir()
    assert program.main(["site", str(folder)]) == 0
    assert os.listdir() == before and os.listdir(folder.parent) == ["site"]  # no program leaves files of its own
    return folder


def dead_links(folder: Path, page: str) -> list[str]:
    """List the links of a start page that lead to no notebook of the site."""
    paths = re.findall(r'href="notebooks/index\.html\?path=([^"]+)"', page)
    return ["none"] if not paths else [path for path in paths if not (folder / "files" / path).is_file()]


def test_start_page_leads_to_every_notebook(made):
    page = (made / "index.html").read_text("utf8")
    assert dead_links(made, page) == []
    assert page.count("?path=") == len(list((made / "files").rglob("*.ipynb"))) == 14
    assert (made / "notebooks" / "index.html").is_file()
    listed = json.loads((made / "api" / "contents" / "exercises" / "all.json").read_text("utf8"))["content"]
    assert {each["path"] for each in listed} == {f"exercises/{path.name}" for path in live.NOTEBOOKS.glob("exercises/*.ipynb")}
    assert dead_links(made, page.replace("01_sgd", "01_sdg")) == ["01_sdg.ipynb"]
    assert dead_links(made, "") == ["none"]


def test_exercises_of_the_site_have_no_answers(made):
    sources = [path.read_text("utf8") for path in (live.NOTEBOOKS / "exercises").glob("*.ipynb")]
    students = [path.read_text("utf8") for path in (made / "files" / "exercises").glob("*.ipynb")]
    for word in ("### BEGIN SOLUTION", "### BEGIN HIDDEN TESTS"):
        assert any(word in text for text in sources)
        assert not any(word in text for text in students)
    assert all("raise NotImplementedError()" in text and "%pip install" in text for text in students)
    assert not [path for path in made.rglob("*") if re.search(r"solution|answers|exam", path.name)]


def absent(code: str) -> list[str]:
    """List the packages that code imports and no browser has."""
    return re.findall(r"^\s*(?:import|from) (numba|llvmlite|z3|flint|dask)\b", code, re.M)


def test_notebooks_that_run_import_what_browsers_have(made):
    for path in [*(made / "files" / "exercises").glob("*.ipynb"), *(made / "files" / f"{name}.ipynb" for name in live.RUNS)]:
        cells = json.loads(path.read_text("utf8"))["cells"]
        assert not [each for cell in cells if cell["cell_type"] == "code" for each in absent("".join(cell["source"]))], path
    assert absent("import numpy\n    from z3 import Real") == ["z3"]


def test_wheel_of_the_site_asks_a_browser_for_no_numba(made):
    (wheel,) = (made / "pypi").glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        (about,) = [packed.read(name).decode() for name in names if name.endswith("dist-info/METADATA")]
    assert {"reference/sgd.py", "efficient/sgd.py", "proofs/course/questions.py"} <= set(names)
    needed = Parser().parsestr(about).get_all("Requires-Dist")
    (numba,) = [each for each in needed if each.startswith("numba")]
    assert 'sys_platform != "emscripten"' in numba.replace("'", '"')
    assert json.loads((made / "pypi" / "all.json").read_text("utf8"))["casgd"]["releases"]


@pytest.mark.parametrize(("there", "argument"), [("mine.txt", "DIR"), (None, "--pyodide")])
def test_unusable_folder_is_refused_and_left_alone(there, argument, tmp_path, capsys):
    folder = tmp_path / "site"
    folder.mkdir()
    if there:
        (folder / there).write_text("mine")
    with pytest.raises(SystemExit, match="2"):
        program.main(["site", str(folder), *([] if there else ["--pyodide", str(tmp_path)])])
    assert f"error: {argument} must be" in capsys.readouterr().err
    assert [path.name for path in tmp_path.rglob("*")] == ["site", *([there] if there else [])]


# in a browser; NumPy's build for browsers is in no registry that tests may ask, so what runs is pure Python

CHROMIUM = shutil.which("chromium")
KERNEL = ("micropip", "ipython", "jedi", "sympy")
"""Packages of a Pyodide distribution that its kernel needs, and sympy; with what they need."""


@pytest.fixture(scope="module")
def distribution(tmp_path_factory):
    """Make a Pyodide distribution of pure Python packages, from npm and PyPI; skip where they cannot be had."""
    if shutil.which("npm") is None or CHROMIUM is None:
        pytest.skip("there is no npm, or no Chromium")
    folder = tmp_path_factory.mktemp("pyodide")
    fetched = subprocess.run(["npm", "pack", "--silent", PYODIDE], cwd=folder, capture_output=True, text=True, check=False)
    if fetched.returncode:
        pytest.skip(f"npm has no {PYODIDE}: {fetched.stderr[-200:]}")
    with tarfile.open(folder / fetched.stdout.strip()) as packed:
        packed.extractall(folder, filter="data")
    folder /= "package"
    lock = json.loads((folder / "pyodide-lock.json").read_text("utf8"))
    wanted = list(KERNEL)
    for name in wanted:
        needed = [each.replace("_", "-") for each in lock["packages"][name]["depends"]]
        wanted += [each for each in needed if each not in wanted]
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--python-version", "3.14"]
    pins = [f"{name}=={lock['packages'][name]['version']}" for name in wanted]
    if subprocess.run([*pip, "--dest", str(folder), *pins], capture_output=True, check=False).returncode:
        pytest.skip("PyPI cannot be reached")
    for name in wanted:  # Pyodide packs its wheels anew
        entry = lock["packages"][name]
        (wheel,) = folder.glob(f"{name.replace('-', '_')}-{entry['version']}-*.whl")
        entry |= {"file_name": wheel.name, "sha256": sha256(wheel.read_bytes()).hexdigest()}
    (folder / "pyodide-lock.json").write_text(json.dumps(lock), "utf8")
    return folder


@contextlib.contextmanager
def served(folder):
    """Serve a folder on this machine, and open a page of Chromium; yields the address, the page and what it asks for."""
    from playwright.sync_api import sync_playwright

    handler = partial(type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *_: None}), directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
            page, asked = browser.new_page(), []
            page.on("request", lambda request: asked.append(urlsplit(request.url)))
            yield f"http://127.0.0.1:{server.server_port}/", page, asked
            browser.close()
    finally:
        server.shutdown()
        server.server_close()


def run_in(page, code: str) -> str:
    """Write code in place of that of the first cell, run it, and return what is shown below it."""
    cell = page.locator(".jp-CodeCell").first
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(code)
    before = cell.locator(".jp-InputPrompt").inner_text()
    page.keyboard.press("Control+Enter")
    page.wait_for_function(
        """before => { const now = document.querySelector(".jp-CodeCell .jp-InputPrompt").innerText;
                       return now !== before && /\\d/.test(now) }""",
        arg=before,
        timeout=180_000,
    )
    shown = cell.locator(".jp-OutputArea-output")
    shown.first.wait_for(timeout=10_000)
    return shown.first.inner_text()


@pytest.mark.nightly
def test_notebook_runs_python_and_the_wheel_in_a_browser_without_a_network(distribution, tmp_path):
    live.build(tmp_path / "site", distribution)
    with served(tmp_path / "site") as (address, page, asked):
        page.goto(address)
        page.click("text=SGD that touches only what a row stores")
        first = page.locator(".jp-CodeCell").first
        first.filter(has_text="%pip install --quiet casgd").wait_for(timeout=60_000)
        assert "emscripten 3.14" in run_in(page, "import sys; print(sys.platform, sys.version)")
        install = "import piplite\nawait piplite.install(['casgd', 'sympy'], deps=False)\nfrom proofs.paper import LABELS"
        assert run_in(page, f"{install}\nprint(len(LABELS), 'labels')").strip() == f"{len(LABELS)} labels"
        step = "(1 - 1/t)*w - g*x/t - (w*(t - 1) - g*x)/t"
        lemma = f"import sympy\nw, g, x, t = sympy.symbols('w g x t')\nprint(sympy.expand({step}))"
        assert run_in(page, lemma).strip() == "0"
        assert "proofs.course needs numpy" in run_in(page, "import proofs.course")
    assert {each.hostname for each in asked if each.scheme.startswith("http")} == {"127.0.0.1"}
    assert any(each.path.endswith("/pypi/casgd-0.2.0-py3-none-any.whl") for each in asked)


@pytest.mark.nightly
def test_site_without_a_distribution_asks_the_network_for_python(made):
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    with served(made) as (address, page, asked):
        failed = page.expect_event("requestfailed", lambda request: request.url.endswith("/pyodide.mjs"), timeout=90_000)
        with failed:
            page.goto(f"{address}notebooks/index.html?path=01_sgd.ipynb")
            page.wait_for_selector("text=[1, 0] 0 F = 5/6", timeout=60_000)
            shown = page.locator(".jp-OutputArea", has_text="F = 5/6").first.inner_text()
            assert "\n[1, 0] 0 F = 5/6" in shown  # on a line of its own
    assert {each.hostname for each in asked if each.scheme.startswith("http")} == {"127.0.0.1", "cdn.jsdelivr.net"}
