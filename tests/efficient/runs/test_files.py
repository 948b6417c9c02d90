"""Files are written whole or not at all: by any name, beside any other writer, whatever fails and whenever a process dies."""

import errno
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from efficient.runs.files import check_writable, write_whole

DIES = """
import os, signal, sys, time
from efficient.runs.files import write_whole
def write(file):
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    time.sleep(60)
write_whole(sys.argv[1], write)
"""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def text(content):
    return lambda file: file.write(content)


@pytest.fixture
def target(tmp_path):
    path = tmp_path / "a.model"
    path.write_bytes(b"old")
    return path


def test_write_replaces_what_a_link_points_to_and_keeps_the_link_and_the_permissions(tmp_path, target):
    target.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to("a.model")
    write_whole(link, text(b"new"))
    assert link.is_symlink() and target.read_bytes() == b"new" and target.stat().st_mode & 0o777 == 0o640
    (tmp_path / "dangling").symlink_to("made")
    write_whole(str(tmp_path / "dangling"), text(b"new"))
    assert names(tmp_path) == ["a.model", "dangling", "link", "made"]
    (tmp_path / "round").symlink_to("round")
    for use in (lambda: write_whole(tmp_path / "round", text(b"")), lambda: check_writable(tmp_path / "round")):
        with pytest.raises(OSError, match="round") as refused:
            use()
        assert refused.value.errno == errno.ELOOP


def test_write_follows_no_link_that_another_has_planted(tmp_path, target, monkeypatch):
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    guesses = iter(["0" * 16, "1" * 16])
    monkeypatch.setattr("secrets.token_hex", lambda size: next(guesses))
    (tmp_path / f"a.model.{'0' * 16}.part").symlink_to(victim)
    with pytest.raises(FileExistsError, match=re.escape(repr(str(target)))):
        write_whole(target, text(b"new"))
    assert victim.read_bytes() == b"precious" and target.read_bytes() == b"old"


@pytest.mark.parametrize("name", ["a.model", "x" * 255, "λ" * 127])
def test_write_makes_a_file_of_any_name(tmp_path, name):
    write_whole(tmp_path / name, text(b"new"))
    assert names(tmp_path) == [name]


def test_two_writers_of_one_file_leave_the_file_of_one(tmp_path, target):
    contents = [bytes([number]) * 100_000 for number in range(4)]

    def write(content):
        for _ in range(25):
            write_whole(target, text(content))
            assert target.read_bytes() in contents  # an exception in a thread fails the test

    threads = [threading.Thread(target=write, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert target.read_bytes() in contents and names(tmp_path) == ["a.model"]


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path, target):
    others = [f"b.model.{'0' * 16}.part", "a.model.1234.part", "a.model.part", f"a.model.{'0' * 16}.parts"]
    for name in others:
        (tmp_path / name).write_bytes(b"another's")
    program = subprocess.Popen([sys.executable, "-c", DIES, target], stdout=subprocess.PIPE)
    assert program.stdout.readline() == b"writing\n"
    (left,) = set(names(tmp_path)) - {*others, "a.model"}
    write_whole(target, text(b"new"))
    check_writable(target)
    assert (tmp_path / left).read_bytes() == b"half"  # it is written to
    program.kill()
    program.communicate()
    assert (tmp_path / left).exists()
    check_writable(target)
    assert names(tmp_path) == sorted([*others, "a.model"])


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_a_write_that_fails_names_the_file_and_leaves_the_old_one(tmp_path, target, number):
    def fail(file):
        file.write(b"half")
        raise OSError(number, os.strerror(number))

    with pytest.raises(OSError, match=re.escape(repr(str(target)))) as failed:
        write_whole(target, fail)
    assert failed.value.errno == number
    assert target.read_bytes() == b"old" and names(tmp_path) == ["a.model"]
    with pytest.raises(FileNotFoundError, match="elsewhere"):  # what `write` reads keeps its own name
        write_whole(target, lambda file: Path("elsewhere").read_bytes())


@pytest.mark.parametrize("of", [write_whole, lambda path, write: check_writable(path)])
def test_what_cannot_be_written_is_refused_by_its_name(tmp_path, of):
    for path in (tmp_path, tmp_path / "none" / "a.model", tmp_path / ("x" * 256)):
        with pytest.raises(OSError, match=re.escape(repr(str(path)))):
            of(path, text(b"new"))
    assert names(tmp_path) == []


def test_ctrl_c_leaves_the_old_file(tmp_path, target):
    with pytest.raises(KeyboardInterrupt):
        write_whole(target, lambda file: (file.write(b"half"), os.kill(os.getpid(), signal.SIGINT)))
    assert target.read_bytes() == b"old" and names(tmp_path) == ["a.model"]
