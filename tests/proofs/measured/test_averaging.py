"""Averages: the verdicts follow the numbers."""

from proofs.measured import averaging

FEW = averaging.Setting("tweets", "absolute", 1e-3, "asgd", False, (0.3, 1, 3))


def test_compare_follows_the_numbers(monkeypatch):
    shares = averaging.suboptimality(FEW, seeds=3)
    assert shares.shape == (3, 3, 4)
    assert (shares > 0).all()
    monkeypatch.setattr(averaging, "suboptimality", lambda setting: shares)
    assert all(entry.as_expected for entry in averaging.compare(FEW))
    # the verdicts follow the numbers: last and uniform exchanged and made small, the others made worse
    exchanged = shares[:, :, [1, 0, 1, 1]] / 100
    monkeypatch.setattr(averaging, "suboptimality", lambda setting: exchanged)
    assert not any(entry.as_expected for entry in averaging.compare(FEW))


def test_why_follows_the_numbers(monkeypatch):
    ratios = (0.1, 10.0)
    assert all(entry.holds for entry in averaging.why(ratios)), [entry.line() for entry in averaging.why(ratios)]
    monkeypatch.setitem(averaging.SQUARES, "uniform", 1.5)
    monkeypatch.setattr(averaging, "expected_gain", lambda ratios: [1 / (1 + ratio) for ratio in ratios])
    assert not any(entry.holds for entry in averaging.why(ratios))
