import inspect

import pytest

from proofs.course import Wrong, questions
from proofs.course.formulas import agrees, equals
from proofs.proved.symbols import g, gradient_step, lam, t, v, x
from reference import LOSSES

TESTED_APART = ("below", "unshrunk")
QUESTIONS = [
    each
    for name, each in vars(questions).items()
    if inspect.isfunction(each) and each.__module__ == questions.__name__
    if not name.startswith("_") and name not in TESTED_APART
]


def ask(question):
    if question is questions.derivatives:
        question(**dict.fromkeys(LOSSES))
    elif question is questions.lemma:
        question(lambda: (t, t / (t - 1), t))
    else:
        question(*[lambda: None] * len(inspect.signature(question).parameters))


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.__name__)
def test_question_known_wrong_answer_is_told_its_sentence_and_no_other(question, monkeypatch):
    asked = []
    for test in (agrees, equals):
        monkeypatch.setattr(questions, test.__name__, lambda *given, test=test: asked.append((test, *given)))
    ask(question)
    assert asked
    for test, _, right, *more in asked:
        test(right, right, *more)
        known = more[-1] if more and isinstance(more[-1], dict) else {}
        for sentence, wrong in known.items():
            with pytest.raises(Wrong) as told:
                test(wrong, right, *more)
            assert str(told.value).splitlines()[:-1] == [sentence]


def test_tail_no_number_raises():
    with pytest.raises(Wrong, match=r"\(1, 1, \[0, 1, 3/2, 11/6, …\]\) is None, must be 1$"):
        questions.tail(lambda i, t, h: None)


def test_lemma_conclusion_instead_of_the_step_raises():
    def by_the_step():
        assumed = -v / (lam * (t - 1))
        return assumed, gradient_step(assumed, g, x, t), v + g * x

    questions.lemma(by_the_step)
    with pytest.raises(Wrong, match="this is what the lemma claims"):
        questions.lemma(lambda: (-v / (lam * (t - 1)), -(v + g * x) / (lam * t), v + g * x))


def test_below_slope_of_another_function_raises():
    questions.below(**{name: (loss.value, loss.derivative) for name, loss in LOSSES.items()})
    with pytest.raises(Wrong, match="hinge: the line with your slope at p = "):
        questions.below(hinge=(LOSSES["hinge"].value, LOSSES["log"].derivative))


def test_tail_answer_in_place_passes_and_does_not_spoil_the_questions():
    def in_place(i, t, h):
        h[t] -= h[i - 1]
        return h[t]

    questions.tail(in_place)


@pytest.mark.parametrize(
    ("multiple", "said"),
    [
        (lambda w, lam, t: w, "a step still shrinks it: step 2"),
        (lambda w, lam, t: (t + 1) * w, "a step still shrinks it: step 2"),
        (lambda w, lam, t: lam * t, "it must be a multiple of w"),
        (lambda w, lam, t: t * w + 1, "it must be a multiple of w"),
        (lambda w, lam, t: t * w * abs(w), "it must be a multiple of w"),
        (lambda w, lam, t: 0 * w, "it is 0 times w"),
    ],
)
def test_unshrunk_takes_every_multiple_that_steps_do_not_shrink_and_no_other(multiple, said):
    for right in (lambda w, lam, t: lam * t * w, lambda w, lam, t: -t * w, lambda w, lam, t: [t * each for each in w]):
        questions.unshrunk(right)
    with pytest.raises(Wrong, match=said):
        questions.unshrunk(multiple)
