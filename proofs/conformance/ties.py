"""Make cases in which a program with declared deviations meets its kink exactly, so that the side it takes there is held.

The ties of the stored cases are those of the paper's program: one with other steps or no bias misses them. So rows of short
numbers are taken, and the exact run of the declared program is solved for one number: the label of the row drawn at the tie, or
one of its entries, which a row that is not yet drawn makes up for in the mean. What cannot be had exactly is not made.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import islice, pairwise, product

from .agreement import runs
from .cases import ALGORITHM, Case, Checkpoint
from .plain import derivative
from .reach import split_mix

TIE = "tie at the kink"

DRAWS = (0, 1, 2, 3, 1, 0)
"""Rows drawn: rows 1 and 2 are met for the first time at steps 2 and 3, the steps of the ties; row 3 comes after these."""

NEAR = Fraction(1, 2**30)
"""How near to a kink a margin is beside it."""

MARGINS = (Fraction(1), Fraction(0), Fraction(1, 2), Fraction(2))
"""Margins at which some declared hinge may have its kink."""

PACES, TRIES = 3, 12
"""How many values of λ are tried, and how many rows with each."""

LAMBDAS = (*(2.0**power for power in (3, 2, 4, 1, 0, 5, 6, 7, -1, -2, -3, 8)), *(number / 4 for number in range(1, 257)))
"""Values of λ, of which those are taken that make the first step a power of two."""


def questions(loss: str, centred: bool, known: frozenset[str]) -> list[tuple[Case, int]]:
    """Make the questions of a loss with a kink, and the step of the tie: at steps 2 and 3, and for labels of both signs.

    Cost: some hundred exact runs of a few steps.
    """
    labels = (1, -1) if loss == "hinge" else (0,)
    found = []
    for step, label in product((2, 3), labels):
        made = _tries(loss, centred, known, step, label)
        if case := next((case for case in made if _holds(case, known, step)), None):
            sign = {1: "-positive", -1: "-negative", 0: ""}[label]
            name = f"declared-tie-at-step-{('two', 'three')[step - 2]}{sign}"
            found.append((replace(case, id=name, checkpoints=_points((step, len(DRAWS)))), step))
    return found


def of_algorithm(case: Case, average: bool) -> Case:
    """Ask the question of an algorithm that averages, or of one that does not."""
    algorithm = ALGORITHM[average, case.centred]
    return replace(case, id=f"{algorithm}-{case.loss}-{case.id}", algorithm=algorithm, average=average)


def is_kink(loss: str, known: frozenset[str], p: Fraction, y: Fraction, beside: Fraction = Fraction(1, 2**60)) -> bool:
    """Tell whether the derivative jumps at the prediction p, or so near beside it."""
    slope = derivative(loss, Fraction, known)
    return abs(slope(p + beside, y) - slope(p - beside, y)) > Fraction(1, 2)


def has_kink(loss: str, known: frozenset[str]) -> bool:
    """Tell whether the derivative of this loss jumps anywhere, with these deviations."""
    slope, y, grid = derivative(loss, Fraction, known), Fraction(1), [Fraction(k, 64) for k in range(-256, 257)]
    slopes = [slope(p, y) for p in grid]
    return any(abs(one - other) > Fraction(1, 4) for one, other in pairwise(slopes))


@cache
def _lambdas(known: frozenset[str], step: int) -> tuple[float, ...]:
    """Find values of λ with which the first step of the declared program is a power of two, and those before `step` short."""
    return tuple(islice((lam for lam in LAMBDAS if _is_paced(lam, known, step)), PACES))


def _is_paced(lam: float, known: frozenset[str], step: int) -> bool:
    case = _case(1, [[(0, 1.0)]] * 4, [1.0] * 4, "hinge", lam, [*DRAWS[: step - 1]])
    drawn = _run(replace(case, checkpoints=_points(range(1, step))), known)
    return bool(drawn) and _is_power_of_two(Fraction(drawn[0].w[0])) and all(_is_short(run.w[0]) for run in drawn)


def _tries(loss: str, centred: bool, known: frozenset[str], step: int, label: int) -> Iterator[Case]:
    """Yield questions whose prediction at this step is to be the kink, for a label of this sign."""
    row = DRAWS[step - 1]
    kinks = [margin for margin in MARGINS if is_kink(loss, known, margin, Fraction(1))] if label else []
    if label and not kinks:
        return
    for lam, seed in product(_lambdas(known, step), range(TRIES)):
        numbers = split_mix(1 + seed)
        rows = [[(j, (next(numbers) % 9 - 4) / 2) for j in range(3)] for _ in range(4)]
        y = [(next(numbers) % 2 * 2 - 1.0) if label else (next(numbers) % 17 - 8) / 4 for _ in range(4)]
        y[row] = float(label)
        case = _case(3, rows, y, loss, lam, list(DRAWS), centred)
        if (p := _prediction(case, known, step)) is None:
            continue
        if not label:
            y[row] = float(p)
            yield _case(3, rows, y, loss, lam, list(DRAWS), centred)
            continue
        other = _prediction(_moved(case, row, Fraction(1)), known, step)
        if other is not None and other != p:
            yield _moved(case, row, (kinks[0] * label - p) / (other - p))


def _moved(case: Case, row: int, by: Fraction) -> Case:
    """Add to the first entry of a row, and take from that of the last, so that the mean stays."""
    rows = [list(each) for each in case.rows]
    for place, change in ((row, by), (len(rows) - 1, -by)):
        rows[place][0] = (0, float(Fraction(rows[place][0][1]) + change))
    return replace(case, rows=rows)


def _holds(case: Case, known: frozenset[str], step: int) -> bool:
    """Tell whether the tie is one, in float64 and in any order of computing, and whether the side taken there shows."""
    drawn = _run(replace(case, checkpoints=_points((*range(1, step), len(DRAWS)))), known)
    if drawn is None or len(drawn[-1].p) < step:
        return False
    *before, whole = drawn
    p, y = Fraction(whole.p[step - 1]), Fraction(whole.y[step - 1])
    tied = [at for at, each in enumerate(zip(whole.p, whole.y, strict=True), start=1) if is_kink(case.loss, known, *each, NEAR)]
    if tied != [step] or not is_kink(case.loss, known, p, y):
        return False
    entries = [Fraction(value) for row in case.rows for _, value in row]
    means = [sum(entries[j::3], Fraction(0)) / 4 for j in range(3)]
    # a bias in steps of no power of two may have been there, if it has cancelled
    passed = [number for run in before for number in run.w] + [run.b for run in before[-1:]]
    if not all(map(_is_short, (*entries, *means, *passed, p, y, Fraction(case.lam)))):
        return False
    if len(before) > 1 and not _is_short(before[0].b) and whole.g[0] + whole.g[1] != 0:
        return False
    if "projected" in known and not _is_inside(case, known, step):
        return False
    if case.loss == "hinge" and p * y != 1:
        return True  # another kink, at which the known fault is none
    flipped = _run(case, known ^ {TIE})
    return flipped is not None and (list(whole.w), whole.b) != (list(flipped[0].w), flipped[0].b)


def _is_inside(case: Case, known: frozenset[str], step: int) -> bool:
    """Tell whether nothing is projected up to this step, nor would be with λ a little larger or smaller."""
    free = known - {"projected"}
    for factor in (15 / 16, 17 / 16):
        near = replace(case, lam=factor * case.lam)
        held, unheld = _run(near, known, step), _run(near, free, step)
        if held is None or unheld is None or held[0].p != unheld[0].p:
            return False
    return True


def _prediction(case: Case, known: frozenset[str], step: int) -> Fraction | None:
    run = _run(case, known, step)
    return Fraction(run[0].p[step - 1]) if run and len(run[0].p) >= step else None


def _run(case: Case, known: frozenset[str], t: int | None = None):
    """Run the declared program exactly, without averaging; None if it leaves the numbers."""
    try:
        return runs(known, case, True, t=t)
    except (ArithmeticError, ValueError):
        return None


def _case(n: int, rows: Sequence, y: list[float], loss: str, lam: float, indices: list[int], centred: bool = False) -> Case:
    """Make a case without answers."""
    return Case(
        n=n,
        rows=rows,
        y=y,
        loss=loss,
        lam=lam,
        indices=indices,
        centred=centred,
        id="",
        comment="A margin is exactly at the kink of the declared program.",
        flags=("KinkTie",),
        algorithm=ALGORITHM[False, centred],
        average=False,
        p=(Fraction(0),) * len(indices),
        g=(Fraction(0),) * len(indices),
        p_tolerance=(None,) * len(indices),
        g_tolerance=(None,) * len(indices),
        checkpoints=_points([len(indices)]),
        undecided="",
    )


def _points(times: Sequence[int]) -> tuple[Checkpoint, ...]:
    return tuple(Checkpoint(t, (), 0, None, None) for t in times)


def _is_short(number) -> bool:
    """Tell whether sums of a few products of two such numbers are exact in float64."""
    scaled = Fraction(number) * 2**10
    return scaled.denominator == 1 and abs(scaled) < 2**22


def _is_power_of_two(number: Fraction) -> bool:
    return number != 0 and all(part & (part - 1) == 0 for part in (abs(number.numerator), number.denominator))
