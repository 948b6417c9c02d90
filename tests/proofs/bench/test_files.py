"""Programs from text to a model: every one is held against its rows, a wrong or missing one is not timed."""

import sys
from pathlib import Path

import numpy as np
import pytest

from efficient.cli.model_file import load_model
from efficient.estimators.linear import CASGDClassifier
from efficient.reading.svmlight import load_svmlight
from proofs.bench import files, tables
from proofs.bench.files import Program, end_to_end, programs, write_text
from reference.datasets import make_text

SIZE = (300, 2_000, 20)


def by_name(records):
    return {record["program"]: record for record in records}


@pytest.fixture
def few(monkeypatch):
    """Run our own program, a liar, one that fails and one that is not installed."""

    def chosen(folder, m):
        ours = next(each for each in programs(folder, m) if each.name == "casgd train")._replace(environment={})
        yield ours
        yield ours._replace(name="liar", predict=lambda path, rows: -ours.predict(path, rows))
        yield Program("broken", [sys.executable, "-c", "print('no such rows'); raise SystemExit(3)"], ours.predict)
        yield Program("missing", [""], ours.predict)

    monkeypatch.setattr(files, "programs", chosen)


@pytest.mark.usefixtures("few")
def test_wrong_broken_and_missing_programs_are_not_timed():
    found = by_name(end_to_end(2, SIZE))
    assert {name: record["status"] for name, record in found.items()} == {
        **{"casgd train": "timed", "liar": "refused"},
        **{"broken": "not available", "missing": "not available"},
    }
    assert len(found["casgd train"]["seconds"]) == 2 and min(found["casgd train"]["seconds"]) > 0
    assert "larger class" in found["liar"]["why"] and "no such rows" in found["broken"]["why"]
    results = {"file": SIZE, "files": list(found.values()), "file_targets": list(tables.judged_files(found.values()))}
    text = "\n".join(tables.of_files(results))
    assert "casgd train / a second" in text and "missing" in text and "refused: its model errs" in text


def test_stages_and_model_are_those_of_the_command_line(tmp_path):
    data = make_text(*SIZE, seed=0)
    write_text(data, tmp_path / "q.svm")
    weights = []
    for program in programs(tmp_path, SIZE[0]):
        if program.name in ("casgd train", "efficient, by stages"):
            _, stages = files._run(program._replace(environment={}), tmp_path)
            weights.append(load_model(str(tmp_path / "model")).predictors[0].w)
    assert list(stages) == ["start of Python", "import", "read", "first call", "train", "write"]
    np.testing.assert_array_equal(*weights)
    X, y, _ = load_svmlight(tmp_path / "q.svm")
    fitted = CASGDClassifier(alpha=files.LAM, n_epochs=1, random_state=0).fit(X, y)
    np.testing.assert_array_equal(fitted.coef_[0], weights[0])


def test_text_is_read_back_in_both_forms(tmp_path: Path):
    data = make_text(*SIZE, seed=0)
    for bar, name in (("", "q.svm"), ("| ", "q.vw")):
        write_text(data, tmp_path / name, bar)
        (tmp_path / name).write_text((tmp_path / name).read_text().replace("|", ""))
        X, y, _ = load_svmlight(tmp_path / name, n_features=SIZE[1])
        np.testing.assert_array_equal(y, data.y)
        np.testing.assert_allclose(X.toarray(), data.X.toarray(), rtol=1e-6)
