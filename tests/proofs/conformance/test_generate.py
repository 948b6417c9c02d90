"""Generate the vectors: the stored files are the definitions', byte for byte."""

import shutil

import pytest

from proofs.conformance import generate
from proofs.conformance.cases import VECTORS

pytestmark = pytest.mark.nightly  # all files are made anew; the default run holds `reference` to the stored ones


@pytest.fixture(scope="module")
def made():
    """All files as the generator writes them now."""
    return dict(generate.vectors())


def test_generate_check_of_the_stored_files_passes(made, monkeypatch, capsys):
    monkeypatch.setattr(generate, "vectors", lambda: iter(made.items()))
    assert generate.main(["--check"]) == 0
    assert capsys.readouterr().out == "20 vector files are what the definitions give\n"


def test_generate_check_of_an_edited_digit_names_its_line(made, monkeypatch, capsys, tmp_path):
    shutil.copytree(VECTORS, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "csgd-log.json"
    lines = path.read_text("utf8").split("\n")
    place = next(i for i, line in enumerate(lines) if '"id": "csgd-log-five-rows"' in line)
    edited = next(i for i in range(place, len(lines)) if '"decimal": "-0.3' in lines[i])
    lines[edited] = lines[edited].replace('"decimal": "-0.3', '"decimal": "-0.4', 1)
    path.write_text("\n".join(lines), "utf8")
    monkeypatch.setattr(generate, "vectors", lambda: iter(made.items()))
    assert generate.main(["--check"], tmp_path) == 1
    said = capsys.readouterr().out
    assert said.startswith(f"csgd-log.json, line {edited + 1} (csgd-log-five-rows): stored is ")
    assert said.count("\n") == 1


def test_differences_names_missing_and_extra_files(made, tmp_path):
    shutil.copytree(VECTORS, tmp_path, dirs_exist_ok=True)
    (tmp_path / "sgd-log.json").rename(tmp_path / "sgd-huber.json")
    found = list(generate.differences(made, tmp_path))
    assert found == ["sgd-huber.json: stored, but not generated", "sgd-log.json: generated, but not stored"]


def test_generate_writes_its_files_only(made, monkeypatch, tmp_path):
    monkeypatch.setattr(generate, "vectors", lambda: iter(made.items()))
    assert generate.main([], tmp_path) == 0
    assert {file.relative_to(tmp_path).as_posix(): file.read_bytes().decode() for file in tmp_path.rglob("*.json")} == made
