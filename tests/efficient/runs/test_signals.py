"""Signals by which a system stops a program are answered as Ctrl-C is, in the main thread, unless they are ignored."""

import os
import signal
import threading
import time

import pytest

from efficient.kernels.blocks import held_interrupts
from efficient.runs.signals import STOP, stop_as_ctrl_c


def send(number):
    os.kill(os.getpid(), number)
    time.sleep(0.01)  # the handler runs before this returns


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_stop_raises_keyboard_interrupt_and_names_the_signal(number, status):
    before = [signal.getsignal(each) for each in STOP]
    with pytest.raises(KeyboardInterrupt), stop_as_ctrl_c() as stop:
        send(number)
    assert stop.status == status and [signal.getsignal(each) for each in STOP] == before


def test_stop_lets_what_is_done_about_the_first_signal_end():
    with stop_as_ctrl_c() as stop:
        with pytest.raises(KeyboardInterrupt):
            send(signal.SIGHUP)
        send(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            send(signal.SIGINT)
    assert stop.status == 129


def test_stop_leaves_ignored_signals_and_other_threads_alone():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stop_as_ctrl_c():
            send(signal.SIGHUP)
            thread = threading.Thread(target=lambda: stop_as_ctrl_c().__enter__())
            thread.start()
            thread.join()
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGINT, *STOP])
def test_held_interrupts_defers_each_of_them(number):
    done = []

    def block():
        with held_interrupts() as let_through:
            send(number)
            done.append("block")
            let_through()
            done.append("the next one")

    with stop_as_ctrl_c(), pytest.raises(KeyboardInterrupt):
        block()
    assert done == ["block"]
