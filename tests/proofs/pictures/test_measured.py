"""Pictures of measurements draw the numbers that were measured."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import same_color, to_hex

from efficient.runs.algorithms import ALGORITHMS
from proofs import pictures
from proofs.measured import averaging, held_out
from proofs.pictures.look import ALGORITHM_COLOURS, colours_of_averages
from reference import LOSSES, Predictor, Problem, minimise
from reference.datasets import Dataset, make_text

mpl.use("Agg")

FEW = averaging.Setting(averaging.FEW_WORDS, "log", 1e-3, "asgd", False, (0.01, 0.05))
SMALL = Dataset(*make_text(200, 400, 12, seed=0)[:2], np.array([f"word{j}" for j in range(400)]))


@pytest.fixture(autouse=True)
def closed():
    yield
    mpl.pyplot.close("all")


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_memory_draws_the_shares_of_the_gradients():
    T = 12
    last, uniform, weighted, late = averaging.shares_of_gradients(T)
    i = np.arange(1, T + 1)
    np.testing.assert_allclose(last, 1)
    np.testing.assert_allclose(uniform, [sum(1 / np.arange(each, T + 1)) for each in i])
    np.testing.assert_allclose(weighted, 2 * (T - i + 1) / (T + 1))
    np.testing.assert_allclose(late, [sum(2 / np.arange(max(each, T // 2 + 1), T + 1)) for each in i])
    ax = pictures.memory(steps=T)
    for line, wanted in zip(ax.lines, (last, uniform, weighted, late), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), wanted)
    assert [label.split(",")[0] for label in labels(ax)] == ["last", "uniform", "t-weighted", "second half"]
    assert labels(ax)[0] == "last, 1.00"


def test_averages_draw_medians():
    ax = pictures.averages(setting=FEW, seeds=3)
    shares = averaging.suboptimality(FEW, 3)
    for place, line in enumerate(ax.lines[:4]):
        np.testing.assert_array_equal(line.get_ydata(), np.median(shares[:, :, place], axis=0))
        assert same_color(line.get_color(), colours_of_averages("asgd")[place])
    assert labels(ax)[-1] == "slope of $1/T$"
    T, slope = ax.lines[4].get_data()
    np.testing.assert_allclose(slope * T, slope[0] * T[0])
    with pytest.raises(ValueError, match="read-only"):
        shares[0] = 0


def test_remembered_draws_averages_without_the_first():
    dropped = (0, 20, 100)
    shares = averaging.without_the_first(FEW, dropped, 3)
    np.testing.assert_allclose(shares[:, 0], averaging.suboptimality(FEW, 3)[:, -1, 1], rtol=1e-10)
    ax = pictures.remembered(FEW, dropped, 3)
    T = int(0.05 * 6046)
    np.testing.assert_allclose(ax.lines[0].get_xdata(), np.array(dropped) / T)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), np.median(shares, axis=0))
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), np.median(averaging.suboptimality(FEW, 3)[:, -1, 0]))


def test_gains_are_near_the_formula():
    ratios = (0.1, 10.0)
    found = averaging.gain(ratios, steps=300, seeds=300)
    np.testing.assert_allclose(found, averaging.expected_gain(ratios), rtol=0.4)
    assert found[0] > 1 > found[1]
    ax = pictures.gains(ratios, steps=300, seeds=300)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), found)
    fine, wanted = ax.lines[1].get_data()
    np.testing.assert_array_equal(wanted, 2 / (1 + fine))


def test_sweep_draws_the_medians_of_the_folds():
    lams = [1e-4, 1e-3, 1e-2]
    misses = held_out.by_lambda(SMALL, "log", lams, "asgd", passes=1, count=3)
    assert misses.shape == (3, 3, 3) and misses.min() >= 0
    for binary, unit in ((True, 100), (False, 1)):
        ax = pictures.sweep(lams, misses, binary=binary)
        for place, line in enumerate(ax.lines):
            assert list(line.get_ydata()) == list(np.median(misses[:, :, place] * unit, axis=0))
        assert ax.get_xscale() == "log"


def test_words_are_those_with_the_largest_weights():
    w = np.zeros(6)
    w[:4] = 3.0, -5.0, 1.0, -2.0
    ax = pictures.words(Predictor(w, 0.0), np.array(["a", "b", "c", "d", "e", "f"]), count=2)
    assert [text.get_text() for text in ax.texts] == ["b", "d", "a", "c"]
    assert [bar.get_width() for bar in ax.patches] == [-5.0, -2.0, 3.0, 1.0]


def test_misses_have_a_dot_for_each_draw():
    ax = pictures.misses({"asgd, uniform": [0.1, 0.3, 0.2], "scikit-learn": [0.25], "asgd, t-weighted": [0.1]})
    dots, median = ax.lines[4], ax.lines[5]
    assert list(dots.get_xdata()) == pytest.approx([10, 30, 20])
    assert list(median.get_xdata()) == pytest.approx([20, 20])
    assert [to_hex(ax.lines[place].get_color()) for place in (0, 2, 4)] == [
        "#e69f00",
        "#000000",
        ALGORITHM_COLOURS["asgd"].lower(),
    ]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["asgd, t-weighted", "scikit-learn", "asgd, uniform"]


def test_noise_by_curvature_adds_up():
    ratios, noise = averaging.noise_by_curvature(FEW)
    features, y, _ = averaging.data_of(FEW.data)
    assert features.shape == (6046, 30) and len(ratios) == len(noise) == 31
    predictor = minimise(Problem(features, y, "log", FEW.lam)).predictor
    g = np.array([LOSSES["log"].derivative(p, label) for p, label in zip(predictor.predict(features), y, strict=True)])
    trace = (abs(g) * (1 - abs(g))) @ (features.power(2).sum(axis=1) + 1) / len(y)
    assert np.isclose(ratios.sum() * FEW.lam, trace)
    assert np.isclose(noise.sum(), 1) and (noise > 0).all()
    for ratio in (0.5, 1.0, 8.0):  # all noise in one direction, or in two alike
        assert np.isclose(averaging.expected_gain_of(np.array([ratio]), np.ones(1)), averaging.expected_gain(ratio))
        assert np.isclose(
            averaging.expected_gain_of(np.array([ratio] * 2), np.array([0.3, 0.7])), averaging.expected_gain(ratio)
        )


def test_certified_draws_the_digits_with_and_without_a_pivot():
    ax = pictures.certified(steps=40)
    *lines, limit = ax.lines
    digits = {line.get_label(): line.get_ydata() for line in lines}
    assert set(digits) == {*ALGORITHMS, "csgd, no pivot", "casgd, no pivot"}
    for name in ALGORITHMS:
        assert (digits[name] > 13).all() and (digits[name] <= limit.get_ydata()[0]).all()
        if ALGORITHMS[name].centred:
            assert (digits[f"{name}, no pivot"][1:] < 10).all()  # ‖x̄‖²/spread² is 10⁸
    assert ax.get_xlabel() and ax.get_ylabel()
