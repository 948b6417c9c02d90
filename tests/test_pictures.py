"""The pictures draw what the library computes: the numbers on the axes are the numbers of the proofs and the algorithms."""

from fractions import Fraction

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import same_color

import efficient
import reference
from proofs import pictures
from proofs.compared import iterates as identical
from proofs.compared import translation
from proofs.counted.cost import count_dense, count_sparse
from proofs.measured import averaging as averages
from proofs.pictures.look import ALGORITHM_COLOURS, colours_of_averages
from reference import LOSSES, Predictor, Problem, draw_indices, minimise, safe_t0
from reference.datasets import make_generic

mpl.use("Agg")
from matplotlib import pyplot as plt

X, Y, _ = make_generic(20, 30, 4, seed=1)
LOG = Problem(X, Y, "log", 0.1)
INDICES = draw_indices(20, 40, rng=0)
FEW = averages.Setting(averages.FEW_WORDS, "log", 1e-3, "asgd", False, (0.01, 0.05))


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_new_axes_are_made_and_given_ones_are_used():
    own = pictures.grid(1, 2)
    assert own.shape == (2,)
    assert pictures.memory(own[0], steps=20) is own[0]
    assert pictures.memory(steps=20) not in own


def test_no_two_algorithms_look_alike():
    assert len(set(ALGORITHM_COLOURS.values())) == len(ALGORITHM_COLOURS) == 4
    for mean, last in (("asgd", "sgd"), ("casgd", "csgd")):
        colours = colours_of_averages(mean)
        assert colours[:2] == (ALGORITHM_COLOURS[last], ALGORITHM_COLOURS[mean])
        assert len(set(colours) | set(ALGORITHM_COLOURS.values())) == 6


def test_losses_and_their_kinks():
    axes = pictures.losses()
    assert axes.shape == (2, 4)
    for (name, loss), (above, below) in zip(LOSSES.items(), axes.T, strict=True):
        assert above.get_title() == name
        for ax, function in ((above, loss.value), (below, loss.derivative)):
            curves = [line for line in ax.lines if len(line.get_xdata()) > 10]
            drawn = sorted((p, each) for line in curves for p, each in zip(*line.get_data(), strict=True))
            assert len(drawn) == 501
            assert [each for _, each in drawn] == [function(p, 1.0) for p, _ in drawn]
        dots = {float(line.get_ydata()[0]): line.get_markerfacecolor() for line in below.lines if line.get_marker() == "o"}
        kinks = {"absolute": {-1.0: "black", 1.0: "white"}, "hinge": {-1.0: "black", 0.0: "white"}}
        assert dots == kinks.get(name, {})  # the full one is the slope that Table 1 picks
    assert axes[0, 0].get_ylabel() and axes[1, 0].get_ylabel() and axes[1, 0].get_xlabel()


@pytest.mark.parametrize("algorithm", ALGORITHM_COLOURS)
def test_a_trace_is_within_its_bound_and_drawn_as_it_is(algorithm):
    trace = identical.compare(LOG, INDICES, [algorithm])[algorithm]
    apart = [each for each in (trace.prediction, trace.last, trace.average) if each is not None]
    assert len(apart) == (3 if algorithm in ("asgd", "casgd") else 2)
    assert all((each <= trace.bound).all() and each.max() > 0 for each in apart)
    assert (trace.bound > trace.rounding).all()
    ax = pictures.identical(trace, algorithm)
    bound, rounding, *curves = ax.lines
    np.testing.assert_array_equal(bound.get_ydata(), trace.bound)
    np.testing.assert_array_equal(rounding.get_ydata(), trace.rounding)
    for line, each in zip(curves, apart, strict=True):
        t = line.get_xdata()
        assert t[0] == 1 and t[-1] == len(INDICES)
        np.testing.assert_array_equal(line.get_ydata(), np.maximum(each[t - 1], 1e-21))
    assert same_color(curves[1].get_color(), ALGORITHM_COLOURS[algorithm])
    assert ax.get_title() == algorithm and ax.get_xlabel() and ax.get_ylabel()


@pytest.mark.parametrize("algorithm", ALGORITHM_COLOURS)
def test_an_exact_trace_is_zero_and_lies_on_the_edge(algorithm):
    exact = Problem(X, Y, "hinge", Fraction(1, 10))
    trace = identical.compare(exact, INDICES[:8], [algorithm])[algorithm]
    assert len(trace.last) == 8
    assert (trace.prediction == 0).all() and (trace.last == 0).all()
    assert trace.average is None or (trace.average == 0).all()
    ax = pictures.identical(trace, algorithm)
    assert all((line.get_ydata() == ax.get_ylim()[0]).all() for line in ax.lines[2:])


def test_a_wrong_algorithm_leaves_the_bound(monkeypatch):
    monkeypatch.setattr(identical, "State", lambda problem, algorithm: efficient.State(problem, algorithm, t0=1e-9))
    trace = identical.compare(LOG, INDICES, ["asgd"])["asgd"]
    assert (trace.last > trace.bound).any() and (trace.average > trace.bound).any()


def test_a_trace_ends_where_rounding_decides(monkeypatch):
    original = reference.iterates

    def flipped(problem, indices, **options):
        for step in original(problem, indices, **options):
            yield step._replace(g=-step.g) if step.t == 5 else step

    monkeypatch.setattr(identical.reference, "iterates", flipped)
    hinge = Problem(X, Y, "hinge", 1.0)
    assert len(identical.compare(hinge, INDICES, ["sgd"])["sgd"].last) == 4


def test_what_a_step_costs_is_counted():
    ax = pictures.step({"small": LOG}, steps=5)
    indices = draw_indices(20, 5, rng=0)
    dots = [float(line.get_xdata()[0]) for line in ax.lines if line.get_marker() == "o" and len(line.get_xdata())]
    wanted = []
    for name in ALGORITHM_COLOURS:
        wanted += [sum(count_sparse(name, LOG, indices)[0]["loop"]) / 5, sum(count_dense(name, LOG, indices)) / 5]
    assert dots == wanted
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [f"small, {name}" for name in ALGORITHM_COLOURS]
    assert labels(ax) == ["sparse loop", "dense definition"]


def test_shares_of_gradients_are_those_of_the_formulas():
    T = 12
    last, uniform, weighted, late = averages.shares_of_gradients(T)
    i = np.arange(1, T + 1)
    np.testing.assert_allclose(last, 1)
    np.testing.assert_allclose(uniform, [sum(1 / np.arange(each, T + 1)) for each in i])
    np.testing.assert_allclose(weighted, 2 * (T - i + 1) / (T + 1))
    np.testing.assert_allclose(late, [sum(2 / np.arange(max(each, T // 2 + 1), T + 1)) for each in i])
    ax = pictures.memory(steps=T)
    for line, wanted in zip(ax.lines, (last, uniform, weighted, late), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), wanted)
    assert [label.split()[0] for label in labels(ax)] == list(averages.KINDS)
    assert "(1.00)" in labels(ax)[0]


def test_averages_show_medians_and_where_training_begins():
    ax = pictures.averages(setting=FEW, seeds=3)
    shares = averages.suboptimality(FEW, 3)
    for place, line in enumerate(ax.lines[:4]):
        np.testing.assert_array_equal(line.get_ydata(), np.median(shares[:, :, place], axis=0))
        assert same_color(line.get_color(), colours_of_averages("asgd")[place])
    assert labels(ax)[-1] == "slope of $1/T$"
    T, slope = ax.lines[4].get_data()
    np.testing.assert_allclose(slope * T, slope[0] * T[0])
    with pytest.raises(ValueError, match="read-only"):
        shares[0] = 0


def test_what_is_left_out_is_left_out():
    dropped = (0, 20, 100)
    shares = averages.without_the_first(FEW, dropped, 3)
    np.testing.assert_allclose(shares[:, 0], averages.suboptimality(FEW, 3)[:, -1, 1], rtol=1e-10)
    ax = pictures.remembered(FEW, dropped, 3)
    T = int(0.05 * 6046)
    np.testing.assert_allclose(ax.lines[0].get_xdata(), np.array(dropped) / T)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), np.median(shares, axis=0))
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), np.median(averages.suboptimality(FEW, 3)[:, -1, 0]))


def test_gains_are_near_the_formula_and_drawn():
    ratios = (0.1, 10.0)
    found = averages.gain(ratios, steps=300, seeds=300)
    np.testing.assert_allclose(found, averages.expected_gain(ratios), rtol=0.4)
    assert found[0] > 1 > found[1]
    ax = pictures.gains(ratios, steps=300, seeds=300)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), found)
    fine, wanted = ax.lines[1].get_data()
    np.testing.assert_array_equal(wanted, 2 / (1 + fine))


def test_noise_by_curvature():
    ratios, noise = averages.noise_by_curvature(FEW)
    features, y, _ = averages.data_of(FEW.data)
    assert features.shape == (6046, 30) and len(ratios) == len(noise) == 31
    predictor = minimise(Problem(features, y, "log", FEW.lam)).predictor
    g = np.array([LOSSES["log"].derivative(p, label) for p, label in zip(predictor.predict(features), y, strict=True)])
    trace = (abs(g) * (1 - abs(g))) @ (features.power(2).sum(axis=1) + 1) / len(y)
    assert np.isclose(ratios.sum() * FEW.lam, trace)
    assert np.isclose(noise.sum(), 1) and (noise > 0).all()
    for ratio in (0.5, 1.0, 8.0):  # all noise in one direction, or in two alike
        assert np.isclose(averages.expected_gain_of(np.array([ratio]), np.ones(1)), averages.expected_gain(ratio))
        assert np.isclose(averages.expected_gain_of(np.array([ratio] * 2), np.array([0.3, 0.7])), averages.expected_gain(ratio))


PLANE = Problem(np.linspace(-1, 2, 12)[:, None], np.repeat([-1.0, 1.0], 6), "log", 0.2)
STEPS = draw_indices(12, 30, rng=0)


@pytest.mark.parametrize("algorithm", ["asgd", "casgd"])
def test_a_path_goes_through_the_iterates(algorithm):
    centred = algorithm == "casgd"
    last, mean = pictures.positions(PLANE, STEPS, algorithm)
    steps = [step.predictor for step in reference.iterates(PLANE, STEPS, centred=centred)]
    if centred:
        steps = [each.explicit(PLANE.xbar) for each in steps]
    wanted = np.array([[each.w[0], each.b] for each in steps])
    np.testing.assert_allclose(last, wanted, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(mean, np.cumsum(wanted, axis=0) / np.arange(1, 31)[:, None], rtol=1e-12, atol=1e-12)
    ax = pictures.path(PLANE, STEPS, algorithm, window=(-1, 4, -3, 3))
    iterates, average, end, star = ax.lines
    np.testing.assert_array_equal(np.transpose(iterates.get_data()), last)
    np.testing.assert_array_equal(np.transpose(average.get_data()), mean)
    np.testing.assert_array_equal(np.ravel(end.get_data()), mean[-1])
    assert same_color(average.get_color(), ALGORITHM_COLOURS[algorithm])
    best = minimise(PLANE, centred).predictor
    best = best.explicit(PLANE.xbar) if centred else best
    np.testing.assert_allclose(np.ravel(star.get_data()), [best.w[0], best.b])
    assert ax.get_xlim() == (-1, 4) and ax.get_ylim() == (-3, 3)


def test_contours_are_those_of_the_excess():
    ax = pictures.path(PLANE, STEPS, "casgd")
    minimum = minimise(PLANE, centred=True)
    (contours,) = (each for each in ax.collections if hasattr(each, "levels"))
    seen = 0
    for level, lines in zip(contours.levels, contours.get_paths(), strict=True):
        for w, b in lines.vertices[::10]:
            excess = PLANE.objective(Predictor(np.array([w]), b, PLANE.xbar), centred=True) - minimum.value
            assert excess == pytest.approx(level, rel=0.1, abs=1e-3)
            seen += 1
    assert seen > 20


@pytest.mark.parametrize("draw", [pictures.path, pictures.fits])
def test_what_does_not_fit_the_plane_is_refused(draw):
    with pytest.raises(ValueError, match=r"problem must have one feature.*got 30"):
        draw(LOG, INDICES)


def test_fits_are_the_predictions():
    points = Problem(np.linspace(3, 5, 12)[:, None], np.arange(12.0), "squared", 0.2)
    ax = pictures.fits(points, STEPS)
    examples, *lines, middle = ax.lines
    np.testing.assert_array_equal(examples.get_xdata(), np.linspace(3, 5, 12))
    for line, (name, centred) in zip(lines, (("asgd", False), ("casgd", True)), strict=True):
        predictor = getattr(efficient, name)(points, STEPS, t0=safe_t0(points, centred))
        np.testing.assert_array_equal(line.get_ydata(), predictor.predict([[3.0], [5.0]]))
    np.testing.assert_allclose(np.ravel(middle.get_data()), [4, 5.5])
    assert labels(ax) == ["examples", "asgd", "casgd", "centre of mass"]


def test_translation_changes_the_uncentred_only():
    powers = (-3, 3, 20)
    ax = pictures.translation(powers=powers)
    change = translation.changes(tuple(2.0**power for power in powers))
    for line, name in zip(ax.lines, ALGORITHM_COLOURS, strict=False):
        assert line.get_label() == name and same_color(line.get_color(), ALGORITHM_COLOURS[name])
        np.testing.assert_array_equal(line.get_ydata(), np.maximum(change[name], 1e-17))
        assert (change[name] < 1e-12).all() if name in ("csgd", "casgd") else (np.diff(change[name]) > 0).all()
