"""Third-party implementations, held against the vectors: `python -m proofs.conformance.examined` prints README's table."""

import importlib.util
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from tqdm import tqdm

import efficient
import reference
from reference import Problem

from .. import peer
from . import train_with
from .check import check
from .report import Report


def scikit_learn(X, y, loss, lam, indices, average, centred):
    """Train on the drawn rows in their order, with a column of ones for the bias: so it is regularised, as in the paper."""
    if centred:
        raise NotImplementedError("scikit-learn's SGD does not centre sparse rows")
    fitted = peer.one_pass(peer.learner(loss, lam, average), peer.with_ones(X[indices]), y[indices])
    (found,) = peer.predictors(fitted)
    return found.w, found.b


def scikit_learn_intercept(X, y, loss, lam, indices, average, centred):
    """Train with scikit-learn's own intercept on sparse rows."""
    if centred:
        raise NotImplementedError("scikit-learn's SGD does not centre sparse rows")
    if X.shape[1] == 0:
        raise NotImplementedError("scikit-learn wants at least one feature")
    fitted = peer.one_pass(peer.learner(loss, lam, average, fit_intercept=True), peer.short(X[indices]), y[indices])
    return fitted.coef_.ravel(), fitted.intercept_[0]


def river(X, y, loss, lam, indices, average, centred):
    """Train river's linear models, with a feature that is always 1 for the bias."""
    if average or centred:
        raise NotImplementedError("its Averager returns averages that its linear models do not use, and nothing is centred")
    from river import linear_model, optim

    kind = linear_model.LogisticRegression if loss == "hinge" else linear_model.LinearRegression
    penalty = {"absolute": optim.losses.Absolute, "hinge": optim.losses.Hinge}[loss]
    steps = optim.schedulers.InverseScaling(1 / lam, 1)
    model = kind(optim.SGD(steps), loss=penalty(), l2=lam, intercept_lr=0.0)
    n = X.shape[1]
    X = X.copy()
    X.sum_duplicates()
    for i in indices:
        stored = slice(X.indptr[i], X.indptr[i + 1])
        x = dict(zip(X.indices[stored].tolist(), X.data[stored].tolist(), strict=True)) | {n: 1.0}
        model.learn_one(x, bool(y[i] > 0) if loss == "hinge" else float(y[i]))
    w = np.zeros(n + 1)
    for j, weight in model.weights.items():
        w[j] = weight
    return w[:-1], w[-1]


def authors_last_predictor(X, y, loss, lam, indices, average, centred):
    """Recover the last predictor as the C++ of the paper's author does in its centred trainer, restated: −v/(λT), −a/(λT)."""
    if average or not centred:
        raise NotImplementedError("only the last predictor of the centred trainer")
    state = efficient.State(Problem(X, y, loss, lam), "csgd", pivot=False).run(indices)
    return -state.v / (lam * state.t), -state.a / (lam * state.t)


class Examined(NamedTuple):
    """Implementation, the failures that are expected of it and why, the losses it is held to, and a package that it needs."""

    name: str
    train: Callable
    algorithm: tuple[str, ...]
    loss: tuple[str, ...] | None = None
    expected_failures: Mapping[str, str] = MappingProxyType({})
    exact: bool = False
    needs: str | None = None


TIE = "at a tie, the ε-insensitive loss with ε = 0 has the derivative 0"
CLIPPED = "derivatives beyond 1e12 are clipped to 1e12"
EXAMINED = (
    Examined("`reference`, ours, exact arithmetic", train_with(reference), ("sgd", "asgd", "csgd", "casgd"), exact=True),
    Examined("`efficient`, ours, exact arithmetic", train_with(efficient), ("sgd", "asgd", "csgd", "casgd"), exact=True),
    Examined("`reference`, ours", train_with(reference), ("sgd", "asgd", "csgd", "casgd")),
    Examined("`efficient`, ours", train_with(efficient), ("sgd", "asgd", "csgd", "casgd")),
    Examined(
        "scikit-learn `SGDClassifier`, `SGDRegressor`, on rows [x, 1]",
        scikit_learn,
        ("sgd", "asgd"),
        expected_failures={
            "*-absolute-first-label-zero": TIE,
            "*-absolute-tie-at-step-t*": TIE,
            "*-absolute-ties-*": TIE,
            "*-absolute-zero-mean-column": TIE,
            "*-squared-*-far": CLIPPED,
            "*-squared-lam-tiny*": CLIPPED,
            "*-squared-long-rows": CLIPPED,
        },
    ),
    Examined("scikit-learn with its own intercept, sparse rows", scikit_learn_intercept, ("sgd", "asgd"), ("hinge", "log")),
    Examined("river 0.26.1, linear models on rows [x, 1]", river, ("sgd",), ("absolute", "hinge"), needs="river"),
    Examined("the author's C++, last predictor of the centred trainer (restated)", authors_last_predictor, ("csgd",)),
)

HEAD = """| implementation | algorithms | right | expected to fail, and why | wrong | diagnosis |
| --- | --- | --- | --- | --- | --- |
"""


def examine(each: Examined) -> Report:
    """Check an implementation with the vectors of its algorithms and losses."""
    return check(
        each.train, each.algorithm, each.loss, exact=each.exact, expected_failures=each.expected_failures, progress=False
    )


def row(each: Examined, report: Report) -> str:
    """Format a report as a line of the table."""
    count = report.count
    reasons = "; ".join(dict.fromkeys(each.expected_failures.values()))
    expected = f"{count['expected failure']}: {reasons}" if count["expected failure"] else "0"
    wrong = sum(count[verdict] for verdict in ("failed", "error", "unexpectedly passed"))
    said = "conforms" if report.passed else "; ".join(finding.text for finding in report.diagnosis) or "does not conform"
    algorithms = ", ".join(each.algorithm) + (f" with {', '.join(each.loss)}" if each.loss else "")
    cells = (each.name, algorithms, count["passed"] + count["undecided"], expected, wrong, said.replace("\n", " "))
    return f"| {' | '.join(map(str, cells))} |\n"


def table() -> str:
    """Check all examined implementations that are installed here; return the table in Markdown."""
    installed = [each for each in EXAMINED if each.needs is None or importlib.util.find_spec(each.needs)]
    return HEAD + "".join(row(each, examine(each)) for each in tqdm(installed, disable=None, leave=False))


if __name__ == "__main__":
    print(table())
