"""Files of examples: all kinds give the same rows, and a wrong one is refused in a line that names it."""

import bz2
import gzip
import io
import os
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from efficient.reading import examples
from efficient.reading.examples import Examples, check_memory, read_examples, read_rows
from reference.datasets import load_spam

CSR = {"data": np.ones(2), "indices": np.array([0, 1]), "indptr": np.array([0, 1, 2]), "shape": np.array([2, 2])}


def npz(**arrays):
    """Archive of a matrix of two rows with some arrays replaced, or left out if None."""
    content = io.BytesIO()
    np.savez(content, **{name: array for name, array in (CSR | arrays).items() if array is not None})
    return content.getvalue()


@pytest.mark.usefixtures("casgd")
def test_read_examples_of_every_kind_of_file_gives_the_same(mails):
    text = mails.read_bytes()
    X, y, _ = load_spam()
    X, y = X[::5], y[::5]
    Path("a.svm.gz").write_bytes(gzip.compress(text))
    Path("a.svm.bz2").write_bytes(bz2.compress(text))
    Path("crlf").write_bytes(b"# by hand\r\n\r\n" + text.replace(b"\n", b" # mail\r\n").rstrip())
    Path("qid.svm").write_bytes(re.sub(rb"(?m)^(\S+)", rb"\1 qid:7", text))
    dump_svmlight_file(X, y, "zero.svm", zero_based=True)
    np.savez("a.npz", data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=y)
    for name, form in (("csr", sp.csr_array), ("csc", sp.csc_matrix), ("coo", sp.coo_array), ("int", lambda X: X.astype("i2"))):
        sp.save_npz(f"{name}.npz", form(X))
    np.save("y.npy", y.astype(np.int8))
    np.savetxt("y.txt", y)
    for path, zero_based, labels in (
        *((name, False, None) for name in (str(mails), "a.svm.gz", "a.svm.bz2", "crlf", "qid.svm", "a.npz")),
        ("zero.svm", True, None),
        ("csr.npz", False, "y.npy"),
        *((f"{name}.npz", True, "y.txt") for name in ("csr", "csc", "coo", "int")),
    ):
        read = read_examples(path, zero_based, labels)
        assert (read.name, read.X.dtype, read.y.dtype) == (path, np.float64, np.float64)
        assert read.X.shape == X.shape and (read.X != X).nnz == 0
        np.testing.assert_array_equal(read.y, y)
        assert (read_rows(path, zero_based)[1] != X).nnz == 0


def test_command_reads_standard_input(works, mails):
    works("train", mails, "-o", "file.model", "--epochs", 1)
    works("train", "-", "-o", "stdin.model", "--epochs", 1, stdin=mails.read_bytes())
    assert Path("stdin.model").read_bytes() == Path("file.model").read_bytes()
    assert works("predict", "file.model", "-", stdin=mails.read_bytes()) == works("predict", "file.model", mails)


def test_command_numbers_columns_as_the_model_says(works, fails):
    Path("zero.svm").write_text("1 0:1\n-1 1:1\n")
    Path("one.svm").write_text("1 1:1\n-1 2:1\n")
    fails(1, ["'zero.svm', line 1", "column 0", "--zero-based"], "train", "zero.svm", "-o", "a.model")
    works("train", "zero.svm", "-o", "zero.model", "--zero-based")
    works("train", "one.svm", "-o", "one.model")
    for name in ("zero", "one"):
        assert works("predict", f"{name}.model", f"{name}.svm") == "1\n-1\n"
    fails(1, ["'zero.svm', line 1", "column 0"], "predict", "one.model", "zero.svm")
    fails(2, ["--zero-based"], "predict", "one.model", "zero.svm", "--zero-based")


@pytest.mark.parametrize("ending", ["", ".gz", ".bz2"])
@pytest.mark.parametrize("line", ["spam 1:1", "1 1:1 2", "1 2:1 2:1", "1 1000000000000:1", "1 1:nan", "nan 1:1", "1 \udcff:1"])
def test_command_names_a_bad_line(fails, line, ending):
    text = f"# first\n\n1 1:1\n-1 2:1 # second\n{line}\n1 1:1\n".encode(errors="surrogateescape")
    Path(f"bad.svm{ending}").write_bytes({"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}[ending](text))
    fails(1, [f"'bad.svm{ending}', line 5: "], "train", f"bad.svm{ending}", "-o", "a.model")
    assert not Path("a.model").exists()


def test_command_names_a_bad_line_of_standard_input(fails, monkeypatch):
    fails(1, ["<stdin>", "line 3"], "sweep", "-", stdin=b"1 1:1\n\n-1 1:nan\n")
    monkeypatch.setattr("sys.stdin", None)
    fails(1, ["standard input is closed"], "sweep", "-")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.svm", b"", ["no example"]),
        ("plain.gz", b"1 1:1\n", ["line 1", "gzip"]),
        ("cut.gz", gzip.compress(b"1 1:1\n" * 1000, mtime=0)[:-9], ["line 1001", "ended"]),
        ("harmed.gz", gzip.compress(os.urandom(9999))[:5000] + bytes(99), ["line"]),
        ("cut.bz2", bz2.compress(b"1 1:1\n" * 1000)[:-9], ["line", "ended"]),
        ("binary.svm", bytes(range(256)), ["line 1"]),
        ("a.npz", b"1 1:1\n", ["sparse matrix", "not a zip file"]),
        ("a.npz", npz(y=[0, 1], indptr=None), ["sparse matrix", "indptr"]),
        ("a.npz", npz(y=[0, 1], shape=None), ["sparse matrix", "shape"]),
        ("a.npz", npz(), ["no labels", "--labels"]),
        ("a.npz", npz(y=[0, 1, 2]), ["2 labels", "(3,)"]),
        ("a.npz", npz(y=[[0], [1]]), ["2 labels", "(2, 1)", "a model for each"]),
        ("a.npz", npz(y=["a", "b"]), ["2 labels", "<U1", "Number words"]),
        ("a.npz", npz(y=[0, np.nan]), ["row 1", "nan"]),
        ("a.npz", npz(y=[0, 1], data=[1, np.inf]), ["inf", "row 1"]),
        ("a.npz", npz(y=[0, 1], indices=[0, 7]), ["matrix"]),
        ("a.npz", npz(y=[0, 1], indptr=[0, 5, 2]), ["matrix"]),
        ("a.npz", npz(y=[0, 1], shape=[2]), ["matrix"]),
        ("a.npz", npz(y=[0, 1], shape=[2, -1]), ["matrix"]),
        ("a.npz", npz(y=[0, 1], data=np.array([{}, {}], dtype=object)), ["allow_pickle"]),
        ("a.npz", npz(y=[0, 1], data=["1", "2"]), ["matrix"]),
        ("a.npz", npz(y=[0, 1], format=b"abc"), ["matrix"]),
    ],
)
def test_command_refuses_a_file_without_examples(fails, name, content, words):
    Path(name).write_bytes(content)
    fails(1, [name, *words], "train", name, "-o", "a.model")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("y.txt", b"0\n1\nspam\n", ["row 2", "spam", "Number words"]),
        ("y.txt", b"0 1\n0 1\n", ["2 labels", "(2, 2)", "a model for each"]),
        ("y.txt", b"", ["2 labels"]),
        ("y.txt", b"0\n", ["2 labels"]),
        ("y.txt", b"0\ninf\n", ["inf"]),
        ("y.txt", b"\xff\n", ["array of numbers"]),
        ("y.npy", b"0\n1\n", ["array of numbers"]),
        ("y.npy", b"", ["array of numbers"]),
        ("y.npy", b"\x93NUMPY\x01\x00\xff\xff", ["array of numbers"]),
        (
            "y.npy",
            b"\x93NUMPY\x01\x00\x0a\x00{'shape': (",
            ["numbers, one for each row: EOF in multi-line statement. Write it anew"],
        ),
    ],
)
def test_command_refuses_wrong_labels(fails, name, content, words):
    Path("a.npz").write_bytes(npz())
    Path(name).write_bytes(content)
    fails(1, [name, *words], "train", "a.npz", "--labels", name, "-o", "a.model")


@pytest.mark.parametrize("kind", ["y.npy", "a.npz", "packed.npz", "a.svm.gz", "a.svm"])
def test_damaged_file_is_refused_in_a_line_or_read(kind, folder):
    rng = np.random.default_rng(5)
    X, y = sp.random(40, 30, 0.2, "csr", rng=1), np.arange(40) % 2
    dump_svmlight_file(X, y, "a.svm", zero_based=False)
    Path("a.svm.gz").write_bytes(gzip.compress(Path("a.svm").read_bytes()))
    np.savez("a.npz", data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=y)
    sp.save_npz("packed.npz", X)
    np.save("y.npy", y)
    labels = "y.npy" if kind in ("y.npy", "packed.npz") else None
    path = "packed.npz" if kind == "y.npy" else kind
    read_examples(path, False, labels)
    whole, said = Path(kind).read_bytes(), []
    for _ in range(150):
        content, place = bytearray(whole), rng.integers(len(whole), size=rng.integers(1, 9))
        content = [content, content, content[: place[0]], content[place[0] :]][rng.integers(4)]
        place = place[place < len(content)]
        for at in place:
            content[at] = rng.choice([0, 255, 40, 123, rng.integers(256)])
        Path(kind).write_bytes(content)
        try:
            found = read_examples(path, False, labels)
        except ValueError as error:
            said.append(str(error))
        else:
            assert np.isfinite(found.X.data).all() and np.isfinite(found.y).all() and len(found.y) == found.X.shape[0]
    assert len(said) > 20
    assert all((kind in words or "y.npy" in words) and "\n" not in words and len(words) < 500 for words in said)


def test_command_names_a_missing_file(fails, folder):
    fails(1, ["'none'", "No such file"], "train", "none", "-o", "m")
    fails(1, ["'none'", "No such file"], "predict", "none", "a.svm")
    fails(1, ["'a.svm' is no model file", "model first"], "predict", "a.svm", "a.svm")
    fails(1, ["'.'"], "train", ".", "-o", "m")


def test_command_refuses_what_does_not_fit_the_memory(fails, monkeypatch):
    monkeypatch.setattr(examples, "physical_memory", lambda: 8e9)
    Path("a.svm").write_text("1 1:1\n-1 2147483647:1\n")
    fails(1, ["a.svm", "2147483647 columns", "wrong column number", "8 GB"], "train", "a.svm", "-o", "a.model")
    fails(1, ["2147483647 columns"], "sweep", "a.svm", "--folds", 2)
    np.savez_compressed("bomb.npz", **{**CSR, "data": np.zeros(10**6)}, y=[0, 1])
    monkeypatch.setattr(examples, "physical_memory", lambda: 10**6)
    assert Path("bomb.npz").stat().st_size < 10**5
    fails(1, ["bomb.npz", "more than this machine has"], "train", "bomb.npz", "-o", "a.model")


def test_check_memory_counts_vectors_and_scores(monkeypatch):
    for m, n, models in ((3, 5, 1), (2, 7, 3)):
        needed, small = 8 * (n * (4 * models + 6) + m * models), Examples("a", sp.csr_array((m, n)), np.zeros(m))
        monkeypatch.setattr(examples, "physical_memory", lambda needed=needed: needed)
        check_memory(small, models)
        monkeypatch.setattr(examples, "physical_memory", lambda needed=needed: needed - 1)
        with pytest.raises(ValueError, match="wrong column number"):
            check_memory(small, models)
