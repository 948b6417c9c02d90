"""The pictures of the page: where each belongs, what it shows in words, and what has to be measured for it."""

import io
from collections.abc import Iterator, Set
from typing import Any, NamedTuple

from tqdm import tqdm

from .. import bench, pictures


class Picture(NamedTuple):
    """A function of `proofs.pictures` by its name, the label where it stands, its caption, and words for the blind.

    Where `measured`, the function draws the results of the quick bench of that name.
    """

    name: str
    label: str
    caption: str
    alternative: str
    measured: bool = False

    def draw(self, results: dict[str, Any] | None) -> bytes:
        """The picture as SVG, without a background: it lies on that of the page. The same numbers give the same bytes."""
        import matplotlib.pyplot as plt
        import numpy as np

        plt.switch_backend("agg")
        drawn = getattr(pictures, self.name)(*([results] if self.measured else []))
        figure, file = np.ravel(drawn)[0].figure, io.BytesIO()
        with plt.rc_context({"svg.hashsalt": self.name}):
            figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
        plt.close(figure)
        return file.getvalue()


class Drawn(NamedTuple):
    """A picture as SVG, and the results of the bench that it shows, if any."""

    picture: Picture
    svg: bytes
    results: dict[str, Any] | None


PICTURES = (
    Picture(
        "guarantee",
        "guarantee",
        "How near three averages come to the minimum, beside the bounds that are proved: 4200 tweets, hinge loss, λ = 0.01, "
        "ten seeds. Bands reach from the lowest to the highest.",
        "A plot of F minus its minimum against the number of steps, both on logarithmic axes, for the mean of the iterates "
        "from w_0, the paper's mean from w_1 and the mean weighted by t, each with a dashed line for its proved bound.",
    ),
    Picture(
        "averages",
        "eqn:naiveAverage",
        "What averaging buys and what it costs: distance from the minimum after so many passes, as a share of the distance of "
        "the zero predictor. Medians and quartiles of ten seeds.",
        "A plot of the distance of F from its minimum against passes over the data, both on logarithmic axes, for the last "
        "iterate, the uniform mean of the paper, the mean weighted by t and the mean of the second half, on the mails.",
    ),
    Picture(
        "stability",
        "pivot",
        "Digits lost by casgd where all rows are moved far from the origin: the worst of the four losses, held against exact "
        "arithmetic.",
        "A plot of the relative error of the weights against an offset added to all rows, both on logarithmic axes, for "
        "Algorithm 3 as printed, explicit centring in floats and Algorithm 3 on pivoted rows, with dotted lines for the two "
        "rates at which digits are expected to be lost.",
    ),
    Picture(
        "scaling",
        "cost",
        "Cost against T, k and n: above seconds, below entries touched, counted one by one. At the right end of a line stands "
        "the exponent of its last decade.",
        "Six plots on logarithmic axes, in two rows of three: seconds above and entries touched below, against the number of "
        "steps T, the entries of a row k and the number of columns n, for the loop, a whole run and the dense definition of "
        "asgd and casgd. The table of exponents says the same in numbers.",
        measured=True,
    ),
    Picture(
        "speed",
        "cost",
        "Nanoseconds for each stored entry visited, on this machine: medians, with bars between the quartiles.",
        "A plot of nanoseconds for a stored entry on a logarithmic axis, for the floor, the four loops, a plain compiled loop "
        "and scikit-learn's, on two data sets, rows in order and at random. The table of speeds says the same in numbers.",
        measured=True,
    ),
)


def draw(labels: Set[str], bar: tqdm) -> Iterator[Drawn]:
    """The pictures that stand under these labels. Clocks come last, when nothing else has to be done."""
    for picture in PICTURES:
        if picture.label in labels:
            bar.total += 1
            bar.set_postfix_str(picture.name)
            results = bench.quick(picture.name, bar) if picture.measured else None
            yield Drawn(picture, picture.draw(results), results)
            bar.update()
