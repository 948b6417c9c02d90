"""Course as a static site: whole, without answers, and run by the Python of a browser as far as registries reach."""

import json
import re
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from proofs.course import __main__ as program
from proofs.course import live


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("course") / "site"
    assert program.main(["site", str(folder)]) == 0
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
