"""Explain a line that is no svmlight text: what the file is in truth, or what is wrong with its label, and the cure."""

import re

REWRITE = "Write the rows by sklearn.datasets.dump_svmlight_file(X, y, file, zero_based=False)"
UNPACK = "End its name in {}, or unpack it"

BEGINNINGS = {
    b"\x1f\x8b": f"the file is compressed by gzip. {UNPACK.format('.gz')}",
    b"BZh": f"the file is compressed by bzip2. {UNPACK.format('.bz2')}",
    b"\xfd7zXZ": f"the file is compressed by xz. {UNPACK.format('.xz')}",
    b"\x28\xb5\x2f\xfd": f"the file is compressed by zstd. {UNPACK.format('.zst')}",
    b"PK\x03\x04": "the file is an archive (zip). End its name in .npz if numpy wrote it, or unpack it",
    b"\x93NUMPY": f"the file is an array of numpy. {REWRITE}",
    b"\x89HDF": f"the file is HDF5. {REWRITE}",
    b"PAR1": f"the file is Parquet. {REWRITE}",
    b"\xff\xfe": "the file is text in UTF-16. Write it in UTF-8",
    b"\xfe\xff": "the file is text in UTF-16. Write it in UTF-8",
    b"%%MatrixMarket": f"the file is Matrix Market. {REWRITE}",
}
"""First bytes of other formats, and what to say of them."""

ENTRY = re.compile(rb"\d+:\S+")


def explain(line: bytes) -> str | None:
    """Say what is wrong with a line that could not be parsed, if it is of a well-known kind; otherwise None."""
    for beginning, what in BEGINNINGS.items():
        if line.startswith(beginning):
            return what
    if b"\0" in line:
        return "the file is no text in UTF-8: it holds bytes of 0, as UTF-16 and binary files do. Write it in UTF-8"
    content = line.partition(b"#")[0]
    label, *entries = content.split() or [b""]
    if any(token.startswith(b"|") for token in (label, *entries)):
        return f"the file is Vowpal Wabbit's text. {REWRITE}"
    if label.startswith((b"{", b"[")):
        return f"the file is JSON. {REWRITE}"
    if ENTRY.fullmatch(label):
        return "the line has no label before its entries. Write one, such as 0; casgd predict needs none"
    given = label.decode("utf8", "replace")[:80]
    if entries and all(map(ENTRY.fullmatch, entries)):
        if re.fullmatch(r"[-+.\d]+([,;|][-+.\d]+)+", given):
            return f"the line has several labels, {given!r}. Train a model for each: write 1 where it is among them, else -1"
        if not _is_number(label):
            return f"the label {given!r} is not a number. Number the classes, such as 1 for {given!r} and -1 for others"
    elif re.search(rb"[,;\t]", content.strip()):
        return f"the file is CSV, or the like: every entry must be column:value. {REWRITE}"
    return None


def _is_number(token: bytes) -> bool:
    try:
        float(token)
    except ValueError:
        return False
    return True
