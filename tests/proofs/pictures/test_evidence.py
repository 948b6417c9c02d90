"""Pictures of evidence draw the numbers of the proofs and of the comparisons."""

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import same_color

from efficient.runs.algorithms import ALGORITHMS
from proofs import pictures
from proofs.compared.judge import judge
from proofs.compared.translation import changes
from proofs.pictures import evidence
from proofs.pictures.evidence import largest
from proofs.pictures.look import ALGORITHM_COLOURS, colours_of_averages
from proofs.proved.execution import unrolled
from proofs.proved.mutants import EVIDENCE, standing
from proofs.proved.prover import Equation
from proofs.proved.symbols import v, x
from reference import LOSSES, Problem, draw_indices
from reference.datasets import make_generic

mpl.use("Agg")

X, Y, _ = make_generic(20, 30, 4, seed=1)
LOG = Problem(X, Y, "log", 0.1)
INDICES = draw_indices(20, 40, rng=0)


@pytest.fixture(autouse=True)
def closed():
    yield
    mpl.pyplot.close("all")


def test_grid_and_given_axes_are_used():
    own = pictures.grid(1, 2)
    assert own.shape == (2,)
    assert pictures.memory(own[0], steps=20) is own[0]
    assert pictures.memory(steps=20) not in own


def test_colours_tell_all_algorithms_apart():
    assert len(set(ALGORITHM_COLOURS.values())) == len(ALGORITHM_COLOURS) == 4
    for mean, last in (("asgd", "sgd"), ("casgd", "csgd")):
        colours = colours_of_averages(mean)
        assert colours[:2] == (ALGORITHM_COLOURS[last], ALGORITHM_COLOURS[mean])
        assert len(set(colours) | set(ALGORITHM_COLOURS.values())) == 6


@pytest.mark.parametrize("renamed", [False, True])
def test_losses_are_drawn_with_their_kinks(renamed, monkeypatch):
    if renamed:  # facts count, not names
        copies = {f"my {name}": replace(loss, name=f"my {name}") for name, loss in LOSSES.items()}
        monkeypatch.setattr(evidence, "LOSSES", copies)
    axes = pictures.losses()
    assert axes.shape == (2, len(LOSSES))
    for (name, loss), (above, below) in zip(evidence.LOSSES.items(), axes.T, strict=True):
        assert above.get_title() == name
        for ax, function in ((above, loss.value), (below, loss.derivative)):
            curves = [line for line in ax.lines if len(line.get_xdata()) > 10]
            drawn = sorted((p, each) for line in curves for p, each in zip(*line.get_data(), strict=True))
            assert len(drawn) == 501
            assert [each for _, each in drawn] == [function(p, 1.0) for p, _ in drawn]
        dots = {float(line.get_ydata()[0]): line.get_markerfacecolor() for line in below.lines if line.get_marker() == "o"}
        kinks = {"absolute": {-1.0: "black", 1.0: "white"}, "hinge": {-1.0: "black", 0.0: "white"}}
        assert dots == kinks.get(name.removeprefix("my "), {})  # the full one is the slope that Table 1 picks
    assert axes[0, 0].get_ylabel() and axes[1, 0].get_ylabel() and axes[1, 0].get_xlabel()


@pytest.mark.parametrize("algorithm", ALGORITHM_COLOURS)
def test_identical_draws_the_distances_of_both_sides_below_the_bound(algorithm):
    verdict = judge(LOG, INDICES, [algorithm])[algorithm]
    ax = pictures.identical(verdict, algorithm)
    bound, *sides = ax.lines
    np.testing.assert_array_equal(bound.get_ydata(), np.maximum(verdict.rounding.p, 1e-21))
    for line, off in zip(sides, (verdict.dense, verdict.sparse), strict=True):
        t = line.get_xdata()
        assert t[0] == 1 and t[-1] == len(INDICES) and off.p.max() > 0
        np.testing.assert_array_equal(line.get_ydata(), np.maximum(off.p[t - 1], 1e-21))
    assert (sides[1].get_ydata() <= bound.get_ydata()).all()
    assert same_color(sides[1].get_color(), ALGORITHM_COLOURS[algorithm])
    assert ax.get_title() == algorithm and ax.get_xlabel() and ax.get_ylabel()


def test_translation_changes_the_uncentred_only():
    powers = (-3, 3, 20)
    ax = pictures.translation(powers=powers)
    change = changes(tuple(2.0**power for power in powers))
    for line, name in zip(ax.lines, ALGORITHM_COLOURS, strict=False):
        assert line.get_label() == name and same_color(line.get_color(), ALGORITHM_COLOURS[name])
        np.testing.assert_array_equal(line.get_ydata(), np.maximum(change[name], 1e-17))
        assert (change[name] < 1e-12).all() if name in ("csgd", "casgd") else (np.diff(change[name]) > 0).all()


def test_formula_sizes_are_those_of_the_largest_equations():
    assert largest([Equation("", x + v, x), Equation("", x * v + 1, x - v)]) == 2 + 1
    ax = pictures.formula_sizes(most_steps=2)
    for name, line in zip(("asgd", "casgd"), (ax.lines[0], ax.lines[2]), strict=True):
        assert list(line.get_ydata()) == [largest(unrolled(ALGORITHMS[name], T)) for T in (1, 2)]
        assert same_color(line.get_color(), ALGORITHM_COLOURS[name])


def test_survivors_are_counted_by_part():
    found = standing("sgd")
    assert found["one step"] and not found["all together"]
    ax = pictures.survivors(found, "sgd")
    heights = np.reshape([bar.get_height() for bar in ax.patches], (2, len(EVIDENCE)))
    assert list(heights.sum(axis=0)) == [len(where) for where in found.values()]
    assert heights[0, 0] == sum(where.startswith("steps:") for where in found["one step"])
