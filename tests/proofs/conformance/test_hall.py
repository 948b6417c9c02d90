"""Hold code like that of the hall of bugs, of our own making: the adapters meet it as they meet public code."""

import pytest

from proofs.conformance.adapters import load
from proofs.conformance.hall import EXHIBITS, hold, main
from tests.proofs.conformance.programs import KIT, named

TWIN = """
from random import randint
from numpy import zeros

def pegasos(x, y, iterations, lam):
    w = zeros(x.shape[1])
    for t in range(1, iterations + 1):
        i = randint(0, len(y) - 1)
        margin = y[i] * (w @ x[i])
        w = (1 - 1 / t) * w
        if margin < 1:
            w = w + y[i] / (lam * t) * x[i]
    return w

chart = pegasos(None, None, 0, 0)
"""


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (("", ""), None),
        (("w = (1 - 1 / t) * w", "pass"), "nothing regularised"),
        (("lam * t", "lam"), "gradient not divided by t"),
    ],
)
def test_hold_of_a_clone_names_its_fault_and_runs_its_definitions_alone(change, fault, tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "pegasos.py").write_text(TWIN.replace(*change), "utf8")
    report = hold("jyotishp/pegasos-svm", tmp_path)
    assert report.passed == (fault is None)
    assert fault is None or any(fault in faults for faults in named(report))


def test_load_of_code_for_python_2_divides_integers_and_leaves_print_out(tmp_path):
    (tmp_path / "old.py").write_text("def half(x):\n    print x\n    return x / 2\n", "utf8")
    old = load(tmp_path, "old_package", "old", python2=True)
    assert old.half(3) == 1 and old.half(3.0) == 1.5


def test_main_without_clones_says_what_is_missing(tmp_path, capsys):
    main(tmp_path, [name for name, each in EXHIBITS.items() if not each.package])
    assert capsys.readouterr().out.count("no clone at ") == sum(not each.package for each in EXHIBITS.values())


def test_page_has_every_exhibit():
    page = (
        (KIT / "HALL.md")
        .read_text("utf8")
        .replace("Microsoft ELL", "microsoft/ELL")
        .replace("`PegasosQSVC`", "qiskit PegasosQSVC")
    )
    assert not [name for name in EXHIBITS if name.split(" py")[0].removesuffix(" kernel").removesuffix(" casgd") not in page]
