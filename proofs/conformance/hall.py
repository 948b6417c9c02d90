"""Hold public code to the vectors, for the hall of bugs.

`python -m proofs.conformance.hall FOLDER [NAME …]` runs those of which FOLDER has a clone, as FOLDER/owner/name, or which are
installed: HALL.md says how to get each.
"""

import importlib.util
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from . import adapters
from .cases import LOSSES
from .check import check
from .report import Report


class Exhibit(NamedTuple):
    """Public code: its adapter, and what it is held to."""

    adapter: Callable
    algorithm: tuple[str, ...]
    loss: tuple[str, ...]
    known: tuple[str, ...] = ()
    package: str = ""
    """The package to install where it is no clone."""
    expected: Mapping[str, str] = {}
    """Cases that are wrong for another reason, as patterns, and the reason."""


SHORT = "a row is kept in single precision if that is within 1e-9"
SGD, HINGE, LATE = ("sgd",), ("hinge",), ("tie at the kink",)
EXHIBITS = {
    "torch.optim.ASGD": Exhibit(adapters.pytorch, ("sgd", "asgd"), tuple(LOSSES), package="torch"),
    "npinto/asgd": Exhibit(adapters.npinto, ("sgd", "asgd"), HINGE, (*LATE, "bias not regularised")),
    "microsoft/ELL": Exhibit(
        adapters.ell, ("sgd", "asgd", "csgd"), HINGE, expected={"*-mails": SHORT, "csgd-*-mails-lam-*": SHORT}
    ),
    "microsoft/ELL casgd": Exhibit(adapters.ell, ("casgd",), HINGE, expected={"casgd-*-mails*": SHORT}),
    "qiskit PegasosQSVC": Exhibit(adapters.qiskit, SGD, HINGE, LATE, "qiskit_machine_learning"),
    "cv2.ml.SVMSGD": Exhibit(adapters.opencv, ("csgd", "casgd"), HINGE, (), "cv2"),
    "chokkan/classias": Exhibit(adapters.classias, SGD, ("hinge", "log"), ("projected",)),
    "glycerine/sofia-ml": Exhibit(adapters.sofia, SGD, ("hinge", "log"), LATE),
    "ejlb/pegasos": Exhibit(adapters.lyst, SGD, ("hinge", "log"), LATE),
    "carlineng/pypegasos": Exhibit(adapters.carlineng, SGD, HINGE, LATE),
    "gabrielbc/Perceptron-Pegasos": Exhibit(adapters.gabrielbc, SGD, HINGE, LATE),
    "apachecn/ailearning py2": Exhibit(partial(adapters.apachecn, 2), SGD, HINGE, LATE),
    "apachecn/ailearning py3": Exhibit(partial(adapters.apachecn, 3), SGD, HINGE, LATE),
    "tvandera/Pegasos": Exhibit(adapters.tvandera, SGD, HINGE, LATE),
    "2AUK/PegasosSVC": Exhibit(adapters.joshua, SGD, HINGE, LATE),
    "haydenhigg/PegasosSVM": Exhibit(adapters.haydenhigg, SGD, HINGE, (*LATE, "rows normalised", "projected")),
    "sgk98/Pegasos": Exhibit(adapters.sgk98, SGD, HINGE, LATE),
    "sgk98/Pegasos kernel": Exhibit(adapters.sgk98_kernel, SGD, HINGE, LATE),
    "rnjtsh/pegasos-python": Exhibit(adapters.rnjtsh, SGD, HINGE, LATE),
    "rnjtsh/pegasos-python kernel": Exhibit(adapters.rnjtsh_kernel, SGD, HINGE, LATE),
    "wizeowl/MITx-6.86x": Exhibit(adapters.wizeowl, SGD, HINGE, ("step 1/√t", "bias not regularised")),
    "ledmaster/OnlineSVMPegasos": Exhibit(adapters.ledmaster, SGD, HINGE, LATE),
    "cshuo/pegasos": Exhibit(adapters.cshuo, SGD, ("hinge", "log"), LATE),
    "jyotishp/pegasos-svm": Exhibit(adapters.jyotishp, SGD, HINGE, LATE),
    "chirayusamarth/Linear-Support-Vector-Machine-SVM-using-Pegasos-Algorithm": Exhibit(
        adapters.chirayusamarth, SGD, HINGE, (*LATE, "projected")
    ),
    "umangaditya/Pegasos-SVM": Exhibit(adapters.umangaditya, SGD, HINGE, (*LATE, "projected")),
}


def hold(name: str, folder: Path) -> Report:
    """Check the code of a clone, or of an installed package."""
    each = EXHIBITS[name]
    train = each.adapter(folder)
    return check(
        train, each.algorithm, each.loss, known=each.known, expected_failures=each.expected, long=False, progress=False
    )


def main(folder: Path, names: Iterable[str]) -> None:
    """Print the kit's report on each exhibit that is at hand."""
    for name in names:
        each, clone = EXHIBITS[name], folder / name.split()[0]
        at_hand = importlib.util.find_spec(each.package) if each.package else clone.exists()
        missing = f"{each.package} is not installed" if each.package else f"no clone at {clone}"
        print(f"== {name}", hold(name, clone) if at_hand else missing, sep="\n", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2 or not {*sys.argv[2:]} <= EXHIBITS.keys():
        sys.exit(f"usage: python -m proofs.conformance.hall FOLDER [NAME …]; NAME is one of: {', '.join(EXHIBITS)}")
    main(Path(sys.argv[1]), sys.argv[2:] or EXHIBITS)
