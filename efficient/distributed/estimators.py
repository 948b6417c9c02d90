"""Offer the estimators on rows in parts."""

import time
from typing import Self

import dask
import numpy as np
from dask.delayed import Delayed, delayed

from reference.arithmetic import unsignalled

from ..estimators.fitting import LinearEstimator, epoch_and_order
from ..estimators.linear import CASGDClassifier as Classifier
from ..estimators.linear import CASGDRegressor as Regressor
from ..runs.run import Run
from ..training.epochs import Table
from ..training.settings import Settings
from .mixing import Plan, evaluated, mixed, prepare, share_of, steps_of
from .parts import File, Look, as_parts, labels_of, look


class OnParts(LinearEstimator):
    """`fit` for rows in parts, which the classifier and the regressor share."""

    def fit_parts(self, parts: list[Delayed | File]) -> Self:
        """Train on parts, as `as_parts` makes them."""
        self._check_parameters()
        if self.warm_start:
            raise ValueError("warm_start must be False for rows in parts; got True. Let n_epochs be the whole length")
        if getattr(self, "n_jobs", None) is not None:
            raise ValueError(f"n_jobs must be None for rows in parts, on which Dask's workers are at work; got {self.n_jobs!r}")
        for name in ("coef_", "_run"):  # a fit that fails leaves nothing of an older one
            self.__dict__.pop(name, None)
        looks = dask.compute(*(delayed(look)(part, number, self._binary) for number, part in enumerate(parts)))
        plan = self._plan([each for each in looks if each.rows])
        drawn = [(part, each) for part, each in zip(parts, looks, strict=True) if each.rows and share_of(each, plan) > 0]
        if plan.order == "cyclic" and len({steps_of(each, plan) for _, each in drawn}) > 1:
            raise ValueError("sampling must be one that draws, for parts of unequal numbers of rows; got 'cyclic'")
        steps = -(-sum(steps_of(each, plan) for _, each in drawn) // len(drawn))
        parts = [part for part, _ in drawn]
        return self._train(parts, [share_of(each, plan) for _, each in drawn], prepare(parts, plan._replace(steps=steps)))

    def _plan(self, looks: list[Look]) -> Plan:
        """Gather what all parts share, but for x̄, t0 and the steps of an epoch."""
        if not looks:
            raise ValueError("X must have at least one row; got parts without any")
        self.n_features_in_ = max(each.columns for each in looks)
        self._settings = Settings(self.loss, float(self.alpha), self.algorithm, self.average, self.t0)
        self._rng, whole = self._generator(), isinstance(self.random_state, (int, np.integer))
        seed = int(self.random_state if whole else self._rng.integers(1 << 63))
        classes: np.ndarray | None = None
        of_classes: np.ndarray | None = None
        counts: np.ndarray | int = 1
        if self._binary:
            labels, counts = labels_of(looks)
            classes = self._find_classes(labels, None)
            if classes is not None:
                self.classes_, of_classes = classes, self._weights_of(classes, counts)
        _, order = epoch_and_order(sum(each.rows for each in looks), of_classes, self.sampling, counts)
        return Plan(self._settings, self.n_features_in_, classes, of_classes, order, seed, steps=1)

    def _weights_of(self, classes, counts: np.ndarray) -> np.ndarray | None:
        """Weigh the rows of each class."""
        return None

    def _train(self, parts: list[Delayed | File], shares: list, plan: Plan) -> Self:
        """Train epoch by epoch; after Ctrl-C keep the mean of the last whole one."""
        steps, table, run = self.n_steps or self.n_epochs * plan.steps, Table(), None
        began = time.perf_counter()
        try:
            for epoch, mean in enumerate(mixed(parts, shares, plan, steps), start=1):
                run, seconds = mean.compute(), time.perf_counter() - began
                if self.verbose:
                    table.line(epoch, evaluated(parts, shares, plan, mean), seconds)
                if self.callback is not None:
                    self._keep(run, epoch)
                    self.callback(self.t_, self)
                began = time.perf_counter()
        except KeyboardInterrupt:
            if run is not None:
                self._finish(run, plan)
            raise
        assert run is not None
        return self._finish(run, plan)

    def _finish(self, run: Run, plan: Plan) -> Self:
        self._keep(run, -(-run.t // plan.steps))
        self._run = run
        return self


class CASGDClassifier(OnParts, Classifier):
    """Linear classifier as `efficient.CASGDClassifier`, with the same parameters, whose `fit` takes rows in parts.

    After each epoch the states of all parts are averaged, so P parts buy room, not speed of convergence: E epochs on P parts
    are worth about E/P of one run on all rows. After `fit` it is an ordinary estimator: it predicts, and it resumes by
    `partial_fit`, on rows in one piece.

    Notes
    -----
    Steps are counted in each part: `t_`, `n_steps` and the t of the step size. An epoch has equally many steps in each part,
    as many as there are rows in the mean, and a part counts as much as its rows: rows of all parts count alike in expectation.
    The same random_state and the same parts give the same bits, whatever the workers are. There is no pivot: where the mean of
    the rows is large beside their spread, subtract it first. `warm_start` and weights of single rows are for rows in one piece.

    A Dask progress bar (`dask.diagnostics.ProgressBar`, or the dashboard of a cluster) shows the parts of each epoch.
    """

    @unsignalled
    def fit(self, X, y=None) -> Self:  # type: ignore[override]  # rows in parts have no weights of their own
        """Train on rows in parts.

        Parameters
        ----------
        X : list of paths, list of blocks, or Dask array of shape (m, n)
            Paths of svmlight text or `.npz`, which `casgd convert` makes for faster reading, that all workers reach; matrices,
            delayed or not; or a Dask array with chunks of any kind and one chunk of columns. Parts are read anew for each
            epoch, so that a worker holds no more than it works on: persist them where they fit into the memory.
        y : list of vectors, delayed or not, or Dask array of shape (m,), optional
            Labels; none for files, which hold them.

        Raises
        ------
        ValueError, TypeError
            Unusable parameters, rows or labels, by the number of the part; no step was taken.
        FloatingPointError
            The iterates overflowed; names the step.
        KeyboardInterrupt
            After Ctrl-C. The estimator is as it was after the last whole epoch.

        Paper: none; Lemma 1 (lem:v) is why states can be averaged.
        Cost: O(k) a step; an epoch sends 8n(2K + 1) bytes to each part and from it, for K models.
        """
        return self.fit_parts(as_parts(X, y))

    def _weights_of(self, classes, counts: np.ndarray) -> np.ndarray | None:
        if self._is_balanced():
            return counts.sum() / (len(classes) * counts)
        return self._drawn(classes, classes, None, some=True)


class CASGDRegressor(OnParts, Regressor):
    """Linear regression as `efficient.CASGDRegressor`, whose `fit` takes rows in parts, as that of `CASGDClassifier`."""

    @unsignalled
    def fit(self, X, y=None) -> Self:  # type: ignore[override]  # rows in parts have no weights of their own
        """Train on rows in parts; parameters and errors as `CASGDClassifier.fit`."""
        return self.fit_parts(as_parts(X, y))
