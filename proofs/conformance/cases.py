"""Read the stored test vectors: the question, the exact answer, and the tolerance of float64."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from .serve import matrix

PAPER = "arXiv:1612.09147"
"""Paper that the vectors belong to."""

ALGORITHM = {(False, False): "sgd", (True, False): "asgd", (False, True): "csgd", (True, True): "casgd"}
"""Algorithm for each value of (average, centred), as the head of its vector files has it."""

LOSSES = ("absolute", "squared", "hinge", "log")
"""The losses of Table 1, of which the vectors are."""

VECTORS = Path(__file__).parent / "vectors"

VERSION = 1
"""The version of the format that this reads."""


@dataclass(frozen=True, eq=False)
class Question:
    """Train on these rows in this order, centred or not.

    Parameters
    ----------
    n : int
        Number of columns.
    rows : m rows of (column, value) pairs as they are stored: perhaps unsorted, a column twice, zeros
    y, loss, lam, indices, centred : arguments of an implementation, in float64; indices are 0-based
    """

    n: int
    rows: Sequence[Sequence[tuple[int, float]]]
    y: list[float]
    loss: str
    lam: float
    indices: list[int]
    centred: bool

    def matrix(self) -> Any:
        """Make a new CSR array of shape (m, n) that stores the entries as given."""
        return matrix(self.rows, self.n)


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Predictor (w, b) after the first t steps, and how far float64 may be from it: None where it does not decide.

    It is exact, in fractions, or rounded to float64 (an array and a float), with a tolerance that includes that rounding.
    """

    t: int
    w: Any
    b: Any
    w_tolerance: float | None
    b_tolerance: float | None

    @property
    def held(self) -> bool:
        """Tell whether a float64 implementation is held to it."""
        return self.w_tolerance is not None and self.b_tolerance is not None


@dataclass(frozen=True, eq=False, kw_only=True)
class Case(Question):
    """One case of the vectors: a question and its answer.

    Parameters
    ----------
    id, comment : str
        A name that never changes, and the reason for the case.
    flags : tuple of str
        Keys of `proofs.conformance.inputs.FLAGS`.
    p, g : tuples of Fraction
        The predictions before each step and the loss derivatives there; empty if they are not stored.
    p_tolerance, g_tolerance : tuples of float, None from the step on which float64 does not decide
    checkpoints : tuple of Checkpoint
    undecided : str
        Which step float64 does not decide and why, or nothing.
    known : frozenset of str
        The declared deviations whose answers these are; none for the paper's.
    """

    id: str
    comment: str
    flags: tuple[str, ...]
    algorithm: str
    average: bool
    p: tuple[Fraction, ...]
    g: tuple[Fraction, ...]
    p_tolerance: tuple[float | None, ...]
    g_tolerance: tuple[float | None, ...]
    checkpoints: tuple[Checkpoint, ...]
    undecided: str
    known: frozenset[str] = frozenset()

    def request(self, t: int) -> dict[str, Any]:
        """Ask an external program about the first t steps: an object for one line of JSON."""
        return {
            "id": f"{self.id}@{t}",
            "algorithm": self.algorithm,
            "average": self.average,
            "centred": self.centred,
            "loss": self.loss,
            "n": self.n,
            "rows": self.rows,
            "y": self.y,
            "lam": self.lam,
            "indices": self.indices[:t],
        }


def load(algorithm: str | Iterable[str] | None = None, loss: str | Iterable[str] | None = None) -> list[Case]:
    """Read the cases of some algorithms and losses: a name, several, or None for all.

    Raises
    ------
    ValueError
        An algorithm or loss is not among those of the vectors.
    """
    algorithms, losses = chosen(algorithm, loss)
    return [case for name in algorithms for kind in losses for case in _read(VECTORS / f"{name}-{kind}.json")]


def chosen(algorithm: str | Iterable[str] | None, loss: str | Iterable[str] | None) -> tuple[list[str], list[str]]:
    """Validate names of algorithms and of losses: a name, several, or None for all."""
    return _chosen("algorithm", algorithm, ALGORITHM.values()), _chosen("loss", loss, LOSSES)


def _chosen(argument: str, chosen: str | Iterable[str] | None, known: Iterable[str]) -> list[str]:
    known = list(known)
    names = known if chosen is None else [chosen] if isinstance(chosen, str) else list(chosen)
    for name in names:
        if name not in known:
            raise ValueError(f"{argument} must be one of {', '.join(map(repr, known))}, several or None for all; got {name!r}")
    if not names:
        raise ValueError(f"{argument} must name at least one of {', '.join(map(repr, known))}; got none")
    return [name for name in known if name in names]


@cache
def _read(path: Path) -> tuple[Case, ...]:
    file = json.loads(path.read_text("utf8"))
    if file["version"] != VERSION:
        raise ValueError(f"{path} has version {file['version']} of the format; this reads version {VERSION}")
    kind = {key: file[key] for key in ("algorithm", "average", "centred", "loss")}
    return tuple(_case(each, kind) for each in file["cases"])


def _case(each: dict[str, Any], kind: dict[str, Any]) -> Case:
    expected, tolerances = each["expected"], each["float"]
    return Case(
        **kind,
        **{key: each[key] for key in ("id", "comment", "n", "y", "lam", "indices")},
        rows=[[(column, value) for column, value in row] for row in each["rows"]],
        flags=tuple(each["flags"]),
        p=_numbers(expected["p"]),
        g=_numbers(expected["g"]),
        p_tolerance=tuple(tolerances["p"]),
        g_tolerance=tuple(tolerances["g"]),
        checkpoints=tuple(
            Checkpoint(point["t"], _numbers(point["w"]), Fraction(point["b"]["exact"]), tolerance["w"], tolerance["b"])
            for point, tolerance in zip(expected["checkpoints"], tolerances["checkpoints"], strict=True)
        ),
        undecided=tolerances.get("undecided", ""),
    )


def _numbers(values: list[dict[str, str]]) -> tuple[Fraction, ...]:
    return tuple(Fraction(value["exact"]) for value in values)
