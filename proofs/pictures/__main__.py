"""Draw the pictures of the README anew: `python -m proofs.pictures`. That of speed comes from the bench, by its `--picture`."""

from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from efficient.runs.files import write_whole

from . import averages, four_traces

FOLDER = Path(__file__).parent / "readme"


def main() -> None:
    plt.switch_backend("agg")
    FOLDER.mkdir(exist_ok=True)
    for name, draw in (("identical", four_traces), ("averages", averages)):
        figure = np.ravel(draw())[0].figure
        write_whole(FOLDER / f"{name}.png", partial(figure.savefig, format="png"))
        plt.close(figure)


if __name__ == "__main__":
    main()
