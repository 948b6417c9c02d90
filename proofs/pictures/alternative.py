"""Say in words what a picture shows, for those who do not see it."""

import inspect
import re

from .. import pictures


def image_alternative(code: str) -> str:
    """Describe the picture of a cell of a notebook by what its code draws."""
    drawn = [getattr(pictures, name, None) for name in re.findall(r"\bpictures\.(\w+)\(", code) if name != "grid"]
    said = [(inspect.getdoc(each) or "").split("\n")[0].rstrip(".") for each in drawn if each is not None]
    said = [re.sub("^Draw,? ", "", each) for each in said]
    return f"Picture: {'; '.join(said)}" if said else "Picture drawn by the code of this cell, described in the text around it"
