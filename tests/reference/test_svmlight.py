"""svmlight files: read to the bit, or refused by file, line and cause."""

import bz2
import gzip
import io
import re

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from reference import Problem
from reference.datasets import make_generic
from reference.svmlight import load_svmlight


def taken_without_a_copy(X):
    return np.shares_memory(Problem(X, np.ones(X.shape[0]), "squared", 1.0).X.data, X.data)


@pytest.mark.parametrize("zero_based", [False, True])
def test_load_reads_what_scikit_learn_writes(tmp_path, zero_based):
    X, y, _ = make_generic(30, 8, 3, seed=0, binary=False)
    path = tmp_path / "examples.svm"
    dump_svmlight_file(X, y, str(path), zero_based=zero_based)
    read = load_svmlight(path, n_features=8, zero_based=zero_based)
    # scikit-learn writes 16 digits
    np.testing.assert_allclose(read.X.toarray(), X.toarray(), rtol=1e-15)
    np.testing.assert_allclose(read.y, y, rtol=1e-15)
    assert read.vocabulary is None and read.X.indices.dtype == np.int32
    assert taken_without_a_copy(read.X)


def test_load_never_guesses_the_columns(tmp_path):
    path = tmp_path / "examples.svm"
    path.write_text("+1 1:2 3:0.5 # a comment\n-1\n")
    np.testing.assert_array_equal(load_svmlight(path).X.toarray(), [[2, 0, 0.5], [0, 0, 0]])
    np.testing.assert_array_equal(load_svmlight(path, zero_based=True).X.toarray(), [[0, 2, 0, 0.5], [0, 0, 0, 0]])
    assert load_svmlight(str(path), n_features=5).X.shape == (2, 5)
    for wrong in ({"zero_based": "auto"}, {"n_features": "3"}, {"n_features": 3.0}, {"n_features": True}):
        with pytest.raises(TypeError, match=f"{next(iter(wrong))}.*{next(iter(wrong.values()))}"):
            load_svmlight(path, **wrong)


@pytest.mark.parametrize("ending", ["", ".gz", ".bz2"])
@pytest.mark.parametrize("progress", [True, False])
def test_load_passes_over_blank_lines_comments_and_query_numbers(tmp_path, capsys, ending, progress):
    content = b"# a head\r\n\r\n+1 qid:3 1:2 3:0.5 # a comment_\r\n \t\n-1\n#\n1 2:-1e-3"
    path = tmp_path / f"examples.svm{ending}"
    path.write_bytes({"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}[ending](content))
    for read in (load_svmlight(path, progress=progress), load_svmlight(io.BytesIO(content))):
        np.testing.assert_array_equal(read.X.toarray(), [[2, 0, 0.5], [0, 0, 0], [0, -1e-3, 0]])
        np.testing.assert_array_equal(read.y, [1, -1, 1])
    assert capsys.readouterr().err == ""  # the bar waits for half a second


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize(("progress", "terminal", "shown"), [(None, True, True), (True, False, True), (False, True, False)])
def test_load_shows_the_bytes_read(tmp_path, monkeypatch, ending, progress, terminal, shown):
    import tqdm

    seen = []

    class Bar(tqdm.tqdm):
        def update(self, more=1):
            super().update(more)
            seen.append(self.n)

    monkeypatch.setattr("tqdm.tqdm", Bar)
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    path = tmp_path / f"examples.svm{ending}"
    path.write_bytes((gzip.compress if ending else bytes)(b"1 1:1\n" * 250))
    load_svmlight(path, progress=progress)
    if shown:
        assert seen == ([path.stat().st_size] * 2 if ending else [600, 1200])  # a short compressed file is read in one go
    else:
        assert set(seen) == {0}


@pytest.mark.parametrize("ending", ["", ".gz", ".bz2"])
@pytest.mark.parametrize(
    ("line", "arguments", "word"),
    [
        ("1 0:2", {}, "column 0"),  # the first column is 1
        ("1 -1:2", {"zero_based": True}, "-1"),
        ("1 1:2 3:4", {"n_features": 2}, "n_features = 2"),
        ("1 2:4", {"n_features": 2, "zero_based": True}, "n_features = 2"),
        ("1 1:2", {"n_features": 0}, "n_features = 0"),
        ("1 3:1 1:1", {}, "increase"),
        ("1 1:1 1:1", {}, "increase"),
        ("1 1:1 99999999999:1", {}, "2147483647"),
        ("1 1:1 2147483648:1", {}, "2147483647"),
        ("spam 1:1", {}, "spam"),
        ("unpack 1:1", {}, "b'unpack'"),
        ("1 1:x", {}, "x"),
        ("1 nan:1", {}, "whole number; got 'nan'"),
        ("1 1:1 2", {}, "column:value"),
        ("1 qid", {}, "column:value"),
        ("1 1:nan", {}, "a value is not a finite"),
        ("1 1:1 2:1e999", {}, "a value is not a finite"),
        ("-inf", {}, "label -inf"),
        ("nan 1:1", {}, "label nan"),
        ("1 1:1_0", {}, "'_'"),
        ("hello world", {}, "hello"),
        ("1 1:" + "x" * 999, {}, " …"),
    ],
)
def test_load_names_the_wrong_line(tmp_path, line, arguments, word, ending):
    content = f"# first\n\n1\n-1 # second\n \n{line}\n1 # the last one\n".encode()
    path = tmp_path / f"wrong.svm{ending}"
    path.write_bytes({"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}[ending](content))
    with pytest.raises(ValueError, match=rf"wrong\.svm{ending}', line 6: .*{re.escape(word)}") as caught:
        load_svmlight(path, **arguments)
    assert len(str(caught.value)) < 400
    with io.BytesIO(content) as file, pytest.raises(ValueError, match=r"'the file', line 6: "):
        load_svmlight(file, **arguments)


@pytest.mark.parametrize(
    ("content", "arguments", "words"),
    [
        ("1 1:1\nnan 1:1\n1 1:1\ninf 1:1\n", {}, "line 2: the label nan is"),
        ("1 1:1\n\n1 2:inf\n1 1:nan\n", {}, "line 3: a value is"),
        ("1 1:1\n1 3:1\n1 4:1\n", {"n_features": 2}, "line 2: a column is beyond"),
        ("", {}, "holds no example"),
        ("\n\n", {}, "holds no example"),
        ("# 1 1:1\n", {}, "holds no example"),
    ],
)
def test_load_names_the_first_of_several_wrong_lines_or_none(tmp_path, content, arguments, words):
    path = tmp_path / "wrong.svm"
    path.write_text(content)
    with pytest.raises(ValueError, match=rf"wrong\.svm'.*{words}"):
        load_svmlight(path, **arguments)


def test_load_refuses_a_missing_or_broken_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing"):
        load_svmlight(tmp_path / "missing.svm")
    whole = b"1 1:1\n" * 1000
    for name, content, where in (
        ("head.gz", b"\x1f\x8b\x08\x00", "line 1:"),
        ("plain.gz", whole, "line 1:"),
        ("cut.gz", gzip.compress(whole)[:-9], "line 1001:"),
        ("plain.bz2", whole, "line 1:"),
        ("cut.bz2", bz2.compress(whole)[:-9], "line"),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(ValueError, match=rf"{re.escape(name)}', {where}"):
            load_svmlight(path)


def test_load_does_not_read_a_line_without_end(tmp_path, monkeypatch):
    class Endless(io.BytesIO):
        def readline(self, size):
            return bytes(size)  # zeros, which take no memory until they are read

    with pytest.raises(ValueError, match="'the file', line 1: it has more than 250000000 bytes"):
        load_svmlight(Endless())
    monkeypatch.setattr("reference.svmlight.LONGEST", 1000)
    path = tmp_path / "endless.gz"
    path.write_bytes(gzip.compress(b"1 1:1\n1 " + b" " * 10**7))
    with pytest.raises(ValueError, match=r"endless\.gz', line 2: .*1000 bytes"):
        load_svmlight(path)
