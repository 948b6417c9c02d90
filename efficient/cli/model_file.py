"""Model file, version 2, as `casgd train` writes it.

It is a zip archive of numpy arrays (.npz, which numpy.load reads) whose members
are stored, not compressed:

header.json     a JSON object, in UTF-8:
    format      "casgd model"
    version     2; files of version 1 lack parts of `training`, and are read too
    loss        its name: one of those that `casgd train --help` lists
    columns     n, the number of weights of a model
    zero_based  whether the first column of svmlight text is called 0, not 1
    classes     the labels in increasing order; null if numbers are predicted
    transform   of a row x first: "none"; "scale": x_j becomes x_j factor_j;
                "tfidf": the same, and x is then divided by ‖x‖
    pivot       whether the score is w · (x − pivot) + bias, not w · x + bias
    training    the settings, for people and `casgd certify`, no prediction
                depends on them; among them steps, the number taken; stopping,
                why no more: "epochs", all were done; and digest, SHA-256 of the
                float64 rows trained on, after the transformation, with their
                labels
weights.npy     float64 (K, n), in C order: K = 1; one model for each class if
                there are more than two
bias.npy        float64 (K,)
factor.npy      float64 (n,), unless transform is "none"
pivot.npy       float64 (n,), if pivot is true

Every number is finite. The prediction is the score if classes is null; of two
classes the second if the score is > 0, else the first; of more the class with
the greatest score. Reading a file executes nothing that is in it, and takes no
more memory than a few times its size.
"""

import hashlib
import io
import json
import math
import os
import zipfile
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from reference import LOSSES, Loss, Predictor

from ..runs.files import check_stored, reason, write_whole
from ..runs.saving import SUMMED
from ..training.classes import count_models, decide
from ..training.models import scores
from .features import TRANSFORMS, Transform

FORMAT, VERSION, READ = "casgd model", 2, (1, 2)
LONGEST_HEADER = 1 << 22
BEGINNING = (1980, 1, 1, 0, 0, 0)
"""Date of every member, so that the same model is the same file."""


@dataclass(frozen=True, eq=False)
class Model:
    """Trained model and all that is needed to apply it to raw rows.

    Parameters
    ----------
    predictors : list of Predictor
        One; or one for each class if there are more than two.
    loss : Loss
    classes : ndarray, or None if numbers are predicted
    transform : Transform
    zero_based : bool
        Numbering of the columns of svmlight files, for training and predicting.
    training : dict
        Settings, for people and `casgd certify`.
    """

    predictors: list[Predictor]
    loss: Loss
    classes: np.ndarray | None
    transform: Transform
    zero_based: bool
    training: dict[str, Any]

    @property
    def n(self) -> int:
        return len(self.predictors[0].w)

    def scores(self, X: sp.csr_array) -> np.ndarray:
        """Predict with each model for each raw row, shape (m, K).

        Columns that X lacks are 0; those beyond n are ignored. Raises FloatingPointError if a score overflows.

        Cost: O(K(n + mk)).
        """
        return scores(self.predictors, self.transformed(X))

    def transformed(self, X: sp.csr_array) -> sp.csr_array:
        """Make the rows that the weights apply to of raw ones, shape (m, n)."""
        X = X[:, : self.n]
        X.resize(X.shape[0], self.n)
        return self.transform.apply(X)

    def predict(self, X: sp.csr_array) -> np.ndarray:
        """Predict the label or number of each raw row; errors and cost as `scores`."""
        return decide(self.scores(X), self.classes)

    def save(self, path: str) -> None:
        """Write the model to a file, whole or not at all."""
        at = [predictor.pivoted or predictor for predictor in self.predictors]
        arrays = {
            "weights": np.array([predictor.w for predictor in at]),
            "bias": np.array([predictor.b for predictor in at]),
            "factor": self.transform.factor,
            "pivot": at[0].xbar,
        }
        header = {
            "format": FORMAT,
            "version": VERSION,
            "loss": self.loss.name,
            "columns": self.n,
            "zero_based": self.zero_based,
            "classes": None if self.classes is None else self.classes.tolist(),
            "transform": self.transform.name,
            "pivot": arrays["pivot"] is not None,
            "training": self.training,
        }

        def write(file: BinaryIO) -> None:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
                archive.writestr(zipfile.ZipInfo("header.json", BEGINNING), json.dumps(header, indent=1))
                for name, array in arrays.items():
                    if array is not None:
                        with archive.open(zipfile.ZipInfo(f"{name}.npy", BEGINNING), "w", force_zip64=True) as member:
                            np.lib.format.write_array(member, array.astype("<f8"), version=(1, 0))

        write_whole(path, write)


def rows_digest(X: sp.csr_array, y: np.ndarray) -> str:
    """Sum up the rows and labels of a training, as they are in float64: SHA-256, in hexadecimal digits."""
    digest = hashlib.sha256(repr(X.shape).encode())
    for array, dtype in ((X.data, "<f8"), (X.indices, "<i8"), (X.indptr, "<i8"), (y, "<f8")):
        for start in range(0, len(array), SUMMED):
            digest.update(np.ascontiguousarray(array[start : start + SUMMED], dtype=dtype).data)
    return digest.hexdigest()


def load_model(path: str) -> Model:
    """Read a model file.

    Raises
    ------
    ValueError
        It is not a model file of this version, or a damaged or malicious one.
    OSError
        It cannot be read.

    Cost: O(Kn), and no more memory than a few times the size of the file.
    """
    with open(path, "rb") as file:
        try:
            return _read(file)
        except Exception as error:  # any error that a damaged archive makes its reader raise
            order = ". A command takes the model first, then the rows" if isinstance(error, zipfile.BadZipFile) else ""
            raise ValueError(f"{os.fspath(path)!r} is no model file that can be used: {reason(error)}{order}") from None


def _read(file: BinaryIO) -> Model:
    size = os.fstat(file.fileno()).st_size
    with zipfile.ZipFile(file) as archive:
        members = check_stored(archive, size)
        if "header.json" not in members or members["header.json"].file_size > LONGEST_HEADER:
            raise ValueError(f"header.json must have at most {LONGEST_HEADER} bytes")
        header = _checked(json.loads(archive.read("header.json"), parse_constant=_refuse))
        n, classes = header["columns"], header["classes"]
        models = count_models(classes)
        shapes = {"weights": (models, n), "bias": (models,)}
        shapes |= {"factor": (n,)} if header["transform"] != "none" else {}
        shapes |= {"pivot": (n,)} if header["pivot"] else {}
        arrays = {name: _read_array(archive, name, shape) for name, shape in shapes.items()}
    predictors = list(map(Predictor, arrays["weights"], arrays["bias"]))
    if header["pivot"]:
        predictors = [_moved(predictor, arrays["pivot"]) for predictor in predictors]
    return Model(
        predictors,
        LOSSES[header["loss"]],
        None if classes is None else np.array(classes, dtype=np.float64),
        Transform(header["transform"], arrays.get("factor")),
        header["zero_based"],
        header["training"],
    )


def _moved(stored: Predictor, pivot: np.ndarray) -> Predictor:
    """Make the predictor whose bias is stored as that around a pivot."""
    around = Predictor(stored.w, stored.b, pivot)
    with np.errstate(all="ignore"):  # b' may not have the digits, but does not make the predictions either
        return Predictor(stored.w, around.implicit().b, pivoted=around)


def _refuse(constant: str):
    raise ValueError(f"its header must hold finite numbers; got {constant}")


def _checked(header: Any) -> dict[str, Any]:
    """Check that everything in the header is as documented, and return it."""
    if not isinstance(header, dict) or header.get("format") != FORMAT or header.get("version") not in READ:
        raise ValueError(f'its header must have "format": "{FORMAT}" and "version": {VERSION} or less')
    loss = LOSSES[header["loss"]]
    as_documented = {
        "columns": type(header["columns"]) is int and header["columns"] >= 0,
        "zero_based": isinstance(header["zero_based"], bool),
        "classes": _are_classes(header["classes"]) if loss.binary else header["classes"] is None,
        "transform": header["transform"] in TRANSFORMS,
        "pivot": isinstance(header["pivot"], bool),
        "training": isinstance(header["training"], dict),
    }
    for name, right in as_documented.items():
        if not right:
            raise ValueError(f'its header has no usable "{name}"')
    return header


def _are_classes(classes: Any) -> bool:
    if not (isinstance(classes, list) and len(classes) >= 2 and {type(label) for label in classes} <= {int, float}):
        return False
    labels = np.array(classes, dtype=np.float64)
    return bool(np.isfinite(labels).all() and (np.diff(labels) > 0).all())


def _read_array(archive: zipfile.ZipFile, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Read an array of the expected shape, or refuse the member by its first bytes and its length."""
    beginning = io.BytesIO()
    np.lib.format.write_array_header_1_0(beginning, {"descr": "<f8", "fortran_order": False, "shape": shape})
    head, content = beginning.getvalue(), archive.read(f"{name}.npy")
    if not content.startswith(head) or len(content) - len(head) != 8 * math.prod(shape):
        raise ValueError(f"the array {name} must be float64 of shape {shape} in C order, as numpy's format 1.0 has it")
    array = np.frombuffer(content, "<f8", offset=len(head)).reshape(shape)
    if not np.isfinite(array).all():
        raise ValueError(f"the array {name} must hold finite numbers")
    return array
