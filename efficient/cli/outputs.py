"""Tell files that a command has written from others, which it may not overwrite unless it is told to."""

import json
import zipfile
from collections.abc import Callable

from ..reading.examples import CSR
from .model_file import FORMAT, LONGEST_HEADER


def is_model(path: str) -> bool:
    """Tell whether the file is a model of any version."""
    with zipfile.ZipFile(path) as archive:
        return (
            archive.getinfo("header.json").file_size <= LONGEST_HEADER
            and json.loads(archive.read("header.json"))["format"] == FORMAT
        )


def is_converted(path: str) -> bool:
    """Tell whether the file holds the arrays of `casgd convert`, and no others."""
    with zipfile.ZipFile(path) as archive:
        return set(archive.namelist()) == {f"{name}.npy" for name in (*CSR, "y")}


def is_certificate(path: str) -> bool:
    """Tell whether the file begins as a certificate does."""
    with open(path, "rb") as file:
        return file.read(100).split()[:2] == [b"{", b'"training":']


RECOGNISE: dict[str, Callable[[str], bool]] = {
    "train": is_model,
    "predict": lambda path: False,  # labels look alike, the true ones too
    "convert": is_converted,
    "certify": is_certificate,
}
"""Function for each command that writes a file."""


def is_own(command: str, path: str) -> bool:
    """Tell whether a file is empty, or one that the command writes."""
    try:
        with open(path, "rb") as file:
            return not file.read(1) or RECOGNISE[command](path)
    except Exception:  # whatever another file makes a reader raise
        return False
