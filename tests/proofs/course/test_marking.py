import pytest

from proofs.course import Wrong, marking, marks, total


def test_total_counts_right_wrong_and_hidden(capsys, monkeypatch):
    monkeypatch.setattr(marking, "_book", {})
    with marks(3, "this"):
        pass
    with pytest.raises(Wrong, match=r"^no\n\(0 of 2 marks for that\)$"), marks(2, "that"):
        raise Wrong("no")
    with pytest.raises(ZeroDivisionError), marks(1, "more"):
        1 / 0  # noqa: B018
    total(10)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == ["Right: 3 of 3 marks for this.", "  3 of  3  this", "  0 of  2  that", "  0 of  1  more"]
    assert lines[4].startswith("  3 of 10  in all; 4 are for tests that were not run")
    with pytest.raises(Wrong, match="not written yet: NotImplementedError: half"), marks(3, "this"):
        raise NotImplementedError("half")
    total(6)
    assert capsys.readouterr().out.splitlines()[-1] == "  0 of  6  in all"
