"""The pictures: each a function that draws on the axes `ax`, or on new ones, and returns them."""

from .caches import caches
from .centring import fits, stability, translation
from .convergence import averages, gains, guarantee, memory, remembered
from .cost import scaling, speed, step
from .explore import explore
from .iterates import four_traces, identical
from .look import grid
from .losses import losses
from .path import path, positions
from .proving import formula_sizes, survivors
from .text import misses, sweep, words

__all__ = [
    "averages",
    "caches",
    "explore",
    "fits",
    "formula_sizes",
    "four_traces",
    "gains",
    "grid",
    "guarantee",
    "identical",
    "losses",
    "memory",
    "misses",
    "path",
    "positions",
    "remembered",
    "scaling",
    "speed",
    "stability",
    "step",
    "survivors",
    "sweep",
    "translation",
    "words",
]
