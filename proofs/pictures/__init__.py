"""Draw the pictures: each is a function that draws on the axes `ax`, or on new ones, and returns them."""

try:
    from .cost import caches, point, scaling, speed, step
    from .evidence import formula_sizes, four_verdicts, identical, losses, survivors, translation
    from .look import grid
    from .measured import averages, certified, gains, guarantee, memory, misses, remembered, stability, sweep, words
    from .plane import explore, fits, path, positions
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"proofs.pictures needs {error.name}: pip install -e '.[proofs]' in a clone", name=error.name
    ) from None

__all__ = [
    "averages",
    "caches",
    "certified",
    "explore",
    "fits",
    "formula_sizes",
    "four_verdicts",
    "gains",
    "grid",
    "guarantee",
    "identical",
    "losses",
    "memory",
    "misses",
    "path",
    "point",
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
