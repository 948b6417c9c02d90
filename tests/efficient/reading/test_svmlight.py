"""svmlight files: read to the bit, or refused by file, line and cause."""

import bz2
import gzip
import io
import lzma
import re
import sys

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from efficient.reading import svmlight
from efficient.reading.lines import POWERS, decimal
from efficient.reading.svmlight import GREATEST, load_svmlight
from reference.datasets import make_generic
from reference.rows import as_rows

zstd = pytest.importorskip("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")

PACK = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstd.compress}


def taken_without_a_copy(X):
    return np.shares_memory(as_rows(X).data, X.data)


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


@pytest.mark.parametrize("ending", PACK)
@pytest.mark.parametrize("progress", [True, False])
def test_load_passes_over_blank_lines_comments_and_query_numbers(tmp_path, capsys, ending, progress):
    content = b"\xef\xbb\xbf# a head\r\n\r\n+1 qid:3 1:2 3:0.5 # a comment_\r\n \t\n-1\n#\n1 2:-1e-3"
    path = tmp_path / f"examples.svm{ending}"
    path.write_bytes(PACK[ending](content))
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
        assert seen == [path.stat().st_size] * 2  # the second time at the end
    else:
        assert set(seen) == {0}


@pytest.mark.parametrize("ending", PACK)
@pytest.mark.parametrize(
    ("line", "arguments", "word"),
    [
        ("1 0:2", {}, "column 0"),  # the first column is 1
        ("1 -1:2", {"zero_based": True}, "negative; got '-1'"),
        ("1 1:2 3:4", {"n_features": 2}, "n_features = 2"),
        ("1 2:4", {"n_features": 2, "zero_based": True}, "n_features = 2"),
        ("1 1:2", {"n_features": 0}, "n_features = 0"),
        ("1 3:1 1:1", {}, "increase"),
        ("1 1:1 1:1", {}, "increase"),
        ("1 1:1 99999999999:1", {}, "2147483647"),
        ("1 1:1 2147483648:1", {}, "2147483647"),
        ("spam 1:1", {}, "the label 'spam' is not a number"),
        ("1 1:x", {}, "the value 'x' is not a number"),
        ("1 1:", {}, "the value '' is not a number"),
        ("\ufeff1 1:1", {}, r"'\ufeff1'"),  # anywhere but at the beginning
        ("1 nan:1", {}, "whole number; got 'nan'"),
        ("1 1:1 2", {}, "column:value"),
        ("1 qid", {}, "column:value"),
        ("1 1:nan", {}, "is not a finite"),
        ("1 1:1 2:1e999", {}, "is not a finite"),
        ("-inf", {}, "the label -inf is not a finite"),
        ("nan 1:1", {}, "the label nan is not a finite"),
        ("1 1:1_0", {}, "'_'"),
        ("hello world", {}, "hello"),
        ("1 1:" + "x" * 999, {}, " …"),
    ],
)
def test_load_names_the_wrong_line(tmp_path, line, arguments, word, ending):
    content = f"# first\n\n1\n-1 # second\n \n{line}\n1 # the last one\n".encode()
    path = tmp_path / f"wrong.svm{ending}"
    path.write_bytes(PACK[ending](content))
    with pytest.raises(ValueError, match=rf"wrong\.svm{ending}', line 6: .*{re.escape(word)}") as caught:
        load_svmlight(path, **arguments)
    assert len(str(caught.value)) < 400
    with io.BytesIO(content) as file, pytest.raises(ValueError, match=r"'the file', line 6: "):
        load_svmlight(file, **arguments)


@pytest.mark.parametrize(
    ("content", "arguments", "words"),
    [
        ("1 1:1\nnan 1:1\n1 1:1\ninf 1:1\n", {}, "line 2: the label nan is"),
        ("1 1:1\n\n1 2:inf\n1 1:nan\n", {}, "line 3: the value inf is"),
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
        ("plain.xz", whole, "line 1:"),
        ("cut.xz", lzma.compress(whole)[:-9], "line"),
        ("plain.zst", whole, "line 1:"),
        ("cut.zst", zstd.compress(whole)[:-4], "line"),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(ValueError, match=rf"{re.escape(name)}', {where}"):
            load_svmlight(path)


def test_load_does_not_read_a_line_without_end(tmp_path, monkeypatch):
    class Endless(io.BytesIO):
        def read1(self, size):
            return bytes(size)  # zeros, which take no memory until they are read

    with pytest.raises(ValueError, match="'the file', line 1: it has more than 250000000 bytes"):
        load_svmlight(Endless())
    monkeypatch.setattr(svmlight, "LONGEST", 1000)
    path = tmp_path / "endless.gz"
    path.write_bytes(gzip.compress(b"1 1:1\n1 " + b" " * 10**7))
    with pytest.raises(ValueError, match=r"endless\.gz', line 2: .*1000 bytes"):
        load_svmlight(path)


def test_load_zst_without_library_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "compression", None)
    monkeypatch.setitem(sys.modules, "backports", None)
    (tmp_path / "rows.zst").write_bytes(zstd.compress(b"1 1:1\n"))
    with pytest.raises(ModuleNotFoundError, match=r"pip install backports\.zstd"):
        load_svmlight(tmp_path / "rows.zst")


BLANKS = st.sampled_from([b" ", b"\t", b"  ", b"\r", b"\x0b", b"\x0c", b" \t "])
ENDS = st.sampled_from([b"\n", b"\r\n", b"\n\n", b" # 1:1\n", b"#\n", b"\r"])
NUMBERS = st.one_of(
    st.floats().map(lambda x: repr(x).encode()),
    st.integers().map(lambda i: b"%d" % i),
    st.decimals(allow_nan=False, allow_infinity=False).map(lambda d: str(d).encode()),
    st.sampled_from(b"-0 +1 .5 5. 1.e5 1E+05 1e400 1e-400 -1e-310 0e99999 00012 0.1e0 9007199254740993".split()),
    st.sampled_from(b"inf nan 1e 1e+ . - +-1 0x1 1_0 1\0 \xb2".split()),
)
COLUMNS = st.one_of(st.integers(0, 9), st.sampled_from([GREATEST - 1, GREATEST, GREATEST + 1, 10**18, 10**19, 10**20]))
PLACES = st.one_of(
    COLUMNS.map(lambda j: b"%d" % j), st.sampled_from([b"+3", b"007", b"-1", b"-0", b"", b"3.0", b"qid", b"q", b"qi"])
)
ROWS = st.lists(
    st.tuples(st.integers(1, 4), NUMBERS), max_size=4
).map(  # with columns that increase
    lambda row: [b"%d:%s" % (sum(step for step, _ in row[: e + 1]), value) for e, (_, value) in enumerate(row)]
)
TOKENS = st.one_of(
    ROWS,
    ROWS.map(lambda row: [b"qid:7", *row]),
    st.lists(st.tuples(PLACES, st.sampled_from([b":", b"", b"::"]), NUMBERS).map(b"".join), max_size=3),
)


@st.composite
def texts(draw):
    lines = draw(st.lists(st.tuples(NUMBERS, TOKENS, BLANKS, ENDS), max_size=5))
    return b"".join(blank.join([label, *tokens]) + end for label, tokens, blank, end in lines)


def arrays(read):
    """Give what a reader reads; None if it refuses."""
    try:
        X, y = read()[:2]
    except (ValueError, OverflowError):
        return None
    if not (len(y) and np.isfinite(y).all() and np.isfinite(X.data).all()) or X.indices.max(initial=0) >= GREATEST:
        return None
    return [X.data.tobytes(), X.indices.tolist(), X.indptr.tolist(), y.tobytes(), X.shape[1]]


@given(texts(), st.booleans(), st.integers(1, 64))
@example(b"1 1:1\n" * 50 + b"1 +2:0x\n", False, 7)
def test_load_agrees_with_scikit_learn_on_any_text(content, zero_based, size):
    class InPieces(io.BytesIO):
        def read1(self, _):
            return super().read(size)

    ours = arrays(lambda: load_svmlight(InPieces(content), zero_based=zero_based))
    if any(b"_" in line.partition(b"#")[0] for line in content.split(b"\n")):  # which Python takes for a part of a number
        assert ours is None
    else:
        theirs = arrays(lambda: load_svmlight_file(io.BytesIO(content), zero_based=zero_based))
        assert ours == theirs


@given(st.one_of(NUMBERS, st.floats(1e-40, 1e40).map(lambda x: repr(x).encode())))
@example(b"9007199254740993")  # half way between two floats
@example(b"0.30000000000000004")
@example(b"1.00000000000000011102230246251565")
def test_decimal_is_the_float_of_python_or_not_ordinary(token):
    text = np.frombuffer(token + b"\n", np.uint8)
    _, value, fine = decimal(text, np.uintp(0), np.uintp(len(text)), POWERS)
    if fine:
        assert np.float64(value).tobytes() == np.float64(float(token)).tobytes()


def test_decimal_of_all_digits_of_a_float_is_ordinary():
    values = np.random.default_rng(0).standard_normal(3000) * 10.0 ** np.random.default_rng(1).integers(-30, 10, 3000)
    for value in values.tolist():
        text = np.frombuffer(repr(value).encode(), np.uint8)
        assert decimal(text, np.uintp(0), np.uintp(len(text)), POWERS)[1:] == (value, True)
