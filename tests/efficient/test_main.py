"""Ends of the program: exit statuses, closed pipes, full disks, light imports; and any file as input."""

import argparse
import bz2
import contextlib
import errno
import gzip
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import efficient.__main__ as command_line
from efficient.__main__ import main
from efficient.cli.model_file import load_model
from efficient.reading import examples

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "efficient"]
OUTSIDE = os.environ | {"PYTHONPATH": str(ROOT)}
ROWS = "0 1:2 3:0.5\n1 2:1\n0 1:1 2:0.25\n1 2:3 3:1\n0 3:2\n1 1:1 2:2\n"


@pytest.fixture
def trained(casgd):
    """Folder with a file of examples and a model."""
    Path("a.svm").write_text(ROWS)
    assert casgd("train", "a.svm", "-o", "a.model", "--epochs", 2)[0] == 0


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (ValueError("a  b\n c"), 1, "a b c"),
        (FloatingPointError("no"), 1, "no"),
        (MemoryError(), 1, "MemoryError"),
        (OSError(errno.ENOENT, "is missing", "file"), 1, "'file': is missing"),
        (OSError(errno.ENOSPC, "is full"), 1, "is full"),
        (OSError("odd"), 1, "odd"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (KeyboardInterrupt("at step 3"), 130, "interrupted at step 3"),
    ],
)
def test_failure_is_one_line_and_a_status(casgd, monkeypatch, error, status, words):
    def run(_options):
        raise error

    monkeypatch.setattr(command_line, "parse", lambda _: argparse.Namespace(run=run))
    assert casgd() == (status, "", f"casgd: {words}\n")


def test_ctrl_c_while_the_program_is_loading_is_one_line_and_a_status():
    interrupted = """
import importlib.abc, sys

class Interrupted(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupted())
import casgd
sys.exit(casgd.main())
"""
    ran = subprocess.run([sys.executable, "-c", interrupted], capture_output=True, text=True, env=OUTSIDE, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "casgd: interrupted\n")


def test_error_of_the_program_itself_is_not_hidden(monkeypatch):
    def run(_options):
        raise ZeroDivisionError("ours")

    monkeypatch.setattr(command_line, "parse", lambda _: argparse.Namespace(run=run))
    with pytest.raises(ZeroDivisionError):
        main([])


@pytest.mark.usefixtures("trained")
def test_closed_pipe_is_quiet():
    Path("many.svm").write_text(ROWS * 20_000)
    shell = f"({sys.executable} -m efficient predict a.model many.svm --scores; echo $? > status) | head -1"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=False, env=OUTSIDE)
    assert (done.stderr, done.stdout.count("\n"), Path("status").read_text()) == ("", 1, "141\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.usefixtures("trained")
def test_full_disk_is_an_error():
    with open("/dev/full", "w") as full:
        command = [*COMMAND, "predict", "a.model", "a.svm"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=OUTSIDE)
    assert done.returncode == 1
    assert re.fullmatch(r"casgd: [^\n]*No space left[^\n]*\n", done.stderr)


def test_standard_output_may_be_closed_or_lack_greek_letters(casgd, monkeypatch):
    Path("a.svm").write_text(ROWS)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", None)
        assert main(["train", "a.svm", "-o", "a.model", "--epochs", "1"]) == 0
    assert Path("a.model").exists()
    raw = io.BytesIO()
    with monkeypatch.context() as patch, io.TextIOWrapper(raw, encoding="ascii") as terminal:
        patch.setattr(sys, "stdout", terminal)
        with pytest.raises(SystemExit) as ended:
            main(["train", "--help"])
        text = raw.getvalue().decode()
    assert (ended.value.code, "lambda > 0, the regularisation" in text) == (0, True)


@pytest.mark.usefixtures("trained")
def test_scikit_learn_is_imported_only_when_it_is_asked_for():
    np.savez("a.npz", **CSR, y=[0, 1])
    sp.save_npz("b.npz", sp.csr_array(np.eye(3)))
    code = """
import contextlib, sys
from efficient.__main__ import main
for command in ("--help", "train a.npz -o b.model --epochs 1", "predict a.model b.npz", "evaluate b.model a.npz"):
    with contextlib.suppress(SystemExit):
        assert main(command.split()) == 0
assert "sklearn" not in sys.modules
assert main("train a.npz -o b.model --epochs 1 --tfidf".split()) == 0
assert "sklearn" in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=OUTSIDE)
    assert done.returncode == 0, done.stderr


# any file as input

CSR = {"data": np.ones(2), "indices": np.array([0, 1]), "indptr": np.array([0, 1, 2]), "shape": np.array([2, 2])}
LABELS = st.sampled_from(
    ["1", "-1", "+1", "0", "-0", "1e308", "-1.7e308", "1e309", "nan", "1,2", "a", "\0", "\udcff", "#", "#1:1", "qid:3", "qid:"]
)
ENTRIES = st.sampled_from(
    ["1:1", "2:0.5", "3:-1e3", "4:5e-324", "5:1e-310", "6:-0", "3:1e308", "1:1e999", "1:nan", "2:inf", "1:1_0", "1:1:1", "0:1"]
)
WRONG = st.sampled_from(
    ["-1:2", "2147483647:1", "99999999999999:1", "1.5:1", "1_0:1", "0x1:1", "a:b", "1:", ":1", ":", "\u0663:\u0661", "1"]
)
LINES = st.lists(LABELS | ENTRIES | WRONG, max_size=6).map(" ".join)
GOOD = st.sampled_from(["1 1:1 2:0.5", "-1 2:1", "1 3:2 # good", "-1 1:0.25 4:1", "1 1:1"])
ENDS = st.sampled_from(["\n"] * 9 + ["\r\n", "\r", "\n\n"])


@st.composite
def texts(draw):
    """Some good lines, and in half of the texts one or two that may be anything."""
    lines = draw(st.lists(GOOD, min_size=2, max_size=8))
    for line in draw(st.just([]) | st.lists(LINES, min_size=1, max_size=2)):
        lines.insert(draw(st.integers(0, len(lines))), line)
    return "".join(line + draw(ENDS) for line in lines).encode(errors="surrogateescape")


HARM = st.tuples(st.integers(0, 2000), st.binary(min_size=1, max_size=3))


@settings(max_examples=100 if settings.default.max_examples == 100 else 8000, suppress_health_check=[HealthCheck.too_slow])
@given(
    content=st.one_of(texts(), texts(), texts(), st.binary(max_size=60)),
    ending=st.sampled_from(["", "", "", "", ".gz", ".gz", ".bz2", ".npz"]),
    harm=st.one_of(st.none(), st.none(), st.none(), HARM),
    options=st.sampled_from([[], ["--tfidf"], ["--scale"], ["--zero-based"], ["--hold-out", "0.5"], ["--loss", "squared"]]),
)
@example(content=b"1 1:1\n-1 2:1e308 3:1e308\n", ending="", harm=None, options=["--tfidf"])
@example(content=b"1e308 1:1\n-1e308 2:1\n", ending="", harm=None, options=["--loss", "squared"])
def test_any_file_gives_finite_predictions_or_one_line(workplace, content, ending, harm, options):
    folder, saw = workplace
    path, model = folder / f"fuzz{ending}", folder / "fuzz.model"
    archive = io.BytesIO()
    np.savez(archive, **CSR, y=[0, 1])
    content = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".npz": lambda _: archive.getvalue()}[ending](content)
    if harm is not None:
        place, other = harm[0] % (len(content) + 1), harm[1]
        content = content[:place] + other + content[place + len(other) :]
    path.write_bytes(content)
    model.unlink(missing_ok=True)
    status, out, err = quietly("train", path, "-o", model, "--epochs", 1, *options)
    assert path.read_bytes() == content
    saw[status] = saw.get(status, 0) + 1
    if status:
        assert (status, model.exists()) == (1, False)
        assert re.fullmatch(r"casgd: [^\n]+\n", err), err
        return
    assert err == ""
    assert "nan" not in out
    read = load_model(str(model))  # refuses all that is not finite
    status, out, err = quietly("predict", model, path)
    if status == 0:
        assert np.isfinite(np.array(out.split(), dtype=float)).all()
        assert len(out.split()) == read.training["rows"] or options[:1] == ["--hold-out"]
    else:
        assert (status, "overflow" in err) == (1, True)


def quietly(*arguments):
    """Status and output of a command, without a fixture."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        status = main([str(argument) for argument in arguments])
    return status, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    """Folder, and how often each status was seen: the files must not be all alike."""
    seen: dict[int, int] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(examples, "physical_memory", lambda: 4e9)
        yield tmp_path_factory.mktemp("fuzz"), seen
    if sum(seen.values()) >= 100:
        assert seen.keys() == {0, 1}
