"""All claims of the room hold, each by its own evidence; those that take long at night, and whenever the ledger is filled."""

import pytest

from efficient.runs.algorithms import ALGORITHMS
from proofs.proved import claims, lines
from proofs.proved.__main__ import main
from proofs.proved.proof import Proof


def job(each):
    proof = getattr(each.run, "__self__", None)
    slow = each.name.startswith("mutants of") or getattr(proof, "algorithm", "") in ("asgd", "csgd", "casgd")
    return pytest.param(each, marks=pytest.mark.nightly if slow else (), id=f"{each.name[:50]} {each.labels[0]}")


@pytest.mark.parametrize("each", [job(each) for each in claims.jobs()])
def test_claim_is_as_expected_and_refutes_its_mutants(each):
    for entry in each.run():
        assert entry.as_expected, entry.line()
        assert entry.refuted == entry.mutants
        assert entry.mutants > 0 or not isinstance(getattr(each.run, "__self__", None), Proof)


@pytest.mark.parametrize("name", ["sgd", "pivot", "pseudocode"])
def test_main_shows_a_module_in_full(name, monkeypatch, capsys):
    module = claims.CLAIMS[name]
    proofs = getattr(module, "PROOFS", ())[:2]  # the rest would take long and show no more
    monkeypatch.setattr(module, "PROOFS", proofs, raising=False)
    assert main([name]) == 0
    shown = capsys.readouterr().out
    assert all(f"{each.label}: {each.claim}" in shown for each in proofs)
    assert shown.count("remains: 0") == sum(len(list(each.steps())) for each in proofs)
    for each in proofs:  # what is assumed, from the docstring of the function behind it
        assert getattr(each.steps, "func", each.steps).__doc__.split("\n")[0] in shown
    assert shown.count(": holds") == len(module.jobs())


def test_main_refuses_an_unknown_module(capsys):
    with pytest.raises(SystemExit):
        main(["introduction"])
    assert "NAME must be one of losses, sgd, " in capsys.readouterr().err


@pytest.mark.parametrize("name", ALGORITHMS)
def test_in_order_misses_a_line_that_is_not_there(name):
    assert lines.in_order([("c ← c + 2", "c = c + 2")], ALGORITHMS[name].steps) == ["c ← c + 2"]
