"""Draw the pictures of the READMEs: `python -m proofs.pictures`. Those of speed are drawn from results, by `--speed FILE`."""

import argparse
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from efficient.runs.files import write_whole
from efficient.runs.terminal import print_any_letter

from ..bench import FORMAT
from . import averages, point, speed

FOLDER = Path(__file__).parent / "readme"


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw each picture into its file, whole or not at all."""
    print_any_letter()
    parser = argparse.ArgumentParser(prog="python -m proofs.pictures", description=__doc__)
    parser.add_argument(
        "--speed", metavar="FILE", help="what `python -m proofs.bench --json FILE` wrote: draw these results alone"
    )
    options = parser.parse_args(arguments)
    pictures = {"averages": averages}
    if options.speed:
        try:
            results = json.loads(Path(options.speed).read_text("utf8"))
            number = results.get("format")
        except (OSError, ValueError, AttributeError, RecursionError) as error:
            parser.error(
                f"--speed must be a file that `python -m proofs.bench --json FILE` wrote; got {options.speed!r}: {error}"
            )
        if number != FORMAT:
            parser.error(f"--speed must have results of format {FORMAT}; got format {number}. Measure again")
        pictures = {"speed": partial(speed, results), "point": partial(point, results)}
    plt.switch_backend("agg")
    FOLDER.mkdir(exist_ok=True)
    for name, draw in pictures.items():
        figure = np.ravel(draw())[0].figure
        write_whole(FOLDER / f"{name}.png", partial(figure.savefig, format="png"))
        plt.close(figure)


if __name__ == "__main__":
    main()
