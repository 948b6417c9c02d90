import pytest

from proofs.course import Wrong, marking, marks, total
from proofs.course.apart import compiled


def test_total_counts_right_wrong_and_hidden(capsys, monkeypatch):
    monkeypatch.setattr(marking, "_book", {})
    with marks(3, "this"):
        pass
    with pytest.raises(Wrong, match=r"^no\n\(0 of 2 marks for that\)$"), marks(2, "that"):
        raise Wrong("no")
    with pytest.raises(ZeroDivisionError), marks(1, "more"):
        1 / 0  # noqa: B018
    total(10, hidden=3)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == ["Right: 3 of 3 marks for this.", "  3 of  3  this", "  0 of  2  that", "  0 of  1  more"]
    assert lines[4:] == ["  3 of 10  in all; the rest: 1 for tests that were not run and 3 for hidden tests"]
    with pytest.raises(Wrong, match="not written yet: NotImplementedError: half"), marks(3, "this"):
        raise NotImplementedError("half")
    total(9, hidden=3)
    assert capsys.readouterr().out.splitlines()[-1] == "  0 of  9  in all; the rest: 3 for hidden tests"
    with marks(3, "hidden tests: of the marker"):
        pass
    total(9, hidden=3)
    assert capsys.readouterr().out.splitlines()[-1] == "  3 of  9  in all"


def test_marks_error_of_an_answer_quotes_its_line_and_of_a_test_passes():
    names = {"__name__": "__main__"}
    exec(compiled("def rate(t):\n    return 1 / (t - 1)\n\ndef sgd(t):\n    return [rate(t)]", "cell"), names)
    with pytest.raises(Wrong) as told, marks(1, "it"):
        names["sgd"](1)
    assert str(told.value).splitlines() == [
        "ZeroDivisionError: division by zero",
        "  in `rate`, line 2: `return 1 / (t - 1)`",
        "  called in `sgd`, line 5: `return [rate(t)]`",
        "(0 of 1 marks for it)",
    ]
    assert told.value.__suppress_context__
    assert told.value._render_traceback_() == [f"WRONG: {told.value}"]  # no frames of the tests
    with pytest.raises(ZeroDivisionError), marks(1, "it"):
        exec(compiled("1 / 0", "cell"), names)  # the test's own
