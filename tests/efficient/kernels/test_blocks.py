"""Blocks of work: their sizes, held interrupts, the progress bar."""

import signal
import sys
import threading
from contextlib import nullcontext
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from tqdm.auto import tqdm

import efficient.kernels.blocks
from efficient.kernels.blocks import blocks, blocks_of_rows, first_block, held_interrupts, progress_bar
from reference import Problem
from reference.rows import as_rows


@pytest.mark.parametrize("every", [None, 1, 7, 100])
def test_blocks_follow_one_another_and_end_at_every_multiple(every):
    found = list(blocks(13, 313, 40, every))
    assert [start for start, _ in found] == [13, *(stop for _, stop in found[:-1])]
    assert found[-1][1] == 313
    if every is not None:
        assert {stop for _, stop in found} >= {t for t in range(14, 314) if t % every == 0}


def test_first_block_visits_about_300_000_entries():
    def first(X, lam=1.0):
        return first_block(Problem(X, np.ones(X.shape[0]), "squared", lam).X)

    assert first(np.ones((4, 2)), Fraction(1)) == 1
    assert first(np.zeros((5, 3))) == 5 * 300_000  # a row without an entry counts for little
    for k in (1, 3):
        X = sp.csr_array(np.ones((1000, k)))
        assert abs(first(X) * k - 300_000) <= k + 300
    assert first(sp.csr_array(np.ones((2, 600_000)))) == 1
    assert list(blocks_of_rows(as_rows(np.ones((7, 2))))) == [(0, 7)]


def clock(monkeypatch, *seconds):
    """Let blocks take these times in turn, and be meant to take 1/8."""
    monkeypatch.setattr(efficient.kernels.blocks, "SECONDS", 1 / 8)
    now, times = [0.0], iter([each for took in seconds for each in (0.0, took)])

    def tick():
        now[0] += next(times)
        return now[0]

    monkeypatch.setattr(efficient.kernels.blocks.time, "perf_counter", tick)


@pytest.mark.parametrize(
    ("seconds", "sizes"),
    [
        ([0, 0, 0], [10, 80, 640]),  # by a clock that stands still, and never by more than 8
        ([1 / 16, 1 / 4, 1 / 8], [10, 20, 10]),
        ([128, 1 / 64, 1], [10, 1, 8]),  # never less than one
        ([1 / 60, 1 / 8, 1 / 8], [10, 75, 75]),
    ],
)
def test_block_size_is_what_the_last_block_lets_expect(seconds, sizes, monkeypatch):
    clock(monkeypatch, *seconds)
    found = [stop - start for _, (start, stop) in zip(range(3), blocks(5, 10_000, 10), strict=False)]
    assert found == sizes


@pytest.mark.parametrize(
    ("seconds", "wanted"),
    [
        ([1 / 1024, 1 / 8, 1 / 8], [(95, 100), (100, 110), (110, 120)]),
        ([1 / 4, 1 / 8, 1 / 8], [(95, 100), (100, 102), (102, 104)]),
    ],
)
def test_a_block_cut_short_sets_no_size_unless_it_was_slow(seconds, wanted, monkeypatch):
    clock(monkeypatch, *seconds)
    assert [block for _, block in zip(range(3), blocks(95, 10_000, 10, every=100), strict=False)] == wanted


@pytest.fixture
def handled():
    """Leave SIGINT as it was."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("handled")
def test_interrupts_are_deferred_and_let_through_once():
    got = []
    signal.signal(signal.SIGINT, lambda number, frame: got.append((number, frame is not None)))
    with held_interrupts() as let_through:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        assert got == []
        let_through()
        let_through()
    assert got == [(signal.SIGINT, True)]
    with held_interrupts():
        signal.raise_signal(signal.SIGINT)
    assert got == [(signal.SIGINT, True)] * 2
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt), held_interrupts():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("handled")
def test_interrupts_are_deferred_in_the_main_thread_only():
    seen = []

    def look():
        with held_interrupts() as let_through:
            seen.append(signal.getsignal(signal.SIGINT))
            let_through()

    ours = signal.default_int_handler
    signal.signal(signal.SIGINT, ours)
    look()
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen[0] is not ours and seen[1] is ours and signal.getsignal(signal.SIGINT) is ours
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a program that is not to be interrupted at all
    look()
    assert seen[2] is signal.SIG_IGN and signal.getsignal(signal.SIGINT) is signal.SIG_IGN


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("notebook", [True, False])
def test_progress_bar_is_shown_on_a_terminal_and_in_a_notebook(terminal, notebook, monkeypatch):
    monkeypatch.setattr("tqdm.auto.tqdm", lambda **options: nullcontext(options))
    monkeypatch.setattr(efficient.kernels.blocks.sys.stderr, "isatty", lambda: terminal)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    if notebook:
        monkeypatch.setitem(sys.modules, "ipykernel", sys)
    for wanted, shown in ((None, terminal or notebook), (True, True), (False, False)):
        with progress_bar(3, 10, wanted) as bar:
            assert (bar is not None) == shown
            if shown:
                assert bar["initial"] == 3 and bar["total"] == 10


@pytest.mark.parametrize(("platform", "interval"), [("emscripten", 0), (sys.platform, 10)])
def test_progress_bar_starts_no_thread_in_a_browser(platform, interval, monkeypatch):
    monkeypatch.setattr(tqdm, "monitor_interval", 10)
    monkeypatch.setattr(sys, "platform", platform)
    with progress_bar(0, 1, True):
        assert tqdm.monitor_interval == interval
