"""Errata: what is printed is refuted, what holds is shown."""

import pytest

from proofs import slips
from proofs.paper import ERRATA


@pytest.mark.parametrize("name", ERRATA)
def test_erratum_is_as_the_table_says(name):
    entries = list(slips.entries(name))
    assert all(entry.as_expected for entry in entries), [entry.line() for entry in entries]
    assert any(entry.holds for entry in entries)
    assert ERRATA[name].kind == "remark" or not all(entry.holds for entry in entries)


def test_main_prints_every_entry(capsys, monkeypatch):
    monkeypatch.setattr(slips, "ERRATA", {name: ERRATA[name] for name in ("E1", "E11")})
    assert slips.main([]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2 + 5 + 2
