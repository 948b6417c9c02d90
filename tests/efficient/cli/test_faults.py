"""Trainings whose k-th operation on a file fails, or during which the process dies there: every file is the old or the new one.

The operations are those by which `efficient.runs.files` reaches the disk: to open, lock, write, change the mode, sync, rename,
remove. They are replaced there, and so all are met, in their order, on any system; a tracer such as `strace` would also fail
the calls by which Python reads its own modules.
"""

import builtins
import errno
import io
import os
from pathlib import Path

import pytest

from efficient.runs import files

STEP = {"open", "write", "flock", "fchmod", "fsync", "replace", "unlink"}
COMMAND = ("train", "a.svm", "-o", "m", "--checkpoint", "c", "--epochs", 2)
DIED = 77


class Disk:
    """Counts the operations of `files`, and lets `fault` act in place of the k-th."""

    def __init__(self, k=0, fault=None):
        self.k, self.fault, self.done = k, fault, []

    def step(self, name):
        self.done.append(name)
        if len(self.done) == self.k:
            self.fault()

    def counting(self, module):
        disk = self

        class Counting:
            def __getattr__(self, name):
                found = getattr(module, name)
                if name not in STEP:
                    return found

                def counted(*arguments, **options):
                    disk.step(name)
                    return found(*arguments, **options)

                return counted

        return Counting()

    def open(self, path, mode):
        self.step("open")

        class Raw(io.FileIO):
            def write(raw, data):
                self.step("write")
                return super().write(data)

        return io.BufferedRandom(Raw(path, mode.replace("b", "")))

    def put_in(self, monkeypatch):
        monkeypatch.setattr(files, "os", self.counting(os))
        monkeypatch.setattr(files, "fcntl", self.counting(files.fcntl))
        monkeypatch.setattr(files, "open", self.open, raising=False)
        return self


def fail():
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def die():
    os._exit(DIED)


def put_back(old):
    for path in Path().glob("[mc]*"):
        path.unlink()
    Path("m").write_bytes(old[0])
    Path("c").write_bytes(old[1])


@pytest.fixture
def contents(casgd, folder):
    """Model and checkpoint after one epoch, and after two."""
    found = []
    for epochs in (1, 2):
        assert casgd(*COMMAND[:-1], epochs)[0] == 0
        found.append((Path("m").read_bytes(), Path("c").read_bytes()))
    return found


def all_steps(casgd, monkeypatch, old):
    put_back(old)
    with monkeypatch.context() as patched:
        disk = Disk().put_in(patched)
        assert casgd(*COMMAND)[0] == 0
    assert set(disk.done) == STEP
    return disk.done


def is_whole_and_ends_well(casgd, contents):
    """Both files are old, new or in between, and the same command ends with the right model and nothing beside it."""
    old, new = contents
    assert Path("m").read_bytes() in (old[0], new[0])
    status, _, err = casgd(*COMMAND)
    assert (status, Path("m").read_bytes()) == (0, new[0]), err
    assert sorted(path.name for path in Path().glob("[mc]*")) == ["c", "m"]


def test_any_operation_that_fails_leaves_whole_files_and_one_line(casgd, contents, monkeypatch):
    refused = []
    for k, name in enumerate(all_steps(casgd, monkeypatch, contents[0]), start=1):
        put_back(contents[0])
        with monkeypatch.context() as patched:
            Disk(k, fail).put_in(patched)
            status, _, err = casgd(*COMMAND)
        if status:  # else it was an operation whose failure costs nothing, like a lock
            refused.append(name)
            assert status in (1, 2) and "No space left on device" in err and ("'m'" in err or "'c'" in err), (k, name, err)
            assert sum("No space" in line for line in err.splitlines()) == 1 and "Traceback" not in err
        if name != "unlink":
            assert not list(Path().glob("*.part"))
        is_whole_and_ends_well(casgd, contents)
    assert {"open", "write", "fsync", "replace"} <= set(refused)


@pytest.mark.nightly
def test_a_process_that_dies_at_any_operation_leaves_whole_files(casgd, contents, monkeypatch):
    left = 0
    for k, name in enumerate(all_steps(casgd, monkeypatch, contents[0]), start=1):
        put_back(contents[0])
        child = os.fork()
        if not child:
            Disk(k, die).put_in(monkeypatch)
            casgd(*COMMAND)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == DIED, name
        left += len(list(Path().glob("*.part")))
        is_whole_and_ends_well(casgd, contents)
    assert left > 5


def test_the_checks_reject_a_writer_that_writes_in_place(casgd, contents, monkeypatch):
    def in_place(path, write):
        with builtins.open(path, "wb") as file:
            file.write(b"half")
            file.flush()
            fail()

    put_back(contents[0])
    with monkeypatch.context() as patched:
        patched.setattr("efficient.cli.model_file.write_whole", in_place)
        assert casgd(*COMMAND)[0] == 1
    with pytest.raises(AssertionError):
        is_whole_and_ends_well(casgd, contents)
