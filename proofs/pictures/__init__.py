"""The pictures: each a function that draws on the axes `ax`, or on new ones, and returns them."""

from .caches import caches
from .centring import stability
from .convergence import averages, guarantee
from .cost import scaling, speed
from .explore import explore
from .path import path
from .proving import formula_sizes, survivors
from .text import misses, sweep, words

__all__ = [
    "averages",
    "caches",
    "explore",
    "formula_sizes",
    "guarantee",
    "misses",
    "path",
    "scaling",
    "speed",
    "stability",
    "survivors",
    "sweep",
    "words",
]
