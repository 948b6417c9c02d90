"""Test that the notebooks run from top to bottom, and that what is committed shows what the library computes."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbconvert import SlidesExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

FOLDER = Path(__file__).parents[2] / "notebooks"
COMMAND = FOLDER / "execute.py"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

_found = importlib.util.spec_from_file_location("execute", COMMAND)
execute = importlib.util.module_from_spec(_found)
_found.loader.exec_module(execute)


def run(*arguments):
    command = [sys.executable, str(COMMAND), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "MPLBACKEND": ""})


def written(folder, *cells, **metadata):
    path = folder / "one.ipynb"
    path.write_text(nbformat.writes(new_notebook(cells=list(cells), metadata=metadata)), "utf8")
    return path


@pytest.mark.nightly  # `.ci/run` checks all notebooks, in a step of its own
def test_notebooks_run_and_show_what_they_compute():
    done = run("--check")
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"{path.name}: executed" for path in NOTEBOOKS]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_committed_is_clean_and_makes_claims(path):
    notebook = execute.read(path)
    assert execute.faults(notebook) == []
    nbformat.validate(notebook)
    assert notebook.metadata == execute.KERNEL
    for heading in ("**Question.**", "## What would break it", "## Exercises", "## Further reading"):
        assert any(heading in cell.source for cell in notebook.cells if cell.cell_type == "markdown"), heading
    assert sum("assert " in cell.source for cell in notebook.cells if cell.cell_type == "code") > 3


def test_execute_false_claim_fails_and_is_named(tmp_path):
    path = written(tmp_path, new_code_cell("print(1)"), new_code_cell("assert 1 + 1 == 3, 'sums'"))
    before = path.read_bytes()
    done = run(path)
    assert done.returncode == 1
    assert "one.ipynb: a cell failed" in done.stderr and "AssertionError: sums" in done.stderr
    assert path.read_bytes() == before


@pytest.mark.nightly
def test_execute_twice_writes_the_same_and_check_sees_old_outputs(tmp_path):
    chatty = "import sys\nfor i in range(3):\n    print(i)\n    sys.stdout.flush()\n1 + 1"
    chatty = new_code_cell(chatty, metadata={"collapsed": True, "tags": ["kept"]})
    path = written(tmp_path, new_markdown_cell("text", metadata={"x": 1}), chatty, widgets={"state": {}})
    first = run(path)
    assert first.returncode == 0, first.stderr
    notebook, text = execute.read(path), path.read_bytes()
    assert notebook.metadata == execute.KERNEL
    below, goes_on = ({"slideshow": {"slide_type": place}} for place in ("subslide", "-"))
    assert [cell.metadata for cell in notebook.cells] == [below, {**goes_on, "tags": ["kept"]}]
    assert [output.output_type for output in notebook.cells[1].outputs] == ["stream", "execute_result"]
    assert notebook.cells[1].outputs[0].text == "0\n1\n2\n"
    assert run(path).returncode == 0
    assert path.read_bytes() == text
    notebook.cells[1].source = "print(2)"
    nbformat.write(notebook, path)
    done = run("--check", path)
    assert done.returncode == 1
    assert "its outputs are not those of its code" in done.stderr


@pytest.mark.parametrize("name", ["missing.ipynb", "execute.py"])
def test_execute_no_notebook_is_refused(name, capsys):
    with pytest.raises(SystemExit):
        execute.main([str(FOLDER / name)])
    assert name in capsys.readouterr().err


def executed(*outputs, count=1, source="1"):
    return new_code_cell(source, execution_count=count, outputs=list(outputs))


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        (executed(count=None), "were not executed"),
        (executed(count=2), "were not executed"),
        (executed(), "has no outputs"),
        (executed(new_output("error", ename="E", evalue="no")), "ends in E: no"),
        (executed(new_output("stream", name="stderr", text="hm")), "warns: hm"),
        (executed(new_output("stream", text="/home/me/x")), "'/home/'"),
        (executed(source="open('/tmp/x')"), "'/tmp/'"),
        (executed(new_output("display_data", {"text/plain": "<A at 0x7f0012ab>"})), " at 0x7f0012"),
        (executed(new_output("display_data", {"image/png": "A" * execute.LARGEST})), "draw smaller pictures"),
        (executed(new_output("display_data", {"image/png": "A"})), "picture without words"),
    ],
)
def test_faults_finds_what_a_reader_must_not_see(cell, said):
    assert any(said in fault for fault in execute.faults(new_notebook(cells=[cell])))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_a_talk_with_words_for_its_pictures(path):
    notebook = execute.read(path)
    places = [cell.metadata.slideshow.slide_type for cell in notebook.cells]
    assert places.count("slide") > 4 and places[0] == "slide"
    body, _ = SlidesExporter(template_name="talk", extra_template_basedirs=[str(FOLDER)]).from_notebook_node(notebook)
    sections, pictures = body.count("<section"), re.findall(r"<img[^>]*>", body)
    assert sections >= places.count("slide") + places.count("subslide")
    assert all('alt="Picture: ' in each for each in pictures)
    text = "".join(cell.source for cell in notebook.cells)
    assert 1 <= text.count("<details>") == text.count("</details>") == text.count("<summary>")


def test_faults_clean_notebook_has_none():
    cell = executed(new_output("execute_result", {"text/plain": "1"}, execution_count=1))
    assert execute.faults(new_notebook(cells=[new_markdown_cell("text"), cell])) == []
