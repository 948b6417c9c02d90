"""Run a student's cells apart from the tests: nothing of the tests is there to be shadowed, called or patched."""

import ast
import builtins
import contextlib
import io
import linecache
import sys
from collections.abc import Iterable
from itertools import count
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any

from .marking import told

TESTS_OWN = {"proofs", "reference", "efficient", "importlib", "inspect", "gc", "ctypes", "builtins", "sklearn"}
"""Packages that no answer may use: those that know the answers or reach the tests, and a library that solves the task."""

OPEN = {"proofs.proved.symbols"}
"""Modules of these that an exercise hands to its answers."""

GUARDED = ("proofs", "reference", "efficient", "numpy", "scipy", "sympy", "math", "builtins")


class StandIn:
    """Swallow every use of a name of the tests, so that the cells of a curious student run on."""

    def __init__(self, name: str, remark) -> None:
        vars(self).update(_name=name, _remark=remark)

    def __repr__(self) -> str:
        return f"<{self._name} is there for the tests only>"

    def __setattr__(self, name: str, _: Any) -> None:
        self._remark(f"changes {self._name}.{name}, which belongs to the tests; ignored")

    def __getattr__(self, name: str) -> "StandIn":
        if name.startswith("__"):
            raise AttributeError(name)
        return StandIn(f"{self._name}.{name}", self._remark)

    def __call__(self, *_, **__) -> "StandIn":
        frame = sys._getframe(1)
        if frame.f_code.co_name != "<module>":
            self._remark(f"calls {self._name} in {frame.f_code.co_name}, which belongs to the tests: write it yourself")
        return self

    def __getitem__(self, _) -> "StandIn":
        return self

    def __setitem__(self, *_) -> None:
        self._remark(f"changes {self._name}, which belongs to the tests; ignored")

    def __enter__(self) -> "StandIn":
        return self

    def __exit__(self, *_) -> bool:
        return True

    def __iter__(self):
        return iter(())


class Shell:
    """Stand for `get_ipython()`: magics do nothing, but those around a cell run it."""

    def __init__(self, names: dict[str, Any]) -> None:
        self._names = names

    def run_cell_magic(self, magic: str, _line: str, cell: str) -> None:
        if magic in ("time", "timeit", "capture", "prun"):
            exec(compiled(cell, f"%%{magic}"), self._names)

    def __getattr__(self, _):
        return lambda *_, **__: None


def transformed(source: str) -> str:
    """Write the syntax of Jupyter (`?`, `!`, `%`) as Python, as Jupyter does."""
    from IPython.core.inputtransformer2 import TransformerManager

    return TransformerManager().transform_cell(source)


_numbers = count(1)


def compiled(source: str, cell: str) -> CodeType:
    """Compile a cell whose lines can be quoted."""
    text = transformed(source)
    return compile(text, _file(text, cell), "exec")


def _file(text: str, cell: str) -> str:
    """Make up a file's name for the text of a cell, under which Python finds its lines."""
    file = f"<{cell} {next(_numbers)}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    return file


class Answers:
    """Namespace of a student's cells: what the exercise hands out, with a stand-in for each name of its tests.

    Parameters
    ----------
    handed_out : sources of the locked cells of the exercise that are no tests
    tests : sources of its tests
    """

    def __init__(self, handed_out: Iterable[str], tests: Iterable[str]) -> None:
        self.remarks: list[str] = []
        self.cell = ""
        self.names: dict[str, Any] = {"__name__": "__main__", "display": lambda *_, **__: None}
        self.names["__builtins__"] = {**vars(builtins), "__import__": self._imported}
        self.names["get_ipython"] = lambda: Shell(self.names)
        handed_out = list(handed_out)
        self.of_tests = {name: StandIn(name, self.remark) for text in (*handed_out, *tests) for name in _tests_names(text)}
        self.names |= self.of_tests
        for text in handed_out:
            file = _file(text, "handed out")
            for node in ast.parse(text).body:
                if not _is_import_of_tests(node):
                    with contextlib.suppress(Exception):  # what needs an answer is for the tests
                        exec(compile(ast.Module([node], []), file, "exec"), self.names)
        self.remarks.clear()
        self._first = dict(self.names)
        self._guarded = {
            module: dict(vars(module)) for name, module in sys.modules.items() if name.split(".")[0] in GUARDED and module
        }

    def remark(self, text: str) -> None:
        if f"{self.cell}: {text}" not in self.remarks:
            self.remarks.append(f"{self.cell}: {text}")

    def _imported(self, name, globals=None, locals=None, fromlist=(), level=0):
        if name.split(".")[0] in TESTS_OWN and name not in OPEN:
            self.remark(f"imports {name}, which answers go without")
            return StandIn(name, self.remark)
        if name == "sys":  # without the way to all modules
            return SimpleNamespace(**{each: value for each, value in vars(sys).items() if each not in ("modules", "_getframe")})
        return __import__(name, globals, locals, fromlist, level)

    def run(self, source: str, cell: str) -> str:
        """Run a cell of the student; return the message of what it raised, or nothing.

        What the exercise hands out is afterwards as it was, whatever the cell has done.
        """
        self.cell = cell
        said = run(source, cell, self.names)
        for name, value in self._first.items():
            if self.names.get(name) is not value:
                if name in self.of_tests:
                    self.remark(f"gives {name}, a name of the tests, another meaning; ignored")
                self.names[name] = value
        self.restore()
        return said

    def restore(self) -> bool:
        """Undo what an answer has changed in the modules of the tests; return whether there was anything."""
        changed = False
        for module, before in self._guarded.items():
            for name, value in before.items():
                if vars(module).get(name) is not value:
                    setattr(module, name, value)
                    self.remark(f"changes {module.__name__}.{name}; undone")
                    changed = True
        return changed

    def functions(self, wanted: Iterable[str]) -> dict[str, Any]:
        """Find the answers, by name."""
        return {name: self.names[name] for name in wanted if callable(self.names.get(name))}


def run(source: str, cell: str, names: dict[str, Any]) -> str:
    """Run a cell; return the message of what it raised, or nothing."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            exec(compiled(source, cell), names)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit too
            if hasattr(error, "_render_traceback_"):  # its message is complete
                return str(error)
            return told(error)
    return ""


def answers_in(source: str) -> list[str]:
    """List the functions that a cell defines."""
    return [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]


def with_globals(function: FunctionType, **changed: Any) -> FunctionType:
    """Copy a function, with other values for some of its globals."""
    return FunctionType(
        function.__code__, function.__globals__ | changed, function.__name__, function.__defaults__, function.__closure__
    )


def _is_import_of_tests(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module not in OPEN and str(node.module).split(".")[0] in TESTS_OWN


def _tests_names(text: str) -> list[str]:
    nodes = [node for node in ast.parse(text).body if _is_import_of_tests(node)]
    return [alias.asname or alias.name for node in nodes for alias in node.names]  # type: ignore[attr-defined]
