"""The pictures of the page: where each belongs, what it shows in words, and what has to be measured for it."""

import io
from collections.abc import Callable, Iterator, Set
from typing import Any, NamedTuple

from tqdm import tqdm

from .. import bench, pictures


class Picture(NamedTuple):
    """A picture: its name, the label where it stands, its title, its caption, words for the blind, and what draws it.

    Where `measured`, it is drawn from the results of the quick bench of that name.
    """

    name: str
    label: str
    title: str
    caption: str
    alternative: str
    axes: Callable[..., Any]
    measured: bool = False

    def draw(self, results: dict[str, Any] | None) -> bytes:
        """The picture as SVG, without a background: it lies on that of the page. The same numbers give the same bytes."""
        import matplotlib.pyplot as plt
        import numpy as np

        plt.switch_backend("agg")
        figure, file = np.ravel(self.axes(results) if self.measured else self.axes())[0].figure, io.BytesIO()
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
        "identical",
        "alg:casgd",
        "Identical iterates",
        "What the dense definition and the sparse algorithm differ by after every step, beside the bound of rounding: 4196 "
        "tweets, log loss, λ = 0.01, one pass. The exact runs above differ by nothing at all.",
        "Four plots, one for each of sgd, asgd, csgd and casgd: the absolute difference of dense and sparse against the step, "
        "both on logarithmic axes, for the prediction, the last weights and the average, with two lines for one rounding and "
        "for the bound of t + m + k roundings.",
        pictures.four_traces,
    ),
    Picture(
        "guarantee",
        "guarantee",
        "Averages beside their proved bounds",
        "How near three averages come to the minimum: 4196 tweets, hinge loss, λ = 0.01, "
        "ten seeds. Bands reach from the lowest to the highest.",
        "A plot of F minus its minimum against the number of steps, both on logarithmic axes, for the mean of the iterates "
        "from w_0, the paper's mean from w_1 and the mean weighted by t, each with a dashed line for its proved bound.",
        pictures.guarantee,
    ),
    Picture(
        "averages",
        "eqn:naiveAverage",
        "What averaging buys and costs",
        "Distance from the minimum after so many passes, as a share of the distance of "
        "the zero predictor. Medians and quartiles of ten seeds.",
        "A plot of the distance of F from its minimum against passes over the data, both on logarithmic axes, for the last "
        "iterate, the uniform mean of the paper, the mean weighted by t and the mean of the second half, on the mails.",
        pictures.averages,
    ),
    Picture(
        "translation",
        "translation",
        "What a translation does",
        "How much the predictions of 20 rows change, relative to the largest, when a number is added to all entries: log loss, "
        "λ = 0.1, 200 steps in floating point.",
        "A plot of the relative change of the predictions against what is added to every entry, both on logarithmic axes, for "
        "sgd, asgd, csgd and casgd, with a line at 1, where the predictions are others altogether.",
        pictures.translation,
    ),
    Picture(
        "stability",
        "pivot",
        "Digits lost far from the origin",
        "What casgd loses where all rows are moved: the worst of the four losses, held against exact arithmetic.",
        "A plot of the relative error of the weights against an offset added to all rows, both on logarithmic axes, for "
        "Algorithm 3 as printed, explicit centring in floats and Algorithm 3 on pivoted rows, with dotted lines for the two "
        "rates at which digits are expected to be lost.",
        pictures.stability,
    ),
    Picture(
        "scaling",
        "cost",
        "Cost against T, k and n",
        "Above seconds, below entries touched, counted one by one. At the right end of a line stands "
        "the exponent of its last decade.",
        "Six plots on logarithmic axes, in two rows of three: seconds above and entries touched below, against the number of "
        "steps T, the entries of a row k and the number of columns n, for the loop, a whole run and the dense definition of "
        "asgd and casgd. The table of exponents says the same in numbers.",
        pictures.scaling,
        measured=True,
    ),
    Picture(
        "speed",
        "cost",
        "Speed on this machine",
        "Nanoseconds for each stored entry visited: medians, with bars between the quartiles.",
        "A plot of nanoseconds for a stored entry on a logarithmic axis, for the floor, the four loops, a plain compiled loop "
        "and scikit-learn's, on two data sets, rows in order and at random. The table of speeds says the same in numbers.",
        pictures.speed,
        measured=True,
    ),
)


def draw(labels: Set[str], bar: tqdm) -> Iterator[Drawn]:
    """The pictures that stand under these labels. Clocks come last, when nothing else has to be done."""
    for picture in PICTURES:
        if picture.label in labels:
            bar.total += 1
            bar.set_postfix_str(picture.name)
            results = bench.quick(picture.name, bar.set_postfix_str) if picture.measured else None
            yield Drawn(picture, picture.draw(results), results)
            bar.update()
