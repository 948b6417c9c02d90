"""Files that are no svmlight text are named, with the cure, and right ones are not."""

import bz2
import gzip
import io
import lzma
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.io import mmwrite

from efficient.reading.foreign import explain
from efficient.reading.svmlight import load_svmlight

ROWS = "1 1:2 3:0.5\n-1 2:1\n"


def written(write) -> bytes:
    file = io.BytesIO()
    write(file)
    return file.getvalue()


FRAME = pd.DataFrame({"label": [1, -1], "a": [2.0, 0]})
FOREIGN = {
    "gzip": gzip.compress(ROWS.encode()),
    "bzip2": bz2.compress(ROWS.encode()),
    "xz": lzma.compress(ROWS.encode()),
    "zstd": b"\x28\xb5\x2f\xfd\x24\x00",
    "zip": written(lambda file: sp.save_npz(file, sp.csr_array(np.eye(2)))),
    "array of numpy": written(lambda file: np.save(file, np.eye(2))),
    "Matrix Market": written(lambda file: mmwrite(file, sp.csr_array(np.eye(2)))),
    "UTF-16": ROWS.encode("utf-16"),
    "bytes of 0": ROWS.encode("utf-16-le"),
    "binary": pickle.dumps(np.eye(2)),
    "JSON": FRAME.to_json(orient="records", lines=True).encode(),
    "CSV": FRAME.to_csv(index=False).encode(),
    "CSV, or the like": FRAME.to_csv(index=False, header=False, sep="\t").encode(),
    "Vowpal Wabbit": b"1 |a x:1 y:2\n-1 |a y\n",
    "several labels, '1,3'": b"1,3 1:2\n",
    "the label 'spam' is not a number. Number the classes": b"spam 1:2\n",
    "no label before its entries": b"1:2 3:0.5\n",
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_file_is_named_with_its_cure(name):
    with pytest.raises(ValueError, match=rf"^'the file', line 1: [^\n]*{name}") as caught:
        load_svmlight(io.BytesIO(FOREIGN[name]))
    assert any(cure in str(caught.value) for cure in ("dump_svmlight_file", "End its name", "UTF-8", "Number", "rite"))


@pytest.mark.parametrize("line", [*ROWS.splitlines(), "# a, b", "1 qid:3 1:2 # 1,3 |x", "1 1:x", "1 2:1 1:1", "1 0:1", "-1"])
def test_lines_of_the_format_are_not_taken_for_others(line):
    assert explain(line.encode()) is None


def test_rows_without_labels_are_read_where_none_are_needed():
    text = b"\xef\xbb\xbf 1:2\n# 5:1\n\n3 2:1\nqid:3 1:1 # 2:3\n-1\n"
    X, y, _ = load_svmlight(io.BytesIO(text), labelled=False)
    assert (X.toarray().tolist(), y.tolist()) == ([[2, 0], [0, 1], [1, 0], [0, 0]], [0, 3, 0, -1])
    with pytest.raises(ValueError, match="line 1: the line has no label"):
        load_svmlight(io.BytesIO(text))
    for wrong in (b"1,2,3\n", b"spam 1:1\n", b"1:1 1:2\n"):
        with pytest.raises(ValueError, match="line 1"):
            load_svmlight(io.BytesIO(wrong), labelled=False)
