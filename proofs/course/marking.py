"""Give marks, and messages where there are none."""

import linecache
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import CodeType, FrameType

Place = tuple[CodeType, int]
"""Line of a function that was running."""


class Wrong(AssertionError):
    """Wrong answer, with sentences for its author. A notebook shows these, and no traceback."""

    def _render_traceback_(self) -> list[str]:  # what IPython asks for
        return [f"WRONG: {self}"]


class Unwritten(Wrong):
    """Missing answer."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


_book: dict[str, tuple[int, int]] = {}


@contextmanager
def marks(points: int, what: str) -> Iterator[None]:
    """Give `points` marks for `what` if the block raises nothing, and none otherwise.

    Raises
    ------
    Wrong
        The block raised it, or NotImplementedError, which becomes Unwritten, or an error in a line of an answer, which is
        quoted. Errors of other origin pass unchanged.
    """
    _book[what] = (0, points)
    lost = f"(0 of {points} marks for {what})"
    try:
        yield
    except NotImplementedError as error:
        raised = ": ".join(filter(None, ["NotImplementedError", str(error)]))
        raise Unwritten(f"not written yet: {raised}\n{lost}") from None
    except Wrong as wrong:
        raise Wrong(f"{wrong}\n{lost}") from None
    except Exception as error:
        if not any(is_of_answer(frame) for frame, _ in traceback.walk_tb(error.__traceback__)):
            raise
        raise Wrong(f"{told(error)}\n{lost}") from None
    _book[what] = (points, points)
    print(f"Right: {points} of {points} marks for {what}.")


def total(of: int, hidden: int) -> None:
    """Print the marks of all tests that were run in this process, out of `of`, and which are left, out of `hidden` ones too."""
    for what, (given, points) in _book.items():
        print(f"{given:3d} of {points:2d}  {what}")
    given, asked = (sum(each[place] for each in _book.values()) for place in (0, 1))
    if any(what.startswith("hidden") for what in _book):
        hidden = 0
    left = {"tests that were not run": of - asked - hidden, "hidden tests": hidden}
    rest = " and ".join(f"{points} for {what}" for what, points in left.items() if points)
    print(f"{given:3d} of {of:2d}  in all", f"; the rest: {rest}" if rest else "", sep="")


# where an answer went wrong


def is_of_answer(frame: FrameType) -> bool:
    """Tell whether a frame belongs to a function of the notebook."""
    return is_of_notebook(frame) and frame.f_code.co_name != "<module>"


def is_of_notebook(frame: FrameType) -> bool:
    return frame.f_globals.get("__name__", "__main__") == "__main__"


def told(error: BaseException, handed_out: int = 0) -> str:
    """Say which error was raised, and in which line of the notebook, below so many functions that it was handed out with."""
    frames = [(frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__) if is_of_notebook(frame)]
    places = quoted((frames[handed_out:] or frames)[::-1], "in")
    if isinstance(error, SyntaxError) and not places:
        return f"{type(error).__name__}: {error.msg}\n  in line {error.lineno}: `{(error.text or '').strip()}`"
    return "\n".join([f"{type(error).__name__}: {error}".rstrip(": "), *places])


def quoted(places: Sequence[Place], how: str) -> list[str]:
    """Quote a line of a notebook and the one that called its function, of all that were running, innermost first."""
    functions = list(dict.fromkeys(function_of(code) for code, _ in places))
    called = [places[-1]] if len(functions) > 1 and functions[-1] != "<module>" else []
    return [*(f"  {how} {_quoted(*place)}" for place in places[:1]), *(f"  called in {_quoted(*place)}" for place in called)]


def function_of(code: CodeType) -> str:
    return code.co_qualname.split(".<locals>")[0]


def _quoted(code: CodeType, line: int) -> str:
    text = linecache.getline(code.co_filename, line).strip()
    place = f"line {line}" if function_of(code) == "<module>" else f"`{function_of(code)}`, line {line}"
    return f"{place}: `{text if len(text) <= 80 else text[:79] + '…'}`" if text else place
