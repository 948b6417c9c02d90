import inspect

import pytest

from proofs.course import Wrong, questions
from proofs.course.formulas import agrees, equals

QUESTIONS = [each for each in vars(questions).values() if inspect.isfunction(each) and each.__module__ == questions.__name__]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.__name__)
def test_question_known_wrong_answer_is_told_its_sentence_and_no_other(question, monkeypatch):
    asked = []
    for test in (agrees, equals):
        monkeypatch.setattr(questions, test.__name__, lambda *given, test=test: asked.append((test, *given)))
    question(*[lambda: None] * len(inspect.signature(question).parameters))
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
