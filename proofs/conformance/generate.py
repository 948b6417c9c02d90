"""Write the test vectors, what the definitions give in exact arithmetic, to `vectors/`, one file an algorithm and loss.

`python -m proofs.conformance.generate` writes the files; with `--check` it proves that the stored ones are, byte for byte, what
it would write. Every expected value comes from `reference` on fractions, or for long and wide questions from `rounded`; nothing
expected is computed in floats, so that the files are the same on every machine.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from decimal import Context
from fractions import Fraction
from functools import cache, partial
from itertools import product, zip_longest
from pathlib import Path
from typing import BinaryIO

from tqdm import tqdm

import reference
from efficient.runs.files import write_whole
from reference import PAPER
from reference.losses import GRID_BITS, get_loss

from . import rounded
from .bounds import bounds
from .cases import ALGORITHM, LOSSES, VECTORS, VERSION
from .inputs import INPUTS, Inputs, Run
from .reach import FOLDER, RECIPES

SCHEMAS = {"schema.json", f"{FOLDER}/schema.json"}
DIGITS = Context(prec=40)
LINE = 128
"""How long a line may be before its list or object gets one line for each entry."""


@cache
def _run(inputs: Inputs, loss: str, centred: bool) -> Run | None:
    """Share a run between the two algorithms that differ only in whether they average: they take the same steps."""
    return inputs.run(loss, centred)


def number(exact: Fraction) -> dict[str, str]:
    """Write a rational exactly, and to 40 digits for readers without fractions."""
    return {"exact": str(exact), "decimal": str(DIGITS.divide(exact.numerator, exact.denominator))}


def case(inputs: Inputs, run: Run, average: bool) -> dict:
    """Make the case of these inputs for one algorithm: its input, the exact answers, and the tolerances of floats."""
    algorithm = ALGORITHM[average, run.centred]
    T = len(run.indices)
    times = sorted({t for t in (1, 2, 3, T // 2, T) if 1 <= t <= T})
    checkpoints = []
    for t in times:
        predictor = getattr(reference, algorithm)(run.exact, run.indices[:t])
        w = [number(Fraction(weight)) for weight in predictor.w]
        checkpoints.append({"t": t, "w": w, "b": number(Fraction(predictor.b))})
    return {
        "id": f"{algorithm}-{run.loss}-{inputs.name}",
        "comment": inputs.comment,
        "flags": run.flags,
        "n": run.n,
        "rows": run.rows,
        "y": run.y,
        "lam": run.lam,
        "indices": run.indices,
        "expected": {
            "p": [number(Fraction(step.p)) for step in run.steps],
            "g": [number(Fraction(step.g)) for step in run.steps],
            "checkpoints": checkpoints,
        },
        "float": bounds(run, average, times),
    }


def document(average: bool, centred: bool, loss: str) -> dict:
    """Make the file for one algorithm and one loss."""
    runs = ((inputs, _run(inputs, loss, centred)) for inputs in INPUTS)
    return {
        "paper": PAPER,
        "version": VERSION,
        "algorithm": ALGORITHM[average, centred],
        "average": average,
        "centred": centred,
        "loss": loss,
        **({"grid_bits": GRID_BITS} if get_loss(loss).exact else {}),
        "cases": [case(inputs, run, average) for inputs, run in runs if run],
    }


def text(value, indent: str = "") -> str:
    """Write JSON in which a value that fits on a line is on one."""
    line = json.dumps(value)
    if len(indent) + len(line) < LINE or not isinstance(value, (dict, list)):
        return line
    inner = indent + " "
    if isinstance(value, list):
        opening, entries, closing = "[", [text(each, inner) for each in value], "]"
    else:
        opening, entries, closing = "{", [f"{json.dumps(key)}: {text(each, inner)}" for key, each in value.items()], "}"
    return f"{opening}\n" + ",\n".join(inner + entry for entry in entries) + f"\n{indent}{closing}"


def vectors() -> Iterator[tuple[str, str]]:
    """Make the name and the contents of each of the files: 16 with exact answers, and one for each recipe."""
    for (average, centred), loss in tqdm(list(product(ALGORITHM, LOSSES)), desc="vectors", unit="file", disable=None):
        yield f"{ALGORITHM[average, centred]}-{loss}.json", text(document(average, centred, loss)) + "\n"
    for recipe in tqdm(RECIPES, desc="long and wide vectors", unit="file", disable=None):
        yield f"{FOLDER}/{recipe.name}.json", text(rounded.document(recipe)) + "\n"


def differences(made: dict[str, str], folder: Path) -> Iterator[str]:
    """Compare the files in the folder with those that were made: the first different line of each."""
    stored = {file.relative_to(folder).as_posix() for file in folder.rglob("*.json")} - SCHEMAS
    yield from (f"{name}: stored, but not generated" for name in sorted(stored - made.keys()))
    for name, content in made.items():
        if name not in stored:
            yield f"{name}: generated, but not stored"
            continue
        within = "head"
        lines = zip_longest((folder / name).read_bytes().split(b"\n"), content.encode().split(b"\n"))
        for place, (found, wanted) in enumerate(lines, start=1):
            if found != wanted:
                yield f"{name}, line {place} ({within}): stored is {found!r}, generated {wanted!r}"
                break
            within = re.sub(rb'^ *"id": "(.*)",$', rb"\1", found).decode() if b'"id": ' in found else within


def _write(content: str, file: BinaryIO) -> None:
    file.write(content.encode())


def main(arguments: list[str] | None = None, folder: Path = VECTORS) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m proofs.conformance.generate", description="Write the test vectors from the definitions, exactly."
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 if a stored file is not what this makes"
    )
    check = parser.parse_args(arguments).check
    made = dict(vectors())
    if not check:
        (folder / FOLDER).mkdir(exist_ok=True)
        for name, content in made.items():
            write_whole(folder / name, partial(_write, content))
        return 0
    found = list(differences(made, folder))
    print(*found or [f"{len(made)} vector files are what the definitions give"], sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
