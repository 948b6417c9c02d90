"""The pictures: each a function that draws on the axes `ax`, or on new ones, and returns them."""

from .centring import stability
from .convergence import averages, guarantee
from .cost import scaling, speed

__all__ = ["averages", "guarantee", "scaling", "speed", "stability"]
