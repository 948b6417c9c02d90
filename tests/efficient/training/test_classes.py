"""Classes: the labels of each model, and the class that scores decide for."""

import numpy as np
import pytest

from efficient.training.classes import count_models, decide, find_classes, shown, targets
from efficient.training.settings import losses
from reference import LOSSES


def test_targets_are_signs_for_each_model():
    numbers = np.array([2.0, -1])
    assert targets(numbers, None)[0] is numbers
    (signs,) = targets(np.array([3, 5, 3]), np.array([3, 5]))
    assert (signs.tolist(), signs.dtype) == ([-1, 1, -1], np.float64)
    several = targets(np.array([3, 5, 4]), np.array([3, 4, 5]))
    assert [each.tolist() for each in several] == [[1, -1, -1], [-1, -1, 1], [-1, 1, -1]]
    assert [count_models(classes) for classes in (None, [1, 2], [1, 2, 3], np.arange(7))] == [1, 1, 3, 7]


def test_decide_takes_the_first_class_at_zero_and_the_greatest_score():
    classes = np.array(["no", "yes"])
    assert list(decide(np.array([[0.0], [5e-324], [-1]]), classes)) == ["no", "yes", "no"]
    assert list(decide(np.array([[1.0, 2, 2], [3, 2, 1]]), np.array([7, 8, 9]))) == [8, 7]
    np.testing.assert_array_equal(decide(np.array([[1.5], [-2]]), None), [1.5, -2])


def test_find_classes_among_numbers():
    hinge = LOSSES["hinge"]
    assert find_classes(np.array([1.0, 2]), LOSSES["squared"], "a") is None
    assert find_classes(np.array([0.5, 0.25]), hinge, "a").tolist() == [0.25, 0.5]
    for y, found in (([3.0, 1, 2], [1, 2, 3]), (list(range(10)), list(range(10))), (list(range(11)) * 2, list(range(11)))):
        assert find_classes(np.array(y), hinge, "a").tolist() == found
    for y, words in (
        ([*range(11), *range(10)], "'a' has 11 different labels, 0 to 10, in 21 rows: not classes"),
        ([0, 1, 2.25] * 3, "not classes"),
        ([2.0, 2], "'a' has one class only, 2; the hinge loss needs two"),
    ):
        with pytest.raises(ValueError, match=words) as caught:
            find_classes(np.array(y), hinge, "a")
        assert str(caught.value).endswith(", ".join(losses(binary=False)))


@pytest.mark.parametrize(
    ("label", "text"), [(1.0, "1"), (-3.0, "-3"), (2.5, "2.5"), (1e16 - 2, "9999999999999998"), (1e16, "1e+16")]
)
def test_shown_as_one_types_it(label, text):
    assert (shown(label), shown(np.float64(label))) == (text, text)
