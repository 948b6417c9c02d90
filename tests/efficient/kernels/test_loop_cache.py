"""Loops on the disk: found by the next process, never for other sources, and only in a folder that is safe."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")

RUN = """
import warnings
warnings.simplefilter("error")
import efficient
from numba.core.event import install_recorder
from reference import Problem
from reference.datasets import make_generic
data = make_generic(20, 10, 6, seed=0)
problem = Problem(data.X, data.y, "log", 0.5)
with install_recorder("numba:compile") as compiled:
    made = [getattr(efficient, algorithm)(problem, range(20)) for algorithm in {algorithms}]
print(len(compiled.buffer), [(p.w.tolist(), float(p.b)) for p in made], sep="|")
"""

HALVED = "return (d0 + d1) + (d2 + d3)", "return ((d0 + d1) + (d2 + d3)) / 2"
"""Change of `sparse.dot`, which other files' loops call."""


class Home:
    """Sources of its own and a user's folder for caches of its own."""

    def __init__(self, folder: Path):
        self.sources, self.caches = folder / "sources", folder / "caches"
        for package in ("reference", "efficient"):
            shutil.copytree(ROOT / package, self.sources / package, ignore=shutil.ignore_patterns("__pycache__", "data"))

    def edit(self, file: str, before: str, after: str) -> None:
        path = self.sources / "efficient/kernels" / file
        assert before in path.read_text("utf8")
        path.write_text(path.read_text("utf8").replace(before, after), "utf8")

    def run(self, algorithms=("sgd",), **environment: str) -> tuple[int, str]:
        """Run in a new process; give the number of compilations, and the predictors."""
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.caches), "PYTHONPATH": str(self.sources), **environment}
        command = [sys.executable, "-B", "-c", RUN.format(algorithms=algorithms)]
        done = subprocess.run(command, env=environment, cwd=self.sources, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        count, made = done.stdout.split("|")
        return int(count), made

    @property
    def files(self) -> list[Path]:
        return sorted(file for file in self.caches.rglob("*") if file.is_file())


@pytest.fixture
def home(tmp_path):
    if sys.platform != "linux":
        pytest.skip("XDG_CACHE_HOME is for Linux")
    return Home(tmp_path)


def test_second_process_compiles_nothing_and_gives_same_bits(home):
    algorithms = ("asgd", "csgd")
    (first, made), (second, again) = home.run(algorithms), home.run(algorithms, NUMBA_NUM_THREADS="1")  # as joblib's workers
    assert first > 0
    assert second == 0
    assert made == again
    assert home.run(NUMBA_OPT="1")[0] > 0
    folder = home.files[0].parent
    assert [path.stat().st_mode & 0o777 for path in (folder, folder.parent, *home.files)] == [0o700] * 2 + [0o600] * len(
        home.files
    )


def test_edited_source_of_a_callee_gives_the_new_loop(home):
    _, before = home.run()
    home.edit("sparse.py", *HALVED)
    compiled, after = home.run()
    assert compiled > 0
    assert after != before
    assert after == home.run(NUMBA_DISABLE_JIT="1")[1]


@pytest.mark.nightly
def test_cache_named_without_sources_would_give_the_old_loop(home):
    home.edit("loop_cache.py", "for source in sources:", "for source in []:")
    _, before = home.run()
    home.edit("sparse.py", *HALVED)
    assert home.run() == (0, before)


@pytest.mark.nightly
def test_damaged_files_are_compiled_anew(home):
    _, made = home.run()
    for file in home.files:
        file.write_bytes(file.read_bytes()[:-100])
    compiled, again = home.run()
    assert compiled > 0
    assert again == made
    assert home.run() == (0, made)


def _open_to_others(caches: Path) -> None:
    (caches / "casgd").mkdir(parents=True)
    (caches / "casgd").chmod(0o777)


def _link(caches: Path) -> None:
    (caches / "elsewhere").mkdir(parents=True, mode=0o700)
    (caches / "casgd").symlink_to(caches / "elsewhere")


def _of_another_user(caches: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("root alone can give a folder away")
    (caches / "casgd").mkdir(parents=True, mode=0o700)
    os.chown(caches / "casgd", 12345, -1)


def _file(caches: Path) -> None:
    caches.write_text("no folder can be made here", "utf8")


@pytest.mark.parametrize(
    "make_unsafe",
    [_open_to_others, _link, *(pytest.param(each, marks=pytest.mark.nightly) for each in (_of_another_user, _file))],
)
def test_folder_that_is_not_safe_is_not_used(home, make_unsafe):
    make_unsafe(home.caches)
    before = home.files
    assert home.run()[0] > 0
    assert home.files == before


@pytest.mark.nightly
def test_many_versions_leave_the_last_used(home):
    old = [home.caches / "casgd" / f"version{i}" for i in range(12)]
    for i, folder in enumerate(old):
        folder.mkdir(parents=True, mode=0o700)
        os.utime(folder, (i, i))
    (home.caches / "casgd").chmod(0o700)
    home.run()
    assert [folder.exists() for folder in old] == [False] * 5 + [True] * 7
