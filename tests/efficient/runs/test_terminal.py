"""Any letter on any terminal: every entry point prints its help, and itself, in ASCII where it must."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
ENTRIES = [ROOT / "proofs/slips.py", *(file for name in ("efficient", "proofs") for file in (ROOT / name).rglob("__main__.py"))]


def printed(code: str, encoding: str) -> subprocess.CompletedProcess:
    outside = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": encoding}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, env=outside, cwd=ROOT)


@pytest.mark.parametrize(
    ("encoding", "shown"), [("ascii", b"lambda <= 1/2: +, ?"), ("cp1252", b"lambda <= \xbd: +, \xdf"), ("utf8", None)]
)
def test_letters_that_a_terminal_lacks_are_typed(encoding, shown):
    text = "λ ≤ ½: ✓, ß"
    done = printed(f"from efficient.runs.terminal import print_any_letter; print_any_letter(); print({text!r})", encoding)
    assert (done.returncode, done.stdout.strip()) == (0, shown or text.encode())
    without = printed(f"print({text!r})", encoding)
    assert (b"UnicodeEncodeError" in without.stderr) == (encoding != "utf8")


@pytest.mark.parametrize("file", ENTRIES, ids=lambda file: str(file.relative_to(ROOT)))
def test_entry_point_begins_by_letting_any_letter_through(file):
    (main,) = [each for each in ast.parse(file.read_text("utf8")).body if getattr(each, "name", "") == "main"]
    first, *_ = main.body[1:] if ast.get_docstring(main) else main.body
    assert ast.unparse(first) == "print_any_letter()"


def test_help_of_every_program_is_printed_on_a_terminal_of_ascii():
    code = """
import contextlib, importlib
for name in ("efficient", "proofs", "proofs.conformance", "proofs.bench", "proofs.measured", "proofs.proved", "proofs.report"):
    main = importlib.import_module(f"{name}.__main__").main
    for arguments in [["train", "--help"], ["--help"]] if name == "efficient" else [["--help"]]:
        with contextlib.suppress(SystemExit):
            main(arguments)
"""
    done = printed(code, "ascii")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.count(b"usage: ") == 8 and b"1/(lambda(t + t0))" in done.stdout
