"""Replay faults that the kit once passed, left unnamed or misnamed: twins of our C and Python programs, each truly named."""

import shutil
import subprocess

import pytest

from proofs.conformance import check
from proofs.conformance.answers import Function
from proofs.conformance.command import Command
from tests.proofs.conformance.programs import KIT, named

MEAN = "        for (size_t j = 0; j < n; j++) xbar[j] /= (double)m, theta += xbar[j] * xbar[j];\n"
ROW = "        double d = 0, projection = 0;\n"
G = "q->y.at[i]);\n"
LOG = "-y / (1 + exp(p * y));"
HEAD = "    size_t n = q->n, m = q->y.size, T = q->indices.size;\n"
LAM = HEAD + "    double lam = q->lam * (double)m;\n"
DIVIDED = {"(q->lam * (double)(t - 1))": "(lam * (double)(t - 1))", "-q->lam * (double)T;": "-lam * (double)T;"}
SKIP = "        for (size_t e = 0; e < q->value.size; e++) if ({}) q->value.at[e] = 0;\n"

IN_C = {  # the fault: (replacements in asgd.c, algorithms, loss)
    "first gradient left out": ({G: G + "if (t == 1) g = 0;\n"}, ["sgd", "asgd"], "squared"),
    "last gradient left out": ({G: G + "if (t == T) g = 0;\n"}, ["sgd", "asgd"], "squared"),
    "stored entries centred": (
        {
            MEAN: MEAN + "for (size_t e = 0; e < q->value.size; e++) q->value.at[e] -= xbar[(size_t)q->column.at[e]];\n"
            "for (size_t j = 0; j < n; j++) xbar[j] = 0;\ntheta = 1;\n"
        },
        ["csgd", "casgd"],
        "squared",
    ),
    "other exponential overflows": ({LOG: "-y * exp(-p * y) / (1 + exp(-p * y));"}, ["sgd", "asgd"], "log"),
    "sigmoid of the wrong side": ({LOG: "p * y < 0 ? -y / (1 + exp(-p * y)) : " + LOG}, ["sgd", "asgd"], "log"),
    "log-loss cut at 18": (
        {LOG: "p * y > 18 ? -y * exp(-p * y) : p * y < -18 ? -y : " + LOG},
        ["sgd", "asgd", "csgd", "casgd"],
        "log",
    ),
    "λ times m": ({HEAD: LAM, **DIVIDED}, ["sgd", "casgd"], "hinge"),
    "last weights without their centre": ({": v[j] - a * xbar[j])": ": v[j])"}, ["csgd"], "hinge"),
    "result divided by the number of rows": ({"-q->lam * (double)T;": "-q->lam * (double)m;"}, ["sgd", "asgd"], "hinge"),
    "empty row reads row 0": (
        {ROW: ROW + "if (first == end) first = (size_t)q->start.at[0], end = (size_t)q->start.at[1];\n"},
        ["sgd", "casgd"],
        "hinge",
    ),
    "c at t+1": ({"c += a / (double)t;": "c += a / (double)(t + 1);"}, ["casgd"], "hinge"),
    "r with z of before": (
        {
            "        z += g * projection;\n": "",
            "        r = a * theta - z;\n": "        r = a * theta - z;\n        z += g * projection;\n",
        },
        ["csgd", "casgd"],
        "squared",
    ),
    "average with h of before": ({"? h * v[j]": "? (h - 1 / (double)T) * v[j]"}, ["asgd"], "hinge"),
    "average with a for c": ({"- c * xbar[j]": "- a * xbar[j]"}, ["casgd"], "hinge"),
    "prediction loses repeated entries": (
        {
            "            d += v[j] * q->value.at[e];\n": "            bool last = true;\n"
            "            for (size_t k = e + 1; k < end; k++) last &= q->column.at[k] != q->column.at[e];\n"
            "            if (last) d += v[j] * q->value.at[e];\n"
        },
        ["sgd", "asgd"],
        "squared",
    ),
    "labels cut to integers": ({G: "(double)(int)q->y.at[i]);\n"}, ["sgd", "casgd"], "squared"),
    "row ends at an unsorted column": (
        {
            ROW: ROW + "for (size_t e = first + 1; e < end; e++)\n"
            "    if (q->column.at[e] <= q->column.at[e - 1]) { end = e; break; }\n"
        },
        ["sgd", "asgd"],
        "squared",
    ),
    "row ends at a stored zero": (
        {ROW: ROW + "for (size_t e = first; e < end; e++)\n    if (q->value.at[e] == 0) { end = e; break; }\n"},
        ["sgd", "asgd"],
        "squared",
    ),
    "mean over non-empty rows": (
        {
            MEAN: "size_t filled = 0;\nfor (size_t i = 0; i < m; i++) filled += q->start.at[i] < q->start.at[i + 1];\n"
            + MEAN.replace("(double)m", "(double)(filled ? filled : 1)")
        },
        ["csgd", "casgd"],
        "squared",
    ),
    "prediction with a for r, on raw rows": ({"-(d + r - a * projection)": "-(d + a)"}, ["csgd", "casgd"], "squared"),
    "h by its logarithm": (
        {"h += 1 / (double)t;": "h = log((double)t) + 0.5772156649015329 + 1 / (2.0 * (double)t);"},
        ["asgd", "casgd"],
        "squared",
    ),
    "derivative clipped at 1000": ({G: G + "g = g > 1000 ? 1000 : g < -1000 ? -1000 : g;\n"}, ["sgd", "asgd"], "squared"),
    "first column dropped": ({HEAD: HEAD + SKIP.format("q->column.at[e] == 0")}, ["sgd", "casgd"], "squared"),
    "last column dropped": ({HEAD: HEAD + SKIP.format("q->column.at[e] == (double)n - 1")}, ["sgd", "casgd"], "squared"),
    "derivative times the squared label": ({"return p - y;": "return (p - y) * y * y;"}, ["sgd", "asgd"], "squared"),
    "margin within 1e-9 is a tie": ({"p * y <= 1 ?": "p * y <= 1 + 1e-9 ?"}, ["sgd", "asgd", "csgd", "casgd"], "hinge"),
    "columns in 8 bits": (
        {"size_t j = (size_t)q->column.at[e];": "size_t j = (size_t)q->column.at[e] & 255;"},
        ["sgd"],
        "hinge",
    ),
    "nothing learnt after step 100": ({G: G + "if (t > 100) g = 0;\n"}, ["sgd", "asgd"], "hinge"),
    "float32 values": ({HEAD: HEAD + SKIP.format("1").replace("= 0", "= (float)q->value.at[e]")}, ["sgd", "casgd"], "hinge"),
    "second bias": (
        {
            HEAD: HEAD + "    double second = 0;\n",
            "        double g = ": "        p += second;\n        double g = ",
            "        a += g;\n": "        a += g;\n        second -= g / (q->lam * (double)t) / 100;\n",
        },
        ["sgd"],
        "hinge",
    ),
}

IN_PYTHON = {  # the fault: (replacements in dense.py, algorithms, loss)
    "average after the first pass": (
        {
            "w_sum, b_sum = w_sum + w, b_sum + b": "w_sum, b_sum = (w_sum + w, b_sum + b) if t > len(y) + 1 else (w, b)",
            "w_sum / len(indices), b_sum / len(indices)": "w_sum / max(1, t - len(y)), b_sum / max(1, t - len(y))",
        },
        ["asgd"],
        "squared",
    ),
    "rows normalised": (
        {
            "    rows = X.toarray()": "    rows = X.toarray()\n"
            "    rows = rows / np.maximum(1e-300, np.linalg.norm(rows, axis=1))[:, None]\n   "
        },
        ["sgd", "asgd"],
        "squared",
    ),
}

QUICK = ("other exponential overflows", "rows normalised")


def twin(file, changes) -> str:
    source = (KIT / "examples" / file).read_text("utf8")
    for right, wrong in changes.items():
        assert source.count(right) >= 1, right
        source = source.replace(right, wrong)
    return source


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize(
    "fault", [fault if fault in QUICK else pytest.param(fault, marks=pytest.mark.nightly) for fault in IN_C]
)
def test_twin_in_c_is_named(fault, tmp_path):
    changes, algorithms, loss = IN_C[fault]
    (tmp_path / "twin.c").write_text(twin("asgd.c", changes), "utf8")
    subprocess.run(["cc", "-std=c99", "-O2", "-o", tmp_path / "twin", tmp_path / "twin.c", "-lm"], check=True)
    is_named(fault, Command(str(tmp_path / "twin"), timeout=60), algorithms, loss)


@pytest.mark.parametrize(
    "fault", [fault if fault in QUICK else pytest.param(fault, marks=pytest.mark.nightly) for fault in IN_PYTHON]
)
def test_twin_in_python_is_named(fault):
    changes, algorithms, loss = IN_PYTHON[fault]
    namespace: dict = {}
    exec(twin("dense.py", changes), namespace)
    is_named(fault, Function(namespace["train"]), algorithms, loss)


def is_named(fault, implementation, algorithms, loss):
    report = check(implementation, algorithms, loss, progress=False)
    assert not report.passed
    assert all(fault in faults for faults in named(report)), report.diagnosis


def test_printed_nan_is_a_result_that_is_wrong(tmp_path):
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    (tmp_path / "twin.c").write_text(twin("asgd.c", {LOG: "p > 0 ? 0 * y / 0.0 : " + LOG}), "utf8")
    subprocess.run(["cc", "-std=c99", "-w", "-o", tmp_path / "twin", tmp_path / "twin.c", "-lm"], check=True)
    report = check(Command(str(tmp_path / "twin"), timeout=60), "sgd", "log", long=False, progress=False)
    assert not [result for result in report.results if result.verdict == "error"]
    assert "is nan, must be" in str(report)
