"""The pictures: each a function that draws on the axes `ax`, or on new ones, and returns them."""

from .centring import stability
from .convergence import averages, guarantee
from .cost import scaling, speed, step
from .iterates import identical
from .look import grid
from .losses import losses

__all__ = ["averages", "grid", "guarantee", "identical", "losses", "scaling", "speed", "stability", "step"]
