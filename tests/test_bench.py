"""The bench: nobody is timed on a wrong result, the table is complete, the files are written. No time is asserted."""

import inspect
import json

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from proofs import peer, pictures
from proofs.bench import contestants, scaling, speed, tables, watch
from proofs.bench.__main__ import main
from proofs.bench.contestants import Field, Run, many_models, single_models
from proofs.bench.floors import plain_asgd, visit_all_twice, visit_twice
from proofs.bench.footprint import start
from proofs.bench.measure import Contestant, NotAvailable, difference, race
from proofs.bench.tables import of_targets
from proofs.bench.targets import TARGETS, judged
from proofs.counted.cost import LOOP, CountingArray, Sizes, Tally
from reference import Predictor, Problem
from reference.datasets import make_text

DATA = make_text(80, 300, 12, seed=0)
PROBLEM = Problem(DATA.X, DATA.y, "log", 1e-2)

OURS = ("sgd", "asgd", "csgd", "casgd")
NAMES = {
    "floor",
    *(f"{algorithm} {kind}" for algorithm in OURS for kind in ("loop", "call")),
    *("asgd loop, float32 values", "asgd loop, int64 indices", "csgd loop, q given", "casgd loop, q given", "20 models, floor"),
    *("plain numba loop", "scikit-learn loop", "scikit-learn fit", "NumPy, row by row", "dense definition"),
    *(f"20 {kind}, {how}" for kind in ("classes", "values of λ") for how in ("one pass", "20 passes", "scikit-learn")),
}


def quiet(*_):
    pass


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """What a run on a user's own file leaves behind; the first calls in a fresh Python are the subject of another test."""
    folder = tmp_path_factory.mktemp("bench")
    dump_svmlight_file(DATA.X, DATA.y, str(folder / "rows.svm"), zero_based=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("proofs.bench.start", lambda *_: {"asgd": {"import": 0.5, "first_call": 1.5}})
        options = ["--quick", "--data", str(folder / "rows.svm"), "--loss", "log", "--lam", "0.01"]
        assert main([*options, "--json", str(folder / "bench.json"), "--picture", str(folder / "bench.svg")]) == 0
    return folder


@pytest.fixture(scope="module")
def results(files):
    return json.loads((files / "bench.json").read_text("utf8"))


def test_every_contestant_is_timed_in_both_orders(results):
    for order in ("sequential", "random"):
        there = [entry for entry in results["timings"] if entry["order"] == order]
        assert {entry["contestant"] for entry in there} == NAMES
        assert all(entry["status"] == "timed" for entry in there), [entry["why"] for entry in there]
        assert all(entry["difference"] <= entry["bound"] for entry in there if "floor" not in entry["contestant"])


def test_what_is_the_same_loop_is_the_same_to_the_bit(results):
    exact = {"asgd loop, float32 values", "asgd loop, int64 indices", "20 classes, one pass", "20 values of λ, one pass"}
    exact |= {"csgd loop, q given", "casgd loop, q given"}
    assert {entry["contestant"] for entry in results["timings"] if entry["bound"] == 0} == exact | {"floor", "20 models, floor"}


def test_the_schema_of_the_json_file_is_stable(results):
    assert list(results) == ["paper", "kind", "versions", "machine", "sets", "timings", "memory", "start", "targets"]
    assert list(results["machine"]) == ["processor", "processors", "system", "clock"]
    assert list(results["sets"][0]) == ["name", "m", "n", "entries", "loss", "lam", "why"]
    timing = ["set", "order", "contestant", "status", "why", "steps", "entries", "difference", "bound", "seconds"]
    assert {tuple(entry) for entry in results["timings"]} == {(*timing, "ns_per_entry", "parts")}
    assert list(results["memory"][0]) == ["set", "algorithm", "n", "m", "peak", "state", "weights", "met"]
    assert list(results["targets"][0]) == ["above", "below", "set", "order", "at_most", "limit", "ratio", "at_the_floor", "met"]


def test_the_figures_are_those_of_the_seconds(results):
    for entry in results["timings"]:
        assert len(entry["seconds"]) in (3, 5)
        ns = np.array(entry["seconds"]) / entry["entries"] * 1e9
        assert entry["ns_per_entry"]["median"] == pytest.approx(np.median(ns))
        assert entry["ns_per_entry"]["least"] == pytest.approx(ns.min())
    whole = {entry["entries"] for entry in results["timings"] if entry["contestant"] == "asgd loop"}
    assert whole == {DATA.X.nnz}


def test_every_target_is_judged_in_both_orders(results):
    pairs = {(target.above, target.below) for target in TARGETS}
    assert {name for pair in pairs for name in pair} <= NAMES
    for order in ("sequential", "random"):
        assert {(entry["above"], entry["below"]) for entry in results["targets"] if entry["order"] == order} == pairs


def test_the_memory_is_that_of_the_vectors(results):
    for entry, vectors in zip(results["memory"], (1, 2, 2, 3), strict=True):
        assert (entry["state"], entry["weights"]) == (8 * vectors * entry["n"], 8 * entry["n"])
        assert entry["peak"] >= entry["state"] + entry["weights"]


def test_nothing_half_written_is_left(files):
    assert sorted(file.name for file in files.iterdir()) == ["bench.json", "bench.svg", "rows.svm"]
    assert (files / "bench.svg").read_text("utf8").startswith("<?xml")


def timed(ns, contestant):
    return {"set": "S", "order": "random", "contestant": contestant, "seconds": ns, "entries": 1}


@pytest.mark.parametrize(("factor", "met"), [(0.5, True), (2.0, False)])
def test_a_target_is_met_by_the_median_of_the_rounds(factor, met):
    for target in TARGETS:
        limit = target.limits["random"] * (factor if target.at_most else 1 / factor)
        below, above = [1.0, 2.0, 3.0], [limit * 1.0, limit * 2.0, 1000.0]
        verdicts = list(judged([timed(above, target.above), timed(below, target.below)]))
        assert [(entry["met"], entry["ratio"]["median"]) for entry in verdicts] == [(met, pytest.approx(limit))]


def test_a_target_says_what_the_floor_would_reach():
    *_, verdict = judged([timed([8.0], "scikit-learn loop"), timed([4.0], "asgd loop"), timed([2.0], "floor")])
    assert (verdict["ratio"]["median"], verdict["at_the_floor"], verdict["met"]) == (2.0, 4.0, False)
    assert next(of_targets({"targets": [verdict]})).startswith("Targets")
    assert list(of_targets({"targets": [verdict]}))[1].endswith("missed, 4.00 at the floor's speed")
    assert list(of_targets({"targets": [verdict | {"met": True}]}))[1].endswith("met")
    (verdict,) = judged([timed([8.0], "scikit-learn loop"), timed([4.0], "asgd loop")])
    assert verdict["at_the_floor"] is None


def race_on(field, *names):
    chosen = [each for make in (single_models, many_models) for each in make(field) if each.name in names]
    assert len(chosen) == len(names)
    return {entry["contestant"]: entry for entry in race(chosen, 2, quiet)}


def slipped(function, old, new):
    """A function with a piece of its source exchanged."""
    source = inspect.getsource(function)
    assert source.count(old) == 1
    scope = dict(function.__globals__)
    exec(source.replace(old, new), scope)
    return scope[function.__name__]


def off_by_one_bit(run):
    def wrong(*arguments, **options):
        seconds, answers, parts = run(*arguments, **options)
        w = answers[-1].w.copy()
        w[np.flatnonzero(w)[0]] *= 1 + 2**-52
        return Run(seconds, [*answers[:-1], Predictor(w, answers[-1].b)], parts)

    return wrong


@pytest.mark.parametrize(
    ("name", "place", "wrong"),
    [
        ("plain numba loop", "compiled_textbook", slipped(plain_asgd, "h += 1 / t", "h += 1 / (t + 1)")),
        ("NumPy, row by row", "numpy_asgd", slipped(contestants.numpy_asgd, "h * g * x", "g * x")),
        ("20 classes, one pass", "one_pass", off_by_one_bit(contestants.one_pass)),
        ("20 values of λ, one pass", "one_pass", off_by_one_bit(contestants.one_pass)),
        ("casgd loop, q given", "loop", off_by_one_bit(contestants.loop)),
        ("asgd call", "call", slipped(contestants.call, "problem.lam", "2 * problem.lam")),
        ("casgd loop", "loop", slipped(contestants.loop, "indices[:1]", "indices[1:2]")),
        (
            "scikit-learn fit",
            "fit",
            slipped(contestants.fit, "loss.name, lam,", "loss.name, 2 * lam,"),
        ),
    ],
)
def test_a_wrong_contestant_is_refused_and_not_timed(name, place, wrong, monkeypatch):
    monkeypatch.setattr(contestants, place, wrong)
    entry = race_on(Field(PROBLEM, "sequential"), name)[name]
    assert (entry["status"], entry["seconds"], entry["ns_per_entry"]) == ("refused", [], None)
    assert "its answer is off by" in entry["why"]


def answering(*answers):
    given = iter(answers)
    return lambda: Run(1.0, [Predictor(np.array([next(given)]), 0.0)], {})


def test_an_answer_that_changes_from_run_to_run_ends_the_contest():
    def check(answers):
        return difference(answers[0], Predictor(np.array([1.0]), 0.0))

    steady = Contestant("steady", answering(1, 1, 1), 1, 1, check)
    fickle = Contestant("fickle", answering(1, 1, 2), 1, 1, check)
    not_a_number = Contestant("not a number", answering(np.nan), 1, 1, check, 1.0)
    found = {
        entry["contestant"]: (entry["status"], entry["seconds"]) for entry in race([steady, fickle, not_a_number], 2, quiet)
    }
    assert found == {"steady": ("timed", [1.0, 1.0]), "fickle": ("refused", []), "not a number": ("refused", [])}


def test_rows_in_another_order_are_not_what_scikit_learn_visited():
    field = Field(PROBLEM, "random")
    assert sorted(field.indices) == list(range(80))
    assert race_on(field, "scikit-learn loop")["scikit-learn loop"]["status"] == "timed"
    other = Field(PROBLEM, "random")
    other.indices = field.indices[::-1].copy()
    assert race_on(other, "scikit-learn loop")["scikit-learn loop"]["status"] == "refused"


def test_a_scikit_learn_that_has_no_such_function_is_not_timed(monkeypatch):
    monkeypatch.delattr("sklearn.linear_model._stochastic_gradient._plain_sgd64")
    field = Field(PROBLEM, "random")
    assert sorted(field.indices) == list(range(80))
    entry = race_on(field, "scikit-learn loop")["scikit-learn loop"]
    assert (entry["status"], entry["seconds"]) == ("not available", [])
    assert "scikit-learn" in entry["why"]


def test_scikit_learn_is_left_as_it_was():
    from sklearn.linear_model import _stochastic_gradient as module

    original = module._plain_sgd64
    with watch.watched():
        assert module._plain_sgd64 is not original
        with pytest.raises(NotAvailable, match="classes"):
            watch.fit(peer.learner(PROBLEM.loss.name, 1.0), DATA.X, np.ones(80))
    assert module._plain_sgd64 is original


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_labels_that_are_no_classes(loss):
    problem = Problem(DATA.X, np.random.default_rng(0).normal(size=80), loss, 0.5)
    listed = list(many_models(Field(problem, "random")))
    names = ["20 models, floor", *(f"20 values of λ, {how}" for how in ("one pass", "20 passes", "scikit-learn"))]
    assert [each.name for each in listed] == names
    found = race_on(Field(problem, "random"), "scikit-learn loop", "asgd loop")
    assert {entry["status"] for entry in found.values()} == {"timed"}


def test_models_that_need_too_much_memory_are_not_tried(monkeypatch):
    monkeypatch.setattr(contestants, "MOST_BYTES", 16 * 20 * 300 - 1)
    (entry,) = race(list(many_models(Field(PROBLEM, "sequential"))), 1, quiet)
    assert (entry["contestant"], entry["status"]) == ("20 models", "not available")


def test_a_set_too_large_for_the_memory_is_passed_over():
    def too_large():
        raise MemoryError

    found: dict = {}
    assert list(speed.contest(found, {"XXL": too_large}, 1, dict, quiet, quiet)) == []
    assert found["sets"] == [{"name": "XXL", "why": "not enough memory"}]


def test_the_floor_moves_the_memory_of_algorithm_2_and_no_more():
    tally = Tally()
    state = CountingArray(np.zeros((300, 2)), tally)
    visit_twice(PROBLEM.X, np.arange(80), state, np.zeros(300))
    assert (tally.read, tally.written) == (DATA.X.nnz, 2 * DATA.X.nnz)


def test_the_floor_of_many_models_moves_theirs():
    tally = Tally()
    state = CountingArray(np.zeros((300, 2, 8)), tally)
    visit_all_twice(PROBLEM.X, np.arange(80), state, np.zeros(8))
    assert (tally.read, tally.written) == (8 * DATA.X.nnz, 16 * DATA.X.nnz)


def test_the_first_call_is_timed_in_a_fresh_python():
    found = start(1, ["sgd"])
    assert list(found) == ["sgd"]
    assert list(found["sgd"]) == ["import", "first_call"]
    assert min(found["sgd"].values()) > 0


@pytest.fixture(scope="module")
def scaled():
    sweeps = (
        scaling.Sweep("T", (10, 100, 1000), (10, 100), {"m": 50, "n": 100, "k": 5}),
        scaling.Sweep("k", (1, 10, 100), (1, 10, 100), {"m": 20, "n": 200, "T": 60}, 5),
        scaling.Sweep("n", (100, 1_000, 200_000), (100, 1_000), {"m": 50, "k": 5, "T": 60}, 5),
    )
    results = speed.new_results("scaling")
    scaling.scale(results, sweeps, 2, quiet, quiet)
    return json.loads(json.dumps(results))


def test_the_counted_exponents_are_those_of_the_claim(scaled):
    found = {(entry["variable"], entry["algorithm"], entry["part"]): entry for entry in scaled["counts"]}
    assert {key[0] for key in found} == {"T", "k", "n"}
    for (variable, algorithm, part), entry in found.items():
        if part == "loop" or (algorithm, part) == ("asgd", "once") or (variable != "T" and part == "dense"):
            assert entry["last_exponent"] == pytest.approx(entry["tends_to"] or 0, abs=0.03), (variable, algorithm, part)
    assert found["n", "asgd", "loop"]["x"][-1] == 200_000
    assert found["n", "casgd", "loop"]["x"][-1] == 1_000


def test_the_counts_are_those_of_the_formula(scaled):
    (entry,) = [e for e in scaled["counts"] if (e["variable"], e["algorithm"], e["part"]) == ("k", "casgd", "loop")]
    for k, T, entries in zip(entry["x"], entry["T"], entry["entries"], strict=True):
        sizes = Sizes(n=200, T=T, nnz=20 * k, K=k * T, K1=k, U=k * T, U1=k)
        assert entries == sum(LOOP["casgd"][2](sizes))


def test_every_curve_is_there(scaled):
    curves = {(entry["variable"], entry["algorithm"], entry["part"]) for entry in scaled["curves"]}
    assert curves == {(v, a, p) for v in "Tkn" for a in ("asgd", "casgd") for p in ("loop", "call", "dense")}
    assert all(min(entry["seconds"]) > 0 for entry in scaled["curves"])


@pytest.mark.parametrize("power", [0.5, 1, 2])
def test_the_exponent_of_a_power_is_found(power):
    x = np.array([1.0, 3.0, 10.0, 100.0])
    assert scaling._exponent(x, 7 * x**power) == pytest.approx(power)


def test_the_picture_of_speeds_shows_the_medians(results):
    ax = pictures.speed(results)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == [label for label, _, _ in pictures.cost.SPEED_SHOWN.values()]
    shown = {y for line in ax.lines for y in line.get_ydata() if line.get_marker() == "D"}
    entries = [entry for entry in results["timings"] if entry["contestant"] == "scikit-learn loop"]
    assert shown == {entry["ns_per_entry"]["median"] for entry in entries}
    plt.close(ax.figure)


def test_a_contestant_that_was_not_timed_is_missing_in_the_picture(results):
    refused = [dict(entry, ns_per_entry=None) if entry["contestant"] == "floor" else entry for entry in results["timings"]]
    own = plt.figure().add_subplot()
    assert pictures.speed({**results, "timings": refused}, own) is own
    assert not any(line.get_marker() == "_" and len(line.get_xdata()) for line in own.lines)
    plt.close(own.figure)


def test_the_picture_of_scaling_shows_every_curve(scaled):
    axes = pictures.scaling(scaled)
    assert axes.shape == (2, 3)
    assert [len(ax.lines) for ax in axes.ravel()] == [6, 6, 6, 4, 4, 4]
    plt.close(axes[0, 0].figure)


def test_scaling_from_the_command_line(monkeypatch, tmp_path, capsys):
    sweep = scaling.Sweep("T", (10, 100), (10, 20), {"m": 50, "n": 100, "k": 5})
    monkeypatch.setattr("proofs.bench.QUICK_SWEEPS", (sweep,))
    monkeypatch.setattr("proofs.bench._draw", lambda results, path: None)
    assert main(["--scaling", "--quick", "--json", str(tmp_path / "s.json"), "--picture", "s.png"]) == 0
    assert json.loads((tmp_path / "s.json").read_text("utf8"))["kind"] == "scaling"
    assert "Entries touched, counted one by one against T" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sets", "S,Q"], "there is no set 'Q'; the sets are S, M, L, XL"),
        (["--data", "x.svm"], "--data needs --loss and --lam"),
        (["--lam", "1"], "--loss and --lam go with --data"),
        (["--sets", "S", "--scaling"], "--scaling and --sets do not go together"),
        (["--data", "x.svm", "--loss", "log", "--lam", "1", "--sets", "S"], "--sets and --data do not go together"),
        (["--json", "/no/such/folder/bench.json"], "there is no folder for /no/such/folder/bench.json"),
        (["--picture", "bench.gif"], "the name must end in .png or .svg; got bench.gif"),
    ],
)
def test_wrong_usage(arguments, message, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1].endswith(message)


@pytest.mark.parametrize(
    ("content", "loss", "lam", "message"),
    [
        (None, "log", "1", "rows.svm"),
        ("1 1:2\n-1 2:1\n", "log", "-1", "lam"),
        ("1 1:2\n0 2:1\n", "hinge", "1", "labels -1 and +1"),
        ("1 1:2\nbroken\n", "squared", "1", "rows.svm"),
        ("1 1:2\n", "log", "1", "two rows"),
        ("1 1:9\n-1 1:8\n" * 200, "squared", "1e-290", "overflow"),
    ],
)
def test_bad_data_is_one_line_and_status_1(content, loss, lam, message, tmp_path, capsys):
    path = tmp_path / "rows.svm"
    if content is not None:
        path.write_text(content)
    assert main(["--data", str(path), "--loss", loss, "--lam", lam]) == 1
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""


def test_an_interrupt_ends_the_bench(monkeypatch, tmp_path, capsys):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("proofs.bench.scale", interrupted)
    assert main(["--scaling", "--json", str(tmp_path / "bench.json")]) == 130
    assert capsys.readouterr().err == "proofs: interrupted; nothing was written\n"
    assert list(tmp_path.iterdir()) == []


def test_a_function_that_is_not_available_says_why():
    def absent():
        raise NotAvailable("there is none")

    (entry,) = race([Contestant("absent", absent, 1, 1, None)], 3, quiet)
    assert (entry["status"], entry["why"], entry["seconds"]) == ("not available", "there is none", [])


def test_a_refusal_where_a_loss_has_kinks_is_explained():
    refused = {"sets": [{"loss": "hinge"}], "timings": [{"status": "refused"}]}
    assert len(list(tables.remarks(refused))) == 1
    assert list(tables.remarks({**refused, "sets": [{"loss": "log"}]})) == []
    assert list(tables.remarks({**refused, "timings": [{"status": "timed"}]})) == []
