"""End to end, as it is felt from the shell: from a text file to a model file, a new process each, beside other programs.

Processor seconds of the process, all of its threads; other users of the machine stretch them less than wall time. Programs that
are not installed are left out: `vw` (Vowpal Wabbit) and `liblinear-train` must be on the PATH.
"""

import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

import efficient
from efficient.cli.model_file import load_model
from efficient.reading.svmlight import load_svmlight
from reference.datasets import Dataset, make_text

from .measure import NotAvailable, quartiles, quiet

SIZE = (50_000, 200_000, 100)
"""Rows, columns and about the entries a row of the file: 5 million entries, 85 MB of text."""

QUICK_SIZE = (2_000, 20_000, 50)

LAM = 1e-4

STAGES = """
import json, sys
from time import process_time as now
stages = {}
def done(name):
    stages[name] = now() - sum(stages.values())
done("start of Python")
%s
print(json.dumps(stages))
"""

OURS = (
    STAGES
    % """
import numpy as np
from efficient.reading.svmlight import load_svmlight
from efficient.cli.model_file import Model, load_model
from efficient.training.epochs import Schedule, train
from efficient.training.models import begin, make_problems
from efficient.training.settings import Settings
from efficient.cli.features import fit_transform_to
from reference import LOSSES
from reference.rows import lent
done("import")
X, y, _ = load_svmlight(sys.argv[1])
done("read")
settings, classes = Settings(lam=float(sys.argv[3])), np.array([-1.0, 1.0])
def trained(X, y):
    run = begin(make_problems(lent(X), y, classes, LOSSES["hinge"], [settings.lam]), settings)
    train(run, Schedule(len(y), len(y), len(y), np.random.default_rng(0)))
    return run.predictors()
both = [int(np.argmax(y < 0)), int(np.argmax(y > 0))]
trained(X[both], y[both])
done("first call")
predictors = trained(X, y)
done("train")
about = {"epochs": 1}
Model(predictors, LOSSES["hinge"], classes, fit_transform_to(X, "none"), False, about).save(sys.argv[2])
done("write")
"""
)

SCIKIT_LEARN = (
    STAGES
    % """
import pickle
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import SGDClassifier
done("import")
X, y = load_svmlight_file(sys.argv[1], zero_based=False)
X.indices, X.indptr = X.indices.astype("i4"), X.indptr.astype("i4")  # it refuses the places that it has read
done("read")
model = SGDClassifier(alpha=float(sys.argv[3]), average=True, max_iter=1, tol=None, random_state=0).fit(X, y)
done("train")
with open(sys.argv[2], "wb") as file:
    pickle.dump(model, file)
done("write")
"""
)


class Program(NamedTuple):
    """Command from a text file to a model file, the environment it needs, and the way to the labels that its model predicts."""

    name: str
    command: list[str]
    predict: Callable[[Path, Dataset], np.ndarray]
    environment: Mapping[str, str] = MappingProxyType({})


def write_text(data: Dataset, path: Path, bar: str = "") -> None:
    """Write rows as svmlight text with 7 digits; with the bar "| " between label and entries it is that of Vowpal Wabbit."""
    X, y, _ = data
    with open(path, "w", encoding="ascii") as file:
        for label, start, stop in zip(y.tolist(), X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True):
            entries = zip(X.indices[start:stop].tolist(), X.data[start:stop].tolist(), strict=True)
            file.write(f"{label:+g} {bar}{' '.join(f'{j + 1}:{x:.7g}' for j, x in entries)}\n")


def programs(folder: Path, m: int) -> Iterator[Program]:
    """Yield the programs, on the files of m rows in a folder; in the folder `cold` nothing is compiled yet, in `warm` it is."""
    text, python = str(folder / "q.svm"), [sys.executable]
    casgd = [*python, "-m", "efficient"]
    options = ["--lam", f"{LAM:g}", "--epochs", "1", "-o", "MODEL"]
    warm, cold = ({"XDG_CACHE_HOME": str(folder / name)} for name in ("warm", "cold"))
    yield Program("casgd train, first process ever", [*casgd, "train", text, *options], _ours, cold)
    yield Program("casgd train", [*casgd, "train", text, *options], _ours, warm)
    yield Program("casgd train, converted file", [*casgd, "train", str(folder / "q.npz"), *options], _ours, warm)
    yield Program(
        "casgd train --out-of-core", [*casgd, "train", text, "--out-of-core", str(folder / "rows"), *options], _ours, warm
    )
    yield Program("casgd train, 30 epochs", [*casgd, "train", text, "--lam", f"{LAM:g}", "-o", "MODEL"], _ours, warm)
    yield Program("efficient, by stages", [*python, "-c", OURS, text, "MODEL", f"{LAM:g}"], _ours, warm)
    yield Program("scikit-learn, by stages", [*python, "-c", SCIKIT_LEARN, text, "MODEL", f"{LAM:g}"], _unpickled)
    vw = [shutil.which("vw") or "", "--quiet", "--noconstant", "-b", "20", "--loss_function", "hinge", "-f", "MODEL"]
    yield Program("vw", [*vw, "-d", str(folder / "q.vw")], _by_vw)
    liblinear = [shutil.which("liblinear-train") or "", "-q", "-s", "3", "-B", "1", "-c", f"{1 / (LAM * m):g}"]
    yield Program("liblinear-train", [*liblinear, text, "MODEL"], _by_liblinear)


def _ours(path: Path, data: Dataset) -> np.ndarray:
    return load_model(str(path)).predict(data.X)


def _unpickled(path: Path, data: Dataset) -> np.ndarray:
    return pickle.loads(path.read_bytes()).predict(data.X)


def _by_liblinear(path: Path, data: Dataset) -> np.ndarray:
    head, _, numbers = path.read_text("ascii").partition("\nw\n")
    w, b = np.split(np.array(numbers.split(), dtype=float), [data.X.shape[1]])
    first = float(head.partition("\nlabel ")[2].split()[0])
    return np.where(data.X @ w + b > 0, first, -first)


def _by_vw(path: Path, data: Dataset) -> np.ndarray:
    told = ["vw", "--quiet", "-t", "-i", str(path), "-d", str(path.parent / "q.vw"), "-p", f"{path}.scores"]
    child(told, path.parent, {})
    return np.sign(np.loadtxt(f"{path}.scores"))


def end_to_end(rounds: int, size: tuple[int, int, int] = SIZE, tell: Callable[[str], Any] = quiet) -> Iterator[dict[str, Any]]:
    """Run each program so often, interleaved, and yield a record of each.

    Returns
    -------
    iterator of dict
        `status` is "timed", "refused" or "not available", and `why` says why. `seconds` are the processor seconds of all
        rounds, `stages` those of its parts if it tells them. `error` is the share of rows on the wrong side: a model that is
        no better than the larger class is refused.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tell("files: writing the text")
        data = make_text(*size, seed=0)
        write_text(data, folder / "q.svm")
        if shutil.which("vw"):
            write_text(data, folder / "q.vw", "| ")
        rows = load_svmlight(folder / "q.svm", n_features=size[1])
        child([sys.executable, "-m", "efficient", "convert", "q.svm", "-o", "q.npz"], folder, {})
        contestants = list(programs(folder, size[0]))
        records = []
        for program in contestants:
            tell(f"files: {program.name}")
            records.append(_admitted(program, folder, rows))
        for number in range(rounds):
            first = number % len(contestants)
            for place in (*range(first, len(contestants)), *range(first)):
                program, record = contestants[place], records[place]
                if record["status"] == "timed":
                    tell(f"files: {program.name}")
                    seconds, stages = _run(program, folder)
                    record["seconds"].append(seconds)
                    for stage, taken in stages.items():
                        record["stages"].setdefault(stage, []).append(taken)
    for record in records:
        if record["seconds"]:
            record["quartiles"] = quartiles(record["seconds"])
        yield record


def _admitted(program: Program, folder: Path, rows: Dataset) -> dict[str, Any]:
    """Run a program once, so that its loops are compiled, and look at its model."""
    record: dict[str, Any] = {"program": program.name, "status": "timed", "why": "", "error": None}
    record |= {"seconds": [], "stages": {}, "quartiles": None}
    if not program.command[0]:
        return record | {"status": "not available", "why": "it is not installed"}
    try:
        _run(program, folder)
    except NotAvailable as error:
        return record | {"status": "not available", "why": str(error)}
    record["error"] = wrong = float(np.mean(program.predict(folder / "model", rows) != rows.y))
    larger = float(max(np.mean(rows.y > 0), np.mean(rows.y < 0)))
    if not wrong < 1 - larger:
        record.update(status="refused", why=f"its model errs on {wrong:.3f} of the rows, the larger class on {1 - larger:.3f}")
    return record


def _run(program: Program, folder: Path) -> tuple[float, dict[str, float]]:
    """Run a program: its processor seconds, and the stages that it tells."""
    for name in ("cold", "rows", "model"):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).unlink(missing_ok=True)
    command = [str(folder / "model") if word == "MODEL" else word for word in program.command]
    seconds, text = child(command, folder, program.environment)
    return seconds, json.loads(text.splitlines()[-1]) if "by stages" in program.name else {}


def child(command: list[str], folder: Path, environment: Mapping[str, str]) -> tuple[float, str]:
    """Run a command in a folder: its processor seconds, and what it prints. Raises NotAvailable if it fails."""
    with tempfile.TemporaryFile() as printed:
        try:
            process = subprocess.Popen(
                command, stdout=printed, stderr=subprocess.STDOUT, env=_environment(environment), cwd=folder
            )
        except OSError as error:
            raise NotAvailable(f"it does not start: {error}") from None
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            process.wait()
            raise
        process.returncode = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        text = printed.read().decode(errors="replace")
    if process.returncode:
        raise NotAvailable(f"it ended with status {process.returncode}: {(text.splitlines() or [''])[-1]}")
    return usage.ru_utime + usage.ru_stime, text


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    """Make the environment of a child: the same packages, one thread."""
    here = str(Path(efficient.__file__).parents[1])
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([here, os.environ.get("PYTHONPATH", "")]), **one, **more}
