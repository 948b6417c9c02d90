import pytest
import sympy

from proofs.course import Wrong
from proofs.course.formulas import agrees, equals
from proofs.proved.symbols import g, h, t, u, v, x

RIGHT = h * v - u + (v + g * x) / t


@pytest.mark.parametrize(
    "answer",
    [
        (h + 1 / t) * (v + g * x) - u - h * g * x,
        sympy.expand(h * v - u + (v + g * x) / t),
        sympy.Symbol("h") * v - u + sympy.sqrt(t**2) * (v + g * x) / t**2,
    ],
    ids=str,
)
def test_equals_right_formula_in_any_form_passes(answer):
    equals(answer, RIGHT)


@pytest.mark.parametrize(
    ("answer", "trouble"),
    [
        (h * v - u + v / t, r"with g = 1, h = 2, t = 4, u = 4, v = 5, x = 6 it is 29/4, must be 35/4"),
        (0, "must be"),
        (sympy.zoo, "must be made of letters"),
        (0.5 * v, "not exact: write sympy.Rational"),
        (sympy.Symbol("k2") * v, "k2 in k2\\*v is none of the letters"),
        (sympy.exp(v), "must be made of letters"),
        (None, "no formula"),
        (sympy.Eq(v, u), "no formula"),
        ("h*v - u + (v + g*x)/t", "no formula"),
    ],
    ids=str,
)
def test_equals_wrong_formula_raises(answer, trouble):
    with pytest.raises(Wrong, match=trouble):
        equals(answer, RIGHT)


def test_agrees_rounding_passes_and_more_raises():
    def answer(p):
        return 4 if p == 3 else p

    questions = [(1.0,), (3.0,)]
    agrees(lambda p: p * (1 + 1e-15), lambda p: p, questions)
    with pytest.raises(Wrong, match=r"^wrong at 3\nanswer\(3\) is 4, must be 3$"):
        agrees(answer, lambda p: p, questions, {"wrong at 3": answer, "other": lambda p: 2 * p})
    with pytest.raises(Wrong, match="is None, must be 1"):
        agrees(lambda p: None, lambda p: p, questions)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (h * v - u + (v + g / x) / t, "x divides where it must multiply, or the other way"),
        (h * v - u + (v + x) / t, "g is missing"),
        (-h * v - u + (v + g * x) / t, "h has the other sign"),
        (h * v - u + (v + g * x) / (t + 1), "t is one too large"),
        (h * v - u + (v + g * x) / (t - 1), "t is one too small"),
        (h * v - u + (v + g * x), "t is missing"),
    ],
    ids=str,
)
def test_equals_one_letter_wrong_is_named(answer, said):
    with pytest.raises(Wrong, match=f"^{said}"):
        equals(answer, RIGHT)


def test_equals_two_letters_wrong_names_none():
    with pytest.raises(Wrong, match=r"^with "):
        equals(h * v + u + (v + g / x) / t, RIGHT)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda p: -p, "the sign is wrong"),
        (lambda p: p / 3, "all results are 0.333 times what they must be"),
        (lambda p: p + 2, "all results are off by 2"),
        (lambda p: p**2, "<lambda>"),
        (lambda p: p + 2 if p else None, "<lambda>"),
        (lambda p: 0, "<lambda>"),
    ],
)
def test_agrees_results_all_off_alike_are_named_and_others_not(answer, said):
    with pytest.raises(Wrong, match=f"^{said}"):
        agrees(answer, lambda p: p, [(0.0,), (1.0,), (3.0,)])
