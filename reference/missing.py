"""Stand in for a package that is not installed, for modules that need it in some of their functions only."""

from typing import Any


class Missing:
    """Package whose names can be named, as in annotations, but not called.

    Calling one raises ModuleNotFoundError: `who` needs the package, and which extra has it.
    """

    def __init__(self, package: str, who: str, extra: str) -> None:
        self._package = package
        self._told = f"{who} need {package}: pip install -e '.[{extra}]' in a clone. It has no build for browsers"

    def __getattr__(self, name: str) -> "Missing":
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise ModuleNotFoundError(self._told, name=self._package)
