"""Scaling: the counted exponents are those of the claim, and the pictures of the bench show its results."""

import json

import matplotlib as mpl
import numpy as np
import pytest

from proofs import pictures
from proofs.bench import scaling
from proofs.counted.arrays import Sizes
from proofs.counted.cost import LOOP

mpl.use("Agg")


@pytest.fixture(scope="module")
def scaled():
    sweeps = (
        scaling.Sweep("T", (10, 100, 1000), (10, 100), {"m": 50, "n": 100, "k": 5}),
        scaling.Sweep("k", (1, 10, 100), (1, 10, 100), {"m": 20, "n": 200, "T": 60}, 5),
        scaling.Sweep("n", (100, 1_000, 200_000), (100, 1_000), {"m": 50, "k": 5, "T": 60}, 5),
    )
    return json.loads(json.dumps(scaling.scale(sweeps, 2)))


def test_counted_exponents_are_those_of_the_claim(scaled):
    found = {(entry["variable"], entry["algorithm"], entry["part"]): entry for entry in scaled["counts"]}
    assert {key[0] for key in found} == {"T", "k", "n"}
    for (variable, algorithm, part), entry in found.items():
        if part == "loop" or (algorithm, part) == ("asgd", "once") or (variable != "T" and part == "dense"):
            assert entry["last_exponent"] == pytest.approx(entry["tends_to"] or 0, abs=0.03), (variable, algorithm, part)
    assert found["n", "asgd", "loop"]["x"][-1] == 200_000
    assert found["n", "casgd", "loop"]["x"][-1] == 1_000


def test_counts_are_those_of_the_formula(scaled):
    (entry,) = [e for e in scaled["counts"] if (e["variable"], e["algorithm"], e["part"]) == ("k", "casgd", "loop")]
    for k, T, entries in zip(entry["x"], entry["T"], entry["entries"], strict=True):
        sizes = Sizes(n=200, T=T, nnz=20 * k, K=k * T, K1=k, U=k * T, U1=k)
        assert entries == sum(LOOP["casgd"][2](sizes))


def test_every_curve_is_timed_and_drawn(scaled):
    curves = {(entry["variable"], entry["algorithm"], entry["part"]) for entry in scaled["curves"]}
    assert curves == {(v, a, p) for v in "Tkn" for a in ("asgd", "casgd") for p in ("loop", "call", "dense")}
    assert all(min(entry["seconds"]) > 0 for entry in scaled["curves"])
    axes = pictures.scaling(scaled)
    assert axes.shape == (2, 3)
    assert [len(ax.lines) for ax in axes.ravel()] == [6, 6, 6, 4, 4, 4]
    mpl.pyplot.close("all")


@pytest.mark.parametrize("power", [0.5, 1, 2])
def test_exponent_of_a_power_is_found(power):
    x = np.array([1.0, 3.0, 10.0, 100.0])
    assert scaling.exponent(x, 7 * x**power) == pytest.approx(power)
