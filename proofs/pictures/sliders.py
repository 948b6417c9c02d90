"""Move λ, the loss, a translation, t0 and the seed by sliders, in a notebook, and see what they do."""

import html
import io
from typing import Any

import ipywidgets as widgets

from .plane import View, explore, view


def _named(*values: Any) -> list[tuple[str, Any]]:
    return [(value if isinstance(value, str) else f"{value:g}", value) for value in values]


class Sliders:
    """Sliders above a picture: `box` shows them, `controls` are they by name, `seen` is the view that is drawn.

    If the iterates overflow, `message` says so in place of the picture, and `seen` is None.
    """

    def __init__(self) -> None:
        choice, late = widgets.SelectionSlider, {"continuous_update": False}  # draw when the slider is let go
        self.controls: dict[str, Any] = {
            "lam": choice(description="λ", options=_named(0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1), value=0.03, **late),
            "loss": choice(description="loss", options=["absolute", "squared", "hinge", "log"], value="hinge", **late),
            "translation": widgets.FloatSlider(description="translation", min=-8, max=8, step=0.5, value=0, **late),
            "t0": choice(description="t0", options=_named(0, 1, 3, 10, 30, 100, 300, 1000, "safe"), value=0, **late),
            "seed": widgets.IntSlider(description="seed", min=0, max=20, value=0, **late),
        }
        self.start = {name: control.value for name, control in self.controls.items()}
        self.seen: View | None = None
        self.picture, self.message = widgets.Image(format="png"), widgets.HTML()
        self._still = False
        for control in self.controls.values():
            control.observe(self._redraw, "value")
        self._redraw()
        first, second = list(self.controls.values())[:3], list(self.controls.values())[3:]
        self.box = widgets.VBox([widgets.HBox(first), widgets.HBox(second), self.message, self.picture])

    def move(self, **values: Any) -> None:
        """Move several sliders, and draw once."""
        self._still = True
        for name, value in values.items():
            self.controls[name].value = value
        self._still = False
        self._redraw()

    def _redraw(self, _: Any = None) -> None:
        if self._still:
            return
        try:
            self.seen = view(**{name: control.value for name, control in self.controls.items()})
        except FloatingPointError as error:
            self.seen, self.message.value = None, html.escape(str(error))
        else:
            self.message.value = ""
            self.picture.value = _png(self.seen)
        self.picture.layout.display = "none" if self.seen is None else None


def _png(seen: View) -> bytes:
    import matplotlib.pyplot as plt

    figure = explore(seen)[0, 0].figure
    drawn = io.BytesIO()
    figure.savefig(drawn, pil_kwargs={"compress_level": 1})  # half the time of a small file
    plt.close(figure)
    return drawn.getvalue()
