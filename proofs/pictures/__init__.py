"""The pictures: each a function that draws on the axes `ax`, or on new ones, and returns them."""

from .centring import fits, stability, translation
from .convergence import averages, gains, guarantee, memory, remembered
from .cost import scaling, speed, step
from .iterates import identical
from .look import grid
from .losses import losses
from .path import path, positions

__all__ = [
    "averages",
    "fits",
    "gains",
    "grid",
    "guarantee",
    "identical",
    "losses",
    "memory",
    "path",
    "positions",
    "remembered",
    "scaling",
    "speed",
    "stability",
    "step",
    "translation",
]
