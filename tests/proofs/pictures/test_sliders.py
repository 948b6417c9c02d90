"""Test that the sliders draw what they say, at once, and hide the picture where there is none."""

import time
from statistics import median

from proofs.pictures.sliders import Sliders


def test_sliders_move_draws_another_picture_at_once():
    sliders = Sliders()
    times, drawn = [], [sliders.picture.value]
    for seed in range(1, 6):
        before = time.process_time()
        sliders.controls["seed"].value = seed
        times.append(time.process_time() - before)
        assert sliders.picture.value not in drawn
        drawn.append(sliders.picture.value)
    assert median(times) < 1  # 0.3 s alone on a machine; it was 5 s when every height was a call of Python


def test_sliders_overflow_has_a_message_in_place_of_the_picture():
    sliders = Sliders()
    sliders.move(loss="squared", lam=0.001, translation=8)
    assert sliders.seen is None and sliders.picture.layout.display == "none"
    assert "overflowed" in sliders.message.value and "<" not in sliders.message.value
    sliders.move(**sliders.start)
    assert sliders.seen is not None and sliders.picture.layout.display is None and sliders.message.value == ""
