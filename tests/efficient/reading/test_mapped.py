"""Mapped .npz: the rows of the text, in little memory; files that cannot be mapped are read, damaged ones refused."""

import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from efficient.reading import mapped
from efficient.reading.examples import read_examples
from efficient.reading.mapped import convert, mapped_arrays
from efficient.reading.svmlight import load_svmlight

ROOT = Path(__file__).parents[3]
TEXT = b"# a head\n1 1:0.5 7:2\n-1\n1 qid:3 2:1e-3 3:4 900:1\n"


def is_mapped(array):
    while array is not None and not isinstance(array, np.memmap):
        array = getattr(array, "base", None)
    return array is not None


@pytest.mark.parametrize("zero_based", [False, True])
@pytest.mark.parametrize("content", [TEXT, b"3.5\n-1\n", TEXT * 40], ids=["short", "no entries", "long"])
def test_convert_keeps_rows_and_maps_them(tmp_path, monkeypatch, content, zero_based):
    monkeypatch.setattr("efficient.reading.svmlight.READ", 50)
    monkeypatch.setattr(mapped, "COPIED", 3)
    path = tmp_path / "rows.npz"
    X, y, _ = load_svmlight(io.BytesIO(content), zero_based=zero_based)
    assert convert(io.BytesIO(content), path, zero_based) == (*X.shape, X.nnz)
    read = read_examples(str(path), False)
    with np.load(path) as file:
        assert all(file[name].dtype == getattr(X, name).dtype for name in ("data", "indices", "indptr"))
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(read.X, name), getattr(X, name))
        assert is_mapped(getattr(read.X, name)) or not X.nnz
    np.testing.assert_array_equal(read.y, y)
    assert read.X.shape == X.shape
    assert zipfile.ZipFile(path).testzip() is None
    assert os.listdir(tmp_path) == ["rows.npz"]


def test_convert_of_wrong_text_names_its_line_and_leaves_nothing(tmp_path):
    with pytest.raises(ValueError, match="line 5: the columns must increase"):
        convert(io.BytesIO(TEXT + b"1 2:1 1:1\n"), tmp_path / "rows.npz")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("save", [sp.save_npz, lambda path, X: sp.save_npz(path, X, compressed=False)])
def test_archive_that_cannot_be_mapped_is_read(tmp_path, save):
    X = load_svmlight(io.BytesIO(TEXT)).X
    save(tmp_path / "rows.npz", X)
    np.save(tmp_path / "y.npy", np.ones(3))
    read = read_examples(str(tmp_path / "rows.npz"), False, str(tmp_path / "y.npy"))
    np.testing.assert_array_equal(read.X.toarray(), X.toarray())


def test_damaged_archive_is_refused(tmp_path):
    path = tmp_path / "rows.npz"
    convert(io.BytesIO(TEXT), path)
    content = path.read_bytes()
    place = content.index(b"'shape': (5,)")
    path.write_bytes(content[:place] + b"'shape': (6,)" + content[place + 13 :])
    with open(path, "rb") as file, pytest.raises(ValueError, match=r"data\.npy' is damaged"):
        mapped_arrays(file)
    with pytest.raises(ValueError, match=r"rows\.npz"):
        read_examples(str(path), False)


LIMITED = """
import sys, resource
from efficient.__main__ import main
assert main(["train", "few.svm", "-o", "few.model", "--epochs", "1"]) == 0  # the loops are in memory now
used = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmData"))
resource.setrlimit(resource.RLIMIT_DATA, ((used << 10) + (int(sys.argv[1]) << 20),) * 2)
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit counts private memory on Linux alone")
def test_training_out_of_core_needs_less_memory_than_the_rows(tmp_path):
    few = b"".join(b"%d %s\n" % (i % 2, b" ".join(b"%d:1" % (50 * j + 1 + i % 50) for j in range(100))) for i in range(500))
    (tmp_path / "few.svm").write_bytes(few)
    (tmp_path / "many.svm").write_bytes(few * 120)  # 6 million entries: 72 MB
    command = "train many.svm -o many.model --epochs 1"

    def run(line):
        arguments = [sys.executable, "-c", LIMITED, "36", *line.split()]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        return subprocess.run(arguments, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    done = run(f"{command} --out-of-core .")
    assert done.returncode == 0, done.stderr
    assert "60000 rows" in done.stdout
    in_memory = run(command)
    assert (in_memory.returncode, "memory" in in_memory.stderr.lower()) == (1, True), in_memory.stderr
