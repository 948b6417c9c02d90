"""Write the kit as one folder that a project can keep beside its tests: `python DIR …` needs numpy alone."""

import shutil
from pathlib import Path

HERE = Path(__file__).parent

RUNNER = (
    *("__init__", "__main__", "agreement", "answers", "cases", "check", "command", "declared", "diagnosis", "export"),
    *("faults", "light", "plain", "reach", "report", "search", "serve", "slips", "ties", "verdicts"),
)
"""Modules that run a check; the others make the vectors, or examine implementations."""

LAUNCHER = '''"""Hold an implementation to the test vectors: `python THIS_FOLDER --help`."""

import sys

from conformance.__main__ import main

sys.exit(main())
'''


def export(folder: str | Path) -> Path:
    """Write runner, vectors and pages to a folder that does not exist, is empty, or holds an older export.

    Raises
    ------
    ValueError
        The folder holds something else.
    """
    folder = Path(folder)
    package = folder / "conformance"
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"the folder to export to must be a folder; got {str(folder)!r}, a file")
    if folder.is_dir() and any(folder.iterdir()) and not (package / "serve.py").exists():
        raise ValueError(f"the folder to export to must be empty, or hold an older export; got {str(folder)!r}")
    shutil.rmtree(package, ignore_errors=True)
    package.mkdir(parents=True)
    for name in RUNNER:
        shutil.copy(HERE / f"{name}.py", package)
    for page in ("README.md", "FAULTS.md", "HALL.md"):
        shutil.copy(HERE / page, package)
    shutil.copytree(HERE / "vectors", package / "vectors")
    shutil.copytree(HERE / "examples", package / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "__main__.py").write_text(LAUNCHER, "utf8")
    return folder
