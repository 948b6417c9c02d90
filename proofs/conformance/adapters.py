"""Adapt public code to `train`, for the hall of bugs: nothing is fetched, and none of that code stands here.

Each adapter takes the folder of a clone. Where the code has no bias, rows are [x, 1]; draws are given in place of a generator.
"""

import ast
import contextlib
import ctypes
import importlib
import importlib.util
import io
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np


class _Division(ast.NodeTransformer):
    """Divide integers as Python 2 does: without a remainder."""

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if not isinstance(node.op, ast.Div):
            return node
        return ast.copy_location(ast.Call(ast.Name("_quotient", ast.Load()), [node.left, node.right], []), node)


def _quotient(a, b):
    integers = all(np.issubdtype(np.asarray(each).dtype, np.integer) for each in (a, b))
    return a // b if integers else a / b


def _defines(statement: ast.stmt) -> bool:
    """Tell whether a statement defines something, and runs nothing."""
    if isinstance(statement, ast.Assign):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef)


def load(folder: Path, package: str, *modules: str, python2: bool = False) -> ModuleType:
    """Import the definitions of modules of a clone, the last one returned; of Python 2 with its division, and no `print`."""
    parent = sys.modules[package] = ModuleType(package)
    parent.__path__ = [str(folder)]
    for name in modules:
        file = folder / f"{name}.py"
        source = file.read_text("utf8")
        if python2:
            source = re.sub(r"^(\s*)print [^(].*$", r"\1pass", source, flags=re.MULTILINE).replace(".iteritems()", ".items()")
        tree = ast.parse(source, str(file))
        tree.body = [each for each in tree.body if _defines(each)]
        if python2:
            tree = ast.fix_missing_locations(_Division().visit(tree))
        spec = importlib.util.spec_from_loader(f"{package}.{name}", loader=None)
        assert spec is not None
        module = sys.modules[f"{package}.{name}"] = importlib.util.module_from_spec(spec)
        setattr(parent, name, module)
        vars(module).update(_quotient=_quotient, xrange=range)
        exec(compile(tree, str(file), "exec"), vars(module))
    return module


def with_ones(X) -> np.ndarray:
    """Make dense rows [x, 1]."""
    return np.hstack([X.toarray(), np.ones((X.shape[0], 1))])


def numpy_that_draws(**functions: Callable) -> SimpleNamespace:
    """Make a numpy whose generator is given."""
    return SimpleNamespace(**{**vars(np), "random": SimpleNamespace(**functions)})


class DrawnAllError(Exception):
    """Say that the draws are used up."""


def draw_from(indices: Iterable[int]) -> Callable:
    """Make a function that returns the draws one by one, whatever it is given."""
    draws = iter(indices)

    def draw(*_):
        for i in draws:
            return int(i)
        raise DrawnAllError

    return draw


def on_rows_with_ones(fit: Callable) -> Callable:
    """Make `train` of a function (rows, y, loss, lam, indices) -> w, or (w, b) if it has a bias of its own."""

    def train(X, y, loss, lam, indices, average, centred):
        if average or centred:
            raise NotImplementedError("the last predictor, not centred")
        with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
            w = fit(with_ones(X), y, loss, lam, indices)
        return w if isinstance(w, tuple) else (w[:-1], w[-1])

    return train


# averaged SGD


def npinto(folder: Path) -> Callable:
    """Take the averaged SGD of npinto/asgd; its last predictor and its average."""
    import itertools

    vars(itertools).setdefault("izip", zip)
    naive = load(folder / "asgd", "npinto_asgd", "naive_asgd", python2=True)

    def train(X, y, loss, lam, indices, average, centred):
        if centred:
            raise NotImplementedError("not centred")
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


def pytorch(_) -> Callable:
    """Take torch.optim.ASGD, on the losses' derivatives of Table 1."""
    torch = importlib.import_module("torch")

    from .plain import DERIVATIVES

    def train(X, y, loss, lam, indices, average, centred):
        if centred:
            raise NotImplementedError("not centred")
        torch.set_default_dtype(torch.float64)  # it keeps the step size and the rate of the mean in the default type
        rows = torch.tensor(with_ones(X))
        w = torch.nn.Parameter(torch.zeros(rows.shape[1]))
        optimizer = torch.optim.ASGD([w], lr=1 / lam, lambd=lam, alpha=1, t0=0, foreach=False)
        for i in indices:
            p = float(rows[i] @ w.detach())
            w.grad = rows[i] * float(DERIVATIVES[loss](p, float(y[i])))
            optimizer.step()
        found = (optimizer.state[w]["ax"] if average else w).detach().numpy()
        return found[:-1], found[-1]

    return train


def opencv(_) -> Callable:
    """Take the SVMSGD of OpenCV, which is centred, and draws by a generator that multiplies with carry.

    It subtracts the mean and divides by the norm: rows are placed where it looks, and other rows make the mean and the norm
    those of the case.
    """
    cv2 = importlib.import_module("cv2")

    def places(T, m):
        state, found = 0xFFFFFFFF, []
        for _ in range(T):
            state = ((state & 0xFFFFFFFF) * 4164903690 + (state >> 32)) % 2**64
            found.append((state & 0xFFFFFFFF) % m)
        return found

    def train(X, y, loss, lam, indices, average, centred):
        rows, T = X.toarray(), len(indices)
        n = rows.shape[1]
        if not centred or n == 0:
            raise NotImplementedError("centred, with columns")
        mean = rows.mean(axis=0)
        drawn, labels = (rows - mean)[indices], y[indices]
        needed = 2 * (drawn**2).sum() / n
        sizes = (m for m in range(64, 200_000, 37) if m > needed and len({*places(T, m)}) == T)
        m = next(sizes, None)
        if m is None:
            raise NotImplementedError("rows too far apart")
        taken = places(T, m)
        free = np.setdiff1d(np.arange(m), taken)
        placed, signs = np.zeros((m, n)), np.ones(m, dtype=np.float32)
        placed[taken], signs[taken] = drawn, labels
        placed[free[:T]], signs[free[:T]] = -drawn, -1  # so that the mean stays
        rest = free[T : T + (len(free) - T) // 2 * 2].reshape(-1, 2)
        size = np.sqrt((m * n - 2 * (drawn**2).sum()) / rest.size)
        for number, (one, other) in enumerate(rest):
            placed[one, number % n], placed[other, number % n], signs[other] = size, -size, -1
        model = cv2.ml.SVMSGD_create()
        model.setSvmsgdType(cv2.ml.SVMSGD_ASGD if average else cv2.ml.SVMSGD_SGD)
        model.setMarginType(cv2.ml.SVMSGD_SOFT_MARGIN)
        model.setMarginRegularization(lam)
        model.setInitialStepSize(1 / lam)
        model.setStepDecreasingPower(1.0)
        model.setTermCriteria((cv2.TERM_CRITERIA_COUNT + cv2.TERM_CRITERIA_EPS, T, -1.0))
        model.train((placed + mean).astype(np.float32), cv2.ml.ROW_SAMPLE, signs.reshape(-1, 1))
        return model.getWeights().ravel().astype(float), float(model.getShift())

    return train


# Pegasos


def lyst(folder: Path) -> Callable:
    """Take the Pegasos of Lyst, ejlb/pegasos; one iteration more, since it makes one step fewer than it is told."""
    code = load(folder / "pegasos", "lyst_pegasos", "constants", "utils", "weight_vector", "pegasos", python2=True)

    def fit(rows, y, loss, lam, indices):
        vars(code)["random"] = SimpleNamespace(randint=draw_from(indices))
        kind = code.constants.LEARNER_PEGASOS_SVM if loss == "hinge" else code.constants.LEARNER_PEGASOS_LOGREG
        vector = sys.modules["lyst_pegasos.weight_vector"].WeightVector(rows)
        model = SimpleNamespace(iterations=len(indices) + 1, lambda_reg=lam, learner_type=kind, verbose=0, weight_vector=vector)
        code.train_stochastic(model, rows, y)
        return vector.weights * vector.scale

    return on_rows_with_ones(fit)


def carlineng(folder: Path) -> Callable:
    """Take pypegasos, whose hash of names is taken without collisions; the bias is its own."""
    names: dict[str, int] = {}
    sys.modules["mmhash"] = SimpleNamespace(get_hash=lambda name: names.setdefault(name, 4 * len(names)))  # type: ignore[assignment]
    vector = load(folder / "src", "carlineng_vector", "VowpalVector", python2=True)
    sys.modules["VowpalVector"] = vector
    code = load(folder / "src", "carlineng", "pypegasos", python2=True)

    def fit(rows, y, loss, lam, indices):
        names.clear()
        model = code.Pegasos(k=1, nbits=12, lamb=lam)
        lines = [
            ",".join([str(int(y[i])), *(f"{j}:{value!r}" for j, value in enumerate(rows[i, :-1].tolist()))]) for i in indices
        ]
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
            file.write("\n".join(lines) + "\n")
            file.flush()
            model.iterate(file.name)
        keys = [*map(str, range(rows.shape[1] - 1)), "BIAS"]
        return np.array([model.vector.weights[model.vector._hash(key)] * model.vector._rademacher(key) for key in keys])

    return on_rows_with_ones(fit)


def gabrielbc(folder: Path) -> Callable:
    """Take the Pegasos of gabrielbc/Perceptron-Pegasos, one pass over the draws."""
    sys.modules["helpers"] = load(folder, "gabrielbc_helpers", "helpers", python2=True)
    code = load(folder, "gabrielbc", "pegasos", python2=True)

    def fit(rows, y, loss, lam, indices):
        drawn = [code.Counter(dict(enumerate(rows[i].tolist()))) for i in indices]
        w = code.train(drawn, y[indices].tolist(), lam)
        return np.array([w[j] for j in range(rows.shape[1])], dtype=float)

    return on_rows_with_ones(fit)


def apachecn(version: int, folder: Path) -> Callable:
    """Take the Pegasos of apachecn/ailearning for one version of Python."""
    code = load(folder / f"src/py{version}.x/ml/15.BigData_MapReduce", f"apachecn_{version}", "pegasos", python2=version == 2)

    def fit(rows, y, loss, lam, indices):
        vars(code)["random"] = SimpleNamespace(randint=draw_from(indices))
        vars(code)["predict"] = lambda w, x: float(w @ x)  # theirs multiplies matrices of numpy; rows are arrays here
        return code.seqPegasos(rows, y, lam, len(indices))

    return on_rows_with_ones(fit)


def tvandera(folder: Path) -> Callable:
    """Take the linear Pegasos of tvandera/Pegasos; its coefficients make the predictor as its `Predictor` has it."""
    from scipy.sparse import csr_matrix

    code = load(folder, "tvandera", "pegasos")

    def fit(rows, y, loss, lam, indices):
        coefficients, support = code.LinearPegasos(csr_matrix(rows[indices]), y[indices], lam, 1)
        return np.asarray(support.T @ coefficients).ravel()

    return on_rows_with_ones(fit)


def joshua(folder: Path) -> Callable:
    """Take the Pegasos of 2AUK/PegasosSVC, which has a bias of its own; it is ended when the draws are used up."""
    code = load(folder, "joshua", "Pegasos")

    def fit(rows, y, loss, lam, indices):
        vars(code)["np"] = numpy_that_draws(randint=draw_from(indices))
        model = code.SVC(lam)
        model.X_train, model.y_train = rows[:, :-1], y
        with contextlib.suppress(DrawnAllError):
            model.fit(len(indices))
        return model.w, float(model.b)

    return on_rows_with_ones(fit)


def cshuo(folder: Path) -> Callable:
    """Take the Pegasos of cshuo/pegasos, its steps for the hinge and the log-loss."""
    code = load(folder, "cshuo", "pegasos", python2=True)

    def fit(rows, y, loss, lam, indices):
        vars(code)["lamda"] = lam
        w = np.zeros(rows.shape[1])
        for t, i in enumerate(indices):
            w = (code.hinge_update if loss == "hinge" else code.log_update)(w, t + 1, y[i], rows[i])
        return w

    return on_rows_with_ones(fit)


def jyotishp(folder: Path) -> Callable:
    """Take the Pegasos of jyotishp/pegasos-svm."""
    code = load(folder / "src", "jyotishp", "pegasos")

    def fit(rows, y, loss, lam, indices):
        vars(code)["randint"] = draw_from(indices)
        return code.pegasos(rows, y, iterations=len(indices), lam=lam)

    return on_rows_with_ones(fit)


def chirayusamarth(folder: Path) -> Callable:
    """Take the Pegasos of chirayusamarth, with batches of one."""
    code = load(folder, "chirayusamarth", "pegasos")

    def fit(rows, y, loss, lam, indices):
        draw = draw_from(indices)
        vars(code)["np"] = numpy_that_draws(seed=lambda _: None, rand=lambda _: np.array([(draw() + 0.5) / len(y)]))
        return code.pegasos_train(rows, y, np.zeros((rows.shape[1], 1)), lam, 1, len(indices))[0]

    return on_rows_with_ones(fit)


def umangaditya(folder: Path) -> Callable:
    """Take the Pegasos of umangaditya/Pegasos-SVM; it makes a tenth as many steps as there are rows."""
    code = load(folder, "umangaditya", "pegasos")

    def fit(rows, y, loss, lam, indices):
        if max(indices) >= 10 * len(indices):
            raise NotImplementedError("more rows than ten times the draws")
        vars(code)["random"] = SimpleNamespace(randint=draw_from(indices))
        places = np.arange(10 * len(indices)) % len(y)
        return code.PegasosSVM(lamda=lam).fit(rows[places], y[places])

    return on_rows_with_ones(fit)


def qiskit(_) -> Callable:
    """Take PegasosQSVC of qiskit-machine-learning, on the matrix of products."""
    pegasos_qsvc = importlib.import_module("qiskit_machine_learning.algorithms.classifiers.pegasos_qsvc")

    def fit(rows, y, loss, lam, indices):
        if len(np.unique(y)) != 2:
            raise NotImplementedError("rows of both classes")
        vars(pegasos_qsvc)["algorithm_globals"] = SimpleNamespace(random=SimpleNamespace(integers=draw_from(indices)))
        model = pegasos_qsvc.PegasosQSVC(C=1 / lam, precomputed=True, num_steps=len(indices))
        model.fit(rows @ rows.T, y)
        # it takes the smaller label for +1
        signs = np.array([model._label_map[label] for label in y])
        counts = np.array([model._alphas.get(i, 0) for i in range(len(y))])
        return -(counts * signs) @ rows / (lam * len(indices))

    return on_rows_with_ones(fit)


def sgk98(folder: Path) -> Callable:
    """Take the Pegasos of sgk98/Pegasos."""
    code = load(folder, "sgk98", "pegasos")

    def fit(rows, y, loss, lam, indices):
        vars(code)["random"] = SimpleNamespace(randint=draw_from(indices))
        return code.solve(rows, y, lam, len(indices))

    return on_rows_with_ones(fit)


def sgk98_kernel(folder: Path) -> Callable:
    """Take the Pegasos with kernels of sgk98/Pegasos, with the product of rows for the kernel."""
    code = load(folder, "sgk98", "kernel_svm")

    def fit(rows, y, loss, lam, indices):
        vars(code)["random"] = SimpleNamespace(randint=draw_from(indices))
        vars(code)["pairwise_kernels"] = lambda rows, metric: rows @ rows.T
        return (np.array(code.kernel_solve(rows, y, lam, len(indices))) * y) @ rows / len(indices)  # w is over λT

    return on_rows_with_ones(fit)


def rnjtsh(folder: Path) -> Callable:
    """Take the Pegasos of rnjtsh/pegasos-python, one pass over the draws, from w = 0."""
    code = load(folder, "rnjtsh", "pegasos")

    def fit(rows, y, loss, lam, indices):
        vars(code)["np"] = numpy_that_draws(rand=np.zeros)
        vars(code)["np"].squeeze = lambda w: w
        return code.Pegasos(rows[indices], y[indices], np.array([]), lam, 1)[0]

    return on_rows_with_ones(fit)


def rnjtsh_kernel(folder: Path) -> Callable:
    """Take the Pegasos with kernels of rnjtsh/pegasos-python, with the product of rows for the kernel."""
    code = load(folder, "rnjtsh", "pegasos")

    def fit(rows, y, loss, lam, indices):
        drawn = rows[indices]
        if not rows.any(axis=0).all() or np.count_nonzero(drawn[0]) == 0:
            raise NotImplementedError("a kernel matrix without zeros")
        w, support = code.Pegasos(drawn, y[indices], drawn @ drawn.T, lam, 1)
        return np.atleast_1d(w) @ np.atleast_2d(support)

    return on_rows_with_ones(fit)


def wizeowl(folder: Path) -> Callable:
    """Take the Pegasos of a course, as wizeowl/MITx-6.86x has it, one pass over the draws; it has a bias of its own."""
    code = load(folder / "sentiment_analysis", "wizeowl", "project1")

    def fit(rows, y, loss, lam, indices):
        vars(code)["get_order"] = range
        w, b = code.pegasos(rows[indices, :-1], y[indices], 1, lam)
        return np.zeros(rows.shape[1] - 1) + w, float(b)

    return on_rows_with_ones(fit)


def ledmaster(folder: Path) -> Callable:
    """Take the Pegasos of ledmaster/OnlineSVMPegasos, its single steps."""
    code = load(folder, "ledmaster", "svm_english", python2=True)

    def fit(rows, y, loss, lam, indices):
        model = code.SVMPegasos(lam, rows.shape[1] - 1)
        for t, i in enumerate(indices):
            model.train(rows[i].tolist(), float(y[i]), 1.0 / (lam * (t + 1.0)))
        return np.array(model.w)

    return on_rows_with_ones(fit)


def haydenhigg(folder: Path) -> Callable:
    """Take the Pegasos of haydenhigg/PegasosSVM, in Node.js; one iteration less, since it makes a step more than it is told."""
    script = (
        "const Model = require(process.argv[1]);"
        "const q = JSON.parse(require('fs').readFileSync(0));"
        "Math.random = () => (q.indices.shift() + 0.5) / q.y.length;"
        "const model = new Model(q.rows, q.y, {lambda: q.lam});"
        "const signs = new Set(q.y);"
        "model.train(q.indices.length - 1);"
        "console.log(JSON.stringify(model.weights.map((w) => w * [...signs][0])));"  # its first label is +1
    )

    def fit(rows, y, loss, lam, indices):
        question = json.dumps({"rows": rows.tolist(), "y": y.tolist(), "lam": lam, "indices": indices.tolist()})
        command = ["node", "-e", script, str(folder.resolve() / "index.js")]
        done = subprocess.run(command, input=question, capture_output=True, text=True, check=True)
        return np.array(json.loads(done.stdout), dtype=float)

    return on_rows_with_ones(fit)


def compiled(name: str, *options: str) -> Callable:
    """Compile an adapter in C++, of this folder, and take its function `train`, which gets sorted rows, or rows [x, 1]."""
    folder = tempfile.mkdtemp()
    source, library = Path(__file__).parent / "examples" / "hall" / f"{name}.cpp", f"{folder}/{name}.so"
    subprocess.run(["g++", "-O1", "-w", "-shared", "-fPIC", "-o", library, source, *options], check=True)
    function = ctypes.CDLL(library).train

    def train(X, y, loss, lam, indices, average, centred):
        rows, T = X.tocsr(copy=True), len(indices)
        rows.sum_duplicates()
        w, kind = np.zeros(X.shape[1] + 1), ["absolute", "squared", "hinge", "log"].index(loss)
        arrays = [
            np.ascontiguousarray(rows.indptr, dtype=np.int32),
            np.ascontiguousarray(rows.indices, dtype=np.int32),
            np.ascontiguousarray(rows.data, dtype=float),
            np.ascontiguousarray(y, dtype=float),
            np.ascontiguousarray(indices, dtype=np.int32),
        ]
        pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in (*arrays, w)]
        if not function(*X.shape, *pointers[:4], ctypes.c_double(lam), T, pointers[4], kind, average, centred, pointers[5]):
            raise NotImplementedError("not there")
        if np.isnan(w[-1]):
            raise RuntimeError("it throws an exception")
        return w[:-1], w[-1]

    return train


def ell(folder: Path) -> Callable:
    """Take the trainers of the paper's author, in Microsoft's ELL."""
    libraries = folder / "libraries"
    rooms = ("data", "math", "utilities", "functions", "predictors", "trainers")
    sources = [file for room in rooms[:4] for file in (libraries / room / "src").glob("*.cpp")]
    sources += [libraries / "trainers" / "src" / "SGDTrainer.cpp"]
    includes = [f"-I{libraries}", *(f"-I{libraries / room / 'include'}" for room in rooms)]
    return compiled("ell", "-std=c++17", "-include", "cstddef", *includes, *map(str, sources))


def classias(folder: Path) -> Callable:
    """Take the Pegasos of chokkan/classias."""
    return compiled("classias", f"-I{folder / 'include'}")


def sofia(folder: Path) -> Callable:
    """Take SGD_SVM and LOGREG of sofia-ml."""
    sources = [
        str(folder / "src" / f"{name}.cc")
        for name in ("sf-weight-vector", "sf-sparse-vector", "sf-data-set", "sofia-ml-methods")
    ]
    return compiled("sofia", f"-I{folder / 'src'}", *sources)
