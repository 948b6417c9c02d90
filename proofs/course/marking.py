"""Give marks, and messages where there are none."""

from collections.abc import Iterator
from contextlib import contextmanager


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
        The block raised it, or NotImplementedError, which becomes Unwritten. Other errors pass unchanged.
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
    _book[what] = (points, points)
    print(f"Right: {points} of {points} marks for {what}.")


def total(of: int) -> None:
    """Print the marks of all tests that were run in this process, out of `of`."""
    for what, (given, points) in _book.items():
        print(f"{given:3d} of {points:2d}  {what}")
    given, asked = (sum(each[place] for each in _book.values()) for place in (0, 1))
    print(f"{given:3d} of {of:2d}  in all", end="")
    print(f"; {of - asked} are for tests that were not run, or that are hidden" if asked < of else "")
