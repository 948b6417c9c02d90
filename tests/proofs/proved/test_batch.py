"""Loop for K models proved equal to the loop for one, and its mutants refuted."""

import pytest

from proofs.proved import batch


@pytest.mark.parametrize("each", batch.PROOFS, ids=lambda each: f"{each.algorithm} {each.evidence[:8]}")
def test_loop_for_k_models_is_the_loop_for_one(each):
    (entry,) = each.check()
    assert entry.holds, entry.figure
    assert entry.mutants > 50


@pytest.mark.nightly
def test_every_mutant_of_the_loop_is_refuted():
    (entry,) = batch.refute()
    assert entry.holds, entry.figure
    assert entry.mutants == entry.refuted > 500
