"""Pictures of the cost draw the counts and the medians of the bench."""

import matplotlib as mpl
import pytest

from proofs import pictures
from proofs.bench.scaling import bend
from proofs.counted.arrays import count_dense, count_sparse
from proofs.pictures.cost import SPEED_SHOWN, cache_sizes
from proofs.pictures.look import ALGORITHM_COLOURS
from reference import Problem, draw_indices
from reference.datasets import make_generic

mpl.use("Agg")

X, Y, _ = make_generic(20, 30, 4, seed=1)
LOG = Problem(X, Y, "log", 0.1)


@pytest.fixture(autouse=True)
def closed():
    yield
    mpl.pyplot.close("all")


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_step_draws_the_counts():
    ax = pictures.step({"small": LOG}, steps=5)
    indices = draw_indices(20, 5, rng=0)
    dots = [float(line.get_xdata()[0]) for line in ax.lines if line.get_marker() == "o" and len(line.get_xdata())]
    wanted = []
    for name in ALGORITHM_COLOURS:
        wanted += [sum(count_sparse(name, LOG, indices)[0]["loop"]) / 5, sum(count_dense(name, LOG, indices)) / 5]
    assert dots == wanted
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [f"small, {name}" for name in ALGORITHM_COLOURS]
    assert labels(ax) == ["sparse loop", "dense definition"]


def test_caches_draw_the_medians():
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


def test_results_of_another_format_are_refused(tmp_path, capsys):
    from proofs.pictures.__main__ import main

    old = '{"kind": "speed", "timings": []}'
    for content, words in (
        (old, "got format None. Measure again"),
        (old[:9], "json': Expecting value"),
        ("[" * 10**5, "json': "),
    ):
        (tmp_path / "old.json").write_text(content)
        with pytest.raises(SystemExit) as ended:
            main(["--speed", str(tmp_path / "old.json")])
        assert ended.value.code == 2 and words in capsys.readouterr().err


def test_speed_draws_medians_and_leaves_out_what_was_not_timed():
    ns = {"lower_quartile": 1.0, "median": 2.0, "upper_quartile": 3.0}
    timings = [
        {"set": "S", "order": order, "contestant": name, "ns_per_entry": {key: each + number for key, each in ns.items()}}
        for number, order in enumerate(("sequential", "random"))
        for name in SPEED_SHOWN
    ]
    for entry in timings:
        if entry["contestant"] == "floor":
            entry["ns_per_entry"] = None
    own = mpl.pyplot.figure().add_subplot()
    assert pictures.speed({"timings": timings}, own) is own
    assert labels(own) == [label for label, _, _ in SPEED_SHOWN.values()]
    assert {y for line in own.lines for y in line.get_ydata() if line.get_marker() == "D"} == {2.0, 3.0}
    assert not any(line.get_marker() == "_" and len(line.get_xdata()) for line in own.lines)


def test_point_draws_the_medians_of_the_dense_and_the_sparse_side_against_n():
    sets = [{"name": "S", "n": 10}, {"name": "L", "n": 1000}]
    ns = {("dense definition", "S"): 50.0, ("dense definition", "L"): 5000.0, ("asgd loop", "S"): 2.0, ("asgd loop", "L"): 3.0}
    timings = [
        {"set": name, "order": order, "contestant": contestant, "status": "timed", "ns_per_entry": {"median": median * factor}}
        for (contestant, name), median in ns.items()
        for order, factor in (("sequential", 1), ("random", 7))
    ]
    ax = pictures.point({"sets": sets, "timings": timings})
    assert [line.get_xydata().tolist() for line in ax.lines] == [[[10, 50], [1000, 5000]], [[10, 2], [1000, 3]]]
    assert {"5,000 ns", "3.0 ns"} <= {text.get_text() for text in ax.texts}
