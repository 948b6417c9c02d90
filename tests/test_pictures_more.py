"""What the pictures of cost, proofs and text draw are the numbers of the library; what is measured for them has its cures."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex

import efficient
from efficient.runs.algorithms import ALGORITHMS
from efficient.training.splits import groups_of_equal_rows, hold_out
from proofs import pictures
from proofs.bench.caches import bend, cache_sizes
from proofs.measured import held_out
from proofs.pictures.explore import PAIRS, view
from proofs.pictures.look import ALGORITHM_COLOURS
from proofs.pictures.proving import largest
from proofs.proved import corruptions as mutation
from proofs.proved.corruptions import EVIDENCE, corrupted, standing, stands
from proofs.proved.prover import Equation
from proofs.proved.shipped import unrolled
from proofs.proved.symbols import v, x
from reference import Predictor, draw_indices, safe_t0
from reference.averaging import polynomial
from reference.datasets import Dataset, load_spam, make_text

mpl.use("Agg")

SMALL = Dataset(*make_text(200, 400, 12, seed=0)[:2], np.array([f"word{j}" for j in range(400)]))


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    mpl.pyplot.close("all")


def test_the_time_of_an_entry_is_drawn_against_n():
    timings = list(bend(columns=(100, 10_000), repeats=2, rows=20))
    assert len(timings) == 2 * 2 * 2
    ax = pictures.caches(timings)
    assert ax.get_xscale() == ax.get_yscale() == "log"
    for line, label in zip(ax.lines, [text.get_text() for text in ax.get_legend().texts], strict=False):
        assert list(line.get_xdata()) == [100, 10_000]
        contestant, drawn = "plain" if "plain" in label else "asgd", "evenly" if "evenly" in label else "as in text"
        wanted = [e["ns_per_entry"]["median"] for e in timings if (e["contestant"], e["drawn"]) == (contestant, drawn)]
        assert list(line.get_ydata()) == wanted
    assert all(size >= 1024 for size in cache_sizes().values())


def test_the_largest_equation_is_the_one_with_the_most_operations():
    assert largest([Equation("", x + v, x), Equation("", x * v + 1, x - v)]) == 2 + 1
    ax = pictures.formula_sizes(most_steps=2)
    for name, line in zip(("asgd", "casgd"), (ax.lines[0], ax.lines[2]), strict=True):
        assert list(line.get_ydata()) == [largest(unrolled(ALGORITHMS[name], T)) for T in (1, 2)]
        assert to_hex(line.get_color()) == ALGORITHM_COLOURS[name].lower()


def test_evidence_stands_or_falls_with_the_program():
    assert all(stands(ALGORITHMS["casgd"], evidence) for evidence in EVIDENCE)
    wrong = dict(corrupted(ALGORITHMS["sgd"]))
    divides_by_t_plus_1 = wrong["steps: p = -(d + a) / (lam * (t - 1 + t0)) - -> +"]
    assert [stands(divides_by_t_plus_1, evidence) for evidence in EVIDENCE] == [True, False, False, False, False]
    assert not any(stands(None, evidence) for evidence in EVIDENCE)


def test_survivors_are_counted_by_part():
    found = standing("sgd")
    assert found["one step"] and not found["all together"]
    ax = pictures.survivors(found, "sgd")
    heights = np.reshape([bar.get_height() for bar in ax.patches], (2, len(EVIDENCE)))
    assert list(heights.sum(axis=0)) == [len(where) for where in found.values()]
    assert heights[0, 0] == sum(where.startswith("steps:") for where in found["one step"])


def test_evidence_that_cannot_fail_is_seen(monkeypatch):
    monkeypatch.setitem(mutation.EVIDENCE, "all together", lambda algorithm: [])
    assert len(standing("sgd")["all together"]) > 200


@pytest.fixture(scope="module")
def rest():
    return held_out.split(SMALL, "log", 1e-3)


def test_what_is_held_out_is_not_trained_on(rest):
    assert rest.problem.m + len(rest.y) == 200 and 40 < len(rest.y) < 60
    training, tried = ({tuple(row) for row in np.split(X.indices, X.indptr[1:-1])} for X in (rest.problem.X, rest.X))
    assert len(tried) > 40 and not training & tried


def test_a_miss_is_a_wrong_sign_or_a_distance(rest):
    zero = np.zeros(rest.problem.n)
    assert rest.miss(Predictor(zero, 1.0)) == np.mean(rest.y < 0)
    assert rest.miss(Predictor(zero, -1.0)) == np.mean(rest.y > 0)
    numbers = held_out.split(SMALL, "squared", 1e-1)
    assert numbers.miss(Predictor(zero, 3.0)) == np.mean(np.abs(3 - numbers.y))


def test_each_kind_is_the_predictor_of_its_name(rest):
    indices = draw_indices(rest.problem.m, rest.problem.m, rng=1)
    wanted = [efficient.sgd(rest.problem, indices), efficient.asgd(rest.problem, indices)]
    wanted.append(efficient.asgd(rest.problem, indices, weights=polynomial(1)))
    found = held_out.by_draw(rest, "asgd", passes=1, draws=2)
    assert found.shape == (2, len(held_out.KINDS))
    assert list(found[1]) == [rest.miss(predictor) for predictor in wanted]
    assert (found[0] != found[1]).any()


def test_a_sweep_draws_the_medians_of_the_folds():
    lams = [1e-4, 1e-3, 1e-2]
    misses = held_out.by_lambda(SMALL, "log", lams, "asgd", passes=1, count=3)
    assert misses.shape == (3, 3, 3) and misses.min() >= 0
    for binary, unit in ((True, 100), (False, 1)):
        ax = pictures.sweep(lams, misses, binary=binary)
        for place, line in enumerate(ax.lines):
            assert list(line.get_ydata()) == list(np.median(misses[:, :, place] * unit, axis=0))
        assert ax.get_xscale() == "log"


def test_the_words_are_those_with_the_largest_weights():
    w = np.zeros(6)
    w[:4] = 3.0, -5.0, 1.0, -2.0
    ax = pictures.words(Predictor(w, 0.0), np.array(["a", "b", "c", "d", "e", "f"]), count=2)
    assert [text.get_text() for text in ax.texts] == ["b", "d", "a", "c"]
    assert [bar.get_width() for bar in ax.patches] == [-5.0, -2.0, 3.0, 1.0]


def test_every_draw_has_its_dot_and_its_algorithm_its_colour():
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


def test_mails_that_repeat_each_other_are_on_one_side():
    X = load_spam().X
    groups, held = groups_of_equal_rows(X), hold_out(X, 0.25, 0)
    assert not np.isin(groups[held], groups[~held]).any()
    careless = np.random.default_rng(0).permutation(held)
    assert np.isin(groups[careless], groups[~careless]).any()


def test_the_sliders_show_what_the_library_computes():
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


def test_the_sliders_are_drawn_in_four_pictures():
    seen = view(0.1, "squared", t0="safe")
    assert seen.offset["asgd"] == safe_t0(seen.problem) != seen.offset["casgd"] == safe_t0(seen.problem, centred=True)
    (left, right), (descent, margins) = pictures.explore(seen)
    for ax, names in ((left, ("sgd", "asgd")), (right, ("csgd", "casgd"))):
        for line, name in zip(ax.lines, names, strict=False):
            assert np.array_equal(np.column_stack(line.get_data()), seen.path[name])
            assert to_hex(line.get_color()) == ALGORITHM_COLOURS[name].lower()
    for line, (name, excess) in zip(descent.lines, seen.excess.items(), strict=False):
        assert np.array_equal(line.get_ydata(), excess) and line.get_label() == name
    assert descent.get_xscale() == descent.get_yscale() == "log"
    for line, (name, drawn) in zip(margins.lines, seen.margins.items(), strict=False):
        assert np.array_equal(line.get_xdata(), np.sort(drawn)) and line.get_label().startswith(f"{name}: ")


def test_an_overflow_is_told_and_not_drawn():
    with pytest.raises(FloatingPointError, match="safe_t0"):
        view(1e-3, "squared", translation=8)
