"""Run Python without some packages, as where they are not installed."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

HOOK = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocked())
"""


def environment_without(folder: Path, *names: str) -> dict[str, str]:
    """Make the environment of a process, and of those that it starts, that finds none of these packages."""
    (folder / "sitecustomize.py").write_text(HOOK.format(names=names), "utf8")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]), "MPLBACKEND": "Agg"}


def run_without(folder: Path, code: str, *names: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process without these packages."""
    environment = environment_without(folder, *names)
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False, cwd=folder
    )
