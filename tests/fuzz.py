"""Attack the float path with malformed and extreme problems: `python -m tests.fuzz --calls 1000000`.

Every call of the public interface must return finite numbers, or raise an error that this project words: no crash of the
interpreter, no NaN, no warning, no error of numpy's, however `np.errstate` is set; and no array of the caller is changed. Each
attack is made of a seed of its own, which a failure names.
"""

import argparse
import sys
import warnings
from collections import Counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from tqdm import tqdm

from efficient import CASGDClassifier, CASGDRegressor, State, States
from efficient.runs.algorithms import ALGORITHMS
from reference import LOSSES, Predictor, Problem, draw_indices, safe_t0
from reference.averaging import polynomial, suffix

EXTREME = np.array([0.0, -0.0, 5e-324, -2e-308, 1e-300, 1e-160, 1e17, -1e154, 1e155, 1e300, -1e308, np.finfo(float).max])
WRONG = np.array([np.nan, np.inf, -np.inf])
NUMBERS = [
    0,
    -1,
    1,
    3,
    0.5,
    1e-300,
    1e-3,
    1e3,
    1e300,
    1e308,
    5e-324,
    float("nan"),
    float("inf"),
    10**400,
    2**64,
    None,
    "1",
    True,
]
REFUSALS = (ValueError, TypeError, FloatingPointError)


class Failure(Exception):
    """Something happened that may not; the message says what, and how to see it again."""


def contents(*values) -> list[bytes]:
    """Copy what the arrays hold that a caller hands over, those of sparse containers included."""
    names = ("data", "indices", "indptr", "coords")
    parts = [[getattr(each, name) for name in names if hasattr(each, name)] if sp.issparse(each) else [each] for each in values]
    return [np.array(part).tobytes() for each in parts for part in each]


class Attack:
    """Problem, and calls on it, drawn from a seed."""

    def __init__(self, seed: int):
        self.rng, self.seed, self.calls, self.ends = np.random.default_rng(seed), seed, 0, Counter[str]()

    def one_of(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def often(self, usual, *strange, share: float = 0.1):
        return self.one_of(*strange) if self.rng.random() < share else usual

    def numbers(self, size: int) -> np.ndarray:
        """Draw ordinary numbers, or extreme ones, rarely with one that is none."""
        values = self.rng.standard_normal(size) * self.often(1.0, 1e-200, 1e150, 1e300)
        if size and self.rng.random() < 0.3:
            values[self.rng.integers(size, size=2)] = self.rng.choice(EXTREME, 2)
        if size and self.rng.random() < 0.03:
            values[self.rng.integers(size)] = self.rng.choice(WRONG)
        return values

    def rows(self, m: int, n: int) -> Any:
        dense = np.where(self.rng.random((m, n)) < 0.6, self.numbers(m * n).reshape(m, n), 0)
        kind = self.one_of("csr", "csr", "csr", "float32", "csc", "coo", "dense", "list")
        if kind in ("dense", "list"):
            return dense if kind == "dense" else dense.tolist()
        with np.errstate(all="ignore"):
            X = sp.csr_array(dense.astype(np.float32 if kind == "float32" else np.float64))
        if kind in ("csc", "coo"):
            return X.asformat(kind)
        if self.rng.random() < 0.3:
            X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
        if self.rng.random() < 0.05:
            part = self.one_of(X.indices, X.indptr)
            part[self.rng.integers(len(part), size=min(1, len(part)))] = self.one_of(-1, n, 2**31 - 1, -(2**31))
        return X

    def labels(self, m: int, loss: str) -> Any:
        signs = np.where(self.rng.random(m) < 0.5, 1.0, -1.0)
        return signs if LOSSES[loss].binary and self.rng.random() < 0.9 else self.numbers(self.often(m, m + 1, share=0.02))

    def indices(self, m: int) -> Any:
        drawn = self.rng.integers(m, size=self.often(5, 1, 40, 3000, share=0.3))
        return self.often(drawn, drawn.astype(np.uint8), drawn + m, drawn - 1, drawn * 2**40, [], [0.0], None, share=0.06)

    def call(self, function, *arguments, **options):
        """Call it under some `np.errstate`; return its result, or None if it was refused."""
        self.calls += 1
        name = getattr(function, "__name__", str(function))
        given = [each for each in (*arguments, *options.values()) if isinstance(each, np.ndarray) or sp.issparse(each)]
        before = contents(*given)
        try:
            with warnings.catch_warnings(), np.errstate(all=self.one_of("raise", "warn", "ignore")):
                warnings.simplefilter("error")
                result = function(*arguments, **options)
        except REFUSALS as error:
            if not str(error) or "encountered in" in str(error):
                raise Failure(f"seed {self.seed}, {name}: {type(error).__name__}: {error}") from error
            self.ends[type(error).__name__] += 1
            return None
        except Exception as error:
            raise Failure(f"seed {self.seed}, {name}: {type(error).__name__}: {error}") from error
        finally:
            if contents(*given) != before:
                raise Failure(f"seed {self.seed}, {name}: an array of the caller was changed")
        for each in result if isinstance(result, (list, tuple)) else [result]:
            parts = (
                [each.w, each.b] if isinstance(each, Predictor) else [each] * isinstance(each, (np.ndarray, np.floating, float))
            )
            may_overflow = name in ("objective", "subgradient")
            allowed = (lambda part: ~np.isnan(part)) if may_overflow else np.isfinite
            for part in map(np.asarray, parts):
                if not allowed(part).all():
                    raise Failure(f"seed {self.seed}, {name}: returned {part}")
        self.ends["result"] += 1
        return result

    def overwrite(self, X) -> None:
        """Do what a caller may do to arrays of its own once a Problem is made of them."""
        if sp.issparse(X) and X.format == "csr" and len(X.indices):
            X.indices[:] += self.one_of(200_000_000, -5)
            X.data[:] = np.nan
            X.indptr[-1] = 2**30

    def run(self) -> None:
        m, n = self.rng.integers(1, 7), self.rng.integers(0, 6)
        loss, algorithm = self.one_of(*LOSSES), self.one_of(*ALGORITHMS)
        X = self.rows(m, n)
        y, lam = self.labels(m, loss), self.often(self.one_of(1e-3, 0.1, 1.0), *NUMBERS, share=0.3)
        weight = self.often(None, np.abs(self.numbers(m)), self.numbers(m), share=0.3)
        given = [each for each in (y, weight) if isinstance(each, np.ndarray)]
        before = contents(*given)
        if self.rng.random() < 0.03:
            self.estimator(X, y, weight, loss, algorithm)
        else:
            problem = self.call(Problem, X, y, loss, lam, weight)
            self.overwrite(X)
            if problem is not None:
                self.library(problem, algorithm)
        if contents(*given) != before:
            raise Failure(f"seed {self.seed}: an array of the caller was changed")

    def library(self, problem: Problem, algorithm: str) -> None:
        options = {"t0": self.often(0, *NUMBERS, share=0.2)}
        if ALGORITHMS[algorithm].averaging and self.rng.random() < 0.3:
            options["averaging_weights"] = self.one_of(polynomial(3), polynomial(1), suffix(3))
        if self.rng.random() < 0.2:
            options["t0"] = self.call(safe_t0, problem, ALGORITHMS[algorithm].centred) or 0
        models = self.one_of(1, 1, 1, 3, 5)
        lams = [problem.lam, *(self.one_of(0.1, 1.0, 1e-300) for _ in range(models - 1))]
        variants = [problem.variant(lam=value) for value in lams]
        make = (State, problem) if models == 1 else (States, variants)
        state = self.call(*make, algorithm, **options)
        for _ in range(self.rng.integers(1, 4)):
            if state is None:
                return
            self.call(state.run, self.indices(problem.m), progress=False)
            self.call(state.last)
            self.call(state.predictors)
        made = state.t and self.call(state.predictors)
        for predictor in made or ():
            self.call(predictor.predict, problem.X.csr)
            self.call(problem.objective, predictor)
            self.call(problem.subgradient, predictor, ALGORITHMS[algorithm].centred)
        order = self.one_of("iid", "permuted", "cyclic", "blocked", "none")
        rng, steps = self.often(0, -1, 1.5, None, share=0.1), self.often(7, 0, -1, 2.5, share=0.1)
        self.call(draw_indices, self.often(problem.m, *NUMBERS, share=0.1), steps, rng, order)

    def estimator(self, X, y, weight, loss: str, algorithm: str) -> None:
        of = CASGDClassifier if LOSSES[loss].binary else CASGDRegressor
        alpha, t0 = self.often(0.1, *NUMBERS, share=0.2), self.often("auto", *NUMBERS, share=0.2)
        model = of(loss=loss, alpha=alpha, algorithm=algorithm, t0=t0, n_epochs=3, random_state=0)
        for fit in (model.fit, getattr(model, "partial_fit", model.fit)):
            more = {"classes": [-1.0, 1.0]} if fit.__name__ == "partial_fit" and of is CASGDClassifier else {}
            if self.call(fit, X, y, sample_weight=weight, **more) is not None:
                for use in ("predict", "decision_function", "predict_proba", "predict_log_proba"):
                    if hasattr(model, use):
                        self.call(getattr(model, use), X)


def attack(calls: int, first: int = 0, shown: bool = False) -> tuple[int, Counter]:
    """Make attacks with the seeds from `first` on until so many calls are made; return their number, and how they ended."""
    ends, made, seed = Counter[str](), 0, first
    with tqdm(total=calls, unit=" calls", disable=not shown) as bar:
        while made < calls:
            each = Attack(seed)
            each.run()
            made, seed, ends = made + each.calls, seed + 1, ends + each.ends
            bar.update(each.calls)
    return seed - first, ends


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0, help="of the first attack")
    options = parser.parse_args()
    attacks, ends = attack(options.calls, options.seed, sys.stderr.isatty())
    print(f"{ends.total()} calls in {attacks} attacks: {dict(ends.most_common())}")
