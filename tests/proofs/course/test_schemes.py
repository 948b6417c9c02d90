import numpy as np
import pytest

from proofs.course import Wrong, is_weighted_mean
from proofs.course.schemes import PASSES, WRONG_MEANS, excess, right_mean
from reference import Problem, asgd, iterates


def returning(mean, omega):
    """Return a `train` that makes its answer of the iterates, w_0 included, and the weights."""

    def train(X, y, loss, lam, indices, average, centred):
        after = [np.append(step.predictor.w, step.predictor.b) for step in iterates(Problem(X, y, loss, lam), indices)]
        T = len(after)
        found = mean(np.array([0 * after[0], *after]), np.array([omega(t, T) for t in range(1, T + 1)]))
        return found[:-1], found[-1]

    return train


SCHEMES = {
    "weights t²": lambda t, T: t**2,
    "the second half": lambda t, T: int(2 * t > T),
    "exponential": lambda t, T: 0.9 ** (T - t),
    "the first steps": lambda t, T: 1 / t,
}


@pytest.mark.parametrize("omega", SCHEMES.values(), ids=SCHEMES)
def test_is_weighted_mean_right_scheme_passes_and_another_digit_raises(omega):
    is_weighted_mean(returning(right_mean, omega), omega, ["squared", "hinge"])
    with pytest.raises(Wrong, match=r"^it is not one of the usual mistakes\n.* means are wrong; the shortest:\n +rows"):
        is_weighted_mean(returning(lambda way, omega: right_mean(way, omega) * (1 + 1e-8), omega), omega, "squared")


def test_is_weighted_mean_running_mean_passes():
    def running(way, omega):
        mean = 0 * way[0]
        for t, iterate in enumerate(way[1:], start=1):
            mean = mean + 2 / (t + 1) * (iterate - mean)
        return mean

    is_weighted_mean(returning(running, lambda t, T: t), lambda t, T: t, ["squared", "log"])


@pytest.mark.parametrize("sentence", WRONG_MEANS)
def test_is_weighted_mean_known_wrong_mean_is_told_its_sentence_and_no_other(sentence):
    with pytest.raises(Wrong) as told:
        is_weighted_mean(returning(WRONG_MEANS[sentence], lambda t, T: t), lambda t, T: t, "squared")
    assert [line for line in str(told.value).splitlines() if not line.startswith(" ")] == [sentence]


@pytest.mark.parametrize(
    ("omega", "trouble"),
    [
        (lambda t, T: 2.0, "omega is the same for every step"),
        (lambda t, T: int(t == T), "that is the last iterate"),
        (lambda t, T: t - 2, r"omega\(1, 12\) must be a finite number >= 0; got -1"),
        (lambda t, T: float("nan"), "must be a finite number"),
        (lambda t, T: "1", "must be a finite number >= 0; got '1'"),
        (lambda t, T: t - 1, r"omega\(t, 1\) must be > 0 for some step"),
        (lambda t, T: t, r"must return \(w, b\) with 2 weights; returned None"),
    ],
)
def test_is_weighted_mean_no_scheme_or_no_answer_raises(omega, trouble):
    with pytest.raises(Wrong, match=trouble):
        is_weighted_mean(lambda *_: None, omega, "squared")


def test_excess_of_the_uniform_mean_is_that_of_the_paper():
    def train(X, y, loss, lam, indices, average, centred):
        predictor = asgd(Problem(X, y, loss, lam), indices)
        return predictor.w, predictor.b

    found = excess(train, seeds=1)
    assert all(values.shape == (1, len(PASSES)) and (values > 0).all() for values in found.values())
    np.testing.assert_allclose(found["yours"], found["uniform"], rtol=1e-9)
