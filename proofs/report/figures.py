"""Pictures of the report: where each belongs, its caption, and its words for those who do not see it."""

import io
from collections.abc import Callable, Iterator, Set
from functools import partial
from typing import Any, NamedTuple

from tqdm import tqdm

from .. import bench, pictures
from ..bench import tables


class Picture(NamedTuple):
    """Picture: its name, the label where it stands, its caption, its alternative text, and what draws it.

    `lines`, for a picture of a quick bench, makes a table in text of the results.
    """

    name: str
    label: str
    caption: str
    alternative: str
    axes: Callable[..., Any]
    lines: Callable[[dict[str, Any]], list[str]] | None = None

    @property
    def title(self) -> str:
        """Beginning of the caption."""
        return self.caption.partition(":")[0]


class Drawn(NamedTuple):
    """Picture as SVG, with the lines of its table, if any."""

    picture: Picture
    svg: bytes
    lines: list[str]


PICTURES = (
    Picture(
        "identical",
        "alg:casgd",
        "Identical iterates: distance of the dense definition's and the sparse algorithm's float64 predictions from the exact "
        "ones, given the derivatives that each took, beside what one rounding of each operation may do; 4196 tweets, log loss, "
        "λ = 0.01, one pass. The exact runs above differ by nothing at all.",
        "Four plots, one for each of sgd, asgd, csgd and casgd: the absolute distance from the exact prediction against the "
        "step, both on logarithmic axes, for the definition and the sparse algorithm, below a line for one rounding of each "
        "operation.",
        pictures.four_verdicts,
    ),
    Picture(
        "guarantee",
        "guarantee",
        "Averages beside their proved bounds: how near three averages come to the minimum; 4196 tweets, hinge loss, λ = 0.01, "
        "ten seeds. Bands reach from the lowest to the highest.",
        "A plot of F minus its minimum against the number of steps, both on logarithmic axes, for the mean of the iterates "
        "from w_0, the paper's mean from w_1 and the mean weighted by t, each with a dashed line for its proved bound.",
        pictures.guarantee,
    ),
    Picture(
        "averages",
        "eqn:naiveAverage",
        "What averaging buys and costs: distance from the minimum after so many passes, as a share of the distance of "
        "the zero predictor. Medians and quartiles of five seeds.",
        "A plot of the distance of F from its minimum against passes over the data, both on logarithmic axes, for the last "
        "iterate, the uniform mean of the paper, the mean weighted by t and the mean of the second half, on the mails.",
        partial(pictures.averages, seeds=5),
    ),
    Picture(
        "translation",
        "translation",
        "What a translation does: how much the predictions of 20 rows change, relative to the largest, when a number is added "
        "to all entries; log loss, λ = 0.1, 200 steps in floating point.",
        "A plot of the relative change of the predictions against what is added to every entry, both on logarithmic axes, for "
        "sgd, asgd, csgd and casgd, with a line at 1, where the predictions are others altogether.",
        pictures.translation,
    ),
    Picture(
        "stability",
        "pivot",
        "Digits lost far from the origin: what casgd loses where all rows are moved; the worst of the losses, held against "
        "exact arithmetic.",
        "A plot of the relative error of the weights against an offset added to all rows, both on logarithmic axes, for "
        "Algorithm 3 as printed, explicit centring in floats and Algorithm 3 on pivoted rows, with dotted lines for the two "
        "rates at which digits are expected to be lost.",
        pictures.stability,
    ),
    Picture(
        "certified",
        "pivot",
        "Certified digits: how many digits of the float64 weights are those of the exact run, by rigorous balls, after each "
        "step; 40 rows of spread 1 around 10000, log loss, λ = 0.1.",
        "A plot of the certified digits of the weights against the step, on a logarithmic axis, for sgd, asgd, csgd and casgd "
        "with full lines, and for csgd and casgd without a pivot with dashed ones, below a line at the 16 digits of float64.",
        pictures.certified,
    ),
    Picture(
        "scaling",
        "cost",
        "Cost against T, k and n: above seconds, below entries touched, counted one by one. At the right end of a line stands "
        "the exponent of its last decade.",
        "Six plots on logarithmic axes, in two rows of three: seconds above and entries touched below, against the number of "
        "steps T, the entries of a row k and the number of columns n, for the loop, a whole run and the dense definition of "
        "asgd and casgd. The table of exponents says the same in numbers.",
        pictures.scaling,
        lambda results: list(tables.of_scaling(results)),
    ),
)


def draw(labels: Set[str], progress: bool | None = None) -> Iterator[Drawn]:
    """Draw the pictures that stand under these labels. Clocks come last, when nothing else has to be done."""
    chosen = [picture for picture in PICTURES if picture.label in labels]
    with tqdm(chosen, unit="picture", disable=None if progress is None else not progress, leave=False) as bar:
        for picture in bar:
            bar.set_postfix_str(picture.name)
            if picture.lines is None:
                yield Drawn(picture, svg(picture.name, picture.axes()), [])
            else:
                results = bench.quick(picture.name, bar.set_postfix_str)
                yield Drawn(picture, svg(picture.name, picture.axes(results)), picture.lines(results))


def svg(name: str, axes) -> bytes:
    """Write a figure as SVG, without a background, so that the page's shows. The same numbers give the same bytes."""
    import matplotlib.pyplot as plt
    import numpy as np

    plt.switch_backend("agg")
    figure, file = np.ravel(axes)[0].figure, io.BytesIO()
    with plt.rc_context({"svg.hashsalt": name}):
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    plt.close(figure)
    return file.getvalue()
