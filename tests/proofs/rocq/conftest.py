"""Skip what needs Rocq where it is missing; with CI set, its absence is a failure."""

import os
import shutil
from pathlib import Path

import pytest

from proofs.rocq.prover import CURE, coqc
from proofs.rocq.sources import FILES, ROOT


@pytest.fixture
def rocq() -> None:
    """Be asked for by a test that runs Rocq."""
    if coqc() is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"Rocq is not installed: {CURE}")


@pytest.fixture
def copy(tmp_path):
    """Make a function that changes a file of a copy of the translated sources, and returns where the copy is."""
    for file in FILES:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)

    def change(file: str, old: str, new: str) -> Path:
        text = (tmp_path / file).read_text("utf8")
        assert text.count(old) >= 1
        (tmp_path / file).write_text(text.replace(old, new, 1), "utf8")
        return tmp_path

    return change
