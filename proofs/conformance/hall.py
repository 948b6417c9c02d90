"""Hold public code to the vectors, for the hall of bugs: adapters of ours, which fetch nothing and hold none of their code.

`python -m proofs.conformance.hall FOLDER` runs those of which FOLDER has a clone, under the name of its repository: HALL.md
says how to get each. Where there is no bias, rows are [x, 1]; draws are given in place of the generator.
"""

import importlib.util
import itertools
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import NamedTuple

import numpy as np

from .check import check
from .report import Report


def load(folder: Path, package: str, *modules: str) -> ModuleType:
    """Import modules of a clone that were written for Python 2, the last one returned; statements `print …` are left out."""
    parent = sys.modules[package] = ModuleType(package)
    parent.__path__ = [str(folder)]
    for name in modules:
        source = re.sub(r"^(\s*)print [^(].*$", r"\1pass", (folder / f"{name}.py").read_text("utf8"), flags=re.MULTILINE)
        spec = importlib.util.spec_from_loader(f"{package}.{name}", loader=None)
        assert spec is not None
        module = sys.modules[f"{package}.{name}"] = importlib.util.module_from_spec(spec)
        setattr(parent, name, module)
        exec(compile(source, str(folder / f"{name}.py"), "exec"), vars(module))
    return module


def with_ones(X) -> np.ndarray:
    """Make dense rows [x, 1]."""
    return np.hstack([X.toarray(), np.ones((X.shape[0], 1))])


def npinto(folder: Path) -> Callable:
    """Take the averaged SGD of npinto/asgd; its last predictor and its average."""
    vars(itertools).setdefault("izip", zip)
    naive = load(folder / "asgd", "npinto_asgd", "naive_asgd")

    def train(X, y, loss, lam, indices, average, centred):
        if loss != "hinge" or centred:
            raise NotImplementedError("hinge, not centred")
        rows = X.toarray()  # it has a bias of its own
        if rows.shape[1] < 2:
            raise NotImplementedError("asserts more than one feature")
        model = naive.NaiveBinaryASGD(rows.shape[1], sgd_step_size0=1 / lam, l2_regularization=lam, dtype=np.float64)
        model.sgd_step_size_scheduling_exponent = 1.0
        model.partial_fit(rows[indices], y[indices])
        if average:
            return model.asgd_weights, model.asgd_bias[0]
        return model.sgd_weights, model.sgd_bias[0]

    return train


def lyst(folder: Path) -> Callable:
    """Take the Pegasos of Lyst, ejlb/pegasos; one iteration more, since it makes one step fewer than it is told."""
    code = load(folder / "pegasos", "lyst_pegasos", "constants", "utils", "weight_vector", "pegasos")

    def train(X, y, loss, lam, indices, average, centred):
        if loss not in ("hinge", "log") or average or centred:
            raise NotImplementedError("hinge and log, the last predictor, not centred")
        rows, draws = with_ones(X), iter(indices.tolist())
        vars(code)["random"] = SimpleNamespace(randint=lambda first, last: next(draws))
        kind = code.constants.LEARNER_PEGASOS_SVM if loss == "hinge" else code.constants.LEARNER_PEGASOS_LOGREG
        vector = sys.modules["lyst_pegasos.weight_vector"].WeightVector(rows)
        model = SimpleNamespace(iterations=len(indices) + 1, lambda_reg=lam, learner_type=kind, verbose=0, weight_vector=vector)
        code.train_stochastic(model, rows, y)
        w = vector.weights * vector.scale
        return w[:-1], w[-1]

    return train


class Exhibit(NamedTuple):
    """Public code: its adapter, and what it is held to."""

    adapter: Callable
    algorithm: tuple[str, ...]
    loss: tuple[str, ...]
    known: tuple[str, ...] = ()


EXHIBITS = {
    "npinto/asgd": Exhibit(npinto, ("sgd", "asgd"), ("hinge",), ("tie at the kink", "bias not regularised")),
    "ejlb/pegasos": Exhibit(lyst, ("sgd",), ("hinge", "log"), ("tie at the kink",)),
}


def hold(name: str, folder: Path) -> Report:
    """Check the code of a clone."""
    each = EXHIBITS[name]
    return check(each.adapter(folder), each.algorithm, each.loss, known=each.known, long=False, progress=False)


if __name__ == "__main__":
    for name in EXHIBITS:
        clone = Path(sys.argv[1]) / name.split("/")[1]
        print(f"== {name}", hold(name, clone) if clone.exists() else f"no clone at {clone}", sep="\n")
