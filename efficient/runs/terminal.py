"""Let programs print any letter on any terminal: for all entry points, of `efficient` and of `proofs`."""

import codecs
import io
import sys

IN_ASCII = {
    **{"λ": "lambda", "θ": "theta", "π": "pi", "ω": "omega", "ξ": "xi", "Σ": "sum ", "ε": "eps", "∇": "grad ", "ℓ": "loss"},
    **{"≤": "<=", "≥": ">=", "≠": "!=", "·": "*", "×": "x", "−": "-", "–": "-", "—": "-", "±": "+-", "…": "...", "½": "1/2"},
    **{"²": "^2", "³": "^3", "‖": "|", "′": "'", "’": "'", "‘": "'", "“": '"', "”": '"', "✓": "+", "✗": "x", "\u0304": "_bar"},
}
"""Letters of this project as one would type them; any other becomes a question mark."""


def _typed(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(IN_ASCII.get(letter, "?") for letter in error.object[error.start : error.end]), error.end


codecs.register_error("typed", _typed)


def print_any_letter() -> None:
    """Write the letters that standard output or standard error lack in ASCII, where printing would end in an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="typed")
