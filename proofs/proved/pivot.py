"""Section "Centering and Translation Invariance": prove why sparse text needs no pivot.

A column is pivoted where mean² > 4 variance, see `efficient.runs.centring`.
"""

from collections.abc import Iterator

import sympy
import z3

from ..ledger import Entry, Job
from .proof import jobs_of, proof
from .prover import Equation, violation
from .symbols import X, i


@proof("pivot", "mean²/variance <= density/(1 − density): what Cauchy and Schwarz leave over is a sum of squares", "for all m")
def density_bound():
    """k of the m entries x_1, …, x_m of a column are not 0, say the first; S and Q are the sums of x and of x² over these.

    So Q − S²/k >= 0. The mean is S/m, the variance Q/m − (S/m)², the density k/m; and k·variance − (m − k)·mean² is that
    sum of squares times k/m.
    """
    k, m = sympy.symbols("k m", integer=True, positive=True)
    S, Q, mu = sympy.symbols("S Q mu", real=True)

    def over_stored(term):
        return sympy.Sum(term, (i, 1, k))

    yield Equation(
        "Σ (x − μ)² over the non-zero entries, any μ",
        over_stored((X[i] - mu) ** 2),
        over_stored(X[i] ** 2) - 2 * mu * over_stored(X[i]) + mu**2 * k,
    )
    yield Equation("at μ = S/k that is Q − S²/k", Q - 2 * (S / k) * S + (S / k) ** 2 * k, Q - S**2 / k)
    mean, variance = S / m, Q / m - (S / m) ** 2
    yield Equation("k·variance − (m − k)·mean²", k * variance - (m - k) * mean**2, k * (Q - S**2 / k) / m)


PROOFS = (density_bound,)


def threshold() -> Iterator[Entry]:
    """From that sum of squares, z3's proof that the threshold 4 means a density above 4/5; and what it must refute."""
    k, m, S, Q = z3.Reals("k m S Q")
    column = z3.And(k >= 1, k <= m, Q * k >= S * S)

    def claim(factor, density):
        """factor·variance < mean², both times m², only if k > density·m."""
        return z3.Implies(z3.And(column, factor * (Q * m - S * S) < S * S), k > density * m)

    proved = {
        "mean² > 4·variance needs a density above 4/5": claim(4, z3.Q(4, 5)),
        "the zeros are then fewer than a quarter of the non-zero entries": z3.Implies(
            z3.And(column, 4 * (Q * m - S * S) < S * S), 4 * (m - k) < k
        ),
        "mean²/variance <= density/(1 − density)": z3.Implies(column, S * S * (m - k) <= (Q * m - S * S) * k),
    }
    wrong = [claim(3, z3.Q(4, 5)), claim(4, z3.Q(9, 10)), z3.Implies(column, 2 * S * S * (m - k) <= (Q * m - S * S) * k)]
    failures = [f"{text}: {numbers}" for text, formula in proved.items() if (numbers := violation(formula)) is not None]
    refuted = [violation(formula) is not None for formula in wrong]
    yield Entry(
        "pivot",
        "a column with mean² > 4·variance has a density above 4/5: its zeros cost less than a quarter more",
        "proved",
        "for all m, given the sum of squares",
        "; ".join(failures) or f"{len(proved)} claims proved by z3, {sum(refuted)} of {len(refuted)} sharper ones refuted",
        not failures and all(refuted),
        mutants=len(refuted),
        refuted=sum(refuted),
    )


def jobs() -> list[Job]:
    return [*jobs_of(*PROOFS), Job(("pivot",), "pivot: threshold", threshold)]
