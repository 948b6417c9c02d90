"""Pictures of the plane draw the iterates, the fits and the contours of F."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import same_color, to_hex

import efficient
import reference
from proofs import pictures
from proofs.pictures.look import ALGORITHM_COLOURS
from proofs.pictures.plane import PAIRS, heights, view
from reference import LOSSES, Predictor, Problem, draw_indices, minimise, safe_t0

mpl.use("Agg")

PLANE = Problem(np.linspace(-1, 2, 12)[:, None], np.repeat([-1.0, 1.0], 6), "log", 0.2)
STEPS = draw_indices(12, 30, rng=0)


@pytest.fixture(autouse=True)
def closed():
    yield
    mpl.pyplot.close("all")


@pytest.mark.parametrize("algorithm", ["asgd", "casgd"])
def test_path_goes_through_the_iterates(algorithm):
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


def test_path_draws_contours_of_the_excess():
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
def test_problem_of_two_features_is_refused(draw):
    with pytest.raises(ValueError, match=r"problem must have one feature.*got 2"):
        draw(Problem(np.eye(2), [1.0, -1.0], "log", 0.1), [0, 1])


def test_fits_are_the_predictions():
    points = Problem(np.linspace(3, 5, 12)[:, None], np.arange(12.0), "squared", 0.2)
    ax = pictures.fits(points, STEPS)
    examples, *lines, middle = ax.lines
    np.testing.assert_array_equal(examples.get_xdata(), np.linspace(3, 5, 12))
    for line, (name, centred) in zip(lines, (("asgd", False), ("casgd", True)), strict=True):
        predictor = getattr(efficient, name)(points, STEPS, t0=safe_t0(points, centred))
        np.testing.assert_array_equal(line.get_ydata(), predictor.predict([[3.0], [5.0]]))
    np.testing.assert_allclose(np.ravel(middle.get_data()), [4, 5.5])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["examples", "asgd", "casgd", "centre of mass"]


def test_view_holds_what_the_library_computes():
    seen = view(0.1, "hinge", translation=2.0, t0=5, seed=4)
    for averaging, plain, train in (("asgd", efficient.sgd, efficient.asgd), ("casgd", efficient.csgd, efficient.casgd)):
        centred = averaging == "casgd"
        for name, run in ((PAIRS[averaging], plain), (averaging, train)):
            wanted = run(seen.problem, seen.indices, t0=5)
            at = wanted.explicit(seen.problem.xbar) if centred else wanted
            assert seen.path[name][-1] == pytest.approx([at.w[0], at.b], rel=1e-9)
            assert seen.margins[name] == pytest.approx(seen.problem.y * wanted.predict(seen.problem.X.data[:, None]), rel=1e-9)
            excess = seen.problem.objective(wanted, centred) - seen.minimum[averaging].value
            assert seen.excess[name][-1] == pytest.approx(excess, abs=seen.minimum[averaging].gap + 1e-9)
            assert (seen.excess[name] >= 0).all()


def test_explore_draws_the_view():
    seen = view(0.1, "squared", t0="safe")
    assert seen.offset["asgd"] == safe_t0(seen.problem) != seen.offset["casgd"] == safe_t0(seen.problem, centred=True)
    (left, right), (descent, margins) = pictures.explore(seen)
    for ax, names in ((left, ("sgd", "asgd")), (right, ("csgd", "casgd"))):
        for line, name in zip(ax.lines, names, strict=False):
            assert np.array_equal(np.column_stack(line.get_data()), seen.path[name])
            assert to_hex(line.get_color()) == ALGORITHM_COLOURS[name].lower()
    for line, (name, excess) in zip(descent.lines, seen.excess.items(), strict=False):
        assert np.array_equal(line.get_ydata(), excess[::-4]) and line.get_label() == name
    assert descent.get_xscale() == descent.get_yscale() == "log"
    for line, (name, drawn) in zip(margins.lines, seen.margins.items(), strict=False):
        assert np.array_equal(line.get_xdata(), np.sort(drawn)) and line.get_label().startswith(f"{name}: ")


@pytest.mark.parametrize("loss", LOSSES)
def test_heights_are_the_objective(loss):
    problem = view(0.1, loss, translation=2.0).problem
    for origin, centred in ((0 * problem.xbar, False), (problem.xbar, True)):
        found = heights(problem, np.array([0.5, -2.0]), np.array([1.0, 0.0]), origin)
        at = [problem.objective(Predictor(np.array([w]), b, origin), centred) for w, b in ((0.5, 1.0), (-2.0, 0.0))]
        assert found == pytest.approx(at, rel=1e-14)
        assert problem.objective(Predictor(np.array([0.5]), 1.1, origin), centred) != pytest.approx(found[0], rel=1e-3)


def test_view_that_overflows_is_refused():
    with pytest.raises(FloatingPointError, match="safe_t0"):
        view(1e-3, "squared", translation=8)
